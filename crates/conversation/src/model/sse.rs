//! Server-sent events, from bytes to frames.
//!
//! Pure: bytes come in as the network cuts them, frames go out. Lines end with LF, CRLF or CR; comments are
//! skipped; a frame that the stream ends in is a frame. Refuses frames of more than `MODEL_FRAME_BYTES_MAX`.

use novelo_engine::limits::MODEL_FRAME_BYTES_MAX;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Empty where the stream gives none; so is the id.
    pub event: String,
    /// The id of the event.
    pub id: String,
    /// The data of the event.
    pub data: Vec<u8>,
}

/// A frame is larger than the cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// What has come of a stream.
#[derive(Debug, Default)]
pub struct Frames {
    line: Vec<u8>,
    frame: Frame,
    has_data: bool,
    /// The last line ended with a CR, so an LF now belongs to it.
    after_cr: bool,
    past_first_line: bool,
}

impl Frames {
    /// Takes the next bytes, and adds the frames that they complete.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), TooLarge> {
        let mut rest = bytes;
        if let (true, Some((b'\n', after))) = (self.after_cr, rest.split_first()) {
            rest = after;
        }
        self.after_cr &= bytes.is_empty();
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(end);
            self.grow(line)?;
            out.extend(self.end_line());
            rest = match tail {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
        }
        self.grow(rest)
    }

    /// The frame that the stream ended in, if it did.
    pub fn end(&mut self) -> Option<Frame> {
        let last = if self.line.is_empty() { None } else { self.end_line() };
        last.or_else(|| self.end_line())
    }

    fn grow(&mut self, more: &[u8]) -> Result<(), TooLarge> {
        if self.line.len() + self.frame.data.len() + more.len() > MODEL_FRAME_BYTES_MAX {
            return Err(TooLarge);
        }
        self.line.extend_from_slice(more);
        Ok(())
    }

    /// Takes the line that has come; an empty one ends the frame.
    fn end_line(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        let first = !std::mem::replace(&mut self.past_first_line, true);
        let line = line.strip_prefix(BOM).filter(|_| first).unwrap_or(&line);
        if line.is_empty() {
            let frame = std::mem::take(&mut self.frame);
            return std::mem::take(&mut self.has_data).then_some(frame);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => line.split_at(colon),
            None => (line, [].as_slice()),
        };
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => self.add(value),
            // Older servers of llama.cpp name the field after the event.
            b"error" => {
                self.frame.event = "error".to_owned();
                self.add(value);
            }
            b"event" => self.frame.event = String::from_utf8_lossy(value).into_owned(),
            b"id" => self.frame.id = String::from_utf8_lossy(value).into_owned(),
            _ => {}
        }
        None
    }

    fn add(&mut self, value: &[u8]) {
        if std::mem::replace(&mut self.has_data, true) {
            self.frame.data.push(b'\n');
        }
        self.frame.data.extend_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a stream gives when it comes in pieces of a size.
    fn frames(stream: &[u8], size: usize) -> Vec<(String, String)> {
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        for piece in stream.chunks(size) {
            frames.feed(piece, &mut out).unwrap();
        }
        out.extend(frames.end());
        out.into_iter().map(|frame| (frame.event, String::from_utf8(frame.data).unwrap())).collect()
    }

    #[track_caller]
    fn check(stream: &str, expected: &[(&str, &str)]) {
        for size in 1..=stream.len() {
            let found = frames(stream.as_bytes(), size);
            let found: Vec<(&str, &str)> = found.iter().map(|(event, data)| (event.as_str(), data.as_str())).collect();
            assert_eq!(found, expected, "in pieces of {size}: {stream:?}");
        }
    }

    #[test]
    fn lines_end_in_three_ways_wherever_they_are_cut() {
        for end in ["\n", "\r\n", "\r"] {
            let stream = format!("data: a{end}{end}data: é漢{end}{end}");
            check(&stream, &[("", "a"), ("", "é漢")]);
            check(&format!("data: a{end}data: b{end}{end}"), &[("", "a\nb")]);
        }
        check("data: a\r\n\ndata: b\r\r\n", &[("", "a"), ("", "b")]);
    }

    #[test]
    fn lines_of_data_are_joined_and_other_fields_skipped() {
        check("id: 7\nretry: 3\ndata: {\ndata: \"a\": 1}\nnonsense\n\n", &[("", "{\n\"a\": 1}")]);
        check("data\ndata:\ndata:  x\n\n", &[("", "\n\n x")]);
    }

    #[test]
    fn comments_and_empty_lines_are_no_frames() {
        check(": ping\n\n\n\n:\n\ndata: a\n: between\n\n: OPENROUTER PROCESSING\n\n", &[("", "a")]);
        check("event: ping\n\ndata: a\n\n", &[("", "a")]);
    }

    #[test]
    fn events_have_names_and_errors_also_a_field() {
        check("event: error\ndata: x\n\ndata: y\n\n", &[("error", "x"), ("", "y")]);
        check("error: {\"code\":500}\n\n", &[("error", "{\"code\":500}")]);
    }

    #[test]
    fn a_mark_at_the_front_is_skipped_and_only_there() {
        check("\u{feff}data: a\n\n", &[("", "a")]);
        check("data: a\n\n\u{feff}data: b\n\n", &[("", "a")]);
    }

    #[test]
    fn what_the_stream_ends_in_is_a_frame() {
        check("data: a", &[("", "a")]);
        check("data: a\n", &[("", "a")]);
        check("data: a\r", &[("", "a")]);
        check("data: a\n\n: x", &[("", "a")]);
    }

    #[test]
    fn a_frame_has_a_cap() {
        let frame = |bytes: usize| format!("data: {}\n\n", "x".repeat(bytes - "data: ".len()));
        let feed = |text: String| Frames::default().feed(text.as_bytes(), &mut Vec::new());
        assert_eq!(feed(frame(MODEL_FRAME_BYTES_MAX)), Ok(()));
        assert_eq!(feed(frame(MODEL_FRAME_BYTES_MAX + 1)), Err(TooLarge));
        let many = "data: xxxxxxxx\n".repeat(MODEL_FRAME_BYTES_MAX / 8);
        assert_eq!(feed(many), Err(TooLarge), "also in many lines");
    }
}
