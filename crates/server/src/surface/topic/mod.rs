//! Topic contexts: contexts by kala, collapse groups and their indexer.
//!
//! Owns the addresses of this surface, which user a call is about, and the form of its errors: `{"error":
//! "<message>"}`, with 400 for everything that is wrong in a request. Errors of the jobs have `"ok": false`
//! too.

mod indexer;
mod kala;
mod run;
pub(crate) mod schema;
mod unknown;

use axum::extract::FromRequestParts;
use axum::http::{HeaderValue, StatusCode, header, request::Parts};
use axum::middleware::map_response;
use axum::response::Response;
use axum::routing::post;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::auth::Access;
use crate::http::body::QueryParams;
use crate::http::error::{ApiError, ApiResult};
use crate::route::Routes;
use crate::server::Server;
use novelo_conversation::caller::Caller;
use novelo_conversation::context::load::Whose;
use novelo_conversation::error::{Code, Error, Result};

pub(crate) fn routes(server: &Server) -> Routes {
    let (mut contexts, mut jobs) = (Routes::new(server), Routes::new(server));
    for base in ["/context", "/jobs/context"] {
        contexts = contexts.route(&format!("{base}/topicContextYoj/run"), Access::Users, post(run::run));
    }
    for base in ["", "/context", "/jobs/context"] {
        jobs = jobs.route(&format!("{base}/collapse/indexer/run"), Access::Users, post(indexer::run));
        jobs = jobs.route(&format!("{base}/collapse/state/set"), Access::Users, post(indexer::set_state));
    }
    let refuse = async || ApiError(Error::new(Code::MethodNotAllowed, "this address takes POST"));
    let of_context = async |response| in_this_form(response, |message| json!({"error": message}));
    let of_job = async |response| in_this_form(response, |message| json!({"ok": false, "error": message}));
    let contexts = contexts.method_not_allowed_fallback(refuse).layer(map_response(of_context));
    contexts.merge(jobs.method_not_allowed_fallback(refuse).layer(map_response(of_job)))
}

/// Writes an error in the form of this surface.
fn in_this_form(mut response: Response, form: impl Fn(String) -> Value) -> Response {
    let Some(error) = response.extensions_mut().remove::<std::sync::Arc<Error>>() else { return response };
    let unnamed = error.param.as_ref().filter(|param| !error.message.starts_with(param.as_str()));
    let message = unnamed.map_or_else(|| error.message.clone(), |param| format!("{param}: {}", error.message));
    let body = form(message).to_string();
    if response.status() == StatusCode::UNPROCESSABLE_ENTITY || response.status() == StatusCode::NOT_FOUND {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    *response.body_mut() = body.into();
    response
}

/// The caller, and the users that the address and the headers name.
pub(crate) struct TopicCaller {
    caller: Caller,
    named: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicParams {
    #[serde(rename = "userId")]
    user: Option<String>,
}

impl FromRequestParts<Server> for TopicCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> ApiResult<Self> {
        let caller = Caller::from_request_parts(parts, server).await?;
        let QueryParams(query) = QueryParams::<TopicParams>::from_request_parts(parts, server).await?;
        let header = parts.headers.get("x-user-id").map(HeaderValue::to_str).transpose();
        let header = header.map_err(|_| Error::invalid("x-user-id", "is not text"))?;
        let named = query.user.into_iter().chain(header.map(str::to_owned)).collect();
        Ok(Self { caller, named })
    }
}

/// The user that a call is about, and whether it may read legacy documents.
#[derive(Debug)]
pub(crate) struct TopicSubject {
    /// None for an admin who names no user: the call then works on legacy documents.
    pub user: Option<String>,
    pub legacy: bool,
}

impl TopicCaller {
    /// The user that the body, the address or the headers name, else the caller's own.
    fn subject(self, in_body: Option<String>) -> Result<TopicSubject> {
        let mut named: Vec<String> = in_body.into_iter().chain(self.named).collect();
        named.dedup();
        if let [first, other, ..] = named.as_slice() {
            return Err(Error::invalid("userId", format_args!("is given as {first} and as {other}")));
        }
        Ok(TopicSubject { user: self.caller.subject("userId", named.pop())?, legacy: self.caller.is_admin() })
    }
}

impl TopicSubject {
    fn whose(&self) -> Whose<'_> {
        Whose { user: self.user.as_deref(), legacy: self.legacy }
    }
}
