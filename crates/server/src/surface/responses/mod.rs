//! OpenAI's Responses and Conversations, over any model of chat completions, and its Embeddings.
//!
//! Owns the addresses `/v1/responses`, `/v1/conversations` and `/v1/embeddings`, and their wire form. A
//! conversation is a thread of a user, and its items are turns (`thread::item`). Errors have OpenAI's form:
//! what is wrong with a request is a 400. Every answer names its thread in `X-Novelo-Thread`.

mod call;
mod compact;
mod conversations;
mod create;
mod embeddings;
mod items;
mod options;
mod request;
pub(crate) mod schema;
mod stored;
mod writer;

use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use super::native::completions::{in_thread, subject};
use crate::auth::Access;
use crate::http::error::ApiError;
use crate::route::{NodeMemory, Routes};
use crate::server::Server;
use novelo_conversation::caller::{ANONYMOUS, Caller};
use novelo_conversation::error::{Code, Error, Relayed, Result};

pub(crate) use embeddings::EMBEDDING;

const SURFACE: &str = "responses";

pub(crate) fn routes(server: &Server) -> Routes {
    let users = || Access::Users.refusing(refuse);
    let of_response = || users().reading(NodeMemory::Response);
    let removing = || users().forgetting_on(Method::DELETE);
    Routes::new(server)
        .route("/v1/responses", users(), post(create::create))
        .route("/v1/responses/input_tokens", users(), post(create::count))
        .route("/v1/responses/compact", users(), post(compact::make))
        .route(
            "/v1/responses/{id}",
            of_response().forgetting_on(Method::DELETE),
            get(stored::get).delete(stored::delete),
        )
        .route("/v1/responses/{id}/cancel", of_response(), post(stored::cancel))
        .route("/v1/responses/{id}/input_items", users(), get(items::list_input))
        .route("/v1/responses/{id}/explain", of_response(), get(stored::explain))
        .route("/v1/conversations", users(), get(conversations::list).post(conversations::create))
        .route(
            "/v1/conversations/{id}",
            removing(),
            get(conversations::get).post(conversations::update).delete(conversations::delete),
        )
        .route("/v1/conversations/{id}/items", users(), get(items::list).post(items::create))
        .route("/v1/conversations/{id}/items/{item}", removing(), get(items::get).delete(items::delete))
        .route("/v1/embeddings", users(), post(embeddings::create))
}

/// The refusal of a caller, in OpenAI's form.
fn refuse(_: &Server, error: Error) -> Response {
    refused(error)
}

fn refused(error: Error) -> Response {
    in_thread(None, ApiError(in_openai_form(error)).into_response())
}

/// The error of a handler, which is sent in OpenAI's form.
pub(crate) struct OpenAiError(Error);

type OpenAiResult<T> = std::result::Result<T, OpenAiError>;

impl<E: Into<ApiError>> From<E> for OpenAiError {
    fn from(error: E) -> Self {
        let ApiError(error) = error.into();
        Self(error)
    }
}

impl IntoResponse for OpenAiError {
    fn into_response(self) -> Response {
        refused(self.0)
    }
}

/// The error as OpenAI's clients expect it: a wrong field is a 400, and so is a prompt that is too long.
fn in_openai_form(error: Error) -> Error {
    if error.relayed.is_some() {
        return error;
    }
    let (status, code) = match error.code {
        Code::InvalidField => (400, "invalid_value"),
        Code::MalformedJson => (400, "invalid_json"),
        Code::Contradiction => (400, "invalid_value"),
        Code::OverBudget => (400, "context_length_exceeded"),
        _ => return error.for_openai(),
    };
    let error = error.for_openai();
    let relayed = error.relayed.map(|relayed| Box::new(Relayed { status, code: code.to_owned(), ..*relayed }));
    Error { relayed, ..error }
}

/// An error with a code of OpenAI's.
fn coded(status: u16, code: &str, param: Option<&str>, message: String) -> Error {
    let error = Error::new(if status == 404 { Code::NotFound } else { Code::InvalidField }, message).for_openai();
    let relayed = error.relayed.map(|relayed| Box::new(Relayed { status, code: code.to_owned(), ..*relayed }));
    Error { param: param.map(str::to_owned), relayed, ..error }
}

/// The user that a request is about. A key that belongs to nobody must name one: the data of several users is
/// never pooled. Without keys there is one user.
fn user(headers: &HeaderMap, named: Option<&str>, caller: &Caller) -> Result<String> {
    match subject::user(headers, named, caller) {
        Ok(Some(user)) => Ok(user),
        Ok(None) if caller.is_unproven() => Ok(ANONYMOUS.to_owned()),
        Ok(None) => {
            let problem = "is missing: this key belongs to no user; name one here or in X-Novelo-User";
            Err(Error::invalid("user", problem))
        }
        Err(error) => Err(error),
    }
}
