//! Sentences cut into clauses, and what the words around a claim say of it.

use crate::analyse::{self, Words};
use crate::claim_words::{ClaimWords, is_in};
use crate::content::sentences;
use crate::dates::tells_time;

/// Words of a sentence that are looked at.
const WORDS_MAX: usize = 60;
/// Words that stand before "and I" where that begins another clause.
const CLAUSE_WORDS_MIN: usize = 3;

/// A word of a clause.
#[derive(Debug, Clone)]
pub(super) struct ClauseWord {
    /// Folded; `=` for a colon or a dash, and `é` for the verb that folding makes a conjunction.
    pub folded: String,
    pub spelled: String,
    pub has_capital: bool,
}

/// A clause that states something.
#[derive(Debug)]
pub(super) struct Clause {
    pub words: Vec<ClauseWord>,
    /// The words that say that this holds from now on.
    pub now: Option<String>,
    /// Whether it adds to what was said before.
    pub also: bool,
    /// The last year that its sentence names.
    pub year: Option<i32>,
}

/// The text without what is quoted: that is what others say.
pub(super) fn unquoted(text: &str) -> String {
    let (mut plain, mut until) = (String::new(), None);
    for c in text.chars() {
        match (until, c) {
            (Some(end), c) if c == end => until = None,
            (Some(_), _) => {}
            (None, '"') => until = Some('"'),
            (None, '“') => until = Some('”'),
            (None, '«') => until = Some('»'),
            (None, c) => plain.push(c),
        }
    }
    plain
}

/// The clauses of a text that state something; none if it is a joke.
pub(super) fn clauses(text: &str, words: &ClaimWords) -> Vec<Clause> {
    let plain = unquoted(text);
    let is_joke = Words::new(&plain, WORDS_MAX * 4).iter().any(|word| is_joke(words, word.folded));
    if is_joke {
        return Vec::new();
    }
    let states = |sentence: &&str| !analyse::asks(sentence);
    sentences(&plain).filter(states).flat_map(|sentence| of_sentence(sentence, words)).collect()
}

fn is_joke(words: &ClaimWords, folded: &str) -> bool {
    words.jokes.split_whitespace().any(|joke| match joke.strip_suffix('*') {
        Some(start) => folded.starts_with(start),
        None => folded == joke,
    })
}

fn of_sentence(sentence: &str, words: &ClaimWords) -> Vec<Clause> {
    let read = Words::new(sentence, WORDS_MAX);
    let folded: Vec<&str> = read.iter().map(|word| word.folded).collect();
    let is_past = words.past.iter().any(|phrase| find(&folded, phrase).is_some());
    let is_unsure = folded.iter().any(|word| is_in(words.unsure, word));
    if is_past || is_unsure {
        return Vec::new();
    }
    let mut found: Vec<Vec<ClauseWord>> = vec![Vec::new()];
    let mut end = 0;
    for word in read.iter() {
        let gap = sentence.get(end..word.range.start).unwrap_or("");
        end = word.range.end;
        let ends = gap.contains([';', '(', ')']) || gap.starts_with([',', '!']) && gap.contains(' ');
        let copula = [":", "—", "–", " - "].iter().any(|mark| gap.contains(mark)) && gap.contains(' ');
        let spelled = sentence.get(word.range.clone()).unwrap_or("");
        let is_me = is_in(words.me, word.folded);
        if ends || is_me && ends_with_and(&found, words) {
            found.push(Vec::new());
        }
        let Some(clause) = found.last_mut() else { break };
        if copula && !clause.is_empty() {
            clause.push(ClauseWord { folded: "=".to_owned(), spelled: ":".to_owned(), has_capital: false });
        }
        let as_read = if word.folded == "e" && word.accented { "é" } else { word.folded };
        let has_capital = spelled.starts_with(char::is_uppercase);
        clause.push(ClauseWord { folded: as_read.to_owned(), spelled: spelled.to_owned(), has_capital });
    }
    let year = folded.iter().filter_map(|word| year(word)).max();
    let clauses = found.into_iter().filter_map(|clause| shaped(clause, words));
    clauses.map(|clause| Clause { year, ..clause }).collect()
}

/// Whether the last clause ends with "and", after enough words for a claim. `Paul and I` is one phrase.
fn ends_with_and(found: &[Vec<ClauseWord>], words: &ClaimWords) -> bool {
    let Some(clause) = found.last() else { return false };
    clause.len() > CLAUSE_WORDS_MIN && clause.last().is_some_and(|last| is_in(words.and, &last.folded))
}

/// The clause without what means nothing for a claim.
fn shaped(mut clause: Vec<ClauseWord>, words: &ClaimWords) -> Option<Clause> {
    let also = clause.iter().any(|word| is_in(words.also, &word.folded));
    let mut now = None;
    for phrase in words.now {
        while let Some(at) = find(&folded(&clause), phrase) {
            let words: Vec<String> =
                clause.drain(at..at + phrase.split(' ').count()).map(|word| word.spelled).collect();
            now = Some(words.join(" "));
        }
    }
    clause.retain(|word| !is_in(words.adverbs, &word.folded));
    let opens = |word: &ClauseWord| {
        let is_time = is_in(words.times, &word.folded) || tells_time(&word.folded);
        word.folded == "=" || is_in(words.openings, &word.folded) || is_time
    };
    let first = clause.iter().position(|word| !opens(word))?;
    clause.drain(..first);
    Some(Clause { words: clause, now, also, year: None })
}

fn folded(clause: &[ClauseWord]) -> Vec<&str> {
    clause.iter().map(|word| word.folded.as_str()).collect()
}

/// Where a phrase begins among words.
fn find(words: &[&str], phrase: &str) -> Option<usize> {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    words.windows(phrase.len()).position(|part| part == phrase.as_slice())
}

fn year(word: &str) -> Option<i32> {
    let year = word.parse().ok().filter(|_| word.len() == 4);
    year.filter(|year| (1900..2100).contains(year))
}
