//! What a question asks for, and what the conversation gives to it.

use novelo_engine::reference::{
    Mentioned, Reference, ReferenceQuestion, ReferenceReason, References, ResolvedReference,
};
use novelo_language::plan::{Candidate, Given, Parameters, Question, Unread, UnreadKind};

use super::DataStatus;
use super::past::{Meta, Past};
use super::run::{Planned, Understood, Work};
use crate::telemetry::now;

/// What a query of many rows is read as where its rows are selected one by one.
const COUNT: &str = "count";
const LIST: &str = "list";

/// A question that no intent wins. A code in it that nothing knows is quoted all the same.
fn unrouted(question: &Question, resolved: ResolvedReference) -> Planned {
    let strangers = question.strangers().into_iter().map(|words| Unread { kind: UnreadKind::Name, words });
    let parameters = Parameters { unread: strangers.collect(), ..Parameters::default() };
    let status = if parameters.unread.is_empty() { DataStatus::Unroutable } else { DataStatus::Incomplete };
    Planned { status, chosen: None, resolved, parameters }
}

impl Work<'_> {
    /// Takes the subjects from the text, else from the conversation, and the parameters of the intent that
    /// won.
    pub(super) fn plan(&self, past: &Past, understood: &Understood, turns: u64) -> Planned {
        self.plan_for(understood.scores.routed(), past, understood, turns)
    }

    /// The same for one of the intents that it asks for.
    pub(super) fn plan_for(
        &self,
        routed: Option<&Candidate>,
        past: &Past,
        understood: &Understood,
        turns: u64,
    ) -> Planned {
        let entity = routed.map(|routed| routed.entity.as_str());
        let bucket = routed.and_then(|routed| routed.bucket.as_deref());
        let question = &understood.question;
        let named = ReferenceQuestion { entity, bucket, subjects: &question.subjects, turns };
        let resolved = past.references.resolve(&self.policy, &named);
        let Some(chosen) = routed.cloned() else { return unrouted(question, resolved) };
        let may_look_back = self.policy.planner.allows(entity);
        // A question that says what it is about says all that it means: only one that takes up another takes
        // after it.
        let earlier = understood.answers.iter().find(|meta| meta.intent.as_ref() == Some(&chosen.intent));
        let earlier = earlier.filter(|_| self.catalogue.ontology.takes_up(question, &chosen));
        // What it would inherit if it named none, for "compare com XPML11".
        let last = past.references.resolve(&self.policy, &ReferenceQuestion { subjects: &[], ..named });
        let recent = past.references.subjects();
        let may_inherit = matches!(last.reason, ReferenceReason::LastReferenceApplied | ReferenceReason::NoCandidate);
        let given = Given {
            inherited: if resolved.used() { &resolved.subjects } else { &[] },
            reference: if may_look_back && last.used() { &last.subjects } else { &[] },
            recent: if may_look_back && last.used() { &recent } else { &[] },
            listed: if may_inherit { past.references.listed() } else { &[] },
            several: if may_inherit { past.references.several() } else { &[] },
            unanswered: if may_inherit { past.references.unanswered() } else { &[] },
            last_window: understood.answers.first().filter(|_| may_look_back).and_then(Meta::window),
            parameters: earlier.filter(|_| may_look_back).and_then(|meta| meta.parameters.as_ref()),
            takes_up: chosen.is_taken_up(),
            is_one_of_several: understood.several.len() > 1,
            conditions: self.catalogue.entity(&chosen.entity).map_or(&[], |entity| &entity.conditions),
            elsewhere: &self.catalogue.conditions,
        };
        let mut parameters = self.catalogue.rules.infer(&chosen.intent, question, &given);
        self.check_conditions(&chosen, &mut parameters);
        let is_complete = parameters.missing.is_empty() && parameters.unread.is_empty();
        let status = if is_complete { DataStatus::Ok } else { DataStatus::Incomplete };
        Planned { status, chosen: Some(chosen), resolved, parameters }
    }

    /// Rows that were added up cannot be selected by what is in each of them; those that would be counted are
    /// listed instead.
    fn check_conditions(&self, chosen: &Candidate, parameters: &mut Parameters) {
        let Some(entity) = self.catalogue.entity(&chosen.entity) else { return };
        let can = |parameters: &Parameters| entity.can_select(&parameters.aggregation, &parameters.conditions);
        if parameters.aggregation == COUNT && !can(parameters) {
            parameters.aggregation = LIST.to_owned();
        }
        if !can(parameters) {
            let columns: Vec<&str> = parameters.conditions.iter().map(|one| one.column.as_str()).collect();
            let words = columns.join(", ");
            parameters.unread.push(Unread { kind: UnreadKind::Condition, words });
        }
    }

    /// The references after an answer; none where they stay as they are.
    pub(super) fn references(
        &self,
        past: &Past,
        question: &Question,
        planned: &Planned,
        listed: &[String],
        turn_index: u64,
    ) -> Option<References> {
        let Planned { chosen, parameters, status, .. } = planned;
        let mentioned = |names: Vec<String>| (!names.is_empty()).then_some(Mentioned { names, turn_index });
        if *status != DataStatus::Ok {
            let unread = parameters.unread.iter().filter(|unread| unread.kind == UnreadKind::Name);
            let unread = unread.map(|unread| unread.words.clone());
            let mut names: Vec<String> = question.subjects.iter().cloned().chain(question.strangers()).collect();
            for name in unread {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let unanswered = mentioned(names)?;
            return Some(References { unanswered: Some(unanswered), ..past.references.clone() });
        }
        let known = self.known();
        let is_about = parameters.subjects.iter().any(|subject| known.has(subject));
        if let Some(Candidate { intent, entity, bucket, .. }) = chosen.clone().filter(|_| is_about) {
            let subjects = parameters.subjects.clone();
            let reference = Reference { subjects, entity, intent, bucket, updated_at: now(), turn_index };
            return Some(past.references.after(reference));
        }
        let listed = mentioned(listed.to_vec())?;
        Some(References { listed: Some(listed), unanswered: None, ..past.references.clone() })
    }
}
