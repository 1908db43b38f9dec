//! ROUGE-1, BLEU and the words that a rewrite adds.

use std::collections::{BTreeMap, BTreeSet};

use novelo_language::Language;
use novelo_language::analyse::Words;

/// Words of a text that are looked at.
const WORDS_MAX: usize = 10_000;
/// The longest run of words that BLEU compares.
const ORDERS: usize = 4;

/// The different words of a text, folded.
#[derive(Debug)]
pub struct Terms {
    all: BTreeSet<String>,
    language: Language,
}

impl Terms {
    pub fn of(text: &str) -> Self {
        let words = Words::new(text, WORDS_MAX);
        Self { all: words.iter().map(|word| word.folded.to_owned()).collect(), language: Language::detect(&words) }
    }

    /// The words that are not stop words and that the other text does not have.
    pub(crate) fn content_beyond(self, other: &Self) -> BTreeSet<String> {
        let matters = |word: &String| !self.language.for_word(word).is_stop(word);
        self.all.into_iter().filter(|word| matters(word) && !other.all.contains(word)).collect()
    }
}

/// Recall and F1 of the words of a text, counted as often as they occur.
pub(crate) fn rouge1(text: &str, human: &str) -> (f64, f64) {
    let [text, human] = [text, human].map(|text| {
        let words = Words::new(text, WORDS_MAX);
        words.iter().map(|word| word.folded.to_owned()).collect::<Vec<_>>()
    });
    let shared = shared(&counted(&text, 1), &counted(&human, 1));
    (shared as f64 / human.len().max(1) as f64, f1(shared, text.len(), human.len()))
}

pub(crate) fn f1(shared: usize, found: usize, wanted: usize) -> f64 {
    2.0 * shared as f64 / (found + wanted).max(1) as f64
}

fn counted(words: &[String], order: usize) -> BTreeMap<&[String], usize> {
    let mut counts = BTreeMap::new();
    for run in words.windows(order) {
        *counts.entry(run).or_default() += 1;
    }
    counts
}

fn shared(a: &BTreeMap<&[String], usize>, b: &BTreeMap<&[String], usize>) -> usize {
    a.iter().map(|(run, count)| b.get(run).map_or(0, |other| *count.min(other))).sum()
}

/// Over a whole set: the runs of words that texts share with the human's, and the lengths of both.
#[derive(Debug, Default)]
pub struct Bleu {
    shared: [usize; ORDERS],
    all: [usize; ORDERS],
    words: usize,
    human_words: usize,
}

impl Bleu {
    pub(crate) fn note(&mut self, text: &str, human: &str) {
        let [text, human] = [text, human].map(tokens);
        self.words += text.len();
        self.human_words += human.len();
        for (order, (shares, all)) in (1..).zip(self.shared.iter_mut().zip(&mut self.all)) {
            *shares += shared(&counted(&text, order), &counted(&human, order));
            *all += (text.len() + 1).saturating_sub(order);
        }
    }

    pub(crate) fn percent(&self) -> f64 {
        if self.shared.contains(&0) {
            return 0.0;
        }
        let logs = self.shared.iter().zip(self.all).map(|(shared, all)| (*shared as f64 / all as f64).ln());
        let brevity = (1.0 - self.human_words as f64 / self.words.max(1) as f64).min(0.0);
        (brevity + logs.sum::<f64>() / ORDERS as f64).exp() * 100.0
    }
}

/// The words of a text as `13a` reads them: marks stand alone, but not within numbers.
fn tokens(text: &str) -> Vec<String> {
    let text = text.trim().to_lowercase();
    let mut spaced = String::with_capacity(text.len() * 2);
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied().unwrap_or(' ');
        let alone = match c {
            '.' | ',' => !(before.is_ascii_digit() && after.is_ascii_digit()),
            '-' => before.is_ascii_digit(),
            '\'' => false,
            _ => c.is_ascii_punctuation(),
        };
        match alone {
            true => spaced.extend([' ', c, ' ']),
            false => spaced.push(c),
        }
        before = c;
    }
    spaced.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_alone_but_not_in_numbers() {
        assert_eq!(tokens("What's 3.5, or 1-2 (e.g. \"X\")?").join(" "), "what's 3.5 , or 1 - 2 ( e . g . \" x \" ) ?");
    }

    #[test]
    fn words_count_as_often_as_they_occur() {
        let (recall, f1) = rouge1("the the cat", "The cat sat!");
        assert!((recall - 2.0 / 3.0).abs() < 1e-9 && (f1 - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(rouge1("", ""), (0.0, 0.0));
    }

    #[test]
    fn only_words_that_matter_are_added() {
        let added = Terms::of("E o preço do HGLG11?").content_beyond(&Terms::of("e o preco?"));
        assert_eq!(added.into_iter().collect::<Vec<_>>(), ["hglg11"]);
    }

    #[test]
    fn a_short_text_pays_for_its_brevity() {
        let bleu = |text: &str| {
            let mut bleu = Bleu::default();
            bleu.note(text, "a b c d e f g h");
            bleu.percent()
        };
        assert!((bleu("a b c d e f g h") - 100.0).abs() < 1e-9);
        assert!((bleu("a b c d") - 100.0 * (-1.0_f64).exp()).abs() < 1e-9);
        assert!(bleu("x").abs() < 1e-9 && bleu("").abs() < 1e-9);
    }
}
