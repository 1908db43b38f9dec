//! Which server and which model do a job, by the settings.
//!
//! Pure. Owns the rules for addresses, and for what a job takes from `models.answer`. Refuses addresses that
//! could hold a secret, without repeating them.

use std::time::Duration;

use hyper::Uri;

use super::Job;
use crate::settings::{BaseUrl, ModelSettings, Settings, Sourced, ValueSource};

const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_MODEL: &str = "gpt-4o-mini";
const OLLAMA_PORT: u16 = 11434;
/// Longer than anyone waits, and short enough to be added to a clock.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// Where the model of a job is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// The setting that says where.
    pub setting: &'static str,
    /// Without a slash at its end.
    pub base: String,
    pub key: String,
    /// Empty: the first that the server lists.
    pub model: String,
    /// 0: what the server says.
    pub window_tokens: u32,
    pub timeout: Duration,
}

impl Provider {
    /// What the settings say of a job; `None` where it has no model.
    pub fn of(job: Job, settings: &Settings) -> anyhow::Result<Option<Self>> {
        let models = &settings.models;
        let (own, placed) = match job {
            Job::Answer => (&models.answer, answering(&models.answer)?),
            Job::Rewrite => (&models.rewrite, placed(&models.rewrite, &models.answer)?),
            Job::Summary => (&models.summary, placed(&models.summary, &models.answer)?),
            Job::Narrate => (&models.narrate, placed(&models.narrate, &models.answer)?),
        };
        Ok(placed.map(|(setting, base, key, model)| Self {
            setting,
            base,
            key,
            model,
            window_tokens: u32::try_from(own.window_tokens).unwrap_or(u32::MAX),
            timeout: own.timeout.min(TIMEOUT_MAX),
        }))
    }

    pub(crate) fn is_openai(&self) -> bool {
        is_openai(&self.base)
    }
}

/// Setting, base, key and model.
type Placed = (&'static str, String, String, String);

fn answering(own: &ModelSettings) -> anyhow::Result<Option<Placed>> {
    let mut key = own.key.to_string();
    let from_ollama = own.url.source == ValueSource::Env("OLLAMA_HOST".to_owned());
    let base = match (own.url.trim(), key.is_empty()) {
        ("none", _) | ("", true) => return Ok(None),
        ("", false) => OPENAI.to_owned(),
        _ => checked(&own.url, from_ollama)?,
    };
    if from_ollama && own.key.source == ValueSource::Env("OPENAI_API_KEY".to_owned()) {
        key.clear();
    }
    let model = named(&own.model, &base);
    Ok(Some((own.url.key, base, key, model)))
}

/// A job other than to answer: what it does not say is as for that one.
fn placed(own: &ModelSettings, answer: &ModelSettings) -> anyhow::Result<Option<Placed>> {
    let answer = answering(answer)?;
    let (setting, base) = match (own.url.trim(), &answer) {
        ("none", _) | ("", None) => return Ok(None),
        ("", Some((setting, base, ..))) => (*setting, base.clone()),
        _ => (own.url.key, checked(&own.url, false)?),
    };
    let beside = answer.filter(|(_, of_answer, ..)| *of_answer == base);
    let key = match &**own.key {
        "" => beside.as_ref().map(|(_, _, key, _)| key.clone()).unwrap_or_default(),
        key => key.to_owned(),
    };
    let is_set = is_openai(&base) || own.model.source != ValueSource::Default;
    let model = match (own.model.as_str(), beside) {
        (model, _) if is_set && !model.is_empty() => model.to_owned(),
        (_, Some((.., model))) => model,
        _ => named("", &base),
    };
    Ok(Some((setting, base, key, model)))
}

fn named(model: &str, base: &str) -> String {
    match model {
        "" if is_openai(base) => OPENAI_MODEL.to_owned(),
        model => model.to_owned(),
    }
}

fn is_openai(base: &str) -> bool {
    base.parse::<Uri>().is_ok_and(|uri| uri.host() == Some("api.openai.com"))
}

fn checked(url: &Sourced<BaseUrl>, from_ollama: bool) -> anyhow::Result<String> {
    let Sourced { key, value, source } = url;
    base(value.trim(), from_ollama).map_err(|why| anyhow::anyhow!("{key} {why} (from {source})"))
}

/// An address as people write it, as a base address.
fn base(url: &str, from_ollama: bool) -> Result<String, String> {
    if url.contains(['@', '?', '#']) {
        return Err("must be a base address without @, ? and #".to_owned());
    }
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let is_bare = !url.contains("://");
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest.to_owned() };
    let whole = format!("{}://{rest}", scheme.to_lowercase());
    let uri: Uri = whole.parse().map_err(|e| format!("must be an address, not {url:?}: {e}"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(format!("must begin with http:// or https://, not {url:?}"));
    }
    let host = match uri.host().unwrap_or_default() {
        "" => return Err(format!("must name a host, not {url:?}")),
        "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        host => host,
    };
    if uri.port_u16().is_none() && uri.authority().is_some_and(|whole| whole.as_str() != whole.host()) {
        return Err(format!("must have a port up to 65535, if any, not {url:?}"));
    }
    let port = uri.port_u16().or((from_ollama && is_bare).then_some(OLLAMA_PORT));
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let path = match uri.path().trim_end_matches('/') {
        "" => "/v1",
        path => path,
    };
    Ok(format!("{}://{host}{port}{path}", scheme.to_lowercase()))
}

#[cfg(test)]
#[path = "provider_tests.rs"]
mod tests;
