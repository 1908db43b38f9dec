//! How well the rules tell a later text that replaces an earlier one from one that does not.
//!
//! Owns the file format and the counts. Does no I/O: the caller reads files and prints.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::FormatError;
use super::routing::parse_lines;
use novelo_language::claims;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TruthCase {
    pub id: u64,
    #[serde(default)]
    pub language: String,
    #[serde(default)]
    pub kind: String,
    pub old: String,
    pub new: String,
    pub supersedes: bool,
}

/// Which cases are counted: by whether their ids are odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TruthHalf {
    All,
    Odd,
    Even,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct TruthReport {
    pub pairs: usize,
    /// Of what was replaced, the share that should have been, in percent.
    pub precision: f64,
    /// Of what should have been replaced, the share that was, in percent.
    pub recall: f64,
    pub wrong: Vec<WrongPair>,
    #[serde(skip)]
    pub by_language: BTreeMap<String, TruthCounts>,
}

/// A pair that the rules got wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct WrongPair {
    pub id: u64,
    pub kind: String,
    pub old: String,
    pub new: String,
    /// Why it was replaced; none if it was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TruthCounts {
    pub found: usize,
    pub missed: usize,
    pub false_finds: usize,
    pub left_alone: usize,
}

impl TruthCounts {
    pub(crate) fn precision(self) -> f64 {
        percent(self.found, self.found + self.false_finds)
    }

    pub(crate) fn recall(self) -> f64 {
        percent(self.found, self.found + self.missed)
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Unknown fields and empty lines are ignored.
pub(crate) fn parse(lines: &str) -> Result<Vec<TruthCase>, FormatError> {
    parse_lines(lines)
}

/// Holds every pair against the rules.
pub(crate) fn run(cases: &[TruthCase], half: TruthHalf) -> TruthReport {
    let is_counted = |case: &&TruthCase| match half {
        TruthHalf::All => true,
        TruthHalf::Odd => case.id % 2 == 1,
        TruthHalf::Even => case.id.is_multiple_of(2),
    };
    let (mut report, mut all) = (TruthReport::default(), TruthCounts::default());
    for case in cases.iter().filter(is_counted) {
        let may = claims::may_replace(&case.new);
        let found = claims::replaces(&claims::read(&case.new), &claims::read(&case.old), None).filter(|_| may);
        let counts = report.by_language.entry(case.language.clone()).or_default();
        for counts in [counts, &mut all] {
            *match (case.supersedes, found.is_some()) {
                (true, true) => &mut counts.found,
                (true, false) => &mut counts.missed,
                (false, true) => &mut counts.false_finds,
                (false, false) => &mut counts.left_alone,
            } += 1;
        }
        if case.supersedes != found.is_some() {
            let TruthCase { id, kind, old, new, .. } = case.clone();
            report.wrong.push(WrongPair { id, kind, old, new, reason: found.map(|found| found.reason) });
        }
        report.pairs += 1;
    }
    (report.precision, report.recall) = (all.precision(), all.recall());
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: u64, old: &str, new: &str, supersedes: bool) -> String {
        serde_json::json!({"id": id, "language": "en", "old": old, "new": new, "supersedes": supersedes}).to_string()
    }

    #[test]
    fn pairs_are_counted_by_what_should_and_what_does_replace() {
        let lines = [
            line(1, "I live in Lisbon.", "I moved to Porto.", true),
            line(2, "I live in Lisbon.", "My brother moved to Porto.", false),
            line(3, "I live in Lisbon.", "Nothing is as it was.", true),
        ];
        let cases = parse(&lines.join("\n\n")).unwrap();
        let report = run(&cases, TruthHalf::All);
        assert_eq!((report.pairs, report.precision, report.recall), (3, 100.0, 50.0));
        assert_eq!(report.wrong.iter().map(|pair| (pair.id, pair.reason.clone())).collect::<Vec<_>>(), [(3, None)]);
        assert_eq!(run(&cases, TruthHalf::Even).pairs, 1);
        assert_eq!(run(&cases, TruthHalf::Odd).pairs, 2);
    }

    #[test]
    fn a_wrong_line_is_named_with_its_field() {
        let problem = parse(r#"{"id": 1, "old": "a", "new": "b", "supersedes": 3}"#).unwrap_err().to_string();
        assert!(problem.starts_with("line 1, supersedes: invalid type"), "{problem}");
        assert!(matches!(parse(" \n"), Err(FormatError::Empty)));
    }
}
