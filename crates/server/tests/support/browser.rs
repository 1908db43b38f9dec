//! A real Chromium, driven through `chromedriver` as a person would: by keys, clicks and looking.
//!
//! Owns the driver, the browser and its profile: each browser has its own, and all end with its handle.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use base64::Engine;
use tempfile::TempDir;

use super::{Client, Value, eventually, json};

/// Keys that are not characters, as WebDriver writes them.
pub const ENTER: &str = "\u{e007}";
pub const ESCAPE: &str = "\u{e00c}";
pub const SHIFT: &str = "\u{e008}";
pub const SPACE: &str = " ";
pub const TAB: &str = "\u{e004}";

/// What a reader's machine is like.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub phone: bool,
    pub dark: bool,
    pub language: &'static str,
}

pub struct Browser {
    client: Client,
    session: String,
    driver: Child,
    profile: TempDir,
}

/// As a reader at a desk sees it.
pub const DESK: Look = Look { width: 1000, height: 760, phone: false, dark: false, language: "en-US" };
pub const PHONE: Look = Look { width: 320, height: 640, phone: true, ..DESK };
pub const LARGE_PHONE: Look = Look { width: 390, height: 844, phone: true, ..DESK };
pub const DARK: Look = Look { dark: true, ..DESK };

/// A mouse, which a browser without a screen would not have.
const MOUSE: &str =
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4";

impl Browser {
    /// Opens a page.
    pub fn open(look: Look, address: SocketAddr, path: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let (driver, client) = driver();
        let answer = send(&client, "POST", "/session", &capabilities(look, profile.path()).to_string());
        let session = value(&answer.unwrap())["sessionId"].as_str().unwrap().to_owned();
        let browser = Self { client, session, driver, profile };
        let screen =
            json!({"width": look.width, "height": look.height, "deviceScaleFactor": 1.5, "mobile": look.phone});
        browser.devtools("Emulation.setDeviceMetricsOverride", &screen);
        let scheme = if look.dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        browser.devtools("Emulation.setEmulatedMedia", &json!({"features": features}));
        browser.go(address, path);
        browser
    }

    /// Goes to another page in the same tab.
    pub fn go(&self, address: SocketAddr, path: &str) {
        self.call("POST", "/url", &json!({"url": format!("http://{address}{path}")}));
    }

    pub fn back(&self) {
        self.call("POST", "/back", &json!({}));
    }

    /// The tabs that are open.
    pub fn tabs(&self) -> Vec<String> {
        let handles = self.call("GET", "/window/handles", &Value::Null);
        handles.as_array().unwrap().iter().map(|handle| handle.as_str().unwrap().to_owned()).collect()
    }

    /// Looks at another tab from now on.
    pub fn turn_to(&self, tab: &str) {
        self.call("POST", "/window", &json!({"handle": tab}));
    }

    pub fn reload(&self) {
        self.call("POST", "/refresh", &json!({}));
    }

    /// Runs a script and gives what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// What an expression is worth on the page.
    pub fn see(&self, expression: &str) -> Value {
        self.run(&format!("return ({expression})"))
    }

    /// Waits until an expression holds.
    #[track_caller]
    pub fn until(&self, expression: &str) {
        let holds = eventually(|| self.see(&format!("Boolean({expression})")) == true);
        assert!(holds, "never came true: {expression}\non the page: {}", self.see("document.body.innerText"));
    }

    /// What is written in the last element that a selector names; nothing where there is none.
    pub fn text(&self, selector: &str) -> String {
        let script = format!("[...document.querySelectorAll({})].at(-1)?.innerText ?? ''", json!(selector));
        self.see(&script).as_str().unwrap().to_owned()
    }

    /// Whether something is there to be seen.
    pub fn shows(&self, selector: &str) -> bool {
        let selector = json!(selector);
        self.see(&format!("document.querySelector({selector})?.checkVisibility({{visibilityProperty: true}}) ?? false"))
            == true
    }

    pub fn click(&self, selector: &str) {
        self.run(&format!("document.querySelector({}).scrollIntoView({{block: 'center'}})", json!(selector)));
        let found = self.call("POST", "/element", &json!({"using": "css selector", "value": selector}));
        let element = found.as_object().unwrap().values().next().unwrap().as_str().unwrap();
        self.call("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Presses keys one after another, wherever the focus is; a shift is held for the key after it.
    pub fn press(&self, keys: &str) {
        let (mut actions, mut shifted) = (Vec::new(), false);
        let act = |kind: &str, key: &str| json!({"type": kind, "value": key});
        for key in keys.chars().map(String::from) {
            actions.extend(["keyDown"].map(|kind| act(kind, &key)));
            if key == SHIFT {
                shifted = true;
                continue;
            }
            actions.push(act("keyUp", &key));
            if std::mem::take(&mut shifted) {
                actions.push(act("keyUp", SHIFT));
            }
        }
        let keyboard = json!({"type": "key", "id": "keyboard", "actions": actions});
        self.call("POST", "/actions", &json!({"actions": [keyboard]}));
    }

    /// The id of what has the focus.
    pub fn focus(&self) -> String {
        self.see("document.activeElement.id").as_str().unwrap().to_owned()
    }

    /// What the browser complained of.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({"type": "browser"}));
        log.as_array().unwrap().iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect()
    }

    /// Keeps a picture of what is seen.
    pub fn screenshot(&self, name: &str) {
        let picture = self.call("GET", "/screenshot", &Value::Null);
        let picture = base64::engine::general_purpose::STANDARD.decode(picture.as_str().unwrap()).unwrap();
        std::fs::create_dir_all(screenshots()).unwrap();
        std::fs::write(screenshots().join(format!("{name}.png")), picture).unwrap();
    }

    fn devtools(&self, command: &str, params: &Value) {
        self.call("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": params}));
    }

    #[track_caller]
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = send(&self.client, method, &format!("/session/{}{path}", self.session), &body);
        value(&answer.unwrap()).clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser; what is left of both is no reason to hide how the test went.
        drop(send(&self.client, "DELETE", &format!("/session/{}", self.session), ""));
        drop(self.driver.kill());
        drop(self.driver.wait());
    }
}

/// Pictures are kept in `target/screenshots`.
fn screenshots() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("screenshots")
}

/// A driver on a port of its own choice.
fn driver() -> (Child, Client) {
    let mut command = Command::new("chromedriver");
    command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let started = command.spawn();
    let mut driver = started.expect("chromedriver starts: apt-get install chromium chromium-driver");
    let lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    let port = lines
        .filter_map(|line| {
            line.split_once("successfully on port ").map(|(_, rest)| rest.trim_end_matches('.').to_owned())
        })
        .next();
    let port: u16 = port.expect("chromedriver tells its port").parse().unwrap();
    (driver, Client::new(SocketAddr::from(([127, 0, 0, 1], port))))
}

fn capabilities(look: Look, profile: &Path) -> Value {
    let mut args = vec![
        "--headless=new".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--disable-background-networking".to_owned(),
        format!("--lang={}", look.language),
        format!("--user-data-dir={}", profile.display()),
    ];
    if !look.phone {
        args.push(MOUSE.to_owned());
    }
    let options = json!({"args": args, "prefs": {"intl.accept_languages": look.language}});
    json!({"capabilities": {"alwaysMatch": {
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL"},
    }}})
}

/// The driver never closes a connection by itself, so the answer ends where it says.
fn send(client: &Client, method: &str, path: &str, body: &str) -> std::io::Result<Value> {
    client.session()?.call(method, path, body).map(|answer| answer.json())
}

#[track_caller]
fn value(answer: &Value) -> &Value {
    assert!(answer["value"]["error"].is_null(), "{}: {}", answer["value"]["error"], answer["value"]["message"]);
    &answer["value"]
}
