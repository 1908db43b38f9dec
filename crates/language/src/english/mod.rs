//! English: its words, and how its sentences are read and written.

mod analysis;
mod claims;
mod expletive;
mod figures;
mod generated;
mod locale;
mod names;
mod place;
mod plan;
mod pronoun;
mod schema;
mod verb;
mod window;
mod words;

pub(crate) use self::analysis::MONTHS;
pub(crate) use self::names::{form_of as name_form, is_given_name};
use self::words::{CLASSES, ORDINALS, PRONOUNS, SYNONYMS, TRANSITIVE};
use crate::syntax::{
    Class, Determined, FollowUp, Form, Grammar, LoneVerb, ReadingRules, Traits, WordLists, WritingRules,
};

pub(crate) static GRAMMAR: Grammar = Grammar {
    analysis: analysis::ANALYSIS,
    words: WordLists {
        classes: CLASSES,
        pronouns: PRONOUNS,
        ordinals: ORDINALS,
        given_names: names::GIVEN_NAMES,
        lone_questions: &[
            (&["why"], "Why"),
            (&["why", "not"], "Why"),
            (&["when"], "When"),
            (&["where"], "Where"),
            (&["how"], "How"),
            (&["how", "so"], "How"),
            (&["by", "whom"], "By whom"),
            (&["with", "whom"], "With whom"),
        ],
        reasons: &["Why"],
        replaceable: &[&["when"], &["where"], &["why"], &["how"]],
        more_questions: &[&["what", "else"], &["anything", "else"], &["who", "else"], &["where", "else"]],
        fragment_openings: &[("what how", "about")],
        related_prepositions: &["in at on"],
        partitives: &[" of them", " of the two", " of these"],
        and: "and",
        or: "or",
        assistant: &["assistant"],
        generated: generated::WORDS,
        figures: figures::WORDS,
        facts: generated::FACTS,
        binding: generated::BINDING,
        denials: generated::DENIALS,
        nothing_found: "I found nothing about this.",
        compared_to: "to ",
    },
    traits: Traits {
        inverts_questions: true,
        compounds_nouns: true,
        recalls_by_noun: true,
        points_at_names: true,
        joins_people: true,
        ends_with_comparison: true,
        lone_times: true,
        bare_relatives: true,
        ends_with_verb: true,
        strands_prepositions: true,
        capital_verbs: true,
        ..Traits::NONE
    },
    reading: ReadingRules {
        verb_forms: |verb| verb_forms(verb).collect(),
        is_verb_in_place: verb::is_verb_in_place,
        is_adverb: |word| word.ends_with("ly") && word.len() > 4,
        is_gerund: |word| word.ends_with("ing"),
        is_plural,
        is_superlative: |word| word.ends_with("est") && word.len() > 4,
        is_comparative,
        begins_with_plural: verb::begins_with_plural,
        is_apposed: |noun| noun.has(Class::TITLED.or(Class::PERSON)),
        is_same_kind: |said, now| said == now || SYNONYMS.iter().any(|kin| kin.contains(&said) && kin.contains(&now)),
        owns_or_is_told: pronoun::owns_or_is_told,
        is_expletive: expletive::is_expletive,
        is_existential: place::is_existential,
        is_reported,
        lacks_place: place::lacks_place,
        lacks_object: |it: &LoneVerb<'_>| it.asking == "who" && it.adjacent && TRANSITIVE.contains(&it.verb),
        both,
        that_year,
        is_appended: |preposition| matches!(preposition, "in" | "at" | "on"),
        ..ReadingRules::PLAIN
    },
    writing: WritingRules {
        article,
        in_place_of: |entity, pronoun, apart| match pronoun.form {
            Form::Possessive => possessive(&entity.full(), apart),
            _ => entity.full(),
        },
        joined: |[one, other], pronoun, apart| {
            let both = format!("{} and {}", one.full(), other.full());
            if pronoun.form == Form::Possessive { possessive(&both, apart) } else { both }
        },
        of: |entity| format!("of {}", entity.full()),
        inside: |entity| format!("in {}", entity.full()),
        there: place::there,
        other: |noun| if noun.is_some() { "other" } else { "else" },
        in_year,
        indefinite: |noun| {
            let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            format!("{article} {noun}")
        },
        singular,
        plural,
        owner: |phrase| phrase.trim_end_matches("'s").trim_end_matches('\'').trim_end(),
        ..WritingRules::PLAIN
    },
    questions: &plan::QUESTIONS,
    claims: &claims::CLAIMS,
};

/// The forms of a verb, and some that it has not.
fn verb_forms(verb: &str) -> impl Iterator<Item = String> {
    let ends_in = |end: char| verb.strip_suffix(end).filter(|stem| stem.len() > 1);
    let silent = ends_in('e').into_iter().flat_map(|stem| ["ed", "ing"].map(|end| format!("{stem}{end}")));
    let changed = ends_in('y').into_iter().flat_map(|stem| ["ies", "ied"].map(|end| format!("{stem}{end}")));
    let last = verb.chars().next_back().unwrap_or_default();
    let doubled = ["ed", "ing"].map(|end| format!("{verb}{last}{end}"));
    let plain = ["s", "es", "ed", "ing"].map(|end| format!("{verb}{end}"));
    plain.into_iter().chain(doubled).chain(silent).chain(changed)
}

fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !["ss", "us", "is", "'s"].iter().any(|end| word.ends_with(end))
}

/// One of what a plural names.
fn singular(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 2) {
        return format!("{stem}y");
    }
    let hissing = ["sses", "shes", "ches", "xes", "oes"].iter().any(|end| word.ends_with(end));
    let stem = if hissing { word.strip_suffix("es") } else { word.strip_suffix('s').filter(|_| is_plural(word)) };
    stem.unwrap_or(word).to_owned()
}

/// Several of what a singular names.
fn plural(word: &str) -> String {
    let hissing = ["s", "sh", "ch", "x"].iter().any(|end| word.ends_with(end));
    match word.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u'])) {
        _ if is_plural(word) => word.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if hissing => format!("{word}es"),
        None => format!("{word}s"),
    }
}

/// What belongs to a phrase follows it. `apart` is for texts that set a blank before the apostrophe.
fn possessive(phrase: &str, apart: bool) -> String {
    let blank = if apart { " " } else { "" };
    match phrase.ends_with('s') {
        true => format!("{phrase}{blank}'"),
        false => format!("{phrase}{blank}'s"),
    }
}

/// The article with which a phrase is taken up again. What was one of many is now the one; what is mine to
/// one is yours to the other.
fn article<'d>(it: &Determined<'d>) -> &'d str {
    match () {
        () if it.class.has(Class::MY) && it.by_user => it.determiner,
        () if it.class.has(Class::MY) => "your",
        () if it.class.has(Class::YOUR) => {
            if it.by_user {
                "your"
            } else {
                "my"
            }
        }
        () if matches!(it.determiner, "a" | "an") && it.generic && it.by_user => it.determiner,
        () if it.class.has(Class::DEFINITE) || (it.class.has(Class::DETERMINER) && !it.named) => "the",
        () => "",
    }
}

fn is_comparative(question: &FollowUp<'_>, at: usize) -> bool {
    let word = question.lower(at);
    matches!(word, "more" | "better" | "worse" | "less")
        || (word.len() > 4 && word.ends_with("er") && question.is_noun(at))
}

/// `saying …`, `a message that …`.
fn is_reported(question: &FollowUp<'_>, at: usize) -> bool {
    match question.lower(at) {
        "saying" => true,
        "message" | "text" => question.lower(at + 1) == "that",
        _ => false,
    }
}

fn both(question: &FollowUp<'_>, at: usize) -> Option<(usize, usize)> {
    match (question.lower(at), question.lower(at + 1)) {
        ("both", "of") if question.class(at + 2).has(Class::THIRD) => Some((at, at + 3)),
        ("both", "of") => None,
        ("the", "two") => Some((at, at + 2)),
        ("both", _) => Some((at, at + 1)),
        _ => None,
    }
}

fn that_year(question: &FollowUp<'_>, at: usize) -> Option<usize> {
    let noun = at + 1 + usize::from(question.lower(at + 1) == "same");
    (question.lower(at) == "that" && question.lower(noun) == "year").then_some(noun)
}

fn in_year(question: &FollowUp<'_>, at: usize, year: &str) -> String {
    match question.lower_before(at) {
        "in" | "during" | "of" | "after" | "before" | "since" => year.to_owned(),
        _ => format!("in {year}"),
    }
}
