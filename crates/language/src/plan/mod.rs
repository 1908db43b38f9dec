//! From a question to what should be looked up.
//!
//! Owns the ontology (which words speak for which intent), the subjects that a question names, and its
//! parameters: stretch of time, aggregation, number of rows, choices. All of it is read from data. Refuses to
//! guess: a question that no intent wins clearly is not routed. Keeps nothing and has no clock.

mod account;
pub(crate) mod condition;
mod infer;
pub(crate) mod ontology;
mod subjects;
pub(crate) mod text;

pub use crate::window::{Span, Window};
pub use account::{Unread, UnreadKind};
pub use condition::{AmountUnit, Condition, ConditionRule};
pub use infer::{Given, GivenSubjects, LIMIT_MAX, ParameterRules, Parameters, Taken};
pub use ontology::{Because, Candidate, Circumstances, Earlier, Intent, Ontology, Scores, Verdict};
pub use subjects::{Shape, Subject};
pub use text::{Phrase, Question, SubjectKind, Subjects, stem};

use crate::{Language, Locale};

/// How a catalogue in a language writes values, and says things about questions.
impl Language {
    pub fn locale(self) -> &'static Locale {
        &self.questions().locale
    }

    /// What conditions were applied: each with what it is on, its operator and its value.
    pub fn tell_conditions(self, conditions: &[(&str, &str, String)]) -> String {
        (self.questions().sentences.told)(conditions)
    }

    /// That a part of a question was not answered.
    pub fn not_answered(self, words: &str) -> String {
        (self.questions().sentences.not_answered)(words)
    }

    /// A window as a sentence says it after a noun.
    pub fn tell_window(self, span: &Span, window: Window) -> String {
        (self.questions().sentences.window)(span, window)
    }

    /// Several names as one text; `is_sum` where all of them are meant, and not one of them.
    pub fn join(self, names: &[String], is_sum: bool) -> String {
        let last = if is_sum { self.locale().and.to_owned() } else { format!(" {} ", self.grammar().words.or) };
        let mut joined = String::new();
        for (n, name) in names.iter().enumerate() {
            let before = match n {
                0 => "",
                n if n + 1 == names.len() => &last,
                _ => ", ",
            };
            joined.push_str(before);
            joined.push_str(name);
        }
        joined
    }

    /// That there are more rows than are shown.
    pub fn more_rows(self, count: usize) -> String {
        (self.questions().sentences.more_rows)(count)
    }

    /// What is said where there are no rows, and the entity has no sentence for it.
    pub fn no_rows(self) -> &'static str {
        self.questions().sentences.no_rows
    }
}
