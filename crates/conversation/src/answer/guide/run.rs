//! One message from beginning to end. Read this first.

use bytes::Bytes;
use novelo_language::decide::{self, Decision, Read, Route, VoicedDanger, route};
use novelo_store::Op;

use super::cached::{self, AnswerKey, ThreadState};
use super::compose::compose;
use super::generate::{GuidedText, generate};
use super::load::{GuidedPast, Loaded};
use super::repeat::{Earlier, Repeatable};
use super::shortcut::{self, Shortcut};
use super::{GuidedRequest, SHORTCUT, crisis, finish, names, tenths};
use crate::answer::App;
use crate::answer::event::Event;
use crate::answer::generate::StopSignals;
use crate::answer::generation::{Generated, Generation};
use crate::answer::guided_answer::{GuidedAnswer, GuidedMeta};
use crate::answer::log::EventLog;
use crate::error::{Code, Result};
use crate::policy::Guide;
use crate::thread::kept::StoredAnswer;
use crate::trace::MemoryMark;

pub async fn answer(app: &App, asked: &GuidedRequest, log: &EventLog, mut stops: StopSignals) -> Result<GuidedAnswer> {
    let guide = app.policies.guide();
    let mut work = GuidedWork { app, asked, log, guide: &guide, read: guide.rules.read(&asked.text), danger: None };
    if asked.is_ready_at_once {
        work.ready();
    }
    let repeatable = Repeatable::of(&work)?;
    let version = match &repeatable {
        Some(repeatable) => match repeatable.find(&work).await? {
            Earlier::Answer(answer) => return Ok(work.repeat(*answer)),
            Earlier::Nothing(version) => version,
        },
        None => 0,
    };
    let past = GuidedPast::load(app, asked).await?;
    work.danger = crisis::in_force(&work, &past);
    let answered = work.answer(past, repeatable.as_ref().map(|repeatable| (repeatable, version)), &mut stops).await;
    match (answered, &repeatable) {
        // Another node was faster.
        (Err(error), Some(repeatable)) if error.code == Code::Stale => match repeatable.find(&work).await? {
            Earlier::Answer(answer) => Ok(work.repeat(*answer)),
            Earlier::Nothing(_) => Err(error),
        },
        (Err(error), _) if work.danger.is_some() => Ok(crisis::answer_instead_of(&work, &error)),
        (answered, _) => answered,
    }
}

/// What an answer is finished from.
struct Ending<'e> {
    decision: Decision,
    route: Route,
    text: GuidedText,
    /// The key of the answer in the cache.
    key: AnswerKey,
    /// The number of its turn, unless the thread grows meanwhile.
    expected: u64,
    /// The turns before it.
    contents: Vec<Bytes>,
    /// Where it is kept for the same request.
    repeatable: Option<&'e Repeatable<'e>>,
}

/// What every stage sees. Policies stay the same for the whole request.
pub struct GuidedWork<'w> {
    pub app: &'w App,
    pub asked: &'w GuidedRequest,
    pub log: &'w EventLog,
    pub guide: &'w Guide,
    /// The message as the rules read it.
    pub read: Read,
    /// Danger that was voiced before, and is not over.
    pub danger: Option<VoicedDanger>,
}

impl GuidedWork<'_> {
    async fn answer(
        &self,
        past: GuidedPast,
        repeat: Option<(&Repeatable<'_>, u64)>,
        stops: &mut StopSignals,
    ) -> Result<GuidedAnswer> {
        let Self { app, asked, guide, .. } = self;
        let key = AnswerKey::of(asked, guide.print)?;
        if let Some(answer) = self.cached(&key, &past).await? {
            self.send(&answer.message);
            return Ok(answer);
        }
        let claim = repeat.map(|(repeatable, version)| repeatable.claim(version)).transpose()?;
        let repeatable = repeat.map(|(repeatable, _)| repeatable);
        if let Some(shortcut) = shortcut::take(self, &past).await {
            return self.take_shortcut(shortcut, past, (claim, repeatable)).await;
        }
        let decision = self.decide(None);
        let route = self.route(&decision);
        let loaded = Loaded::load(self, &route).await;
        let mut composed = compose(self, &decision, &route, &past, loaded).await?;
        self.ready();
        let (expected, contents) = (past.last_seq + past.new.len() as u64 + 1, past.contents());
        let place = Some((&*asked.user, &*asked.thread));
        let marks = std::mem::take(&mut composed.marks).into_iter().chain(claim).collect();
        let kept = StoredAnswer::begin(app, &asked.tracer, place, past.new, marks).await?;
        let has_greeted = past.has_assistant;
        let text = generate(self, (&decision, &route), composed, (&kept, has_greeted), stops).await?;
        self.finish(&kept, Ending { decision, route, text, key, expected, contents, repeatable }).await
    }

    /// Sends that the prompt is ready, once.
    fn ready(&self) {
        if self.asked.tracer.look(|request_trace| request_trace.latency.prompt_ready_ms.is_none()) {
            self.asked.tracer.prompt_ready();
            self.log.push(Event::Ready);
        }
    }

    /// Sends a text that needs no model.
    pub fn send(&self, text: &str) {
        self.ready();
        let mut generation = Generation::default();
        generation.send(text.to_owned(), self.log);
        generation.end(self.log);
    }

    /// The answer that the same request got before.
    fn repeat(&self, answer: GuidedAnswer) -> GuidedAnswer {
        self.asked.tracer.heuristic("repeated", true, "the same request was answered before");
        self.asked.tracer.cache("response", true, None);
        self.send(&answer.message);
        GuidedAnswer { cache: true, ..answer }
    }

    /// The answer from the cache, where it is still valid.
    async fn cached(&self, key: &AnswerKey, past: &GuidedPast) -> Result<Option<GuidedAnswer>> {
        let contents = past.stored_contents();
        let thread = ThreadState { last_seq: past.last_seq, contents: &contents };
        let found = cached::find(self.app, &self.asked.user, key, thread).await?;
        self.asked.tracer.cache("response", found.is_some(), None);
        let Some(answer) = found else { return Ok(None) };
        past.newest.iter().for_each(|turn| self.asked.tracer.made_from(turn));
        if let Some(model) = &answer.model {
            self.asked.tracer.model(model);
        }
        Ok(Some(GuidedAnswer { cache: true, ..answer }))
    }

    /// Answers without a model, and stores question and answer.
    async fn take_shortcut(
        &self,
        shortcut: Shortcut,
        past: GuidedPast,
        (claim, repeatable): (Option<Op>, Option<&Repeatable<'_>>),
    ) -> Result<GuidedAnswer> {
        let GuidedRequest { user, thread, tracer, .. } = self.asked;
        let Shortcut { message, reason, danger } = shortcut;
        let kept =
            StoredAnswer::begin(self.app, tracer, Some((user, thread)), past.new, claim.into_iter().collect()).await?;
        self.send(&message);
        let generated = Generated { text: message, ..Generated::default() };
        let decision = match &danger {
            Some(phrase) => self.decide(Some(phrase)),
            None => self.guide.rules.decide(&self.read),
        };
        let meta = GuidedMeta {
            mode: SHORTCUT.into(),
            reason: Some(reason.into()),
            level: decision.openness,
            steps: Vec::new(),
            guided: false,
            simple: self.guide.rules.is_simple(&self.read),
            save_memory: false,
            crisis: danger.is_some(),
        };
        let (turn, sense) = (generated.turn(), finish::sense(self, &decision, None, danger.is_some()));
        let (message, model, usage) = (generated.text, None, None);
        let answer = GuidedAnswer { message, model, sense, usage, cache: false, fallback: false, meta, trace: None };
        if let Some(turn) = turn {
            let record = |seq| repeatable.and_then(|repeatable| repeatable.keep(seq, &answer).ok());
            kept.add_with(self.app, turn, record).await?;
        }
        Ok(answer)
    }

    /// Weighs the message, which may voice danger.
    fn decide(&self, danger: Option<&str>) -> Decision {
        let tracer = &self.asked.tracer;
        let decision = self.guide.rules.decide(&self.read);
        let decision = danger.into_iter().fold(decision, Decision::in_danger);
        for fired in &decision.fired {
            tracer.heuristic(&format!("sinal:{}", fired.name), tenths(fired.weight), format!("“{}”", fired.words));
        }
        tracer.heuristic("intensidade", tenths(decision.intensity), format!("{} signals", decision.fired.len()));
        let vulnerable = decision.vulnerable.as_deref();
        tracer.heuristic("vulnerabilidade", vulnerable.is_some(), vulnerable.unwrap_or("no declared phrase"));
        tracer.heuristic("abertura", decision.openness, names(decision.steps).join(", "));
        let (saves, why) = match (decision.saves, self.asked.is_guest) {
            _ if danger.is_some() => (false, "a crisis is answered with help lines and not remembered"),
            (true, false) => (true, "intensity of 7 or more"),
            (true, true) => (false, "a guest is not remembered"),
            (false, _) => (false, "intensity below 7"),
        };
        tracer.memory(MemoryMark { saves, intensity: tenths(decision.intensity), why: why.to_owned(), id: None });
        Decision { saves, ..decision }
    }

    fn route(&self, decision: &Decision) -> Route {
        let GuidedRequest { delivery, forced, instructions, tracer, .. } = self.asked;
        let (overrides, in_crisis) = (instructions.is_some(), self.danger.is_some());
        let asked = decide::Asked { delivery: *delivery, forced: *forced, overrides, in_crisis };
        let route = route(&self.guide.rules, &self.read, decision, asked);
        tracer.heuristic("lowComplexity", route.simple, "at most 140 characters or 22 words, or no heavy signal");
        let trigger = self.guide.rules.trigger(&self.read).map(|trigger| format!(" (“{trigger}”)")).unwrap_or_default();
        let why = format!("{}{trigger}", route.guided_by.unwrap_or("nothing guides it"));
        tracer.heuristic("vivaAtivo", route.guided, why);
        tracer.heuristic("mode", route.mode.name(), route.why);
        route
    }

    /// Stores the answer, a memory and the entry of the cache.
    async fn finish(&self, kept: &StoredAnswer, ending: Ending<'_>) -> Result<GuidedAnswer> {
        let Ending { decision, route, text, key, expected, mut contents, repeatable } = ending;
        let GuidedText { message, model, generated, block, fallback, reason } = text;
        let remembered = finish::remembered(self, block.as_ref());
        let sense = finish::sense(self, &decision, block, self.danger.is_some());
        let is_whole = !fallback && generated.partial.is_none();
        let saves = match (decision.saves, is_whole) {
            (true, true) => {
                self.log.push(Event::Pending);
                finish::remember(self, kept, &remembered, &sense).await
            }
            (true, false) => {
                finish::mark(self, None, "the answer did not come as it should");
                false
            }
            (false, _) => false,
        };
        let meta = GuidedMeta {
            mode: route.mode.name().into(),
            reason: reason.map(Into::into),
            level: route.level,
            steps: names(route.steps).into_iter().map(Into::into).collect(),
            guided: route.guided,
            simple: route.simple,
            save_memory: saves,
            crisis: self.danger.is_some(),
        };
        let usage = generated.usage;
        let answer = GuidedAnswer { message, model, sense, usage, cache: false, fallback, meta, trace: None };
        let record = |seq| match (repeatable, is_whole) {
            (Some(repeatable), true) => repeatable.keep(seq, &answer).ok(),
            (Some(repeatable), false) => Some(repeatable.release()),
            (None, _) => None,
        };
        if let Some(turn) = generated.turn() {
            contents.push(turn.raw().clone());
            let thread = ThreadState { last_seq: expected, contents: &contents };
            let entry = if is_whole { self.cache_entry(&key, &answer, thread).await } else { None };
            // The entry holds for this history only, not where the thread grew meanwhile.
            let valid = |seq| entry.clone().filter(|_| seq == expected);
            let stored = kept.add_with(self.app, turn, |seq| valid(seq).into_iter().chain(record(seq))).await;
            stored.inspect_err(|error| {
                if entry.is_some() {
                    self.asked.tracer.error("cache", error.message.as_str());
                }
            })?;
        } else if let Some(release) = record(expected) {
            self.app.store.write(vec![release]).await?;
        }
        Ok(answer)
    }

    /// The write that caches the answer. If caching fails, the error is traced and the answer is still
    /// returned.
    async fn cache_entry(&self, key: &AnswerKey, answer: &GuidedAnswer, thread: ThreadState<'_>) -> Option<Op> {
        let entry = cached::keep(self.app, &self.asked.user, key, answer, thread).await;
        entry.unwrap_or_else(|error| {
            self.asked.tracer.error("cache", error.message);
            None
        })
    }
}
