//! How many tokens a model sees at once, asked of its server.
//!
//! Owns the questions that servers of each kind answer, and what they said. A model is asked about once;
//! after a failure, or a guess, again when some time has passed. A question never takes longer than
//! `PATIENCE`.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::server::Server;

pub const PATIENCE: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_secs(10);
/// What Ollama loads a model with that says nothing of it.
const OLLAMA_WINDOW: u64 = 4096;

/// Of a window this share is left for the answer, but not more tokens than these.
const ANSWER_SHARE: u32 = 4;
const ANSWER_TOKENS_MAX: u32 = 2_048;

/// What is known of the windows of a server's models; held while the server is asked, so that it is asked
/// once.
#[derive(Debug, Default)]
pub struct Windows(Mutex<FxHashMap<String, Known>>);

#[derive(Debug, Clone, Copy)]
struct Known {
    tokens: Option<u32>,
    /// When to ask again; never where it is certain.
    until: Option<Instant>,
}

/// An answer, and whether it holds for good.
type WindowAnswer = (u64, bool);

impl Windows {
    /// The window of a model, asked of the server where it is not known.
    pub async fn of(&self, server: &Server, model: &str, now: Instant) -> Option<u32> {
        let mut known = self.0.lock().await;
        if let Some(known) = known.get(model).filter(|known| known.until.is_none_or(|until| now < until)) {
            return known.tokens;
        }
        let told = tokio::time::timeout(PATIENCE, ask(server, model)).await.ok().flatten();
        let tokens = told.and_then(|(tokens, _)| u32::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
        let is_certain = tokens.is_some() && told.is_some_and(|(_, is_certain)| is_certain);
        let until = (!is_certain).then(|| now + REST);
        known.insert(model.to_owned(), Known { tokens, until });
        tokens
    }

    /// What is known without asking.
    pub fn known(&self, model: &str) -> Option<u32> {
        self.0.try_lock().ok()?.get(model)?.tokens
    }
}

/// The tokens that a prompt may have in a window: some are for the answer, and counts of other tokenizers are
/// a guess.
pub(crate) fn room_tokens(window_tokens: u32) -> u32 {
    (window_tokens - (window_tokens / ANSWER_SHARE).min(ANSWER_TOKENS_MAX)) / 10 * 9
}

async fn ask(server: &Server, model: &str) -> Option<WindowAnswer> {
    if let Some(told) = llama_cpp(server).await {
        return Some(told);
    }
    if let Some(told) = lm_studio(server, model).await {
        return Some(told);
    }
    if let Some(told) = ollama_loaded(server, model).await {
        return Some(told);
    }
    if let Some(told) = ollama_shown(server, model).await {
        return Some(told);
    }
    vllm(server, model).await
}

async fn llama_cpp(server: &Server) -> Option<WindowAnswer> {
    let props = get(server, "/props").await?;
    Some((props.pointer("/default_generation_settings/n_ctx")?.as_u64()?, true))
}

/// A model that is not loaded yet may be loaded with less than it could take.
async fn lm_studio(server: &Server, model: &str) -> Option<WindowAnswer> {
    let path = format!("/api/v0/models/{}", novelo_engine::path::encode_segment(model).replace("%2F", "/"));
    let found = get(server, &path).await?;
    let count = |name: &str| found.get(name).and_then(Value::as_u64);
    let loaded = count("loaded_context_length").map(|tokens| (tokens, true));
    loaded.or_else(|| count("max_context_length").map(|tokens| (tokens, false)))
}

async fn ollama_loaded(server: &Server, model: &str) -> Option<WindowAnswer> {
    let running = get(server, "/api/ps").await?;
    let is_it = |entry: &&Value| {
        let names = ["name", "model"].into_iter().filter_map(|name| entry.get(name)?.as_str());
        names.map(|name| name.trim_end_matches(":latest")).any(|name| name == model.trim_end_matches(":latest"))
    };
    let found = running.get("models")?.as_array()?.iter().find(is_it)?;
    Some((found.get("context_length")?.as_u64()?, true))
}

/// What Ollama will most likely load it with; it says for certain only once it has.
async fn ollama_shown(server: &Server, model: &str) -> Option<WindowAnswer> {
    let body = json!({"model": model}).to_string();
    let bytes = server.beside("/api/show")?.post(body, PATIENCE).await.ok()?;
    let shown: Value = serde_json::from_slice(&bytes).ok()?;
    let set = shown.get("parameters").and_then(Value::as_str).and_then(|parameters| {
        parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
    });
    let trained = || {
        let members = shown.get("model_info")?.as_object()?;
        members.iter().find(|(name, _)| name.ends_with(".context_length"))?.1.as_u64()
    };
    Some((set.or_else(|| Some(trained()?.min(OLLAMA_WINDOW)))?, false))
}

async fn vllm(server: &Server, model: &str) -> Option<WindowAnswer> {
    let listed = server.list(PATIENCE).await.ok()?;
    let found = listed.get("data")?.as_array()?.iter().find(|entry| entry.get("id").is_some_and(|id| id == model))?;
    Some((found.get("max_model_len")?.as_u64()?, true))
}

async fn get(server: &Server, path: &str) -> Option<Value> {
    let bytes = server.beside(path)?.get(PATIENCE).await.ok()?;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::provider::Provider;
    use std::io::{Read, Write};

    #[test]
    fn a_window_leaves_room_for_the_answer() {
        assert_eq!([0, 10, 4_096, 131_072].map(room_tokens), [0, 0, 2_763, 116_118]);
        assert_eq!(room_tokens(u32::MAX), (u32::MAX - ANSWER_TOKENS_MAX) / 10 * 9);
    }

    /// A server that has forgotten everything but its window, which it tells from the second time on.
    fn forgetful() -> Server {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let mut asked = 0;
            for mut stream in listener.incoming().map_while(Result::ok) {
                let mut request = vec![0; 4096];
                let read = stream.read(&mut request).unwrap();
                let is_props = request[..read].starts_with(b"GET /props");
                asked += usize::from(is_props);
                let props = r#"{"default_generation_settings":{"n_ctx":2048}}"#;
                let body = if is_props && asked > 1 { props } else { "{}" };
                let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.write_all((head + body).as_bytes()).unwrap();
            }
        });
        let timeout = Duration::from_secs(1);
        let setting = "models.answer.url";
        let (key, model) = (String::new(), "m".to_owned());
        Server::new(&Provider { setting, base, key, model, window_tokens: 0, timeout }).unwrap()
    }

    #[tokio::test]
    async fn what_was_not_told_is_asked_again_after_a_rest() {
        let server = forgetful();
        let now = Instant::now();
        assert_eq!(server.windows.of(&server, "m", now).await, None);
        assert_eq!(server.windows.of(&server, "m", now + REST - Duration::from_millis(1)).await, None);
        assert_eq!(server.windows.of(&server, "m", now + REST).await, Some(2048));
        assert_eq!(server.windows.of(&server, "m", now + REST * 1000).await, Some(2048));
        assert_eq!(server.windows.known("m"), Some(2048));
    }
}
