//! Routes that carry their own facts.
//!
//! Owns the one way to declare a route: its path, its facts and its handlers. The routers are built from
//! these declarations, and so is the table in which the facts of a request are found; there is no other list
//! of addresses. Owns authorization too: a request reaches a handler only after its caller was let in, so
//! that a handler that ignores its caller is still protected. A request that is refused goes to a second
//! router with the same routes, which has refusals in place of handlers; so the layers of a surface see its
//! refusals, and none stands between a caller that is let in and its handler. Invariants: a route states who
//! may call it. A request that the table does not know reaches no handler.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, Route};
use tower::{Layer, Service};

use crate::auth::Access;
use crate::http::error::ApiError;
use crate::server::Server;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::telemetry::RouteCounts;

/// What the server knows about a route besides its handlers.
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

    /// Whether a client with these headers needs no key. It gets what holds no data.
    fn is_open_to_all(&self, headers: &HeaderMap) -> bool {
        self.access == Access::Public || self.has_page && prefers_page(headers)
    }

    pub fn forgets(&self, method: &Method) -> bool {
        self.forgets_on.as_ref() == Some(method)
    }
}

/// A declared route.
#[derive(Debug)]
pub(crate) struct RouteEntry {
    pub path: Box<str>,
    pub facts: RouteFacts,
    /// The place of the user among the segments of the path.
    user_segment: Option<usize>,
    pub counts: Arc<RouteCounts>,
}

impl RouteEntry {
    /// Checks who calls, and that the route and the user in its address are open to that caller, which the
    /// request then carries for its handler. A request that carries its caller was checked before.
    pub(crate) async fn authorize(&self, server: &Server, parts: &mut Parts) -> Result<()> {
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
        self.facts.access.require(&caller)?;
        if let Some(user) = self.user_segment.and_then(|at| parts.uri.path().split('/').nth(at)) {
            let user = percent_encoding::percent_decode_str(user).decode_utf8();
            caller.require_user(&user.map_err(|_| Error::invalid("path", "Invalid UTF-8 in `user`"))?)?;
        }
        parts.extensions.insert(caller);
        Ok(())
    }
}

/// All routes with their handlers.
pub(crate) struct GuardedRoutes {
    /// The number of each route, by path.
    table: matchit::Router<usize>,
    entries: Vec<RouteEntry>,
    /// For callers that are let in.
    handlers: Router,
    /// For all others.
    refusals: Router,
}

/// Why a caller is refused. The request carries it to the refusal of its route.
#[derive(Clone)]
struct RefusedCaller(Arc<Error>);

impl GuardedRoutes {
    /// The route of an address.
    pub fn find(&self, path: &str) -> Option<&RouteEntry> {
        self.entries.get(*self.table.at(path).ok()?.value)
    }

    #[cfg(test)]
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.path)
    }

    /// Lets a request through to the handlers of its route, or refuses its caller.
    pub async fn answer(&self, server: &Server, route: Option<&RouteEntry>, request: Request) -> Response {
        let (mut parts, body) = request.into_parts();
        let mut router = match route {
            None => self.refusals.clone(),
            Some(route) if route.facts.is_open_to_all(&parts.headers) => self.handlers.clone(),
            Some(route) => match route.authorize(server, &mut parts).await {
                Ok(()) => self.handlers.clone(),
                Err(error) => {
                    parts.extensions.insert(RefusedCaller(Arc::new(error)));
                    self.refusals.clone()
                }
            },
        };
        router.call(Request::from_parts(parts, body)).await.unwrap_or_else(|never| match never {})
    }
}

/// Refuses a caller in the form of its surface.
async fn refuse(State((server, facts)): State<(Server, RouteFacts)>, mut request: Request, _: Next) -> Response {
    let refused = request.extensions_mut().remove::<RefusedCaller>();
    let error = refused.and_then(|RefusedCaller(error)| Arc::into_inner(error));
    (facts.refuse)(&server, error.unwrap_or_else(|| Error::new(Code::Unauthorized, "nobody was asked who calls")))
}

/// Routes with their facts.
pub(crate) struct Routes {
    server: Server,
    handlers: Router<Server>,
    refusals: Router<Server>,
    entries: Vec<RouteEntry>,
}

impl Routes {
    pub fn new(server: &Server) -> Self {
        let (handlers, refusals) = (Router::new(), Router::new());
        Self { server: server.clone(), handlers, refusals, entries: Vec::new() }
    }

    /// Adds a path, whose handlers run only for callers that may call it. It must not have been added before.
    pub fn route(mut self, path: &str, facts: impl Into<RouteFacts>, handlers: MethodRouter<Server>) -> Self {
        let facts = facts.into();
        let refusals = match facts.access {
            Access::Public => handlers.clone(),
            _ => handlers.clone().route_layer(from_fn_with_state((self.server.clone(), facts.clone()), refuse)),
        };
        let user_segment = path.split('/').position(|segment| segment == "{user}");
        let counts = self.server.app.metrics.route(path);
        self.declare(RouteEntry { path: path.into(), facts, user_segment, counts });
        Self { handlers: self.handlers.route(path, handlers), refusals: self.refusals.route(path, refusals), ..self }
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for entry in other.entries {
            self.declare(entry);
        }
        let (handlers, refusals) = (self.handlers.merge(other.handlers), self.refusals.merge(other.refusals));
        Self { handlers, refusals, ..self }
    }

    fn declare(&mut self, entry: RouteEntry) {
        let is_new = self.entries.iter().all(|declared| declared.path != entry.path);
        assert!(is_new, "the route {} is declared twice", entry.path);
        self.entries.push(entry);
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
        Self { handlers: self.handlers.layer(layer.clone()), refusals: self.refusals.layer(layer), ..self }
    }

    /// As `Router::fallback`.
    pub(crate) fn fallback<T: 'static>(self, handler: impl Handler<T, Server>) -> Self {
        let handlers = self.handlers.fallback(handler.clone());
        Self { handlers, refusals: self.refusals.fallback(handler), ..self }
    }

    /// As `Router::method_not_allowed_fallback`, for the routes that were added so far.
    pub(crate) fn method_not_allowed_fallback<T: 'static>(self, handler: impl Handler<T, Server>) -> Self {
        let handlers = self.handlers.method_not_allowed_fallback(handler.clone());
        Self { handlers, refusals: self.refusals.method_not_allowed_fallback(handler), ..self }
    }

    /// The routes with their guards.
    pub(crate) fn guarded(self) -> GuardedRoutes {
        let mut table = matchit::Router::new();
        for (number, entry) in self.entries.iter().enumerate() {
            table.insert(&*entry.path, number).expect("the router took this path, so the table does");
        }
        GuardedRoutes {
            table,
            entries: self.entries,
            handlers: self.handlers.with_state(self.server.clone()),
            refusals: self.refusals.with_state(self.server),
        }
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
