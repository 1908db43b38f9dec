//! The page of a trace: public itself, its data for admins.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::support::asking::course_of;
use crate::support::browser::{Browser, DARK, DESK, ESCAPE, LARGE_PHONE, Look};
use crate::support::{Client, Server, Value, json};
use crate::{CONTRAST, ada_key, admin_key, asked_for_a_key, enter, revoke, without_model};

/// A request that was answered; the name of its trace.
fn traced(client: &Client) -> String {
    course_of(&client.post("/api/ask", json!({"question": "When does the Harbour Tea House open?", "thread_id": "t"})))
}

fn open(look: Look, server: &Server, id: &str) -> Browser {
    let browser = Browser::open(look, server.addr, &format!("/debug/trace/{id}"));
    browser.until("document.getElementById('login')");
    browser
}

/// The trace is shown.
fn shown(browser: &Browser, id: &str) {
    browser.until(&format!("document.querySelector('#trace dd')?.innerText === {}", json!(id)));
}

#[test]
fn without_keys_a_trace_is_shown_at_once() {
    let server = without_model();
    let id = traced(&server);
    let browser = open(DESK, &server, &id);
    shown(&browser, &id);
    assert_eq!(browser.text("#trace h2"), "Trace of a request: api/ask");
    assert_eq!(browser.see("document.title"), "Novelo: Trace of a request: api/ask");
    let titles = "[...document.querySelectorAll('#trace h3')].map((title) => title.innerText).join()";
    assert_eq!(browser.see(titles), "Latency,Heuristics,Modules,Caches,Embeddings,Errors,Memory,Prompts");
    assert!(browser.text("#trace").contains("totalMs") && browser.shows("#trace meter"));
    assert!(!browser.shows("#login") && !browser.shows("#logout"));
    browser.screenshot("trace");
    browser.click("#trace ul a");
    browser.until("document.querySelector('#trace pre')");
    assert_eq!(browser.text("#trace h2"), "Trace of a prompt");
    assert!(browser.text("#trace pre").contains("\"kind\": \"prompt\""), "{}", browser.text("#trace pre"));
}

#[test]
fn a_deep_link_is_followed_once_there_is_an_admin_key() {
    let server = without_model();
    let (ada, admin) = (ada_key(&server), admin_key(&server));
    let id = traced(&ada.client);
    let browser = open(DESK, &server, &id);
    asked_for_a_key(&browser, "");
    assert!(!browser.text("body").contains("api/ask"));
    enter(&browser, "nvl_wrong");
    asked_for_a_key(&browser, "This key is not known.");
    enter(&browser, &ada.secret);
    asked_for_a_key(&browser, "An admin key is needed here. This one is not.");
    browser.screenshot("trace-user-key");
    enter(&browser, &admin.secret);
    shown(&browser, &id);
    assert!(browser.text("#trace").contains("ada") && browser.shows("#logout"));
    assert_eq!(browser.see("location.pathname"), format!("/debug/trace/{id}"));
    browser.reload();
    shown(&browser, &id);
    browser.click("#trace ul a");
    browser.until("document.querySelector('#trace pre')");
    browser.back();
    shown(&browser, &id);
}

#[test]
fn a_users_key_stays_where_no_other_is_given() {
    let server = without_model();
    let ada = ada_key(&server);
    let admin = admin_key(&server);
    let id = traced(&ada.client);
    let browser = open(DESK, &server, &id);
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    asked_for_a_key(&browser, "An admin key is needed here.");
    browser.press(ESCAPE);
    browser.until("document.getElementById('on')");
    assert!(browser.text("#trace .note").starts_with("An admin key is needed here."));
    assert_eq!(browser.text("#on"), "Use another key");
    assert_eq!(browser.see("sessionStorage.getItem('novelo.key')"), ada.secret.as_str(), "it is good on the chat page");
    browser.screenshot("trace-forbidden");
    browser.click("#on");
    asked_for_a_key(&browser, "");
    enter(&browser, &admin.secret);
    shown(&browser, &id);
}

#[test]
fn logging_out_clears_the_trace_also_from_the_browsers_memory() {
    let server = without_model();
    let admin = admin_key(&server);
    let id = traced(&admin.client);
    let browser = open(DESK, &server, &id);
    asked_for_a_key(&browser, "");
    enter(&browser, &admin.secret);
    shown(&browser, &id);
    browser.click("#logout");
    assert_eq!(browser.text("#trace .note"), "You have logged out.");
    assert!(!browser.text("body").contains("api/ask") && browser.see("document.title") == "Novelo");
    assert!(browser.see("sessionStorage.getItem('novelo.key')").is_null() && !browser.shows("#logout"));
    browser.screenshot("trace-left");
    browser.click("#on");
    asked_for_a_key(&browser, "");
    enter(&browser, &admin.secret);
    shown(&browser, &id);

    browser.go(server.addr, "/chat");
    browser.until("document.getElementById('thread_id').value");
    browser.click("#logout");
    browser.back();
    browser.until("document.getElementById('login')?.open || document.getElementById('on')");
    assert!(!browser.text("body").contains("api/ask"), "{}", browser.text("body"));
}

/// The browser may bring a page back as it was, instead of loading it.
#[test]
fn a_page_that_is_brought_back_without_its_key_is_cleared() {
    let server = without_model();
    let admin = admin_key(&server);
    let id = traced(&admin.client);
    let browser = open(DESK, &server, &id);
    asked_for_a_key(&browser, "");
    enter(&browser, &admin.secret);
    shown(&browser, &id);
    let come_back = "dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))";
    browser.run(come_back);
    shown(&browser, &id);
    browser.run(&format!("sessionStorage.clear(); {come_back}"));
    assert_eq!(browser.text("#trace .note"), "You have logged out.");
    assert!(!browser.text("body").contains("api/ask") && !browser.shows("#logout"));
}

#[test]
fn a_key_that_is_revoked_shows_nothing_more() {
    let server = without_model();
    let (first, second) = (admin_key(&server), admin_key(&server));
    let id = traced(&first.client);
    let browser = open(DESK, &server, &id);
    asked_for_a_key(&browser, "");
    enter(&browser, &first.secret);
    shown(&browser, &id);
    revoke(&server, &first);
    browser.reload();
    asked_for_a_key(&browser, "This key is not known.");
    assert!(!browser.text("#trace").contains("api/ask"));
    enter(&browser, &second.secret);
    shown(&browser, &id);
}

#[test]
fn what_is_not_there_is_said_to_an_admin_alone() {
    let server = without_model();
    let admin = admin_key(&server);
    let browser = open(DESK, &server, "nothing");
    asked_for_a_key(&browser, "");
    browser.press(ESCAPE);
    browser.until("document.getElementById('on')");
    assert_eq!(browser.text("#trace .note"), "A trace is shown to those who have an admin key.");
    browser.click("#on");
    enter(&browser, &admin.secret);
    browser.until("document.querySelector('#trace .note')?.innerText.startsWith('There is no such trace.')");
    assert_eq!(browser.text("#on"), "Try again");
}

#[test]
fn a_server_that_is_gone_is_said() {
    let server = without_model();
    let admin = admin_key(&server);
    let browser = open(DESK, &server, &traced(&admin.client));
    asked_for_a_key(&browser, "");
    server.kill();
    enter(&browser, &admin.secret);
    browser.until("document.getElementById('on')");
    assert!(browser.text("#trace .note").starts_with("The server does not answer."), "{}", browser.text("#trace"));
    assert_eq!(browser.text("#on"), "Try again");
}

#[test]
fn a_trace_is_read_on_a_phone_and_in_the_dark() {
    let server = without_model();
    let admin = admin_key(&server);
    let id = forged(&admin.client, &long());
    let looks = [
        (DARK, "trace-dark"),
        (LARGE_PHONE, "trace-390"),
        (Look { dark: true, ..LARGE_PHONE }, "trace-390-dark"),
        (Look { language: "ru-RU", ..DESK }, "trace-ru"),
        (Look { language: "pt-BR", ..DESK }, "trace-pt"),
    ];
    for (look, picture) in looks {
        let browser = open(look, &server, &id);
        browser.until("document.getElementById('login').open");
        enter(&browser, &admin.secret);
        shown(&browser, &id);
        browser.screenshot(picture);
        browser.run("scrollTo(0, document.documentElement.scrollHeight)");
        browser.screenshot(&format!("{picture}-end"));
        let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(browser.see(fits), true, "{picture}");
        let lowest = browser.run(CONTRAST);
        assert!(lowest[0].as_f64() >= Some(4.5), "{picture}: {lowest}");
    }
}

#[test]
fn whatever_a_trace_holds_stays_text() {
    let server = without_model();
    let evil = "<img src=x onerror=\"document.title='evil'\"><script>document.title='evil'</script>";
    let mark = json!({"name": evil, "value": [evil], "why": evil});
    let id = forged(
        &server,
        &json!({
            "id": "", "surface": evil, "started_at": 1.0, "finished_at": 2.0, "model": evil, "heuristics": [mark],
            "prompts": ["\"><img src=x>", "javascript:document.title='evil'"],
            "modules": [{"name": evil, "status": evil, "why": evil, "tokens": 1, "missing_tokens": 2}],
            "caches": [{"cache": evil, "is_hit": true, "key": evil}],
            "embeddings": [{"kind": evil, "against": evil, "similarity": 0.5, "hits": 1, "took_ms": 1.0}],
            "memory": {"saves": true, "intensity": 7.5, "why": evil, "id": evil},
            "latency": {"prompt_ready_ms": 1.0, "first_token_ms": 2.5, "total_ms": 1000.0},
            "errors": [{"stage": evil, "message": evil, "at_ms": 1.0}],
        }),
    );
    let browser = open(DESK, &server, &id);
    shown(&browser, &id);
    assert_eq!(browser.see("document.querySelectorAll('#trace img, #trace script').length"), 0);
    let text = browser.text("#trace");
    assert!(text.matches("<script>").count() >= 16, "{text}");
    let links = browser.see("[...document.querySelectorAll('#trace ul a')].map((link) => link.pathname)");
    let expected = ["%22%3E%3Cimg%20src%3Dx%3E", "javascript%3Adocument.title%3D'evil'"];
    assert_eq!(links, json!(expected.map(|id| format!("/debug/trace/{id}"))));
    let bars = browser.see("[...document.querySelectorAll('#trace meter')].map(({max, value}) => [max, value])");
    assert_eq!(bars, json!([[1000, 1], [1000, 2.5], [1000, 1000]]));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// A trace as its user may write one; the id that leads to it.
fn forged(client: &Client, value: &Value) -> String {
    client.put(&format!("/v1/docs/users/demo/convo.sessions/c/traces/{}", "e".repeat(32)), value).ok();
    URL_SAFE_NO_PAD.encode([[0xee; 16].as_slice(), b"demo\0c"].concat())
}

/// A trace with something in every section, and long words.
fn long() -> Value {
    let heuristic = |n: usize| json!({"name": format!("signal:storm_{n}"), "value": n, "why": "the words storm, gale"});
    json!({
        "id": "", "surface": "ask-eco", "started_at": 1_794_836_951.034, "finished_at": 1_794_836_953.5, "model": "tiny",
        "prompts": ["x".repeat(60)], "heuristics": (0..4).map(heuristic).collect::<Vec<_>>(),
        "modules": [
            {"name": "core", "status": "kept", "why": "pinned", "tokens": 50},
            {"name": "deck_of_the_ship", "status": "cut", "why": "over budget", "tokens": 900, "missing_tokens": 450},
        ],
        "caches": [{"cache": "response", "is_hit": false, "key": "k".repeat(64)}],
        "embeddings": [{"kind": "openai", "against": "heuristics", "similarity": 0.875, "hits": 1, "took_ms": 12.5}],
        "memory": {"saves": true, "intensity": 7.5, "why": "intensity 7.5 is at least 7", "id": "m".repeat(32)},
        "latency": {"prompt_ready_ms": 3.25, "first_token_ms": 812.5, "total_ms": 2_466.0},
        "errors": [{"stage": "model", "message": "the model broke off: connection reset by peer", "at_ms": 900.0}],
    })
}
