//! Standard output and standard error of the commands.
//!
//! Owns every byte that a command prints. A closed pipe (`novelo config | head -1`) is not an error: the rest
//! is not printed, and the command finishes its work. Any other failure, such as a full disk, ends the
//! command with exit code 1.

use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use novelo_conversation::outbound::without_number;

/// Prints a line to standard output.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::cli::print(format_args!("{}\n", format_args!($($words)*))) };
}

/// Prints to standard output without ending the line.
macro_rules! say_part {
    ($($words:tt)*) => { $crate::cli::print(format_args!($($words)*)) };
}

/// Prints a line to standard error.
#[macro_export]
macro_rules! complain {
    ($($words:tt)*) => { $crate::cli::print_error(format_args!("{}\n", format_args!($($words)*))) };
}

static READER_HAS_GONE: AtomicBool = AtomicBool::new(false);
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

pub fn print(words: fmt::Arguments<'_>) {
    if READER_HAS_GONE.load(Ordering::Relaxed) {
        return;
    }
    if let Err(error) = io::stdout().write_fmt(words) {
        note(error);
    }
}

/// A failure of standard error is ignored: there is nowhere left to report it.
pub fn print_error(words: fmt::Arguments<'_>) {
    drop(io::stderr().write_fmt(words));
}

fn note(error: io::Error) {
    match error.kind() {
        ErrorKind::BrokenPipe => READER_HAS_GONE.store(true, Ordering::Relaxed),
        _ => {
            FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// Flushes standard output. Returns an error if some of it was not written.
pub fn finish() -> anyhow::Result<()> {
    if !READER_HAS_GONE.load(Ordering::Relaxed)
        && let Err(error) = io::stdout().flush()
    {
        note(error);
    }
    match FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(error) => Err(anyhow::Error::new(error).context("cannot write to standard output")),
        None => Ok(()),
    }
}

/// An error and its causes, each once: many errors quote their cause already.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain() {
        let cause = without_number(&cause.to_string());
        if words.is_empty() {
            words = cause;
        } else if !words.ends_with(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

/// The reader of standard output has gone.
#[derive(Debug, thiserror::Error)]
#[error("the reader of standard output has gone")]
struct ReaderHasGone;

/// Standard output for streams. Returns an error once the reader has gone, so that the stream can end.
#[derive(Debug)]
pub struct StandardOutput(pub io::Stdout);

impl StandardOutput {
    pub fn new() -> Self {
        Self(io::stdout())
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

/// Broken connections give the same error, so this mark says that it was standard output.
fn marked(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::BrokenPipe => {
            READER_HAS_GONE.store(true, Ordering::Relaxed);
            io::Error::new(ErrorKind::BrokenPipe, ReaderHasGone)
        }
        _ => error,
    }
}

/// Whether a command ended only because its output is no longer read.
pub(crate) fn is_reader_gone(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.get_ref().is_some_and(|inner| inner.downcast_ref::<ReaderHasGone>().is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_was_quoted_is_not_repeated() {
        let source = || io::Error::from_raw_os_error(17);
        let quoting = novelo_store::Error::Io { place: "f".into(), source: source() };
        assert_eq!(in_words(&quoting.into()), "f: File exists");
        assert_eq!(in_words(&anyhow::Error::new(source()).context("cannot write f")), "cannot write f: File exists");
    }

    #[test]
    fn only_standard_output_ends_a_command_quietly() {
        let gone = anyhow::Error::new(marked(ErrorKind::BrokenPipe.into())).context("printing");
        assert!(is_reader_gone(&gone));
        assert!(!is_reader_gone(&anyhow::Error::new(io::Error::from(ErrorKind::BrokenPipe))));
    }
}
