//! The native API.
//!
//! Owns the addresses under `/v1`, and what they accept and return. A handler reads the wire form, calls the
//! store or the conversation, and writes the response. It decides nothing else.

mod admin;
mod compactions;
pub(crate) mod completions;
pub(crate) mod context;
mod data;
mod documents;
mod health;
mod memories;
mod models;
mod passages;
pub(crate) mod schema;
mod summary;
mod tasks;
mod threads;
pub(crate) mod time;
pub(crate) mod traces;
pub(crate) mod turns;

use axum::http::Method;
use axum::routing::{delete, get, post};
use serde::Deserialize;

use crate::auth::Access;
use crate::http::body::{Json, page_size};
use crate::http::error::ApiResult;
use crate::route::{NodeMemory, Routes};
use crate::server::Server;
use novelo_conversation::error::{Error, Result};

pub(crate) fn routes(server: &Server) -> Routes {
    let user = "/v1/users/{user}";
    let thread = "/v1/users/{user}/threads/{thread}";
    let at = |base: &str, rest: &str| format!("{base}{rest}");
    Routes::new(server)
        .route(&at(thread, "/turns"), Access::Users, get(turns::list).post(turns::append))
        .route(&at(thread, "/fork"), Access::Users, post(threads::fork))
        .route(&at(thread, "/export"), Access::Users, get(admin::export_thread))
        .route(thread, Access::Users.forgetting_on(Method::DELETE), delete(threads::forget))
        .route(&at(thread, "/summary"), Access::Users, get(summary::get).put(summary::put).delete(summary::delete))
        .merge(compacted(server, thread))
        .route(&at(user, "/threads"), Access::Users, get(threads::list))
        .route(&at(user, "/data"), Access::Users, get(data::get).put(data::put).patch(data::patch))
        .route(&at(user, "/export"), Access::Users, get(admin::export_user))
        .route(user, Access::Users.forgetting_on(Method::DELETE), delete(threads::forget_user))
        .merge(remembered(server, user))
        .route("/v1/context", Access::Users, post(context::make))
        .route("/v1/chat/completions", Access::Users.refusing(completions::refuse), post(completions::complete))
        .route("/v1/docs:batch", Access::Users, post(documents::batch))
        .route(
            "/v1/docs/{*path}",
            Access::Users.forgetting_on(Method::DELETE),
            get(documents::get).put(documents::put).patch(documents::patch).delete(documents::delete),
        )
        .route("/v1/traces/{id}", Access::Users.reading(NodeMemory::Trace), get(traces::get))
        .route("/v1/traces/{id}/replay", Access::Users.reading(NodeMemory::Trace), post(traces::replay))
        .route("/v1/models", Access::Users, get(models::list))
        .route("/v1/models/{*model}", Access::Users, get(models::get))
        .route("/v1/keys", Access::Admins, get(admin::list_keys).post(admin::create_key))
        .route("/v1/keys:open", Access::Admins, post(admin::open_store))
        .route("/v1/keys/{id}", Access::Admins, delete(admin::revoke_key))
        .route("/v1/export", Access::Admins, get(admin::export_all))
        .route("/v1/import", Access::UsersAndAdmins, post(admin::import))
        .route("/v1/doctor", Access::Admins, get(admin::doctor))
        .route("/v1/index/rebuild", Access::Admins, post(admin::rebuild_index))
        .route("/health/live", Access::Public, get(health::live))
        .route("/health/ready", Access::Public, get(health::ready))
        .route("/metrics", Access::Admins, get(health::metrics))
        .route("/openapi.json", Access::Public, get(health::openapi))
}

/// Old turns in short, and back again.
fn compacted(server: &Server, thread: &str) -> Routes {
    let at = |rest: &str| format!("{thread}{rest}");
    Routes::new(server)
        .route(&at("/compactions"), Access::Users, get(compactions::list).post(compactions::make))
        .route(&at("/compactions/{id}"), Access::Users, get(compactions::get).delete(compactions::undo))
        .route(&at("/spans/{id}"), Access::Users, get(compactions::span))
        .route(&at("/spans/{id}/restore"), Access::Users, post(compactions::restore))
        .route(&at("/pins"), Access::Users, get(compactions::pins).put(compactions::set_pins))
}

/// What is remembered about a user besides the turns.
fn remembered(server: &Server, user: &str) -> Routes {
    let at = |rest: &str| format!("{user}{rest}");
    Routes::new(server)
        .route(
            &at("/memories"),
            Access::Users.forgetting_on(Method::DELETE),
            get(memories::list).post(memories::add).delete(memories::forget),
        )
        .route(&at("/memories/search"), Access::Users, post(memories::find))
        .route(
            &at("/memories/{id}"),
            Access::Users.forgetting_on(Method::DELETE),
            get(memories::get).patch(memories::change).delete(memories::delete),
        )
        .route(&at("/turns/search"), Access::Users, post(passages::find_turns))
        .route(&at("/documents"), Access::Users, get(passages::list).post(passages::index))
        .route(&at("/documents/search"), Access::Users, post(passages::find))
        .route(
            &at("/documents/{id}"),
            Access::Users.forgetting_on(Method::DELETE),
            get(passages::get).delete(passages::delete),
        )
        .route(&at("/tasks"), Access::Users, get(tasks::list).post(tasks::add))
        .route(&at("/tasks/{id}"), Access::Users, get(tasks::get).patch(tasks::change).delete(tasks::delete))
        .route(&at("/tasks/{id}/results"), Access::Users, get(tasks::list_results).post(tasks::add_result))
}

/// Parameters of a list: its size, and the id of the last item of the page before.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageParams {
    after: Option<String>,
    limit: Option<usize>,
}

impl PageParams {
    const LIMIT_DEFAULT: usize = 100;

    fn after(&self) -> Option<&str> {
        self.after.as_deref().filter(|after| !after.is_empty())
    }

    fn limit(&self) -> Result<usize> {
        page_size("limit", self.limit, Self::LIMIT_DEFAULT)
    }
}

/// The response to a deletion: 404 if there was nothing to delete.
fn deleted(was_there: bool, what: &str) -> ApiResult<Json> {
    match was_there {
        true => Ok(Json::from_bytes(br#"{"deleted":true}"#.to_vec())),
        false => Err(Error::not_found(what).into()),
    }
}
