//! Answers that need no model: help in a crisis, and a greeting for a greeting.

use std::hash::BuildHasher;

use novelo_engine::{Message, Role};

use super::load::{self, Past};
use super::run::Work;
use crate::text::said;

/// An answer, and why it is one.
pub struct Shortcut {
    pub message: String,
    pub reason: &'static str,
}

/// The answer to a message that needs no model. Safety comes first.
pub async fn take(work: &Work<'_>, past: &Past) -> Option<Shortcut> {
    let (rules, tracer) = (&work.guide.rules, &work.asked.tracer);
    if let Some(phrase) = crisis(work, past) {
        tracer.heuristic("safety", true, format!("“{phrase}”"));
        let locale = work.app.config.text("eco.locale");
        if rules.help(locale).is_none() {
            tracer.error("safety", format!("there is no text for eco.locale, {locale}; the first one stands in"));
        }
        let message = rules.help(locale).or_else(|| rules.locales().next().and_then(|first| rules.help(first)))?;
        return Some(Shortcut { message: message.to_owned(), reason: "safety" });
    }
    if past.has_assistant || !rules.is_greeting(&work.read) {
        return None;
    }
    tracer.heuristic("greeting", true, "a brief greeting, and nothing was answered before");
    let name = load::name(work).await;
    let answers = rules.greeting(name.is_some());
    let hash = rustc_hash::FxBuildHasher.hash_one((&work.asked.user, &work.asked.thread)) as usize;
    let answer = answers.get(hash % answers.len().max(1))?;
    Some(Shortcut { message: answer.replace("{name}", name.as_deref().unwrap_or("")), reason: "greeting" })
}

/// The phrase of acute crisis in the message, or in another new message of the user.
fn crisis(work: &Work<'_>, past: &Past) -> Option<String> {
    let rules = &work.guide.rules;
    let (_, before) = past.new.split_last().unzip();
    let others = before.into_iter().flatten().filter(|message: &&Message| message.is(Role::User)).filter_map(said);
    let find = |text: &str| rules.crisis(&rules.read(text)).map(str::to_owned);
    rules.crisis(&work.read).map(str::to_owned).or_else(|| others.into_iter().find_map(|text| find(&text)))
}
