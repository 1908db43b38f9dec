//! From the bytes of an answer to its pieces.
//!
//! Pure. Takes a stream of events as well as a completion in one piece, whatever was asked for and whatever
//! the header says: the first byte tells. An end without a reason and without `[DONE]` is no end.

use std::collections::VecDeque;

use novelo_engine::limits::{MODEL_FRAME_BYTES_MAX, MODEL_STREAM_BYTES_MAX};

use super::Delta;
use super::delta::{AnswerSoFar, StreamFault};
use super::sse::{Frame, Frames};

const DONE: &[u8] = b"[DONE]";

/// An answer that is being read.
#[derive(Debug, Default)]
pub struct Reading {
    form: BodyForm,
    answer: AnswerSoFar,
    bytes: usize,
    /// What was of interest so far: comments that keep a connection open are not.
    pub signs: usize,
    done: bool,
}

#[derive(Debug)]
enum BodyForm {
    /// Nothing but blanks has come.
    Blank(Vec<u8>),
    Events(Frames),
    Whole(Vec<u8>),
}

impl Default for BodyForm {
    fn default() -> Self {
        Self::Blank(Vec::new())
    }
}

impl Reading {
    /// One that passes on all that the server says.
    pub(crate) fn of_all() -> Self {
        Self { answer: AnswerSoFar::of_all(), ..Self::default() }
    }

    /// Takes the next bytes, and adds what they complete.
    pub fn feed(&mut self, bytes: &[u8], out: &mut VecDeque<Delta>) -> Result<(), StreamFault> {
        self.bytes += bytes.len();
        if self.bytes > MODEL_STREAM_BYTES_MAX {
            return Err(too_large("MODEL_STREAM_BYTES_MAX", MODEL_STREAM_BYTES_MAX));
        }
        match &mut self.form {
            BodyForm::Blank(head) => {
                head.extend_from_slice(bytes);
                let Some(first) = head.iter().find(|byte| !is_blank(**byte)) else { return self.within_frame() };
                let is_whole = matches!(first, b'{' | b'[');
                let head = std::mem::take(head);
                self.form = if is_whole { BodyForm::Whole(Vec::new()) } else { BodyForm::Events(Frames::default()) };
                self.bytes -= head.len();
                self.feed(&head, out)
            }
            BodyForm::Whole(body) => {
                body.extend_from_slice(bytes);
                self.signs += 1;
                self.within_frame()
            }
            BodyForm::Events(frames) => {
                let mut found = Vec::new();
                let fed = frames.feed(bytes, &mut found);
                found.into_iter().try_for_each(|frame| self.take(&frame, out))?;
                fed.map_err(|_| too_large("MODEL_FRAME_BYTES_MAX", MODEL_FRAME_BYTES_MAX))
            }
        }
    }

    /// The server has nothing more: adds the end, if it is one.
    pub fn end(&mut self, out: &mut VecDeque<Delta>) -> Result<(), StreamFault> {
        match &mut self.form {
            BodyForm::Events(frames) => match frames.end() {
                Some(frame) if !self.done => self.take(&frame, out)?,
                _ => {}
            },
            BodyForm::Whole(body) if !self.done => {
                let body = std::mem::take(body);
                let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&body);
                self.answer.take(body, false, out)?;
                self.done |= self.answer.has_finished() || out.iter().any(Delta::is_answer);
            }
            _ => {}
        }
        if !self.done && !self.answer.has_finished() {
            return Err(StreamFault::Form("an end before the answer was finished".to_owned()));
        }
        self.answer.end(out);
        Ok(())
    }

    /// Whether the server has said that there is nothing more.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether the model has finished; its server may still tell the usage.
    pub(crate) fn has_finished(&self) -> bool {
        self.done || self.answer.has_finished()
    }

    fn take(&mut self, frame: &Frame, out: &mut VecDeque<Delta>) -> Result<(), StreamFault> {
        let data = frame.data.trim_ascii();
        if self.done || data.is_empty() {
            return Ok(());
        }
        self.signs += 1;
        if data == DONE {
            self.done = true;
            return Ok(());
        }
        self.answer.take(data, frame.event == "error", out)
    }

    fn within_frame(&self) -> Result<(), StreamFault> {
        match self.bytes > MODEL_FRAME_BYTES_MAX {
            true => Err(too_large("MODEL_FRAME_BYTES_MAX", MODEL_FRAME_BYTES_MAX)),
            false => Ok(()),
        }
    }
}

/// A byte that says nothing of what follows: a blank, or one of the mark at the front of a text.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\xef\xbb\xbf".contains(&byte)
}

fn too_large(cap: &str, bytes: usize) -> StreamFault {
    StreamFault::Form(format!("more than {cap}, {bytes} bytes"))
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
