//! What a question says and no parameter takes.

use std::ops::Range;

use super::Given;
use super::rules::Rule;
use super::said::{QuestionWords, Spelling};
use crate::plan::account::{self, NamePlace, UnknownPhrase, Unread, UnreadKind};
use crate::plan::text::{Question, Sense};
use crate::window::{holds, is_unit};

/// The words that the parameters of an intent would take, beside its subjects, window and conditions.
pub(crate) fn parameter_words(rule: &Rule, said: &QuestionWords<'_>) -> Vec<Range<usize>> {
    let choices = rule.choices.values().flat_map(|rule| rule.words.iter().map(|(spelling, _)| spelling));
    let aggregations = rule.aggregation.iter().flat_map(|rule| rule.words.iter().map(|(spelling, _)| spelling));
    let counted = rule.limit.iter().flat_map(|rule| rule.of.iter());
    let unless = rule.subjects.iter().flat_map(|(_, rule)| rule.unless.iter());
    let mut words = said.places_of(choices.chain(aggregations).chain(counted).chain(unless));
    let changes = (0..said.tokens.len()).filter(|at| said.grammar().pointers.is_change(said.tokens.word(*at)));
    words.extend(changes.map(|at| at..at + 1));
    words
}

/// Words that mean the stretch of time of the answer before.
pub(crate) fn same_period(said: &QuestionWords<'_>) -> Option<Range<usize>> {
    let same = said.grammar().times.same;
    let phrase = |at: usize| same.iter().find_map(|phrase| said.tokens.phrase(at, phrase));
    (0..said.tokens.len()).find_map(|at| phrase(at).map(|end| at..end))
}

/// What is only supposed: `se a selic cair para 10%, …`. No row says what would be.
pub(crate) fn supposed(said: &QuestionWords<'_>, question: &Question) -> Option<Unread> {
    let (tokens, count, talk) = (&said.tokens, said.tokens.len(), &said.grammar().talk);
    let is_first = |at: usize| question.begins(at) || (at == 1 && holds(said.grammar().openers, tokens.before(at)));
    let supposes = |at: usize| holds(talk.supposes, tokens.word(at)) && !holds(talk.courtesies, tokens.word(at + 1));
    let from = (0..count.saturating_sub(1)).find(|at| is_first(*at) && supposes(*at))?;
    let ends = |at: &usize| question.begins(*at) || holds(talk.asks, tokens.word(*at));
    let end = (from + 1..count).find(ends).unwrap_or(count);
    Some(Unread::new(UnreadKind::Condition, question.spelled(from..end)))
}

pub(crate) fn period(question: &Question, words: Range<usize>) -> Unread {
    Unread::new(UnreadKind::Period, question.spelled(words))
}

/// A time that no window was read from: a date that there is not, `mês retrasado`, `no carnaval`. Words that
/// say how often, such as `por mês`, are none.
pub(crate) fn stray_period(
    said: &QuestionWords<'_>,
    question: &Question,
    words: &[Spelling],
    read: &[Range<usize>],
) -> Option<Unread> {
    if let Some(words) = said.stray_date().or_else(|| words.iter().find_map(|words| said.find(words))) {
        return Some(period(question, words));
    }
    let (tokens, grammar) = (&said.tokens, said.grammar());
    let goes_with_time = |word: &str| holds(grammar.times.goes_with, word);
    let is_often = |at: usize| holds(grammar.times.how_often, tokens.before(at)) || is_metric(said, at);
    let is_read = |at: &usize| read.iter().any(|words| words.len() > 1 && words.contains(at));
    let is_stray =
        |at: &usize| said.is_free(*at) && grammar.is_time(tokens.word(*at)) && !is_often(*at) && !is_read(at);
    let at = (0..tokens.len()).find(is_stray)?;
    let goes_with = |at: &usize| goes_with_time(tokens.word(*at)) || tokens.digits(*at).is_some();
    let first = (0..at).rev().take_while(goes_with).last().unwrap_or(at);
    let is_more = |at: &usize| goes_with_time(tokens.word(*at)) || question.sense(*at) != Sense::Telling;
    let rest = (at + 1..tokens.len()).take_while(is_more).take_while(|at| !question.begins(*at));
    let last = rest.filter(|at| !grammar.only_goes_with_time(tokens.word(*at))).last();
    Some(period(question, first..last.unwrap_or(at) + 1))
}

/// The words of a window with one beside it that moves it or takes a part of it: `fim de 2024`, `3 dias
/// antes`, `primeira quinzena de março`. None where it is meant as it stands.
pub(crate) fn moved(said: &QuestionWords<'_>, window: &Range<usize>) -> Option<Range<usize>> {
    let before = window.start.checked_sub(1).filter(|at| said.is_free(*at));
    let grammar = said.grammar();
    let is_part = |word: &str| holds(grammar.times.parts, word) || grammar.is_time(word);
    let is_often = |at: usize| holds(grammar.times.how_often, said.tokens.before(at));
    let before = before.filter(|at| is_part(said.tokens.word(*at)) && !is_often(*at));
    let behind = said.tokens.is_in(window.end, grammar.times.moves);
    match (before, behind) {
        (None, false) => None,
        (before, behind) => Some(before.unwrap_or(window.start)..window.end + usize::from(behind)),
    }
}

/// `dy de 12 meses` is the name of a number.
fn is_metric(said: &QuestionWords<'_>, at: usize) -> bool {
    const BEFORE: usize = 3;
    let tokens = &said.tokens;
    let metrics = said.grammar().window.counts.metrics;
    tokens.before(at) == "12" && (at.saturating_sub(BEFORE)..at).any(|at| tokens.is_in(at, metrics))
}

/// The names that a question holds and nothing knows. Where it names a subject, only what is said of that, or
/// beside it, counts; where it would inherit one, any name does.
pub(crate) fn names(
    rule: &Rule,
    question: &Question,
    said: &QuestionWords<'_>,
    given: &Given<'_>,
    read: &[Range<usize>],
) -> Vec<Unread> {
    if rule.subjects.is_empty() && rule.window.is_none() && rule.choices.is_empty() {
        return Vec::new();
    }
    let is_told = |at: usize| rule.window.is_some() && said.grammar().is_time(said.tokens.word(at));
    let is_taken = |at: usize| !said.is_free(at) || is_told(at) || read.iter().any(|words| words.contains(&at));
    let phrases = account::phrases(question, &is_taken);
    let is_named = question.names_any();
    let inherits = !is_named && (given.inherits_any() || given.takes_up);
    let tells_capitals = question.tells_capitals();
    let counts = |phrase: &&UnknownPhrase| match phrase.place {
        NamePlace::Time | NamePlace::Beside => true,
        NamePlace::Loose => phrase.is_capital && tells_capitals && !rule.subjects.is_empty(),
        _ if rule.subjects.is_empty() => phrase.is_attached || given.takes_up,
        NamePlace::Last => !is_named,
        NamePlace::Name if is_named => phrase.is_behind,
        NamePlace::Name => inherits || phrase.is_behind || phrase.is_capital,
    };
    let unread = |phrase: &UnknownPhrase| {
        let kind = if phrase.place == NamePlace::Time { UnreadKind::Period } else { UnreadKind::Name };
        Unread::new(kind, question.spelled(phrase.words.clone()))
    };
    // What is about no subject answers nothing about one that is named.
    let is_of_rule = |kind: usize| rule.subjects.iter().any(|(own, _)| *own == kind);
    let others = question.named_subjects().iter().filter(|named| named.known().is_some_and(|it| !is_of_rule(it.kind)));
    let others = others.filter(|_| !given.is_one_of_several || !rule.subjects.is_empty());
    // Where it takes none, what is named is selected by.
    let kind = if rule.subjects.is_empty() { UnreadKind::Condition } else { UnreadKind::Name };
    let others = others.map(|named| Unread::new(kind, question.spelled(named.words.clone())));
    let strangers = question.strangers().into_iter().map(|words| Unread::new(UnreadKind::Name, words));
    let phrases = phrases.iter().filter(counts).map(unread);
    let mut all: Vec<Unread> = strangers.chain(others).chain(phrases).collect();
    for words in question.quoted().filter(|_| !rule.subjects.is_empty()) {
        let is_known = words.clone().all(|at| is_taken(at) || question.sense(at) == Sense::Telling);
        let words = question.spelled(words);
        if !is_known && !all.iter().any(|unread| unread.words.contains(words)) {
            all.retain(|unread| !words.contains(&unread.words));
            all.push(Unread::new(UnreadKind::Name, words));
        }
    }
    all
}

/// A number that nothing took: it counts no rows, bounds nothing and is no time.
pub(crate) fn stray_number(
    rule: &Rule,
    question: &Question,
    said: &QuestionWords<'_>,
    read: &[Range<usize>],
) -> Option<Unread> {
    let tokens = &said.tokens;
    let is_number =
        |at: &usize| !tokens.word(*at).is_empty() && tokens.word(*at).bytes().all(|byte| byte.is_ascii_digit());
    let is_read = |at: &usize| read.iter().any(|words| words.contains(at)) || question.is_timed(*at);
    let counts = said.grammar().pointers.counts;
    let is_pointer = |at: &usize| counts.iter().any(|(names, _)| holds(names, tokens.word(*at)));
    let is_joined = |at: usize| tokens.joint(at).is_some() || matches!(tokens.gap(at), "," | ":");
    let is_alone = |at: &usize| !is_joined(*at) && !is_joined(*at + 1) && !is_unit(tokens, *at + 1);
    let is_stray = |at: &usize| {
        let is_open = said.is_free(*at) && question.sense(*at) != Sense::Telling;
        is_number(at) && is_open && !is_read(at) && !is_pointer(at) && is_alone(at)
    };
    let at = (0..tokens.len()).filter(|_| !rule.subjects.is_empty()).find(is_stray)?;
    Some(Unread::new(UnreadKind::Number, question.spelled(at..at + 1)))
}
