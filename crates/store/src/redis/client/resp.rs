//! The bytes on the wire: commands out, replies in.
//!
//! Owns RESP2. Refuses replies that are nested or sized beyond reason, since after these the stream has no
//! meaning any more. Invariant: a reply is the same however the stream was cut into reads, and every byte is
//! looked at once or twice, also where a reply of many parts arrives slowly.

use bytes::{Buf, Bytes, BytesMut};

/// What a read asks for, and so the most that a value shares its memory with.
const CHUNK_BYTES: usize = 64 * 1024;
/// Values below this are copied: they must not keep a whole chunk alive.
const SHARED_BYTES_MIN: usize = 4 * 1024;
/// The most that one reply may hold; also what Redis itself allows a value.
const REPLY_BYTES_MAX: usize = 512 * 1024 * 1024;
/// Lists in lists.
const DEPTH_MAX: usize = 32;
/// The longest line: a status, an error, a number.
const LINE_BYTES_MAX: usize = 64 * 1024;
/// What a value reserves before it arrives.
const ANNOUNCED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// What a list reserves before its parts arrive.
const RESERVED_PARTS_MAX: usize = 1024;
/// Room for `*` and the number of words, which is known last.
const HEAD_BYTES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    Nil,
    Int(i64),
    /// A value or a status.
    Text(Bytes),
    List(Vec<Reply>),
    /// An error reply.
    Refused(String),
}

/// A command, encoded word by word.
#[derive(Clone)]
pub(crate) struct Command {
    bytes: Vec<u8>,
    words: u64,
}

impl Command {
    pub(crate) fn new(name: &str) -> Self {
        Self::sized(name, 64)
    }

    /// With room for the bytes of its arguments.
    pub(crate) fn sized(name: &str, bytes: usize) -> Self {
        let mut own = Vec::with_capacity(HEAD_BYTES + name.len() + 16 + bytes);
        own.resize(HEAD_BYTES, 0);
        Self { bytes: own, words: 0 }.arg(name)
    }

    pub(crate) fn arg(mut self, word: impl AsRef<[u8]>) -> Self {
        let word = word.as_ref();
        self.bytes.push(b'$');
        push_number(&mut self.bytes, word.len() as u64);
        self.bytes.extend_from_slice(b"\r\n");
        self.bytes.extend_from_slice(word);
        self.bytes.extend_from_slice(b"\r\n");
        self.words += 1;
        self
    }

    pub(crate) fn args<W: AsRef<[u8]>>(self, words: impl IntoIterator<Item = W>) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn int(self, number: u64) -> Self {
        let mut digits = Vec::with_capacity(20);
        push_number(&mut digits, number);
        self.arg(digits)
    }

    pub(crate) fn into_bytes(mut self) -> Bytes {
        let mut head = Vec::with_capacity(HEAD_BYTES);
        head.push(b'*');
        push_number(&mut head, self.words);
        head.extend_from_slice(b"\r\n");
        let start = HEAD_BYTES.saturating_sub(head.len());
        for (to, from) in self.bytes.iter_mut().skip(start).zip(&head) {
            *to = *from;
        }
        let mut bytes = Bytes::from(self.bytes);
        bytes.advance(start);
        bytes
    }
}

fn push_number(to: &mut Vec<u8>, mut number: u64) {
    let start = to.len();
    loop {
        to.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    if let Some(digits) = to.get_mut(start..) {
        digits.reverse();
    }
}

/// The stream is not RESP, or beyond the limits: nothing after this can be understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer is not understood: {0}")]
pub(crate) struct ProtocolError(&'static str);

/// Takes bytes as they come and gives replies as they are complete.
#[derive(Default)]
pub(crate) struct Decoder {
    unread: BytesMut,
    /// How far `unread` was searched for the end of a line.
    searched: usize,
    /// The length of the value whose head was read.
    value: Option<usize>,
    /// Lists that wait for parts, the innermost last.
    lists: Vec<PartialList>,
    /// Of the reply that is being read.
    taken_bytes: usize,
}

struct PartialList {
    missing: usize,
    parts: Vec<Reply>,
}

/// A complete part, or how a list begins.
enum ReplyPart {
    Whole(Reply),
    Head(usize),
}

impl Decoder {
    /// Where the next read goes.
    pub(crate) fn room(&mut self) -> &mut BytesMut {
        let room = self.unread.capacity() - self.unread.len();
        // A large value has memory of its own, into which it is read, and which is its own in the end. The
        // memory grows with what has come, since a length that is only announced costs the sender nothing.
        if let Some(bytes) = self.value.filter(|bytes| *bytes >= CHUNK_BYTES) {
            let missing = (bytes + 2).saturating_sub(self.unread.len());
            if room < missing.min(CHUNK_BYTES / 8) {
                let wanted = (bytes + 2).min((self.unread.len() * 2).max(ANNOUNCED_BYTES_MAX));
                let mut own = BytesMut::with_capacity(wanted);
                own.extend_from_slice(&self.unread);
                self.unread = own;
            }
        } else if room < CHUNK_BYTES / 8 {
            self.unread.reserve(CHUNK_BYTES);
        }
        &mut self.unread
    }

    pub(crate) fn next(&mut self) -> Result<Option<Reply>, ProtocolError> {
        while let Some(item) = self.item()? {
            let mut whole = match item {
                ReplyPart::Whole(reply) => reply,
                ReplyPart::Head(0) => Reply::List(Vec::new()),
                ReplyPart::Head(missing) => {
                    if self.lists.len() == DEPTH_MAX {
                        return Err(ProtocolError("lists are nested too deeply"));
                    }
                    let parts = Vec::with_capacity(missing.min(RESERVED_PARTS_MAX));
                    self.lists.push(PartialList { missing, parts });
                    continue;
                }
            };
            loop {
                let Some(mut list) = self.lists.pop() else {
                    self.taken_bytes = 0;
                    return Ok(Some(whole));
                };
                list.parts.push(whole);
                list.missing -= 1;
                if list.missing > 0 {
                    self.lists.push(list);
                    break;
                }
                whole = Reply::List(list.parts);
            }
        }
        Ok(None)
    }

    fn item(&mut self) -> Result<Option<ReplyPart>, ProtocolError> {
        if self.value.is_none() {
            let Some(line) = self.line()? else { return Ok(None) };
            let Some((kind, rest)) = line.split_first() else { return Err(ProtocolError("an empty line")) };
            return Ok(Some(ReplyPart::Whole(match kind {
                b'+' => Reply::Text(Bytes::copy_from_slice(rest)),
                b'-' => Reply::Refused(String::from_utf8_lossy(rest).into_owned()),
                b':' => Reply::Int(number(rest)?),
                b'*' => match length(rest)? {
                    Some(parts) => return Ok(Some(ReplyPart::Head(parts))),
                    None => Reply::Nil,
                },
                b'$' => match length(rest)? {
                    Some(bytes) => {
                        self.take(bytes)?;
                        self.value = Some(bytes);
                        return self.item();
                    }
                    None => Reply::Nil,
                },
                _ => return Err(ProtocolError("an unknown kind of reply")),
            })));
        }
        self.value()
    }

    fn value(&mut self) -> Result<Option<ReplyPart>, ProtocolError> {
        let Some(bytes) = self.value.filter(|bytes| self.unread.len() >= bytes + 2) else { return Ok(None) };
        if self.unread.get(bytes..bytes + 2) != Some(b"\r\n") {
            return Err(ProtocolError("a value is longer than it says"));
        }
        self.value = None;
        let value = if bytes < SHARED_BYTES_MIN {
            let value = Bytes::copy_from_slice(self.unread.get(..bytes).unwrap_or_default());
            self.unread.advance(bytes + 2);
            value
        } else {
            let value = self.unread.split_to(bytes).freeze();
            self.unread.advance(2);
            if bytes >= CHUNK_BYTES {
                self.unread = BytesMut::from(self.unread.as_ref());
            }
            value
        };
        Ok(Some(ReplyPart::Whole(Reply::Text(value))))
    }

    fn line(&mut self) -> Result<Option<BytesMut>, ProtocolError> {
        let found = self.unread.iter().skip(self.searched).position(|byte| *byte == b'\n');
        let Some(end) = found.map(|at| at + self.searched) else {
            self.searched = self.unread.len();
            return if self.searched > LINE_BYTES_MAX { Err(ProtocolError("a line without end")) } else { Ok(None) };
        };
        self.searched = 0;
        self.take(end + 1)?;
        let mut line = self.unread.split_to(end + 1);
        if !line.ends_with(b"\r\n") {
            return Err(ProtocolError("a line without a carriage return"));
        }
        line.truncate(end - 1);
        Ok(Some(line))
    }

    fn take(&mut self, bytes: usize) -> Result<(), ProtocolError> {
        self.taken_bytes = self.taken_bytes.saturating_add(bytes);
        if self.taken_bytes > REPLY_BYTES_MAX { Err(ProtocolError("it is larger than 512 MB")) } else { Ok(()) }
    }
}

/// What is read of a stream that comes in these pieces, as text, and the most memory that it was read into;
/// for the fuzz target.
pub(crate) fn read_replies<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> (String, usize) {
    let mut decoder = Decoder::default();
    let (mut read, mut most) = (String::new(), 0);
    for piece in pieces {
        decoder.room().extend_from_slice(piece);
        most = most.max(decoder.unread.capacity());
        loop {
            match decoder.next() {
                Ok(Some(reply)) => read += &format!("{reply:?}\n"),
                Ok(None) => break,
                Err(nonsense) => return (read + &nonsense.to_string(), most),
            }
        }
        most = most.max(decoder.room().capacity());
    }
    (read, most)
}

fn number(digits: &[u8]) -> Result<i64, ProtocolError> {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).ok_or(ProtocolError("a number is none"))
}

/// None stands for nil.
fn length(digits: &[u8]) -> Result<Option<usize>, ProtocolError> {
    match number(digits)? {
        -1 => Ok(None),
        length => match usize::try_from(length) {
            Ok(length) if length <= REPLY_BYTES_MAX => Ok(Some(length)),
            _ => Err(ProtocolError("a length beyond reason")),
        },
    }
}

#[cfg(test)]
mod announced_tests {
    use super::*;

    #[test]
    fn a_length_that_is_only_announced_takes_little_memory() {
        let head = format!("${}\r\nabc", REPLY_BYTES_MAX / 2);
        let (read, most) = read_replies([head.as_bytes()].into_iter());
        assert!(read.is_empty() && most <= ANNOUNCED_BYTES_MAX, "{read} {most}");
    }

    #[test]
    fn a_large_value_is_read_as_its_memory_grows() {
        let value = vec![b'x'; 3 * ANNOUNCED_BYTES_MAX + 1];
        let whole = [format!("${}\r\n", value.len()).as_bytes(), &value, b"\r\n+OK\r\n"].concat();
        let mut decoder = Decoder::default();
        let mut replies = Vec::new();
        for piece in whole.chunks(10_007) {
            decoder.room().extend_from_slice(piece);
            while let Some(reply) = decoder.next().unwrap() {
                replies.push(reply);
            }
        }
        assert_eq!(replies, [Reply::Text(value.into()), Reply::Text("OK".into())]);
    }
}
