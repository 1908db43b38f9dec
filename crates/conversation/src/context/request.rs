//! A request for a context, as the main path takes it.
//!
//! Owns what every surface translates its wire form into. Everything in it is checked.

use std::sync::Arc;

use novelo_engine::decode::UnknownField;
use novelo_engine::path::DocumentPath;
use novelo_engine::recipe::RecipeDocument;
use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Message, Tokenizer};
use serde_json::Value;

use crate::context::answer::Answer;
use crate::context::load::RecalledPassages;
use crate::policy::Preset;

/// A request for a context, checked.
#[derive(Debug, Default)]
pub struct Request {
    /// Whom it is about, where that is said.
    pub user: Option<String>,
    pub reach: TimeScope,
    /// Whether what belongs to no user may stand in for what the user lacks.
    pub legacy: bool,
    pub question: Option<String>,
    /// What is searched for, where that is not the question.
    pub query: Option<String>,
    /// The time in the past, in seconds, as of which memories and turns are recalled.
    pub as_of: Option<f64>,
    /// Results of searches that were made before, for the recalls of the recipe that are equal to theirs.
    pub recalled: Vec<RecalledPassages>,
    /// Whether the prompt leaves out that what was recalled is data, because the form of its messages is
    /// fixed.
    pub omits_recall_notice: bool,
    pub recipe: RecipeChoice,
    pub messages: Vec<Message>,
    pub filters: Option<Value>,
    pub budget_tokens: Option<u32>,
    pub tokenizer: Option<Tokenizer>,
    pub answer: Answer,
    /// Fields of its wire form that nobody knows, and that were ignored.
    pub unknown_fields: Vec<UnknownField>,
    /// The turn that the messages were made from, if the recipe reads no turns itself.
    pub made_from: Option<DocumentPath>,
}

#[derive(Debug, Default)]
pub enum RecipeChoice {
    #[default]
    Unsaid,
    Preset(String),
    Given(Value),
    /// Built by a surface; bounded like a given one.
    Built(RecipeDocument),
    /// Decoded already; nothing bounds the answer that neither it nor the request names.
    Decoded(Arc<Preset>),
}
