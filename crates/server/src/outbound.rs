//! Calls to other servers.
//!
//! Owns the one way out: TLS by rustls, no redirects, a deadline and a cap on every answer that is read here. Addresses
//! come from the operator's settings only, never from a request. A call that is dropped closes its connection.

use std::sync::OnceLock;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
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

/// An address of a server of the operator's choice; clones, and others at the same server, share its connections.
#[derive(Debug, Clone)]
pub struct Outbound {
    client: Client<Connector, Body>,
    url: Uri,
    /// Marked as sensitive, so that no debug output shows it.
    bearer: Option<header::HeaderValue>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    #[error("{0} did not answer within {1:?}")]
    Slow(String, Duration),
    #[error("{0} cannot be reached: {1}")]
    Down(String, String),
    #[error("{0} answered {1}: {2}")]
    Refused(String, u16, String),
}

impl Outbound {
    pub fn new(url: &str, key: &str) -> anyhow::Result<Self> {
        let client = Client::builder(TokioExecutor::new()).build(connector()?);
        Ok(Self { client, url: address(url)?, bearer: bearer(key)? })
    }

    /// Another address of the same server, with the same key.
    pub fn at(&self, url: &str) -> anyhow::Result<Self> {
        Ok(Self { url: address(url)?, ..self.clone() })
    }

    /// Sends JSON and gives the bytes of the answer, if it is one of success.
    pub async fn post(&self, body: String, deadline: Duration) -> Result<Bytes, Unanswered> {
        self.within(deadline, self.exchange(Method::POST, body.into())).await
    }

    /// Asks for something, and gives the bytes of the answer, if it is one of success.
    pub async fn get(&self, deadline: Duration) -> Result<Bytes, Unanswered> {
        self.within(deadline, self.exchange(Method::GET, Bytes::new())).await
    }

    /// Sends JSON and gives the answer as it begins, whatever its status; the caller has the deadline and the caps.
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
        if let Some(bearer) = &self.bearer {
            request = request.header(header::AUTHORIZATION, bearer);
        }
        let request = request.body(Body::from(body)).map_err(|e| self.down(&e))?;
        self.client.request(request).await.map_err(|e| self.down(&e))
    }

    fn down(&self, error: &(dyn std::error::Error + 'static)) -> Unanswered {
        Unanswered::Down(self.url.to_string(), causes(error))
    }
}

/// An error with what lies behind it: its own words often say nothing.
pub fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut causes = vec![error.to_string()];
    let mut error = error.source();
    while let Some(cause) = error {
        causes.push(cause.to_string());
        error = cause.source();
    }
    causes.join(": ")
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

fn bearer(key: &str) -> anyhow::Result<Option<header::HeaderValue>> {
    if key.is_empty() {
        return Ok(None);
    }
    let value = header::HeaderValue::try_from(format!("Bearer {key}"));
    let mut value = value.map_err(|_| anyhow::anyhow!("its key holds what a header cannot"))?;
    value.set_sensitive(true);
    Ok(Some(value))
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
