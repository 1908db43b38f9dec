//! The state that all requests to a server share, and the extractors that read it.
//!
//! Invariant: a handler gets only a `Caller` that the guard of its route (`route`) let in.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error};
use novelo_conversation::outbound::Passing;
use novelo_store::Store;

use crate::auth::{self, Keys};
use crate::files;
use crate::http::body_bytes::BodyBytes;
use crate::http::connections::Connections;
use crate::http::error::{ApiError, ApiResult};
use crate::http::origin::OwnNames;
use crate::instance::Instance;

/// A server. Clones share its state.
#[derive(Clone)]
pub struct Server(Arc<ServerState>);

/// The state of a server.
pub struct ServerState {
    pub app: App,
    pub keys: Keys,
    /// The names that requests may use while there are no keys.
    pub names: OwnNames,
    /// The client for requests to other nodes; set once this node joins the nodes of a shared store.
    pub peer_client: OnceLock<Passing>,
    pub connections: Arc<Connections>,
    pub body_bytes: Arc<BodyBytes>,
    /// The secret that this process's own command line presents instead of a key.
    pub own_secret: String,
    /// The data directory that this server has open; set by `serve` before it listens.
    pub instance: OnceLock<Instance>,
}

impl Server {
    /// A server for these conversations. It does not listen yet.
    pub async fn new(app: App) -> anyhow::Result<Self> {
        let settings = &app.settings;
        // A store in memory leaves no files.
        let directory = (!matches!(app.store, Store::Memory(_))).then(|| settings.data.clone());
        let own_secret = auth::secret().map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
        let is_loopback = settings.addr.ip().is_loopback();
        Ok(Self(Arc::new(ServerState {
            keys: Keys::load(&app.store, &own_secret, is_loopback, directory.as_deref()).await?,
            names: OwnNames::new(settings)?,
            peer_client: OnceLock::new(),
            connections: Arc::new(Connections::new(files::connections_max())),
            body_bytes: Arc::new(BodyBytes::new(*settings.http.bodies_bytes)),
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

/// The caller that the guard of the route let in.
impl FromRequestParts<Server> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Server) -> ApiResult<Self> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Error::new(Code::Unauthorized, "this address is public and knows no caller").into())
    }
}

/// Handlers that need only the conversations take them alone.
impl FromRef<Server> for App {
    fn from_ref(server: &Server) -> Self {
        server.app.clone()
    }
}

impl FromRef<Server> for Arc<BodyBytes> {
    fn from_ref(server: &Server) -> Self {
        server.body_bytes.clone()
    }
}
