//! What a handler extracts: the bytes of the body, its JSON, and ids from the address.
//!
//! Owns the caps on the size and the duration of a body, and errors that give line and column. Refuses
//! unknown fields.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRef, FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::{HeaderValue, header, request::Parts};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use novelo_engine::limits::{BODY_BYTES_MAX, BODY_WAIT_S_MAX, PAGE_MAX};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::body_bytes::{BodyBytes, HeldBytes};
use crate::http::error::{ApiError, ApiResult};
use novelo_conversation::error::{Code, Error, Result};

/// The whole body, within its caps.
pub struct RawBody(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for RawBody
where
    Arc<BodyBytes>: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> ApiResult<Self> {
        let held = request.extensions().get::<HeldBytes>().cloned();
        let held = held.unwrap_or_else(|| HeldBytes::new(&FromRef::from_ref(state)));
        let read = read_body(request, &held);
        match tokio::time::timeout(Duration::from_secs(BODY_WAIT_S_MAX as u64), read).await {
            Ok(read) => read.map(Self),
            Err(_) => {
                let message = format!("the body took longer than BODY_WAIT_S_MAX, {BODY_WAIT_S_MAX} seconds");
                Err(Error::new(Code::Timeout, message).into())
            }
        }
    }
}

/// Reads a body. A body that does not fit into the memory for bodies is still read to its end, and dropped: a
/// client that is still sending would not see the refusal.
async fn read_body(request: Request, held: &HeldBytes) -> ApiResult<Bytes> {
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let mut body = Limited::new(request.into_body(), BODY_BYTES_MAX);
    let mut whole = BytesMut::new();
    let mut refused = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
            Some(_) => {
                let message = format!("the body is larger than the cap BODY_BYTES_MAX of {BODY_BYTES_MAX} bytes");
                Error::new(Code::TooLarge, message)
            }
            None => Error::new(Code::MalformedJson, format!("the body broke off: {error}")),
        })?;
        let (Ok(data), None) = (frame.into_data(), &refused) else { continue };
        if whole.is_empty() && length == Some(data.len()) {
            held.grow(data.len())?;
            return Ok(data);
        }
        match held.grow(whole.len() + data.len()) {
            Ok(()) => {
                reserve(&mut whole, data.len(), length);
                whole.extend_from_slice(&data);
            }
            Err(error) => {
                whole = BytesMut::new();
                held.release();
                refused = Some(error);
            }
        }
    }
    Ok(refused.map_or_else(|| Ok(whole.freeze()), Err)?)
}

/// Reserves memory for the next bytes: twice as much each time, but no more than the whole body will need.
fn reserve(whole: &mut BytesMut, more: usize, length: Option<usize>) {
    let needed = whole.len() + more;
    if needed > whole.capacity() {
        let doubled = needed.max(2 * whole.capacity());
        let enough = doubled.min(length.unwrap_or(BODY_BYTES_MAX)).max(needed);
        whole.reserve(enough - whole.len());
    }
}

/// Reads a JSON object. The error says where it goes wrong.
pub(crate) fn parse_object<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    let is_object = matches!(bytes.trim_ascii_start().first(), None | Some(b'{'));
    match !is_object && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok() {
        true => Err(Error::invalid("body", "must be a JSON object")),
        false => parse(bytes),
    }
}

/// Reads JSON. The error says where it goes wrong; the path of the field is computed only then.
pub fn parse<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => wrong_field::<T>(bytes, &error),
        _ => Error::new(Code::MalformedJson, error.to_string()),
    })
}

fn wrong_field<'b, T: Deserialize<'b>>(bytes: &'b [u8], error: &serde_json::Error) -> Error {
    let found = serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_slice(bytes));
    let param = found.err().map(|e| e.path().to_string()).filter(|path| path != ".");
    Error { param, ..Error::new(Code::InvalidField, error.to_string()) }
}

/// Ids of the address, decoded.
pub(crate) struct PathIds<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PathIds<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let read = Path::<T>::from_request_parts(parts, state).await;
        Ok(read.map(|Path(ids)| Self(ids)).map_err(|e| Error::invalid("path", e.body_text()))?)
    }
}

/// Parameters of the address.
pub(crate) struct QueryParams<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        Ok(read.map(|Query(params)| Self(params)).map_err(|e| Error::invalid("query", e.body_text()))?)
    }
}

/// The size of a page, within its cap.
pub(crate) fn page_size(param: &str, asked: Option<usize>, default: usize) -> Result<usize> {
    match asked.unwrap_or(default) {
        size if (1..=PAGE_MAX).contains(&size) => Ok(size),
        size => Err(Error::invalid(param, format_args!("is {size}; it must be 1 to PAGE_MAX, {PAGE_MAX}"))),
    }
}

/// A response body that is already JSON.
pub struct Json(Bytes);

impl Json {
    pub fn from_value(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    /// The response that a value serialises to.
    pub(crate) fn serialize(value: &impl serde::Serialize) -> Result<Self> {
        let unwritten = |e| Error::new(Code::Internal, format!("the answer cannot be written: {e}"));
        serde_json::to_vec(value).map(|json| Self(json.into())).map_err(unwritten)
    }

    pub fn from_bytes(json: impl Into<Bytes>) -> Self {
        Self(json.into())
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.0));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_field() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Numbered {
            #[serde(rename = "at")]
            _at: u64,
        }
        for (body, param) in [("{}", None), (r#"{"at":1,"x":2}"#, Some("x")), (r#"{"at":"1"}"#, Some("at"))] {
            assert_eq!(parse::<Numbered>(body.as_bytes()).unwrap_err().param.as_deref(), param, "{body}");
        }
    }
}
