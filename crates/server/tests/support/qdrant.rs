//! Qdrant: a real server, started here or named by `QDRANT_URL`, behind a line that can be cut; and for
//! failures alone, one of our own that gives the answers a real one would give to empty collections, and
//! knows how to misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

use super::qdrant_server::{QdrantServer, binary};
use super::{Client, skipped};

/// How the one of our own answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Well,
    /// Hangs up.
    Closing,
    /// Not at all, until it is to behave in another way.
    Hanging,
    Status(u16),
    /// With words instead of JSON.
    Nonsense,
}

/// A request that came.
#[derive(Debug, Clone)]
pub struct Sent {
    pub line: String,
    pub key: Option<String>,
    pub body: Value,
}

/// One that fails. It ends with the process.
pub struct Failing {
    pub url: String,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Notified when `manner` changes.
    changed: Condvar,
}

struct State {
    manner: Manner,
    made: Vec<(String, Value)>,
    sent: Vec<Sent>,
}

impl Failing {
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Mutex::new(State { manner, made: Vec::new(), sent: Vec::new() });
        let shared = Arc::new(Shared { state, changed: Condvar::new() });
        let in_thread = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = in_thread.clone();
                // A caller that hangs up is its own affair.
                std::thread::spawn(move || drop(answer(stream, &shared)));
            }
        });
        Self { url, shared }
    }

    pub fn behave(&self, manner: Manner) {
        self.shared.state.lock().unwrap().manner = manner;
        self.shared.changed.notify_all();
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.shared.state.lock().unwrap().sent.clone()
    }
}

fn answer(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length, mut key) = (String::new(), 0, None);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
            Some((name, value)) if name.eq_ignore_ascii_case("api-key") => key = Some(value.to_owned()),
            None if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let line = first.trim().trim_end_matches(" HTTP/1.1").to_owned();
    let manner = {
        let mut state = shared.state.lock().unwrap();
        state.sent.push(Sent { line: line.clone(), key, body: body.clone() });
        state.manner
    };
    let (status, answer) = match manner {
        Manner::Closing => return Ok(()),
        Manner::Hanging => {
            let state = shared.state.lock().unwrap();
            drop(shared.changed.wait_while(state, |state| state.manner == Manner::Hanging).unwrap());
            return Ok(());
        }
        Manner::Status(status) => (status, json!({"status": {"error": "no"}, "time": 0.0}).to_string()),
        Manner::Nonsense => (200, "certainly!".to_owned()),
        Manner::Well => well(&line, &body, &mut shared.state.lock().unwrap()),
    };
    let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", answer.len());
    reader.into_inner().write_all((head + &answer).as_bytes())
}

/// What a server says that keeps nothing but the names of its collections.
fn well(line: &str, body: &Value, state: &mut State) -> (u16, String) {
    let (method, path) = line.split_once(' ').unwrap();
    let path = path.split('?').next().unwrap();
    let name = path.split('/').nth(2).unwrap().to_owned();
    let known = state.made.iter().find(|(made, _)| *made == name).map(|(_, body)| body.clone());
    let ok = |result: Value| (200, json!({"result": result, "status": "ok", "time": 0.0}).to_string());
    let done = json!({"operation_id": 1, "status": "completed"});
    match (method, path.split('/').skip(3).collect::<Vec<_>>().join("/").as_str(), known) {
        ("PUT", "", None) => {
            state.made.push((name, body.clone()));
            ok(json!(true))
        }
        ("DELETE", "", known) => {
            state.made.retain(|(made, _)| *made != name);
            ok(json!(known.is_some()))
        }
        (_, _, None) => (404, json!({"status": {"error": "Not found: Collection doesn't exist!"}}).to_string()),
        ("GET", "", Some(made)) => ok(json!({"status": "green", "config": {"params": made}})),
        ("POST", "points/query/batch", _) => {
            let lists = body["searches"].as_array().unwrap().iter().map(|_| json!({"points": []}));
            ok(lists.collect())
        }
        ("POST", "points/scroll", _) => ok(json!({"points": [], "next_page_offset": null})),
        ("POST", "points/count", _) => ok(json!({"count": 0})),
        _ => ok(done),
    }
}

/// A real server, if there is one, reached through a line of our own. Collections that begin with its prefix
/// are dropped at the end.
pub struct Real {
    pub url: String,
    pub prefix: String,
    pub key: Option<String>,
    direct: Client,
    is_cut: Arc<AtomicBool>,
    own: Option<QdrantServer>,
}

const REMEDY: &str = "`make qdrant` fetches one";

impl Real {
    /// The server of `QDRANT_URL`, or one that is started for this test; `None` where there is neither.
    pub fn find(test: &str) -> Option<Self> {
        match std::env::var("QDRANT_URL") {
            Ok(url) => Some(Self::named(test, &url)),
            Err(_) if binary().is_none() => {
                skipped::skip("Qdrant server", &format!("{REMEDY}, or set QDRANT_URL to the address of your own"));
                None
            }
            Err(_) => Self::own(test),
        }
    }

    /// One that is started for this test, and may be killed by it.
    pub fn own(test: &str) -> Option<Self> {
        let Some(binary) = binary() else {
            skipped::skip("Qdrant server that a test may stop", REMEDY);
            return None;
        };
        let server = QdrantServer::start(&binary);
        let (addr, key, direct) = (server.addr, server.key.clone(), server.client());
        let mut real = Self::at(test, addr, Some(key), direct);
        real.own = Some(server);
        Some(real)
    }

    fn named(test: &str, url: &str) -> Self {
        let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let there = host.to_socket_addrs().unwrap_or_else(|e| panic!("QDRANT_URL {url:?}: {e}")).next().unwrap();
        let key = std::env::var("QDRANT_API_KEY").ok();
        let direct = Client::new(there);
        let direct = key.as_ref().map_or_else(|| direct.clone(), |key| direct.with("api-key", key));
        Self::at(test, there, key, direct)
    }

    fn at(test: &str, there: SocketAddr, key: Option<String>, direct: Client) -> Self {
        let is_cut = Arc::new(AtomicBool::new(false));
        let prefix = format!("novelo_test_{test}_{}_", std::process::id());
        let url = format!("http://{}", line(there, is_cut.clone()));
        Self { url, prefix, key, direct, is_cut, own: None }
    }

    /// The process that was started for this test.
    #[track_caller]
    pub fn server(&mut self) -> &mut QdrantServer {
        self.own.as_mut().expect("this server was not started by the test")
    }

    /// Cuts the line, or mends it.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }

    pub fn settings(&self) -> Vec<(&str, &str)> {
        let key = self.key.as_deref().unwrap_or("");
        vec![
            ("NOVELO_INDEX", "qdrant"),
            ("NOVELO_QDRANT_URL", &self.url),
            ("NOVELO_QDRANT_PREFIX", &self.prefix),
            ("NOVELO_QDRANT_KEY", key),
            ("NOVELO_QDRANT_TIMEOUT_MS", "5000"),
        ]
    }

    /// How many points a user has in a collection, by the server's own word.
    pub fn count(&self, collection: &str, user: &str) -> u64 {
        let filter = json!({"must": [{"key": "user", "match": {"value": user}}]});
        let path = format!("/collections/{}{collection}/points/count", self.prefix);
        let answer = self.direct.post(&path, json!({"filter": filter, "exact": true}));
        if answer.status == 404 { 0 } else { answer.ok()["result"]["count"].as_u64().unwrap() }
    }

    /// Everything that is said of the points of a collection.
    pub fn payloads(&self, collection: &str) -> Vec<Value> {
        let path = format!("/collections/{}{collection}/points/scroll", self.prefix);
        let answer = self.direct.post(&path, json!({"limit": 1000, "with_payload": true})).ok();
        answer["result"]["points"].as_array().unwrap().iter().map(|point| point["payload"].clone()).collect()
    }

    /// Makes a collection as another program would.
    pub fn create_collection(&self, collection: &str, body: Value) {
        self.direct.put(&format!("/collections/{}{collection}", self.prefix), body).ok();
    }

    pub fn drop_collection(&self, collection: &str) {
        self.direct.delete(&format!("/collections/{}{collection}", self.prefix)).ok();
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        if self.own.is_some() {
            return;
        }
        for collection in ["conversation_memory", "documents", "repositories"] {
            self.direct.delete(&format!("/collections/{}{collection}", self.prefix));
        }
    }
}

/// An address that leads to another for as long as it is not cut.
fn line(there: SocketAddr, is_cut: Arc<AtomicBool>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let here = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let is_cut = is_cut.clone();
            std::thread::spawn(move || {
                if is_cut.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(far) = TcpStream::connect(there) else { return };
                let (back_from, back_to) = (far.try_clone().unwrap(), near.try_clone().unwrap());
                let cut = is_cut.clone();
                std::thread::spawn(move || carry(back_from, back_to, &cut));
                carry(near, far, &is_cut);
            });
        }
    });
    here
}

/// Carries bytes one way until an end hangs up or the line is cut.
fn carry(mut from: TcpStream, mut to: TcpStream, is_cut: &AtomicBool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count) = from.read(&mut bytes) {
        if count == 0 || is_cut.load(Ordering::SeqCst) || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    for end in [from, to] {
        // It may be closed already.
        drop(end.shutdown(Shutdown::Both));
    }
}
