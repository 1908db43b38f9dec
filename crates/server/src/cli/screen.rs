//! Standard output for people: answers as they arrive, and remarks about them in dim letters.
//!
//! Text of a model or a document is not trusted: on a terminal it cannot move the cursor or set colours.

use std::borrow::Cow;
use std::io::{IsTerminal, Write};

use serde_json::Value;

use super::output::StandardOutput;

pub struct Screen {
    out: StandardOutput,
    is_terminal: bool,
    has_colours: bool,
    /// Whether the last line has ended.
    at_line_start: bool,
}

const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

impl Screen {
    /// Colours are used on terminals, unless the user turned them off.
    pub fn new() -> Self {
        let out = StandardOutput::new();
        let is_terminal = out.0.is_terminal();
        let set = |name: &str| std::env::var(name).unwrap_or_default();
        let has_colours = is_terminal && set("NO_COLOR").is_empty() && set("TERM") != "dumb";
        Self { out, is_terminal, has_colours, at_line_start: true }
    }

    pub(crate) fn without_colours(self) -> Self {
        Self { has_colours: false, ..self }
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// A piece of what is said, shown at once.
    pub fn say(&mut self, text: &str) -> std::io::Result<()> {
        let text = if self.is_terminal { harmless(text) } else { Cow::Borrowed(text) };
        if let Some(last) = text.chars().next_back() {
            self.at_line_start = last == '\n';
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// The user typed a line, so the next output begins a new one.
    pub fn typed(&mut self) {
        self.at_line_start = true;
    }

    pub(crate) fn end_line(&mut self) -> std::io::Result<()> {
        if self.at_line_start { Ok(()) } else { self.say("\n") }
    }

    /// A line beside what is said.
    pub fn aside(&mut self, text: &str) -> std::io::Result<()> {
        self.end_line()?;
        let text = if self.is_terminal { harmless(text) } else { Cow::Borrowed(text) };
        match self.has_colours {
            true => writeln!(self.out, "{DIM}{text}{PLAIN}"),
            false => writeln!(self.out, "{text}"),
        }?;
        self.out.flush()
    }

    /// Remarks about an answer.
    pub(crate) fn remarks(&mut self, question: &str, answer: &Value) -> std::io::Result<()> {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        if let Some(standalone) = text("standalone_question").filter(|standalone| *standalone != question) {
            self.aside(&format!("understood as: {standalone}"))?;
        }
        for (at, source) in rows(answer, "sources").iter().enumerate() {
            self.aside(&format!("[{}] {}", at + 1, location(source)))?;
        }
        for note in rows(answer, "notes").iter().filter_map(Value::as_str) {
            self.aside(&format!("note: {note}"))?;
        }
        Ok(())
    }

    /// The sources of an answer, verbatim.
    pub fn sources(&mut self, answer: &Value) -> std::io::Result<()> {
        let sources = rows(answer, "sources");
        if sources.is_empty() {
            return self.aside("there are no sources");
        }
        for (at, source) in sources.iter().enumerate() {
            self.aside(&format!("[{}] {}", at + 1, location(source)))?;
            self.say(source.get("text").and_then(Value::as_str).unwrap_or_default())?;
            self.end_line()?;
        }
        Ok(())
    }
}

pub fn rows<'v>(answer: &'v Value, name: &str) -> &'v [Value] {
    answer.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The location of a source.
fn location(source: &Value) -> String {
    let text = |name: &str| source.get(name).and_then(Value::as_str);
    let name = text("name").unwrap_or_default();
    match (text("file"), source.get("line"), source.get("page")) {
        (Some(file), Some(line), _) => format!("{name}, {file}:{line}"),
        (Some(file), None, Some(page)) => format!("{name}, {file}#page={page}"),
        (Some(file), None, None) => format!("{name}, {file}"),
        _ => name.to_owned(),
    }
}

fn harmless(text: &str) -> Cow<'_, str> {
    let is_harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let kept = text.chars().filter(|c| *c != '\r');
    Cow::Owned(kept.map(|c| if is_harmful(c) { char::REPLACEMENT_CHARACTER } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_said_steers_no_terminal() {
        assert_eq!(harmless("a\tb\nc é 漢"), "a\tb\nc é 漢");
        assert_eq!(harmless("\x1b]0;title\x07a\r\nb\u{9b}31m"), "\u{fffd}]0;title\u{fffd}a\nb\u{fffd}31m");
    }

    #[test]
    fn a_source_says_where_it_is() {
        assert_eq!(location(&json!({"name": "Tea House"})), "Tea House");
        assert_eq!(location(&json!({"name": "repo", "file": "a/b.md", "line": 7})), "repo, a/b.md:7");
        assert_eq!(location(&json!({"name": "tea", "file": "a.pdf", "page": 3})), "tea, a.pdf#page=3");
    }
}
