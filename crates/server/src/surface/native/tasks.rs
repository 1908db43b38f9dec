//! `…/tasks` and `…/tasks/{task}/results`: what is to be done, and what tools answered meanwhile.

use axum::extract::State;
use serde::{Deserialize, Deserializer};

use super::After;
use crate::http::body::{Ids, Json, Params, Raw, page_size, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::results;
use novelo_conversation::remember::tasks::{self, Change, NewTask, Status};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    id: Option<String>,
    title: String,
    notes: Option<String>,
    due: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Patch {
    title: Option<String>,
    status: Option<Status>,
    #[serde(default, deserialize_with = "given")]
    notes: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    due: Option<Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    status: Option<Status>,
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultWire {
    name: Option<String>,
    content: String,
}

/// Tells null from what is not there.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

pub async fn add(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let wire: Wire = parse_object(&body)?;
    let (id, notes, due) = (wire.id.as_deref(), wire.notes.as_deref(), wire.due.as_deref());
    Ok(Json::write(&tasks::add(&app, &user, NewTask { id, title: &wire.title, notes, due }).await?)?)
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Ids(user): Ids<String>,
    Params(list): Params<List>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let after = list.after.as_deref().filter(|after| !after.is_empty());
    let limit = page_size("limit", list.limit, After::LIMIT_DEFAULT)?;
    Ok(Json::write(&tasks::list(&app, &user, list.status, after, limit).await?)?)
}

pub async fn get(State(app): State<App>, caller: Caller, Ids((user, id)): Ids<(String, String)>) -> ApiResult<Json> {
    caller.require_user(&user)?;
    Ok(Json::write(&tasks::get(&app, &user, &id).await?.ok_or_else(|| Error::not_found("such task"))?)?)
}

pub async fn change(
    State(app): State<App>,
    caller: Caller,
    Ids((user, id)): Ids<(String, String)>,
    Raw(body): Raw,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let wire: Patch = parse_object(&body)?;
    let change = Change {
        title: wire.title.as_deref(),
        status: wire.status,
        notes: wire.notes.as_ref().map(Option::as_deref),
        due: wire.due.as_ref().map(Option::as_deref),
    };
    let changed = tasks::change(&app, &user, &id, change).await?;
    Ok(Json::write(&changed.ok_or_else(|| Error::not_found("such task"))?)?)
}

pub async fn delete(State(app): State<App>, caller: Caller, Ids((user, id)): Ids<(String, String)>) -> ApiResult<Json> {
    caller.require_user(&user)?;
    match tasks::remove(&app, &user, &id).await? {
        true => Ok(Json::written(br#"{"deleted":true}"#.to_vec())),
        false => Err(Error::not_found("such task").into()),
    }
}

pub async fn add_result(
    State(app): State<App>,
    caller: Caller,
    Ids((user, task)): Ids<(String, String)>,
    Raw(body): Raw,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let wire: ResultWire = parse_object(&body)?;
    let id = results::add(&app, &user, &task, wire.name.as_deref(), &wire.content).await?;
    Ok(Json::of(&serde_json::json!({"id": id})))
}

pub async fn list_results(
    State(app): State<App>,
    caller: Caller,
    Ids((user, task)): Ids<(String, String)>,
    Params(page): Params<After>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    Ok(Json::write(&results::list(&app, &user, &task, page.after(), page.limit()?).await?)?)
}
