//! A page of another origin, in the very tab that has a key: it reads nothing and changes nothing.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};

use crate::support::browser::{Browser, DESK, ENTER};
use crate::support::{Value, json, user};
use crate::{RESTS, ada_key, admin_key, answered, asked_for_a_key, chat, enter, without_model};

/// What the page tries; each try ends with its result.
const ATTACK: &str = r#"<!doctype html><meta charset="utf-8"><title>foreign</title><body><script>
const [server, trace] = [SERVER, TRACE];
const results = {};
const reached = (answer) => `${answer.type} ${answer.status}`;
const attempt = async (name, action) => {
  try { results[name] = await action(); } catch (error) { results[name] = error.name; }
};
const loaded = (tag, attributes) => new Promise((resolve) => {
  const element = Object.assign(document.createElement(tag), attributes);
  element.onload = () => resolve(tag === "iframe" ? inside(element) : "loaded");
  element.onerror = () => resolve("failed");
  document.body.append(element);
});
const inside = (frame) => { try { return frame.contentWindow.document.body.innerText; } catch (error) { return error.name; } };
const posted = (name, action, fields) => new Promise((resolve) => {
  const frame = Object.assign(document.createElement("iframe"), { name });
  const form = Object.assign(document.createElement("form"), { method: "post", action, target: name });
  for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement("input"), { name, value }));
  document.body.append(frame, form);
  frame.onload = () => resolve(inside(frame));
  form.submit();
});
const cookies = { credentials: "include" };
const json = JSON.stringify({ admin: true });
(async () => {
  await attempt("read", async () => reached(await fetch(`${server}/v1/users/ada/threads`, cookies)));
  await attempt("read blindly", async () => reached(await fetch(`${server}/v1/users/ada/threads`, { mode: "no-cors", ...cookies })));
  await attempt("read trace", async () => reached(await fetch(`${server}/debug/trace/${trace}`, cookies)));
  await attempt("guess", async () => reached(await fetch(`${server}/v1/keys`, { headers: { Authorization: "Bearer guess" }, ...cookies })));
  await attempt("make a key", async () => reached(await fetch(`${server}/v1/keys`, { method: "POST", mode: "no-cors", body: json, ...cookies })));
  await attempt("forget", async () => reached(await fetch(`${server}/v1/users/ada`, { method: "DELETE", ...cookies })));
  await attempt("ask", () => posted("ask", `${server}/chat/ask`, { thread_id: "foreign", question: "FOREIGN" }));
  await attempt("frame chat", () => loaded("iframe", { src: `${server}/chat` }));
  await attempt("frame trace", () => loaded("iframe", { src: `${server}/debug/trace/${trace}` }));
  await attempt("image", () => loaded("img", { src: `${server}/debug/trace/${trace}` }));
  await attempt("icon", () => loaded("img", { src: `${server}/assets/icon.svg` }));
  await attempt("script", () => loaded("script", { src: `${server}/v1/users/ada/threads` }));
  await attempt("own script", () => loaded("script", { src: `${server}/assets/login.js` }));
  await attempt("storage", () => String(sessionStorage.getItem("novelo.key")));
  await attempt("cookies", () => document.cookie || "none");
  const opened = window.open(`${server}/chat`);
  await attempt("opened", async () => {
    for (;;) {
      try { void opened.document.body; } catch (error) { break; }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return opened.sessionStorage.getItem("novelo.key");
  });
  window.results = results;
})();
</script>"#;

/// Serves one page on a port of its own, whatever is asked for, until the test ends.
fn serve_page(page: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let page = page.clone();
            std::thread::spawn(move || {
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n", page.len());
                // A browser that has left is no failure.
                drop(stream.write_all(format!("{head}connection: close\r\n\r\n{page}").as_bytes()));
            });
        }
    });
    addr
}

/// Whatever exists on the server.
fn everything(admin: &crate::TestKey) -> [Value; 4] {
    [
        admin.client.get("/v1/keys").ok(),
        admin.client.get(&user("ada", "/threads")).ok(),
        admin.client.get(&user("ada", "/documents")).ok(),
        admin.client.get(&user("anonymous", "/threads")).ok(),
    ]
}

#[test]
fn a_page_of_another_origin_gets_nothing_and_changes_nothing() {
    let server = without_model();
    let (ada, admin) = (ada_key(&server), admin_key(&server));
    let browser: Browser = chat(DESK, &server);
    browser.press(&format!("What does Ada drink?{ENTER}"));
    asked_for_a_key(&browser, "");
    enter(&browser, &ada.secret);
    browser.until(&format!("document.querySelector('.answer') && {RESTS}"));
    let trace = browser.see("document.querySelector('.exchange').dataset.trace");
    let before = everything(&admin);

    let page = ATTACK.replace("SERVER", &json!(format!("http://{}", server.addr)).to_string());
    browser.go(serve_page(page.replace("TRACE", &trace.to_string())), "/");
    browser.until("window.results");
    let results = browser.see("window.results");
    let expected = json!({
        "read": "TypeError", "read blindly": "opaque 0", "read trace": "TypeError", "guess": "TypeError", "make a key": "opaque 0", "forget": "TypeError",
        "ask": "SecurityError", "frame chat": "SecurityError", "frame trace": "SecurityError", "image": "failed", "icon": "failed",
        "script": "failed", "own script": "failed", "storage": "null", "cookies": "none", "opened": "SecurityError",
    });
    assert_eq!(results, expected);
    assert_eq!(everything(&admin), before);
    let framed = browser.complaints().iter().filter(|line| line.contains("frame-ancestors")).count();
    assert_eq!(framed, 2, "neither page could be framed");

    browser.go(server.addr, "/chat");
    browser.until("document.getElementById('thread_id').value");
    answered(&browser, "What does Ada drink?", 1);
    assert!(browser.text(".answer").contains("oolong"), "the tab itself still has its key");
}
