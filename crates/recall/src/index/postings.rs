//! The dictionary of an index: which passages hold a term, how often, and which terms look alike.
//!
//! Owns terms, postings and trigrams, and forgets a term with its last passage: what was removed leaves no
//! trace in any count. Passages are slots here; terms have no text, only a print.

use rustc_hash::FxHashMap;

use novelo_language::analyse::grams;

/// The most terms that a misspelt word is taken for.
const ALIKE_MAX: usize = 32;

/// A term that shares less than one in this many of its trigrams is alike by chance.
const SHARED: usize = 8;

/// A slot or a term in the low bits, how often in the high ones, and between them whether it is in the
/// opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting(u32);

const INDEX_BITS: u32 = 26;
const OPENING: u32 = 1 << INDEX_BITS;
const TIMES_SHIFT: u32 = INDEX_BITS + 1;
const TIMES_MAX: u32 = u32::MAX >> TIMES_SHIFT;
/// As many slots and as many terms as a posting can name.
pub(crate) const INDEX_MAX: usize = 1 << INDEX_BITS;

impl Posting {
    fn new(index: u32, counted: &Counted) -> Self {
        let opening = if counted.opening { OPENING } else { 0 };
        Self(counted.times.min(TIMES_MAX) << TIMES_SHIFT | opening | index & (OPENING - 1))
    }

    pub fn index(self) -> u32 {
        self.0 & (OPENING - 1)
    }

    pub fn times(self) -> u32 {
        self.0 >> TIMES_SHIFT
    }

    /// Whether the term is among the first words of the passage.
    pub(crate) fn in_opening(self) -> bool {
        self.0 & OPENING != 0
    }
}

#[derive(Debug, Default)]
pub struct Dictionary {
    by_print: FxHashMap<u64, u32>,
    terms: Vec<Term>,
    free: Vec<u32>,
    grams: FxHashMap<u32, Gram>,
}

#[derive(Debug, Default)]
pub struct Term {
    print: u64,
    pub postings: Vec<Posting>,
    grams: Box<[u32]>,
}

#[derive(Debug, Default)]
struct Gram {
    terms: Vec<u32>,
    /// How many postings its terms have together.
    postings: u32,
}

/// A term, as it is put in.
#[derive(Debug, Clone)]
pub struct Counted {
    /// Empty for a term that nothing is like.
    pub text: String,
    pub print: u64,
    pub times: u32,
    /// Whether it is among the first words.
    pub opening: bool,
}

impl Dictionary {
    /// Notes that a slot holds these terms, and gives them as they are to be removed.
    pub fn add(&mut self, slot: u32, terms: &[Counted]) -> Box<[Posting]> {
        let mut held = Vec::with_capacity(terms.len());
        for counted in terms {
            let Some(at) = self.at(counted) else { continue };
            let Some(term) = self.terms.get_mut(at as usize) else { continue };
            term.postings.push(Posting::new(slot, counted));
            for gram in &term.grams {
                self.grams.entry(*gram).or_default().postings += 1;
            }
            held.push(Posting::new(at, counted));
        }
        held.into_boxed_slice()
    }

    pub fn remove(&mut self, slot: u32, held: &[Posting]) {
        for at in held.iter().map(|posting| posting.index()) {
            let Some(term) = self.terms.get_mut(at as usize) else { continue };
            let Some(place) = term.postings.iter().position(|posting| posting.index() == slot) else { continue };
            term.postings.swap_remove(place);
            for gram in &term.grams {
                if let Some(gram) = self.grams.get_mut(gram) {
                    gram.postings -= 1;
                }
            }
            if term.postings.is_empty() {
                self.forget(at);
            }
        }
    }

    pub fn find(&self, print: u64) -> Option<u32> {
        self.by_print.get(&print).copied()
    }

    pub fn print(&self, term: u32) -> Option<u64> {
        self.terms.get(term as usize).map(|term| term.print)
    }

    pub(crate) fn postings(&self, term: u32) -> &[Posting] {
        self.terms.get(term as usize).map_or(&[], |term| &term.postings)
    }

    /// How many postings the terms with this trigram have.
    pub(crate) fn gram_postings(&self, gram: u32) -> u32 {
        self.grams.get(&gram).map_or(0, |gram| gram.postings)
    }

    /// The terms that share trigrams with these, and how alike they are; not those with these prints.
    /// `scratch` is kept between calls and holds nothing.
    pub fn alike(&self, wanted: &[u32], not: &[u64], scratch: &mut Vec<u8>) -> Vec<(u32, f32)> {
        scratch.resize(self.terms.len(), 0);
        let mut touched = Vec::new();
        for term in wanted.iter().filter_map(|gram| self.grams.get(gram)).flat_map(|gram| &gram.terms) {
            let Some(shared) = scratch.get_mut(*term as usize) else { continue };
            if *shared == 0 {
                touched.push(*term);
            }
            *shared = shared.saturating_add(1);
        }
        let mut found: Vec<(u32, f32, u64)> = Vec::with_capacity(touched.len());
        for at in touched {
            let shared = scratch.get_mut(at as usize).map(std::mem::take).unwrap_or_default();
            let Some(term) = self.terms.get(at as usize) else { continue };
            if usize::from(shared) * SHARED >= wanted.len() && !not.contains(&term.print) {
                found.push((at, grams::likeness(shared.into(), wanted.len(), term.grams.len()), term.print));
            }
        }
        // By print among equals, because the number of a term depends on what came and went before it.
        if found.len() > ALIKE_MAX {
            found.select_nth_unstable_by(ALIKE_MAX, |a, b| b.1.total_cmp(&a.1).then(a.2.cmp(&b.2)));
            found.truncate(ALIKE_MAX);
        }
        found.into_iter().map(|(at, likeness, _)| (at, likeness)).collect()
    }

    pub fn bytes(&self) -> usize {
        let terms: usize = self.terms.iter().map(|term| heap(term.postings.capacity()) + heap(term.grams.len())).sum();
        let grams: usize = self.grams.values().map(|gram| heap(gram.terms.capacity())).sum();
        let entry = size_of::<(u32, Gram)>() + 1;
        terms
            + grams
            + self.terms.capacity() * size_of::<Term>()
            + self.by_print.capacity() * 17
            + self.grams.capacity() * entry
    }

    fn at(&mut self, counted: &Counted) -> Option<u32> {
        if let Some(at) = self.by_print.get(&counted.print) {
            return Some(*at);
        }
        if self.free.is_empty() && self.terms.len() >= INDEX_MAX {
            return None;
        }
        let grams = grams::trigrams(&counted.text).into_boxed_slice();
        let at = self.free.pop().unwrap_or(self.terms.len() as u32);
        for gram in &grams {
            self.grams.entry(*gram).or_default().terms.push(at);
        }
        let term = Term { print: counted.print, postings: Vec::with_capacity(1), grams };
        match self.terms.get_mut(at as usize) {
            Some(place) => *place = term,
            None => self.terms.push(term),
        }
        self.by_print.insert(counted.print, at);
        Some(at)
    }

    fn forget(&mut self, at: u32) {
        let Some(term) = self.terms.get_mut(at as usize).map(std::mem::take) else { return };
        self.by_print.remove(&term.print);
        self.free.push(at);
        for gram in term.grams {
            let Some(entry) = self.grams.get_mut(&gram) else { continue };
            entry.terms.retain(|term| *term != at);
            if entry.terms.is_empty() {
                self.grams.remove(&gram);
            }
        }
    }
}

/// What the allocator takes for this many words of four bytes.
fn heap(words: usize) -> usize {
    if words == 0 { 0 } else { (words * 4 + 8).next_multiple_of(16).max(32) }
}
