//! A model server in OpenAI's form, over a real socket: it does what its script says, and keeps what it was
//! asked.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(3600);

/// What it does with one request for a completion.
#[derive(Debug, Clone)]
pub enum Act {
    /// Streams words, each as a piece of its own, and ends properly, with the usage if that is asked for.
    Words(Vec<String>),
    /// As `Words`, with so long a pause before each.
    Paced(Vec<String>, Duration),
    /// Says nothing for so long, then as `Words`.
    Slowly(Duration, Vec<String>),
    Status(u16, String),
    /// A status with one more header, e.g. `retry-after: 1`.
    StatusWith(u16, String, String),
    /// Closes the connection after so many words.
    DiesAfter(usize, Vec<String>),
    /// Sends an error object after so many words.
    ErrorAfter(usize, Vec<String>),
    /// Words and a reason to end, but no `[DONE]`.
    NoDone(Vec<String>),
    /// The body as it is, in chunks.
    Raw(Vec<Vec<u8>>),
    /// The body as it is, in chunks, and then neither more nor an end.
    Stalls(Vec<Vec<u8>>),
    /// So many words, and then neither more nor an end.
    StallsAfter(usize, Vec<String>),
    /// The same bytes again and again, after a pause each.
    Repeats(Vec<u8>, Duration),
    /// Calls tools: name and arguments, the arguments in two pieces; a text stands for itself, also where it
    /// is no JSON.
    Calls(Vec<(String, Value)>),
    /// JSON in one piece, though a stream was asked for.
    Whole(Value),
    /// Refuses `stream_options` after a pause; without them, words.
    NoUsage(Duration, Vec<String>),
    /// What a function makes of the request.
    Decides(fn(&Asked) -> Act),
    /// Takes the request and never answers.
    Hangs,
    /// Closes the connection at once.
    HangsUp,
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    /// Their names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub at: Instant,
}

/// A running one. It ends with the process.
pub struct Models {
    /// With `/v1`.
    pub base: String,
    addr: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Act>,
    /// When the script is at its end.
    otherwise: Option<Act>,
    asked: Vec<Asked>,
    /// When callers left before their answer was sent.
    hangups: Vec<Instant>,
    connections: usize,
    /// What else it answers, by method and path.
    pages: Vec<(String, u16, Value)>,
}

pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Act {
    pub fn says(said: &[&str]) -> Self {
        Self::Words(words(said))
    }
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The contents of the messages that were sent, in order.
    pub fn contents(&self) -> Vec<&str> {
        let messages = self.body["messages"].as_array().unwrap();
        messages.iter().map(|message| message["content"].as_str().unwrap_or("")).collect()
    }
}

impl Models {
    /// One that lists the model `tiny`, and answers "Hello there." once its script is at its end.
    pub fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    pub fn start_at(addr: &str) -> Self {
        let listener = TcpListener::bind(addr).unwrap();
        let addr = listener.local_addr().unwrap();
        let listed = json!({"object": "list", "data": [{"id": "tiny", "object": "model", "owned_by": "test"}]});
        let state = State {
            otherwise: Some(Act::says(&["Hello", " there", "."])),
            pages: vec![("GET /v1/models".to_owned(), 200, listed)],
            ..State::default()
        };
        let state = Arc::new(Mutex::new(state));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = shared.clone();
                state.lock().unwrap().connections += 1;
                // A caller that hangs up is noted where it is noticed.
                std::thread::spawn(move || drop(serve(&stream, &state)));
            }
        });
        Self { base: format!("http://{addr}/v1"), addr, state }
    }

    /// Adds to the script, an act for each request to come.
    pub fn play(&self, acts: impl IntoIterator<Item = Act>) {
        self.lock().script.extend(acts);
    }

    /// What it does when the script is at its end.
    pub fn otherwise(&self, act: Act) {
        self.lock().otherwise = Some(act);
    }

    /// Sets what it answers to a method and path other than completions, e.g. `GET /props`.
    pub fn page(&self, at: &str, status: u16, answer: Value) {
        let mut state = self.lock();
        state.pages.retain(|(known, ..)| known != at);
        state.pages.push((at.to_owned(), status, answer));
    }

    /// The requests for completions so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.lock().asked.iter().filter(|asked| asked.path.ends_with("/chat/completions")).cloned().collect()
    }

    /// All requests so far.
    pub fn all_asked(&self) -> Vec<Asked> {
        self.lock().asked.clone()
    }

    /// When callers left before their answer was sent.
    pub fn hangups(&self) -> Vec<Instant> {
        self.lock().hangups.clone()
    }

    pub fn connections(&self) -> usize {
        self.lock().connections
    }

    pub fn host(&self) -> String {
        self.addr.to_string()
    }

    /// The settings that make a server use it for everything.
    pub fn settings(&self) -> [(&str, &str); 1] {
        [("NOVELO_MODELS_ANSWER_URL", &self.base)]
    }

    /// The same with data to ask.
    pub fn settings_with_data(&self) -> [(&str, &str); 2] {
        [("NOVELO_MODELS_ANSWER_URL", &self.base), ("NOVELO_ASK_DATABASE", "sample")]
    }

    /// The same without summaries, which come when they like and would take an act from the script.
    pub fn talking(&self) -> [(&str, &str); 2] {
        [("NOVELO_MODELS_ANSWER_URL", &self.base), ("NOVELO_MODELS_SUMMARY_URL", "none")]
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some((method, asked)) = request(&mut reader)? {
        let mut kept = state.lock().unwrap();
        let place = format!("{method} {}", asked.path);
        let wants_usage = asked.body["stream_options"]["include_usage"] == true;
        kept.asked.push(asked.clone());
        if place != "POST /v1/chat/completions" {
            let page = kept.pages.iter().find(|(at, ..)| *at == place).cloned();
            drop(kept);
            let (_, status, answer) = page.unwrap_or((place, 404, json!({"error": {"message": "no such page"}})));
            whole(stream, status, "", &answer.to_string())?;
            continue;
        }
        let act = kept.script.pop_front().or_else(|| kept.otherwise.clone()).unwrap();
        drop(kept);
        let act = if let Act::Decides(decide) = act { decide(&asked) } else { act };
        let mut caller = Caller { stream, state, wants_usage };
        if !caller.perform(act)? {
            return Ok(());
        }
    }
    Ok(())
}

fn request(reader: &mut BufReader<&TcpStream>) -> std::io::Result<Option<(String, Asked)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut parts = line.split_whitespace().map(str::to_owned);
    let (method, path) = (parts.next().unwrap(), parts.next().unwrap());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(": ") {
            Some((name, value)) => headers.push((name.to_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, n)| n.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body)? };
    Ok(Some((method, Asked { path, headers, body, at: Instant::now() })))
}

fn whole(mut stream: &TcpStream, status: u16, header: &str, body: &str) -> std::io::Result<()> {
    let header = if header.is_empty() { String::new() } else { format!("{header}\r\n") };
    let kind = "content-type: application/json\r\n";
    let head = format!("HTTP/1.1 {status} X\r\n{kind}{header}content-length: {}\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes())
}

/// One that waits for a completion.
struct Caller<'a> {
    stream: &'a TcpStream,
    state: &'a Mutex<State>,
    wants_usage: bool,
}

impl Caller<'_> {
    /// Does it; whether the connection can be used again.
    fn perform(&mut self, act: Act) -> std::io::Result<bool> {
        match act {
            Act::Words(words) => self.speak(&words, Duration::ZERO)?,
            Act::Paced(words, pause) => self.speak(&words, pause)?,
            Act::Slowly(pause, words) => {
                self.wait(pause)?;
                self.speak(&words, Duration::ZERO)?;
            }
            Act::Status(status, body) => whole(self.stream, status, "", &body)?,
            Act::StatusWith(status, header, body) => whole(self.stream, status, &header, &body)?,
            Act::Whole(body) => whole(self.stream, 200, "", &body.to_string())?,
            Act::DiesAfter(count, words) => {
                self.begin()?;
                self.words(words.get(..count).unwrap(), Duration::ZERO)?;
                return Ok(false);
            }
            Act::ErrorAfter(count, words) => {
                self.begin()?;
                self.words(words.get(..count).unwrap(), Duration::ZERO)?;
                self.event(&json!({"error": {"message": "the model fell over", "type": "server_error"}}))?;
                self.end()?;
            }
            Act::NoDone(words) => {
                self.begin()?;
                self.words(&words, Duration::ZERO)?;
                self.event(&chunk(&json!({}), Some("stop")))?;
                self.end()?;
            }
            Act::Raw(chunks) => {
                self.begin()?;
                chunks.iter().try_for_each(|bytes| self.chunk(bytes))?;
                self.end()?;
            }
            Act::Stalls(chunks) => {
                self.begin()?;
                chunks.iter().try_for_each(|bytes| self.chunk(bytes))?;
                self.wait(FOREVER)?;
            }
            Act::StallsAfter(count, words) => {
                self.begin()?;
                self.words(words.get(..count).unwrap(), Duration::ZERO)?;
                self.wait(FOREVER)?;
            }
            Act::Repeats(bytes, pause) => {
                self.begin()?;
                loop {
                    self.wait(pause)?;
                    self.chunk(&bytes)?;
                }
            }
            Act::Calls(calls) => self.call(&calls)?,
            Act::NoUsage(pause, _) if self.wants_usage => {
                self.wait(pause)?;
                let message = "Unrecognized request argument supplied: stream_options";
                whole(self.stream, 400, "", &json!({"error": {"message": message}}).to_string())?;
            }
            Act::NoUsage(_, words) => self.speak(&words, Duration::ZERO)?,
            Act::Hangs | Act::Decides(_) => self.wait(FOREVER)?,
            Act::HangsUp => return Ok(false),
        }
        Ok(true)
    }

    fn speak(&mut self, words: &[String], pause: Duration) -> std::io::Result<()> {
        self.begin()?;
        self.words(words, pause)?;
        self.finish("stop", words.len())
    }

    fn words(&mut self, words: &[String], pause: Duration) -> std::io::Result<()> {
        self.event(&chunk(&json!({"role": "assistant", "content": null}), None))?;
        for word in words {
            self.wait(pause)?;
            self.event(&chunk(&json!({"content": word}), None))?;
        }
        Ok(())
    }

    fn call(&mut self, calls: &[(String, Value)]) -> std::io::Result<()> {
        self.begin()?;
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
            let (front, back) = arguments.split_at(arguments.len() / 2);
            let call = |call: Value| chunk(&json!({"tool_calls": [call]}), None);
            let function = json!({"name": name, "arguments": front});
            self.event(&call(
                json!({"index": index, "id": format!("call-{index}"), "type": "function", "function": function}),
            ))?;
            self.event(&call(json!({"index": index, "function": {"arguments": back}})))?;
        }
        self.finish("tool_calls", calls.len())
    }

    fn finish(&mut self, reason: &str, count: usize) -> std::io::Result<()> {
        self.event(&chunk(&json!({}), Some(reason)))?;
        if self.wants_usage {
            let usage = json!({"prompt_tokens": 10, "completion_tokens": count, "total_tokens": count + 10});
            self.event(&json!({"object": "chat.completion.chunk", "choices": [], "usage": usage}))?;
        }
        self.chunk(b"data: [DONE]\n\n")?;
        self.end()
    }

    fn begin(&mut self) -> std::io::Result<()> {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        self.send(head.as_bytes())
    }

    fn event(&mut self, data: &Value) -> std::io::Result<()> {
        self.chunk(format!("data: {data}\n\n").as_bytes())
    }

    fn chunk(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.send(&[format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.send(b"0\r\n\r\n")
    }

    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let mut stream = self.stream;
        stream.write_all(bytes).inspect_err(|_| self.note_hangup())
    }

    /// Waits, and notices when the caller leaves meanwhile.
    fn wait(&self, pause: Duration) -> std::io::Result<()> {
        if pause.is_zero() {
            return Ok(());
        }
        self.stream.set_read_timeout(Some(pause))?;
        let seen = self.stream.peek(&mut [0]);
        self.stream.set_read_timeout(None)?;
        match seen {
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                Ok(())
            }
            _ => {
                self.note_hangup();
                Err(std::io::ErrorKind::ConnectionAborted.into())
            }
        }
    }

    fn note_hangup(&self) {
        self.state.lock().unwrap().hangups.push(Instant::now());
    }
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "c", "object": "chat.completion.chunk", "model": "tiny", "choices": [choice]})
}
