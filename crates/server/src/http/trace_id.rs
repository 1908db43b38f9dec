//! The header that names the trace of a response.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use novelo_conversation::trace::TraceId;

/// The id of the request trace, or of the prompt trace if the response is a prompt.
pub(crate) const TRACE_ID: HeaderName = HeaderName::from_static("x-novelo-trace-id");

pub(crate) fn header_value(id: &TraceId) -> HeaderValue {
    HeaderValue::try_from(id.encode()).expect("letters, digits, dashes and underscores make a header")
}

/// The response with the id of its trace.
pub(crate) fn with_trace(mut response: Response, id: &TraceId) -> Response {
    response.headers_mut().insert(TRACE_ID, header_value(id));
    response
}
