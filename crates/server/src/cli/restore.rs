//! `novelo restore`, and an import into a directory that holds nothing yet: a store is filled from a file.
//!
//! Owns the marker of the target, which is written before the first document and removed after the last. The
//! same command resumes an interrupted restore: documents that are there already are not stored again. Until
//! then nothing else opens the target.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use axum::body::Body;
use novelo_store::{Error, FillKind, Incomplete};

use super::Output;
use super::client::Client;
use super::commands::import;
use super::forgotten::{ForgottenSince, RestoreArgs};
use super::progress::FileBody;
use novelo_conversation::settings::Settings;
use novelo_conversation::storage::incomplete::{self, FillTarget};

/// After this many documents the marker records the progress.
const NOTED_EVERY: u64 = 5_000;
/// More than an import buffers before it stores.
const UNSTORED_MAX: u64 = 1_000;

/// The file that a store is filled from.
#[derive(Clone, Copy)]
pub enum FillSource<'a> {
    /// A backup, without what was forgotten since.
    Backup(&'a RestoreArgs),
    /// A user's own export, whole.
    Export(&'a Path),
}

/// Fills a new target from a file, or resumes an interrupted restore.
pub async fn run(settings: Settings, from: FillSource<'_>, out: &Output) -> anyhow::Result<ExitCode> {
    let (kind, file) = match from {
        FillSource::Backup(args) => (FillKind::Restore, args.file.as_path()),
        FillSource::Export(file) => (FillKind::Import, file),
    };
    let named = std::path::absolute(file).with_context(|| format!("cannot read {}", file.display()))?;
    // A pipe has no path of its own.
    let source = std::fs::canonicalize(file).unwrap_or(named);
    let body = FileBody::open(file)?;
    let since = match from {
        FillSource::Backup(args) => Some(ForgottenSince::gather(args, &body, &settings)?),
        FillSource::Export(_) => None,
    };
    let (data, is_shared) = (absolute(&settings.data), settings.is_shared());
    let [from, to] = [&source, &data].map(|path| path.display().to_string());
    let words: &[&str] = match (kind, is_shared) {
        (FillKind::Import, _) => &["thread", "import", &from, "--data", &to],
        (_, true) => &["restore", &from],
        (_, false) => &["restore", &from, "--data", &to],
    };
    let more = since.as_ref().map(ForgottenSince::words).unwrap_or_default();
    let words: Vec<&str> = words.iter().copied().chain(more.iter().map(String::as_str)).collect();
    let marker = incomplete::marker(kind, from.clone(), &words);
    if !is_shared {
        begin_in_directory(&data, &marker)?;
    }
    let client = Client::fill(settings.clone()).await?;
    let done = fill(&client, &settings, &data, marker, body, (file, since.as_ref()), out).await;
    client.close().await?;
    done.map(|()| ExitCode::SUCCESS)
}

/// Whether a directory is empty, or holds only what this command began to store.
pub(crate) fn is_new(data: &Path) -> anyhow::Result<bool> {
    let is_empty = std::fs::read_dir(data).map_or(true, |mut entries| entries.next().is_none());
    let found = Incomplete::read(data)?;
    Ok(is_empty || found.is_some_and(|found| found.kind == FillKind::Import))
}

/// Marks an empty directory before a store is created there.
fn begin_in_directory(data: &Path, marker: &Incomplete) -> anyhow::Result<()> {
    match Incomplete::read(data)? {
        Some(found) if incomplete::is_resumed_by(&found, marker) => return Ok(()),
        Some(found) => return Err(Error::Incomplete { dir: data.to_owned(), marker: found }.into()),
        None => {}
    }
    if std::fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("{} is not empty\nhint: restore into a new directory with --data", data.display());
    }
    Ok(marker.write(data)?)
}

async fn fill(
    client: &Client,
    settings: &Settings,
    data: &Path,
    marker: Incomplete,
    body: FileBody,
    (file, since): (&Path, Option<&ForgottenSince>),
    out: &Output,
) -> anyhow::Result<()> {
    let Client::Here { app, .. } = client else { bail!("a store is filled by this process alone") };
    let target = FillTarget::of(&app.store, data);
    if let FillTarget::Redis(store) = &target {
        match incomplete::in_redis(store).await? {
            Some(found) if !incomplete::is_resumed_by(&found, &marker) => incomplete::refuse(&found, settings)?,
            _ => target.mark(&marker).await?,
        }
    }
    let body = match &target {
        FillTarget::Directory(data) => body.watched(notes_progress(data.clone(), marker.clone())),
        FillTarget::Redis(_) => body,
    };
    let hint = format!("to resume, run `{}`; to give up, use another place and delete this one", marker.command);
    let (path, body) = match since {
        Some(since) => (since.path(), since.before(body)),
        None => ("/v1/import".to_owned(), Body::new(body)),
    };
    let store_knows = !novelo_conversation::remember::forget::log::entries(&app.store).await?.is_empty();
    let done = import(client, &path, body, file, out).await;
    done.map_err(|error| anyhow::anyhow!("{error:#}\nhint: {hint}"))?;
    since.into_iter().for_each(|since| since.warn(store_knows));
    target.clear().await
}

/// Writes into the marker how many documents are stored for certain.
fn notes_progress(data: PathBuf, mut marker: Incomplete) -> Box<dyn FnMut(u64) + Send> {
    Box::new(move |lines| {
        let stored = lines.saturating_sub(UNSTORED_MAX);
        if stored >= marker.documents + NOTED_EVERY {
            marker.documents = stored;
            if let Err(error) = marker.write(&data) {
                tracing::warn!(%error, "the marker of the restore keeps an older number");
            }
        }
    })
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
