//! What holds for every compaction, on transcripts at random.
//!
//! What is kept, what is summed up and what is dropped partition the conversation, and restoring gives the
//! bytes back.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[allow(dead_code, reason = "shared with other tests")]
mod generate;
mod laws;
#[allow(dead_code, reason = "shared with other tests")]
mod reference;

use generate::Spelling::Plain;
use novelo_engine::compact::{CompactedSpan, CompactionPlan, Compactions, SpanMaker, SpanSource};
use novelo_engine::piece::{Fate, Origin, Why};
use novelo_engine::{Assembly, Loaded, Message, Note, Recipe, Role, Tokenizer, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};

fn turns(raw: &[String]) -> Vec<Turn> {
    let turn = |(n, raw): (usize, &String)| {
        let message = Message::accept(raw.clone().into()).unwrap();
        Turn { seq: n as u64 + 1, id: format!("t{}", n + 1).into(), create_time: 0.0, message }
    };
    raw.iter().enumerate().map(turn).collect()
}

fn said(role: Role, text: &str) -> String {
    Message::text(role, text).as_str().to_owned()
}

fn recipe(options: Value, more: &[Value]) -> Recipe {
    let mut filters = vec![json!({"name": "compact", "options": options})];
    filters.extend(more.iter().cloned());
    Recipe::decode("recipe", &json!({"components": [{"kind": "history"}], "filters": filters})).unwrap()
}

/// The spans of a plan, with as much text as each may have.
fn carried_out(plan: &CompactionPlan, compaction: usize) -> Vec<CompactedSpan> {
    let span = |(n, span): (usize, &novelo_engine::compact::PlannedSpan)| {
        let id = format!("s{compaction}-{n}");
        let mut text = "words of the span ".repeat(400);
        while !span.fits(&id, &text, Tokenizer::Approx) && text.pop().is_some() {}
        span.with(&id, &text, SpanMaker::Extract)
    };
    plan.spans.iter().enumerate().map(span).collect()
}

/// Compacts as often as the filter asks for it, and passes on what is left.
fn compacted(recipe: &Recipe, turns: &[Turn], pins: &[&str]) -> (Vec<CompactedSpan>, usize) {
    let mut spans = Vec::new();
    for round in 0..8 {
        let compactions = Compactions::new(spans.clone(), pins.iter().map(|pin| (*pin).into()));
        let loaded = Loaded { turns: turns.iter().collect(), compactions: Some(&compactions), ..Loaded::default() };
        let assembly = laws::assembled(recipe, &loaded, None).unwrap();
        match &assembly.compaction {
            Some(plan) if !plan.spans.is_empty() => spans.extend(carried_out(plan, round)),
            _ => return (spans, round),
        }
    }
    (spans, 8)
}

fn written(assembly: &Assembly<'_>) -> String {
    let mut bytes = Vec::new();
    assembly.write(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

fn transcript() -> impl Strategy<Value = Vec<String>> {
    let talk = (prop::bool::ANY, "[a-z ]{0,300}")
        .prop_map(|(user, text)| vec![said(if user { Role::User } else { Role::Assistant }, &text)]);
    let instruction = Just(vec![said(Role::System, "never tell the code 4417")]);
    let part = prop_oneof![2 => generate::transcript(Plain), 6 => talk, 1 => instruction];
    prop::collection::vec(part, 1..40).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn kept_summed_up_and_dropped_partition_and_restoring_gives_the_bytes_back(
        raw in transcript(),
        max in 150..2_000u32,
        keep in 1..=10u32,
        recent in 1..12u32,
        pin in 1..60usize,
    ) {
        let options = json!({"maxTokens": max, "keep": f64::from(keep) / 10.0, "recentTurns": recent});
        let recipe = recipe(options, &[]);
        let turns = turns(&raw);
        let pin = format!("t{pin}");
        let (spans, rounds) = compacted(&recipe, &turns, &[&pin]);
        prop_assert!(rounds < 8, "it never ends");
        let compactions = Compactions::new(spans.clone(), [pin.as_str().into()]);
        let loaded = Loaded { turns: turns.iter().collect(), compactions: Some(&compactions), ..Loaded::default() };
        let assembly = laws::assembled(&recipe, &loaded, None).unwrap();

        // Each turn is there once: in the prompt, in exactly one span that is shown, or out for a reason.
        let mut seen = Vec::new();
        for piece in &assembly.pieces {
            let Origin::Turn { seq, id } = piece.origin else { continue };
            seen.push(seq);
            let holding: Vec<_> = compactions.spans().filter(|span| span.holds(SpanSource::Thread, seq)).collect();
            match (&piece.why, piece.fate) {
                (Why::Compacted { span }, Fate::Collapsed) => {
                    prop_assert_eq!(holding.iter().map(|span| &*span.id).collect::<Vec<_>>(), vec![*span]);
                    prop_assert!(id != pin && !piece.instructs(), "{} must stay", seq);
                }
                (_, Fate::Kept) => prop_assert!(holding.is_empty() || id == pin || is_tied(&turns, seq, &pin)),
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert_eq!(seen, (1..=turns.len() as u64).collect::<Vec<_>>());
        let newest = assembly.pieces.iter().rev().filter(|piece| matches!(piece.origin, Origin::Turn { .. }));
        prop_assert!(newest.take(recent as usize).all(|piece| !piece.is_out()), "a newest turn is out");

        // A call and its answers are on one side.
        let messages: Vec<Value> = raw.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
        let out = |at: usize| compactions.spans().position(|span| span.holds(SpanSource::Thread, at as u64 + 1));
        for (at, owner) in reference::owners(&messages).iter().enumerate() {
            prop_assert!(owner.is_none_or(|owner| out(owner) == out(at)), "{} and {:?} were parted", at, owner);
        }

        // It fits, unless what must stay does not.
        let is_short = assembly.notes.iter().any(|note| matches!(note, Note::NotCompacted { .. }));
        prop_assert!(assembly.tokens <= max || is_short, "{} of {}", assembly.tokens, max);

        // Restored, everything is as it was.
        let restore = |mut span: CompactedSpan| {
            span.restored_at = Some(turns.len() as u64);
            span
        };
        let restored = Compactions::new(spans.iter().cloned().map(restore).collect(), []);
        let before = Loaded { turns: turns.iter().collect(), ..Loaded::default() };
        let after = Loaded { turns: turns.iter().collect(), compactions: Some(&restored), ..Loaded::default() };
        let before = novelo_engine::assemble(&recipe, &before, None).unwrap();
        let after = novelo_engine::assemble(&recipe, &after, None).unwrap();
        prop_assert_eq!(written(&before), written(&after));
    }

    #[test]
    fn the_budget_holds_whatever_is_compacted(raw in transcript(), budget in 60..900u32) {
        let recipe = recipe(json!({}), &[json!("toolCallBackfill")]);
        let turns = turns(&raw);
        let mut spans = Vec::new();
        for round in 0..8 {
            let compactions = Compactions::new(spans.clone(), []);
            let loaded = Loaded { turns: turns.iter().collect(), compactions: Some(&compactions), ..Loaded::default() };
            let Ok(assembly) = laws::assembled(&recipe, &loaded, Some(budget)) else { break };
            prop_assert!(assembly.tokens <= budget);
            laws::paired(&assembly);
            match &assembly.compaction {
                Some(plan) if !plan.spans.is_empty() => spans.extend(carried_out(plan, round)),
                _ => break,
            }
        }
    }
}

/// Whether a turn is tied to a pinned one as a call and its answer are.
fn is_tied(turns: &[Turn], seq: u64, pin: &str) -> bool {
    let messages: Vec<Value> = turns.iter().map(|turn| serde_json::from_str(turn.message.as_str()).unwrap()).collect();
    let owners = reference::owners(&messages);
    let at = |seq: u64| seq as usize - 1;
    let root = |at: usize| owners[at].unwrap_or(at);
    turns.iter().find(|turn| &*turn.id == pin).is_some_and(|turn| root(at(turn.seq)) == root(at(seq)))
}

/// A long talk, with a large file that a tool read.
fn talk() -> Vec<Turn> {
    let mut raw = vec![said(Role::System, "You help with a boat."), said(Role::User, "Goal: sail on 3 May.")];
    for n in 0..30 {
        raw.push(said(Role::User, &format!("Question {n} about the boat, which is a little longer than that.")));
        raw.push(said(Role::Assistant, &format!("Answer {n} about the boat, which is a little longer than that.")));
        if n == 4 {
            let call = json!({"role": "assistant", "content": null, "tool_calls":
                [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}]});
            raw.push(call.to_string());
            raw.push(
                json!({"role": "tool", "tool_call_id": "c1", "content": "line of a file\n".repeat(200)}).to_string(),
            );
        }
    }
    turns(&raw)
}

#[test]
fn tool_output_goes_first_and_then_the_oldest_talk() {
    let turns = talk();
    let plan = |max: u32| {
        let recipe = recipe(json!({"maxTokens": max, "keep": 1.0}), &[]);
        let loaded = Loaded { turns: turns.iter().collect(), ..Loaded::default() };
        novelo_engine::assemble(&recipe, &loaded, None).unwrap().compaction.unwrap()
    };
    let tools = plan(2_500);
    assert_eq!(tools.spans.iter().map(|span| (span.first_seq, span.last_seq)).collect::<Vec<_>>(), [(13, 14)]);
    let talk = plan(1_500);
    let first = talk.spans.first().unwrap();
    assert_eq!(first.first_seq, 3, "the goal and the instruction stay: {talk:?}");
    assert!(talk.spans.iter().all(|span| span.last_seq <= turns.len() as u64 - 8), "the newest stay: {talk:?}");
    let least = plan(100);
    assert!(least.spans.is_empty());
    let error = least.check().unwrap_err().to_string();
    assert!(error.starts_with("is 100, but instructions, pinned and newest turns alone need"), "{error}");
}

#[test]
fn the_front_stays_while_the_log_grows_and_compactions_nest() {
    let all = talk();
    let recipe = recipe(json!({"maxTokens": 900, "keep": 0.5}), &[]);
    let mut spans: Vec<CompactedSpan> = Vec::new();
    let (mut rounds, mut unchanged) = (0, 0);
    let mut before: Option<Vec<String>> = None;
    for count in 30..=all.len() {
        loop {
            let compactions = Compactions::new(spans.clone(), []);
            let loaded = Loaded {
                turns: all.iter().take(count).collect(),
                compactions: Some(&compactions),
                ..Loaded::default()
            };
            let assembly = laws::assembled(&recipe, &loaded, None).unwrap();
            match &assembly.compaction {
                Some(plan) if !plan.spans.is_empty() => {
                    rounds += 1;
                    spans.extend(carried_out(plan, rounds));
                }
                _ => {
                    let front: Vec<String> = compactions.spans().map(|span| span.id.to_string()).collect();
                    unchanged += usize::from(before.as_ref() == Some(&front));
                    before = Some(front);
                    assert!(assembly.tokens <= 900, "{} after {count}", assembly.tokens);
                    break;
                }
            }
        }
    }
    assert!(rounds >= 2 && unchanged >= 3 * rounds, "{unchanged} turns without a compaction, {rounds} with");
    assert!(spans.iter().any(|span| !span.children.is_empty()), "none contains another");
}
