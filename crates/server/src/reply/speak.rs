//! A model speaks: word by word, or all at once.
//!
//! The one way in which models are let answer; what becomes of the words is for the caller to say.

use crate::model::{Ask, Completion, Delta, Failure, Model};

/// Gives each piece of text to `say` as it comes; the completion has all of it.
pub async fn speak(model: &Model, ask: &Ask, mut say: impl FnMut(String) + Send) -> Result<Completion, Failure> {
    let mut deltas = model.stream(ask).await?;
    let mut whole = Completion::default();
    while let Some(delta) = deltas.next().await {
        let delta = delta?;
        if let Delta::Text(text) = &delta {
            say(text.clone());
        }
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
        Ok(whole) if whole.is_empty() => Err(Failure::Broke(format!("{} answered with nothing", model.name()))),
        spoken => spoken,
    }
}
