//! Hard conversations, and how many of their turns are right, asked back or silently wrong.
//!
//! `## ` begins a conversation. A turn is `question => expected`: an intent (several with `|`), the funds of
//! its rows, and `window=`, `agg=`, `limit=`, `cond=COLUMN<NUMBER`, `says=`, `both`, or a choice by its name.
//! `? words` is a turn that must be asked back, with these words quoted; `?|` before an intent allows both.

use crate::support::asking::{ask, serve};
use crate::support::{Server, Value, json};

#[derive(Debug, Default)]
pub struct Score {
    pub right: usize,
    pub asked_back: Vec<String>,
    /// Answered about something else than was asked.
    pub wrong: Vec<String>,
}

impl Score {
    pub fn add(&mut self, outcome: Outcome, turn: &str, answer: &Value) {
        match outcome {
            Outcome::Right => self.right += 1,
            Outcome::AskedBack => self.asked_back.push(format!("{turn}: {}", answer["answer"])),
            Outcome::Wrong(why) => self.wrong.push(format!("{turn}: {why}")),
        }
    }

    pub fn turns(&self) -> usize {
        self.right + self.asked_back.len() + self.wrong.len()
    }

    /// In percent.
    pub fn share(&self, part: usize) -> f64 {
        100.0 * part as f64 / self.turns() as f64
    }
}

pub enum Outcome {
    Right,
    AskedBack,
    Wrong(String),
}

#[test]
fn hard_conversations_are_right_or_asked_back() {
    let server = serve();
    for (name, text) in [
        ("development", include_str!("conversations/development.txt")),
        ("held out", include_str!("conversations/held_out.txt")),
    ] {
        let score = run(&server, name, text);
        let turns = score.turns();
        let (right, wrong) = (score.share(score.right), score.share(score.wrong.len()));
        println!(
            "{name}: {turns} turns, {right:.1} % right, {} asked back, {wrong:.1} % silently wrong",
            score.asked_back.len()
        );
        assert!(right >= 75.0 && wrong <= 4.0, "{name}: {score:#?}");
    }
}

fn run(server: &Server, name: &str, text: &str) -> Score {
    let mut score = Score::default();
    let mut conversation = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            conversation = format!("{name} {title}");
        }
        let Some((question, expected)) = line.split_once(" => ") else { continue };
        let answer = ask(server, "demo", &conversation, question);
        score.add(judge(&answer, expected), &format!("{conversation}: {question}"), &answer);
    }
    score
}

fn judge(answer: &Value, expected: &str) -> Outcome {
    let is_answered = answer["status"] == "ok";
    let (may_ask, expected) = expected.strip_prefix("?|").map_or((false, expected), |rest| (true, rest));
    if let Some(words) = expected.strip_prefix('?') {
        let text = answer["answer"].as_str().unwrap().to_lowercase();
        return match (is_answered, text.contains(&words.trim().to_lowercase())) {
            (true, _) => Outcome::Wrong("it was answered".to_owned()),
            (false, true) => Outcome::Right,
            (false, false) => Outcome::AskedBack,
        };
    }
    if !is_answered {
        return if may_ask { Outcome::Right } else { Outcome::AskedBack };
    }
    let mut parts = expected.split_whitespace();
    let intents: Vec<&str> = parts.next().unwrap().split('|').map(intent).collect();
    let is_asked = intents.iter().any(|intent| answer["meta"]["intent"] == *intent);
    match parts.find(|part| !fits(answer, part, &intents)) {
        _ if !is_asked => Outcome::Wrong(format!("the intent is {}", answer["meta"]["intent"])),
        Some(part) => Outcome::Wrong(format!("{part} is not in {}", answer["meta"]["parameters"])),
        None => Outcome::Right,
    }
}

fn fits(answer: &Value, part: &str, intents: &[&str]) -> bool {
    let parameters = &answer["meta"]["parameters"];
    let told = answer["answer"].as_str().unwrap();
    let Some((name, value)) = part.split_once('=') else {
        if part == "both" {
            let mut also = answer["meta"]["also"].as_array().into_iter().flatten();
            return also.any(|also| intents.iter().any(|intent| also["intent"] == *intent));
        }
        let wanted: Vec<&str> = part.split(',').collect();
        let rows = answer["results"].as_array().unwrap();
        let found: Vec<&str> = rows.iter().filter_map(|row| row["ticker"].as_str()).collect();
        let is_told = rows.is_empty() && wanted.iter().all(|fund| told.contains(fund));
        return is_told || (wanted.iter().all(|it| found.contains(it)) && found.iter().all(|it| wanted.contains(it)));
    };
    match name {
        "window" => parameters["window"] == value,
        "agg" => parameters["aggregation"] == value,
        "limit" => parameters["limit"].as_u64().is_some_and(|limit| value.parse() == Ok(limit)),
        "says" => told.contains(value),
        "cond" => has_condition(parameters, value),
        _ => parameters["choices"][name] == json!([value]),
    }
}

pub fn has_condition(parameters: &Value, wanted: &str) -> bool {
    let (column, test) = wanted.split_at(wanted.find(['<', '>']).unwrap_or(wanted.len()));
    let number: Option<f64> = test.get(1..).and_then(|number| number.parse().ok());
    let is_it = |condition: &Value| {
        let is_bound =
            || condition["op"].as_str().unwrap().starts_with(&test[..1]) && condition["value"].as_f64() == number;
        condition["column"] == column && (test.is_empty() || is_bound())
    };
    let is_choice = !parameters["choices"][column].is_null();
    is_choice || parameters["conditions"].as_array().into_iter().flatten().any(is_it)
}

fn intent(short: &str) -> &str {
    match short {
        "price" => "fiis_quota_prices",
        "div" => "fiis_dividends",
        "dy" => "fiis_dividends_yields",
        "dyh" => "fiis_yield_history",
        "risk" => "fiis_financials_risk",
        "snap" => "fiis_financials_snapshot",
        "reg" => "fiis_registrations",
        "rank" => "fiis_rankings",
        "re" => "fiis_real_estate",
        "legal" => "fiis_legal_proceedings",
        "news" => "fiis_news",
        "rev" => "fiis_financials_revenue_schedule",
        "pos" => "client_fiis_positions",
        "evo" => "client_fiis_dividends_evolution",
        "bench" => "client_fiis_performance_vs_benchmark",
        "benchsum" => "client_fiis_performance_vs_benchmark_summary",
        "idx" => "history_b3_indexes",
        "fx" => "history_currency_rates",
        "ind" => "history_market_indicators",
        other => panic!("there is no short name {other}"),
    }
}
