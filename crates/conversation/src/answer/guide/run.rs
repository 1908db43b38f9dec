//! One message from beginning to end. Read this first.

use std::sync::Arc;

use novelo_language::decide::{self, Decision, Read, Route, route};
use novelo_store::Op;

use super::cached::{self, Key};
use super::compose::compose;
use super::load::{Loaded, Past};
use super::shortcut::{self, Shortcut};
use super::voice::{Spoken, Voice};
use super::{Answer, Asked, Meta, SHORTCUT, finish, names, tenths};
use crate::answer::reply::{self, Ends, Event, Log};
use crate::app::App;
use crate::error::Result;
use crate::policy::Guide;
use crate::thread::kept::Kept;
use crate::trace::{self, MemoryMark};

/// Answers, and tells the end of it.
pub async fn run(app: App, asked: Asked, log: Arc<Log>, ends: Ends) {
    let answered = answer(&app, &asked, &log, ends).await;
    if let Err(error) = &answered {
        asked.tracer.refused(error);
    }
    asked.tracer.end();
    let trace = asked.wants_trace.then(|| asked.tracer.look(trace::view));
    log.push(match answered {
        Ok(answer) => Event::Guided(Box::new(Answer { trace, ..answer })),
        Err(error) => Event::Failed(error),
    });
}

async fn answer(app: &App, asked: &Asked, log: &Log, ends: Ends) -> Result<Answer> {
    let guide = app.policies.guide();
    let work = Work { app, asked, log, guide: &guide, read: guide.rules.read(&asked.text) };
    if asked.is_ready_at_once {
        work.ready();
    }
    let past = Past::load(app, asked).await?;
    let key = Key::of(asked, guide.print)?;
    if let Some(answer) = work.cached(&key, &past).await? {
        return Ok(work.told(answer));
    }
    if let Some(shortcut) = shortcut::take(&work, &past).await {
        return work.shorten(shortcut, past).await;
    }
    let decision = work.decide();
    let route = work.route(&decision);
    let loaded = Loaded::load(&work, &route).await;
    let prompt = compose(&work, &decision, &route, &past, loaded).await?;
    work.ready();
    let expected = past.last_seq + past.new.len() as u64 + 1;
    let place = Some((&*asked.user, &*asked.thread));
    let kept = Kept::begin(app, &asked.tracer, place, past.new, prompt.beside.clone()).await?;
    let spoken = Voice::new(&work, past.has_assistant).speak(&prompt, &decision, &route, ends).await;
    work.finish(&kept, Ending { decision, route, spoken, key, expected }).await
}

/// All that an answer came of.
struct Ending {
    decision: Decision,
    route: Route,
    spoken: Spoken,
    /// What it may be given again for.
    key: Key,
    /// The number of its turn, if nobody says anything meanwhile.
    expected: u64,
}

/// What every stage sees, as it was when the message came.
pub struct Work<'w> {
    pub app: &'w App,
    pub asked: &'w Asked,
    pub log: &'w Log,
    pub guide: &'w Guide,
    /// What was said, as the rules read it.
    pub read: Read,
}

impl Work<'_> {
    /// Tells that the prompt is ready, once.
    fn ready(&self) {
        if self.asked.tracer.look(|course| course.latency.prompt_ready_ms.is_none()) {
            self.asked.tracer.prompt_ready();
            self.log.push(Event::Ready);
        }
    }

    /// Says all of it at once.
    fn say(&self, text: &str) {
        self.ready();
        self.asked.tracer.first_token();
        let first_ms = self.log.since_ms();
        self.log.push(Event::First);
        self.log.push(Event::Text(text.to_owned()));
        self.log.push(Event::Spoken { first_ms, last_ms: self.log.since_ms() });
    }

    fn told(&self, answer: Answer) -> Answer {
        self.say(&answer.message);
        answer
    }

    /// What was answered before, where that still holds.
    async fn cached(&self, key: &Key, past: &Past) -> Result<Option<Answer>> {
        let found = cached::find(self.app, &self.asked.user, key, past.last_seq).await?;
        self.asked.tracer.cache("response", found.is_some(), None);
        let Some(answer) = found else { return Ok(None) };
        past.newest.iter().for_each(|turn| self.asked.tracer.made_from(turn));
        if let Some(model) = &answer.model {
            self.asked.tracer.model(model);
        }
        Ok(Some(Answer { cache: true, ..answer }))
    }

    /// Answers without a model, and keeps both.
    async fn shorten(&self, shortcut: Shortcut, past: Past) -> Result<Answer> {
        let Asked { user, thread, .. } = self.asked;
        let kept = Kept::begin(self.app, &self.asked.tracer, Some((user, thread)), past.new, Vec::new()).await?;
        self.say(&shortcut.message);
        kept.add(self.app, reply::turn(&shortcut.message, &[], None).into_iter().collect()).await?;
        let decision = self.guide.rules.decide(&self.read);
        let meta = Meta {
            mode: SHORTCUT.into(),
            reason: Some(shortcut.reason.into()),
            level: decision.openness,
            steps: Vec::new(),
            guided: false,
            simple: self.guide.rules.is_simple(&self.read),
            save_memory: false,
        };
        let sense = finish::sense(self, &decision, None);
        let Shortcut { message, .. } = shortcut;
        Ok(Answer { message, model: None, sense, usage: None, cache: false, fallback: false, meta, trace: None })
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
        let Asked { streams, forced, instructions, tracer, .. } = self.asked;
        let asked = decide::Asked { streams: *streams, forced: *forced, overrides: instructions.is_some() };
        let route = route(&self.guide.rules, &self.read, decision, asked);
        tracer.heuristic("lowComplexity", route.simple, "at most 140 characters or 22 words, or no heavy signal");
        let trigger = self.guide.rules.trigger(&self.read).map(|trigger| format!(" (“{trigger}”)")).unwrap_or_default();
        let why = format!("{}{trigger}", route.guided_by.unwrap_or("nothing guides it"));
        tracer.heuristic("vivaAtivo", route.guided, why);
        tracer.heuristic("mode", route.mode.name(), route.why);
        route
    }

    /// Keeps what is to be kept, and says what it came to.
    async fn finish(&self, kept: &Kept, ending: Ending) -> Result<Answer> {
        let Ending { decision, route, spoken, key, expected } = ending;
        let sense = finish::sense(self, &decision, spoken.block.clone());
        let is_whole = !spoken.fallback && spoken.partial.is_none();
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
        let turn = spoken.turn();
        let meta = Meta {
            mode: route.mode.name().into(),
            reason: spoken.reason.map(Into::into),
            level: route.level,
            steps: names(route.steps).into_iter().map(Into::into).collect(),
            guided: route.guided,
            simple: route.simple,
            save_memory: saves,
        };
        let Spoken { message, model, usage, fallback, .. } = spoken;
        let answer = Answer { message, model, sense, usage, cache: false, fallback, meta, trace: None };
        if let Some(turn) = turn {
            let again = if is_whole { self.again(&key, &answer, expected).await } else { None };
            // Whoever said something meanwhile made another history of it.
            kept.add_with(self.app, turn, |seq| again.clone().filter(|_| seq == expected)).await?;
        }
        Ok(answer)
    }

    /// The write that lets the answer be given again. That it cannot be is told, and costs nobody the answer.
    async fn again(&self, key: &Key, answer: &Answer, last_seq: u64) -> Option<Op> {
        let keep = cached::keep(self.app, &self.asked.user, key, answer, last_seq).await;
        keep.unwrap_or_else(|error| {
            self.asked.tracer.error("cache", error.message);
            None
        })
    }
}
