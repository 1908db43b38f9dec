//! A client of the API: over the network where a server runs, else within this process.
//!
//! Owns the proof that a server has this data directory open. Every connection begins with the proof, before
//! the secret or anything else is sent, and carries one request. A note that leads to another server is
//! stale: the directory is then opened in this process, and its lock decides.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, bail};
use axum::body::Body;
use http_body_util::BodyExt;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tower::ServiceExt;

use super::output::in_words;
use super::serve::{ServerNote, note_path};
use crate::instance::{CHALLENGE, INSTANCE, Instance, random_hex};
use crate::router::{self, AppRouter};
use crate::server::Server;
use novelo_conversation::app::{self, App, Tasks};
use novelo_conversation::settings::{Settings, StoreKind};

/// How long a server may take to prove which directory it has open.
const PROOF_WAIT: Duration = Duration::from_secs(5);
/// The cap on the body of the answer to a challenge.
const PROOF_BYTES_MAX: usize = 64 * 1024;

/// Where requests to the API are sent.
pub enum Client {
    /// To the server that has the data directory open.
    Server(NotedServer),
    /// To a router in this process, which has opened the data directory.
    Here { router: AppRouter, own_secret: String, app: App, tasks: Tasks },
}

/// The server of a data directory, from its note.
pub struct NotedServer {
    note: ServerNote,
    addr: SocketAddr,
    instance: Instance,
}

impl Client {
    /// Finds the server of this data directory, or opens the directory.
    pub async fn connect(settings: Settings) -> anyhow::Result<Self> {
        let mut stale = None;
        if let Some(server) = NotedServer::noted(&settings) {
            match server.connect().await {
                Ok(_) => return Ok(Self::Server(server)),
                Err(error) => {
                    let why = in_words(&error);
                    stale = Some(format!("the server noted there, {}, is not its server: {why}", server.addr));
                }
            }
        }
        let opened = app::open(settings).await;
        let (app, tasks) = opened.map_err(|error| match (error.downcast_ref(), stale) {
            (Some(novelo_store::Error::Locked { .. }), Some(stale)) => error.context(stale),
            _ => error,
        })?;
        let server = Server::new(app.clone()).await?;
        if app.settings.is_shared() {
            // Running nodes must forget what is forgotten here.
            crate::peers::open_client(&server)?;
        }
        Ok(Self::here(server, tasks))
    }

    /// The same for a command that writes nothing. A directory that cannot be written to is opened for
    /// reading, unless a server has it open.
    pub(crate) async fn connect_to_read(settings: Settings) -> anyhow::Result<Self> {
        let data = &settings.data;
        let is_writable = settings.store != StoreKind::Local || !data.is_dir() || novelo_store::is_writable(data);
        let is_served = match NotedServer::noted(&settings) {
            Some(server) => server.connect().await.is_ok(),
            None => false,
        };
        if is_writable || is_served {
            return Self::connect(settings).await;
        }
        let (app, tasks) = app::open_read_only(settings).await?;
        Ok(Self::here(Server::new(app).await?, tasks))
    }

    /// Opens a store that this process fills, or resumes filling.
    pub async fn fill(settings: Settings) -> anyhow::Result<Self> {
        let (app, tasks) = app::open_to_fill(settings).await?;
        Ok(Self::here(Server::new(app).await?, tasks))
    }

    fn here(server: Server, tasks: Tasks) -> Self {
        let (app, own_secret) = (server.app.clone(), server.own_secret.clone());
        Self::Here { router: router::router(server), own_secret, app, tasks }
    }

    /// Sends a request. Any response is accepted.
    pub async fn send(&self, method: Method, path: &str, body: Body) -> anyhow::Result<Response<Body>> {
        let request = Request::builder().method(method).uri(path);
        match self {
            Self::Server(server) => {
                let mut connection = server.connect().await.context("the server did not answer")?;
                let request = request.header(HOST, server.addr.to_string());
                let request = request.header(AUTHORIZATION, format!("Bearer {}", server.note.secret)).body(body)?;
                let sent = connection.send_request(request).await;
                Ok(sent.context("the server did not answer")?.map(Body::new))
            }
            Self::Here { router, own_secret, .. } => {
                let bearer = format!("Bearer {own_secret}");
                Ok(router.clone().oneshot(request.header(AUTHORIZATION, bearer).body(body)?).await?)
            }
        }
    }

    /// Sends and receives JSON. A refusal is an error with the server's message.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let body = body.map_or_else(Body::empty, |b| Body::from(b.to_string()));
        let response = self.send(method, path, body).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            return Err(refusal(&bytes));
        }
        serde_json::from_slice(&bytes).context("the answer is not JSON")
    }

    /// Closes the data directory properly.
    pub async fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Server(_) => Ok(()),
            Self::Here { router, app, tasks, .. } => {
                drop(router);
                app::close(app, tasks).await
            }
        }
    }
}

impl NotedServer {
    /// The server that the note in the directory names. A note without an instance is from a version that had
    /// none.
    fn noted(settings: &Settings) -> Option<Self> {
        let note = std::fs::read(note_path(settings)).ok()?;
        let note: ServerNote = serde_json::from_slice(&note).ok()?;
        Some(Self { addr: reachable(note.addr.parse().ok()?), note, instance: Instance::read(&settings.data)? })
    }

    /// A connection to the server of this directory and to no other.
    async fn connect(&self) -> anyhow::Result<SendRequest<Body>> {
        let proven = tokio::time::timeout(PROOF_WAIT, self.connect_and_prove()).await;
        proven.unwrap_or_else(|_| bail!("it did not answer within {} seconds", PROOF_WAIT.as_secs()))
    }

    async fn connect_and_prove(&self) -> anyhow::Result<SendRequest<Body>> {
        // Not as an I/O error: `novelo chat` takes such an error for one of its own terminal.
        let connected =
            TcpStream::connect(self.addr).await.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = connected.map_err(|error| anyhow::anyhow!("nobody listens there: {}", in_words(&error.into())))?;
        let (mut send, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // The connection ends after its last request, or when the server closes it. Each request reports its
        // own failure.
        tokio::spawn(connection);
        let challenge = random_hex()?;
        let request = Request::get("/health/live").header(HOST, self.addr.to_string());
        let response = send.send_request(request.header(CHALLENGE, &challenge).body(Body::empty())?).await?;
        let proof = response.headers().get(INSTANCE).map(|proof| proof.as_bytes().to_vec());
        http_body_util::Limited::new(response.into_body(), PROOF_BYTES_MAX)
            .collect()
            .await
            .map_err(|error| anyhow::anyhow!("{error}"))?;
        let expected = self.instance.prove(&self.note.secret, &challenge);
        send.ready().await?;
        match proof.is_some() && proof == expected.map(String::into_bytes) {
            true => Ok(send),
            false => bail!("it has another data directory open"),
        }
    }
}

/// A server that listens on every address is reached on loopback.
fn reachable(addr: SocketAddr) -> SocketAddr {
    let ip = match addr.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, addr.port())
}

/// The message of a refusal.
pub fn refusal(body: &[u8]) -> anyhow::Error {
    let said: Option<Value> = serde_json::from_slice(body).ok();
    let words = said.as_ref().and_then(|said| said.pointer("/error/message")?.as_str());
    anyhow::anyhow!("{}", words.unwrap_or("refused"))
}
