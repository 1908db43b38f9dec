//! What became of a piece, and why, in words.

use std::fmt;

use serde::Serialize;

use crate::Role;

/// What became of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    Kept,
    Cut,
    Redacted,
    Moved,
    Made,
    Collapsed,
    Dropped,
}

/// Why it became so.
#[derive(Debug, Clone, PartialEq)]
pub enum Why<'a> {
    Emitted,
    Framed,
    Leads,
    NewestUser,
    InWindow,
    Fits { room_tokens: u32 },
    OutsideWindow { window: &'static str, size: u32 },
    NoRoom { tokens: u32, room_tokens: u32 },
    AfterGap,
    TooLarge { tokens: u32, room_tokens: u32 },
    OnlySystem,
    Evicted { max_tokens: u32, keep_tokens: u32 },
    ContentCut { from_units: u32, to_units: u32 },
    FileHidden { path: &'a str, limit: FileLimit },
    Unanswered { call: &'a str },
    Orphan { call: Option<&'a str>, role: Role },
    FollowsCall { call: &'a str },
    Repeats,
    Covered,
    InGroup { group: &'a str },
    StandsFor { group: &'a str, turns: usize },
    Expanded { group: &'a str },
    Refused { why: &'a str },
}

/// The option that left no room for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLimit {
    Files,
    Versions,
}

impl Fate {
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
            Self::InGroup { group } => write!(f, "collapsed into group {group}"),
            Self::StandsFor { group, turns } => write!(f, "stands for {turns} turns of group {group}"),
            Self::Expanded { group } => write!(f, "of group {group}, which is expanded"),
            Self::Refused { why } => write!(f, "refused by the model: {why}"),
        }
    }
}
