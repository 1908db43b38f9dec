//! What a careless or hostile client sends: each gets a clear refusal, and the next client an answer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use novelo_engine::limits::{
    APPEND_MESSAGES_MAX, BODY_BYTES_MAX, HEADER_WAIT_S_MAX, ID_BYTES_MAX, INLINE_MESSAGES_MAX, JSON_DEPTH_MAX,
    MESSAGE_BYTES_MAX, QUESTION_BYTES_MAX,
};
use support::asking::{self, question};
use support::{Answer, Client, Server, Value, json, says, thread, user};

/// A server that must still be well after whatever a test does to it.
struct Sturdy(Server);

impl Sturdy {
    fn start() -> Self {
        let server = Server::start();
        server.say("u", "before", &["here"]);
        Self(server)
    }

    /// Appends to the thread that the abuse is aimed at.
    fn append(&self, body: impl std::fmt::Display) -> Answer {
        self.0.post(&thread("u", "t", "/turns"), body)
    }

    fn append_bytes(&self, body: &[u8]) -> Answer {
        self.0.try_call("POST", &thread("u", "t", "/turns"), body).unwrap()
    }

    /// Asserts that the server answers, and that nothing came of the abuse.
    fn check_well(&self) {
        assert_eq!(self.0.get("/health/live").ok(), json!({"status": "ok"}));
        assert_eq!(self.0.said("u", "before"), ["here"]);
        assert_eq!(self.0.get(&thread("u", "t", "/turns")).ok()["turns"], json!([]));
    }
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// An append padded with spaces to a body of so many bytes.
fn padded(bytes: usize) -> String {
    let body = json!({"messages": [says("user", "x")]}).to_string();
    let spaces = " ".repeat(bytes - body.len());
    body + &spaces
}

#[test]
fn malformed_json_is_refused_with_line_and_column() {
    let server = Sturdy::start();
    for (body, place) in [
        ("", "line 1 column 0"),
        ("{", "line 1 column 1"),
        ("{\"messages\": [\n  {\"role\" \"user\"}\n]}", "line 2 column 11"),
        ("{\"messages\": [],}", "line 1 column 17"),
        ("{\"messages\": []} x", "line 1 column 18"),
        ("{'messages': []}", "line 1 column 2"),
        ("{\"messages\": [NaN]}", "line 1 column 15"),
        ("{\"messages\": [{\"role\":\"user\",\"content\":\"\u{1}\"}]}", "line 1 column 40"),
    ] {
        server.append(body).refused_with(400, "malformed_json", &[place]);
    }
    for (path, field) in [("/v1/context", "user"), ("/v1/docs:batch", "ops"), ("/v1/keys", "user")] {
        let body = format!("{{\n\"{field}\" 1}}");
        let place = format!("line 2 column {}", field.len() + 4);
        server.0.post(path, body).refused_with(400, "malformed_json", &[&place]);
    }
    for path in ["/v1/docs/users/u/notes/n", "/v1/users/u/data"] {
        server.0.put(path, "{\n\"a\" 1}").refused_with(400, "malformed_json", &["line 2 column 5"]);
        server.0.patch(path, "{\n\"a\" 1}").refused_with(400, "malformed_json", &["line 2 column 5"]);
    }
    server.check_well();
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    let server = Sturdy::start();
    for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf"] {
        let body = [br#"{"messages":[{"role":"user","content":""#, bad, br#""}]}"#].concat();
        server.append_bytes(&body).refused_with(400, "malformed_json", &["line 1 column"]);
        let body = [br#"{"x":""#, bad, br#""}"#].concat();
        let answer = server.0.try_call("PUT", "/v1/docs/users/u/notes/n", &body).unwrap();
        answer.refused(400, "malformed_json");
    }
    server.0.get("/v1/users/%FF%FE/threads").refused(422, "invalid_field");
    server.0.get("/v1/docs/users/%FF").refused(422, "invalid_field");
    server.check_well();
    server.0.get("/v1/docs/users/u/notes/n").refused(404, "not_found");
}

#[test]
fn a_body_may_be_as_large_as_its_cap_and_no_larger() {
    let server = Sturdy::start();
    let cap = format!("BODY_BYTES_MAX of {BODY_BYTES_MAX}");
    server.append(padded(BODY_BYTES_MAX + 1)).refused_with(413, "too_large", &[&cap]);
    server.check_well();
    server.append(padded(BODY_BYTES_MAX)).ok();
    assert_eq!(server.0.said("u", "t"), ["x"]);
}

#[test]
fn a_chunked_body_has_the_same_cap() {
    let server = Sturdy::start();
    let head =
        format!("POST {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", thread("u", "t", "/turns"), server.0.addr);
    let mut stream = server.0.connect().unwrap();
    stream.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).unwrap();
    let chunk = [b"100000\r\n", vec![b' '; 0x100000].as_slice(), b"\r\n"].concat();
    let mut sent = 0;
    while sent <= BODY_BYTES_MAX && stream.write_all(&chunk).is_ok() {
        sent += 0x100000;
    }
    let mut back = Vec::new();
    drop(stream.read_to_end(&mut back));
    assert!(back.starts_with(b"HTTP/1.1 413 "), "{}", String::from_utf8_lossy(&back));
    server.check_well();
}

#[test]
fn a_message_may_be_as_large_as_its_cap_and_no_larger() {
    let server = Sturdy::start();
    let message = |bytes: usize| {
        let frame = says("user", "").to_string().len();
        json!({"messages": [says("user", &"m".repeat(bytes - frame))]})
    };
    let cap = format!("MESSAGE_BYTES_MAX is {MESSAGE_BYTES_MAX}");
    server.append(message(MESSAGE_BYTES_MAX + 1)).refused_with(422, "invalid_field", &["messages[0]", &cap]);
    server.0.put("/v1/docs/users/u/notes/n", format!("\"{}\"", "d".repeat(MESSAGE_BYTES_MAX - 1))).refused_with(
        422,
        "invalid_field",
        &[&cap],
    );
    server.check_well();
    server.append(message(MESSAGE_BYTES_MAX)).ok();
    server.0.put("/v1/docs/users/u/notes/n", format!("\"{}\"", "d".repeat(MESSAGE_BYTES_MAX - 2))).ok();
}

#[test]
fn a_document_cannot_grow_past_its_cap_by_merging() {
    let server = Sturdy::start();
    let at = "/v1/docs/users/u/notes/n";
    let half = "h".repeat(MESSAGE_BYTES_MAX / 2);
    server.0.put(at, json!({"a": half})).ok();
    server.0.patch(at, json!({"b": half})).refused_with(422, "invalid_field", &["MESSAGE_BYTES_MAX"]);
    server.0.patch(at, json!({"b": "small"})).ok();
    let line = |value: &str| support::calls::import("u", value);
    server.0.post("/v1/import", line(&"i".repeat(MESSAGE_BYTES_MAX - 1))).refused_with(
        422,
        "invalid_field",
        &["MESSAGE_BYTES_MAX"],
    );
    server.0.post("/v1/import", line(&"i".repeat(MESSAGE_BYTES_MAX - 2))).ok();
    server.check_well();
}

#[test]
fn ten_thousand_nested_arrays_are_refused() {
    let server = Sturdy::start();
    let deep = nested(10_000);
    let message = |content: &str| format!(r#"{{"messages":[{{"role":"user","content":{content}}}]}}"#);
    server.append(message(&deep)).refused_with(422, "invalid_field", &["JSON_DEPTH_MAX"]);
    server.append(&deep).refused(422, "invalid_field");
    server.append(message(&"[".repeat(10_000))).refused(400, "malformed_json");
    server.0.post("/v1/context", message(&deep)).refused_with(422, "invalid_field", &["JSON_DEPTH_MAX"]);
    for field in ["recipe", "filters", "explain"] {
        let answer = server.0.post("/v1/context", format!(r#"{{"{field}":{deep}}}"#));
        assert!(matches!(answer.status, 400 | 422), "{field}: {}", answer.text());
    }
    for path in ["/v1/docs/users/u/notes/n", "/v1/users/u/data"] {
        assert!(matches!(server.0.put(path, &deep).status, 400 | 422));
        assert!(matches!(server.0.patch(path, format!(r#"{{"a":{deep}}}"#)).status, 400 | 422));
    }
    server.check_well();
}

#[test]
fn nesting_has_a_cap() {
    let server = Sturdy::start();
    let message =
        |depth: usize| format!(r#"{{"messages":[{{"role":"user","content":"x","deep":{}}}]}}"#, nested(depth - 1));
    server.append(message(JSON_DEPTH_MAX + 1)).refused_with(422, "invalid_field", &["JSON_DEPTH_MAX is 128"]);
    server.0.put("/v1/docs/users/u/notes/n", nested(JSON_DEPTH_MAX + 1)).refused(422, "invalid_field");
    server.check_well();
    server.append(message(JSON_DEPTH_MAX)).ok();
    server.0.put("/v1/docs/users/u/notes/n", nested(JSON_DEPTH_MAX)).ok();
}

#[test]
fn an_append_has_a_cap_on_its_messages() {
    let server = Sturdy::start();
    let messages = |count: usize| json!({"messages": vec![says("user", "x"); count]});
    let cap = format!("APPEND_MESSAGES_MAX is {APPEND_MESSAGES_MAX}");
    let answer = server.append(messages(APPEND_MESSAGES_MAX + 1));
    answer.refused_with(422, "invalid_field", &[&cap]);
    assert_eq!(answer.json()["error"]["param"], "messages");
    server.check_well();
    let turns = server.append(messages(APPEND_MESSAGES_MAX)).ok();
    assert_eq!(turns["turns"].as_array().unwrap().len(), APPEND_MESSAGES_MAX);
    let inline = |count: usize| server.0.post("/v1/context", messages(count));
    inline(INLINE_MESSAGES_MAX).ok();
    inline(INLINE_MESSAGES_MAX + 1).refused_with(422, "invalid_field", &["INLINE_MESSAGES_MAX"]);
}

#[test]
fn an_id_has_a_cap() {
    let server = Sturdy::start();
    let (fits, long) = ("i".repeat(ID_BYTES_MAX), "i".repeat(ID_BYTES_MAX + 1));
    let with_id = |id: &str| json!({"messages": [{"role": "user", "content": "x", "id": id}]});
    server.append(with_id(&long)).refused_with(422, "invalid_field", &["ID_BYTES_MAX is 256"]);
    server.0.post(&thread("u", &long, "/turns"), with_id("m")).refused_with(422, "invalid_field", &["ID_BYTES_MAX"]);
    server.0.post(&thread(&long, "t", "/turns"), with_id("m")).refused_with(422, "invalid_field", &["ID_BYTES_MAX"]);
    server.0.get(&user(&"i".repeat(60_000), "/threads")).refused(422, "invalid_field");
    server.check_well();
    server.append(with_id(&fits)).ok();
    server.0.post(&thread(&fits, &fits, "/turns"), with_id(&fits)).ok();
}

#[test]
fn unknown_fields_are_named() {
    let server = Sturdy::start();
    let check = |answer: Answer, field: &str| answer.refused_with(422, "invalid_field", &[field]);
    check(server.append(json!({"messages": [], "mesages": []})), "mesages");
    check(server.0.post("/v1/context", json!({"budget": 7})), "budget");
    check(server.0.post("/v1/docs:batch", json!({"ops": [], "atomic": true})), "atomic");
    check(server.0.post("/v1/docs:batch", json!({"ops": [{"op": "put", "path": "a/b", "if_match": 1}]})), "if_match");
    check(server.0.post("/v1/keys", json!({"role": "admin"})), "role");
    check(server.0.post(&thread("u", "before", "/fork"), json!({"at_seq": 1, "to": "f", "from": 0})), "from");
    check(server.0.get(&thread("u", "before", "/turns?lsat=3")), "lsat");
    check(server.append(json!({})), "messages");
    check(server.append(json!({"messages": {}})), "sequence");
    check(server.append(json!({"messages": [], "if_seq": -1})), "-1");
    server.check_well();
}

#[test]
fn wrong_methods_and_unknown_addresses_are_refused_in_the_same_shape() {
    let server = Sturdy::start();
    for (method, path) in [
        ("PUT", thread("u", "t", "/turns")),
        ("GET", thread("u", "t", "/fork")),
        ("GET", "/v1/context".into()),
        ("DELETE", "/v1/context".into()),
        ("POST", "/v1/users/u/threads".into()),
        ("POST", "/health/live".into()),
        ("PATCH", "/v1/keys".into()),
        ("BREW", "/v1/context".into()),
    ] {
        let answer = server.0.call(method, &path, "");
        answer.refused(405, "method_not_allowed");
        assert!(answer.header("allow").is_some_and(|methods| !methods.contains(method)), "{method} {path}");
    }
    for path in ["/v1", "/v1/", "/v2/context", "/v1/users", "/v1/context/", "/V1/context", "/..", "/v1/traces"] {
        server.0.get(path).refused(404, "not_found");
        server.0.post(path, "{}").refused(404, "not_found");
    }
    server.check_well();
}

#[test]
fn garbage_on_the_socket_disturbs_nobody() {
    let server = Sturdy::start();
    let noise: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let long_line = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(2_000_000));
    let many_headers = format!("GET / HTTP/1.1\r\n{}\r\n", "x-a: b\r\n".repeat(20_000));
    for bytes in [
        &noise[..],
        b"\0\0\0\0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/1.1\r\ncontent-length: -5\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nbad header\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: \0\r\n\r\n",
        b"POST /v1/context HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        long_line.as_bytes(),
        many_headers.as_bytes(),
    ] {
        let mut stream = server.0.connect().unwrap();
        drop(stream.write_all(bytes));
        drop(stream.shutdown(Shutdown::Write));
        let mut back = Vec::new();
        drop(stream.read_to_end(&mut back));
        let back = String::from_utf8_lossy(&back);
        assert!(back.is_empty() || back.starts_with("HTTP/1.1 4"), "{back}");
        server.check_well();
    }
}

#[test]
fn a_connection_that_drops_inside_a_body_stores_nothing() {
    let server = Sturdy::start();
    let body = json!({"messages": [says("user", "x")]}).to_string();
    for (declared, sent) in [(body.len(), body.len() - 1), (body.len() + 1, body.len()), (body.len(), 0)] {
        let mut stream = server.0.connect().unwrap();
        stream.write_all(&server.0.head("POST", &thread("u", "t", "/turns"), declared)).unwrap();
        stream.write_all(&body.as_bytes()[..sent]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        assert!(!back.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&back));
        server.check_well();
    }
}

#[test]
fn an_import_that_breaks_off_is_refused() {
    let server = Sturdy::start();
    let whole = support::calls::import("u", "x");
    let lines: Vec<&str> = whole.lines().collect();
    let check = |body: String, status: u16, code: &str, words: &[&str]| {
        server.0.post("/v1/import", body).refused_with(status, code, words);
    };
    check(String::new(), 400, "malformed_json", &["broke off"]);
    check(lines[1].to_owned(), 422, "invalid_field", &["line 1", "not the first line"]);
    check(whole.replace("\"novelo_export\":1", "\"novelo_export\":2"), 422, "invalid_field", &["format 2"]);
    check(whole.replace("\"documents\":1", "\"documents\":2"), 422, "invalid_field", &["line 3", "counts 2"]);
    check(whole.replace("\"seq\":900", "\"seq\":0"), 422, "invalid_field", &["seq"]);
    check(format!("{}\nnonsense\n", lines[0]), 422, "invalid_field", &["line 2"]);
    check(whole.replace("notes/imported", "notes"), 422, "invalid_field", &["line 2", "even"]);
    server.check_well();
    check(format!("{}\n{}\n", lines[0], lines[1]), 400, "malformed_json", &["broke off after line 2"]);
}

#[test]
fn a_slow_client_is_let_go_and_keeps_nobody_waiting() {
    let server = Sturdy::start();
    let started = Instant::now();
    let slow: Vec<_> = (0..20)
        .map(|n| {
            let mut stream = server.0.connect().unwrap();
            let head = server.0.head("POST", &thread("u", "t", "/turns"), 100);
            stream.write_all(&head[..10 + n]).unwrap();
            stream
        })
        .collect();
    server.check_well();
    assert!(started.elapsed() < Duration::from_secs(HEADER_WAIT_S_MAX as u64), "others are served meanwhile");
    for mut stream in slow {
        let mut back = Vec::new();
        drop(stream.read_to_end(&mut back));
        assert!(!back.starts_with(b"HTTP/1.1 2"), "{}", String::from_utf8_lossy(&back));
    }
    let waited = started.elapsed().as_secs_f64();
    let patience = HEADER_WAIT_S_MAX as f64;
    assert!((patience - 1.0..patience + 10.0).contains(&waited), "let go after {waited} s");
    server.check_well();
}

#[test]
fn a_client_that_stalls_in_its_body_keeps_nobody_waiting() {
    let server = Sturdy::start();
    let stalled: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = server.0.connect().unwrap();
            stream.write_all(&server.0.head("POST", &thread("u", "t", "/turns"), 100)).unwrap();
            stream.write_all(b"{\"messages\":").unwrap();
            stream
        })
        .collect();
    server.check_well();
    drop(stalled);
    server.check_well();
}

#[test]
fn answers_that_nobody_reads_disturb_nobody() {
    let server = Sturdy::start();
    let long: Vec<Value> = (0..20).map(|_| says("user", &"l".repeat(50_000))).collect();
    server.0.append("u", "long", &long);
    let unread: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = server.0.connect().unwrap();
            stream.write_all(&server.0.head("GET", &thread("u", "long", "/turns"), 0)).unwrap();
            stream
        })
        .collect();
    server.check_well();
    drop(unread);
    server.check_well();
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Sturdy::start();
    let one = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", server.0.addr);
    let last = String::from_utf8(Client::new(server.0.addr).head("GET", "/nowhere", 0)).unwrap();
    let back = server.0.raw((one("/health/live") + &one("/v1/users/u/threads") + &last).as_bytes());
    let text = String::from_utf8(back).unwrap();
    let statuses: Vec<&str> = text.match_indices("HTTP/1.1 ").map(|(at, _)| &text[at + 9..at + 12]).collect();
    assert_eq!(statuses, ["200", "200", "404"]);
}

/// A server with data to ask, that answers whatever it is asked, soon, and is well afterwards.
struct Asked(Server);

impl Asked {
    fn start() -> Self {
        Self(asking::serve())
    }

    /// Sends a body as it is; the answer must come soon and be one of these.
    #[track_caller]
    fn send(&self, body: &[u8], allowed: &[u16]) -> Answer {
        let started = Instant::now();
        let answer = self.0.try_call("POST", "/ask", body).unwrap();
        let took = started.elapsed();
        let about = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
        asking::is_decent(&answer, allowed, &about);
        assert!(took < Duration::from_secs(1), "{about}: it took {took:?}");
        answer
    }

    #[track_caller]
    fn send_text(&self, field: &str, text: &str, allowed: &[u16]) -> Answer {
        let mut body = question("u", "c", "preço do HGLG11");
        body[field] = json!(text);
        self.send(body.to_string().as_bytes(), allowed)
    }

    #[track_caller]
    fn check_well(&self) {
        assert_eq!(asking::tickers(&asking::ask(&self.0, "u", "well", "preço do HGLG11")), ["HGLG11"]);
        asking::never_panicked(&self.0.home);
    }
}

const FIELDS: [&str; 4] = ["question", "conversation_id", "nickname", "client_id"];

#[test]
fn a_question_about_data_has_exactly_its_fields() {
    let server = Asked::start();
    for field in FIELDS {
        let refused = |body: &Value| {
            let answer = server.send(body.to_string().as_bytes(), &[422]);
            assert_eq!(answer.refused(422, "invalid_field")["param"], field, "{body}");
        };
        let mut body = question("u", "c", "preço do HGLG11");
        for wrong in [json!(""), json!(7), json!(true), json!([]), json!({}), json!(["x"]), json!(1e300), Value::Null] {
            body[field] = wrong;
            refused(&body);
        }
        body.as_object_mut().unwrap().remove(field);
        refused(&body);
        let whole = question("u", "c", "preço do HGLG11").to_string();
        let twice = whole.replacen('{', &format!("{{\"{field}\":\"x\","), 1);
        server.send(twice.as_bytes(), &[400, 422]);
        let deep = whole.replacen('{', &format!("{{\"{field}\":{},", nested(10_000)), 1);
        server.send(deep.as_bytes(), &[400, 422]);
        let deep = whole.replacen('{', &format!("{{\"{field}\":{}", "[".repeat(100_000)), 1);
        server.send(deep.as_bytes(), &[400, 422]);
    }
    for (name, value) in
        [("history", json!([])), ("last_reference", json!({})), ("Question", json!("x")), ("", json!(1))]
    {
        let mut body = question("u", "c", "preço do HGLG11");
        body[name] = value;
        server.send(body.to_string().as_bytes(), &[422]).refused_with(422, "invalid_field", &[name]);
    }
    for body in ["", "null", "[]", "\"x\"", "7", "{", "{}", "{\"question\"", "question=x", "\u{feff}{}"] {
        server.send(body.as_bytes(), &[400, 422]);
    }
    for bad in [&b"\xff"[..], b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf"] {
        let body = [br#"{"conversation_id":"c","nickname":"n","client_id":"u","question":""#, bad, br#""}"#].concat();
        server.send(&body, &[400]).refused(400, "malformed_json");
    }
    assert!(server.0.said("u", "c").is_empty(), "nothing of it was kept");
    server.check_well();
}

#[test]
fn a_long_question_is_answered_soon_or_refused() {
    let server = Asked::start();
    server.send_text("question", &"a".repeat(QUESTION_BYTES_MAX), &[200]);
    server.send_text("question", &"a".repeat(QUESTION_BYTES_MAX + 1), &[422]).refused_with(
        422,
        "invalid_field",
        &["QUESTION_BYTES_MAX"],
    );
    server.send_text("question", &"preço ".repeat(1024 * 1024 / 6), &[422]);
    for field in ["conversation_id", "nickname", "client_id"] {
        server.send_text(field, &"i".repeat(ID_BYTES_MAX), &[200]);
        server.send_text(field, &"i".repeat(ID_BYTES_MAX + 1), &[422]).refused_with(
            422,
            "invalid_field",
            &["ID_BYTES_MAX"],
        );
        server.send_text(field, &"i".repeat(1024 * 1024), &[422]);
    }
    for word in [
        "preço ",
        "HGLG11 ",
        "a ",
        "últimos 12 meses ",
        "HGLG 11 ",
        "2024-01-01 ",
        "e ",
        "@ticker ",
        "dividendo",
        "-",
        "1",
        "' ",
        "\u{301}",
    ] {
        let words = word.repeat(10_000.min(QUESTION_BYTES_MAX / word.len()));
        server.send_text("question", &words, &[200]);
        server.send_text(
            "question",
            &format!("compare o preço do HGLG11 com {words}").chars().take(60_000).collect::<String>(),
            &[200, 422],
        );
    }
    let different: String = (0..10_000).map(|n| format!("w{n:x} ")).collect();
    server.send_text("question", &different, &[200]);
    let funds: String = (0..9_000_u32).map(|n| format!("{}{:02} ", letters(n / 100), n % 100)).collect();
    server.send_text("question", &format!("preço de {funds}"), &[200, 422]);
    server.check_well();
}

/// Four letters that tell a number.
fn letters(n: u32) -> String {
    (0..4).map(|place| char::from(b'A' + (n / 26_u32.pow(place) % 26) as u8)).collect()
}

#[test]
fn every_odd_character_is_answered() {
    let server = Asked::start();
    let controls: Vec<String> = (0..=0x20).chain(0x7f..=0xa0).filter_map(char::from_u32).map(String::from).collect();
    for control in &controls {
        server.send_text("question", &format!("preço{control}do HGLG11"), &[200, 422]);
        for field in ["nickname", "conversation_id", "client_id"] {
            server.send_text(field, &format!("a{control}b"), &[200, 422]);
        }
    }
    for odd in ODDITIES {
        for text in
            [(*odd).to_owned(), format!("preço do {odd}"), format!("{odd}HGLG11{odd} preço{odd}"), odd.repeat(200)]
        {
            server.send_text("question", &text, &[200, 422]);
            server.send_text("nickname", &text, &[200, 422]);
            server.send_text("conversation_id", &text, &[200, 422]);
            server.send_text("client_id", &text, &[200, 422]);
        }
    }
    server.check_well();
}

const ODDITIES: &[&str] = &[
    "\u{0}",
    "\u{feff}",
    "\u{200b}",
    "\u{200d}",
    "\u{202e}",
    "\u{2066}x\u{2069}",
    "\u{2028}",
    "\u{2029}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{e000}",
    "\u{e0041}",
    "e\u{301}",
    "\u{301}",
    "z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}",
    "İ",
    "ı",
    "ß",
    "ẞ",
    "ŉ",
    "ǆ",
    "ﬃ",
    "Å",
    "Ω",
    "ﷺ",
    "½",
    "²",
    "٣",
    "१२",
    "１１",
    "ⅻ",
    "ＨＧＬＧ１１",
    "НGLG11",
    "𝐇𝐆𝐋𝐆𝟏𝟏",
    "hglg¹¹",
    "👩‍👩‍👧‍👦",
    "🇧🇷",
    "👍🏽",
    "#️⃣",
    "שלום",
    "مرحبا",
    "ไทยไม่มีวรรค",
    "中文问题",
    "한국어",
    "ᄒ\u{1161}\u{11ab}",
    "\u{1f468}\u{200d}",
    "٪",
    "“",
    "–",
    "…",
    "\\",
    "\"",
    "'",
    "`",
    "{ticker}",
    "{}",
    "%s%n",
    "$(x)",
    "<script>alert(1)</script>",
    "\r\n",
    "| a | b |",
    "\u{1b}[31m",
    "9999999999999999999999999",
    "-0",
    "1e999",
    "0000-00-00",
    "31/02/2024",
    "últimos 99999999999999999999 meses",
    "ano 0",
    "99/99/9999",
    "top 18446744073709551616",
    "em 2024-13-45",
    "entre 2024 e 1",
    "últimos -5 dias",
    "há 0 meses",
];
