//! The form in which a prompt shows what was recalled.
//!
//! Memories and turns are a line each. Passages of documents keep their lines: each stands between tags that
//! its own text cannot contain, with its number and its origin.

use std::collections::BTreeSet;

use super::{Recall, RecallSource};
use crate::Role;
use crate::message::Message;

/// Something that was recalled, to be shown.
#[derive(Debug, Clone, Default)]
pub struct ShownPassage<'p> {
    /// What it says.
    pub text: &'p str,
    /// The words of the query that found it. A long line is cut to where they are.
    pub words: Vec<&'p str>,
    /// What stands before the text of a line, such as who said it and when.
    pub lead: Option<String>,
    /// Where a document has it.
    pub origin: PassageOrigin<'p>,
}

/// Where a document has a passage.
#[derive(Debug, Clone, Copy, Default)]
pub struct PassageOrigin<'p> {
    /// The name of the document.
    pub name: &'p str,
    /// The file, where the document has several.
    pub file: Option<&'p str>,
    /// The headings that it stands under.
    pub heading: Option<&'p str>,
    /// Its first and its last line.
    pub lines: Option<(u64, u64)>,
    /// Its page.
    pub page: Option<u64>,
}

/// The name of the tags around a passage of a document.
const TAG: &str = "passage";
/// Characters of a name or a heading.
const ORIGIN_CHARS_MAX: usize = 200;
/// Words of fewer letters are everywhere.
const WORD_CHARS_MIN: usize = 3;

impl Recall {
    /// The message of what was recalled; `None` if that is nothing. Passages of documents are numbered from
    /// `first` on, and shown whole: see [`Recall::cut`].
    pub fn show(&self, passages: &[ShownPassage<'_>], first: usize) -> Option<Message> {
        match self.from {
            RecallSource::Documents => self.show_passages(passages, first),
            RecallSource::Memories | RecallSource::Turns => self.show_lines(passages),
        }
    }

    /// A line each, equal ones once. A text cannot pass for two.
    pub fn show_lines(&self, passages: &[ShownPassage<'_>]) -> Option<Message> {
        let mut texts: Vec<String> = Vec::new();
        let mut shown = String::new();
        for passage in passages {
            let text = excerpt(&one_line(passage.text), &passage.words, self.chars_max as usize);
            if text.is_empty() || texts.contains(&text) {
                continue;
            }
            shown.push('\n');
            if let Some(lead) = &passage.lead {
                shown.push_str(&one_line(lead));
                shown.push_str(": ");
            }
            shown.push_str(&text);
            texts.push(text);
        }
        self.headed(&shown)
    }

    fn show_passages(&self, passages: &[ShownPassage<'_>], first: usize) -> Option<Message> {
        let tag = unused_tag(passages.iter().map(|passage| passage.text));
        let mut shown = String::new();
        for (n, passage) in (first..).zip(passages) {
            let (attributes, text) = (attributes(&passage.origin), passage.text.trim_end());
            shown.push_str(&format!("\n<{tag} n=\"{n}\"{attributes}>\n{text}\n</{tag}>"));
        }
        self.headed(&shown)
    }

    /// The part of a text that holds the words which found it, where it is longer than a hit may be.
    pub fn cut(&self, text: &str, words: &[&str]) -> Option<String> {
        let chars_max = self.chars_max as usize;
        text.chars().nth(chars_max).map(|_| excerpt(text, words, chars_max))
    }

    fn headed(&self, shown: &str) -> Option<Message> {
        let heading = self.heading.as_deref().unwrap_or(self.from.heading());
        (!shown.is_empty()).then(|| Message::text(Role::System, &format!("{heading}{shown}")))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The origin of a passage, as attributes of its tag.
fn attributes(origin: &PassageOrigin<'_>) -> String {
    let lines = origin.lines.map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    let page = origin.page.map(|page| page.to_string());
    let name = Some(origin.name).filter(|name| !name.is_empty());
    let (file, heading) = (origin.file, origin.heading);
    let places = [("lines", lines.as_deref()), ("page", page.as_deref())];
    let values = [("document", name), ("file", file), ("heading", heading)].into_iter().chain(places);
    let values = values.filter_map(|(name, value)| Some((name, value?)));
    values.map(|(name, value)| format!(" {name}=\"{}\"", attribute(value))).collect()
}

/// A value that cannot end its attribute or its tag.
fn attribute(value: &str) -> String {
    let plain = |c: char| match c {
        '"' => '\'',
        '<' => '(',
        '>' => ')',
        c => c,
    };
    one_line(value).chars().filter(|c| !c.is_control()).map(plain).take(ORIGIN_CHARS_MAX).collect()
}

/// The first of `passage`, `passage-2`, `passage-3` … that no text has as a tag.
fn unused_tag<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut used = BTreeSet::new();
    for text in texts {
        let tags = text.split('<').skip(1).map(|after| after.trim_start().trim_start_matches('/').trim_start());
        used.extend(tags.filter_map(tag_number));
    }
    match (1..).find(|n| !used.contains(n)) {
        None | Some(1) => TAG.to_owned(),
        Some(n) => format!("{TAG}-{n}"),
    }
}

/// The number of a tag of ours that a text begins with: 1 is the one without.
fn tag_number(text: &str) -> Option<u64> {
    let (name, rest) = text.split_at_checked(TAG.len())?;
    if !name.eq_ignore_ascii_case(TAG) {
        return None;
    }
    let digits = rest.strip_prefix('-').map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or(""));
    Some(digits.and_then(|digits| digits.parse().ok()).unwrap_or(1))
}

/// The beginning of a text; where that holds none of the words, the part around the first of them.
fn excerpt(text: &str, words: &[&str], chars_max: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
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
