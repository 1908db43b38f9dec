//! The router: every route of every surface, and what happens around each request.
//!
//! Owns the order of the layers, the guard of public routes, request ids, and the log line of each request.
//! Refuses to listen beyond loopback without a key.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::HeaderValue;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use crate::http::REQUEST_ID;
use crate::http::body_bytes::HeldBytes;
use crate::http::error::ApiError;
use crate::route::{RouteFacts, RouteTable};
use crate::server::Server;
use crate::{auth, cors, peers, surface};
use novelo_conversation::error::{Code, Error};

/// Every address the server knows.
pub fn router(server: Server) -> Router {
    let (router, table) = surface::routes(&server).into_parts();
    router
        .fallback(async || ApiError(Error::new(Code::NotFound, "there is nothing at this address")))
        .method_not_allowed_fallback(async || {
            ApiError(Error::new(Code::MethodNotAllowed, "this address takes other methods"))
        })
        .layer(from_fn_with_state(server.clone(), peers::forward))
        .layer(from_fn_with_state(server.clone(), guard_public))
        .layer(from_fn_with_state(server.clone(), cors::admit_pages))
        .layer(from_fn_with_state((server.clone(), Arc::new(table)), observe))
        .with_state(server)
}

/// Binds the address. Refuses to open a store to the network without a key.
pub async fn bind(server: &Server, addr: SocketAddr) -> anyhow::Result<TcpListener> {
    if !addr.ip().is_loopback() && server.keys.now(&server.app.store).await?.is_empty() {
        bail!("{addr} is not loopback and there is no key\nhint: make one with `novelo key create --admin`");
    }
    let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
    server.names.bind(listener.local_addr()?);
    if server.keys.last().access() == "closed" {
        tracing::warn!(hint = auth::CLOSED_HINT, "{}", auth::CLOSED);
    }
    Ok(listener)
}

/// Checks requests to routes that may not extract a caller. Such routes hold no data and do not wait for the
/// store, so the keys that were read last decide.
async fn guard_public(State(server): State<Server>, request: Request, next: Next) -> Response {
    let is_public = request.extensions().get::<RouteFacts>().is_some_and(RouteFacts::is_public);
    let checked = match is_public && server.keys.last().is_open() {
        true => server.names.require(request.method(), request.uri(), request.headers()),
        false => Ok(()),
    };
    match checked {
        Ok(()) => next.run(request).await,
        Err(error) => ApiError(error).into_response(),
    }
}

/// Gives each request an id and the facts of its route, and logs and counts its answer.
async fn observe(
    State((server, table)): State<(Server, Arc<RouteTable>)>,
    route: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    request.headers_mut().insert(REQUEST_ID, id.clone());
    if let Some(facts) = route.as_ref().and_then(|route| table.get(route.as_str())) {
        request.extensions_mut().insert(facts.clone());
    }
    // The memory of its body counts until it is answered.
    let held = HeldBytes::new(&server.body_bytes);
    request.extensions_mut().insert(held.clone());
    let mut response = next.run(request).await;
    held.release();
    let (status, took) = (response.status(), started.elapsed());
    let route = route.as_ref().map_or("unknown", MatchedPath::as_str);
    server.app.metrics.request(route, status.as_u16(), took);
    let (took_us, request_id) = (took.as_micros() as u64, id.to_str().unwrap_or(""));
    match status.is_server_error() {
        true => tracing::error!(%method, route, status = status.as_u16(), took_us, request_id, "answered"),
        false => tracing::info!(%method, route, status = status.as_u16(), took_us, request_id, "answered"),
    }
    response.headers_mut().insert(REQUEST_ID, id);
    response
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
        let (_, table) = surface::routes(&server).into_parts();
        let declared: BTreeSet<String> = table.paths().map(|path| path.replace("{*", "{")).collect();

        let page = include_str!("../../../docs/security.md");
        let section = page.split("\n## ").find(|section| section.starts_with("Who may reach what")).unwrap();
        let lines = section.lines().skip_while(|line| !line.starts_with("| call |"));
        let rows = lines.skip(2).map_while(|line| line.strip_prefix("| ")?.split(" | ").next());
        let calls = rows.flat_map(|row| row.split('`').skip(1).step_by(2));
        let documented: BTreeSet<String> = calls.map(|call| call.split_once(' ').unwrap().1.to_owned()).collect();
        assert_eq!(declared, documented);
    }
}
