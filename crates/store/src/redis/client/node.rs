//! One server and the connection to it.
//!
//! Owns the connection, the attempts to make it, and its last failure. After a failed attempt there is none
//! for a moment, so that callers get the error at once. Invariant: there is one attempt at a time, shared by
//! all callers that wait for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use super::conn::{CallFailure, Connection, PendingReplies, describe_io_error};
use super::resp::{Command, Reply};
use super::url::{Address, Target};
use crate::lock::lock;

/// For how long the error of a failed attempt is returned without another attempt.
const FAILED_FOR: Duration = Duration::from_millis(100);
/// How many connections one call may find ended.
const CONNECTIONS_MAX: usize = 3;

/// How every server of a client is reached.
pub(super) struct ConnectSettings {
    pub(super) target: Target,
    pub(super) tls: Option<Arc<ClientConfig>>,
    pub(super) timeout: Duration,
}

pub(super) struct Node {
    pub(super) address: Address,
    settings: Arc<ConnectSettings>,
    /// Written by the holder of `dialing`, read by every call.
    state: Mutex<ConnectionState>,
    dialing: tokio::sync::Mutex<()>,
    /// Written by calls as they end, read by `fault`.
    fault: Mutex<Option<String>>,
}

enum ConnectionState {
    /// Not tried yet.
    Unknown,
    Up {
        connection: Connection,
        server_run: u64,
    },
    Failed {
        at: Instant,
        why: ConnectFailure,
    },
}

/// Why there is no connection.
#[derive(Debug, Clone)]
pub(super) enum ConnectFailure {
    Unreachable(String),
    /// The server answers and refuses access.
    Forbidden(String),
}

impl ConnectFailure {
    pub(super) fn why(self) -> String {
        match self {
            Self::Unreachable(why) | Self::Forbidden(why) => why,
        }
    }
}

impl Node {
    pub(super) fn new(address: Address, settings: Arc<ConnectSettings>) -> Self {
        let state = Mutex::new(ConnectionState::Unknown);
        Self { address, settings, state, dialing: tokio::sync::Mutex::default(), fault: Mutex::default() }
    }

    /// Sends the commands and waits for their answers.
    pub(super) async fn ask(&self, commands: Vec<Bytes>) -> Result<Vec<Reply>, CallFailure> {
        match self.send(commands).await {
            Ok(pending) => self.wait(pending).await,
            Err(failure) => Err(CallFailure::Unreachable(failure.why())),
        }
    }

    /// Hands the commands to a connection that is up.
    pub(super) async fn send(&self, mut commands: Vec<Bytes>) -> Result<PendingReplies, ConnectFailure> {
        for _ in 0..CONNECTIONS_MAX {
            let connection = self.connection().await.inspect_err(|failure| self.note(Some(failure.clone().why())))?;
            match connection.send(commands).await {
                Ok(pending) => return Ok(pending),
                Err(unsent) => commands = unsent,
            }
        }
        Err(ConnectFailure::Unreachable(self.name("connections end as soon as they are made")))
    }

    pub(super) async fn wait(&self, pending: PendingReplies) -> Result<Vec<Reply>, CallFailure> {
        match pending.wait().await {
            Ok(replies) => {
                self.note(None);
                Ok(replies)
            }
            Err(CallFailure::NotSent(why) | CallFailure::Unreachable(why)) => {
                Err(CallFailure::NotSent(self.name(&why)))
            }
            Err(CallFailure::MaybeDone(why)) => {
                let why = self.name(&why);
                self.note(Some(why.clone()));
                Err(CallFailure::MaybeDone(why))
            }
        }
    }

    pub(super) async fn connection(&self) -> Result<Connection, ConnectFailure> {
        if let Some(known) = self.known() {
            return known;
        }
        let _dialing = self.dialing.lock().await;
        if let Some(known) = self.known() {
            return known;
        }
        let dialed = match tokio::time::timeout(self.settings.timeout, self.dial()).await {
            Ok(dialed) => dialed,
            Err(_) => {
                let ms = self.settings.timeout.as_millis();
                Err(ConnectFailure::Unreachable(format!("no connection within {ms} ms")))
            }
        };
        let (state, dialed) = match dialed {
            Ok((connection, server_run)) => {
                (ConnectionState::Up { connection: connection.clone(), server_run }, Ok(connection))
            }
            Err(failure) => {
                let why = match failure {
                    ConnectFailure::Unreachable(why) => ConnectFailure::Unreachable(self.name(&why)),
                    ConnectFailure::Forbidden(why) => ConnectFailure::Forbidden(self.name(&why)),
                };
                (ConnectionState::Failed { at: Instant::now(), why: why.clone() }, Err(why))
            }
        };
        *lock(&self.state) = state;
        dialed
    }

    /// The last failure, unless a call succeeded since.
    pub(super) fn fault(&self) -> Option<String> {
        lock(&self.fault).clone()
    }

    pub(super) fn note(&self, fault: Option<String>) {
        let mut known = lock(&self.fault);
        if fault.is_some() || known.is_some() {
            *known = fault;
        }
    }

    fn known(&self) -> Option<Result<Connection, ConnectFailure>> {
        match &*lock(&self.state) {
            ConnectionState::Up { connection, .. } if !connection.is_down() => Some(Ok(connection.clone())),
            ConnectionState::Failed { at, why } if at.elapsed() < FAILED_FOR => Some(Err(why.clone())),
            _ => None,
        }
    }

    async fn dial(&self) -> Result<(Connection, u64), ConnectFailure> {
        let unreachable = |error: std::io::Error| ConnectFailure::Unreachable(describe_io_error(&error));
        let Address { host, port } = &self.address;
        let stream = TcpStream::connect((host.as_str(), *port)).await.map_err(unreachable)?;
        stream.set_nodelay(true).map_err(unreachable)?;
        let timeout = self.settings.timeout;
        let connection = match &self.settings.tls {
            None => Connection::new(stream, timeout),
            Some(tls) => {
                let name = ServerName::try_from(host.clone()).map_err(|_| {
                    ConnectFailure::Unreachable("the host is no name that a certificate can have".into())
                })?;
                let connector = TlsConnector::from(tls.clone());
                Connection::new(connector.connect(name, stream).await.map_err(unreachable)?, timeout)
            }
        };
        let server_run = self.greet(&connection).await?;
        Ok((connection, server_run))
    }

    /// Makes sure that a server answers, and not only that a port accepts. Returns the run of the server: one
    /// that was started again, or that took over, may have lost what was acknowledged.
    async fn greet(&self, connection: &Connection) -> Result<u64, ConnectFailure> {
        let lost = |lost| match lost {
            CallFailure::Unreachable(why) | CallFailure::NotSent(why) | CallFailure::MaybeDone(why) => {
                ConnectFailure::Unreachable(why)
            }
        };
        let pending = connection.send(greeting(&self.settings.target)).await;
        let pending = pending.map_err(|_| ConnectFailure::Unreachable("the connection ended".into()))?;
        let mut server_run = super::super::random();
        for reply in pending.wait().await.map_err(lost)? {
            match reply {
                Reply::Text(said) if run_of(&said).is_some() => server_run = run_of(&said).unwrap_or(server_run),
                Reply::Refused(why) if why.starts_with("NOPERM") && why.contains("info") => {}
                Reply::Refused(why) if is_forbidden(&why) => return Err(ConnectFailure::Forbidden(why)),
                // Commands are refused for a while; each caller handles that.
                Reply::Refused(why) if why.starts_with("LOADING") || why.starts_with("BUSY") => {}
                Reply::Refused(why) => return Err(ConnectFailure::Unreachable(why)),
                _ => {}
            }
        }
        Ok(server_run)
    }

    /// The run of the server at the other end; 0 without a connection.
    pub(super) fn server_run(&self) -> u64 {
        match &*lock(&self.state) {
            ConnectionState::Up { connection, server_run } if !connection.is_down() => *server_run,
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

/// The `run_id` of the server as a number.
fn run_of(info: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(info).ok()?.lines().find_map(|line| line.strip_prefix("run_id:"))?;
    Some(xxhash_rust::xxh3::xxh3_64(line.trim_end().as_bytes()).max(1))
}

fn is_forbidden(why: &str) -> bool {
    ["WRONGPASS", "NOAUTH", "NOPERM", "ERR AUTH", "ERR DB index", "ERR SELECT", "ERR invalid password", "DENIED"]
        .iter()
        .any(|word| why.starts_with(word))
}
