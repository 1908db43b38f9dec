//! Routes that carry their own facts.
//!
//! Owns the one way to declare a route: its path, its facts and its handlers. The router is built from these
//! declarations, and so is the table that the guard of public pages and the other nodes look into; there is
//! no other list of addresses. Owns authorization too: the guard of a route runs before its handlers, so that
//! a handler that ignores its caller is still protected. Invariants: a route states who may call it. A
//! request without facts matched no route.

use std::convert::Infallible;

use axum::Router;
use axum::extract::{FromRequestParts, RawPathParams, Request, State};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, Route};
use rustc_hash::FxHashMap;
use tower::{Layer, Service};

use crate::auth::Access;
use crate::http::error::ApiError;
use crate::server::Server;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};

/// What the server knows about a route besides its handlers. Each request carries those of its route as an
/// extension.
#[derive(Debug, Clone)]
pub struct RouteFacts {
    pub access: Access,
    pub node_memory: Option<NodeMemory>,
    /// The methods by which pages of other origins may call it.
    pub page_methods: Option<&'static str>,
    has_page: bool,
    forgets_on: Option<Method>,
    refuse: Refuse,
}

/// How a surface refuses a caller.
pub(crate) type Refuse = fn(&Server, Error) -> Response;

/// What a route reads from the memory of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeMemory {
    /// The reply that the last segment of the path names. The name contains the node.
    NamedReply,
    /// The response that a segment of the path names. The id contains the node that makes it.
    Response,
    /// A trace that may not be stored yet. Any node may have it.
    Trace,
}

impl From<Access> for RouteFacts {
    fn from(access: Access) -> Self {
        Self {
            access,
            node_memory: None,
            page_methods: None,
            has_page: false,
            forgets_on: None,
            refuse: |_, error| ApiError(error).into_response(),
        }
    }
}

impl Access {
    /// A client that prefers a page to JSON gets one without a key; it holds no data.
    pub(crate) fn with_public_page(self) -> RouteFacts {
        RouteFacts { has_page: true, ..self.into() }
    }

    pub(crate) fn reading(self, node_memory: NodeMemory) -> RouteFacts {
        RouteFacts::from(self).reading(node_memory)
    }

    /// Pages of `http.origins` may call it by these methods, and read the answers (`cors`).
    pub(crate) fn for_pages(self, methods: &'static str) -> RouteFacts {
        RouteFacts::from(self).for_pages(methods)
    }

    /// This method removes replies and traces that any node may have in memory, so every node runs it.
    pub(crate) fn forgetting_on(self, method: Method) -> RouteFacts {
        RouteFacts::from(self).forgetting_on(method)
    }

    /// A caller that may not call the route is refused in the form of its surface.
    pub(crate) fn refusing(self, refuse: Refuse) -> RouteFacts {
        RouteFacts { refuse, ..self.into() }
    }
}

impl RouteFacts {
    pub(crate) fn reading(self, node_memory: NodeMemory) -> Self {
        Self { node_memory: Some(node_memory), ..self }
    }

    pub(crate) fn forgetting_on(self, method: Method) -> Self {
        Self { forgets_on: Some(method), ..self }
    }

    pub(crate) fn for_pages(self, methods: &'static str) -> Self {
        Self { page_methods: Some(methods), ..self }
    }

    /// Whether the route answers some callers without a key.
    pub(crate) fn is_public(&self) -> bool {
        self.access == Access::Public || self.has_page
    }

    pub fn forgets(&self, method: &Method) -> bool {
        self.forgets_on.as_ref() == Some(method)
    }
}

/// The facts of all routes, by path.
#[derive(Debug, Default)]
pub(crate) struct RouteTable(FxHashMap<Box<str>, RouteFacts>);

impl RouteTable {
    pub fn get(&self, path: &str) -> Option<&RouteFacts> {
        self.0.get(path)
    }

    #[cfg(test)]
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|path| &**path)
    }
}

/// Lets a request through to the handlers of its route, or refuses its caller.
async fn guard(State((server, facts)): State<(Server, RouteFacts)>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if facts.has_page && prefers_page(&parts.headers) {
        return next.run(Request::from_parts(parts, body)).await;
    }
    match authorize(&server, &facts, &mut parts).await {
        Ok(()) => next.run(Request::from_parts(parts, body)).await,
        Err(error) => (facts.refuse)(&server, error),
    }
}

/// Checks who calls, and that the route and the user in its address are open to that caller, which the
/// request then carries for its handler. A request that carries its caller was checked before.
pub(crate) async fn authorize(server: &Server, facts: &RouteFacts, parts: &mut Parts) -> Result<()> {
    if parts.extensions.get::<Caller>().is_some() {
        return Ok(());
    }
    let header = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::to_str).transpose();
    let header = header.map_err(|_| Error::new(Code::Unauthorized, "the Authorization header is not text"))?;
    let keys = server.keys.now(&server.app.store).await?;
    if keys.is_open() {
        server.names.require(&parts.method, &parts.uri, &parts.headers)?;
    }
    let caller = keys.caller(header)?;
    facts.access.require(&caller)?;
    // Parameters that cannot be decoded are refused by the extractor that decodes them.
    if let Ok(params) = RawPathParams::from_request_parts(parts, server).await
        && let Some((_, user)) = params.iter().find(|(name, _)| *name == "user")
    {
        caller.require_user(user)?;
    }
    parts.extensions.insert(caller);
    Ok(())
}

/// Routes with their facts.
pub(crate) struct Routes {
    server: Server,
    router: Router<Server>,
    table: RouteTable,
}

impl Routes {
    pub fn new(server: &Server) -> Self {
        Self { server: server.clone(), router: Router::new(), table: RouteTable::default() }
    }

    /// Adds a path, whose handlers run only for callers that may call it. It must not have been added before.
    pub fn route(mut self, path: &str, facts: impl Into<RouteFacts>, handlers: MethodRouter<Server>) -> Self {
        let facts = facts.into();
        self.declare(path.into(), facts.clone());
        let guarded = match facts.access {
            Access::Public => handlers,
            _ => handlers.route_layer(from_fn_with_state((self.server.clone(), facts), guard)),
        };
        Self { router: self.router.route(path, guarded), ..self }
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for (path, facts) in other.table.0 {
            self.declare(path, facts);
        }
        Self { router: self.router.merge(other.router), ..self }
    }

    fn declare(&mut self, path: Box<str>, facts: RouteFacts) {
        let before = self.table.0.insert(path.clone(), facts);
        assert!(before.is_none(), "the route {path} is declared twice");
    }

    /// As `Router::layer`, for the routes that were added so far.
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: Layer<Route> + Clone + Send + Sync + 'static,
        L::Service: Service<Request> + Clone + Send + Sync + 'static,
        <L::Service as Service<Request>>::Response: IntoResponse + 'static,
        <L::Service as Service<Request>>::Error: Into<Infallible> + 'static,
        <L::Service as Service<Request>>::Future: Send + 'static,
    {
        Self { router: self.router.layer(layer), ..self }
    }

    /// As `Router::method_not_allowed_fallback`, for the routes that were added so far.
    pub(crate) fn method_not_allowed_fallback<T: 'static>(self, handler: impl Handler<T, Server>) -> Self {
        Self { router: self.router.method_not_allowed_fallback(handler), ..self }
    }

    /// The router, and the table whose facts its outermost layer must attach to each request.
    pub(crate) fn into_parts(self) -> (Router<Server>, RouteTable) {
        (self.router, self.table)
    }
}

/// Whether a client prefers a page to JSON, as browsers do.
pub(crate) fn prefers_page(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).iter().map(HeaderValue::to_str).filter_map(std::result::Result::ok);
    let list = lists.collect::<Vec<_>>().join(",");
    let weight = |kind: &str| {
        let (group, _) = kind.split_once('/').unwrap_or_default();
        let named = [kind.to_owned(), format!("{group}/*"), "*/*".to_owned()];
        named.iter().find_map(|name| list.split(',').find_map(|item| quality(item, name))).unwrap_or(0.0)
    };
    weight("text/html") > weight("application/json")
}

/// The weight that an item of an `Accept` header gives to `name`, if it names it.
fn quality(item: &str, name: &str) -> Option<f32> {
    let mut parts = item.split(';').map(str::trim);
    parts.next().filter(|kind| kind.eq_ignore_ascii_case(name))?;
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    Some(weight.and_then(|weight| weight.trim().parse().ok()).unwrap_or(1.0))
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
