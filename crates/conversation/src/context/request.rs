//! A request for a context, as the main path takes it.
//!
//! Owns what every surface translates its wire form into. Everything in it is checked.

use std::sync::Arc;

use novelo_engine::recall::Recalled;
use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Message, Tokenizer};
use serde_json::Value;

use crate::context::answer::Answer;
use crate::context::load::Source;
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
    /// What was searched for already, for recalls of the recipe that are the same as these.
    pub recalled: Vec<(Recalled, Vec<Source>)>,
    pub recipe: RecipeChoice,
    pub messages: Vec<Message>,
    pub filters: Option<Value>,
    pub budget_tokens: Option<u32>,
    pub tokenizer: Option<Tokenizer>,
    pub answer: Answer,
}

#[derive(Debug, Default)]
pub enum RecipeChoice {
    #[default]
    Unsaid,
    Preset(String),
    Given(Value),
    /// Decoded already; nothing bounds the answer that neither it nor the request names.
    Decoded(Arc<Preset>),
}
