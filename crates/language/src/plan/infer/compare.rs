//! Whether a question compares what it names with what was spoken of before.

use super::rules::Rule;
use super::said::{QuestionWords, Spelling};
use super::{Given, ParameterRules};
use crate::plan::account::{Unread, UnreadKind};
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

impl ParameterRules {
    /// The words of a question that mean a subject which was spoken of, where the intent is about none:
    /// `quanto isso rendeu contra o ifix`. An answer without it would tell half of what was asked.
    pub(super) fn other_side(
        &self,
        rule: &Rule,
        question: &Question,
        said: &QuestionWords<'_>,
        given: &Given<'_>,
    ) -> Option<Unread> {
        let is_left_out = rule.subjects.is_empty() && given.was_about_subjects && !question.names_any();
        if !is_left_out || given.takes_up || given.is_one_of_several {
            return None;
        }
        let (tokens, grammar) = (&said.tokens, said.grammar());
        let is_own = |at: usize| tokens.is_in(at, grammar.talk.possessives);
        if (0..tokens.len()).any(is_own) {
            return None;
        }
        let chosen = said.places_of(rule.choices.values().flat_map(|rule| rule.words.iter().map(|(words, _)| words)));
        let first = chosen.into_iter().min_by_key(|words| words.start)?;
        let is_pronoun = |at: &usize| tokens.is_in(*at, grammar.pointers.pronouns);
        let compared = self.compare.iter().filter_map(|words| said.find(words)).map(|words| words.start);
        let against = (0..first.start).find(|at| tokens.is_in(*at, grammar.pointers.against));
        let compared = compared.filter(|at| *at < first.start).min().or(against);
        let from = (0..first.start).find(is_pronoun).or(compared)?;
        Some(Unread::new(UnreadKind::Pointer, question.spelled(from..first.end)))
    }
}

fn names(word: &str, subjects: &[String]) -> bool {
    word.len() >= NAME_CHARS_MIN && subjects.iter().any(|subject| subject.to_lowercase().starts_with(word))
}
