//! Checks the journals before the database opens them.
//!
//! Owns the one check that the database does not make: it cuts a journal off at the first entry that it
//! cannot read, silently. Here an unreadable batch with a readable one after it is damage, and nothing is
//! touched. An unreadable end is a write that was never acknowledged, unless the witness knows better.
//! Invariant: no length that was read from a file is trusted beyond the bytes that are there.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::db::{COMMIT, Space};
use super::marker::sync_dir;
use crate::Error;

const MAGIC: [u8; 4] = [b'F', b'J', b'L', 3];
const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const CHUNK_BYTES: usize = 256 * 1024;
/// The extension of a journal that is being rewritten.
pub(super) const RENEWED: &str = "renewed";
/// A flush may fail while the database changes from one journal to the next.
const RENEWED_MAX: usize = 2;

/// What the journals say.
#[derive(Debug, Default)]
pub(super) struct JournalSurvey {
    /// The highest commit that is readable.
    pub commit: Option<u64>,
    /// The database's own number of the last readable batch; its checksum does not cover this, but it only
    /// rises.
    order: Option<u64>,
    /// The unreadable end of the newest journal that holds anything.
    pub torn: Option<TornBatch>,
}

/// A batch that was not written to its end.
#[derive(Debug)]
pub(super) struct TornBatch {
    pub path: PathBuf,
    /// Everything before this is whole.
    pub offset: u64,
    /// Its commit number, if that much is readable.
    pub commit: Option<u64>,
}

impl TornBatch {
    fn in_the_middle(&self) -> Error {
        let what = format!("the write at byte {} is unreadable, and acknowledged writes follow it", self.offset);
        Error::damaged(self.path.display().to_string(), what)
    }

    /// Cuts the unreadable end off, as the database would.
    pub fn cut(&self) -> Result<(), Error> {
        let file = OpenOptions::new().write(true).open(&self.path).map_err(|e| Error::io(&self.path, e))?;
        file.set_len(self.offset).and_then(|()| file.sync_all()).map_err(|e| Error::io(&self.path, e))
    }
}

/// Reads every journal of a directory, and changes nothing.
pub(super) fn survey(dir: &Path) -> Result<JournalSurvey, Error> {
    let mut survey = JournalSurvey::default();
    for (_, path) in journals(dir)? {
        let bytes = read_used(&path).map_err(|e| Error::io(&path, e))?;
        if let Some(torn) = survey.torn.as_ref().filter(|_| !bytes.is_empty()) {
            return Err(torn.in_the_middle());
        }
        let good = whole_batches(&bytes, &mut survey);
        let Some(rest) = bytes.get(good..).filter(|rest| !rest.is_empty()) else { continue };
        let torn = TornBatch { path, offset: good as u64, commit: first_commit(rest) };
        if batch_follows(rest) {
            return Err(torn.in_the_middle());
        }
        survey.torn = Some(torn);
    }
    Ok(survey)
}

/// Rewrites the newest journals to other files, from what can be read of them: after a failed flush only
/// what was written and flushed since is known to be on the disk.
pub(super) fn renew(dir: &Path) -> Result<(), Error> {
    for (_, path) in journals(dir)?.into_iter().rev().take(RENEWED_MAX) {
        let new = path.with_extension(RENEWED);
        let renewed = read_used(&path).and_then(|bytes| {
            let mut file = File::create(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            std::fs::rename(&new, &path)
        });
        renewed.map_err(|e| Error::io(&path, e))?;
    }
    sync_dir(dir)
}

/// Copies a journal without its holes.
pub(super) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    read_used(from).and_then(|bytes| std::fs::write(to, bytes))
}

/// The journals, oldest first. They are numbered without gaps.
fn journals(dir: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let mut journals = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let path = entry.map_err(|e| Error::io(dir, e))?.path();
        if path.extension().is_none_or(|extension| extension != "jnl") {
            continue;
        }
        let id = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
        match id {
            Some(id) => journals.push((id, path)),
            None => return Err(Error::damaged(path.display().to_string(), "its name is not that of a journal")),
        }
    }
    journals.sort();
    let has_gap = journals.windows(2).any(|pair| matches!(pair, [(a, _), (b, _)] if a + 1 != *b));
    match has_gap {
        true => Err(Error::damaged(dir.display().to_string(), "a journal between two others is missing")),
        false => Ok(journals),
    }
}

/// A journal without the zeros that it was allocated with. Holes are stepped over, not read.
fn read_used(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut used = Vec::new();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut at = 0;
    while let Some(start) = next_data(&file, at)? {
        file.seek(SeekFrom::Start(start))?;
        let count = file.read(&mut chunk)?;
        let bytes = chunk.get(..count).unwrap_or_default();
        let Some(last) = bytes.iter().rposition(|byte| *byte != 0) else {
            at = start + (count as u64).max(1);
            continue;
        };
        used.resize(usize::try_from(start).map_err(std::io::Error::other)?, 0);
        used.extend_from_slice(bytes.get(..=last).unwrap_or_default());
        at = start + count as u64;
    }
    Ok(used)
}

/// Where the next bytes are that the disk holds; `None` at the end.
fn next_data(file: &File, at: u64) -> std::io::Result<Option<u64>> {
    if at >= file.metadata()?.len() {
        return Ok(None);
    }
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(at)) {
        Ok(start) => Ok(Some(start)),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        Err(_) => Ok(Some(at)),
    }
}

/// Goes over the readable batches; gives where they end.
fn whole_batches(bytes: &[u8], survey: &mut JournalSurvey) -> usize {
    let mut good = 0;
    while let Some(batch) = bytes.get(good..).and_then(batch).filter(|batch| Some(batch.order) > survey.order) {
        survey.order = Some(batch.order);
        survey.commit = survey.commit.max(batch.commit);
        good += batch.len;
    }
    good
}

/// Whether a whole batch begins anywhere after the end mark of another.
fn batch_follows(bytes: &[u8]) -> bool {
    let ends = bytes.windows(MAGIC.len()).enumerate().filter(|(_, window)| *window == MAGIC);
    ends.filter_map(|(at, _)| bytes.get(at + MAGIC.len()..)).any(|rest| batch(rest).is_some())
}

struct JournalBatch {
    len: usize,
    order: u64,
    commit: Option<u64>,
}

/// A whole batch at the beginning of some bytes.
fn batch(bytes: &[u8]) -> Option<JournalBatch> {
    let mut rest = bytes;
    let (items, order) = start(&mut rest)?;
    let (mut hasher, mut commit) = (Xxh3::new(), None);
    for at in 0..items {
        let before = rest;
        let item = item(&mut rest)?;
        hasher.update(before.get(..before.len() - rest.len())?);
        commit = if at == 0 { item } else { commit };
    }
    let [END] = take::<1>(&mut rest)? else { return None };
    let check = u64::from_le_bytes(take(&mut rest)?);
    let whole = take::<4>(&mut rest)? == MAGIC && check == hasher.digest();
    whole.then_some(JournalBatch { len: bytes.len() - rest.len(), order, commit })
}

/// The commit number at the head of a batch that may be cut short.
fn first_commit(bytes: &[u8]) -> Option<u64> {
    let mut rest = bytes;
    start(&mut rest)?;
    item(&mut rest)?
}

fn start(rest: &mut &[u8]) -> Option<(u32, u64)> {
    let [START] = take::<1>(rest)? else { return None };
    Some((u32::from_le_bytes(take(rest)?), u64::from_le_bytes(take(rest)?)))
}

/// Steps over one item; gives the commit number if it holds one.
fn item(rest: &mut &[u8]) -> Option<Option<u64>> {
    match take::<1>(rest)? {
        [ITEM] => {}
        [CLEAR] => return take::<8>(rest).map(|_| None),
        _ => return None,
    }
    let [_kind, compression] = take::<2>(rest)?;
    take::<8>(rest)?;
    let key_len = u16::from_le_bytes(take(rest)?);
    let (value_len, stored_len) = (u32::from_le_bytes(take(rest)?), u32::from_le_bytes(take(rest)?));
    if compression != 0 || value_len != stored_len {
        return None;
    }
    let (key, after) = rest.split_at_checked(usize::from(key_len))?;
    let (value, after) = after.split_at_checked(usize::try_from(stored_len).ok()?)?;
    *rest = after;
    let commit = (key == Space::Meta.key(COMMIT)).then(|| value.try_into().ok().map(u64::from_be_bytes)).flatten();
    Some(commit)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}
