//! The answer of a model, made fit to be shown, word by word.
//!
//! Owns what is taken off: HTML tags and entities, thoughts, a speaker's name and a redundant greeting at
//! the front, blanks, empty lines, and the technical block at the end, which is read. Invariant: every
//! character is taken by itself, so that what comes out is the same however the text was cut; and nothing is
//! held back longer than it takes to know.

mod block;
mod entities;
mod front;
mod tags;

use self::block::{BlockCandidate, FENCE};
use self::front::Front;
use self::tags::TagFilter;

pub(crate) use block::INTENSITY_MAX;
pub use block::{Block, TAGS_MAX};

/// More line breaks in a row become two.
const BREAKS_MAX: usize = 2;

#[derive(Debug)]
pub struct Cleaner {
    tags: TagFilter,
    /// The text before the answer; `None` once the answer has begun.
    front: Option<Front>,
    body: Body,
}

/// The answer itself.
#[derive(Debug, Default)]
struct Body {
    /// Whether anything of it was shown.
    shown: bool,
    /// Blanks since the last that was shown: they show when something follows.
    blanks: String,
    /// Whether something stands on this line already, and the ticks that it began with while nothing else
    /// does.
    in_line: bool,
    ticks: usize,
    /// Between two lines that begin with a fence.
    is_fenced: bool,
    /// What may turn out to be the technical block.
    candidate: Option<BlockCandidate>,
    /// The next letter becomes a capital, since it begins the answer now.
    capital: bool,
}

impl Cleaner {
    /// With phrases, a greeting at the front is redundant and goes.
    pub fn new(greetings: Option<&[String]>) -> Self {
        Self {
            tags: TagFilter::default(),
            front: Some(Front::new(greetings.unwrap_or_default())),
            body: Body::default(),
        }
    }

    /// What can be shown now.
    pub fn push(&mut self, text: &str) -> String {
        let (mut plain, mut out) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
        text.chars().for_each(|c| self.tags.take(c, &mut plain));
        plain.chars().for_each(|c| self.take(c, &mut out));
        out
    }

    fn take(&mut self, c: char, out: &mut String) {
        let Some(front) = &mut self.front else { return self.body.take(c, out) };
        if let Some(begun) = front.take(c) {
            self.front = None;
            self.body.capital = begun.capital;
            begun.text.chars().for_each(|c| self.body.take(c, out));
        }
    }

    /// What is left to show, and the technical block.
    pub fn finish(mut self) -> (String, Option<Block>) {
        let (mut plain, mut out) = (String::new(), String::new());
        self.tags.finish(&mut plain);
        plain.chars().for_each(|c| self.take(c, &mut out));
        if let Some(front) = self.front.take() {
            let begun = front.finish();
            self.body.capital = begun.capital;
            begun.text.chars().for_each(|c| self.body.take(c, &mut out));
        }
        while let Some(candidate) = self.body.candidate.take() {
            match candidate.block() {
                Some(block) => return (out, Some(block)),
                // Cut off, or not quite JSON: it is not for the reader either way.
                None if candidate.names_key() => return (out, None),
                None => self.body.give_up(candidate, &mut out),
            }
        }
        (out, None)
    }
}

impl Body {
    fn take(&mut self, c: char, out: &mut String) {
        match &mut self.candidate {
            Some(candidate) => {
                if !candidate.take(c)
                    && let Some(candidate) = self.candidate.take()
                {
                    self.give_up(candidate, out);
                }
            }
            None if c.is_whitespace() => {
                self.in_line &= c != '\n';
                self.ticks = 0;
                self.blanks.push(c);
            }
            None if (!self.in_line || c == '`') && BlockCandidate::may_begin(c, self.is_fenced) => {
                self.candidate = Some(BlockCandidate::new(c))
            }
            None => self.show(c, out),
        }
    }

    fn show(&mut self, c: char, out: &mut String) {
        let blanks = std::mem::take(&mut self.blanks);
        if self.shown {
            push_blanks(&blanks, out);
        }
        self.ticks = if c == '`' && (!self.in_line || self.ticks > 0) { self.ticks + 1 } else { 0 };
        self.is_fenced ^= self.ticks == FENCE.len();
        (self.shown, self.in_line) = (true, true);
        match std::mem::take(&mut self.capital) {
            true => out.extend(c.to_uppercase()),
            false => out.push(c),
        }
    }

    /// What looked like a block shows after all; a line further on another may begin.
    fn give_up(&mut self, candidate: BlockCandidate, out: &mut String) {
        let text = candidate.into_text();
        let mut chars = text.chars();
        chars.next().into_iter().for_each(|first| self.show(first, out));
        chars.for_each(|c| self.take(c, out));
    }
}

fn push_blanks(blanks: &str, out: &mut String) {
    if blanks.chars().filter(|c| *c == '\n').count() <= BREAKS_MAX {
        return out.push_str(blanks);
    }
    out.push_str("\n\n");
    // How far the next line is set in.
    out.push_str(blanks.rsplit('\n').next().unwrap_or_default());
}

#[cfg(test)]
#[path = "finish_tests.rs"]
mod tests;
