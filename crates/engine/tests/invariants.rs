//! What holds for every assembly, on transcripts and recipes at random.
//!
//! `laws` says what must hold for any input; here are the laws that ask for more than that: a filter in the
//! last place, a window of a certain size, a log that grows, or the slow reference to compare with.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod generate;
mod laws;
mod reference;

use generate::Spelling::{Plain, Wild};
use novelo_engine::compact::{CompactedSpan, Compactions, SpanKind, SpanMaker, SpanSource};
use novelo_engine::group::{Group, Groups};
use novelo_engine::loaded::{CollectionItem, LoadedCollection, RefusedTurn};
use novelo_engine::piece::{Fate, Origin};
use novelo_engine::recall::{Recalled, ShownPassage};
use novelo_engine::recipe::{Component, Shape};
use novelo_engine::time_scope::Level;
use novelo_engine::{Assembly, Loaded, Message, Need, Recipe, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Everything that goes into one assembly.
#[derive(Debug, Clone)]
struct Case {
    turns: Vec<String>,
    notes: Vec<String>,
    inline: Vec<String>,
    asks: bool,
    turns_before: u64,
    /// Of three groups that take turns, how many there are, and how many of these are expanded.
    groups: (u32, u32),
    recipe: Value,
    budget_tokens: Option<u32>,
}

fn case(filters: impl Strategy<Value = Vec<Value>>, tokenizer: &'static str) -> impl Strategy<Value = Case> {
    let documents = (generate::transcript(Wild), generate::transcript(Wild), generate::transcript(Wild));
    let asked =
        (any::<bool>(), 0..2u64, prop::option::of(1..900u32), prop::option::of(Just("shown")), (0..4u32, 0..3u32));
    (documents, generate::components(), filters, asked).prop_map(
        move |((turns, notes, inline), components, filters, (asks, turns_before, budget_tokens, ids, groups))| {
            let recipe = json!({"components": components, "filters": filters, "tokenizer": tokenizer, "docIds": ids});
            Case { turns, notes, inline, asks, turns_before, groups, recipe, budget_tokens }
        },
    )
}

fn message(raw: &str) -> Message {
    Message::accept(raw.to_owned().into()).expect(raw)
}

/// For every recall something is found, or nothing is.
fn recalled(need: &Need, found: bool) -> Option<Recalled> {
    let Need::Recall(recall) = need else { return None };
    let passage = |(text, words)| ShownPassage { text, words, ..ShownPassage::default() };
    let passages = [("tea, no sugar", vec![]), ("a \"dog\" 😀", vec!["dog"])].map(passage);
    let message = recall.show(if found { &passages } else { &[] }, 1);
    Some(Recalled { recall: recall.clone(), hits: Vec::new(), near: Vec::new(), problems: Vec::new(), message })
}

fn turns(raw: &[String]) -> Vec<Turn> {
    let turn = |(n, raw): (usize, &String)| {
        let seq = n as u64 + 1;
        Turn { seq, id: format!("t{seq}").into(), create_time: 0.0, message: message(raw) }
    };
    raw.iter().enumerate().map(turn).collect()
}

impl Case {
    /// Assembles, checks the laws, and passes the assembly on.
    fn check(&self, and: impl Fn(&Assembly<'_>)) {
        let recipe = Recipe::decode("recipe", &self.recipe).unwrap();
        let turns = turns(&self.turns);
        let notes = |shape| {
            self.notes
                .iter()
                .map(|raw| CollectionItem::from_document("n", raw.clone().into(), shape))
                .collect::<Vec<CollectionItem>>()
        };
        let (said, data) = (notes(Shape::Message), notes(Shape::Data));
        let read = |shape, items| LoadedCollection { name: "notes", shape, level: Level::Week, items, before: 0 };
        let groups = self.groups(&turns);
        let compactions = self.compactions();
        let membership = self.asks.then(|| groups.membership(turns.iter().skip(1)));
        let inline: Vec<Message> = self.inline.iter().map(|raw| message(raw)).collect();
        let aside = Message::text(novelo_engine::Role::System, "aside");
        let question = Message::text(novelo_engine::Role::User, "and?");
        let recalled: Vec<Recalled> = recipe.needs().iter().filter_map(|need| recalled(need, self.asks)).collect();
        let refused = self.refused(&turns);
        let loaded = Loaded {
            refused: &refused,
            recalled: &recalled,
            recall_notice: (self.turns_before > 0).then_some(&aside),
            summary_upto: self.asks.then_some(2),
            turns: turns.iter().collect(),
            turns_before: self.turns_before,
            summary: Some(&aside),
            user_data: Some(&aside),
            collections: vec![read(Shape::Message, &said), read(Shape::Data, &data)],
            groups: Some(&groups),
            compactions: Some(&compactions),
            membership: membership.as_ref(),
            inline: &inline,
            question: self.asks.then_some(&question),
            unknown_fields: &[],
        };
        if let Ok(assembly) = laws::assembled(&recipe, &loaded, self.budget_tokens) {
            shows_what_was_recalled(&recipe, &assembly, self.asks);
            says_that_it_is_data(&assembly, self.asks && self.turns_before > 0);
            and(&assembly);
        }
    }
}

impl Case {
    /// A question that its model refused, before the newest one.
    fn refused(&self, turns: &[Turn]) -> Vec<RefusedTurn> {
        let asks = |turn: &&Turn| turn.message.role() == Some(novelo_engine::Role::User);
        let questions: Vec<u64> = turns.iter().filter(asks).map(|turn| turn.seq).collect();
        let before = questions.split_last().map_or(&[][..], |(_, before)| before);
        let refused = before.first().filter(|_| self.turns_before > 0);
        refused.map(|seq| RefusedTurn { seq: *seq, why: "no \"images\"".to_owned() }).into_iter().collect()
    }

    /// A span of the thread, one of the messages given, and one that was restored.
    fn compactions(&self) -> Compactions {
        let span = |id: &str, source, (first_seq, last_seq): (u64, u64), restored_at| CompactedSpan {
            id: id.into(),
            source,
            first_seq,
            last_seq,
            turns: 3,
            tokens: 90,
            kind: SpanKind::Mixed,
            by: SpanMaker::Extract,
            text: "said \"so\"".into(),
            children: Vec::new(),
            refused: None,
            restored_at,
        };
        let spans = vec![
            span("s1", SpanSource::Thread, (2, 4), None),
            span("s2", SpanSource::Request, (1, 2), None),
            span("s3", SpanSource::Thread, (6, 7), Some(7)),
        ];
        Compactions::new(if self.groups.0 > 1 { spans } else { Vec::new() }, ["t3".into()])
    }

    fn groups(&self, turns: &[Turn]) -> Groups {
        let (count, expanded) = self.groups;
        let group = |n: u32| Group {
            name: format!("G{n}").into(),
            response: "r\"1".into(),
            description: (n == 0).then(|| "said \"so\"".into()),
            items: serde_json::from_str(r#"[ {"type": "message", "id": "t1"} ]"#).ok().filter(|_| n == 1),
            expanded: n < expanded,
        };
        let of = |turn: &Turn| (turn.id.clone(), turn.seq as u32 % 3);
        let of = turns.iter().map(of).filter(|(_, n)| *n < count).collect();
        Groups::new((0..count).map(group).collect(), of, Vec::new())
    }
}

fn with_last(last: impl Strategy<Value = Value>) -> impl Strategy<Value = Vec<Value>> {
    (generate::filters(), last).prop_map(|(mut filters, last)| {
        filters.push(last);
        filters
    })
}

proptest! {
    #[test]
    fn the_laws_hold_for_any_recipe(case in case(generate::filters(), "approx")) {
        case.check(|_| {});
    }

    #[test]
    fn after_backfill_every_call_is_answered(case in case(with_last(generate::backfill()), "approx")) {
        case.check(laws::paired);
    }

    #[test]
    fn modules_in_the_prompt_are_those_that_a_slow_walk_keeps(
        modules in prop::collection::vec(generate::module(), 0..9),
        raw in generate::transcript(Plain),
        max_tokens in 0..200u32,
    ) {
        let filters = json!([{"name": "moduleBudget", "options": {"maxTokens": max_tokens}}]);
        let recipe = Recipe::decode("recipe", &json!({"components": modules, "filters": filters})).unwrap();
        let inline: Vec<Message> = raw.iter().map(|raw| message(raw)).collect();
        let loaded = Loaded { inline: &inline, ..Loaded::default() };
        let assembly = laws::assembled(&recipe, &loaded, None).unwrap();
        let (of_modules, of_log) = assembly.pieces.split_at(modules.len());
        prop_assert!(of_log.iter().all(|piece| piece.fate == Fate::Kept), "the log was touched");
        let costs: Vec<u32> = of_modules.iter().map(|piece| piece.tokens).collect();
        let kept: Vec<bool> = of_modules.iter().map(|piece| !piece.is_out()).collect();
        prop_assert_eq!(kept, slow_walk(&modules, &costs, max_tokens));
    }

    #[test]
    fn ids_that_only_count_keep_what_ids_that_are_shown_keep(
        raw in generate::transcript(Plain),
        filters in generate::filters(),
        components in generate::components(),
    ) {
        let prompts = ["shown", "counted"].map(|ids| {
            let recipe = json!({"components": components, "filters": filters, "docIds": ids});
            let recipe = Recipe::decode("recipe", &recipe).unwrap();
            let turns = turns(&raw);
            let loaded = Loaded { turns: turns.iter().collect(), ..Loaded::default() };
            let assembly = novelo_engine::assemble(&recipe, &loaded, None).unwrap();
            (assembly.tokens, prompt(&assembly))
        });
        let [(shown_tokens, shown), (counted_tokens, counted)] = prompts;
        prop_assert_eq!(shown_tokens, counted_tokens);
        let without = |mut message: Value| {
            message.as_object_mut().unwrap().shift_remove("docId");
            message
        };
        let of = |messages: Vec<Value>| messages.into_iter().map(without).collect::<Vec<_>>();
        prop_assert_eq!(lines(&of(shown)), lines(&of(counted)));
    }

    #[test]
    fn the_seed_filters_do_as_their_slow_reference(
        raw in generate::transcript(Plain),
        filters in generate::seed_filters(),
    ) {
        let recipe = Recipe::decode("recipe", &json!({"filters": filters})).unwrap();
        let inline: Vec<Message> = raw.iter().map(|raw| message(raw)).collect();
        let loaded = Loaded { inline: &inline, ..Loaded::default() };
        let assembly = laws::assembled(&recipe, &loaded, None).unwrap();
        let came = raw.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
        let expected = filters.iter().fold(came, |messages, filter| reference::apply(filter, messages));
        prop_assert_eq!(lines(&prompt(&assembly)), lines(&expected));
        redactions_name_what_they_hid(&assembly, &raw);
    }

    #[test]
    fn a_history_window_parts_no_call_from_its_answers(
        raw in generate::transcript(Plain),
        n in 1..16usize,
        unit in prop::sample::select(vec!["turns", "pairs"]),
    ) {
        let recipe = json!({"filters": [{"name": "historyWindow", "options": {unit: n}}]});
        let recipe = Recipe::decode("recipe", &recipe).unwrap();
        let inline: Vec<Message> = raw.iter().map(|raw| message(raw)).collect();
        let loaded = Loaded { inline: &inline, ..Loaded::default() };
        let assembly = laws::assembled(&recipe, &loaded, None).unwrap();
        let is_in: Vec<bool> = assembly.pieces.iter().map(|p| !p.is_out()).collect();
        let messages: Vec<Value> = raw.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
        let owners = reference::owners(&messages);
        for (at, owner) in owners.iter().enumerate() {
            prop_assert!(owner.is_none_or(|owner| is_in[owner] == is_in[at]), "{} and {:?} were parted", at, owner);
        }
        window_is_no_larger(&messages, &owners, &is_in, unit, n);
    }

    #[test]
    fn a_stable_window_moves_only_when_it_is_full(
        log in grown_log(),
        max in 60..500u32,
        keep in 0..=10u32,
    ) {
        let recipe = json!({"filters": [
            {"name": "stableWindow", "options": {"maxTokens": max, "keep": f64::from(keep) / 10.0}},
        ]});
        let recipe = Recipe::decode("recipe", &recipe).unwrap();
        let mut before: Option<Seen> = None;
        for blocks in 1..=log.len() {
            let raw = log[..blocks].concat();
            let turns = turns(&raw);
            let loaded = Loaded { inline: &turns.into_iter().map(|t| t.message).collect::<Vec<_>>(), ..Loaded::default() };
            let assembly = laws::assembled(&recipe, &loaded, None).unwrap();
            let now = Seen::of(&assembly, log[blocks - 1].len());
            prop_assert!(now.tokens <= max || now.must_have_tokens > max, "{} of {}", now.tokens, max);
            if let Some(before) = before {
                let fits = before.tokens + now.newest_tokens <= max;
                prop_assert!(now.front == before.front || !fits, "moved with room to spare");
                prop_assert!(now.front >= before.front, "moved back");
            }
            before = Some(now);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_laws_hold_for_exact_tokens(case in case(with_last(generate::backfill()), "o200k_base")) {
        case.check(laws::paired);
    }
}

/// Which modules stay: repeatedly the best module that was not looked at yet.
fn slow_walk(modules: &[Value], costs: &[u32], max_tokens: u32) -> Vec<bool> {
    let is_pinned = |at: usize| modules[at]["pinned"] == true;
    let priority = |at: usize| modules[at]["priority"].as_u64().unwrap_or(50);
    let goes_before = |a: usize, b: usize| match (is_pinned(a), is_pinned(b)) {
        (true, true) => a < b,
        (false, false) => priority(a) > priority(b) || (priority(a) == priority(b) && a < b),
        (first, _) => first,
    };
    let mut kept = vec![false; modules.len()];
    let mut waiting: Vec<usize> = (0..modules.len()).collect();
    let mut used = 0;
    while let Some(best) = waiting.iter().copied().find(|a| waiting.iter().all(|b| a == b || goes_before(*a, *b))) {
        waiting.retain(|at| *at != best);
        kept[best] = used + costs[best] <= max_tokens;
        used += if kept[best] { costs[best] } else { 0 };
    }
    kept
}

/// A recall shows what was found under its heading, else what it shows for nothing, else nothing.
fn shows_what_was_recalled(recipe: &Recipe, assembly: &Assembly<'_>, found: bool) {
    let expect = recipe.components.iter().filter_map(|component| match component {
        Component::Recall { recall, .. } if found => {
            let usual =
                if recall.from.name() == "turns" { "Relevant conversation memory:" } else { "Relevant memory:" };
            let heading = recall.heading.as_deref().unwrap_or(usual);
            Some(format!("{heading}\ntea, no sugar\na \"dog\" 😀"))
        }
        Component::Recall { recall, .. } => recall.empty.as_deref().map(str::to_owned),
        _ => None,
    });
    let recalled = assembly.pieces.iter().filter(|piece| matches!(piece.origin, Origin::Recall { .. }));
    let shown = recalled.map(|piece| piece.base().content_text().unwrap().into_owned());
    assert_eq!(shown.collect::<Vec<_>>(), expect.collect::<Vec<_>>());
}

/// The notice stands once, before the first of what was recalled.
fn says_that_it_is_data(assembly: &Assembly<'_>, noticed: bool) {
    let origins = assembly.pieces.iter().map(|piece| piece.origin);
    let is_notice = |origin: &Origin<'_>| matches!(origin, Origin::Component { name: "recallNotice", .. });
    let first = origins.clone().position(|origin| matches!(origin, Origin::Recall { .. }));
    let expected: Vec<usize> = first.filter(|_| noticed).map(|at| at - 1).into_iter().collect();
    let notices: Vec<usize> = origins.enumerate().filter(|(_, origin)| is_notice(origin)).map(|(at, _)| at).collect();
    assert_eq!(notices, expected);
}

fn prompt(assembly: &Assembly<'_>) -> Vec<Value> {
    let mut bytes = Vec::new();
    assembly.write(&mut bytes);
    serde_json::from_slice(&bytes).unwrap()
}

/// One message a line, keys in their order.
fn lines(messages: &[Value]) -> String {
    messages.iter().map(|m| format!("{m}\n")).collect()
}

/// Where the content of a file is not what came, the explanation names the file.
fn redactions_name_what_they_hid(assembly: &Assembly<'_>, raw: &[String]) {
    let rows = assembly.explain().pieces;
    for (piece, row) in assembly.pieces.iter().zip(rows).filter(|(p, _)| p.was(Fate::Redacted) && !p.is_out()) {
        let Origin::Inline { index } = piece.origin else { continue };
        let mut bytes = Vec::new();
        piece.write(&mut bytes);
        let came = files(&serde_json::from_str(&raw[index]).unwrap());
        let went = files(&serde_json::from_slice(&bytes).unwrap());
        for (came, went) in came.iter().zip(&went).filter(|(came, went)| came["content"] != went["content"]) {
            assert_eq!(went["filepath"], came["filepath"]);
            let path = came["filepath"].as_str().map_or_else(|| came["filepath"].to_string(), str::to_owned);
            assert!(row.why.contains(&format!("contents of {path} hidden")), "{row:?}");
        }
    }
}

/// The files in a message that can be read from it.
fn files(message: &Value) -> Vec<Value> {
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| &call["function"]["arguments"]);
    let texts = calls.chain([&message["content"]]).filter_map(Value::as_str);
    texts.filter_map(|text| serde_json::from_str::<Value>(text).ok()).filter(|file| file.is_object()).collect()
}

/// The window holds the last n and no more, but for instructions that lead, the newest block and the newest
/// user turn.
fn window_is_no_larger(messages: &[Value], owners: &[Option<usize>], is_in: &[bool], unit: &str, n: usize) {
    let instructs = |m: &Value| m["role"] == "system" || m["role"] == "developer";
    let leading = messages.iter().take_while(|m| instructs(m)).count();
    assert!(is_in[..leading].iter().all(|is_in| *is_in), "instructions that lead were dropped");
    let users = |at: &usize| messages[*at]["role"] == "user";
    let kept: Vec<usize> = (leading..messages.len()).filter(|at| is_in[*at]).collect();
    if unit == "pairs" {
        assert_eq!(kept.iter().filter(|at| users(at)).count(), n.min((0..messages.len()).filter(users).count()));
        return;
    }
    let mut newest_block = messages.len().saturating_sub(1);
    while let Some(first) = (0..newest_block).find(|at| tied(owners, newest_block, messages.len(), *at)) {
        newest_block = first;
    }
    assert!(kept.len() <= n.max(messages.len() - newest_block) + 1, "{} of {n} were kept", kept.len());
}

/// Whether the piece at `at` answers, or is answered by, one from `start` on.
fn tied(owners: &[Option<usize>], start: usize, end: usize, at: usize) -> bool {
    (start..end).any(|later| owners[later] == Some(at) || owners[at] == Some(later))
}

/// A log as agents write it, in blocks: a user, an assistant, or calls that are answered at once.
fn grown_log() -> impl Strategy<Value = Vec<Vec<String>>> {
    let said = |role: &'static str| {
        "[a-z]{0,200}".prop_map(move |text| vec![json!({"role": role, "content": text}).to_string()])
    };
    let called = (1..4usize, "[a-z]{0,60}").prop_map(|(calls, text)| {
        let ids = || (0..calls).map(|n| format!("c{n}"));
        let calls: Vec<Value> = ids().map(|id| json!({"id": id})).collect();
        let mut block = vec![json!({"role": "assistant", "tool_calls": calls}).to_string()];
        block.extend(ids().map(|id| json!({"role": "tool", "tool_call_id": id, "content": text}).to_string()));
        block
    });
    let block = prop_oneof![3 => said("user"), 2 => said("assistant"), 2 => called];
    (prop::option::of(said("system")), prop::collection::vec(block, 1..24))
        .prop_map(|(system, blocks)| system.into_iter().chain(blocks).collect())
}

/// What a stable window shows when its newest block has just come in.
#[derive(Debug)]
struct Seen {
    front: usize,
    tokens: u32,
    newest_tokens: u32,
    must_have_tokens: u32,
}

impl Seen {
    fn of(assembly: &Assembly<'_>, newest_len: usize) -> Self {
        let pieces = &assembly.pieces;
        let leading = pieces.iter().take_while(|p| p.instructs()).count();
        let newest_block = pieces.len() - newest_len;
        let newest_user = pieces.iter().rposition(|p| p.is(novelo_engine::Role::User));
        let must_have = |at: &usize| *at < leading || *at >= newest_block || Some(*at) == newest_user;
        let spared = |at: usize| pieces[at].why.to_string() == "newest user turn, always stays";
        let front = (leading..pieces.len()).find(|at| !pieces[*at].is_out() && !spared(*at));
        Self {
            front: front.unwrap_or(leading),
            tokens: assembly.tokens,
            newest_tokens: pieces[newest_block..].iter().map(|p| p.tokens).sum(),
            must_have_tokens: (0..pieces.len()).filter(must_have).map(|at| pieces[at].tokens).sum(),
        }
    }
}
