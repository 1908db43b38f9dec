//! Words that are one slip away from a known one: a letter left out, added, changed, or two swapped.

use rustc_hash::FxHashMap;

use super::super::text::Word;
use super::vocabulary::Id;
use crate::analyse::fingerprint;

/// Known spellings, by what is left of them when any one letter is: two words that are one slip apart share a
/// print.
#[derive(Debug, Clone, Default)]
pub struct Typos {
    spellings: Vec<(String, Id)>,
    by_print: FxHashMap<u64, Vec<u32>>,
}

impl Typos {
    /// Shorter words have too many neighbours.
    pub(crate) const LETTERS_MIN: usize = 5;

    pub(crate) fn learn(&mut self, word: &Word, id: Id) {
        for spelling in [&word.folded, &word.stem] {
            self.learn_spelling(spelling, id);
        }
    }

    pub(crate) fn learn_spelling(&mut self, spelling: &str, id: Id) {
        let same = self.by_print.get(&fingerprint(spelling)).into_iter().flatten();
        let mut same = same.filter_map(|at| self.spellings.get(*at as usize));
        if is_long(spelling) && !same.any(|(known, _)| known == spelling) {
            let at = u32::try_from(self.spellings.len()).unwrap_or(u32::MAX);
            prints(spelling, |print| self.by_print.entry(print).or_default().push(at));
            self.spellings.push((spelling.to_owned(), id));
        }
    }

    /// Whether two different words are one slip apart, however short.
    pub(crate) fn is_one_slip(a: &str, b: &str) -> bool {
        a != b && one_slip(a, b)
    }

    /// The known word that this one was meant to be; of several, the one that was learnt first.
    pub fn find(&self, word: &Word) -> Option<Id> {
        if !is_long(&word.folded) {
            return None;
        }
        let singular = || word.folded.strip_suffix('s').and_then(|it| self.near(it));
        self.near(&word.folded).or_else(singular).or_else(|| self.near_stem(word))
    }

    /// The same by the stem, of which nobody mistakes the first letter: `bresco` is no form of `crescer`.
    fn near_stem(&self, word: &Word) -> Option<Id> {
        let first = word.stem.chars().next();
        let begins =
            |at: &u32| self.spellings.get(*at as usize).is_some_and(|(known, _)| known.chars().next() == first);
        let at = self.places(&word.stem).into_iter().filter(begins).min()?;
        self.spellings.get(at as usize).map(|(_, id)| *id)
    }

    /// The same of a spelling as it stands.
    fn near(&self, spelling: &str) -> Option<Id> {
        let at = self.places(spelling).into_iter().min()?;
        self.spellings.get(at as usize).map(|(_, id)| *id)
    }

    /// All known words that a spelling may have been meant to be.
    pub(crate) fn all_near(&self, spelling: &str) -> Vec<Id> {
        self.places(spelling).iter().filter_map(|at| self.spellings.get(*at as usize)).map(|(_, id)| *id).collect()
    }

    fn places(&self, spelling: &str) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        if is_long(spelling) {
            prints(spelling, |print| {
                for at in self.by_print.get(&print).into_iter().flatten() {
                    let known = self.spellings.get(*at as usize);
                    if !found.contains(at) && known.is_some_and(|(known, _)| one_slip(known, spelling)) {
                        found.push(*at);
                    }
                }
            });
        }
        found
    }
}

fn is_long(word: &str) -> bool {
    word.chars().count() >= Typos::LETTERS_MIN && word.chars().all(char::is_alphabetic)
}

/// The prints of a word and of what is left without any one of its letters.
fn prints(word: &str, mut each: impl FnMut(u64)) {
    each(fingerprint(word));
    let mut left = String::with_capacity(word.len());
    let mut last = None;
    for (at, letter) in word.char_indices() {
        // Without either of two equal letters the same is left.
        if last.replace(letter) == Some(letter) {
            continue;
        }
        left.clear();
        left.push_str(word.get(..at).unwrap_or_default());
        left.push_str(word.get(at + letter.len_utf8()..).unwrap_or_default());
        each(fingerprint(&left));
    }
}

/// Whether two different words are one slip apart.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let [a, b] = [&a, &b].map(|word| word.get(same..).unwrap_or_default());
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let [a, b] = [a, b].map(|word| word.get(..word.len() - same).unwrap_or_default());
    match (a, b) {
        ([_], []) | ([], [_]) | ([_], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(known: &[&str], word: &str, expect: Option<Id>) {
        let mut typos = Typos::default();
        (3..).zip(known).for_each(|(id, known)| typos.learn(&Word::new(known, crate::Language::Portuguese), id));
        assert_eq!(typos.find(&Word::new(word, crate::Language::Portuguese)), expect, "{word}");
    }

    #[test]
    fn a_slip_is_one_letter_or_a_swap() {
        for slip in ["divdendos", "dividenndos", "dividentos", "diviedndos", "ividendos", "dividendosx", "dividedos"] {
            check(&["dividendos"], slip, Some(3));
        }
        for other in ["divdedos", "dinidentos", "sodnedivid", "div", ""] {
            check(&["dividendos"], other, None);
        }
        check(&["dividendo"], "dividedos", Some(3));
    }

    #[test]
    fn short_words_have_no_slips() {
        check(&["preco"], "prceo", Some(3));
        check(&["preco"], "prec", None);
        check(&["pre"], "prex", None);
        check(&["caixa"], "caix", None);
        check(&["cota"], "conta", None);
    }

    #[test]
    fn of_several_the_first_is_meant() {
        check(&["venda", "renda"], "tenda", Some(3));
        check(&["renda", "venda"], "tenda", Some(3));
    }
}
