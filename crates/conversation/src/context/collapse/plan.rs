//! What must be written so that the index says what a response says.
//!
//! Owns the way from groups and the index as it stands to operations; writes nothing itself. What is added is
//! merged, so that no other run's entry is lost. What is removed, and what fills up a message's document,
//! names the version that was read, so that nothing is removed unseen and no run on another node fills up the
//! same. Invariant: applied to its own outcome, a plan changes times only.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use novelo_engine::group::GroupDefinition;
use novelo_engine::json;
use novelo_engine::limits::GROUPS_PER_MESSAGE_MAX;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{Document, Op, PutTerms};
use serde_json::{Value, json};

use super::Places;
use super::held::{HeldGroup, HeldGroups, entries, response_of, text};
use crate::error::{Error, Result};

/// The response of groups that came without one.
pub(crate) const UNKNOWN: &str = "unknown";

/// What a response says.
pub(crate) struct Wanted<'a> {
    pub response: &'a str,
    pub groups: &'a [GroupDefinition],
    pub now: f64,
    /// Whether it says all that its response has, or adds to it.
    pub adds: bool,
    names: BTreeSet<&'a str>,
    /// The groups of each message, in the order of the response.
    of: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Wanted<'a> {
    /// Without a response the groups add to those that came without one before.
    pub fn new(response: Option<&'a str>, groups: &'a [GroupDefinition], now: f64) -> Self {
        let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for group in groups {
            group.turns.iter().for_each(|message| of.entry(message).or_default().push(&group.name));
        }
        let names = groups.iter().map(|group| group.name.as_str()).collect();
        Self { response: response.unwrap_or(UNKNOWN), groups, now, adds: response.is_none(), names, of }
    }

    /// The distinct messages.
    pub fn messages(&self) -> BTreeSet<&'a str> {
        self.of.keys().copied().collect()
    }

    fn listing(&self, more: &[&str]) -> Value {
        let names = self.groups.iter().map(|group| group.name.as_str());
        json!({"groups": names.chain(more.iter().copied()).collect::<Vec<_>>(), "updated_at": self.now})
    }
}

/// Makes the index say what a response says. Which groups it had and has is written first, so that a run that
/// ends early can be cleaned up after, and which it has is written last.
pub(crate) fn replacement(places: &Places, held: &HeldGroups, wanted: &Wanted<'_>) -> Result<Vec<Op>> {
    let mut plan = GroupPlan::new(places, held, BTreeSet::from([wanted.response]), Some(wanted));
    let at = at(&places.response_to_groups, wanted.response)?;
    let before = held.names(wanted.response);
    let gone: Vec<&str> = before.iter().map(|name| &**name).filter(|name| !wanted.names.contains(name)).collect();
    plan.merge(at.clone(), &wanted.listing(&gone));
    plan.groups(wanted)?;
    plan.messages()?;
    if !wanted.adds {
        plan.remove_groups()?;
    }
    if !wanted.adds && !gone.is_empty() {
        plan.merge(at, &wanted.listing(&[]));
    }
    Ok(plan.ops)
}

/// Leaves nothing of these responses in the index.
pub fn removal(places: &Places, held: &HeldGroups, responses: &BTreeSet<&str>) -> Result<Vec<Op>> {
    let mut plan = GroupPlan::new(places, held, responses.clone(), None);
    plan.messages()?;
    plan.remove_groups()?;
    for document in held.listed.values() {
        plan.delete(&places.response_to_groups, document)?;
    }
    Ok(plan.ops)
}

struct GroupPlan<'a> {
    places: &'a Places,
    held: &'a HeldGroups,
    /// Whose entries stay only where they are wanted.
    responses: BTreeSet<&'a str>,
    wanted: Option<&'a Wanted<'a>>,
    ops: Vec<Op>,
}

impl<'a> GroupPlan<'a> {
    fn new(
        places: &'a Places,
        held: &'a HeldGroups,
        responses: BTreeSet<&'a str>,
        wanted: Option<&'a Wanted<'a>>,
    ) -> Self {
        Self { places, held, responses, wanted, ops: Vec::new() }
    }

    /// Points the groups to their response.
    fn groups(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        for group in wanted.groups {
            let value = json!({"responseId": wanted.response, "updated_at": wanted.now, "size": group.size});
            self.merge(at(&self.places.group_to_response, &group.name)?, &value);
        }
        Ok(())
    }

    /// Removes the groups that no response has any more, and what was chosen about them.
    fn remove_groups(&mut self) -> Result<()> {
        for document in &self.held.groups {
            if self.wanted.is_some_and(|wanted| wanted.names.contains(&*document.id)) {
                continue;
            }
            self.delete(&self.places.group_to_response, document)?;
            if self.held.states.contains(&document.id) {
                let at = at(&self.places.group_state, &document.id)?;
                self.ops.push(Op::Delete { at, if_version: None });
            }
        }
        Ok(())
    }

    fn messages(&mut self) -> Result<()> {
        let wanted = self.wanted.into_iter().flat_map(|wanted| wanted.of.keys().copied());
        let held = self.held.messages.keys().chain(self.held.spilled.keys()).map(|id| &**id);
        let messages: BTreeSet<&str> = wanted.chain(held).collect();
        messages.into_iter().try_for_each(|message| self.message(message))
    }

    /// The groups of one message: names that are in its document stay there, new ones fill it up, the rest
    /// stands in documents of their own. The room is counted after what goes, so that the next run finds it
    /// as it is.
    fn message(&mut self, message: &str) -> Result<()> {
        let wanted = self.wanted.and_then(|wanted| wanted.of.get(message)).map_or(&[][..], Vec::as_slice);
        let asked: BTreeSet<&str> = wanted.iter().copied().collect();
        let stays = |name: &str| self.wanted.is_some_and(|wanted| wanted.adds && !wanted.names.contains(name));
        let goes = |name: &str, response: &Option<Cow<'_, str>>| {
            let is_ours = response.as_ref().is_some_and(|r| self.responses.contains(&**r));
            is_ours && !asked.contains(name) && !stays(name)
        };
        let document = self.held.messages.get(message);
        let held = document.map_or_else(Vec::new, entries);
        let (gone, kept): (Vec<_>, Vec<_>) = held.iter().partition(|entry| goes(&entry.name, &entry.response));
        let names: BTreeSet<&str> = kept.iter().map(|entry| &*entry.name).collect();
        let (mut inside, new): (Vec<&str>, Vec<&str>) = wanted.iter().partition(|name| names.contains(*name));
        let room = GROUPS_PER_MESSAGE_MAX.saturating_sub(kept.len());
        inside.extend(new.iter().take(room));
        let outside: BTreeSet<&str> = new.into_iter().skip(room).collect();
        let is_over = |d: &&Document| match asked.contains(&*d.id) {
            true => !outside.contains(&*d.id),
            false => goes(&d.id, &response_of(d)),
        };
        let over: Vec<_> = self.held.spilled.get(message).into_iter().flatten().filter(is_over).collect();
        // A rewrite names the version itself, and makes another of it.
        let mut if_version = Some(document.map_or(0, |document| document.version));
        if let Some(document) = document.filter(|_| !gone.is_empty()) {
            self.rewrite(document, &kept, inside.is_empty())?;
            if_version = None;
        }
        self.enter(message, &inside, &outside, if_version)?;
        over.into_iter().try_for_each(|d| self.delete(&self.places.spilled(message).map_err(bad_id)?, d))
    }

    /// Writes a message's document without the groups that go; removes it when nothing else is in it.
    fn rewrite(&mut self, document: &Document, kept: &[&HeldGroup<'_>], adds_none: bool) -> Result<()> {
        let text = text(document);
        let is_groups = |key: &str| json::unescape(key).is_some_and(|key| key == "groups");
        let members: Vec<_> = json::members(text).map(|(key, value)| (key.slice(text), value.slice(text))).collect();
        if adds_none && kept.is_empty() && members.iter().all(|(key, _)| is_groups(key)) {
            return self.delete(&self.places.message_to_groups, document);
        }
        let groups = object(kept.iter().map(|entry| (entry.key, entry.value)));
        let value = object(members.iter().map(|(key, value)| (*key, if is_groups(key) { &*groups } else { *value })));
        let terms = PutTerms { if_version: Some(document.version), ..PutTerms::default() };
        let at = at(&self.places.message_to_groups, &document.id)?;
        self.ops.push(Op::Put { at, value: value.into(), terms });
        Ok(())
    }

    /// Enters a message's groups, in its document and beside it.
    fn enter(
        &mut self,
        message: &str,
        inside: &[&str],
        outside: &BTreeSet<&str>,
        if_version: Option<u64>,
    ) -> Result<()> {
        let Some(wanted) = self.wanted else { return Ok(()) };
        let entry = json!({"responseId": wanted.response, "updated_at": wanted.now});
        if !inside.is_empty() {
            let groups: serde_json::Map<_, _> = inside.iter().map(|n| ((*n).to_owned(), entry.clone())).collect();
            self.merge_over(at(&self.places.message_to_groups, message)?, &json!({"groups": groups}), if_version);
        }
        for name in outside {
            let at = self.places.spilled(message).and_then(|of| of.document(name)).map_err(bad_id)?;
            self.merge(at, &entry);
        }
        Ok(())
    }

    fn merge(&mut self, at: DocumentPath, value: &Value) {
        self.merge_over(at, value, None);
    }

    fn merge_over(&mut self, at: DocumentPath, value: &Value, if_version: Option<u64>) {
        let now = self.wanted.map_or(0.0, |wanted| wanted.now);
        let terms = PutTerms { merge: true, if_version, now, ..PutTerms::default() };
        self.ops.push(Op::Put { at, value: value.to_string().into(), terms });
    }

    fn delete(&mut self, of: &CollectionPath, document: &Document) -> Result<()> {
        self.ops.push(Op::Delete { at: at(of, &document.id)?, if_version: Some(document.version) });
        Ok(())
    }
}

/// An object of members as they are spelled.
fn object<'t>(members: impl Iterator<Item = (&'t str, &'t str)>) -> String {
    let members: Vec<_> = members.map(|(key, value)| format!("{key}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

pub fn at(of: &CollectionPath, id: &str) -> Result<DocumentPath> {
    of.document(id).map_err(bad_id)
}

fn bad_id(error: novelo_engine::path::PathError) -> Error {
    Error::bad_id("groups", &error)
}
