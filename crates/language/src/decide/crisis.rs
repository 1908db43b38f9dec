//! Danger that was voiced earlier in a conversation, and when it is over.

use super::{Decision, FULL_INTENSITY, Rules, Step};

/// Danger that a person voiced earlier in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoicedDanger {
    /// The phrase, as the policy has it.
    pub phrase: String,
    /// Calm messages of the person since then.
    pub calm_turns: usize,
    /// Whether these were enough. Tells the end once: later there is nothing to tell.
    pub is_over: bool,
}

impl Rules {
    /// Calm turns after which danger is over.
    pub fn calm_turns(&self) -> usize {
        self.calm_turns
    }

    /// The last danger in what a person said before, the newest message first. A message is calm where it
    /// neither voices danger nor is intense.
    pub fn voiced_danger(&self, before: impl IntoIterator<Item = impl AsRef<str>>) -> Option<VoicedDanger> {
        let mut calm_turns = 0;
        for text in before {
            let read = self.read(text.as_ref());
            if let Some(phrase) = self.crisis(&read) {
                let is_over = calm_turns >= self.calm_turns;
                return Some(VoicedDanger { phrase: phrase.to_owned(), calm_turns, is_over });
            }
            calm_turns += usize::from(self.decide(&read).intensity < FULL_INTENSITY);
            if calm_turns > self.calm_turns {
                break;
            }
        }
        None
    }
}

impl Decision {
    /// The decision about a message that voices danger by this phrase: never calm, and never remembered.
    #[must_use]
    pub fn in_danger(self, phrase: &str) -> Self {
        let openness = 3;
        Self {
            intensity: self.intensity.max(FULL_INTENSITY),
            vulnerable: self.vulnerable.or_else(|| Some(phrase.to_owned())),
            openness,
            steps: Step::of(openness),
            saves: false,
            ..self
        }
    }
}
