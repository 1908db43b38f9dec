//! Those who speak in an index, and their names in a query.

use rustc_hash::FxHashMap;

use novelo_language::Language;
use novelo_language::analyse::{self, Words};

/// Names that only say which side of a conversation speaks.
const ROLES: [&str; 8] = ["user", "assistant", "system", "developer", "tool", "bot", "ai", "human"];

const NAME_WORDS_MAX: usize = 8;

#[derive(Debug, Default)]
pub struct Speakers {
    by_name: FxHashMap<String, u16>,
    speakers: Vec<Speaker>,
}

#[derive(Debug)]
struct Speaker {
    /// The prints of the words of the name.
    prints: Vec<u64>,
    passages: u32,
}

impl Speakers {
    pub fn add(&mut self, name: &str) -> Option<u16> {
        let next = u16::try_from(self.speakers.len()).ok();
        let at = match self.by_name.get(name) {
            Some(at) => *at,
            None => *self.by_name.entry(name.to_owned()).or_insert(next?),
        };
        match self.speakers.get_mut(usize::from(at)) {
            Some(speaker) => speaker.passages += 1,
            None => self.speakers.push(Speaker { prints: name_prints(name), passages: 1 }),
        }
        Some(at)
    }

    pub fn remove(&mut self, at: u16) {
        if let Some(speaker) = self.speakers.get_mut(usize::from(at)) {
            speaker.passages = speaker.passages.saturating_sub(1);
        }
    }

    /// Those of whose name a word has this print.
    pub fn named(&self, print: u64) -> impl Iterator<Item = u16> {
        let named = move |speaker: &Speaker| speaker.passages > 0 && speaker.prints.contains(&print);
        (0..).zip(&self.speakers).filter(move |(_, speaker)| named(speaker)).map(|(at, _)| at)
    }
}

/// Whether a name only says which side speaks.
pub(crate) fn is_role(name: &str) -> bool {
    ROLES.iter().any(|role| role.eq_ignore_ascii_case(name.trim()))
}

/// Names in Cyrillic letters are declined, those in Latin letters are not.
pub(crate) fn name_print(folded: &str) -> u64 {
    match Language::by_script(folded) {
        Some(language) => analyse::fingerprint(&language.stem(folded)),
        None => analyse::fingerprint(folded),
    }
}

fn name_prints(name: &str) -> Vec<u64> {
    let words = Words::new(name, NAME_WORDS_MAX);
    let words = words.iter().filter(|word| !ROLES.contains(&word.folded));
    let words = words.filter(|word| Language::ALL.into_iter().all(|language| !language.is_stop(word.folded)));
    words.map(|word| name_print(word.folded)).collect()
}
