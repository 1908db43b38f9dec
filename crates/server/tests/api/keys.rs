//! Keys: who may do what.

use crate::support::asking::course;
use crate::support::calls::{About, Call, documented, every, import, note};
use crate::support::embeddings::Embeddings;
use crate::support::models::Models;
use crate::support::{CONFIRM, Client, Home, Ran, Server, Value, enc, json, says, thread, user};

/// What anybody may call, with or without a key.
const OPEN: [&str; 4] = ["getLive", "getReady", "getChatPage", "getAsset"];
/// What any key may call: it is about nobody.
const ABOUT_NOBODY: [&str; 4] = ["listModels", "getModel", "listSkills", "createEmbeddings"];
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
    let (models, embeddings) = (Models::start(), Embeddings::start());
    let settings = [&models.settings_with_data()[..], &embeddings.settings()].concat();
    let server = Home::new().serve_with(&settings);
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

/// A client that a browser would be: the page that asks is from there.
fn page_at(server: &Server, origin: &str) -> Client {
    server.with("origin", origin)
}

#[test]
fn without_a_key_pages_from_elsewhere_are_refused() {
    let server = Server::start();
    let (port, turns) = (server.addr.port(), "/v1/users/u/threads/t/turns");
    let body = json!({"messages": [says("user", "x")]});
    let elsewhere = ["https://evil.example", "null", "http://localhost.evil.example", "http://203.0.113.5", ""];
    let near = [
        format!("http://127.0.0.9:{port}"),
        format!("http://127.0.0.1:{}", port - 1),
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1".to_owned(),
        "http://localhost:7420".to_owned(),
    ];
    for origin in elsewhere.into_iter().chain(near.iter().map(String::as_str)) {
        page_at(&server, origin).post(turns, &body).refused_with(403, "forbidden", &["http.origins"]);
        page_at(&server, origin).get("/v1/keys").refused(403, "forbidden");
        let confirmed = page_at(&server, origin).with(CONFIRM.0, CONFIRM.1);
        confirmed.post("/v1/keys", json!({"admin": true})).refused(403, "forbidden");
    }
    for site in ["cross-site", "same-site"] {
        server.with("sec-fetch-site", site).post(turns, &body).refused(403, "forbidden");
        server.with("sec-fetch-site", site).get("/v1/export").refused(403, "forbidden");
    }
    assert_eq!(server.get("/v1/keys").ok()["keys"], json!([]), "none of them made a key");
    assert_eq!(server.said("u", "t"), [""; 0]);
    page_at(&server, &format!("http://{}", server.addr)).post(turns, &body).ok();
    server.with("sec-fetch-site", "same-origin").post(turns, &body).ok();
}

#[test]
fn without_a_key_a_server_answers_to_its_own_names_alone() {
    let server = Server::start();
    let port = server.addr.port();
    let under = |host: &str| server.with("host", host);
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "localhost.", "[::1]"] {
        under(&format!("{host}:{port}")).get("/v1/keys").ok();
        under(&format!("{host}:{port}")).get("/health/live").ok();
    }
    let others = ["evil.example", "novelo", "127.0.0.9", "203.0.113.5", "127.0.0.1.evil.example", "[::2]"];
    for host in
        others.map(|host| format!("{host}:{port}")).into_iter().chain(["localhost".into(), "localhost:1".into()])
    {
        for path in ["/v1/keys", "/health/live", "/health/ready", "/openapi.json", "/chat", "/"] {
            under(&host).get(path).refused_with(403, "forbidden", &["http.hosts"]);
        }
        let rebound = under(&host).with("origin", &format!("http://{host}"));
        rebound.post("/v1/keys", json!({"admin": true})).refused(403, "forbidden");
    }
    let bare = server.raw(b"GET /v1/keys HTTP/1.0\r\n\r\n");
    assert!(bare.starts_with(b"HTTP/1.0 200 "), "{}", String::from_utf8_lossy(&bare));
    let bare = server.raw(format!("GET /v1/keys HTTP/1.0\r\norigin: http://{}\r\n\r\n", server.addr).as_bytes());
    assert!(bare.starts_with(b"HTTP/1.0 403 "), "{}", String::from_utf8_lossy(&bare));
    let admin = server.admin_key();
    admin.with("host", "novelo.example").with("origin", "https://app.example").get("/v1/keys").ok();
    under("novelo.example").get("/v1/keys").refused(401, "unauthorized");
}

#[test]
fn names_and_pages_of_the_settings_pass() {
    let settings = [("NOVELO_HTTP_HOSTS", "novelo.test, lab:9000"), ("NOVELO_HTTP_ORIGINS", "https://app.example")];
    let server = Home::new().serve_with(&settings);
    let own = server.addr.to_string();
    let check = |host: &str, origin: &str, status: u16| {
        let answer = server.with("host", host).with("origin", origin).post("/v1/context", json!({"messages": []}));
        assert_eq!(answer.status, status, "{host} {origin}: {}", answer.text());
    };
    for host in ["novelo.test", "Novelo.Test:80", &format!("novelo.test:{}", server.addr.port()), "lab:9000"] {
        server.with("host", host).get("/v1/keys").ok();
        check(host, "https://app.example", 200);
    }
    check(&own, "https://app.example", 200);
    check("novelo.test", "http://novelo.test", 200);
    check("novelo.test", "http://lab:9000", 403);
    check(&own, "http://novelo.test", 403);
    check(&own, "http://app.example", 403);
    for (name, wrong) in [("NOVELO_HTTP_HOSTS", "http://x"), ("NOVELO_HTTP_ORIGINS", "x")] {
        let home = Home::new();
        let mut command = home.command(&["serve", "--addr", "127.0.0.1:0"]);
        let key = name.trim_start_matches("NOVELO_").to_lowercase().replace('_', ".");
        Ran::of(command.env(name, wrong)).failed(&[&key, "must hold", wrong, name]);
    }
}

#[test]
fn the_first_key_needs_a_confirmation_that_no_page_can_send() {
    let server = Server::start();
    let wish = json!({"admin": true});
    server.post("/v1/keys", &wish).refused_with(403, "forbidden", &["novelo key create", "X-Novelo-Confirm"]);
    server.with(CONFIRM.0, "yes").post("/v1/keys", &wish).refused(403, "forbidden");
    let own_page = page_at(&server, &format!("http://{}", server.addr));
    own_page.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", &wish).refused(403, "forbidden");
    let preflight = server.with("origin", "https://evil.example").with("access-control-request-headers", CONFIRM.0);
    let preflight = preflight.call("OPTIONS", "/v1/keys", "");
    assert!(preflight.status >= 400 && preflight.header("access-control-allow-origin").is_none(), "{preflight:?}");
    let other = Server::start();
    let exported = other.admin_key().get("/v1/export").text();
    server.post("/v1/import", &exported).refused_with(403, "forbidden", &["X-Novelo-Confirm"]);
    server.get("/v1/keys").ok();
    let by_the_command = server.home.done(&["key", "create", "--admin"]);
    let admin = server.with("authorization", &format!("Bearer {}", by_the_command.trim()));
    admin.post("/v1/keys", &wish).ok();
    server.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", &wish).refused(401, "unauthorized");
}

/// Ends with no key left: one was made and revoked.
fn without_keys_again(server: &Server) -> Client {
    let admin = server.admin_key();
    let keys = admin.get("/v1/keys").ok();
    let id = keys["keys"][0]["id"].as_str().unwrap().to_owned();
    admin.delete(&format!("/v1/keys/{id}")).ok();
    admin
}

/// Asserts that nobody is let in, and that it says why.
#[track_caller]
fn is_closed(client: &Client) {
    for client in [client, &client.with("authorization", "Bearer nvl_unknown")] {
        client.get("/v1/keys").refused_with(
            401,
            "unauthorized",
            &["has had keys", "novelo key create", "novelo key open"],
        );
        client.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", json!({"admin": true})).refused(401, "unauthorized");
    }
    assert_eq!(client.get("/health/ready").ok()["access"], "closed");
}

#[test]
fn a_store_that_had_a_key_stays_closed_without_one() {
    let server = Server::start();
    server.say("u", "t", &["mine"]);
    assert_eq!(server.get("/health/ready").ok()["access"], "open");
    let admin = server.admin_key();
    let bob = server.user_key(&admin, "bob");
    assert_eq!(server.get("/health/ready").ok()["access"], "keys");
    for key in admin.get("/v1/keys").ok()["keys"].as_array().unwrap() {
        server.home.done(&["key", "revoke", key["id"].as_str().unwrap()]);
    }
    for revoked in [&bob, &admin] {
        is_closed(revoked);
        revoked.get("/v1/users/u/threads").refused(401, "unauthorized");
    }
    is_closed(&server);
    let server = server.restart();
    is_closed(&server);
    let ran = server.home.run(&["doctor"]);
    assert!(ran.code == Some(1) && ran.out.contains("keys: this store has had keys"), "{ran:?}");
    let new = server.home.done(&["key", "create", "--admin"]);
    let admin = server.with("authorization", &format!("Bearer {}", new.trim()));
    assert_eq!(admin.said("u", "t"), ["mine"]);
}

#[test]
fn a_closed_store_stays_closed_in_another_place() {
    let server = Server::start();
    without_keys_again(&server);
    let backup = server.home.path("backup.jsonl");
    server.home.done(&["backup", backup.to_str().unwrap()]);
    let restored = Home::new();
    restored.done(&["restore", backup.to_str().unwrap()]);
    is_closed(&restored.serve());
    let note = server.home.data().join("closed.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&note).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let home = server.kill();
    // The documents are gone, the note of this node is not.
    for entry in std::fs::read_dir(home.data()).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => std::fs::remove_dir_all(entry).unwrap(),
            false if entry != note => std::fs::remove_file(entry).unwrap(),
            false => {}
        }
    }
    is_closed(&home.serve());
}

#[test]
fn only_the_operators_command_opens_a_closed_store() {
    let server = Server::start();
    let revoked = without_keys_again(&server);
    for client in [&server.client(), &revoked] {
        client.post("/v1/keys:open", "").refused(401, "unauthorized");
    }
    let home = server.home.clone();
    let asked = home.run(&["key", "open"]);
    assert!(asked.code == Some(1) && asked.err.contains("becomes its admin; open it? [y/N]"), "{asked:?}");
    assert!(asked.err.ends_with("error: it was not opened\n"), "{asked:?}");
    is_closed(&server);
    let said = home.done(&["key", "open", "--yes"]);
    assert!(said.starts_with("open: every program and user of this machine"), "{said}");
    server.get("/v1/keys").ok();
    assert_eq!(home.done(&["key", "open", "--yes"]), "it was open already\n");
    let server = server.restart();
    server.get("/v1/keys").ok();

    let admin = server.admin_key();
    admin.post("/v1/keys:open", "").refused_with(403, "forbidden", &["novelo key open"]);
    home.run(&["key", "open", "--yes"]).failed(&["there are keys in force: 1", "hint: "]);
    let id = admin.get("/v1/keys").ok()["keys"][0]["id"].as_str().unwrap().to_owned();
    home.done(&["key", "revoke", &id]);
    is_closed(&server);
    let home = server.kill();
    let mut beyond = home.command(&["key", "open", "--yes"]);
    Ran::of(beyond.env("NOVELO_ADDR", "0.0.0.0:0")).failed(&["beyond loopback"]);
    home.done(&["key", "open", "--yes"]);
    home.serve().get("/v1/keys").ok();
}

/// A store of the first release knows neither kinds of keys nor that it is closed.
#[test]
fn a_store_of_the_first_release_with_keys_counts_as_closed() {
    use novelo_engine::path::DocumentPath;
    let server = Server::start();
    let admin = server.admin_key();
    let id = admin.get("/v1/keys").ok()["keys"][0]["id"].as_str().unwrap().to_owned();
    let home = server.kill();
    std::fs::remove_file(home.data().join("closed.json")).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let store = novelo_store::Store::open_local(&home.data(), novelo_store::LocalOptions::default()).await.unwrap();
        let key = DocumentPath::new(&["keys", &id]).unwrap();
        let document = store.get(&key).await.unwrap().unwrap();
        let now: Value = serde_json::from_slice(&document.value).unwrap();
        let old = json!({"id": now["id"], "user": null, "digest": now["digest"]});
        store.put(&key, old.to_string().into(), novelo_store::PutTerms::default()).await.unwrap();
        let state = DocumentPath::new(&["keys", "access", "state", "current"]).unwrap();
        assert!(store.delete(&state, None).await.unwrap());
        store.close().await.unwrap();
    });
    let server = home.serve();
    let admin = admin.at(server.addr);
    assert_eq!(admin.get("/v1/keys").ok()["keys"][0]["kind"], "admin");
    admin.delete(&format!("/v1/keys/{id}")).ok();
    is_closed(&server);
    is_closed(&server.restart());
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
    let before = admin.said("a", "t");
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
    assert_eq!(admin.said("a", "t"), before);
}

#[test]
fn a_users_key_does_everything_for_its_user_and_nothing_else() {
    let Keyed { server: _server, admin, a, b } = keyed();
    // Vectors are made in their own time.
    let documents = || admin.get(&user("b", "/export")).text();
    let lasting = |line: &&str| !line.contains("/vectors/");
    let stored = || [documents().lines().filter(lasting).collect(), admin.get("/v1/keys").text()];
    let for_b = calls_about("b", &admin);
    // The traces of the context, of the question and of its narration are recorded in their own time.
    assert!(crate::support::eventually(|| stored()[0].matches("/traces/").count() >= 3));
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
    let made = server.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", json!({"admin": true})).ok();
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
    for wrong in [
        json!({}),
        json!({"user": "u", "admin": true}),
        json!({"user": ""}),
        json!({"name": "x"}),
        json!({"kind": "user"}),
        json!({"kind": "root"}),
        json!({"kind": "guest", "user": "u"}),
        json!({"kind": "service", "admin": true}),
        json!({"kind": "admin", "name": ""}),
        json!({"kind": "admin", "name": "x".repeat(257)}),
    ] {
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
    let server = server.with(CONFIRM.0, CONFIRM.1);
    server.post("/v1/import", broken).refused_with(422, "invalid_field", &["line 2", "is no key"]);
    let other = Server::start();
    let admin = other.admin_key();
    server.post("/v1/import", admin.get("/v1/export").text()).ok();
    server.get("/v1/keys").refused(401, "unauthorized");
}
