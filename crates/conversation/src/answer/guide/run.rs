//! One message from beginning to end. Read this first.

use novelo_language::decide::{self, Decision, Read, Route, route};
use novelo_store::Op;

use super::cached::{self, Key};
use super::compose::compose;
use super::generate::{GuidedText, generate};
use super::load::{Loaded, Past};
use super::shortcut::{self, Shortcut};
use super::{GuidedRequest, SHORTCUT, finish, names, tenths};
use crate::answer::App;
use crate::answer::event::Event;
use crate::answer::generate::StopSignals;
use crate::answer::generation::{Generated, Generation};
use crate::answer::guided_answer::{GuidedAnswer, GuidedMeta};
use crate::answer::log::EventLog;
use crate::error::Result;
use crate::policy::Guide;
use crate::thread::kept::Kept;
use crate::trace::MemoryMark;

pub async fn answer(app: &App, asked: &GuidedRequest, log: &EventLog, mut stops: StopSignals) -> Result<GuidedAnswer> {
    let guide = app.policies.guide();
    let work = Work { app, asked, log, guide: &guide, read: guide.rules.read(&asked.text) };
    if asked.is_ready_at_once {
        work.ready();
    }
    let past = Past::load(app, asked).await?;
    let key = Key::of(asked, guide.print)?;
    if let Some(answer) = work.cached(&key, &past).await? {
        work.send(&answer.message);
        return Ok(answer);
    }
    if let Some(shortcut) = shortcut::take(&work, &past).await {
        return work.take_shortcut(shortcut, past).await;
    }
    let decision = work.decide();
    let route = work.route(&decision);
    let loaded = Loaded::load(&work, &route).await;
    let mut composed = compose(&work, &decision, &route, &past, loaded).await?;
    work.ready();
    let expected = past.last_seq + past.new.len() as u64 + 1;
    let place = Some((&*asked.user, &*asked.thread));
    let marks = std::mem::take(&mut composed.marks);
    let kept = Kept::begin(app, &asked.tracer, place, past.new, marks).await?;
    let has_greeted = past.has_assistant;
    let text = generate(&work, (&decision, &route), composed, (&kept, has_greeted), &mut stops).await?;
    work.finish(&kept, Ending { decision, route, text, key, expected }).await
}

/// What an answer is finished from.
struct Ending {
    decision: Decision,
    route: Route,
    text: GuidedText,
    /// The key of the answer in the cache.
    key: Key,
    /// The number of its turn, unless the thread grows meanwhile.
    expected: u64,
}

/// What every stage sees. Policies stay the same for the whole request.
pub struct Work<'w> {
    pub app: &'w App,
    pub asked: &'w GuidedRequest,
    pub log: &'w EventLog,
    pub guide: &'w Guide,
    /// The message as the rules read it.
    pub read: Read,
}

impl Work<'_> {
    /// Sends that the prompt is ready, once.
    fn ready(&self) {
        if self.asked.tracer.look(|course| course.latency.prompt_ready_ms.is_none()) {
            self.asked.tracer.prompt_ready();
            self.log.push(Event::Ready);
        }
    }

    /// Sends a text that needs no model.
    fn send(&self, text: &str) {
        self.ready();
        let mut generation = Generation::default();
        generation.send(text.to_owned(), self.log);
        generation.end(self.log);
    }

    /// The answer from the cache, where it is still valid.
    async fn cached(&self, key: &Key, past: &Past) -> Result<Option<GuidedAnswer>> {
        let found = cached::find(self.app, &self.asked.user, key, past.last_seq).await?;
        self.asked.tracer.cache("response", found.is_some(), None);
        let Some(answer) = found else { return Ok(None) };
        past.newest.iter().for_each(|turn| self.asked.tracer.made_from(turn));
        if let Some(model) = &answer.model {
            self.asked.tracer.model(model);
        }
        Ok(Some(GuidedAnswer { cache: true, ..answer }))
    }

    /// Answers without a model, and stores question and answer.
    async fn take_shortcut(&self, shortcut: Shortcut, past: Past) -> Result<GuidedAnswer> {
        let GuidedRequest { user, thread, tracer, .. } = self.asked;
        let Shortcut { message, reason } = shortcut;
        let kept = Kept::begin(self.app, tracer, Some((user, thread)), past.new, Vec::new()).await?;
        self.send(&message);
        let generated = Generated { text: message, ..Generated::default() };
        kept.add(self.app, generated.turn().into_iter().collect()).await?;
        let decision = self.guide.rules.decide(&self.read);
        let meta = GuidedMeta {
            mode: SHORTCUT.into(),
            reason: Some(reason.into()),
            level: decision.openness,
            steps: Vec::new(),
            guided: false,
            simple: self.guide.rules.is_simple(&self.read),
            save_memory: false,
        };
        let (message, sense) = (generated.text, finish::sense(self, &decision, None));
        Ok(GuidedAnswer { message, model: None, sense, usage: None, cache: false, fallback: false, meta, trace: None })
    }

    /// Weighs the message.
    fn decide(&self) -> Decision {
        let tracer = &self.asked.tracer;
        let decision = self.guide.rules.decide(&self.read);
        for fired in &decision.fired {
            tracer.heuristic(&format!("sinal:{}", fired.name), tenths(fired.weight), format!("“{}”", fired.words));
        }
        tracer.heuristic("intensidade", tenths(decision.intensity), format!("{} signals", decision.fired.len()));
        let vulnerable = decision.vulnerable.as_deref();
        tracer.heuristic("vulnerabilidade", vulnerable.is_some(), vulnerable.unwrap_or("no declared phrase"));
        tracer.heuristic("abertura", decision.openness, names(decision.steps).join(", "));
        let (saves, why) = match (decision.saves, self.asked.is_guest) {
            (true, false) => (true, "intensity of 7 or more"),
            (true, true) => (false, "a guest is not remembered"),
            (false, _) => (false, "intensity below 7"),
        };
        tracer.memory(MemoryMark { saves, intensity: tenths(decision.intensity), why: why.to_owned(), id: None });
        Decision { saves, ..decision }
    }

    fn route(&self, decision: &Decision) -> Route {
        let GuidedRequest { streams, forced, instructions, tracer, .. } = self.asked;
        let asked = decide::Asked { streams: *streams, forced: *forced, overrides: instructions.is_some() };
        let route = route(&self.guide.rules, &self.read, decision, asked);
        tracer.heuristic("lowComplexity", route.simple, "at most 140 characters or 22 words, or no heavy signal");
        let trigger = self.guide.rules.trigger(&self.read).map(|trigger| format!(" (“{trigger}”)")).unwrap_or_default();
        let why = format!("{}{trigger}", route.guided_by.unwrap_or("nothing guides it"));
        tracer.heuristic("vivaAtivo", route.guided, why);
        tracer.heuristic("mode", route.mode.name(), route.why);
        route
    }

    /// Stores the answer, a memory and the entry of the cache.
    async fn finish(&self, kept: &Kept, ending: Ending) -> Result<GuidedAnswer> {
        let Ending { decision, route, text, key, expected } = ending;
        let GuidedText { message, model, generated, block, fallback, reason } = text;
        let sense = finish::sense(self, &decision, block);
        let is_whole = !fallback && generated.partial.is_none();
        let saves = match (decision.saves, is_whole) {
            (true, true) => {
                self.log.push(Event::Pending);
                finish::remember(self, kept, &sense).await
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
        };
        let usage = generated.usage;
        let answer = GuidedAnswer { message, model, sense, usage, cache: false, fallback, meta, trace: None };
        if let Some(turn) = generated.turn() {
            let entry = if is_whole { self.cache_entry(&key, &answer, expected).await } else { None };
            // The entry holds for this history only, not where the thread grew meanwhile.
            kept.add_with(self.app, turn, |seq| entry.clone().filter(|_| seq == expected)).await?;
        }
        Ok(answer)
    }

    /// The write that caches the answer. If caching fails, the error is traced and the answer is still
    /// returned.
    async fn cache_entry(&self, key: &Key, answer: &GuidedAnswer, last_seq: u64) -> Option<Op> {
        let entry = cached::keep(self.app, &self.asked.user, key, answer, last_seq).await;
        entry.unwrap_or_else(|error| {
            self.asked.tracer.error("cache", error.message);
            None
        })
    }
}
