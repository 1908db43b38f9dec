//! What was said and answered before, as far as the policy lets anyone look back.

use novelo_engine::limits::RECENT_TURNS_MAX;
use novelo_engine::path::{DocumentPath, PathError};
use novelo_engine::policy::{Line, Policy};
use novelo_engine::reference::References;
use novelo_engine::{Role, scope};
use novelo_language::plan::{Candidate, Parameters, Window};
use novelo_store::{Op, PutTerms, Range};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::DataQuestion;
use crate::answer::Shared;
use crate::error::{Error, Result};
use crate::telemetry::now;
use crate::thread::tail::{self, LineCaps, Tail};

/// Turns among which the newest are looked for: those too old, and calls of tools, stand in between.
const TURNS_READ: usize = 200;
const LINES: LineCaps =
    LineCaps { roles: &[Role::User, Role::Assistant, Role::System], bytes_max: usize::MAX, chars_max: usize::MAX };

/// What a turn of ours says about itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnMeta {
    pub request_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nickname: Option<String>,
    pub intent: Option<String>,
    pub entity: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Parameters>,
}

impl TurnMeta {
    /// Of a turn of a question, with the intent that won.
    pub fn new(asked: &DataQuestion, routed: Option<&Candidate>) -> Self {
        let (intent, entity) = routed.map(|routed| (routed.intent.clone(), routed.entity.clone())).unzip();
        Self { request_id: asked.request_id.clone(), intent, entity, ..Self::default() }
    }

    /// Whether it was about subjects.
    pub(crate) fn has_subjects(&self) -> bool {
        self.parameters.as_ref().is_some_and(Parameters::has_subjects)
    }

    /// The stretch of time that it was about.
    pub fn window(&self) -> Option<Window> {
        self.parameters.as_ref().and_then(|parameters| parameters.window)
    }
}

/// The conversation up to a question.
#[derive(Debug, Default)]
pub struct DataPast {
    /// Oldest first, cut by the policy.
    pub recent: Vec<Line>,
    pub references: References,
    /// Whether what is stored of them could be read, and can be added to.
    pub are_readable: bool,
}

impl DataPast {
    /// Loads it; where the policy is not enabled there is none.
    pub async fn load(app: &Shared, policy: &Policy, asked: &DataQuestion) -> Result<Self> {
        if !policy.enabled {
            return Ok(Self::default());
        }
        let references_at = place(asked)?;
        let most = usize::try_from(policy.max_turns).ok().filter(|max| *max > 0);
        let read = if most.is_some() { TURNS_READ } else { RECENT_TURNS_MAX };
        let tail = Tail::load(app, &asked.user, &asked.thread, Range::Last(read)).await?;
        let now = now();
        let fresh = tail.lines(LINES).rev().filter(|line| policy.is_fresh(line.turn.create_time, now));
        let mut recent: Vec<Line> = fresh.map(with_meta).take(most.unwrap_or(RECENT_TURNS_MAX)).collect();
        recent.reverse();
        let recent = policy.recent(recent, now);
        let stored = app.store.get(&references_at).await?;
        let references = stored.map(|document| serde_json::from_slice(&document.value)).transpose();
        // A caller who may write documents may have written this one.
        if let Err(error) = &references {
            tracing::warn!(%error, "the references of a conversation cannot be read, it has none");
        }
        let are_readable = references.is_ok();
        let references = references.ok().flatten().unwrap_or_default();
        Ok(Self { recent, references, are_readable })
    }

    /// What the answers said about themselves that the planner may look back at, the newest first.
    pub fn answers(&self, policy: &Policy) -> Vec<TurnMeta> {
        let lines = policy.for_planner(&self.recent);
        let answers = lines.iter().rev().filter(|line| line.role == Role::Assistant.name());
        let metas = answers.filter_map(|line| TurnMeta::deserialize(&line.meta).ok());
        metas.filter(|meta| policy.planner.allows(meta.entity.as_deref())).collect()
    }

    /// The part of the conversation that goes into a model's prompt; none if the policy does not allow it
    /// for this entity. Turns about entities that are kept from models are left out, and so is what turns
    /// say about themselves.
    pub(crate) fn to_wire(&self, policy: &Policy, entity: &str, is_told: impl Fn(&str) -> bool) -> Option<Value> {
        let of = |line: &Line| TurnMeta::deserialize(&line.meta).ok().and_then(|meta| meta.entity);
        let told = self.recent.iter().filter(|line| of(line).is_none_or(|entity| is_told(&entity))).cloned();
        let lines = policy.for_narrator(told.collect(), Some(entity))?;
        let reference = self.references.last.as_ref().filter(|reference| is_told(&reference.entity));
        let history = lines.iter().map(|line| {
            let Line { role, content, created_at, .. } = line;
            json!({"role": role, "content": content, "created_at": created_at})
        });
        Some(json!({"history": history.collect::<Vec<_>>(), "last_reference": reference}))
    }
}

/// Where the references of a conversation are.
pub fn place(asked: &DataQuestion) -> Result<DocumentPath> {
    scope::references(&asked.user, &asked.thread).map_err(bad_id)
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("client_id or conversation_id", &error)
}

/// The write of the references; merged with what is there, or in its place.
pub(crate) fn refer(app: &Shared, at: DocumentPath, references: &References, merge: bool) -> Op {
    let now = now();
    let expires_at = app.settings.threads.ttl.map(|ttl| now + ttl.as_secs_f64());
    let value = json!(references).to_string().into();
    Op::Put { at, value, terms: PutTerms { merge, now, expires_at, ..PutTerms::default() } }
}

/// A line with what its turn says about itself.
fn with_meta(line: tail::Line<'_>) -> Line {
    #[derive(Deserialize)]
    struct WithMeta {
        #[serde(default)]
        meta: Value,
    }
    let raw = line.turn.message.shown().raw();
    let meta = serde_json::from_slice::<WithMeta>(raw).map(|with| with.meta).unwrap_or_default();
    let (role, content) = (line.role.name().to_owned(), line.text.into_owned());
    Line { role, content, created_at: line.turn.create_time, meta }
}
