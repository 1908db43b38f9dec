//! Russian pronouns: their case, and the order of the words around them.

use super::decline::case_after;
use crate::syntax::{Case, Class, FollowUp, Form, FoundPronoun, Pronoun};

pub fn find(question: &FollowUp<'_>, at: usize, pronoun: Option<Pronoun>) -> Option<FoundPronoun> {
    let pronoun = pronoun?;
    Some(owner(question, at, pronoun).unwrap_or_else(|| {
        let case = case_after(question.lower_before(at));
        let form = case.filter(|_| pronoun.form != Form::Plain).map_or(pronoun.form, Form::Case);
        let verb = verb_after(question, at).filter(|_| pronoun.form != Form::Plain);
        let before = verb.map_or(String::new(), |verb| format!("{verb} "));
        FoundPronoun { pronoun: Pronoun { form, ..pronoun }, end: at + 1 + usize::from(verb.is_some()), before }
    }))
}

/// A Russian verb that ends a question goes before the noun that takes a pronoun's place.
fn verb_after<'q>(question: &FollowUp<'q>, at: usize) -> Option<&'q str> {
    let asks = question.first_word().is_some_and(|first| question.class(first).has(Class::ASKING) && first < at);
    let ends = question.tokens.get(at + 2).is_none_or(|it| !it.is_word());
    let verb = question.tokens.get(at + 1).filter(|it| question.lexicon.is_verb(&it.lower) || it.lower == "лет")?;
    (asks && ends && !question.before(at).has(Class::PREPOSITION)).then_some(verb.text)
}

/// A Russian owner follows what it owns.
fn owner(question: &FollowUp<'_>, at: usize, pronoun: Pronoun) -> Option<FoundPronoun> {
    let owned = question.phrases.iter().find(|it| it.words.start == at + 1 && !it.features.group)?;
    let spelled = question.spelled(owned)?;
    let pronoun = Pronoun { form: Form::Case(Case::Genitive), ..pronoun };
    is_possessive(question.lower(at), question.lower(at + 1)).then(|| FoundPronoun {
        pronoun,
        end: owned.words.end,
        before: format!("{spelled} "),
    })
}

/// Whether `его`, `ее` and `их` say whose the next word is.
fn is_possessive(pronoun: &str, next: &str) -> bool {
    let addressee = ["ам", "ям", "ому", "ему"].iter().any(|end| next.ends_with(end));
    matches!(pronoun, "его" | "ее" | "их") && !addressee
}
