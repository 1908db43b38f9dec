//! Pronouns that Portuguese ties to verbs or writes as articles and possessives.

use super::{HE, SHE, THEY, THEY_SHE};
use crate::syntax::{Class, FollowUp, Form, FoundPronoun, Pronoun, plain_pronoun};

/// `Seu`, where it is not yours.
const WHOSE: Pronoun = Pronoun { form: Form::Of, gender: None, ..HE };

/// What an assistant is asked of itself.
const YOURS: [&str; 8] = ["nome", "opinião", "ajuda", "resposta", "dúvida", "sugestão", "versão", "criador"];

pub fn find(question: &FollowUp<'_>, at: usize, pronoun: Option<Pronoun>) -> Option<FoundPronoun> {
    let tied = without_clitic(question.lower(at));
    tied.map(|(verb, pronoun)| FoundPronoun { pronoun, end: at + 1, before: format!("{verb} ") })
        .or_else(|| clitic(question, at))
        .or_else(|| whose(question, at))
        .or_else(|| plain_pronoun(question, at, pronoun))
}

/// `Quem o criou`: an article before a verb is its object.
fn clitic(question: &FollowUp<'_>, at: usize) -> Option<FoundPronoun> {
    let pronoun = article_pronoun(question.lower(at))?;
    let verb = question.tokens.get(at + 1).filter(|it| question.lexicon.is_verb(&it.lower))?;
    let before = question.before(at);
    let fits = before.has(Class::ASKING) || matches!(question.lower_before(at), "não" | "eu" | "você");
    let what = question.lower(at + 1) == "que";
    (fits && !what).then(|| FoundPronoun { pronoun, end: at + 2, before: format!("{} ", verb.text) })
}

/// `A sua população`: in a question that is not to `você`, somebody else's.
fn whose(question: &FollowUp<'_>, at: usize) -> Option<FoundPronoun> {
    let other = usize::from(question.class(at + 1).has(Class::INDEFINITE));
    let owned = question
        .phrases
        .iter()
        .find(|it| it.determiner == Some(at + other) && !it.features.group && !it.features.time)?;
    let asks = question.first_word().is_some_and(|first| question.class(first).has(Class::ASKING));
    let yours = question.has(Class::SPEAKER) || YOURS.contains(&question.lower(owned.head));
    if !question.class(at).has(Class::YOUR) || !asks || yours {
        return None;
    }
    let words = question.tokens.get(at + 1..owned.words.end)?;
    let before = format!("{} ", question.text.get(words.first()?.range.start..words.last()?.range.end)?);
    Some(FoundPronoun { pronoun: WHOSE, end: owned.words.end, before })
}

/// The infinitive before a pronoun that was tied to it: `comprá-lo`.
pub(crate) fn without_clitic(word: &str) -> Option<(String, Pronoun)> {
    let (verb, clitic) = word.rsplit_once('-')?;
    let pronoun = match clitic {
        "lo" => HE,
        "la" => SHE,
        "los" => THEY,
        "las" => THEY_SHE,
        _ => return None,
    };
    let (stem, ending) = [("á", "ar"), ("ê", "er"), ("í", "ir"), ("i", "ir"), ("ô", "or")]
        .iter()
        .find_map(|(accented, ending)| Some((verb.strip_suffix(accented)?, ending)))?;
    Some((format!("{stem}{ending}"), pronoun))
}

/// The pronoun that an article before a verb is: `quem o criou`.
fn article_pronoun(word: &str) -> Option<Pronoun> {
    match word {
        "o" => Some(HE),
        "a" => Some(SHE),
        "os" => Some(THEY),
        "as" => Some(THEY_SHE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tied_pronoun_gives_its_verb_back() {
        let verb = |word| without_clitic(word).map(|(verb, _)| verb);
        assert_eq!(verb("comprá-lo").as_deref(), Some("comprar"));
        assert_eq!(verb("vendê-las").as_deref(), Some("vender"));
        assert_eq!(verb("segui-la").as_deref(), Some("seguir"));
        assert_eq!(verb("guarda-roupa"), None);
        assert_eq!(verb("lo"), None);
    }
}
