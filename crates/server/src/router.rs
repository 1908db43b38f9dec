//! The router: every route of every surface, and what happens around each request.
//!
//! Owns the order of what happens, the guard of public routes, request ids, and the log line of each request.
//! These are calls and not layers: a layer of a router is cloned and boxed for each request.
//! Refuses to listen beyond loopback without a key.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use anyhow::bail;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;
use tower::Service;

use crate::cors::AdmittedPage;
use crate::http::REQUEST_ID;
use crate::http::body_bytes::HeldBytes;
use crate::http::error::ApiError;
use crate::route::{GuardedRoutes, RouteEntry, RouteFacts};
use crate::server::Server;
use crate::{auth, peers, surface};
use novelo_conversation::error::{Code, Error};
use novelo_conversation::logs::{AnsweredRequest, log_request};
use novelo_conversation::telemetry::RouteCounts;

/// Every address the server knows. Clones share it.
#[derive(Clone)]
pub struct AppRouter(Arc<RouterState>);

struct RouterState {
    server: Server,
    routes: GuardedRoutes,
    /// Requests that match no route.
    unknown: Arc<RouteCounts>,
}

/// The router of a server.
pub fn router(server: Server) -> AppRouter {
    let routes = surface::routes(&server)
        .fallback(async || ApiError(Error::new(Code::NotFound, "there is nothing at this address")))
        .method_not_allowed_fallback(async || {
            ApiError(Error::new(Code::MethodNotAllowed, "this address takes other methods"))
        })
        .guarded();
    let unknown = server.app.metrics.route("unknown");
    AppRouter(Arc::new(RouterState { server, routes, unknown }))
}

impl Service<Request> for AppRouter {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let state = self.0.clone();
        Box::pin(async move { Ok(state.observe(request).await) })
    }
}

/// Binds the address. Refuses to open a store to the network without a key.
pub async fn bind(server: &Server, addr: SocketAddr) -> anyhow::Result<TcpListener> {
    if !addr.ip().is_loopback() && server.keys.now(&server.app.store).await?.is_empty() {
        bail!("{addr} is not loopback and there is no key\nhint: make one with `novelo key create --admin`");
    }
    let listener = anyhow::Context::with_context(TcpListener::bind(addr).await, || format!("cannot listen on {addr}"))?;
    server.names.bind(listener.local_addr()?);
    if server.keys.last().access() == "closed" {
        tracing::warn!(hint = auth::CLOSED_HINT, "{}", auth::CLOSED);
    }
    Ok(listener)
}

impl RouterState {
    /// Gives a request its id, and logs and counts its answer.
    async fn observe(&self, mut request: Request) -> Response {
        let started = Instant::now();
        let route = self.routes.find(request.uri().path());
        let id = request_id(&request);
        let method = request.method().clone();
        request.headers_mut().insert(REQUEST_ID, id.clone());
        // The memory of its body counts until it is answered.
        let held = (!method.is_safe()).then(|| HeldBytes::new(&self.server.body_bytes));
        if let Some(held) = &held {
            request.extensions_mut().insert(held.clone());
        }
        let mut response = self.answer(route, request).await;
        drop(held.inspect(HeldBytes::release));
        let (status, took) = (response.status(), started.elapsed());
        self.server.app.metrics.request(route.map_or(&self.unknown, |route| &route.counts), status.as_u16(), took);
        let route = route.map_or("unknown", |route| &route.path);
        log_request(AnsweredRequest {
            method: method.as_str(),
            route,
            status: status.as_u16(),
            took_us: took.as_micros() as u64,
            request_id: id.to_str().unwrap_or(""),
        });
        response.headers_mut().insert(REQUEST_ID, id);
        response
    }

    /// Answers a request in the form that pages of other origins can read, if it is from one that may.
    async fn answer(&self, route: Option<&RouteEntry>, request: Request) -> Response {
        let facts = route.map(|route| &route.facts);
        let page = AdmittedPage::find(&self.server.names, facts, request.headers());
        let response = match page.as_ref().and_then(|page| page.preflight(request.method(), request.headers())) {
            Some(preflight) => preflight,
            None => match self.guard_public(facts, &request) {
                Ok(()) => self.run(route, request).await,
                Err(error) => ApiError(error).into_response(),
            },
        };
        match page {
            Some(page) => page.admit(response),
            None => response,
        }
    }

    /// Checks requests to routes that may not extract a caller. Such routes hold no data and do not wait for
    /// the store, so the keys that were read last decide.
    fn guard_public(&self, facts: Option<&RouteFacts>, request: &Request) -> Result<(), Error> {
        match facts.is_some_and(RouteFacts::is_public) && self.server.keys.last().is_open() {
            true => self.server.names.require(request.method(), request.uri(), request.headers()),
            false => Ok(()),
        }
    }

    async fn run(&self, route: Option<&RouteEntry>, request: Request) -> Response {
        match self.server.peer_client.get() {
            None => self.routes.answer(&self.server, route, request).await,
            Some(client) => Box::pin(peers::forward(&self.server, client, &self.routes, route, request)).await,
        }
    }
}

/// The caller's id where it is usable, else a new one.
fn request_id(request: &Request) -> HeaderValue {
    let usable = |id: &&HeaderValue| id.len() <= 128 && id.to_str().is_ok_and(|id| !id.is_empty());
    let given = request.headers().get(&REQUEST_ID).filter(usable).cloned();
    given.unwrap_or_else(|| {
        let fresh = novelo_conversation::ids::fresh_text();
        HeaderValue::try_from(fresh).expect("hex digits make a header")
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use novelo_conversation::app;
    use novelo_conversation::settings::Settings;

    /// `tests/identity.rs` calls every row of the docs with every kind of key, so a route without a row would
    /// be unchecked.
    #[tokio::test]
    async fn every_declared_route_has_a_row_in_the_docs_and_every_row_a_route() {
        let (app, _tasks) = app::open(Settings::in_memory()).await.unwrap();
        let server = Server::new(app).await.unwrap();
        let routes = surface::routes(&server).guarded();
        let declared: BTreeSet<String> = routes.paths().map(|path| path.replace("{*", "{")).collect();

        let page = include_str!("../../../docs/security.md");
        let section = page.split("\n## ").find(|section| section.starts_with("Who may reach what")).unwrap();
        let lines = section.lines().skip_while(|line| !line.starts_with("| call |"));
        let rows = lines.skip(2).map_while(|line| line.strip_prefix("| ")?.split(" | ").next());
        let calls = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        let documented: BTreeSet<String> = calls.map(|call| call.split_once(' ').unwrap().1.to_owned()).collect();
        assert_eq!(declared, documented);
    }
}
