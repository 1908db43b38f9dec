//! One message from beginning to end. Read this first.

use std::sync::Arc;
use std::time::Duration;

use novelo_recall::decide::{self, Decision, Read, Route, route};

use super::cached::{BYTES_MAX, Cached, Key, State};
use super::compose::compose;
use super::load::{Loaded, Past};
use super::shortcut::{self, Shortcut};
use super::voice::{Spoken, Voice};
use super::{Answer, Asked, Meta, SHORTCUT, finish, names, tenths};
use crate::app::App;
use crate::http::error::Result;
use crate::kept::Kept;
use crate::policy::Guide;
use crate::reply::{self, Ends, Event, Log};
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
    let key = Key::of(asked, guide.print);
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
    let kept = Kept::begin(app, Some((&asked.user, &asked.thread)), past.new).await?;
    let spoken = Voice::new(&work, past.has_assistant).speak(&prompt, &decision, &route, ends).await;
    let ending = Ending { decision, route, spoken };
    let (answer, seq) = work.finish(&kept, ending).await?;
    // Whoever said something meanwhile made another history of it.
    if seq == Some(expected) {
        work.cache(key, &answer, expected).await?;
    }
    Ok(answer)
}

/// All that an answer came of.
struct Ending {
    decision: Decision,
    route: Route,
    spoken: Spoken,
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
        let state = State::now(self.app, &self.asked.user, past.last_seq).await?;
        let lives = Duration::from_secs(self.app.config.number("eco.cache_seconds"));
        let found = self.app.guides.responses.get(key).filter(|cached| cached.holds(state, lives));
        self.asked.tracer.cache("response", found.is_some(), None);
        let Some(found) = found else { return Ok(None) };
        let answer = found.answer.clone();
        if let Some(model) = &answer.model {
            self.asked.tracer.model(model);
        }
        Ok(Some(Answer { cache: true, ..answer }))
    }

    /// Answers without a model, and keeps both.
    async fn shorten(&self, shortcut: Shortcut, past: Past) -> Result<Answer> {
        let Asked { user, thread, .. } = self.asked;
        let kept = Kept::begin(self.app, Some((user, thread)), past.new).await?;
        self.say(&shortcut.message);
        kept.add(self.app, reply::turn(&shortcut.message, &[], None).into_iter().collect()).await?;
        let decision = self.guide.rules.decide(&self.read);
        let meta = Meta {
            mode: SHORTCUT,
            reason: Some(shortcut.reason),
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

    /// Keeps what is to be kept, and says what it came to; the number of the turn, where it may be given again.
    async fn finish(&self, kept: &Kept, ending: Ending) -> Result<(Answer, Option<u64>)> {
        let Ending { decision, route, spoken } = ending;
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
        let seq = match spoken.turn() {
            Some(turn) => kept.add_one(self.app, turn).await?,
            None => None,
        };
        let meta = Meta {
            mode: route.mode.name(),
            reason: spoken.reason,
            level: route.level,
            steps: names(route.steps),
            guided: route.guided,
            simple: route.simple,
            save_memory: saves,
        };
        let Spoken { message, model, usage, fallback, .. } = spoken;
        let answer = Answer { message, model, sense, usage, cache: false, fallback, meta, trace: None };
        Ok((answer, seq.filter(|_| is_whole)))
    }

    async fn cache(&self, key: Key, answer: &Answer, last_seq: u64) -> Result<()> {
        let state = State::now(self.app, &self.asked.user, last_seq).await?;
        let cached = Arc::new(Cached::new(answer.clone(), state));
        let bytes = cached.bytes();
        if bytes > BYTES_MAX || !self.app.guides.responses.insert(key, cached, bytes) {
            self.asked.tracer.error("cache", format!("an answer of {bytes} bytes is too large to be kept"));
        }
        Ok(())
    }
}
