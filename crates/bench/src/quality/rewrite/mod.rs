//! How near a rewritten question comes to what a human wrote, and whether it finds more than the question as
//! asked.
//!
//! Owns the file format, the figures and the search. The caller rewrites: rules and models are measured
//! alike. The figures are those of the published tables: ROUGE-1 over lower-case words without stems,
//! averaged over questions, and BLEU over all questions at once, in lower case, with the words of
//! `sacrebleu`'s `13a`.

mod data;
mod retrieval;
mod score;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::data::{HistoryMessage, RewriteCase, parse};
pub use self::retrieval::{FoundShares, Retrieval};
use self::score::{Bleu, Terms};

/// In percent, over all questions and over those of each set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RewriteReport {
    #[serde(flatten)]
    pub total: RewriteFigures,
    pub by_set: BTreeMap<String, RewriteFigures>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RewriteFigures {
    pub questions: usize,
    pub rouge1_r: f64,
    pub rouge1_f: f64,
    pub bleu: f64,
    pub need: RewriteNeed,
    /// Of the questions that need no rewrite, those that came back byte for byte.
    pub untouched: f64,
    pub retrieval: Retrieval,
}

/// Over the questions whose human rewrite adds a word that matters.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RewriteNeed {
    pub questions: usize,
    pub rouge1_f: f64,
    /// F1 between the words that the human added and those that the rewrite added, averaged over questions.
    pub new_term_f1: f64,
}

/// Makes a question stand alone.
pub type RewriteFn<'r> = dyn FnMut(&RewriteCase) -> String + 'r;

/// Rewrites each question once. `progress` gets the number of finished questions and of all.
pub fn run(
    cases: &[RewriteCase],
    rewrite: &mut RewriteFn<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> RewriteReport {
    let mut total = FigureSums::default();
    let mut sets: BTreeMap<Option<&str>, (FigureSums, Vec<MeasuredCase<'_>>)> = BTreeMap::new();
    for (done, case) in cases.iter().enumerate() {
        progress(done, cases.len());
        let asked = MeasuredCase::new(case, rewrite(case));
        let (sums, of_set) = sets.entry(case.set.as_deref()).or_default();
        total.note(&asked);
        sums.note(&asked);
        of_set.push(asked);
    }
    let mut by_set = BTreeMap::new();
    let mut found = retrieval::RetrievalCounts::default();
    for (set, (sums, asked)) in sets {
        let of_set = retrieval::search(&asked);
        found.add(&of_set);
        if let Some(set) = set {
            by_set.insert(set.to_owned(), sums.figures(&of_set));
        }
    }
    progress(cases.len(), cases.len());
    RewriteReport { total: total.figures(&found), by_set }
}

/// A question, its rewrite, and whether it needed one.
#[derive(Debug)]
struct MeasuredCase<'c> {
    case: &'c RewriteCase,
    rewritten: String,
    needs: bool,
    new_term_f1: f64,
}

impl<'c> MeasuredCase<'c> {
    fn new(case: &'c RewriteCase, rewritten: String) -> Self {
        let [question, human] = [&case.question, &case.human].map(|text| Terms::of(text));
        let wanted = human.content_beyond(&question);
        let added = Terms::of(&rewritten).content_beyond(&question);
        let shared = added.iter().filter(|term| wanted.contains(*term)).count();
        let new_term_f1 = score::f1(shared, added.len(), wanted.len());
        Self { case, rewritten, needs: !wanted.is_empty(), new_term_f1 }
    }
}

#[derive(Debug, Default)]
struct FigureSums {
    questions: usize,
    rouge1_r: f64,
    rouge1_f: f64,
    bleu: Bleu,
    need: RewriteNeed,
    untouched: usize,
}

impl FigureSums {
    fn note(&mut self, asked: &MeasuredCase<'_>) {
        let (recall, f1) = score::rouge1(&asked.rewritten, &asked.case.human);
        self.questions += 1;
        self.rouge1_r += recall;
        self.rouge1_f += f1;
        self.bleu.note(&asked.rewritten, &asked.case.human);
        if asked.needs {
            self.need.questions += 1;
            self.need.rouge1_f += f1;
            self.need.new_term_f1 += asked.new_term_f1;
        } else {
            self.untouched += usize::from(asked.rewritten == asked.case.question);
        }
    }

    fn figures(&self, found: &retrieval::RetrievalCounts) -> RewriteFigures {
        let percent = |sum: f64, of: usize| sum * 100.0 / of.max(1) as f64;
        let others = self.questions - self.need.questions;
        RewriteFigures {
            questions: self.questions,
            rouge1_r: percent(self.rouge1_r, self.questions),
            rouge1_f: percent(self.rouge1_f, self.questions),
            bleu: self.bleu.percent(),
            need: RewriteNeed {
                questions: self.need.questions,
                rouge1_f: percent(self.need.rouge1_f, self.need.questions),
                new_term_f1: percent(self.need.new_term_f1, self.need.questions),
            },
            untouched: if others == 0 { 100.0 } else { percent(self.untouched as f64, others) },
            retrieval: found.retrieval(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"set": "a", "history": [{"role": "user", "content": "What is throat cancer?"}], "question": "Is it treatable?", "human": "Is throat cancer treatable?\r"}

{"set": "a", "history": [], "question": "What is lung cancer?", "human": "What is lung cancer?"}
{"history": [], "question": "Why?", "human": "Why is the sky blue?", "passage": "Blue light scatters most."}"#;

    fn report(rewrite: &mut RewriteFn<'_>) -> RewriteReport {
        run(&parse(FILE).unwrap(), rewrite, &mut |_, _| {})
    }

    #[test]
    fn a_question_as_asked_is_measured() {
        let report = report(&mut |case| case.question.clone());
        let of_set = &report.by_set["a"];
        assert_eq!((report.total.questions, of_set.questions, of_set.need.questions), (3, 2, 1));
        assert!((of_set.rouge1_r - 75.0).abs() < 1e-9, "{of_set:?}");
        assert!((of_set.untouched - 100.0).abs() < 1e-9);
        assert!(of_set.need.new_term_f1.abs() < 1e-9);
        assert_eq!(report.by_set.len(), 1, "a line without a set counts in the total alone");
    }

    #[test]
    fn a_perfect_rewrite_is_perfect() {
        let report = report(&mut |case| case.human.clone());
        assert!((report.total.bleu - 100.0).abs() < 1e-9);
        assert!((report.total.need.new_term_f1 - 100.0).abs() < 1e-9);
        assert!((report.by_set["a"].retrieval.rewritten.at_1 - 100.0).abs() < 1e-9);
    }

    #[test]
    fn what_changes_needlessly_is_counted() {
        let report = report(&mut |case| format!("{} please", case.question));
        assert!(report.total.untouched.abs() < 1e-9);
    }

    #[test]
    fn the_report_has_the_published_shape() {
        let json = serde_json::to_value(report(&mut |case| case.question.clone())).unwrap();
        for field in ["questions", "rouge1_r", "rouge1_f", "bleu", "untouched"] {
            assert!(json[field].is_number() && json["by_set"]["a"][field].is_number(), "{field}");
        }
        assert_eq!(json["need"]["questions"], 2);
        assert!(json["retrieval"]["raw"]["5"].is_number());
    }
}
