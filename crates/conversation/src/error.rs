//! The one table of errors: code, status, whether trying again can help.
//!
//! Owns what a caller gets when a request is refused. The message names the field, the cap and the
//! numbers; what only an operator should see goes to the log instead.

use novelo_engine::OverBudget;
use novelo_engine::decode::DecodeError;
use novelo_engine::path::PathError;

/// One row: the code on the wire, its status, and whether the same request may succeed later.
pub struct ErrorRow {
    /// The code.
    pub code: Code,
    /// The code on the wire.
    pub name: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// Whether the same request may succeed later.
    pub retry: bool,
    /// What it means, for the docs.
    pub meaning: &'static str,
}

macro_rules! codes {
    ($($code:ident $name:literal $status:literal $retry:literal $meaning:literal;)*) => {
        /// Every way a request can be refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $meaning] $code,)*
        }

        /// Every code with its row.
        pub const TABLE: &[ErrorRow] = &[$(ErrorRow {
            code: Code::$code, name: $name, status: $status, retry: $retry, meaning: $meaning,
        }),*];

        impl Code {
            /// The row of a code.
            pub fn row(self) -> &'static ErrorRow {
                match self {
                    $(Self::$code => &ErrorRow {
                        code: Self::$code, name: $name, status: $status, retry: $retry, meaning: $meaning,
                    },)*
                }
            }
        }
    };
}

codes! {
    MalformedJson "malformed_json" 400 false "the body is not JSON; the message has line and column";
    InvalidField "invalid_field" 422 false "a field, id, header or parameter is wrong; param names it";
    OverBudget "over_budget" 422 false "what must stay in the prompt is larger than the budget";
    TooLarge "too_large" 413 false "a body or line is past its cap";
    Unauthorized "unauthorized" 401 false "a key is needed, or this one is not known";
    Forbidden "forbidden" 403 false "the key belongs to another user, or is not an admin key";
    NotFound "not_found" 404 false "there is nothing at this address";
    MethodNotAllowed "method_not_allowed" 405 false "this address takes other methods";
    Contradiction "contradiction" 400 false "two parts of the request say different things; the message names both";
    Conflict "conflict" 409 false "the id is taken by other bytes";
    Stale "stale" 409 false "if_seq or If-Match names an old state; read again";
    Timeout "timeout" 408 true "the body took too long to arrive";
    Busy "busy" 429 true "too many writes are waiting";
    RateLimited "rate_limited" 429 true "a guest, or an address, asked too often; Retry-After says when there is more";
    Unavailable "unavailable" 503 true "the store's server does not answer; nothing is known to be written";
    DiskFull "disk_full" 507 true "the disk is full; nothing was written";
    ReadOnly "read_only" 503 true "the store does not write until it has recovered, which it tries by itself";
    NoModel "no_model" 503 false "a model is needed and none is set";
    ModelFailed "model_failed" 502 true "the model did not answer; the message has its words";
    ModelRefused "model_refused" 400 false "the model's server refused the request; status and message are its own";
    ModelBusy "model_rate_limited" 429 true "the model's server limits calls; Retry-After is its own";
    UpstreamAuth "upstream_auth" 401 false "the model's server refused this server's own key, which its operator must set right; the caller's key is not meant";
    NoData "no_data" 503 false "there is no database to ask, or what is written about it is broken";
    DataFailed "data_failed" 502 true "the database did not answer in time, or refused; the log says why";
    Internal "internal" 500 true "a fault of ours; the log has the request id";
}

/// A refusal.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong, for programs.
    pub code: Code,
    /// What is wrong, for people.
    pub message: String,
    /// The field that is wrong.
    pub param: Option<String>,
    /// When trying again can help.
    pub retry_after_s: u64,
    /// How it is said in OpenAI's form, where it is.
    pub relayed: Option<Box<Relayed>>,
}

/// A refusal in OpenAI's form: the status, the names and the headers that its clients act on.
#[derive(Debug, Clone)]
pub struct Relayed {
    /// The HTTP status.
    pub status: u16,
    /// The type of OpenAI's errors.
    pub kind: String,
    /// The code of OpenAI's errors.
    pub code: String,
    /// Headers that the client acts on.
    pub headers: Vec<(&'static str, String)>,
}

/// A result whose error can be answered to a caller.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without a field.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), param: None, retry_after_s: 1, relayed: None }
    }

    /// An error in the field `param`.
    pub fn invalid(param: impl Into<String>, problem: impl std::fmt::Display) -> Self {
        let param = param.into();
        Self { param: Some(param.clone()), ..Self::new(Code::InvalidField, format!("{param} {problem}")) }
    }

    /// An error for something that does not exist.
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

    /// The body of an error response.
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

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.relayed.as_ref().map_or(self.code.row().status, |relayed| relayed.status)
    }

    /// The same in OpenAI's form.
    pub fn for_openai(self) -> Self {
        if self.relayed.is_some() {
            return self;
        }
        let row = self.code.row();
        let kind = match row.status {
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

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self::invalid(error.path, error.problem)
    }
}

impl From<OverBudget> for Error {
    fn from(error: OverBudget) -> Self {
        Self { param: Some("budget_tokens".into()), ..Self::new(Code::OverBudget, error.to_string()) }
    }
}

impl From<novelo_store::Error> for Error {
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
            assert_eq!(Error::from(error).status(), status);
        }
    }

    #[test]
    fn a_store_that_does_not_answer_says_when_to_try_again() {
        for (seconds, expected) in [(7, 7), (0, 1)] {
            let error = novelo_store::Error::Unavailable { why: "no answer".into(), retry_after_s: seconds };
            assert_eq!(Error::from(error).retry_after_s, expected);
        }
    }

    #[test]
    fn a_field_within_another_is_named_with_it() {
        let error = Error::invalid("text", "is empty").within("arguments");
        assert_eq!((error.param.as_deref(), &*error.message), (Some("arguments.text"), "arguments.text is empty"));
        let error = Error::not_found("such task").within("arguments");
        assert_eq!((error.param, &*error.message), (None, "there is no such task"));
    }

    #[test]
    fn names_are_unique() {
        for (n, row) in TABLE.iter().enumerate() {
            assert!(TABLE.iter().skip(n + 1).all(|other| other.name != row.name && other.code != row.code));
        }
    }
}
