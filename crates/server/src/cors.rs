//! Pages of other origins that may read what they get: CORS.
//!
//! Owns the headers, and the answer to a preflight, which needs no key. A route says which methods are for
//! pages (`route`), and `http.origins` which pages these are. Nothing changes for any other request.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::route::RouteFacts;
use crate::server::Server;

/// What a page may send.
const SENT: &str = "accept, authorization, content-type, idempotency-key, last-event-id";
/// What a page may read beside the body.
const READ: &str = "retry-after, x-eco-guest-id, x-eco-trace-id, x-request-id";
/// How long a browser remembers a preflight.
const REMEMBERED_S: &str = "600";
/// Browsers ask for this before a public page calls an address of a private network.
const ASKS_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Lets pages of the configured origins call the routes that are for pages.
pub(crate) async fn admit_pages(State(server): State<Server>, request: Request, next: Next) -> Response {
    let methods = request.extensions().get::<RouteFacts>().and_then(|facts| facts.page_methods);
    let origin = request.headers().get(header::ORIGIN).filter(|origin| server.names.trusts(origin)).cloned();
    let (Some(methods), Some(origin)) = (methods, origin) else { return next.run(request).await };
    let is_preflight = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match request.method() == Method::OPTIONS && is_preflight {
        true => preflight(methods, request.headers()),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    response
}

fn preflight(methods: &'static str, asked: &HeaderMap) -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, methods),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_S),
    ];
    let mut response = (StatusCode::NO_CONTENT, headers).into_response();
    if asked.contains_key(ASKS_PRIVATE) {
        response.headers_mut().insert(ALLOWS_PRIVATE, HeaderValue::from_static("true"));
    }
    response
}
