//! The record of forgets, so that a restore does not bring back what was forgotten since its backup.
//!
//! Owns `novelo.forgets`, which no document call can name: an entry per forgotten place with its time and a
//! salted digest of the place, so that no id is kept. For a data directory the entries are also appended to a
//! file beside it, which survives the loss of the directory. An entry is written before anything is removed:
//! a crash in between leaves an entry too many, which matters to older backups only.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_store::{Error as StoreError, Op, PutTerms, Store, Window};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::caller::FORGETS;
use crate::error::{Code, Error, Result};
use crate::settings::{ForgetsFile, Settings, StoreKind};
use crate::telemetry::now;

/// The document with the salt of this store.
const SALT: &str = "salt";
/// There while the raw files may hold what was deleted.
const UNERASED: &str = "unerased";
const PAGE: usize = 1_000;
/// Bytes of the file beside a data directory that are read at once at most: far more forgets than anyone
/// makes.
const FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// One forgotten place, as a line of the file and of a restore.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForgetEntry {
    /// When it was forgotten, in seconds since 1970.
    pub at: f64,
    /// What the digest was made with.
    pub salt: String,
    /// A digest of the place, so that the log names nobody.
    pub digest: String,
}

/// The same as its document is; the digest is its id.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredEntry {
    at: f64,
    salt: String,
}

#[derive(Serialize, Deserialize)]
struct StoredSalt {
    salt: String,
}

/// The record of one store. Any request adds to it.
#[derive(Debug)]
pub struct ForgetLog {
    /// The file beside the data directory; none where documents are kept elsewhere, or the setting says so.
    file: Option<Arc<Mutex<PathBuf>>>,
}

impl ForgetEntry {
    /// The entry of a place.
    pub fn of(salt: &str, segments: &[Box<str>], at: f64) -> Self {
        Self { at, salt: salt.to_owned(), digest: digest(salt, segments) }
    }

    /// Reads the entry that a document of the record holds; `None` for the others that lie there.
    pub fn read(id: &str, value: &[u8]) -> Option<Self> {
        let StoredEntry { at, salt } = serde_json::from_slice(value).ok()?;
        is_digest(id).then(|| Self { at, salt, digest: id.to_owned() })
    }

    fn put(&self) -> Result<Op> {
        let stored = StoredEntry { at: self.at, salt: self.salt.clone() };
        let value = serde_json::to_vec(&stored).map_err(unwritten)?;
        Ok(Op::Put { at: document(&self.digest)?, value: value.into(), terms: terms() })
    }
}

/// What stands for a place in the record.
pub fn digest(salt: &str, segments: &[Box<str>]) -> String {
    let mut hash = Sha256::new();
    hash.update(salt.as_bytes());
    for segment in segments {
        // The length first, so that no id can look like two.
        hash.update((segment.len() as u64).to_be_bytes());
        hash.update(segment.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where the file of a data directory is, by the settings.
pub fn file_of(settings: &Settings) -> Option<PathBuf> {
    match &settings.forgets.file {
        ForgetsFile::None => None,
        _ if settings.store != StoreKind::Local => None,
        ForgetsFile::Beside => {
            let mut name = settings.data.components().as_path().as_os_str().to_owned();
            name.push(".forgets");
            Some(name.into())
        }
        ForgetsFile::File(file) => Some(file.clone()),
    }
}

impl ForgetLog {
    /// Opens the record; its file gets what only the store has, as after a migration or a write that failed.
    pub async fn open(store: &Store, settings: &Settings) -> anyhow::Result<Self> {
        let Some(file) = file_of(settings) else { return Ok(Self { file: None }) };
        let known = entries(store).await?;
        let log = Self { file: Some(Arc::new(Mutex::new(file.clone()))) };
        if known.is_empty() {
            return Ok(log);
        }
        let there = newest(read_leniently(&file));
        let is_missing = |entry: &ForgetEntry| there.get(&entry.digest).is_none_or(|there| there.at < entry.at);
        log.append(known.into_values().filter(is_missing).collect()).await;
        Ok(log)
    }

    /// Records that these places are forgotten.
    pub async fn record(&self, store: &Store, what: &[Prefix]) -> Result<()> {
        let (ops, entries) = self.prepare(store, what, false).await?;
        store.write(ops).await?;
        self.append(entries).await;
        Ok(())
    }

    /// The operations that record it, for the write that removes the places, and the entries for `append`
    /// after it. `unerased` says that the raw files are to be cleaned later.
    pub async fn prepare(&self, store: &Store, what: &[Prefix], unerased: bool) -> Result<(Vec<Op>, Vec<ForgetEntry>)> {
        let (salt, at) = (salt(store).await?, now());
        let entries: Vec<ForgetEntry> =
            what.iter().map(|prefix| ForgetEntry::of(&salt, prefix.segments(), at)).collect();
        let mut ops = entries.iter().map(ForgetEntry::put).collect::<Result<Vec<_>>>()?;
        if unerased {
            let value = serde_json::json!({ "at": at }).to_string();
            ops.push(Op::Put { at: unerased_mark()?, value: value.into(), terms: terms() });
        }
        Ok((ops, entries))
    }

    /// Takes entries of other sources in, where they are newer than those that are there.
    pub async fn adopt(&self, store: &Store, more: impl IntoIterator<Item = ForgetEntry>) -> Result<()> {
        let known = entries(store).await?;
        let news = more.into_iter().filter(|entry| known.get(&entry.digest).is_none_or(|known| known.at < entry.at));
        let news: Vec<ForgetEntry> = newest(news).into_values().collect();
        for some in news.chunks(PAGE) {
            store.write(some.iter().map(ForgetEntry::put).collect::<Result<_>>()?).await?;
        }
        let file = self.file.as_ref().map(|file| file.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let there = newest(file.map(|file| read_leniently(&file)).unwrap_or_default());
        let is_there = |entry: &ForgetEntry| there.get(&entry.digest).is_some_and(|there| there.at >= entry.at);
        self.append(news.into_iter().filter(|entry| !is_there(entry)).collect()).await;
        Ok(())
    }

    /// A file that cannot be written holds up no forget: the entry is in the store, and the next start tries
    /// again.
    pub async fn append(&self, entries: Vec<ForgetEntry>) {
        let Some(file) = self.file.clone().filter(|_| !entries.is_empty()) else { return };
        let append = move || {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            append_to(&file, &entries).with_context(|| format!("cannot write {}", file.display()))
        };
        let done = tokio::task::spawn_blocking(append).await;
        if let Err(error) = done.map_err(anyhow::Error::from).and_then(|done| done) {
            tracing::warn!(error = format!("{error:#}"), "a forget is not in the file beside the data directory");
        }
    }
}

/// Durably, and readable by its owner only. A line that broke off before is ended first.
fn append_to(path: &Path, entries: &[ForgetEntry]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
    let mut lines = Vec::new();
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            lines.push(b'\n');
        }
    }
    for entry in entries {
        lines.extend(serde_json::to_vec(entry)?);
        lines.push(b'\n');
    }
    file.write_all(&lines)?;
    file.sync_all()
}

/// The entries of such a file that can be read. The store has them all, so a damaged file keeps no server
/// from starting.
fn read_leniently(path: &Path) -> Vec<ForgetEntry> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            tracing::warn!(%error, file = %path.display(), "the record of forgets beside the data directory cannot be read");
            return Vec::new();
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let (lines, entries): (Vec<&str>, Vec<ForgetEntry>) = (
        text.lines().filter(|line| !line.trim().is_empty()).collect(),
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect(),
    );
    if entries.len() < lines.len() {
        let damaged = lines.len() - entries.len();
        tracing::warn!(damaged, file = %path.display(), "the record of forgets has lines that are none");
    }
    entries
}

/// The entries of such a file; `None` where there is none. A last line that broke off counts as none.
pub fn read_file(path: &Path) -> anyhow::Result<Option<Vec<ForgetEntry>>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let mut text = String::new();
    file.take(FILE_BYTES_MAX).read_to_string(&mut text).with_context(|| format!("cannot read {}", path.display()))?;
    read_lines(&text).with_context(|| path.display().to_string()).map(Some)
}

/// Reads the lines of a log of forgets.
pub fn read_lines(text: &str) -> anyhow::Result<Vec<ForgetEntry>> {
    let mut entries = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        match serde_json::from_str::<ForgetEntry>(line.trim_end()) {
            Ok(entry) if is_digest(&entry.digest) && entry.at.is_finite() => entries.push(entry),
            _ if line.trim().is_empty() || !line.ends_with('\n') => {}
            // A line that broke off, ended by the one after it.
            Err(error) if error.is_eof() => {}
            _ => anyhow::bail!("line {} is no entry of a forget", number + 1),
        }
    }
    Ok(entries)
}

/// The entries of a store, by their digests.
pub async fn entries(store: &Store) -> std::result::Result<BTreeMap<String, ForgetEntry>, StoreError> {
    let mut found = BTreeMap::new();
    let mut window = Window { limit: PAGE, ..Window::default() };
    loop {
        let page = store.scan(&collection(), window).await?;
        let read = page.items.iter().filter_map(|document| ForgetEntry::read(&document.id, &document.value));
        found.extend(read.map(|entry| (entry.digest.clone(), entry)));
        match page.items.last().filter(|_| page.has_more) {
            Some(last) => {
                window.after = Some(novelo_store::Cursor { create_time: last.create_time, seq: last.seq });
            }
            None => return Ok(found),
        }
    }
}

/// Of each place the newest entry.
pub fn newest(entries: impl IntoIterator<Item = ForgetEntry>) -> BTreeMap<String, ForgetEntry> {
    let mut newest: BTreeMap<String, ForgetEntry> = BTreeMap::new();
    for entry in entries {
        match newest.get(&entry.digest) {
            Some(there) if there.at >= entry.at => {}
            _ => drop(newest.insert(entry.digest.clone(), entry)),
        }
    }
    newest
}

/// The salt of a store, made where there is none.
async fn salt(store: &Store) -> Result<String> {
    let at = document(SALT)?;
    if let Some(found) = store.get(&at).await? {
        return read_salt(&found.value);
    }
    let salt = uuid::Uuid::new_v4().simple().to_string();
    let value = serde_json::to_vec(&StoredSalt { salt: salt.clone() }).map_err(unwritten)?;
    match store.put(&at, value.into(), PutTerms { if_version: Some(0), ..terms() }).await {
        Ok(_) => Ok(salt),
        // Another request was first.
        Err(StoreError::Stale { .. }) => {
            let found = store.get(&at).await?;
            read_salt(&found.ok_or_else(|| Error::new(Code::Busy, "the record of forgets is being made"))?.value)
        }
        Err(error) => Err(error.into()),
    }
}

fn read_salt(value: &[u8]) -> Result<String> {
    let read: std::result::Result<StoredSalt, _> = serde_json::from_slice(value);
    read.map(|read| read.salt).map_err(|e| Error::new(Code::Internal, format!("{FORGETS}/{SALT}: {e}")))
}

/// Where it is noted that the raw files are still to be cleaned.
pub fn unerased_mark() -> Result<DocumentPath> {
    document(UNERASED)
}

fn collection() -> CollectionPath {
    CollectionPath::new(&[FORGETS]).expect("one short segment is a collection")
}

fn document(id: &str) -> Result<DocumentPath> {
    collection().document(id).map_err(|e| Error::new(Code::Internal, e.to_string()))
}

fn terms() -> PutTerms {
    PutTerms { now: now(), ..PutTerms::default() }
}

fn unwritten(error: serde_json::Error) -> Error {
    Error::new(Code::Internal, format!("the record of forgets cannot be written: {error}"))
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
