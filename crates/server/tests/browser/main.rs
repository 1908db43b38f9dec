//! The pages in a real browser. Pictures of them are kept in `target/screenshots`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod chat;
mod files;
mod foreign;
mod login;
mod trace;
mod wire;

use std::time::Duration;

use support::browser::{Browser, ENTER, Look};
use support::models::{Act, Models};
use support::{Client, Home, Server, Value, json};

const SAMPLE: (&str, &str) = ("NOVELO_SAMPLE", "true");
const REWRITES_BY_RULES: (&str, &str) = ("NOVELO_MODELS_REWRITE_URL", "none");
const NO_MODEL: (&str, &str) = ("NOVELO_MODELS_ANSWER_URL", "none");

/// The last answer is whole: nothing is awaited any more.
const RESTS: &str = "document.getElementById('send').ariaDisabled === 'false'";

/// A server with the sample documents that asks no model.
fn without_model() -> Server {
    Home::new().serve_with(&[SAMPLE, NO_MODEL])
}

/// A server with the sample documents whose questions are answered by a script, and understood by rules.
fn with_model(models: &Models) -> Server {
    let [answer] = models.settings();
    Home::new().serve_with(&[SAMPLE, answer, REWRITES_BY_RULES])
}

fn chat(look: Look, server: &Server) -> Browser {
    let browser = Browser::open(look, server.addr, "/chat");
    browser.until("document.getElementById('thread_id').value");
    browser
}

/// Types a question and sends it; there are so many exchanges then.
fn ask(browser: &Browser, question: &str, exchanges: usize) {
    browser.run("document.getElementById('question').focus()");
    browser.press(&format!("{question}{ENTER}"));
    browser.until(&format!("document.querySelectorAll('.exchange .answer').length === {exchanges}"));
}

fn answered(browser: &Browser, question: &str, exchanges: usize) {
    ask(browser, question, exchanges);
    browser.until(RESTS);
}

fn thread_id(browser: &Browser) -> String {
    browser.see("document.getElementById('thread_id').value").as_str().unwrap().to_owned()
}

fn typed(browser: &Browser) -> Value {
    browser.see("document.getElementById('question').value")
}

/// Many words, with a pause before each.
fn slowly(count: usize, pause_ms: u64) -> Act {
    let words = (1..=count).map(|n| format!("word{n} ")).collect();
    Act::Paced(words, Duration::from_millis(pause_ms))
}

/// A key that was made for a test.
struct TestKey {
    id: String,
    secret: String,
    /// Calls with it.
    client: Client,
}

/// Makes a key as the operator does on this machine.
fn key(server: &Server, wish: Value) -> TestKey {
    let made = server.client_of_the_data_directory().post("/v1/keys", wish).ok();
    let [id, secret] = ["id", "key"].map(|name| made[name].as_str().unwrap().to_owned());
    let client = server.client().with("authorization", &format!("Bearer {secret}"));
    TestKey { id, secret, client }
}

fn admin_key(server: &Server) -> TestKey {
    key(server, json!({"admin": true}))
}

/// The key of a user who has a document about tea.
fn ada_key(server: &Server) -> TestKey {
    let ada = key(server, json!({"user": "ada"}));
    let tea = json!({"id": "tea", "name": "Tea", "text": "Ada drinks oolong tea."});
    ada.client.post(&support::user("ada", "/documents"), tea).ok();
    ada
}

fn revoke(server: &Server, key: &TestKey) {
    server.client_of_the_data_directory().delete(&format!("/v1/keys/{}", key.id)).ok();
}

/// The form that asks for a key is open, and says so much about the last one.
fn asked_for_a_key(browser: &Browser, trouble: &str) {
    browser.until("document.getElementById('login')?.open");
    browser.until(&format!("document.getElementById('login-trouble').innerText.includes({})", json!(trouble)));
    assert_eq!(browser.shows("#login-trouble"), !trouble.is_empty());
    assert_eq!(
        (browser.focus(), browser.see("document.activeElement.type")),
        ("login-key".to_owned(), json!("password"))
    );
}

fn enter(browser: &Browser, secret: &str) {
    browser.press(&format!("{secret}{ENTER}"));
}

/// The lowest contrast of any text that is seen with what is behind it, and the text.
const CONTRAST: &str = r"
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgb = (colour, below) => {
        canvas.fillStyle = below; canvas.fillRect(0, 0, 1, 1);
        canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (channels) => {
        const [r, g, b] = channels.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        const colour = element ? getComputedStyle(element).backgroundColor : 'white';
        return rgb(colour, element ? `rgb(${behind(element.parentElement)})` : 'white');
    };
    let lowest = [21, ''];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const element = walk.currentNode.parentElement;
        const words = walk.currentNode.textContent.trim();
        if (!words || element.closest('.unseen, .skip, noscript') || !element.checkVisibility()) continue;
        const ground = behind(element);
        const ink = rgb(getComputedStyle(element).color, `rgb(${ground})`);
        const [a, b] = [light(ink), light(ground)].sort((a, b) => b - a);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < lowest[0]) lowest = [ratio, words];
    }
    return lowest;
";
