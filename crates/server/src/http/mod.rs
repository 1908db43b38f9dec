//! HTTP: from a socket to a handler and back.
//!
//! Owns the listener, the limits on what a client may send and how slowly, request ids, and the log line of each
//! request. Refuses a start beyond loopback without a key.

pub mod body;
pub mod body_bytes;
pub mod connections;
pub mod error;
mod guide_schemas;
mod listener;
mod memory_schemas;
pub mod openapi;
pub mod origin;
pub mod sse;
mod stall;
mod strict;
pub mod trace_id;

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use anyhow::{Context, bail};
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tokio::net::TcpListener;

use self::error::ApiError;
use crate::auth;
use crate::server::Server;
use body_bytes::HeldBytes;
pub use listener::serve;
use novelo_conversation::error::{Code, Error};

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The other end of a connection; every request knows it.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// Every address the server knows.
pub fn router(server: Server) -> Router {
    crate::surface::native::routes()
        .merge(crate::surface::topic::routes())
        .merge(crate::surface::memory::routes())
        .merge(crate::surface::thread::routes())
        .merge(crate::surface::ask::routes())
        .merge(crate::surface::eco::routes(server.clone()))
        .merge(crate::surface::debug::routes())
        .merge(crate::surface::pages::routes())
        .fallback(async || ApiError(Error::new(Code::NotFound, "there is nothing at this address")))
        .method_not_allowed_fallback(async || {
            ApiError(Error::new(Code::MethodNotAllowed, "this address takes other methods"))
        })
        .layer(axum::middleware::from_fn_with_state(server.clone(), crate::peers::pass_on))
        .layer(axum::middleware::from_fn_with_state(server.clone(), origin::guard_public))
        .layer(axum::middleware::from_fn_with_state(server.clone(), observe))
        .with_state(server)
}

/// Binds the address, unless that would open the store to the network without a key.
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

/// Gives each request an id, and logs and counts its answer.
async fn observe(
    State(server): State<Server>,
    route: Option<MatchedPath>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    request.headers_mut().insert(REQUEST_ID, id.clone());
    // What its body takes counts until it is answered.
    let held = HeldBytes::of(&server.body_bytes);
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
