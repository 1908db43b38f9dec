//! An assembly as text.
//!
//! Owns the one rendering that the command line, the docs and the snapshot tests all show: a line for the
//! whole, then a line for each piece, in or out, with what it costs and why.

use std::fmt::Write;

use crate::assemble::Assembly;
use crate::explain::ExplanationRow;
use crate::piece::Fate;

const TEXT_CHARS_MAX: usize = 48;

/// Renders an assembly.
pub fn text(assembly: &Assembly<'_>) -> String {
    let explanation = assembly.explain();
    let texts = assembly.pieces.iter().map(|p| excerpt(p.base().content_text().as_deref().unwrap_or("")));
    let unread = explanation.pieces.len() - assembly.pieces.len();
    let texts: Vec<String> = std::iter::repeat_n(String::new(), unread).chain(texts).collect();
    let mut out = format!("{}\n", header(assembly));
    for (row, text) in explanation.pieces.iter().zip(&texts) {
        line(&mut out, row, text);
    }
    for note in &explanation.notes {
        let note = serde_json::to_string(note).unwrap_or_default();
        writeln!(out, "note {note}").expect("writing to a string does not fail");
    }
    out
}

fn header(assembly: &Assembly<'_>) -> String {
    let budget = assembly.budget_tokens.map_or_else(|| "no budget".to_owned(), |b| format!("of {b}"));
    let (kept, seen) = (assembly.messages().count(), assembly.pieces.len());
    let name = assembly.tokenizer.name();
    format!("{kept} messages from {seen} pieces, {} tokens {budget} ({name})", assembly.tokens)
}

fn line(out: &mut String, row: &ExplanationRow, text: &str) {
    let sign = if matches!(row.fate, Fate::Dropped | Fate::Collapsed) { '-' } else { '+' };
    let place = match (row.seq, row.index, row.turns) {
        (Some(seq), ..) => format!("#{seq}"),
        (_, Some(index), _) => format!("[{index}]"),
        (.., Some(turns)) => format!("{turns} turns"),
        _ => String::new(),
    };
    let origin = format!("{} {place}", row.origin);
    let (role, fate) = (row.role.unwrap_or("-"), row.fate.name());
    let head = format!("{sign} {origin:<16} {role:<9} {:>6}  {fate:<9} {}: {}", row.tokens, row.by, row.why);
    let text = if text.is_empty() { String::new() } else { format!("  | {text}") };
    writeln!(out, "{head}{text}").expect("writing to a string does not fail");
}

fn excerpt(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or("")),
        None => line,
    }
}
