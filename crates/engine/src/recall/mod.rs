//! What was recalled for a prompt: the best of what a search found, as one message.
//!
//! Owns the options of a recipe's recall, the words it is introduced by, and its form (`show`). What is
//! searched, and how, is not decided here.

mod show;
#[cfg(test)]
mod show_tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Role;
use crate::decode::{DecodeError, Fields};
use crate::limits::RECALL_HITS_MAX;
use crate::message::Message;
pub use show::{PassageOrigin, ShownPassage};

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
    /// In thousandths, the share of the budget that the hits may fill together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share_permille: Option<u32>,
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
    /// Since when, and until when, it is true, if something replaced it or was replaced by it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub standing: Option<Standing>,
}

/// Whether something that was said is still true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Since when it is true, in seconds.
    pub since: f64,
    /// Until when it was true; without it, it still is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub until: Option<f64>,
    /// The id of what replaced it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<String>,
    /// Why it was replaced.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

const CHARS_MAX: u32 = 10_000;
/// Hits that fill a share of the budget.
const SHARED_HITS_MAX: u32 = 50;
const SHARE_PERMILLE: u32 = 250;
/// The budget that a share is of, where none is set.
const BUDGET_TOKENS: u32 = 24_000;
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
        let (hits_max, per_level, chars_max, share_permille) = match self {
            Self::Memories => (6, Some(2), 1_000, None),
            Self::Turns => (4, None, 300, None),
            Self::Documents => (SHARED_HITS_MAX, None, 1_200, Some(SHARE_PERMILLE)),
        };
        Recall { from: self, hits_max, per_level, chars_max, share_permille, heading: None, empty: None }
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
        let hits_max = fields.number("hits", 1, most)?;
        let share_permille = decode_share(fields)?.or(default.share_permille.filter(|_| hits_max.is_none()));
        Ok(Self {
            from,
            hits_max: hits_max.unwrap_or(default.hits_max),
            per_level: per_level.or(default.per_level),
            chars_max: fields.number("chars", 1, CHARS_MAX)?.unwrap_or(default.chars_max),
            share_permille,
            heading: decode_text(fields, "heading")?,
            empty: decode_text(fields, "empty")?,
        })
    }

    /// What stands in the prompt where nothing was found, if anything does.
    pub(crate) fn show_empty(&self) -> Option<Message> {
        self.empty.as_deref().map(|text| Message::text(Role::System, text))
    }

    /// The tokens that the hits may fill together, if that is limited: a share of what the budget leaves
    /// beside the tokens that are needed anyway.
    pub fn room_tokens(&self, budget_tokens: Option<u32>, needed_tokens: u32) -> Option<u32> {
        self.share_permille.map(|permille| share_tokens(budget_tokens, needed_tokens, permille))
    }

    /// The tokens that one hit may fill where none fits into the share: in a small budget the best passage
    /// is worth more than none.
    pub fn lone_room_tokens(&self, budget_tokens: Option<u32>, needed_tokens: u32) -> Option<u32> {
        let permille = |share: u32| share.saturating_mul(2).min(1_000);
        self.share_permille.map(|share| share_tokens(budget_tokens, needed_tokens, permille(share)))
    }
}

fn share_tokens(budget_tokens: Option<u32>, needed_tokens: u32, permille: u32) -> u32 {
    let left = budget_tokens.unwrap_or(BUDGET_TOKENS).saturating_sub(needed_tokens);
    u32::try_from(u64::from(left) * u64::from(permille) / 1_000).unwrap_or(u32::MAX)
}

/// A share from 0.001 to 1, in thousandths.
fn decode_share(fields: &mut Fields<'_>) -> Result<Option<u32>, DecodeError> {
    let Some(share) = fields.float("share")? else { return Ok(None) };
    match (0.001..=1.0).contains(&share) {
        true => Ok(Some((share * 1_000.0).round() as u32)),
        false => Err(DecodeError::new(fields.path("share"), "must be a number from 0.001 to 1")),
    }
}

fn decode_text(fields: &mut Fields<'_>, name: &'static str) -> Result<Option<Box<str>>, DecodeError> {
    let text = fields.string(name)?;
    if text.is_some_and(|text| text.is_empty() || text.len() > TEXT_BYTES_MAX) {
        return Err(DecodeError::new(fields.path(name), format!("must be a string of 1 to {TEXT_BYTES_MAX} bytes")));
    }
    Ok(text.map(Box::from))
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_share_is_of_what_the_budget_leaves() {
        let decode = |recall: Value| Recall::decode(&mut Fields::from_value("c", &recall).unwrap()).unwrap();
        let documents = decode(serde_json::json!({"from": "documents"}));
        assert_eq!(documents.room_tokens(Some(10_000), 2_000), Some(2_000));
        assert_eq!((documents.room_tokens(Some(100), 200), documents.room_tokens(None, 0)), (Some(0), Some(6_000)));
        let most = decode(serde_json::json!({"from": "documents", "share": 1}));
        assert_eq!(most.room_tokens(Some(u32::MAX), 0), Some(u32::MAX));
        assert_eq!(documents.lone_room_tokens(Some(1_200), 200), Some(500), "twice the share");
        assert_eq!(most.lone_room_tokens(Some(1_200), 200), Some(1_000), "never more than is left");
        let counted = decode(serde_json::json!({"from": "documents", "hits": 3}));
        assert_eq!((counted.hits_max, counted.room_tokens(Some(10_000), 0)), (3, None), "a number was asked for");
        let both = decode(serde_json::json!({"from": "turns", "hits": 3, "share": 0.5}));
        assert_eq!((both.hits_max, both.room_tokens(Some(1_000), 0)), (3, Some(500)));
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
        for share in [0.0, 0.000_9, 1.001, -1.0] {
            let error = error(serde_json::json!({"from": "documents", "share": share}));
            assert_eq!(error, "c.share must be a number from 0.001 to 1");
        }
    }
}
