//! Pages of other origins: those that are configured may call `/ask-eco` and read the answers, with keys and
//! without.

use crate::support::eco::{LIGHT, PATH, asks, home, open};
use crate::support::{Answer, Client, Server};

const APP: &str = "https://app.example";
const ORIGINS: (&str, &str) = ("NOVELO_HTTP_ORIGINS", "https://app.example, http://localhost:5173");

fn preflight(client: &Client, path: &str, origin: &str) -> Answer {
    let client = client.with("origin", origin).with("access-control-request-method", "POST");
    client.with("access-control-request-headers", "authorization,content-type").call("OPTIONS", path, "")
}

/// Asserts that a page of the origin may read the answer.
#[track_caller]
fn is_for(answer: &Answer, origin: &str) {
    assert_eq!(answer.header("access-control-allow-origin"), Some(origin), "{:?}", answer.headers);
    let varies = |(name, value): &(String, String)| name.eq_ignore_ascii_case("vary") && value == "origin";
    assert!(answer.headers.iter().any(varies), "{:?}", answer.headers);
    assert!(answer.header("access-control-expose-headers").is_some_and(|names| names.contains("x-eco-trace-id")));
    assert_eq!(
        answer.header("access-control-allow-credentials"),
        None,
        "a key is sent by the page, not by the browser"
    );
}

fn may_call(server: &Server, client: &Client) {
    for origin in [APP, "http://localhost:5173"] {
        let asked = preflight(server, PATH, origin);
        assert_eq!((asked.status, asked.text().as_str()), (204, ""));
        is_for(&asked, origin);
        assert_eq!(asked.header("access-control-allow-methods"), Some("POST"));
        let headers = asked.header("access-control-allow-headers").unwrap().to_owned();
        for name in ["authorization", "content-type", "last-event-id", "idempotency-key"] {
            assert!(headers.contains(name), "{headers}");
        }
        let page = client.with("origin", origin);
        is_for(&page.post(PATH, asks("ana", "t", LIGHT)), origin);
        let refused = page.post(PATH, "{}");
        assert_eq!(refused.status, 422);
        is_for(&refused, origin);
        let stream = open(&page, &asks("ana", "t", LIGHT));
        assert!(stream.headers.contains(&format!("access-control-allow-origin: {origin}")), "{}", stream.headers);
        let id = page.post(PATH, asks("ana", "t", LIGHT)).header("x-eco-trace-id").unwrap().to_owned();
        is_for(&page.get(&format!("/debug/trace/{id}")), origin);
    }
}

#[test]
fn a_configured_page_may_call_without_keys() {
    let server = home().serve_with(&[ORIGINS]);
    may_call(&server, &server);
    for origin in ["https://app.example.evil", "http://app.example", "https://app.example:8443", "null"] {
        assert_eq!(preflight(&server, PATH, origin).header("access-control-allow-origin"), None, "{origin}");
        let answer = server.with("origin", origin).post(PATH, asks("bia", "t", LIGHT));
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, None), "{origin}");
    }
    let other = server.with("origin", APP).get("/v1/users/ana/threads");
    assert_eq!(
        (other.status, other.header("access-control-allow-origin")),
        (200, None),
        "only this route is for pages"
    );
    assert_eq!(preflight(&server, "/v1/keys", APP).header("access-control-allow-origin"), None);
}

#[test]
fn a_configured_page_may_call_with_a_key() {
    let server = home().serve_with(&[ORIGINS]);
    let admin = server.admin_key();
    may_call(&server, &admin);
    let keyless = server.with("origin", APP).post(PATH, asks("ana", "t", LIGHT));
    assert_eq!(keyless.status, 401);
    is_for(&keyless, APP);
    let foreign = admin.with("origin", "https://evil.example").post(PATH, asks("ana", "t", LIGHT));
    assert_eq!((foreign.status, foreign.header("access-control-allow-origin")), (200, None), "its page cannot read it");
}

#[test]
fn without_the_setting_no_page_may_call() {
    let server = home().serve();
    assert_eq!(preflight(&server, PATH, APP).header("access-control-allow-origin"), None);
    assert_eq!(server.with("origin", APP).post(PATH, asks("ana", "t", LIGHT)).status, 403);
}
