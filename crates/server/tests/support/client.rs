//! A tiny HTTP client: one connection per call, and nothing between the test and the wire.

use std::fmt::Display;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::{says, thread};

/// What a balancer in front of several nodes is called; they know of it by a setting.
pub const BALANCER: &str = "novelo.test";

/// A test that waits this long for bytes has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where to send, and the headers that go along with every call. It accepts JSON, as clients of an API do,
/// unless a test says otherwise.
#[derive(Debug, Clone)]
pub struct Client {
    pub addr: SocketAddr,
    /// Where there are several nodes, every connection goes to the next of them.
    ring: Option<Arc<Ring>>,
    /// What it calls the server.
    host: String,
    headers: Vec<(String, String)>,
}

/// Nodes in a circle. All clones of a client go round together.
#[derive(Debug)]
struct Ring {
    addrs: Mutex<Vec<SocketAddr>>,
    turn: AtomicUsize,
}

/// One connection that stays open.
pub struct Session {
    client: Client,
    stream: TcpStream,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn new(addr: SocketAddr) -> Self {
        Self { addr, ring: None, host: addr.to_string(), headers: Vec::new() }
    }

    /// One that goes from node to node. As behind a load balancer, it names the same host to all of them.
    pub fn rotating(addrs: Vec<SocketAddr>) -> Self {
        let addr = *addrs.first().unwrap();
        let ring = Ring { addrs: Mutex::new(addrs), turn: AtomicUsize::new(0) };
        Self { ring: Some(Arc::new(ring)), host: BALANCER.to_owned(), ..Self::new(addr) }
    }

    /// Tells a rotating one, and all its clones, where a node is now.
    pub fn moved(&self, node: usize, addr: SocketAddr) {
        self.ring.as_ref().expect("there are several nodes").addrs.lock().unwrap()[node] = addr;
    }

    /// The same with one more header.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// The same at another address, as after a restart.
    pub fn at(&self, addr: SocketAddr) -> Self {
        Self { addr, ring: None, host: addr.to_string(), ..self.clone() }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.call("GET", path, "")
    }

    /// How many connections the server has open, the one of this request included.
    pub fn open_connections(&self) -> usize {
        let metrics = self.get("/metrics").text();
        let open = metrics.lines().find_map(|line| line.strip_prefix("novelo_connections_open "));
        open.and_then(|open| open.parse().ok()).expect("the server counts its connections")
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.call("DELETE", path, "")
    }

    pub fn post(&self, path: &str, body: impl Display) -> Answer {
        self.call("POST", path, body)
    }

    pub fn put(&self, path: &str, body: impl Display) -> Answer {
        self.call("PUT", path, body)
    }

    pub fn patch(&self, path: &str, body: impl Display) -> Answer {
        self.call("PATCH", path, body)
    }

    pub fn call(&self, method: &str, path: &str, body: impl Display) -> Answer {
        let answer = self.try_call(method, path, body.to_string().as_bytes());
        answer.unwrap_or_else(|e| panic!("{method} {path}: {e}"))
    }

    /// A connection for many calls.
    pub fn session(&self) -> std::io::Result<Session> {
        Ok(Session { client: self.clone(), stream: self.connect()? })
    }

    /// Sends a request; an error is a connection that broke before the answer was whole.
    pub fn try_call(&self, method: &str, path: &str, body: &[u8]) -> std::io::Result<Answer> {
        let mut stream = self.connect()?;
        // A server that answers early stops reading; its answer counts all the same.
        let head = self.head(method, path, body.len());
        let sent = stream.write_all(&head).and_then(|()| stream.write_all(body));
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        match Answer::parse(&bytes) {
            Some(answer) => Ok(answer),
            None => Err(sent.and(read).err().unwrap_or_else(|| std::io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// The head of a request with a body of so many bytes, the last on its connection.
    pub fn head(&self, method: &str, path: &str, length: usize) -> Vec<u8> {
        self.with("connection", "close").kept_head(method, path, length)
    }

    fn kept_head(&self, method: &str, path: &str, length: usize) -> Vec<u8> {
        let mut head = format!("{method} {path} HTTP/1.1\r\n");
        // A header that a test sets itself is the only one of its name.
        if !self.headers.iter().any(|(name, _)| name == "host") {
            head.push_str(&format!("host: {}\r\n", self.host));
        }
        if !self.headers.iter().any(|(name, _)| name == "accept") {
            head.push_str("accept: application/json\r\n");
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {length}\r\n\r\n"));
        head.into_bytes()
    }

    fn next(&self) -> SocketAddr {
        let Some(ring) = &self.ring else { return self.addr };
        let addrs = ring.addrs.lock().unwrap();
        addrs[ring.turn.fetch_add(1, Ordering::Relaxed) % addrs.len()]
    }

    pub fn connect(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect(self.next())?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Sends bytes as they are; whatever comes back until the server closes.
    pub fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect().unwrap();
        let mut back = Vec::new();
        if stream.write_all(bytes).is_ok() {
            drop(stream.read_to_end(&mut back));
        }
        back
    }

    /// Appends messages that must be taken; the rows of the answer.
    pub fn append(&self, user: &str, of: &str, messages: &[Value]) -> Vec<Value> {
        let answer = self.post(&thread(user, of, "/turns"), json!({"messages": messages})).ok();
        answer["turns"].as_array().unwrap().clone()
    }

    /// Appends one user turn for each text.
    pub fn say(&self, user: &str, of: &str, texts: &[&str]) -> Vec<Value> {
        self.append(user, of, &texts.iter().map(|text| says("user", text)).collect::<Vec<_>>())
    }

    /// What the turns of a thread say, oldest first.
    pub fn said(&self, user: &str, of: &str) -> Vec<String> {
        let turns = self.get(&thread(user, of, "/turns?last=1000")).ok();
        let content = |turn: &Value| turn["message"]["content"].as_str().unwrap().to_owned();
        turns["turns"].as_array().unwrap().iter().map(content).collect()
    }

    /// A context that must be made.
    pub fn context(&self, request: Value) -> Value {
        self.post("/v1/context", request).ok()
    }
}

impl Session {
    pub fn call(&mut self, method: &str, path: &str, body: impl Display) -> std::io::Result<Answer> {
        let body = body.to_string();
        let request = [self.client.kept_head(method, path, body.len()), body.into_bytes()].concat();
        self.stream.write_all(&request)?;
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; 64 * 1024]);
        loop {
            match self.stream.read(&mut chunk)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                count => bytes.extend_from_slice(&chunk[..count]),
            }
            if let Some(answer) = Answer::parse(&bytes) {
                return Ok(answer);
            }
        }
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let split = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..split]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let header =
            |line: &str| line.split_once(':').map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
        let headers: Vec<_> = lines.map(header).collect::<Option<_>>()?;
        let answer = Self { status, headers, body: Vec::new() };
        let body = answer.body_of(&bytes[split + 4..])?;
        Some(Self { body, ..answer })
    }

    /// The body, if all of it is there.
    fn body_of(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        match (self.header("content-length"), self.header("transfer-encoding")) {
            (Some(length), _) => bytes.get(..length.parse().ok()?).map(<[u8]>::to_vec),
            (None, Some("chunked")) => unchunk(bytes),
            _ => Some(bytes.to_vec()),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The body of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The error of a refusal, which has its one shape.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, &body["error"]["code"]), (status, &json!(code)), "{body}");
        let fields: Vec<&String> = body["error"].as_object().unwrap().keys().collect();
        assert_eq!(fields[..3], ["code", "message", "param"], "{body}");
        assert!(fields[3..].iter().all(|field| *field == "type"), "only OpenAI's form has more: {body}");
        assert!(body["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
        assert!(matches!(body["error"]["param"], Value::Null | Value::String(_)), "{body}");
        assert_eq!(self.header("content-type"), Some("application/json"));
        body["error"].clone()
    }

    /// A refusal whose words include these.
    #[track_caller]
    pub fn refused_with(&self, status: u16, code: &str, words: &[&str]) {
        let error = self.refused(status, code);
        let message = error["message"].as_str().unwrap();
        words.iter().for_each(|word| assert!(message.contains(word), "{word:?} is not in {message:?}"));
    }
}

fn unchunk(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = bytes.windows(2).position(|window| window == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..end]).ok()?, 16).ok()?;
        let chunk = bytes.get(end + 2..end + 2 + length)?;
        bytes = bytes.get(end + 4 + length..)?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(chunk);
    }
}
