//! What speaks for keeping a sentence, and what against: whether it tells something, and stands alone.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Language;
use crate::analyse::{self, Words};
use crate::dates::tells_time;
use crate::syntax::Class;

/// Words of a sentence that are looked at.
const WORDS_MAX: usize = 80;
/// A question of more characters tells something before it asks.
const LONG_QUESTION_CHARS: usize = 80;
/// Fewer words that matter are a fragment.
const CONTENT_WORDS_MIN: usize = 3;
/// What is seldom prose.
const CODE: [char; 8] = ['{', '}', '<', '>', '`', '=', '|', '\\'];

/// A sentence, read.
#[derive(Debug, Clone, Default)]
pub struct Remark {
    /// Fingerprints of the stems of the words that matter, in order, each once.
    pub stems: Vec<u64>,
    /// Those of them that are names or numbers.
    pub naming: Vec<u64>,
    pub names: usize,
    pub numbers: usize,
    /// Words that place it in time.
    pub times: usize,
    /// Words of decisions, plans and lasting facts.
    pub facts: usize,
    /// It states a goal, a rule or a limit.
    pub binds: bool,
    /// The speaker tells of himself.
    pub is_own: bool,
    /// The speaker speaks of what is the listener's, and of nothing of his own.
    pub is_yours: bool,
    /// It means something that it does not name: "a friend made it for me".
    pub leans: bool,
    pub opening: Opening,
    /// It asks, and tells nothing before.
    pub asks: bool,
    pub exclaims: bool,
    /// Too short to say anything by itself, or the label of what follows.
    pub is_fragment: bool,
    pub is_code: bool,
}

/// How a sentence begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Opening {
    #[default]
    Plain,
    /// With a word for something that was said before.
    Pronoun,
    /// By going on from what was said before.
    Continues,
    /// With thanks, praise, yes or no.
    Filler,
}

/// By language, the stems of the words of facts.
static FACTS: LazyLock<Vec<FxHashSet<u64>>> = LazyLock::new(|| {
    let stems = |language: Language| {
        let words = language.grammar().words.facts.split_whitespace();
        words.map(|word| analyse::fingerprint(&language.stem(word))).collect()
    };
    Language::ALL.into_iter().map(stems).collect()
});

/// The words and phrases of goals, rules and limits in all languages: what follows the first word, by it.
static BINDING: LazyLock<FxHashMap<&str, Vec<Vec<&str>>>> = LazyLock::new(|| {
    let mut phrases: FxHashMap<&str, Vec<Vec<&str>>> = FxHashMap::default();
    for phrase in Language::ALL.into_iter().flat_map(|language| language.grammar().words.binding.split(',')) {
        let mut words = phrase.split_whitespace();
        if let Some(first) = words.next() {
            phrases.entry(first).or_default().push(words.collect());
        }
    }
    phrases
});

/// Whether one of these phrases stands in a sentence.
fn binds(words: &Words) -> bool {
    let folded: Vec<&str> = words.iter().map(|word| word.folded).collect();
    let begins = |(at, first): (usize, &&str)| {
        let rests = BINDING.get(first).map_or(&[][..], Vec::as_slice);
        let after = folded.get(at + 1..).unwrap_or_default();
        rests.iter().any(|rest| after.starts_with(rest))
    };
    folded.iter().enumerate().any(begins)
}

impl Remark {
    pub fn read(sentence: &str) -> Self {
        let words = Words::new(sentence, WORDS_MAX);
        let latin = Language::detect(&words);
        let binds = binds(&words);
        let mut remark = Self { opening: opening(sentence, latin), binds, ..Self::default() };
        let mut first = None;
        for (at, word) in words.iter().enumerate() {
            let language = latin.for_word(word.folded);
            let spelled = sentence.get(word.range.clone()).unwrap_or("");
            first = first.or(Some((language, spelled)));
            remark.is_own |= language.lexicon().has(&spelled.to_lowercase(), Class::MY);
            remark.is_own |= at < 3 && language.lexicon().has(&spelled.to_lowercase(), Class::SPEAKER);
            remark.is_yours |= language.lexicon().has(&spelled.to_lowercase(), Class::YOUR);
            remark.leans |= at > 0 && language.lexicon().has(&spelled.to_lowercase(), Class::THIRD.or(Class::NEUTER));
            if language.is_stop(word.folded) {
                continue;
            }
            let stem = analyse::fingerprint(&language.stem(word.folded));
            let is_number = word.folded.starts_with(|c: char| c.is_numeric());
            let is_name = at > 0 && spelled.starts_with(char::is_uppercase);
            remark.numbers += usize::from(is_number);
            remark.names += usize::from(is_name);
            remark.times += usize::from(tells_time(word.folded));
            remark.facts += usize::from(FACTS.get(language as usize).is_some_and(|facts| facts.contains(&stem)));
            remark.naming.extend((is_number || is_name).then_some(stem));
            remark.stems.push(stem);
        }
        remark.stems.sort_unstable();
        remark.stems.dedup();
        remark.judge(sentence, first);
        remark
    }

    fn judge(&mut self, sentence: &str, first: Option<(Language, &str)>) {
        let marked = analyse::asks(sentence);
        let by_word = first.is_some_and(|(language, word)| {
            let (lexicon, inverts) = (language.lexicon(), language.grammar().traits.inverts_questions);
            let word = word.to_lowercase();
            lexicon.has(&word, Class::ASKING) || (inverts && lexicon.has(&word, Class::BE.or(Class::AUXILIARY)))
        });
        self.asks = marked && (by_word || sentence.chars().nth(LONG_QUESTION_CHARS).is_none());
        self.exclaims = sentence.ends_with(['!', '！']);
        self.is_yours &= !self.is_own;
        self.leans &= self.names == 0;
        self.is_code = sentence.contains(CODE) || sentence.contains("//") || sentence.contains("](");
        self.is_fragment = self.stems.len() < CONTENT_WORDS_MIN || sentence.ends_with([':', ',']);
    }
}

fn opening(sentence: &str, latin: Language) -> Opening {
    let first = sentence.split_whitespace().next().unwrap_or("");
    let first = first.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
    let first = first.split('\'').next().unwrap_or(&first);
    let lexicon = latin.for_word(first).lexicon();
    match () {
        () if lexicon.has(first, Class::FILLER) => Opening::Filler,
        () if lexicon.has(first, Class::THIRD.or(Class::POINTER).or(Class::NEUTER)) => Opening::Pronoun,
        () if lexicon.has(first, Class::AND.or(Class::OR).or(Class::CONTINUES)) => Opening::Continues,
        () => Opening::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_known_in_three_languages() {
        for text in [
            "My sister Ana moves to Braga in June 2024.",
            "Minha irmã Ana se muda para Braga em junho de 2024.",
            "Моя сестра Ана переезжает в Брагу в июне 2024 года.",
        ] {
            let remark = Remark::read(text);
            assert!(
                remark.is_own && remark.names >= 2 && remark.numbers == 1 && remark.times >= 1,
                "{text} {remark:?}"
            );
            assert_eq!((remark.opening, remark.asks, remark.is_fragment), (Opening::Plain, false, false), "{text}");
            assert!(remark.facts >= 1, "{text}");
        }
    }

    #[test]
    fn goals_rules_and_limits_are_known_in_three_languages() {
        for text in [
            "Never deploy on a Friday.",
            "The report has at most two pages.",
            "Don't mention the price to anybody.",
            "Nunca publique numa sexta.",
            "O relatório tem no máximo duas páginas.",
            "Отчёт не более двух страниц.",
        ] {
            assert!(Remark::read(text).binds, "{text}");
        }
        for text in ["We went to the sea.", "Fomos ao mar.", "Мы поехали на море."] {
            assert!(!Remark::read(text).binds, "{text}");
        }
    }

    #[test]
    fn what_leans_on_others_is_known() {
        for (text, expected) in [
            ("It was great to see her there.", Opening::Pronoun),
            ("That's so kind of you, Mel.", Opening::Pronoun),
            ("And we went home after dinner.", Opening::Continues),
            ("Thanks for the long answer.", Opening::Filler),
            ("Isso foi muito importante para mim.", Opening::Pronoun),
            ("Obrigado pela resposta longa.", Opening::Filler),
            ("Он приехал вчера вечером.", Opening::Pronoun),
            ("Спасибо за подробный ответ.", Opening::Filler),
        ] {
            assert_eq!(Remark::read(text).opening, expected, "{text}");
        }
        for text in ["Ok.", "Nice one", "let x = 1;", "Here is the list of all my things:"] {
            let remark = Remark::read(text);
            assert!(remark.is_fragment || remark.is_code, "{text}");
        }
        assert!(Remark::read("A friend made it for my birthday ten years ago.").leans);
        assert!(!Remark::read("Since Ana bought the house, she paints it.").leans, "it names what it means");
        assert!(Remark::read("Your kind words mean a lot.").is_yours);
        assert!(!Remark::read("I like your garden in Porto.").is_yours);
        assert!(Remark::read("What is your favourite colour?").asks);
        assert!(Remark::read("Qual é a sua cor favorita?").asks);
    }
}
