//! Calls to other servers.
//!
//! Owns the one way out: TLS by rustls, no redirects, a deadline and a cap on every answer that is read here.
//! Addresses come from the operator's settings, or from other nodes by way of the store, never from a
//! request. A call that is dropped closes its connection.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::{Method, Request, Response, Uri, header};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
const REFUSAL_BYTES_MAX: usize = 64 * 1024;
/// Of an answer that refuses, so much goes into the message.
const REFUSAL_CHARS_MAX: usize = 200;
const CONNECT_MAX: Duration = Duration::from_secs(10);
const AGENT: &str = concat!("novelo/", env!("CARGO_PKG_VERSION"));

type Connector = HttpsConnector<HttpConnector>;

/// An address of a server of the operator's choice; clones, and others at the same server, share its
/// connections.
#[derive(Debug, Clone)]
pub struct Outbound {
    client: Client<Connector, Full<Bytes>>,
    url: Uri,
    /// The header that has the key. Marked as sensitive, so that no debug output shows it.
    key: Option<(header::HeaderName, header::HeaderValue)>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The address, and how long was waited.
    #[error("{0} did not answer within {1:?}")]
    Slow(String, Duration),
    /// The address, and what went wrong.
    #[error("{0} cannot be reached: {1}")]
    Down(String, String),
    /// The address, the HTTP status and the body.
    #[error("{0} answered {1}: {2}")]
    Refused(String, u16, String),
}

impl Outbound {
    /// A client of one server.
    pub fn new(url: &str, key: &str) -> anyhow::Result<Self> {
        let client = Client::builder(TokioExecutor::new()).build(connector()?);
        Ok(Self { client, url: address(url)?, key: bearer(key)? })
    }

    /// The same where the key stands alone in a header of its own.
    pub(crate) fn with_header(url: &str, name: &'static str, key: &str) -> anyhow::Result<Self> {
        let key = if key.is_empty() { None } else { Some((header::HeaderName::from_static(name), secret(key)?)) };
        Ok(Self { key, ..Self::new(url, "")? })
    }

    /// Another address of the same server, with the same key.
    pub fn at(&self, url: &str) -> anyhow::Result<Self> {
        Ok(Self { url: address(url)?, ..self.clone() })
    }

    /// The server's address, without secrets.
    pub fn address(&self) -> String {
        self.url.to_string()
    }

    /// Sends JSON and gives the bytes of the answer, if it is one of success.
    pub async fn post(&self, body: String, deadline: Duration) -> Result<Bytes, Unanswered> {
        self.within(deadline, self.exchange(Method::POST, body.into())).await
    }

    /// Asks for something, and gives the bytes of the answer, if it is one of success.
    pub async fn get(&self, deadline: Duration) -> Result<Bytes, Unanswered> {
        self.within(deadline, self.exchange(Method::GET, Bytes::new())).await
    }

    /// Sends a request of any method to a path below the address.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: String,
        deadline: Duration,
    ) -> Result<Bytes, Unanswered> {
        let base = self.url.to_string();
        let there = self.at(&format!("{}{path}", base.trim_end_matches('/')));
        let there = there.map_err(|e| Unanswered::Down(base, e.to_string()))?;
        there.within(deadline, there.exchange(method, body.into())).await
    }

    /// Sends JSON and gives the answer as it begins, whatever its status; the caller has the deadline and the
    /// caps.
    pub async fn begin(&self, body: Bytes) -> Result<Response<Incoming>, Unanswered> {
        self.send(Method::POST, body).await
    }

    async fn within<T>(
        &self,
        deadline: Duration,
        work: impl Future<Output = Result<T, Unanswered>>,
    ) -> Result<T, Unanswered> {
        let late = || Unanswered::Slow(self.url.to_string(), deadline);
        tokio::time::timeout(deadline, work).await.map_err(|_| late())?
    }

    async fn exchange(&self, method: Method, body: Bytes) -> Result<Bytes, Unanswered> {
        let response = self.send(method, body).await?;
        let status = response.status();
        if !status.is_success() {
            let said: String = refusal(response.into_body()).await.chars().take(REFUSAL_CHARS_MAX).collect();
            return Err(Unanswered::Refused(self.url.to_string(), status.as_u16(), said));
        }
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        Ok(body.map_err(|e| self.down(&*e))?.to_bytes())
    }

    async fn send(&self, method: Method, body: Bytes) -> Result<Response<Incoming>, Unanswered> {
        let mut request = Request::builder().method(method).uri(&self.url).header(header::USER_AGENT, AGENT);
        request = request.header(header::ACCEPT, "application/json");
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some((name, key)) = &self.key {
            request = request.header(name, key);
        }
        let request = request.body(Full::new(body)).map_err(|e| self.down(&e))?;
        self.client.request(request).await.map_err(|e| self.down(&e))
    }

    fn down(&self, error: &(dyn std::error::Error + 'static)) -> Unanswered {
        Unanswered::Down(self.url.to_string(), causes(error))
    }
}

/// Whole requests, to servers that have the same operator.
#[derive(Debug, Clone)]
pub struct Passing(Client<Connector, Full<Bytes>>);

impl Passing {
    /// A client that passes requests on.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector()?)))
    }

    /// Sends a request as it is and gives the answer as it begins, whatever it is. The deadline is for its
    /// beginning: who reads it reads as it comes.
    pub async fn pass(
        &self,
        request: Request<Full<Bytes>>,
        deadline: Duration,
    ) -> Result<Response<Incoming>, Unanswered> {
        let place = request.uri().authority().map(ToString::to_string).unwrap_or_default();
        match tokio::time::timeout(deadline, self.0.request(request)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Unanswered::Down(place, causes(&error))),
            Err(_) => Err(Unanswered::Slow(place, deadline)),
        }
    }
}

/// An error with what lies behind it, for people: without the words of our own client, and each cause once.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let is_ours = |words: &str| words.starts_with("client error (") || words == "tcp connect error";
    let mut causes: Vec<String> = Vec::new();
    for cause in std::iter::successors(Some(error), |error| error.source()) {
        let words = without_number(&cause.to_string());
        if !is_ours(&words) && causes.last().is_none_or(|last| !last.ends_with(&words)) {
            causes.push(words);
        }
    }
    if causes.is_empty() { error.to_string() } else { causes.join(": ") }
}

/// What the system says, without the number that it has for it.
pub fn without_number(words: &str) -> String {
    match words.rsplit_once(" (os error ") {
        Some((said, number)) if number.ends_with(')') => said.to_owned(),
        _ => words.to_owned(),
    }
}

/// What a server says when it refuses, as far as it can be read.
pub async fn refusal(body: Incoming) -> String {
    match Limited::new(body, REFUSAL_BYTES_MAX).collect().await {
        Ok(body) => String::from_utf8_lossy(&body.to_bytes()).into_owned(),
        Err(error) => format!("(its words cannot be read: {error})"),
    }
}

fn address(url: &str) -> anyhow::Result<Uri> {
    let url: Uri = url.parse()?;
    anyhow::ensure!(matches!(url.scheme_str(), Some("http" | "https")), "must begin with http:// or https://");
    Ok(url)
}

fn bearer(key: &str) -> anyhow::Result<Option<(header::HeaderName, header::HeaderValue)>> {
    if key.is_empty() {
        return Ok(None);
    }
    Ok(Some((header::AUTHORIZATION, secret(&format!("Bearer {key}"))?)))
}

fn secret(text: &str) -> anyhow::Result<header::HeaderValue> {
    let value = header::HeaderValue::try_from(text);
    let mut value = value.map_err(|_| anyhow::anyhow!("its key holds what a header cannot"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The certificates are read once; connections are each owner's own.
fn connector() -> anyhow::Result<Connector> {
    static CONNECTOR: OnceLock<Connector> = OnceLock::new();
    if let Some(connector) = CONNECTOR.get() {
        return Ok(connector.clone());
    }
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_MAX));
    let provider = rustls::crypto::ring::default_provider();
    let connector = HttpsConnectorBuilder::new().with_provider_and_webpki_roots(provider)?;
    Ok(CONNECTOR.get_or_init(|| connector.https_or_http().enable_http1().wrap_connector(http)).clone())
}
