//! Keys, export and import, and the store's own check.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use novelo_engine::path::{Prefix, check_id};
use novelo_engine::scope;
use serde::Deserialize;

use crate::app::App;
use crate::auth::{Caller, Key};
use crate::http::body::{Ids, Json, Raw, parse_object};
use crate::http::error::{ApiError, Result};
use crate::model::Detail;
use crate::transfer;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    user: Option<String>,
    admin: Option<bool>,
}

pub async fn create_key(State(app): State<App>, caller: Caller, Raw(body): Raw) -> Result<Json> {
    caller.require_admin()?;
    let wire: NewKey = parse_object(&body)?;
    match (&wire.user, wire.admin.unwrap_or(false)) {
        (None, false) => return Err(ApiError::invalid("user", "or admin: true must be given")),
        (Some(_), true) => return Err(ApiError::invalid("admin", "and user exclude each other")),
        (Some(user), false) => check_id(user).map_err(|e| ApiError::bad_id("user", &e))?,
        (None, true) => {}
    }
    let (key, secret) = app.keys.create(&app.store, wire.user.as_deref()).await?;
    let mut row = shown(&key);
    if let Some(fields) = row.as_object_mut() {
        fields.insert("key".into(), secret.into());
    }
    Ok(Json::of(&row))
}

pub async fn list_keys(State(app): State<App>, caller: Caller) -> Result<Json> {
    caller.require_admin()?;
    let keys: Vec<_> = app.keys.list().iter().map(shown).collect();
    Ok(Json::of(&serde_json::json!({"keys": keys, "has_more": false})))
}

pub async fn revoke_key(State(app): State<App>, caller: Caller, Ids(id): Ids<String>) -> Result<Json> {
    caller.require_admin()?;
    match app.keys.revoke(&app.store, &id).await? {
        true => Ok(Json::written(br#"{"revoked":true}"#.to_vec())),
        false => Err(ApiError::not_found("such key")),
    }
}

fn shown(key: &Key) -> serde_json::Value {
    serde_json::json!({"id": key.id, "user": key.user, "admin": key.user.is_none()})
}

pub async fn export_all(State(app): State<App>, caller: Caller) -> Result<Response> {
    caller.require_admin()?;
    export(&app, &Prefix::all())
}

pub async fn export_user(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> Result<Response> {
    caller.require_user(&user)?;
    export(&app, &scope::user(&user).map_err(|e| ApiError::bad_id("user", &e))?.prefix())
}

pub async fn export_thread(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> Result<Response> {
    caller.require_user(&user)?;
    let what = scope::thread(&user, &thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    export(&app, &what.prefix())
}

/// Streams JSON Lines. The header tells a progress bar about how many there are.
fn export(app: &App, what: &Prefix) -> Result<Response> {
    let export = app.store.export(what)?;
    let hint = export.documents_hint();
    let lines = transfer::stream(export, what.to_string());
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson".to_owned()), (HINT, hint.to_string())];
    Ok((headers, Body::new(lines)).into_response())
}

const HINT: header::HeaderName = header::HeaderName::from_static("x-novelo-documents");

pub async fn import(State(app): State<App>, caller: Caller, body: Body) -> Result<Json> {
    let done = transfer::import(&app.store, &caller, body).await;
    app.keys.reload(&app.store).await?;
    let done = done?;
    Ok(Json::written(format!(r#"{{"documents":{},"new":{}}}"#, done.documents, done.new).into_bytes()))
}

pub async fn doctor(State(app): State<App>, caller: Caller) -> Result<Json> {
    caller.require_admin()?;
    let mut findings: Vec<_> = app
        .store
        .check()
        .await?
        .into_iter()
        .map(|f| serde_json::json!({"place": f.place, "what": f.what, "advice": f.advice}))
        .collect();
    findings.extend(app.policies.broken().into_iter().map(|what| {
        serde_json::json!({"place": "policies", "what": what, "advice": "mend the file; the last good one is in force, where there was one"})
    }));
    if let Some(fault) = &app.indexes.embedder.fault {
        let advice = "mend what is named, or set embed to none; until then searches are lexical";
        findings.push(serde_json::json!({"place": "embedder", "what": fault, "advice": advice}));
    }
    findings.extend(app.models.check().await.into_iter().map(|(setting, failure)| {
        let advice = "start that server, or mend its settings; until then answers are made without it";
        serde_json::json!({"place": setting, "what": failure.to_string(), "advice": advice})
    }));
    if let Some(why) = app.store.health().why {
        let advice = "free space if the disk is full, else restart";
        findings.push(serde_json::json!({"place": "store", "what": why, "advice": advice}));
    }
    let healthy = findings.is_empty();
    Ok(Json::of(
        &serde_json::json!({"healthy": healthy, "findings": findings, "models": app.models.state(Detail::Full)}),
    ))
}
