//! The memory surface: contexts, resets, skills and chat over what is remembered of a user.
//!
//! Owns the addresses under `/memory`, and which user a call is about. Its errors have the native form.
//! `novelo_conversation::remember` stores and finds the memories.

mod chat;
mod context;
mod reset;
mod run;
pub(crate) mod schema;

use axum::http::Method;
use axum::routing::{get, post};

use crate::auth::Access;
use crate::route::Routes;
use crate::server::Server;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Error, Result};

pub(crate) fn routes(server: &Server) -> Routes {
    Routes::new(server)
        .route("/memory/context", Access::Users, post(context::make))
        .route("/memory/reset", Access::Users.forgetting_on(Method::POST), post(reset::reset))
        .route("/memory/skills", Access::Users, get(run::list))
        .route("/memory/skills/{name}", Access::Users, post(run::run))
        .route("/memory/chat", Access::Users, post(chat::chat))
}

/// The user that a call is about. A user's key names its user; every other caller must name one.
fn subject(user_id: Option<String>, caller: &Caller) -> Result<String> {
    caller.subject("user_id", user_id)?.ok_or_else(|| Error::invalid("user_id", "is missing"))
}
