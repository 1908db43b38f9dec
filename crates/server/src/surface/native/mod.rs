//! The native API.
//!
//! Owns the addresses under `/v1` and what they accept and answer. A handler checks the caller, reads the wire form,
//! calls the store or the flow, and writes the answer; nothing is decided here.

mod admin;
mod context;
mod data;
mod documents;
mod health;
mod threads;
mod traces;
mod turns;

use axum::Router;
use axum::routing::{get, post};

use crate::app::App;

pub fn routes() -> Router<App> {
    let user = "/v1/users/{user}";
    let thread = "/v1/users/{user}/threads/{thread}";
    let at = |base: &str, rest: &str| format!("{base}{rest}");
    Router::new()
        .route(&at(thread, "/turns"), get(turns::list).post(turns::append))
        .route(&at(thread, "/fork"), post(threads::fork))
        .route(&at(thread, "/export"), get(admin::export_thread))
        .route(thread, axum::routing::delete(threads::forget))
        .route(&at(user, "/threads"), get(threads::list))
        .route(&at(user, "/data"), get(data::get).put(data::put).patch(data::patch))
        .route(&at(user, "/export"), get(admin::export_user))
        .route(user, axum::routing::delete(threads::forget_user))
        .route("/v1/context", post(context::make))
        .route("/v1/docs:batch", post(documents::batch))
        .route(
            "/v1/docs/{*path}",
            get(documents::get).put(documents::put).patch(documents::patch).delete(documents::delete),
        )
        .route("/v1/traces/{id}", get(traces::get))
        .route("/v1/traces/{id}/replay", post(traces::replay))
        .route("/v1/keys", get(admin::list_keys).post(admin::create_key))
        .route("/v1/keys/{id}", axum::routing::delete(admin::revoke_key))
        .route("/v1/export", get(admin::export_all))
        .route("/v1/import", post(admin::import))
        .route("/v1/doctor", get(admin::doctor))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(health::openapi))
        .route("/", get(health::index))
}
