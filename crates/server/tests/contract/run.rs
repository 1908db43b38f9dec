//! Running a page: each scenario on a fresh server, each failure with its place.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::expect;
use crate::fill::{Names, fill, week_end};
use crate::page::{Page, Scenario};
use crate::step::{Check, From, Step};
use crate::support::{Answer, Client, Home};

/// How much of a text a failure shows.
const SHOWN_CHARS_MAX: usize = 6_000;

/// Runs every scenario; what failed, with file and line.
pub fn page(page: &Page, known: &BTreeSet<&str>) -> Vec<String> {
    let failures = page.scenarios.iter().filter_map(|scenario| {
        let unknown = scenario.clauses.iter().find(|id| !known.contains(id.as_str()));
        let ran = match unknown {
            Some(id) => Err((scenario.line, format!("{id} is no clause"))),
            None => run(scenario),
        };
        let (line, what) = ran.err()?;
        Some(format!("{}:{line}: {}: {what}", page.file, scenario.clauses.join(" ")))
    });
    failures.collect()
}

/// The scenario on a server of its own; the line and the words of the first failure.
pub fn run(scenario: &Scenario) -> Result<(), (usize, String)> {
    let home = Home::new();
    // Nothing here survives the scenario, so nothing waits for the disk.
    let server = home.serve_with(&[("NOVELO_DURABILITY", "relaxed")]);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
    let mut names = Names::from([("now".into(), now.into()), ("week".into(), week_end(now).into())]);
    make_keys(scenario, &server, &mut names);
    for (n, step) in scenario.steps.iter().enumerate() {
        let ran = call(step, &server, &mut names, now as f64);
        ran.map_err(|what| (step.line, format!("step {}, {} {}: {what}", n + 1, step.method, step.path)))?;
    }
    Ok(())
}

/// A key for each name that an `authorization` header has in braces; from then on, every call needs one.
fn make_keys(scenario: &Scenario, client: &Client, names: &mut Names) {
    let headers = scenario.steps.iter().flat_map(|step| &step.headers);
    let owners: BTreeSet<&str> = headers
        .filter(|(name, _)| name.eq_ignore_ascii_case("authorization"))
        .filter_map(|(_, value)| value.strip_prefix('{')?.strip_suffix('}'))
        .collect();
    if owners.is_empty() {
        return;
    }
    let bearer = |client: &Client, wish: Value| {
        let key = client.post("/v1/keys", wish).ok();
        format!("Bearer {}", key["key"].as_str().unwrap())
    };
    let admin = bearer(client, json!({"admin": true}));
    let keyed = client.with("authorization", &admin);
    names.insert("admin".into(), admin.into());
    for owner in owners.into_iter().filter(|owner| *owner != "admin") {
        names.insert(owner.into(), bearer(&keyed, json!({"user": owner})).into());
    }
}

fn call(step: &Step, client: &Client, names: &mut Names, now: f64) -> Result<(), String> {
    let mut client = client.clone();
    for (name, value) in &step.headers {
        client = client.with(name, &fill(value, names)?);
    }
    let (path, body) = (fill(&step.path, names)?, fill(&step.body, names)?);
    let answer = client.call(&step.method, &path, body);
    check(step, &answer, names, now).map_err(|what| {
        let (expected, actual) = (shown(&step.expected), shown(&answer.text()));
        format!("{what}\n  expected: {} {expected}\n  actual:   {} {actual}", step.status, answer.status)
    })
}

fn check(step: &Step, answer: &Answer, names: &mut Names, now: f64) -> Result<(), String> {
    if answer.status != step.status {
        return Err(format!("expected status {}, got {}", step.status, answer.status));
    }
    let expected = fill(&step.expected, names)?;
    if !expected.trim().is_empty() {
        let expected = serde_json::from_str(&expected).map_err(|e| format!("what is expected is not JSON: {e}"))?;
        expect::same(&expected, &body(answer)?, now)?;
    }
    step.checks.iter().try_for_each(|check| look(check, answer, names))
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
            };
            names.insert(name.clone(), value.ok_or_else(|| format!("{name} cannot be saved: there is no {from:?}"))?);
            Ok(())
        }
    }
}

fn body(answer: &Answer) -> Result<Value, String> {
    serde_json::from_slice(&answer.body).map_err(|e| format!("the answer is not JSON: {e}"))
}

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}
