//! How many questions an ontology sends to the intent that a human gave them.
//!
//! Owns the file format and the counts. Does no I/O: the caller reads files and prints.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::FormatError;
use novelo_language::plan::{Circumstances, Ontology, Subjects};

/// The label of questions that belong to no intent.
pub(crate) const UNROUTABLE: &str = "unroutable";

#[derive(Debug, Clone, Deserialize)]
pub struct RoutingCase {
    pub question: String,
    /// Of the ontology, or [`UNROUTABLE`].
    pub intent: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoutingReport {
    pub questions: usize,
    /// In percent.
    pub accuracy: f64,
    /// The most frequent first.
    pub confusions: Vec<Confusion>,
    #[serde(skip)]
    pub by_intent: BTreeMap<String, IntentShare>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    pub expected: String,
    pub got: String,
    pub count: usize,
    pub questions: Vec<String>,
}

/// The questions of an intent, and how many of them were routed to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IntentShare {
    pub questions: usize,
    pub right: usize,
}

/// Unknown fields and empty lines are ignored.
pub fn parse(lines: &str) -> Result<Vec<RoutingCase>, FormatError> {
    parse_lines(lines)
}

/// One case per line; a wrong one is named with its field.
pub(super) fn parse_lines<C: DeserializeOwned>(lines: &str) -> Result<Vec<C>, FormatError> {
    let numbered = (1..).zip(lines.lines()).filter(|(_, line)| !line.trim().is_empty());
    let case = |(number, line): (usize, &str)| {
        let mut reader = serde_json::Deserializer::from_str(line);
        serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let place = if path == "." { format!("line {number}") } else { format!("line {number}, {path}") };
            FormatError::Shape { place, cause: error.into_inner() }
        })
    };
    let cases = numbered.map(case).collect::<Result<Vec<C>, _>>()?;
    if cases.is_empty() { Err(FormatError::Empty) } else { Ok(cases) }
}

/// Asks every question by itself.
pub fn run(cases: &[RoutingCase], ontology: &Ontology, known: &Subjects) -> RoutingReport {
    let mut by_intent: BTreeMap<String, IntentShare> = BTreeMap::new();
    let mut wrong: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for RoutingCase { question, intent } in cases {
        let scores = ontology.score(&ontology.read(question, known), &Circumstances::default());
        let got = scores.routed().map_or(UNROUTABLE, |candidate| candidate.intent.as_str());
        let share = by_intent.entry(intent.clone()).or_default();
        share.questions += 1;
        if got == intent {
            share.right += 1;
        } else {
            wrong.entry((intent, got.to_owned())).or_default().push(question.clone());
        }
    }
    let confusion = |((expected, got), questions): ((&str, String), Vec<String>)| Confusion {
        expected: expected.to_owned(),
        got,
        count: questions.len(),
        questions,
    };
    let mut confusions: Vec<Confusion> = wrong.into_iter().map(confusion).collect();
    confusions.sort_by_key(|confusion| std::cmp::Reverse(confusion.count));
    let right: usize = by_intent.values().map(|share| share.right).sum();
    RoutingReport {
        questions: cases.len(),
        accuracy: right as f64 * 100.0 / cases.len().max(1) as f64,
        confusions,
        by_intent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ontology() -> Ontology {
        let value = serde_json::json!({
            "subject": {"name": "ticker", "shape": "AAAA99"},
            "intents": {"price": {"tokens": {"preco": 1.0}}, "news": {"tokens": {"noticia": 1.0}}},
        });
        Ontology::decode(&value).unwrap()
    }

    fn line(question: &str, intent: &str) -> String {
        serde_json::json!({"question": question, "intent": intent, "note": 1}).to_string()
    }

    #[test]
    fn what_went_elsewhere_is_counted_by_where_it_went() {
        let lines = [
            line("qual o preço?", "price"),
            line("preços de ontem", "news"),
            line("preço e mais", "news"),
            line("manchetes", "news"),
            line("bom dia", UNROUTABLE),
        ];
        let report = run(&parse(&lines.join("\n\n")).unwrap(), &ontology(), &Subjects::default());
        assert_eq!((report.questions, report.accuracy), (5, 40.0));
        assert_eq!(report.by_intent.get("news"), Some(&IntentShare { questions: 3, right: 0 }));
        let told: Vec<_> = report.confusions.iter().map(|it| (&*it.expected, &*it.got, it.count)).collect();
        assert_eq!(told, [("news", "price", 2), ("news", UNROUTABLE, 1)]);
        assert_eq!(report.confusions[0].questions, ["preços de ontem", "preço e mais"]);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["questions", "accuracy", "confusions"]);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_field() {
        let good = line("a", "b");
        let problem = |bad: &str| parse(&format!("{good}\n\n{bad}\n")).unwrap_err().to_string();
        assert!(problem(r#"{"question": "a", "intent": 3}"#).starts_with("line 3, intent: invalid type"));
        assert!(problem(r#"{"question": "a"}"#).starts_with("line 3: missing field `intent`"));
        assert!(problem("{").starts_with("line 3"));
        assert!(matches!(parse(" \n"), Err(FormatError::Empty)));
    }
}
