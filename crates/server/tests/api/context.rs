//! Contexts: by preset, by recipe, and of messages given inline.

use novelo_engine::Tokenizer;
use novelo_engine::limits::{BUDGET_TOKENS_MAX, QUESTION_BYTES_MAX};

use crate::support::{Client, Home, Server, Value, json, says, thread, user};

const SUMMARY: &str = "/v1/docs/users/u/convo.sessions/t/memory/summary";

fn of_thread(more: Value) -> Value {
    let mut request = json!({"user": "u", "thread": "t"});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

fn contents(answer: &Value) -> Vec<&str> {
    answer["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect()
}

/// A thread of so many turns, all of one size.
fn long_thread(client: &Client, turns: usize) {
    let text = |n: usize| format!("turn {n:04} {}", "word ".repeat(10));
    let role = |n: usize| if n % 2 == 1 { "user" } else { "assistant" };
    let messages: Vec<Value> = (1..=turns).map(|n| says(role(n), &text(n))).collect();
    client.append("u", "t", &messages);
}

/// The explanation says of each turn once what became of it, and its tokens are those of the prompt.
fn check_explained(answer: &Value, turns: u64) {
    let rows = answer["explain"]["pieces"].as_array().unwrap();
    let fates = ["kept", "cut", "redacted", "moved", "made", "collapsed", "dropped"];
    assert!(rows.iter().all(|row| fates.contains(&row["fate"].as_str().unwrap())), "{rows:?}");
    assert!(rows.iter().all(|row| ["origin", "role", "by", "why"].iter().all(|name| row[*name].is_string())));
    let seqs: Vec<u64> = rows.iter().filter_map(|row| row["seq"].as_u64()).collect();
    assert_eq!(seqs, (1..=turns).collect::<Vec<_>>());
    let shown: Vec<&Value> = rows.iter().filter(|row| row["fate"] != "dropped").collect();
    assert_eq!(shown.len(), answer["messages"].as_array().unwrap().len());
    let tokens: u64 = shown.iter().map(|row| row["tokens"].as_u64().unwrap()).sum();
    assert_eq!(json!(tokens), answer["tokens"]);
}

#[test]
fn a_thread_alone_is_summary_user_data_and_history() {
    let server = Server::start();
    server.append("u", "t", &[says("system", "Be brief."), says("user", "hi"), says("assistant", "hello")]);
    let history = ["Be brief.", "hi", "hello"];
    let answer = server.context(of_thread(json!({})));
    assert_eq!(contents(&answer), history);
    assert_eq!(
        answer.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["messages", "tokens", "budget_tokens", "trace_id"]
    );
    assert_eq!(answer["budget_tokens"], 24_000);

    server.put(SUMMARY, json!({"text": "They met."})).ok();
    server.put(&user("u", "/data"), json!({"name": "Ada", "age": 36})).ok();
    let answer = server.context(of_thread(json!({"explain": true})));
    let before = ["Previous context summary: They met.", "User data: name: Ada age: 36"];
    assert_eq!(contents(&answer), [&before[..], &history[..]].concat());
    check_explained(&answer, 3);
    server.put(SUMMARY, json!({"text": "They parted."})).ok();
    assert_eq!(contents(&server.context(of_thread(json!({}))))[0], "Previous context summary: They parted.");
}

#[test]
fn a_question_is_added_unless_the_newest_turn_asks_it() {
    let server = Server::start();
    server.say("u", "t", &["what is new?"]);
    let ask = |question: &str| server.context(of_thread(json!({"question": question})));
    assert_eq!(contents(&ask("and then?")), ["what is new?", "and then?"]);
    assert_eq!(contents(&ask("what is new?")), ["what is new?"]);
    assert_eq!(contents(&ask(" \n")), ["what is new?"]);
    assert_eq!(server.said("u", "t"), ["what is new?"], "a question is not stored");
    let asks = |bytes: usize| server.post("/v1/context", of_thread(json!({"question": "q".repeat(bytes)})));
    asks(QUESTION_BYTES_MAX).ok();
    asks(QUESTION_BYTES_MAX + 1).refused_with(422, "invalid_field", &["QUESTION_BYTES_MAX"]);
}

#[test]
fn presets_go_by_their_names() {
    let server = Server::start();
    long_thread(&server, 30);
    for preset in ["chat", "agent", "stable"] {
        let answer = server.context(of_thread(json!({"preset": preset, "explain": true})));
        assert_eq!(answer["messages"].as_array().unwrap().len(), 30, "{preset}");
        check_explained(&answer, 30);
    }
    let unknown = server.post("/v1/context", of_thread(json!({"preset": "chart"})));
    let error = unknown.refused(422, "invalid_field");
    assert_eq!(error["param"], "preset");
    assert!(error["message"].as_str().unwrap().contains("chat, agent, stable"), "{error}");
}

#[test]
fn a_recipe_decides_what_goes_in() {
    let server = Server::start();
    long_thread(&server, 9);
    server.put("/v1/docs/users/u/convo.sessions/t/tasks/one", json!({"due": "monday"})).ok();
    let recipe = json!({
        "intro": {"system": "You are terse."},
        "components": [
            {"kind": "group", "children": [{"kind": "collection", "name": "tasks"}]},
            {"kind": "history"},
            {"kind": "literal", "role": "user", "value": "Go on."},
        ],
        "filters": [{"name": "historyWindow", "options": {"turns": 2}}],
        "budget_tokens": 500,
    });
    let answer = server.context(of_thread(json!({"recipe": recipe, "explain": true})));
    let shown = contents(&answer);
    assert_eq!((shown[0], shown[1]), ("You are terse.", r#"{"due":"monday"}"#));
    assert!(shown[2].starts_with("turn 0008") && shown[3].starts_with("turn 0009"), "{shown:?}");
    assert_eq!((shown[4], shown.len()), ("Go on.", 5));
    assert_eq!(answer["budget_tokens"], 500);
    check_explained(&answer, 9);
}

#[test]
fn a_wrong_request_is_refused_by_the_path_of_its_field() {
    let server = Server::start();
    let check = |request: Value, param: &str| {
        let error = server.post("/v1/context", request.clone()).refused(422, "invalid_field");
        assert_eq!(error["param"], param, "{request}: {error}");
    };
    let filter = json!({"filters": [{"name": "sizeLimiter", "options": {"maxTokens": -1}}]});
    check(of_thread(json!({"recipe": filter})), "recipe.filters[0].options.maxTokens");
    let literal = json!({"components": [{"kind": "literal", "value": "x", "children": [{"kind": "history"}]}]});
    check(of_thread(json!({"recipe": literal})), "recipe.components[0][children]");
    check(of_thread(json!({"recipe": {"componets": []}})), "recipe.componets");
    check(of_thread(json!({"recipe": {}, "preset": "chat"})), "preset");
    check(json!({"messages": [], "filters": {}}), "filters");
    check(json!({"messages": [], "filters": [{"name": "stableWindow"}]}), "filters[0].options.maxTokens");
    check(json!({"messages": [{"role": "user"}, {}]}), "messages[1].role");
    check(json!({"thread": "t"}), "user");
    check(json!({"user": "", "thread": "t"}), "user");
    check(json!({"user": "u", "thread": "\u{7}"}), "thread");
    check(of_thread(json!({"tokenizer": "gpt2"})), "tokenizer");
    check(of_thread(json!({"explain": "html"})), "explain");
    check(of_thread(json!({"budget_tokens": 0})), "budget_tokens");
    check(of_thread(json!({"budget_tokens": BUDGET_TOKENS_MAX + 1})), "budget_tokens");
    server.context(of_thread(json!({"budget_tokens": BUDGET_TOKENS_MAX})));
    server.post("/v1/context", json!({"thred": "t"})).refused_with(422, "invalid_field", &["thred"]);
}

#[test]
fn messages_given_inline_need_no_store() {
    let server = Server::start();
    // The first line says when the export was made.
    let stored = || server.get("/v1/export").text().lines().skip(1).collect::<String>();
    let before = stored();
    let messages = [says("system", "s"), says("user", "a"), says("assistant", "b"), says("user", "c")];
    let answer = server.context(json!({"messages": messages, "explain": true}));
    assert_eq!(answer["messages"], json!(messages));
    assert_eq!(answer["budget_tokens"], Value::Null);
    let indexes: Vec<&Value> =
        answer["explain"]["pieces"].as_array().unwrap().iter().map(|row| &row["index"]).collect();
    assert_eq!(json!(indexes), json!([0, 1, 2, 3]));

    let filters = json!(["noSuchFilter", {"name": "historyWindow", "options": {"turns": 1}}]);
    let answer = server.context(json!({"messages": messages, "filters": filters, "explain": true}));
    assert_eq!(contents(&answer), ["s", "c"]);
    assert_eq!(answer["explain"]["notes"][0], json!({"note": "unknown_filter", "name": "noSuchFilter"}));
    let answer = server.context(json!({"messages": messages, "budget_tokens": 50, "question": "d"}));
    assert_eq!(contents(&answer), ["s", "c", "d"]);
    assert_eq!(stored(), before, "nothing was stored");
}

#[test]
fn inline_messages_follow_the_history_of_a_thread() {
    let server = Server::start();
    server.say("u", "t", &["stored"]);
    let answer = server.context(of_thread(json!({"messages": [says("assistant", "given")], "question": "asked"})));
    assert_eq!(contents(&answer), ["stored", "given", "asked"]);
    let answer = server.context(of_thread(json!({"messages": [says("assistant", "given")], "question": "stored"})));
    assert_eq!(contents(&answer), ["stored", "given", "stored"], "the newest message does not ask it");
    let answer = server.context(of_thread(json!({"messages": [says("user", "asked")], "question": "asked"})));
    assert_eq!(contents(&answer), ["stored", "asked"]);
}

#[test]
fn a_collection_is_looked_at_whole() {
    let server = Server::start();
    for chunk in 0..4 {
        let op =
            |n: usize| json!({"op": "put", "path": format!("users/u/convo.sessions/t/facts/f{n}"), "value": {"n": n}});
        let ops: Vec<_> = (chunk * 300..chunk * 300 + 300).map(op).collect();
        server.post("/v1/docs:batch", json!({"ops": ops})).ok();
    }
    let recipe = json!({"components": [{"kind": "collection", "name": "facts"}]});
    let answer = server.context(of_thread(json!({"recipe": recipe, "budget_tokens": 1_000_000})));
    assert_eq!(contents(&answer).len(), 1_200);
}

#[test]
fn broken_tool_traffic_is_mended() {
    let server = Server::start();
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let messages = json!([
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
        says("user", "wait"),
        {"role": "tool", "tool_call_id": "b", "content": "B"},
        {"role": "tool", "tool_call_id": "gone", "content": "orphan"},
    ]);
    let answer = server.context(json!({"messages": messages, "filters": ["toolCallBackfill"], "explain": true}));
    let shown: Vec<String> = answer["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| format!("{}:{}", m["role"].as_str().unwrap(), m["content"].as_str().unwrap_or("-")))
        .collect();
    let made = "tool:Tool call failed to respond";
    assert_eq!(shown, ["assistant:-", made, "tool:B", "user:wait", "system:orphan"]);
    let fates: Vec<&str> =
        answer["explain"]["pieces"].as_array().unwrap().iter().map(|row| row["fate"].as_str().unwrap()).collect();
    assert!(fates.contains(&"made") && fates.contains(&"moved"), "{fates:?}");
}

#[test]
fn the_budget_holds_newest_first() {
    // A summary would take a part of the budget.
    let server = Home::new().serve_with(&[("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "1000")]);
    long_thread(&server, 60);
    for budget in [100, 333, 1_000] {
        let answer = server.context(of_thread(json!({"budget_tokens": budget, "explain": true})));
        assert!(answer["tokens"].as_u64().unwrap() <= budget);
        let shown = contents(&answer);
        let newest: Vec<String> = (61 - shown.len()..=60).map(|n| format!("turn {n:04}")).collect();
        assert!(
            !shown.is_empty() && shown.iter().zip(&newest).all(|(text, start)| text.starts_with(start)),
            "{shown:?}"
        );
        check_explained(&answer, 60);
    }
}

#[test]
fn a_budget_that_cannot_hold_is_refused_with_the_numbers() {
    let server = Server::start();
    server.append("u", "t", &[says("system", "hi"), says("user", "hi")]);
    // 32 and 30 units at four to a token, and 8 for each message.
    assert_eq!(server.context(of_thread(json!({"budget_tokens": 32})))["tokens"], 32);
    let refused = server.post("/v1/context", of_thread(json!({"budget_tokens": 31})));
    refused.refused_with(422, "over_budget", &["31", "32"]);
    assert_eq!(refused.json()["error"]["param"], "budget_tokens");
}

#[test]
fn exact_tokenizers_count_real_tokens() {
    let server = Server::start();
    let text = "Überraschung: naïve tokenizers miscount 東京 and 🦀!";
    let message = says("user", text);
    let counted = |name: &str| {
        let answer = server.context(json!({"messages": [message], "tokenizer": name}));
        answer["tokens"].as_u64().unwrap()
    };
    let exact = |tokenizer: Tokenizer| u64::from(tokenizer.count(&message.to_string())) + 8;
    let all = [counted("approx"), counted("o200k_base"), counted("cl100k_base")];
    assert_eq!(all[1..], [exact(Tokenizer::O200kBase), exact(Tokenizer::Cl100kBase)]);
    assert!(all[0] != all[1] && all[1] != all[2], "{all:?}");
}

#[test]
fn an_explanation_can_be_had_as_text() {
    let server = Server::start();
    long_thread(&server, 4);
    let answer = server.context(of_thread(json!({"explain": "text", "budget_tokens": 70})));
    let text = answer["explain"].as_str().unwrap();
    let kept = answer["messages"].as_array().unwrap().len();
    assert!(text.starts_with(&format!("{kept} messages from 4 pieces, {} tokens of 70 (approx)\n", answer["tokens"])));
    assert_eq!(text.lines().filter(|line| line.starts_with(['+', '-'])).count(), 4, "{text}");
}

#[test]
fn a_thread_that_is_not_there_is_an_empty_context() {
    let server = Server::start();
    let answer = server.context(of_thread(json!({"explain": true})));
    assert_eq!((&answer["messages"], &answer["tokens"]), (&json!([]), &json!(0)));
    assert_eq!(answer["explain"]["pieces"], json!([]));
}

/// Asks until the answer is one that was kept, and gives what it says.
fn settled(server: &Server, request: &Value) -> Value {
    let answers: Vec<Value> = (0..5).map(|_| server.context(request.clone())["messages"].clone()).collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "the same inputs, other bytes");
    answers[0].clone()
}

#[test]
fn an_answer_is_given_again_only_while_nothing_of_it_has_changed() {
    let server = Server::start();
    let notes = json!({"kind": "collection", "name": "notes"});
    let components = json!([{"kind": "summary"}, {"kind": "userData"}, notes, {"kind": "history"}]);
    let recipe = json!({"components": components, "filters": ["collapseGroupReplacer"]});
    let request = json!({"user": "u", "thread": "t", "recipe": recipe});
    server.append("u", "t", &[json!({"role": "user", "content": "hi", "id": "m1"})]);
    let at = |rest: &str| format!("/v1/docs/users/u/convo.sessions/t/{rest}");
    let entry = json!({"groups": {"G": {"responseId": "r", "updated_at": 1}}});
    let put = |rest: &str, value: Value| drop(server.put(&at(rest), value).ok());
    type Change<'c> = (&'c str, Box<dyn Fn() + 'c>);
    let changes: Vec<Change<'_>> = vec![
        ("a turn", Box::new(|| drop(server.say("u", "t", &["and?"])))),
        ("a turn replaced", Box::new(|| put("messages/m1", json!({"role": "user", "content": "ho"})))),
        ("a summary", Box::new(|| put("memory/summary", json!({"text": "they met"})))),
        ("user data", Box::new(|| drop(server.put(&user("u", "/data"), json!({"name": "Ada"})).ok()))),
        ("a note", Box::new(|| put("notes/a", json!({"n": 1})))),
        ("a note replaced", Box::new(|| put("notes/a", json!({"n": 2})))),
        ("a note deleted", Box::new(|| drop(server.delete(&at("notes/a")).ok()))),
        ("a group", Box::new(|| put("indexes/collapsed/messageToGroups/m1", entry.clone()))),
        ("its response", Box::new(|| put("collapsed/r", json!({"groups": [{"name": "g", "description": "d"}]})))),
        ("its state", Box::new(|| put("indexes/collapsed/groupState/G", json!({"expanded": true})))),
        (
            "a newer group, spilled",
            Box::new(|| put("indexes/collapsed/byMessage/m1/groups/H", json!({"responseId": "r", "updated_at": 2}))),
        ),
        ("all forgotten", Box::new(|| drop(server.delete(&thread("u", "t", "")).ok()))),
        ("begun again", Box::new(|| drop(server.say("u", "t", &["hi again"])))),
    ];
    let mut before = settled(&server, &request);
    for (what, change) in changes {
        change();
        let now = settled(&server, &request);
        assert_ne!(now, before, "{what}");
        before = now;
    }
}
