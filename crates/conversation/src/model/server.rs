//! A model server: where it is, and what it has told of itself.
//!
//! Owns what is asked of it once: the name of its first model, its windows, whether it takes
//! `stream_options`. Jobs at the same address share it. Its key is in its requests and nowhere else.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::OnceCell;

use super::names::Listing;
use super::provider::Provider;
use super::refusal::RefusalText;
use super::window::Windows;
use super::{Failure, FailureText, UpstreamError};
use crate::outbound::{Outbound, Unanswered};
use crate::text::cut;

const THERE_WAIT: Duration = Duration::from_secs(2);
const WORDS_CHARS_MAX: usize = 300;
/// Of the words of a server that refuses, so many reach the client.
const TOLD_CHARS_MAX: usize = 1_000;

pub struct Server {
    pub setting: &'static str,
    pub base: String,
    key: String,
    pub is_openai: bool,
    pub completions: Outbound,
    listing: Outbound,
    /// The first model that it lists.
    first: OnceCell<String>,
    pub windows: Windows,
    /// The models that it has listed.
    pub known: Listing,
    /// It has refused `stream_options`.
    no_usage: AtomicBool,
}

impl Server {
    pub fn new(provider: &Provider) -> anyhow::Result<Self> {
        let base = &provider.base;
        let at = |e: anyhow::Error| anyhow::anyhow!("{}: {e}", provider.setting);
        let completions = Outbound::new(&format!("{base}/chat/completions"), &provider.key).map_err(at)?;
        Ok(Self {
            setting: provider.setting,
            base: base.clone(),
            key: provider.key.clone(),
            is_openai: provider.is_openai(),
            listing: completions.at(&format!("{base}/models")).map_err(at)?,
            completions,
            first: OnceCell::new(),
            windows: Windows::default(),
            known: Listing::default(),
            no_usage: AtomicBool::new(false),
        })
    }

    /// Whether it is the one that a provider means.
    pub fn is(&self, provider: &Provider) -> bool {
        self.base == provider.base && self.key == provider.key
    }

    pub fn host(&self) -> &str {
        let host = self.base.split_once("://").map_or(self.base.as_str(), |(_, rest)| rest);
        host.split('/').next().unwrap_or(host)
    }

    /// The setting and the address, for messages.
    pub fn place(&self) -> String {
        format!("{} ({})", self.setting, self.base)
    }

    /// The first words of the server, without its key; cut last, or a part of the key could stay.
    pub(crate) fn safe(&self, words: &str) -> String {
        let words = match self.key.as_str() {
            "" => words.to_owned(),
            key => words.replace(key, "***"),
        };
        cut(&words, WORDS_CHARS_MAX)
    }

    pub(crate) fn takes_usage(&self) -> bool {
        !self.no_usage.load(Ordering::Relaxed)
    }

    pub(crate) fn takes_no_usage(&self) {
        self.no_usage.store(true, Ordering::Relaxed);
    }

    /// The name of its first model, if it was asked for.
    pub(crate) fn first_known(&self) -> Option<&str> {
        self.first.get().map(String::as_str)
    }

    /// The name of its first model; asked once, and again after a failure.
    pub async fn first(&self, patience: Duration) -> Result<&str, Failure> {
        let asked = self.first.get_or_try_init(|| async {
            let listed = self.list(patience).await?;
            first_of(&listed).ok_or_else(|| {
                let advice = format!("set {}", self.setting.replace(".url", ".model"));
                Failure::Refused(format!("{} lists no models: {advice}", self.place()).into())
            })
        });
        asked.await.map(String::as_str)
    }

    /// What it answers to `GET /models`.
    pub async fn list(&self, patience: Duration) -> Result<Value, Failure> {
        let bytes = self.listing.get(patience).await.map_err(|e| self.failure(e))?;
        serde_json::from_slice(&bytes).map_err(|e| {
            Failure::Refused(format!("{}: its list of models is of another form: {e}", self.place()).into())
        })
    }

    /// Whether it answers; what it lists does not matter, nor that it lists nothing.
    pub async fn is_there(&self) -> Result<(), Failure> {
        match self.listing.get(THERE_WAIT).await {
            Ok(_) | Err(Unanswered::Refused(_, 400 | 404 | 405 | 501, _)) => Ok(()),
            Err(error) => Err(self.failure(error)),
        }
    }

    /// Another address of it, for what it tells of itself.
    pub fn beside(&self, path: &str) -> Option<Outbound> {
        let root = self.base.strip_suffix("/v1").unwrap_or(&self.base);
        self.completions.at(&format!("{root}{path}")).ok()
    }

    pub fn failure(&self, error: Unanswered) -> Failure {
        match error {
            Unanswered::Slow(_, patience) => self.slow(patience),
            Unanswered::Down(_, why) => self.down(&why),
            Unanswered::Refused(_, status, said) => self.refused(status, &RefusalText::of_body(&said), Vec::new()),
        }
    }

    pub fn slow(&self, patience: Duration) -> Failure {
        Failure::Slow(format!("{} kept silent for {patience:?}", self.place()))
    }

    pub(crate) fn down(&self, why: &str) -> Failure {
        Failure::Down(format!("{} cannot be reached: {why}", self.place()).into())
    }

    pub(crate) fn broke(&self, why: &str) -> Failure {
        Failure::Broke(format!("{} broke off: {}", self.place(), self.safe(why)).into())
    }

    /// A refusal by status: those that may pass are as good as not being there.
    pub fn refused(&self, status: u16, said: &RefusalText, headers: Vec<(&'static str, String)>) -> Failure {
        let log = format!("{} answered {status}: {}", self.place(), self.safe(&said.words));
        let message = FailureText::said(log, UpstreamError { headers, ..self.told(Some(status), said) });
        match said.too_long {
            Some(lengths) => Failure::too_long(message, lengths),
            None if status >= 500 || passes(status) => Failure::Down(message),
            None => Failure::Refused(message),
        }
    }

    /// An error object instead of an answer, or in the middle of one.
    pub fn said(&self, error: &Value, in_the_middle: bool) -> Failure {
        let said = RefusalText::of(error);
        let log = format!("{} says: {}", self.place(), self.safe(&said.words));
        let message = FailureText::said(log, self.told(said.status, &said));
        match (said.too_long, in_the_middle) {
            (Some(lengths), false) => Failure::too_long(message, lengths),
            (_, false) => Failure::Refused(message),
            (_, true) => Failure::Broke(message),
        }
    }

    /// What a client may know of a refusal: the server's words without keys and addresses.
    fn told(&self, status: Option<u16>, said: &RefusalText) -> UpstreamError {
        // A name that has to be cleaned is no name that a client could act on.
        let clean = |name: &Option<String>| name.clone().filter(|name| self.cleaned(name) == *name);
        UpstreamError {
            status,
            message: cut(&self.cleaned(&said.words), TOLD_CHARS_MAX),
            kind: clean(&said.kind),
            code: clean(&said.code),
            param: clean(&said.param),
            headers: Vec::new(),
        }
    }

    /// Words of the server without keys and addresses.
    fn cleaned(&self, words: &str) -> String {
        let mut words = words.to_owned();
        for place in [self.base.as_str(), self.host(), self.host().rsplit_once(':').map_or("", |(name, _)| name)] {
            if place.len() > 3 {
                words = words.replace(place, "(the model's server)");
            }
        }
        let words = match self.key.as_str() {
            "" => words,
            key => words.replace(key, "***"),
        };
        without_secrets(&words)
    }
}

/// Hides what looks like a key: servers repeat those that they were sent, or a part of them.
fn without_secrets(words: &str) -> String {
    let (mut out, mut rest, mut follows_bearer) = (String::with_capacity(words.len()), words, false);
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.*+/=~".contains(c);
        let end = rest.find(|c: char| is_part(c) != is_part(first)).unwrap_or(rest.len());
        let (run, more) = rest.split_at(end);
        let is_secret = is_part(first) && (follows_bearer || looks_secret(run));
        out.push_str(if is_secret { "***" } else { run });
        follows_bearer = match is_part(first) {
            true => run.eq_ignore_ascii_case("bearer"),
            false => follows_bearer && run.trim_matches([':', '"', '\'', ' ']).is_empty(),
        };
        rest = more;
    }
    out
}

fn looks_secret(run: &str) -> bool {
    const BEGINNINGS: [&str; 7] = ["sk-", "sk_", "pk-", "nvl_", "key=", "api_key=", "token="];
    let lower = run.to_lowercase();
    run.len() > 7 && BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
}

/// Refusals that another try may not meet.
pub fn passes(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// The first of a list that can speak: servers list their embedding models too.
fn first_of(listed: &Value) -> Option<String> {
    let ids = || listed.get("data")?.as_array().map(|all| all.iter().filter_map(|model| model.get("id")?.as_str()));
    let speaks = |id: &&str| !id.to_lowercase().contains("embed");
    let first = ids()?.find(speaks).or_else(|| ids()?.next());
    first.filter(|id| !id.is_empty()).map(str::to_owned)
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("setting", &self.setting).field("base", &self.base).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_a_key_is_hidden() {
        let check = |words: &str, expected: &str| assert_eq!(without_secrets(words), expected);
        check("Incorrect API key provided: sk-proj-abc*****xyz. Find it", "Incorrect API key provided: *** Find it");
        check("header 'Authorization: Bearer abc.def' is bad", "header 'Authorization: Bearer ***' is bad");
        check("see https://x.example/?api_key=12345678", "see https://x.example/?***");
        check("a task-list, sk- and risk-averse", "a task-list, sk- and risk-averse");
        check("é sk-abcdefgh ü", "é *** ü");
    }
}
