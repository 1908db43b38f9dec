//! What else a question asks for beside its first intent: answered with it, or named as not answered.

use super::DataStatus;
use super::past::DataPast;
use super::run::{DataWork, Planned, Understood};
use crate::data::FoundRows;
use crate::error::Result;

/// The most that one question is answered to beside its first intent.
const ALSO_MAX: usize = 2;

/// Another intent of the question, and what was found for it.
pub struct Also {
    pub planned: Planned,
    pub found: Option<FoundRows>,
    /// The rows in words, or that they are not there.
    pub text: String,
}

impl Also {
    pub fn tell(&self, answer: &mut String) {
        if !answer.is_empty() {
            answer.push_str("\n\n");
        }
        answer.push_str(&self.text);
    }
}

impl DataWork<'_> {
    /// Looks up what else is asked for, where the first could be answered.
    pub(super) async fn look_up_also(
        &self,
        past: &DataPast,
        understood: &Understood,
        planned: &Planned,
        turns: u64,
    ) -> Result<Vec<Also>> {
        let mut all = Vec::new();
        let Some(first) = planned.chosen.as_ref().filter(|_| planned.status == DataStatus::Ok) else { return Ok(all) };
        let is_one = understood.several.iter().any(|(one, _)| one.intent == first.intent);
        let others = understood.several.iter().filter(|(one, _)| is_one && one.intent != first.intent);
        for (one, words) in others.take(ALSO_MAX) {
            let planned = self.plan_for(Some(one), past, understood, turns);
            let found = self.look_up(&planned).await?;
            let text = match &found {
                Some(_) => self.present(&understood.question, &planned, found.as_ref()).into_text(),
                None => {
                    let language = self.catalogue.ontology.language();
                    language.not_answered(understood.question.spelled(words.clone()))
                }
            };
            all.push(Also { planned, found, text });
        }
        Ok(all)
    }
}
