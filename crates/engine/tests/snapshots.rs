//! Assemblies as people see them: the text that `novelo explain`, the inspector and the docs show.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use novelo_engine::group::{Group, Groups};
use novelo_engine::loaded::{CollectionItem, LoadedCollection, show_summary, show_user_data};
use novelo_engine::piece::Origin;
use novelo_engine::recall::{Recalled, ShownPassage};
use novelo_engine::recipe::Shape;
use novelo_engine::time_scope::Level;
use novelo_engine::{Loaded, Message, Need, Recipe, Role, Turn, assemble, render};
use serde_json::{Value, json};

fn turns(messages: Vec<Value>, first_seq: u64) -> Vec<Turn> {
    let turn = |(n, message): (usize, Value)| {
        let seq = first_seq + n as u64;
        let message = Message::from_stored(message.to_string().into());
        Turn { seq, id: format!("turn-{seq}").into(), create_time: seq as f64, message }
    };
    messages.into_iter().enumerate().map(turn).collect()
}

fn text(recipe: Value, loaded: &Loaded<'_>) -> String {
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    render::text(&assemble(&recipe, loaded, recipe.budget_tokens).unwrap())
}

/// One message a line.
fn prompt(recipe: Value, loaded: &Loaded<'_>) -> String {
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    let mut lines = Vec::new();
    for piece in assemble(&recipe, loaded, recipe.budget_tokens).unwrap().messages() {
        piece.write(&mut lines);
        lines.push(b'\n');
    }
    String::from_utf8(lines).unwrap()
}

fn said(role: Role, text: &str) -> Value {
    json!({"role": role, "content": text})
}

#[test]
fn a_chat_over_its_budget() {
    let turns = turns(
        vec![
            said(Role::System, "You are a patient gardener."),
            said(Role::User, "When do I sow broad beans?"),
            said(Role::Assistant, "In autumn where winters are mild, else in early spring."),
            said(Role::User, "And how deep?"),
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "almanac", "arguments": "{\"crop\":\"bean\"}"}},
            ]}),
            json!({"role": "tool", "tool_call_id": "call_1", "content": "5 cm"}),
            said(Role::Assistant, "Five centimetres, a hand apart."),
        ],
        1,
    );
    let summary = show_summary(br#"{"text": "The user has a small garden in Porto."}"#).unwrap();
    let user_data = show_user_data(br#"{"name": "Ana", "beds": 3}"#).unwrap();
    let question = Message::text(Role::User, "What can stand next to them?");
    let loaded = Loaded {
        turns: turns.iter().collect(),
        summary: Some(&summary),
        user_data: Some(&user_data),
        question: Some(&question),
        ..Loaded::default()
    };
    let recipe = json!({
        "components": [{"kind": "summary"}, {"kind": "userData"}, {"kind": "history"}],
        "budget_tokens": 170,
    });
    insta::assert_snapshot!(text(recipe, &loaded), @r#"
    6 messages from 10 pieces, 159 tokens of 170 (approx)
    - summary          system        32  dropped   budget: needs 32 tokens, 25 were left  | Previous context summary: The user has a small g…
    + userData         system        23  kept      userData: as stored  | User data: name: Ana beds: 3
    + history #1       system        23  kept      budget: leads the thread, always stays  | You are a patient gardener.
    - history #2       user          22  dropped   budget: older than the first turn that did not fit  | When do I sow broad beans?
    - history #3       assistant     30  dropped   budget: older than the first turn that did not fit  | In autumn where winters are mild, else in early …
    - history #4       user          19  dropped   budget: needs 19 tokens, 11 were left  | And how deep?
    + history #5       assistant     45  kept      budget: fits, 78 tokens were left
    + history #6       tool          22  kept      budget: fits, 78 tokens were left  | 5 cm
    + history #7       assistant     24  kept      budget: fits, 102 tokens were left  | Five centimetres, a hand apart.
    + question         user          22  kept      budget: newest user turn, always stays  | What can stand next to them?
    note {"note":"budgeted","dropped":4,"tokens":159}
    "#);
}

#[test]
fn inline_messages_with_files_and_a_missing_answer() {
    let file = |path: &str, content: &str| json!({"filepath": path, "content": content}).to_string();
    let write = |id: &str, path: &str, content: &str| json!({"id": id, "type": "function", "function": {"name": "write", "arguments": file(path, content)}});
    let inline: Vec<Message> = [
        json!({"role": "tool", "tool_call_id": "call_0", "content": "a result from before the window"}),
        said(Role::User, "Split main.rs"),
        json!({"role": "assistant", "tool_calls": [
            write("call_1", "src/main.rs", "mod cli; fn main() { cli::run() }"),
            write("call_2", "src/cli.rs", "pub fn run() { println!(\"hello\") }"),
        ]}),
        said(Role::User, "And a test, please"),
        json!({"role": "tool", "tool_call_id": "call_2", "content": "written"}),
        json!({"role": "assistant", "tool_calls": [write("call_3", "src/cli.rs", "pub fn run() {} mod tests;")]}),
        json!({"role": "tool", "tool_call_id": "call_3", "content": file("src/cli.rs", "pub fn run() {} mod tests;")}),
    ]
    .iter()
    .map(|message| Message::accept(message.to_string().into()).unwrap())
    .collect();
    let loaded = Loaded { inline: &inline, ..Loaded::default() };
    let recipe = json!({"filters": [
        {"name": "fileContentsLimiter", "options": {"filesLimit": 1, "versionsPerFile": 2}},
        {"name": "sizeLimiter", "options": {"maxContentChars": 16}},
        "toolCallBackfill",
        "sparkle",
    ]});
    insta::assert_snapshot!(text(recipe, &loaded), @r#"
    8 messages from 8 pieces, 284 tokens no budget (approx)
    + inline [0]       system        20  redacted  toolCallBackfill: no call call_0 in the window, now a system message; content cut from 31 to 16 characters  | a result from before the window
    + inline [1]       user          19  kept      messages: as stored  | Split main.rs
    + inline [2]       assistant     95  redacted  fileContentsLimiter: contents of src/cli.rs hidden, beyond versionsPerFile; contents of src/main.rs hidden, beyond filesLimit
    + made             tool          28  made      toolCallBackfill: answers call call_1, which had no answer  | Tool call failed to respond
    + inline [4]       tool          23  moved     toolCallBackfill: moved to follow its call call_2  | written
    + inline [3]       user          19  cut       sizeLimiter: content cut from 18 to 16 characters  | And a test, please
    + inline [5]       assistant     54  kept      messages: as stored
    + inline [6]       tool          26  cut       sizeLimiter: content cut from 64 to 16 characters  | {"filepath":"src/cli.rs","content":"pub fn run()…
    note {"note":"files_hidden","payloads":2}
    note {"note":"size_limited","kept":7,"dropped":0,"tokens":261,"max_tokens":24000}
    note {"note":"backfilled","made":1,"moved":1,"orphans":1}
    note {"note":"unknown_filter","name":"sparkle"}
    "#);
}

#[test]
fn a_stable_window() {
    let mut log = vec![said(Role::System, "Be brief.")];
    for n in 1..=4 {
        log.push(said(Role::User, &format!("question {n}")));
        log.push(said(Role::Assistant, &format!("answer {n}")));
    }
    let turns = turns(log, 1);
    let loaded = Loaded { turns: turns.iter().collect(), ..Loaded::default() };
    let recipe = json!({
        "components": [{"kind": "history"}],
        "filters": [{"name": "stableWindow", "options": {"maxTokens": 120, "keep": 0.5}}],
    });
    insta::assert_snapshot!(text(recipe, &loaded), @r#"
    5 messages from 9 pieces, 92 tokens no budget (approx)
    + history #1       system        18  kept      history: as stored  | Be brief.
    - history #2       user          18  dropped   stableWindow: evicted in a block: past 120 tokens the window falls back to 60  | question 1
    - history #3       assistant     19  dropped   stableWindow: evicted in a block: past 120 tokens the window falls back to 60  | answer 1
    - history #4       user          18  dropped   stableWindow: evicted in a block: past 120 tokens the window falls back to 60  | question 2
    - history #5       assistant     19  dropped   stableWindow: evicted in a block: past 120 tokens the window falls back to 60  | answer 2
    + history #6       user          18  kept      history: as stored  | question 3
    + history #7       assistant     19  kept      history: as stored  | answer 3
    + history #8       user          18  kept      history: as stored  | question 4
    + history #9       assistant     19  kept      history: as stored  | answer 4
    note {"note":"evicted","turns":4,"tokens":74}
    "#);
}

#[test]
fn a_long_thread_of_which_only_the_end_is_loaded() {
    let turns = turns(
        vec![
            said(Role::Assistant, "…and that was the last of the forty steps."),
            said(Role::User, "Thanks!\nNow the other one, in the same words as before, if you would be so kind"),
            json!({"note": "no message at all", "by": "an older client"}),
        ],
        9_041,
    );
    let notes: Vec<CollectionItem> =
        vec![CollectionItem::from_document("n1", r#"{"likes": "tables"}"#.into(), Shape::Message)];
    let loaded = Loaded {
        turns: turns.iter().collect(),
        turns_before: 9_040,
        collections: vec![LoadedCollection {
            name: "notes",
            shape: Shape::Message,
            level: Level::Convo,
            items: &notes,
            before: 0,
        }],
        ..Loaded::default()
    };
    let recipe = json!({
        "intro": {"system": "Answer in tables."},
        "components": [
            {"kind": "collection", "name": "notes", "framing": "Known: "},
            {"kind": "history", "framing": "Earlier: "},
        ],
        "filters": [{"name": "historyWindow", "options": {"turns": 2}}],
        "tokenizer": "o200k_base",
    });
    insta::assert_snapshot!(text(recipe, &loaded), @r#"
    4 messages from 5 pieces, 118 tokens no budget (o200k_base)
    - history 9040 turns -              0  dropped   history: older than what one context looks at
    + literal          system        20  made      literal: as stored  | Answer in tables.
    + notes            system        25  kept      collection: as stored, after its framing  | {"likes":"tables"}
    - history #9041    assistant     29  dropped   historyWindow: before the last 2 turns  | …and that was the last of the forty steps.
    + history #9042    user          39  kept      historyWindow: inside the window; as stored, after its framing  | Thanks! Now the other one, in the same words as …
    + history #9043    system        34  made      history: as stored, after its framing  | Earlier: {"note":"no message at all","by":"an ol…
    note {"note":"not_loaded","turns":9040}
    note {"note":"windowed","kept":4,"dropped":1}
    "#);
}

#[test]
fn a_thread_with_groups_below_what_the_week_left() {
    let turns = turns(
        vec![
            said(Role::User, "Which database?"),
            said(Role::Assistant, "Let us compare three."),
            said(Role::User, "And the colour?"),
            said(Role::Assistant, "Green."),
            said(Role::User, "Then write it down."),
        ],
        1,
    );
    let group = |name: &str, expanded| Group {
        name: name.into(),
        response: "r1".into(),
        description: Some("what was settled".into()),
        items: None,
        expanded,
    };
    let of =
        [("turn-1", 0), ("turn-2", 0), ("turn-4", 0), ("turn-3", 1)].map(|(id, group)| (id.into(), group)).to_vec();
    let problems = vec!["messageToGroups/turn-5 is no object".to_owned()];
    let groups = Groups::new(vec![group("DATABASE", false), group("COLOUR", true)], of, problems);
    let week =
        [CollectionItem::from_document("w", r#"{"create_time": 1, "value": {"text": "began"}}"#.into(), Shape::Data)];
    let own = [CollectionItem::from_document("o", r#"{"role": "user", "text": "x"}"#.into(), Shape::Data)];
    let read = |level, items| LoadedCollection { name: "summaries", shape: Shape::Data, level, items, before: 0 };
    let loaded = Loaded {
        turns: turns.iter().collect(),
        collections: vec![read(Level::Week, &week), read(Level::Convo, &own)],
        groups: Some(&groups),
        ..Loaded::default()
    };
    let recipe = json!({
        "promoteUpstream": true,
        "docIds": "shown",
        "components": [
            {"kind": "collection", "name": "summaries", "framing": "Before: ", "as": "data"},
            {"kind": "history", "framing": "Said: "},
        ],
        "filters": ["collapseGroupReplacer", "toolCallBackfill"],
    });
    insta::assert_snapshot!(text(recipe.clone(), &loaded), @r#"
    5 messages from 8 pieces, 178 tokens no budget (approx)
    + summaries        system        28  kept      collection: as stored, after its framing  | {"text":"began"}
    + summaries        system        31  kept      collection: as stored, after its framing  | {"role":"user","text":"x"}
    + group            system        44  made      collapseGroupReplacer: stands for 3 turns of group DATABASE  | {"type":"collapsed_group","name":"DATABASE","res…
    - history #1       user          25  collapsed collapseGroupReplacer: collapsed into group DATABASE  | Which database?
    - history #2       assistant     28  collapsed collapseGroupReplacer: collapsed into group DATABASE  | Let us compare three.
    + history #3       user          49  kept      collapseGroupReplacer: of group COLOUR, which is expanded; as stored, after its framing  | And the colour?
    - history #4       assistant     24  collapsed collapseGroupReplacer: collapsed into group DATABASE  | Green.
    + history #5       user          26  kept      history: as stored, after its framing  | Then write it down.
    note {"note":"lookup_failed","what":"messageToGroups/turn-5 is no object"}
    note {"note":"collapsed","groups":1,"turns":3,"expanded":1}
    "#);
    insta::assert_snapshot!(prompt(recipe, &loaded), @r#"
    {"role":"system","content":"(Week) Before: {\"text\":\"began\"}","docId":"w"}
    {"role":"system","content":"(Convo) Before: {\"role\":\"user\",\"text\":\"x\"}","docId":"o"}
    {"role":"system","content":"{\"type\":\"collapsed_group\",\"name\":\"DATABASE\",\"responseId\":\"r1\",\"description\":\"what was settled\"}"}
    {"role":"user","content":"Said: And the colour?","collapsedGroupId":"COLOUR","collapsedGroup":{"name":"COLOUR","expanded":true,"responseId":"r1"},"docId":"turn-3"}
    {"role":"user","content":"Said: Then write it down.","docId":"turn-5"}
    "#);
}

/// What becomes of a summary and of what was recalled, as `fate by: why`, beside how many turns stay.
fn aside(upto: Option<u64>, filters: Value, budget_tokens: u32) -> (Vec<String>, usize) {
    let recipe = json!({
        "components": [{"kind": "summary"}, {"kind": "history"}, {"kind": "recall", "from": "memories"}],
        "filters": filters,
    });
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    let turns: Vec<Turn> = (1..=4)
        .map(|seq| Turn {
            seq,
            id: seq.to_string().into(),
            create_time: 0.0,
            message: Message::text(
                if seq % 2 == 0 { Role::Assistant } else { Role::User },
                "some words that were said",
            ),
        })
        .collect();
    let summary = show_summary(br#"{"text": "it was said"}"#).unwrap();
    let Some(Need::Recall(recall)) = recipe.needs().into_iter().find(|need| matches!(need, Need::Recall(_))) else {
        panic!("a recipe that recalls needs it");
    };
    let message = recall.show(&[ShownPassage { text: "tea, no sugar", ..ShownPassage::default() }], 1);
    let recalled = [Recalled { recall, hits: Vec::new(), near: Vec::new(), problems: Vec::new(), message }];
    let loaded = Loaded {
        turns: turns.iter().collect(),
        summary: Some(&summary),
        summary_upto: upto,
        recalled: &recalled,
        ..Loaded::default()
    };
    let assembly = assemble(&recipe, &loaded, Some(budget_tokens)).unwrap();
    let rows = assembly.explain().pieces;
    let told = rows.iter().filter(|row| row.seq.is_none());
    let told = told.map(|row| format!("{} {} {}: {}", row.origin, row.fate.name(), row.by, row.why)).collect();
    (told, assembly.messages().filter(|piece| matches!(piece.origin, Origin::Turn { .. })).count())
}

#[test]
fn a_made_summary_stands_for_what_is_not_there() {
    let shown = "summary kept summary: as stored";
    let covered = "summary dropped summary: all that it sums up is in the prompt";
    let window = |turns: u32| json!([{"name": "historyWindow", "options": {"turns": turns}}]);
    assert_eq!(aside(Some(2), json!([]), 1_000).0[0], covered);
    assert_eq!(aside(Some(2), window(3), 1_000).0[0], shown, "turn 1 is out");
    assert_eq!(aside(Some(0), window(3), 1_000).0[0], covered, "it covers nothing");
    assert_eq!(aside(None, json!([]), 1_000).0[0], shown, "a caller's says what it wants");
}

#[test]
fn what_was_recalled_yields_before_a_prompt_is_refused() {
    let (told, turns) = aside(None, json!([]), 1_000);
    assert_eq!((told[1].as_str(), turns), ("memories kept recall: as stored", 4));
    let (told, turns) = aside(None, json!([]), 46);
    assert_eq!((told[1].as_str(), turns), ("memories kept recall: as stored", 1), "turns yield before it does");
    let (told, turns) = aside(None, json!([]), 45);
    assert_eq!(turns, 2, "what it leaves is room for a turn");
    assert!(told[1].starts_with("memories dropped budget: needs"), "{told:?}");
}

#[test]
fn a_summary_yields_to_turns_sentence_by_sentence() {
    let sentence = |n: u32| format!("On day {n} the boat lay in the harbour.");
    let text = (1..=8).map(sentence).collect::<Vec<_>>().join(" ");
    let summary = show_summary(json!({"text": text}).to_string().as_bytes()).unwrap();
    let turns: Vec<Turn> = (1..=6)
        .map(|seq| Turn {
            seq,
            id: seq.to_string().into(),
            create_time: 0.0,
            message: Message::text(Role::User, "some words that were said"),
        })
        .collect();
    let recipe = json!({"components": [{"kind": "summary"}, {"kind": "history"}]});
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    let loaded = Loaded { turns: turns.iter().collect(), summary: Some(&summary), ..Loaded::default() };
    let shown = |budget_tokens: u32| {
        let assembly = assemble(&recipe, &loaded, Some(budget_tokens)).unwrap();
        assert!(assembly.tokens <= budget_tokens);
        let row = &assembly.explain().pieces[0];
        let turns = assembly.messages().filter(|piece| matches!(piece.origin, Origin::Turn { .. })).count();
        (format!("{} {}: {}", row.fate.name(), row.by, row.why), turns)
    };
    let shortened = |kept: u32| format!("cut budget: shortened to {kept} of its 8 sentences, so that newer turns fit");
    let whole = 6 * 22 + summary.tokens(novelo_engine::Tokenizer::default());
    assert_eq!(shown(whole), ("kept summary: as stored".to_owned(), 6));
    assert_eq!(shown(whole - 1), (shortened(7), 6), "one sentence is enough");
    assert_eq!(shown(175), (shortened(2), 6), "it has a quarter at least");
    assert_eq!(shown(22 * 5 + 20).1, 5);
    assert!(shown(60).0.starts_with("dropped budget: needs"), "{:?}", shown(60));
}

#[test]
fn modules_and_a_recall_that_found_nothing() {
    let question = Message::text(Role::User, "Não aguento mais");
    let loaded = Loaded { question: Some(&question), ..Loaded::default() };
    let module = |name: &str, text: &str, priority: u32, pinned: bool| json!({"kind": "module", "name": name, "value": text, "priority": priority, "pinned": pinned});
    let recipe = json!({
        "components": [
            module("identity", "Be warm, and brief.", 50, true),
            module("examples", "Once upon a time there was a garden that nobody had seen.", 10, false),
            module("steps", "Go V, I, A.", 90, false),
            {"kind": "recall", "from": "memories", "heading": "MEMORIAS:", "empty": "MEMORIAS: nenhuma."},
        ],
        "filters": [{"name": "moduleBudget", "options": {"maxTokens": 50}}],
    });
    insta::assert_snapshot!(text(recipe.clone(), &loaded), @r#"
    4 messages from 5 pieces, 79 tokens no budget (approx)
    + module identity  system        21  kept      moduleBudget: fits, 50 tokens were left  | Be warm, and brief.
    - module examples  system        30  dropped   moduleBudget: needs 30 tokens, 10 were left  | Once upon a time there was a garden that nobody …
    + module steps     system        19  kept      moduleBudget: fits, 29 tokens were left  | Go V, I, A.
    + memories         system        20  kept      recall: as stored  | MEMORIAS: nenhuma.
    + question         user          19  kept      question: as stored  | Não aguento mais
    note {"note":"modules_cut","kept":2,"dropped":1,"tokens":40,"max_tokens":50}
    "#);
    insta::assert_snapshot!(prompt(recipe, &loaded), @r#"
    {"role":"system","content":"Be warm, and brief."}
    {"role":"system","content":"Go V, I, A."}
    {"role":"system","content":"MEMORIAS: nenhuma."}
    {"role":"user","content":"Não aguento mais"}
    "#);
}
