//! Which model a caller means by a name.
//!
//! A name is that of a job, of a configured model, or of a model that one of the configured servers lists. A
//! name that nobody knows goes to the server of `models.answer` as it is, and to no other: text must not
//! reach a provider that does not know the name.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::server::Server;
use super::{Job, Model, Models};

/// How long a list is taken for true, and how long a server is left alone that lacked a name or did not
/// answer.
const KEPT: Duration = Duration::from_secs(300);
const REST: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(2);
const NAMES_MAX: usize = 5_000;
/// Names that a refusal lists.
const NAMES_TOLD_MAX: usize = 50;

/// The models of a server; held while it is asked, so that it is asked once.
#[derive(Debug, Default)]
pub struct Listing(Mutex<ListedModels>);

#[derive(Debug, Default)]
struct ListedModels {
    /// As the server describes them.
    models: Arc<[Value]>,
    /// When the server was asked last, and when it last answered.
    asked: Option<Instant>,
    answered: Option<Instant>,
}

/// No server knows the name, and there is no default; the names that are known.
#[derive(Debug)]
pub struct UnknownModel {
    /// The names that can be used.
    pub known: Vec<String>,
}

impl Listing {
    /// The models of a server as it listed them lately.
    async fn get(&self, server: &Server) -> Arc<[Value]> {
        self.refresh(server, |listed| listed.answered.is_none_or(|at| at.elapsed() >= KEPT)).await
    }

    /// The same, asked again where the list lacks a name.
    async fn get_with(&self, server: &Server, name: &str) -> Arc<[Value]> {
        let is_old = |listed: &ListedModels| listed.answered.is_none_or(|at| at.elapsed() >= KEPT);
        self.refresh(server, |listed| is_old(listed) || !has(&listed.models, name)).await
    }

    /// Whether the server has ever listed its models.
    async fn is_read(&self) -> bool {
        self.0.lock().await.answered.is_some()
    }

    async fn refresh(&self, server: &Server, is_wanted: impl Fn(&ListedModels) -> bool) -> Arc<[Value]> {
        let mut listed = self.0.lock().await;
        let may_ask = listed.asked.is_none_or(|at| at.elapsed() >= REST);
        if is_wanted(&listed) && may_ask {
            listed.asked = Some(Instant::now());
            match server.list(PATIENCE).await {
                Ok(answer) => {
                    listed.models = models(&answer);
                    listed.answered = listed.asked;
                }
                Err(failure) => tracing::debug!(%failure, "a server does not list its models"),
            }
        }
        listed.models.clone()
    }
}

fn models(listed: &Value) -> Arc<[Value]> {
    let all = listed.get("data").or_else(|| listed.get("models")).unwrap_or(listed);
    let named = all.as_array().into_iter().flatten().filter(|model| id(model).is_some_and(|id| !id.is_empty()));
    named.take(NAMES_MAX).cloned().collect()
}

fn id(model: &Value) -> Option<&str> {
    model.get("id")?.as_str()
}

fn has(models: &[Value], name: &str) -> bool {
    models.iter().any(|model| id(model) == Some(name))
}

impl Models {
    /// The job and the model that a name means; no model where the job has none.
    pub async fn choose(&self, name: &str) -> Result<(Job, Option<Model>), UnknownModel> {
        if let Some(job) = Job::ALL.into_iter().find(|job| job.name() == name) {
            return Ok((job, self.get(job).cloned()));
        }
        if let Some(model) = self.all().iter().find(|model| model.name() == name) {
            return Ok((model.job, Some(model.clone())));
        }
        for model in self.servers() {
            let listed = model.server.known.get_with(&model.server, name).await;
            if has(&listed, name) {
                return Ok((model.job, Some(model.with_name(name, true))));
            }
        }
        match self.get(Job::Answer) {
            // A name that another server may know does not go to the default one.
            Some(default) if !self.are_others_read(default).await => {
                Err(UnknownModel { known: self.known_names().await })
            }
            Some(default) => Ok((Job::Answer, Some(default.with_name(name, false)))),
            None if self.all().is_empty() => Ok((Job::Answer, None)),
            None => Err(UnknownModel { known: self.known_names().await }),
        }
    }

    /// All that a caller may name, as OpenAI describes models: the jobs, then what their servers list.
    pub async fn described(&self) -> Vec<Value> {
        let of_job = |model: &Model| {
            let name = Some(model.name()).filter(|name| !name.is_empty());
            json!({"id": model.job.name(), "object": "model", "created": 0, "owned_by": "novelo", "model": name})
        };
        let mut all: Vec<Value> = self.all().iter().map(of_job).collect();
        for model in self.servers() {
            let listed = model.server.known.get(&model.server).await;
            for told in listed.iter().filter_map(described) {
                if !all.iter().any(|known| id(known) == id(&told)) {
                    all.push(told);
                }
            }
        }
        for named in self.all().iter().map(Model::name).filter(|name| !name.is_empty()) {
            if !has(&all, named) {
                all.push(json!({"id": named, "object": "model", "created": 0, "owned_by": "novelo"}));
            }
        }
        all
    }

    /// The first names that a caller may use.
    pub async fn known_names(&self) -> Vec<String> {
        let all = self.described().await;
        all.iter().filter_map(id).take(NAMES_TOLD_MAX).map(str::to_owned).collect()
    }

    /// One model of each server, the one that answers first.
    /// Whether every server but this model's has listed its models.
    async fn are_others_read(&self, default: &Model) -> bool {
        for other in self.servers().filter(|other| !Arc::ptr_eq(&other.server, &default.server)) {
            if !other.server.known.is_read().await {
                return false;
            }
        }
        true
    }

    fn servers(&self) -> impl Iterator<Item = &Model> {
        let is_first = |at: usize, model: &Model| {
            !self.all().iter().take(at).any(|other| Arc::ptr_eq(&other.server, &model.server))
        };
        self.all().iter().enumerate().filter(move |(at, model)| is_first(*at, model)).map(|(_, model)| model)
    }
}

/// A model of a server, in OpenAI's form: what servers tell beside that may be the operator's alone.
fn described(model: &Value) -> Option<Value> {
    let created = model.get("created").and_then(Value::as_u64).unwrap_or(0);
    let owner = model.get("owned_by").and_then(Value::as_str).unwrap_or("unknown");
    Some(json!({"id": id(model)?, "object": "model", "created": created, "owned_by": owner}))
}

impl Model {
    /// Another model of the same server.
    fn with_name(&self, name: &str, is_listed: bool) -> Self {
        Self { named: name.to_owned(), window_tokens: 0, is_listed, ..self.clone() }
    }
}
