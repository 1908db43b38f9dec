//! Threads with follow-ups: questions answered from documents, and the chat page.
//!
//! Owns `/chat` with what belongs to it.

pub mod page;

use axum::Router;
use axum::routing::get;

use crate::app::App;

pub fn routes() -> Router<App> {
    Router::new().route("/chat", get(page::chat)).route("/chat/assets/{name}", get(page::asset))
}
