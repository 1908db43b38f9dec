//! The error that a client gets when the model's server fails.
//!
//! The client retries by itself and acts on statuses, so the server's error reaches it unchanged, except for
//! secrets. Where the server refuses the key of this server, the error says that its operator must correct
//! it. A message that the model refuses stays stored and is marked, so that later prompts leave it out.

use super::ReplyRequest;
use crate::answer::Shared;
use crate::answer::event::Partial;
use crate::answer::generation::Generation;
use crate::error::{Code, Error, Relayed, Result};
use crate::model::{Failure, UpstreamError};
use crate::text::cut;
use crate::thread::kept::StoredAnswer;

/// Of the reason that is kept with a refused message.
const REASON_CHARS_MAX: usize = 300;
const TOO_LONG: &str = "context_length_exceeded";

/// Ends an answer that failed: with an error where nothing was said, else after what was.
pub async fn failed(
    app: &Shared,
    asked: &ReplyRequest,
    kept: &StoredAnswer,
    generation: &mut Generation,
    failure: &Failure,
) -> Result<()> {
    let error = error(asked, failure);
    if generation.has_begun {
        generation.generated.partial = Some(Partial::ModelFailed);
        generation.generated.failure = Some(error);
        return Ok(());
    }
    if let (Failure::Refused(_), Some(said)) = (failure, failure.upstream())
        && said.refuses_content()
    {
        let why = cut(&said.message, REASON_CHARS_MAX);
        asked.tracer.error("refused", &*why);
        kept.refuse(app, &why, said.blames_messages()).await?;
    }
    Err(error)
}

fn error(asked: &ReplyRequest, failure: &Failure) -> Error {
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
