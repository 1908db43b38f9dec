//! Pronouns, and what takes their place.

use super::entity::Entity;
use super::lexicon::{Case, Class, Form, Pronoun};
use super::question::{Edit, Question};
use super::token::Token;
use super::topic::Topics;
use super::{ChangeKind, english, own, portuguese, russian};
use crate::analyse::Language;

/// The first mention of each thing is written out; later pronouns keep pointing at it.
pub fn resolve(question: &Question<'_>, topics: &Topics) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut taken: Vec<&Entity> = Vec::new();
    for (at, token) in question.tokens.iter().enumerate() {
        let Some(found) = find(question, at, token) else { continue };
        let pronoun = found.pronoun;
        if own::is_reported(question, at) {
            break;
        }
        if own::is_quoted(question, at)
            || own::is_empty(question, at, &pronoun)
            || own::is_answered(question, at, &pronoun)
        {
            continue;
        }
        let here = |entity: &Entity| question.mentions(entity) || (pronoun.plural && question.says(&entity.head));
        let found_one = topics.antecedent(&pronoun, here);
        if let Some([one, other]) = couple(question, &pronoun, found_one, topics) {
            let both = english::and(&one.full(), &other.full(), &pronoun, question.is_spaced());
            edits.extend(question.edit(at..found.end, both, ChangeKind::Pronoun));
            break;
        }
        let Some(entity) = found_one else { continue };
        if taken.iter().any(|other| other.is(entity)) || question.says(&entity.head) {
            continue;
        }
        taken.push(entity);
        let kind = if pronoun.form == Form::Possessive { ChangeKind::Possessive } else { ChangeKind::Pronoun };
        let now = format!("{}{}", found.before, written(entity, &pronoun, question));
        edits.extend(question.edit(at..found.end, now, kind));
    }
    edits
}

/// Two people for `they`, where nothing that is many was spoken of.
fn couple<'t>(
    question: &Question<'_>,
    pronoun: &Pronoun,
    found: Option<&Entity>,
    topics: &'t Topics,
) -> Option<[&'t Entity; 2]> {
    let one = found.is_none_or(|it| it.plural == Some(false) || it.person == Some(true));
    let asks = question.text.trim_end().ends_with('?') && question.lexicon.language == Language::English;
    if !pronoun.plural || !one || !asks {
        return None;
    }
    topics.pair(|it| it.person == Some(true) && it.named && !question.mentions(it))
}

/// A pronoun, up to where its place goes, and what comes there before the phrase.
struct Found {
    pronoun: Pronoun,
    end: usize,
    before: String,
}

fn find(question: &Question<'_>, at: usize, token: &Token<'_>) -> Option<Found> {
    if question.lexicon.language == Language::Portuguese {
        let tied = portuguese::without_clitic(&token.lower);
        let tied = tied.map(|(verb, pronoun)| Found { pronoun, end: at + 1, before: format!("{verb} ") });
        if let Some(found) = tied.or_else(|| clitic(question, at)).or_else(|| whose(question, at)) {
            return Some(found);
        }
    }
    let pronoun = question.lexicon.pronoun(token).map(|it| in_place(it, question, at))?;
    if question.lexicon.language == Language::Russian {
        return Some(owner(question, at, token, pronoun).unwrap_or_else(|| {
            let case = russian::case_after(question.lower_before(at));
            let form = case.filter(|_| pronoun.form != Form::Plain).map_or(pronoun.form, Form::Case);
            let verb = verb_after(question, at).filter(|_| pronoun.form != Form::Plain);
            let before = verb.map_or(String::new(), |verb| format!("{verb} "));
            Found { pronoun: Pronoun { form, ..pronoun }, end: at + 1 + usize::from(verb.is_some()), before }
        }));
    }
    Some(Found { pronoun, end: at + 1, before: String::new() })
}

/// A Russian verb that ends a question goes before the noun that takes a pronoun's place.
fn verb_after<'q>(question: &Question<'q>, at: usize) -> Option<&'q str> {
    let asks = question.first_word().is_some_and(|first| question.class(first).has(Class::ASKING) && first < at);
    let ends = question.tokens.get(at + 2).is_none_or(|it| !it.is_word());
    let verb = question.tokens.get(at + 1).filter(|it| question.lexicon.is_verb(&it.lower) || it.lower == "лет")?;
    (asks && ends && !question.before(at).has(Class::PREPOSITION)).then_some(verb.text)
}

/// A Russian owner follows what it owns.
fn owner(question: &Question<'_>, at: usize, token: &Token<'_>, pronoun: Pronoun) -> Option<Found> {
    let owned = question.phrases.iter().find(|it| it.words.start == at + 1 && !it.group)?;
    let spelled = question.spelled(owned)?;
    let pronoun = Pronoun { form: Form::Case(Case::Genitive), ..pronoun };
    russian::is_possessive(token, question.lower(at + 1)).then(|| Found {
        pronoun,
        end: owned.words.end,
        before: format!("{spelled} "),
    })
}

/// `Quem o criou`: an article before a verb is its object.
fn clitic(question: &Question<'_>, at: usize) -> Option<Found> {
    let pronoun = portuguese::clitic(question.lower(at))?;
    let verb = question.tokens.get(at + 1).filter(|it| question.lexicon.is_verb(&it.lower))?;
    let before = question.before(at);
    let fits = before.has(Class::ASKING) || matches!(question.lower_before(at), "não" | "eu" | "você");
    let what = question.lower(at + 1) == "que";
    (fits && !what).then(|| Found { pronoun, end: at + 2, before: format!("{} ", verb.text) })
}

/// `A sua população`: in a question that is not to `você`, somebody else's.
fn whose(question: &Question<'_>, at: usize) -> Option<Found> {
    let other = usize::from(question.class(at + 1).has(Class::INDEFINITE));
    let owned = question.phrases.iter().find(|it| it.determiner == Some(at + other) && !it.group && !it.time)?;
    let asks = question.first_word().is_some_and(|first| question.class(first).has(Class::ASKING));
    let yours = question.has(Class::SPEAKER) || portuguese::YOURS.contains(&question.lower(owned.head));
    if !question.class(at).has(Class::YOUR) || !asks || yours {
        return None;
    }
    let words = question.tokens.get(at + 1..owned.words.end)?;
    let before = format!("{} ", question.text.get(words.first()?.range.start..words.last()?.range.end)?);
    Some(Found { pronoun: portuguese::WHOSE, end: owned.words.end, before })
}

/// A pronoun as its neighbours show it: `her` before a noun is possessive, and who is told something is a person.
fn in_place(pronoun: Pronoun, question: &Question<'_>, at: usize) -> Pronoun {
    let (verb, next) = (question.lower_before(at), question.class(at + 1));
    let addressed = question.before(at).has(Class::ADDRESSES);
    let most = matches!(question.lower(at + 1), "most" | "own" | "first" | "last" | "other" | "early" | "late");
    let noun = (question.is_noun(at + 1) && !next.has(Class::TIME) && !question.lower(at + 1).ends_with("ing"))
        || (most && question.is_noun(at + 2));
    let owns = question.lower(at) == "her" && noun && (!addressed || matches!(verb, "call" | "answer"));
    let given = question.tokens.get(at + 1).is_some_and(Token::is_word)
        && (next.has(Class::DETERMINER) || !next.has(Class::FUNCTION));
    let told = match verb {
        "show" | "send" | "give" | "buy" => given,
        "add" | "put" | "pick" => false,
        _ => addressed,
    };
    let verb = [at + 1, at + 2].map(|at| question.lower(at));
    let lives = verb.iter().any(|it| portuguese::LIVES.contains(it) || russian::LIVES.contains(it));
    let made = verb.iter().any(|it| portuguese::is_made(it) || russian::is_made(it));
    let shown = (lives || made).then_some(lives);
    Pronoun {
        form: if owns { Form::Possessive } else { pronoun.form },
        person: pronoun.person.or(shown).or((pronoun.plural && told).then_some(true)),
        ..pronoun
    }
}

fn written(entity: &Entity, pronoun: &Pronoun, question: &Question<'_>) -> String {
    match question.lexicon.language {
        Language::English if pronoun.form == Form::Possessive => {
            english::possessive(&entity.full(), question.is_spaced())
        }
        Language::English => entity.full(),
        Language::Portuguese => portuguese::written(entity, pronoun),
        Language::Russian => russian::written(entity, pronoun),
    }
}
