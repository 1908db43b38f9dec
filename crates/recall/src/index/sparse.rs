//! Terms as sparse vectors, for an index that lies elsewhere.
//!
//! Owns the numbers of terms and their weights: how often a passage holds them, and how rare they are among
//! the passages of this index. Both stand in the vectors, so that multiplying them needs no counts,
//! which would be those of all users. Stop words are in none.

use super::rank::{rarity, saturated_alone};
use super::{Index, Reading, count};
use novelo_language::Language;
use novelo_language::analyse::Words;

/// Tells these numbers and weights from those of other versions. Any change of the analysis needs another.
pub const TERMS_VERSION: u32 = 1;

/// The terms of a passage, each once, by rising number.
pub fn of_passage(text: &str) -> Vec<(u32, f32)> {
    let words = Words::new(text, super::PASSAGE_WORDS_MAX);
    let (terms, _) = count(&words, Language::detect(&words));
    let terms = terms.iter().filter(|term| !term.text.is_empty());
    gathered(terms.map(|term| (number(term.print), saturated_alone(term.times as f32))).collect())
}

/// The terms of a query that passages of the index hold, with how rare each is among them.
pub(crate) fn of_query(query: &str, index: &Index) -> Vec<(u32, f32)> {
    let mut terms = Vec::new();
    for word in Reading::of(query, index).words.iter().filter(|word| !word.is_stop) {
        let held: usize = word.exact.iter().map(|term| index.dictionary.postings(*term).len()).sum();
        let weight = word.weight() * rarity(held as f32, index.len());
        terms.extend(word.exact.iter().filter_map(|term| Some((number(index.dictionary.print(*term)?), weight))));
    }
    gathered(terms)
}

/// Two terms that share a number are found together, which is harmless.
fn number(print: u64) -> u32 {
    (print ^ (print >> 32)) as u32
}

fn gathered(mut terms: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
    terms.sort_unstable_by_key(|(number, _)| *number);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Passage;

    fn product(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
        let of = |number: u32| b.iter().find(|(other, _)| *other == number).map_or(0.0, |(_, weight)| *weight);
        a.iter().map(|(number, weight)| weight * of(*number)).sum()
    }

    #[test]
    fn a_query_meets_the_passages_that_share_its_stems() {
        let texts = ["The parrots speak Latin", "Rent is due", "parrot parrot", "Попугай говорит", "and the"];
        let mut index = Index::default();
        for (key, text) in (1..).zip(texts) {
            index.add(key, &Passage { text, ..Passage::default() });
        }
        let scores = |query: &str| texts.map(|text| product(&of_query(query, &index), &of_passage(text)));
        let parrot = scores("does a parrot sleep");
        assert!(parrot[2] > parrot[0] && parrot[0] > 0.0, "{parrot:?}");
        assert_eq!([parrot[1], parrot[3], parrot[4]], [0.0; 3]);
        assert!(scores("попугаю")[3] > 0.0);
        assert!(scores("rent")[1] > parrot[0], "a rarer word weighs more");
        assert_eq!(
            (of_query("zzz", &index), of_query("and the", &index), of_passage("and the")),
            (vec![], vec![], vec![])
        );
    }

    #[test]
    fn numbers_rise_and_are_each_there_once() {
        let words: String = (0..5_000).map(|n| format!("word{n} ")).collect();
        let terms = of_passage(&words);
        assert!(terms.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(gathered(vec![(7, 1.0), (3, 2.0), (7, 0.5)]), [(3, 2.0), (7, 1.5)]);
    }

    #[test]
    fn stored_numbers_stay_what_they_are() {
        let known = [822_912_731, 1_078_117_886, 1_206_116_037, 2_065_459_602, 3_108_883_918, 3_400_662_608];
        let terms = of_passage("The parrot speaks Latin, говорит o papagaio");
        assert_eq!(
            terms.iter().map(|(number, _)| *number).collect::<Vec<_>>(),
            known,
            "else TERMS_VERSION must change"
        );
        assert!(terms.iter().all(|(_, weight)| *weight == 1.0), "{terms:?}");
    }
}
