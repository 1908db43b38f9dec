//! The languages that are known, and which one a text is written in.
//!
//! A text in a script of its own is in the language of that script. A text's Latin words are of the language
//! that most of its stop words and accents speak for; without a sign of any they are English. A wrong guess
//! costs little: both sides of a match are folded, a query is stemmed in every language its index holds, and
//! trigrams match what stems miss.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::analyse::Words;
use crate::question_grammar::QuestionGrammar;
use crate::syntax::{Analysis, Grammar, Lexicon, Script};
use crate::window::holds;
use crate::{english, portuguese, russian};

macro_rules! languages {
    ($($name:ident => $grammar:path),+ $(,)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Language { $($name),+ }

        impl Language {
            pub const ALL: [Self; [$(stringify!($name)),+].len()] = [$(Self::$name),+];

            pub(crate) fn grammar(self) -> &'static Grammar {
                match self { $(Self::$name => &$grammar),+ }
            }
        }
    };
}

// To add a language, add its folder and its line here.
languages! {
    English => english::GRAMMAR,
    Portuguese => portuguese::GRAMMAR,
    Russian => russian::GRAMMAR,
}

/// The languages in which a word is a stop word, as bits.
static STOP_WORDS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| words_by_language(|it| it.stop_words));

fn words_by_language(words: fn(&Analysis) -> &'static str) -> FxHashMap<&'static str, u8> {
    let mut languages = FxHashMap::default();
    for language in Language::ALL {
        for word in words(&language.grammar().analysis).split_whitespace() {
            *languages.entry(word).or_insert(0) |= language.bit();
        }
    }
    languages
}

/// The languages in which a word is one of small talk, and those in which it negates, as bits. Small talk is
/// too short to tell its language.
static SMALL_TALK: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| words_by_language(|it| it.small_talk));
static NEGATIONS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| words_by_language(|it| it.negations));

/// A longer text is never taken for small talk.
const SMALL_TALK_WORDS_MAX: usize = 8;
/// Words of a name in small talk.
const NAME_WORDS_MAX: usize = 2;

static LEXICONS: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
    let names = || Language::ALL.into_iter().flat_map(|it| it.grammar().words.given_names.iter().copied());
    Language::ALL.into_iter().map(|language| Lexicon::new(language.grammar(), names())).collect()
});

impl Language {
    /// The language of Latin words that no other language claims.
    pub const DEFAULT: Self = Self::English;

    /// The language of a code such as `pt`.
    pub(crate) fn from_code(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "pt" => Some(Self::Portuguese),
            "ru" => Some(Self::Russian),
            _ => None,
        }
    }

    /// Its words for questions about data.
    pub(crate) fn questions(self) -> &'static QuestionGrammar {
        self.grammar().questions
    }

    /// Whether a word in small letters stands before names: `de`, `of`.
    pub fn leads_name(self, word: &str) -> bool {
        holds(self.questions().talk.prepositions, word)
    }

    pub(crate) fn bit(self) -> u8 {
        1 << self as u8
    }

    pub fn is_latin(self) -> bool {
        self.grammar().analysis.script == Script::Latin
    }

    /// The language of the Latin words of a text.
    pub fn detect(words: &Words) -> Self {
        let mut counts = [0; Self::ALL.len()];
        for word in words.iter() {
            let stops = stop_languages(word.folded);
            for (language, count) in Self::ALL.into_iter().zip(&mut counts).filter(|(it, _)| it.is_latin()) {
                let speaks = stops == language.bit() || (word.accented && language.grammar().analysis.has_accents);
                *count += usize::from(speaks);
            }
        }
        let best = Self::ALL.into_iter().zip(counts).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(Self::DEFAULT, |(language, _)| language)
    }

    /// The language of one word in a text whose Latin words are of this one.
    pub fn for_word(self, folded: &str) -> Self {
        Self::by_script(folded).unwrap_or(self)
    }

    /// The language of a text that has letters which no other language uses.
    pub fn by_script(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| match it.grammar().analysis.script {
            Script::Latin => false,
            Script::Cyrillic => text.contains(is_cyrillic),
        })
    }

    pub fn is_stop(self, folded: &str) -> bool {
        stop_languages(folded) & self.bit() != 0
    }

    /// Whether a stop word turns a sentence into its opposite.
    pub fn negates(self, folded: &str) -> bool {
        has_bit(&NEGATIONS, folded, self)
    }

    /// Whether a text in this language is small talk and no more: greetings, thanks and cheers, with a name
    /// or without. A text of stop words alone is too.
    pub fn is_small_talk(self, text: &str, words: &Words) -> bool {
        if words.iter().nth(SMALL_TALK_WORDS_MAX).is_some() || text.contains(char::is_numeric) {
            return false;
        }
        let (mut is_talk, mut names) = (false, 0);
        for word in words.iter() {
            let language = self.for_word(word.folded);
            if SMALL_TALK.contains_key(word.folded) {
                is_talk = true;
            } else if !language.is_stop(word.folded) {
                let is_name = text.get(word.range.clone()).is_some_and(|it| it.starts_with(char::is_uppercase));
                names += if is_name { 1 } else { NAME_WORDS_MAX + 1 };
            }
        }
        names == 0 || is_talk && names <= NAME_WORDS_MAX
    }

    /// Whether a word is a stop word of this language and of no other.
    pub(crate) fn is_only_stop(self, folded: &str) -> bool {
        stop_languages(folded) == self.bit()
    }

    pub fn stem(self, folded: &str) -> String {
        (self.grammar().analysis.stem)(folded)
    }

    /// The answer where nothing was found.
    pub fn nothing_found(self) -> &'static str {
        self.grammar().words.nothing_found
    }

    pub(crate) fn lexicon(self) -> &'static Lexicon {
        LEXICONS.get(self as usize).expect("there is a lexicon of every language")
    }
}

fn has_bit(words: &FxHashMap<&'static str, u8>, folded: &str, language: Language) -> bool {
    words.get(folded).is_some_and(|languages| languages & language.bit() != 0)
}

fn stop_languages(folded: &str) -> u8 {
    STOP_WORDS.get(folded).copied().unwrap_or(0)
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, language: Language, stems: &[&str]) {
        let words = Words::new(text, 100);
        assert_eq!(Language::detect(&words), language);
        let content = words.iter().map(|word| (language.for_word(word.folded), word.folded));
        let content = content.filter(|(language, word)| !language.is_stop(word));
        assert_eq!(content.map(|(language, word)| language.stem(word)).collect::<Vec<_>>(), stems);
    }

    #[test]
    fn small_talk_says_nothing() {
        let is_small_talk = |text: &str| {
            let words = Words::new(text, 100);
            Language::detect(&words).is_small_talk(text, &words)
        };
        for text in
            ["Hey Kate!", "Thanks, Kate Moss!", "Good night.", "Oi, Maria!", "Bom dia", "Привет, Катя!", "", "ok"]
        {
            assert!(is_small_talk(text), "{text}");
        }
        for text in [
            "In its cage.",
            "Yes, Lisbon.",
            "Lisbon",
            "Hey, we moved.",
            "Good at 9",
            "Não, em Lisboa",
            "Доброе дело",
            "Thanks for the blue teapot",
            "Hey Kate, Anna, Bob, Carl!",
        ] {
            assert!(!is_small_talk(text), "{text}");
        }
    }

    #[test]
    fn text_is_stemmed_in_its_own_language() {
        check("She was researching adoption agencies", Language::English, &["research", "adopt", "agenc"]);
        check("As meninas compraram os presentes", Language::Portuguese, &["menin", "compr", "present"]);
        check("мы видели старых капитанов", Language::English, &["видел", "стар", "капитан"]);
    }

    #[test]
    fn accents_do_not_change_a_portuguese_stem() {
        let pairs =
            [("educação", "educacoes"), ("possível", "possiveis"), ("agência", "agencias"), ("animal", "animais")];
        for (one, other) in pairs.into_iter().chain([("avião", "aviões"), ("homem", "homens"), ("viagem", "viagens")])
        {
            let stem = |word| Language::Portuguese.stem(Words::new(word, 1).iter().next().unwrap().folded);
            assert_eq!(stem(one), stem(other));
        }
    }
}
