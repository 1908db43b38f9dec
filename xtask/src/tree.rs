//! The files of the repository and the dependency graph, read once; every check looks at this and at nothing
//! else.
//!
//! Owns which files count: what git tracks or would track. Files that are not UTF-8 are left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::source::Source;

pub struct Tree {
    pub files: Vec<File>,
    /// The answer of `cargo metadata --format-version 1`.
    pub metadata: Value,
}

pub struct File {
    /// From the root of the repository, with `/` between its parts.
    pub path: String,
    pub text: String,
    /// Present for Rust files.
    pub source: Option<Source>,
}

impl Tree {
    pub fn read() -> anyhow::Result<Self> {
        let metadata: Value = serde_json::from_str(&run(cargo().args(["metadata", "--format-version", "1"]))?)?;
        let root = workspace_root(&metadata)?;
        let mut git = Command::new("git");
        let listing = run(git.args(["ls-files", "-co", "--exclude-standard", "-z"]).current_dir(&root))?;
        let mut files = Vec::new();
        // Git lists a path several times while a merge is in conflict.
        let paths: BTreeSet<&str> = listing.split('\0').filter(|path| !path.is_empty()).collect();
        for path in paths {
            files.extend(read_file(&root, path)?);
        }
        Ok(Self { files, metadata })
    }

    /// Rust files with what the scanner knows of them.
    pub fn sources(&self) -> impl Iterator<Item = (&File, &Source)> {
        self.files.iter().filter_map(|file| file.source.as_ref().map(|source| (file, source)))
    }

    #[cfg(test)]
    pub fn of(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| File::new(path, text.to_string())).collect();
        Self { files, metadata: Value::Null }
    }
}

impl File {
    fn new(path: &str, text: String) -> Self {
        let source = path.ends_with(".rs").then(|| Source::read(path, &text));
        Self { path: path.to_owned(), text, source }
    }
}

/// The part of the repository that a path belongs to: the name of a crate, a top folder, or `root`.
pub fn part(path: &str) -> &str {
    let mut folders = path.split('/');
    match (folders.next(), folders.next()) {
        (Some("crates"), Some(name)) => name,
        (Some(folder), Some(_)) => folder,
        _ => "root",
    }
}

/// The root of the workspace, wherever in it the command was started.
pub fn root() -> anyhow::Result<PathBuf> {
    let metadata = run(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    workspace_root(&serde_json::from_str(&metadata)?)
}

fn workspace_root(metadata: &Value) -> anyhow::Result<PathBuf> {
    let root = metadata.get("workspace_root").and_then(Value::as_str);
    Ok(root.context("cargo metadata names no workspace_root")?.into())
}

/// `None` for what git still lists but is gone from disk, for symbolic links, and for what is not text.
fn read_file(root: &Path, path: &str) -> anyhow::Result<Option<File>> {
    let full = root.join(path);
    if !full.is_file() || full.is_symlink() {
        return Ok(None);
    }
    let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
    Ok(String::from_utf8(bytes).map(|text| File::new(path, text)).ok())
}

pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

pub fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed\n{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
