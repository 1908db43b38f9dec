//! Where a document lives: `users/{user}/convo.sessions/{thread}/messages/{id}`.
//!
//! Owns the shape of paths and the rules for ids. Collections and documents alternate, so a collection has an
//! odd number of segments and a document an even one. Invariant: a segment is 1 to 256 bytes of UTF-8 without
//! control characters, so no id can forge a separator, whatever else it contains.

use std::fmt;

use crate::limits::{ID_BYTES_MAX, PATH_SEGMENTS_MAX};

/// Why a path or an id was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// An id is empty.
    #[error("an id is empty")]
    Empty,
    /// An id has this many bytes, which is more than `ID_BYTES_MAX`.
    #[error("an id has {0} bytes; the cap ID_BYTES_MAX is {ID_BYTES_MAX}")]
    TooLong(usize),
    /// An id has this control character.
    #[error("an id holds a control character (U+{0:04X})")]
    Control(u32),
    /// A path has this many segments, which is more than `PATH_SEGMENTS_MAX`.
    #[error("a path has {0} segments; the cap PATH_SEGMENTS_MAX is {PATH_SEGMENTS_MAX}")]
    TooDeep(usize),
    /// A segment is not valid percent-encoded UTF-8.
    #[error("a path segment is not valid percent-encoded UTF-8")]
    Encoding,
    /// A document was named by this odd number of segments.
    #[error("a document path has an even number of segments, this one has {0}")]
    NotDocument(usize),
    /// A collection was named by this even number of segments.
    #[error("a collection path has an odd number of segments, this one has {0}")]
    NotCollection(usize),
}

/// An ordered set of documents, such as the turns of a thread.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionPath(Vec<Box<str>>);

/// One document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DocumentPath(Vec<Box<str>>);

/// A document or a collection, and everything below it; the empty prefix is the whole store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Prefix(Vec<Box<str>>);

/// Accepts an id: 1 to 256 bytes, no control character.
pub fn check_id(id: &str) -> Result<(), PathError> {
    if id.is_empty() {
        return Err(PathError::Empty);
    }
    if id.len() > ID_BYTES_MAX {
        return Err(PathError::TooLong(id.len()));
    }
    match id.chars().find(|c| c.is_control()) {
        Some(c) => Err(PathError::Control(c as u32)),
        None => Ok(()),
    }
}

impl CollectionPath {
    /// A collection by its segments.
    pub fn new<S: AsRef<str>>(segments: &[S]) -> Result<Self, PathError> {
        let segments = checked(segments)?;
        match segments.len() % 2 {
            1 => Ok(Self(segments)),
            _ => Err(PathError::NotCollection(segments.len())),
        }
    }

    /// The document of this id in this collection.
    pub fn document(&self, id: &str) -> Result<DocumentPath, PathError> {
        DocumentPath::new(&self.0.iter().map(|s| &**s).chain([id]).collect::<Vec<_>>())
    }

    /// This collection and everything below its documents.
    pub fn prefix(&self) -> Prefix {
        Prefix(self.0.clone())
    }

    /// Its segments.
    pub fn segments(&self) -> &[Box<str>] {
        &self.0
    }
}

impl DocumentPath {
    /// A document by its segments.
    pub fn new<S: AsRef<str>>(segments: &[S]) -> Result<Self, PathError> {
        let segments = checked(segments)?;
        match segments.len() {
            n if n > 0 && n % 2 == 0 => Ok(Self(segments)),
            n => Err(PathError::NotDocument(n)),
        }
    }

    /// The collection that it is in.
    pub fn collection(&self) -> CollectionPath {
        let (_, head) = self.0.split_last().expect("a document path has two segments or more");
        CollectionPath(head.to_vec())
    }

    /// Its id within its collection.
    pub fn id(&self) -> &str {
        self.0.last().expect("a document path has two segments or more")
    }

    /// A collection right below this document.
    pub fn child(&self, name: &str) -> Result<CollectionPath, PathError> {
        CollectionPath::new(&self.0.iter().map(|s| &**s).chain([name]).collect::<Vec<_>>())
    }

    /// This document and everything below it.
    pub fn prefix(&self) -> Prefix {
        Prefix(self.0.clone())
    }

    /// Its segments.
    pub fn segments(&self) -> &[Box<str>] {
        &self.0
    }
}

impl Prefix {
    /// The whole store.
    pub fn all() -> Self {
        Self(Vec::new())
    }

    /// Its segments; none for the whole store.
    pub fn segments(&self) -> &[Box<str>] {
        &self.0
    }

    /// Whether a path, given as its segments, lies below this prefix.
    pub fn holds(&self, segments: &[Box<str>]) -> bool {
        segments.starts_with(&self.0)
    }
}

/// Reads a path as it stands in a URL: segments divided by `/`, each percent-encoded.
pub fn decode(path: &str) -> Result<Vec<String>, PathError> {
    path.split('/').map(decode_segment).collect()
}

/// One segment of a URL path, decoded.
pub fn decode_segment(segment: &str) -> Result<String, PathError> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.next().zip(rest.next()).ok_or(PathError::Encoding)?;
        bytes.push(hex(digits.0)? << 4 | hex(digits.1)?);
    }
    String::from_utf8(bytes).map_err(|_| PathError::Encoding)
}

/// One segment as it stands in a URL.
pub fn encode_segment(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for byte in segment.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn hex(digit: u8) -> Result<u8, PathError> {
    (digit as char).to_digit(16).map(|d| d as u8).ok_or(PathError::Encoding)
}

fn checked<S: AsRef<str>>(segments: &[S]) -> Result<Vec<Box<str>>, PathError> {
    if segments.len() > PATH_SEGMENTS_MAX {
        return Err(PathError::TooDeep(segments.len()));
    }
    segments.iter().map(|s| check_id(s.as_ref()).map(|()| Box::from(s.as_ref()))).collect()
}

fn write_encoded(segments: &[Box<str>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (i, segment) in segments.iter().enumerate() {
        if i > 0 {
            f.write_str("/")?;
        }
        f.write_str(&encode_segment(segment))?;
    }
    Ok(())
}

impl fmt::Display for CollectionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_encoded(&self.0, f)
    }
}

impl fmt::Display for DocumentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_encoded(&self.0, f)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_encoded(&self.0, f)
    }
}
