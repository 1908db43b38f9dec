//! What every handler begins with: the caller's user, what the call is given, and the conversation or the
//! response that its address names. What is wrong with any of them is refused in OpenAI's form.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::stored::{Found, find, require_conversation};
use super::{OpenAiError, OpenAiResult, in_thread, user};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::server::Server;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;

/// What a call is given besides its address: in its body, or else in its query.
pub(super) trait CallInput: DeserializeOwned + Send {
    const IS_BODY: bool = false;
    /// The user that it names.
    fn user(&self) -> Option<&str>;
}

/// The user in the query of a call that has no body.
#[derive(Deserialize)]
pub(super) struct UserParams {
    user: Option<String>,
}

impl CallInput for UserParams {
    fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// A call about a user.
pub(super) struct UserCall<T> {
    pub app: App,
    pub caller: Caller,
    pub user: String,
    pub input: T,
}

/// A call about a conversation that exists.
pub(super) struct ConversationCall<T> {
    pub app: App,
    pub caller: Caller,
    pub user: String,
    pub input: T,
    pub thread: String,
    /// The id of the conversation as it was given.
    pub id: String,
    /// The id of the item, where the address names one.
    pub item: String,
}

/// A call about a response that is stored.
pub(super) struct ResponseCall<T> {
    pub app: App,
    pub caller: Caller,
    pub input: T,
    pub found: Found,
    /// The id of the response as it was given.
    pub id: String,
}

type AddressIds = HashMap<String, String>;

impl<T: CallInput> UserCall<T> {
    async fn read(request: Request, server: &Server) -> OpenAiResult<(Self, AddressIds)> {
        let (mut parts, body) = request.into_parts();
        let caller = Caller::from_request_parts(&mut parts, server).await?;
        let PathIds(ids) = PathIds::from_request_parts(&mut parts, server).await?;
        let headers = parts.headers.clone();
        let input: T = if T::IS_BODY {
            let RawBody(body) = RawBody::from_request(Request::from_parts(parts, body), server).await?;
            let body = if body.is_empty() { Bytes::from_static(b"{}") } else { body };
            parse_object(&body)?
        } else {
            let QueryParams(params) = QueryParams::from_request_parts(&mut parts, server).await?;
            params
        };
        let user = user(&headers, input.user(), &caller)?;
        Ok((Self { app: server.app.clone(), caller, user, input }, ids))
    }
}

impl<T: CallInput> FromRequest<Server> for UserCall<T> {
    type Rejection = OpenAiError;

    async fn from_request(request: Request, server: &Server) -> OpenAiResult<Self> {
        Ok(Self::read(request, server).await?.0)
    }
}

impl<T: CallInput> FromRequest<Server> for ConversationCall<T> {
    type Rejection = OpenAiError;

    async fn from_request(request: Request, server: &Server) -> OpenAiResult<Self> {
        let (UserCall { app, caller, user, input, .. }, mut ids) = UserCall::read(request, server).await?;
        let mut id = |name: &str| ids.remove(name).unwrap_or_default();
        let (id, item) = (id("id"), id("item"));
        let thread = require_conversation(&app, &user, &id).await?;
        Ok(Self { app, caller, user, input, thread, id, item })
    }
}

impl<T: CallInput> FromRequest<Server> for ResponseCall<T> {
    type Rejection = OpenAiError;

    async fn from_request(request: Request, server: &Server) -> OpenAiResult<Self> {
        let (UserCall { app, caller, user, input, .. }, mut ids) = UserCall::read(request, server).await?;
        let id = ids.remove("id").unwrap_or_default();
        let found = find(&app, user, &id).await?;
        Ok(Self { app, caller, input, found, id })
    }
}

impl<T> ConversationCall<T> {
    /// The answer to it.
    pub(super) fn answer(&self, value: &Value) -> OpenAiResult<Response> {
        answer_in(Some(&self.thread), value)
    }
}

impl<T> ResponseCall<T> {
    pub(super) fn answer(&self, value: &Value) -> OpenAiResult<Response> {
        answer_in(Some(&self.found.id.thread), value)
    }
}

/// How long the conversations of a caller are kept: as its key says, or else the settings.
pub(super) fn ttl(app: &App, caller: &Caller) -> Option<Duration> {
    caller.ttl.or(app.settings.threads.ttl)
}

/// An answer that names its thread.
pub(super) fn answer_in(thread: Option<&str>, value: &Value) -> OpenAiResult<Response> {
    Ok(in_thread(thread, Json::from_value(value).into_response()))
}
