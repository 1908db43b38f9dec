//! Documents as JSON Lines: backup and restore, export and import.
//!
//! Owns one format for all of them. The first line names it, each further line is a document with everything
//! needed to restore it, and the last line has their count, so that a truncated file is recognised. Import
//! stores durable batches as it reads; repeating an import changes nothing.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use http_body_util::BodyExt;
use hyper::body::Frame;
use novelo_engine::json;
use novelo_engine::limits::{BODY_WAIT_S_MAX, IMPORT_LINE_BYTES_MAX, MESSAGE_BYTES_MAX};
use novelo_engine::path::{self, DocumentPath};
use novelo_store::{Error as StoreError, Export, Exported, Store};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::auth;
use crate::http::body_bytes::HeldBytes;
use crate::http::origin;
use novelo_conversation::app::Shared;
use novelo_conversation::caller::NODES;
use novelo_conversation::caller::{Caller, FORGETS, KEYS};
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::forget::{self, ForgetEntry, RestoreFilter};

const FORMAT: u32 = 1;
const CHUNK_BYTES: usize = 64 * 1024;
const BATCH_DOCUMENTS: usize = 500;
const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Streams an export that was requested at the time `at`, one chunk of lines at a time. An error ends the
/// stream without its last line.
pub fn stream(export: Export, prefix: String, at: f64) -> impl Stream<Item = std::result::Result<Bytes, StoreError>> {
    // A backup says when it was taken, so that a restore can leave out what was forgotten since.
    let at = if prefix.is_empty() { format!(",\"at\":{}", serde_json::Value::from(at)) } else { String::new() };
    let head = format!("{{\"novelo_export\":{FORMAT},\"prefix\":{}{at}}}\n", json::literal(&prefix));
    futures_util::stream::try_unfold((Some(export), head, 0), |(export, mut out, mut documents)| async move {
        let Some(mut export) = export else { return Ok(None) };
        while out.len() < CHUNK_BYTES {
            let Some(document) = export.next().await else {
                out.push_str(&format!("{{\"documents\":{documents}}}\n"));
                return Ok(Some((out.into(), (None, String::new(), documents))));
            };
            let document = document?;
            // Addresses of nodes and pending erasures concern only the running store.
            if !is_of_a_node(&document.path) && !is_unerased_mark(&document.path) {
                write_line(&document, &mut out);
                documents += 1;
            }
        }
        Ok(Some((out.into(), (Some(export), String::new(), documents))))
    })
}

fn is_of_a_node(path: &DocumentPath) -> bool {
    is_below(path, NODES)
}

fn is_below(path: &DocumentPath, root: &str) -> bool {
    path.segments().first().is_some_and(|first| &**first == root)
}

fn is_unerased_mark(path: &DocumentPath) -> bool {
    forget::log::unerased_mark().is_ok_and(|mark| mark == *path)
}

/// A value that spans lines is written as a string, so that its bytes survive.
fn write_line(document: &Exported, out: &mut String) {
    let path = json::literal(&document.path.to_string());
    let (seq, version) = (document.seq, document.version);
    let time = serde_json::Value::from(document.create_time);
    out.push_str(&format!(r#"{{"path":{path},"seq":{seq},"create_time":{time},"version":{version}"#));
    if let Some(expires_at) = document.expires_at {
        out.push_str(&format!(r#","expires_at":{}"#, serde_json::Value::from(expires_at)));
    }
    let value = String::from_utf8_lossy(&document.value);
    match value.contains(['\n', '\r']) {
        true => out.push_str(&format!(r#","raw":{}"#, json::literal(&value))),
        false => out.push_str(&format!(r#","value":{value}"#)),
    }
    out.push_str("}\n");
}

/// The result of an import.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    pub documents: u64,
    /// Those that were not there before.
    pub new: u64,
    /// Those that were forgotten since the backup, and are not restored.
    pub forgotten: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentLine<'b> {
    path: String,
    seq: u64,
    create_time: f64,
    version: u64,
    expires_at: Option<f64>,
    #[serde(borrow)]
    value: Option<&'b RawValue>,
    raw: Option<String>,
}

#[derive(Deserialize)]
struct HeadLine {
    novelo_export: u32,
    /// When the export began.
    at: Option<f64>,
}

/// What a restore knows of forgets that the backup does not; before its first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForgottenLine {
    forgotten: ForgetEntry,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TailLine {
    documents: u64,
}

/// Reads and stores an export as it arrives. It may contain keys if the caller may close the store with a
/// first key. A restore leaves out what was forgotten since.
pub async fn import(
    app: &Shared,
    caller: &Caller,
    may_close: bool,
    held: &HeldBytes,
    mut body: Body,
    restore: Option<RestoreFilter>,
) -> Result<Imported> {
    let mut reader = ImportReader {
        store: &app.store,
        caller,
        may_close,
        line: 0,
        batch: Vec::new(),
        batch_bytes: 0,
        done: Imported::default(),
        ended: false,
        is_restore: restore.is_some(),
        filter: restore.unwrap_or_default(),
        aside: 0,
    };
    let mut rest = BytesMut::new();
    while let Some(frame) = next_frame(&mut body).await? {
        let frame = frame.map_err(|e| Error::new(Code::MalformedJson, format!("the body broke off: {e}")))?;
        let Ok(data) = frame.into_data() else { continue };
        // The bytes from before contain no line end, so a line that arrives byte by byte is searched once.
        let mut searched = rest.len();
        held.set(reader.batch_bytes + rest.len() + data.len())?;
        rest.extend_from_slice(&data);
        while let Some(end) = line_end(&rest, searched) {
            let line = rest.split_to(end + 1).freeze();
            searched = 0;
            reader.line(line.get(..end).unwrap_or_default()).await?;
        }
        if rest.len() > IMPORT_LINE_BYTES_MAX {
            let cap = format!("line {} is longer than IMPORT_LINE_BYTES_MAX, {IMPORT_LINE_BYTES_MAX}", reader.line + 1);
            return Err(Error::new(Code::TooLarge, cap));
        }
    }
    if !rest.is_empty() {
        reader.line(&rest).await?;
    }
    let (done, entries) = reader.finish().await?;
    app.forgets.adopt(&app.store, entries).await?;
    Ok(done)
}

/// Where the first line ends, if the first `searched` bytes contain no line end.
fn line_end(bytes: &[u8], searched: usize) -> Option<usize> {
    let new = bytes.get(searched..)?;
    new.iter().position(|b| *b == b'\n').map(|at| searched + at)
}

/// The next piece of a body of any length, which may not take longer than a whole body of the usual kind.
async fn next_frame(body: &mut Body) -> Result<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
    let patience = Duration::from_secs(BODY_WAIT_S_MAX as u64);
    tokio::time::timeout(patience, body.frame()).await.map_err(|_| {
        let message = format!("nothing came for longer than BODY_WAIT_S_MAX, {BODY_WAIT_S_MAX} seconds");
        Error::new(Code::Timeout, message)
    })
}

struct ImportReader<'r> {
    store: &'r Store,
    caller: &'r Caller,
    may_close: bool,
    line: u64,
    batch: Vec<Exported>,
    batch_bytes: usize,
    done: Imported,
    ended: bool,
    is_restore: bool,
    filter: RestoreFilter,
    /// Documents that were read and are no documents of the store: entries of the record of forgets.
    aside: u64,
}

impl ImportReader<'_> {
    async fn line(&mut self, line: &[u8]) -> Result<()> {
        if self.is_restore
            && self.line == 0
            && let Ok(ForgottenLine { forgotten }) = serde_json::from_slice(line)
        {
            self.filter.add(forgotten);
            return Ok(());
        }
        self.line += 1;
        if line.is_empty() {
            return Ok(());
        }
        if self.line == 1 {
            return match serde_json::from_slice::<HeadLine>(line) {
                Ok(HeadLine { novelo_export: FORMAT, at }) => self.taken(at),
                Ok(head) => Err(self.wrong(format!("is of format {}, this is {FORMAT}", head.novelo_export))),
                Err(_) => Err(self.wrong("is not the first line of an export")),
            };
        }
        if let Ok(tail) = serde_json::from_slice::<TailLine>(line) {
            self.ended = true;
            let read = self.done.documents + self.done.forgotten + self.aside + self.batch.len() as u64;
            return match tail.documents == read {
                true => Ok(()),
                false => Err(self.wrong(format!("counts {} documents, which is not what was read", tail.documents))),
            };
        }
        let document = self.document(line)?;
        if is_below(&document.path, FORGETS) {
            self.aside += 1;
            ForgetEntry::read(document.path.id(), &document.value).into_iter().for_each(|entry| self.filter.add(entry));
            return Ok(());
        }
        if self.is_restore && self.filter.is_forgotten(&document.path) {
            self.done.forgotten += 1;
            return Ok(());
        }
        self.batch_bytes += document.value.len();
        self.batch.push(document);
        match self.batch.len() >= BATCH_DOCUMENTS || self.batch_bytes >= BATCH_BYTES {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    /// A restore must know when its backup was taken.
    fn taken(&mut self, at: Option<f64>) -> Result<()> {
        self.filter.taken_at = self.filter.taken_at.or(at.filter(|at| at.is_finite()));
        match self.filter.taken_at.is_none() && self.is_restore {
            true => Err(Error::invalid("taken_at", "is needed: the backup does not say when it was taken")),
            false => Ok(()),
        }
    }

    fn document(&self, line: &[u8]) -> Result<Exported> {
        let line: DocumentLine<'_> = serde_json::from_slice(line).map_err(|e| self.wrong(e))?;
        let path = path::decode(&line.path).and_then(|segments| DocumentPath::new(&segments));
        let path = path.map_err(|e| self.wrong(e))?;
        match self.caller.is_admin() {
            true if is_of_a_node(&path) => {
                return Err(self.wrong("is the address of a running node, which no import may name"));
            }
            true => {}
            false => self.caller.require_path(path.segments())?,
        }
        let value = match (line.value, line.raw) {
            (Some(value), None) => Bytes::copy_from_slice(value.get().as_bytes()),
            (None, Some(raw)) if serde_json::from_str::<&RawValue>(&raw).is_ok() => raw.into(),
            _ => return Err(self.wrong("needs value, or raw that is JSON")),
        };
        if value.len() > MESSAGE_BYTES_MAX {
            let problem =
                format!("has a value of {} bytes; the cap MESSAGE_BYTES_MAX is {MESSAGE_BYTES_MAX}", value.len());
            return Err(self.wrong(problem));
        }
        self.check_key(&path, &value)?;
        let DocumentLine { seq, create_time, version, expires_at, .. } = line;
        Ok(Exported { path, seq, create_time, version, expires_at, value })
    }

    /// Refuses a document below the root of the keys that is not a key, and an unconfirmed first key.
    fn check_key(&self, path: &DocumentPath, value: &[u8]) -> Result<()> {
        if path.segments().first().is_none_or(|root| &**root != KEYS) {
            return Ok(());
        }
        if !self.may_close {
            return Err(origin::unconfirmed());
        }
        let read = match auth::is_state_path(path) {
            true => serde_json::from_slice::<auth::AccessState>(value).map(drop),
            false => serde_json::from_slice::<auth::Key>(value).map(drop),
        };
        read.map_err(|e| self.wrong(format!("is no key: {e}")))
    }

    async fn flush(&mut self) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        let documents = batch.len() as u64;
        // A store that has its own closing state keeps it.
        if let Some(at) = batch.iter().position(|document| auth::is_state_path(&document.path))
            && let Some(state) = batch.get(at).map(|document| document.path.clone())
            && self.store.get(&state).await?.is_some()
        {
            batch.remove(at);
        }
        if documents > 0 {
            self.done.new += if batch.is_empty() { 0 } else { self.store.import(batch).await? };
            self.done.documents += documents;
        }
        Ok(())
    }

    async fn finish(mut self) -> Result<(Imported, Vec<ForgetEntry>)> {
        self.flush().await?;
        match self.ended {
            true => Ok((self.done, self.filter.into_entries())),
            false => {
                let message = format!(
                    "the export broke off after line {}; what was read is stored, and the whole sent again stores the rest",
                    self.line
                );
                Err(Error::new(Code::MalformedJson, message))
            }
        }
    }

    fn wrong(&self, problem: impl std::fmt::Display) -> Error {
        Error::invalid(format!("line {}", self.line), problem)
    }
}
