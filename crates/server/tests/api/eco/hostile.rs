//! Hostile texts in every field: each gets an answer or a clear refusal, and the next client an answer.

use novelo_engine::limits::{ID_BYTES_MAX, INLINE_MESSAGES_MAX, JSON_DEPTH_MAX, QUESTION_BYTES_MAX};

use crate::support::asking::{is_decent, never_panicked};
use crate::support::eco::{LIGHT, NONE, PATH, ask, asks, course_of, home, serve, turns, with};
use crate::support::models::Models;
use crate::support::{Answer, Client, Server, Value, json, says};

/// Texts that something on the way might take for its own.
fn texts() -> Vec<String> {
    let short = [
        "\0",
        "a\0b",
        "\u{1}\u{7}\u{1b}[31m",
        "\r\n\r\nHTTP/1.1 200 OK",
        "data: {\"type\":\"done\"}\n\nevent: done\n\n",
        "\u{2028}\u{2029}\u{85}",
        "\u{202e}oiràtnoc oa",
        "\u{feff}\u{200b}\u{200d}",
        "\u{d7ff}\u{e000}\u{10ffff}",
        "👩‍👩‍👧‍👦",
        "İıſﬃﷺ",
        "{name} {steps} {intensity} {{",
        "${jndi:ldap://x}",
        "</script><script>alert(1)</script>",
        "' OR '1'='1' --",
        "../../../etc/passwd",
        "%00%2f..",
        "```json\n{\"intensidade\": 10}\n```",
        "<think>",
        "null",
        "__context_cache",
        "ctx:ana:1:0:ms0",
        "-1",
        "1e999",
    ];
    let long = ["a".repeat(1024 * 1024), "é ".repeat(QUESTION_BYTES_MAX / 3), "!".repeat(QUESTION_BYTES_MAX)];
    short.into_iter().map(str::to_owned).chain(long).collect()
}

/// Values of every other kind.
fn values() -> Vec<Value> {
    let deep = (0..JSON_DEPTH_MAX - 20).fold(json!(1), |inner, _| json!([inner]));
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1e308),
        json!(18_446_744_073_709_551_615_u64),
        json!([]),
        json!({}),
        json!([null]),
        json!([[]]),
        json!({"": null}),
        json!({"role": "user", "content": "x"}),
        deep,
    ]
}

/// Where something can be put.
const PLACES: [&str; 24] = [
    "/userId",
    "/guestId",
    "/isGuest",
    "/stream",
    "/promptReadyImmediate",
    "/forcarMetodoViva",
    "/promptOverride",
    "/sessionMeta",
    "/sessionMeta/sessionId",
    "/sessionMeta/outro",
    "/metaFromBuilder",
    "/metaFromBuilder/nome",
    "/metaFromBuilder/aberturaHibrida",
    "/metaFromBuilder/aberturaHibrida/sugestaoNivel",
    "/metaFromBuilder/blocoTecnicoForcado",
    "/metaFromBuilder/blocoTecnicoForcado/intensidade",
    "/metaFromBuilder/blocoTecnicoForcado/resumo",
    "/metaFromBuilder/blocoTecnicoForcado/tags",
    "/metaFromBuilder/blocoTecnicoForcado/emocao",
    "/messages",
    "/messages/0",
    "/messages/0/content",
    "/messages/0/role",
    "/messages/0/id",
];

/// A request that has a place for everything.
fn full() -> Value {
    let block = json!({"intensidade": 1, "resumo": "r", "tags": ["t"], "categoria": "c", "emocao": "e"});
    let built = json!({"nome": "Ana", "aberturaHibrida": {"sugestaoNivel": 1}, "blocoTecnicoForcado": block});
    json!({"userId": "ana", "guestId": "g", "isGuest": false, "stream": false, "promptReadyImmediate": false,
        "forcarMetodoViva": true, "promptOverride": "Own.", "sessionMeta": {"sessionId": "t", "outro": 1},
        "metaFromBuilder": built, "messages": [{"id": "m", "role": "user", "content": LIGHT}]})
}

/// Asserts that what came back is an answer or a refusal, of its form, and names its course.
#[track_caller]
fn is_well_formed(answer: &Answer, about: &str) {
    is_decent(answer, &[200, 400, 413, 422], about);
    course_of(answer);
    if answer.header("content-type") == Some("text/event-stream") {
        let text = answer.text();
        assert_eq!(text.matches("\nevent: done\n").count(), 1, "{about}: {text}");
        return;
    }
    let said = answer.json();
    match answer.status {
        200 => assert!(said["type"] == "done" && said["message"].is_string(), "{about}: {said}"),
        _ => assert!(said["error"]["message"].as_str().is_some_and(|words| !words.is_empty()), "{about}: {said}"),
    }
}

#[track_caller]
fn is_well(server: &Server) {
    assert_eq!(ask(server, &asks("well", "t", LIGHT))["type"], "done");
    never_panicked(&server.home);
}

fn put(place: &str, value: Value) -> Value {
    let mut body = full();
    *body.pointer_mut(place).unwrap() = value;
    body
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

#[test]
fn whatever_stands_in_a_field_is_answered_or_refused() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let mut session = server.session().unwrap();
    for value in texts().into_iter().map(Value::String).chain(values()) {
        for place in PLACES {
            let answer = session.call("POST", PATH, put(place, value.clone())).unwrap();
            is_well_formed(&answer, &format!("{place}: {}", brief(&value)));
        }
    }
    is_well(&server);
}

#[test]
fn a_hostile_message_streams_within_its_frames() {
    let models = Models::start();
    let server = serve(&models, &[]);
    for text in texts() {
        let about: String = text.chars().take(40).collect();
        models.play([crate::support::models::Act::says(&[&text, "\n\nevent: done\ndata: {}\n\n", &text])]);
        let answer = server.post(PATH, with(asks("ana", "t", &text), "stream", true));
        is_well_formed(&answer, &about);
    }
    is_well(&server);
}

#[test]
fn what_is_wrong_is_named() {
    let server = home().serve();
    let long = "x".repeat(QUESTION_BYTES_MAX + 1);
    let id = "x".repeat(ID_BYTES_MAX + 1);
    let at = "metaFromBuilder.aberturaHibrida.sugestaoNivel";
    for (body, param) in [
        (put("/userId", json!("")), "userId"),
        (put("/userId", json!("a\u{1}")), "userId"),
        (put("/userId", json!(id)), "userId"),
        (put("/userId", json!(7)), "userId"),
        (put("/stream", json!("yes")), "stream"),
        (put("/sessionMeta/sessionId", json!("\n")), "sessionMeta.sessionId"),
        (put("/metaFromBuilder/aberturaHibrida/sugestaoNivel", json!(0)), at),
        (put("/metaFromBuilder/aberturaHibrida/sugestaoNivel", json!(4)), at),
        (
            put("/metaFromBuilder/blocoTecnicoForcado/intensidade", json!(10.5)),
            "metaFromBuilder.blocoTecnicoForcado.intensidade",
        ),
        (put("/metaFromBuilder/nome", json!("a\nb")), "metaFromBuilder.nome"),
        (put("/messages", json!(null)), "messages"),
        (put("/messages", json!([])), "messages"),
        (put("/messages/0/content", json!("")), "messages[0].content"),
        (put("/messages/0/content", json!(" \n")), "messages[0].content"),
        (put("/messages/0/content", json!(long)), "messages[0].content"),
        (put("/messages/0/role", json!("assistant")), "messages[0].role"),
        (put("/messages/0/role", json!("nobody")), "messages[0].role"),
        (put("/promptOverride", json!("")), "promptOverride"),
        (put("/promptOverride", json!(long)), "promptOverride"),
        (with(full(), "prompt", "x"), "prompt"),
        (with(full(), "user_id", "x"), "user_id"),
        (put("/metaFromBuilder", json!({"name": "x"})), "metaFromBuilder"),
    ] {
        let error = server.post(PATH, &body).refused(422, "invalid_field");
        let told = error["param"].as_str().unwrap_or_default();
        assert!(told.starts_with(param) || error["message"].as_str().unwrap().contains(param), "{param}: {error}");
    }
    assert_eq!(turns(&server, "ana", "t"), NONE, "nothing of it is kept");
    is_well(&server);
}

#[test]
fn caps_hold_at_the_cap_and_one_past_it() {
    let server = home().serve();
    ask(&server, &asks(&"x".repeat(ID_BYTES_MAX), &"é".repeat(ID_BYTES_MAX / 2), &"y ".repeat(QUESTION_BYTES_MAX / 2)));
    let many = |count: usize| {
        let before = (1..count).map(|n| says(if n % 2 == 0 { "assistant" } else { "user" }, "a"));
        json!({"userId": "many", "messages": before.chain([says("user", LIGHT)]).collect::<Vec<_>>()})
    };
    ask(&server, &many(INLINE_MESSAGES_MAX));
    let refused = server.post(PATH, many(INLINE_MESSAGES_MAX + 1)).refused(422, "invalid_field");
    assert!(refused["message"].as_str().unwrap().contains("INLINE_MESSAGES_MAX"), "{refused}");
    is_well(&server);
}

#[test]
fn bodies_that_are_no_requests_are_refused() {
    let server = home().serve();
    let raw = |body: &[u8]| server.try_call("POST", PATH, body).unwrap();
    for body in [&b""[..], b"{", b"{\"messages\": [NaN]}", b"{\"userId\": \"\xff\"}", b"{'userId': 1}", b"{} x"] {
        let answer = raw(body);
        assert!(matches!(answer.status, 400 | 422), "{}", answer.text());
        is_well_formed(&answer, &String::from_utf8_lossy(body));
    }
    for body in ["[]", "7", "null", "\"x\"", "true"] {
        raw(body.as_bytes()).refused(422, "invalid_field");
    }
    let deep = |depth: usize| format!("{{\"sessionMeta\": {{\"x\": {}{}}}}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [1_000, 100_000] {
        is_well_formed(&raw(deep(depth).as_bytes()), "deep");
    }
    let twice = raw(br#"{"userId": "ana", "userId": "bia", "messages": []}"#);
    assert!(matches!(twice.status, 400 | 422), "{}", twice.text());
    is_well(&server);
}

#[test]
fn addresses_and_headers_that_are_odd_are_refused_in_the_usual_form() {
    let server = home().serve();
    let post = |client: &Client, path: &str| client.post(path, asks("ana", "t", LIGHT));
    post(&server, "/ask-eco?debug=1&debug=2").refused(422, "invalid_field");
    for path in ["/ask-eco?", "/ask-eco?debug", "/ask-eco?x=%ff", "/ask-eco?debug=%00"] {
        is_well_formed(&post(&server, path), path);
    }
    for accept in ["text/event-stream;q=0", "*/*", "\u{e9}", ""] {
        is_well_formed(&post(&server.with("accept", accept), PATH), accept);
    }
    assert_eq!(server.post("/ask-eco/", asks("ana", "t", LIGHT)).status, 404);
    is_well(&server);
}
