//! What a language brings to the reading of claims: its words and its patterns.

use serde::Serialize;

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribute {
    Home,
    Employer,
    Occupation,
    Relationship,
    Name,
    Phone,
    Email,
    Age,
    Diet,
    Favourite,
    /// Something that somebody has one of.
    Own,
    /// When something happens.
    Schedule,
    Possession,
    /// What somebody does, is or likes.
    Activity,
}

/// What a claim does to what was so before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is so.
    Is,
    /// It is so now, and was not before.
    Becomes,
    /// It is so no longer.
    Ends,
}

/// The words of one language, folded, lists separated by blanks.
#[derive(Debug)]
pub(crate) struct ClaimWords {
    /// Words for the speaker, and for what is the speaker's.
    pub me: &'static str,
    pub my: &'static str,
    pub articles: &'static str,
    /// Between two people: `Paul and I`.
    pub and: &'static str,
    /// After an owner: `Kate's`. Empty where owners are written otherwise.
    pub owner_mark: &'static str,
    /// Whether a verb can stand without its subject.
    pub drops_subjects: bool,
    /// May stand before a claim and mean nothing for it, with words for times.
    pub openings: &'static str,
    /// May stand anywhere and mean nothing for it.
    pub adverbs: &'static str,
    /// Words that place something in time.
    pub times: &'static str,
    /// Phrases that say that something holds from now on, or that what was said before was wrong.
    pub now: &'static [&'static str],
    /// Words that add to what was said before.
    pub also: &'static str,
    /// Words of jokes, of what is not sure, of wishes and of what others say.
    pub jokes: &'static str,
    pub unsure: &'static str,
    /// Phrases about what was long ago.
    pub past: &'static [&'static str],
    /// Words that begin a reason.
    pub causes: &'static str,
    /// Pronouns of other people and things: who they are is not in the sentence.
    pub others: &'static str,
    /// People by what they are to the speaker, with the same first word in every language.
    pub kin: &'static [(&'static str, &'static str)],
    /// Of these, people have several: children, pets, friends.
    pub several: &'static str,
    /// Of these, people have one, with the same first word in every language.
    pub single: &'static [(&'static str, &'static str)],
    /// What happens at a time.
    pub events: &'static str,
    pub occupations: &'static str,
    /// Words of which each means the first here.
    pub same: &'static [&'static str],
    /// Verbs that mean something else without an object.
    pub needs_object: &'static str,
    /// What one can move to, and is no place.
    pub not_places: &'static str,
    /// Words without which nothing that was said before is replaced.
    pub signs: &'static str,
    pub patterns: &'static [ClaimPattern],
}

/// What a sentence of a certain form claims.
///
/// The form is a list of words, separated by blanks: `a|b` is one of two, `?a` may be missing. In capitals
/// are parts: `S` somebody, `E` the speaker, who may be left out, `O` whose, `N` a noun, `F` one of
/// [`ClaimWords::single`], `K` an occupation, `H` what happens, `X` somebody or something that is the value,
/// `V` the value. `=` is a colon or a dash.
#[derive(Debug)]
pub(crate) struct ClaimPattern {
    pub attribute: Attribute,
    pub effect: Effect,
    /// The value, where the form itself says it.
    pub fixed: &'static str,
    pub form: &'static str,
}

/// One pattern.
pub(crate) const fn claims(attribute: Attribute, effect: Effect, form: &'static str) -> ClaimPattern {
    ClaimPattern { attribute, effect, fixed: "", form }
}

/// One pattern whose value is known.
pub(crate) const fn claims_that(
    attribute: Attribute,
    effect: Effect,
    fixed: &'static str,
    form: &'static str,
) -> ClaimPattern {
    ClaimPattern { attribute, effect, fixed, form }
}

pub(crate) fn is_in(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|listed| listed == word)
}

/// The first word of the list that has a word.
pub(crate) fn first_of(lists: &'static [(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    lists.iter().find(|(_, words)| is_in(words, word)).map(|(first, _)| *first)
}
