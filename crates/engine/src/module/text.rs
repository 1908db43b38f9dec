//! The text of a module, and what is filled in.

use super::Situation;

/// Characters of a value that is filled in: it comes from outside, and is a word or two.
const VALUE_CHARS_MAX: usize = 200;

/// A text in lines, read once.
#[derive(Debug, Clone)]
pub(super) struct Text(Vec<Vec<Part>>);

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Said(String),
    Filled(Slot),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Steps,
    Name,
    Intensity,
}

impl Slot {
    const ALL: [(&'static str, Self); 3] =
        [("steps", Self::Steps), ("name", Self::Name), ("intensity", Self::Intensity)];

    /// One line, whatever the value holds: it cannot pass for a part of the text around it.
    fn value(self, situation: &Situation<'_>) -> String {
        let value = match self {
            Self::Steps => situation.steps,
            Self::Name => situation.name,
            Self::Intensity => return situation.intensity.to_string(),
        };
        let line: String = value.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        line.trim().chars().take(VALUE_CHARS_MAX).collect()
    }
}

impl Text {
    /// Reads a text; what is wrong with it says its line.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        let line = |(n, line)| parts(line).map_err(|problem| format!("line {}: {problem}", n + 1));
        text.lines().enumerate().map(line).collect::<Result<_, _>>().map(Self)
    }

    /// The text with its values. A line that holds nothing but empty values goes.
    pub(super) fn fill(&self, situation: &Situation<'_>) -> String {
        let lines: Vec<String> = self.0.iter().filter_map(|line| fill(line, situation)).collect();
        lines.join("\n").trim().to_owned()
    }
}

fn fill(line: &[Part], situation: &Situation<'_>) -> Option<String> {
    let said = |part: &Part| match part {
        Part::Said(text) => text.clone(),
        Part::Filled(slot) => slot.value(situation),
    };
    let filled: String = line.iter().map(said).collect();
    let has_slot = line.iter().any(|part| matches!(part, Part::Filled(_)));
    (!has_slot || !filled.trim().is_empty()).then_some(filled)
}

/// The parts of a line; `{{` and `}}` are braces.
fn parts(line: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut said = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        said.push_str(&closed(before));
        if let Some(after) = after.strip_prefix('{') {
            said.push('{');
            rest = after;
            continue;
        }
        let (word, after) = after.split_once('}').ok_or_else(|| format!("{{{} has no end", first_of(after)))?;
        let slot = Slot::ALL.into_iter().find(|(name, _)| *name == word).map(|(_, slot)| slot);
        parts.push(Part::Said(std::mem::take(&mut said)));
        parts.push(Part::Filled(slot.ok_or_else(|| unknown(word))?));
        rest = after;
    }
    said.push_str(&closed(rest));
    parts.push(Part::Said(said));
    Ok(parts)
}

/// A closing brace may stand for itself.
fn closed(said: &str) -> String {
    said.replace("}}", "}")
}

fn unknown(word: &str) -> String {
    let word = first_of(word);
    format!("{{{word}}} is not known; known are {{steps}}, {{name}} and {{intensity}}, and {{{{ is a brace")
}

/// As much of a text as an error quotes.
fn first_of(text: &str) -> String {
    text.chars().take(40).collect()
}
