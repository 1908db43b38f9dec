//! What all requests to a server share: the conversations, and what only a server has.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use axum::extract::FromRef;
use novelo_conversation::app::App;
use novelo_store::Store;

use crate::auth::{self, Keys};
use crate::files;
use crate::http::body_bytes::BodyBytes;
use crate::http::connections::Connections;
use crate::http::origin::OwnNames;
use crate::instance::Instance;
use crate::peers::Peers;

/// A server; clones share it.
#[derive(Clone)]
pub struct Server(Arc<ServerState>);

/// What a server has.
pub struct ServerState {
    pub app: App,
    pub keys: Keys,
    /// Under which names it is reached while there are no keys.
    pub names: OwnNames,
    pub peers: Peers,
    pub connections: Arc<Connections>,
    pub body_bytes: Arc<BodyBytes>,
    /// What this process's own command line presents instead of a key.
    pub own_secret: String,
    /// The data directory that this server has open; set by `serve` before it listens.
    pub instance: OnceLock<Instance>,
}

impl Server {
    /// The server of these conversations. It does not listen yet.
    pub async fn new(app: App) -> anyhow::Result<Self> {
        let config = &app.config;
        // A store in memory leaves nothing behind.
        let directory = (!matches!(app.store, Store::Memory(_))).then(|| config.data());
        let own_secret = auth::secret().map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
        let is_loopback = config.addr().ip().is_loopback();
        Ok(Self(Arc::new(ServerState {
            keys: Keys::load(&app.store, &own_secret, is_loopback, directory.as_deref()).await?,
            names: OwnNames::new(config)?,
            peers: Peers::default(),
            connections: Arc::new(Connections::new(files::connections_max())),
            body_bytes: Arc::new(BodyBytes::new(config.number("http.bodies_bytes") as usize)),
            own_secret,
            instance: OnceLock::new(),
            app,
        })))
    }
}

impl Deref for Server {
    type Target = ServerState;

    fn deref(&self) -> &ServerState {
        &self.0
    }
}

/// Handlers that need only the conversations take them alone.
impl FromRef<Server> for App {
    fn from_ref(server: &Server) -> Self {
        server.app.clone()
    }
}
