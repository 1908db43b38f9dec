//! What a question says and no parameter takes.

use std::ops::Range;

use super::Given;
use super::rules::Rule;
use super::said::{QuestionWords, Spelling};
use crate::plan::account::{self, NamePlace, UnknownPhrase, Unread, UnreadKind};
use crate::plan::text::{Question, Sense};
use crate::portuguese::plan::{
    HOW_OFTEN, MOVES_TIME, PARTS_OF_TIME, SAME_PERIOD, goes_with_time, is_asking, is_change, is_supposing, is_time,
};

/// The words that the parameters of an intent would take, beside its subjects, window and conditions.
pub fn parameter_words(rule: &Rule, said: &QuestionWords<'_>) -> Vec<Range<usize>> {
    let choices = rule.choices.values().flat_map(|rule| rule.words.iter().map(|(spelling, _)| spelling));
    let aggregations = rule.aggregation.iter().flat_map(|rule| rule.words.iter().map(|(spelling, _)| spelling));
    let counted = rule.limit.iter().flat_map(|rule| rule.of.iter());
    let unless = rule.subject.iter().flat_map(|rule| rule.unless.iter());
    let mut words = said.places_of(choices.chain(aggregations).chain(counted).chain(unless));
    let changes = (0..said.tokens.len()).filter(|at| is_change(said.tokens.word(*at)));
    words.extend(changes.map(|at| at..at + 1));
    words
}

/// Words that mean the stretch of time of the answer before.
pub fn same_period(said: &QuestionWords<'_>) -> Option<Range<usize>> {
    let phrase = |at: usize| SAME_PERIOD.iter().find_map(|phrase| said.tokens.phrase(at, phrase));
    (0..said.tokens.len()).find_map(|at| phrase(at).map(|end| at..end))
}

/// What is only supposed: `se a selic cair para 10%, …`. No row says what would be.
pub fn supposed(said: &QuestionWords<'_>, question: &Question) -> Option<Unread> {
    let (tokens, count) = (&said.tokens, said.tokens.len());
    let is_first = |at: usize| question.begins(at) || (at == 1 && tokens.before(at) == "e");
    let from = (0..count).find(|at| is_first(*at) && is_supposing(tokens.word(*at), tokens.word(*at + 1)))?;
    let ends = |at: &usize| question.begins(*at) || is_asking(tokens.word(*at));
    let end = (from + 1..count).find(ends).unwrap_or(count);
    Some(Unread { kind: UnreadKind::Condition, words: question.spelled(from..end).to_owned() })
}

pub fn period(question: &Question, words: Range<usize>) -> Unread {
    Unread { kind: UnreadKind::Period, words: question.spelled(words).to_owned() }
}

/// A time that no window was read from: a date that there is not, `mês retrasado`, `no carnaval`. Words that
/// say how often, such as `por mês`, are none.
pub fn stray_period(said: &QuestionWords<'_>, question: &Question, words: &[Spelling]) -> Option<Unread> {
    if let Some(words) = said.stray_date().or_else(|| words.iter().find_map(|words| said.find(words))) {
        return Some(period(question, words));
    }
    let tokens = &said.tokens;
    let is_often = |at: usize| HOW_OFTEN.contains(&tokens.before(at)) || is_metric(said, at);
    let is_stray = |at: &usize| said.is_free(*at) && is_time(tokens.word(*at)) && !is_often(*at);
    let at = (0..tokens.len()).find(is_stray)?;
    let goes_with = |at: &usize| goes_with_time(tokens.word(*at)) || tokens.digits(*at).is_some();
    let first = (0..at).rev().take_while(goes_with).last().unwrap_or(at);
    let is_more = |at: &usize| goes_with_time(tokens.word(*at)) || question.sense(*at) != Sense::Telling;
    let rest = (at + 1..tokens.len()).take_while(is_more).take_while(|at| !question.begins(*at));
    let last = rest.filter(|at| !goes_with_time(tokens.word(*at)) || tokens.word(*at).starts_with("retras")).last();
    Some(period(question, first..last.unwrap_or(at) + 1))
}

/// The words of a window with one beside it that moves it or takes a part of it: `fim de 2024`, `3 dias
/// antes`, `primeira quinzena de março`. None where it is meant as it stands.
pub fn moved(said: &QuestionWords<'_>, window: &Range<usize>) -> Option<Range<usize>> {
    let before = window.start.checked_sub(1).filter(|at| said.is_free(*at));
    let is_part = |word: &str| PARTS_OF_TIME.contains(&word) || is_time(word);
    let is_often = |at: usize| HOW_OFTEN.contains(&said.tokens.before(at));
    let before = before.filter(|at| is_part(said.tokens.word(*at)) && !is_often(*at));
    let behind = said.tokens.is_one_of(window.end, &MOVES_TIME);
    match (before, behind) {
        (None, false) => None,
        (before, behind) => Some(before.unwrap_or(window.start)..window.end + usize::from(behind)),
    }
}

/// `dy de 12 meses` is the name of a number.
fn is_metric(said: &QuestionWords<'_>, at: usize) -> bool {
    const BEFORE: usize = 3;
    let tokens = &said.tokens;
    tokens.before(at) == "12" && (at.saturating_sub(BEFORE)..at).any(|at| tokens.is_one_of(at, &["dy", "yield"]))
}

/// The names that a question holds and nothing knows. Where it names a subject, only what is said of that, or
/// beside it, counts; where it would inherit one, any name does.
pub fn names(
    rule: &Rule,
    question: &Question,
    said: &QuestionWords<'_>,
    given: &Given<'_>,
    read: &[Range<usize>],
) -> Vec<Unread> {
    if rule.subject.is_none() && rule.window.is_none() && rule.choices.is_empty() {
        return Vec::new();
    }
    let is_told = |at: usize| rule.window.is_some() && is_time(said.tokens.word(at));
    let is_taken = |at: usize| !said.is_free(at) || is_told(at) || read.iter().any(|words| words.contains(&at));
    let phrases = account::phrases(question, &is_taken);
    let is_named = !question.subjects.is_empty() || !question.strangers().is_empty();
    let inherits = !is_named && (!given.inherited.is_empty() || given.takes_up);
    let counts = |phrase: &&UnknownPhrase| match phrase.place {
        NamePlace::Time | NamePlace::Beside => true,
        NamePlace::Loose => false,
        _ if rule.subject.is_none() => phrase.is_attached || given.takes_up,
        NamePlace::Last => !is_named,
        NamePlace::Name if is_named => phrase.is_behind,
        NamePlace::Name => inherits || phrase.is_behind || phrase.is_capital,
    };
    let unread = |phrase: &UnknownPhrase| {
        let kind = if phrase.place == NamePlace::Time { UnreadKind::Period } else { UnreadKind::Name };
        Unread { kind, words: question.spelled(phrase.words.clone()).to_owned() }
    };
    // What is about no subject answers nothing about one that is named.
    let others = question.subjects.iter().filter(|_| rule.subject.is_none() && !given.is_one_of_several).cloned();
    let others = others.map(|words| Unread { kind: UnreadKind::Condition, words });
    let strangers = question.strangers().into_iter().map(|words| Unread { kind: UnreadKind::Name, words });
    strangers.chain(others).chain(phrases.iter().filter(counts).map(unread)).collect()
}
