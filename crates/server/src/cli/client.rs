//! A client of the API: over the network where a server runs, else within this process.

use anyhow::Context;
use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tower::ServiceExt;

use super::serve::{Serving, note_path};
use crate::app::{self, App, Tasks};
use crate::config::Config;
use crate::http;

/// Where the API is answered.
pub enum Client {
    /// By the server that has the data directory open.
    Server { note: Serving, http: hyper_util::client::legacy::Client<HttpConnector, Body> },
    /// Here, with the data directory opened for the moment.
    Here { router: Router, app: App, tasks: Tasks },
}

impl Client {
    /// Finds the server of this data directory, or opens the directory.
    pub async fn connect(config: Config) -> anyhow::Result<Self> {
        if let Some(note) = running(&config).await {
            let http = hyper_util::client::legacy::Client::builder(TokioExecutor::new()).build_http();
            return Ok(Self::Server { note, http });
        }
        let (app, tasks) = app::open(config).await?;
        Ok(Self::Here { router: http::router(app.clone()), app, tasks })
    }

    /// The same for a command that writes nothing: a directory that cannot be written to is opened for reading.
    pub async fn connect_to_read(config: Config) -> anyhow::Result<Self> {
        let data = config.data();
        let is_read_only = config.text("store") == "local" && data.exists() && !novelo_store::is_writable(&data);
        if !is_read_only || running(&config).await.is_some() {
            return Self::connect(config).await;
        }
        let (app, tasks) = app::open_read_only(config).await?;
        Ok(Self::Here { router: http::router(app.clone()), app, tasks })
    }

    /// Sends a request; any answer counts.
    pub async fn send(&self, method: Method, path: &str, body: Body) -> anyhow::Result<Response<Body>> {
        let request = Request::builder().method(method);
        match self {
            Self::Server { note, http } => {
                let request = request.uri(format!("http://{}{path}", note.addr));
                let request = request.header("authorization", format!("Bearer {}", note.secret)).body(body)?;
                Ok(http.request(request).await.context("the server did not answer")?.map(Body::new))
            }
            Self::Here { router, app, .. } => {
                let bearer = format!("Bearer {}", app.own_secret);
                let request = request.uri(path).header("authorization", bearer).body(body)?;
                Ok(router.clone().oneshot(request).await?)
            }
        }
    }

    /// Sends JSON and takes JSON; a refusal is an error with the server's own words.
    pub async fn call(&self, method: Method, path: &str, body: Option<Value>) -> anyhow::Result<Value> {
        let body = body.map_or_else(Body::empty, |b| Body::from(b.to_string()));
        let response = self.send(method, path, body).await?;
        let status = response.status();
        let bytes = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            return Err(refusal(&bytes));
        }
        serde_json::from_slice(&bytes).context("the answer is not JSON")
    }

    /// Leaves the data directory as it should be.
    pub async fn close(self) -> anyhow::Result<()> {
        match self {
            Self::Server { .. } => Ok(()),
            Self::Here { router, app, tasks } => {
                drop(router);
                app::close(app, tasks).await
            }
        }
    }
}

/// What the server said when it refused.
pub fn refusal(body: &[u8]) -> anyhow::Error {
    let said: Option<Value> = serde_json::from_slice(body).ok();
    let words = said.as_ref().and_then(|said| said.pointer("/error/message")?.as_str());
    anyhow::anyhow!("{}", words.unwrap_or("refused"))
}

/// The note of a server that really answers.
async fn running(config: &Config) -> Option<Serving> {
    let note = std::fs::read(note_path(config)).ok()?;
    let note: Serving = serde_json::from_slice(&note).ok()?;
    tokio::net::TcpStream::connect(&note.addr).await.ok()?;
    Some(note)
}
