//! HTTP: from a socket to a handler and back.
//!
//! Owns the listener, the limits on what a client may send and how slowly, request ids, and the log line of each
//! request. Refuses a start beyond loopback without a key.

pub mod body;
pub mod error;
mod guide_schemas;
mod memory_schemas;
pub mod openapi;
pub mod origin;
pub mod sse;
mod stall;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use novelo_engine::limits::{CONNECTIONS_MAX, HEADER_WAIT_S_MAX};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::app::App;
use error::{ApiError, Code};
use stall::Stall;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The other end of a connection; every request knows it.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Every address the server knows.
pub fn router(app: App) -> Router {
    crate::surface::native::routes()
        .merge(crate::surface::topic::routes())
        .merge(crate::surface::memory::routes())
        .merge(crate::surface::thread::routes())
        .merge(crate::surface::ask::routes())
        .merge(crate::surface::eco::routes(app.clone()))
        .merge(crate::surface::debug::routes())
        .merge(crate::surface::pages::routes())
        .fallback(async || ApiError::new(Code::NotFound, "there is nothing at this address"))
        .method_not_allowed_fallback(async || ApiError::new(Code::MethodNotAllowed, "this address takes other methods"))
        .layer(axum::middleware::from_fn_with_state(app.clone(), crate::peers::pass_on))
        .layer(axum::middleware::from_fn_with_state(app.clone(), origin::guard_public))
        .layer(axum::middleware::from_fn_with_state(app.clone(), observe))
        .with_state(app)
}

/// Binds the address, unless that would open the store to the network without a key.
pub async fn bind(app: &App, addr: SocketAddr) -> anyhow::Result<TcpListener> {
    if !addr.ip().is_loopback() && app.keys.now(&app.store).await?.is_empty() {
        bail!("{addr} is not loopback and there is no key\nhint: make one with `novelo key create --admin`");
    }
    let listener = TcpListener::bind(addr).await.with_context(|| format!("cannot listen on {addr}"))?;
    app.names.bind(listener.local_addr()?);
    Ok(listener)
}

/// Serves until `stop` resolves, then finishes what is in flight.
pub async fn serve(router: Router, listener: TcpListener, stop: impl Future<Output = ()>) {
    let graceful = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &room) => accepted,
            () = &mut stop => break,
        };
        let Some((stream, peer, place)) = accepted else { continue };
        let routed = TowerToHyperService::new(router.clone());
        let service = service_fn(move |mut request| {
            request.extensions_mut().insert(peer);
            routed.call(request)
        });
        let connection =
            graceful.watch(connection_builder().serve_connection(TokioIo::new(Stall::new(stream)), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection ended early");
            }
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_MAX, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests were still running after {DRAIN_MAX:?}");
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, Peer, tokio::sync::OwnedSemaphorePermit)> {
    let place = room.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY was refused");
            }
            Some((stream, Peer(peer.ip()), place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection was not accepted");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

fn connection_builder() -> hyper::server::conn::http1::Builder {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(Duration::from_secs(HEADER_WAIT_S_MAX as u64));
    builder
}

/// Gives each request an id, and logs and counts its answer.
async fn observe(State(app): State<App>, route: Option<MatchedPath>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    request.headers_mut().insert(REQUEST_ID, id.clone());
    let mut response = next.run(request).await;
    let (status, took) = (response.status(), started.elapsed());
    let route = route.as_ref().map_or("unknown", MatchedPath::as_str);
    app.metrics.request(route, status.as_u16(), took);
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
        let fresh = crate::ids::fresh_text();
        HeaderValue::try_from(fresh).expect("hex digits make a header")
    })
}
