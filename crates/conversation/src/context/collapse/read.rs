//! Looking the groups of a thread up.
//!
//! Owns the way from index documents to the engine's groups. The whole index of a thread is read in a few
//! scans and kept for as long as nothing of it has changed: its collections by their versions, and the
//! spilled ones, of which there may be new ones, by the pulse of the root. What cannot be read is said, and
//! never an error.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use novelo_engine::Turn;
use novelo_engine::group::{self, Group, Groups, Membership};
use novelo_engine::path::{CollectionPath, PathError};
use novelo_engine::scope::{Root, THREADS, USERS};
use novelo_store::{Document, Error as StoreError, Store, Turns, Version};
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Places, scan, spilling};
use crate::cache::Cache;
use crate::context::load::Whose;
use crate::error::{Error, Result};
use crate::trace::GroupsInput;

/// Groups by where their index stands, and whether what belongs to no user was looked at too.
pub type FoundGroups = Cache<(CollectionPath, bool), Arc<ThreadGroups>>;

/// The groups of a thread as they were read.
#[derive(Debug, Default)]
pub struct ThreadGroups {
    /// The groups.
    pub groups: Groups,
    /// Tells them from others.
    pub fingerprint: u64,
    /// Whether something was read that belongs to no user.
    pub outside: bool,
    read: Vec<(CollectionPath, Version)>,
    /// By root, the messages that have spilled.
    spilled: Vec<Vec<Box<str>>>,
    /// The groups of the newest turns that were asked for, written by who asks first.
    membership: Mutex<Option<(TurnSpan, Arc<Membership>)>>,
    /// Of all roots together: when it was last known that no other message has spilled.
    pulse: AtomicU64,
}

/// Lines about what could not be read; the rest is counted.
const PROBLEMS_MAX: usize = 8;

/// The groups of a thread.
pub async fn find(store: &Store, kept: &FoundGroups, whose: Whose<'_>, thread: &str) -> Result<Arc<ThreadGroups>> {
    let Some(root) = whose.roots().next() else { return Ok(Arc::default()) };
    let key = (Places::key(root, thread).map_err(bad_id)?, whose.legacy);
    let mut now: u64 = 0;
    for root in whose.roots() {
        now = now.wrapping_add(pulse(store, root).await?);
    }
    let known = kept.get(&key);
    if let Some(found) = known.as_ref().filter(|found| found.pulse.load(Ordering::Relaxed) == now) {
        return Ok(found.clone());
    }
    let places = whose.roots().map(|root| Ok((root, Places::of(root, thread)?)));
    let places = places.collect::<std::result::Result<Vec<_>, _>>().map_err(bad_id)?;
    if let Some(found) = known
        && found.still_holds(store, &places, now).await
    {
        return Ok(found);
    }
    let mut reader = Reader {
        store,
        found: ThreadGroups { pulse: AtomicU64::new(now), ..ThreadGroups::default() },
        problems: Vec::new(),
    };
    match reader.read(&places).await {
        Ok(bytes) => {
            let found = Arc::new(reader.found);
            kept.insert(key, found.clone(), bytes);
            Ok(found)
        }
        Err(error) => {
            tracing::warn!(%error, thread, "the index of groups could not be read");
            let problem = "the index of groups could not be read; nothing was collapsed".to_owned();
            Ok(Arc::new(ThreadGroups {
                groups: Groups::new(Vec::new(), Vec::new(), vec![problem]),
                ..ThreadGroups::default()
            }))
        }
    }
}

async fn pulse(store: &Store, root: Root<'_>) -> Result<u64> {
    Ok(match root {
        Root::User(user) => store.change_counter(&[USERS, user]).await?,
        Root::Legacy => store.change_counter(&[THREADS]).await?,
    })
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("thread", &error)
}

/// Turns that stay the same: where they are, epoch, first and last seq.
type TurnSpan = (Option<CollectionPath>, u64, u64, u64);

impl ThreadGroups {
    /// The groups of these turns.
    pub(crate) fn membership(&self, of: Option<&CollectionPath>, turns: &Turns) -> Arc<Membership> {
        let seq = |turn: Option<&Turn>| turn.map_or(0, |t| t.seq);
        let (first, last) = (seq(turns.iter().next()), seq(turns.iter().next_back()));
        let mut kept = self.membership.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(asked, ..): &&(TurnSpan, _)| {
            asked.0.as_ref() == of && (asked.1, asked.2, asked.3) == (turns.epoch, first, last)
        };
        if let Some((_, known)) = kept.as_ref().filter(same) {
            return known.clone();
        }
        let known = Arc::new(self.groups.membership(turns.iter()));
        *kept = Some(((of.cloned(), turns.epoch, first, last), known.clone()));
        known
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
        for ((_, at), known) in places.iter().zip(&self.spilled) {
            if spilling(store, at).await.ok().as_ref() != Some(known) {
                return false;
            }
        }
        self.pulse.store(pulse, Ordering::Relaxed);
        true
    }
}

/// A message's place in a group.
#[derive(Debug, Clone)]
struct GroupMember {
    name: String,
    response: String,
    updated_at: f64,
}

/// What one root says: entries by message, and by group its response and its state.
#[derive(Debug, Default)]
struct RootGroups {
    entries: BTreeMap<String, Vec<GroupMember>>,
    responses: FxHashMap<String, String>,
    states: FxHashMap<String, ChosenState>,
}

/// What was chosen about a group; where a response is named, for as long as the group is of it.
#[derive(Debug, Clone)]
struct ChosenState {
    expanded: bool,
    response: Option<String>,
}

struct Reader<'s> {
    store: &'s Store,
    found: ThreadGroups,
    problems: Vec<String>,
}

impl Reader<'_> {
    /// Reads all; how many bytes that takes.
    async fn read(&mut self, places: &[(Root<'_>, Places)]) -> std::result::Result<usize, StoreError> {
        let mut said = RootGroups::default();
        for (root, at) in places {
            self.version(&at.responses).await?;
            let (more, documents) = self.index(at).await?;
            self.found.outside |= documents > 0 && *root == Root::Legacy;
            for (id, entries) in more.entries {
                said.entries.entry(id).or_insert(entries);
            }
            for (name, response) in more.responses {
                said.responses.entry(name).or_insert(response);
            }
            for (name, state) in more.states {
                said.states.entry(name).or_insert(state);
            }
        }
        let (mut groups, of) = chosen(&said);
        self.describe(places, &mut groups).await?;
        let read = 256 * (self.found.read.len() + self.found.spilled.iter().map(Vec::len).sum::<usize>());
        let bytes = 512
            + read
            + of.iter().map(|(id, _)| 48 + id.len()).sum::<usize>()
            + groups.iter().map(weight).sum::<usize>();
        let count = self.problems.len();
        if count > PROBLEMS_MAX {
            self.problems.truncate(PROBLEMS_MAX);
            self.problems.push(format!("and {} more", count - PROBLEMS_MAX));
        }
        self.found.fingerprint = fingerprint(&groups, &of, &self.problems);
        self.found.groups = Groups::new(groups, of, std::mem::take(&mut self.problems));
        Ok(bytes)
    }

    async fn version(&mut self, of: &CollectionPath) -> std::result::Result<(), StoreError> {
        let version = self.store.version(of).await?;
        self.found.read.push((of.clone(), version));
        Ok(())
    }

    /// What one root says, and in how many documents.
    async fn index(&mut self, at: &Places) -> std::result::Result<(RootGroups, usize), StoreError> {
        let (mut said, mut count) = (RootGroups::default(), 0);
        for document in self.documents(&at.message_to_groups).await? {
            count += 1;
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
                count += 1;
                match serde_json::from_slice(&document.value).ok().and_then(|value| entry(&document.id, &value)) {
                    Some(entry) => said.entries.entry(id.to_string()).or_default().push(entry),
                    None => self.problems.push(format!("byMessage/{id}/groups/{} names no response", document.id)),
                }
            }
        }
        self.found.spilled.push(spilled);
        for document in self.documents(&at.group_to_response).await? {
            count += 1;
            match serde_json::from_slice(&document.value).ok().and_then(|value| entry(&document.id, &value)) {
                Some(entry) => drop(said.responses.insert(entry.name, entry.response)),
                None => self.problems.push(format!("groupToResponse/{} names no response", document.id)),
            }
        }
        for document in self.documents(&at.group_state).await? {
            count += 1;
            match serde_json::from_slice(&document.value).ok().and_then(|value| state(&value)) {
                Some(state) => drop(said.states.insert(document.id.to_string(), state)),
                None => self.problems.push(format!("groupState/{} says neither expanded nor collapsed", document.id)),
            }
        }
        Ok((said, count))
    }

    /// All documents of a collection, which is remembered as read.
    async fn documents(&mut self, of: &CollectionPath) -> std::result::Result<Vec<Document>, StoreError> {
        self.version(of).await?;
        scan(self.store, of, |_| true).await
    }

    /// Adds what the groups' responses say of them, where there are any.
    async fn describe(
        &mut self,
        places: &[(Root<'_>, Places)],
        groups: &mut [Group],
    ) -> std::result::Result<(), StoreError> {
        let mut of: BTreeMap<Box<str>, Vec<&mut Group>> = BTreeMap::new();
        groups.iter_mut().for_each(|group| of.entry(group.response.clone()).or_default().push(group));
        for (response, groups) in of {
            let Some(value) = self.response(places, &response).await? else { continue };
            let described = group::described(&value);
            for group in groups {
                let Some(about) = described.get(&*group.name) else {
                    self.problems.push(format!("collapsed/{response} has no group {}", group.name));
                    continue;
                };
                group.description = about.description.map(Into::into);
                group.items = about.items.and_then(|items| RawValue::from_string(items.to_string()).ok());
            }
        }
        Ok(())
    }

    async fn response(
        &mut self,
        places: &[(Root<'_>, Places)],
        id: &str,
    ) -> std::result::Result<Option<Value>, StoreError> {
        for (root, at) in places {
            let Ok(path) = at.responses.document(id) else { continue };
            if let Some(document) = self.store.get(&path).await? {
                self.found.outside |= *root == Root::Legacy;
                return Ok(Some(serde_json::from_slice(&document.value).unwrap_or_default()));
            }
        }
        Ok(None)
    }
}

/// The group of each message: its newest, and of equals the first. An entry of a response that does not have
/// the group any more says nothing: the message shows again.
fn chosen(said: &RootGroups) -> (Vec<Group>, Vec<(Box<str>, u32)>) {
    let responses = responses(said);
    let is_current =
        |entry: &&GroupMember| responses.get(entry.name.as_str()).is_some_and(|(of, _)| *of == entry.response);
    let mut groups: Vec<Group> = Vec::new();
    let mut places: FxHashMap<&str, u32> = FxHashMap::default();
    let mut of = Vec::with_capacity(said.entries.len());
    for (id, entries) in &said.entries {
        let current = entries.iter().filter(is_current);
        let newest = current.reduce(|best, entry| if entry.updated_at > best.updated_at { entry } else { best });
        let Some(entry) = newest else { continue };
        let place = *places.entry(&entry.name).or_insert_with(|| {
            groups.push(said.group(entry));
            groups.len() as u32 - 1
        });
        of.push((id.as_str().into(), place));
    }
    (groups, of)
}

/// The response that has each group: the one that the index names, else that of the group's newest entry.
fn responses(said: &RootGroups) -> FxHashMap<&str, (&str, f64)> {
    let named = said.responses.iter().map(|(name, response)| (name.as_str(), (response.as_str(), f64::INFINITY)));
    let mut responses: FxHashMap<_, _> = named.collect();
    for entry in said.entries.values().flatten() {
        let newest = (entry.response.as_str(), entry.updated_at);
        let known = responses.entry(&entry.name).or_insert(newest);
        if newest.1 > known.1 {
            *known = newest;
        }
    }
    responses
}

impl RootGroups {
    /// The group of an entry; what its response says of it comes later.
    fn group(&self, entry: &GroupMember) -> Group {
        let holds = |state: &&ChosenState| state.response.as_ref().is_none_or(|response| *response == entry.response);
        let expanded = self.states.get(&entry.name).filter(holds).is_some_and(|state| state.expanded);
        let (name, response) = (entry.name.as_str().into(), entry.response.as_str().into());
        Group { name, response, description: None, items: None, expanded }
    }
}

fn entry(name: &str, value: &Value) -> Option<GroupMember> {
    let response = value.get("responseId")?.as_str().filter(|id| !id.is_empty())?.to_owned();
    let updated_at = value.get("updated_at").map_or(Some(0.0), Value::as_f64)?;
    Some(GroupMember { name: name.to_owned(), response, updated_at })
}

fn state(value: &Value) -> Option<ChosenState> {
    let expanded = match (value.get("expanded"), value.get("state").and_then(Value::as_str)) {
        (Some(expanded), _) => expanded.as_bool()?,
        (None, Some("expanded")) => true,
        (None, Some("collapsed")) => false,
        _ => return None,
    };
    Some(ChosenState { expanded, response: value.get("responseId").and_then(Value::as_str).map(str::to_owned) })
}

fn weight(group: &Group) -> usize {
    let items = group.items.as_ref().map_or(0, |items| items.get().len());
    512 + 4 * (group.name.len() + group.response.len() + group.description.as_ref().map_or(0, |d| d.len()) + items)
}

fn fingerprint(groups: &[Group], of: &[(Box<str>, u32)], problems: &[String]) -> u64 {
    let mut hasher = FxHasher::default();
    for group in groups {
        let items = group.items.as_ref().map(|items| items.get());
        (&group.name, &group.response, &group.description, items, group.expanded).hash(&mut hasher);
    }
    (of, problems).hash(&mut hasher);
    hasher.finish()
}
