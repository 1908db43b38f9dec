//! A database made by a script.
//!
//! Owns the half-made file. Refuses to leave one that is not whole in the place of a database.

use std::ffi::OsString;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rusqlite::limits::Limit;

use super::stamp::beside;

/// Files of SQLite that belong to a database and would be taken for the new one's.
const COMPANIONS: [&str; 3] = ["-journal", "-wal", "-shm"];

pub fn make(script: &str, path: &Path) -> anyhow::Result<()> {
    let path = std::path::absolute(path)?;
    let named = || path.display().to_string();
    let dir = path.parent().with_context(|| format!("{} is no place for a file", named()))?;
    let partial = partial(&path).with_context(|| format!("{} is no place for a file", named()))?;
    // One maker at a time. The lock is on the directory, so that nothing is left behind, and ends with its
    // process.
    let dir = File::open(dir).with_context(|| format!("cannot make {}", named()))?;
    dir.lock().with_context(|| format!("cannot make {}", named()))?;
    // What a maker that was killed has left.
    remove(&partial)?;
    let made = run(script, &partial).and_then(|()| put(&partial, &path, &dir));
    if made.is_err() {
        remove(&partial)?;
    }
    made.with_context(|| format!("cannot make {}", named()))
}

/// A name beside the file that nobody takes for a database.
fn partial(path: &Path) -> Option<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name()?);
    name.push(".partial");
    Some(path.with_file_name(name))
}

fn run(script: &str, partial: &Path) -> anyhow::Result<()> {
    let database = rusqlite::Connection::open(partial)?;
    // Until it is whole nobody reads it, and if it breaks it is made again: it needs no journal.
    database.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")?;
    database.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    database.execute_batch(script)?;
    anyhow::ensure!(database.is_autocommit(), "the script does not end the transaction it begins");
    database.close().map_err(|(_, error)| error)?;
    Ok(())
}

fn put(partial: &Path, path: &Path, dir: &File) -> anyhow::Result<()> {
    File::open(partial)?.sync_all()?;
    for ending in COMPANIONS {
        remove_one(&beside(path, ending))?;
    }
    std::fs::rename(partial, path)?;
    dir.sync_all()?;
    Ok(())
}

fn remove(partial: &Path) -> anyhow::Result<()> {
    remove_one(partial)?;
    COMPANIONS.iter().try_for_each(|ending| remove_one(&beside(partial, ending)))
}

fn remove_one(path: &Path) -> anyhow::Result<()> {
    match std::fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => {
            Err(e).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "make_tests.rs"]
mod tests;
