//! Calls to other servers.
//!
//! Owns the one HTTP client: TLS by rustls, no redirects, a deadline and a cap on every answer. Addresses come from the
//! operator's settings only, never from a request.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::{Method, Request, Uri, header};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Of an answer that refuses, so much goes into the message.
const REFUSAL_CHARS_MAX: usize = 200;

/// A server of the operator's choice; clones share its connections.
#[derive(Debug, Clone)]
pub struct Outbound {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    url: Uri,
    bearer: Option<String>,
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
        let url: Uri = url.parse()?;
        anyhow::ensure!(matches!(url.scheme_str(), Some("http" | "https")), "must begin with http:// or https://");
        let provider = rustls::crypto::ring::default_provider();
        let connector = HttpsConnectorBuilder::new().with_provider_and_webpki_roots(provider)?;
        let connector = connector.https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { client, url, bearer: (!key.is_empty()).then(|| format!("Bearer {key}")) })
    }

    /// Sends JSON and gives the bytes of the answer, if it is one of success.
    pub async fn post(&self, body: String, deadline: Duration) -> Result<Bytes, Unanswered> {
        let late = || Unanswered::Slow(self.url.to_string(), deadline);
        tokio::time::timeout(deadline, self.exchange(body)).await.map_err(|_| late())?
    }

    async fn exchange(&self, body: String) -> Result<Bytes, Unanswered> {
        let mut request = Request::builder().method(Method::POST).uri(&self.url);
        request = request.header(header::CONTENT_TYPE, "application/json");
        if let Some(bearer) = &self.bearer {
            request = request.header(header::AUTHORIZATION, bearer);
        }
        let request = request.body(Body::from(body)).map_err(|e| self.down(&e))?;
        let response = self.client.request(request).await.map_err(|e| self.down(&e))?;
        let status = response.status();
        let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await;
        let bytes = body.map_err(|e| self.down(&*e))?.to_bytes();
        if status.is_success() {
            return Ok(bytes);
        }
        let said: String = String::from_utf8_lossy(&bytes).chars().take(REFUSAL_CHARS_MAX).collect();
        Err(Unanswered::Refused(self.url.to_string(), status.as_u16(), said))
    }

    /// With what lies behind an error: its own words often say nothing.
    fn down(&self, error: &(dyn std::error::Error + 'static)) -> Unanswered {
        let mut causes = vec![error.to_string()];
        let mut error = error.source();
        while let Some(cause) = error {
            causes.push(cause.to_string());
            error = cause.source();
        }
        Unanswered::Down(self.url.to_string(), causes.join(": "))
    }
}
