//! What a restore leaves out: documents that were forgotten after their backup was taken.

use std::collections::{BTreeMap, BTreeSet};

use novelo_engine::path::DocumentPath;

use super::log::{self, ForgetEntry};

/// Which documents of a backup were forgotten since.
#[derive(Debug, Default)]
pub struct RestoreFilter {
    /// When the backup was taken.
    pub taken_at: Option<f64>,
    newest: BTreeMap<String, f64>,
    salts: BTreeSet<String>,
    all: Vec<ForgetEntry>,
}

impl RestoreFilter {
    /// A filter for a backup that was taken at this time.
    pub fn new(taken_at: Option<f64>, entries: impl IntoIterator<Item = ForgetEntry>) -> Self {
        let mut filter = Self { taken_at, ..Self::default() };
        entries.into_iter().for_each(|entry| filter.add(entry));
        filter
    }

    /// Also forgets what this entry names.
    pub fn add(&mut self, entry: ForgetEntry) {
        let at = self.newest.entry(entry.digest.clone()).or_insert(entry.at);
        *at = at.max(entry.at);
        self.salts.insert(entry.salt.clone());
        self.all.push(entry);
    }

    /// Whether a document, or something that it lies below, was forgotten since the backup. One of the very
    /// same moment counts as later.
    pub fn is_forgotten(&self, path: &DocumentPath) -> bool {
        let Some(taken_at) = self.taken_at.filter(|_| !self.newest.is_empty()) else { return false };
        let segments = path.segments();
        (1..=segments.len()).filter_map(|end| segments.get(..end)).any(|place| {
            let found = |salt: &String| self.newest.get(&log::digest(salt, place));
            self.salts.iter().filter_map(found).any(|at| *at >= taken_at)
        })
    }

    /// The entries, to be recorded again.
    pub fn into_entries(self) -> Vec<ForgetEntry> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> DocumentPath {
        DocumentPath::new(&text.split('/').collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn what_lies_below_a_later_forget_is_left_out_and_nothing_else() {
        let entry = |salt: &str, at, of: &str| ForgetEntry::of(salt, path(of).segments(), at);
        let filter = RestoreFilter::new(
            Some(10.0),
            [entry("s", 11.0, "users/ana"), entry("s", 9.0, "users/bia"), entry("t", 10.0, "users/eva/memories/m")],
        );
        for (of, is_forgotten) in [
            ("users/ana", true),
            ("users/ana/convo.sessions/t/messages/m", true),
            ("users/ana2/memories/m", false),
            ("users/bia/memories/m", false),
            ("users/eva/memories/m", true),
            ("users/eva/memories/n", false),
        ] {
            assert_eq!(filter.is_forgotten(&path(of)), is_forgotten, "{of}");
        }
        let unknown = RestoreFilter::new(None, [entry("s", 11.0, "users/ana")]);
        assert!(!unknown.is_forgotten(&path("users/ana")));
    }
}
