//! The prompt of a guided answer: modules that fit the message, memories, and the conversation.
//!
//! Owns the cache of contexts. Its key contains a fingerprint of the manifest and of all that the choice of
//! modules depends on, so that a cached context is the one that would be made. A context with memories is
//! never cached. A mark in the store, `contexts/{print}` of the user, tells every node that the context was
//! made; a node that does not hold it makes it again.

use std::sync::Arc;

use novelo_engine::assemble::assemble;
use novelo_engine::module::{Chosen, Situation};
use novelo_engine::path::DocumentPath;
use novelo_engine::piece::{Fate, Origin, Why};
use novelo_engine::recipe::{ComponentSpec, FilterSpec, RecipeBuilder, WindowSize};
use novelo_engine::{Message, Recipe, Tokenizer, scope};
use novelo_language::decide::{Decision, Mode, Route};
use novelo_store::{Op, PutTerms};
use serde_json::json;

use super::load::{GuidedPast, Loaded, recall_spec};
use super::names;
use super::run::GuidedWork;
use crate::answer::prompt::{AnswerPrompt, PromptRecording, PromptRequest, model_room_tokens};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::model::Job;
use crate::policy::Preset;
use crate::telemetry::now;
use crate::text::said;
use crate::trace::{ModuleMark, fingerprint};

pub type ComposedContexts = Cache<ContextKey, Arc<Composed>>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ContextKey {
    pub user: String,
    text: String,
}

/// A recipe, and which of its modules were kept.
#[derive(Debug)]
pub struct Composed {
    preset: Arc<Preset>,
    modules: Vec<ModuleMark>,
}

/// A prompt for the moment, and what it was made from.
pub struct ComposedPrompt {
    pub request: PromptRequest,
    pub prompt: AnswerPrompt,
    pub max_tokens: u32,
    /// The mark that this context was made, to be stored with the question.
    pub marks: Vec<Op>,
}

/// How long a mark stays.
const MARK_LIVES_S: f64 = 3_600.0;

const BUDGET_TOKENS: u32 = 24_000;

pub(crate) async fn compose(
    work: &GuidedWork<'_>,
    decision: &Decision,
    route: &Route,
    past: &GuidedPast,
    loaded: Loaded,
) -> Result<ComposedPrompt> {
    let moment = Moment { work, decision, route, loaded: &loaded };
    let (composed, mark) = match &work.asked.instructions {
        Some(instructions) => (moment.overridden(instructions, past)?, None),
        None => moment.context(past).await?,
    };
    composed.modules.iter().for_each(|module| work.asked.tracer.module(module.clone()));
    let request = PromptRequest {
        user: Some(work.asked.user.clone()),
        thread: Some(work.asked.thread.clone()),
        question: None,
        query: Some(work.asked.text.clone()),
        messages: past.new.clone(),
        preset: composed.preset.clone(),
        budget_tokens: Some(BUDGET_TOKENS),
        recalled: loaded.memories.into_iter().collect(),
        recording: PromptRecording::default(),
        omits_what_cannot_fit: false,
    };
    let room = model_room_tokens(work.app.models.get(Job::Answer)).await;
    let prompt = request.make(work.app, room, false).await?;
    work.asked.tracer.prompt(&prompt.prompted.trace_id);
    let max_tokens = work.guide.answers.max_tokens(route.mode == Mode::Fast, route.level);
    Ok(ComposedPrompt { request, prompt, max_tokens, marks: mark.into_iter().collect() })
}

/// What a prompt depends on, beside the conversation.
struct Moment<'m> {
    work: &'m GuidedWork<'m>,
    decision: &'m Decision,
    route: &'m Route,
    loaded: &'m Loaded,
}

impl Moment<'_> {
    /// The caller's own instructions, what a crisis calls for, and the conversation.
    fn overridden(&self, instructions: &str, past: &GuidedPast) -> Result<Arc<Composed>> {
        let chosen = self.work.guide.modules.choose(&self.situation(&[], ""));
        let chosen: Vec<Chosen> = chosen.into_iter().filter(|chosen| chosen.is_for_crisis).collect();
        let own = [ComponentSpec::system(instructions)].into_iter().chain(chosen.iter().map(ComponentSpec::from));
        let components = own.chain(literals(&past.instructions)).chain([ComponentSpec::history()]).collect();
        self.composed(components, &chosen)
    }

    /// The context, and the mark that it was made, where there is none yet.
    async fn context(&self, past: &GuidedPast) -> Result<(Arc<Composed>, Option<Op>)> {
        let (tracer, contexts) = (&self.work.asked.tracer, &self.work.app.guides.contexts);
        let key = self.key();
        let may_keep = self.loaded.memories_count() == 0 && past.instructions.is_empty();
        let mark = if may_keep { Some(key.mark()?) } else { None };
        let is_hit = match &mark {
            Some(mark) => self.work.app.store.get(mark).await?.is_some(),
            None => false,
        };
        tracer.cache("context", is_hit, Some(&key.text));
        if is_hit {
            let (name, status, why) = ("__context_cache".to_owned(), "cached".to_owned(), key.text.clone());
            tracer.module(ModuleMark { name, status, why, tokens: None, missing_tokens: None });
        }
        if let Some(found) = contexts.get(&key).filter(|_| is_hit) {
            return Ok((found, None));
        }
        let (components, chosen) = self.components(&past.instructions);
        let composed = self.composed(components, &chosen)?;
        let put = mark.filter(|_| !is_hit).map(|at| key.put(at));
        if may_keep {
            let bytes = composed.preset.text().get().len() * 2 + key.text.len() + 1_024;
            contexts.insert(key, composed.clone(), bytes);
        }
        Ok((composed, put))
    }

    fn components(&self, instructions: &[Message]) -> (Vec<ComponentSpec>, Vec<Chosen>) {
        let modules = &self.work.guide.modules;
        let heuristics: Vec<&str> = self.loaded.heuristics.iter().map(String::as_str).collect();
        let steps = names(self.route.steps).join(", ");
        let chosen = modules.choose(&self.situation(&heuristics, &steps));
        let mut components: Vec<ComponentSpec> = chosen.iter().map(ComponentSpec::from).collect();
        components.extend(literals(instructions));
        components.extend(self.memories());
        components.push(ComponentSpec::history());
        (components, chosen)
    }

    /// The memories, or that there are none. The fast lane has neither.
    fn memories(&self) -> Option<ComponentSpec> {
        match (self.route.mode, &self.loaded.memories) {
            (Mode::Fast, _) => None,
            (_, None) => Some(ComponentSpec::system(&*self.work.guide.answers.memories_none)),
            (_, Some(_)) => Some(recall_spec(self.work).into()),
        }
    }

    fn situation<'s>(&'s self, heuristics: &'s [&'s str], steps: &'s str) -> Situation<'s> {
        let Self { work, decision, route, loaded } = self;
        Situation {
            fast: route.mode == Mode::Fast,
            openness: decision.openness,
            intensity: decision.intensity,
            guided: route.guided,
            forced: work.asked.forced,
            heuristics,
            memories: loaded.memories_count() > 0,
            opening: work.asked.opening,
            saves: decision.saves,
            crisis: work.danger.is_some(),
            greeting: work.guide.rules.is_greeting(&work.read),
            steps,
            name: loaded.name.as_deref().unwrap_or(""),
        }
    }

    fn composed(&self, components: Vec<ComponentSpec>, chosen: &[Chosen]) -> Result<Arc<Composed>> {
        let answers = &self.work.guide.answers;
        let pairs = if self.route.mode == Mode::Fast { answers.fast_pairs } else { answers.history_pairs };
        let recipe = RecipeBuilder::new()
            .components(components)
            .filter(FilterSpec::ModuleBudget { max_tokens: self.work.guide.modules.budget_tokens() })
            .filter(FilterSpec::HistoryWindow(WindowSize::Pairs(pairs)))
            .filter(FilterSpec::tool_call_backfill())
            .tokenizer(Tokenizer::default());
        let preset = Preset::from(recipe.build()?);
        let modules = modules(preset.recipe(), chosen);
        Ok(Arc::new(Composed { preset: Arc::new(preset), modules }))
    }

    /// The key as clients see it in traces, with a fingerprint of the rest.
    fn key(&self) -> ContextKey {
        let Self { work, decision, route, loaded } = self;
        let flag = u8::from;
        let (user, rest) = (&work.asked.user, self.rest());
        let text = format!(
            "ctx:{user}:{}:{}:ms{}:v{}:d{}:a{}:h{}:e{}:m{rest:016x}",
            route.level,
            decision.intensity.round(),
            loaded.memories_count(),
            flag(route.guided),
            flag(decision.saves),
            flag(work.asked.opening.is_some()),
            flag(!loaded.heuristics.is_empty()),
            flag(loaded.uses_embeddings),
        );
        ContextKey { user: user.clone(), text }
    }

    fn rest(&self) -> u64 {
        let Self { work, decision, route, loaded } = self;
        let greeting = work.guide.rules.is_greeting(&work.read);
        let moment = (decision.intensity.to_bits(), route.mode.name(), names(route.steps), loaded.memories.is_some());
        let client =
            (work.danger.is_some(), work.asked.forced, work.asked.opening, &loaded.name, &loaded.heuristics, greeting);
        fingerprint(&(work.guide.print, moment, client)) as u64
    }
}

impl ContextKey {
    /// The path of the mark that it was made.
    fn mark(&self) -> Result<DocumentPath> {
        let id = format!("{:032x}", fingerprint(&self.text));
        let at = scope::user(&self.user).and_then(|user| user.child("contexts")?.document(&id));
        at.map_err(|e| Error::bad_id("user", &e))
    }

    fn put(&self, at: DocumentPath) -> Op {
        let now = now();
        let terms = PutTerms { now, expires_at: Some(now + MARK_LIVES_S), ..PutTerms::default() };
        Op::Put { at, value: json!({"key": self.text}).to_string().into(), terms }
    }
}

/// Which modules are kept: the filters need only the recipe for that.
fn modules(recipe: &Recipe, chosen: &[Chosen]) -> Vec<ModuleMark> {
    let nothing = novelo_engine::Loaded::default();
    let Ok(assembly) = assemble(recipe, &nothing, None) else { return Vec::new() };
    let mark = |piece: &novelo_engine::piece::Piece<'_>| {
        let Origin::Module(module) = piece.origin else { return None };
        let missing_tokens = match piece.why {
            Why::NoRoom { tokens, room_tokens } => Some(tokens.saturating_sub(room_tokens)),
            _ => None,
        };
        let status = if piece.fate == Fate::Dropped { "cut" } else { "kept" };
        let called = chosen.iter().find(|chosen| *chosen.name == *module.name).map_or("", |chosen| &chosen.why);
        let (name, why) = (module.name.to_string(), format!("{called}; {}", piece.why));
        Some(ModuleMark { name, status: status.to_owned(), why, tokens: Some(piece.tokens), missing_tokens })
    };
    assembly.pieces.iter().filter_map(mark).collect()
}

fn literals(instructions: &[Message]) -> impl Iterator<Item = ComponentSpec> {
    instructions.iter().filter_map(|message| Some(ComponentSpec::literal(message.role()?, said(message)?)))
}
