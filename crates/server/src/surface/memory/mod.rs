//! The memory surface: contexts, resets, skills and chat over what is remembered of a user.
//!
//! Owns the addresses under `/memory` and whom a call is about. Its errors have the native form. What is remembered, and
//! how it is found, is `novelo_conversation::remember`'s.

mod chat;
mod context;
mod reset;
mod run;

use crate::auth::Access;
use crate::http::route::Routes;
use crate::server::Server;
use axum::http::Method;
use axum::routing::{get, post};
use novelo_engine::path::check_id;

use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Error, Result};

pub fn routes() -> Routes<Server> {
    Routes::new()
        .route("/memory/context", Access::Users, post(context::make))
        .route("/memory/reset", Access::Users.forgetting_on(Method::POST), post(reset::reset))
        .route("/memory/skills", Access::Users, get(run::list))
        .route("/memory/skills/{name}", Access::Users, post(run::run))
        .route("/memory/chat", Access::Users, post(chat::chat))
}

/// The user that a call is about. A user's key speaks for its user; whoever else calls must name one.
fn subject(user_id: Option<String>, caller: &Caller) -> Result<String> {
    caller.subject("user_id", user_id)?.ok_or_else(|| Error::invalid("user_id", "is missing"))
}

/// An id that may be left out.
fn id(name: &str, id: Option<String>) -> Result<Option<String>> {
    id.as_deref().map_or(Ok(()), |id| check_id(id).map_err(|e| Error::bad_id(name, &e)))?;
    Ok(id)
}
