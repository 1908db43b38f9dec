//! The question made self-contained: by a model where one is set and answers in time, else by rules.
//!
//! No model is asked for the first question of a thread, which is taken as it is, nor where a caller asked
//! for one call of one model. What a model says is not trusted to be the question: what cannot be is left to
//! the rules.

use bytes::Bytes;
use novelo_engine::Tokenizer;
use novelo_engine::path::DocumentPath;
use novelo_language::rewrite::{Utterance, rewrite as by_rules};
use novelo_recall::quote::shares_word;
use serde_json::Map;

use super::history::History;
use super::{ReplyKind, ReplyRequest, Rewritten, RewrittenBy};
use crate::answer::Shared;
use crate::context::work_prompt::{WorkPrompt, untraced_messages};
use crate::model::{Ask, Job, Model};
use crate::policy::{self, Policies};
use crate::text::cut;

/// Characters of one message that the model sees, and tokens of all.
const LINE_CHARS_MAX: usize = 600;
const HISTORY_TOKENS_MAX: u32 = 2_000;
const ANSWER_TOKENS_MAX: u32 = 256;

/// The question, and what there is to be said of how it came about.
pub async fn rewrite(app: &Shared, history: &History, asked: &ReplyRequest) -> (Rewritten, Option<String>) {
    let question = &*asked.input.question();
    if history.is_empty() || question.is_empty() {
        return (unchanged(question), None);
    }
    let newest = history.newest.clone();
    let history = history.said();
    let model = app.models.get(Job::Rewrite).filter(|_| matches!(asked.kind, ReplyKind::Assist(_)));
    let note = match model {
        None => None,
        Some(model) => match by_traced_model(app, asked, model, newest, &history, question).await {
            Ok(rewritten) => return (rewritten, None),
            Err(why) => Some(format!("the question was understood by rules, not by the model: {why}")),
        },
    };
    let rewrite = by_rules(&history, question);
    let by = if rewrite.changes.is_empty() { RewrittenBy::Nobody } else { RewrittenBy::Rules };
    (Rewritten { question: rewrite.question, by }, note)
}

fn unchanged(question: &str) -> Rewritten {
    Rewritten { question: question.to_owned(), by: RewrittenBy::Nobody }
}

/// The rewrite of a model with a prompt that has a trace, or why there is none.
async fn by_traced_model(
    app: &Shared,
    asked: &ReplyRequest,
    model: &Model,
    made_from: Option<DocumentPath>,
    history: &[Utterance<'_>],
    question: &str,
) -> Result<Rewritten, &'static str> {
    let instruction = app.policies.prompt(policy::Prompt::Rewrite);
    let prompt = WorkPrompt { instruction: &instruction, model, thread: asked.place(), made_from };
    let prompt = prompt.make(app, |share| text(history, question, share)).await.map_err(|error| {
        tracing::warn!(error = %error.message, "the prompt for a rewrite was not made");
        "its prompt was too long"
    })?;
    asked.tracer.prompt(&prompt.trace.encode());
    ask_model(model, prompt.messages(), history, question).await
}

/// The same without a store and a trace, for measuring models.
pub async fn by_model(
    policies: &Policies,
    model: &Model,
    history: &[Utterance<'_>],
    question: &str,
) -> Result<Rewritten, &'static str> {
    let instruction = policies.prompt(policy::Prompt::Rewrite);
    let messages = untraced_messages(&instruction, &text(history, question, 1));
    ask_model(model, messages.map_err(|_| "its prompt was not made")?, history, question).await
}

async fn ask_model(
    model: &Model,
    messages: Bytes,
    history: &[Utterance<'_>],
    question: &str,
) -> Result<Rewritten, &'static str> {
    let mut options = Map::new();
    options.insert("temperature".to_owned(), 0.into());
    options.insert("max_tokens".to_owned(), ANSWER_TOKENS_MAX.into());
    let said = model.complete(&Ask { messages, options }).await.map_err(|failure| failure.in_words())?;
    let answers = |text: &str| history.iter().any(|said| said.speaker == "assistant" && said.text.trim() == text);
    let is_one = |text: &&str| !answers(text) && is_about(history, question, text);
    let said = clean(said.said(), question).filter(is_one).ok_or("it did not answer with one question")?;
    let by = if said == question.trim() { RewrittenBy::Nobody } else { RewrittenBy::Model };
    Ok(if by == RewrittenBy::Nobody { unchanged(question) } else { Rewritten { question: said.to_owned(), by } })
}

/// The text of the prompt, with a share of the tokens for the history.
fn text(history: &[Utterance<'_>], question: &str, share: usize) -> String {
    let lines = lines(history, HISTORY_TOKENS_MAX / share as u32);
    format!("Conversation history:\n{lines}\n\nFollow-up question: {question}")
}

/// A line each, the newest that fit, oldest first.
fn lines(history: &[Utterance<'_>], tokens_max: u32) -> String {
    let mut room_tokens = tokens_max;
    let line = |said: &Utterance<'_>| {
        let text = said.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}: {}", said.speaker, cut(&text, LINE_CHARS_MAX))
    };
    let fits = |line: &String| {
        let rest = room_tokens.checked_sub(Tokenizer::default().count(line));
        room_tokens = rest.unwrap_or(0);
        rest.is_some()
    };
    let mut lines: Vec<String> = history.iter().rev().map(line).take_while(fits).collect();
    lines.reverse();
    lines.join("\n")
}

/// Whether a rewrite speaks of what was asked, or, where that says nothing by itself, of what was said
/// before.
fn is_about(history: &[Utterance<'_>], question: &str, rewrite: &str) -> bool {
    shares_word(question, rewrite) || history.iter().any(|said| shares_word(said.text, rewrite))
}

/// The one question that a model answered with, if that is what it did.
fn clean<'s>(said: &'s str, question: &str) -> Option<&'s str> {
    let text = said.trim();
    let text = match text.split_once(':') {
        Some((label, rest)) if label.to_lowercase().ends_with("question") && label.len() <= 40 => rest.trim(),
        _ => text,
    };
    let unquoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let chars_max = question.chars().count() * 4 + 400;
    let asks = |text: &str| text.trim_end().ends_with(['?', '？']);
    let is_one = !unquoted.is_empty() && !unquoted.contains('\n') && unquoted.chars().count() <= chars_max;
    (is_one && (asks(unquoted) || !asks(question))).then_some(unquoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_question_is_refused() {
        for (said, expected) in [
            ("Is lung cancer treatable?", Some("Is lung cancer treatable?")),
            (" \"Is it?\"\n", Some("Is it?")),
            ("Standalone question: Is it?", Some("Is it?")),
            ("Qual é a diferença: A ou B?", Some("Qual é a diferença: A ou B?")),
            ("", None),
            ("\"\"", None),
            ("First.\nSecond.", None),
            ("It opens at nine.", None),
        ] {
            assert_eq!(clean(said, "and it?"), expected, "{said}");
        }
        assert_eq!(clean("Compare A with B", "compare it"), Some("Compare A with B"));
        assert_eq!(clean(&"x".repeat(4 * 6 + 401), "and it"), None);
        assert!(clean(&"x".repeat(4 * 6 + 400), "and it").is_some());
    }

    #[test]
    fn the_newest_lines_that_fit_are_shown() {
        let long = "x".repeat(LINE_CHARS_MAX + 1);
        let said: Vec<Utterance<'_>> = (0..40).map(|_| Utterance { speaker: "user", text: &long }).collect();
        let shown = lines(&said, HISTORY_TOKENS_MAX);
        assert_eq!(shown.lines().count(), HISTORY_TOKENS_MAX as usize * 4 / (LINE_CHARS_MAX + 6));
        let line_tokens = Tokenizer::default().count(shown.lines().next().unwrap());
        assert_eq!([line_tokens, line_tokens - 1].map(|tokens| lines(&said, tokens).lines().count()), [1, 0]);
        let two = [Utterance { speaker: "user", text: "a\nb" }, Utterance { speaker: "assistant", text: "c" }];
        assert_eq!(lines(&two, HISTORY_TOKENS_MAX), "user: a b\nassistant: c");
    }
}
