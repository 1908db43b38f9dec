//! What a handler takes in: the caller, the bytes of the body, its JSON, and ids from the address.
//!
//! Owns the caps on a body's size and patience, and the errors that give line and column. Refuses unknown fields.

use std::net::IpAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header, request::Parts};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use novelo_engine::limits::{BODY_BYTES_MAX, BODY_WAIT_S_MAX, PAGE_MAX};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use super::error::{ApiError, Code, Result};
use crate::app::App;
use crate::auth::Caller;

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let header = parts.headers.get(header::AUTHORIZATION).map(HeaderValue::to_str).transpose();
        let header = header.map_err(|_| ApiError::new(Code::Unauthorized, "the Authorization header is not text"))?;
        let keys = app.keys.now(&app.store).await?;
        if keys.is_open() {
            require_local(&parts.headers)?;
        }
        keys.caller(header)
    }
}

/// Without keys whoever reaches the port is the admin, so a page from elsewhere must not reach it through a browser:
/// neither by a request of its own, nor under a name of its own that leads here.
fn require_local(headers: &HeaderMap) -> Result<()> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let origin = text(header::ORIGIN).map(|origin| origin.split_once("://").map_or(origin, |(_, host)| host));
    match text(header::HOST).into_iter().chain(origin).all(is_local) {
        true => Ok(()),
        false => Err(ApiError::new(Code::Forbidden, "a page from elsewhere may not call this server; make a key")),
    }
}

/// Whether a host, with or without a port, is an address or a bare name: what a stranger can register has a dot.
fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.is_ok() || (name != "null" && !name.contains('.'))
}

/// The whole body, within its caps.
pub struct Raw(pub Bytes);

impl FromRequest<App> for Raw {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        let body = Limited::new(request.into_body(), BODY_BYTES_MAX);
        match tokio::time::timeout(Duration::from_secs(BODY_WAIT_S_MAX as u64), body.collect()).await {
            Ok(Ok(body)) => Ok(Self(body.to_bytes())),
            Ok(Err(error)) if error.downcast_ref::<LengthLimitError>().is_some() => {
                let message = format!("the body is larger than the cap BODY_BYTES_MAX of {BODY_BYTES_MAX} bytes");
                Err(ApiError::new(Code::TooLarge, message))
            }
            Ok(Err(error)) => Err(ApiError::new(Code::MalformedJson, format!("the body broke off: {error}"))),
            Err(_) => {
                let message = format!("the body took longer than BODY_WAIT_S_MAX, {BODY_WAIT_S_MAX} seconds");
                Err(ApiError::new(Code::Timeout, message))
            }
        }
    }
}

/// Reads a JSON object, or says where it goes wrong.
pub fn parse_object<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    let is_object = matches!(bytes.trim_ascii_start().first(), None | Some(b'{'));
    match !is_object && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok() {
        true => Err(ApiError::invalid("body", "must be a JSON object")),
        false => parse(bytes),
    }
}

/// Reads JSON, or says where it goes wrong. The path of a wrong field is looked for only when there is one.
pub fn parse<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => wrong_field::<T>(bytes, &error),
        _ => ApiError::new(Code::MalformedJson, error.to_string()),
    })
}

fn wrong_field<'b, T: Deserialize<'b>>(bytes: &'b [u8], error: &serde_json::Error) -> ApiError {
    let found = serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_slice(bytes));
    let param = found.err().map(|e| e.path().to_string()).filter(|path| path != ".");
    ApiError { param, ..ApiError::new(Code::InvalidField, error.to_string()) }
}

/// Ids of the address, decoded.
pub struct Ids<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Ids<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let read = Path::<T>::from_request_parts(parts, app).await;
        read.map(|Path(ids)| Self(ids)).map_err(|e| ApiError::invalid("path", e.body_text()))
    }
}

/// Parameters of the address.
pub struct Params<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let read = Query::<T>::from_request_parts(parts, app).await;
        read.map(|Query(params)| Self(params)).map_err(|e| ApiError::invalid("query", e.body_text()))
    }
}

/// The size of a page, within its cap.
pub fn page_size(param: &str, asked: Option<usize>, default: usize) -> Result<usize> {
    match asked.unwrap_or(default) {
        size if (1..=PAGE_MAX).contains(&size) => Ok(size),
        size => Err(ApiError::invalid(param, format_args!("is {size}; it must be 1 to PAGE_MAX, {PAGE_MAX}"))),
    }
}

/// An answer that is JSON already.
pub struct Json(Bytes);

impl Json {
    pub fn of(value: &serde_json::Value) -> Self {
        Self(value.to_string().into())
    }

    /// The answer that a value serialises to.
    pub fn write(value: &impl serde::Serialize) -> Result<Self> {
        let unwritten = |e| ApiError::new(Code::Internal, format!("the answer cannot be written: {e}"));
        serde_json::to_vec(value).map(|json| Self(json.into())).map_err(unwritten)
    }

    pub fn written(json: impl Into<Bytes>) -> Self {
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
    fn names_that_a_stranger_can_register_are_not_local() {
        for host in ["localhost", "LOCALHOST:7420", "127.0.0.1:7420", "127.0.0.9", "[::1]:7420", "[::1]", "novelo:7420"]
        {
            assert!(is_local(host), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example:7420", "evil.example.:80", "null", "127.0.0.1.evil.example"]
        {
            assert!(!is_local(host), "{host}");
        }
    }

    #[test]
    fn errors_name_the_field() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Wire {
            #[serde(rename = "at")]
            _at: u64,
        }
        for (body, param) in [("{}", None), (r#"{"at":1,"x":2}"#, Some("x")), (r#"{"at":"1"}"#, Some("at"))] {
            assert_eq!(parse::<Wire>(body.as_bytes()).unwrap_err().param.as_deref(), param, "{body}");
        }
    }
}
