//! Keys: who may do what.

use crate::support::asking::course;
use crate::support::calls::{About, Call, documented, every, import, note};
use crate::support::models::Models;
use crate::support::{Client, Home, Server, Value, enc, json, thread, user};

/// What anybody may call, with or without a key.
const OPEN: [&str; 4] = ["getLive", "getReady", "getChatPage", "getChatAsset"];
/// What any key may call: it is about nobody.
const ABOUT_NOBODY: [&str; 2] = ["listModels", "listSkills"];
/// What only an admin may call.
const ADMIN: [&str; 8] =
    ["exportAll", "listKeys", "createKey", "revokeKey", "checkStore", "rebuildIndex", "getMetrics", "debugTrace"];

struct Keyed {
    server: Server,
    admin: Client,
    a: Client,
    b: Client,
}

/// A server with a model and an admin key, and two users with a thread and a key each.
fn keyed() -> Keyed {
    let server = Home::new().serve_with(&Models::start().settings_with_data());
    let admin = server.admin_key();
    let (a, b) = (server.user_key(&admin, "a"), server.user_key(&admin, "b"));
    admin.say("a", "t", &["a's own"]);
    admin.say("b", "t", &["b's own"]);
    Keyed { server, admin, a, b }
}

fn calls_about(of: &str, client: &Client) -> Vec<Call> {
    let made = client.context(json!({"user": of, "thread": "t"}));
    let trace = made["trace_id"].as_str().unwrap();
    every(&About { user: of, thread: "t", trace, course: &course(client, of), key: "none" })
}

#[test]
fn without_a_key_pages_from_elsewhere_are_refused() {
    let server = Server::start();
    let body = json!({"messages": [{"role": "user", "content": "x"}]});
    for origin in ["https://evil.example", "null", "http://localhost.evil.example"] {
        server.with("origin", origin).post("/v1/users/u/threads/t/turns", body.clone()).refused(403, "forbidden");
    }
    server.with("origin", "http://localhost:7420").post("/v1/users/u/threads/t/turns", body).ok();
}

#[test]
fn a_users_key_reads_its_own_stateless_traces() {
    let keyed = keyed();
    let made = keyed.a.context(json!({"messages": [{"role": "user", "content": "x"}]}));
    let path = format!("/v1/traces/{}", made["trace_id"].as_str().unwrap());
    keyed.a.get(&path).ok();
    keyed.admin.get(&path).ok();
    keyed.b.get(&path).refused(403, "forbidden");
}

#[test]
fn without_a_key_the_caller_on_loopback_is_the_admin() {
    let server = Server::start();
    assert_eq!(server.get("/v1/keys").ok(), json!({"keys": [], "has_more": false}));
    server.say("anyone", "t", &["x"]);
    server.get("/v1/export").text();
    server.with("authorization", "Bearer nonsense").get("/v1/keys").ok();
}

#[test]
fn once_there_is_a_key_every_call_needs_one() {
    let Keyed { server, admin, .. } = keyed();
    let calls = calls_about("a", &admin);
    let mut seen: Vec<&str> = calls.iter().map(|call| call.operation).collect();
    seen.sort_unstable();
    seen.dedup();
    let mut documented = documented(&server);
    documented.sort();
    assert_eq!(seen, documented, "the table of calls is complete");
    for call in calls.iter().filter(|call| !OPEN.contains(&call.operation)) {
        let refused = call.refused(&server, 401, "unauthorized");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"), "{call:?}");
        for wrong in ["Bearer nvl_wrong", "Bearer ", "Basic YTpi", ""] {
            call.refused(&server.with("authorization", wrong), 401, "unauthorized");
        }
    }
    assert_eq!(admin.said("a", "t"), ["a's own"]);
}

#[test]
fn a_users_key_does_everything_for_its_user_and_nothing_else() {
    let Keyed { server: _server, admin, a, b } = keyed();
    let stored = || [admin.get(&user("b", "/export")).text(), admin.get("/v1/keys").text()];
    let for_b = calls_about("b", &admin);
    // The trace is recorded in its own time.
    assert!(crate::support::eventually(|| stored()[0].contains("/traces/")));
    let before = stored();
    let about_b = |call: &&Call| !OPEN.contains(&call.operation) && !ABOUT_NOBODY.contains(&call.operation);
    for call in for_b.iter().filter(about_b) {
        call.refused(&a, 403, "forbidden");
    }
    assert_eq!(stored(), before, "nothing of b's was touched");
    for call in calls_about("a", &a).iter().filter(|call| !ADMIN.contains(&call.operation)) {
        assert_eq!(call.send(&a).status, 200, "{call:?}");
    }
    for operation in ADMIN {
        let call = for_b.iter().find(|call| call.operation == operation).unwrap();
        call.refused(&b, 403, "forbidden");
    }
}

#[test]
fn a_users_key_reaches_no_path_but_its_own() {
    let Keyed { server: _server, admin, a, .. } = keyed();
    admin.put("/v1/docs/shared/notes", json!({"secret": 1})).ok();
    for path in ["users", "users/b", "users/b/notes", "shared", "shared/notes", "keys", "users/ab", "users/a%2F..%2Fb"]
    {
        a.get(&format!("/v1/docs/{path}")).refused(403, "forbidden");
    }
    a.put("/v1/docs/users/b/notes/n", "1").refused(403, "forbidden");
    a.put("/v1/docs/other/x", "1").refused(403, "forbidden");
    let op = |path: &str| json!({"op": "put", "path": path, "value": "mixed"});
    a.post("/v1/docs:batch", json!({"ops": [op("users/a/notes/x"), op("users/b/notes/x")]})).refused(403, "forbidden");
    a.get("/v1/docs/users/a/notes/x").refused(404, "not_found");
    a.post("/v1/import", import("b", "smuggled")).refused(403, "forbidden");
    a.post("/v1/import", import("a", "fine")).ok();
    assert_eq!(admin.get("/v1/docs/users/b/notes").ok()["documents"], json!([]));
}

#[test]
fn a_users_key_speaks_for_its_user_in_a_context() {
    let Keyed { server: _server, a, .. } = keyed();
    let content = |request: Value| a.context(request)["messages"][0]["content"].clone();
    assert_eq!(content(json!({"thread": "t"})), "a's own");
    assert_eq!(content(json!({"user": "a", "thread": "t"})), "a's own");
    a.post("/v1/context", json!({"user": "b", "thread": "t"})).refused(403, "forbidden");
    a.post("/v1/context", json!({"user": "b", "messages": []})).refused(403, "forbidden");
    assert_eq!(a.context(json!({"messages": []}))["messages"], json!([]));
}

#[test]
fn an_admin_key_does_everything() {
    let Keyed { server, admin, .. } = keyed();
    let key = admin.post("/v1/keys", json!({"admin": true})).ok();
    let made = admin.context(json!({"user": "a", "thread": "t"}));
    let (trace, key) = (made["trace_id"].as_str().unwrap(), key["id"].as_str().unwrap());
    for call in every(&About { user: "a", thread: "t", trace, course: &course(&admin, "a"), key }) {
        assert_eq!(call.send(&admin).status, 200, "{call:?}");
    }
    let bare = server.with("authorization", "x");
    bare.get(&note("a")).refused(401, "unauthorized");
}

#[test]
fn a_key_is_shown_once_and_ends_when_it_is_revoked() {
    let server = Server::start();
    let made = server.post("/v1/keys", json!({"admin": true})).ok();
    let secret = made["key"].as_str().unwrap();
    let admin = server.with("authorization", &format!("Bearer {secret}"));
    let other = admin.post("/v1/keys", json!({"user": "é/x"})).ok();
    assert_eq!((&other["user"], &other["admin"]), (&json!("é/x"), &json!(false)));
    let theirs = server.with("authorization", &format!("Bearer {}", other["key"].as_str().unwrap()));
    theirs.get(&thread("é/x", "t", "/turns")).ok();
    let list = admin.get("/v1/keys");
    assert_eq!(list.ok()["keys"].as_array().unwrap().len(), 2);
    assert!(!list.text().contains(secret) && !admin.get("/v1/export").text().contains(secret));

    let server = server.restart();
    let (admin, theirs) = (admin.at(server.addr), theirs.at(server.addr));
    theirs.get(&user("é/x", "/data")).ok();
    let id = other["id"].as_str().unwrap();
    assert_eq!(admin.delete(&format!("/v1/keys/{id}")).ok(), json!({"revoked": true}));
    theirs.get(&user("é/x", "/data")).refused(401, "unauthorized");
    admin.delete(&format!("/v1/keys/{id}")).refused(404, "not_found");
    admin.delete(&format!("/v1/keys/{}", enc("a/b"))).refused(404, "not_found");
    for wrong in [json!({}), json!({"user": "u", "admin": true}), json!({"user": ""}), json!({"name": "x"})] {
        admin.post("/v1/keys", wrong).refused(422, "invalid_field");
    }
}

#[test]
fn beyond_loopback_a_start_needs_a_key() {
    let home = Home::new();
    let ran = home.run(&["serve", "--addr", "0.0.0.0:0"]);
    ran.failed(&["0.0.0.0:0 is not loopback", "hint: ", "novelo key create --admin"]);
    assert_eq!(ran.out, "");
    home.done(&["key", "create", "--admin"]);
    let server = home.serve_at("0.0.0.0:0");
    server.get("/health/live").ok();
    server.get("/v1/keys").refused(401, "unauthorized");
    let id =
        home.done(&["--json", "key", "list"]).split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    home.done(&["key", "revoke", &id]);
    server.get("/v1/keys").refused(401, "unauthorized");
}

#[test]
fn an_imported_key_is_in_force_at_once_and_a_broken_one_is_refused() {
    let server = Server::start();
    let broken = "{\"novelo_export\":1,\"prefix\":\"\"}\n{\"path\":\"keys/k\",\"seq\":1,\"create_time\":1.0,\"version\":1,\"value\":{}}\n{\"documents\":1}\n";
    server.post("/v1/import", broken).refused_with(422, "invalid_field", &["line 2", "is no key"]);
    let other = Server::start();
    let admin = other.admin_key();
    server.post("/v1/import", admin.get("/v1/export").text()).ok();
    server.get("/v1/keys").refused(401, "unauthorized");
}
