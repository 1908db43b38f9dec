//! The state that all requests to a server share, and the extractor of the caller, which reads it.
//!
//! Invariant: a `Caller` exists only where the route lets in its kind, and may name the user of the address.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use axum::extract::{FromRef, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error};
use novelo_conversation::outbound::Passing;
use novelo_store::Store;

use crate::auth::{self, Access, Keys};
use crate::files;
use crate::http::body_bytes::BodyBytes;
use crate::http::connections::Connections;
use crate::http::error::{ApiError, ApiResult};
use crate::http::origin::OwnNames;
use crate::http::route::RouteFacts;
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
        let config = &app.config;
        // A store in memory leaves no files.
        let directory = (!matches!(app.store, Store::Memory(_))).then(|| config.data());
        let own_secret = auth::secret().map_err(|e| anyhow::anyhow!("no randomness: {e}"))?;
        let is_loopback = config.addr().ip().is_loopback();
        Ok(Self(Arc::new(ServerState {
            keys: Keys::load(&app.store, &own_secret, is_loopback, directory.as_deref()).await?,
            names: OwnNames::new(config)?,
            peer_client: OnceLock::new(),
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

/// The caller, if the route lets it in and it may name the user of the address.
impl FromRequestParts<Server> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> ApiResult<Self> {
        let header = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::to_str).transpose();
        let header = header.map_err(|_| Error::new(Code::Unauthorized, "the Authorization header is not text"))?;
        let keys = server.keys.now(&server.app.store).await?;
        if keys.is_open() {
            server.names.require(&parts.method, &parts.uri, &parts.headers)?;
        }
        let caller = keys.caller(header)?;
        let facts = parts.extensions.get::<RouteFacts>();
        facts.map_or(Access::Admins, |facts| facts.access).require(&caller)?;
        // Parameters that cannot be decoded are refused by the extractor that decodes them.
        if let Ok(params) = RawPathParams::from_request_parts(parts, server).await
            && let Some((_, user)) = params.iter().find(|(name, _)| *name == "user")
        {
            caller.require_user(user)?;
        }
        Ok(caller)
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
