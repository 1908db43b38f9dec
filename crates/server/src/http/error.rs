//! The one table of errors: code, status, whether trying again can help.
//!
//! Owns what a caller is told when something is refused. The sentence names the field, the cap and the numbers; what
//! only an operator should see goes to the log instead.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use novelo_engine::OverBudget;
use novelo_engine::decode::DecodeError;
use novelo_engine::path::PathError;

/// Every way a request can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    MalformedJson,
    InvalidField,
    OverBudget,
    TooLarge,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Contradiction,
    Conflict,
    Stale,
    Timeout,
    Busy,
    RateLimited,
    Unavailable,
    DiskFull,
    ReadOnly,
    NoModel,
    ModelFailed,
    ModelRefused,
    ModelBusy,
    UpstreamAuth,
    NoData,
    DataFailed,
    Internal,
}

/// One row: the code on the wire, its status, and whether the same request may succeed later.
pub struct Row {
    pub code: Code,
    pub name: &'static str,
    pub status: StatusCode,
    pub retry: bool,
    pub meaning: &'static str,
}

macro_rules! table {
    ($($code:ident $name:literal $status:ident $retry:literal $meaning:literal;)*) => {
        pub const TABLE: &[Row] = &[$(Row {
            code: Code::$code, name: $name, status: StatusCode::$status, retry: $retry, meaning: $meaning,
        }),*];
    };
}

table! {
    MalformedJson "malformed_json" BAD_REQUEST false "the body is not JSON; the message has line and column";
    InvalidField "invalid_field" UNPROCESSABLE_ENTITY false "a field, id, header or parameter is wrong; param names it";
    OverBudget "over_budget" UNPROCESSABLE_ENTITY false "what must stay in the prompt is larger than the budget";
    TooLarge "too_large" PAYLOAD_TOO_LARGE false "a body or line is past its cap";
    Unauthorized "unauthorized" UNAUTHORIZED false "a key is needed, or this one is not known";
    Forbidden "forbidden" FORBIDDEN false "the key belongs to another user, or is not an admin key";
    NotFound "not_found" NOT_FOUND false "there is nothing at this address";
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED false "this address takes other methods";
    Contradiction "contradiction" BAD_REQUEST false "two parts of the request say different things; the message names both";
    Conflict "conflict" CONFLICT false "the id is taken by other bytes";
    Stale "stale" CONFLICT false "if_seq or If-Match names an old state; read again";
    Timeout "timeout" REQUEST_TIMEOUT true "the body took too long to arrive";
    Busy "busy" TOO_MANY_REQUESTS true "too many writes are waiting";
    RateLimited "rate_limited" TOO_MANY_REQUESTS true "a guest, or an address, asked too often; Retry-After says when there is more";
    Unavailable "unavailable" SERVICE_UNAVAILABLE true "the store's server does not answer; nothing is known to be written";
    DiskFull "disk_full" INSUFFICIENT_STORAGE true "the disk is full; nothing was written";
    ReadOnly "read_only" SERVICE_UNAVAILABLE true "the store does not write until it has recovered, which it tries by itself";
    NoModel "no_model" SERVICE_UNAVAILABLE false "a model is needed and none is set";
    ModelFailed "model_failed" BAD_GATEWAY true "the model did not answer; the message has its words";
    ModelRefused "model_refused" BAD_REQUEST false "the model's server refused the request; status and message are its own";
    ModelBusy "model_rate_limited" TOO_MANY_REQUESTS true "the model's server limits calls; Retry-After is its own";
    UpstreamAuth "upstream_auth" UNAUTHORIZED false "the model's server refused this server's own key, which its operator must set right; the caller's key is not meant";
    NoData "no_data" SERVICE_UNAVAILABLE false "there is no database to ask, or what is written about it is broken";
    DataFailed "data_failed" BAD_GATEWAY true "the database did not answer in time, or refused; the log says why";
    Internal "internal" INTERNAL_SERVER_ERROR true "a fault of ours; the log has the request id";
}

/// A refusal.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    pub code: Code,
    pub message: String,
    pub param: Option<String>,
    /// When trying again can help.
    pub retry_after_s: u64,
    /// How it is said in OpenAI's form, where it is.
    pub relayed: Option<Box<Relayed>>,
}

/// A refusal in OpenAI's form: the status, the names and the headers that its clients act on.
#[derive(Debug, Clone)]
pub struct Relayed {
    pub status: StatusCode,
    pub kind: String,
    pub code: String,
    pub headers: Vec<(&'static str, String)>,
}

pub type Result<T> = std::result::Result<T, ApiError>;

impl Code {
    pub fn row(self) -> &'static Row {
        TABLE.iter().find(|row| row.code == self).expect("every code has its row, as a test checks")
    }
}

impl ApiError {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), param: None, retry_after_s: 1, relayed: None }
    }

    pub fn invalid(param: impl Into<String>, problem: impl std::fmt::Display) -> Self {
        let param = param.into();
        Self { param: Some(param.clone()), ..Self::new(Code::InvalidField, format!("{param} {problem}")) }
    }

    pub fn not_found(what: impl std::fmt::Display) -> Self {
        Self::new(Code::NotFound, format!("there is no {what}"))
    }

    /// An id in an address or a body that is not one.
    pub fn bad_id(param: &str, error: &PathError) -> Self {
        Self::invalid(param, format_args!("is not an id: {error}"))
    }

    /// The same of a field that stands within another.
    pub fn within(self, outer: &str) -> Self {
        let Some(param) = &self.param else { return self };
        let said = self.message.starts_with(param.as_str());
        let message = if said { format!("{outer}.{}", self.message) } else { self.message };
        Self { param: Some(format!("{outer}.{param}")), message, ..self }
    }

    pub fn body(&self) -> Vec<u8> {
        let body = match &self.relayed {
            None => serde_json::json!({"error": {
                "code": self.code.row().name, "message": self.message, "param": self.param,
            }}),
            Some(relayed) => serde_json::json!({"error": {
                "code": relayed.code, "message": self.message, "param": self.param, "type": relayed.kind,
            }}),
        };
        body.to_string().into_bytes()
    }

    pub fn status(&self) -> StatusCode {
        self.relayed.as_ref().map_or(self.code.row().status, |relayed| relayed.status)
    }

    /// The same in OpenAI's form.
    pub fn for_openai(self) -> Self {
        if self.relayed.is_some() {
            return self;
        }
        let row = self.code.row();
        let kind = match row.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "server_error",
        };
        let headers = row.retry.then(|| ("retry-after", self.retry_after_s.to_string()));
        let (kind, code) = (kind.to_owned(), row.name.to_owned());
        let relayed = Relayed { status: row.status, kind, code, headers: headers.into_iter().collect() };
        Self { relayed: Some(Box::new(relayed)), ..self }
    }
}

/// The answer in the native form. The error itself goes with it, for surfaces that have a form of their own.
impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let row = self.code.row();
        let mut response = (self.status(), self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match &self.relayed {
            None if row.retry => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry_after_s));
            }
            None => {}
            Some(relayed) => {
                for (name, value) in &relayed.headers {
                    headers.extend(HeaderValue::try_from(value).map(|value| (HeaderName::from_static(name), value)));
                }
            }
        }
        if self.code == Code::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(std::sync::Arc::new(self));
        response
    }
}

impl From<DecodeError> for ApiError {
    fn from(error: DecodeError) -> Self {
        Self::invalid(error.path, error.problem)
    }
}

impl From<OverBudget> for ApiError {
    fn from(error: OverBudget) -> Self {
        Self { param: Some("budget_tokens".into()), ..Self::new(Code::OverBudget, error.to_string()) }
    }
}

impl From<novelo_store::Error> for ApiError {
    fn from(error: novelo_store::Error) -> Self {
        use novelo_store::Error as E;
        let code = match &error {
            E::Conflict { .. } => Code::Conflict,
            E::Stale { .. } => Code::Stale,
            E::NotFound { .. } => Code::NotFound,
            E::Invalid(_) => Code::InvalidField,
            E::Busy => Code::Busy,
            E::Unavailable { .. } => Code::Unavailable,
            E::DiskFull { .. } => Code::DiskFull,
            E::ReadOnly { .. } => Code::ReadOnly,
            E::Locked { .. } | E::Incomplete { .. } | E::Damaged { .. } | E::Io { .. } => Code::Internal,
        };
        if code == Code::Internal {
            tracing::error!(%error, "the store failed");
            return Self::new(code, "the store failed; `novelo doctor` says what is wrong");
        }
        let retry_after_s = match &error {
            E::Unavailable { retry_after_s, .. } => (*retry_after_s).max(1),
            _ => 1,
        };
        Self { retry_after_s, ..Self::new(code, error.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_store_error_has_a_row() {
        for (error, status) in [
            (novelo_store::Error::Busy, 429),
            (novelo_store::Error::Unavailable { why: "x".into(), retry_after_s: 1 }, 503),
            (novelo_store::Error::Stale { expected: 1, actual: 2 }, 409),
            (novelo_store::Error::Invalid("x".into()), 422),
            (novelo_store::Error::DiskFull { free_bytes: 0, needed_bytes: 1 }, 507),
        ] {
            assert_eq!(ApiError::from(error).into_response().status().as_u16(), status);
        }
    }

    #[test]
    fn a_store_that_does_not_answer_says_when_to_come_back() {
        for (seconds, told) in [(7, "7"), (0, "1")] {
            let error = novelo_store::Error::Unavailable { why: "no answer".into(), retry_after_s: seconds };
            let response = ApiError::from(error).into_response();
            assert_eq!(response.headers()[header::RETRY_AFTER], told);
        }
    }

    #[test]
    fn a_field_within_another_is_named_with_it() {
        let error = ApiError::invalid("text", "is empty").within("arguments");
        assert_eq!((error.param.as_deref(), &*error.message), (Some("arguments.text"), "arguments.text is empty"));
        let error = ApiError::not_found("such task").within("arguments");
        assert_eq!((error.param, &*error.message), (None, "there is no such task"));
    }

    #[test]
    fn names_are_unique_and_the_table_is_complete() {
        for code in [Code::MalformedJson, Code::Internal, Code::ReadOnly, Code::MethodNotAllowed] {
            assert_eq!(code.row().code, code);
        }
        for (n, row) in TABLE.iter().enumerate() {
            assert!(TABLE.iter().skip(n + 1).all(|other| other.name != row.name && other.code != row.code));
        }
    }
}
