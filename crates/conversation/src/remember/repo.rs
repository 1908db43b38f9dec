//! Files of a directory as passages.
//!
//! Owns which files count: those that git would not ignore, hidden ones and links left out. What is no text,
//! no prose, too large or unreadable is skipped, counted and named. Takes as long as the disk takes: not for
//! the request's thread. Invariant: the same files give the same passages in the same order.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};
use novelo_engine::limits::{DOCUMENT_PASSAGES_MAX, READ_FILE_BYTES_MAX, REPO_FILE_BYTES_MAX, REPO_FILES_MAX};
use novelo_files::{self as files, FileClass, FileFormat, FileSection, HEAD_BYTES};
use serde::{Deserialize, Serialize};

use super::passage::{self, Passage};
use super::reader;

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Repo {
    pub passages: Vec<Passage>,
    /// Files that were taken.
    pub files: usize,
    /// Those and the ones that were skipped.
    seen: usize,
    pub bytes: u64,
    pub skipped: Skipped,
}

/// Files that were left out, by why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub binary: u64,
    pub large: u64,
    pub unreadable: u64,
    /// Drawings, minified code, lock files.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub not_prose: u64,
    /// Files of a known format that are broken, encrypted or too much.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub failed: u64,
    /// The first of them, with the reasons.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<SkippedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    pub file: String,
    pub why: String,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How much of a directory is taken.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    pub files_max: usize,
    pub file_bytes_max: usize,
    pub passages_max: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { files_max: REPO_FILES_MAX, file_bytes_max: REPO_FILE_BYTES_MAX, passages_max: DOCUMENT_PASSAGES_MAX }
    }
}

/// Skipped files that are named; the rest are counted.
const SKIPPED_FILES_MAX: usize = 100;
const WHY_CHARS_MAX: usize = 300;

enum FileContent {
    Text(String),
    Sections(Vec<FileSection>),
    Skipped(SkipReason, String),
}

#[derive(Clone, Copy)]
enum SkipReason {
    Binary,
    Large,
    Unreadable,
    NotProse,
    Failed,
}

/// Reads a directory, or one file. The error says what about the path is wrong.
pub fn read(root: &Path, caps: Caps) -> Result<Repo, String> {
    let mut repo = Repo::default();
    for entry in WalkBuilder::new(root).require_git(false).git_global(false).sort_by_file_path(Path::cmp).build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => repo.take(root, &entry, caps)?,
            Ok(_) => {}
            Err(error) if error.depth() == Some(0) => return Err(format!("cannot be read: {error}")),
            Err(error) => repo.skip("", SkipReason::Unreadable, &format!("cannot be read: {error}")),
        }
    }
    match repo.skipped.files.first() {
        // One file that was named: what is stored of it stays as it was.
        Some(SkippedFile { file, why }) if repo.files == 0 && root.is_file() => Err(format!("{file} {why}")),
        _ => Ok(repo),
    }
}

impl Repo {
    fn take(&mut self, root: &Path, entry: &DirEntry, caps: Caps) -> Result<(), String> {
        self.seen += 1;
        if self.seen > caps.files_max {
            return Err(format!("has more files than the cap REPO_FILES_MAX, {}", caps.files_max));
        }
        let Some(name) = name(root, entry.path()) else {
            let shown = entry.path().strip_prefix(root).unwrap_or(entry.path()).to_string_lossy();
            self.skip(&shown, SkipReason::Unreadable, "has a name that is not UTF-8");
            return Ok(());
        };
        match content(&name, entry.path(), caps) {
            FileContent::Text(text) => self.add(text.len(), passage::of_file(&name, &text)),
            FileContent::Sections(sections) => {
                let bytes = sections.iter().map(|section| section.text.len()).sum();
                self.add(bytes, passage::of_sections(&name, &sections));
            }
            FileContent::Skipped(reason, why) => self.skip(&name, reason, &why),
        }
        match self.passages.len() <= caps.passages_max {
            true => Ok(()),
            false => Err(format!("has more passages than the cap DOCUMENT_PASSAGES_MAX, {}", caps.passages_max)),
        }
    }

    fn add(&mut self, bytes: usize, passages: Vec<Passage>) {
        self.files += 1;
        self.bytes += bytes as u64;
        self.passages.extend(passages);
    }

    fn skip(&mut self, file: &str, reason: SkipReason, why: &str) {
        let skipped = &mut self.skipped;
        *match reason {
            SkipReason::Binary => &mut skipped.binary,
            SkipReason::Large => &mut skipped.large,
            SkipReason::Unreadable => &mut skipped.unreadable,
            SkipReason::NotProse => &mut skipped.not_prose,
            SkipReason::Failed => &mut skipped.failed,
        } += 1;
        if skipped.files.len() < SKIPPED_FILES_MAX {
            let why = why.chars().take(WHY_CHARS_MAX).collect();
            skipped.files.push(SkippedFile { file: file.to_owned(), why });
        }
    }
}

/// The path below the root, with slashes; that of a single file is its name.
fn name(root: &Path, path: &Path) -> Option<String> {
    let below = path.strip_prefix(root).ok().filter(|below| below.components().next().is_some());
    let below = below.or_else(|| path.file_name().map(Path::new))?;
    let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn content(name: &str, path: &Path, caps: Caps) -> FileContent {
    let open = || -> std::io::Result<(File, Vec<u8>)> {
        let mut file = File::open(path)?;
        let mut head = Vec::new();
        (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head)?;
        Ok((file, head))
    };
    let (file, head) = match open() {
        Ok(opened) => opened,
        Err(error) => return FileContent::Skipped(SkipReason::Unreadable, format!("cannot be read: {error}")),
    };
    match files::classify(name, &head) {
        FileClass::Plain => plain_text(file, head, caps),
        FileClass::Format(format) => parsed(file, format),
        FileClass::NotProse(what) => FileContent::Skipped(SkipReason::NotProse, format!("is {what}, not prose")),
        FileClass::Binary => FileContent::Skipped(SkipReason::Binary, "is binary".into()),
    }
}

fn plain_text(file: File, mut bytes: Vec<u8>, caps: Caps) -> FileContent {
    let rest = (caps.file_bytes_max as u64 + 1).saturating_sub(bytes.len() as u64);
    if let Err(error) = file.take(rest).read_to_end(&mut bytes) {
        return FileContent::Skipped(SkipReason::Unreadable, format!("cannot be read: {error}"));
    }
    if bytes.len() > caps.file_bytes_max {
        let cap = caps.file_bytes_max;
        return FileContent::Skipped(
            SkipReason::Large,
            format!("has more bytes than the cap REPO_FILE_BYTES_MAX, {cap}"),
        );
    }
    match String::from_utf8(bytes) {
        Ok(text) => FileContent::Text(text),
        Err(_) => FileContent::Skipped(SkipReason::Binary, "is binary, or text that is not UTF-8".into()),
    }
}

fn parsed(mut file: File, format: FileFormat) -> FileContent {
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    if size > READ_FILE_BYTES_MAX as u64 {
        let why = format!("has more bytes than the cap READ_FILE_BYTES_MAX, {READ_FILE_BYTES_MAX}");
        return FileContent::Skipped(SkipReason::Large, why);
    }
    let read = file.rewind().map_err(|error| format!("cannot be read: {error}"));
    match read.and_then(|()| reader::read(file, format)) {
        Ok(sections) => FileContent::Sections(sections),
        Err(why) => FileContent::Skipped(SkipReason::Failed, why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &[u8])]) {
        for (name, bytes) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    fn names(repo: &Repo) -> Vec<&str> {
        let mut names: Vec<&str> = repo.passages.iter().map(|passage| passage.file.as_deref().unwrap()).collect();
        names.dedup();
        names
    }

    const CAPS: Caps = Caps { files_max: 99, file_bytes_max: 20_000, passages_max: 999 };

    #[test]
    fn text_files_are_read_and_others_counted() {
        let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut late = vec![b'a'; HEAD_BYTES];
        late.push(0);
        write(outside.path(), &[("secret.txt", b"secret")]);
        write(
            dir.path(),
            &[
                ("b.txt", b"two"),
                ("a/x.rs", b"one"),
                (".gitignore", b"*.log\n/target\n"),
                ("a/noise.log", b"ignored"),
                ("target/out.txt", b"ignored"),
                (".hidden/x", b"hidden"),
                ("image.png", b"\x89PNG\0"),
                ("latin1.txt", b"caf\xe9"),
                ("large.txt", &[b'a'; 20_001]),
                ("page.html", b"<p>A page."),
                ("tea.svg", b"<svg><text>Tea</text></svg>"),
            ],
        );
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), dir.path().join("link.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("linked")).unwrap();
        let repo = read(dir.path(), CAPS).unwrap();
        assert_eq!(names(&repo), ["a/x.rs", "b.txt"]);
        assert_eq!((repo.files, repo.bytes), (2, 6));
        let skipped = |file: &str, why: &str| SkippedFile { file: file.into(), why: why.into() };
        let files = vec![
            skipped("image.png", "is binary"),
            skipped("large.txt", "has more bytes than the cap REPO_FILE_BYTES_MAX, 20000"),
            skipped("latin1.txt", "is binary, or text that is not UTF-8"),
            skipped("page.html", "needs a reader process, and this program has none"),
            skipped("tea.svg", "is an SVG drawing, not prose"),
        ];
        let expect = Skipped { binary: 2, large: 1, unreadable: 0, not_prose: 1, failed: 1, files };
        assert_eq!(repo.skipped, expect);
        assert_eq!(read(dir.path(), CAPS).unwrap(), repo);

        write(dir.path(), &[("late.txt", &late)]);
        assert_eq!(read(dir.path(), CAPS).unwrap().files, 3, "a NUL byte later on is text of a kind");
    }

    #[test]
    fn one_file_is_named_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), &[("a/x.rs", b"one")]);
        let repo = read(&dir.path().join("a/x.rs"), CAPS).unwrap();
        assert_eq!((names(&repo), repo.files), (vec!["x.rs"], 1));
        assert!(read(&dir.path().join("none"), CAPS).unwrap_err().starts_with("cannot be read"));
    }

    #[test]
    fn caps_hold_and_one_past_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..3 {
            write(dir.path(), &[(&format!("{n}.txt"), &[b'a'; 10])]);
        }
        let with = |files_max, file_bytes_max, passages_max| {
            read(dir.path(), Caps { files_max, file_bytes_max, passages_max })
                .map(|repo| (repo.files, repo.skipped.large))
        };
        assert_eq!(with(3, 10, 3), Ok((3, 0)));
        assert_eq!(with(3, 9, 3), Ok((0, 3)));
        assert!(with(2, 9, 3).unwrap_err().contains("REPO_FILES_MAX, 2"), "also of files that are skipped");
        assert!(with(2, 10, 3).unwrap_err().contains("REPO_FILES_MAX, 2"));
        assert!(with(3, 10, 2).unwrap_err().contains("DOCUMENT_PASSAGES_MAX, 2"));
    }
}
