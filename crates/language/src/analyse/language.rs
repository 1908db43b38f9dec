//! Which language a word is stemmed in.
//!
//! Cyrillic words are Russian. A text's Latin words are English or Portuguese by its stop words and accents; without a
//! sign of either they are English. A wrong guess costs little: both sides of a match are folded, a query is stemmed in
//! every language its index holds, and trigrams match what stems miss.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::{Words, stop};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    English,
    Portuguese,
    Russian,
}

impl Language {
    pub const ALL: [Self; 3] = [Self::English, Self::Portuguese, Self::Russian];

    pub fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The language of the Latin words of a text.
    pub fn of(words: &Words) -> Self {
        let (mut english, mut portuguese) = (0, 0);
        for word in words.iter() {
            let stops = stop::languages(word.folded);
            let [is_english, is_portuguese] = [Self::English, Self::Portuguese].map(|it| stops & it.bit() != 0);
            english += usize::from(is_english && !is_portuguese);
            portuguese += usize::from((is_portuguese && !is_english) || word.accented);
        }
        if portuguese > english { Self::Portuguese } else { Self::English }
    }

    /// The language of one word in a text whose Latin words are of this one.
    pub fn of_word(self, folded: &str) -> Self {
        match folded.chars().any(is_cyrillic) {
            true => Self::Russian,
            false => self,
        }
    }

    pub fn is_stop(self, folded: &str) -> bool {
        stop::languages(folded) & self.bit() != 0
    }

    pub fn stem(self, folded: &str) -> String {
        let stemmer = Stemmer::create(match self {
            Self::English => Algorithm::English,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Russian => Algorithm::Russian,
        });
        match self {
            Self::English | Self::Russian => stemmer.stem(folded).into_owned(),
            Self::Portuguese => stemmer.stem(&accented(folded)).chars().map(plain).collect(),
        }
    }
}

/// Endings that the stemmer knows only with their accent, given back to a folded word, and plurals that it does not
/// know: so the stem is the same whether or not the accents were typed.
fn accented(folded: &str) -> Cow<'_, str> {
    // Longer endings before those that they end with.
    const ENDINGS: [(&str, &str); 20] = [
        ("encias", "ência"),
        ("ancias", "ância"),
        ("encia", "ência"),
        ("ancia", "ância"),
        ("aveis", "ável"),
        ("iveis", "ível"),
        ("avel", "ável"),
        ("ivel", "ível"),
        ("coes", "ção"),
        ("cao", "ção"),
        ("oes", "ão"),
        ("aes", "ão"),
        ("ais", "al"),
        ("eis", "el"),
        ("ois", "ol"),
        ("ens", "em"),
        ("ins", "im"),
        ("ons", "om"),
        ("uns", "um"),
        ("ao", "ão"),
    ];
    let found = ENDINGS.into_iter().find_map(|(plain, accented)| Some((folded.strip_suffix(plain)?, accented)));
    let found = found.filter(|(start, _)| start.len() > 1);
    found.map_or(Cow::Borrowed(folded), |(start, accented)| Cow::Owned(format!("{start}{accented}")))
}

fn plain(c: char) -> char {
    match c {
        'á' | 'â' | 'ã' => 'a',
        'ç' => 'c',
        'ê' => 'e',
        'í' => 'i',
        'õ' => 'o',
        _ => c,
    }
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, language: Language, stems: &[&str]) {
        let words = Words::of(text, 100);
        assert_eq!(Language::of(&words), language);
        let content = words.iter().map(|word| (language.of_word(word.folded), word.folded));
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
            let stem = |word| Language::Portuguese.stem(Words::of(word, 1).iter().next().unwrap().folded);
            assert_eq!(stem(one), stem(other));
        }
    }
}
