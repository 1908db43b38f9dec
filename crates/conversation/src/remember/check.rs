//! What is accepted: texts, numbers of hits, and meta.
//!
//! Owns the sentences that name the field and the cap.

use novelo_engine::json;
use novelo_engine::limits::{ID_BYTES_MAX, JSON_DEPTH_MAX, MEMORY_BYTES_MAX, QUESTION_BYTES_MAX, RECALL_HITS_MAX};
use serde_json::value::RawValue;

use crate::error::{Error, Result};

const HITS_DEFAULT: usize = 10;

/// A text that says something, within a cap.
pub fn text(field: &str, text: &str, (cap, most): (&str, usize)) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::invalid(field, "is empty"));
    }
    size(field, text, (cap, most))
}

/// A text within a cap.
pub fn size(field: &str, text: &str, (cap, most): (&str, usize)) -> Result<()> {
    match text.len() <= most {
        true => Ok(()),
        false => Err(Error::invalid(field, format_args!("has {} bytes; the cap {cap} is {most}", text.len()))),
    }
}

pub(crate) const MEMORY: (&str, usize) = ("MEMORY_BYTES_MAX", MEMORY_BYTES_MAX);
/// The limit of a query: its name and its bytes.
pub const QUERY: (&str, usize) = ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX);
/// The limit of a name: its name and its bytes.
pub const NAME: (&str, usize) = ("ID_BYTES_MAX", ID_BYTES_MAX);

/// How many hits are asked for.
pub fn hits(k: Option<u64>) -> Result<usize> {
    match k.map(usize::try_from).unwrap_or(Ok(HITS_DEFAULT)) {
        Ok(k) if (1..=RECALL_HITS_MAX).contains(&k) => Ok(k),
        _ => {
            let problem = format!("is {}; it must be 1 to RECALL_HITS_MAX, {RECALL_HITS_MAX}", k.unwrap_or(0));
            Err(Error::invalid("k", problem))
        }
    }
}

/// An object of the caller's own.
pub fn meta(meta: Option<&RawValue>) -> Result<()> {
    let Some(text) = meta.map(RawValue::get) else { return Ok(()) };
    if !text.starts_with('{') {
        return Err(Error::invalid("meta", "must be an object"));
    }
    size("meta", text, MEMORY)?;
    depth("meta", text)
}

/// A value that is not nested too deep to be a member of a document.
pub fn depth(field: &str, text: &str) -> Result<()> {
    match json::depth(text) {
        deep if deep >= JSON_DEPTH_MAX => {
            let problem = format!(
                "is nested {deep} deep; with the document around it the cap JSON_DEPTH_MAX is {JSON_DEPTH_MAX}"
            );
            Err(Error::invalid(field, problem))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_have_a_default_and_a_cap() {
        assert_eq!(hits(None).ok(), Some(HITS_DEFAULT));
        assert_eq!([hits(Some(1)).ok(), hits(Some(100)).ok()], [Some(1), Some(100)]);
        for k in [0, 101, u64::MAX] {
            let error = hits(Some(k)).unwrap_err();
            assert!(error.message.contains("RECALL_HITS_MAX") && error.message.contains(&k.to_string()));
        }
    }

    #[test]
    fn a_text_is_not_blank_and_not_past_its_cap() {
        let check = |given: &str| text("title", given, ("CAP", 4)).map_err(|e| e.message);
        assert_eq!(check("abcd"), Ok(()));
        assert_eq!(check("abcde"), Err("title has 5 bytes; the cap CAP is 4".into()));
        for blank in ["", " ", "\n\t\u{a0}"] {
            assert_eq!(check(blank), Err("title is empty".into()), "{blank:?}");
        }
    }
}
