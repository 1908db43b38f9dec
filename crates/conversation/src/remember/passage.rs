//! Passages of a document, as they are stored.
//!
//! Owns the way from text to passages and the ids of these. An id is made from what a passage says and where
//! it stands, so that the same document again gives the same ids. Invariant: no two passages of a document
//! share an id.

use novelo_engine::limits::DOCUMENT_PASSAGES_MAX;
use novelo_files::FileSection;
use novelo_recall::split;
use novelo_recall::split::Headings;
use rustc_hash::FxHashMap;
use serde::Serialize;
use xxhash_rust::xxh3::Xxh3;

/// A part of a document that can be found by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// The text.
    pub text: String,
    /// The file that it stands in, below the root of its repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The headings that it stands under, if the text is Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// The line that it begins on, from 1, if the file has lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The page that it stands on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Its number among the passages of its file or text, from 1: neighbours have neighbouring numbers.
    pub part: u64,
}

/// The passages of a text. Those that say nothing are left out.
pub(crate) fn of_text(text: &str) -> Vec<Passage> {
    passages(None, text)
}

/// The passages of a file of a repository.
pub(crate) fn of_file(file: &str, text: &str) -> Vec<Passage> {
    passages(Some(file), text)
}

fn passages(file: Option<&str>, text: &str) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    let mut headings = Headings::default();
    for range in split::passages(text) {
        let before = text.get(counted..range.start).unwrap_or("");
        line += before.matches('\n').count() as u64;
        headings.read(before);
        counted = range.start;
        let Some(said) = text.get(range).filter(|said| !said.trim().is_empty()) else { continue };
        let (file, heading, part) = (file.map(str::to_owned), headings.above(said), passages.len() as u64 + 1);
        passages.push(Passage { text: said.to_owned(), file, heading, line: Some(line), page: None, part });
    }
    passages
}

/// The passages of a file that a parser read. They have no lines: its lines are not those of the file.
pub(crate) fn of_sections(file: &str, sections: &[FileSection]) -> Vec<Passage> {
    let of_section = |section: &FileSection| {
        let page = section.page;
        passages(Some(file), &section.text).into_iter().map(move |passage| Passage { line: None, page, ..passage })
    };
    let numbered = (1..).zip(sections.iter().flat_map(of_section));
    numbered.map(|(part, passage)| Passage { part, ..passage }).collect()
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
pub(crate) fn check_count(count: usize) -> Result<(), String> {
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
        Passage { text: text.into(), file: None, heading: None, line: Some(1), page: None, part: 1 }
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
        let parts: Vec<u64> = passages.iter().map(|passage| passage.part).collect();
        assert_eq!(parts, (1..=passages.len() as u64).collect::<Vec<_>>());
        assert!(of_text(" \n ").is_empty() && of_text("").is_empty());
    }

    #[test]
    fn a_passage_names_the_headings_above_it() {
        let part = "Words that fill a part of the document. ".repeat(12);
        let code = format!("```sh\n# no heading\n{part}\n```");
        let text =
            format!("# Guide\n{part}\n## Ports\n{part}\n\n{part}\n\n{part}\n## Code\n{code}\n{part}\n# End\n{part}");
        let passages = of_text(&text);
        let headings: Vec<&str> = passages.iter().map(|it| it.heading.as_deref().unwrap_or("")).collect();
        assert_eq!((headings.first(), headings.last()), (Some(&"Guide"), Some(&"End")), "{headings:?}");
        assert!(headings.contains(&"Guide / Ports") && headings.contains(&"Guide / Code"), "{headings:?}");
        assert!(!headings.iter().any(|heading| heading.contains("no heading")), "{headings:?}");
        assert_eq!(of_file("a.rs", "fn main() {}")[0].heading, None);
    }

    #[test]
    fn passages_are_counted_to_the_cap() {
        assert_eq!(check_count(DOCUMENT_PASSAGES_MAX), Ok(()));
        assert!(check_count(DOCUMENT_PASSAGES_MAX + 1).unwrap_err().contains("DOCUMENT_PASSAGES_MAX is 50000"));
    }
}
