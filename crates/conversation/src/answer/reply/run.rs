//! One reply from beginning to end. Read this first.

use std::sync::atomic::Ordering;

use novelo_recall::quote::language;

use super::history::History;
use super::{ReplyKind, ReplyRequest, offline, relay, rewrite};
use crate::answer::Shared;
use crate::answer::event::{Event, Partial, Reply, Rewritten, RewrittenBy, UnderstoodQuestion};
use crate::answer::generate::{GenerationKind, Generator, Outcome, StopSignals};
use crate::answer::generation::Generation;
use crate::answer::log::EventLog;
use crate::answer::prompt::{AnswerPrompt, PromptRequest, model_room_tokens};
use crate::error::{Code, Error, Result};
use crate::model::Failure;
use crate::telemetry::now;
use crate::thread::kept::StoredAnswer;

pub async fn answer(app: &Shared, asked: &ReplyRequest, log: &EventLog, stops: StopSignals) -> Result<Reply> {
    let answered = answer_and_store(app, asked, log, stops).await;
    let Some(response) = &asked.response else { return answered };
    let failed = match &answered {
        Err(error) => response.fail(app, &asked.tracer.id().encode(), error).await,
        Ok(_) => Ok(()),
    };
    response.lock.release().await;
    failed.and(answered)
}

async fn answer_and_store(app: &Shared, asked: &ReplyRequest, log: &EventLog, mut stops: StopSignals) -> Result<Reply> {
    let history = History::load(app, asked.place()).await?;
    let (rewritten, note) = rewrite::rewrite(app, &history, asked).await;
    trace_rewrite(asked, &rewritten, note.as_deref());
    let understood = UnderstoodQuestion { thread: asked.thread.clone(), rewritten };
    log.push(Event::Question(understood.clone()));
    let request = asked.prompt_request(&understood.rewritten.question);
    let (mut prompt, fits) = make_prompt(app, asked, &request).await?;
    if !fits && !asked.shortens() {
        return Err(Error::new(Code::OverBudget, "the input is too long for the window of the model"));
    }
    asked.tracer.prompt(&prompt.prompted.trace_id);
    asked.tracer.prompt_ready();
    log.push(Event::Prompt(prompt.prompted.clone()));
    let kept = StoredAnswer::begin_with(app, &asked.tracer, asked.place(), asked.stored_question()?).await?;
    let mut generation = Generation::default();
    generation.generated.notes.extend(note);
    let exchange = Exchange { app, asked, log, kept: &kept, standalone: &understood.rewritten.question };
    exchange.generate(&request, (&mut prompt, fits), &mut generation, &mut stops).await?;
    generation.end(log);
    let mut generated = generation.generated;
    generated.ended_at = now();
    if let Some(model) = &generated.model {
        asked.tracer.model(model);
    }
    if generated.note_cut(prompt.prompted.tokens) {
        app.metrics.prompts_cut.fetch_add(1, Ordering::Relaxed);
        asked.tracer.error("prompt", "the model's server read far less than the prompt has");
    }
    let is_kept = match (generated.turn(), &asked.response) {
        (_, Some(response)) => {
            let traces = (&*asked.tracer.id().encode(), &prompt.prompted);
            response.end(app, &kept, &generated, traces).await?
        }
        (Some(turn), None) if asked.is_relayed() => {
            kept.add_relayed(app, turn, generated.partial == Some(Partial::ClientLeft)).await?
        }
        (turn, None) => kept.add(app, turn.into_iter().collect()).await?,
    };
    if !is_kept {
        generated.notes.push("the thread was forgotten meanwhile, and this was not kept".to_owned());
    }
    Ok(Reply { understood, prompted: prompt.prompted, generated })
}

/// Makes the prompt, and says whether it fits the window of the model. One that does not is made without that
/// limit, for its passages.
async fn make_prompt(app: &Shared, asked: &ReplyRequest, request: &PromptRequest) -> Result<(AnswerPrompt, bool)> {
    let room = model_room_tokens(asked.model(app)).await;
    if !asked.shortens() {
        let prompt = request.make(app, None, false).await?;
        let fits = room.is_none_or(|room| prompt.prompted.tokens <= room);
        return Ok((prompt, fits));
    }
    match request.make(app, room, false).await {
        Err(error) if error.code == Code::OverBudget && room.is_some() => {
            Ok((request.make(app, None, false).await?, false))
        }
        made => made.map(|prompt| (prompt, true)),
    }
}

/// Traces how the question was understood, and what kept it from being understood better.
fn trace_rewrite(asked: &ReplyRequest, rewritten: &Rewritten, note: Option<&str>) {
    let why = if rewritten.by == RewrittenBy::Nobody { "" } else { &*rewritten.question };
    asked.tracer.heuristic("rewrite", rewritten.by.name(), why);
    if let Some(note) = note {
        asked.tracer.error("rewrite", note);
    }
}

/// A question that is stored, and whose answer is generated.
struct Exchange<'e> {
    app: &'e Shared,
    asked: &'e ReplyRequest,
    log: &'e EventLog,
    kept: &'e StoredAnswer,
    standalone: &'e str,
}

impl Exchange<'_> {
    /// Lets the model answer, if there is one and the prompt fits it.
    async fn generate(
        &self,
        request: &PromptRequest,
        (prompt, fits): (&mut AnswerPrompt, bool),
        generation: &mut Generation,
        stops: &mut StopSignals,
    ) -> Result<()> {
        let Some(model) = self.asked.model(self.app) else {
            return self.without_model(prompt, generation, Code::NoModel, "no model is set");
        };
        if !fits {
            let why = "the question is too long for the window of the model";
            return self.without_model(prompt, generation, Code::OverBudget, why);
        }
        let kind = match &self.asked.kind {
            ReplyKind::Assist(_) => GenerationKind::Assistant,
            ReplyKind::Relay(_) => GenerationKind::Relay,
        };
        let generator = Generator {
            app: self.app,
            log: self.log,
            kind,
            model,
            options: self.asked.options(),
            request,
            kept: self.kept,
            skills: self.asked.skills(),
            span_tools: self.asked.span_tools(),
            shortens: self.asked.shortens(),
        };
        match generator.generate(prompt, generation, stops).await? {
            Outcome::Answered | Outcome::Stopped(_) => Ok(()),
            // A client of the model's server gets what that says; models say nothing at times, for instance
            // after the result of a tool.
            Outcome::Empty if self.asked.is_relayed() => Ok(()),
            Outcome::Empty => {
                self.without_model(prompt, generation, Code::ModelFailed, "the model answered with nothing")
            }
            Outcome::Failed(failure) if self.asked.is_relayed() => {
                relay::failed(self.app, self.asked, self.kept, generation, &failure).await
            }
            Outcome::Failed(failure) => self.failed(prompt, generation, &failure),
        }
    }

    /// Keeps what the model said before it failed; the passages answer where that is nothing.
    fn failed(&self, prompt: &AnswerPrompt, generation: &mut Generation, failure: &Failure) -> Result<()> {
        let why = |what: &str| format!("{what}: {}", failure.in_words());
        if !generation.has_begun {
            return self.without_model(prompt, generation, Code::ModelFailed, &why("the model did not answer"));
        }
        generation.generated.partial = Some(Partial::ModelFailed);
        generation.generated.notes.push(why("the model broke off"));
        Ok(())
    }

    /// Answers from the passages. A client that asked for a model gets an error.
    fn without_model(&self, prompt: &AnswerPrompt, generation: &mut Generation, code: Code, why: &str) -> Result<()> {
        if self.asked.is_relayed() {
            return Err(Error::new(code, format!("{why} (models.{}.url)", self.asked.job().name())));
        }
        let quoted = offline::quotes(self.standalone, &prompt.prompted.sources);
        let generated = &mut generation.generated;
        generated.model = None;
        generated.text.clear();
        generated.notes.push(match quoted {
            None => format!("{why}; no passage fits the question"),
            Some(_) => format!("{why}; these are the passages that fit best"),
        });
        let text = quoted.unwrap_or_else(|| offline::nothing(language(self.standalone)).to_owned());
        text.split_inclusive('\n').for_each(|line| generation.show(line.to_owned(), self.log));
        Ok(())
    }
}
