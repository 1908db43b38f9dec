//! The question made self-contained: by a model where one is set and answers in time, else by rules.
//!
//! No model is asked for the first question of a thread, which is taken as it is, nor where a caller asked
//! for one call of one model. What a model says is cleaned first and not trusted to be the question: what
//! cannot be is left to the rules.

use bytes::Bytes;
use novelo_engine::path::DocumentPath;
use novelo_language::generated::accept_rewrite;
use novelo_language::rewrite::{Utterance, rewrite as by_rules};
use serde_json::Map;

use super::history::History;
use super::{ReplyKind, ReplyRequest, Rewritten, RewrittenBy};
use crate::answer::Shared;
use crate::context::work_prompt::{WorkPrompt, untraced_messages};
use crate::model::{Ask, Job, Model};
use crate::policy::{self, Policies};
use crate::text::cut;

/// Characters of one message that the model sees.
const LINE_CHARS_MAX: usize = 2_000;
/// Answers are cut to a sixteenth of that before questions are cut, and both before messages are left out.
const ANSWER_SHARE_MAX: usize = 16;
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
) -> Result<Rewritten, String> {
    let instruction = app.policies.prompt(policy::Prompt::Rewrite);
    let prompt = WorkPrompt { instruction: &instruction, model, thread: asked.place(), made_from };
    let prompt = prompt.make(app, |share| text(history, question, share)).await.map_err(|error| {
        tracing::warn!(error = %error.message, "the prompt for a rewrite was not made");
        "its prompt was too long".to_owned()
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
) -> Result<Rewritten, String> {
    let instruction = policies.prompt(policy::Prompt::Rewrite);
    let messages = untraced_messages(&instruction, &text(history, question, 1));
    ask_model(model, messages.map_err(|error| error.message)?, history, question).await
}

async fn ask_model(
    model: &Model,
    messages: Bytes,
    history: &[Utterance<'_>],
    question: &str,
) -> Result<Rewritten, String> {
    let mut options = Map::new();
    options.insert("temperature".to_owned(), 0.into());
    options.insert("max_tokens".to_owned(), ANSWER_TOKENS_MAX.into());
    let said = model.complete(&Ask { messages, options }).await.map_err(|failure| failure.in_words().to_owned())?;
    let refused = |unfit| format!("it did not answer with one question: {unfit}");
    let rewritten = accept_rewrite(history, question, said.said()).map_err(refused)?;
    let is_unchanged = rewritten == question.trim();
    Ok(if is_unchanged { unchanged(question) } else { Rewritten { question: rewritten, by: RewrittenBy::Model } })
}

/// The text of the prompt, with its caps divided by a number.
fn text(history: &[Utterance<'_>], question: &str, share: usize) -> String {
    format!("Conversation history:\n{}\n\nFollow-up question: {question}", lines(history, share))
}

/// A line each, oldest first. Long answers are shortened first, then all lines, and then the oldest are left
/// out.
fn lines(history: &[Utterance<'_>], share: usize) -> String {
    let answer_share = share.min(ANSWER_SHARE_MAX);
    let rest = share / answer_share.max(1);
    let line = |said: &Utterance<'_>| {
        let text = said.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let share = if said.speaker == "assistant" { answer_share } else { rest };
        format!("{}: {}", said.speaker, cut(&text, LINE_CHARS_MAX / share.max(1)))
    };
    let shown = history.len().div_ceil(rest.max(1));
    history.iter().skip(history.len() - shown).map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_shortened_before_questions_and_both_before_messages_are_left_out() {
        let long = "x".repeat(LINE_CHARS_MAX + 1);
        let pair = ["user", "assistant"].map(|speaker| Utterance { speaker, text: &long });
        let said: Vec<Utterance<'_>> = (0..20).flat_map(|_| pair).collect();
        let sizes = |share: usize| {
            let shown = lines(&said, share);
            let last: Vec<usize> = shown.lines().rev().take(2).map(|line| line.matches('x').count()).collect();
            (shown.lines().count(), last[1], last[0])
        };
        assert_eq!(sizes(1), (40, LINE_CHARS_MAX, LINE_CHARS_MAX));
        assert_eq!(sizes(2), (40, LINE_CHARS_MAX, LINE_CHARS_MAX / 2));
        assert_eq!(sizes(16), (40, LINE_CHARS_MAX, LINE_CHARS_MAX / 16));
        assert_eq!(sizes(64), (10, LINE_CHARS_MAX / 4, LINE_CHARS_MAX / 16));
        assert_eq!(sizes(256), (3, LINE_CHARS_MAX / 16, LINE_CHARS_MAX / 16));
        let two = [Utterance { speaker: "user", text: "a\nb" }, Utterance { speaker: "assistant", text: "c" }];
        assert_eq!(lines(&two, 1), "user: a b\nassistant: c");
    }
}
