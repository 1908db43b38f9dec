//! The trace of an answer, named in its headers.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use novelo_conversation::trace::TraceId;

/// Where an answer names its trace: that of its request, or of the prompt where the answer is one.
pub const TRACE_ID: HeaderName = HeaderName::from_static("x-novelo-trace-id");

pub fn header_value(id: &TraceId) -> HeaderValue {
    HeaderValue::try_from(id.encode()).expect("letters, digits, dashes and underscores make a header")
}

/// The response with the name of its trace.
pub fn with_trace(mut response: Response, id: &TraceId) -> Response {
    response.headers_mut().insert(TRACE_ID, header_value(id));
    response
}
