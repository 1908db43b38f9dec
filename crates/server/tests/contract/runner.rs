//! The runner can fail: a wrong expectation is reported, with its place.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::expect::same;
use crate::fill::{Names, fill, week_end};
use crate::page::Page;
use crate::run;

/// Long enough for what comes, and no longer: one scenario waits for what does not.
const PATIENCE: Duration = Duration::from_secs(2);

fn read(text: &str) -> Result<Page, String> {
    Page::read("a.md", text)
}

/// Runs a page of one scenario; what failed, up to the first line end.
fn failures(steps: &str) -> Vec<String> {
    let page = read(&format!("- **TC-A-1** One.\n```http TC-A-1\n{steps}\n```\n")).unwrap();
    let first = |failure: String| failure.lines().next().unwrap().to_owned();
    run::page(&page, &BTreeSet::from(["TC-A-1"]), PATIENCE).into_iter().map(first).collect()
}

#[test]
fn a_true_scenario_passes() {
    let steps = r#"PUT /v1/docs/users/ana/notes/n
{"create_time": {now-5},
 "text": "{{repeat 3 a}}"}
=> 200 {"id": "n", "seq": "<number>", "create_time": "<now>", "version": 1}
save time = body /create_time

GET /v1/docs/users/ana/notes/n
=> 200
has "version":1,"value":{
lacks "role"

GET /v1/docs/users/ana/notes?end={time}
x-request-id: me
=> 200 {"documents": [{"...": "", "value": {"create_time": {now-5},
  "text": "aaa"}}], "has_more": false}
save id = header x-request-id

GET /health/{id}
=> 404"#;
    assert_eq!(failures(steps), [""; 0]);
}

#[test]
fn a_wrong_expectation_is_reported_with_its_place() {
    for (expectation, line, what) in [
        ("=> 500", 3, "expected status 500, got 200"),
        (r#"=> 200 {"documents": [], "has_more": true}"#, 3, "/has_more: expected true, got false"),
        (r#"=> 200 {"documents": []}"#, 3, "/has_more: expected nothing, got false"),
        (r#"=> 200 {"documents": "<odd>", "...": ""}"#, 3, "<odd> is no matcher"),
        ("=> 200 {", 3, "what is expected is not JSON: EOF while parsing an object at line 1 column 1"),
        ("=> 200\nhas nothing like it", 3, "the answer has no nothing like it"),
        ("=> 200\nlacks has_more", 3, "the answer has has_more"),
        ("=> 200\nsave x = body /none", 3, "x cannot be saved: there is no Body(\"/none\")"),
    ] {
        let expected = format!("a.md:{line}: TC-A-1: step 1, GET /v1/docs/users/ana/notes: {what}");
        assert_eq!(failures(&format!("GET /v1/docs/users/ana/notes\n{expectation}")), [expected]);
    }
    let second = failures("GET /health/live\n=> 200\n\nGET /health/live\n=> 404");
    assert_eq!(second, ["a.md:6: TC-A-1: step 2, GET /health/live: expected status 404, got 200"]);
}

#[test]
fn a_failure_shows_both_sides() {
    let page = read("- **TC-A-1** One.\n```http TC-A-1\nGET /v1/docs/users/ana/notes\n=> 200 []\n```\n").unwrap();
    let failed = run::page(&page, &BTreeSet::from(["TC-A-1"]), PATIENCE).remove(0);
    let sides: Vec<&str> = failed.lines().skip(1).collect();
    assert_eq!(sides, ["  expected: 200 []", r#"  actual:   200 {"documents":[],"has_more":false}"#]);
}

#[test]
fn keys_are_made_for_the_names_in_braces() {
    let steps = "GET /v1/keys\n=> 401\n\nGET /v1/keys\nauthorization: {ana}\n=> 403\n\n\
                 GET /v1/users/ana/data\nauthorization: {ana}\n=> 200\n\nGET /v1/keys\nauthorization: {admin}\n=> 200";
    assert_eq!(failures(steps), [""; 0]);
}

#[test]
fn a_setting_holds_from_the_next_start_on() {
    let steps = r#"SET memory.short_max = 1

PUT /v1/users/ana/data
{}
=> 200

SET memory.short_max = one

PUT /v1/users/ana/data
{}
=> 200"#;
    assert_eq!(failures(steps), [""; 0]);
    let with_restart = format!("{steps}\n\nRESTART\n\nPUT /v1/users/ana/data\n{{}}\n=> 200");
    let refused = std::panic::catch_unwind(|| failures(&with_restart)).unwrap_err();
    assert!(refused.downcast_ref::<String>().unwrap().contains("memory.short_max must be a whole number"));
}

#[test]
fn a_restart_keeps_data_and_keys() {
    let steps = r#"PUT /v1/users/ana/data
authorization: {ana}
{"name": "Ana"}
=> 200

RESTART

GET /v1/users/ana/data
authorization: {ana}
=> 200 {"name": "Ana"}

GET /v1/users/ana/data
=> 401"#;
    assert_eq!(failures(steps), [""; 0]);
}

#[test]
fn a_file_is_written_as_it_is_told() {
    assert_eq!(failures("WRITE a/b.txt \"{{repeat 2 x\\n}}\""), [""; 0]);
    let problem = "the text is no JSON string: expected value at line 1 column 1";
    assert_eq!(failures("WRITE a/b.txt x"), [format!("a.md:3: TC-A-1: step 1, WRITE a/b.txt: {problem}")]);
}

#[test]
fn a_database_is_made_and_changed_by_its_scripts() {
    let made = r#"DATABASE own.db "CREATE TABLE t (n); INSERT INTO t VALUES (1)""#;
    assert_eq!(failures(&format!("{made}\nDATABASE own.db \"UPDATE t SET n = 2\"")), [""; 0]);
    let again = failures(&format!("{made}\n{made}"));
    assert!(again[0].starts_with("a.md:4: TC-A-1: step 2, DATABASE own.db: the script does not run: table t already"));
    let problem = "the text is no JSON string: expected value at line 1 column 1";
    assert_eq!(failures("DATABASE own.db x"), [format!("a.md:3: TC-A-1: step 1, DATABASE own.db: {problem}")]);
    assert!(read("```http TC-A-1\nDATABASE own.db\n```\n").is_err());
}

#[test]
fn a_call_is_made_until_the_answer_comes() {
    let steps = r#"POST /v1/users/ana/threads/t/turns
{"messages": [{"role": "user", "content": "again"}]}
=> until 200 {"turns": [{"...": "", "seq": 3}]}
save id = body /turns/0/id

GET /v1/users/ana/threads/t/turns
=> 200 {"turns": ["<any>", "<any>", {"...": "", "id": "{id}"}], "has_more": false}"#;
    assert_eq!(failures(steps), [""; 0]);
    let never = failures("GET /health/live\n=> until 404");
    assert_eq!(never, ["a.md:3: TC-A-1: step 1, GET /health/live: expected status 404, got 200"]);
}

#[test]
fn a_scenario_names_clauses_that_there_are() {
    let page = read("- **TC-A-1** One.\n```http TC-A-1 TC-A-2\nGET /health/live\n=> 200\n```\n").unwrap();
    assert_eq!(page.clauses, ["TC-A-1"]);
    let known = BTreeSet::from(["TC-A-1"]);
    assert_eq!(run::page(&page, &known, PATIENCE), ["a.md:2: TC-A-1 TC-A-2: TC-A-2 is no clause"]);
}

#[test]
fn a_page_that_is_none_is_refused() {
    for (text, expected) in [
        ("```http\nGET /\n=> 200\n```\n", "a.md:1: the scenario names no clause"),
        ("```htpp TC-A-1\n```\n", "a.md:1: a block is tagged http, with its clauses, or text"),
        ("```http TC-A-1\n```\n", "a.md:1: the scenario has no step"),
        ("\n```http TC-A-1\nGET /\n=> 200\n", "a.md:2: the block does not end"),
        ("```http TC-A-1\n```http TC-A-1\n", "a.md:2: a block inside a block"),
        ("```http TC-A-1\n{}\n```\n", "a.md:2: no request line: {}"),
        ("```http TC-A-1\nGET /\n```\n", "a.md:2: the step expects nothing: no line begins with =>"),
        ("```http TC-A-1\nGET /\n=> ok\n```\n", "a.md:3: ok is no status"),
        ("```http TC-A-1\nRESTART\n=> 200\n```\n", "a.md:3: no request line: => 200"),
        (
            "```http TC-A-1\nSET memory.short_max 2\n```\n",
            "a.md:2: SET KEY = VALUE, or WRITE or DATABASE NAME \"TEXT\", not: SET memory.short_max 2",
        ),
        ("```http TC-A-1\nGET /\n=> 200\nhas x\n{}\n```\n", "a.md:5: neither a request nor a check: {}"),
        (
            "```http TC-A-1\nGET /\n=> 200\nsave x\n```\n",
            "a.md:4: save NAME = header NAME, or body /POINTER, or after TEXT, not: save x",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), expected);
    }
    assert_eq!(read("```text\n**TC-A-1** no\n```\n").unwrap().clauses, [""; 0]);
}

#[test]
fn names_and_repetitions_are_filled_in() {
    let names = Names::from([("now".into(), json!(100)), ("ana".into(), json!("Bearer x"))]);
    for (text, expected) in [
        (r#"{"a":{"b":{}}}"#, r#"{"a":{"b":{}}}"#),
        ("{now} {now+5} {now-50} {ana}", "100 105 50 Bearer x"),
        (r#"[{{list 3 {"id":"m{n}"}}}]"#, r#"[{"id":"m1"},{"id":"m2"},{"id":"m3"}]"#),
        ("{{list 2-3 {n+10}}}", "12,13"),
        ("{{repeat 2 {{list 2 x}};}}", "x,x;x,x;"),
        (r#"{"a":{{{list 2 "k{n}":{}}}}}"#, r#"{"a":{"k1":{},"k2":{}}}"#),
        ("{{list 0 x}}", ""),
    ] {
        assert_eq!(fill(text, &names).as_deref(), Ok(expected));
    }
    for text in ["{nobody}", "{now+}", "{ana+1}", "{{twice x}}", "{{list x y}}", "{{list 3}}", "{{list 3 x"] {
        assert!(fill(text, &names).is_err(), "{text}");
    }
}

#[test]
fn a_week_ends_where_the_next_begins() {
    for (time, end) in [(0, 259_200), (259_199, 259_200), (259_200, 864_000), (1_700_000_000, 1_700_352_000)] {
        assert_eq!(week_end(time), end, "{time}");
    }
}

#[test]
fn answers_compare_by_value() {
    let actual = json!({"a": [1, 2.0, "text"], "b": null, "t": 1_000.5});
    let check = |expected: Value| same(&expected, &actual, 1_000.0);
    for expected in [
        json!({"t": 1_000.5, "b": null, "a": [1.0, 2, "text"]}),
        json!({"t": "<now>", "b": "<any>", "a": ["<number>", "<any>", "<text:te...t>"]}),
        json!({"...": "", "a": ["<below:2>", "<below:3>", "<chars:4>"]}),
        json!({"...": "", "a": ["...", "<string>"]}),
        json!({"...": "", "a": [1, "...", 2, "...", "text", "..."]}),
    ] {
        assert_eq!(check(expected), Ok(()));
    }
    for (expected, what) in [
        (json!({}), "/a: expected nothing, got [1,2.0,\"text\"]"),
        (json!({"...": "", "c": 1}), "/c: expected 1, got nothing"),
        (json!({"...": "", "a": [1, 2]}), "/a/2: expected no more elements, got \"text\""),
        (json!({"...": "", "a": [1, 2, "text", 4]}), "/a/3: expected 4, got no more elements"),
        (json!({"...": "", "a": [2, "..."]}), "/a/0: expected 2, got 1"),
        (json!({"...": "", "b": "<number>"}), "/b: expected \"<number>\", got null"),
        (json!({"...": "", "t": "<string>"}), "/t: expected \"<string>\", got 1000.5"),
        (json!({"...": "", "b": false}), "/b: expected false, got null"),
        (json!({"...": "", "a": ["<any>", "<any>", "<text:x...e>"]}), "/a/2: expected \"<text:x...e>\", got \"text\""),
        (json!({"...": "", "a": "<text>"}), "<text> is no matcher"),
        (json!({"...": "", "a": ["<any>", "<any>", "<chars:3>"]}), "/a/2: expected \"<chars:3>\", got \"text\""),
        (json!({"...": "", "b": "<chars:x>"}), "<chars:x> is no matcher"),
        (json!({"...": "", "a": ["<any>", "<below:2>", "<any>"]}), "/a/1: expected \"<below:2>\", got 2.0"),
        (json!([]), "the answer: expected [], got {\"a\":[1,2.0,\"text\"],\"b\":null,\"t\":1000.5}"),
    ] {
        assert_eq!(check(expected), Err(what.to_owned()));
    }
    assert!(same(&json!({"...": "", "a": ["...", 3, "..."]}), &actual, 0.0).is_err());
    assert_eq!(check(json!({"...": "", "a": ["...", "<odd>"]})), Err("<odd> is no matcher".to_owned()));
    assert!(same(&json!({"...": "", "t": "<now>"}), &actual, 1e6).is_err());
}

#[test]
fn a_model_does_as_it_is_told_and_what_it_was_asked_is_seen() {
    let steps = r#"SET models.answer.url = {model}
MODEL {"says": ["At ", "nine."]}

POST /api/ask
{"question": "When?", "stream": true}
=> 200 [{"id": "<text:.1>", "event": "question", "data": "<any>"}, "...", {"id": "<string>", "event": "done", "data": {"...": "", "answer": "At nine."}}]

ASKED
=> 200 [{"...": "", "messages": ["...", {"role": "user", "content": "When?"}]}]

ASKED
=> 200 []"#;
    assert_eq!(failures(steps), [""; 0]);
    let wrong = steps.replace("=> 200 []", "=> 200 [{}]");
    let place = "a.md:13: TC-A-1: step 5, ASKED : /0: expected {}, got no more elements";
    assert_eq!(failures(&wrong), [place]);
    for (line, what) in [
        (r#"MODEL {"say": []}"#, "a model cannot do this: unknown field `say`, expected one of"),
        (r#"MODEL {"status": 500, "says": ["x"]}"#, "a model cannot do all of this at once"),
    ] {
        let failed = failures(&format!("SET models.answer.url = {{model}}\n{line}"));
        assert!(failed[0].contains(what), "{failed:?}");
    }
    assert_eq!(failures("MODEL {}"), ["a.md:3: TC-A-1: step 1, MODEL: no setting names {model}"]);
}

#[test]
fn a_stream_compares_by_its_frames() {
    let read = crate::events::read(": ping\n\nid: 1\nevent: text\ndata: {\"a\": 1}\n\nevent: end\n\n").unwrap();
    assert_eq!(read, json!([{"id": 1, "event": "text", "data": {"a": 1}}, {"event": "end"}]));
    assert!(crate::events::read("id: 1\nid: 2\n\n").is_err());
    assert!(crate::events::read("nonsense\n\n").is_err());
}
