//! Who may reach what: every route with every kind of caller, against the table of `docs/security.md`.
//!
//! The docs are the expectation. A route without a row fails, and so does a row without a route.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::asking::course;
use support::calls::{About, Call, every};
use support::eco::PATH as ASK_ECO;
use support::embeddings::Embeddings;
use support::models::Models;
use support::{Client, Home, Server, Value, json, says};

/// The columns of the table, in their order.
const COLUMNS: [&str; 7] = ["open server", "no key", "guest", "user, own", "user, another's", "service", "admin"];

/// A method and an address with its parameters in braces.
type Route = (String, String);

/// What the docs say: the cells of each route.
fn table() -> BTreeMap<Route, Vec<String>> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/security.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Who may reach what")).unwrap();
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = section.lines().skip_while(|line| !line.starts_with("| call |"));
    assert_eq!(cells(lines.next().unwrap())[1..], COLUMNS);
    let mut table = BTreeMap::new();
    for line in lines.skip(1).take_while(|line| line.starts_with('|')) {
        let cells = cells(line);
        assert_eq!(cells.len(), COLUMNS.len() + 1, "{line}");
        for item in cells[0].split('`').skip(1).step_by(2) {
            let (methods, path) = item.split_once(' ').unwrap();
            for method in methods.split('·') {
                let other = table.insert((method.to_owned(), path.to_owned()), cells[1..].to_vec());
                assert!(other.is_none(), "{method} {path} has two rows");
            }
        }
    }
    table
}

/// The routes of the served description, by the names of their operations.
fn documented(client: &Client) -> BTreeMap<String, Route> {
    let document = client.get("/openapi.json").ok();
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, methods)| methods.as_object().unwrap().iter().map(move |of| (path, of)));
    let row = |(path, (method, operation)): (&String, (&String, &Value))| {
        (operation["operationId"].as_str().unwrap().to_owned(), (method.to_uppercase(), path.clone()))
    };
    operations.map(row).collect()
}

/// Routes that the description leaves out: of our own pages and command line, and other names of documented
/// ones.
const UNDOCUMENTED: [(&str, &str); 12] = [
    ("GET", "/"),
    ("GET", "/openapi.json"),
    ("POST", "/chat/ask"),
    ("GET", "/chat/threads/{thread}"),
    ("GET", "/chat/replies/{name}"),
    ("DELETE", "/chat/replies/{name}"),
    ("POST", "/jobs/context/topicContextYoj/run"),
    ("POST", "/collapse/indexer/run"),
    ("POST", "/context/collapse/indexer/run"),
    ("POST", "/collapse/state/set"),
    ("POST", "/context/collapse/state/set"),
    ("POST", "/v1/keys:open"),
];

/// Somebody with something of every kind, whom calls are about.
struct Subject {
    user: String,
    trace: String,
    course: String,
    reply: String,
    key: String,
}

impl Subject {
    /// Whose everything is made up: no caller gets so far as to look.
    fn nobody() -> Self {
        let [user, trace, course, reply, key] = ["a", "x", "x", "x", "x"].map(str::to_owned);
        Self { user, trace, course, reply, key }
    }

    /// `admin` may do everything, and `own` speaks for the user on the chat page.
    fn make(user: &str, admin: &Client, own: &Client) -> Self {
        admin.say(user, "t", &["hi"]);
        let made = admin.context(json!({"user": user, "thread": "t"}));
        let piece = own.post("/chat/ask", "thread_id=page&question=tea");
        assert_eq!(piece.status, 200, "{}", piece.text());
        let piece = piece.text();
        let reply = piece.split("/chat/replies/").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_eq!(own.get(&format!("/chat/replies/{reply}")).status, 200, "it is read to its end");
        let trace = made["trace_id"].as_str().unwrap().to_owned();
        Self { user: user.to_owned(), trace, course: course(admin, user), reply, key: "none".to_owned() }
    }

    /// Every call with its route, in an order in which each succeeds.
    fn calls(&self, routes: &BTreeMap<String, Route>) -> Vec<(Route, Call)> {
        let about = About { user: &self.user, thread: "t", trace: &self.trace, course: &self.course, key: &self.key };
        let route =
            |call: &Call| routes.get(call.operation).cloned().unwrap_or_else(|| panic!("{call:?} has no route"));
        let documented: Vec<_> = every(&about).into_iter().map(|call| (route(&call), call)).collect();
        // What removes stands last there.
        let undocumented = UNDOCUMENTED.iter().map(|(method, path)| {
            let (path, call) = ((*path).to_owned(), self.undocumented(method, path, &documented));
            (((*method).to_owned(), path), call)
        });
        undocumented.collect::<Vec<_>>().into_iter().chain(documented.clone()).collect()
    }

    fn undocumented(&self, method: &'static str, path: &'static str, documented: &[(Route, Call)]) -> Call {
        let same_end = |(route, _): &&(Route, Call)| {
            let end = |path: &str| path.rsplitn(3, '/').take(2).map(str::to_owned).collect::<Vec<_>>();
            route.0 == method && end(&route.1) == end(path)
        };
        let body = match path {
            "/chat/ask" => "thread_id=page&question=tea".to_owned(),
            _ if path.ends_with("/run") || path.ends_with("/set") => {
                documented.iter().find(same_end).unwrap().1.body.clone()
            }
            _ => String::new(),
        };
        Call { operation: path, method, path: path.replace("{name}", &self.reply).replace("{thread}", "page"), body }
    }
}

/// Makes every call as a caller of one column, and compares.
#[track_caller]
fn walk(column: &str, client: &Client, calls: &[(Route, Call)]) {
    let (table, at) = (table(), COLUMNS.iter().position(|of| *of == column).unwrap());
    let mut wrong = Vec::new();
    for (route, call) in calls {
        let Some(cell) = table.get(route).map(|cells| cells[at].as_str()).filter(|cell| *cell != "–") else {
            continue;
        };
        let answer = call.send(client);
        // Where there is no key, none can be revoked.
        let allowed = if call.operation == "revokeKey" && column == "open server" { 404 } else { 200 };
        let expected = cell.parse().unwrap_or(allowed);
        if answer.status != expected {
            wrong.push(format!("{} {}: {cell}, but {} {}", route.0, route.1, answer.status, answer.text()));
        }
    }
    assert!(wrong.is_empty(), "as {column}:\n{}", wrong.join("\n"));
}

/// A server with data, a model to ask, and an embedder.
fn serve() -> Server {
    let (models, embeddings) = (Models::start(), Embeddings::start());
    let settings = [&models.settings_with_data()[..], &embeddings.settings()].concat();
    Home::new().serve_with(&settings)
}

/// What is stored of a user, traces and vectors aside, which are stored in their own time.
fn stored(admin: &Client, user: &str) -> Vec<String> {
    let export = admin.get(&format!("/v1/users/{user}/export")).text();
    let is_made_later = |line: &str| line.contains("/traces/") || line.contains("/vectors/");
    let documents = export.lines().filter(|line| line.starts_with("{\"path\"") && !is_made_later(line));
    documents.map(str::to_owned).collect()
}

#[test]
fn every_route_has_a_row_and_every_row_a_route() {
    let server = Server::start();
    let known = UNDOCUMENTED.iter().map(|(method, path)| ((*method).to_owned(), (*path).to_owned()));
    let known: BTreeSet<Route> = documented(&server).into_values().chain(known).collect();
    let table = table();
    let rows: BTreeSet<Route> = table.keys().cloned().collect();
    assert_eq!(known.difference(&rows).collect::<Vec<_>>(), Vec::<&Route>::new(), "routes without a row");
    assert_eq!(rows.difference(&known).collect::<Vec<_>>(), Vec::<&Route>::new(), "rows without a route");
    let words = ["yes", "own", "any", "all", "–"];
    for (route, cells) in &table {
        let is_known = |cell: &String| words.contains(&cell.as_str()) || cell.parse::<u16>().is_ok();
        assert!(cells.iter().all(is_known), "{route:?}: {cells:?}");
    }
}

#[test]
fn without_a_key_on_an_open_server() {
    let server = serve();
    let calls = Subject::make("anonymous", &server, &server).calls(&documented(&server));
    walk("open server", &server, &calls);
}

#[test]
fn without_a_key_that_counts() {
    let server = Server::start();
    let calls = Subject::nobody().calls(&documented(&server));
    let admin = server.admin_key();
    let made = admin.post("/v1/keys", json!({"admin": true, "name": "old"})).ok();
    let revoked = server.with("authorization", &format!("Bearer {}", made["key"].as_str().unwrap()));
    revoked.get("/v1/keys").ok();
    admin.delete(&format!("/v1/keys/{}", made["id"].as_str().unwrap())).ok();
    let unknown = server.with("authorization", "Bearer nvl_unknown");
    for client in [&server.client(), &unknown, &revoked] {
        walk("no key", client, &calls);
    }
    let last = admin.get("/v1/keys").ok()["keys"][0]["id"].as_str().unwrap().to_owned();
    admin.delete(&format!("/v1/keys/{last}")).ok();
    for client in [&server.client(), &unknown, &revoked, &admin] {
        walk("no key", client, &calls);
    }
}

#[test]
fn with_a_guest_key() {
    let server = serve();
    let admin = server.admin_key();
    let guest = server.key_of_kind(&admin, "guest");
    let user = Subject::make("ana", &admin, &server.user_key(&admin, "ana"));
    let before = stored(&admin, "ana");
    let mut calls = user.calls(&documented(&server));
    for (_, call) in calls.iter_mut().filter(|(_, call)| call.path == ASK_ECO) {
        call.refused(&guest, 403, "forbidden");
        call.body = json!({"isGuest": true, "messages": [says("user", "Preciso de apoio")]}).to_string();
    }
    walk("guest", &guest, &calls);
    assert_eq!(stored(&admin, "ana"), before, "nothing of a user's was touched");
}

#[test]
fn with_a_users_key() {
    let server = serve();
    let admin = server.admin_key();
    let [ana, bob] = ["ana", "bob"].map(|user| server.user_key(&admin, user));
    let of_bob = Subject::make("bob", &admin, &bob);
    let before = stored(&admin, "bob");
    walk("user, another's", &ana, &of_bob.calls(&documented(&server)));
    assert_eq!(stored(&admin, "bob"), before, "nothing of another's was touched");
    walk("user, own", &ana, &Subject::make("ana", &admin, &ana).calls(&documented(&server)));
}

#[test]
fn with_a_service_key() {
    let server = serve();
    let admin = server.admin_key();
    let backend = server.key_of_kind(&admin, "service");
    let ana = Subject::make("ana", &admin, &server.user_key(&admin, "ana"));
    walk("service", &backend, &ana.calls(&documented(&server)));
}

#[test]
fn with_an_admin_key() {
    let server = serve();
    let admin = server.admin_key();
    let key = admin.post("/v1/keys", json!({"kind": "service"})).ok()["id"].as_str().unwrap().to_owned();
    let ana = Subject { key, ..Subject::make("ana", &admin, &server.user_key(&admin, "ana")) };
    walk("admin", &admin, &ana.calls(&documented(&server)));
}

#[test]
fn a_service_key_names_the_user_and_never_pools_them() {
    let server = serve();
    let admin = server.admin_key();
    let backend = server.key_of_kind(&admin, "service");
    let said = json!([says("user", "hi")]);
    for (path, body) in [
        ("/v1/context", json!({"messages": said})),
        ("/v1/chat/completions", json!({"messages": said})),
        ("/api/ask", json!({"question": "tea?", "thread_id": "t"})),
        ("/ask", json!({"question": "preço do HGLG11", "conversation_id": "t", "nickname": "n"})),
        ("/ask-eco", json!({"messages": said})),
        ("/memory/context", json!({"session_id": "t"})),
        ("/memory/chat", json!({"session_id": "t", "message": "hi"})),
        ("/memory/reset", json!({"session_id": "t", "scope": "vector"})),
        ("/memory/skills/list_tasks", json!({"session_id": "t"})),
    ] {
        let refused = backend.post(path, body).refused(422, "invalid_field");
        assert!(refused["message"].as_str().unwrap().contains("is missing"), "{path}: {refused}");
    }
    for (path, body) in [
        (
            "/context/topicContextYoj/run",
            json!({"kala": {"kind": "Topic", "topicId": "t"}, "presetId": "TopicContext"}),
        ),
        ("/collapse/indexer/run", json!({"sessionId": "t", "groups": []})),
    ] {
        let refused = backend.post(path, body);
        assert!(refused.status == 400 && refused.text().contains("userId"), "{path}: {}", refused.text());
    }
    backend
        .with("x-novelo-thread", "t")
        .post("/v1/chat/completions", json!({"messages": said}))
        .refused(422, "invalid_field");
    let stored = admin.get("/v1/export").text();
    assert!(!stored.contains("\"users/"), "nothing was stored under any name: {stored}");
    for path in ["users", "shared", "shared/n", "keys", "keys/x"] {
        backend.get(&format!("/v1/docs/{path}")).refused(403, "forbidden");
    }
    backend.post("/v1/users/ana/documents", json!({"path": "/etc"})).refused(403, "forbidden");
    backend.post("/ask-eco?debug=1", json!({"userId": "ana", "messages": said})).refused(403, "forbidden");
}
