//! The course of a request: named by its answer, read by its owner and by an admin, and forgotten with its
//! thread.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::support::asking::{CONTEXT, SAMPLE, course_of, home, question, serve};
use crate::support::models::{Act, Models, words};
use crate::support::{Answer, Client, Server, Value, eventually, json, says, thread, user};

const TRACES: &str = "/v1/docs/users/demo/convo.sessions/c/traces";

/// The members of the debug form, in their order.
const MEMBERS: [&str; 17] = [
    "traceId",
    "surface",
    "userId",
    "model",
    "cacheStatus",
    "caches",
    "heuristics",
    "modules",
    "embeddingResult",
    "embeddingResults",
    "memoryDecision",
    "latency",
    "errors",
    "startedAt",
    "finishedAt",
    "prompts",
    "running",
];

fn ask(client: &Client, text: &str) -> Answer {
    client.post("/ask", question("demo", "c", text))
}

/// Asks, and gives the name of the course.
fn asked(client: &Client, text: &str) -> String {
    let answer = ask(client, text);
    answer.ok();
    course_of(&answer)
}

fn trace(client: &Client, id: &str) -> Answer {
    client.get(&format!("/v1/traces/{id}"))
}

fn debug(client: &Client, id: &str) -> Answer {
    client.get(&format!("/debug/trace/{id}"))
}

fn stages(course: &Value) -> Vec<&str> {
    course["errors"].as_array().unwrap().iter().map(|error| error["stage"].as_str().unwrap()).collect()
}

fn heuristic<'a>(course: &'a Value, name: &str) -> &'a Value {
    let all = course["heuristics"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("no {name} in {course}"))
}

/// A document among the traces of the conversation, as its user may write one; the id that leads to it.
fn forged(client: &Client, document: &str, value: &Value) -> String {
    client.put(&format!("{TRACES}/{document}"), value).ok();
    let bytes = u128::from_str_radix(document, 16).unwrap().to_be_bytes();
    URL_SAFE_NO_PAD.encode([bytes.as_slice(), b"demo\0c"].concat())
}

#[test]
fn an_answer_names_its_course() {
    let server = serve();
    let answer = ask(&server, "preço do HGLG11");
    let (told, id) = (answer.ok(), course_of(&answer));
    let course = trace(&server, &id).ok();
    assert_eq!(
        [&course["kind"], &course["id"], &course["surface"], &course["user"], &course["thread"]],
        [&json!("course"), &json!(id), &json!("ask"), &json!("demo"), &json!("c")]
    );
    assert_eq!(course["caches"], json!([{"cache": "rows", "is_hit": false}]));
    let best = &told["meta"]["planner"]["candidates"][0];
    let weighed = heuristic(&course, best["intent"].as_str().unwrap());
    assert_eq!(weighed["value"], best["score"]);
    for because in best["because"].as_array().unwrap() {
        let feature = because["feature"].as_str().unwrap();
        assert!(weighed["why"].as_str().unwrap().contains(feature), "{feature} is not in {weighed}");
    }
    assert_eq!(heuristic(&course, "verdict")["value"], "routed");
    assert_eq!(
        heuristic(&course, "reference"),
        &json!({"name": "reference", "value": false, "why": "input_has_ticker"})
    );
    let latency = |name: &str| course["latency"][name].as_f64().unwrap();
    assert!(0.0 < latency("first_token_ms") && latency("first_token_ms") <= latency("total_ms"), "{course}");
    assert_eq!(course["latency"]["prompt_ready_ms"], Value::Null, "no model was asked");
    assert!(course["finished_at"].as_f64() >= course["started_at"].as_f64());

    let again = trace(&server, &asked(&server, "e o preço?")).ok();
    assert_eq!(again["caches"], json!([{"cache": "rows", "is_hit": true}]));
    assert_eq!(heuristic(&again, "reference")["value"], true);
    assert_ne!(again["id"], course["id"], "every request has a course of its own");
    let text = course.to_string() + &again.to_string();
    assert!(!text.contains("preço do HGLG11") && !text.contains("e o preço?"), "it quotes no message: {text}");
}

#[test]
fn an_operator_reads_how_a_request_went() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    models.play([Act::says(&["Dito", " assim."]), Act::Status(400, "no".into())]);
    let course = debug(&server, &asked(&server, "preço do HGLG11")).ok();
    let members: Vec<&String> = course.as_object().unwrap().keys().collect();
    assert_eq!(members, MEMBERS);
    assert_eq!(
        [&course["surface"], &course["userId"], &course["model"]],
        [&json!("ask"), &json!("demo"), &json!("tiny")]
    );
    assert_eq!((&course["cacheStatus"], &course["running"]), (&Value::Null, &json!(false)));
    assert_eq!(course["caches"], json!([{"cache": "rows", "status": "miss"}]));
    assert_eq!([&course["embeddingResult"], &course["memoryDecision"]], [&Value::Null, &Value::Null]);
    assert_eq!([&course["embeddingResults"], &course["modules"], &course["errors"]], [&json!([]); 3]);
    let prompts = course["prompts"].as_array().unwrap();
    assert_eq!(prompts.len(), 1, "the prompt of the narration: {course}");
    let prompt = trace(&server, prompts[0].as_str().unwrap()).ok();
    assert_eq!((&prompt["kind"], &prompt["user"], &prompt["thread"]), (&json!("prompt"), &json!("demo"), &json!("c")));
    let latency = ["promptReadyMs", "firstTokenMs", "totalMs"].map(|name| course["latency"][name].as_f64().unwrap());
    assert!(latency.is_sorted() && latency[0] > 0.0, "{latency:?}");
    for at in ["startedAt", "finishedAt"] {
        let at = course[at].as_str().unwrap();
        assert!(at.starts_with("20") && at.ends_with('Z') && at.len() == 24, "{at}");
    }
    let failed = debug(&server, &asked(&server, "preço do MXRF11")).ok();
    assert_eq!(stages(&failed), ["model"], "the plain answer stands, and the course says why");
}

#[test]
fn a_refusal_names_its_course_too() {
    let server = serve();
    let admin = server.admin_key();
    let ana = server.user_key(&admin, "ana");
    let full = question("demo", "c", "preço do HGLG11");
    let mut without = full.clone();
    without.as_object_mut().unwrap().remove("nickname");
    let refusals = [
        (server.client().post("/ask", &full), 401, "auth"),
        (ana.post("/ask", &full), 403, "auth"),
        (admin.post("/ask", "{"), 400, "validation"),
        (admin.post("/ask", "[]"), 422, "validation"),
        (admin.post("/ask", &without), 422, "validation"),
        (admin.post("/ask", question("demo", "\u{1}", "x")), 422, "validation"),
    ];
    for (answer, status, stage) in refusals {
        assert_eq!(answer.status, status, "{}", answer.text());
        let id = course_of(&answer);
        let course = debug(&admin, &id).ok();
        assert_eq!((stages(&course), &course["userId"]), (vec![stage], &Value::Null), "{course}");
        assert_eq!(course["errors"][0]["message"], answer.json()["error"]["message"]);
        assert!(course["latency"]["totalMs"].is_number() && course["latency"]["firstTokenMs"].is_null());
        trace(&admin, &id).ok();
        trace(&ana, &id).refused(403, "forbidden");
        server.client().get(&format!("/v1/traces/{id}")).refused(401, "unauthorized");
    }
    assert_eq!(admin.get(TRACES).ok()["documents"], json!([]), "nothing of this is kept as demo's");
}

#[test]
fn a_question_that_nothing_can_answer_has_a_course_that_is_not_stored() {
    let server = home(CONTEXT).serve();
    let answer = ask(&server, "preço do HGLG11");
    answer.refused(503, "no_data");
    let id = course_of(&answer);
    let course = debug(&server, &id).ok();
    assert_eq!((stages(&course), &course["userId"]), (vec!["data"], &json!("demo")));
    assert_eq!(server.get(TRACES).ok()["documents"], json!([]));
    assert_eq!(server.delete(&thread("demo", "c", "")).ok()["forgotten"]["traces"], json!(1));
    debug(&server, &id).refused(404, "not_found");
}

#[test]
fn its_owner_and_an_admin_read_a_course() {
    let server = serve();
    let admin = server.admin_key();
    let (demo, ana) = (server.user_key(&admin, "demo"), server.user_key(&admin, "ana"));
    let id = asked(&demo, "preço do HGLG11");
    for reader in [&demo, &admin] {
        assert_eq!(trace(reader, &id).ok()["kind"], "course");
    }
    trace(&ana, &id).refused(403, "forbidden");
    trace(&server.client(), &id).refused(401, "unauthorized");
    debug(&admin, &id).ok();
    for user in [&demo, &ana] {
        debug(user, &id).refused(403, "forbidden");
    }
    debug(&server.client(), &id).refused(401, "unauthorized");
}

#[test]
fn what_is_no_course_is_not_found() {
    let server = Server::start();
    server.say("u", "t", &["hi"]);
    let prompt = server.context(json!({"user": "u", "thread": "t"}))["trace_id"].as_str().unwrap().to_owned();
    assert_eq!(trace(&server, &prompt).ok()["kind"], "prompt");
    debug(&server, &prompt).refused_with(404, "not_found", &["hint:", "/v1/traces/"]);
    for id in ["nothing", "AAAA", "!!", "AAAAAAAAAAAAAAAAAAAAAHUAdA", "AAAAAAAAAAAAAAAAAAAAAA"] {
        debug(&server, id).refused(404, "not_found");
    }
    assert_eq!(server.post("/debug/trace/AAAA", "").status, 405);
}

#[test]
fn a_course_outlives_the_server() {
    let server = serve();
    let id = asked(&server, "preço do HGLG11");
    let before = [trace(&server, &id).ok(), debug(&server, &id).ok()];
    server.signal("TERM");
    let (status, home) = server.ended();
    assert!(status.success());
    let server = home.serve_with(&[SAMPLE]);
    assert_eq!([trace(&server, &id).ok(), debug(&server, &id).ok()], before);
    assert_eq!(server.get(TRACES).ok()["documents"][0]["value"]["surface"], "ask");
    assert_eq!(server.metric("novelo_traces_lost_total"), 0);
}

#[test]
fn where_nothing_of_a_conversation_is_stored_its_courses_are_not() {
    let server = home("context: {enabled: false}").serve_with(&[SAMPLE]);
    let id = asked(&server, "preço do HGLG11");
    assert_eq!(trace(&server, &id).ok()["user"], "demo");
    server.signal("TERM");
    let (status, home) = server.ended();
    assert!(status.success());
    let server = home.serve_with(&[SAMPLE]);
    trace(&server, &id).refused(404, "not_found");
    assert_eq!(server.get(TRACES).ok()["documents"], json!([]));
}

#[test]
fn courses_are_forgotten_with_their_thread_and_their_user() {
    let server = serve();
    for path in [thread("demo", "c", ""), user("demo", "")] {
        let stored = asked(&server, "preço do HGLG11");
        let is_stored = || server.get(TRACES).ok()["documents"].as_array().unwrap().len() == 1;
        assert!(eventually(is_stored), "it is stored in its own time");
        let waiting = asked(&server, "e o preço?");
        let other = course_of(&server.post("/ask", question("ana", "c", "preço do HGLG11")));
        assert_eq!(server.delete(&path).ok()["forgotten"]["traces"], json!(2), "{path}");
        for id in [&stored, &waiting] {
            trace(&server, id).refused(404, "not_found");
            debug(&server, id).refused(404, "not_found");
        }
        trace(&server, &other).ok();
    }
}

#[test]
fn a_course_that_was_forgotten_meanwhile_is_not_kept() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    for path in [thread("demo", "c", ""), user("demo", "")] {
        models.play([Act::Slowly(Duration::from_millis(800), words(&["late"]))]);
        let before = models.asked().len();
        let client = server.client();
        let asking = std::thread::spawn(move || ask(&client, "preço do KNRI11"));
        assert!(eventually(|| models.asked().len() > before), "the narrator is asked");
        assert_eq!(server.delete(&path).ok()["forgotten"]["traces"], json!(2), "the running one and its prompt");
        let answer = asking.join().unwrap();
        answer.ok();
        let id = course_of(&answer);
        trace(&server, &id).refused(404, "not_found");
        debug(&server, &id).refused(404, "not_found");
        let after = asked(&server, "preço do MXRF11");
        let stored = || server.get(TRACES).ok()["documents"].as_array().unwrap().clone();
        assert!(eventually(|| stored().len() == 2), "a course and its prompt: {:?}", stored());
        let prompt = debug(&server, &after).ok()["prompts"][0].clone();
        let ids: BTreeSet<String> = stored().iter().map(|one| one["value"]["id"].to_string()).collect();
        assert_eq!(ids, BTreeSet::from([json!(after).to_string(), prompt.to_string()]));
        server.delete(&path).ok();
    }
}

#[test]
fn a_request_that_its_client_left_has_a_course() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    models.play([Act::says(&["hi"]), Act::Hangs]);
    // The server says what its model is called when it is first asked.
    server.post("/ask", question("ana", "c", "preço do KNRI11")).ok();
    let body = question("demo", "c", "preço do KNRI11").to_string();
    let mut stream = server.connect().unwrap();
    stream.write_all(&[server.head("POST", "/ask", body.len()), body.into_bytes()].concat()).unwrap();
    assert!(eventually(|| models.asked().len() == 2), "the narrator is asked");
    drop(stream);
    let is_course = |one: &&Value| one["value"]["surface"].is_string();
    let stored = || {
        let documents = server.get(TRACES).ok()["documents"].clone();
        documents.as_array().unwrap().iter().find(is_course).map_or(Value::Null, |one| one["value"].clone())
    };
    assert!(eventually(|| stored().is_object()));
    let course = debug(&server, stored()["id"].as_str().unwrap()).ok();
    assert_eq!((stages(&course), &course["errors"][0]["message"]), (vec!["request"], &json!("ended early")));
    assert_eq!((&course["model"], &course["running"]), (&json!("tiny"), &json!(false)));
    assert!(course["latency"]["promptReadyMs"].is_number() && course["latency"]["firstTokenMs"].is_null(), "{course}");
}

#[test]
fn replaying_a_course_makes_its_last_prompt_again() {
    let server = serve();
    server.say("demo", "c", &["hi"]);
    let made = server.context(json!({"user": "demo", "thread": "c"}));
    let course = |prompts: Value| json!({"id": "x", "surface": "test", "started_at": 1.0, "prompts": prompts});
    let id = forged(&server, &"a".repeat(32), &course(json!(["nothing", made["trace_id"]])));
    let again = server.post(&format!("/v1/traces/{id}/replay"), "").ok();
    assert_eq!(again, json!({"messages": made["messages"], "identical": true}));
    for none in [json!([]), json!(["nothing"]), json!([id])] {
        let id = forged(&server, &"b".repeat(32), &course(none));
        server.post(&format!("/v1/traces/{id}/replay"), "").refused(404, "not_found");
    }
}

/// The document may have been written by its user.
#[test]
fn a_course_speaks_of_the_thread_that_it_lies_in() {
    let server = serve();
    let admin = server.admin_key();
    let demo = server.user_key(&admin, "demo");
    admin.say("ana", "c", &["canary of ana"]);
    let prompt = admin.context(json!({"user": "ana", "thread": "c"}))["trace_id"].clone();
    let lies =
        json!({"id": "of ana", "surface": "x", "user": "ana", "thread": "d", "started_at": 1e300, "prompts": [prompt]});
    let id = forged(&demo, &"c".repeat(32), &lies);
    let course = trace(&demo, &id).ok();
    assert_eq!([&course["id"], &course["user"], &course["thread"]], [&json!(id), &json!("demo"), &json!("c")]);
    demo.post(&format!("/v1/traces/{id}/replay"), "").refused(403, "forbidden");
    assert_eq!(debug(&admin, &id).ok()["startedAt"], Value::Null, "a time of no calendar");
    for junk in [json!({"surface": 1}), json!({"surface": "x", "started_at": "now"}), json!([]), json!("x")] {
        let id = forged(&demo, &"d".repeat(32), &junk);
        trace(&demo, &id).refused(404, "not_found");
        debug(&admin, &id).refused(404, "not_found");
    }
}

#[test]
fn a_browser_gets_a_page_without_data() {
    let server = serve();
    let id = asked(&server, "preço do HGLG11");
    let browser = server.with("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8");
    let page = debug(&browser, &id);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(!page.text().contains(&id) && page.text().contains("src=\"/assets/debug.js\""), "{}", page.text());
    assert_eq!(debug(&browser, "nothing").body, page.body);
    let json = debug(&server.with("accept", "application/json"), &id);
    assert_eq!((json.header("cache-control"), json.header("vary")), (Some("no-store"), Some("accept")));
    assert_eq!(json.ok()["traceId"], id);
}

#[test]
fn a_context_names_its_trace_where_that_was_kept() {
    let server = Server::start();
    server.say("u", "t", &["hi"]);
    let named = |answer: &Answer| answer.header("x-novelo-trace-id").map(str::to_owned);
    for (path, body) in [
        ("/v1/context", json!({"user": "u", "thread": "t"})),
        ("/v1/context", json!({"messages": [says("user", "x")]})),
        ("/memory/context", json!({"user_id": "u", "session_id": "t"})),
    ] {
        // The third is answered from memory.
        for _ in 0..3 {
            let answer = server.post(path, &body);
            let id = answer.ok()["trace_id"].as_str().unwrap().to_owned();
            assert_eq!(named(&answer), Some(id.clone()), "{path}");
            trace(&server, &id).ok();
        }
    }
    let nothing = server.post("/v1/context", json!({"user": "u", "thread": "none"}));
    assert_eq!((nothing.status, named(&nothing)), (200, None), "there is nothing to say of it");
    let kala = json!({"userId": "u", "kala": {"kind": "Topic", "topicId": "t"}, "model": {"components": ["messages"]}});
    let run = server.post("/context/topicContextYoj/run", kala);
    assert_eq!(run.header("x-novelo-trace").map(str::to_owned), named(&run));
}
