//! Two that were talked about: "Which is cheaper?", "Can it treat both?", "Qual dos dois é melhor?", "Что выгоднее?".

use super::entity::Entity;
use super::lexicon::{Class, Form, Pronoun};
use super::question::{Edit, Question};
use super::topic::Topics;
use super::{Change, ChangeKind, portuguese, russian};
use crate::analyse::Language;

/// A longer question says between what it asks to choose.
const WORDS_MAX: usize = 8;
/// What was spoken of together this lately is meant together.
const GROUPED: f32 = 0.3;
const PLAIN: Pronoun = Pronoun { form: Form::Plain, plural: false, gender: None, person: None };

const MANY: Pronoun = Pronoun { plural: true, ..PLAIN };

pub fn resolve(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    which(question, topics).or_else(|| both(question, topics))
}

/// `Which is cheaper` and nothing to compare: the two are added.
fn which(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    let first = question.first_word()?;
    let says = question.phrases.iter().any(|it| !question.class(it.head).has(Class::ADJECTIVE.or(Class::ONE)));
    let compares = (first..question.tokens.len()).any(|at| is_comparative(question, at));
    let chooses = matches!(
        question.lower(first),
        "which" | "who" | "what" | "qual" | "quais" | "quem" | "какой" | "какая" | "какое" | "что" | "кто"
    );
    if !chooses || !compares || says || question.words() > WORDS_MAX || question.has(Class::SPEAKER.or(Class::MY)) {
        return None;
    }
    let many = topics.antecedent(&MANY, |it| question.mentions(it));
    if question.has(Class::THIRD) && many.is_some_and(|it| it.plural == Some(true) && !it.group) {
        return None;
    }
    let person = question.lexicon.is_who(question.lower(first));
    let [one, other] = topics.pair(|it| (it.person == Some(true)) == person && !question.mentions(it))?;
    let or = match question.lexicon.language {
        Language::English => "or",
        Language::Portuguese => "ou",
        Language::Russian => "или",
    };
    let body = question.text.trim_end();
    let open = body.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '.'));
    let open = without_partitive(open);
    let (one, other) = (said(one, question), said(other, question));
    let now = format!("{open}, {one} {or} {other}{}", body.get(body.trim_end_matches(['?', '.', ' ']).len()..)?);
    let change = Change { kind: ChangeKind::Choice, was: question.text.to_owned(), now };
    Some(Edit { range: 0..question.text.len(), change })
}

/// Without `of them`, which the two take the place of.
fn without_partitive(text: &str) -> String {
    const PARTITIVES: [&str; 10] = [
        " of them",
        " of the two",
        " of these",
        " deles",
        " delas",
        " dos dois",
        " das duas",
        " из них",
        " из двух",
        " из этих",
    ];
    PARTITIVES.iter().fold(text.to_owned(), |text, of| text.replacen(of, "", 1))
}

fn is_comparative(question: &Question<'_>, at: usize) -> bool {
    let word = question.lower(at);
    match question.lexicon.language {
        Language::English => {
            matches!(word, "more" | "better" | "worse" | "less")
                || (word.len() > 4 && word.ends_with("er") && question.is_noun(at))
        }
        Language::Portuguese => matches!(word, "mais" | "menos" | "melhor" | "pior" | "maior" | "menor"),
        Language::Russian => russian::is_comparative(word),
    }
}

/// `both` and `the two`, where no noun follows.
fn both(question: &Question<'_>, topics: &Topics) -> Option<Edit> {
    let (from, to) = (0..question.tokens.len()).find_map(|at| both_at(question, at))?;
    let asks = question.text.trim_end().ends_with('?') && question.words() <= WORDS_MAX && !question.has(Class::THIRD);
    let noun = question.is_noun(to) && !question.class(to).has(Class::ADJECTIVE);
    if !asks || noun || question.class(to).has(Class::DEFINITE.or(Class::MY)) {
        return None;
    }
    let group = topics.ranked(|it| (it.group && !question.mentions(it)).then_some(1.0));
    if let Some((group, _)) = group.first().filter(|(_, salience)| *salience >= GROUPED) {
        return question.edit(from..to, group.full(), ChangeKind::Pronoun);
    }
    let [one, other] = topics.pair(|it| !question.mentions(it))?;
    let now = match question.lexicon.language {
        Language::English => format!("{} and {}", one.full(), other.full()),
        Language::Portuguese => format!("{} e {}", one.full(), other.full()),
        Language::Russian => format!("{} и {}", said(one, question), said(other, question)),
    };
    question.edit(from..to, now, ChangeKind::Pronoun)
}

fn both_at(question: &Question<'_>, at: usize) -> Option<(usize, usize)> {
    match (question.lower(at), question.lower(at + 1)) {
        ("both", "of") if question.class(at + 2).has(Class::THIRD) => Some((at, at + 3)),
        ("both", "of") => None,
        ("the", "two") => Some((at, at + 2)),
        ("os", "dois") | ("as", "duas") => Some((at, at + 2)),
        ("both" | "ambos" | "ambas" | "оба" | "обе", _) => Some((at, at + 1)),
        _ => None,
    }
}

fn said(entity: &Entity, question: &Question<'_>) -> String {
    match question.lexicon.language {
        Language::English => entity.full(),
        Language::Portuguese => portuguese::written(entity, &PLAIN),
        Language::Russian => russian::written(entity, &PLAIN),
    }
}
