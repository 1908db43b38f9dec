//! The listener: sockets in, connections out, until the server stops.
//!
//! Owns the accept loop and the end of each connection: a connection that must close first finishes the
//! request it is answering. When the process is out of descriptors, the listener closes idle connections and
//! goes on.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tower::Service;

use super::ClientAddress;
use super::connections::{BusyBody, Connections, CountedConnection};
use super::stall::Stall;

const DRAIN_MAX: Duration = Duration::from_secs(10);
/// How long to wait after an error of the listener.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Serves until `stop` resolves, then finishes the requests in flight. The router is always ready.
pub async fn serve<R>(router: R, listener: TcpListener, connections: Arc<Connections>, stop: impl Future<Output = ()>)
where
    R: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    R::Future: Send,
{
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut stop => break,
        };
        if let Some((stream, peer)) = accepted {
            let (counted, close) = connections.add();
            tokio::spawn(run(router.clone(), stream, peer, counted, close));
        }
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_MAX, connections.close_all()).await.is_err() {
        tracing::warn!("some requests were still running after {DRAIN_MAX:?}");
    }
}

/// The next connection, once there is room for it.
async fn accept(listener: &TcpListener, connections: &Connections) -> Option<(TcpStream, ClientAddress)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "TCP_NODELAY was refused");
            }
            connections.make_room().await;
            Some((stream, ClientAddress(peer.ip())))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection was not accepted");
            let wait = match is_out_of_files(&error) && connections.evict() {
                true => tokio::time::timeout(ACCEPT_AGAIN, connections.changed()).await.is_err(),
                false => true,
            };
            if wait {
                tokio::time::sleep(ACCEPT_AGAIN).await;
            }
            None
        }
    }
}

/// Whether this process, or the system, has no descriptor left.
fn is_out_of_files(error: &io::Error) -> bool {
    let codes = [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE].map(rustix::io::Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

/// Serves one connection to its end.
async fn run<R>(
    router: R,
    stream: TcpStream,
    peer: ClientAddress,
    counted: Arc<CountedConnection>,
    close: oneshot::Receiver<()>,
) where
    R: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
{
    let of_requests = counted.clone();
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        let (busy, answer) = (of_requests.begin(), router.clone().call(request.map(Body::new)));
        async move { Ok::<_, Infallible>(answer.await?.map(|body| BusyBody::new(body, busy))) }
    });
    let stream = Stall::new(stream, counted.clone());
    let is_writing = stream.is_waiting();
    let mut connection = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        _ = close => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                biased;
                ended = connection.as_mut() => ended,
                () = at_rest(&counted, &is_writing) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Resolves once the connection has nothing in progress. It is polled whenever the connection made progress.
async fn at_rest(counted: &CountedConnection, is_writing: &AtomicBool) {
    let is_busy = || counted.is_busy() || is_writing.load(Ordering::Relaxed);
    std::future::poll_fn(|_| if is_busy() { Poll::Pending } else { Poll::Ready(()) }).await;
}
