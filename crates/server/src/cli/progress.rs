//! Progress bars on standard error, and a file as a request body that moves one.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use anyhow::Context as _;
use bytes::Bytes;
use hyper::body::Frame;
use indicatif::{ProgressBar, ProgressStyle};
use novelo_engine::limits::IMPORT_LINE_BYTES_MAX;

const CHUNK_BYTES: usize = 64 * 1024;

/// A bar over documents, or a counter if their number is unknown.
pub fn documents(total: Option<u64>) -> ProgressBar {
    let bar = match total {
        Some(total) => ProgressBar::new(total),
        None => ProgressBar::new_spinner(),
    };
    bar.with_style(style("{bar:30} {pos}/{len} documents {per_sec} {eta}"))
}

/// A bar over documents, with what is done to them.
pub fn documents_of(what: &'static str, total: u64) -> ProgressBar {
    let style = style("{msg:10} {bar:30} {pos}/{len} documents {per_sec} {eta}");
    ProgressBar::new(total).with_style(style).with_message(what)
}

/// A bar over steps of work.
pub fn steps(total: u64) -> ProgressBar {
    ProgressBar::new(total).with_style(style("{bar:30} {pos}/{len} {msg}"))
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// A file on its way out. It is opened once and read from its start to its end, so that it may be a pipe.
pub struct FileBody {
    file: BufReader<File>,
    /// Read already, and not sent yet.
    first_line: Vec<u8>,
    bar: ProgressBar,
    /// Lines read so far, and a callback that gets their number before more are read.
    lines: u64,
    watcher: Option<Box<dyn FnMut(u64) + Send>>,
}

impl FileBody {
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let failure = || format!("cannot read {}", path.display());
        let file = File::open(path).with_context(failure)?;
        let bar = ProgressBar::new(file.metadata().with_context(failure)?.len());
        let bar = bar.with_style(style("{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}"));
        let (mut file, mut first_line) = (BufReader::with_capacity(CHUNK_BYTES, file), Vec::new());
        file.by_ref().take(IMPORT_LINE_BYTES_MAX as u64).read_until(b'\n', &mut first_line).with_context(failure)?;
        Ok(Self { file, first_line, bar, lines: 0, watcher: None })
    }

    /// The first line, which names the format of the file.
    pub(crate) fn first_line(&self) -> &[u8] {
        &self.first_line
    }

    /// Reports how many lines were read, each time that more are needed.
    pub(crate) fn watched(self, watcher: Box<dyn FnMut(u64) + Send>) -> Self {
        Self { watcher: Some(watcher), ..self }
    }
}

impl hyper::body::Body for FileBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let lines = self.lines;
        if let Some(watcher) = &mut self.watcher {
            watcher(lines);
        }
        let mut chunk = std::mem::take(&mut self.first_line);
        let read = match chunk.len() {
            0 => {
                chunk.resize(CHUNK_BYTES, 0);
                self.file.read(&mut chunk)
            }
            count => Ok(count),
        };
        match read {
            Ok(0) => {
                self.bar.finish_and_clear();
                Poll::Ready(None)
            }
            Ok(count) => {
                chunk.truncate(count);
                self.bar.inc(count as u64);
                self.lines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
                Poll::Ready(Some(Ok(Frame::data(chunk.into()))))
            }
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }
}
