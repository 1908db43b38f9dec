//! Opening a directory without losing anything.
//!
//! Owns the checks around the database's own recovery, which cuts journals, and deletes keyspaces that it
//! considers unfinished. Refuses a directory where that would lose acknowledged writes. Invariant: a refusal
//! says which file, and leaves it as it was.

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use super::db::{COMMIT, Db, ERASE, FORMAT, Space, View, Writes};
use super::marker::sync_dir;
use super::{journal, manifest, recovery, unfinished, witness};
use crate::Error;
use crate::incomplete::Incomplete;

/// Present once a store was created to its end; says the format for people and for newer versions.
const MARK: &str = "novelo";
const MARK_TEXT: &str = "novelo store format ";
const FORMAT_NOW: u64 = 1;
const PRIVATE_DIR: u32 = 0o700;
/// The two of ours come after the database's own, number 0.
const KEYSPACES: usize = 2;

/// An open database, the number of its last commit, and whether a forget was interrupted.
pub(super) struct Opened {
    pub db: Arc<Db>,
    pub commit: u64,
    pub erases: bool,
}

pub(super) fn open(dir: &Path, opens_incomplete: bool) -> Result<Opened, Error> {
    make_private(dir)?;
    check_complete(dir, opens_incomplete)?;
    check_writable(dir)?;
    remove_leftovers(dir)?;
    recovery::renew_journals(dir)?;
    let acked = witness::read(dir);
    if read_mark(dir)? {
        check_files(dir)?;
        check_journals(dir, acked)?;
    } else {
        unfinished::remove(dir)?;
    }
    let db = guarded(dir, || Db::open(dir))?;
    guarded(dir, || finish(db, dir, acked))
}

/// Creates the directory, or makes it private to this user.
fn make_private(dir: &Path) -> Result<(), Error> {
    if let Err(e) = DirBuilder::new().recursive(true).mode(PRIVATE_DIR).create(dir) {
        return Err(Error::io(dir, e));
    }
    let mode = dir.metadata().map_err(|e| Error::io(dir, e))?.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    match std::fs::set_permissions(dir, Permissions::from_mode(mode & !0o077)) {
        Ok(()) => tracing::info!(dir = %dir.display(), "other users could read the data directory; now they cannot"),
        // A process may write to a directory of another user without being allowed to change its mode.
        Err(error) => tracing::warn!(dir = %dir.display(), %error, "other users can read the data directory"),
    }
    Ok(())
}

fn check_complete(dir: &Path, opens_incomplete: bool) -> Result<(), Error> {
    match Incomplete::read(dir)? {
        Some(marker) if !opens_incomplete => Err(Error::Incomplete { dir: dir.into(), marker }),
        _ => Ok(()),
    }
}

/// The database may panic on bytes that it never wrote.
fn guarded<T>(dir: &Path, open: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| {
        Err(Error::damaged(dir.display().to_string(), "the database cannot make sense of its files"))
    })
}

fn finish(db: Db, dir: &Path, acked: Option<u64>) -> Result<Opened, Error> {
    let db = Arc::new(db);
    let view = View::new(db.clone());
    let commit = view.number(COMMIT)?.unwrap_or(0);
    if let Some(acked) = acked.filter(|acked| *acked > commit) {
        let what = format!("write {acked} was acknowledged, but the files end at write {commit}");
        return Err(Error::damaged(dir.display().to_string(), what));
    }
    let erases = view.get(Space::Meta, ERASE)?.is_some();
    match view.number(FORMAT)? {
        Some(FORMAT_NOW) => {}
        Some(format) => return Err(newer(dir, format)),
        None => create(&db)?,
    }
    if !read_mark(dir)? {
        // The database leaves this one out: without it a power loss could take a whole keyspace.
        sync_dir(&dir.join("keyspaces"))?;
    }
    write_mark(dir)?;
    Ok(Opened { db, commit, erases })
}

fn create(db: &Db) -> Result<(), Error> {
    let format = ((Space::Meta, FORMAT.to_vec()), Some(FORMAT_NOW.to_be_bytes().to_vec()));
    db.commit(Writes::from([format]), false)
}

/// Removes what an interrupted recovery left: it may hold what is forgotten later.
fn remove_leftovers(dir: &Path) -> Result<(), Error> {
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let path = entry.map_err(|e| Error::io(dir, e))?.path();
        let is_renewed = path.extension().is_some_and(|extension| extension == journal::RENEWED);
        if is_renewed || path.file_name().is_some_and(|name| name == recovery::PROBE) {
            std::fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
        }
    }
    Ok(())
}

fn check_writable(dir: &Path) -> Result<(), Error> {
    rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)
        .map_err(|e| Error::io(dir, e.into()))
}

/// Whether the store was created to its end.
fn read_mark(dir: &Path) -> Result<bool, Error> {
    let path = dir.join(MARK);
    let text = match std::fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(Error::io(&path, e)),
    };
    match text.trim().strip_prefix(MARK_TEXT.trim()).and_then(|format| format.trim().parse::<u64>().ok()) {
        Some(format) if format > FORMAT_NOW => Err(newer(dir, format)),
        _ => Ok(true),
    }
}

fn write_mark(dir: &Path) -> Result<(), Error> {
    let path = dir.join(MARK);
    let text = format!("{MARK_TEXT}{FORMAT_NOW}\n");
    if std::fs::read(&path).is_ok_and(|bytes| bytes == text.as_bytes()) {
        return Ok(());
    }
    let written = std::fs::write(&path, text).and_then(|()| std::fs::File::open(&path)?.sync_all());
    written.and_then(|()| std::fs::File::open(dir)?.sync_all()).map_err(|e| Error::io(&path, e))
}

fn newer(dir: &Path, format: u64) -> Error {
    let dir = dir.display();
    Error::Invalid(format!("{dir} is of format {format}; this version of novelo reads format {FORMAT_NOW}"))
}

/// Without these the database would start afresh, in a part or as a whole.
fn check_files(dir: &Path) -> Result<(), Error> {
    for path in ["version", "lock"].map(|name| dir.join(name)) {
        if !path.try_exists().map_err(|e| Error::io(&path, e))? {
            return Err(Error::damaged(path.display().to_string(), "it is missing"));
        }
    }
    (0..=KEYSPACES).try_for_each(|id| manifest::check(&dir.join(format!("keyspaces/{id}"))))
}

fn check_journals(dir: &Path, acked: Option<u64>) -> Result<(), Error> {
    let survey = journal::survey(dir)?;
    let Some(torn) = survey.torn else { return Ok(()) };
    let readable = survey.commit.or(torn.commit.map(|commit| commit.saturating_sub(1)));
    if let (Some(readable), Some(acked)) = (readable, acked)
        && readable < acked
    {
        let what = format!("write {acked} was acknowledged, but byte {} on is unreadable", torn.offset);
        return Err(Error::damaged(torn.path.display().to_string(), what));
    }
    torn.cut()
}
