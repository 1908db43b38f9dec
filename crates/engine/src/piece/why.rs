//! What became of a piece, and why, in words.

use std::fmt;

use serde::Serialize;

use crate::Role;

/// What became of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It is in the prompt as it came, perhaps after a framing.
    Kept,
    /// It is in the prompt, with a shorter text.
    Cut,
    /// It is in the prompt, with the contents of files hidden.
    Redacted,
    /// It is in the prompt, at another place.
    Moved,
    /// A filter or a component made it.
    Made,
    /// It is not in the prompt: a placeholder stands in for it.
    Collapsed,
    /// It is not in the prompt.
    Dropped,
}

/// Why a piece is in the prompt, or is not. Its display form is the sentence that explanations show.
#[derive(Debug, Clone, PartialEq)]
pub enum Why<'a> {
    /// Nothing was decided about it.
    Emitted,
    /// A framing was put before its text.
    Framed,
    /// It is an instruction at the beginning of the thread.
    Leads,
    /// It is the newest turn of the user.
    NewestUser,
    /// It lies inside the window.
    InWindow,
    /// It fits the budget of the modules.
    Fits {
        /// What was left of the budget.
        room_tokens: u32,
    },
    /// It lies outside the window.
    OutsideWindow {
        /// What the window counts.
        window: &'static str,
        /// How many of these it holds.
        size: u32,
    },
    /// It does not fit what is left of the budget.
    NoRoom {
        /// Its cost.
        tokens: u32,
        /// What was left.
        room_tokens: u32,
    },
    /// A newer turn did not fit, and the history has no gaps.
    AfterGap,
    /// It is larger than the whole budget.
    TooLarge {
        /// Its cost.
        tokens: u32,
        /// The room for it.
        room_tokens: u32,
    },
    /// It is the only system message that could stay.
    OnlySystem,
    /// It was evicted from a stable window.
    Evicted {
        /// The size at which the window evicts.
        max_tokens: u32,
        /// The size down to which it evicts.
        keep_tokens: u32,
    },
    /// Its text was too long.
    ContentCut {
        /// UTF-16 code units that it had.
        from_units: u32,
        /// UTF-16 code units that it has.
        to_units: u32,
    },
    /// Sentences were left out of it, so that newer turns fit.
    Shortened {
        /// Lines or sentences that stay.
        kept: usize,
        /// Lines or sentences that it had.
        of: usize,
    },
    /// The contents of a file in it were hidden.
    FileHidden {
        /// The path of the file.
        path: &'a str,
        /// The option that left no room.
        limit: FileLimit,
    },
    /// It answers a call that has no answer.
    Unanswered {
        /// The id of the call.
        call: &'a str,
    },
    /// It answers a call that is not in the prompt.
    Orphan {
        /// The id of the call.
        call: Option<&'a str>,
        /// The role that it has now.
        role: Role,
    },
    /// It was moved to follow its call.
    FollowsCall {
        /// The id of the call.
        call: &'a str,
    },
    /// It repeats an earlier piece.
    Repeats,
    /// All turns that it sums up are in the prompt.
    Covered,
    /// It goes with what was recalled, and none of that is in the prompt.
    NothingRecalled,
    /// It belongs to a collapsed group.
    InGroup {
        /// The name of the group.
        group: &'a str,
    },
    /// It stands in for the turns of a group.
    StandsFor {
        /// The name of the group.
        group: &'a str,
        /// How many turns.
        turns: usize,
    },
    /// It belongs to a group that is expanded.
    Expanded {
        /// The name of the group.
        group: &'a str,
    },
    /// It is pinned.
    Pinned,
    /// It belongs to a span that was compacted.
    Compacted {
        /// The id of the span.
        span: &'a str,
    },
    /// It says in short what the messages of a span say.
    SumsUp {
        /// The id of the span.
        span: &'a str,
        /// How many messages.
        turns: usize,
        /// What they cost.
        tokens: u32,
    },
    /// A model refused it.
    Refused {
        /// The words of the model's server.
        why: &'a str,
    },
}

/// The option that left no room for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLimit {
    /// `filesLimit`: newer files take all places.
    Files,
    /// `versionsPerFile`: newer versions of the file take all places.
    Versions,
}

impl Fate {
    /// Its name in explanations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Cut => "cut",
            Self::Redacted => "redacted",
            Self::Moved => "moved",
            Self::Made => "made",
            Self::Collapsed => "collapsed",
            Self::Dropped => "dropped",
        }
    }
}

impl Why<'_> {
    /// Whether a piece that is kept for it is no longer as it was stored.
    pub fn changes(&self) -> bool {
        matches!(self, Self::Framed | Self::Expanded { .. })
    }
}

impl fmt::Display for Why<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Emitted => write!(f, "as stored"),
            Self::Framed => write!(f, "as stored, after its framing"),
            Self::Leads => write!(f, "leads the thread, always stays"),
            Self::NewestUser => write!(f, "newest user turn, always stays"),
            Self::InWindow => write!(f, "inside the window"),
            Self::Fits { room_tokens } => write!(f, "fits, {room_tokens} tokens were left"),
            Self::OutsideWindow { window, size } => write!(f, "before the last {size} {window}"),
            Self::NoRoom { tokens, room_tokens } => write!(f, "needs {tokens} tokens, {room_tokens} were left"),
            Self::AfterGap => write!(f, "older than the first turn that did not fit"),
            Self::TooLarge { tokens, room_tokens } => {
                write!(f, "needs {tokens} tokens, more than the {room_tokens} that all turns share")
            }
            Self::OnlySystem => write!(f, "over the cap, but the one system message that is preserved"),
            Self::Evicted { max_tokens, keep_tokens } => {
                write!(f, "evicted in a block: past {max_tokens} tokens the window falls back to {keep_tokens}")
            }
            Self::ContentCut { from_units, to_units } => {
                write!(f, "content cut from {from_units} to {to_units} characters")
            }
            Self::Shortened { kept, of } => {
                write!(f, "shortened to {kept} of its {of} sentences, so that newer turns fit")
            }
            Self::FileHidden { path, limit } => {
                let limit = if *limit == FileLimit::Files { "filesLimit" } else { "versionsPerFile" };
                write!(f, "contents of {path} hidden, beyond {limit}")
            }
            Self::Unanswered { call } => write!(f, "answers call {call}, which had no answer"),
            Self::Orphan { call: Some(call), role } => {
                write!(f, "no call {call} in the window, now a {} message", role.name())
            }
            Self::Orphan { call: None, role } => write!(f, "names no call, now a {} message", role.name()),
            Self::FollowsCall { call } => write!(f, "moved to follow its call {call}"),
            Self::Repeats => write!(f, "repeats the message before it"),
            Self::Covered => write!(f, "all that it sums up is in the prompt"),
            Self::NothingRecalled => write!(f, "nothing that was recalled is in the prompt"),
            Self::InGroup { group } => write!(f, "collapsed into group {group}"),
            Self::StandsFor { group, turns } => write!(f, "stands for {turns} turns of group {group}"),
            Self::Expanded { group } => write!(f, "of group {group}, which is expanded"),
            Self::Pinned => write!(f, "pinned, stays word for word"),
            Self::Compacted { span } => write!(f, "compacted into span {span}, and restored by it"),
            Self::SumsUp { span, turns, tokens } => {
                write!(f, "says {turns} messages of span {span} in short, which cost {tokens} tokens")
            }
            Self::Refused { why } => write!(f, "refused by the model: {why}"),
        }
    }
}
