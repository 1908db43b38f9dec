//! What `doctor` reads: every record, and whether the indexes agree with it.
//!
//! Owns the findings; repairs nothing. Invariant: a store that was only ever written by this code has none.

use std::collections::BTreeMap;

use super::db::{PIN, Pair, SPACES, Space, View};
use super::docs;
use super::state::LocalState;
use super::txn::load;
use crate::Error;
use crate::codec::{CollectionMeta, expiry_key, id_key, pair_key, pair_of, time_key, triple_of};
use crate::read::Finding;
use crate::record::Record;

/// Enough to see what is wrong.
const FINDINGS_MAX: usize = 100;

const RESTORE: &str = "restore a backup, or export what is readable into a new store";
const REBUILD: &str = "the documents are whole: export everything and import it into a new store";

impl LocalState {
    pub fn check(&self) -> Result<Vec<Finding>, Error> {
        let db = self.read_db()?;
        let lease = self.exports.lease(&db, true);
        let view = lease.view(db)?;
        let mut found = Findings(Vec::new());
        let numbers = found.collections(&view);
        found.documents(&view, &numbers);
        found.indexes(&view);
        found.0.truncate(FINDINGS_MAX);
        Ok(found.0)
    }
}

struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, place: String, what: impl Into<String>, advice: &str) {
        if self.0.len() < FINDINGS_MAX {
            self.0.push(Finding { place, what: what.into(), advice: advice.into(), is_fault: true });
        }
    }

    fn add_error(&mut self, error: &Error) {
        match error {
            Error::Damaged { place, what } => self.add(place.clone(), what, RESTORE),
            other => self.add("the store".into(), other.to_string(), RESTORE),
        }
    }

    /// Takes an entry, or the finding that there is none to take.
    fn readable<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        result.map_err(|error| self.add_error(&error)).ok()
    }

    /// Every collection by its number.
    fn collections(&mut self, view: &View<'_>) -> BTreeMap<u64, CollectionMeta> {
        let mut numbers = BTreeMap::new();
        for entry in all(view, Space::Collections) {
            let Some((key, bytes)) = self.readable(entry) else { break };
            let Some(meta) = self.readable(CollectionMeta::decode(&key, &bytes)) else { continue };
            let place = String::from_utf8_lossy(&key).replace('\0', "/");
            if let Some(known) = self.readable(load(view, &key)) {
                self.count(view, &place, &meta, known.last_seq, known.count());
            }
            if numbers.insert(meta.number, meta).is_some() {
                self.add(place, "it shares its number with another collection", RESTORE);
            }
        }
        for (number, meta) in &numbers {
            for source in meta.sources.iter().filter(|source| !numbers.contains_key(&source.number)) {
                let what = format!("it shares turns with collection number {}, which is gone", source.number);
                self.add(format!("collection number {number}"), what, RESTORE);
            }
        }
        numbers
    }

    fn count(&mut self, view: &View<'_>, place: &str, meta: &CollectionMeta, last_seq: u64, expected: u64) {
        let mut counted = 0;
        for document in docs::ascending(view, meta, 0, last_seq) {
            match document {
                Ok(_) => counted += 1,
                Err(_) => return,
            }
        }
        if counted != expected {
            self.add(place.into(), format!("it holds {counted} documents, but should hold {expected}"), RESTORE);
        }
    }

    /// Every record, with the index entries that should lead to it.
    fn documents(&mut self, view: &View<'_>, numbers: &BTreeMap<u64, CollectionMeta>) {
        for entry in all(view, Space::Docs) {
            let Some((key, bytes)) = self.readable(entry) else { break };
            let Some((number, seq)) = pair_of(&key) else {
                self.add("docs".into(), "a key is cut short", RESTORE);
                continue;
            };
            let Some(record) = self.readable(Record::decode(&key, &bytes)) else { continue };
            let place = format!("document {seq} of collection number {number}");
            let is_gone = !numbers.contains_key(&number)
                && self.readable(view.get(Space::Doomed, &number.to_be_bytes())).is_some_and(|doomed| doomed.is_none());
            if is_gone {
                self.add(place.clone(), "its collection is gone", RESTORE);
            }
            self.indexed(view, &place, number, seq, &record);
        }
    }

    fn indexed(&mut self, view: &View<'_>, place: &str, number: u64, seq: u64, record: &Record) {
        let by_id = self.readable(view.get(Space::Ids, &id_key(number, &record.id)));
        if by_id.is_some_and(|found| found.as_deref() != Some(seq.to_be_bytes().as_slice())) {
            self.add(place.into(), "its id does not lead to it", REBUILD);
        }
        let by_time = self.readable(view.get(Space::Times, &time_key(number, record.create_time, seq)));
        if by_time.is_some_and(|found| found.is_none()) {
            self.add(place.into(), "its time does not lead to it", REBUILD);
        }
        let Some(at) = record.expires_at else { return };
        let by_expiry = self.readable(view.get(Space::Expiry, &expiry_key(at, number, seq)));
        if by_expiry.is_some_and(|found| found.is_none()) {
            self.add(place.into(), "its expiry does not lead to it", REBUILD);
        }
    }

    /// Every index entry, with the record that it should lead to.
    fn indexes(&mut self, view: &View<'_>) {
        for space in SPACES {
            for entry in all(view, space) {
                let Some((key, value)) = self.readable(entry) else { break };
                let leads_to = match space {
                    Space::Ids => pair_of(&[key.get(..8).unwrap_or_default(), &value].concat()),
                    Space::Times => triple_of(&key).map(|(number, _, seq)| (number, seq)),
                    Space::Expiry => triple_of(&key).map(|(_, number, seq)| (number, seq)),
                    Space::Meta | Space::Collections | Space::Docs | Space::Forks | Space::Doomed => continue,
                };
                let is_there = leads_to.map(|(number, seq)| view.get(Space::Docs, &pair_key(number, seq)));
                let is_there = is_there.transpose().map(|found| found.flatten().is_some());
                if self.readable(is_there) == Some(false) {
                    self.add(format!("{} of {leads_to:?}", space.name()), "it leads to no document", REBUILD);
                }
            }
        }
    }
}

fn all(view: &View<'_>, space: Space) -> impl Iterator<Item = Result<Pair, Error>> {
    view.stored(space, &[PIN, &[0]].concat(), &[0xff; 32])
}
