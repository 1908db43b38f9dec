//! The laws of an assembly, checked from outside.
//!
//! They compare what went in with what came out, and panic where one is broken. Tokens are counted here by a
//! few slow lines that share nothing with the engine. Property tests, real transcripts and the fuzz target
//! all use these.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use novelo_engine::piece::{DocIdMode, Fate, Origin, Piece};
use novelo_engine::recipe::Component;
use novelo_engine::{Assembly, Loaded, Message, OverBudget, Recipe, Role, Tokenizer, assemble};
use serde_json::value::RawValue;

/// Assembles, twice, and checks what must hold for any input at all.
pub fn assembled<'a>(
    recipe: &'a Recipe,
    loaded: &'a Loaded<'a>,
    budget_tokens: Option<u32>,
) -> Result<Assembly<'a>, OverBudget> {
    let once = assemble(recipe, loaded, budget_tokens);
    match (&once, &assemble(recipe, loaded, budget_tokens)) {
        (Ok(assembly), Ok(again)) => {
            assert_eq!(written(assembly), written(again), "same inputs, other bytes");
            within_budget(assembly);
            partitioned(recipe, loaded, assembly);
            in_order(recipe, assembly);
            untouched(recipe, loaded, assembly);
            newest_user_kept(assembly);
        }
        (Err(error), Err(again)) => {
            assert_eq!(error, again);
            assert_eq!(Some(error.budget_tokens), budget_tokens);
            assert!(error.needed_tokens > error.budget_tokens, "{error}");
        }
        _ => panic!("same inputs, other outcome"),
    }
    once
}

/// Every call answered, every answer called, in the order that models accept.
pub fn paired(assembly: &Assembly<'_>) {
    let messages = received(assembly);
    let mut calls: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    for message in messages.iter().chain([&Message::text(Role::User, "the end")]) {
        if message.is(Role::Tool) {
            let id = message.answered_call_id().expect("an answer names its call");
            assert!(calls.contains(&id), "an answer that nobody called for: {}", message.as_str());
            answered.push(id);
            continue;
        }
        answered.dedup();
        assert_eq!(answered, calls, "calls and answers differ, before {}", message.as_str());
        answered.clear();
        calls.clear();
        for call in message.call_ids() {
            if !calls.contains(&call) {
                calls.push(call);
            }
        }
    }
}

/// The messages as a model reads them: valid JSON, each one acceptable as input again.
fn received(assembly: &Assembly<'_>) -> Vec<Message> {
    let bytes = written(assembly);
    let list: Vec<&RawValue> = serde_json::from_slice(&bytes).expect("the prompt is a JSON array");
    let accept = |raw: &&RawValue| Message::accept(raw.get().to_owned().into()).expect("the prompt is acceptable");
    list.iter().map(accept).collect()
}

fn written(assembly: &Assembly<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    assembly.write(&mut bytes);
    bytes
}

fn within_budget(assembly: &Assembly<'_>) {
    let counted = received(assembly).iter().map(|m| cost(m.as_str(), assembly.tokenizer)).collect::<Vec<_>>();
    assert_eq!(counted, assembly.messages().map(|p| p.tokens).collect::<Vec<_>>(), "a cost is not that of its bytes");
    assert_eq!(counted.iter().sum::<u32>(), assembly.tokens);
    assert!(assembly.budget_tokens.is_none_or(|budget| assembly.tokens <= budget), "over budget");
}

fn partitioned(recipe: &Recipe, loaded: &Loaded<'_>, assembly: &Assembly<'_>) {
    let rows = assembly.explain().pieces;
    let mut seqs: Vec<u64> = rows.iter().filter_map(|row| row.seq).collect();
    seqs.sort_unstable();
    let mut given: Vec<u64> = loaded.turns.iter().map(|turn| turn.seq).collect::<Vec<_>>().repeat(histories(recipe));
    given.sort_unstable();
    assert_eq!(seqs, given, "turns are not accounted for once for each component that shows them");
    let mut indices: Vec<usize> = rows.iter().filter_map(|row| row.index).collect();
    indices.sort_unstable();
    assert_eq!(indices, (0..loaded.inline.len()).collect::<Vec<_>>(), "messages are not accounted for once each");
    let questions = rows.iter().filter(|row| row.origin == "question").count();
    assert_eq!(questions, usize::from(loaded.question.is_some()));
    let modules = recipe.components.iter().filter_map(|component| match component {
        Component::Module(module) => Some(module),
        _ => None,
    });
    let considered = assembly.pieces.iter().filter_map(|piece| match piece.origin {
        Origin::Module(module) => Some(module),
        _ => None,
    });
    assert!(considered.eq(modules), "modules are not accounted for once each, in their order");
    let unread: u64 = rows.iter().filter_map(|row| row.turns).sum();
    assert_eq!(unread, loaded.turns_before);
    let kept: u32 =
        rows.iter().filter(|row| !matches!(row.fate, Fate::Dropped | Fate::Collapsed)).map(|row| row.tokens).sum();
    assert_eq!(kept, assembly.tokens, "rows in the prompt do not add up");
}

/// How many components show the turns.
fn histories(recipe: &Recipe) -> usize {
    recipe.components.iter().filter(|c| matches!(c, Component::History { .. })).count()
}

/// What is kept stands in the order of the log, but for what is said to have moved. Each component that shows
/// the turns begins the log again.
fn in_order(recipe: &Recipe, assembly: &Assembly<'_>) {
    let place = |piece: &Piece<'_>| match piece.origin {
        Origin::Turn { seq, .. } => Some((0, seq)),
        Origin::Inline { index } => Some((1, index as u64)),
        Origin::Question => Some((2, 0)),
        Origin::Component { .. } | Origin::Recall { .. } | Origin::Module(_) => None,
        Origin::Group(_) | Origin::Compaction(_) | Origin::Made => None,
    };
    let unmoved = assembly.messages().filter(|p| !p.was(Fate::Moved)).filter_map(place);
    let unmoved: Vec<_> = unmoved.collect();
    let restarts = unmoved.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert!(restarts <= histories(recipe).saturating_sub(1), "kept turns are no subsequence of the log");
}

/// What is kept as it was has the bytes that it came with.
fn untouched(recipe: &Recipe, loaded: &Loaded<'_>, assembly: &Assembly<'_>) {
    let framed = |c: &Component| matches!(c, Component::History { framing: Some(_) });
    let dressed = recipe.components.iter().any(framed) || recipe.doc_ids == DocIdMode::Shown;
    for piece in assembly.messages() {
        let came = match piece.origin {
            Origin::Turn { .. } if dressed || piece.reasons().contains("which is expanded") => continue,
            Origin::Turn { seq, .. } => loaded.turns.iter().find(|t| t.seq == seq).map(|t| &t.message),
            Origin::Inline { index } => loaded.inline.get(index),
            Origin::Question => loaded.question,
            Origin::Module(module) => Some(&module.message),
            Origin::Component { .. } | Origin::Recall { .. } => continue,
            Origin::Group(_) | Origin::Compaction(_) | Origin::Made => continue,
        };
        let mut bytes = Vec::new();
        piece.write(&mut bytes);
        let changed = [Fate::Cut, Fate::Redacted, Fate::Made].iter().any(|fate| piece.was(*fate));
        if !changed {
            assert_eq!(bytes, *came.expect("its origin exists").raw(), "said to be as it came, and is not");
        }
    }
}

/// Only a filter that was told to drop by size or by repetition, or to collapse it, takes it away.
fn newest_user_kept(assembly: &Assembly<'_>) {
    let said = |p: &&Piece<'_>| {
        let aside = matches!(p.origin, Origin::Component { .. } | Origin::Recall { .. } | Origin::Module(_));
        !aside && !matches!(p.origin, Origin::Group(_) | Origin::Made) && p.base().is(Role::User)
    };
    if let Some(newest) = assembly.pieces.iter().rev().find(said) {
        assert!(
            !newest.is_out() || ["sizeLimiter", "dedupe", "collapseGroupReplacer"].contains(&newest.by),
            "{:?} took it",
            newest.by
        );
    }
}

/// What a message costs, counted from its bytes.
fn cost(raw: &str, tokenizer: Tokenizer) -> u32 {
    let text = compact(raw);
    let tokens = match tokenizer {
        Tokenizer::Approx => text.encode_utf16().count().div_ceil(4) as u32,
        exact => exact.count(&text),
    };
    tokens + 8
}

/// The text as `JSON.stringify` writes it.
fn compact(raw: &str) -> String {
    let mut out = String::new();
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\n' | '\r' | '\t' => {}
            '"' => out.push_str(&string(&mut chars)),
            c => out.push(c),
        }
    }
    out
}

fn string(chars: &mut std::str::Chars<'_>) -> String {
    let mut units: Vec<u16> = Vec::new();
    loop {
        match chars.next().expect("a string ends") {
            '"' => break,
            '\\' => units.push(escape(chars)),
            c => units.extend(c.encode_utf16(&mut [0; 2]).iter()),
        }
    }
    let mut out = String::from("\"");
    for c in char::decode_utf16(units) {
        match c {
            Ok(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Ok(c) if c < ' ' => out.push_str(serde_json::to_string(&c).expect("a character").trim_matches('"')),
            Ok(c) => out.push(c),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out.push('"');
    out
}

fn escape(chars: &mut std::str::Chars<'_>) -> u16 {
    match chars.next().expect("an escape ends") {
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'u' => u16::from_str_radix(&chars.by_ref().take(4).collect::<String>(), 16).expect("four digits"),
        c => c as u16,
    }
}
