//! The files of the pages, and the headers that they come with.

use crate::support::{Server, json};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// What every page, file and piece has.
const GUARDS: [(&str, &str); 5] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
];

#[test]
fn the_files_are_asked_for_again_and_not_sent_twice() {
    let server = Server::start();
    let browser = server.with("accept", "text/html,*/*;q=0.8");
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/chat", "text/html; charset=utf-8"),
        ("/debug/trace/any", "text/html; charset=utf-8"),
        ("/assets/base.css", "text/css; charset=utf-8"),
        ("/assets/htmx.min.js", "text/javascript; charset=utf-8"),
        ("/assets/login.js", "text/javascript; charset=utf-8"),
        ("/assets/icon.svg", "image/svg+xml"),
    ] {
        let first = browser.get(path);
        let header = |name| first.header(name).unwrap();
        assert_eq!((first.status, header("content-type"), header("cache-control")), (200, kind, "no-cache"), "{path}");
        for (name, value) in GUARDS {
            assert_eq!(header(name), value, "{name} of {path}");
        }
        assert_eq!(first.header("set-cookie"), None);
        for held in [header("etag").to_owned(), format!("\"x\", W/{}", header("etag"))] {
            let again = browser.with("if-none-match", &held).get(path);
            assert_eq!((again.status, again.body.len(), again.header("etag")), (304, 0, first.header("etag")));
        }
        assert_eq!(browser.with("if-none-match", "\"x\"").get(path).body, first.body);
    }
    server.get("/assets/README.md").refused(404, "not_found");
    server.get("/assets/..%2fchat.html").refused(404, "not_found");
}

#[test]
fn a_piece_of_a_page_is_guarded_and_not_kept() {
    let server = Server::start();
    let piece = server.post("/chat/ask", "thread_id=t&question=When");
    assert_eq!((piece.status, piece.header("cache-control")), (200, Some("no-store")));
    for (name, value) in GUARDS {
        assert_eq!(piece.header(name), Some(value), "{name}");
    }
    let trace = piece.header("x-novelo-trace-id").unwrap();
    assert!(piece.text().contains(&format!("data-trace=\"{trace}\"")), "{}", piece.text());
}

/// A page says nothing about what exists: only the JSON does, to an admin.
#[test]
fn the_page_of_a_trace_is_the_same_for_every_id_and_every_caller() {
    let server = Server::start();
    let admin = crate::admin_key(&server);
    let ada = crate::key(&server, json!({"user": "ada"}));
    let asked = ada.client.post("/api/ask", json!({"question": "When?", "thread_id": "t"}));
    let known = asked.header("x-novelo-trace-id").unwrap();
    let mut pages = Vec::new();
    for id in [known, "AAAAAAAAAAAAAAAAAAAAAHUAdA", "nothing", "%ff", "..%2f"] {
        let path = format!("/debug/trace/{id}");
        for client in [&server.client(), &ada.client, &admin.client] {
            let page = client.with("accept", "text/html,application/xhtml+xml,*/*;q=0.8").get(&path);
            assert_eq!((page.status, page.header("vary")), (200, Some("accept")), "{path}");
            let mut headers = page.headers.clone();
            headers.retain(|(name, _)| !["x-request-id", "date"].contains(&name.as_str()));
            pages.push((headers, page.body));
        }
        for accept in ["application/json", "*/*"] {
            server.with("accept", accept).get(&path).refused(401, "unauthorized");
            let unknown = server.with("authorization", "Bearer nvl_wrong").with("accept", accept);
            unknown.get(&path).refused(401, "unauthorized");
            ada.client.with("accept", accept).get(&path).refused(403, "forbidden");
        }
    }
    pages.dedup();
    assert_eq!(pages.len(), 1);
    let json = admin.client.get(&format!("/debug/trace/{known}"));
    assert_eq!((json.header("cache-control"), json.header("vary")), (Some("no-store"), Some("accept")));
    assert_eq!(json.ok()["traceId"], known);
    admin.client.get("/debug/trace/nothing").refused(404, "not_found");
}
