//! The raw equivalent of W1-HTTP: a bare axum server with the turns in a hash map.
//!
//! Owns no file and no key, has no layer around its routes, and writes nothing down. It reads the JSON of a
//! request once, keeps each turn as the bytes of its later answer, and answers in the form of the native API.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, StatusCode};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::serve::ListenerExt;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

const JSON: [(HeaderName, &str); 1] = [(CONTENT_TYPE, "application/json")];

/// The turns of all threads, each as it is listed.
#[derive(Default)]
struct BareState {
    threads: Mutex<HashMap<(String, String), Vec<String>>>,
    ids: AtomicU64,
}

#[derive(Deserialize)]
struct BareAppend<'b> {
    #[serde(borrow)]
    messages: Vec<&'b RawValue>,
}

#[derive(Deserialize)]
struct BareList {
    last: usize,
}

impl BareState {
    fn threads(&self) -> MutexGuard<'_, HashMap<(String, String), Vec<String>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until the process is killed.
pub(crate) async fn serve() -> anyhow::Result<()> {
    let router = Router::new()
        .route("/v1/users/{user}/threads/{thread}/turns", get(list).post(append))
        .with_state(Arc::new(BareState::default()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    novelo_server::say!("bare server at http://{}", listener.local_addr()?);
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY was refused");
        }
    });
    Ok(axum::serve(listener, router).await?)
}

async fn append(
    State(state): State<Arc<BareState>>,
    Path(thread): Path<(String, String)>,
    body: Bytes,
) -> Result<impl IntoResponse, StatusCode> {
    let Ok(BareAppend { messages }) = serde_json::from_slice(&body) else { return Err(StatusCode::BAD_REQUEST) };
    let create_time = novelo_conversation::telemetry::now();
    let mut answer = r#"{"turns":["#.to_owned();
    let mut threads = state.threads();
    let turns = threads.entry(thread).or_default();
    for (n, message) in messages.iter().enumerate() {
        let (id, seq, comma) =
            (state.ids.fetch_add(1, Ordering::Relaxed), turns.len() + 1, if n > 0 { "," } else { "" });
        let head = format!(r#""id":"{id:032x}","seq":{seq},"create_time":{create_time}"#);
        let tokens = message.get().len() / 4;
        if write!(answer, r#"{comma}{{{head},"tokens":{tokens}}}"#).is_err() {
            return Err(StatusCode::INTERNAL_SERVER_ERROR);
        }
        turns.push(format!(r#"{{{head},"message":{}}}"#, message.get()));
    }
    drop(threads);
    answer.push_str("]}");
    Ok((JSON, answer))
}

async fn list(
    State(state): State<Arc<BareState>>,
    Path(thread): Path<(String, String)>,
    Query(BareList { last }): Query<BareList>,
) -> impl IntoResponse {
    let threads = state.threads();
    let turns = threads.get(&thread).map(Vec::as_slice).unwrap_or_default();
    let more = turns.len() > last;
    let shown = turns.get(turns.len().saturating_sub(last)..).unwrap_or_default();
    let mut answer = String::with_capacity(64 + shown.iter().map(|turn| turn.len() + 1).sum::<usize>());
    answer.push_str(r#"{"turns":["#);
    for (n, turn) in shown.iter().enumerate() {
        answer.push_str(if n > 0 { "," } else { "" });
        answer.push_str(turn);
    }
    drop(threads);
    answer.push_str(if more { r#"],"has_more":true}"# } else { r#"],"has_more":false}"# });
    (JSON, answer)
}
