//! Components and filters as a recipe document writes them, as types.
//!
//! Owns the field names of recipe documents for code that makes recipes. Each type serializes to exactly the
//! JSON that a person would write, and leaves out every option that was not set. Defaults and ranges belong
//! to the decoder.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Shape;
use crate::Role;
use crate::compact::SpanMaker;
use crate::message::Message;
use crate::module::Chosen;
use crate::recall::RecallSource;
use crate::tokens::Tokenizer;

/// A component of a recipe document: what proposes messages for the prompt.
///
/// ```
/// use novelo_engine::Role;
/// use novelo_engine::recall::RecallSource;
/// use novelo_engine::recipe::{ComponentSpec, RecallSpec};
///
/// let json = |component: &ComponentSpec| serde_json::to_string(component).unwrap();
/// assert_eq!(json(&ComponentSpec::history()), r#"{"kind":"history"}"#);
/// assert_eq!(json(&ComponentSpec::system("Be brief.")), r#"{"kind":"literal","value":"Be brief."}"#);
/// assert_eq!(
///     json(&ComponentSpec::literal(Role::User, "Hello")),
///     r#"{"kind":"literal","role":"user","value":"Hello"}"#
/// );
/// let memories = RecallSpec { hits: Some(3), ..RecallSpec::from(RecallSource::Memories) };
/// assert_eq!(json(&memories.into()), r#"{"kind":"recall","from":"memories","hits":3}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum ComponentSpec {
    /// A message of fixed text; a system message where no role is given.
    Literal {
        /// Who speaks.
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<Role>,
        /// The text.
        value: String,
    },
    /// The turns of the thread.
    History {
        /// A text to put before that of each turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        framing: Option<String>,
    },
    /// The summary of the thread.
    Summary,
    /// What is known about the user.
    UserData,
    /// The documents of another collection of the thread.
    Collection {
        /// The name of the collection.
        name: String,
        /// A text to put before that of each document.
        #[serde(skip_serializing_if = "Option::is_none")]
        framing: Option<String>,
        /// Whether its documents are shown as messages or as data.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        shape: Option<Shape>,
    },
    /// What a search finds for the question.
    Recall(RecallSpec),
    /// A text that competes with the other modules for a budget of its own.
    Module(ModuleSpec),
}

/// The options of a search whose hits go into the prompt. Options that are `None` take the defaults of the
/// source.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallSpec {
    /// Where to search.
    pub from: RecallSource,
    /// The number of hits, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<u32>,
    /// The number of hits of each level, at most. Only memories have levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_level: Option<u32>,
    /// Characters of one hit, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chars: Option<u32>,
    /// The share of the budget that the hits may fill together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The line above the hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// The text to show if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
}

/// A module of a recipe document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModuleSpec {
    /// The name that explanations show.
    pub name: String,
    /// The text.
    pub value: String,
    /// Modules of higher priority are kept first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Whether it is kept before all modules that are not pinned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
}

impl ComponentSpec {
    /// A system message of fixed text.
    pub fn system(text: impl Into<String>) -> Self {
        Self::Literal { role: None, value: text.into() }
    }

    /// A message of fixed text.
    pub fn literal(role: Role, text: impl Into<String>) -> Self {
        Self::Literal { role: Some(role), value: text.into() }
    }

    /// A message that is already there, as fixed text. `None` if it has no role, or its content is not one
    /// string.
    pub fn from_message(message: &Message) -> Option<Self> {
        Some(Self::literal(message.role()?, message.content_text()?))
    }

    /// The turns of the thread, as they are stored.
    pub fn history() -> Self {
        Self::History { framing: None }
    }

    /// The documents of a collection of the thread.
    pub fn collection(name: impl Into<String>) -> Self {
        Self::Collection { name: name.into(), framing: None, shape: None }
    }

    /// What a search finds, with the defaults of its source.
    pub fn recall(from: RecallSource) -> Self {
        RecallSpec::from(from).into()
    }
}

impl From<RecallSource> for RecallSpec {
    fn from(from: RecallSource) -> Self {
        Self { from, hits: None, per_level: None, chars: None, share: None, heading: None, empty: None }
    }
}

impl From<RecallSpec> for ComponentSpec {
    fn from(recall: RecallSpec) -> Self {
        Self::Recall(recall)
    }
}

impl From<ModuleSpec> for ComponentSpec {
    fn from(module: ModuleSpec) -> Self {
        Self::Module(module)
    }
}

/// A module that a manifest chose.
impl From<&Chosen> for ComponentSpec {
    fn from(chosen: &Chosen) -> Self {
        let (name, value) = (chosen.name.clone(), chosen.text.clone());
        Self::Module(ModuleSpec { name, value, priority: Some(chosen.priority), pinned: Some(chosen.pinned) })
    }
}

/// A filter of a recipe document: what keeps, changes or drops messages on their way to the prompt.
///
/// ```
/// use novelo_engine::recipe::{FilterSpec, SizeLimitOptions, WindowSize};
///
/// let json = |filter: &FilterSpec| serde_json::to_string(filter).unwrap();
/// assert_eq!(json(&FilterSpec::Dedupe), r#""dedupe""#);
/// assert_eq!(
///     json(&FilterSpec::HistoryWindow(WindowSize::Turns(20))),
///     r#"{"name":"historyWindow","options":{"turns":20}}"#
/// );
/// let limit = SizeLimitOptions { max_tokens: Some(8_000), ..SizeLimitOptions::default() };
/// let limiter = FilterSpec::SizeLimiter(limit);
/// assert_eq!(json(&limiter), r#"{"name":"sizeLimiter","options":{"maxTokens":8000}}"#);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum FilterSpec {
    /// A token cap over all messages, newest first.
    SizeLimiter(SizeLimitOptions),
    /// Keeps the newest file contents in tool traffic and hides the others.
    FileContentsLimiter(FileLimitOptions),
    /// Answers every tool call, and moves each answer to its call.
    ToolCallBackfill(BackfillOptions),
    /// Keeps the newest turns.
    HistoryWindow(WindowSize),
    /// A window whose front moves seldom, for prompt caches.
    StableWindow {
        /// Turns are evicted when the log has more tokens than this.
        max_tokens: u32,
        /// Evict down to this share of `max_tokens` (up to 1), or to so many tokens.
        keep: Option<f64>,
    },
    /// A token cap on modules alone.
    ModuleBudget {
        /// Tokens of all modules, at most.
        max_tokens: u32,
    },
    /// Shows a placeholder instead of the turns of a collapsed group.
    CollapseGroupReplacer,
    /// Shows old spans as short texts that can be had back.
    Compact(CompactOptions),
    /// Drops messages that repeat an earlier one.
    Dedupe,
}

/// The size of a `historyWindow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WindowSize {
    /// So many turns.
    Turns(u32),
    /// So many user turns, each with what follows it.
    Pairs(u32),
}

/// The options of `sizeLimiter`. Options that are `None` take their defaults.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SizeLimitOptions {
    /// Tokens of all messages, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Tokens that each message costs beside its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_message_overhead: Option<u32>,
    /// Whether system messages are kept first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prioritize_system: Option<bool>,
    /// Whether user messages are kept before the answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prioritize_user: Option<bool>,
    /// Whether the newest system message stays if nothing fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preserve_at_least_one_system: Option<bool>,
    /// UTF-16 code units of one content; longer ones are cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_content_chars: Option<u32>,
    /// The tokenizer to count with, instead of that of the recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<Tokenizer>,
}

/// The options of `fileContentsLimiter`. Options that are `None` take their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLimitOptions {
    /// Files whose contents are shown, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_limit: Option<u32>,
    /// Versions of one file that are shown, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions_per_file: Option<u32>,
    /// The text instead of hidden contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// Whether the arguments of tool calls are searched for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detect_assistant_tool_calls: Option<bool>,
    /// Whether the answers of tools are searched for files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detect_tool_messages: Option<bool>,
}

/// The options of `compact`. Options that are `None` take their defaults.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactOptions {
    /// A prompt of more tokens is compacted; the budget, where this is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// The share of `max_tokens` that a compaction leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<f64>,
    /// The newest messages that are never compacted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_turns: Option<u32>,
    /// What makes the texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<SpanMaker>,
    /// Tokens of the text of one span, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_text_tokens: Option<u32>,
}

/// The options of `toolCallBackfill`. Options that are `None` take their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackfillOptions {
    /// The role of an answer that is made up for a call without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The role that an answer without a call gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphan_role: Option<Role>,
    /// The content of an answer that is made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing_content: Option<String>,
    /// Whether an answer without a call loses its call id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strip_orphan_tool_id: Option<bool>,
}

impl FilterSpec {
    /// `toolCallBackfill` with its defaults.
    pub fn tool_call_backfill() -> Self {
        Self::ToolCallBackfill(BackfillOptions::default())
    }
}

/// The options of the filters whose options are all required, or nearly.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TokenOptions {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep: Option<f64>,
}

/// A bare name where no option is set, else `{name, options}`.
impl Serialize for FilterSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::SizeLimiter(options) => named(serializer, "sizeLimiter", options, *options == Default::default()),
            Self::FileContentsLimiter(options) => {
                named(serializer, "fileContentsLimiter", options, *options == Default::default())
            }
            Self::ToolCallBackfill(options) => {
                named(serializer, "toolCallBackfill", options, *options == Default::default())
            }
            Self::HistoryWindow(size) => named(serializer, "historyWindow", size, false),
            Self::StableWindow { max_tokens, keep } => {
                named(serializer, "stableWindow", &TokenOptions { max_tokens: *max_tokens, keep: *keep }, false)
            }
            Self::ModuleBudget { max_tokens } => {
                named(serializer, "moduleBudget", &TokenOptions { max_tokens: *max_tokens, keep: None }, false)
            }
            Self::CollapseGroupReplacer => serializer.serialize_str("collapseGroupReplacer"),
            Self::Compact(options) => named(serializer, "compact", options, *options == Default::default()),
            Self::Dedupe => serializer.serialize_str("dedupe"),
        }
    }
}

fn named<S: Serializer>(serializer: S, name: &str, options: &impl Serialize, is_bare: bool) -> Result<S::Ok, S::Error> {
    if is_bare {
        return serializer.serialize_str(name);
    }
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("name", name)?;
    map.serialize_entry("options", options)?;
    map.end()
}
