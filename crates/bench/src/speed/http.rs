//! HTTP and W5: warm contexts over a socket, against a handler that returns the same bytes.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request as Incoming, State};
use axum::middleware::map_request_with_state;
use axum::response::Response;
use axum::routing::post;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use novelo_engine::scope::{self, Root};
use novelo_server::server::Server;
use novelo_store::{AppendTerms, NewDocument, NewId, PutTerms};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::Service;

use super::raw::{agent_thread, message};
use super::thread::{document, rate};
use super::{BenchRow, RatioTarget, medians};
use novelo_conversation::app::{self, App};
use novelo_conversation::context::collapse::{Places, index};
use novelo_conversation::settings::Settings;
use novelo_server::files;
use novelo_server::http::body::{Json, RawBody};
use novelo_server::http::connections::Connections;
use novelo_server::http::serve;
use novelo_server::router::router;

const ROUNDS: usize = 5;
const CLIENTS: usize = 8;
/// Messages of about 500 bytes: 80 KB in all.
const MESSAGES: usize = 165;
const ASK: &str = r#"{"user":"bench","thread":"t"}"#;
/// A session of 1,000 messages, of which so many groups of so many are collapsed.
const SESSION: usize = 1_000;
const GROUPS: usize = 40;
const GROUP_MESSAGES: usize = 15;
const ASK_TOPIC: &str = r#"{"userId":"bench","kala":{"kind":"Topic","topicId":"s"},"presetId":"TopicContext"}"#;

/// HTTP: a context of a thread, the same one again and again, and another one each time.
pub(crate) async fn context(time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let (app, tasks) = open(dir.path()).await?;
    let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
    let documents = (0..MESSAGES).map(|n| document(message(role(n), n))).collect();
    app.store.append(&scope::turns("bench", "t")?, documents, AppendTerms::default()).await?;
    let beside = ServerPair::start(&app, "/v1/context", ASK).await?;
    let (mut again, mut anew, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let raw = throughput(&beside.raw_at, time, |_| ASK.to_owned()).await;
        again.push((throughput(&beside.ours_at, time, |_| ASK.to_owned()).await, raw));
        anew.push((throughput(&beside.anew_at, time, |_| ASK.to_owned()).await, raw));
        new.push((throughput(&beside.ours_at, time, move |n| asking(round, n)).await, raw));
    }
    let size = beside.stop().await?;
    app::close(app, tasks).await?;
    let what = format!("/v1/context of {size} KB, warm, {CLIENTS} clients / a handler that returns the same bytes");
    let row = |what: &str, pairs: &[(f64, f64)], target| {
        let (ours, raw, ratio) = medians(pairs);
        BenchRow { name: "HTTP", what: what.to_owned(), ours, raw, unit: "requests/s", ratio, target }
    };
    let target = Some(RatioTarget::AtLeast(0.7));
    Ok(vec![
        row(&what, &again, target),
        row("the same, made anew each time", &anew, target),
        row("the same with another question each time, so that each leaves a trace on disk", &new, None),
    ])
}

/// W5: the preset TopicContext over a session with collapsed groups.
pub(crate) async fn topic(time: Duration) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let (app, tasks) = open(dir.path()).await?;
    fill_session(&app).await?;
    let beside = ServerPair::start(&app, "/context/topicContextYoj/run", ASK_TOPIC).await?;
    let (mut again, mut anew) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let raw = throughput(&beside.raw_at, time, |_| ASK_TOPIC.to_owned()).await;
        again.push((throughput(&beside.ours_at, time, |_| ASK_TOPIC.to_owned()).await, raw));
        anew.push((throughput(&beside.anew_at, time, |_| ASK_TOPIC.to_owned()).await, raw));
    }
    let size = beside.stop().await?;
    app::close(app, tasks).await?;
    let session = format!("{SESSION} messages with {GROUPS} groups");
    let what = format!("TopicContext over {session}, {size} KB, warm / a handler that returns the same bytes");
    let row = |what: &str, pairs: &[(f64, f64)]| {
        let (ours, raw, ratio) = medians(pairs);
        let target = Some(RatioTarget::AtLeast(0.5));
        BenchRow { name: "W5", what: what.to_owned(), ours, raw, unit: "requests/s", ratio, target }
    };
    Ok(vec![row(&what, &again), row("the same, made anew each time", &anew)])
}

pub(crate) async fn fill_session(app: &App) -> anyhow::Result<()> {
    let named = |(n, raw)| NewDocument { id: NewId::Given(format!("m{n}").into()), ..document(raw) };
    let documents: Vec<NewDocument> = agent_thread(SESSION).into_iter().enumerate().map(named).collect();
    app.store.append(&scope::turns("bench", "s")?, documents, AppendTerms::default()).await?;
    let thread = scope::thread("bench", "s")?;
    for (collection, n) in [("topicInfos", 0), ("summaries", 1), ("summaries", 2)] {
        let value = format!(r#"{{"create_time":{n},"value":{{"text":"what was said in part {n}"}}}}"#);
        let at = thread.child(collection)?.document(&n.to_string())?;
        app.store.put(&at, value.into(), PutTerms::default()).await?;
    }
    let item = |n: usize| json!({"type": "message", "id": format!("m{n}")});
    let items = |g: usize| (g * 20..g * 20 + GROUP_MESSAGES).map(item).collect::<Vec<_>>();
    let group = |g| json!({"name": format!("GROUP_{g}"), "description": "a step", "items": items(g)});
    let groups = json!((0..GROUPS).map(group).collect::<Vec<_>>());
    let places = Places::of(Root::User("bench"), "s")?;
    let response = json!({"groups": groups}).to_string();
    app.store.put(&places.responses.document("r")?, response.into(), PutTerms::default()).await?;
    index::run(&app.store, &[places], "r", 1.0).await?;
    Ok(())
}

/// Opens the application with a data directory in `dir`.
pub(crate) async fn open(dir: &Path) -> anyhow::Result<(App, app::Tasks)> {
    let (data, policies) = (dir.join("data"), "/nonexistent".into());
    app::open(Settings { data, policies, ..Settings::default() }).await
}

/// Our server, and beside it one that returns the same bytes.
struct ServerPair {
    ours_at: String,
    /// Our server with an empty cache of answers.
    anew_at: String,
    raw_at: String,
    answer_bytes: usize,
    servers: Vec<RunningServer>,
}

impl ServerPair {
    async fn start(app: &App, path: &str, body: &str) -> anyhow::Result<Self> {
        let server = Server::new(app.clone()).await?;
        let (at, ours) = start_ours(&server, router(server.clone())).await?;
        let ours_at = format!("{at}{path}");
        let answer = ask(&client(), &ours_at, body.to_owned()).await?;
        let answer_bytes = answer.len();
        let forgetful = Router::new().fallback_service(router(server.clone()));
        let forgetful = forgetful.layer(map_request_with_state(app.clone(), forgetting));
        let (at, anew) = start_ours(&server, forgetful).await?;
        let anew_at = format!("{at}{path}");
        let (raw_at, raw) = start(same_bytes(server, answer)).await?;
        Ok(Self { ours_at, anew_at, raw_at: format!("{raw_at}/"), answer_bytes, servers: vec![ours, anew, raw] })
    }

    /// Stops both; the size of an answer in KB.
    async fn stop(self) -> anyhow::Result<usize> {
        for (stop, served) in self.servers {
            drop(stop);
            served.await?;
        }
        Ok(self.answer_bytes / 1024)
    }
}

/// A server that runs until the sender is dropped.
type RunningServer = (oneshot::Sender<()>, JoinHandle<()>);

/// Starts a server of ours, which must know where it listens.
pub(crate) async fn start_ours<R>(server: &Server, router: R) -> anyhow::Result<(String, RunningServer)>
where
    R: Service<Incoming, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    R::Future: Send,
{
    let (at, running) = start(router).await?;
    server.names.bind(at.trim_start_matches("http://").parse()?);
    Ok((at, running))
}

pub async fn start<R>(router: R) -> anyhow::Result<(String, RunningServer)>
where
    R: Service<Incoming, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    R::Future: Send,
{
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let at = format!("http://{}", listener.local_addr()?);
    let (stop, stopped) = oneshot::channel();
    let connections = Arc::new(Connections::new(files::connections_max()));
    Ok((at, (stop, tokio::spawn(serve(router, listener, connections, ended(stopped))))))
}

/// A request for a prompt that was never made before.
fn asking(round: usize, n: usize) -> String {
    format!(r#"{{"user":"bench","thread":"t","question":"{round} {n}?"}}"#)
}

/// Empties the cache of answers before the request.
async fn forgetting(State(app): State<App>, request: Incoming) -> Incoming {
    app.made.retain(|_| false);
    request
}

/// A handler that reads the body and returns bytes that are ready.
fn same_bytes(server: Server, answer: Bytes) -> Router {
    let answer = Arc::new(answer);
    Router::new()
        .route("/", post(async move |RawBody(_): RawBody| Json::from_bytes(answer.to_vec())))
        .with_state(server)
}

pub(crate) type HttpClient = Client<hyper_util::client::legacy::connect::HttpConnector, Body>;

pub(crate) fn client() -> HttpClient {
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

pub(crate) async fn ask(client: &HttpClient, at: &str, body: String) -> anyhow::Result<Bytes> {
    let response = client.request(Request::post(at).body(Body::from(body))?).await?;
    anyhow::ensure!(response.status().is_success(), "answered {}", response.status());
    Ok(response.into_body().collect().await?.to_bytes())
}

async fn ended(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_ok() {
        tracing::debug!("told to stop");
    }
}
