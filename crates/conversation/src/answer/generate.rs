//! The one loop in which models generate answers.
//!
//! Owns what every kind of answer needs: streaming, tools, prompts that are too long, a second try, clients
//! that leave and shutdown. What differs between the kinds is in `GenerationKind`. What replaces an answer
//! that failed is not decided here.

use std::time::Duration;

use bytes::Bytes;
use novelo_engine::Message;
use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::event::{Event, Partial};
use super::generation::{Generation, message};
use super::log::EventLog;
use super::prompt::{AnswerPrompt, PromptRequest};
use super::skills::{self, Skills};
use crate::answer::Shared;
use crate::error::{Code, Result};
use crate::model::{Ask, Completion, Delta, Failure, Model, More, ToolCall, room_tokens};
use crate::remember::span_tools;
use crate::thread::kept::StoredAnswer;

/// Rounds of skills in one answer.
const ROUNDS_MAX: usize = 8;
/// How often a prompt that is too long for its model is shortened.
const SHORTENED_MAX: usize = 3;

/// What ends a generation early: no reader for so long, or a server that closes.
pub struct StopSignals {
    pub patience: Duration,
    pub closing: watch::Receiver<bool>,
}

/// What differs between the kinds of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationKind {
    /// Streams, and runs skills. Asks again where that may help.
    Assistant,
    /// Passes everything on to a client of the model's server, which runs its own tools. What the model said
    /// cannot be taken back, and what its server refuses is for the client to act on.
    Relay,
    /// Streams, and asks again after any failure. To say nothing is a failure, and so is to refuse.
    GuidedStream,
    /// Asks for the whole answer at once, and not again.
    GuidedWhole,
}

/// How a generation ended.
#[derive(Debug)]
pub enum Outcome {
    Answered,
    /// The model ended without saying anything.
    Empty,
    /// The model failed, also when it was asked again: the first failure.
    Failed(Failure),
    Stopped(Partial),
}

/// What one call of a model came to.
type Attempt<T> = std::result::Result<T, Failure>;

/// What an answer is generated with.
pub struct Generator<'g> {
    pub app: &'g Shared,
    pub log: &'g EventLog,
    pub kind: GenerationKind,
    pub model: &'g Model,
    /// Further members of the request to the model.
    pub options: Map<String, Value>,
    /// What the prompt is made from, for a shorter one.
    pub request: &'g PromptRequest,
    /// Calls of skills are stored behind the question.
    pub kept: &'g StoredAnswer,
    pub skills: Option<(&'g Skills, &'g str)>,
    /// The user and the thread that the model may compact and restore; its calls for that are not passed on.
    pub span_tools: Option<(&'g str, &'g str)>,
    /// Whether a prompt that is too long is made shorter.
    pub shortens: bool,
}

impl GenerationKind {
    fn is_relay(self) -> bool {
        self == Self::Relay
    }

    fn is_guided(self) -> bool {
        matches!(self, Self::GuidedStream | Self::GuidedWhole)
    }

    /// Whether the model is asked once more, for the whole answer. A prompt that is too long is never sent
    /// again.
    fn asks_again(self, generation: &Generation, failure: &Failure) -> bool {
        match self {
            Self::Assistant => failure.may_pass(),
            Self::Relay => {
                let is_broken = matches!(failure, Failure::Broke(_)) && failure.upstream().is_none();
                let generated = &generation.generated;
                is_broken && !generation.has_begun && generated.text.is_empty() && generated.more.message.is_empty()
            }
            Self::GuidedStream => !matches!(failure, Failure::TooLong { .. }),
            Self::GuidedWhole => false,
        }
    }
}

impl Generator<'_> {
    /// Lets the model answer until it is done, or stopped. A prompt that had to be shortened replaces
    /// `prompt`.
    pub async fn generate(
        &self,
        prompt: &mut AnswerPrompt,
        generation: &mut Generation,
        stops: &mut StopSignals,
    ) -> Result<Outcome> {
        let stopped = tokio::select! {
            biased;
            outcome = self.answer(prompt, generation) => return outcome,
            () = self.log.abandoned(stops.patience) => Partial::ClientLeft,
            // A client that leaves and then closes the server, as a command does, has left.
            _ = stops.closing.wait_for(|closing| *closing) => match self.log.is_read() {
                true => Partial::ServerStopped,
                false => Partial::ClientLeft,
            },
        };
        self.log.options.tracer.error(stopped.name(), stopped.in_words());
        generation.generated.partial = Some(stopped);
        Ok(Outcome::Stopped(stopped))
    }

    async fn answer(&self, prompt: &mut AnswerPrompt, generation: &mut Generation) -> Result<Outcome> {
        let mut messages = prompt.messages.clone();
        let (mut rounds, mut shortened) = (0, 0);
        loop {
            generation.restart();
            let ask = Ask { messages: messages.clone(), options: self.options.clone() };
            match self.ask(&ask, generation).await {
                Ok(calls) if calls.is_empty() && !generation.has_begun => return Ok(Outcome::Empty),
                Ok(calls) if calls.is_empty() => return Ok(Outcome::Answered),
                Ok(calls) if self.are_span_calls(&calls) && rounds < ROUNDS_MAX => {
                    rounds += 1;
                    let more = self.run_span_calls(&calls, generation).await;
                    messages = extended(&messages, &more);
                }
                Ok(mut calls) if self.kind.is_relay() => {
                    calls.retain(|call| self.span_tools.is_none() || !span_tools::is_ours(&call.name));
                    generation.generated.tool_calls = calls.clone();
                    calls.into_iter().enumerate().for_each(|(index, call)| self.log.push(Event::Call(index, call)));
                    return Ok(Outcome::Answered);
                }
                Ok(calls) if rounds < ROUNDS_MAX => {
                    rounds += 1;
                    let more = skills::run(self.app, self.skills, &calls, generation, self.log).await;
                    self.kept.add(self.app, more.clone()).await?;
                    messages = extended(&messages, &more);
                }
                Ok(_) => {
                    let note = format!("the model called skills {ROUNDS_MAX} times in a row and was stopped");
                    generation.generated.notes.push(note);
                    return Ok(Outcome::Answered);
                }
                Err(failure) => {
                    shortened += 1;
                    let may_shorten = !generation.has_begun && shortened <= SHORTENED_MAX;
                    if !may_shorten || !self.shorten(prompt, &failure).await? {
                        return Ok(Outcome::Failed(failure));
                    }
                    messages = prompt.messages.clone();
                }
            }
        }
    }

    /// Whether all calls are for tools that run here without the client.
    fn are_span_calls(&self, calls: &[ToolCall]) -> bool {
        self.span_tools.is_some() && calls.iter().all(|call| span_tools::is_ours(&call.name))
    }

    /// Runs such calls; the messages for the model. Nothing of it is stored: spans are in the thread already.
    async fn run_span_calls(&self, calls: &[ToolCall], generation: &Generation) -> Vec<Message> {
        let mut messages = vec![message(&generation.generated.text, calls, &Map::new())];
        for call in calls {
            let Some((user, thread)) = self.span_tools else { continue };
            let content = span_tools::run(self.app, user, thread, &call.name, &call.arguments).await;
            self.log.options.tracer.heuristic("span_tool", &*call.name, &*call.arguments);
            messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
        }
        messages.iter().map(|message| Message::from_stored(message.to_string().into())).collect()
    }

    /// Asks the model, once more where that may help; the tools that it calls.
    async fn ask(&self, ask: &Ask, generation: &mut Generation) -> Attempt<Vec<ToolCall>> {
        let failure = match self.ask_first(ask, generation).await {
            Ok(completion) => return Ok(self.completed(completion, generation)),
            Err(failure) => failure,
        };
        let tracer = &self.log.options.tracer;
        tracer.error(if self.kind == GenerationKind::GuidedWhole { "model" } else { "stream" }, failure.cause());
        if generation.generated.retried_after.is_some() || !self.kind.asks_again(generation, &failure) {
            return Err(failure);
        }
        match self.ask_again(ask, generation).await {
            Ok(completion) => {
                generation.generated.retried_after = Some(failure);
                Ok(self.completed(completion, generation))
            }
            Err(second) => {
                tracer.error("model", second.cause());
                Err(failure)
            }
        }
    }

    async fn ask_first(&self, ask: &Ask, generation: &mut Generation) -> Attempt<Completion> {
        let mut deltas = match self.kind {
            GenerationKind::Assistant | GenerationKind::GuidedStream => self.model.stream(ask).await?,
            GenerationKind::Relay => self.model.relay(ask).await?,
            GenerationKind::GuidedWhole => {
                let mut completion = self.model.whole(ask).await?;
                self.check_refusal(&completion)?;
                generation.replace(std::mem::take(&mut completion.text), self.log)?;
                return Ok(completion);
            }
        };
        let mut completion = Completion::default();
        while let Some(delta) = deltas.next().await {
            let delta = delta?;
            if generation.generated.model.is_none() && (self.kind.is_relay() || matches!(delta, Delta::Text(_))) {
                generation.generated.model = Some(self.model.name().to_owned());
            }
            generation.add(&delta, self.kind.is_relay(), self.log);
            completion.add(delta);
        }
        generation.finish_stream(self.log);
        self.check_refusal(&completion)?;
        match self.kind.is_guided() && generation.generated.text.trim().is_empty() {
            true => Err(Failure::Empty),
            false => Ok(completion),
        }
    }

    /// A refusal is a failure where the answer is guided: it goes to somebody who may be in pain.
    fn check_refusal(&self, completion: &Completion) -> Attempt<()> {
        match self.kind.is_guided() && completion.is_refused() {
            true => Err(Failure::Refused("the model refused to answer".to_owned().into())),
            false => Ok(()),
        }
    }

    /// Asks for the whole answer after a failure, with a single try.
    async fn ask_again(&self, ask: &Ask, generation: &mut Generation) -> Attempt<Completion> {
        let mut completion = match self.kind.is_relay() {
            true => self.model.relay_once(ask).await?,
            false => self.model.whole_once(ask).await?,
        };
        if completion.is_empty() && !self.kind.is_relay() {
            return Err(Failure::Empty);
        }
        self.check_refusal(&completion)?;
        let what = if generation.generated.text.is_empty() { "did not answer" } else { "broke off" };
        generation.generated.more = More::default();
        if !completion.more.is_empty() {
            generation.add_more(completion.more.clone(), self.log);
        }
        let refusal = std::mem::take(&mut completion.refusal);
        generation.replace(std::mem::take(&mut completion.text) + &refusal, self.log)?;
        generation.generated.notes.push(format!("the model {what}; it was asked again"));
        Ok(completion)
    }

    /// Notes what one call came to; the tools that the model calls. Guided answers have none.
    fn completed(&self, completion: Completion, generation: &mut Generation) -> Vec<ToolCall> {
        generation.add_usage(completion.usage);
        let generated = &mut generation.generated;
        generated.model = Some(self.model.name().to_owned());
        if completion.finish == LENGTH {
            generated.notes.push("the answer was cut at the model's limit".to_owned());
        }
        generated.finish = completion.finish;
        if self.kind.is_guided() { Vec::new() } else { completion.calls }
    }

    /// Makes a shorter prompt where the model's server says that it is too long; whether that could be done.
    async fn shorten(&self, prompt: &mut AnswerPrompt, failure: &Failure) -> Result<bool> {
        let Failure::TooLong { prompt_tokens, window_tokens, .. } = failure else { return Ok(false) };
        if !self.shortens {
            return Ok(false);
        }
        let tokens = prompt.prompted.tokens;
        let room = match prompt_tokens.filter(|tokens| *tokens > 0).zip(*window_tokens) {
            Some((prompt_tokens, window_tokens)) => {
                let share = f64::from(room_tokens(window_tokens)) / f64::from(prompt_tokens);
                (f64::from(tokens) * share.min(0.9)) as u32
            }
            None => tokens / 2,
        };
        match self.request.make(self.app, Some(room), true).await {
            Err(error) if error.code == Code::OverBudget => return Ok(false),
            made => *prompt = made?,
        }
        self.log.options.tracer.prompt(&prompt.prompted.trace_id);
        if !self.kind.is_guided() {
            self.log.push(Event::Prompt(prompt.prompted.clone()));
        }
        Ok(true)
    }
}

/// The reason of a model that was stopped at its limit of tokens.
pub(crate) const LENGTH: &str = "length";

/// An array of messages with more behind them.
fn extended(messages: &[u8], more: &[Message]) -> Bytes {
    let mut out = messages.strip_suffix(b"]").unwrap_or(messages).to_vec();
    for message in more {
        if out.last() != Some(&b'[') {
            out.push(b',');
        }
        out.extend_from_slice(message.raw());
    }
    out.push(b']');
    out.into()
}

#[cfg(test)]
mod tests {
    use novelo_engine::Role;

    use super::*;

    #[test]
    fn messages_are_added_behind() {
        let more = [Message::text(Role::User, "a"), Message::text(Role::User, "b")];
        for (before, count) in [("[]", 2), (r#"[{"role":"user","content":"x"}]"#, 3)] {
            let messages: Vec<Value> = serde_json::from_slice(&extended(before.as_bytes(), &more)).unwrap();
            assert_eq!(messages.len(), count);
            assert_eq!(messages.last().unwrap()["content"], "b");
        }
        assert_eq!(&extended(b"[]", &[])[..], b"[]");
    }
}
