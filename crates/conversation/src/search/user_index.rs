//! One user's index over one kind of passage, in step with the store.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use novelo_engine::Turn;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::recall::RecallSource;
use novelo_recall::{Index, Passage};
use novelo_store::{Range, Store, Version};
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::sources::{PassageRef, change_counter, collections, passage_group, passage_text};
use super::standing::{LaterClaims, since};
use super::vectors::{self, Vector};
use crate::error::Result;
use crate::text::member;

/// Seconds of silence after which a thread is another conversation.
const SILENCE_S: f64 = 3.0 * 3_600.0;
const READ_LIMIT: usize = 1_000;
/// Analysing more documents than these takes too long for other requests to wait.
const TAKEN_AT_ONCE_MAX: usize = 100;
/// Removing more passages than these one by one takes longer than an index made anew.
const REMOVED_MAX: usize = 1_000;
/// Bits of a key that number a document within its collection.
const SEQ_BITS: u32 = 40;
const SEQ_MASK: u64 = (1 << SEQ_BITS) - 1;

/// An index and what it was made from.
#[derive(Debug)]
pub struct UserIndex {
    pub source: RecallSource,
    pub index: Index,
    collections: Vec<Indexed>,
    numbers: FxHashMap<CollectionPath, usize>,
    change_count: Option<u64>,
    /// Whether passages are to have vectors.
    embeds: bool,
    /// Passages without a vector.
    lacking: BTreeSet<u64>,
    /// Vectors whose documents are gone.
    orphans: Vec<DocumentPath>,
    /// Whether vectors are searched elsewhere: then it holds none, and `lacking` is what has no point there.
    elsewhere: bool,
    /// Passages that went, and whose points must.
    gone: Vec<(CollectionPath, u64)>,
    /// Whether it was compared with the points that are there.
    settled: AtomicBool,
    /// What was said that replaces what was said before.
    pub later: LaterClaims,
}

/// A collection that is in the index.
#[derive(Debug)]
struct Indexed {
    of: CollectionPath,
    version: Option<Version>,
    /// The documents that were looked at, by seq, strictly rising, with a digest of each. They may be ahead
    /// of the version, which is taken first: what was written meanwhile comes again, and is passed over.
    seen: Vec<(u64, u64)>,
    /// The stretch of conversation that the newest belongs to, and when that was.
    stretch: u64,
    newest: f64,
}

impl UserIndex {
    pub fn new(source: RecallSource) -> Self {
        Self {
            source,
            index: Index::default(),
            collections: Vec::new(),
            numbers: FxHashMap::default(),
            change_count: None,
            embeds: false,
            lacking: BTreeSet::new(),
            orphans: Vec::new(),
            elsewhere: false,
            gone: Vec::new(),
            settled: AtomicBool::new(false),
            later: LaterClaims::default(),
        }
    }

    /// One whose vectors are searched elsewhere.
    pub fn elsewhere(source: RecallSource) -> Self {
        Self { elsewhere: true, ..Self::new(source) }
    }

    /// Whether nothing was written since the last `sync`.
    pub(crate) async fn is_current(&self, store: &Store, user: &str) -> Result<bool> {
        Ok(self.change_count == Some(change_counter(self.source, store, user).await?))
    }

    /// Takes in what was written since. It must run to its end once it has begun: half of it is no index.
    /// Vectors of the model with this print are taken in too.
    pub async fn sync(&mut self, store: &Store, user: &str, print: Option<&str>) -> Result<()> {
        self.embeds = print.is_some();
        let change_count = change_counter(self.source, store, user).await?;
        let collections = collections(self.source, store, user).await?;
        let there: FxHashSet<&CollectionPath> = collections.iter().collect();
        let is_gone = |(_, indexed): &(usize, &Indexed)| !there.contains(&indexed.of);
        let gone: Vec<usize> = self.collections.iter().enumerate().filter(is_gone).map(|(number, _)| number).collect();
        gone.into_iter().for_each(|number| self.empty(number));
        let versions = store.versions(&collections).await?;
        for (of, version) in collections.into_iter().zip(versions) {
            if !self.read(store, of, version, print).await? {
                self.begin_anew();
                return Box::pin(self.sync(store, user, print)).await;
            }
        }
        self.change_count = Some(change_count);
        Ok(())
    }

    /// Lets go of everything, because it may be half of something.
    pub(crate) fn begin_anew(&mut self) {
        *self = Self { elsewhere: self.elsewhere, ..Self::new(self.source) };
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        let seen: usize = self.collections.iter().map(|indexed| 256 + indexed.seen.len() * 16).sum();
        1_024 + seen + self.index.bytes() + self.later.bytes()
    }

    /// The seq of the first of the newest so many documents of the first collection.
    pub(crate) fn newest_from(&self, count: usize) -> u64 {
        let seen = self.collections.first().map_or(&[][..], |indexed| &indexed.seen);
        let before = seen.len().saturating_sub(count);
        seen.get(before).map_or(u64::MAX, |(seq, _)| *seq)
    }

    pub fn place(&self, key: u64) -> Option<PassageRef<'_>> {
        let number = usize::try_from(key >> SEQ_BITS).ok()?;
        let indexed = self.collections.get(number)?;
        Some(PassageRef { of: &indexed.of, seq: key & SEQ_MASK })
    }

    /// Takes in one collection; `false` when so much of it is gone that beginning anew costs less.
    async fn read(&mut self, store: &Store, of: CollectionPath, version: Version, print: Option<&str>) -> Result<bool> {
        let number = self.number(of);
        let Some(indexed) = self.collections.get(number) else { return Ok(true) };
        if indexed.version == Some(version) {
            return Ok(true);
        }
        let (of, before) = (indexed.of.clone(), indexed.version);
        let grew = before.is_some_and(|before| before.epoch == version.epoch && before.last_seq <= version.last_seq);
        let mut seq = before.filter(|_| grew).map_or(0, |before| before.last_seq);
        let mut old = if grew { Vec::new() } else { self.begin_again(number) };
        loop {
            let turns = store.turns(&of, Range::After { seq, limit: READ_LIMIT }).await?;
            let mut take_all = || turns.iter().for_each(|turn| self.take(number, turn, &mut old));
            match turns.len() > TAKEN_AT_ONCE_MAX {
                true => tokio::task::block_in_place(take_all),
                false => take_all(),
            }
            seq = turns.iter().next_back().map_or(seq, |turn| turn.seq);
            if !turns.has_more {
                break;
            }
        }
        old.retain(|(_, digest)| *digest != KEPT);
        if old.len() > REMOVED_MAX && old.len() * 4 > self.index.len() {
            return Ok(false);
        }
        for (gone, _) in &old {
            self.remove(key(number, *gone));
        }
        if let (None, Some(print), false) = (before, print, self.elsewhere) {
            self.take_vectors(store, &of, print).await?;
        }
        if let Some(indexed) = self.collections.get_mut(number) {
            indexed.version = Some(version);
        }
        Ok(true)
    }

    /// Takes in one document, unless it is there as it is.
    fn take(&mut self, number: usize, turn: &Turn, old: &mut [(u64, u64)]) {
        let digest = digest(turn);
        let Some(indexed) = self.collections.get_mut(number) else { return };
        if indexed.seen.last().is_some_and(|(seq, _)| *seq >= turn.seq) {
            return;
        }
        if turn.create_time - indexed.newest > SILENCE_S {
            indexed.stretch += 1;
        }
        indexed.newest = turn.create_time;
        indexed.seen.push((turn.seq, digest));
        let group = passage_group(self.source, number, indexed.stretch, turn);
        let before = old.binary_search_by_key(&turn.seq, |(seq, _)| *seq).ok().and_then(|at| old.get_mut(at));
        let same = before.is_some_and(|before| std::mem::replace(&mut before.1, KEPT) == digest);
        if same {
            return;
        }
        let key = key(number, turn.seq);
        self.later.remove(key);
        let Some(text) = passage_text(self.source, turn) else {
            self.remove(key);
            return;
        };
        let message = turn.message.shown();
        let turns = self.source == RecallSource::Turns;
        let speaker = member(message, "name").filter(|_| turns);
        let passage = Passage {
            text: &text,
            speaker: speaker.as_deref(),
            role: message.role().filter(|_| turns),
            group,
            time: since(self.source, turn),
        };
        self.index.add(key, &passage);
        self.later.take(key, self.source, turn, &text);
        if self.embeds || self.elsewhere {
            self.lacking.insert(key);
        }
    }

    /// Takes in the stored vectors of a collection that is new here. What has none afterwards is lacking.
    async fn take_vectors(&mut self, store: &Store, of: &CollectionPath, print: &str) -> Result<()> {
        for (seq, vector) in vectors::read(store, of).await? {
            if vector.model == print && self.set_vector(of, seq, &vector) {
                continue;
            }
            if self.digest(of, seq).is_none() {
                self.orphans.extend(vectors::path(of, seq));
            }
        }
        Ok(())
    }

    /// Gives a passage its vector, if it still is what was embedded and has none; says whether it was so.
    pub fn set_vector(&mut self, of: &CollectionPath, seq: u64, vector: &Vector) -> bool {
        let Some(number) = self.numbers.get(of) else { return false };
        let key = key(*number, seq);
        let fits = self.digest(of, seq) == Some(vector.digest) && self.lacking.remove(&key);
        if fits {
            self.index.set_vector(key, &vector.values);
        }
        fits
    }

    /// Notes that a passage has its point, if it still is what that was made from; says whether it is.
    pub fn given(&mut self, of: &CollectionPath, seq: u64, digest: u64) -> bool {
        let Some(key) = self.key_of(of, seq, digest) else { return false };
        self.lacking.remove(&key);
        true
    }

    /// The key of a passage, if it is what has this digest.
    pub(crate) fn key_of(&self, of: &CollectionPath, seq: u64, digest: u64) -> Option<u64> {
        let number = *self.numbers.get(of)?;
        (self.digest(of, seq) == Some(digest)).then(|| key(number, seq))
    }

    /// About how many passages there are of these threads or documents; all, where none is named.
    pub fn count_of(&self, parents: &[&str]) -> usize {
        if parents.is_empty() {
            return self.index.len();
        }
        let within = |indexed: &&Indexed| parents.contains(&PassageRef { of: &indexed.of, seq: 0 }.parent());
        self.collections.iter().filter(within).map(|indexed| indexed.seen.len()).sum()
    }

    /// Passages that went since this was asked last.
    pub(crate) fn take_gone(&mut self) -> Vec<(CollectionPath, u64)> {
        std::mem::take(&mut self.gone)
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// Says that it is being compared with the points that are there.
    pub(crate) fn settling(&self) {
        self.settled.store(true, Ordering::Relaxed);
    }

    /// Says that points may be there which it knows nothing of.
    pub(crate) fn unsettle(&self) {
        self.settled.store(false, Ordering::Relaxed);
    }

    /// Leaves a passage without a vector.
    pub(crate) fn give_up(&mut self, lacking: &Lacking) {
        if let Some(number) = self.numbers.get(&lacking.of) {
            self.lacking.remove(&key(*number, lacking.seq));
        }
    }

    /// The collections that were looked at.
    pub(super) fn collections(&self) -> impl Iterator<Item = &CollectionPath> {
        self.collections.iter().map(|indexed| &indexed.of)
    }

    /// The key of a passage.
    pub(super) fn key_at(&self, of: &CollectionPath, seq: u64) -> Option<u64> {
        self.numbers.get(of).map(|number| key(*number, seq))
    }

    /// The digest of a document that was looked at.
    fn digest(&self, of: &CollectionPath, seq: u64) -> Option<u64> {
        let indexed = self.collections.get(*self.numbers.get(of)?)?;
        let at = indexed.seen.binary_search_by_key(&seq, |(seq, _)| *seq).ok()?;
        indexed.seen.get(at).map(|(_, digest)| *digest)
    }

    /// Some passages that have no vector yet, and how many there are in all.
    pub(crate) fn lacking(&self, most: usize) -> (Vec<Lacking>, usize) {
        let lacking = self.lacking.iter().take(most).filter_map(|key| {
            let PassageRef { of, seq } = self.place(*key)?;
            Some(Lacking { of: of.clone(), seq, digest: self.digest(of, seq)? })
        });
        (lacking.collect(), self.lacking.len())
    }

    /// Whether there is something to embed, or vectors or points to put or remove.
    pub(crate) fn has_work(&self) -> bool {
        let points = self.elsewhere && (!self.is_settled() || !self.gone.is_empty());
        !self.lacking.is_empty() || !self.orphans.is_empty() || points
    }

    /// Vectors of documents that are gone.
    pub(crate) fn take_orphans(&mut self) -> Vec<DocumentPath> {
        std::mem::take(&mut self.orphans)
    }

    fn number(&mut self, of: CollectionPath) -> usize {
        if let Some(number) = self.numbers.get(&of) {
            return *number;
        }
        let number = self.collections.len();
        self.numbers.insert(of.clone(), number);
        self.collections.push(Indexed { of, version: None, seen: Vec::new(), stretch: 0, newest: f64::MIN });
        number
    }

    /// What was seen of a collection that is to be looked at as a whole.
    fn begin_again(&mut self, number: usize) -> Vec<(u64, u64)> {
        let Some(indexed) = self.collections.get_mut(number) else { return Vec::new() };
        (indexed.stretch, indexed.newest, indexed.version) = (0, f64::MIN, None);
        std::mem::take(&mut indexed.seen)
    }

    fn empty(&mut self, number: usize) {
        for (seq, _) in self.begin_again(number) {
            self.remove(key(number, seq));
        }
    }

    fn remove(&mut self, key: u64) {
        self.later.remove(key);
        if self.index.has_vector(key)
            && let Some(PassageRef { of, seq }) = self.place(key)
        {
            let path = vectors::path(of, seq);
            self.orphans.extend(path);
        }
        if self.index.remove(key)
            && self.elsewhere
            && let Some(PassageRef { of, seq }) = self.place(key)
        {
            let of = of.clone();
            self.gone.push((of, seq));
        }
        self.lacking.remove(&key);
    }
}

/// A passage without a vector.
#[derive(Debug)]
pub struct Lacking {
    pub of: CollectionPath,
    pub seq: u64,
    /// Of the document, so that a vector is never given to another.
    pub digest: u64,
}

/// In place of the digest of a document that is still there; no digest is this.
const KEPT: u64 = 0;

/// What tells a document from what it was before.
pub fn digest(turn: &Turn) -> u64 {
    xxh3_64(turn.message.raw()).max(KEPT + 1)
}

fn key(number: usize, seq: u64) -> u64 {
    ((number as u64) << SEQ_BITS) | (seq & SEQ_MASK)
}

#[cfg(test)]
mod tests {
    use novelo_store::{AppendTerms, NewDocument, NewId};

    use super::*;

    fn of() -> CollectionPath {
        CollectionPath::new(&["users", "u", "memories"]).unwrap()
    }

    async fn remember(store: &Store, texts: &[&str]) {
        let document = |text: &&str| NewDocument {
            id: NewId::Given((*text).into()),
            create_time: 1.0,
            value: serde_json::json!({ "text": text }).to_string().into(),
            expires_at: None,
        };
        store.append(&of(), texts.iter().map(document).collect(), AppendTerms::default()).await.unwrap();
    }

    /// The memories that a word finds.
    fn found(part: &UserIndex, word: &str) -> Vec<u64> {
        let ranked = part.index.rank(&novelo_recall::Query { text: word, vector: None });
        ranked.top(9, |_| true).iter().filter_map(|hit| Some(part.place(hit.key)?.seq)).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_written_while_it_was_read_is_taken_once() {
        let store = Store::memory();
        remember(&store, &["walnut", "zebra"]).await;
        let mut part = UserIndex::new(RecallSource::Memories);
        part.sync(&store, "u", None).await.unwrap();
        remember(&store, &["quince"]).await;
        let ahead = store.turns(&of(), Range::Last(1)).await.unwrap();
        ahead.iter().for_each(|turn| part.take(0, turn, &mut []));
        part.sync(&store, "u", None).await.unwrap();
        assert_eq!(part.collections[0].seen.len(), 3, "{:?}", part.collections[0].seen);
        store.delete(&of().document("walnut").unwrap(), None).await.unwrap();
        part.sync(&store, "u", None).await.unwrap();
        assert_eq!(["walnut", "zebra", "quince"].map(|word| found(&part, word)), [vec![], vec![2], vec![3]]);
        assert_eq!((part.newest_from(1), part.newest_from(9)), (3, 2));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn where_most_is_gone_it_is_made_anew() {
        let store = Store::memory();
        let words: Vec<String> = (0..=REMOVED_MAX + 1).map(|n| format!("word{n}")).collect();
        remember(&store, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let mut part = UserIndex::new(RecallSource::Memories);
        part.sync(&store, "u", None).await.unwrap();
        store.forget(&of().prefix()).await.unwrap();
        remember(&store, &["walnut", "zebra"]).await;
        part.sync(&store, "u", None).await.unwrap();
        assert_eq!((part.index.len(), found(&part, "word7"), found(&part, "zebra").len()), (2, vec![], 1));
        assert!(part.is_current(&store, "u").await.unwrap());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn changes_are_seen_and_what_stayed_is_left_alone() {
        let store = Store::memory();
        remember(&store, &["walnut", "zebra", "quince"]).await;
        let mut part = UserIndex::new(RecallSource::Memories);
        part.sync(&store, "u", Some("model")).await.unwrap();
        let (lacking, left) = part.lacking(1);
        assert_eq!((lacking[0].seq, left), (1, 3));
        let vector = Vector { model: "model".into(), digest: lacking[0].digest, values: vec![1; 4] };
        assert!(part.set_vector(&of(), 1, &vector) && !part.set_vector(&of(), 2, &vector), "of these bytes only");
        let at = of().document("zebra").unwrap();
        store.put(&at, r#"{"text":"okapi"}"#.into(), novelo_store::PutTerms::default()).await.unwrap();
        part.sync(&store, "u", Some("model")).await.unwrap();
        assert_eq!(["zebra", "okapi", "walnut"].map(|word| found(&part, word)), [vec![], vec![2], vec![1]]);
        assert_eq!(part.lacking(0).1, 2, "the first still has its vector");
        store.forget(&of().prefix()).await.unwrap();
        part.sync(&store, "u", Some("model")).await.unwrap();
        assert_eq!((part.index.len(), part.lacking(0).1, part.take_orphans().len()), (0, 0, 1));
    }
}
