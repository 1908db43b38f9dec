//! Looking the groups of a thread up.
//!
//! Owns the way from index documents to the engine's groups. The whole index of a thread is read in a few scans and
//! kept for as long as nothing of it has changed: its collections by their versions, and the spilled ones, of which
//! there may be new ones, by the pulse of the root. What cannot be read is said, and never an error.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use novelo_engine::Turn;
use novelo_engine::group::{self, Group, Groups};
use novelo_engine::path::{CollectionPath, PathError};
use novelo_engine::scope::{Root, THREADS, USERS};
use novelo_store::{Document, Error, Store, Turns, Version};
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Places, scan, spilling};
use crate::cache::Cache;
use crate::http::error::{ApiError, Result};
use crate::load::Whose;
use crate::trace::GroupsInput;

/// Groups by where their index stands, and whether what belongs to no user was looked at too.
pub type FoundGroups = Cache<(CollectionPath, bool), Arc<Found>>;

/// The groups of a thread as they were read.
#[derive(Debug, Default)]
pub struct Found {
    pub groups: Groups,
    /// Tells them from others.
    pub print: u64,
    /// Whether something was read that belongs to no user.
    pub outside: bool,
    read: Vec<(CollectionPath, Version)>,
    /// By root, the messages that have spilled.
    spilled: Vec<Vec<Box<str>>>,
    /// The places of the newest turns that were asked for, written by who asks first.
    places: Mutex<Option<(Moment, Arc<group::Places>)>>,
    /// Of all roots together: when it was last known that no other message has spilled.
    pulse: AtomicU64,
}

/// Lines about what could not be read; the rest is counted.
const PROBLEMS_MAX: usize = 8;

/// The groups of a thread.
pub async fn find(store: &Store, kept: &FoundGroups, whose: Whose<'_>, thread: &str) -> Result<Arc<Found>> {
    let Some(root) = whose.roots().next() else { return Ok(Arc::default()) };
    let key = (Places::key(root, thread).map_err(bad_id)?, whose.legacy);
    let pulse = whose.roots().map(|root| pulse(store, root)).sum();
    let known = kept.get(&key);
    if let Some(found) = known.as_ref().filter(|found| found.pulse.load(Ordering::Relaxed) == pulse) {
        return Ok(found.clone());
    }
    let places = whose.roots().map(|root| Ok((root, Places::of(root, thread)?)));
    let places = places.collect::<std::result::Result<Vec<_>, _>>().map_err(bad_id)?;
    if let Some(found) = known
        && found.still_holds(store, &places, pulse).await
    {
        return Ok(found);
    }
    let mut reader =
        Reader { store, found: Found { pulse: AtomicU64::new(pulse), ..Found::default() }, problems: Vec::new() };
    match reader.read(&places).await {
        Ok(bytes) => {
            let found = Arc::new(reader.found);
            kept.insert(key, found.clone(), bytes);
            Ok(found)
        }
        Err(error) => {
            tracing::warn!(%error, thread, "the index of groups could not be read");
            let problem = "the index of groups could not be read; nothing was collapsed".to_owned();
            Ok(Arc::new(Found { groups: Groups::new(Vec::new(), Vec::new(), vec![problem]), ..Found::default() }))
        }
    }
}

fn pulse(store: &Store, root: Root<'_>) -> u64 {
    match root {
        Root::User(user) => store.pulse(&[USERS, user]),
        Root::Legacy => store.pulse(&[THREADS]),
    }
}

fn bad_id(error: PathError) -> ApiError {
    ApiError::bad_id("thread", &error)
}

/// Turns that stay the same: epoch, first and last seq.
type Moment = (u64, u64, u64);

impl Found {
    /// The places of the groups of these turns.
    pub fn places(&self, turns: &Turns) -> Arc<group::Places> {
        let seq = |turn: Option<&Turn>| turn.map_or(0, |t| t.seq);
        let moment = (turns.epoch, seq(turns.iter().next()), seq(turns.iter().next_back()));
        let mut kept = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, places)) = kept.as_ref().filter(|(of, _)| *of == moment) {
            return places.clone();
        }
        let places = Arc::new(self.groups.places(turns.iter()));
        *kept = Some((moment, places.clone()));
        places
    }

    /// The groups that an old prompt was made with.
    pub fn again(input: &GroupsInput) -> Self {
        let groups = Groups::new(input.groups.clone(), input.of.clone(), input.problems.clone());
        Self { groups, ..Self::default() }
    }

    /// Whether it would be read the same way again.
    async fn still_holds(&self, store: &Store, places: &[(Root<'_>, Places)], pulse: u64) -> bool {
        for (of, version) in &self.read {
            if store.version(of).await.ok() != Some(*version) {
                return false;
            }
        }
        let mut spilled = Vec::new();
        for (_, at) in places {
            spilled.push(spilling(store, at).await.unwrap_or_default());
        }
        let same = spilled == self.spilled;
        if same {
            self.pulse.store(pulse, Ordering::Relaxed);
        }
        same
    }
}

/// A message's place in a group.
#[derive(Debug, Clone)]
struct Entry {
    name: String,
    response: String,
    updated_at: f64,
}

/// What one root says: entries by message, and states by group.
#[derive(Debug, Default)]
struct Said {
    entries: BTreeMap<String, Vec<Entry>>,
    expanded: FxHashMap<String, bool>,
}

struct Reader<'s> {
    store: &'s Store,
    found: Found,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// Reads all; how many bytes that takes.
    async fn read(&mut self, places: &[(Root<'_>, Places)]) -> std::result::Result<usize, Error> {
        let mut said = Said::default();
        for (root, at) in places {
            self.version(&at.responses).await?;
            let more = self.index(at).await?;
            let news = more.entries.keys().any(|id| !said.entries.contains_key(id));
            self.found.outside |= news && *root == Root::Legacy;
            said.entries
                .extend(more.entries.into_iter().filter(|(id, _)| !said.entries.contains_key(id)).collect::<Vec<_>>());
            for (name, expanded) in more.expanded {
                said.expanded.entry(name).or_insert(expanded);
            }
        }
        let (mut groups, of) = chosen(&said);
        for group in &mut groups {
            self.describe(places, group).await?;
        }
        let bytes =
            512 + of.iter().map(|(id, _)| 48 + id.len()).sum::<usize>() + groups.iter().map(weight).sum::<usize>();
        let count = self.problems.len();
        if count > PROBLEMS_MAX {
            self.problems.truncate(PROBLEMS_MAX);
            self.problems.push(format!("and {} more", count - PROBLEMS_MAX));
        }
        self.found.print = print(&groups, &of, &self.problems);
        self.found.groups = Groups::new(groups, of, std::mem::take(&mut self.problems));
        Ok(bytes)
    }

    async fn version(&mut self, of: &CollectionPath) -> std::result::Result<(), Error> {
        let version = self.store.version(of).await?;
        self.found.read.push((of.clone(), version));
        Ok(())
    }

    async fn index(&mut self, at: &Places) -> std::result::Result<Said, Error> {
        let mut said = Said::default();
        for document in self.documents(&at.message_to_groups).await? {
            let value: Value = serde_json::from_slice(&document.value).unwrap_or_default();
            let Some(groups) = value.get("groups").and_then(Value::as_object) else {
                self.problems.push(format!("messageToGroups/{} has no object of groups", document.id));
                continue;
            };
            let entries = said.entries.entry(document.id.to_string()).or_default();
            for (name, value) in groups {
                match entry(name, value) {
                    Some(entry) => entries.push(entry),
                    None => self.problems.push(format!("messageToGroups/{} names no response for {name}", document.id)),
                }
            }
        }
        let spilled = spilling(self.store, at).await?;
        for id in &spilled {
            let Ok(of) = at.spilled(id) else { continue };
            for document in self.documents(&of).await? {
                match serde_json::from_slice(&document.value).ok().and_then(|value| entry(&document.id, &value)) {
                    Some(entry) => said.entries.entry(id.to_string()).or_default().push(entry),
                    None => self.problems.push(format!("byMessage/{id}/groups/{} names no response", document.id)),
                }
            }
        }
        self.found.spilled.push(spilled);
        for document in self.documents(&at.group_state).await? {
            match serde_json::from_slice(&document.value).ok().and_then(|value| is_expanded(&value)) {
                Some(expanded) => drop(said.expanded.insert(document.id.to_string(), expanded)),
                None => self.problems.push(format!("groupState/{} says neither expanded nor collapsed", document.id)),
            }
        }
        Ok(said)
    }

    /// All documents of a collection, which is remembered as read.
    async fn documents(&mut self, of: &CollectionPath) -> std::result::Result<Vec<Document>, Error> {
        self.version(of).await?;
        scan(self.store, of, |_| true).await
    }

    /// Adds what the group's response says of it, where there is one.
    async fn describe(&mut self, places: &[(Root<'_>, Places)], group: &mut Group) -> std::result::Result<(), Error> {
        for (root, at) in places {
            let Ok(path) = at.responses.document(&group.response) else { continue };
            let Some(document) = self.store.get(&path).await? else { continue };
            self.found.outside |= *root == Root::Legacy;
            let response: Value = serde_json::from_slice(&document.value).unwrap_or_default();
            match group::described(&response, &group.name) {
                Some((description, items)) => {
                    group.description = description.map(Into::into);
                    group.items = items.and_then(|items| RawValue::from_string(items.to_string()).ok());
                }
                None => self.problems.push(format!("collapsed/{} has no group {}", group.response, group.name)),
            }
            break;
        }
        Ok(())
    }
}

/// The group of each message: its newest, and of equals the first. A group's response is that of its newest entry.
fn chosen(said: &Said) -> (Vec<Group>, Vec<(Box<str>, u32)>) {
    let mut groups: Vec<(Group, f64)> = Vec::new();
    let mut places: FxHashMap<&str, u32> = FxHashMap::default();
    let mut of = Vec::with_capacity(said.entries.len());
    for (id, entries) in &said.entries {
        let newest = entries.iter().reduce(|best, entry| if entry.updated_at > best.updated_at { entry } else { best });
        let Some(entry) = newest else { continue };
        let place = *places.entry(&entry.name).or_insert_with(|| {
            let expanded = said.expanded.get(&entry.name).copied().unwrap_or(false);
            let (name, response) = (entry.name.as_str().into(), entry.response.as_str().into());
            groups.push((Group { name, response, description: None, items: None, expanded }, entry.updated_at));
            groups.len() as u32 - 1
        });
        if let Some((group, updated_at)) = groups.get_mut(place as usize).filter(|(_, at)| entry.updated_at > *at) {
            (group.response, *updated_at) = (entry.response.as_str().into(), entry.updated_at);
        }
        of.push((id.as_str().into(), place));
    }
    (groups.into_iter().map(|(group, _)| group).collect(), of)
}

fn entry(name: &str, value: &Value) -> Option<Entry> {
    let response = value.get("responseId")?.as_str().filter(|id| !id.is_empty())?.to_owned();
    let updated_at = value.get("updated_at").and_then(Value::as_f64).unwrap_or(0.0);
    Some(Entry { name: name.to_owned(), response, updated_at })
}

fn is_expanded(value: &Value) -> Option<bool> {
    let said = |state: &Value| state.as_str().map(|state| state == "expanded");
    value.get("expanded").and_then(Value::as_bool).or_else(|| value.get("state").and_then(said))
}

fn weight(group: &Group) -> usize {
    let items = group.items.as_ref().map_or(0, |items| items.get().len());
    512 + 4 * (group.name.len() + group.response.len() + group.description.as_ref().map_or(0, |d| d.len()) + items)
}

fn print(groups: &[Group], of: &[(Box<str>, u32)], problems: &[String]) -> u64 {
    let mut hasher = FxHasher::default();
    for group in groups {
        let items = group.items.as_ref().map(|items| items.get());
        (&group.name, &group.response, &group.description, items, group.expanded).hash(&mut hasher);
    }
    (of, problems).hash(&mut hasher);
    hasher.finish()
}
