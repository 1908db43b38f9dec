//! Passages of a document, as they are stored.
//!
//! Owns the way from text to passages and the ids of these. An id is made from what a passage says and where
//! it stands, so that the same document again gives the same ids. Invariant: no two passages of a document
//! share an id.

use novelo_engine::limits::DOCUMENT_PASSAGES_MAX;
use novelo_recall::split;
use rustc_hash::FxHashMap;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// A part of a document that can be found by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    pub text: String,
    /// The file that it stands in, below the root of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that it begins on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// The passages of a text. Those that say nothing are left out.
pub fn of_text(text: &str) -> Vec<Passage> {
    let cut = |range| text.get(range).filter(|part: &&str| !part.trim().is_empty()).map(str::to_owned);
    split::passages(text).into_iter().filter_map(cut).map(|text| Passage { text, file: None, line: None }).collect()
}

/// The passages of a file of a repository.
pub fn of_file(file: &str, text: &str) -> Vec<Passage> {
    let (mut line, mut counted) = (1, 0);
    let passage = |range: std::ops::Range<usize>| {
        line += text.get(counted..range.start).unwrap_or("").matches('\n').count() as u64;
        counted = range.start;
        let part = text.get(range).filter(|part| !part.trim().is_empty())?;
        Some(Passage { text: part.to_owned(), file: Some(file.to_owned()), line: Some(line) })
    };
    split::passages(text).into_iter().filter_map(passage).collect()
}

/// Passages with their ids, in order.
pub fn with_ids(passages: Vec<Passage>) -> impl Iterator<Item = (String, Passage)> {
    let mut seen: FxHashMap<u128, u64> = FxHashMap::default();
    passages.into_iter().map(move |passage| {
        let said = passage_fingerprint(&passage, 0);
        let before = seen.entry(said).or_default();
        let id = format!("{:032x}", if *before == 0 { said } else { passage_fingerprint(&passage, *before) });
        *before += 1;
        (id, passage)
    })
}

/// What tells a passage from others: its file, what it says, and how many before it say the same there.
fn passage_fingerprint(passage: &Passage, before: u64) -> u128 {
    let mut hasher = Xxh3::new();
    hasher.update(passage.file.as_deref().unwrap_or("").as_bytes());
    hasher.update(&[0]);
    hasher.update(passage.text.as_bytes());
    hasher.update(&before.to_le_bytes());
    hasher.digest128()
}

/// Whether a document may have so many passages; if not, what is wrong.
pub fn check_count(count: usize) -> Result<(), String> {
    match count <= DOCUMENT_PASSAGES_MAX {
        true => Ok(()),
        false => Err(format!("has {count} passages; the cap DOCUMENT_PASSAGES_MAX is {DOCUMENT_PASSAGES_MAX}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(passages: Vec<Passage>) -> Vec<String> {
        with_ids(passages).map(|(id, _)| id).collect()
    }

    fn said(text: &str) -> Passage {
        Passage { text: text.into(), file: None, line: None }
    }

    #[test]
    fn equal_passages_have_ids_of_their_own_and_the_same_ones_every_time() {
        let first = ids(vec![said("a"), said("b"), said("a"), said("a")]);
        assert_eq!(first.iter().collect::<std::collections::BTreeSet<_>>().len(), 4);
        let again = ids(vec![said("b"), said("a"), said("a"), said("c")]);
        assert_eq!(again[..3], [1, 0, 2].map(|at: usize| first[at].clone()));
    }

    #[test]
    fn a_file_tells_passages_apart_and_a_line_does_not() {
        let at = |file: &str, line| Passage { file: Some(file.into()), line: Some(line), ..said("a") };
        assert_ne!(ids(vec![at("x", 1)]), ids(vec![at("y", 1)]));
        assert_eq!(ids(vec![at("x", 1)]), ids(vec![at("x", 9)]));
    }

    #[test]
    fn lines_count_from_one_and_blank_passages_are_left_out() {
        let text = (0..2_000).map(|n| format!("line {n}\n")).collect::<String>() + &" ".repeat(5_000);
        let passages = of_file("a/b.rs", &text);
        assert!(passages.len() > 1 && passages.iter().all(|passage| !passage.text.trim().is_empty()));
        for passage in &passages {
            let at = text.find(&passage.text).unwrap();
            assert_eq!(passage.line, Some(text[..at].matches('\n').count() as u64 + 1));
        }
        assert!(of_text(" \n ").is_empty() && of_text("").is_empty());
    }

    #[test]
    fn passages_are_counted_to_the_cap() {
        assert_eq!(check_count(DOCUMENT_PASSAGES_MAX), Ok(()));
        assert!(check_count(DOCUMENT_PASSAGES_MAX + 1).unwrap_err().contains("DOCUMENT_PASSAGES_MAX is 50000"));
    }
}
