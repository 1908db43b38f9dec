//! Whether a question compares what it names with what was spoken of before.

use super::said::{QuestionWords, Spelling};
use crate::plan::text::Question;

/// Words that may stand between a link and what it leads to: `com o dividend yield do XPML11`.
const LINK_WORDS_MAX: usize = 5;

/// The shortest beginning of a subject that stands for it.
const NAME_CHARS_MIN: usize = 4;

/// `compare com XPML11` does, and so does `compare o XPML11`. `compare HGLG11 com o IFIX` and `HGLG11 versus
/// MXRF11` name both sides.
pub(crate) fn joins(said: &QuestionWords<'_>, question: &Question, compare: &[Spelling], subjects: &[String]) -> bool {
    let Some(words) = compare.iter().filter_map(|words| said.find(words)).min_by_key(|words| words.start) else {
        return false;
    };
    let is_named = |at: &usize| question.named().iter().any(|words| words.contains(at));
    let is_subject = |at: &usize| is_named(at) || names(said.tokens.word(*at), subjects);
    if (0..words.start).any(|at| is_subject(&at)) {
        return false;
    }
    let end = said.tokens.len();
    let subject = (words.end..end).find(is_subject).unwrap_or(end);
    let is_linked = |from: usize, to: usize| (from..to).any(|at| said.tokens.is_in(at, said.grammar().pointers.links));
    match is_linked(words.end.saturating_sub(1), subject) {
        true => is_linked(subject.saturating_sub(LINK_WORDS_MAX + 1).max(words.end.saturating_sub(1)), subject),
        false => subjects.len() == 1 && !is_linked(subject, end),
    }
}

fn names(word: &str, subjects: &[String]) -> bool {
    word.len() >= NAME_CHARS_MIN && subjects.iter().any(|subject| subject.to_lowercase().starts_with(word))
}
