//! `/ask-eco`: how it is asked, small policies of its own, and what must hold of every stream.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::models::{Act, Models};
use super::stream::{Frame, Stream};
use super::{Answer, Client, Home, Server, Value, json, says, thread, user};

pub const PATH: &str = "/ask-eco";
/// Asked so, the end of an answer tells its course.
pub const DEBUG: &str = "/ask-eco?debug=1";

/// Weighs nothing: the fast lane, where nobody streams.
pub const LIGHT: &str = "Conta como foi o passeio";
/// Weighs 8: guided, and remembered where it is answered as it should be.
pub const HEAVY: &str = "Bateu o desespero na volta";
/// What is said where a model failed twice.
pub const TIMEOUT: &str = "Own: it took too long.";
/// What is said where no model is set and nothing weighs.
pub const NO_MODEL: &str = "Own: no model, level one.";

/// Neither memories nor turns.
pub const NONE: [Value; 0] = [];

/// All files of `policies/eco`, so that no test depends on what is shipped.
pub const FILES: [(&str, &str); 10] = [
    (
        "signals.yaml",
        r#"signals:
  negations: [não]
  intensity:
    - {name: desespero, weight: 8, any: [desespero]}
    - {name: tristeza, weight: 5, any: [tristeza]}
  amplifiers: {weight: 0.5, at_most: 1.5, any: [muito]}
  emphasis: {exclamations: 0.5, capitals: 0.5}
  vulnerability: [sozinho]
  heavy: [abuso]
  triggers: [quero refletir]
  emotions:
    - {name: angustia, any: [desespero]}
  categories:
    - {name: viagem, any: [volta]}
"#,
    ),
    (
        "heuristics.yaml",
        r#"heuristics:
  - {name: barco, about: Fala de barcos., any: [naufrágio], examples: [The boat is gone.], similarity: 0.6}
"#,
    ),
    (
        "greetings.yaml",
        r#"greetings:
  words_max: 4
  phrases: [oi, bom dia]
  fillers: [eco]
  answers:
    named: ["Own: oi, {name}!"]
    unnamed: ["Own: oi!"]
"#,
    ),
    (
        "safety.yaml",
        r#"safety:
  phrases: [perigo de vida]
  except: []
  locales:
    pt-BR: "Own: ligue 188."
"#,
    ),
    (
        "answers.yaml",
        r#"answers:
  timeout: "Own: it took too long."
  no_model:
    1: "Own: no model, level one."
    2: "Own: no model, level two."
    3: "Own: no model, level three."
  max_tokens: {fast: 100, 1: 200, 2: 300, 3: 400}
  memories:
    heading: "MEMORIAS_RELEVANTES:"
    none: "MEMORIAS_RELEVANTES: nenhuma."
  history_pairs: 12
  fast_pairs: 3
"#,
    ),
    (
        "modules.yaml",
        r#"modules:
  budget_tokens: 80
  list:
    - {name: base, tokens: 20, when: {mode: [fast, full]}, priority: 100, pinned: true}
    - {name: passos, tokens: 20, when: {guided: true}, priority: 60}
    - {name: barco, tokens: 20, when: {heuristics: [barco]}, priority: 50}
    - {name: longo, tokens: 200, when: {intensity_min: 7}, priority: 10}
"#,
    ),
    ("modules/base.txt", "Own: be brief.\n"),
    ("modules/passos.txt", "Own steps: {steps}\n"),
    ("modules/barco.txt", "Own: there is a boat.\n"),
    ("modules/longo.txt", LONG),
];

/// More than the budget of all modules.
const LONG: &str = "Own: this text is longer than what all modules together may cost, so that it never fits and is cut, \
and the course of a request that called for it says how many tokens were missing; it goes on and on for that purpose, \
and for no other, until it has well over four hundred characters, which it has by now or very soon, since every word \
brings it nearer to that end, this one too, and this one, and that one over there as well.\n";

/// A home with these policies.
pub fn home() -> Arc<Home> {
    let home = Home::new();
    FILES.iter().for_each(|(name, text)| drop(home.write(&format!("policies/eco/{name}"), text)));
    home
}

/// Writes a policy so that it is surely newer than the one before, and is taken now.
pub fn rewrite(server: &Server, name: &str, text: &str, age: u64) {
    write(&server.home, name, text, age);
    server.get("/v1/doctor").ok();
}

pub fn write(home: &Home, name: &str, text: &str, age: u64) {
    let path = home.write(&format!("policies/eco/{name}"), text);
    let time = SystemTime::now() + Duration::from_secs(age);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// A server with these policies, a model, and further settings.
pub fn serve(models: &Models, more: &[(&str, &str)]) -> Server {
    home().serve_with(&[models.talking().as_slice(), more].concat())
}

pub fn asks(of: &str, session: &str, text: &str) -> Value {
    conversation(of, session, &[says("user", text)])
}

pub fn conversation(of: &str, session: &str, messages: &[Value]) -> Value {
    json!({"userId": of, "sessionMeta": {"sessionId": session}, "messages": messages})
}

pub fn guest(id: &str, text: &str) -> Value {
    json!({"guestId": id, "isGuest": true, "messages": [says("user", text)]})
}

/// The same with a member more, or another one.
pub fn with(mut body: Value, name: &str, value: impl Into<Value>) -> Value {
    body[name] = value.into();
    body
}

/// Asks what must be answered.
#[track_caller]
pub fn ask(client: &Client, body: &Value) -> Value {
    client.post(PATH, body).ok()
}

/// Begins a stream.
pub fn open(client: &Client, body: &Value) -> Stream {
    Stream::open(client, "POST", PATH, with(body.clone(), "stream", true))
}

/// A stream to its end, which tells its course.
#[track_caller]
pub fn heard(client: &Client, body: &Value) -> Vec<Frame> {
    let stream = Stream::open(client, "POST", DEBUG, with(body.clone(), "stream", true));
    assert_eq!(stream.status, 200, "{}", stream.headers);
    stream.rest()
}

pub fn events(frames: &[Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.event.as_str()).collect()
}

/// All pieces of text, joined.
pub fn text(frames: &[Frame]) -> String {
    frames.iter().filter(|frame| frame.event == "chunk").map(|frame| frame.data["delta"].as_str().unwrap()).collect()
}

/// Asserts what holds of every stream, and gives its end.
#[track_caller]
pub fn end(frames: &[Frame]) -> &Value {
    let names = events(frames);
    assert_eq!(names.iter().filter(|name| **name == "done").count(), 1, "{names:?}");
    assert_eq!(names.last(), Some(&"done"), "{names:?}");
    let is_whole = |frame: &Frame| frame.data["type"] == *frame.event && frame.data["at"].as_f64() > Some(1e9);
    assert!(frames.iter().all(is_whole), "{frames:?}");
    let since: Vec<f64> = frames.iter().map(|frame| frame.data["sinceStartMs"].as_f64().unwrap()).collect();
    assert!(since.is_sorted(), "{since:?}");
    let indexes = frames.iter().filter(|frame| frame.event == "chunk").map(|frame| frame.data["index"].as_u64());
    assert!(indexes.eq((0..).map(Some).take(names.iter().filter(|name| **name == "chunk").count())), "{frames:?}");
    let done = &frames.last().unwrap().data;
    if done["fallback"] == false {
        assert_eq!(done["message"], text(frames), "{names:?}");
    }
    done
}

/// The name of the course of a request.
#[track_caller]
pub fn course_of(answer: &Answer) -> String {
    answer.header("x-eco-trace-id").unwrap_or_else(|| panic!("no course is named: {:?}", answer.headers)).to_owned()
}

/// The course of a request, as an operator reads it.
#[track_caller]
pub fn course(client: &Client, id: &str) -> Value {
    client.get(&format!("/debug/trace/{id}")).ok()
}

/// Where errors happened, in their order.
pub fn stages(course: &Value) -> Vec<&str> {
    course["errors"].as_array().unwrap().iter().map(|error| error["stage"].as_str().unwrap()).collect()
}

/// The messages of a thread, as they are stored.
pub fn turns(client: &Client, of: &str, session: &str) -> Vec<Value> {
    let turns = client.get(&thread(of, session, "/turns?last=1000")).ok();
    turns["turns"].as_array().unwrap().iter().map(|turn| turn["message"].clone()).collect()
}

pub fn memories(client: &Client, of: &str) -> Vec<Value> {
    client.get(&user(of, "/memories")).ok()["memories"].as_array().unwrap().clone()
}

/// An answer in one piece.
pub fn whole(text: &str) -> Act {
    let choice = json!({"index": 0, "message": says("assistant", text), "finish_reason": "stop"});
    Act::Whole(json!({"model": "tiny", "choices": [choice], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}))
}
