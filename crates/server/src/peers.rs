//! The other nodes of the same store.
//!
//! Owns the list of nodes, and which requests are forwarded to them: a reply is read from the node that makes
//! it, a trace that is not stored yet from the node that has it, and forgetting runs on every node. The facts
//! of a route (`route`) say which of these holds. Authorization is not decided here: a request is
//! forwarded with the caller's own key, and the receiving node checks it. Nodes prove with a secret in the
//! store that they are nodes. Invariants: addresses of nodes come from the store alone; a request is
//! forwarded once; a node that cannot be reached changes no answer.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http_body_util::Full;
use novelo_conversation::ids;
use novelo_engine::limits::BODY_BYTES_MAX;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_store::{Error as StoreError, PutTerms, Store, Window};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::auth;
use crate::http::body::RawBody;
use crate::http::error::ApiError;
use crate::http::sse::LAST_EVENT_ID;
use crate::route::{GuardedRoutes, NodeMemory, RouteEntry, RouteFacts};
use crate::server::Server;
use novelo_conversation::caller::NODES;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::outbound::Passing;
use novelo_conversation::telemetry::now;
use novelo_conversation::thread::item::ResponseId;

/// The node that forwarded a request, and its proof that it is a node. A request that has both is not
/// forwarded again.
const PASSED_BY: HeaderName = HeaderName::from_static("x-novelo-passed-by");
const NODE_PROOF: HeaderName = HeaderName::from_static("x-novelo-node-proof");
/// Set if the caller is the operator's own command line, whose secret only one node knows.
const PASSED_FOR: HeaderName = HeaderName::from_static("x-novelo-passed-for");
const OPERATOR: &str = "operator";
/// The document with the secret that the nodes of a store share. It is below `NODES`, so no export contains
/// it.
const SECRET: &str = "secret";

const ANNOUNCE_EVERY: Duration = Duration::from_secs(5);
/// How long a node counts as running after its last announcement.
const KNOWN_FOR_S: f64 = 15.0;
const NODES_MAX: usize = 1_000;
/// How long the node of a reply may take to begin its answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long nodes may take to say whether they have a trace.
const SEARCH_MAX: Duration = Duration::from_secs(1);

/// The record that a node stores about itself.
#[derive(Debug, Serialize, Deserialize)]
struct NodeRecord {
    url: String,
}

/// This node's record in the store, until it leaves.
#[derive(Debug)]
pub struct Membership {
    task: JoinHandle<()>,
    /// Dropped to end the task.
    stop: oneshot::Sender<()>,
}

/// Lets this process send requests to the nodes of a store. They do not know of it.
pub(crate) fn open_client(server: &Server) -> anyhow::Result<()> {
    server.peer_client.set(Passing::new()?).map_err(|_| anyhow::anyhow!("this node has joined already"))
}

/// Joins the nodes of a shared store. Without an address others cannot reach this node, but it reaches them.
pub async fn join(server: &Server, url: Option<String>) -> anyhow::Result<Membership> {
    open_client(server)?;
    let record = url.map(|url| Bytes::from(serde_json::json!(NodeRecord { url }).to_string()));
    match &record {
        Some(record) => announce(server, record).await,
        None => tracing::warn!("other nodes cannot reach this one: set node.url, or its streams go on only here"),
    }
    let (stop, stopped) = oneshot::channel();
    Ok(Membership { task: tokio::spawn(announce_until_stopped(server.clone(), record, stopped)), stop })
}

impl Membership {
    /// Removes this node from the list of nodes.
    pub async fn leave(self) {
        drop(self.stop);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the task that announces this node failed");
        }
    }
}

/// Stores this node's record. A failure is only logged, since the record is written again soon.
async fn announce(server: &Server, record: &Bytes) {
    let terms = PutTerms { now: now(), expires_at: Some(now() + KNOWN_FOR_S), ..PutTerms::default() };
    if let Err(error) = server.app.store.put(&document(&server.app.node), record.clone(), terms).await {
        tracing::warn!(%error, "this node was not announced");
    }
}

async fn announce_until_stopped(server: Server, record: Option<Bytes>, mut stopped: oneshot::Receiver<()>) {
    let Some(record) = record else { return };
    while tokio::time::timeout(ANNOUNCE_EVERY, &mut stopped).await.is_err() {
        announce(&server, &record).await;
    }
    if let Err(error) = server.app.store.delete(&document(&server.app.node), None).await {
        tracing::warn!(%error, "this node was not removed from the list; others count it until its record expires");
    }
}

/// Which node answers a request.
#[derive(Debug, PartialEq, Eq)]
enum AnsweringNode {
    Here,
    /// The node that makes the reply.
    Named(String),
    /// This node, or the first other node that has it.
    Anywhere,
    /// This node, and then all others too.
    Everywhere,
}

impl AnsweringNode {
    fn for_request(request: &Request, facts: Option<&RouteFacts>, own: &str) -> Self {
        let node_memory = facts.and_then(|facts| facts.node_memory);
        let forgets = facts.is_some_and(|facts| facts.forgets(request.method()));
        let in_path = in_path(request.uri().path(), node_memory.filter(|_| !forgets));
        let last = request.headers().get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
        let last = last.and_then(|id| id.trim().rsplit_once('.')).map(|(name, _)| name);
        let last = last.and_then(ids::node_of_reply).map(str::to_owned);
        if let Some(node) = in_path.or(last).filter(|node| node != own) {
            return Self::Named(node);
        }
        match node_memory {
            Some(NodeMemory::Trace) => Self::Anywhere,
            _ if forgets => Self::Everywhere,
            _ => Self::Here,
        }
    }
}

/// The node that the path names.
fn in_path(path: &str, node_memory: Option<NodeMemory>) -> Option<String> {
    match node_memory? {
        NodeMemory::NamedReply => path.rsplit('/').next().and_then(ids::node_of_reply).map(str::to_owned),
        NodeMemory::Response => path.split('/').find_map(ResponseId::parse).map(|id| id.node().to_owned()),
        NodeMemory::Trace => None,
    }
}

/// Answers a request, or forwards it to the node that can answer it.
pub(crate) async fn forward(
    server: &Server,
    client: &Passing,
    routes: &GuardedRoutes,
    route: Option<&RouteEntry>,
    mut request: Request,
) -> Response {
    match is_proven(server, request.method(), request.uri(), request.headers()).await {
        Ok(false) => {}
        Ok(true) => return routes.answer(server, route, as_forwarded(server, request)).await,
        Err(error) => return ApiError::from(error).into_response(),
    }
    for name in [PASSED_BY, NODE_PROOF, PASSED_FOR] {
        request.headers_mut().remove(name);
    }
    let answered_by = AnsweringNode::for_request(&request, route.map(|route| &route.facts), &server.app.node);
    if answered_by == AnsweringNode::Here {
        return routes.answer(server, route, request).await;
    }
    let (mut parts, body) = request.into_parts();
    // A caller that is refused here causes no work on other nodes, and its body is not read.
    let is_allowed = match route {
        Some(route) => route.authorize(server, &mut parts).await.is_ok(),
        None => false,
    };
    if !is_allowed {
        return routes.answer(server, route, Request::from_parts(parts, body)).await;
    }
    let body = match RawBody::from_request(Request::from_parts(parts.clone(), body), server).await {
        Ok(RawBody(body)) => body,
        Err(error) => return error.into_response(),
    };
    let secret = match secret(&server.app.store).await {
        Ok(secret) => secret,
        Err(error) => return ApiError::from(error).into_response(),
    };
    let own = format!("Bearer {}", server.own_secret);
    let is_operator = parts.headers.get(header::AUTHORIZATION).is_some_and(|given| given.as_bytes() == own.as_bytes());
    let forwarded = ForwardedRequest {
        client,
        parts: parts.clone(),
        body: body.clone(),
        by: &server.app.node,
        secret,
        is_operator,
    };
    let here = routes.answer(server, route, Request::from_parts(parts, Body::from(body)));
    let answer = match answered_by {
        AnsweringNode::Named(node) => ask_node(&server.app.store, &node, forwarded, here).await,
        AnsweringNode::Anywhere => ask_first(&server.app.store, forwarded, here).await,
        AnsweringNode::Everywhere => run_on_all(&server.app.store, forwarded, here).await,
        AnsweringNode::Here => Ok(here.await),
    };
    answer.unwrap_or_else(|error| ApiError(error).into_response())
}

/// Whether a request comes from another node of this store, which has proven that it knows the secret.
async fn is_proven(server: &Server, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<bool> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(by), Some(given)) = (text(PASSED_BY), text(NODE_PROOF)) else { return Ok(false) };
    let for_whom = text(PASSED_FOR).unwrap_or("");
    let expected = proof(&secret(&server.app.store).await?, method, uri, by, for_whom);
    // Digests are compared, so that the duration of the comparison reveals nothing about the proof.
    Ok(Sha256::digest(given.as_bytes()) == Sha256::digest(expected.as_bytes()))
}

/// The request of another node, with this node's own secret if the caller is the operator.
fn as_forwarded(server: &Server, mut request: Request) -> Request {
    let is_operator = request.headers().get(PASSED_FOR).is_some_and(|value| value == OPERATOR);
    if is_operator && let Ok(own) = HeaderValue::from_str(&format!("Bearer {}", server.own_secret)) {
        request.headers_mut().insert(header::AUTHORIZATION, own);
    }
    request
}

/// The proof that a node knows the secret, for one method and address. The inner digest has a fixed length,
/// so that nothing can be appended to it.
fn proof(secret: &str, method: &Method, uri: &Uri, by: &str, for_whom: &str) -> String {
    let address = uri.path_and_query().map_or("", |address| address.as_str());
    let digest = Sha256::digest(format!("{method}\n{address}\n{by}\n{for_whom}").as_bytes());
    let proof = Sha256::new().chain_update(secret.as_bytes()).chain_update(digest).finalize();
    proof.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The secret that only the nodes of a store know. The first node that needs it creates it. It is read each
/// time, so that nodes also agree on it after the store was emptied.
async fn secret(store: &Store) -> Result<String> {
    #[derive(Serialize, Deserialize)]
    struct NodeSecret {
        secret: String,
    }
    let read = |value: &[u8]| {
        let shared: std::result::Result<NodeSecret, _> = serde_json::from_slice(value);
        shared.map(|shared| shared.secret).map_err(|e| Error::new(Code::Internal, format!("{NODES}/{SECRET}: {e}")))
    };
    let at = document(SECRET);
    if let Some(found) = store.get(&at).await? {
        return read(&found.value);
    }
    let secret = auth::secret().map_err(|e| Error::new(Code::Internal, format!("no randomness: {e}")))?;
    let value = serde_json::json!(NodeSecret { secret: secret.clone() }).to_string();
    let terms = PutTerms { if_version: Some(0), now: now(), ..PutTerms::default() };
    match store.put(&at, value.into(), terms).await {
        Ok(_) => Ok(secret),
        // Another node was first.
        Err(StoreError::Stale { .. }) => match store.get(&at).await? {
            Some(found) => read(&found.value),
            None => Err(Error::new(Code::Busy, "the nodes are agreeing on a secret")),
        },
        Err(error) => Err(error.into()),
    }
}

/// The answer of one node, or of this one if the other cannot be reached.
async fn ask_node(
    store: &Store,
    node: &str,
    forwarded: ForwardedRequest<'_>,
    here: impl Future<Output = Response>,
) -> Result<Response> {
    let found = store.get(&document(node)).await?;
    let Some(url) = found.and_then(|found| url(&found.value)) else { return Ok(here.await) };
    match forwarded.send(&url, ANSWER_MAX).await {
        Some(answer) => Ok(answer),
        None => Ok(here.await),
    }
}

/// The answer of this node. If it has no such trace, the first success of another node. A 403 is searched for
/// too, since callers who may see nothing get it for traces that do not exist.
async fn ask_first(
    store: &Store,
    forwarded: ForwardedRequest<'_>,
    here: impl Future<Output = Response>,
) -> Result<Response> {
    let here = here.await;
    if !matches!(here.status(), StatusCode::NOT_FOUND | StatusCode::FORBIDDEN) {
        return Ok(here);
    }
    let urls = others(store, forwarded.by).await?;
    let mut answers: FuturesUnordered<_> = urls.iter().map(|url| forwarded.send(url, SEARCH_MAX)).collect();
    while let Some(answer) = answers.next().await {
        if let Some(answer) = answer.filter(|answer| answer.status().is_success()) {
            return Ok(answer);
        }
    }
    Ok(here)
}

/// The answer of this node after all others ran the same request, with their counts added.
async fn run_on_all(
    store: &Store,
    forwarded: ForwardedRequest<'_>,
    here: impl Future<Output = Response>,
) -> Result<Response> {
    let here = here.await;
    if !here.status().is_success() {
        return Ok(here);
    }
    let urls = others(store, forwarded.by).await?;
    let answers: FuturesUnordered<_> = urls.iter().map(|url| forwarded.send(url, ANSWER_MAX)).collect();
    let answers =
        answers.filter_map(async |answer| counts(answer.filter(|answer| answer.status().is_success())?).await);
    let counted = answers.collect::<Vec<_>>().await;
    let (mut parts, body) = here.into_parts();
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(|e| Error::new(Code::Internal, e.to_string()))?;
    let Ok(mut all) = serde_json::from_slice::<Value>(&body) else {
        return Ok(Response::from_parts(parts, Body::from(body)));
    };
    counted.iter().for_each(|counted| add(&mut all, counted));
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(all.to_string())))
}

/// What another node reports to have removed.
async fn counts(answer: Response) -> Option<Value> {
    let body = tokio::time::timeout(ANSWER_MAX, to_bytes(answer.into_body(), BODY_BYTES_MAX)).await;
    serde_json::from_slice(&body.ok()?.ok()?).ok()
}

/// Adds the numbers of one answer to the same members of another. A flag is true if it is true for one node.
fn add(all: &mut Value, one: &Value) {
    match (all, one) {
        (Value::Object(all), Value::Object(one)) => {
            all.iter_mut()
                .filter_map(|(name, value)| Some((value, one.get(name)?)))
                .for_each(|(all, one)| add(all, one));
        }
        (Value::Bool(all), Value::Bool(one)) => *all |= one,
        (all, one) => {
            if let (Some(sum), Some(more)) = (all.as_u64(), one.as_u64()) {
                *all = sum.saturating_add(more).into();
            }
        }
    }
}

/// The addresses of the other nodes.
async fn others(store: &Store, own: &str) -> Result<Vec<Uri>> {
    let page = store.scan(&collection(), Window { limit: NODES_MAX, ..Window::default() }).await?;
    Ok(page.items.iter().filter(|node| &*node.id != own).filter_map(|node| url(&node.value)).collect())
}

fn url(value: &[u8]) -> Option<Uri> {
    serde_json::from_slice::<NodeRecord>(value).ok()?.url.parse().ok()
}

/// A request that is forwarded unchanged.
struct ForwardedRequest<'a> {
    client: &'a Passing,
    parts: Parts,
    body: Bytes,
    by: &'a str,
    secret: String,
    is_operator: bool,
}

impl ForwardedRequest<'_> {
    /// The answer of a node as a stream, or none if it does not answer in time.
    async fn send(&self, to: &Uri, deadline: Duration) -> Option<Response> {
        let request = self.to(to)?;
        match self.client.pass(request, deadline).await {
            Ok(answer) => {
                let (mut parts, body) = answer.into_parts();
                parts.headers = end_to_end(&parts.headers);
                Some(Response::from_parts(parts, Body::new(body)))
            }
            Err(error) => {
                tracing::warn!(%error, "another node did not answer");
                None
            }
        }
    }

    fn to(&self, url: &Uri) -> Option<Request<Full<Bytes>>> {
        let mut uri = self.parts.uri.clone().into_parts();
        (uri.scheme, uri.authority) = (url.scheme().cloned(), url.authority().cloned());
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.parts.method.clone();
        *request.uri_mut() = Uri::from_parts(uri).ok()?;
        let mut headers = end_to_end(&self.parts.headers);
        // These headers are set again for this connection and the body as it is now. The origin of a page was
        // checked here, under the name that the page was loaded from.
        let of_page = [header::ORIGIN, HeaderName::from_static("sec-fetch-site")];
        for name in [header::HOST, header::CONTENT_LENGTH, header::EXPECT].into_iter().chain(of_page) {
            headers.remove(name);
        }
        let for_whom = if self.is_operator { OPERATOR } else { "" };
        let proof = proof(&self.secret, request.method(), request.uri(), self.by, for_whom);
        headers.insert(PASSED_BY, HeaderValue::from_str(self.by).ok()?);
        headers.insert(NODE_PROOF, HeaderValue::from_str(&proof).ok()?);
        if self.is_operator {
            headers.insert(PASSED_FOR, HeaderValue::from_static(OPERATOR));
            headers.remove(header::AUTHORIZATION);
        }
        *request.headers_mut() = headers;
        Some(request)
    }
}

/// The headers of a message without those of the connection it came by.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    const OF_CONNECTION: [HeaderName; 8] = [
        header::CONNECTION,
        HeaderName::from_static("keep-alive"),
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
    ];
    let listed = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let listed: Vec<&str> = listed.flat_map(|list| list.split(',')).map(str::trim).collect();
    let stays = |name: &HeaderName| {
        !OF_CONNECTION.contains(name) && !listed.iter().any(|listed| listed.eq_ignore_ascii_case(name.as_str()))
    };
    headers.iter().filter(|(name, _)| stays(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn collection() -> CollectionPath {
    CollectionPath::new(&[NODES]).expect("one short segment is a collection")
}

fn document(node: &str) -> DocumentPath {
    collection().document(node).expect("a node is called by a few hex digits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Access;

    #[test]
    fn a_name_says_whose_reply_it_is() {
        let node = ids::short();
        assert_eq!(ids::node_of_reply(&ids::reply_name(&node)), Some(&*node));
        let old = uuid::Uuid::new_v4();
        for name in ["", "-", "x-y", "0123-4", "0123456g-1", &old.simple().to_string(), "../../etc-1"] {
            assert_eq!(ids::node_of_reply(name), None, "{name}");
        }
    }

    #[test]
    fn what_nodes_counted_is_added_up() {
        let mut all = serde_json::json!({"reset": {"documents": 6, "traces": 0}, "erasing": false, "id": "a"});
        add(
            &mut all,
            &serde_json::json!({"reset": {"documents": 0, "traces": 1, "more": 3}, "erasing": true, "id": "b"}),
        );
        add(&mut all, &serde_json::json!({"reset": {"documents": -1}, "erasing": false}));
        let expected = serde_json::json!({"reset": {"documents": 6, "traces": 1}, "erasing": true, "id": "a"});
        assert_eq!(all, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_says_again_that_it_is_there_until_it_leaves() {
        let settings = novelo_conversation::settings::Settings::in_memory();
        let (app, _tasks) = novelo_conversation::app::open(settings).await.unwrap();
        let server = Server::new(app.clone()).await.unwrap();
        let joined = join(&server, Some("http://127.0.0.1:1".to_owned())).await.unwrap();
        let record = async || server.app.store.get(&document(&server.app.node)).await.unwrap();
        assert_eq!(record().await.unwrap().version, 1, "at once");
        tokio::time::sleep(ANNOUNCE_EVERY * 2 + Duration::from_millis(1)).await;
        assert_eq!(record().await.unwrap().version, 3);
        let all = server.app.store.export(&novelo_engine::path::Prefix::all()).await.unwrap().all().await.unwrap();
        let left_s = all[0].expires_at.unwrap() - now();
        assert!(left_s > ANNOUNCE_EVERY.as_secs_f64() && left_s <= KNOWN_FOR_S, "{left_s}");
        assert!(join(&server, None).await.is_err(), "once");
        joined.leave().await;
        assert!(record().await.is_none());
    }

    #[test]
    fn a_request_goes_to_the_node_of_its_reply() {
        let check = |path: &str, last: Option<&str>, expected: Option<&str>| {
            let facts = match path.starts_with("/chat/replies/") {
                true => Access::Users.reading(NodeMemory::NamedReply),
                false => Access::Users.into(),
            };
            let mut request = Request::builder().uri(path);
            request = last.into_iter().fold(request, |request, last| request.header(LAST_EVENT_ID, last));
            let answered_by =
                AnsweringNode::for_request(&request.body(Body::empty()).unwrap(), Some(&facts), "00000000");
            assert_eq!(
                answered_by,
                expected.map_or(AnsweringNode::Here, |node| AnsweringNode::Named(node.into())),
                "{path} {last:?}"
            );
        };
        check("/api/ask", Some("aaaaaaaa-12.3"), Some("aaaaaaaa"));
        check("/api/ask", Some(" aaaaaaaa-12.3 "), Some("aaaaaaaa"));
        check("/api/ask", Some("00000000-12.3"), None);
        check("/api/ask", Some("aaaaaaaa-12"), None);
        check("/api/ask", Some("7"), None);
        check("/api/ask", None, None);
        check("/chat/replies/aaaaaaaa-12", None, Some("aaaaaaaa"));
        check("/chat/replies/aaaaaaaa-12", Some("7"), Some("aaaaaaaa"));
        check("/chat/replies/00000000-12", Some("aaaaaaaa-1.1"), None);
    }

    #[test]
    fn what_is_of_a_connection_stays_there() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer k"),
            ("last-event-id", "a.1"),
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("accept", "a"),
            ("accept", "b"),
        ] {
            headers.append(name, value.parse().unwrap());
        }
        let passed = end_to_end(&headers);
        let mut names: Vec<&str> = passed.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "accept", "authorization", "last-event-id"]);
    }
}
