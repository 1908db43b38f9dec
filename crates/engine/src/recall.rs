//! What was recalled for a prompt: the best of what a search found, as one message.
//!
//! Owns the options of a recipe's recall, the words it is introduced by, and its form: data, one line each,
//! after a heading that says where it comes from. What is searched, and how, is not decided here.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::limits::RECALL_HITS_MAX;
use crate::message::Message;

/// Where a recall looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecallSource {
    /// What was remembered about the user.
    Memories,
    /// What was said in any thread of the user.
    Turns,
    /// Documents and repositories of the user.
    Documents,
}

/// How much is recalled from where, and how it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Recall {
    /// Where to search.
    pub from: RecallSource,
    /// The number of hits, at most.
    pub hits_max: u32,
    /// So many of each level at most, where the source has levels.
    pub per_level: Option<u32>,
    /// Characters of one hit.
    pub chars_max: u32,
    /// What stands over it, where that is not the heading of the source.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub heading: Option<Box<str>>,
    /// What is shown where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub empty: Option<Box<str>>,
}

/// What was recalled, and what nearly was.
#[derive(Debug, Clone)]
pub struct Recalled {
    /// What was asked for.
    pub recall: Recall,
    /// The hits, best first.
    pub hits: Vec<RecallHit>,
    /// The best of what was not taken.
    pub near: Vec<RecallHit>,
    /// What kept the search from doing all it should.
    pub problems: Vec<String>,
    /// How the prompt shows it; `None` when nothing was found.
    pub message: Option<Message>,
}

/// Something that was found: which document, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecallHit {
    /// The path of its collection.
    #[serde(rename = "in")]
    pub collection: String,
    /// The id of its document.
    pub id: String,
    /// Its place in the collection.
    pub seq: u64,
    /// The score of the search.
    pub score: f32,
    /// How the score came about.
    #[serde(skip_serializing_if = "Value::is_null", default)]
    pub why: Value,
}

const CHARS_MAX: u32 = 10_000;
const TEXT_BYTES_MAX: usize = 1_000;

impl RecallSource {
    /// All sources.
    pub const ALL: [Self; 3] = [Self::Memories, Self::Turns, Self::Documents];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Turns => "turns",
            Self::Documents => "documents",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Memories => "Relevant memory:",
            Self::Turns => "Relevant conversation memory:",
            Self::Documents => "Relevant documents:",
        }
    }

    fn defaults(self) -> Recall {
        let (hits_max, per_level, chars_max) = match self {
            Self::Memories => (6, Some(2), 1_000),
            Self::Turns => (4, None, 300),
            Self::Documents => (4, None, 1_200),
        };
        Recall { from: self, hits_max, per_level, chars_max, heading: None, empty: None }
    }
}

impl Recall {
    /// Reads the fields of a component.
    pub fn decode(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let names = || RecallSource::ALL.map(RecallSource::name).join(", ");
        let refuse = |fields: &Fields<'_>| DecodeError::new(fields.path("from"), format!("must be one of {}", names()));
        let name = fields.string("from")?.ok_or_else(|| refuse(fields))?;
        let from = RecallSource::ALL.into_iter().find(|source| source.name() == name).ok_or_else(|| refuse(fields))?;
        let default = from.defaults();
        let most = RECALL_HITS_MAX as u32;
        let per_level = fields.number("perLevel", 1, most)?;
        if per_level.is_some() && from != RecallSource::Memories {
            return Err(DecodeError::new(fields.path("perLevel"), "goes with memories: nothing else has levels"));
        }
        Ok(Self {
            from,
            hits_max: fields.number("hits", 1, most)?.unwrap_or(default.hits_max),
            per_level: per_level.or(default.per_level),
            chars_max: fields.number("chars", 1, CHARS_MAX)?.unwrap_or(default.chars_max),
            heading: decode_text(fields, "heading")?,
            empty: decode_text(fields, "empty")?,
        })
    }

    /// What stands in the prompt where nothing was found, if anything does.
    pub(crate) fn show_empty(&self) -> Option<Message> {
        self.empty.as_deref().map(|text| Message::text(Role::System, text))
    }

    /// Texts as a prompt shows them: a line each, equal ones once, each cut to where the words are that found
    /// it. A text cannot pass for two.
    pub fn show<'t>(&self, texts: impl IntoIterator<Item = (&'t str, Vec<&'t str>)>) -> Option<Message> {
        let mut lines: Vec<String> = Vec::new();
        for (text, words) in texts {
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let line = excerpt(&line, &words, self.chars_max as usize);
            if !line.is_empty() && !lines.contains(&line) {
                lines.push(line);
            }
        }
        let heading = self.heading.as_deref().unwrap_or(self.from.heading());
        (!lines.is_empty()).then(|| Message::text(Role::System, &format!("{heading}\n{}", lines.join("\n"))))
    }
}

fn decode_text(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<Box<str>>, DecodeError> {
    let text = fields.string(name)?;
    if text.is_some_and(|text| text.is_empty() || text.len() > TEXT_BYTES_MAX) {
        return Err(DecodeError::new(fields.path(name), format!("must be a string of 1 to {TEXT_BYTES_MAX} bytes")));
    }
    Ok(text.map(Box::from))
}

/// Words of fewer letters are everywhere.
const WORD_CHARS_MIN: usize = 3;

/// The beginning of a line; where that holds none of the words, the part around the first of them.
fn excerpt(line: &str, words: &[&str], chars_max: usize) -> String {
    let chars: Vec<char> = line.chars().collect();
    let lower = |c: &char| c.to_lowercase().next().unwrap_or(*c);
    let low: Vec<char> = chars.iter().map(lower).collect();
    let wanted = words.iter().map(|word| word.chars().map(|c| lower(&c)).collect::<Vec<char>>());
    let wanted = wanted.filter(|word| word.len() >= WORD_CHARS_MIN);
    let first = wanted.filter_map(|word| low.windows(word.len()).position(|part| part == word.as_slice())).min();
    let from = match first.filter(|at| *at >= chars_max) {
        Some(at) => {
            let near = at - chars_max / 4;
            chars.iter().skip(near).position(|c| c.is_whitespace()).map_or(near, |gap| (near + gap + 1).min(at))
        }
        None => 0,
    };
    chars.into_iter().skip(from).take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(recall: Value, texts: &[&str], expected: Option<&str>) {
        let mut fields = Fields::from_value("c", &recall).unwrap();
        let message = Recall::decode(&mut fields).unwrap().show(texts.iter().map(|text| (*text, vec!["fire"])));
        assert_eq!(message.as_ref().and_then(Message::content_text).as_deref(), expected);
    }

    #[test]
    fn a_hit_is_a_line_and_no_more() {
        let memories = serde_json::json!({"from": "memories"});
        check(memories.clone(), &[], None);
        check(memories.clone(), &[" ", "\n"], None);
        check(memories.clone(), &["tea", "no\n sugar", "tea"], Some("Relevant memory:\ntea\nno sugar"));
        let turns = serde_json::json!({"from": "turns", "chars": 3});
        check(turns, &["água fria", "águia", "ok"], Some("Relevant conversation memory:\nágu\nok"));
    }

    #[test]
    fn a_long_text_is_shown_where_it_was_found() {
        let turns = || serde_json::json!({"from": "turns", "chars": 12});
        let far = "much was said before the Fire broke out at night";
        check(turns(), &[far], Some("Relevant conversation memory:\nFire broke o"));
        check(turns(), &["fire and then much was said"], Some("Relevant conversation memory:\nfire and the"));
        check(turns(), &["nothing of the kind"], Some("Relevant conversation memory:\nnothing of t"));
    }

    #[test]
    fn a_recall_may_have_its_own_heading() {
        let headed = serde_json::json!({"from": "memories", "heading": "MEMORIAS:", "empty": "MEMORIAS: nenhuma."});
        check(headed.clone(), &["tea"], Some("MEMORIAS:\ntea"));
        check(headed, &[], None);
    }

    #[test]
    fn texts_hold_at_the_cap_and_one_past_it() {
        for name in ["heading", "empty"] {
            let decode = |bytes: usize| {
                let recall = serde_json::json!({"from": "turns", name: "x".repeat(bytes)});
                Recall::decode(&mut Fields::from_value("c", &recall).unwrap())
            };
            let text = |recall: Recall| if name == "heading" { recall.heading } else { recall.empty };
            assert_eq!(text(decode(1).unwrap()).as_deref(), Some("x"));
            assert_eq!(text(decode(1_000).unwrap()).map(|text| text.len()), Some(1_000));
            for bytes in [0, 1_001] {
                let error = decode(bytes).unwrap_err().to_string();
                assert_eq!(error, format!("c.{name} must be a string of 1 to 1000 bytes"));
            }
        }
    }

    #[test]
    fn what_was_stored_before_it_had_texts_is_still_read() {
        let old = r#"{"from":"memories","hits_max":6,"per_level":2,"chars_max":1000}"#;
        let recall: Recall = serde_json::from_str(old).unwrap();
        assert_eq!(recall, RecallSource::Memories.defaults());
        assert_eq!(serde_json::to_string(&recall).unwrap(), old, "what says nothing new is stored as before");
        let headed = Recall { heading: Some("H".into()), empty: Some("E".into()), ..recall };
        let stored = serde_json::to_string(&headed).unwrap();
        assert_eq!(serde_json::from_str::<Recall>(&stored).unwrap(), headed);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |recall: Value| {
            let mut fields = Fields::from_value("c", &recall).unwrap();
            Recall::decode(&mut fields).unwrap_err().to_string()
        };
        assert!(error(serde_json::json!({})).contains("c.from must be one of memories, turns, documents"));
        assert!(error(serde_json::json!({"from": "turns", "perLevel": 2})).contains("c.perLevel"));
        assert!(error(serde_json::json!({"from": "turns", "hits": RECALL_HITS_MAX + 1})).contains("c.hits"));
    }
}
