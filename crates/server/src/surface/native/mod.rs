//! The native API.
//!
//! Owns the addresses under `/v1` and what they accept and answer. A handler checks the caller, reads the wire form,
//! calls the store or the flow, and writes the answer; nothing is decided here.

mod admin;
mod completions;
pub mod context;
mod data;
mod documents;
mod health;
mod memories;
mod models;
mod passages;
mod summary;
mod tasks;
mod threads;
mod traces;
pub mod turns;

use crate::server::Server;
use axum::Router;
use axum::routing::{get, post};
use serde::Deserialize;

use crate::http::body::page_size;
use novelo_conversation::error::Result;

pub fn routes() -> Router<Server> {
    let user = "/v1/users/{user}";
    let thread = "/v1/users/{user}/threads/{thread}";
    let at = |base: &str, rest: &str| format!("{base}{rest}");
    Router::new()
        .route(&at(thread, "/turns"), get(turns::list).post(turns::append))
        .route(&at(thread, "/fork"), post(threads::fork))
        .route(&at(thread, "/export"), get(admin::export_thread))
        .route(thread, axum::routing::delete(threads::forget))
        .route(&at(thread, "/summary"), get(summary::get).put(summary::put).delete(summary::delete))
        .route(&at(user, "/threads"), get(threads::list))
        .route(&at(user, "/data"), get(data::get).put(data::put).patch(data::patch))
        .route(&at(user, "/export"), get(admin::export_user))
        .route(user, axum::routing::delete(threads::forget_user))
        .merge(remembered(user))
        .route("/v1/context", post(context::make))
        .route("/v1/chat/completions", post(completions::complete))
        .route("/v1/docs:batch", post(documents::batch))
        .route(
            "/v1/docs/{*path}",
            get(documents::get).put(documents::put).patch(documents::patch).delete(documents::delete),
        )
        .route("/v1/traces/{id}", get(traces::get))
        .route("/v1/traces/{id}/replay", post(traces::replay))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{*model}", get(models::get))
        .route("/v1/keys", get(admin::list_keys).post(admin::create_key))
        .route("/v1/keys:open", post(admin::open_store))
        .route("/v1/keys/{id}", axum::routing::delete(admin::revoke_key))
        .route("/v1/export", get(admin::export_all))
        .route("/v1/import", post(admin::import))
        .route("/v1/doctor", get(admin::doctor))
        .route("/v1/index/rebuild", post(admin::rebuild_index))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(health::openapi))
}

/// What is remembered of a user beside the turns.
fn remembered(user: &str) -> Router<Server> {
    let at = |rest: &str| format!("{user}{rest}");
    Router::new()
        .route(&at("/memories"), get(memories::list).post(memories::add).delete(memories::forget))
        .route(&at("/memories/search"), post(memories::find))
        .route(&at("/memories/{id}"), axum::routing::delete(memories::delete))
        .route(&at("/turns/search"), post(passages::find_turns))
        .route(&at("/documents"), get(passages::list).post(passages::index))
        .route(&at("/documents/search"), post(passages::find))
        .route(&at("/documents/{id}"), get(passages::get).delete(passages::delete))
        .route(&at("/tasks"), get(tasks::list).post(tasks::add))
        .route(&at("/tasks/{id}"), get(tasks::get).patch(tasks::change).delete(tasks::delete))
        .route(&at("/tasks/{id}/results"), get(tasks::list_results).post(tasks::add_result))
}

/// A page of a list: how many, and the id of the last one of the page before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct After {
    after: Option<String>,
    limit: Option<usize>,
}

impl After {
    const LIMIT_DEFAULT: usize = 100;

    fn after(&self) -> Option<&str> {
        self.after.as_deref().filter(|after| !after.is_empty())
    }

    fn limit(&self) -> Result<usize> {
        page_size("limit", self.limit, Self::LIMIT_DEFAULT)
    }
}
