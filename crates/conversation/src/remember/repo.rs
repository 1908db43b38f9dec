//! Files of a directory as passages.
//!
//! Owns which files count: those that git would not ignore, hidden ones and links left out. What is no text,
//! too large or unreadable is skipped and counted. Takes as long as the disk takes: not for the request's
//! thread. Invariant: the same files give the same passages in the same order.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};
use novelo_engine::limits::{DOCUMENT_PASSAGES_MAX, REPO_FILE_BYTES_MAX, REPO_FILES_MAX};
use serde::{Deserialize, Serialize};

use super::passage::{self, Passage};

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub binary: u64,
    pub large: u64,
    pub unreadable: u64,
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

/// Bytes in which a file that is no text shows it.
const BINARY_BYTES: usize = 8 * 1024;

enum Content {
    Text(String),
    Binary,
    Large,
    Unreadable,
}

/// Reads a directory, or one file. The error says what about the path is wrong.
pub fn read(root: &Path, caps: Caps) -> Result<Repo, String> {
    let mut repo = Repo::default();
    for entry in WalkBuilder::new(root).require_git(false).git_global(false).sort_by_file_path(Path::cmp).build() {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => repo.take(root, &entry, caps)?,
            Ok(_) => {}
            Err(error) if error.depth() == Some(0) => return Err(format!("cannot be read: {error}")),
            Err(_) => repo.skipped.unreadable += 1,
        }
    }
    Ok(repo)
}

impl Repo {
    fn take(&mut self, root: &Path, entry: &DirEntry, caps: Caps) -> Result<(), String> {
        self.seen += 1;
        if self.seen > caps.files_max {
            return Err(format!("has more files than the cap REPO_FILES_MAX, {}", caps.files_max));
        }
        let (text, name) = match (content(entry.path(), caps), name(root, entry.path())) {
            (Content::Text(text), Some(name)) => (text, name),
            (Content::Binary, _) => return counted(&mut self.skipped.binary),
            (Content::Large, _) => return counted(&mut self.skipped.large),
            (Content::Unreadable, _) | (_, None) => return counted(&mut self.skipped.unreadable),
        };
        self.files += 1;
        self.bytes += text.len() as u64;
        self.passages.extend(passage::of_file(&name, &text));
        match self.passages.len() <= caps.passages_max {
            true => Ok(()),
            false => Err(format!("has more passages than the cap DOCUMENT_PASSAGES_MAX, {}", caps.passages_max)),
        }
    }
}

fn counted(skipped: &mut u64) -> Result<(), String> {
    *skipped += 1;
    Ok(())
}

/// The path below the root, with slashes; that of a single file is its name.
fn name(root: &Path, path: &Path) -> Option<String> {
    let below = path.strip_prefix(root).ok().filter(|below| below.components().next().is_some());
    let below = below.or_else(|| path.file_name().map(Path::new))?;
    let parts: Option<Vec<&str>> = below.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn content(path: &Path, caps: Caps) -> Content {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(caps.file_bytes_max as u64 + 1).read_to_end(&mut bytes));
    if read.is_err() {
        return Content::Unreadable;
    }
    if bytes.iter().take(BINARY_BYTES).any(|byte| *byte == 0) {
        return Content::Binary;
    }
    if bytes.len() > caps.file_bytes_max {
        return Content::Large;
    }
    String::from_utf8(bytes).map_or(Content::Binary, Content::Text)
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
        let mut late = vec![b'a'; BINARY_BYTES];
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
            ],
        );
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), dir.path().join("link.txt")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("linked")).unwrap();
        let repo = read(dir.path(), CAPS).unwrap();
        assert_eq!(names(&repo), ["a/x.rs", "b.txt"]);
        assert_eq!((repo.files, repo.bytes), (2, 6));
        assert_eq!(repo.skipped, Skipped { binary: 2, large: 1, unreadable: 0 });
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
