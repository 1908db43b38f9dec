//! Errors as HTTP responses.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use novelo_conversation::error::{Code, Error};

/// The error of a handler: an error of the conversation that axum can send.
#[derive(Debug, Clone)]
pub struct ApiError(pub Error);

/// The result of a handler.
pub(crate) type ApiResult<T> = Result<T, ApiError>;

/// The response in the native form. The error itself is attached as an extension, for surfaces with a form of
/// their own.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let row = error.code.row();
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, error.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match &error.relayed {
            None if row.retry => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(error.retry_after_s));
            }
            None => {}
            Some(relayed) => {
                for (name, value) in &relayed.headers {
                    headers.extend(HeaderValue::try_from(value).map(|value| (HeaderName::from_static(name), value)));
                }
            }
        }
        if error.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(std::sync::Arc::new(error));
        response
    }
}

macro_rules! from {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self(error.into())
            }
        })*
    };
}

from!(Error, novelo_store::Error, novelo_engine::decode::DecodeError, novelo_engine::OverBudget);
