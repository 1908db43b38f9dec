//! Counts of documents, and the differences found.

use std::collections::HashSet;

use novelo_engine::scope::{THREADS, TURNS, USERS};
use novelo_store::Exported;
use serde_json::{Value, json};

const LISTED_MAX: usize = 10;

/// Counts of documents by kind.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub documents: u64,
    turns: u64,
    memories: u64,
    passages: u64,
    vectors: u64,
    traces: u64,
    /// Digests of names, so that a million users take little room.
    users: HashSet<u64>,
}

impl Tally {
    pub fn count(&mut self, document: &Exported) {
        let segments: Vec<&str> = document.path.segments().iter().map(|segment| &**segment).collect();
        if let [USERS, user, ..] = segments.as_slice() {
            self.users.insert(xxhash_rust::xxh3::xxh3_64(user.as_bytes()));
        }
        self.documents += 1;
        match segments.as_slice() {
            [.., THREADS, _, TURNS, _] => self.turns += 1,
            [.., "memories", _] => self.memories += 1,
            [.., "passages", _] => self.passages += 1,
            [.., "vectors", _] => self.vectors += 1,
            [.., "traces", _] => self.traces += 1,
            _ => {}
        }
    }

    fn rows(&self) -> [(&'static str, u64); 7] {
        [
            ("users", self.users.len() as u64),
            ("documents", self.documents),
            ("turns", self.turns),
            ("memories", self.memories),
            ("passages", self.passages),
            ("vectors", self.vectors),
            ("traces", self.traces),
        ]
    }

    pub fn json(&self) -> Value {
        Value::Object(self.rows().into_iter().map(|(name, count)| (name.to_owned(), json!(count))).collect())
    }

    pub fn text(&self) -> String {
        self.rows().map(|(name, count)| format!("{name:<10} {count}\n")).concat()
    }
}

/// The number of differences, and the first of them.
#[derive(Debug, Default)]
pub(crate) struct Differences {
    pub count: u64,
    pub first: Vec<String>,
}

impl Differences {
    pub fn add(&mut self, path: &impl std::fmt::Display, what: &str) {
        self.count += 1;
        if self.first.len() < LISTED_MAX {
            self.first.push(format!("{path}: {what}"));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One per line, and how many are not shown.
    pub fn text(&self) -> String {
        let left = self.count - self.first.len() as u64;
        let mut lines = self.first.join("\n");
        if left > 0 {
            lines.push_str(&format!("\nand {left} more"));
        }
        lines
    }
}
