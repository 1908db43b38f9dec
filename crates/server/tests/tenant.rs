//! Whatever the ids contain, nobody sees what is another's.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use base64::Engine;
use novelo_engine::limits::ID_BYTES_MAX;
use support::calls::{About, every};
use support::{Answer, Client, Server, Value, enc, json, says, thread, user};

/// The user who must see nothing.
const B: &str = "bob";
const CANARY: &str = "canary-of-another";

/// Ids that a careless server would confuse with bob's, or with its own words.
fn hostile() -> Vec<String> {
    let plain = [
        "..",
        ".",
        "/",
        "//",
        "%2f",
        "%2F",
        "%",
        "a/../b",
        "../bob",
        "bob/..",
        "bob/",
        "/bob",
        "bob/notes",
        "bob ",
        " bob",
        "bob\u{a0}",
        "bo",
        "bobb",
        "BOB",
        "users",
        "convo.sessions",
        "messages",
        "traces",
        "memory",
        "data",
        "keys",
        "users/bob",
        "bob%00",
        "%00",
        "bоb",
        "ｂｏｂ",
        "b\u{200b}ob",
        "bób",
        "bo\u{301}b",
        "😀",
        "🧵/🪡",
        "*",
        "?",
        "#",
        "bob?x=1",
        "bob#x",
        "bob;x",
        "a b",
        "a+b",
        "'",
        "\"",
        "\\",
        "..\\bob",
        "{user}",
        ":batch",
        "null",
        "0",
        "-1",
        "true",
    ];
    let long = [format!("bob{}", "x".repeat(ID_BYTES_MAX - 3)), "é".repeat(ID_BYTES_MAX / 2)];
    plain.into_iter().map(str::to_owned).chain(long).collect()
}

/// Stores something of every kind as another user, under a hostile id at every place.
fn store(admin: &Client, of: &str, id: &str) {
    let docs = |rest: &str| format!("/v1/docs/users/{}/{rest}", enc(of));
    let turn = json!({"role": "user", "content": CANARY, "id": id});
    admin.append(of, id, &[turn, says("assistant", CANARY)]);
    admin.put(&docs(&format!("convo.sessions/{}/memory/summary", enc(id))), json!({"text": CANARY})).ok();
    admin.put(&docs(&format!("{}/{}", enc(id), enc(id))), json!(CANARY)).ok();
    admin.put(&user(of, "/data"), json!({"canary": CANARY})).ok();
    admin.context(json!({"user": of, "thread": id, "question": CANARY}));
}

/// Everything that bob can ask for about himself with a thread of this id; the answers as one text.
fn seen_by_bob(bob: &Client, id: &str) -> String {
    let made = bob.context(json!({"thread": id, "explain": true}));
    let trace = made["trace_id"].as_str().unwrap();
    let calls = every(&About { user: B, thread: id, trace, course: trace, key: "none" });
    let reads =
        calls.iter().filter(|call| call.method == "GET" || ["makeContext", "replayTrace"].contains(&call.operation));
    let docs =
        ["messages", "memory", "traces"].map(|child| format!("/v1/docs/users/{B}/convo.sessions/{}/{child}", enc(id)));
    let more = docs.iter().map(|path| bob.get(path)).chain([bob.get(&format!("/v1/docs/users/{B}/{}", enc(id)))]);
    let text = |answer: Answer| answer.text();
    made.to_string() + &reads.map(|call| call.send(bob)).chain(more).map(text).collect::<String>()
}

fn bob(server: &Server) -> (Client, Client) {
    let admin = server.admin_key();
    let bob = server.user_key(&admin, B);
    (admin, bob)
}

#[test]
fn no_id_of_another_user_shows_anything_to_bob() {
    let server = Server::start();
    let (admin, bob) = bob(&server);
    bob.say(B, "own", &["bob's own"]);
    for id in hostile() {
        store(&admin, &id, &id);
        assert!(admin.get(&thread(&id, &id, "/turns")).text().contains(CANARY), "{id:?} was stored");
    }
    for id in hostile() {
        let seen = seen_by_bob(&bob, &id);
        assert!(!seen.contains(CANARY), "{id:?}: {seen}");
        let trace = admin.context(json!({"user": id, "thread": id}))["trace_id"].as_str().unwrap().to_owned();
        for call in every(&About { user: &id, thread: &id, trace: &trace, course: &trace, key: "none" }) {
            let about_nobody = [
                "getLive",
                "getReady",
                "getChatPage",
                "getAsset",
                "listModels",
                "getModel",
                "listSkills",
                "createEmbeddings",
            ];
            if !about_nobody.contains(&call.operation) {
                call.refused(&bob, 403, "forbidden");
            }
        }
    }
    assert_eq!(bob.said(B, "own"), ["bob's own"]);
}

#[test]
fn hostile_threads_and_documents_of_one_user_do_not_meet() {
    let server = Server::start();
    for id in hostile() {
        server.say("a", &id, &[&format!("in {id}")]);
        server.put(&format!("/v1/docs/users/a/notes/{}", enc(&id)), json!(id)).ok();
    }
    let listed = server.get(&user("a", "/threads?limit=1000")).ok();
    let mut ids: Vec<&str> =
        listed["threads"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    let mut expected = hostile();
    ids.sort_unstable();
    expected.sort();
    assert_eq!(ids, expected);
    for id in hostile() {
        assert_eq!(server.said("a", &id), [format!("in {id}")]);
        assert_eq!(server.get(&format!("/v1/docs/users/a/notes/{}", enc(&id))).ok()["value"], json!(id));
    }
    server.delete(&thread("a", "..", "")).ok();
    assert_eq!(
        server.get(&user("a", "/threads?limit=1000")).ok()["threads"].as_array().unwrap().len(),
        expected.len() - 1
    );
}

#[test]
fn forgetting_bob_takes_nothing_from_his_namesakes() {
    let server = Server::start();
    for id in hostile() {
        store(&server, &id, &id);
    }
    server.say(B, "t", &["gone"]);
    assert_eq!(server.delete(&user(B, "")).ok()["forgotten"]["documents"], 1);
    for id in hostile() {
        assert_eq!(server.said(&id, &id), [CANARY, CANARY], "{id:?}");
    }
}

#[test]
fn addresses_that_climb_lead_nowhere() {
    let server = Server::start();
    let (admin, bob) = bob(&server);
    store(&admin, "alice", "t");
    let escaped = |path: &str| {
        let answer = bob.get(path);
        assert!(answer.status >= 400 || !answer.text().contains(CANARY), "{path}: {}", answer.text());
    };
    for up in ["..", "%2e%2e", "%2E%2E", ".%2e", "..%2f", "%2f..%2f", "..;", "%c0%ae%c0%ae"] {
        escaped(&format!("/v1/users/{B}/{up}/alice/threads/t/turns"));
        escaped(&format!("/v1/users/{B}%2f{up}%2falice/threads/t/turns"));
        escaped(&format!("/v1/users/{B}/threads/{up}%2f..%2falice/turns"));
        escaped(&format!("/v1/docs/users/{B}/{up}/alice/convo.sessions/t/messages"));
        escaped(&format!("/v1/docs/users/{B}/{up}/users/alice/convo.sessions/t/messages"));
        escaped(&format!("/v1/docs/{up}/users/alice/convo.sessions/t/messages"));
    }
    for path in [
        "users%2Falice/notes",
        "users/alice%2Fnotes/n",
        "/users/alice/notes",
        "users//alice/notes",
        "users/bob%00alice/notes",
    ] {
        escaped(&format!("/v1/docs/{path}"));
    }
    escaped("/v1/users/alice%20/threads/t/turns");
    escaped(&format!("http://novelo/v1/users/{B}/../alice/threads/t/turns"));
}

#[test]
fn an_id_with_a_control_character_or_too_long_is_refused_everywhere() {
    let server = Server::start();
    let long = "x".repeat(ID_BYTES_MAX + 1);
    let fits = "x".repeat(ID_BYTES_MAX);
    server.say(&fits, &fits, &["fits"]);
    assert_eq!(server.said(&fits, &fits), ["fits"]);
    for id in ["\0", "a\0b", "\u{1f}", "\u{7f}", "\u{85}", "\n", &long] {
        for (of, name) in [(id, "t"), ("u", id)] {
            server
                .post(&thread(of, name, "/turns"), json!({"messages": [says("user", "x")]}))
                .refused(422, "invalid_field");
            server.get(&thread(of, name, "/turns")).refused(422, "invalid_field");
            server.delete(&thread(of, name, "")).refused(422, "invalid_field");
            server.get(&thread(of, name, "/export")).refused(422, "invalid_field");
            server.post("/v1/context", json!({"user": of, "thread": name})).refused(422, "invalid_field");
        }
        server.put(&user(id, "/data"), "{}").refused(422, "invalid_field");
        server.put(&format!("/v1/docs/users/u/notes/{}", enc(id)), "1").refused(422, "invalid_field");
        server.post(&thread("u", "t", "/fork"), json!({"at_seq": 1, "to": id})).refused(422, "invalid_field");
        let message = json!({"role": "user", "content": "x", "id": id});
        server.post(&thread("u", "t", "/turns"), json!({"messages": [message]})).refused(422, "invalid_field");
        server.post("/v1/keys", json!({"user": id})).refused(422, "invalid_field");
    }
    let export = server.get("/v1/export").text();
    assert_eq!(export.lines().count(), 3, "one document, and the lines around it: {export}");
}

/// A trace as bob would have to forge it: it lies in his own thread and speaks of another's.
fn forged(of: &str, name: &str) -> Value {
    json!({
        "id": "forged", "at": 1.0, "user": of, "thread": name, "recipe": {"components": [{"kind": "history"}]},
        "budget_tokens": null, "inputs": {"turns": [1, 1000]}, "messages": 1, "tokens": 1,
        "unchanged_tokens": null, "digest": "", "took_us": 1,
    })
}

#[test]
fn a_forged_trace_shows_nothing_of_another() {
    let server = Server::start();
    let (admin, bob) = bob(&server);
    store(&admin, "alice", "t");
    bob.say(B, "t", &["bob's own"]);
    let uuid = [7u8; 16];
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let id = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode([&uuid[..], b"bob\0t"].concat());
    bob.put(&format!("/v1/docs/users/{B}/convo.sessions/t/traces/{hex}"), forged("alice", "t")).ok();
    let replayed = bob.post(&format!("/v1/traces/{id}/replay"), "").text();
    let read = bob.get(&format!("/v1/traces/{id}")).text();
    assert!(!replayed.contains(CANARY) && !read.contains(CANARY), "{replayed} {read}");
    assert!(replayed.contains("bob's own"), "the forgery was found and replayed: {replayed}");
    for other in [&b"alice\0t"[..], b"bob\0../alice\0t", b"bob", b"\0", b"alice\0t\0"] {
        let id = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode([&uuid[..], other].concat());
        let answer = bob.get(&format!("/v1/traces/{id}"));
        assert!(matches!(answer.status, 403 | 404), "{other:?}: {}", answer.text());
    }
}
