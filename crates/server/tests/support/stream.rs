//! A client of event streams that reads as slowly as it likes, and leaves when it likes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::{Client, Value};

/// A stream that is being read.
pub struct Stream {
    reader: BufReader<TcpStream>,
    pub status: u16,
    pub headers: String,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// As it came: `NAME.NUMBER`; empty where there was none.
    pub at: String,
    /// The number alone.
    pub id: u64,
    pub event: String,
    pub data: Value,
}

impl Stream {
    /// Sends a request and reads the head of its answer.
    pub fn open(client: &Client, method: &str, path: &str, body: impl ToString) -> Self {
        let (mut stream, body) = (client.connect().unwrap(), body.to_string());
        stream.write_all(&[client.head(method, path, body.len()), body.into_bytes()].concat()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut headers = String::new();
        while !headers.ends_with("\r\n\r\n") {
            assert_ne!(reader.read_line(&mut headers).unwrap(), 0, "{headers}");
        }
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Self { reader, status, headers: headers.to_lowercase() }
    }

    /// The next event; `None` at the end.
    pub fn next(&mut self) -> Option<Frame> {
        let (mut at, mut event) = (String::new(), String::new());
        loop {
            let line = self.line()?;
            match line.split_once(": ") {
                Some(("id", value)) => at = value.to_owned(),
                Some(("event", value)) => event = value.to_owned(),
                Some(("data", value)) => {
                    let data = serde_json::from_str(value).unwrap_or_else(|_| value.into());
                    let id = at.rsplit('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
                    return Some(Frame { at, id, event, data });
                }
                _ => {}
            }
        }
    }

    /// All that is left.
    pub fn rest(mut self) -> Vec<Frame> {
        std::iter::from_fn(|| self.next()).collect()
    }

    /// A line of the body, which comes in chunks that end where frames end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        if self.reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        let is_size = !line.is_empty() && line.bytes().all(|b| b.is_ascii_hexdigit());
        if is_size && line == "0" {
            drop(self.reader.read_to_end(&mut Vec::new()));
            return None;
        }
        if is_size { self.line() } else { Some(line) }
    }
}
