//! Words that point at subjects of the last few answers: `o outro`, `os dois`, `o primeiro`, `tira o XPML11`.

use std::ops::Range;

use super::rules::Rule;
use super::said::QuestionWords;
use super::{Given, GivenSubjects, Parameters};
use crate::plan::account::{Unread, UnreadKind};
use crate::plan::text::Question;
use crate::window::holds;

/// What a question points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Pointed {
    Subjects(Vec<String>),
    /// These words point at none, or at too many.
    Unclear(Range<usize>),
}

/// How far before a subject a word stands that takes it away.
const REMOVE_WORDS_MAX: usize = 3;

/// The subjects of a question that names some and points at others.
pub(crate) fn with_named(
    said: &QuestionWords<'_>,
    question: &Question,
    named: &[String],
    given: &GivenSubjects<'_>,
    takes_up: bool,
) -> Option<Pointed> {
    let last = given.reference;
    let words = &said.grammar().pointers;
    let first = question.named().first()?;
    let find = |words: &str, until: usize| (0..until).find(|at| said.tokens.is_in(*at, words));
    let has = |subject: &String| last.contains(subject);
    if let (Some(at), [old, new]) = (find(words.swap, first.start), named) {
        let others = last.iter().filter(|subject| *subject != old && *subject != new).cloned();
        return Some(match has(old) {
            true => Pointed::Subjects(others.chain([new.clone()]).collect()),
            false => Pointed::Unclear(at..first.end),
        });
    }
    if let Some(at) = find(words.remove, first.start).filter(|at| first.start - at <= REMOVE_WORDS_MAX) {
        let left: Vec<String> = last.iter().filter(|subject| !named.contains(subject)).cloned().collect();
        let is_clear = named.iter().any(has) && !left.is_empty();
        return Some(if is_clear { Pointed::Subjects(left) } else { Pointed::Unclear(at..first.end) });
    }
    let adds = takes_up && find(words.add, said.tokens.len()).is_some() && !last.is_empty();
    adds.then(|| Pointed::Subjects(super::subject::each_once(last, named)))
}

/// The subjects of a question that names none, and the words that point at them.
pub(crate) fn without_named(said: &QuestionWords<'_>, given: &GivenSubjects<'_>) -> Option<(Pointed, Range<usize>)> {
    let all = given.mentioned();
    let (subjects, words) = (0..said.tokens.len()).filter(|at| said.is_free(*at)).find_map(|at| {
        if let Some((count, next)) = counted(said, at) {
            return Some((newest(given, &all, count), at..next));
        }
        if let Some((nth, next)) = ordinal(said, at) {
            let of = if given.several.is_empty() { &all } else { given.several };
            let one = match nth {
                Some(nth) => nth.checked_sub(1).and_then(|nth| of.get(nth)),
                None => of.last(),
            };
            return Some((one.map(|one| vec![one.clone()]), at..next));
        }
        if let Some(next) = other(said, at) {
            let other = all.iter().rev().find(|subject| !given.reference.contains(subject));
            return Some((other.map(|one| vec![one.clone()]), at..next));
        }
        let is_these = said.tokens.is_in(at, said.grammar().pointers.these) && !given.listed.is_empty();
        is_these.then(|| (Some(given.listed.to_vec()), at..at + 1))
    })?;
    let Some(subjects) = subjects else { return Some((Pointed::Unclear(words.clone()), words)) };
    let Some(at) = removes(said, words.start) else { return Some((Pointed::Subjects(subjects), words)) };
    // `tira o primeiro` leaves the others.
    let has_all = |of: &[String]| subjects.iter().all(|subject| of.contains(subject));
    let of = if has_all(given.reference) { given.reference } else { given.several };
    let left: Vec<String> = of.iter().filter(|subject| !subjects.contains(subject)).cloned().collect();
    let words = at..words.end;
    let is_clear = has_all(of) && !left.is_empty();
    Some((if is_clear { Pointed::Subjects(left) } else { Pointed::Unclear(words.clone()) }, words))
}

/// Words that point at what there is none of: `dos dois` where rows are about no subjects, `their loans`
/// where nobody was spoken of. An answer about all of them would pass over that.
pub(crate) fn to_nothing(
    rule: &Rule,
    question: &Question,
    said: &QuestionWords<'_>,
    given: &Given<'_>,
    found: &Parameters,
) -> Option<Unread> {
    let count = said.tokens.len();
    let words = match rule.subjects.is_empty() {
        true if given.takes_up => {
            let ends = |at: usize| counted(said, at).map(|(_, next)| next).or_else(|| other(said, at));
            (0..count).filter(|at| said.is_free(*at)).find_map(|at| Some(at..ends(at)?))
        }
        true => None,
        false => {
            let is_open = !found.has_subjects() && found.unread.is_empty() && found.conditions.is_empty();
            let is_owner = |at: &usize| said.tokens.is_in(*at, said.grammar().pointers.owners);
            (0..count).filter(|_| is_open && !question.names_any()).find(is_owner).map(|at| at..at + 1)
        }
    };
    words.map(|words| Unread::new(UnreadKind::Pointer, question.spelled(words)))
}

/// The words of a question that take away a subject which they only point at: `tira o último`. They ask for
/// nothing else.
pub(crate) fn removal(said: &QuestionWords<'_>) -> Option<Range<usize>> {
    let ends = |at: usize| counted(said, at).map(|(_, next)| next).or_else(|| ordinal(said, at).map(|(_, next)| next));
    (0..said.tokens.len()).find_map(|at| Some(removes(said, at)?..ends(at)?))
}

/// The word that takes away what stands behind it, a few words on.
fn removes(said: &QuestionWords<'_>, at: usize) -> Option<usize> {
    let remove = said.grammar().pointers.remove;
    (at.saturating_sub(REMOVE_WORDS_MAX)..at).rev().find(|at| said.tokens.is_in(*at, remove))
}

/// So many subjects: those that were asked about together, or the last ones.
fn newest(given: &GivenSubjects<'_>, all: &[String], count: usize) -> Option<Vec<String>> {
    if given.reference.len() == count {
        return Some(given.reference.to_vec());
    }
    let from = all.len().checked_sub(count)?;
    all.get(from..).map(<[String]>::to_vec)
}

/// `os dois`, `both`: how many subjects, and where the words end.
fn counted(said: &QuestionWords<'_>, at: usize) -> Option<(usize, usize)> {
    let (tokens, words) = (&said.tokens, &said.grammar().pointers);
    let count = |table: &[(&str, usize)], at: usize| {
        let word = tokens.word(at);
        table.iter().find(|(names, _)| holds(names, word)).map(|(_, count)| *count)
    };
    if let Some(many) = count(words.counts_alone, at) {
        return Some((many, at + 1));
    }
    let many = count(words.counts, at + 1).filter(|_| tokens.is_in(at, words.count_leads))?;
    is_alone(said, at + 2).then_some((many, at + 2))
}

/// `o primeiro`, `the second one`: which one, none for the last, and where the words end.
fn ordinal(said: &QuestionWords<'_>, at: usize) -> Option<(Option<usize>, usize)> {
    let (tokens, words) = (&said.tokens, &said.grammar().pointers);
    let is_led = tokens.is_in(at, words.ordinal_leads);
    if !is_led && !words.ordinal_leads.is_empty() {
        return None;
    }
    let here = at + usize::from(is_led);
    let word = tokens.word(here);
    let (_, nth) = words.ordinals.iter().find(|(names, _)| holds(names, word))?;
    let has_noun = tokens.is_in(here + 1, words.ordinal_nouns) || said.is_kind(here + 1);
    let next = here + 1 + usize::from(has_noun);
    is_alone(said, next).then_some((*nth, next))
}

/// `o outro`, `the other one`: where the words end.
fn other(said: &QuestionWords<'_>, at: usize) -> Option<usize> {
    let words = &said.grammar().pointers;
    let next = words.other.iter().find_map(|phrase| said.tokens.phrase(at, phrase))?;
    let has_noun = said.tokens.is_in(next, words.ordinal_nouns) || said.is_kind(next);
    let next = next + usize::from(has_noun);
    is_alone(said, next).then_some(next)
}

/// Whether nothing follows that a word would belong to.
fn is_alone(said: &QuestionWords<'_>, next: usize) -> bool {
    let tokens = &said.tokens;
    let follows = tokens.is_in(next, said.grammar().pointers.follows) || said.is_kind(next);
    next >= tokens.len() || follows || !tokens.gap(next).trim().is_empty()
}
