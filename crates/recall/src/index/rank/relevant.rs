//! Whether a passage speaks to a query, which is another question than how well it does.
//!
//! A ranking has a first place whatever is asked. What goes into a prompt unasked must share a word that
//! means something with the query, or its meaning, or stand beside something that does.

use novelo_language::calendar::Day;

use super::Ranked;
use crate::index::Slot;

/// A cosine that says more than that both are language.
const COSINE: f32 = 0.3;
/// A likeness that is more than chance.
const ALIKE: f32 = 0.4;
/// How many words of a query of stop words alone must match: "who am I" has no others.
const STOPS: usize = 2;

/// How many terms texts must have that are alike without saying the same, and the share that they share.
const ALIKE_TERMS_MIN: usize = 12;
const ALIKE_SHARE: f32 = 0.9;
/// Words, stop words apart, of what may be frequent, and passages among which that can be told.
const FREQUENT_WORDS_MAX: usize = 3;
const FREQUENT_PASSAGES_MIN: usize = 50;

impl Ranked<'_> {
    /// Whether a passage speaks to the query, by itself or through the one before or after it in its group.
    /// One that says nothing itself does not.
    pub fn is_relevant(&self, key: u64) -> bool {
        let Some(at) = self.index.at(key) else { return false };
        let Some((slot, place)) = self.index.slot(at).zip(self.field.place(at)) else { return false };
        if slot.is_small_talk || self.is_frequent(at, slot) {
            return false;
        }
        self.speaks(at, place) || self.beside(slot, place).any(|(at, place)| self.speaks(at, place))
    }

    /// Whether two passages say nearly the same.
    pub fn are_alike(&self, a: u64, b: u64) -> bool {
        let found = |key| self.index.at(key).and_then(|at| Some((at, self.index.slot(at)?)));
        let (Some((a, a_slot)), Some((b, b_slot))) = (found(a), found(b)) else { return false };
        if a_slot.matter == b_slot.matter {
            return true;
        }
        let (a, b) = (self.index.held(a), self.index.held(b));
        let (least, most) = (a.len().min(b.len()), a.len().max(b.len()));
        let may_be = a_slot.numbers == b_slot.numbers && least >= ALIKE_TERMS_MIN;
        if !may_be || (least as f32) < ALIKE_SHARE * most as f32 {
            return false;
        }
        let mut terms: Vec<u32> = a.iter().map(|posting| posting.index()).collect();
        terms.sort_unstable();
        let shared = b.iter().filter(|posting| terms.binary_search(&posting.index()).is_ok()).count();
        shared as f32 >= ALIKE_SHARE * (a.len() + b.len() - shared) as f32
    }

    /// Whether the one is newer than the other.
    pub fn is_newer(&self, key: u64, other: u64) -> bool {
        (self.day(key), key) > (self.day(other), other)
    }

    /// The day of a passage, if it has a time.
    pub fn day(&self, key: u64) -> Option<Day> {
        self.index.at(key).and_then(|at| self.index.slot(at)?.day)
    }

    /// Whether a passage is a few words that are frequent here: what people say whatever they speak of, in
    /// whatever language.
    fn is_frequent(&self, at: u32, slot: &Slot) -> bool {
        let passages = self.index.len();
        if slot.words as usize > FREQUENT_WORDS_MAX || passages < FREQUENT_PASSAGES_MIN || slot.group == 0 {
            return false;
        }
        let frequent = (passages as f32).sqrt();
        let dictionary = self.index.dictionary();
        self.index.held(at).iter().all(|posting| dictionary.postings(posting.index()).len() as f32 > frequent)
    }

    fn speaks(&self, at: u32, place: usize) -> bool {
        let held = |term: u32| self.index.held(at).iter().any(|posting| posting.index() == term);
        let (mut stops, mut stops_held, mut others) = (0, 0, 0);
        for word in &self.reading.words {
            let is_held = word.exact.iter().any(|term| held(*term));
            if word.is_stop {
                stops += 1;
                stops_held += usize::from(is_held);
                continue;
            }
            others += 1;
            if is_held || word.alike.iter().any(|(term, likeness)| *likeness >= ALIKE && held(*term)) {
                return true;
            }
        }
        let by_stops = others == 0 && stops_held >= STOPS && stops_held * 2 >= stops;
        by_stops || self.fused.cosine(place).is_some_and(|cosine| cosine >= COSINE)
    }

    /// The neighbours of a passage in its group: slot and place.
    fn beside(&self, slot: &Slot, place: usize) -> impl Iterator<Item = (u32, usize)> {
        let order = self.index.order();
        let places = [place.checked_sub(1), place.checked_add(1)].into_iter().flatten();
        places.filter_map(move |place| {
            let at = *order.get(place)?;
            self.index.slot(at).filter(|other| other.shares_group(slot)).map(|_| (at, place))
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Index, Passage, Query};

    fn relevant(query: &str, vector: Option<&[f32]>) -> Vec<u64> {
        let mut index = Index::default();
        let facts = ["The rent is due on Friday", "Ana has a parrot that speaks Latin", "I am the one"];
        for (key, text) in (1..).zip(facts) {
            index.add(key, &Passage { text, ..Passage::default() });
        }
        for (key, text) in (11..).zip(["Where do you keep it?", "In the blue teapot.", "Good."]) {
            index.add(key, &Passage { text, group: 7, ..Passage::default() });
        }
        index.set_vector(1, &crate::embed::quantise(&[1.0, 0.0]));
        let ranked = index.rank(&Query { text: query, vector });
        [1, 2, 3, 11, 12, 13].into_iter().filter(|key| ranked.is_relevant(*key)).collect()
    }

    #[test]
    fn a_word_that_means_something_is_shared_or_nearly() {
        assert_eq!(relevant("does the parrot sleep", None), [2]);
        assert_eq!(relevant("parots", None), [2]);
        assert_eq!(relevant("a ship on the sea", None), [] as [u64; 0]);
        assert_eq!(relevant("", None), [] as [u64; 0]);
    }

    #[test]
    fn what_stands_beside_it_counts_in_a_conversation() {
        assert_eq!(relevant("teapots", None), [11, 12], "and what says nothing does not");
    }

    #[test]
    fn stop_words_count_where_there_are_no_others() {
        assert_eq!(relevant("who am I", None), [3]);
        assert_eq!(relevant("and the?", None), [] as [u64; 0]);
    }

    #[test]
    fn meaning_is_enough() {
        assert_eq!(relevant("ship", Some(&[0.6, 0.8])), [1]);
        assert_eq!(relevant("ship", Some(&[0.2, 0.98])), [] as [u64; 0]);
    }
}
