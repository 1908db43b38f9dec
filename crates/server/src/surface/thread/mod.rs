//! Threads with follow-ups: questions answered from documents, and the chat page.
//!
//! Owns `/api/ask`, and what the chat page calls; the page itself is one of `super::pages`. How an answer is made is `novelo_conversation::answer::reply`'s.

mod ask;
mod page;
mod replies;

use crate::auth::Access;
use crate::http::route::{NodeMemory, Routes};
use crate::server::Server;
use axum::routing::{get, post};

pub use ask::{answer, event, is_ours};

pub fn routes() -> Routes<Server> {
    Routes::new()
        .route("/api/ask", Access::Users, post(ask::ask))
        .route("/chat/ask", Access::Users, post(replies::begin))
        .route(
            "/chat/replies/{name}",
            Access::Users.reading(NodeMemory::NamedReply),
            get(replies::read).delete(replies::end),
        )
}
