//! Heads of requests whose lines end as they must.
//!
//! Owns the refusal of a bare LF in the head of a request, which our HTTP library takes for the end of a line and other servers do
//! not: two that disagree where a request ends can be played off against each other. Follows the framing of each request (its
//! length, or its chunks), so that bodies are left alone and every request of a connection is checked. A bare LF is replaced by a
//! NUL, which no head may hold, so that the library answers 400 and closes the connection.

/// Where in a connection the next byte stands.
#[derive(Debug)]
enum At {
    Head,
    /// So many bytes of a body are still to come.
    Body(u64),
    /// In the line before a chunk, with its size so far; `None` once its digits have ended.
    ChunkSize {
        size: u64,
        is_over: bool,
    },
    /// In a chunk, with the two bytes that end it.
    Chunk(u64),
    /// In the lines after the last chunk.
    Trailers,
    /// What follows is refused, or cannot be followed: the library decides.
    Unchecked,
}

/// What a head says of the length of its body, as far as it was read.
#[derive(Debug, Default)]
struct Framing {
    length: u64,
    is_chunked: bool,
}

/// The checks of one connection.
#[derive(Debug)]
pub struct HeadCheck {
    at: At,
    framing: Framing,
    /// The line that is being read, as far as it says something of the framing.
    line: Vec<u8>,
    /// Bytes of the line so far, and its last byte.
    line_bytes: u64,
    last: u8,
    /// Whether the head has a line that is not empty: empty ones may come before it.
    has_lines: bool,
}

/// Longer than any line that says something of the framing.
const LINE_BYTES_KEPT: usize = 256;
const DIGITS_MAX: u32 = 15;

impl Default for HeadCheck {
    fn default() -> Self {
        let (line, framing) = (Vec::new(), Framing::default());
        Self { at: At::Head, framing, line, line_bytes: 0, last: 0, has_lines: false }
    }
}

impl HeadCheck {
    /// Looks at bytes as they come in, and spoils a head that ends a line with a bare LF.
    pub fn check(&mut self, bytes: &mut [u8]) {
        let mut from = 0;
        while let Some(rest) = bytes.get_mut(from..).filter(|rest| !rest.is_empty()) {
            from += match self.at {
                At::Unchecked => return,
                At::Body(left) => {
                    let taken = skip(rest.len(), left);
                    self.at = if taken as u64 == left { At::Head } else { At::Body(left - taken as u64) };
                    taken
                }
                At::Chunk(left) => {
                    let taken = skip(rest.len(), left);
                    let is_over = taken as u64 == left;
                    self.at = if is_over {
                        At::ChunkSize { size: 0, is_over: false }
                    } else {
                        At::Chunk(left - taken as u64)
                    };
                    taken
                }
                At::ChunkSize { size, is_over } => self.chunk_size(rest, size, is_over),
                At::Head | At::Trailers => self.lines(rest),
            };
        }
    }

    /// Takes bytes of lines up to the first LF; how many.
    fn lines(&mut self, bytes: &mut [u8]) -> usize {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.keep(bytes);
            return bytes.len();
        };
        let (before, rest) = bytes.split_at_mut(end);
        self.keep(before);
        if self.last != b'\r' {
            rest.iter_mut().take(1).for_each(|byte| *byte = 0);
            self.at = At::Unchecked;
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
        let room = LINE_BYTES_KEPT.saturating_sub(self.line.len());
        self.line.extend(bytes.iter().take(room));
    }

    fn whole_line(&mut self) {
        if matches!(self.at, At::Head) && self.has_lines {
            self.framing.read(&self.line);
        }
        self.has_lines = true;
    }

    /// The end of a head, or of what follows the last chunk.
    fn empty_line(&mut self) {
        let is_trailers = matches!(self.at, At::Trailers);
        if !is_trailers && !self.has_lines {
            return;
        }
        let framing = std::mem::take(&mut self.framing);
        self.has_lines = false;
        self.at = match (is_trailers, framing) {
            (true, _) | (false, Framing { is_chunked: false, length: 0 }) => At::Head,
            (false, Framing { is_chunked: true, .. }) => At::ChunkSize { size: 0, is_over: false },
            (false, Framing { length, .. }) => At::Body(length),
        };
    }

    /// Takes one byte of the line before a chunk.
    fn chunk_size(&mut self, bytes: &[u8], size: u64, is_over: bool) -> usize {
        let Some(byte) = bytes.first() else { return 0 };
        let digit = (*byte as char).to_digit(16).filter(|_| !is_over);
        self.at = match (byte, digit) {
            (b'\n', _) if size == 0 => At::Trailers,
            // The chunk and the CR LF after it.
            (b'\n', _) => At::Chunk(size + 2),
            (_, Some(digit)) if size >> (4 * DIGITS_MAX) == 0 => {
                At::ChunkSize { size: (size << 4) | u64::from(digit), is_over: false }
            }
            (_, Some(_)) => At::Unchecked,
            (_, None) => At::ChunkSize { size, is_over: true },
        };
        1
    }
}

fn skip(available: usize, left: u64) -> usize {
    usize::try_from(left).unwrap_or(usize::MAX).min(available)
}

impl Framing {
    /// Takes in a header. What is wrong with it is for the library to say, which then closes the connection.
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
