//! English verbs, which often look like nouns: their place in the sentence tells.

use crate::syntax::{Class, Reader, Token};

/// `Bacteria are`, `Vaccines train`: at the beginning of a sentence a plural is no name.
pub(crate) fn begins_with_plural(reader: &Reader<'_, '_>, at: usize) -> bool {
    let next = reader.tokens.get(at + 1).map_or("", |token| token.lower.as_str());
    let many = reader.word(at).is_some_and(|token| reader.lexicon.is_plural(&token.lower));
    matches!(next, "are" | "were") || (many && !matches!(next, "is" | "was" | "has"))
}

/// Whether a word is a verb by what stands around it; `is_known` says that the tables call it one.
pub(crate) fn is_verb_in_place(reader: &Reader<'_, '_>, at: usize, token: &Token<'_>, is_known: bool) -> bool {
    let before = at.checked_sub(1).map_or(Class::default(), |before| reader.class(before));
    let after_article = reader.determiner.is_some_and(|article| article + 1 == at);
    let ends = |end: &str| token.lower.len() > end.len() + 1 && token.lower.ends_with(end);
    let next = reader.class(at + 1);
    let has_object =
        reader.word(at + 1).is_some() && !next.has(Class::PREPOSITION.or(Class::BE).or(Class::VERB).or(Class::AND));
    if after_article {
        return false;
    }
    if ends("ing") {
        let noun = reader.start.is_some() && !reader.is_open_name() && !has_object;
        return !noun && (before.has(Class::BE) || at == reader.first || has_object || reader.is_open_name());
    }
    if is_known {
        return true;
    }
    let infinitive =
        reader.tokens.get(at.wrapping_sub(1)).is_some_and(|it| it.lower == "to") && follows_wish(reader, at);
    let subject = before.has(Class::SPEAKER.or(Class::THIRD).or(Class::AUXILIARY)) || infinitive;
    let asked = before.has(Class::ASKING) && ends("s") && has_object;
    let awaited = reader.pending && (reader.start.is_some() || !reader.phrases.is_empty());
    let another =
        reader.word(at + 1).is_some_and(|it| reader.lexicon.is_either(&it.lower) || reader.lexicon.is_verb(&it.lower));
    let answers = reader.wanted && reader.start.is_some() && has_object && !next.has(Class::AUXILIARY);
    if reader.lexicon.is_either(&token.lower)
        && (at == reader.first || subject || ((awaited || answers) && !another) || asked)
    {
        return true;
    }
    let acts_on = reader.word(at + 1).is_some_and(Token::is_capital) && before.has(Class::AND) && ends("ed");
    infinitive
        || acts_on
        || (ends("ed")
            && !token.has(Class::ADJECTIVE)
            && (reader.start.is_some() || before.has(Class::BE.or(Class::SPEAKER).or(Class::ASKING))))
}

/// Whether the `to` before a word follows what one does to do something.
fn follows_wish(reader: &Reader<'_, '_>, at: usize) -> bool {
    let Some(wish) = at.checked_sub(2).and_then(|at| reader.tokens.get(at)) else { return false };
    let class = reader.lexicon.class(&wish.lower);
    class.has(Class::SPEAKER.or(Class::ASKING).or(Class::ADJECTIVE).or(Class::THIRD))
        || matches!(wish.lower.as_str(), "want" | "need" | "like" | "going" | "have" | "wants" | "needs")
}
