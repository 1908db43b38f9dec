//! The error that a client gets when the model's server fails.
//!
//! The client has tries of its own, and acts on statuses: so what the server says reaches it as it is, but for secrets. A refusal
//! of this server's own key is the operator's to mend, and says so. A message that the model refuses stays stored and is marked,
//! so that later questions are asked without it.

use super::Asked;
use super::Partial;
use super::draft::Draft;
use super::generate::Work;
use crate::context::load::cut;
use crate::error::{Code, Error, Relayed, Result};
use crate::model::{Failure, UpstreamError};

/// Of the reason that is kept with a refused message.
const REASON_CHARS_MAX: usize = 300;
const TOO_LONG: &str = "context_length_exceeded";

/// Ends an answer that failed: with an error where nothing was said, else after what was.
pub async fn failed(work: &Work<'_>, draft: &mut Draft, failure: &Failure) -> Result<()> {
    let error = error(work.asked, failure);
    if draft.has_begun {
        draft.partial = Some(Partial::ModelFailed);
        draft.failure = Some(error);
        return Ok(());
    }
    if let (Failure::Refused(_), Some(said)) = (failure, failure.upstream())
        && said.refuses_content()
    {
        let why = cut(&said.message, REASON_CHARS_MAX);
        work.asked.tracer.error("refused", &*why);
        work.kept.refuse(work.app, &why, said.blames_messages()).await?;
    }
    Err(error)
}

/// Whether an answer without words is one all the same: a client gets what the model's server says, and models say nothing at
/// times, for instance after the result of a tool.
pub fn is_empty_answer(asked: &Asked, draft: &Draft) -> bool {
    asked.is_relayed() && !draft.has_begun
}

/// Whether a stream that broke before its first word is asked for once more, whole. What a status says is for the client to act on.
pub fn may_ask_again(draft: &Draft, failure: &Failure) -> bool {
    let is_silent = draft.text.is_empty() && draft.more.message.is_empty() && !draft.has_begun;
    is_silent && matches!(failure, Failure::Broke(_)) && failure.upstream().is_none()
}

fn error(asked: &Asked, failure: &Failure) -> Error {
    let setting = format!("models.{}", asked.job().name());
    let Some(said) = failure.upstream() else {
        let message = format!("the model did not answer: {} ({setting}.url)", failure.in_words());
        let status = match failure {
            Failure::Slow(_) => 504,
            _ => 502,
        };
        let error = Error::new(Code::ModelFailed, message).for_openai();
        return Error { relayed: error.relayed.map(|relayed| Box::new(Relayed { status, ..*relayed })), ..error };
    };
    let (code, status) = match (failure, said.status.unwrap_or(502)) {
        (Failure::TooLong { .. }, _) => (Code::ModelRefused, 400),
        (_, status @ (401 | 403)) => (Code::UpstreamAuth, status),
        (_, 429) => (Code::ModelBusy, 429),
        (_, status @ 400..500) => (Code::ModelRefused, status),
        (_, status @ (503 | 504)) => (Code::ModelFailed, status),
        _ => (Code::ModelFailed, 502),
    };
    let message = match code {
        Code::UpstreamAuth => {
            let whose = "the model's server refused the key of this server, not yours; its operator must set";
            format!("{whose} {setting}.key right: {}", said.message)
        }
        _ => said.message.clone(),
    };
    relayed(Error { param: said.param.clone(), ..Error::new(code, message) }, status, failure, said)
}

/// The error with the server's own names, where they are the client's to act on.
fn relayed(error: Error, status: u16, failure: &Failure, said: &UpstreamError) -> Error {
    let is_theirs = matches!(error.code, Code::ModelRefused | Code::ModelBusy);
    let error = error.for_openai();
    let Some(ours) = error.relayed.clone() else { return error };
    let code = match failure {
        Failure::TooLong { .. } => TOO_LONG.to_owned(),
        _ => said.code.clone().filter(|_| is_theirs).unwrap_or(ours.code),
    };
    let kind = said.kind.clone().filter(|_| is_theirs).unwrap_or(ours.kind);
    let relayed = Relayed { status, kind, code, headers: said.headers.clone() };
    Error { relayed: Some(Box::new(relayed)), ..error }
}
