//! Running a page: each scenario on a fresh server, each failure with its place.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::events;
use crate::expect;
use crate::fill::{Names, fill, week_end};
use crate::manner;
use crate::page::{Page, Scenario};
use crate::step::{ASKED, Act, Call, Check, From, Step};
use crate::support::embeddings::Embeddings;
use crate::support::models::Models;
use crate::support::{Answer, CONFIRM, Client, Home};
use crate::{ROUND, Serving};

/// How much of a text a failure shows.
const SHOWN_CHARS_MAX: usize = 6_000;

/// How long an `until` waits between two calls.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs every scenario; what failed, with file and line. An `until` is given up when patience ends.
pub fn page(page: &Page, known: &BTreeSet<&str>, patience: Duration) -> Vec<String> {
    let failures = page.scenarios.iter().filter_map(|scenario| {
        let unknown = scenario.clauses.iter().find(|id| !known.contains(id.as_str()));
        let ran = match unknown {
            Some(id) => Err((scenario.line, format!("{id} is no clause"))),
            None => run(scenario, patience),
        };
        let (line, what) = ran.err()?;
        Some(format!("{}:{line}: {}: {what}", page.file, scenario.clauses.join(" ")))
    });
    failures.collect()
}

/// Where a scenario happens.
struct World<'s> {
    scenario: &'s Scenario,
    home: Arc<Home>,
    /// As the environment has them.
    settings: Vec<(String, String)>,
    /// `None` before the first step that needs it, and between two.
    server: Option<Serving>,
    /// Whether a file was written while it ran.
    rewrote: bool,
    /// There where a setting names it.
    model: Option<Models>,
    /// Requests to the model that were looked at.
    heard: usize,
    names: Names,
    now: i64,
    patience: Duration,
}

/// The scenario on a server of its own; the line and the words of the first failure.
fn run(scenario: &Scenario, patience: Duration) -> Result<(), (usize, String)> {
    let home = Home::new();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    let names = Names::from([
        ("now".into(), now.into()),
        ("week".into(), week_end(now).into()),
        ("home".into(), home.path("").canonicalize().unwrap().to_str().into()),
    ]);
    // Nothing here survives the scenario, so nothing waits for the disk.
    let settings = vec![("NOVELO_DURABILITY".to_owned(), "relaxed".to_owned())];
    let (server, model, rewrote, heard) = (None, None, false, 0);
    let mut world = World { scenario, home, settings, server, rewrote, model, heard, names, now, patience };
    for (n, step) in scenario.steps.iter().enumerate() {
        world.take(step).map_err(|what| (step.line, format!("step {}, {}: {what}", n + 1, step.title())))?;
    }
    Ok(())
}

impl Step {
    fn title(&self) -> String {
        match &self.act {
            Act::Set(setting) => format!("SET {}", setting.key),
            Act::Write { name, .. } => format!("WRITE {name}"),
            Act::Database { name, .. } => format!("DATABASE {name}"),
            Act::Restart => "RESTART".to_owned(),
            Act::Model { .. } => "MODEL".to_owned(),
            Act::Call(call) => format!("{} {}", call.method, call.path),
        }
    }
}

impl World<'_> {
    fn take(&mut self, step: &Step) -> Result<(), String> {
        match &step.act {
            Act::Set(setting) => {
                let name = format!("NOVELO_{}", setting.key.replace('.', "_").to_uppercase());
                if setting.value.contains("{embedder}") {
                    self.names.entry("embedder".into()).or_insert_with(|| Embeddings::start().base.into());
                }
                if setting.value.contains("{model}") {
                    let model = self.model.get_or_insert_with(Models::start);
                    self.names.insert("model".into(), model.base.clone().into());
                }
                self.settings.push((name, fill(&setting.value, &self.names)?));
            }
            Act::Write { name, text } => {
                self.home.write(name, &self.text(text)?);
                self.rewrote |= self.server.is_some();
            }
            Act::Database { name, sql } => {
                let sql = self.text(sql)?;
                let ran = rusqlite::Connection::open(self.home.path(name)).and_then(|file| file.execute_batch(&sql));
                ran.map_err(|e| format!("the script does not run: {e}"))?;
            }
            Act::Restart => drop(self.server.take().map(Serving::kill)),
            Act::Model { always, act } => {
                let act = manner::read(&fill(act, &self.names)?)?;
                match (&self.model, always) {
                    (None, _) => return Err("no setting names {model}".to_owned()),
                    (Some(model), true) => model.otherwise(act),
                    (Some(model), false) => model.play([act]),
                }
            }
            Act::Call(call) if call.method == ASKED => self.asked(call)?,
            Act::Call(call) => self.call(call)?,
        }
        Ok(())
    }

    /// What a JSON string of the page says.
    fn text(&self, written: &str) -> Result<String, String> {
        let filled = fill(written, &self.names)?;
        serde_json::from_str(&filled).map_err(|e| format!("the text is no JSON string: {e}"))
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        let client = self.client();
        // A file that one node has read anew is read by the others in their own time.
        let in_a_row = if call.until && call.method == "GET" && self.rewrote { ROUND } else { 1 };
        self.until(call, |world| {
            (0..in_a_row).try_for_each(|_| make(call, &client, &mut world.names, world.now as f64))
        })
    }

    /// What the model was asked since the last time that anyone looked.
    fn asked(&mut self, call: &Call) -> Result<(), String> {
        self.until(call, |world| {
            let asked = world.model.as_ref().ok_or("no setting names {model}")?.asked();
            let new: Vec<&Value> = asked.iter().skip(world.heard).map(|asked| &asked.body).collect();
            let answer = Answer { status: 200, headers: Vec::new(), body: json!(new).to_string().into() };
            judge(call, &answer, &mut world.names, world.now as f64)?;
            world.heard = asked.len();
            Ok(())
        })
    }

    /// Tries once, or until it is as expected.
    fn until(&mut self, call: &Call, mut make: impl FnMut(&mut Self) -> Result<(), String>) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let made = make(self);
            if made.is_ok() || !call.until || started.elapsed() > self.patience {
                return made;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// A client of the server, which is started if it does not run.
    fn client(&mut self) -> Client {
        if let Some(server) = &self.server {
            return (**server).clone();
        }
        let settings: Vec<_> = self.settings.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let server = crate::serve(&self.home, &settings, self.scenario);
        let client = (*server).clone();
        self.server = Some(server);
        make_keys(self.scenario, &client, &mut self.names);
        client
    }
}

/// A key for each name that an `authorization` header has in braces; from then on, every call needs one.
fn make_keys(scenario: &Scenario, client: &Client, names: &mut Names) {
    let calls = scenario.steps.iter().filter_map(|step| match &step.act {
        Act::Call(call) => Some(call),
        _ => None,
    });
    let owners: BTreeSet<&str> = calls
        .flat_map(|call| &call.headers)
        .filter(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        .filter_map(|(_, value)| value.strip_prefix('{')?.strip_suffix('}'))
        .collect();
    if owners.is_empty() || names.contains_key("admin") {
        return;
    }
    let bearer = |client: &Client, wish: Value| {
        let key = client.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", wish).ok();
        format!("Bearer {}", key["key"].as_str().unwrap())
    };
    let admin = bearer(client, json!({"admin": true}));
    let keyed = client.with("authorization", &admin);
    names.insert("admin".into(), admin.into());
    for owner in owners.into_iter().filter(|owner| *owner != "admin") {
        let wish = match owner {
            "guest" | "service" => json!({"kind": owner}),
            user => json!({"user": user}),
        };
        names.insert(owner.into(), bearer(&keyed, wish).into());
    }
}

fn make(call: &Call, client: &Client, names: &mut Names, now: f64) -> Result<(), String> {
    let mut client = client.clone();
    for (name, value) in &call.headers {
        client = client.with(name, &fill(value, names)?);
    }
    let (path, body) = (fill(&call.path, names)?, fill(&call.body, names)?);
    judge(call, &client.call(&call.method, &path, body), names, now)
}

fn judge(call: &Call, answer: &Answer, names: &mut Names, now: f64) -> Result<(), String> {
    check(call, answer, names, now).map_err(|what| {
        let (expected, actual) = (shown(&call.expected), shown(&answer.text()));
        format!("{what}\n  expected: {} {expected}\n  actual:   {} {actual}", call.status, answer.status)
    })
}

fn check(call: &Call, answer: &Answer, names: &mut Names, now: f64) -> Result<(), String> {
    if answer.status != call.status {
        return Err(format!("expected status {}, got {}", call.status, answer.status));
    }
    let expected = fill(&call.expected, names)?;
    if !expected.trim().is_empty() {
        let expected = serde_json::from_str(&expected).map_err(|e| format!("what is expected is not JSON: {e}"))?;
        expect::same(&expected, &body(answer)?, now)?;
    }
    call.checks.iter().try_for_each(|check| look(check, answer, names))
}

fn look(check: &Check, answer: &Answer, names: &mut Names) -> Result<(), String> {
    match check {
        Check::Has(text) => {
            let text = fill(text, names)?;
            answer.text().contains(&text).then_some(()).ok_or_else(|| format!("the answer has no {text}"))
        }
        Check::Lacks(text) => {
            let text = fill(text, names)?;
            (!answer.text().contains(&text)).then_some(()).ok_or_else(|| format!("the answer has {text}"))
        }
        Check::Save(name, from) => {
            let value = match from {
                From::Header(header) => answer.header(header).map(Value::from),
                From::Body(pointer) => body(answer)?.pointer(pointer).cloned(),
                From::After(text) => {
                    let answer = answer.text();
                    answer.split_once(text).and_then(|(_, after)| Some(after.split_once('"')?.0.into()))
                }
            };
            names.insert(name.clone(), value.ok_or_else(|| format!("{name} cannot be saved: there is no {from:?}"))?);
            Ok(())
        }
    }
}

fn body(answer: &Answer) -> Result<Value, String> {
    if answer.header("content-type") == Some("text/event-stream") {
        return events::read(&answer.text());
    }
    serde_json::from_slice(&answer.body).map_err(|e| format!("the answer is not JSON: {e}"))
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
