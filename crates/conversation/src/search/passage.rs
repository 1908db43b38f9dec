//! A passage that a search found, from the index to the answer that shows it.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::recall::{PassageOrigin, RecallHit, RecallSource, ShownPassage, Standing};
use novelo_engine::{Turn, json};
use novelo_language::{iso_date, utc_minute};
use novelo_recall::Why;
use novelo_store::Store;
use serde_json::Value;

use super::sources::{PassageRef, passage_text};
use crate::error::Result;
use crate::text::{cut, member};

const SPEAKER_CHARS_MAX: usize = 64;

/// A passage that was found, with its document.
#[derive(Debug, Clone)]
pub struct FoundPassage {
    /// The kind of passage.
    pub source: RecallSource,
    /// The collection of its document.
    pub collection: CollectionPath,
    /// The id of its document.
    pub id: Box<str>,
    /// The seq of its document.
    pub seq: u64,
    /// When its document was stored, in seconds since 1970.
    pub create_time: f64,
    /// Its document as it is stored.
    pub document: Bytes,
    /// The text of the passage.
    pub text: String,
    /// How well it fits: more is better.
    pub score: f32,
    /// How the score came about, if the search was to explain it.
    pub why: Option<Why>,
    /// Who said it, if it is a turn: a name, or the role.
    pub speaker: Option<String>,
    /// The name of the document that it is a part of, once that was read.
    pub document_name: Option<String>,
    /// Where its document has it.
    pub place: PassagePlace,
    /// Whether it is still true, if something replaced it or was replaced by it.
    pub standing: Option<Standing>,
}

/// Where a document has a passage, as far as that is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassagePlace {
    /// The path of the file.
    pub file: Option<String>,
    /// The headings that it stands under.
    pub heading: Option<String>,
    /// Its first and its last line.
    pub line: Option<u64>,
    /// The last line.
    pub line_end: Option<u64>,
    /// The page that it stands on.
    pub page: Option<u64>,
    /// Its number among the passages of its file or document.
    pub part: Option<u64>,
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
        let text = passage_text(source, turn)?.into_owned();
        let message = turn.message.shown();
        let speaker = || member(message, "name").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let role = || message.role().map(|role| role.name().to_owned());
        let is_turn = source == RecallSource::Turns;
        let place = match source {
            RecallSource::Documents => PassagePlace::read(turn.message.as_str(), &text),
            RecallSource::Memories | RecallSource::Turns => PassagePlace::default(),
        };
        Some(Self {
            source,
            collection: collection.clone(),
            id: turn.id.clone(),
            seq: turn.seq,
            create_time: turn.create_time,
            // A copy: the stored bytes may be a slice of a larger buffer, which a cached passage would keep
            // alive.
            document: Bytes::copy_from_slice(turn.message.raw()),
            text,
            score,
            why,
            speaker: is_turn.then(|| speaker().or_else(role)).flatten(),
            document_name: None,
            place,
            standing: None,
        })
    }

    /// The thread of a turn, the document of a passage.
    pub fn parent(&self) -> &str {
        PassageRef { of: &self.collection, seq: self.seq }.parent()
    }

    /// The name of its document, if that is known, else the id of what it is a part of.
    pub fn name(&self) -> &str {
        self.document_name.as_deref().unwrap_or_else(|| self.parent())
    }

    /// How a prompt shows it.
    pub(crate) fn to_shown(&self) -> ShownPassage<'_> {
        let PassagePlace { file, heading, line, line_end, page, .. } = &self.place;
        let origin = PassageOrigin {
            name: self.name(),
            file: file.as_deref(),
            heading: heading.as_deref(),
            lines: line.zip(*line_end),
            page: *page,
        };
        ShownPassage { text: &self.text, words: self.matched_words(), lead: self.lead(), origin }
    }

    /// What a prompt says before the text: when and by whom it was said, and whether it is still true.
    fn lead(&self) -> Option<String> {
        let said = self.speaker.as_ref().map(|speaker| {
            let said_at = utc_minute(self.create_time);
            let separator = if said_at.is_empty() { "" } else { ", " };
            format!("{said_at}{separator}{}", cut(speaker, SPEAKER_CHARS_MAX))
        });
        let Some(Standing { since, until, .. }) = &self.standing else { return said };
        let standing = match until.map(iso_date) {
            Some(until) if said.is_some() => format!("no longer true since {until}"),
            Some(until) => format!("no longer true since {until}, said {}", iso_date(*since)),
            None if said.is_some() => return said,
            None => format!("since {}", iso_date(*since)),
        };
        Some(said.map_or_else(|| standing.clone(), |said| format!("{said}, {standing}")))
    }

    /// Whether it is no longer true.
    pub(crate) fn is_history(&self) -> bool {
        self.standing.as_ref().is_some_and(|standing| standing.until.is_some())
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
        RecallHit { collection, id, seq: self.seq, score: self.score, why, standing: self.standing.clone() }
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        let PassagePlace { file, heading, .. } = &self.place;
        let texts = [&self.document_name, &self.speaker, file, heading].into_iter().flatten();
        384 + self.text.len() + self.document.len() + texts.map(String::len).sum::<usize>()
    }
}

impl PassagePlace {
    fn read(document: &str, text: &str) -> Self {
        let string = |name: &str| {
            let value = json::member(document, name).and_then(|span| json::unescape(span.slice(document)));
            value.map(|value| value.into_owned())
        };
        let number = |name: &str| json::member(document, name).and_then(|span| span.slice(document).parse().ok());
        let line = number("line");
        let line_end = line.map(|line: u64| line + text.matches('\n').count() as u64);
        let (page, part) = (number("page"), number("part"));
        Self { file: string("file"), heading: string("heading"), line, line_end, page, part }
    }
}

/// Gives each passage of a document the name of that document, which is read once for all its passages.
pub(crate) async fn name_documents(store: &Store, passages: &mut [FoundPassage]) -> Result<()> {
    let mut names: Vec<(CollectionPath, Option<String>)> = Vec::new();
    for passage in passages.iter_mut().filter(|passage| passage.source == RecallSource::Documents) {
        if !names.iter().any(|(of, _)| *of == passage.collection) {
            names.push((passage.collection.clone(), read_name(store, &passage.collection).await?));
        }
        let named = names.iter().find(|(of, _)| *of == passage.collection);
        passage.document_name = named.and_then(|(_, name)| name.clone());
    }
    Ok(())
}

/// The name of the document that a collection of passages belongs to.
async fn read_name(store: &Store, passages: &CollectionPath) -> Result<Option<String>> {
    let segments = passages.segments().split_last().map_or(&[][..], |(_, document)| document);
    let Ok(at) = DocumentPath::new(segments) else { return Ok(None) };
    let Some(document) = store.get(&at).await? else { return Ok(None) };
    let text = std::str::from_utf8(&document.value).unwrap_or("");
    let name = json::member(text, "name").and_then(|span| json::unescape(span.slice(text)));
    Ok(name.map(|name| name.into_owned()))
}
