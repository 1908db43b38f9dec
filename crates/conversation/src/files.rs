//! Files that are read again when they change.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// A file as it was when it was last looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchedFile {
    path: PathBuf,
    /// The directory below that of the policies; empty where it stands beside it.
    below: &'static str,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl WatchedFile {
    /// The file of this name, where there is one.
    pub fn one(dir: &Path, name: &str) -> Option<Self> {
        Self::at(dir.join(name), "")
    }

    fn at(path: PathBuf, below: &'static str) -> Option<Self> {
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some(Self { modified: metadata.modified().ok(), bytes: metadata.len(), path, below })
    }

    /// Those of a directory below with this extension, by name.
    pub fn all(dir: &Path, below: &'static str, extension: &str) -> Vec<Self> {
        Self::those(dir, below, |path| path.extension().is_some_and(|e| e == extension))
    }

    /// All of a directory below, by name, but for what editors leave beside them.
    pub fn every(dir: &Path, below: &'static str) -> Vec<Self> {
        let is_left = |name: &str| name.starts_with(['.', '#']) || name.ends_with('~');
        Self::those(dir, below, |path| path.file_name().is_some_and(|name| !is_left(&name.to_string_lossy())))
    }

    fn those(dir: &Path, below: &'static str, is_one: impl Fn(&Path) -> bool) -> Vec<Self> {
        let Ok(entries) = std::fs::read_dir(dir.join(below)) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path()).filter(|path| is_one(path));
        let mut files: Vec<_> = paths.filter_map(|path| Self::at(path, below)).collect();
        files.sort();
        files
    }

    /// What it is called, without its extension.
    pub fn name(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
    }

    /// What it is called, with its extension.
    pub(crate) fn full_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether it is the file of this name beside the directories.
    pub fn is(&self, name: &str) -> bool {
        self.below.is_empty() && self.path.file_name().is_some_and(|own| own == name)
    }

    pub fn is_below(&self, dir: &str) -> bool {
        self.below == dir
    }

    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    pub fn remove(&self) -> std::io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    pub fn load(&self) -> Result<String, String> {
        std::fs::read_to_string(&self.path).map_err(|e| e.to_string())
    }

    /// A problem, said and with the file that has it.
    pub fn tell(&self, problem: impl std::fmt::Display) -> String {
        tracing::warn!(file = %self.path.display(), %problem, "broken policy, the last good one stays in force");
        format!("{}: {problem}", self.path.display())
    }
}

/// How long what is broken is left alone, when nothing has changed.
const RETRY_AFTER: Duration = Duration::from_secs(10);

/// What was read from some files, and what is wrong with them.
#[derive(Debug)]
pub(crate) struct WatchedPart<T> {
    pub value: T,
    /// A line each.
    pub broken: Vec<String>,
    seen: Option<(Vec<WatchedFile>, u64)>,
    read: Instant,
}

impl<T> WatchedPart<T> {
    pub fn new(value: T) -> Self {
        Self { value, broken: Vec::new(), seen: None, read: Instant::now() }
    }

    /// Reads the files where they are not those that were seen last.
    pub(crate) fn renew(
        &mut self,
        files: Vec<WatchedFile>,
        read: impl FnOnce(&[WatchedFile], &T, &mut Vec<String>) -> T,
    ) {
        if self.seen.as_ref().is_none_or(|(seen, _)| *seen != files) {
            self.renew_with(files, 0, read);
        }
    }

    /// The same with something else that they are read beside, told by its state. What is in order is not
    /// read again for it; what is not, is read again when that changes, and now and then, since it may have
    /// been locked.
    pub(crate) fn renew_with(
        &mut self,
        files: Vec<WatchedFile>,
        beside: u64,
        read: impl FnOnce(&[WatchedFile], &T, &mut Vec<String>) -> T,
    ) {
        let is_settled = |then: u64| self.broken.is_empty() || (then == beside && self.read.elapsed() < RETRY_AFTER);
        if self.seen.as_ref().is_some_and(|(seen, then)| *seen == files && is_settled(*then)) {
            return;
        }
        self.broken.clear();
        self.value = read(&files, &self.value, &mut self.broken);
        self.seen = Some((files, beside));
        self.read = Instant::now();
    }
}
