//! HTTP: a warm context over a socket, against a handler that returns the same bytes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::routing::post;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use novelo_engine::scope;
use novelo_store::AppendTerms;
use tokio::sync::oneshot;

use super::raw::message;
use super::thread::{document, rate};
use super::{Row, Target, settle};
use crate::app;
use crate::config::Config;
use crate::http::body::{Json, Raw};
use crate::http::{router, serve};

const ROUNDS: usize = 5;
const CLIENTS: usize = 8;
/// Messages of about 500 bytes: 80 KB in all.
const MESSAGES: usize = 165;
const ASK: &str = r#"{"user":"bench","thread":"t"}"#;

pub async fn context(time: Duration) -> anyhow::Result<Vec<Row>> {
    let dir = tempfile::tempdir()?;
    let data = dir.path().join("data").display().to_string();
    let flags = [("data", Some(data)), ("policies", Some("/nonexistent".to_owned()))];
    let (app, tasks) = app::open(Config::gather(None, |_| None, &flags)?).await?;
    let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let documents = (0..MESSAGES).map(|n| document(message(role(n), n))).collect();
    app.store.append(&scope::turns("bench", "t")?, documents, AppendTerms::default()).await?;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let ours_at = format!("http://{}/v1/context", listener.local_addr()?);
    let (stop, stopped) = oneshot::channel::<()>();
    let served = tokio::spawn(serve(router(app.clone()), listener, ended(stopped)));
    let answer = ask(&client(), &ours_at, ASK.to_owned()).await?;
    let size = answer.len() / 1024;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let raw_at = format!("http://{}/", listener.local_addr()?);
    let (stop_raw, stopped) = oneshot::channel::<()>();
    let served_raw = tokio::spawn(serve(same_bytes(app.clone(), answer), listener, ended(stopped)));

    let (mut same, mut new) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let raw = throughput(&raw_at, time, |_| ASK.to_owned()).await;
        same.push((throughput(&ours_at, time, |_| ASK.to_owned()).await, raw));
        new.push((throughput(&ours_at, time, move |n| asking(round, n)).await, raw));
    }
    drop((stop, stop_raw));
    served.await?;
    served_raw.await?;
    app::close(app, tasks).await?;
    let what = format!("/v1/context of {size} KB, warm, {CLIENTS} clients / a handler that returns the same bytes");
    let ((ours, raw, ratio), unit, target) = (settle(&same), "requests/s", Some(Target::AtLeast(0.7)));
    let row = Row { name: "HTTP", what, ours, raw, unit, ratio, target };
    let what = "the same with another question each time, so that each leaves a trace on disk".to_owned();
    let (ours, raw, ratio) = settle(&new);
    Ok(vec![row, Row { name: "HTTP", what, ours, raw, unit, ratio, target: None }])
}

/// A request for a prompt that was never made before.
fn asking(round: usize, n: usize) -> String {
    format!(r#"{{"user":"bench","thread":"t","question":"{round} {n}?"}}"#)
}

/// A handler that reads the body and returns bytes that are ready.
fn same_bytes(app: app::App, answer: Bytes) -> Router {
    let answer = Arc::new(answer);
    Router::new().route("/", post(async move |Raw(_): Raw| Json(answer.to_vec()))).with_state(app)
}

type HttpClient = Client<hyper_util::client::legacy::connect::HttpConnector, Body>;

fn client() -> HttpClient {
    Client::builder(TokioExecutor::new()).build_http()
}

async fn throughput(at: &str, time: Duration, body: impl Fn(usize) -> String + Clone + Send + Sync + 'static) -> f64 {
    let (client, at) = (client(), at.to_owned());
    rate(CLIENTS, time, move |writer, n| {
        let (client, at, body) = (client.clone(), at.clone(), body(n * CLIENTS + writer));
        async move { ask(&client, &at, body).await.map(drop) }
    })
    .await
}

async fn ask(client: &HttpClient, at: &str, body: String) -> anyhow::Result<Bytes> {
    let response = client.request(Request::post(at).body(Body::from(body))?).await?;
    anyhow::ensure!(response.status().is_success(), "answered {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes())
}

async fn ended(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_ok() {
        tracing::debug!("told to stop");
    }
}
