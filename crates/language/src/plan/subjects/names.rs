//! Names in words: a name is found by all of its words, by some of them in their order, or with slips.

use rustc_hash::FxHashMap;

use super::super::ontology::Typos;
use super::super::text::stem;
use crate::Language;

/// A longer word may have two slips.
const TWO_SLIPS_CHARS_MIN: usize = 8;

/// Where a word stands: in which name, and as which of its words.
pub(crate) type WordPlace = (usize, usize);

#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// The words of each, as numbers, and the subject that it names.
    pub all: Vec<(Vec<u32>, usize)>,
    numbers: FxHashMap<String, u32>,
    by_stem: FxHashMap<String, Vec<u32>>,
    words: Vec<NameWord>,
    typos: Typos,
    /// The long words by their first letter, for words with two slips.
    long: FxHashMap<char, Vec<u32>>,
    places: Vec<Vec<WordPlace>>,
}

#[derive(Debug, Clone)]
pub(crate) struct NameWord {
    pub folded: String,
    pub stem: String,
    pub is_stop: bool,
}

/// How a word of a question is a word of a name, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    Same,
    /// In another form.
    Stem,
    OneSlip,
    TwoSlips,
}

impl Names {
    pub(crate) fn add(&mut self, words: &[String], of: usize, language: Language) {
        if words.is_empty() {
            return;
        }
        let name = self.all.len();
        let mut numbers = Vec::with_capacity(words.len());
        for (nth, word) in words.iter().enumerate() {
            let number = self.number(word, language);
            self.places.get_mut(number as usize).into_iter().for_each(|places| places.push((name, nth)));
            numbers.push(number);
        }
        self.all.push((numbers, of));
    }

    fn number(&mut self, word: &str, language: Language) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.numbers.insert(word.to_owned(), number);
        let (stem, is_stop) = (stem(word, language), language.is_stop(word));
        if !is_stop {
            self.by_stem.entry(stem.clone()).or_default().push(number);
            self.typos.learn_spelling(word, number);
            if let Some(first) = word.chars().next().filter(|_| word.chars().count() >= TWO_SLIPS_CHARS_MIN) {
                self.long.entry(first).or_default().push(number);
            }
        }
        self.words.push(NameWord { folded: word.to_owned(), stem, is_stop });
        self.places.push(Vec::new());
        number
    }

    pub(crate) fn word(&self, number: u32) -> Option<&NameWord> {
        self.words.get(number as usize)
    }

    /// Where words stand that this one may be; with slips only where no word is spelled so.
    pub(crate) fn places(&self, folded: &str, language: Language, may_slip: bool) -> Vec<WordPlace> {
        let mut numbers: Vec<u32> = self.numbers.get(folded).copied().into_iter().collect();
        let forms = (language.questions().named_by)(folded);
        numbers.extend(forms.iter().filter_map(|name| self.numbers.get(name)));
        let stem = &stem(folded, language);
        numbers.extend(self.by_stem.get(stem).into_iter().flatten());
        if numbers.is_empty() && may_slip {
            numbers.extend(self.typos.all_near(folded));
            let first = folded.chars().next();
            let long = first.filter(|_| folded.chars().count() >= TWO_SLIPS_CHARS_MIN);
            let long = long.and_then(|first| self.long.get(&first)).into_iter().flatten().copied();
            let is_near = |number: &u32| self.word(*number).is_some_and(|word| slips(&word.folded, folded) == 2);
            numbers.extend(long.filter(is_near));
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers.into_iter().filter_map(|number| self.places.get(number as usize)).flatten().copied().collect()
    }

    /// How a word of a question is one of a name.
    pub(crate) fn likeness(&self, number: u32, folded: &str, stem: &str, may_slip: bool) -> Option<Likeness> {
        let word = self.word(number)?;
        if word.folded == folded {
            return Some(Likeness::Same);
        }
        if word.stem == stem && !word.is_stop {
            return Some(Likeness::Stem);
        }
        let is_word = |word: &str| word.chars().all(char::is_alphabetic);
        let length = word.folded.chars().count().min(folded.chars().count());
        if !may_slip || word.is_stop || length < Typos::LETTERS_MIN - 1 || !is_word(folded) || !is_word(&word.folded) {
            return None;
        }
        match slips(&word.folded, folded) {
            1 => Some(Likeness::OneSlip),
            2 if length >= TWO_SLIPS_CHARS_MIN => Some(Likeness::TwoSlips),
            _ => None,
        }
    }
}

/// How many letters were left out, added, changed or swapped; three where it is more than two.
fn slips(a: &str, b: &str) -> usize {
    const MANY: usize = 3;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) >= MANY {
        return MANY;
    }
    let mut two_before: Vec<usize> = Vec::new();
    let mut before: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(MANY);
            let changed = at(&before, j) + usize::from(x != y);
            let mut least = changed.min(at(&before, j + 1) + 1).min(at(&row, j) + 1);
            let is_swap = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if is_swap {
                least = least.min(at(&two_before, j - 1) + 1);
            }
            row.push(least);
        }
        two_before = std::mem::replace(&mut before, row);
    }
    before.last().copied().unwrap_or(MANY).min(MANY)
}

#[cfg(test)]
mod tests {
    use super::slips;

    #[test]
    fn slips_are_counted() {
        for (a, b, expect) in [
            ("history", "history", 0),
            ("history", "histroy", 1),
            ("history", "hystori", 2),
            ("history", "hostel", 3),
            ("гавань", "гаваь", 1),
            ("a", "abcde", 3),
        ] {
            assert_eq!(slips(a, b), expect, "{a} {b}");
        }
    }
}
