//! Danger that a person voiced, and what it changes in the answers that follow.
//!
//! The stored thread says whether danger is in force, so that every node knows, and a client that sends only
//! its last message changes nothing. Invariant: while it is in force, no text that stands in for a model's
//! answer comes without help lines.

use novelo_engine::Role;
use novelo_language::decide::VoicedDanger;

use super::load::GuidedPast;
use super::run::GuidedWork;
use super::{SHORTCUT, finish};
use crate::answer::guided_answer::{GuidedAnswer, GuidedMeta};
use crate::error::Error;
use crate::text::said;

/// Danger that was voiced before this message and is not over.
pub(super) fn in_force(work: &GuidedWork<'_>, past: &GuidedPast) -> Option<VoicedDanger> {
    let rules = &work.guide.rules;
    let danger = rules.voiced_danger(past.said_before())?;
    let VoicedDanger { phrase, calm_turns, is_over } = &danger;
    let why = format!("“{phrase}”, and {calm_turns} of {} calm turns since", rules.calm_turns());
    work.asked.tracer.heuristic("crisis", !is_over, why);
    (!is_over).then_some(danger)
}

/// The phrase of acute danger in the message, or in another new message of the user.
pub(super) fn voiced_now(work: &GuidedWork<'_>, past: &GuidedPast) -> Option<String> {
    let rules = &work.guide.rules;
    let before = past.new.split_last().map_or(&[][..], |(_, before)| before);
    let others = before.iter().filter(|message| message.is(Role::User)).filter_map(said);
    let find = |text: &str| rules.crisis(&rules.read(text)).map(str::to_owned);
    rules.crisis(&work.read).map(str::to_owned).or_else(|| others.into_iter().find_map(|text| find(&text)))
}

/// The help lines of `eco.locale`.
pub(super) fn help<'w>(work: &GuidedWork<'w>) -> &'w str {
    let (rules, locale) = (&work.guide.rules, work.app.settings.eco.locale.as_str());
    rules.help(locale).unwrap_or_else(|| {
        let error = format!("there is no text for eco.locale, {locale}; the first one stands in");
        work.asked.tracer.error("safety", error);
        rules.locales().next().and_then(|first| rules.help(first)).unwrap_or_default()
    })
}

/// What follows a text that stands in for an answer: help lines, while danger is in force.
pub(super) fn help_after(work: &GuidedWork<'_>) -> Option<String> {
    work.danger.as_ref().map(|_| format!("\n\n{}", help(work)))
}

/// The answer to a person in danger where there can be none: better than an error.
pub(super) fn answer_instead_of(work: &GuidedWork<'_>, error: &Error) -> GuidedAnswer {
    work.asked.tracer.refused(error);
    let message = work.guide.answers.timeout.clone() + &help_after(work).unwrap_or_default();
    work.send(&message);
    let decision = work.guide.rules.decide(&work.read);
    let meta = GuidedMeta {
        mode: SHORTCUT.into(),
        reason: Some("error".into()),
        level: decision.openness,
        steps: Vec::new(),
        guided: false,
        simple: work.guide.rules.is_simple(&work.read),
        save_memory: false,
        crisis: true,
    };
    let sense = finish::sense(work, &decision, None, true);
    GuidedAnswer { message, model: None, sense, usage: None, cache: false, fallback: true, meta, trace: None }
}
