//! What is said: by a model as it speaks, by a model all at once, or instead of one.
//!
//! Owns the fallback. A stream that fails is asked for once more, whole; where that fails too, a fixed sentence stands in. What was shown
//! already cannot be taken back: then the answer is in the last event alone.

use novelo_engine::Message;
use novelo_language::decide::{Decision, Mode, Route};
use novelo_language::finish::{Block, Cleaner};
use serde_json::{Map, Value};

use super::compose::Prompt;
use super::run::Work;
use crate::answer::reply::{self, Ends, Event, Partial, speak, speak_again, speak_whole};
use crate::model::{Ask, Completion, Failure, Job, Model, Usage};

/// What was said, and how it came about.
#[derive(Default)]
pub struct Spoken {
    pub message: String,
    pub model: Option<String>,
    pub usage: Option<Usage>,
    pub block: Option<Block>,
    pub fallback: bool,
    pub reason: Option<&'static str>,
    /// Why there is no more of it.
    pub partial: Option<Partial>,
    /// What is kept of it as a turn.
    kept: String,
}

impl Spoken {
    /// What a model said.
    fn of(message: String, block: Option<Block>, completion: &Completion) -> Self {
        let reason = (completion.finish == "length").then_some("length");
        Self { kept: message.clone(), message, block, usage: completion.usage, reason, ..Self::default() }
    }

    /// The turn that it becomes; `None` where nothing was said that anyone should hear again.
    pub fn turn(&self) -> Option<Message> {
        reply::turn(&self.kept, &[], self.partial)
    }
}

pub struct Voice<'w> {
    work: &'w Work<'w>,
    /// Whether a greeting at the front is one too many.
    has_greeted: bool,
    cleaner: Cleaner,
    /// What the client was shown.
    shown: String,
    first_ms: Option<f64>,
}

impl<'w> Voice<'w> {
    pub fn new(work: &'w Work<'w>, has_greeted: bool) -> Self {
        let cleaner = cleaner(work, has_greeted);
        Self { work, has_greeted, cleaner, shown: String::new(), first_ms: None }
    }

    pub async fn speak(mut self, prompt: &Prompt, decision: &Decision, route: &Route, mut ends: Ends) -> Spoken {
        let Some(model) = self.work.app.models.get(Job::Answer) else { return self.without_model(decision) };
        let options = Map::from_iter([("max_tokens".to_owned(), Value::from(prompt.max_tokens))]);
        let ask = Ask { messages: prompt.messages.clone(), options };
        let log = self.work.log;
        let spoken = tokio::select! {
            biased;
            spoken = self.generate(model, &ask, route.mode) => Ok(spoken),
            () = log.abandoned(ends.patience) => Err((Partial::ClientLeft, "client_left")),
            _ = ends.closing.wait_for(|closing| *closing) => Err((Partial::ServerStopped, "server_stopped")),
        };
        let mut spoken = match spoken {
            Ok(spoken) => spoken,
            Err((partial, reason)) => self.broken_off(partial, reason),
        };
        let has_spoken = !spoken.message.is_empty() && spoken.message == spoken.kept;
        spoken.model = has_spoken.then(|| model.name().to_owned());
        self.work.asked.tracer.model(model.name());
        self.end();
        spoken
    }

    /// What stands in for a model where none is set.
    fn without_model(mut self, decision: &Decision) -> Spoken {
        let message = self.work.guide.answers.no_model(decision.openness).to_owned();
        self.show(message.clone());
        self.end();
        Spoken { kept: message.clone(), message, reason: Some("no_model"), ..Spoken::default() }
    }

    async fn generate(&mut self, model: &Model, ask: &Ask, mode: Mode) -> Spoken {
        let tracer = self.work.asked.tracer.clone();
        if mode != Mode::Stream {
            let spoken = speak_whole(model, ask).await.and_then(|whole| self.whole(whole));
            return spoken.unwrap_or_else(|failure| {
                tracer.error("model", failure.in_words());
                self.instead(reason(&failure))
            });
        }
        let streamed = speak(model, ask, |text: String| self.say(&text)).await;
        let failure = match streamed.and_then(|completion| self.streamed(completion)) {
            Ok(spoken) => return spoken,
            Err(failure) => failure,
        };
        tracer.error("stream", failure.in_words());
        self.cleaner = cleaner(self.work, self.has_greeted);
        let why = reason(&failure);
        // Whatever it was that failed, also a refusal in its midst.
        match speak_again(model, ask).await.and_then(|whole| self.whole(whole)) {
            Ok(spoken) => Spoken { fallback: true, reason: Some(why), ..spoken },
            Err(again) => {
                tracer.error("model", again.in_words());
                self.instead(why)
            }
        }
    }

    /// The end of a stream.
    fn streamed(&mut self, completion: Completion) -> Result<Spoken, Failure> {
        let block = self.flush();
        match self.shown.trim().is_empty() {
            true => Err(nothing()),
            false => {
                let message = self.shown.clone();
                Ok(Spoken::of(message, block, &completion))
            }
        }
    }

    /// An answer that came in one piece. It is shown where nothing was before.
    fn whole(&mut self, completion: Completion) -> Result<Spoken, Failure> {
        let mut cleaner = std::mem::replace(&mut self.cleaner, Cleaner::new(None));
        let mut message = cleaner.push(&completion.text);
        let (rest, block) = cleaner.finish();
        message.push_str(&rest);
        if message.trim().is_empty() {
            return Err(nothing());
        }
        if self.shown.is_empty() {
            self.show(message.clone());
        }
        Ok(Spoken::of(message, block, &completion))
    }

    /// The fixed sentence. What was said before it stays, marked.
    fn instead(&mut self, reason: &'static str) -> Spoken {
        let message = self.work.guide.answers.timeout.clone();
        let kept = self.shown.clone();
        if kept.is_empty() {
            self.show(message.clone());
        }
        let partial = Some(Partial::ModelFailed);
        Spoken { message, kept, fallback: true, reason: Some(reason), partial, ..Spoken::default() }
    }

    fn broken_off(&mut self, partial: Partial, reason: &'static str) -> Spoken {
        let message = self.shown.clone();
        Spoken { kept: message.clone(), message, partial: Some(partial), reason: Some(reason), ..Spoken::default() }
    }

    /// Takes what a model says, and shows what can be shown.
    fn say(&mut self, text: &str) {
        let shown = self.cleaner.push(text);
        self.show(shown);
    }

    /// Shows what was held back, and gives the block.
    fn flush(&mut self) -> Option<Block> {
        let (rest, block) = std::mem::replace(&mut self.cleaner, Cleaner::new(None)).finish();
        self.show(rest);
        block
    }

    fn show(&mut self, text: String) {
        if text.is_empty() {
            return;
        }
        if self.first_ms.is_none() {
            self.work.asked.tracer.first_token();
            self.first_ms = Some(self.work.log.since_ms());
            self.work.log.push(Event::First);
        }
        self.shown.push_str(&text);
        self.work.log.push(Event::Text(text));
    }

    /// Tells that all words are there.
    fn end(&self) {
        if let Some(first_ms) = self.first_ms {
            self.work.log.push(Event::Spoken { first_ms, last_ms: self.work.log.since_ms() });
        }
    }
}

fn cleaner(work: &Work<'_>, has_greeted: bool) -> Cleaner {
    let greetings = || work.guide.rules.greeting_phrases().map(str::to_owned).collect::<Vec<_>>();
    Cleaner::new(has_greeted.then(greetings).as_deref())
}

fn reason(failure: &Failure) -> &'static str {
    match failure {
        Failure::Slow(_) => "timeout",
        _ => "error",
    }
}

fn nothing() -> Failure {
    Failure::Broke("the model answered with nothing".into())
}
