//! Sentences with places for values.
//!
//! Owns the form `{name}` or `{name|format}`, with `{{` and `}}` for the braces themselves. A template is
//! read once; values are put in as they are and never read as a template. Refuses names that it does not
//! know.

use novelo_engine::decode::nearest;
use novelo_engine::limits::TEMPLATE_BYTES_MAX;

use super::format::Format;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Slot(Slot),
}

/// A place for a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slot {
    /// Of a row; in its own format, or in that of the column.
    Column {
        name: String,
        format: Option<Format>,
    },
    /// Those of a kind that were asked about, as `A, B e C`.
    Subjects(usize),
    Window,
    /// How many rows there are.
    Count,
}

/// The names that a template may use.
#[derive(Debug, Clone, Copy)]
pub struct Names<'a> {
    /// What the subjects of each kind are called when there are several.
    pub subjects: &'a [String],
    pub columns: &'a [&'a str],
    /// Whether a column wins where it is called like a word of templates.
    pub is_of_row: bool,
}

impl Template {
    pub fn parse(text: &str, names: Names<'_>) -> Result<Self, String> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(format!("has more than {TEMPLATE_BYTES_MAX} bytes (TEMPLATE_BYTES_MAX)"));
        }
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text.trim();
        while let Some((before, found, after)) = split_at_brace(rest) {
            literal.push_str(before);
            if let Some(after) = after.strip_prefix(found) {
                literal.push(found);
                rest = after;
                continue;
            }
            let slot = if found == '{' { after.split_once('}') } else { None };
            let (inside, after) =
                slot.ok_or_else(|| format!("has a {found} alone; for the sign itself write it twice"))?;
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(Part::Slot(names.slot(inside)?));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Self { parts })
    }

    /// The columns that it names.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Slot(Slot::Column { name, .. }) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The formats of its own that it gives a column.
    pub(crate) fn formats<'t>(&'t self, column: &'t str) -> impl Iterator<Item = Format> + 't {
        self.parts.iter().filter_map(move |part| match part {
            Part::Slot(Slot::Column { name, format }) if name == column => *format,
            _ => None,
        })
    }

    /// Writes it with its values, which `value` writes. The blank that an empty value leaves is closed up.
    pub fn write(&self, out: &mut String, mut value: impl FnMut(&Slot, &mut String)) {
        let start = out.len();
        let mut is_open = false;
        for part in &self.parts {
            match part {
                Part::Slot(slot) => {
                    let before = out.len();
                    value(slot, out);
                    is_open = out.len() <= before;
                }
                Part::Text(text) => {
                    let is_blank_before = out.len() == start || out.ends_with(' ');
                    match text.strip_prefix(' ') {
                        Some(rest) if is_open && is_blank_before => out.push_str(rest),
                        _ => {
                            let closes = text.starts_with(['.', ',', ';', ':', '!', '?', ')']);
                            close(out, start, is_open && closes);
                            out.push_str(text);
                        }
                    }
                    is_open = false;
                }
            }
        }
        close(out, start, is_open);
    }
}

fn close(out: &mut String, start: usize, is_open: bool) {
    if is_open && out.len() > start && out.ends_with(' ') {
        out.pop();
    }
}

fn split_at_brace(text: &str) -> Option<(&str, char, &str)> {
    let (at, found) = text.char_indices().find(|(_, c)| matches!(c, '{' | '}'))?;
    Some((text.get(..at)?, found, text.get(at + 1..)?))
}

impl Names<'_> {
    fn slot(self, inside: &str) -> Result<Slot, String> {
        let (name, format) = inside.split_once('|').map_or((inside, None), |(name, format)| (name, Some(format)));
        let (name, format) = (name.trim(), format.map(str::trim));
        let word = match name {
            "window" => Some(Slot::Window),
            "count" => Some(Slot::Count),
            _ => self.subjects.iter().position(|kind| kind == name).map(Slot::Subjects),
        };
        let is_column = self.columns.contains(&name);
        match word {
            Some(word) if !(is_column && self.is_of_row) => match format {
                Some(_) => Err(format!("gives {{{name}}} a format; only columns have one")),
                None => Ok(word),
            },
            _ if is_column => {
                let format = format.map(Format::parse).transpose().map_err(|e| format!("names {{{inside}}}: {e}"))?;
                Ok(Slot::Column { name: name.to_owned(), format })
            }
            _ => Err(self.unknown(name)),
        }
    }

    fn unknown(self, name: &str) -> String {
        let subjects = self.subjects.iter().map(String::as_str);
        let words = subjects.chain(["window", "count"]).filter(|word| !self.columns.contains(word));
        let known: Vec<&str> = self.columns.iter().copied().chain(words).collect();
        match nearest(name, &known) {
            Some(near) => format!("names {{{name}}}, which is not known; did you mean {{{near}}}?"),
            None => {
                let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
                format!("names {{{name}}}, which is not known; there are {}", known.join(", "))
            }
        }
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
