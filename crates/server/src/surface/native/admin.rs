//! Keys, export and import, and the store's own check.

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use novelo_engine::path::{Prefix, check_id};
use novelo_engine::scope;
use serde::Deserialize;

use crate::app::App;
use crate::auth::{self, Caller, Key, KeyKind};
use crate::forget::{self, RestoreFilter};
use crate::http::body::{Ids, Json, Params, Raw, parse_object};
use crate::http::body_bytes::HeldBytes;
use crate::http::error::{ApiError, Code, Result};
use crate::http::origin;
use crate::memory::check;
use crate::model::Detail;
use crate::recall::points;
use crate::telemetry::now;
use crate::transfer::{self, Imported};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    kind: Option<String>,
    user: Option<String>,
    admin: Option<bool>,
    name: Option<String>,
}

pub async fn create_key(State(app): State<App>, caller: Caller, headers: HeaderMap, Raw(body): Raw) -> Result<Json> {
    caller.require_admin()?;
    let wire: NewKey = parse_object(&body)?;
    let kind = kind(&wire)?;
    if let Some(name) = &wire.name {
        check::text("name", name, check::NAME)?;
    }
    if caller.is_unproven() && !origin::confirms_first_key(&headers) {
        return Err(origin::unconfirmed());
    }
    let (key, secret) = app.keys.create(&app.store, kind, wire.name).await?;
    let mut row = shown(&key);
    if let Some(fields) = row.as_object_mut() {
        fields.insert("key".into(), secret.into());
    }
    Ok(Json::of(&row))
}

/// The kind that is asked for: by `kind`, or as before there were kinds by `user` or `admin` alone.
fn kind(wire: &NewKey) -> Result<KeyKind> {
    let is_admin = wire.admin.unwrap_or(false);
    let kind = match (wire.kind.as_deref(), &wire.user) {
        (None | Some("user"), Some(user)) => {
            check_id(user).map_err(|e| ApiError::bad_id("user", &e))?;
            KeyKind::User(user.clone())
        }
        (Some("user"), None) => return Err(ApiError::invalid("user", "is missing")),
        (None, None) if !is_admin => {
            return Err(ApiError::invalid("kind", "is missing: user (with user), guest, service or admin"));
        }
        (None | Some("admin"), None) => KeyKind::Admin,
        (Some("guest"), None) => KeyKind::Guest,
        (Some("service"), None) => KeyKind::Service,
        (Some(kind @ ("admin" | "guest" | "service")), Some(_)) => {
            return Err(ApiError::invalid("user", format_args!("does not go with the kind {kind}")));
        }
        (Some(_), _) => return Err(ApiError::invalid("kind", "must be one of user, guest, service, admin")),
    };
    match is_admin && kind != KeyKind::Admin {
        true => Err(ApiError::invalid("admin", "excludes a user, and every other kind")),
        false => Ok(kind),
    }
}

pub async fn list_keys(State(app): State<App>, caller: Caller) -> Result<Json> {
    caller.require_admin()?;
    let keys = app.keys.now(&app.store).await?;
    let keys: Vec<_> = keys.list().into_iter().map(shown).collect();
    Ok(Json::of(&serde_json::json!({"keys": keys, "has_more": false})))
}

pub async fn revoke_key(State(app): State<App>, caller: Caller, Ids(id): Ids<String>) -> Result<Json> {
    caller.require_admin()?;
    match app.keys.revoke(&app.store, &id).await? {
        true => Ok(Json::written(br#"{"revoked":true}"#.to_vec())),
        false => Err(ApiError::not_found("such key")),
    }
}

/// Opens a closed store without keys, for this machine's own command line alone.
pub async fn open_store(State(app): State<App>, caller: Caller) -> Result<Json> {
    if !caller.is_operator() {
        let message = "only `novelo key open` on the server's own machine opens a store again";
        return Err(ApiError::new(Code::Forbidden, message));
    }
    let was_closed = app.keys.open(&app.store).await?;
    Ok(Json::of(&serde_json::json!({"access": "open", "was_closed": was_closed})))
}

fn shown(key: &Key) -> serde_json::Value {
    let (kind, user) = (key.kind.name(), key.kind.user());
    let admin = key.kind == KeyKind::Admin;
    serde_json::json!({"id": key.id, "kind": kind, "user": user, "admin": admin, "name": key.name})
}

pub async fn export_all(State(app): State<App>, caller: Caller) -> Result<Response> {
    caller.require_admin()?;
    export(&app, &Prefix::all()).await
}

pub async fn export_user(State(app): State<App>, caller: Caller, Ids(user): Ids<String>) -> Result<Response> {
    caller.require_user(&user)?;
    export(&app, &scope::user(&user).map_err(|e| ApiError::bad_id("user", &e))?.prefix()).await
}

pub async fn export_thread(
    State(app): State<App>,
    caller: Caller,
    Ids((user, thread)): Ids<(String, String)>,
) -> Result<Response> {
    caller.require_user(&user)?;
    let what = scope::thread(&user, &thread).map_err(|e| ApiError::bad_id("user or thread", &e))?;
    export(&app, &what.prefix()).await
}

/// Streams JSON Lines. The header tells a progress bar about how many there are.
async fn export(app: &App, what: &Prefix) -> Result<Response> {
    // Before the moment that the export shows: what is forgotten from now on is left out of a restore.
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
pub struct ImportTerms {
    /// Whether it is a backup, of which what was forgotten since is left out.
    restore: Option<bool>,
    /// When it was taken, where it does not say so itself.
    taken_at: Option<f64>,
}

pub async fn import(
    State(app): State<App>,
    caller: Caller,
    Params(terms): Params<ImportTerms>,
    Extension(held): Extension<HeldBytes>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json> {
    let may_close = !caller.is_unproven() || origin::confirms_first_key(&headers);
    if terms.restore != Some(true) {
        if terms.taken_at.is_some() {
            return Err(ApiError::invalid("taken_at", "needs restore=true"));
        }
        let Imported { documents, new, .. } = transfer::import(&app, &caller, may_close, &held, body, None).await?;
        return Ok(Json::of(&serde_json::json!({"documents": documents, "new": new})));
    }
    caller.require_admin()?;
    if terms.taken_at.is_some_and(|at| !at.is_finite()) {
        return Err(ApiError::invalid("taken_at", "must be a number of seconds"));
    }
    let known = forget::log::entries(&app.store).await?.into_values();
    let filter = RestoreFilter::new(terms.taken_at, known);
    let Imported { documents, new, forgotten } =
        transfer::import(&app, &caller, may_close, &held, body, Some(filter)).await?;
    Ok(Json::of(&serde_json::json!({"documents": documents, "new": new, "forgotten": forgotten})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rebuild {
    user: Option<String>,
    anew: Option<bool>,
}

/// Makes the points of one user anew, or of the next of all.
pub async fn rebuild_index(State(app): State<App>, caller: Caller, Raw(body): Raw) -> Result<Json> {
    caller.require_admin()?;
    let wire: Rebuild = parse_object(&body)?;
    if let Some(user) = &wire.user {
        check_id(user).map_err(|e| ApiError::bad_id("user", &e))?;
    }
    // An index in the process is made anew at each start.
    let Some(there) = &app.indexes.points else { return Ok(Json::of(&points::rebuild::nothing())) };
    Ok(Json::of(&points::rebuild::step(&app, there, wire.user.as_deref(), wire.anew.unwrap_or(false)).await?))
}

/// What is wrong, and beside it what is good to know: notes leave the store healthy.
pub async fn doctor(State(app): State<App>, caller: Caller) -> Result<Json> {
    caller.require_admin()?;
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
    if app.keys.now(&app.store).await?.access() == "closed" {
        findings.push(finding("keys", auth::CLOSED, auth::CLOSED_HINT));
    }
    if let Some(fault) = &app.indexes.embedder.fault {
        let advice = "mend what is named, or set embed to none; until then searches are lexical";
        findings.push(finding("embedder", fault, advice));
    }
    findings.extend(points::findings(&app).await?);
    findings.extend(app.models.check().await.into_iter().map(|(setting, failure)| {
        let advice = "start that server, or mend its settings; until then answers are made without it";
        finding(&setting, &without_setting(&failure.to_string(), &setting), advice)
    }));
    if let Some(why) = app.store.health().why {
        let advice = match app.config.is_shared() {
            true => "see that Redis runs and can be reached from here; nothing needs a restart",
            false => "free space if the disk is full; the store goes on by itself once it can",
        };
        findings.push(finding("store", &why, advice));
    }
    Ok(Json::of(&serde_json::json!({
        "healthy": findings.is_empty(), "findings": findings, "notes": notes, "models": app.models.state(Detail::Full),
        "store": app.config.text("store"), "index": app.config.text("index"),
    })))
}

fn finding(place: &str, what: &str, advice: &str) -> serde_json::Value {
    serde_json::json!({"place": place, "what": what, "advice": advice})
}

/// What a model's server did, where its setting stands before it already: `SETTING (ADDRESS) …` becomes `ADDRESS …`.
fn without_setting(what: &str, setting: &str) -> String {
    let rest = what.strip_prefix(setting).and_then(|rest| rest.strip_prefix(" (")?.split_once(')'));
    rest.map_or_else(|| what.to_owned(), |(address, did)| format!("{address}{did}"))
}
