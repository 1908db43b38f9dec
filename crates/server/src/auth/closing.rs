//! Keeps a store closed once it has had a key.
//!
//! Owns the document that marks a store as closed, which is written in the same batch as the first key, and a
//! file with the same mark in the data directory of each node, in case the store is suddenly empty. Missing
//! data never opens a store: only the document that `novelo key open` writes does. Closings are counted, so
//! that a store that was reset to an older state is not mistaken for one that the operator opened.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{Error, Op, PutTerms, Store};
use serde::{Deserialize, Serialize};

use novelo_conversation::caller::KEYS;
use novelo_conversation::telemetry::now;

/// Below the root of the keys, so that every back-end writes both in one batch.
const STATE: [&str; 4] = [KEYS, "access", "state", "current"];

/// The stored closing state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessState {
    pub closed: bool,
    /// How many times it was closed: once by its first key, and once by the first key after each opening.
    pub closings: u64,
}

/// The stored state, and the version of its document.
#[derive(Debug, Clone, Copy)]
pub struct StoredState {
    pub state: Option<AccessState>,
    version: u64,
}

/// What a node concludes from the stored state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The closing in force; none if the store is open.
    pub closed: Option<u64>,
    /// Whether the store is not marked as closed and should be.
    pub is_unsaid: bool,
}

/// Whether this is the path of the state, which belongs to one store and is not copied with its documents.
pub(crate) fn is_state_path(path: &DocumentPath) -> bool {
    path.segments().iter().map(|segment| &**segment).eq(STATE)
}

pub(crate) fn state_collection() -> CollectionPath {
    state_path().collection()
}

fn state_path() -> DocumentPath {
    DocumentPath::new(&STATE).expect("four short segments are a document")
}

pub async fn read(store: &Store) -> Result<StoredState, Error> {
    let Some(document) = store.get(&state_path()).await? else { return Ok(StoredState { state: None, version: 0 }) };
    let damaged = |error| Error::Damaged { place: STATE.join("/"), what: format!("it is no state: {error}") };
    let state = serde_json::from_slice(&document.value).map_err(damaged)?;
    Ok(StoredState { state: Some(state), version: document.version })
}

impl StoredState {
    /// The state after a key was created; none if it does not change.
    pub(crate) fn closed_by_a_key(&self) -> Option<AccessState> {
        match self.state {
            None => Some(AccessState { closed: true, closings: 1 }),
            Some(AccessState { closed: true, .. }) => None,
            Some(AccessState { closings, .. }) => {
                Some(AccessState { closed: true, closings: closings.saturating_add(1) })
            }
        }
    }

    /// Replaces this state. The write is stale if another was written meanwhile.
    pub(crate) fn replace_by(&self, state: AccessState) -> Op {
        let value = format!(r#"{{"closed":{},"closings":{}}}"#, state.closed, state.closings);
        let terms = PutTerms { if_version: Some(self.version), now: now(), ..PutTerms::default() };
        Op::Put { at: state_path(), value: value.into(), terms }
    }
}

/// Decides from the stored state, from whether there are keys, and from the closing that this node knows.
pub fn judge(stored: &StoredState, has_keys: bool, known: Option<u64>) -> Verdict {
    let newest = |closings: u64| known.map_or(closings, |known| known.max(closings));
    match (stored.state, has_keys) {
        (Some(AccessState { closed: true, closings }), _) => {
            Verdict { closed: Some(newest(closings)), is_unsaid: newest(closings) > closings }
        }
        (_, true) => {
            let closings = stored.closed_by_a_key().map_or(1, |state| state.closings);
            Verdict { closed: Some(newest(closings)), is_unsaid: true }
        }
        (Some(AccessState { closings, .. }), false) => {
            let closed = known.filter(|known| *known > closings);
            Verdict { closed, is_unsaid: closed.is_some() }
        }
        (None, false) => Verdict { closed: known, is_unsaid: known.is_some() },
    }
}

/// The file of a node. A memory store has none.
#[derive(Debug)]
pub struct ClosingNote {
    path: Option<PathBuf>,
    /// The content of the file.
    noted: Mutex<Option<u64>>,
}

#[derive(Serialize, Deserialize)]
struct NotedClosing {
    closings: u64,
}

impl ClosingNote {
    /// Reads the file of this data directory. A file that cannot be read means closed.
    pub fn read(data: Option<&Path>) -> Self {
        let path = data.map(|data| data.join("closed.json"));
        let noted = path.as_deref().and_then(|path| match fs::read(path) {
            Ok(bytes) => Some(serde_json::from_slice::<NotedClosing>(&bytes).map_or(0, |noted| noted.closings)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "the note that keys are needed cannot be read");
                Some(0)
            }
        });
        Self { path, noted: Mutex::new(noted) }
    }

    pub(crate) fn noted(&self) -> Option<u64> {
        *self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the file. A failure is logged, and retried when the keys are read again.
    pub fn set(&self, closed: Option<u64>) {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if *noted == closed {
            return;
        }
        let Some(path) = &self.path else { return };
        match write(path, closed) {
            Ok(()) => *noted = closed,
            Err(error) => tracing::error!(%error, path = %path.display(), "whether keys are needed was not noted"),
        }
    }
}

/// Replaces the file atomically.
fn write(path: &Path, closed: Option<u64>) -> std::io::Result<()> {
    let Some(closings) = closed else { return fs::remove_file(path) };
    let (dir, partial) = (path.parent().unwrap_or(Path::new(".")), path.with_extension("partial"));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&partial)?;
    file.write_all(&serde_json::to_vec(&NotedClosing { closings })?)?;
    file.sync_all()?;
    fs::rename(&partial, path)?;
    fs::File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(stored: Option<(bool, u64)>, has_keys: bool, known: Option<u64>, expected: (Option<u64>, bool)) {
        let state = stored.map(|(closed, closings)| AccessState { closed, closings });
        let verdict = judge(&StoredState { state, version: 0 }, has_keys, known);
        assert_eq!((verdict.closed, verdict.is_unsaid), expected, "{stored:?} {has_keys} {known:?}");
    }

    #[test]
    fn what_is_missing_never_opens() {
        check(None, false, None, (None, false));
        check(None, false, Some(1), (Some(1), true));
        check(None, true, None, (Some(1), true));
        check(None, true, Some(3), (Some(3), true));
        check(Some((true, 1)), false, None, (Some(1), false));
        check(Some((true, 1)), true, Some(1), (Some(1), false));
        check(Some((true, 1)), false, Some(2), (Some(2), true));
    }

    #[test]
    fn an_opening_counts_for_the_closings_before_it_only() {
        check(Some((false, 1)), false, Some(1), (None, false));
        check(Some((false, 1)), false, None, (None, false));
        check(Some((false, 1)), false, Some(2), (Some(2), true));
        check(Some((false, 1)), true, Some(1), (Some(2), true));
    }

    #[test]
    fn a_note_survives_the_process_and_only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        assert_eq!(ClosingNote::read(Some(&data)).noted(), None);
        ClosingNote::read(Some(&data)).set(Some(7));
        assert_eq!(ClosingNote::read(Some(&data)).noted(), Some(7));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&data), mode(&data.join("closed.json"))), (0o700, 0o600));
        fs::write(data.join("closed.json"), "?").unwrap();
        let note = ClosingNote::read(Some(&data));
        assert_eq!(note.noted(), Some(0), "a note that cannot be read is one all the same");
        note.set(None);
        assert_eq!(ClosingNote::read(Some(&data)).noted(), None);
    }
}
