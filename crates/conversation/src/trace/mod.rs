//! What is kept of an assembly, so that it can be made again, and of a request, so that it can be understood.
//!
//! Owns the trace of a prompt as a document: the recipe, the numbers and the mutable documents that went in,
//! and a digest of the bytes that came out. Turns are named by their seqs, so that a long log makes no large
//! trace. Its id follows from the inputs and says where it lives; a caller may treat it as opaque. The trace
//! of a request has an id of the same kind, that is fresh, and lies beside the prompts that were made for it.

mod entry;
pub mod record;
mod request_trace;
mod request_tracer;
mod view;

use std::hash::Hash;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use novelo_engine::compact::CompactedSpan;
use novelo_engine::decode::UnknownField;
use novelo_engine::group::Group;
use novelo_engine::loaded::RefusedTurn;
use novelo_engine::path::DocumentPath;
use novelo_engine::recall::{Recall, RecallHit, Recalled};
use novelo_engine::recipe::Shape;
use novelo_engine::scope;
use novelo_engine::time_scope::Level;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;
use xxhash_rust::xxh3::Xxh3;

pub use entry::{TraceEntry, find};
pub use request_trace::{EmbeddingMark, MemoryMark, ModuleMark, RequestTrace};
pub use request_tracer::{EndedRequest, RequestTracer, Running};
pub use view::view;

/// The last segment of a collection of traces.
pub const TRACES: &str = "traces";

/// Where a trace lives: its own id, and the thread that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TraceId {
    /// Its own id.
    pub uuid: Uuid,
    /// User and thread; a stateless assembly has none.
    pub thread: Option<(String, String)>,
}

/// The trace of one assembly.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PromptTrace {
    /// The id.
    pub id: String,
    /// When the prompt was made, in seconds since 1970.
    pub at: f64,
    /// The user, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user: Option<String>,
    /// Whom it is about, also where it is not that user's; not stored.
    #[serde(skip)]
    pub subject: Option<String>,
    /// The thread, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thread: Option<String>,
    /// The preset, if there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub preset: Option<String>,
    /// The recipe.
    pub recipe: Box<RawValue>,
    /// The question.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub question: Option<String>,
    /// What was searched for, where that was not the question.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub query: Option<String>,
    /// The budget.
    pub budget_tokens: Option<u32>,
    /// What went in.
    pub inputs: Inputs,
    /// How many messages came out.
    pub messages: usize,
    /// How many tokens came out.
    pub tokens: u32,
    /// Leading tokens that are the same as in the thread's assembly before this one, where that is known.
    pub unchanged_tokens: Option<u32>,
    /// A digest of the bytes that came out.
    pub digest: String,
    /// Microseconds.
    pub took_us: u64,
}

/// What went in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Inputs {
    /// The first and the last turn that were looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turns: Option<(u64, u64)>,
    /// Where the turns are, if that does not follow from user and thread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub turns_in: Option<String>,
    /// The stretch of time that the turns were taken from, and whether in the order of their times.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub begin: Option<f64>,
    /// The end of the time scope, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub end: Option<f64>,
    /// Whether turns are ordered by time instead of by number.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub in_time: bool,
    /// How many turns were chosen as the newest of the stretch, where not all between the first and the last
    /// were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub newest: Option<u64>,
    /// How many instructions at the front of the thread were looked at beside them.
    #[serde(default)]
    pub lead: u64,
    /// How many turns were stored before the oldest that was read.
    #[serde(default)]
    pub turns_before: u64,
    /// Documents that can change, as they were.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub summary: Option<Box<RawValue>>,
    /// What is known of the user.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub user_data: Option<Box<RawValue>>,
    /// The collections that were shown.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub collections: Vec<CollectionInput>,
    /// The groups of the thread.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub groups: Option<GroupsInput>,
    /// The compactions of the thread, and its pinned turns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub compactions: Option<CompactionsInput>,
    /// The turns among them that a model had refused.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub refused: Vec<RefusedTurn>,
    /// The searches.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub recalled: Vec<RecalledInput>,
    /// The message before these.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recall_notice: Option<Box<RawValue>>,
    /// Messages that were sent with the request.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub messages: Vec<Box<RawValue>>,
    /// Fields of the request that were ignored.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unknown_fields: Vec<UnknownField>,
}

/// A collection that was shown.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CollectionInput {
    /// Its name.
    pub name: String,
    /// How its documents are shown.
    #[serde(default)]
    pub shape: Shape,
    /// How wide a reading it is from.
    #[serde(default)]
    pub level: Level,
    /// Its documents, by id.
    pub documents: Vec<(String, Box<RawValue>)>,
    /// How many documents of the same stretch were older than these.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub before: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The groups of a thread, and which of its turns belong to which.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct GroupsInput {
    /// The groups.
    pub groups: Vec<Group>,
    /// The group of each turn, by the turn's id.
    pub of: Vec<(Box<str>, u32)>,
    /// What is wrong with them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<String>,
}

/// The compacted spans that a prompt was made with, and the pinned turns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CompactionsInput {
    /// The spans that were shown, and those that were restored.
    pub spans: Vec<CompactedSpan>,
    /// The ids of the pinned turns.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub pins: Vec<Box<str>>,
}

/// What a search found: named, not quoted, so that what is forgotten leaves no text here.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecalledInput {
    /// What was searched for.
    pub recall: Recall,
    /// Whether hits were shown with their origins. Older versions showed bare lines.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub has_origins: bool,
    /// What was found.
    pub hits: Vec<RecallHit>,
    /// What nearly was.
    pub near: Vec<RecallHit>,
    /// What is wrong with the search.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<String>,
}

impl RecalledInput {
    /// The input of a search.
    pub fn of(recalled: &Recalled) -> Self {
        let Recalled { recall, hits, near, problems, .. } = recalled;
        let (hits, near, problems) = (hits.clone(), near.clone(), problems.clone());
        Self { recall: recall.clone(), has_origins: true, hits, near, problems }
    }
}

impl Inputs {
    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        let size = |raw: &RawValue| raw.get().len() + 64;
        let documents = self.collections.iter().flat_map(|c| &c.documents).map(|(id, raw)| id.len() + size(raw));
        let groups = self.groups.iter().flat_map(|g| &g.groups).map(|g| 256 + g.items.as_deref().map_or(0, size));
        let members = self.groups.iter().flat_map(|g| &g.of).map(|(id, _)| id.len() + 16);
        let shown = self
            .summary
            .iter()
            .chain(&self.user_data)
            .chain(&self.recall_notice)
            .chain(&self.messages)
            .map(|raw| size(raw));
        let hits =
            self.recalled.iter().flat_map(|r| r.hits.iter().chain(&r.near)).map(|hit| 512 + hit.collection.len());
        let refused = self.refused.iter().map(|turn| turn.why.len() + 64).sum::<usize>();
        512 + refused + hits.sum::<usize>() + documents.chain(groups).chain(members).chain(shown).sum::<usize>()
    }
}

impl TraceId {
    /// The id of a prompt: the same inputs give the same one, so that a prompt made twice is recorded once.
    pub fn of(thread: Option<&(String, String)>, parts: &impl Hash) -> Self {
        let uuid = uuid::Builder::from_custom_bytes(fingerprint(&(thread, parts)).to_be_bytes()).into_uuid();
        Self { uuid, thread: thread.cloned() }
    }

    /// The id on the wire.
    pub fn encode(&self) -> String {
        let mut bytes = self.uuid.as_bytes().to_vec();
        if let Some((user, thread)) = &self.thread {
            bytes.extend_from_slice(user.as_bytes());
            bytes.push(0);
            bytes.extend_from_slice(thread.as_bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads an id as clients send it.
    pub fn decode(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (uuid, rest) = bytes.split_at_checked(16)?;
        let uuid = Uuid::from_slice(uuid).ok()?;
        if rest.is_empty() {
            return Some(Self { uuid, thread: None });
        }
        let (user, thread) = std::str::from_utf8(rest).ok()?.split_once('\0')?;
        Some(Self { uuid, thread: Some((user.to_owned(), thread.to_owned())) })
    }

    /// The document it is kept in, if it is kept.
    pub fn path(&self) -> Option<DocumentPath> {
        let (user, thread) = self.thread.as_ref()?;
        scope::thread(user, thread).ok()?.child(TRACES).ok()?.document(&self.uuid.simple().to_string()).ok()
    }
}

/// The fingerprint of a value: equal values have equal ones.
pub(crate) fn fingerprint(value: &impl Hash) -> u128 {
    let mut hasher = Xxh3::new();
    value.hash(&mut hasher);
    hasher.digest128()
}

/// The digest by which two prompts are compared.
pub fn digest(messages: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(messages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_say_where_a_trace_lives() {
        for thread in [None, Some(("a/b".to_owned(), "é 😀".to_owned())), Some(("x".to_owned(), "x".to_owned()))] {
            let id = TraceId::of(thread.as_ref(), &1);
            assert_eq!(TraceId::decode(&id.encode()), Some(id.clone()));
            assert_eq!(TraceId::of(thread.as_ref(), &1), id);
            assert_ne!(TraceId::of(thread.as_ref(), &2), id);
        }
        for junk in ["", "AAAA", "!!", &URL_SAFE_NO_PAD.encode([7u8; 40])] {
            assert_eq!(TraceId::decode(junk), None, "{junk}");
        }
    }
}
