//! Words that point at subjects of the last few answers: `o outro`, `os dois`, `o primeiro`, `tira o XPML11`.

use std::ops::Range;

use super::Given;
use super::said::QuestionWords;
use crate::plan::text::Question;
use crate::portuguese::plan::{ADD, OTHER, REMOVE, SWAP, THESE, counted_pointer, ordinal_pointer};

/// What a question points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pointed {
    Subjects(Vec<String>),
    /// These words point at none, or at too many.
    Unclear(Range<usize>),
}

/// How far before a subject a word stands that takes it away.
const REMOVE_WORDS_MAX: usize = 3;

/// The subjects of a question that names some and points at others.
pub fn with_named(said: &QuestionWords<'_>, question: &Question, given: &Given<'_>) -> Option<Pointed> {
    let (last, named) = (given.reference, question.subjects.as_slice());
    let first = question.named().first()?;
    let find = |words: &[&str], until: usize| (0..until).find(|at| said.tokens.is_one_of(*at, words));
    let has = |subject: &String| last.contains(subject);
    if let (Some(at), [old, new]) = (find(&SWAP, first.start), named) {
        let others = last.iter().filter(|subject| *subject != old && *subject != new).cloned();
        return Some(match has(old) {
            true => Pointed::Subjects(others.chain([new.clone()]).collect()),
            false => Pointed::Unclear(at..first.end),
        });
    }
    if let Some(at) = find(&REMOVE, first.start).filter(|at| first.start - at <= REMOVE_WORDS_MAX) {
        let left: Vec<String> = last.iter().filter(|subject| !named.contains(subject)).cloned().collect();
        let is_clear = named.iter().any(has) && !left.is_empty();
        return Some(if is_clear { Pointed::Subjects(left) } else { Pointed::Unclear(at..first.end) });
    }
    let adds = given.takes_up && find(&ADD, said.tokens.len()).is_some() && !last.is_empty();
    adds.then(|| Pointed::Subjects(super::subject::each_once(last, named)))
}

/// The subjects of a question that names none.
pub fn without_named(said: &QuestionWords<'_>, given: &Given<'_>) -> Option<Pointed> {
    let all = given.mentioned();
    for at in 0..said.tokens.len() {
        if !said.is_free(at) {
            continue;
        }
        if let Some((count, next)) = counted_pointer(&said.tokens, at) {
            return Some(match newest(given, &all, count) {
                Some(subjects) => Pointed::Subjects(subjects),
                None => Pointed::Unclear(at..next),
            });
        }
        if let Some((nth, next)) = ordinal_pointer(&said.tokens, at) {
            let of = if given.several.is_empty() { &all } else { given.several };
            let one = match nth {
                Some(nth) => nth.checked_sub(1).and_then(|nth| of.get(nth)),
                None => of.last(),
            };
            return Some(one.map_or(Pointed::Unclear(at..next), |one| Pointed::Subjects(vec![one.clone()])));
        }
        if let Some(next) = OTHER.iter().find_map(|phrase| said.tokens.phrase(at, phrase)) {
            let other = all.iter().rev().find(|subject| !given.reference.contains(subject));
            return Some(other.map_or(Pointed::Unclear(at..next), |one| Pointed::Subjects(vec![one.clone()])));
        }
        if said.tokens.is_one_of(at, &THESE) && !given.listed.is_empty() {
            return Some(Pointed::Subjects(given.listed.to_vec()));
        }
    }
    None
}

/// So many subjects: those that were asked about together, or the last ones.
fn newest(given: &Given<'_>, all: &[String], count: usize) -> Option<Vec<String>> {
    if given.reference.len() == count {
        return Some(given.reference.to_vec());
    }
    let from = all.len().checked_sub(count)?;
    all.get(from..).map(<[String]>::to_vec)
}
