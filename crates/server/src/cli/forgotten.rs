//! What was forgotten since a backup was taken, as far as `novelo restore` can know it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::{Context, bail};
use axum::body::Body;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::progress::FileBody;
use novelo_conversation::caller::FORGETS;
use novelo_conversation::remember::forget::log::{self, ForgetEntry};
use novelo_conversation::settings::Settings;

#[derive(clap::Args)]
pub struct RestoreArgs {
    pub file: PathBuf,
    /// A record of forgets: the file beside a data directory that was lost, or a later backup; may be given
    /// several times
    #[arg(long, value_name = "PATH")]
    forgets: Vec<PathBuf>,
    /// When the backup was taken, in seconds since 1970; for backups that do not say it
    #[arg(long, value_name = "SECONDS")]
    taken_at: Option<f64>,
}

/// What is known of it.
pub(crate) struct ForgottenSince {
    taken_at: f64,
    entries: Vec<ForgetEntry>,
    /// Whether there is a record beside the backup.
    knows: bool,
    /// What is not known, said once the backup was read.
    warnings: Vec<String>,
    words: Vec<String>,
}

#[derive(Deserialize)]
struct BackupHead {
    #[serde(rename = "novelo_export")]
    _format: u32,
    at: Option<f64>,
}

impl ForgottenSince {
    /// Reads when the backup was taken and what was forgotten since.
    pub fn gather(args: &RestoreArgs, backup: &FileBody, settings: &Settings) -> anyhow::Result<Self> {
        let RestoreArgs { file, forgets, taken_at } = args;
        let head = serde_json::from_slice::<BackupHead>(backup.first_line()).ok();
        let mut warnings = Vec::new();
        let taken_at = match (taken_at, head.and_then(|head| head.at)) {
            (Some(given), _) if given.is_finite() => *given,
            (Some(_), _) => bail!("--taken-at must be a number of seconds"),
            (None, Some(said)) => said,
            (None, None) if !file.is_file() => {
                bail!("{} does not say when it was taken\nhint: name the time with --taken-at", file.display());
            }
            (None, None) => {
                let at = written_at(file)?;
                warnings.push(format!(
                    "warning: {} does not say when it was taken; its time in the file system was used, {at:.0}\nhint: name the \
                     time with --taken-at",
                    file.display()
                ));
                at
            }
        };
        let mut entries = Vec::new();
        let mut knows = false;
        for path in forgets {
            let more = read(path)?;
            if more.is_empty() {
                warnings.push(format!("warning: {} holds no record of a forget", path.display()));
            }
            knows |= !more.is_empty();
            entries.extend(more);
        }
        if let Some(beside) = log::file_of(settings).and_then(|path| log::read_file(&path).transpose()) {
            entries.extend(beside?);
            knows = true;
        }
        let named = forgets.iter().flat_map(|path| ["--forgets".to_owned(), path.display().to_string()]);
        let words = named.chain(args.taken_at.iter().map(|at| format!("--taken-at={at}"))).collect();
        Ok(Self { taken_at, entries: log::newest(entries).into_values().collect(), knows, warnings, words })
    }

    /// What a restore that broke off is resumed with, beside its file.
    pub fn words(&self) -> Vec<String> {
        self.words.clone()
    }

    /// Where a backup is sent.
    pub fn path(&self) -> String {
        format!("/v1/import?restore=true&taken_at={}", self.taken_at)
    }

    /// The file with what was forgotten before it.
    pub fn before(&self, file: FileBody) -> Body {
        let lines = self.entries.iter().map(|entry| format!("{}\n", json!({ "forgotten": entry })));
        let first = stream::iter([Ok(Bytes::from(lines.collect::<String>()))]);
        Body::from_stream(first.chain(file.into_data_stream()))
    }

    /// Says what is not known; the store that was filled may have had a record of its own.
    pub fn warn(&self, store_knows: bool) {
        self.warnings.iter().for_each(|warning| complain!("{warning}"));
        if !self.knows && !store_knows {
            complain!(
                "warning: there is no record of what was forgotten since this backup, so all of it was restored\nhint: restore \
                 again with --forgets and the .forgets file of the lost directory, or a later backup"
            );
        }
    }
}

/// When a file was written last: the best guess for a backup that does not say when it was taken.
fn written_at(file: &Path) -> anyhow::Result<f64> {
    let modified = file.metadata().and_then(|data| data.modified());
    let modified = modified.with_context(|| format!("cannot read {}", file.display()))?;
    Ok(modified.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()))
}

/// The entries of a file beside a data directory, or of a backup. It is read once, since it may be a pipe.
fn read(path: &Path) -> anyhow::Result<Vec<ForgetEntry>> {
    let failure = || format!("cannot read {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(failure)?);
    let mut text = String::new();
    file.read_line(&mut text).with_context(failure)?;
    if serde_json::from_str::<BackupHead>(&text).is_ok() {
        return read_backup(file, path);
    }
    file.read_to_string(&mut text).with_context(failure)?;
    log::read_lines(&text).with_context(|| path.display().to_string())
}

fn read_backup(file: BufReader<File>, path: &Path) -> anyhow::Result<Vec<ForgetEntry>> {
    #[derive(Deserialize)]
    struct BackupLine {
        path: String,
        value: Option<Value>,
    }
    let failure = || format!("cannot read {}", path.display());
    let mut entries = Vec::new();
    let root = format!("{FORGETS}/");
    for line in file.lines() {
        let line = line.with_context(failure)?;
        let Ok(BackupLine { path, value: Some(value) }) = serde_json::from_str(&line) else { continue };
        let id = path.strip_prefix(&root);
        entries.extend(id.and_then(|id| ForgetEntry::read(id, value.to_string().as_bytes())));
    }
    Ok(entries)
}
