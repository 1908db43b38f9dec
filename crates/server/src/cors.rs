//! Pages of other origins that may read what they get: CORS.
//!
//! Owns the headers, and the answer to a preflight, which needs no key. A route says which methods are for
//! pages (`route`), and `http.origins` which pages these are. Nothing changes for any other request.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::origin::OwnNames;
use crate::route::RouteFacts;

/// What a page may send.
const SENT: &str = "accept, authorization, content-type, idempotency-key, last-event-id";
/// What a page may read beside the body.
const READ: &str = "retry-after, x-eco-guest-id, x-eco-trace-id, x-request-id";
/// How long a browser remembers a preflight.
const REMEMBERED_S: &str = "600";
/// Browsers ask for this before a public page calls an address of a private network.
const ASKS_PRIVATE: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// A page of a configured origin that calls a route which is for pages.
pub(crate) struct AdmittedPage {
    origin: HeaderValue,
    methods: &'static str,
}

impl AdmittedPage {
    /// The page that sent a request, if it may read the answer.
    pub fn find(names: &OwnNames, facts: Option<&RouteFacts>, headers: &HeaderMap) -> Option<Self> {
        let methods = facts?.page_methods?;
        let origin = headers.get(header::ORIGIN).filter(|origin| names.trusts(origin))?.clone();
        Some(Self { origin, methods })
    }

    /// The answer to a preflight.
    pub fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        let is_preflight = method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        is_preflight.then(|| preflight(self.methods, headers))
    }

    /// Lets the page read an answer.
    pub(crate) fn admit(self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READ));
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        response
    }
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
