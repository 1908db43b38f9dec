//! `…/memories`: keeping texts, and finding them again.

use axum::extract::State;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::After;
use crate::http::body::{Ids, Json, Params, Raw, parse_object};
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::Error;
use novelo_conversation::remember::memories::{self, NewMemory};
use novelo_conversation::remember::search::{self, Query};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'b> {
    id: Option<String>,
    text: String,
    #[serde(borrow)]
    meta: Option<&'b RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    k: Option<u64>,
    explain: Option<bool>,
}

pub async fn add(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let wire: Wire<'_> = parse_object(&body)?;
    let new = NewMemory { id: wire.id.as_deref(), text: &wire.text, meta: wire.meta };
    let id = memories::add(&app, &user, new).await?;
    Ok(Json::of(&serde_json::json!({"id": id})))
}

pub async fn list(
    State(app): State<App>,
    caller: Caller,
    Ids(user): Ids<String>,
    Params(page): Params<After>,
) -> ApiResult<Json> {
    caller.require_user(&user)?;
    Ok(Json::write(&memories::list(&app, &user, page.after(), page.limit()?).await?)?)
}

pub async fn find(State(app): State<App>, caller: Caller, Ids(user): Ids<String>, Raw(body): Raw) -> ApiResult<Json> {
    caller.require_user(&user)?;
    let wire: Search = parse_object(&body)?;
    let query = Query { text: &wire.query, k: wire.k, explain: wire.explain == Some(true) };
    Ok(Json::write(&search::memories(&app, &user, query).await?)?)
}

pub async fn forget(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> ApiResult<Json> {
    caller.require_user(&user)?;
    Ok(memories::forget_all(&app, &user).await.map(|forgotten| Json::of(&forgotten.answer()))?)
}

pub async fn delete(State(app): State<App>, caller: Caller, Ids((user, id)): Ids<(String, String)>) -> ApiResult<Json> {
    caller.require_user(&user)?;
    match memories::remove(&app, &user, &id).await? {
        true => Ok(Json::written(br#"{"deleted":true}"#.to_vec())),
        false => Err(Error::not_found("such memory").into()),
    }
}
