//! How an answer is made: quickly, word by word, or whole.

use super::{Decision, Read, Rules, Step};

/// A message so long is guided.
pub(crate) const GUIDED_CHARS_MIN: usize = 180;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Few words, with the least of a prompt.
    Fast,
    Stream,
    Full,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Stream => "stream",
            Self::Full => "full",
        }
    }
}

/// How the client gets the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// In one JSON answer.
    #[default]
    Json,
    /// As events, with the whole text in one of them.
    Events,
    /// As events, word by word.
    Stream,
}

/// What the request asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    pub delivery: Delivery,
    /// The answer is to be guided, whatever the message says.
    pub forced: bool,
    /// It brings a prompt of its own.
    pub overrides: bool,
    /// Danger was voiced in this conversation, and is not over.
    pub in_crisis: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub mode: Mode,
    pub guided: bool,
    pub simple: bool,
    /// The openness.
    pub level: u8,
    /// Why it is guided.
    pub guided_by: Option<&'static str>,
    /// None unless guided.
    pub steps: &'static [Step],
    pub why: &'static str,
}

pub fn route(rules: &Rules, read: &Read, decision: &Decision, asked: Asked) -> Route {
    let guide = match () {
        () if asked.forced => Some("the request wants it guided"),
        () if decision.openness >= 2 => Some("guided, since the message is intense"),
        () if rules.trigger(read).is_some() => Some("guided, since the message has a trigger"),
        () if read.chars() >= GUIDED_CHARS_MIN => Some("guided, since the message is long"),
        () => None,
    };
    let simple = rules.is_simple(read);
    let level = decision.openness;
    let steps = if guide.is_some() { decision.steps } else { &[] };
    let mode = mode(simple, guide.is_some(), steps.len(), level, asked);
    let why = match (mode, guide) {
        (_, _) if asked.overrides => "the request brings its own prompt",
        (Mode::Stream, _) if asked.delivery == Delivery::Stream => "the client streams",
        (_, Some(why)) => why,
        (Mode::Fast, None) => "the message is simple, and nothing guides the answer",
        (_, None) if simple => "danger was voiced, and is not over",
        (_, None) => "the message is not simple",
    };
    Route { mode, guided: guide.is_some(), simple, level, guided_by: guide, steps, why }
}

/// The mode by itself.
pub fn mode(simple: bool, guided: bool, steps: usize, level: u8, asked: Asked) -> Mode {
    let is_quick = simple && level <= 1;
    match asked {
        Asked { overrides: true, .. } => Mode::Full,
        Asked { delivery: Delivery::Stream, .. } => Mode::Stream,
        Asked { forced: false, in_crisis: false, .. } if is_quick && !guided => Mode::Fast,
        Asked { delivery: Delivery::Json, .. } if steps > 0 => Mode::Stream,
        _ => Mode::Full,
    }
}
