//! What a handler takes in: the caller, the bytes of the body, its JSON, and ids from the address.
//!
//! Owns the caps on a body's size and patience, and the errors that give line and column. Refuses unknown fields.

use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::{HeaderValue, header, request::Parts};
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
        app.keys.caller(header)
    }
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

/// Reads JSON, or says where it goes wrong.
pub fn parse<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => ApiError::new(Code::InvalidField, error.to_string()),
        _ => ApiError::new(Code::MalformedJson, error.to_string()),
    })
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
pub struct Json(pub Vec<u8>);

impl Json {
    pub fn of(value: &serde_json::Value) -> Self {
        Self(value.to_string().into_bytes())
    }
}

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.0));
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}
