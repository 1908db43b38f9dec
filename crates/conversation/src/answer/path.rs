//! The answering path: from a request to the last event, whatever the kind of answer.
//!
//! Each kind reads the thread, understands the message, makes the prompt, stores the question, generates and
//! stores the answer, in this order (`reply::answer`, `guide::answer`). Here it starts, in a task of its own,
//! and here it ends.

use super::event::Event;
use super::generate::StopSignals;
use super::guided_answer::GuidedAnswer;
use super::log::{EventLog, EventReader};
use super::options::ReplyOptions;
use super::{guide, reply};
use crate::answer::App;
use crate::error::Result;
use crate::trace;

/// What is to be answered, by the kind of answer.
#[derive(Debug)]
pub enum AnswerRequest {
    /// From documents, by an assistant, or relayed.
    Reply(reply::ReplyRequest),
    /// A guided conversation.
    Guided(guide::GuidedRequest),
}

/// Starts to answer, and returns a reader of all events.
pub fn begin(app: &App, request: AnswerRequest, options: ReplyOptions) -> Result<EventReader> {
    app.replies.start(app, options, |app, log, stops| async move { run(&app, &request, &log, stops).await })
}

/// Answers, and logs the last event. The trace ends before that, so that a client that has the end can read
/// the trace.
async fn run(app: &App, request: &AnswerRequest, log: &EventLog, stops: StopSignals) {
    let tracer = &log.options.tracer;
    let answered = match request {
        AnswerRequest::Reply(asked) => {
            let reply = reply::answer(app, asked, log, stops).await;
            reply.inspect_err(|error| tracer.error("reply", &*error.message)).map(|reply| Event::Done(Box::new(reply)))
        }
        AnswerRequest::Guided(asked) => {
            let answer = guide::answer(app, asked, log, stops).await;
            answer.inspect_err(|error| tracer.refused(error)).map(|answer| Event::Guided(Box::new(answer)))
        }
    };
    tracer.end();
    log.push(match (answered, request) {
        (Ok(Event::Guided(answer)), AnswerRequest::Guided(asked)) if asked.wants_trace => {
            let trace = Some(tracer.look(trace::view));
            Event::Guided(Box::new(GuidedAnswer { trace, ..*answer }))
        }
        (answered, _) => answered.unwrap_or_else(Event::Failed),
    });
}
