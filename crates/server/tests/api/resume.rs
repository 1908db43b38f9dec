//! Streams that are lost and resumed, on every surface that has one: each event once, and one end.

use std::time::Duration;

use crate::support::models::{Act, Models, words};
use crate::support::stream::{Frame, Stream};
use crate::support::{Client, Home, Server, Value, eventually, json, says, thread};

const WORDS: [&str; 6] = ["One ", "two ", "three ", "four ", "five ", "six."];
const WHOLE: &str = "One two three four five six.";

/// The surfaces that stream, and a request to each.
fn surfaces(of: &str) -> [(&'static str, Value); 3] {
    [
        ("/api/ask", json!({"question": "Count!", "user_id": "ana", "thread_id": of, "stream": true})),
        ("/memory/chat", json!({"message": "Count!", "user_id": "ana", "session_id": of, "stream": true})),
        (
            "/v1/chat/completions",
            json!({"model": "answer", "messages": [says("user", "Count!")], "user": "ana", "stream": true,
                "stream_options": {"include_usage": true}}),
        ),
    ]
}

/// Surfaces share a thread here, and what follows up is not to be rewritten by the script.
const NO_REWRITE: (&str, &str) = ("NOVELO_MODELS_REWRITE_URL", "none");

fn serve(models: &Models) -> Server {
    Home::new().serve_with(&[models.talking().as_slice(), &[NO_REWRITE]].concat())
}

fn paced() -> Act {
    Act::Paced(words(&WORDS), Duration::from_millis(15))
}

fn open(client: &Client, path: &str, body: &Value) -> Stream {
    Stream::open(client, "POST", path, body)
}

/// Comes back; what it sends beside the header does not matter.
fn resume(client: &Client, path: &str, at: &str) -> Stream {
    Stream::open(&client.with("last-event-id", at), "POST", path, "no JSON")
}

/// The text of a frame of either form.
fn delta(frame: &Frame) -> Option<&str> {
    let text = frame.data.get("delta").or_else(|| frame.data.pointer("/choices/0/delta/content"));
    text.and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn text(frames: &[Frame]) -> String {
    frames.iter().filter_map(delta).collect()
}

fn is_last(frame: &Frame) -> bool {
    frame.event == "done" || frame.data == "[DONE]"
}

/// Reads frames until one is as wished, and leaves.
fn left_at(mut stream: Stream, is_wished: impl Fn(&Frame) -> bool) -> Vec<Frame> {
    let mut seen = Vec::new();
    while seen.last().is_none_or(|frame| !is_wished(frame)) {
        seen.push(stream.next().unwrap());
    }
    seen
}

/// What a client holds on to: the last id that it saw.
fn last_id(frames: &[Frame]) -> &str {
    frames.iter().rev().map(|frame| frame.at.as_str()).find(|at| !at.is_empty()).unwrap()
}

#[test]
fn wherever_it_is_lost_each_word_comes_once() {
    let models = Models::start();
    let server = serve(&models);
    models.otherwise(paced());
    for word in WORDS {
        for (path, body) in surfaces(&format!("{}-thread", word.trim())) {
            let mut frames = left_at(open(&server, path, &body), |frame| delta(frame) == Some(word));
            let rest = resume(&server, path, last_id(&frames));
            assert_eq!(rest.status, 200);
            frames.extend(rest.rest());
            assert_eq!(text(&frames), WHOLE, "{path}");
            assert_eq!(frames.iter().filter(|frame| is_last(frame)).count(), 1, "{path}: {frames:?}");
            assert!(is_last(frames.last().unwrap()), "{path}");
            let ids: Vec<u64> = frames.iter().map(|frame| frame.id).filter(|id| *id > 0).collect();
            assert!(ids.is_sorted_by(|a, b| a < b), "{path}: {ids:?}");
        }
    }
    assert_eq!(models.asked().len(), WORDS.len() * 3, "nothing is asked a second time");
    let turns = server.get(&thread("ana", "two-thread", "/turns")).ok();
    let said: Vec<&Value> = turns["turns"].as_array().unwrap().iter().map(|turn| &turn["message"]["content"]).collect();
    assert_eq!(said, ["Count!", WHOLE, "Count!", WHOLE], "stored once for each of two surfaces");
}

#[test]
fn it_may_be_lost_before_the_first_word_and_again_and_again() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Slowly(Duration::from_millis(400), words(&WORDS))]);
    let (path, body) = surfaces("t")[0].clone();
    let mut frames = left_at(open(&server, path, &body), |frame| frame.event == "question");
    while !is_last(frames.last().unwrap()) {
        frames.push(resume(&server, path, last_id(&frames)).next().unwrap());
    }
    let events: Vec<&str> = frames.iter().map(|frame| frame.event.as_str()).collect();
    assert_eq!(events, ["question", "sources", "text", "text", "text", "text", "text", "text", "done"]);
    assert_eq!((text(&frames).as_str(), models.asked().len()), (WHOLE, 1));
}

#[test]
fn behind_the_end_there_is_nothing_more() {
    let models = Models::start();
    let server = serve(&models);
    for (path, body) in surfaces("t") {
        let frames = open(&server, path, &body).rest();
        let again = resume(&server, path, last_id(&frames));
        assert_eq!((again.status, again.rest()), (200, Vec::new()), "{path}");
        let end: Vec<Frame> = frames.iter().skip_while(|frame| !is_last(frame)).cloned().collect();
        let before = &frames[..frames.len() - end.len()];
        let told = resume(&server, path, last_id(before)).rest();
        assert_eq!(told.last(), end.last(), "{path}: the end can be told after the end");
    }
}

#[test]
fn a_completion_stays_the_same_one() {
    let models = Models::start();
    let server = serve(&models);
    models.play([paced(), Act::Calls(vec![("a".into(), json!({"x": 1})), ("b".into(), json!({}))])]);
    let (path, body) = surfaces("t")[2].clone();
    let seen = left_at(open(&server, path, &body), |frame| delta(frame).is_some());
    let rest = resume(&server, path, last_id(&seen)).rest();
    for frame in rest.iter().filter(|frame| frame.data != "[DONE]") {
        let part = |frame: &Frame, name: &str| frame.data[name].clone();
        for name in ["id", "created", "model"] {
            assert_eq!(part(frame, name), part(&seen[0], name));
        }
    }
    assert_eq!(rest[rest.len() - 2].data["usage"]["completion_tokens"], 6, "as it was wished for");

    let seen = left_at(open(&server, path, &body), |frame| frame.data.pointer("/choices/0/delta/tool_calls").is_some());
    let rest = resume(&server, path, last_id(&seen)).rest();
    let calls = |frame: &&Frame| frame.data.pointer("/choices/0/delta/tool_calls").is_some();
    let told: Vec<&Value> =
        rest.iter().filter(calls).map(|frame| &frame.data["choices"][0]["delta"]["tool_calls"][0]["index"]).collect();
    assert_eq!(told, [&json!(1)], "a call that came is not told again: {rest:?}");
    assert_eq!(rest[1].data["choices"][0]["finish_reason"], "tool_calls");
    assert!(is_last(rest.last().unwrap()));
}

#[test]
fn only_its_owner_can_come_back_and_only_where_it_began() {
    let models = Models::start();
    let server = serve(&models);
    let admin = server.admin_key();
    let (ana, bia) = (server.user_key(&admin, "ana"), server.user_key(&admin, "bia"));
    for (path, body) in surfaces("t") {
        let frames = open(&ana, path, &body).rest();
        let at = last_id(&frames[..1]);
        let coming = |client: &Client, path: &str, at: &str| client.with("last-event-id", at).post(path, "");
        let refused = coming(&bia, path, at).refused(404, "not_found");
        assert_eq!(refused["message"], "there is no such reply, or no longer");
        assert_eq!(
            refused,
            coming(&ana, path, "0123456789abcdef.1").refused(404, "not_found"),
            "as if there were none"
        );
        coming(&server, path, at).refused(401, "unauthorized");
        for client in [&ana, &admin] {
            assert_eq!(resume(client, path, at).rest().last(), frames.last(), "{path}");
        }
        let elsewhere = if path == "/api/ask" { "/v1/chat/completions" } else { "/api/ask" };
        if path != "/memory/chat" {
            coming(&ana, elsewhere, at).refused(404, "not_found");
        }
        for id in ["7", "x", "a.b", ".1", &format!("{at}x"), ""] {
            assert_eq!(coming(&ana, path, id).refused(422, "invalid_field")["param"], "Last-Event-ID", "{id:?}");
        }
    }
    assert_eq!(models.asked().len(), 3);
}

#[test]
fn a_completion_without_a_thread_is_for_who_asked() {
    let models = Models::start();
    let server = serve(&models);
    let admin = server.admin_key();
    let (ana, bia) = (server.user_key(&admin, "ana"), server.user_key(&admin, "bia"));
    let path = "/v1/chat/completions";
    let body = json!({"messages": [says("user", "Hi")], "stream": true});
    for (owner, others) in [(&ana, [&bia]), (&admin, [&ana])] {
        let frames = open(owner, path, &body).rest();
        let at = last_id(&frames[..1]);
        assert!(others.iter().all(|other| resume(other, path, at).status == 404));
        assert_eq!(resume(owner, path, at).status, 200);
    }
}

#[test]
fn what_is_forgotten_cannot_be_come_back_to() {
    let models = Models::start();
    let server = serve(&models);
    models.play([paced(), Act::Paced(words(&["w"; 40]), Duration::from_millis(50))]);
    let (path, body) = surfaces("t")[0].clone();
    let ended = open(&server, path, &body).rest();
    let running = left_at(open(&server, path, &body), |frame| delta(frame).is_some());
    server.delete(&thread("ana", "t", "")).ok();
    for frames in [ended, running] {
        assert_eq!(resume(&server, path, last_id(&frames)).status, 404);
    }
}

#[test]
fn who_does_not_come_back_in_time_finds_what_there_is() {
    let models = Models::start();
    let settings = [models.talking().as_slice(), &[("NOVELO_REPLIES_PATIENCE_MS", "100")]].concat();
    let server = Home::new().serve_with(&settings);
    models.play([Act::Paced(words(&["w"; 600]), Duration::from_millis(20))]);
    let (path, body) = surfaces("t")[0].clone();
    let seen = left_at(open(&server, path, &body), |frame| delta(frame).is_some());
    assert!(eventually(|| models.hangups().len() == 1));
    let rest = resume(&server, path, last_id(&seen)).rest();
    let done = &rest.last().unwrap().data;
    assert_eq!(done["partial"], "client_left");
    assert_eq!(done["answer"], text(&seen) + &text(&rest));
}

#[test]
fn what_can_no_longer_be_told_is_told_as_missed() {
    let models = Models::start();
    let server = serve(&models);
    let piece = "x".repeat(100 * 1024);
    for (path, body) in surfaces("t") {
        models.play([Act::Words(vec![piece.clone(); 6])]);
        let frames = open(&server, path, &body).rest();
        assert_eq!(text(&frames).len(), 6 * piece.len());
        let first = frames.iter().find(|frame| delta(frame).is_some()).unwrap();
        let answer = server.with("last-event-id", &first.at).post(path, "").text();
        let missed = match path {
            "/v1/chat/completions" => {
                let count = answer.strip_prefix(": missed ").and_then(|rest| rest.split_once(" events\n\n"));
                count.unwrap_or_else(|| panic!("{}", &answer[..200])).0.parse().unwrap()
            }
            _ => {
                let told = resume(&server, path, &first.at).rest();
                assert_eq!((told[0].event.as_str(), &*told[0].at), ("missed", ""));
                assert_eq!(told.last().unwrap().data["answer"].as_str().unwrap().len(), 6 * piece.len());
                told[0].data["events"].as_u64().unwrap()
            }
        };
        assert!((3..=5).contains(&missed), "{path}: {missed} of five pieces");
        assert_eq!(answer.matches(&piece).count() as u64 - u64::from(path != "/v1/chat/completions") * 6, 5 - missed);
    }
}

#[test]
fn each_answer_says_where_its_course_is() {
    let models = Models::start();
    let server = serve(&models);
    let id = |headers: &str| {
        let line = headers.lines().find_map(|line| line.strip_prefix("x-novelo-trace-id: "));
        line.unwrap_or_else(|| panic!("{headers}")).to_owned()
    };
    let mut ids = Vec::new();
    for (path, body) in surfaces("t") {
        let stream = open(&server, path, &body);
        ids.push(id(&stream.headers));
        let frames = stream.rest();
        assert_eq!(Some(&id(&resume(&server, path, last_id(&frames)).headers)), ids.last(), "{path}");
        let mut whole = body.clone();
        whole.as_object_mut().unwrap().retain(|name, _| !name.starts_with("stream"));
        ids.push(server.post(path, whole).header("x-novelo-trace-id").unwrap().to_lowercase());
    }
    models.play([Act::Status(400, "no".into())]);
    let refused = server.post("/v1/chat/completions", json!({"messages": [says("user", "Hi")]}));
    refused.refused(400, "model_refused");
    ids.push(refused.header("x-novelo-trace-id").unwrap().to_lowercase());
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 7, "one each");
}
