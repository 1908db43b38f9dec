//! The rules as they are used.

use std::collections::BTreeMap;

use super::said::{Spelling, Spoken};
use crate::window::Window;

/// What one intent takes.
#[derive(Debug, Clone, Default)]
pub struct Rule {
    /// By the places of their kinds.
    pub subjects: Vec<(usize, SubjectRule)>,
    pub window: Option<WindowRule>,
    pub aggregation: Option<AggregationRule>,
    pub limit: Option<LimitRule>,
    pub choices: BTreeMap<String, ChoiceRule>,
}

#[derive(Debug, Clone)]
pub struct SubjectRule {
    pub inherits: bool,
    pub is_required: bool,
    pub ask: Option<String>,
    /// Words that say that nothing is inherited.
    pub unless: Vec<Spelling>,
}

#[derive(Debug, Clone)]
pub struct WindowRule {
    pub inherits: bool,
    /// Whether it may pick the newest rows. Where rows are no days, such as those of a ranking, `hoje` says
    /// nothing.
    pub takes_rows: bool,
    pub default: Option<Window>,
}

#[derive(Debug, Clone)]
pub struct AggregationRule {
    /// The first that is spoken for wins.
    pub allow: Vec<String>,
    pub default: String,
    /// The longest first.
    pub words: Vec<Spoken>,
}

#[derive(Debug, Clone)]
pub struct LimitRule {
    pub inherits: bool,
    pub default: Option<u32>,
    pub max: u32,
    pub of: Vec<Spelling>,
}

#[derive(Debug, Clone)]
pub struct ChoiceRule {
    pub inherits: bool,
    pub is_required: bool,
    pub ask: Option<String>,
    pub values: Vec<String>,
    pub default: Vec<String>,
    /// The longest first.
    pub words: Vec<Spoken>,
}
