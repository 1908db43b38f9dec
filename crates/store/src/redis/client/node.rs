//! One server and the way to it.
//!
//! Owns the connection, who may make it anew, and what was last wrong with it. Refuses to try again for a moment after
//! an attempt failed, so that callers learn at once that the server is gone. Invariant: one attempt at a time, shared
//! by all who wait for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::conn::{Connection, Lost, Pending, lock, words};
use super::resp::{Command, Reply};
use super::url::{Address, Target};

/// For how long a failed attempt answers for the next ones.
const FAILED_FOR: Duration = Duration::from_millis(100);
/// How many connections one call may find ended.
const CONNECTIONS_MAX: usize = 3;

/// How every server of a client is reached.
pub(super) struct Way {
    pub(super) target: Target,
    pub(super) tls: Option<Arc<ClientConfig>>,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
}

pub(super) struct Node {
    pub(super) address: Address,
    way: Arc<Way>,
    /// Written by the one who holds `dialing`, read by every call.
    state: Mutex<State>,
    dialing: tokio::sync::Mutex<()>,
    /// Written by calls as they end, read by whoever asks for the health.
    fault: Mutex<Option<String>>,
}

enum State {
    /// Not tried yet.
    Unknown,
    Up {
        connection: Connection,
        life: u64,
    },
    Failed {
        at: Instant,
        why: Failure,
    },
}

/// Why there is no connection.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    Unreachable(String),
    /// The server is there and does not let us in.
    Forbidden(String),
}

impl Failure {
    pub(super) fn why(self) -> String {
        match self {
            Self::Unreachable(why) | Self::Forbidden(why) => why,
        }
    }
}

impl Node {
    pub(super) fn new(address: Address, way: Arc<Way>) -> Self {
        let state = Mutex::new(State::Unknown);
        Self { address, way, state, dialing: tokio::sync::Mutex::default(), fault: Mutex::default() }
    }

    /// Sends the commands and waits for their answers.
    pub(super) async fn ask(&self, commands: Vec<Bytes>) -> Result<Vec<Reply>, Lost> {
        match self.send(commands).await {
            Ok(pending) => self.wait(pending).await,
            Err(failure) => Err(Lost::Unreachable(failure.why())),
        }
    }

    /// Hands the commands to a connection that is up.
    pub(super) async fn send(&self, mut commands: Vec<Bytes>) -> Result<Pending, Failure> {
        for _ in 0..CONNECTIONS_MAX {
            let connection = self.connection().await.inspect_err(|failure| self.note(Some(failure.clone().why())))?;
            match connection.send(commands).await {
                Ok(pending) => return Ok(pending),
                Err(unsent) => commands = unsent,
            }
        }
        Err(Failure::Unreachable(self.name("connections end as soon as they are made")))
    }

    pub(super) async fn wait(&self, pending: Pending) -> Result<Vec<Reply>, Lost> {
        match pending.wait().await {
            Ok(replies) => {
                self.note(None);
                Ok(replies)
            }
            Err(Lost::NotSent(why) | Lost::Unreachable(why)) => Err(Lost::NotSent(self.name(&why))),
            Err(Lost::MaybeDone(why)) => {
                let why = self.name(&why);
                self.note(Some(why.clone()));
                Err(Lost::MaybeDone(why))
            }
        }
    }

    pub(super) async fn connection(&self) -> Result<Connection, Failure> {
        if let Some(known) = self.known() {
            return known;
        }
        let _dialing = self.dialing.lock().await;
        if let Some(known) = self.known() {
            return known;
        }
        let dialed = match tokio::time::timeout(self.way.connect_timeout, self.dial()).await {
            Ok(dialed) => dialed,
            Err(_) => {
                let ms = self.way.connect_timeout.as_millis();
                Err(Failure::Unreachable(format!("no connection within {ms} ms")))
            }
        };
        let (state, dialed) = match dialed {
            Ok((connection, life)) => (State::Up { connection: connection.clone(), life }, Ok(connection)),
            Err(failure) => {
                let why = match failure {
                    Failure::Unreachable(why) => Failure::Unreachable(self.name(&why)),
                    Failure::Forbidden(why) => Failure::Forbidden(self.name(&why)),
                };
                (State::Failed { at: Instant::now(), why: why.clone() }, Err(why))
            }
        };
        *lock(&self.state) = state;
        dialed
    }

    /// What was last wrong, unless it worked since.
    pub(super) fn fault(&self) -> Option<String> {
        lock(&self.fault).clone()
    }

    pub(super) fn note(&self, fault: Option<String>) {
        let mut known = lock(&self.fault);
        if fault.is_some() || known.is_some() {
            *known = fault;
        }
    }

    fn known(&self) -> Option<Result<Connection, Failure>> {
        match &*lock(&self.state) {
            State::Up { connection, .. } if !connection.is_down() => Some(Ok(connection.clone())),
            State::Failed { at, why } if at.elapsed() < FAILED_FOR => Some(Err(why.clone())),
            _ => None,
        }
    }

    async fn dial(&self) -> Result<(Connection, u64), Failure> {
        let unreachable = |error: std::io::Error| Failure::Unreachable(words(&error));
        let Address { host, port } = &self.address;
        let stream = TcpStream::connect((host.as_str(), *port)).await.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let timeout = self.way.timeout;
        let connection = match &self.way.tls {
            None => Connection::new(stream, timeout),
            Some(tls) => {
                let name = ServerName::try_from(host.clone())
                    .map_err(|_| Failure::Unreachable("the host is no name that a certificate can have".into()))?;
                let connector = TlsConnector::from(tls.clone());
                Connection::new(connector.connect(name, stream).await.map_err(unreachable)?, timeout)
            }
        };
        let life = self.greet(&connection).await?;
        Ok((connection, life))
    }

    /// Also tells a server that answers from one whose port merely accepts. Which run of it this is: a server that was
    /// started again may have lost what it had answered, and so may the one that takes its place.
    async fn greet(&self, connection: &Connection) -> Result<u64, Failure> {
        let lost = |lost| match lost {
            Lost::Unreachable(why) | Lost::NotSent(why) | Lost::MaybeDone(why) => Failure::Unreachable(why),
        };
        let pending = connection.send(greeting(&self.way.target)).await;
        let pending = pending.map_err(|_| Failure::Unreachable("the connection ended".into()))?;
        let mut life = super::super::random();
        for reply in pending.wait().await.map_err(lost)? {
            match reply {
                Reply::Text(said) if run_of(&said).is_some() => life = run_of(&said).unwrap_or(life),
                Reply::Refused(why) if why.starts_with("NOPERM") && why.contains("info") => {}
                Reply::Refused(why) if is_forbidden(&why) => return Err(Failure::Forbidden(why)),
                // Commands are refused for a while, and say so themselves.
                Reply::Refused(why) if why.starts_with("LOADING") || why.starts_with("BUSY") => {}
                Reply::Refused(why) => return Err(Failure::Unreachable(why)),
                _ => {}
            }
        }
        Ok(life)
    }

    /// Which run of the server the connection is to; 0 while there is none.
    pub(super) fn life(&self) -> u64 {
        match &*lock(&self.state) {
            State::Up { connection, life } if !connection.is_down() => *life,
            _ => 0,
        }
    }

    fn name(&self, why: &str) -> String {
        format!("redis at {}: {why}", self.address)
    }
}

fn greeting(target: &Target) -> Vec<Bytes> {
    let auth = target.password.as_ref().map(|password| Command::new("AUTH").args(&target.user).arg(password));
    let select = (target.db > 0).then(|| Command::new("SELECT").int(target.db.into()));
    let commands = auth.into_iter().chain(select).chain([Command::new("INFO").arg("server")]);
    commands.map(Command::into_bytes).collect()
}

/// What a server calls this run of it, as a number.
fn run_of(info: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(info).ok()?.lines().find_map(|line| line.strip_prefix("run_id:"))?;
    Some(xxhash_rust::xxh3::xxh3_64(line.trim_end().as_bytes()).max(1))
}

fn is_forbidden(why: &str) -> bool {
    ["WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "ERR DB index", "ERR SELECT", "ERR invalid password", "DENIED"]
        .iter()
        .any(|word| why.starts_with(word))
}
