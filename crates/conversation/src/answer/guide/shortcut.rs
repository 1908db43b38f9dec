//! Answers that need no model: help in a crisis, and a greeting for a greeting.

use std::hash::BuildHasher;

use super::crisis;
use super::load::{self, GuidedPast};
use super::run::GuidedWork;

/// An answer, and why it is one.
pub struct Shortcut {
    pub message: String,
    pub reason: &'static str,
    /// The phrase of danger that it answers.
    pub danger: Option<String>,
}

/// The answer to a message that needs no model. Safety comes first.
pub async fn take(work: &GuidedWork<'_>, past: &GuidedPast) -> Option<Shortcut> {
    let (rules, tracer) = (&work.guide.rules, &work.asked.tracer);
    if let Some(phrase) = crisis::voiced_now(work, past) {
        tracer.heuristic("safety", true, format!("“{phrase}”"));
        return Some(Shortcut { message: crisis::help(work).to_owned(), reason: "safety", danger: Some(phrase) });
    }
    if past.has_assistant || work.danger.is_some() || !rules.is_greeting(&work.read) {
        return None;
    }
    tracer.heuristic("greeting", true, "a brief greeting, and nothing was answered before");
    let name = load::name(work).await;
    let answers = rules.greeting(name.is_some());
    let hash = rustc_hash::FxBuildHasher.hash_one((&work.asked.user, &work.asked.thread)) as usize;
    let answer = answers.get(hash % answers.len().max(1))?;
    let message = answer.replace("{name}", name.as_deref().unwrap_or(""));
    Some(Shortcut { message, reason: "greeting", danger: None })
}
