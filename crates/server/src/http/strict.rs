//! Refuses request heads with malformed line ends.
//!
//! Owns the refusal of a bare LF in the head of a request. hyper accepts it as the end of a line and other
//! servers do not; two servers that disagree where a request ends allow request smuggling. Follows the
//! framing of each request (its length, or its chunks), so that bodies are left alone and every request of a
//! connection is checked. A bare LF is replaced by a NUL, which no head may contain, so that hyper answers
//! 400 and closes the connection.

/// Where the next byte of a connection belongs.
#[derive(Debug)]
enum HeadPosition {
    Head,
    /// In a body, with this many bytes left.
    Body(u64),
    /// In the line before a chunk, with its size so far; `is_over` once its digits have ended.
    ChunkSize {
        size: u64,
        is_over: bool,
    },
    /// In a chunk, with the two bytes that end it.
    Chunk(u64),
    /// In the lines after the last chunk.
    Trailers,
    /// The rest is not checked: hyper refuses it or handles it.
    Unchecked,
}

/// What the head has said about the length of its body so far.
#[derive(Debug, Default)]
struct Framing {
    length: u64,
    is_chunked: bool,
}

/// The checks of one connection.
#[derive(Debug)]
pub(crate) struct HeadCheck {
    at: HeadPosition,
    framing: Framing,
    /// The current line, as far as it matters for the framing.
    line: Vec<u8>,
    /// Bytes of the line so far, and its last byte.
    line_bytes: u64,
    last: u8,
    /// Whether the head has a line that is not empty: empty ones may come before it.
    has_lines: bool,
    /// Whole heads so far.
    count: u64,
}

/// Longer than any line that matters for the framing.
const LINE_BYTES_KEPT: usize = 256;
const DIGITS_MAX: u32 = 15;

impl Default for HeadCheck {
    fn default() -> Self {
        let (line, framing) = (Vec::new(), Framing::default());
        Self { at: HeadPosition::Head, framing, line, line_bytes: 0, last: 0, has_lines: false, count: 0 }
    }
}

impl HeadCheck {
    /// Whether the next byte belongs to a head, or nothing is known of it.
    pub(crate) fn is_in_head(&self) -> bool {
        matches!(self.at, HeadPosition::Head | HeadPosition::Unchecked)
    }

    /// How many heads were whole so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Checks incoming bytes, and spoils a head that ends a line with a bare LF.
    pub fn check(&mut self, bytes: &mut [u8]) {
        let mut from = 0;
        while let Some(rest) = bytes.get_mut(from..).filter(|rest| !rest.is_empty()) {
            from += match self.at {
                HeadPosition::Unchecked => return,
                HeadPosition::Body(left) => {
                    let taken = skip(rest.len(), left);
                    self.at =
                        if taken as u64 == left { HeadPosition::Head } else { HeadPosition::Body(left - taken as u64) };
                    taken
                }
                HeadPosition::Chunk(left) => {
                    let taken = skip(rest.len(), left);
                    let is_over = taken as u64 == left;
                    self.at = if is_over {
                        HeadPosition::ChunkSize { size: 0, is_over: false }
                    } else {
                        HeadPosition::Chunk(left - taken as u64)
                    };
                    taken
                }
                HeadPosition::ChunkSize { size, is_over } => self.chunk_size(rest, size, is_over),
                HeadPosition::Head | HeadPosition::Trailers => self.lines(rest),
            };
        }
    }

    /// Consumes bytes up to the first LF. Returns how many.
    fn lines(&mut self, bytes: &mut [u8]) -> usize {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.keep(bytes);
            return bytes.len();
        };
        let (before, rest) = bytes.split_at_mut(end);
        self.keep(before);
        if self.last != b'\r' {
            rest.iter_mut().take(1).for_each(|byte| *byte = 0);
            self.at = HeadPosition::Unchecked;
            return end + 1;
        }
        // Without its CR.
        match self.line_bytes {
            ..=1 => self.empty_line(),
            _ => self.whole_line(),
        }
        (self.line_bytes, self.last) = (0, 0);
        self.line.clear();
        end + 1
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.line_bytes += bytes.len() as u64;
        self.last = bytes.last().copied().unwrap_or(self.last);
        let room = LINE_BYTES_KEPT.saturating_sub(self.line.len()).min(bytes.len());
        self.line.extend_from_slice(bytes.get(..room).unwrap_or_default());
    }

    fn whole_line(&mut self) {
        if matches!(self.at, HeadPosition::Head) && self.has_lines {
            self.framing.read(&self.line);
        }
        self.has_lines = true;
    }

    /// The end of a head, or of the trailers.
    fn empty_line(&mut self) {
        let is_trailers = matches!(self.at, HeadPosition::Trailers);
        if !is_trailers && !self.has_lines {
            return;
        }
        let framing = std::mem::take(&mut self.framing);
        self.has_lines = false;
        self.count += u64::from(!is_trailers);
        self.at = match (is_trailers, framing) {
            (true, _) | (false, Framing { is_chunked: false, length: 0 }) => HeadPosition::Head,
            (false, Framing { is_chunked: true, .. }) => HeadPosition::ChunkSize { size: 0, is_over: false },
            (false, Framing { length, .. }) => HeadPosition::Body(length),
        };
    }

    /// Consumes one byte of the line before a chunk.
    fn chunk_size(&mut self, bytes: &[u8], size: u64, is_over: bool) -> usize {
        let Some(byte) = bytes.first() else { return 0 };
        let digit = (*byte as char).to_digit(16).filter(|_| !is_over);
        self.at = match (byte, digit) {
            (b'\n', _) if size == 0 => HeadPosition::Trailers,
            // The chunk and the CR LF after it.
            (b'\n', _) => HeadPosition::Chunk(size + 2),
            (_, Some(digit)) if size >> (4 * DIGITS_MAX) == 0 => {
                HeadPosition::ChunkSize { size: (size << 4) | u64::from(digit), is_over: false }
            }
            (_, Some(_)) => HeadPosition::Unchecked,
            (_, None) => HeadPosition::ChunkSize { size, is_over: true },
        };
        1
    }
}

fn skip(available: usize, left: u64) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(available)
}

impl Framing {
    /// Reads a header. hyper reports malformed headers and closes the connection.
    fn read(&mut self, line: &[u8]) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { return };
        let (name, value) = line.split_at(colon);
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            self.length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok()).unwrap_or(0);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.is_chunked |= value.to_ascii_lowercase().ends_with(b"chunked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of bytes, however they are cut.
    fn check(sent: &str, expected: &str) {
        for size in [1, 2, 3, 7, 64, sent.len().max(1)] {
            let mut check = HeadCheck::default();
            let mut bytes = sent.as_bytes().to_vec();
            bytes.chunks_mut(size).for_each(|piece| check.check(piece));
            assert_eq!(String::from_utf8_lossy(&bytes), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn what_is_right_is_left_as_it_is() {
        for sent in [
            "GET / HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\na\nb\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\nA;x=y\r\n\n\n\n\n\n\n\n\n\n\n\r\n0\r\nx: y\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\nPOST / HTTP/1.1\r\ncontent-length: 1\r\n\r\n\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffffff\r\n\n",
        ] {
            check(sent, sent);
        }
    }

    #[test]
    fn a_bare_lf_is_spoilt_in_every_head() {
        check("GET / HTTP/1.1\nhost: x\n\n", "GET / HTTP/1.1\0host: x\n\n");
        check("GET / HTTP/1.1\r\nhost: x\nx: y\r\n\r\n", "GET / HTTP/1.1\r\nhost: x\0x: y\r\n\r\n");
        check("GET / HTTP/1.1\r\nhost: x\r\n\n", "GET / HTTP/1.1\r\nhost: x\r\n\0");
        check("\nGET / HTTP/1.1\r\n\r\n", "\0GET / HTTP/1.1\r\n\r\n");
        check(
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n\n\nGET / HTTP/1.1\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n\n\nGET / HTTP/1.1\0\r\n",
        );
        check(
            "POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\nGET / HTTP/1.1\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\n\n\r\n0\r\n\r\nGET / HTTP/1.1\0\r\n",
        );
        check(
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: y\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: y\0\r\n",
        );
    }
}
