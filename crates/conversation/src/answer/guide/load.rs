//! What an answer is made of beside the message, loaded concurrently, each source with its own time limit.
//!
//! Invariant: a source that is late or fails is empty, and the trace says so; it never fails the request.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use novelo_engine::decode::Fields;
use novelo_engine::path::DocumentPath;
use novelo_engine::recall::{Recall, RecallSource};
use novelo_engine::recipe::{ComponentSpec, RecallSpec};
use novelo_engine::{Message, Role};
use novelo_language::decide::{Fired, Mode, Route};
use novelo_store::Turns;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::GuidedRequest;
use super::run::GuidedWork;
use crate::answer::Shared;
use crate::context::load::{RecalledPassages, recall_one};
use crate::error::{Code, Error, Result};
use crate::remember::user_data;
use crate::search::{Embedder, FoundPassage};
use crate::text::said;
use crate::thread;
use crate::trace::EmbeddingMark;

/// What is known of the conversation so far.
pub struct GuidedPast {
    /// Messages that the thread does not hold yet.
    pub new: Vec<Message>,
    /// Instructions of the client for the model.
    pub instructions: Vec<Message>,
    /// Whether an assistant has answered before.
    pub has_assistant: bool,
    /// The last turn that the thread holds.
    pub last_seq: u64,
    /// The newest stored turn.
    pub newest: Option<DocumentPath>,
    /// The last turns that the thread holds.
    turns: Turns,
}

impl GuidedPast {
    /// Reads the thread of a request.
    pub async fn load(app: &Shared, asked: &GuidedRequest) -> Result<Self> {
        let instructs = |message: &&Message| message.role().is_some_and(Role::instructs);
        let (instructions, sent): (Vec<&Message>, Vec<&Message>) = asked.messages.iter().partition(instructs);
        let sent: Vec<Message> = sent.into_iter().cloned().collect();
        let is_assistant = |message: &Message| message.is(Role::Assistant);
        let new_messages = thread::new_messages(app, &asked.user, &asked.thread, &sent).await?;
        Ok(Self {
            has_assistant: new_messages.has_assistant || sent.iter().any(is_assistant),
            new: new_messages.new,
            last_seq: new_messages.last_seq,
            newest: new_messages.newest,
            turns: new_messages.turns,
            instructions: instructions.into_iter().cloned().collect(),
        })
    }
}

impl GuidedPast {
    /// What the person said before the message that is answered, the newest first.
    pub(super) fn said_before(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let stored = self.turns.iter().map(|turn| turn.message.shown());
        let users = stored.chain(&self.new).filter(|message| message.is(Role::User));
        users.rev().skip(1).filter_map(said)
    }

    /// The bytes of all turns that the thread will hold with the new messages, as far as they were read.
    pub(super) fn contents(&self) -> Vec<Bytes> {
        let stored = self.turns.iter().map(|turn| turn.message.raw());
        stored.chain(self.new.iter().map(Message::raw)).cloned().collect()
    }

    /// The bytes of all turns that the thread holds, as far as they were read.
    pub(super) fn stored_contents(&self) -> Vec<Bytes> {
        self.turns.iter().map(|turn| turn.message.raw().clone()).collect()
    }
}

/// What was loaded.
pub struct Loaded {
    /// The name by which the user wants to be called.
    pub name: Option<String>,
    /// Heuristics that the message fires, by its words and by its meaning.
    pub heuristics: Vec<String>,
    /// Whether embeddings were searched.
    pub uses_embeddings: bool,
    /// Memories that were found; `None` where there was no search, or it failed.
    pub memories: Option<RecalledPassages>,
}

impl Loaded {
    /// Loads what the route needs.
    pub async fn load(work: &GuidedWork<'_>, route: &Route) -> Self {
        let tracer = &work.asked.tracer;
        let mut fired = work.guide.rules.heuristics(&work.read);
        if route.mode == Mode::Fast || work.asked.instructions.is_some() {
            tell(work, &fired);
            let heuristics = fired.into_iter().map(|fired| fired.name).collect();
            return Self { name: name(work).await, heuristics, uses_embeddings: false, memories: None };
        }
        let (name, alike, memories) =
            tokio::join!(name(work), within(work, "embedding", alike(work)), within(work, "memories", memories(work)));
        let uses_embeddings = alike.as_ref().is_some_and(Option::is_some);
        for similar in alike.flatten().into_iter().flatten() {
            if fired.iter().all(|fired| fired.name != similar.name) {
                fired.push(similar);
            }
        }
        tell(work, &fired);
        let heuristics = fired.into_iter().map(|fired| fired.name).collect();
        let loaded = Self { name, heuristics, uses_embeddings, memories };
        tracer.heuristic("memorias", loaded.memories_count(), "found for the message");
        loaded
    }

    /// How many memories were found.
    pub(crate) fn memories_count(&self) -> usize {
        self.memories.as_ref().map_or(0, |found| found.hits.len())
    }
}

fn tell(work: &GuidedWork<'_>, fired: &[Fired]) {
    fired.iter().for_each(|fired| work.asked.tracer.heuristic(&fired.name, true, fired.words.clone()));
}

/// What a source loads within its time limit. Its failure is traced.
async fn within<T>(work: &GuidedWork<'_>, source: &str, load: impl Future<Output = Result<T>>) -> Option<T> {
    let loaded = match work.app.settings.load.timeout {
        None => Ok(load.await),
        Some(limit) => tokio::time::timeout(limit, load).await.map_err(|_| limit.as_millis()),
    };
    let problem = match loaded {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(error)) => error.message,
        Err(limit_ms) => format!("took longer than load.timeout_ms, {limit_ms} ms"),
    };
    work.asked.tracer.error(source, problem);
    None
}

/// Bytes of a name.
pub const NAME_BYTES_MAX: usize = 256;

/// A text that can be a name: one short line.
pub fn as_name(text: &str) -> Option<&str> {
    let name = text.trim();
    let is_one = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control);
    is_one.then_some(name)
}

/// The name of the user: as the client sends it, or from the user's data.
pub async fn name(work: &GuidedWork<'_>) -> Option<String> {
    if let Some(name) = &work.asked.name {
        return Some(name.clone());
    }
    let data = within(work, "user_data", user_data::get(work.app, &work.asked.user)).await?;
    let data: Value = serde_json::from_slice(&data).ok()?;
    let name = ["nome", "name"].iter().find_map(|key| data.get(*key)?.as_str());
    name.and_then(as_name).map(str::to_owned)
}

/// How memories are recalled, and what is shown if there are none.
pub(crate) fn recall_spec(work: &GuidedWork<'_>) -> RecallSpec {
    let answers = &work.guide.answers;
    let (heading, empty) = (Some(answers.memories_heading.to_string()), Some(answers.memories_none.to_string()));
    RecallSpec { heading, empty, ..RecallSpec::from(RecallSource::Memories) }
}

/// The same, checked as a component of a recipe.
fn recall(work: &GuidedWork<'_>) -> Result<Recall> {
    let component = json!(ComponentSpec::from(recall_spec(work)));
    Ok(Recall::decode(&mut Fields::from_value("memories", &component)?)?)
}

async fn memories(work: &GuidedWork<'_>) -> Result<RecalledPassages> {
    let began = Instant::now();
    let recall = recall(work)?;
    let found = recall_one(work.app, &work.asked.user, &recall, &work.asked.text, |_| false).await?;
    found.recalled.problems.iter().for_each(|problem| work.asked.tracer.error("memories", problem.clone()));
    let best = found.hits.iter().chain(&found.near).filter_map(FoundPassage::similarity).max_by(f64::total_cmp);
    if best.is_some() {
        work.asked.tracer.embedding(EmbeddingMark {
            kind: "conversation".to_owned(),
            against: "memories".to_owned(),
            similarity: best.map(thousandths),
            hits: found.hits.len(),
            took_ms: began.elapsed().as_secs_f64() * 1e3,
        });
    }
    Ok(found)
}

/// The vectors of examples, in their order.
type Vectors = Arc<[Vec<f32>]>;

/// The examples of the heuristics in force, embedded once, and the fingerprint of their policies.
#[derive(Debug, Default)]
pub struct Examples(Mutex<Option<(u64, Vectors)>>);

/// The time limit for embedding all examples.
const EXAMPLES_WAIT: Duration = Duration::from_secs(30);

impl Examples {
    /// The vectors, and whether they were cached.
    async fn of(work: &GuidedWork<'_>) -> Result<(Vectors, bool)> {
        let texts = work.guide.rules.examples().iter().map(|example| example.text.clone()).collect();
        let (app, print) = (work.app.clone(), work.guide.print);
        // In a task of its own: a request that times out must not cancel it for the next.
        let embedding = tokio::spawn(async move { app.guides.examples.embed(&app, print, texts).await });
        embedding.await.map_err(|e| Error::new(Code::Internal, format!("embedding ended early: {e}")))?
    }

    async fn embed(&self, app: &Shared, print: u64, texts: Vec<String>) -> Result<(Vectors, bool)> {
        let mut held = self.0.lock().await;
        if let Some((_, vectors)) = held.as_ref().filter(|(of, _)| *of == print) {
            return Ok((vectors.clone(), true));
        }
        let vectors = app.indexes.embedder.embed(texts, EXAMPLES_WAIT).await.map_err(unembedded)?;
        let vectors: Vectors = vectors.into();
        *held = Some((print, vectors.clone()));
        Ok((vectors, false))
    }
}

/// The heuristics whose examples are like the message; `None` without an embedder.
async fn alike(work: &GuidedWork<'_>) -> Result<Option<Vec<Fired>>> {
    let embedder: &Embedder = &work.app.indexes.embedder;
    if embedder.fingerprint().is_none() || work.guide.rules.examples().is_empty() {
        return Ok(None);
    }
    let began = Instant::now();
    let (vector, was_known) = embedder.query_known(&work.asked.text).await.map_err(unembedded)?;
    let took_ms = began.elapsed().as_secs_f64() * 1e3;
    let began = Instant::now();
    let (vectors, were_known) = Examples::of(work).await?;
    let mut best: Vec<(f32, Fired)> = Vec::new();
    let mut similarity_max = f32::MIN;
    for (example, of) in work.guide.rules.examples().iter().zip(vectors.iter()) {
        let similarity: f32 = vector.iter().zip(of).map(|(a, b)| a * b).sum();
        similarity_max = similarity_max.max(similarity);
        if similarity >= example.similarity && best.iter().all(|(_, fired)| fired.name != example.heuristic) {
            let words = format!("like “{}” ({similarity:.2})", example.text);
            best.push((similarity, Fired { name: example.heuristic.clone(), words, weight: 0.0 }));
        }
    }
    let kind = |is_warm: bool| if is_warm { "warm" } else { "conversation" }.to_owned();
    let against = || "heuristics".to_owned();
    let mark = EmbeddingMark {
        kind: kind(was_known),
        against: against(),
        similarity: Some(thousandths(similarity_max.into())),
        hits: best.len(),
        took_ms,
    };
    work.asked.tracer.embedding(mark);
    if !were_known {
        let took_ms = began.elapsed().as_secs_f64() * 1e3;
        let mark = EmbeddingMark {
            kind: "examples".to_owned(),
            against: against(),
            similarity: None,
            hits: vectors.len(),
            took_ms,
        };
        work.asked.tracer.embedding(mark);
    }
    Ok(Some(best.into_iter().map(|(_, fired)| fired).collect()))
}

/// A similarity as traces show it.
fn thousandths(similarity: f64) -> f64 {
    (similarity * 1e3).round() / 1e3
}

fn unembedded(failure: impl std::fmt::Display) -> Error {
    Error::new(Code::Internal, format!("the embedder failed: {failure}"))
}
