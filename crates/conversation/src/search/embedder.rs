//! Where embeddings come from: nowhere, a model in this process, or a server that speaks OpenAI's form.
//!
//! Owns the choice, and what is known of it. An embedder that cannot be used is as good as none, and says
//! why; one that fails is left alone for a while, so that a search never waits for it twice.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use novelo_recall::embed::Model;
use serde::Deserialize;
use tokio::sync::Semaphore;
use xxhash_rust::xxh3::xxh3_64;

use crate::cache::Cache;
use crate::outbound::{Outbound, Unanswered};
use crate::settings::{EmbedKind, Settings};

/// How long an embedder that failed is left alone.
const REST: Duration = Duration::from_secs(10);
const QUERIES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Texts of a caller that are embedded at once, and how many such batches there are at a time, so that a
/// search does not wait behind them.
const CALLER_BATCH: usize = 16;
const CALLER_BATCHES_MAX: usize = 2;
const CALLER_DEADLINE: Duration = Duration::from_secs(60);

/// The embedder in force.
#[derive(Debug)]
pub struct Embedder {
    kind: EmbedderKind,
    /// Why it cannot be used, though it is asked for.
    pub fault: Option<String>,
    /// Tells the vectors of this model from those of others.
    print: String,
    name: String,
    deadline: Duration,
    /// Until when it is left alone, and what it said.
    resting: Mutex<Option<(Instant, String)>>,
    /// Questions that were embedded lately.
    queries: Cache<String, Arc<[f32]>>,
    callers: Semaphore,
}

/// Embeddings, and how many tokens their texts have, where that is known.
#[derive(Debug, Default)]
pub struct EmbeddedTexts {
    /// A vector for each text.
    pub vectors: Vec<Vec<f32>>,
    /// The tokens of all texts.
    pub tokens: Option<u64>,
}

/// Why there are no embeddings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbeddingFailure {
    /// These texts are refused, and would be again; others may do.
    #[error("{0}")]
    Refused(String),
    /// It does not work at the moment.
    #[error("{0}")]
    Down(String),
}

impl From<Unanswered> for EmbeddingFailure {
    fn from(error: Unanswered) -> Self {
        match error {
            Unanswered::Refused(_, 400 | 413 | 422, _) => Self::Refused(error.to_string()),
            error => Self::Down(error.to_string()),
        }
    }
}

#[derive(Debug)]
enum EmbedderKind {
    None,
    Local(Arc<Model>),
    Remote { server: Box<Outbound>, model: String },
}

impl Embedder {
    /// Opens what the settings ask for. What cannot be opened is a fault, not an error: the server starts
    /// without it.
    pub async fn open(settings: &Settings) -> Self {
        let opened = match settings.embed {
            EmbedKind::Local => local(settings.embedding.dir.clone()).await,
            EmbedKind::OpenAi => remote(settings),
            EmbedKind::None => Ok((EmbedderKind::None, String::new())),
        };
        let (kind, print, fault) = match opened {
            Ok((kind, print)) => (kind, print, None),
            Err(fault) => (EmbedderKind::None, String::new(), Some(fault)),
        };
        if let Some(fault) = &fault {
            tracing::warn!(fault, "there are no embeddings: searches are lexical");
        }
        let deadline = settings.embedding.timeout;
        let queries = Cache::new(QUERIES_BYTES_MAX);
        let (name, callers) = (model_name(settings), Semaphore::new(CALLER_BATCHES_MAX));
        Self { kind, fault, print, name, deadline, resting: Mutex::new(None), queries, callers }
    }

    /// The name of its model: that of the directory, or the server's. `None` without an embedder.
    pub fn model_name(&self) -> Option<&str> {
        self.fingerprint().map(|_| &*self.name)
    }

    /// How many tokens of a text the model reads, where this text has more.
    pub fn is_too_long(&self, text: &str) -> Option<usize> {
        match &self.kind {
            EmbedderKind::Local(model) if model.count_tokens(text).is_none() => Some(model.tokens_max()),
            EmbedderKind::Local(_) | EmbedderKind::Remote { .. } | EmbedderKind::None => None,
        }
    }

    /// What its vectors are marked with; `None` without an embedder.
    pub(crate) fn fingerprint(&self) -> Option<&str> {
        (!matches!(self.kind, EmbedderKind::None)).then_some(self.print.as_str())
    }

    /// What health says of it.
    pub fn state(&self) -> String {
        match (&self.kind, &self.fault) {
            (_, Some(fault)) => format!("fault: {fault}"),
            (EmbedderKind::None, None) => "none".to_owned(),
            _ => self.rests().map_or_else(|| "ok".to_owned(), |said| format!("resting: {said}")),
        }
    }

    /// The embedding of a question.
    pub async fn query(&self, text: &str) -> Result<Arc<[f32]>, EmbeddingFailure> {
        self.query_known(text).await.map(|(vector, _)| vector)
    }

    /// The same, and whether it was known already.
    pub(crate) async fn query_known(&self, text: &str) -> Result<(Arc<[f32]>, bool), EmbeddingFailure> {
        if let Some(vector) = self.queries.get(&text.to_owned()) {
            return Ok((vector, true));
        }
        let vectors = self.embed(vec![text.to_owned()], self.deadline).await?;
        let vector: Arc<[f32]> = vectors.into_iter().next().unwrap_or_default().into();
        self.queries.insert(text.to_owned(), vector.clone(), text.len() + vector.len() * 4 + 64);
        Ok((vector, false))
    }

    /// The embeddings of texts, each of length 1, in their order.
    pub async fn embed(&self, texts: Vec<String>, deadline: Duration) -> Result<Vec<Vec<f32>>, EmbeddingFailure> {
        self.embed_counted(texts, deadline).await.map(|embedded| embedded.vectors)
    }

    /// The same for a caller with any number of texts.
    pub async fn embed_in_batches(&self, texts: &[String]) -> Result<EmbeddedTexts, EmbeddingFailure> {
        let mut all = EmbeddedTexts { tokens: Some(0), ..EmbeddedTexts::default() };
        for batch in texts.chunks(CALLER_BATCH) {
            let _permit = self.callers.acquire().await;
            let made = self.embed_counted(batch.to_vec(), CALLER_DEADLINE).await?;
            all.tokens = all.tokens.zip(made.tokens).map(|(before, more)| before + more);
            all.vectors.extend(made.vectors);
        }
        all.vectors = check(all.vectors, texts.len()).map_err(EmbeddingFailure::Down)?;
        Ok(all)
    }

    async fn embed_counted(&self, texts: Vec<String>, deadline: Duration) -> Result<EmbeddedTexts, EmbeddingFailure> {
        if let Some(said) = self.rests() {
            return Err(EmbeddingFailure::Down(said));
        }
        let count = texts.len();
        let embedded = match &self.kind {
            EmbedderKind::None => Err(EmbeddingFailure::Down("there is no embedder".to_owned())),
            EmbedderKind::Local(model) => {
                let model = model.clone();
                let work = move || {
                    let tokens = texts.iter().map(|text| model.count_tokens(text).unwrap_or(model.tokens_max()) as u64);
                    let tokens = Some(tokens.sum());
                    EmbeddedTexts {
                        vectors: model.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>()),
                        tokens,
                    }
                };
                match tokio::time::timeout(deadline, tokio::task::spawn_blocking(work)).await {
                    Ok(done) => done.map_err(|e| EmbeddingFailure::Down(e.to_string())),
                    Err(_) => Err(EmbeddingFailure::Down(format!("the model took longer than {deadline:?}"))),
                }
            }
            EmbedderKind::Remote { server, model } => ask(server, model, &texts, deadline).await,
        };
        let checked = embedded.and_then(|EmbeddedTexts { vectors, tokens }| {
            let vectors = check(vectors, count).map_err(EmbeddingFailure::Down)?;
            Ok(EmbeddedTexts { vectors, tokens })
        });
        if let Err(EmbeddingFailure::Down(said)) = &checked {
            self.rest(said.clone());
        }
        checked
    }

    /// Leaves it alone for a while.
    pub fn rest(&self, said: String) {
        tracing::warn!(said, "the embedder failed");
        *self.lock() = Some((Instant::now() + REST, said));
    }

    /// What it said when it failed, if that was a moment ago.
    fn rests(&self) -> Option<String> {
        self.lock().as_ref().filter(|(until, _)| Instant::now() < *until).map(|(_, said)| said.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<(Instant, String)>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is said of vectors that cannot be compared.
pub(crate) fn another_size(size: usize, here: usize) -> String {
    format!("vectors of {size} dimensions came back, and those here have {here}")
}

/// What callers name the model by.
fn model_name(settings: &Settings) -> String {
    match settings.embed {
        EmbedKind::OpenAi => settings.embedding.model.clone(),
        EmbedKind::Local => {
            let dir = std::fs::canonicalize(&settings.embedding.dir).unwrap_or_else(|_| settings.embedding.dir.clone());
            dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
        }
        EmbedKind::None => String::new(),
    }
}

async fn local(dir: PathBuf) -> Result<(EmbedderKind, String), String> {
    let opened = tokio::task::spawn_blocking(move || Model::open(&dir)).await.map_err(|e| e.to_string())?;
    let model = opened.map_err(|e| e.to_string())?;
    let print = model.print.clone();
    Ok((EmbedderKind::Local(Arc::new(model)), print))
}

fn remote(settings: &Settings) -> Result<(EmbedderKind, String), String> {
    let (base, model) = (&*settings.embedding.url, &settings.embedding.model);
    let url = format!("{}/embeddings", base.trim_end_matches('/'));
    let server = Outbound::new(&url, &settings.embedding.key).map_err(|e| format!("embedding.url {base:?}: {e}"))?;
    let print = format!("{:016x}", xxh3_64(format!("{url}\n{model}").as_bytes()));
    Ok((EmbedderKind::Remote { server: Box::new(server), model: model.to_owned() }, print))
}

#[derive(Deserialize)]
struct EmbeddingsAnswer {
    data: Vec<EmbeddingRow>,
    #[serde(default)]
    usage: Option<EmbeddingsUsage>,
}

#[derive(Deserialize)]
struct EmbeddingsUsage {
    prompt_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct EmbeddingRow {
    index: usize,
    embedding: Vec<f32>,
}

async fn ask(
    server: &Outbound,
    model: &str,
    texts: &[String],
    deadline: Duration,
) -> Result<EmbeddedTexts, EmbeddingFailure> {
    let body = serde_json::json!({"model": model, "input": texts, "encoding_format": "float"}).to_string();
    let bytes = server.post(body, deadline).await?;
    let another = |e| EmbeddingFailure::Down(format!("an answer of another form: {e}"));
    let mut answer: EmbeddingsAnswer = serde_json::from_slice(&bytes).map_err(another)?;
    answer.data.sort_by_key(|row| row.index);
    let tokens = answer.usage.and_then(|usage| usage.prompt_tokens);
    let vectors = answer.data.into_iter().map(|row| normalised(row.embedding)).collect();
    Ok(EmbeddedTexts { vectors, tokens })
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

/// Refuses what a model of one size would not give.
fn check(vectors: Vec<Vec<f32>>, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let size = vectors.first().map_or(0, Vec::len);
    if vectors.len() != count {
        return Err(format!("{} vectors came back for {count} texts", vectors.len()));
    }
    if size == 0 || vectors.iter().any(|vector| vector.len() != size) {
        return Err("vectors of different sizes, or of none, came back".to_owned());
    }
    match vectors.iter().flatten().all(|x| x.is_finite()) {
        true => Ok(vectors),
        false => Err("a vector is not of numbers".to_owned()),
    }
}
