//! Routes that carry their own facts.
//!
//! Owns the one way to declare a route: its path, its facts and its handlers. The router is built from these
//! declarations, and so is the table that authorization, the guard of public pages and the other nodes look
//! into; there is no other list of addresses. Invariant: a route states who may call it. A request without
//! facts matched no route.

use std::convert::Infallible;

use axum::Router;
use axum::extract::Request;
use axum::handler::Handler;
use axum::http::Method;
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, Route};
use rustc_hash::FxHashMap;
use tower::{Layer, Service};

use crate::auth::Access;

/// What the server knows about a route besides its handlers. Each request carries those of its route as an
/// extension.
#[derive(Debug, Clone)]
pub struct RouteFacts {
    pub access: Access,
    pub node_memory: Option<NodeMemory>,
    has_page: bool,
    forgets_on: Option<Method>,
}

/// What a route reads from the memory of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeMemory {
    /// The reply that the last segment of the path names. The name contains the node.
    NamedReply,
    /// A trace that may not be stored yet. Any node may have it.
    Trace,
}

impl From<Access> for RouteFacts {
    fn from(access: Access) -> Self {
        Self { access, node_memory: None, has_page: false, forgets_on: None }
    }
}

impl Access {
    /// Callers without a key get a page that holds no data.
    pub(crate) fn with_public_page(self) -> RouteFacts {
        RouteFacts { has_page: true, ..self.into() }
    }

    pub(crate) fn reading(self, node_memory: NodeMemory) -> RouteFacts {
        RouteFacts::from(self).reading(node_memory)
    }

    /// This method removes replies and traces that any node may have in memory, so every node runs it.
    pub(crate) fn forgetting_on(self, method: Method) -> RouteFacts {
        RouteFacts { forgets_on: Some(method), ..self.into() }
    }
}

impl RouteFacts {
    pub(crate) fn reading(self, node_memory: NodeMemory) -> Self {
        Self { node_memory: Some(node_memory), ..self }
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

/// Routes with their facts, for a router with the state `S`.
pub(crate) struct Routes<S> {
    router: Router<S>,
    table: RouteTable,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    pub fn new() -> Self {
        Self { router: Router::new(), table: RouteTable::default() }
    }

    /// Adds a path. It must not have been added before.
    pub fn route(mut self, path: &str, facts: impl Into<RouteFacts>, handlers: MethodRouter<S>) -> Self {
        self.declare(path.into(), facts.into());
        Self { router: self.router.route(path, handlers), ..self }
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
    pub(crate) fn method_not_allowed_fallback<T: 'static>(self, handler: impl Handler<T, S>) -> Self {
        Self { router: self.router.method_not_allowed_fallback(handler), ..self }
    }

    /// The router, and the table whose facts its outermost layer must attach to each request.
    pub(crate) fn into_parts(self) -> (Router<S>, RouteTable) {
        (self.router, self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_found_by_the_path_of_the_declaration() {
        let facts = Access::Users.forgetting_on(Method::DELETE);
        let one = Routes::<()>::new().route("/a/{id}", facts, MethodRouter::new());
        let other = Routes::new().route("/b", Access::Admins.with_public_page(), MethodRouter::new());
        let (_, table) = one.merge(other).into_parts();
        let [a, b] = ["/a/{id}", "/b"].map(|path| table.get(path).unwrap());
        assert_eq!((a.access, a.is_public()), (Access::Users, false));
        assert_eq!((b.access, b.is_public()), (Access::Admins, true));
        assert!(a.forgets(&Method::DELETE) && !a.forgets(&Method::GET) && !b.forgets(&Method::DELETE));
        assert!(table.get("/a/1").is_none());
    }

    #[test]
    #[should_panic(expected = "/a is declared twice")]
    fn a_path_is_declared_once() {
        let routes = || Routes::<()>::new().route("/a", Access::Users, MethodRouter::new());
        drop(routes().merge(routes()));
    }
}
