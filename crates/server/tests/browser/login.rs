//! Keys on the pages: asked for when one is needed, kept by the tab, sent as a header, forgotten on request.

use crate::support::browser::{Browser, DARK, DESK, ENTER, ESCAPE, LARGE_PHONE, Look, PHONE, SHIFT, TAB};
use crate::support::models::Models;
use crate::support::{Home, Server, json, thread};
use crate::wire::Wire;
use crate::{
    CONTRAST, NO_MODEL, RESTS, SAMPLE, ada_key, admin_key, answered, ask, asked_for_a_key, chat, enter, revoke, slowly,
    thread_id, typed, with_model, without_model,
};

const QUESTION: &str = "What does Ada drink?";

/// Where a key must not be found.
fn assert_unseen(browser: &Browser, secret: &str) {
    let places = "document.documentElement.outerHTML + location.href + JSON.stringify(history.state) + document.cookie \
                  + JSON.stringify({...localStorage}) + document.title + document.getElementById('login-key').value";
    let all = browser.see(places);
    assert!(!all.as_str().unwrap().contains(secret), "{all}");
    let asked_for = browser.see("performance.getEntries().map((entry) => entry.name).join()");
    assert!(!asked_for.as_str().unwrap().contains(secret), "{asked_for}");
}

#[test]
fn a_key_is_asked_for_and_kept_for_the_tab() {
    let server = Home::new().serve_with(&[SAMPLE, NO_MODEL, ("NOVELO_LOG_LEVEL", "trace")]);
    let ada = ada_key(&server);
    let browser = chat(DESK, &server);
    assert!(!browser.shows("#logout"));
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    browser.screenshot("login");
    for wrong in ["nvl_wrong", "ключ", "two words"] {
        enter(&browser, wrong);
        asked_for_a_key(&browser, "This key is not known.");
        browser.run("document.getElementById('login-key').value = ''");
    }
    assert_eq!(typed(&browser), QUESTION, "nothing that was typed is lost");
    browser.screenshot("login-unknown");
    enter(&browser, &format!(" {} ", ada.secret));
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    assert!(browser.text(".answer").contains("oolong"), "{}", browser.text(".answer"));
    assert_eq!(browser.see("sessionStorage.getItem('novelo.key')"), ada.secret.as_str());
    assert_unseen(&browser, &ada.secret);
    browser.reload();
    browser.until("document.querySelectorAll('.exchange .answer').length === 1");
    answered(&browser, QUESTION, 2);
    assert!(!browser.shows("#login") && browser.shows("#logout"));
    let log = std::fs::read_to_string(server.home.path("stderr.log")).unwrap();
    assert!(log.contains("/chat/ask") && !log.contains(&ada.secret), "the log has requests, and no key");
}

#[test]
fn logging_out_forgets_the_key_and_clears_what_is_shown() {
    let server = without_model();
    let ada = ada_key(&server);
    let browser = chat(DESK, &server);
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    let before = thread_id(&browser);
    browser.press("half a que");
    browser.click("#logout");
    assert!(browser.see("sessionStorage.getItem('novelo.key')").is_null() && !browser.shows("#logout"));
    assert_eq!((browser.text("#log"), typed(&browser)), (String::new(), json!("")));
    assert!(browser.shows("#welcome") && thread_id(&browser) != before);
    browser.press(&format!("And now?{ENTER}"));
    asked_for_a_key(&browser, "");
    browser.press(ESCAPE);
    browser.until("!document.getElementById('login').open && !document.getElementById('trouble').hidden");
    assert_eq!((typed(&browser), browser.focus()), (json!("And now?"), "question".to_owned()));
    assert_eq!(browser.text("#trouble"), "A key is needed to ask here.");
}

#[test]
fn logging_out_ends_an_answer_that_is_still_written() {
    let models = Models::start();
    models.play([slowly(600, 100)]);
    let server = with_model(&models);
    let ada = ada_key(&server);
    let browser = chat(DESK, &server);
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    browser.until("document.querySelector('.answer')?.innerText.includes('word3')");
    let of = thread_id(&browser);
    browser.click("#logout");
    let stored = || ada.client.get(&thread("ada", &of, "/turns?last=1")).ok()["turns"][0]["message"].clone();
    assert!(crate::support::eventually(|| stored()["partial"] == "client_left"), "{}", stored());
    assert_eq!(browser.text("#log"), "", "what comes late is not shown");
}

#[test]
fn a_key_that_is_revoked_leads_back_to_the_form() {
    let server = without_model();
    let (first, second) = (ada_key(&server), ada_key(&server));
    let browser = chat(DESK, &server);
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &first.secret);
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    revoke(&server, &first);
    browser.press(&format!("Which tea is it?{ENTER}"));
    asked_for_a_key(&browser, "This key is not known.");
    assert_eq!(typed(&browser), "Which tea is it?");
    assert!(browser.see("sessionStorage.getItem('novelo.key')").is_null());
    enter(&browser, &second.secret);
    browser.until(&format!("document.querySelectorAll('.exchange .answer').length === 2 && {RESTS}"));
    let said = second.client.said("ada", &thread_id(&browser));
    assert_eq!([&said[0], &said[2]], [QUESTION, "Which tea is it?"], "the conversation goes on: {said:?}");
}

#[test]
fn an_answer_is_read_on_with_another_key() {
    let models = Models::start();
    models.play([slowly(60, 100)]);
    let server = with_model(&models);
    let (first, second) = (ada_key(&server), ada_key(&server));
    let wire = Wire::to(server.addr);
    let browser = Browser::open(DESK, wire.addr, "/chat");
    browser.until("document.getElementById('thread_id').value");
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &first.secret);
    browser.until("document.querySelector('.answer')?.innerText.includes('word3')");
    browser.press("and a");
    revoke(&server, &first);
    wire.cut();
    asked_for_a_key(&browser, "This key is not known.");
    enter(&browser, &second.secret);
    browser.until(RESTS);
    let expected: Vec<String> = (1..=60).map(|n| format!("word{n}")).collect();
    assert_eq!(browser.text(".answer"), expected.join(" "), "each word once");
    assert_eq!((typed(&browser), browser.shows(".trouble")), (json!("and a"), false));
    assert_eq!(second.client.said("ada", &thread_id(&browser)).len(), 2, "the question was asked once");
}

#[test]
fn an_answer_that_another_key_may_not_read_gives_the_question_back() {
    let models = Models::start();
    models.play([slowly(600, 100)]);
    let server = with_model(&models);
    let ada = ada_key(&server);
    let bob = crate::key(&server, json!({"user": "bob"}));
    let wire = Wire::to(server.addr);
    let browser = Browser::open(DESK, wire.addr, "/chat");
    browser.until("document.getElementById('thread_id').value");
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    browser.until("document.querySelector('.answer')?.innerText.includes('word3')");
    revoke(&server, &ada);
    wire.cut();
    asked_for_a_key(&browser, "This key is not known.");
    enter(&browser, &bob.secret);
    browser.until(RESTS);
    assert!(browser.text(".notes").contains("no longer has this answer"), "{}", browser.text(".notes"));
    assert_eq!(typed(&browser), QUESTION);
}

#[test]
fn nothing_is_asked_on_a_server_without_keys() {
    let server = without_model();
    for path in ["/", "/chat", "/debug/trace/nothing"] {
        let browser = Browser::open(DESK, server.addr, path);
        browser.until("document.getElementById('login')");
        if path == "/chat" {
            answered(&browser, QUESTION, 1);
        }
        assert!(!browser.shows("#login") && !browser.shows("#logout"), "{path}");
    }
}

#[test]
fn the_keyboard_is_enough_to_log_in() {
    let server = without_model();
    let ada = ada_key(&server);
    let browser = chat(DESK, &server);
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    browser.press(ENTER);
    asked_for_a_key(&browser, "");
    browser.press(TAB);
    assert_eq!(browser.see("document.activeElement.innerText"), "Cancel");
    browser.press(TAB);
    assert_eq!(browser.see("document.activeElement.innerText"), "Log in");
    browser.press(&format!("{SHIFT}{TAB}"));
    browser.press(&format!("{SHIFT}{TAB}"));
    enter(&browser, &ada.secret);
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    assert_eq!(browser.focus(), "question");
}

#[test]
fn the_form_is_read_everywhere_and_in_every_scheme() {
    let server = without_model();
    ada_key(&server);
    let looks = [
        (DESK, "A key is needed", "login-light"),
        (DARK, "A key is needed", "login-dark"),
        (LARGE_PHONE, "A key is needed", "login-390"),
        (Look { dark: true, ..LARGE_PHONE }, "A key is needed", "login-390-dark"),
        (Look { language: "pt-BR", ..LARGE_PHONE }, "É preciso uma chave", "login-pt"),
        (Look { language: "ru-RU", ..LARGE_PHONE }, "Нужен ключ", "login-ru"),
    ];
    for (look, title, picture) in looks {
        let browser = chat(look, &server);
        browser.run("document.getElementById('question').focus()");
        browser.press(&format!("{QUESTION}{ENTER}"));
        asked_for_a_key(&browser, "");
        enter(&browser, "nvl_wrong");
        browser.until("!document.getElementById('login-trouble').hidden && document.getElementById('login').open");
        assert_eq!(browser.text("#login-title"), title);
        browser.screenshot(picture);
        assert_eq!(browser.see("document.documentElement.scrollWidth"), look.width);
        let lowest = browser.run(CONTRAST);
        assert!(lowest[0].as_f64() >= Some(4.5), "{picture}: {lowest}");
    }
}

#[test]
fn the_bar_has_room_for_its_buttons_on_a_phone() {
    let server = without_model();
    let ada = ada_key(&server);
    for (language, picture) in [("en-US", "phone-logged-in"), ("ru-RU", "phone-logged-in-ru")] {
        let browser = chat(Look { language, ..PHONE }, &server);
        browser.run("document.getElementById('question').focus()");
        browser.press(&format!("{QUESTION}{ENTER}"));
        asked_for_a_key(&browser, "");
        enter(&browser, &ada.secret);
        browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
        browser.screenshot(picture);
        assert!(browser.shows("#logout") && browser.shows("#fresh"));
        assert_eq!(browser.see("document.documentElement.scrollWidth"), 320);
        let right =
            "Math.max(...[...document.querySelectorAll('.bar *')].map((part) => part.getBoundingClientRect().right))";
        assert!(browser.see(right).as_f64() <= Some(320.0), "{language}: {}", browser.see(right));
    }
}

#[test]
fn the_front_page_opens_data_with_the_key() {
    let server = without_model();
    let (admin, ada) = (admin_key(&server), ada_key(&server));
    admin.client.say("demo", "welcome", &["the first turn of demo"]);
    let browser = Browser::open(DESK, server.addr, "/");
    browser.until("document.getElementById('login')");
    browser.click("a[href$='/turns']");
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    asked_for_a_key(&browser, "An admin key is needed here.");
    enter(&browser, &admin.secret);
    browser.until("document.querySelector('#data pre')?.innerText.includes('the first turn of demo')");
    browser.screenshot("front");
    browser.click("a[href='/metrics']");
    browser.until("document.querySelector('#data pre').innerText.includes('novelo_')");
    browser.click("#logout");
    assert_eq!(browser.text("#data"), "");
}

/// A tab that is opened by a link of ours is given the key by the browser.
#[test]
fn a_link_to_a_trace_takes_the_key_along() {
    let server = without_model();
    let admin = admin_key(&server);
    let browser = chat(DESK, &server);
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &admin.secret);
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    let first = browser.tabs();
    browser.click(".foot a");
    assert!(crate::support::eventually(|| browser.tabs().len() == 2));
    let second = browser.tabs().into_iter().find(|tab| !first.contains(tab)).unwrap();
    browser.turn_to(&second);
    browser.until("document.querySelector('#trace dl')");
    assert_eq!(browser.text("#trace h2"), "Trace of a request: chat page");
    browser.click("#logout");
    browser.turn_to(&first[0]);
    ask(&browser, "And then?", 2);
    browser.until(RESTS);
    assert!(!browser.shows("#login"), "each tab has its own");
}

#[test]
fn a_browser_that_blocks_storage_holds_the_key_for_the_page() {
    let server = Server::start();
    let ada = ada_key(&server);
    let browser = chat(DESK, &server);
    // As where the reader has blocked site data: every access throws.
    browser.run("Object.defineProperty(window, 'sessionStorage', {get() { throw new DOMException('blocked', 'SecurityError') }})");
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    browser.click("#logout");
    browser.press(&format!("{QUESTION}{ENTER}"));
    asked_for_a_key(&browser, "");
}
