//! The question made self-contained: by a model where one is set and answers in time, else by rules.
//!
//! No model is asked for the first question of a thread, which is taken as it is, nor where a caller asked for one call of
//! one model. What a model says is not trusted to be the question: what cannot be is left to the rules.

use novelo_language::rewrite::{Utterance, rewrite as by_rules};
use novelo_recall::quote::shares_word;
use serde_json::{Map, json};

use super::history::History;
use super::{ReplyKind, ReplyRequest, Rewritten, RewrittenBy};
use crate::app::Shared;
use crate::model::{Ask, Job, Model};
use crate::policy::{self, Policies};
use crate::text::cut;

/// Characters of one message that the model is shown, and of all.
const LINE_CHARS_MAX: usize = 600;
const HISTORY_CHARS_MAX: usize = 8_000;
const ANSWER_TOKENS_MAX: u32 = 256;

/// The question, and what there is to be said of how it came about.
pub async fn rewrite(app: &Shared, history: &History, asked: &ReplyRequest) -> (Rewritten, Option<String>) {
    let question = &*asked.input.question();
    if history.is_empty() || question.is_empty() {
        return (unchanged(question), None);
    }
    let history = history.said();
    let model = app.models.get(Job::Rewrite).filter(|_| matches!(asked.kind, ReplyKind::Assist(_)));
    let note = match model {
        None => None,
        Some(model) => match by_model(&app.policies, model, &history, question).await {
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

/// What the model makes of a question; why it made nothing of it, otherwise.
pub async fn by_model(
    policies: &Policies,
    model: &Model,
    history: &[Utterance<'_>],
    question: &str,
) -> Result<Rewritten, &'static str> {
    let prompt = policies.prompt(policy::Prompt::Rewrite);
    let shown = format!("Conversation history:\n{}\n\nFollow-up question: {question}", lines(history));
    let messages = json!([{"role": "system", "content": &*prompt}, {"role": "user", "content": shown}]);
    let mut options = Map::new();
    options.insert("temperature".to_owned(), 0.into());
    options.insert("max_tokens".to_owned(), ANSWER_TOKENS_MAX.into());
    let ask = Ask { messages: messages.to_string().into(), options };
    let said = model.complete(&ask).await.map_err(|failure| failure.in_words())?;
    let answers = |text: &str| history.iter().any(|said| said.speaker == "assistant" && said.text.trim() == text);
    let is_one = |text: &&str| !answers(text) && is_about(history, question, text);
    let said = clean(said.said(), question).filter(is_one).ok_or("it did not answer with one question")?;
    let by = if said == question.trim() { RewrittenBy::Nobody } else { RewrittenBy::Model };
    Ok(if by == RewrittenBy::Nobody { unchanged(question) } else { Rewritten { question: said.to_owned(), by } })
}

/// A line each, the newest that fit, oldest first.
fn lines(history: &[Utterance<'_>]) -> String {
    let mut room = HISTORY_CHARS_MAX;
    let line = |said: &Utterance<'_>| {
        let text = said.text.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("{}: {}", said.speaker, cut(&text, LINE_CHARS_MAX))
    };
    let fits = |line: &String| {
        let chars = line.chars().count();
        let fits = chars <= room;
        room = room.saturating_sub(chars);
        fits
    };
    let mut lines: Vec<String> = history.iter().rev().map(line).take_while(fits).collect();
    lines.reverse();
    lines.join("\n")
}

/// Whether a rewrite speaks of what was asked, or, where that says nothing by itself, of what was said before.
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
        let shown = lines(&said);
        assert_eq!(shown.lines().count(), HISTORY_CHARS_MAX / (LINE_CHARS_MAX + 6));
        let two = [Utterance { speaker: "user", text: "a\nb" }, Utterance { speaker: "assistant", text: "c" }];
        assert_eq!(lines(&two), "user: a b\nassistant: c");
    }
}
