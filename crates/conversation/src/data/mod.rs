//! Data that questions are answered from: the catalogue that users write, and the database.
//!
//! Owns the ontology, its parameters and its entities, and the connections to the database. Refuses to write:
//! the database is opened read-only, and every value is bound. How a question is answered is in
//! `answer::data`.

pub mod catalogue;
pub mod database;
pub mod entity;
pub mod shipped;
#[cfg(test)]
mod shipped_tests;
pub mod starter;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use novelo_language::plan::{Ontology, Span, Subjects};
use sha2::{Digest, Sha256};

use crate::cache::Cache;
use crate::files::WatchedFile;
use crate::settings::{AskDatabase, Settings, StoreKind};
use database::{Database, Rows};
use shipped::ShippedCatalogue;

/// The rows of a query.
#[derive(Debug, Clone)]
pub struct FoundRows {
    /// The rows.
    pub rows: Arc<Rows>,
    /// The time that they are about.
    pub span: Span,
    /// Whether they were read before.
    pub is_cached: bool,
}

/// Rows that answer the same query again until they expire.
#[derive(Debug, Clone)]
pub struct CachedRows {
    /// The rows.
    pub found: FoundRows,
    /// Until when they may be used.
    pub expires_at: Instant,
}

/// The database, and a cache of the rows that were read from it.
#[derive(Debug)]
pub struct Data {
    /// The database.
    pub database: Arc<Database>,
    /// The rows of earlier queries.
    pub found: Cache<String, CachedRows>,
    /// Where the sample lies when nothing else is kept on disk; it goes with this.
    _dir: Option<tempfile::TempDir>,
}

const FOUND_BYTES_MAX: usize = 16 * 1024 * 1024;

impl Data {
    /// The database of the settings; `None` where none is wanted.
    pub fn open(settings: &Settings) -> anyhow::Result<Option<Arc<Self>>> {
        let keep = settings.store == StoreKind::Local && novelo_store::is_writable(&settings.data);
        Self::open_in(settings, keep.then(|| settings.data.clone()))
    }

    /// The same with the sample in a directory; one that goes with it, where none is named.
    fn open_in(settings: &Settings, dir: Option<PathBuf>) -> anyhow::Result<Option<Arc<Self>>> {
        let (path, dir) = match &settings.ask.database {
            AskDatabase::None => return Ok(None),
            AskDatabase::Sample => sample(shipped::shipped(settings.ask.catalogue), dir)?,
            AskDatabase::File(path) => (path.clone(), None),
        };
        let database = Database::open(&path).context("ask.database")?;
        Ok(Some(Arc::new(Self { database: Arc::new(database), found: Cache::new(FOUND_BYTES_MAX), _dir: dir })))
    }
}

/// The ontology in force and the subjects it knows, for a command that needs no server and no entities.
pub fn ontology(settings: &Settings) -> anyhow::Result<(Ontology, Arc<Subjects>)> {
    let data = Data::open_in(settings, None)?;
    let own = WatchedFile::one(&settings.policies, catalogue::ONTOLOGY);
    let database = data.as_ref().map(|data| &*data.database);
    catalogue::ontology(own.as_ref(), shipped::shipped(settings.ask.catalogue), database).map_err(anyhow::Error::msg)
}

/// Makes the sample where it is not there yet. A newer script makes a newer file.
fn sample(catalogue: &ShippedCatalogue, dir: Option<PathBuf>) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
    let (dir, kept) = match dir {
        Some(dir) => (dir, None),
        None => {
            let dir = tempfile::tempdir().context("no directory for the sample database")?;
            (dir.path().to_owned(), Some(dir))
        }
    };
    let digest = Sha256::digest(catalogue.script);
    let digest: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    let path = dir.join(format!("sample-{digest}.db"));
    if !is_whole(catalogue, &path) {
        Database::make(catalogue.script, &path).context("the sample database could not be made")?;
        remove_others(&path);
    }
    Ok((path, kept))
}

/// Whether a file is the sample; one that was damaged is made anew.
fn is_whole(catalogue: &ShippedCatalogue, path: &Path) -> bool {
    let asks = |database: Database| database.check(catalogue.probe, &[]).is_ok();
    path.exists() && Database::open(path).is_ok_and(asks)
}

/// Removes the samples of earlier versions.
fn remove_others(path: &Path) {
    let Some(dir) = path.parent() else { return };
    for other in WatchedFile::all(dir, "", "db").iter().filter(|file| file.name().starts_with("sample-")) {
        if !other.is_at(path)
            && let Err(error) = other.remove()
        {
            tracing::warn!(%error, "the sample of an earlier version was not removed");
        }
    }
}
