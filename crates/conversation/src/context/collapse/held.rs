//! The index of a thread as it stands.
//!
//! Owns reading it, page by page, and what its documents say. Keeps only what concerns the responses and
//! messages that it is asked about, so that a long thread costs time and not memory. Invariant: a document
//! that is not of the expected shape says nothing, and is no error.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use novelo_engine::json;
use novelo_store::{Document, Store};

use super::{Places, scan, spilling};
use crate::error::{Error, Result};

/// What is written anew or removed when these responses change.
#[derive(Debug, Default)]
pub struct HeldGroups {
    /// The documents of messages, by message.
    pub messages: BTreeMap<Box<str>, Document>,
    /// The groups that a message's document has no room for, by message.
    pub spilled: BTreeMap<Box<str>, Vec<Document>>,
    /// The groups that point to one of the responses.
    pub groups: Vec<Document>,
    /// Those of them that have a state.
    pub states: BTreeSet<Box<str>>,
    /// What says which groups a response has, by response.
    pub listed: BTreeMap<Box<str>, Document>,
}

/// A group in a message's document.
#[derive(Debug)]
pub struct HeldGroup<'d> {
    /// Its name as it is spelled, and what it says.
    pub key: &'d str,
    pub name: Cow<'d, str>,
    pub response: Option<Cow<'d, str>>,
    pub value: &'d str,
}

impl HeldGroups {
    /// Reads what concerns these responses and these messages.
    pub async fn read(
        store: &Store,
        places: &Places,
        responses: &BTreeSet<&str>,
        messages: &BTreeSet<&str>,
    ) -> Result<Self> {
        let concerns = |response: Option<Cow<'_, str>>| response.is_some_and(|r| responses.contains(&*r));
        let in_groups = |d: &Document| entries(d).into_iter().any(|entry| concerns(entry.response));
        let of_message = |d: &Document| messages.contains(&*d.id) || in_groups(d);
        let mut held = Self::default();
        let found = scan(store, &places.message_to_groups, of_message).await?;
        held.messages = found.into_iter().map(|document| (document.id.clone(), document)).collect();
        for message in spilling(store, places).await? {
            let of = places.spilled(&message).map_err(|e| Error::bad_id("byMessage", &e))?;
            let asked = messages.contains(&*message);
            let found = scan(store, &of, |d| asked || concerns(response_of(d))).await?;
            held.spilled.insert(message, found);
        }
        held.groups = scan(store, &places.group_to_response, |d| concerns(response_of(d))).await?;
        let names: BTreeSet<&str> = held.groups.iter().map(|d| &*d.id).collect();
        let states = scan(store, &places.group_state, |d| names.contains(&*d.id)).await?;
        held.states = states.into_iter().map(|document| document.id).collect();
        for response in responses {
            let at = places.response_to_groups.document(response);
            let found = store.get(&at.map_err(|e| Error::bad_id("responseId", &e))?).await?;
            held.listed.extend(found.map(|document| (document.id.clone(), document)));
        }
        Ok(held)
    }

    /// The names that the index lists for a response.
    pub fn names(&self, response: &str) -> Vec<Cow<'_, str>> {
        let Some(names) = self.listed.get(response).and_then(|d| member(text(d), "groups")) else { return Vec::new() };
        json::elements(names).filter_map(|name| json::unescape(name.slice(names))).collect()
    }
}

/// The groups of a message's document.
pub fn entries(message: &Document) -> Vec<HeldGroup<'_>> {
    let Some(groups) = member(text(message), "groups") else { return Vec::new() };
    let entry = |(key, value): (json::Span, json::Span)| {
        let (key, value) = (key.slice(groups), value.slice(groups));
        let response = member(value, "responseId").and_then(json::unescape);
        HeldGroup { key, name: json::unescape(key).unwrap_or(Cow::Borrowed(key)), response, value }
    };
    json::members(groups).map(entry).collect()
}

/// The response that an entry of its own names.
pub fn response_of(document: &Document) -> Option<Cow<'_, str>> {
    member(text(document), "responseId").and_then(json::unescape)
}

/// What a document holds; nothing where it is not text.
pub fn text(document: &Document) -> &str {
    std::str::from_utf8(&document.value).unwrap_or("")
}

/// A member of an object, as it stands.
fn member<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    json::member(object, name).map(|value| value.slice(object))
}
