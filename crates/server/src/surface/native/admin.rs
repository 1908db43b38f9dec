//! Keys, export and import, and the check of the store.

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use novelo_engine::path::{Prefix, check_id};
use novelo_engine::scope;
use serde::Deserialize;

use crate::auth::{self, Key, KeyKind};
use crate::http::body::{Json, PathIds, QueryParams, RawBody, parse_object};
use crate::http::body_bytes::HeldBytes;
use crate::http::error::ApiResult;
use crate::http::origin;
use crate::server::Server;
use crate::transfer::{self, Imported};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::model::Detail;
use novelo_conversation::remember::check;
use novelo_conversation::remember::forget::{self, RestoreFilter};
use novelo_conversation::search::qdrant_index;
use novelo_conversation::telemetry::now;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateKeyRequest {
    kind: Option<String>,
    user: Option<String>,
    admin: Option<bool>,
    name: Option<String>,
    ttl_seconds: Option<u64>,
}

/// About a hundred years.
const TTL_SECONDS_MAX: u64 = 3_153_600_000;

pub(crate) async fn create_key(
    State(server): State<Server>,
    caller: Caller,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Json> {
    let wire: CreateKeyRequest = parse_object(&body)?;
    let kind = kind(&wire)?;
    if let Some(name) = &wire.name {
        check::text("name", name, check::NAME)?;
    }
    match wire.ttl_seconds {
        Some(_) if kind == KeyKind::Guest => {
            return Err(Error::invalid("ttl_seconds", "does not go with the kind guest: it makes no responses").into());
        }
        Some(seconds) if !(1..=TTL_SECONDS_MAX).contains(&seconds) => {
            let problem = format!("is {seconds}; it must be 1 to {TTL_SECONDS_MAX}");
            return Err(Error::invalid("ttl_seconds", problem).into());
        }
        _ => {}
    }
    if caller.is_unproven() && !origin::confirms_first_key(&headers) {
        return Err(origin::unconfirmed().into());
    }
    let (key, secret) = server.keys.create(&server.app.store, kind, wire.name, wire.ttl_seconds).await?;
    let mut row = shown(&key);
    if let Some(fields) = row.as_object_mut() {
        fields.insert("key".into(), secret.into());
    }
    Ok(Json::from_value(&row))
}

/// The requested kind: by `kind`, or, as before there were kinds, by `user` or `admin` alone.
fn kind(wire: &CreateKeyRequest) -> Result<KeyKind> {
    let is_admin = wire.admin.unwrap_or(false);
    let kind = match (wire.kind.as_deref(), &wire.user) {
        (None | Some("user"), Some(user)) => {
            check_id(user).map_err(|e| Error::bad_id("user", &e))?;
            KeyKind::User(user.clone())
        }
        (Some("user"), None) => return Err(Error::invalid("user", "is missing")),
        (None, None) if !is_admin => {
            return Err(Error::invalid("kind", "is missing: user (with user), guest, service or admin"));
        }
        (None | Some("admin"), None) => KeyKind::Admin,
        (Some("guest"), None) => KeyKind::Guest,
        (Some("service"), None) => KeyKind::Service,
        (Some(kind @ ("admin" | "guest" | "service")), Some(_)) => {
            return Err(Error::invalid("user", format_args!("does not go with the kind {kind}")));
        }
        (Some(_), _) => return Err(Error::invalid("kind", "must be one of user, guest, service, admin")),
    };
    match is_admin && kind != KeyKind::Admin {
        true => Err(Error::invalid("admin", "excludes a user, and every other kind")),
        false => Ok(kind),
    }
}

pub(crate) async fn list_keys(State(server): State<Server>) -> ApiResult<Json> {
    let keys = server.keys.now(&server.app.store).await?;
    let keys: Vec<_> = keys.list().into_iter().map(shown).collect();
    Ok(Json::from_value(&serde_json::json!({"keys": keys, "has_more": false})))
}

pub(crate) async fn revoke_key(State(server): State<Server>, PathIds(id): PathIds<String>) -> ApiResult<Json> {
    match server.keys.revoke(&server.app.store, &id).await? {
        true => Ok(Json::from_bytes(br#"{"revoked":true}"#.to_vec())),
        false => Err(Error::not_found("such key").into()),
    }
}

/// Opens a closed store without keys. Only this machine's own command line may do so.
pub(crate) async fn open_store(State(server): State<Server>, caller: Caller) -> ApiResult<Json> {
    if !caller.is_operator() {
        let message = "only `novelo key open` on the server's own machine opens a store again";
        return Err(Error::new(Code::Forbidden, message).into());
    }
    let was_closed = server.keys.open(&server.app.store).await?;
    Ok(Json::from_value(&serde_json::json!({"access": "open", "was_closed": was_closed})))
}

fn shown(key: &Key) -> serde_json::Value {
    let (kind, user) = (key.kind.name(), key.kind.user());
    let admin = key.kind == KeyKind::Admin;
    serde_json::json!({"id": key.id, "kind": kind, "user": user, "admin": admin, "name": key.name, "ttl_seconds": key.ttl_seconds})
}

pub(crate) async fn export_all(State(app): State<App>) -> ApiResult<Response> {
    Ok(export(&app, &Prefix::all()).await?)
}

pub(crate) async fn export_user(State(app): State<App>, PathIds(user): PathIds<String>) -> ApiResult<Response> {
    Ok(export(&app, &scope::user(&user).map_err(|e| Error::bad_id("user", &e))?.prefix()).await?)
}

pub(crate) async fn export_thread(
    State(app): State<App>,
    PathIds((user, thread)): PathIds<(String, String)>,
) -> ApiResult<Response> {
    let what = scope::thread(&user, &thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    Ok(export(&app, &what.prefix()).await?)
}

/// Streams JSON Lines. A header gives the approximate number of documents, for a progress bar.
async fn export(app: &App, what: &Prefix) -> Result<Response> {
    // Taken before the snapshot of the export: everything forgotten from now on is left out of a restore.
    let at = now();
    let export = app.store.export(what).await?;
    let hint = export.documents_hint();
    let lines = transfer::stream(export, what.to_string(), at);
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson".to_owned()), (HINT, hint.to_string())];
    Ok((headers, Body::from_stream(lines)).into_response())
}

const HINT: header::HeaderName = header::HeaderName::from_static("x-novelo-documents");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportParams {
    /// Whether it is a backup. Data that was forgotten since is left out.
    restore: Option<bool>,
    /// When it was taken, if the backup does not say so itself.
    taken_at: Option<f64>,
}

pub(crate) async fn import(
    State(app): State<App>,
    caller: Caller,
    QueryParams(terms): QueryParams<ImportParams>,
    Extension(held): Extension<HeldBytes>,
    headers: HeaderMap,
    body: Body,
) -> ApiResult<Json> {
    let may_close = !caller.is_unproven() || origin::confirms_first_key(&headers);
    if terms.restore != Some(true) {
        if terms.taken_at.is_some() {
            return Err(Error::invalid("taken_at", "needs restore=true").into());
        }
        let Imported { documents, new, .. } = transfer::import(&app, &caller, may_close, &held, body, None).await?;
        return Ok(Json::from_value(&serde_json::json!({"documents": documents, "new": new})));
    }
    caller.require_admin()?;
    if terms.taken_at.is_some_and(|at| !at.is_finite()) {
        return Err(Error::invalid("taken_at", "must be a number of seconds").into());
    }
    let known = forget::log::entries(&app.store).await?.into_values();
    let filter = RestoreFilter::new(terms.taken_at, known);
    let Imported { documents, new, forgotten } =
        transfer::import(&app, &caller, may_close, &held, body, Some(filter)).await?;
    Ok(Json::from_value(&serde_json::json!({"documents": documents, "new": new, "forgotten": forgotten})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RebuildRequest {
    user: Option<String>,
    anew: Option<bool>,
}

/// Rebuilds the index points of one user, or of the next users in turn.
pub(crate) async fn rebuild_index(State(app): State<App>, RawBody(body): RawBody) -> ApiResult<Json> {
    let wire: RebuildRequest = parse_object(&body)?;
    if let Some(user) = &wire.user {
        check_id(user).map_err(|e| Error::bad_id("user", &e))?;
    }
    // An index within the process is rebuilt at each start.
    let Some(there) = &app.indexes.points else { return Ok(Json::from_value(&qdrant_index::rebuild::nothing())) };
    Ok(Json::from_value(
        &qdrant_index::rebuild::step(&app, there, wire.user.as_deref(), wire.anew.unwrap_or(false)).await?,
    ))
}

/// Faults and notes. Notes leave the store healthy.
pub(crate) async fn doctor(State(server): State<Server>) -> ApiResult<Json> {
    let app = &server.app;
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    for found in app.store.check().await? {
        let row = finding(&found.place, &found.what, &found.advice);
        if found.is_fault { &mut findings } else { &mut notes }.push(row);
    }
    findings.extend(
        app.policies
            .broken()
            .iter()
            .map(|what| finding("policies", what, "mend the file; the last good one is in force, where there was one")),
    );
    notes.extend(
        app.policies
            .remembering()
            .warnings
            .iter()
            .map(|what| finding("policies", what, "correct or remove the key; the rest of the file is in force")),
    );
    if server.keys.now(&app.store).await?.access() == "closed" {
        findings.push(finding("keys", auth::CLOSED, auth::CLOSED_HINT));
    }
    if let Some(fault) = &app.indexes.embedder.fault {
        let advice = "mend what is named, or set embed to none; until then searches are lexical";
        findings.push(finding("embedder", fault, advice));
    }
    findings.extend(qdrant_index::findings(app).await?);
    findings.extend(app.models.check().await.into_iter().map(|(setting, failure)| {
        let advice = "start that server, or mend its settings; until then answers are made without it";
        finding(setting, &without_setting(&failure.to_string(), setting), advice)
    }));
    if let Some(why) = app.store.health().why {
        let advice = match app.settings.is_shared() {
            true => "see that Redis runs and can be reached from here; nothing needs a restart",
            false => "free space if the disk is full; the store goes on by itself once it can",
        };
        findings.push(finding("store", &why, advice));
    }
    Ok(Json::from_value(&serde_json::json!({
        "healthy": findings.is_empty(), "findings": findings, "notes": notes, "models": app.models.state(Detail::Full),
        "store": app.settings.store.name(), "index": app.settings.index.name(),
    })))
}

fn finding(place: &str, what: &str, advice: &str) -> serde_json::Value {
    serde_json::json!({"place": place, "what": what, "advice": advice})
}

/// The failure of a model server without the setting that the finding already names: `SETTING (ADDRESS) …`
/// becomes `ADDRESS …`.
fn without_setting(what: &str, setting: &str) -> String {
    let rest = what.strip_prefix(setting).and_then(|rest| rest.strip_prefix(" (")?.split_once(')'));
    rest.map_or_else(|| what.to_owned(), |(address, did)| format!("{address}{did}"))
}
