//! Threads with follow-ups: questions answered from documents, and the chat page.
//!
//! Owns `/api/ask`, and what the chat page calls; the page itself is one of `super::pages`. How an answer is made is `novelo_conversation::answer::reply`'s.

mod ask;
mod page;
mod replies;
mod wire;

use crate::server::Server;
use axum::Router;
use axum::routing::{get, post};

pub use ask::{answer, event, is_ours};

pub fn routes() -> Router<Server> {
    Router::new()
        .route("/api/ask", post(ask::ask))
        .route("/chat/ask", post(replies::begin))
        .route("/chat/replies/{name}", get(replies::read).delete(replies::end))
}
