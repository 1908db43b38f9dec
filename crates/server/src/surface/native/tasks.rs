//! `…/tasks` and `…/tasks/{task}/results`: tasks, and the tool results of each.

use axum::extract::State;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::memories::given;
use super::{PageParams, deleted};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, page_size, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::error::Error;
use novelo_conversation::remember::results;
use novelo_conversation::remember::tasks::{self, Change, NewTask, TaskStatus};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddTaskRequest {
    id: Option<String>,
    title: String,
    notes: Option<String>,
    due: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeTaskRequest {
    title: Option<String>,
    status: Option<TaskStatus>,
    #[serde(default, deserialize_with = "given")]
    notes: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    due: Option<Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskListParams {
    status: Option<TaskStatus>,
    after: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddResultRequest {
    name: Option<String>,
    content: Box<RawValue>,
}

pub(crate) async fn add(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: AddTaskRequest = parse_object(&body)?;
    let (id, notes, due) = (wire.id.as_deref(), wire.notes.as_deref(), wire.due.as_deref());
    Ok(Json::serialize(&tasks::add(&app, &user, NewTask { id, title: &wire.title, notes, due }).await?)?)
}

pub(crate) async fn list(
    State(app): State<App>,
    PathIds(user): PathIds<String>,
    QueryParams(list): QueryParams<TaskListParams>,
) -> ApiResult<Json> {
    let after = list.after.as_deref().filter(|after| !after.is_empty());
    let limit = page_size("limit", list.limit, PageParams::LIMIT_DEFAULT)?;
    Ok(Json::serialize(&tasks::list(&app, &user, list.status, after, limit).await?)?)
}

pub(crate) async fn get(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    Ok(Json::serialize(&tasks::get(&app, &user, &id).await?.ok_or_else(|| Error::not_found("such task"))?)?)
}

pub(crate) async fn change(
    State(app): State<App>,
    PathIds((user, id)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: ChangeTaskRequest = parse_object(&body)?;
    let change = Change {
        title: wire.title.as_deref(),
        status: wire.status,
        notes: wire.notes.as_ref().map(Option::as_deref),
        due: wire.due.as_ref().map(Option::as_deref),
    };
    let changed = tasks::change(&app, &user, &id, change).await?;
    Ok(Json::serialize(&changed.ok_or_else(|| Error::not_found("such task"))?)?)
}

pub(crate) async fn delete(State(app): State<App>, PathIds((user, id)): PathIds<(String, String)>) -> ApiResult<Json> {
    deleted(tasks::remove(&app, &user, &id).await?, "such task")
}

pub(crate) async fn add_result(
    State(app): State<App>,
    PathIds((user, task)): PathIds<(String, String)>,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: AddResultRequest = parse_object(&body)?;
    let id = results::add(&app, &user, &task, wire.name.as_deref(), wire.content).await?;
    Ok(Json::from_value(&serde_json::json!({"id": id})))
}

pub(crate) async fn list_results(
    State(app): State<App>,
    PathIds((user, task)): PathIds<(String, String)>,
    QueryParams(page): QueryParams<PageParams>,
) -> ApiResult<Json> {
    Ok(Json::serialize(&results::list(&app, &user, &task, page.after(), page.limit()?).await?)?)
}
