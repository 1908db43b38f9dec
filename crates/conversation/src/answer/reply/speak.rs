//! A model speaks: word by word, or all at once.
//!
//! The one way in which models are let answer; what becomes of the words is for the caller to say.

use crate::model::{Ask, Completion, Delta, Deltas, Failure, Model};

/// Gives each piece of text to `say` as it comes; the completion has all of it.
pub async fn speak(model: &Model, ask: &Ask, mut say: impl FnMut(String) + Send) -> Result<Completion, Failure> {
    let deltas = model.stream(ask).await?;
    let say = |delta: &Delta| {
        if let Delta::Text(text) = delta {
            say(text.clone());
        }
    };
    gathered(deltas, say).await
}

/// Passes a model on to a client that wants all that its server says, piece by piece.
pub async fn relay(model: &Model, ask: &Ask, tell: impl FnMut(&Delta) + Send) -> Result<Completion, Failure> {
    gathered(model.relay(ask).await?, tell).await
}

async fn gathered(mut deltas: Deltas, mut tell: impl FnMut(&Delta) + Send) -> Result<Completion, Failure> {
    let mut whole = Completion::default();
    while let Some(delta) = deltas.next().await {
        let delta = delta?;
        tell(&delta);
        whole.add(delta);
    }
    Ok(whole)
}

/// All of it in one piece, within the time-out of the model.
pub async fn speak_whole(model: &Model, ask: &Ask) -> Result<Completion, Failure> {
    model.whole(ask).await
}

/// Once more, and in one piece, after a stream that failed: a single try. To say nothing is a failure here.
pub async fn speak_again(model: &Model, ask: &Ask) -> Result<Completion, Failure> {
    match model.whole_once(ask).await {
        Ok(whole) if whole.is_empty() => Err(Failure::Broke(format!("{} answered with nothing", model.name()).into())),
        spoken => spoken,
    }
}
