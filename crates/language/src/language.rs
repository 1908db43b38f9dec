//! The languages that are known, and which one a text is written in.
//!
//! A text in a script of its own is in the language of that script. A text's Latin words are of the language
//! that most of its stop words and accents speak for; without a sign of any they are English. A wrong guess
//! costs little: both sides of a match are folded, a query is stemmed in every language its index holds, and
//! trigrams match what stems miss.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::analyse::Words;
use crate::syntax::{Grammar, Lexicon, Script};
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
static STOP_WORDS: LazyLock<FxHashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut languages = FxHashMap::default();
    for language in Language::ALL {
        for word in language.grammar().analysis.stop_words.split_whitespace() {
            *languages.entry(word).or_insert(0) |= language.bit();
        }
    }
    languages
});

static LEXICONS: LazyLock<Vec<Lexicon>> = LazyLock::new(|| {
    let names = || Language::ALL.into_iter().flat_map(|it| it.grammar().words.given_names.iter().copied());
    Language::ALL.into_iter().map(|language| Lexicon::new(language.grammar(), names())).collect()
});

impl Language {
    /// The language of Latin words that no other language claims.
    pub const DEFAULT: Self = Self::English;

    pub fn bit(self) -> u8 {
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
