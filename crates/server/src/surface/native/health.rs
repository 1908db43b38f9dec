//! The health of the server, and its description.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::http::body::Json;
use crate::http::error::ApiResult;
use crate::instance::{CHALLENGE, INSTANCE};
use crate::server::Server;
use crate::surface::openapi;
use novelo_conversation::model::Detail;

/// Reports that the process runs, and proves to a client on this machine which data directory it has open.
pub(crate) async fn live(State(server): State<Server>, headers: HeaderMap) -> Response {
    let mut response = Json::from_bytes(br#"{"status":"ok"}"#.to_vec()).into_response();
    let challenge = headers.get(CHALLENGE).and_then(|challenge| challenge.to_str().ok());
    let proof =
        challenge.zip(server.instance.get()).and_then(|(challenge, own)| own.prove(&server.own_secret, challenge));
    if let Some(proof) = proof.and_then(|proof| HeaderValue::try_from(proof).ok()) {
        response.headers_mut().insert(INSTANCE, proof);
    }
    response
}

/// Ready means that a write would be taken.
pub(crate) async fn ready(State(server): State<Server>) -> Response {
    let app = &server.app;
    let health = app.store.health();
    let broken = app.policies.broken().len();
    let why = health.why.or_else(|| app.evictions.why());
    let is_ready = health.writable && why.is_none();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let points = app.indexes.points.as_deref();
    let said = match (is_ready, app.settings.is_shared()) {
        (true, _) => "ok",
        (false, true) => "unavailable",
        (false, false) => "read_only",
    };
    let mut body = serde_json::json!({
        "status": said,
        "store": app.settings.store.name(),
        "index": app.settings.index.name(),
        "why": why,
        "erasing": health.erasing || app.erasure.is_pending() || points.is_some_and(|points| points.left.is_known()),
        "connections": {"open": server.connections.open(), "max": server.connections.max()},
        "presets": app.policies.names(),
        "embedder": app.indexes.embedder.state(),
        "embedding": app.indexes.waiting.progress(),
        "models": app.models.state(Detail::Public),
        "policy_status": app.policies.remembering().status,
        "broken_policies": broken,
        "access": server.keys.last().access(),
        "version": env!("CARGO_PKG_VERSION"),
    });
    if let (Some(points), Some(body)) = (points, body.as_object_mut()) {
        body.insert("qdrant".into(), points.state().into());
    }
    (status, Json::from_value(&body)).into_response()
}

pub(crate) async fn metrics(State(server): State<Server>) -> ApiResult<Response> {
    let app = &server.app;
    let page = app.metrics.page(&app.store.health())
        + &server.connections.metrics()
        + &server.body_bytes.metrics()
        + &app.models.metrics();
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], page).into_response())
}

pub(crate) async fn openapi() -> Json {
    Json::from_value(&openapi::document())
}
