//! What keeps, changes or drops pieces.
//!
//! Owns the closed set of filters, one file each. A filter folds a draft into a draft: pieces plus what it
//! noticed. It cannot fail, and it never removes a piece from the draft; one that is out is marked dropped,
//! with the reason.

use serde::Serialize;
use serde_json::Value;

use crate::compact::CompactionPlan;
use crate::decode::{DecodeError, Fields, UnknownField};
use crate::loaded::Loaded;
use crate::pairs::Pairs;
use crate::piece::Piece;
use crate::recall::{RecallHit, RecallSource};
use crate::time_scope::Level;
use crate::tokens::{self, Tokenizer};

mod collapse_group_replacer;
mod compact;
mod dedupe;
mod file_contents_limiter;
mod history_window;
mod module_budget;
mod size_limiter;
mod stable_window;
mod tool_call_backfill;

pub(crate) use compact::Compact;
pub(crate) use file_contents_limiter::FileContentsLimiter;
pub(crate) use history_window::HistoryWindow;
pub(crate) use module_budget::ModuleBudget;
pub(crate) use size_limiter::SizeLimiter;
pub(crate) use stable_window::StableWindow;
pub(crate) use tool_call_backfill::ToolCallBackfill;

/// One step of the pipeline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Filter {
    SizeLimiter(SizeLimiter),
    FileContentsLimiter(FileContentsLimiter),
    ToolCallBackfill(ToolCallBackfill),
    HistoryWindow(HistoryWindow),
    StableWindow(StableWindow),
    ModuleBudget(ModuleBudget),
    CollapseGroupReplacer,
    Compact(Compact),
    Dedupe,
    /// A name nobody knows: skipped, and said so.
    Unknown(String),
}

/// Pieces on their way to the prompt, and what was noticed on the way.
#[derive(Debug)]
pub(crate) struct Draft<'a> {
    pub pieces: Vec<Piece<'a>>,
    pub notes: Vec<Note>,
    pub tokenizer: Tokenizer,
    /// The budget that will hold.
    pub budget_tokens: Option<u32>,
    /// What should be compacted first.
    pub compaction: Option<CompactionPlan>,
}

/// What a filter, the budget or a search noticed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    /// A filter with an unknown name was skipped.
    UnknownFilter {
        /// The name.
        name: String,
    },
    /// A field of the request with an unknown name was ignored.
    UnknownField(UnknownField),
    /// What `sizeLimiter` did.
    SizeLimited {
        /// Messages that stay.
        kept: usize,
        /// Messages that are out.
        dropped: usize,
        /// Cost of the pieces that stay.
        tokens: u32,
        /// The cap.
        max_tokens: u32,
    },
    /// What `fileContentsLimiter` did.
    FilesHidden {
        /// File contents that were hidden.
        payloads: usize,
    },
    /// What `toolCallBackfill` did.
    Backfilled {
        /// Answers that were made up.
        made: usize,
        /// Answers that were moved to their calls.
        moved: usize,
        /// Answers without a call.
        orphans: usize,
    },
    /// What `historyWindow` did.
    Windowed {
        /// Pieces that stay.
        kept: usize,
        /// Turns that are out.
        dropped: usize,
    },
    /// What `stableWindow` did.
    Evicted {
        /// Turns that are out.
        turns: usize,
        /// Their cost.
        tokens: u32,
    },
    /// What `moduleBudget` did.
    ModulesCut {
        /// Modules that stay.
        kept: usize,
        /// Modules that are out.
        dropped: usize,
        /// Cost of the pieces that stay.
        tokens: u32,
        /// The cap.
        max_tokens: u32,
    },
    /// What `dedupe` did.
    Deduped {
        /// Messages that are out.
        dropped: usize,
    },
    /// What `collapseGroupReplacer` did.
    Collapsed {
        /// Groups that a placeholder stands in for.
        groups: usize,
        /// Their turns.
        turns: usize,
        /// Turns of groups that are expanded.
        expanded: usize,
    },
    /// What `compact` showed as short texts.
    Compacted {
        /// Spans that a text stands in for.
        spans: usize,
        /// Their messages.
        turns: usize,
        /// What these cost.
        tokens: u32,
        /// What the texts cost.
        text_tokens: u32,
    },
    /// `compact` found nothing that it may compact, and the prompt is larger than it should be.
    NotCompacted {
        /// What the prompt costs.
        tokens: u32,
        /// What must stay.
        needed_tokens: u32,
        /// The cap.
        max_tokens: u32,
    },
    /// A lookup failed; what it concerns was left as it is.
    LookupFailed {
        /// What could not be looked up.
        what: String,
    },
    /// What a search found for the prompt.
    Recalled {
        /// Where it searched.
        from: RecallSource,
        /// The hits, best first.
        hits: Vec<RecallHit>,
        /// The best of what was not taken.
        near: Vec<RecallHit>,
    },
    /// Turns that are older than what one prompt looks at.
    NotLoaded {
        /// How many.
        turns: u64,
    },
    /// Documents of a collection that are older than what one prompt looks at.
    DocumentsNotLoaded {
        /// The name of the collection.
        collection: String,
        /// The level at which it was read.
        level: Level,
        /// How many.
        documents: u64,
    },
    /// What the budget did.
    Budgeted {
        /// Messages that are out.
        dropped: usize,
        /// Cost of the messages that stay.
        tokens: u32,
    },
}

impl Note {
    /// Whether an operator should know of it.
    pub fn warns(&self) -> bool {
        matches!(self, Self::UnknownFilter { .. } | Self::UnknownField(_) | Self::LookupFailed { .. })
    }
}

impl Filter {
    /// Reads one entry of a filter list: a name, or `{name, options}`.
    pub(crate) fn decode(path: &str, entry: &Value) -> Result<Self, DecodeError> {
        if let Value::String(name) = entry {
            return Self::named(name, Fields::none(format!("{path}.options")));
        }
        let mut fields = Fields::from_value(path, entry)?;
        let name = fields.string("name")?.ok_or_else(|| DecodeError::new(fields.path("name"), "is missing"))?;
        let options_path = fields.path("options");
        let options = match fields.value("options") {
            Some(options) => Fields::from_value(options_path, options)?,
            None => Fields::none(options_path),
        };
        fields.finish()?;
        Self::named(name, options)
    }

    fn named(name: &str, mut options: Fields<'_>) -> Result<Self, DecodeError> {
        let filter = match name {
            "sizeLimiter" => Self::SizeLimiter(SizeLimiter::decode(&mut options)?),
            "fileContentsLimiter" => Self::FileContentsLimiter(FileContentsLimiter::decode(&mut options)?),
            "toolCallBackfill" => Self::ToolCallBackfill(ToolCallBackfill::decode(&mut options)?),
            "historyWindow" => Self::HistoryWindow(HistoryWindow::decode(&mut options)?),
            "stableWindow" => Self::StableWindow(StableWindow::decode(&mut options)?),
            "moduleBudget" => Self::ModuleBudget(ModuleBudget::decode(&mut options)?),
            "collapseGroupReplacer" => Self::CollapseGroupReplacer,
            "compact" => Self::Compact(Compact::decode(&mut options)?),
            "dedupe" => Self::Dedupe,
            _ => return Ok(Self::Unknown(name.to_owned())),
        };
        options.finish().map(|()| filter)
    }

    pub(crate) fn apply<'a>(&'a self, mut draft: Draft<'a>, loaded: &'a Loaded<'a>) -> Draft<'a> {
        match self {
            Self::SizeLimiter(options) => options.apply(draft),
            Self::FileContentsLimiter(options) => options.apply(draft),
            Self::ToolCallBackfill(options) => options.apply(draft),
            Self::HistoryWindow(options) => options.apply(draft),
            Self::StableWindow(options) => options.apply(draft),
            Self::ModuleBudget(options) => options.apply(draft),
            Self::CollapseGroupReplacer => collapse_group_replacer::apply(draft, loaded),
            Self::Compact(options) => options.apply(draft, loaded),
            Self::Dedupe => dedupe::apply(draft),
            Self::Unknown(name) => {
                draft.notes.push(Note::UnknownFilter { name: name.clone() });
                draft
            }
        }
    }
}

impl<'a> Draft<'a> {
    /// The pieces that are in, with their places.
    pub(crate) fn live(&self) -> impl DoubleEndedIterator<Item = (usize, &Piece<'a>)> {
        self.pieces.iter().enumerate().filter(|(_, p)| !p.is_out())
    }

    pub(crate) fn tokens(&self) -> u32 {
        tokens::total(self.live().map(|(_, p)| p.tokens))
    }

    /// The newest user turn, which every window keeps.
    pub(crate) fn newest_user(&self) -> Option<usize> {
        self.live().rev().find(|(_, p)| p.is_user_turn()).map(|(at, _)| at)
    }

    /// By place, what no window may drop beside the newest user turn: what is not log, the instructions that
    /// lead it, what is pinned, and the calls and answers that are tied to one of these.
    pub(crate) fn pinned(&self, pairs: &Pairs) -> Vec<bool> {
        let leading = self.leading();
        let stays = |(at, p): (usize, &Piece<'_>)| !p.is_log() || at < leading || p.is_pinned();
        let mut pinned: Vec<bool> = self.pieces.iter().enumerate().map(stays).collect();
        pairs.spread(&mut pinned);
        pinned
    }

    /// Where the log begins to be evictable: past what is not log, and past the instructions that lead it.
    pub(crate) fn leading(&self) -> usize {
        self.live().find(|(_, p)| p.is_log() && !p.instructs()).map_or(self.pieces.len(), |(at, _)| at)
    }
}
