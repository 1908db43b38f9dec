//! A real Qdrant server, which `make qdrant` fetches: on loopback, without telemetry, in a temporary
//! directory. It ends with its handle, and also where the test process is killed.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::Client;
use super::process::Process;
use super::redis::{BUS, free_port};

const START_TRIES: usize = 10;
const START_MAX: Duration = Duration::from_secs(30);

pub struct QdrantServer {
    pub addr: SocketAddr,
    /// Every request must have it.
    pub key: String,
    dir: TempDir,
    process: Option<Process>,
}

/// Where `make qdrant` puts it, if it did.
pub fn binary() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/qdrant/qdrant");
    path.is_file().then(|| path.canonicalize().unwrap())
}

impl QdrantServer {
    pub fn start(binary: &Path) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = format!("key-of-{}", std::process::id());
        for _ in 0..START_TRIES {
            let addr = SocketAddr::from(([127, 0, 0, 1], free_port(&[])));
            if let Some(process) = run(binary, &dir, addr, &key) {
                return Self { addr, key, dir, process: Some(process) };
            }
        }
        panic!("Qdrant did not start on any of {START_TRIES} ports: {}", log(&dir));
    }

    /// At once, as a power cut would; what it wrote stays.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// After `kill`, at the same address with the same files.
    pub fn start_again(&mut self) {
        let binary = binary().unwrap();
        self.process = run(&binary, &self.dir, self.addr, &self.key);
        assert!(self.process.is_some(), "Qdrant does not start again: {}", log(&self.dir));
    }

    /// A client with the key.
    pub fn client(&self) -> Client {
        Client::new(self.addr).with("api-key", &self.key)
    }

    /// Where it keeps its files.
    pub fn storage(&self) -> &Path {
        self.dir.path()
    }
}

/// `None` where another process took one of the ports.
fn run(binary: &Path, dir: &TempDir, addr: SocketAddr, key: &str) -> Option<Process> {
    let output = File::create(dir.path().join("qdrant.log")).unwrap();
    let mut command = Command::new(binary);
    command.arg("--disable-telemetry").current_dir(dir.path()).stdin(Stdio::null());
    command.stdout(output.try_clone().unwrap()).stderr(output);
    let settings = [
        ("TELEMETRY_DISABLED", "true"),
        ("SERVICE__HOST", "127.0.0.1"),
        ("SERVICE__HTTP_PORT", &addr.port().to_string()),
        ("SERVICE__GRPC_PORT", &(addr.port() + BUS).to_string()),
        ("SERVICE__API_KEY", key),
        ("STORAGE__STORAGE_PATH", "storage"),
        ("STORAGE__SNAPSHOTS_PATH", "snapshots"),
    ];
    command.envs(settings.iter().map(|(name, value)| (format!("QDRANT__{name}"), *value)));
    let mut process = Process::start(&mut command);
    let deadline = Instant::now() + START_MAX;
    // Another process may have been quicker on this port, and answer there: only the log is about this one.
    while !log(dir).contains(&format!("listening on: {addr}")) {
        if process.0.try_wait().unwrap().is_some() {
            return None;
        }
        assert!(Instant::now() < deadline, "Qdrant does not answer: {}", log(dir));
        std::thread::sleep(Duration::from_millis(5));
    }
    Some(process)
}

fn log(dir: &TempDir) -> String {
    std::fs::read_to_string(dir.path().join("qdrant.log")).unwrap_or_default()
}
