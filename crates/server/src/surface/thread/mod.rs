//! Threads with follow-ups: questions answered from documents, and the chat page.
//!
//! Owns `/api/ask` and the calls of the chat page; the page itself is in `super::pages`.
//! `novelo_conversation::answer::reply` makes the answers.

mod ask;
mod page;
mod replies;
pub(crate) mod schema;
mod wire;

use axum::routing::{get, post};

use crate::auth::Access;
use crate::route::{NodeMemory, Routes};
use crate::server::Server;

pub(crate) use ask::{answer, event, is_ours};

pub(crate) fn routes(server: &Server) -> Routes {
    Routes::new(server)
        .route("/api/ask", Access::Users, post(ask::ask))
        .route("/chat/ask", Access::Users, post(replies::begin))
        .route("/chat/threads/{thread}", Access::Users, get(replies::turns))
        .route(
            "/chat/replies/{name}",
            Access::Users.reading(NodeMemory::NamedReply),
            get(replies::read).delete(replies::end),
        )
}
