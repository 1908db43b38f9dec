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
    let answer = ask(&client(), &ours_at).await?;
    let size = answer.len() / 1024;

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let raw_at = format!("http://{}/", listener.local_addr()?);
    let (stop_raw, stopped) = oneshot::channel::<()>();
    let served_raw = tokio::spawn(serve(same_bytes(app.clone(), answer), listener, ended(stopped)));

    let mut pairs = Vec::new();
    for _ in 0..ROUNDS {
        let (ours, raw) = (throughput(&ours_at, time).await, throughput(&raw_at, time).await);
        pairs.push((ours, raw));
    }
    drop((stop, stop_raw));
    served.await?;
    served_raw.await?;
    app::close(app, tasks).await?;
    let (ours, raw, ratio) = settle(&pairs);
    let what = format!("/v1/context of {size} KB, warm, {CLIENTS} clients / a handler that returns the same bytes");
    Ok(vec![Row { name: "HTTP", what, ours, raw, unit: "requests/s", ratio, target: Some(Target::AtLeast(0.7)) }])
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

async fn throughput(at: &str, time: Duration) -> f64 {
    let (client, at) = (client(), at.to_owned());
    rate(CLIENTS, time, move |_, _| {
        let (client, at) = (client.clone(), at.clone());
        async move { ask(&client, &at).await.map(drop) }
    })
    .await
}

async fn ask(client: &HttpClient, at: &str) -> anyhow::Result<Bytes> {
    let response = client.request(Request::post(at).body(Body::from(ASK))?).await?;
    anyhow::ensure!(response.status().is_success(), "answered {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes())
}

async fn ended(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_ok() {
        tracing::debug!("told to stop");
    }
}
