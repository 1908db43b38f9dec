//! The real binary in a temporary directory, and a client that sends bytes as given.
//!
//! Owns every process that a test starts: each ends when its handle is dropped, also when the test fails.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod asking;
pub mod batches;
pub mod browser;
pub mod calls;
pub mod client;
pub mod eco;
pub mod embeddings;
pub mod llm;
pub mod models;
pub mod node;
pub mod nodes;
pub mod process;
pub mod qdrant;
pub mod qdrant_server;
#[path = "../../../store/tests/support/redis.rs"]
pub mod redis;
pub mod skipped;
pub mod stream;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use client::{Answer, Client};
pub use novelo_engine::path::encode_segment as enc;
use process::Process;
pub use serde_json::{Value, json};
use tempfile::TempDir;

/// What a call without a key says to make the first one.
pub const CONFIRM: (&str, &str) = ("x-novelo-confirm", "create-first-key");

const READY: &str = "novelo is ready at http://";

/// The program under test. `crates/bench` uses these modules too, for the commands that `novelo-bench`
/// carries out.
const PROGRAM: &str = match (option_env!("CARGO_BIN_EXE_novelo"), option_env!("CARGO_BIN_EXE_novelo-bench")) {
    (Some(program), _) | (None, Some(program)) => program,
    (None, None) => panic!("cargo names the program to integration tests of its own package only"),
};

/// A directory of its own: data, policies, and where commands run.
pub struct Home {
    dir: TempDir,
}

/// A running server. It takes calls as a client without a key.
pub struct Server {
    pub home: Arc<Home>,
    client: Client,
    child: Process,
}

/// A server that is on its way up.
struct Starting {
    home: Arc<Home>,
    child: Process,
    log: String,
}

/// What a command printed, and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Home {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { dir: tempfile::tempdir().unwrap() })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env("NOVELO_DATA", self.data()).env("NOVELO_POLICIES", self.path("policies"));
        command.env("NOVELO_SAMPLE", "false").env("NOVELO_ASK_DATABASE", "none").env("NOVELO_LOG_LEVEL", "warn");
        // What the developer's own environment names is not for tests.
        command.env_remove("QDRANT_URL").env_remove("QDRANT_API_KEY");
        command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL").env_remove("OLLAMA_HOST");
        command.env_remove("REDIS_URL").env_remove("QDRANT_URL").env_remove("QDRANT_API_KEY");
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&mut self.command(args))
    }

    /// Runs a command that must succeed, and gives what it printed.
    pub fn done(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran.out
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn serve(self: &Arc<Self>) -> Server {
        self.serve_with(&[])
    }

    /// Starts a server with more settings.
    pub fn serve_with(self: &Arc<Self>, settings: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve", "--addr", "127.0.0.1:0"]);
        command.envs(settings.iter().copied());
        self.starting(command, "stderr.log").ready()
    }

    pub fn serve_at(self: &Arc<Self>, addr: &str) -> Server {
        self.starting(self.command(&["serve", "--addr", addr]), "stderr.log").ready()
    }

    /// Starts a server that may have so many files open, as `ulimit -n` says it: a soft and a hard limit.
    pub fn serve_with_files(self: &Arc<Self>, soft: u32, hard: u32) -> Server {
        let own = self.command(&["serve", "--addr", "127.0.0.1:0"]);
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -S -n {soft} && ulimit -H -n {hard} && exec \"$@\""), "sh"]);
        command.arg(own.get_program()).args(own.get_args()).current_dir(self.dir.path()).stdin(Stdio::null());
        for (name, value) in own.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        self.starting(command, "stderr.log").ready()
    }

    /// Starts the server of a command, and does not wait for it.
    fn starting(self: &Arc<Self>, mut command: Command, log: &str) -> Starting {
        command.stdout(Stdio::piped()).stderr(std::fs::File::create(self.path(log)).unwrap());
        Starting { home: self.clone(), child: Process::start(&mut command), log: log.to_owned() }
    }
}

impl Starting {
    /// Waits until it takes calls.
    fn ready(mut self) -> Server {
        let mut line = String::new();
        BufReader::new(self.child.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let addr = line.trim().strip_prefix(READY).and_then(|addr| addr.parse().ok());
        let addr: SocketAddr = addr.unwrap_or_else(|| {
            let said = std::fs::read_to_string(self.home.path(&self.log)).unwrap();
            panic!("the server did not start: {line:?} {said}")
        });
        Server { home: self.home, client: Client::new(addr), child: self.child }
    }
}

impl Ran {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Standard output as one JSON value.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// Asserts exit code 1 and words on standard error.
    pub fn failed(&self, words: &[&str]) {
        assert_eq!(self.code, Some(1), "{self:?}");
        assert!(self.err.starts_with("error: "), "{self:?}");
        words.iter().for_each(|word| assert!(self.err.contains(word), "{word:?} is not in {self:?}"));
    }
}

impl Server {
    /// A fresh server in a fresh directory.
    pub fn start() -> Self {
        Home::new().serve()
    }

    /// Ends it at once, as `kill -9` does.
    pub fn kill(mut self) -> Arc<Home> {
        self.child.0.kill().unwrap();
        self.child.0.wait().unwrap();
        self.home.clone()
    }

    /// Ends it at once and starts another on the same data.
    pub fn restart(self) -> Self {
        self.kill().serve()
    }

    /// A client without a key, for another thread.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    pub fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.pid())]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end.
    pub fn ended(mut self) -> (ExitStatus, Arc<Home>) {
        (self.child.0.wait().unwrap(), self.home.clone())
    }

    /// One counter of `/metrics`.
    pub fn metric(&self, name: &str) -> u64 {
        let page = self.get("/metrics").text();
        let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
    }

    /// A client with the secret that this machine's own command line uses.
    pub fn client_of_the_data_directory(&self) -> Client {
        let note = std::fs::read_to_string(self.home.data().join("serving.json")).unwrap();
        let note: Value = serde_json::from_str(&note).unwrap();
        self.client.with("authorization", &format!("Bearer {}", note["secret"].as_str().unwrap()))
    }

    /// A client with a new key of one user.
    pub fn user_key(&self, admin: &Client, user: &str) -> Client {
        self.keyed(admin, json!({"user": user}))
    }

    /// A client with an admin key, which may be the first key.
    pub fn admin_key(&self) -> Client {
        self.keyed(&self.with(CONFIRM.0, CONFIRM.1), json!({"admin": true}))
    }

    /// A client with a key of another kind: guest or service.
    pub fn key_of_kind(&self, admin: &Client, kind: &str) -> Client {
        self.keyed(admin, json!({"kind": kind}))
    }

    fn keyed(&self, admin: &Client, wish: Value) -> Client {
        let key = admin.post("/v1/keys", wish).ok();
        self.client.with("authorization", &format!("Bearer {}", key["key"].as_str().unwrap()))
    }
}

impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// `/v1/users/{user}/threads/{thread}` and what follows.
pub fn thread(user: &str, thread: &str, rest: &str) -> String {
    format!("/v1/users/{}/threads/{}{rest}", enc(user), enc(thread))
}

pub fn user(user: &str, rest: &str) -> String {
    format!("/v1/users/{}{rest}", enc(user))
}

pub fn says(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

/// Polls until it holds; false after 30 seconds.
pub fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(30) {
        if is_so() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

/// Every file below a directory.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// What a file holds, without the zeros that a journal is allocated with. One that was removed meanwhile
/// holds nothing.
pub fn contents(file: &Path) -> Vec<u8> {
    const ZEROS: [u8; 4096] = [0; 4096];
    let mut bytes = match std::fs::read(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        bytes => bytes.unwrap(),
    };
    while bytes.ends_with(&ZEROS) {
        bytes.truncate(bytes.len() - ZEROS.len());
    }
    bytes
}

/// The first file below a directory that holds a text, and where.
pub fn holding(dir: &Path, text: &str) -> Option<(PathBuf, usize)> {
    let place = |bytes: Vec<u8>| bytes.windows(text.len()).position(|window| window == text.as_bytes());
    files(dir).into_iter().find_map(|file| place(contents(&file)).map(|at| (file, at)))
}
