//! A passage that a search found, from the index to the answer that shows it.

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_engine::recall::{RecallHit, RecallSource};
use novelo_engine::{Turn, json};
use novelo_recall::Why;
use serde_json::Value;

use super::sources::{Place, passage_text};

/// A passage that was found, with its document.
#[derive(Debug, Clone)]
pub struct FoundPassage {
    pub source: RecallSource,
    pub collection: CollectionPath,
    pub id: Box<str>,
    pub seq: u64,
    pub create_time: f64,
    pub document: Bytes,
    pub text: String,
    pub score: f32,
    /// How the score came about, if the search was to explain it.
    pub why: Option<Why>,
    /// The name of the document that it is a part of, once that was read.
    pub document_name: Option<String>,
}

impl FoundPassage {
    /// Reads a passage from its document; `None` if the document has no text.
    pub fn read(
        source: RecallSource,
        collection: &CollectionPath,
        turn: &Turn,
        score: f32,
        why: Option<Why>,
    ) -> Option<Self> {
        Some(Self {
            source,
            collection: collection.clone(),
            id: turn.id.clone(),
            seq: turn.seq,
            create_time: turn.create_time,
            // A copy: the stored bytes may be a slice of a larger buffer, which a cached passage would keep
            // alive.
            document: Bytes::copy_from_slice(turn.message.raw()),
            text: passage_text(source, turn)?.into_owned(),
            score,
            why,
            document_name: None,
        })
    }

    /// The thread of a turn, the document of a passage.
    pub fn parent(&self) -> &str {
        Place { of: &self.collection, seq: self.seq }.parent()
    }

    /// The name of its document, if that is known, else the id of what it is a part of.
    pub fn name(&self) -> &str {
        self.document_name.as_deref().unwrap_or_else(|| self.parent())
    }

    /// The file and the line that it was taken from.
    pub fn place_in_file(&self) -> (Option<String>, Option<u64>) {
        let text = std::str::from_utf8(&self.document).unwrap_or("");
        let file = json::member(text, "file").and_then(|span| json::unescape(span.slice(text)));
        let line = json::member(text, "line").and_then(|span| span.slice(text).parse().ok());
        (file.map(|file| file.into_owned()), line)
    }

    /// The cosine of its vector with that of the query, if both have one.
    pub(crate) fn similarity(&self) -> Option<f64> {
        Some(f64::from(self.why.as_ref()?.dense?.score))
    }

    /// The words of the query that found it, as the query spells them.
    pub(crate) fn matched_words(&self) -> Vec<&str> {
        let why = self.why.iter();
        why.flat_map(|why| why.matched.iter().chain(&why.alike)).map(String::as_str).collect()
    }

    /// The passage as the engine names it in a prompt's trace, without its text.
    pub(crate) fn to_hit(&self) -> RecallHit {
        let why = self.why.as_ref().and_then(|why| serde_json::to_value(why).ok()).unwrap_or(Value::Null);
        let (collection, id) = (self.collection.to_string(), self.id.to_string());
        RecallHit { collection, id, seq: self.seq, score: self.score, why }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        256 + self.text.len() + self.document.len() + self.document_name.as_ref().map_or(0, String::len)
    }
}
