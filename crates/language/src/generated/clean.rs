//! Takes off what models put around a text.

use crate::Language;
use crate::analyse::Words;

/// Tags around the thoughts of a model.
const THOUGHTS: [&str; 4] = ["think", "thinking", "thought", "reasoning"];
const FENCE: &str = "```";
/// Marks of the end that some servers leave in the text.
const ENDS: [&str; 5] = ["<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<end_of_turn>", "</s>"];
/// Labels have few words; more are a sentence.
const LABEL_WORDS_MAX: usize = 10;
/// A label before a quote before emphasis, and so on.
const LAYERS_MAX: usize = 4;
const QUOTES: [(char, char); 9] =
    [('"', '"'), ('\'', '\''), ('“', '”'), ('”', '”'), ('„', '“'), ('«', '»'), ('‘', '’'), ('「', '」'), ('`', '`')];

/// The text without thoughts, fences, marks of its end, and a JSON object around it.
pub(super) fn without_wrapping(said: &str) -> String {
    let said = said.trim();
    let said = ENDS.iter().find_map(|end| said.strip_suffix(end)).unwrap_or(said).trim_end();
    let mut text = without_tags(without_thoughts(said)).to_owned();
    text = without_fence(&text).trim().to_owned();
    only_member(&text).unwrap_or(text)
}

/// What comes after the thoughts. Thoughts without an end are all there is.
fn without_thoughts(text: &str) -> &str {
    let lower = text.to_ascii_lowercase();
    let ends = THOUGHTS.iter().filter_map(|tag| {
        let closing = format!("</{tag}>");
        lower.rfind(&closing).map(|at| at + closing.len())
    });
    match ends.max() {
        Some(end) => text.get(end..).unwrap_or("").trim(),
        None if THOUGHTS.iter().any(|tag| lower.starts_with(&format!("<{tag}>"))) => "",
        None => text,
    }
}

/// The inside of one tag around everything: `<question>…</question>`.
fn without_tags(text: &str) -> &str {
    let inside = || {
        let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
        let is_name = !tag.is_empty() && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        is_name.then_some(())?;
        Some(rest.trim_end().strip_suffix(&format!("</{tag}>"))?.trim())
    };
    inside().unwrap_or(text)
}

/// The inside of a fence around everything.
fn without_fence(text: &str) -> &str {
    let inside = || {
        let inside = text.strip_prefix(FENCE)?.trim_end().strip_suffix(FENCE)?;
        let (kind, rest) = inside.split_once('\n').unwrap_or(("", inside));
        Some(if kind.trim().contains(' ') { inside } else { rest })
    };
    inside().unwrap_or(text)
}

/// The text of a JSON object with one member.
fn only_member(text: &str) -> Option<String> {
    let members: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    match members.values().collect::<Vec<_>>().as_slice() {
        [serde_json::Value::String(text)] => Some(text.trim().to_owned()),
        _ => None,
    }
}

/// Lines that say something, without the marks of lists, headings and quoted lines.
pub(super) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| without_emphasis(without_marks(line))).filter(|line| !line.is_empty())
}

fn without_marks(line: &str) -> &str {
    let line = line.trim().trim_start_matches('>').trim_start();
    let heading = line.trim_start_matches('#');
    let line = if heading.len() < line.len() && heading.starts_with(' ') { heading.trim_start() } else { line };
    let item = ["- ", "* ", "• ", "+ ", "1. ", "1) "].iter().find_map(|mark| line.strip_prefix(mark));
    item.unwrap_or(line).trim()
}

/// Without the marks of bold and italic text. Those inside words stay: they are code.
fn without_emphasis(line: &str) -> String {
    let plain = line.replace("**", "");
    let plain = if plain.matches("__").count() == 2 { plain.replace("__", "") } else { plain };
    let mut plain = plain.trim().to_owned();
    if let Some(inside) = plain.strip_prefix('_').and_then(|rest| rest.strip_suffix('_')) {
        plain = inside.trim().to_owned();
    }
    match plain.matches('*').count() {
        2 if !plain.contains(" * ") => plain.replace('*', ""),
        _ => plain,
    }
}

/// Whether a line says nothing but what follows it.
pub(super) fn is_label(line: &str) -> bool {
    let words = Words::new(line, LABEL_WORDS_MAX + 1);
    let (mut count, mut names_it) = (0, false);
    for word in words.iter() {
        let has = |list: fn(Language) -> &'static str| {
            Language::ALL.into_iter().any(|it| list(it).split_whitespace().any(|known| known == word.folded))
        };
        let is_head = has(|it| it.grammar().words.generated.labels);
        if !is_head && !has(|it| it.grammar().words.generated.label_fillers) {
            return false;
        }
        names_it |= is_head;
        count += 1;
    }
    names_it && count <= LABEL_WORDS_MAX
}

/// What follows a label on its line.
pub(super) fn after_label(line: &str) -> Option<&str> {
    let (label, rest) = line.split_once(':')?;
    (is_label(label) && !rest.trim().is_empty()).then(|| rest.trim())
}

/// A line without labels, quotes and emphasis around it.
pub(super) fn bare(line: &str) -> String {
    let mut text = line.trim().to_owned();
    for _ in 0..LAYERS_MAX {
        let inner = after_label(&text).unwrap_or(&text);
        let inner = without_emphasis(without_quotes(inner));
        if inner == text {
            break;
        }
        text = inner;
    }
    text
}

/// The inside of quotes around everything. Two quoted names are not one quote.
fn without_quotes(text: &str) -> &str {
    let whole = text.trim();
    let inside = QUOTES.iter().find_map(|(opening, closing)| {
        let inside = whole.strip_prefix(*opening)?.trim_end_matches('.').strip_suffix(*closing)?;
        (!inside.contains([*opening, *closing]) || is_nested(inside, *opening, *closing)).then_some(inside.trim())
    });
    inside.unwrap_or(whole)
}

/// Whether each quote inside is closed inside.
fn is_nested(inside: &str, opening: char, closing: char) -> bool {
    let mut depth = 0_i32;
    let stays = inside.chars().all(|c| {
        depth += i32::from(c == opening) - i32::from(c == closing);
        depth >= 0
    });
    opening != closing && stays && depth == 0
}
