//! A request for a context, as the main path takes it.
//!
//! Owns what every surface translates its wire form into. Everything in it is checked.

use std::sync::Arc;

use novelo_engine::decode::UnknownField;
use novelo_engine::limits::CONTEXT_TURNS_MAX;
use novelo_engine::path::DocumentPath;
use novelo_engine::recipe::RecipeDocument;
use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Message, Need, Recipe, Role, Tokenizer};
use serde_json::Value;

use crate::context::answer::Answer;
use crate::context::load::RecalledPassages;
use crate::policy::Preset;

/// A request for a context, checked.
#[derive(Debug, Default)]
pub struct Request {
    /// Whom it is about, where that is said.
    pub user: Option<String>,
    /// The thread and the time that the context is about.
    pub reach: TimeScope,
    /// Whether what belongs to no user may stand in for what the user lacks.
    pub legacy: bool,
    /// The question, which is the last message.
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
    /// Where the recipe comes from.
    pub recipe: RecipeChoice,
    /// Messages that were sent with the request.
    pub messages: Vec<Message>,
    /// Filters that were sent with the request, over those of the recipe.
    pub filters: Option<Value>,
    /// Options of the filter `compact`, which is added to those of the recipe.
    pub compact: Option<Value>,
    /// The budget, if the request has one.
    pub budget_tokens: Option<u32>,
    /// The tokenizer, if the request names one.
    pub tokenizer: Option<Tokenizer>,
    /// What is answered.
    pub answer: Answer,
    /// Fields of its wire form that nobody knows, and that were ignored.
    pub unknown_fields: Vec<UnknownField>,
    /// The turn that the messages were made from, if the recipe reads no turns itself.
    pub made_from: Option<DocumentPath>,
    /// Whether turns that cannot fit into the budget, because newer ones fill it, are not looked at. The
    /// explanation then has their number alone.
    pub omits_what_cannot_fit: bool,
    /// Whether neither the prompt nor its trace may stay anywhere.
    pub is_off_record: bool,
}

impl Request {
    /// How many turns are looked at: where the request says so, no more than fit into the budget.
    pub(super) fn turns_max(&self, recipe: &Recipe) -> usize {
        let needs_all = recipe.needs().iter().any(|need| matches!(need, Need::Groups | Need::Compactions));
        let is_bounded = self.omits_what_cannot_fit && !recipe.keeps_front() && !needs_all;
        let Some(budget_tokens) = self.budget_tokens.filter(|_| is_bounded) else { return CONTEXT_TURNS_MAX };
        let least_tokens = Message::text(Role::User, "").tokens(Tokenizer::Approx).max(1);
        CONTEXT_TURNS_MAX.min((budget_tokens / least_tokens) as usize + 1)
    }
}

/// Where the recipe of a request comes from.
#[derive(Debug, Default)]
pub enum RecipeChoice {
    /// The request names none.
    #[default]
    Unspecified,
    /// A preset, by name.
    Preset(String),
    /// A recipe in the request.
    Given(Value),
    /// Built by a surface; bounded like a given one.
    Built(RecipeDocument),
    /// Decoded already; nothing bounds the answer that neither it nor the request names.
    Decoded(Arc<Preset>),
}
