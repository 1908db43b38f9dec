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
#[cfg(test)]
mod subjects_tests;
pub(crate) mod text;

pub use crate::portuguese::condition::{not_answered, told};
pub use crate::window::{Span, Window};
pub use account::{Unread, UnreadKind};
pub use condition::{AmountUnit, Condition, ConditionRule};
pub use infer::{Given, LIMIT_MAX, ParameterRules, Parameters, Taken};
pub use ontology::{Because, Candidate, Earlier, Intent, Ontology, Scores, Verdict};
pub use text::{Phrase, Question, Subjects};

use crate::Language;

/// Questions about data are asked in this language, and the ontology is written in it.
const LANGUAGE: Language = Language::Portuguese;
