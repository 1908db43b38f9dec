//! What a question asks for, and what the conversation gives to it.

use novelo_engine::reference::{
    Mentioned, Reference, ReferenceQuestion, ReferenceReason, References, ResolvedReference,
};
use novelo_language::plan::{Candidate, Given, GivenSubjects, Parameters, Question, Unread, UnreadKind};

use super::DataStatus;
use super::past::{DataPast, TurnMeta};
use super::run::{DataWork, Planned, Understood};
use crate::telemetry::now;

/// What a query of many rows is read as where its rows are selected one by one.
const COUNT: &str = "count";
const LIST: &str = "list";

/// A question that no intent wins. A code in it that nothing knows is quoted all the same.
fn unrouted(question: &Question, resolved: ResolvedReference) -> Planned {
    let strangers = question.strangers().into_iter().map(|words| Unread::new(UnreadKind::Name, words));
    let parameters = Parameters { unread: strangers.collect(), ..Parameters::default() };
    let status = if parameters.unread.is_empty() { DataStatus::Unroutable } else { DataStatus::Incomplete };
    Planned { status, chosen: None, resolved, parameters }
}

impl DataWork<'_> {
    /// Takes the subjects from the text, else from the conversation, and the parameters of the intent that
    /// won.
    pub(super) fn plan(&self, past: &DataPast, understood: &Understood, turns: u64) -> Planned {
        self.plan_for(understood.scores.routed(), past, understood, turns)
    }

    /// The same for one of the intents that it asks for.
    pub(super) fn plan_for(
        &self,
        routed: Option<&Candidate>,
        past: &DataPast,
        understood: &Understood,
        turns: u64,
    ) -> Planned {
        let entity = routed.map(|routed| routed.entity.as_str());
        let bucket = routed.and_then(|routed| routed.bucket.as_deref());
        let question = &understood.question;
        let Some(chosen) = routed.cloned() else {
            let subjects = question.subjects(0);
            let named = ReferenceQuestion { entity, bucket, subjects: &subjects, turns };
            return unrouted(question, past.references.resolve(&self.policy, &named));
        };
        let may_look_back = self.policy.planner.allows(entity);
        // A question that says what it is about says all that it means: only one that takes up another takes
        // after it.
        let is_same = |meta: &&TurnMeta| meta.intent.as_ref() == Some(&chosen.intent);
        let earlier = understood.answers.iter().find(is_same);
        // `nesse ranking` and `só os 3 primeiros` are about the answer before, if that had the same intent.
        let leans = question.points_back() || question.changes();
        let goes_on = leans && understood.answers.first().is_some_and(|newest| is_same(&newest));
        let earlier = earlier.filter(|_| goes_on || self.catalogue.ontology.takes_up(question, &chosen));
        let kinds: Vec<KindPast> = (0..self.catalogue.ontology.kinds().len())
            .map(|kind| {
                let subjects = question.subjects(kind);
                let named = ReferenceQuestion { entity, bucket, subjects: &subjects, turns };
                self.past_of(past, kind, &named)
            })
            .collect();
        let newest = kinds.iter().filter_map(KindPast::turn).max();
        let subjects: Vec<GivenSubjects<'_>> = kinds.iter().map(|kind| kind.given(may_look_back, newest)).collect();
        let newest_answer = understood.answers.first().filter(|_| may_look_back);
        let given = Given {
            subjects: &subjects,
            last_window: newest_answer.and_then(TurnMeta::window),
            parameters: earlier.filter(|_| may_look_back).and_then(|meta| meta.parameters.as_ref()),
            takes_up: chosen.is_taken_up() || goes_on,
            is_one_of_several: understood.several.len() > 1,
            was_about_subjects: newest_answer.is_some_and(TurnMeta::has_subjects),
            conditions: self.catalogue.entity(&chosen.entity).map_or(&[], |entity| &entity.conditions),
            elsewhere: &self.catalogue.conditions,
        };
        let mut parameters = self.catalogue.rules.infer(&chosen.intent, question, &given);
        self.check_conditions(&chosen, &mut parameters);
        let is_complete = parameters.missing.is_empty() && parameters.unread.is_empty();
        let status = if is_complete { DataStatus::Ok } else { DataStatus::Incomplete };
        let resolved = self.resolved(&chosen, kinds);
        Planned { status, chosen: Some(chosen), resolved, parameters }
    }

    /// What the conversation knows of one kind of subject, and what a question takes of it.
    fn past_of(&self, past: &DataPast, kind: usize, named: &ReferenceQuestion<'_>) -> KindPast {
        let references = past.references.of_kind(self.kind_name(kind));
        let resolved = references.resolve(&self.policy, named);
        // What it would inherit if it named none, for "compare com XPML11".
        let last = references.resolve(&self.policy, &ReferenceQuestion { subjects: &[], ..*named });
        KindPast { recent: references.subjects(), references, resolved, last }
    }

    /// What became of the reference: of the kinds that an intent takes, that of the one that was used, else
    /// that of the first.
    fn resolved(&self, chosen: &Candidate, kinds: Vec<KindPast>) -> ResolvedReference {
        let own = self.catalogue.rules.kinds_of(&chosen.intent);
        let mut resolved = kinds.into_iter().enumerate().map(|(kind, past)| (own.contains(&kind), past.resolved));
        let first = resolved.next();
        let (is_own, main) = first.unwrap_or_else(|| (false, ResolvedReference::default()));
        let mut others = resolved.filter(|(is_own, _)| *is_own).map(|(_, resolved)| resolved);
        match is_own && main.used() {
            true => main,
            false => others.find(|one| one.used() || !is_own).unwrap_or(main),
        }
    }

    /// The name of a kind in the references; the first has none.
    pub(super) fn kind_name(&self, kind: usize) -> Option<&str> {
        self.catalogue.ontology.kinds().get(kind).filter(|_| kind > 0).map(|kind| kind.name.as_str())
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
            parameters.unread.push(Unread::new(UnreadKind::Condition, columns.join(", ")));
        }
    }

    /// The references after an answer; none where they stay as they are.
    pub(super) fn references(
        &self,
        past: &DataPast,
        question: &Question,
        planned: &Planned,
        listed: &[Vec<String>],
        turn_index: u64,
    ) -> Option<References> {
        let Planned { chosen, parameters, status, .. } = planned;
        let mentioned = |names: Vec<String>| (!names.is_empty()).then_some(Mentioned { names, turn_index });
        let kinds = || (0..self.catalogue.ontology.kinds().len()).map(|kind| (kind, self.kind_name(kind)));
        let mut all = past.references.clone();
        if *status != DataStatus::Ok {
            let unanswered = mentioned(self.unanswered(question, parameters))?;
            for (_, name) in kinds() {
                let own = References { unanswered: Some(unanswered.clone()), ..all.of_kind(name) };
                all = all.with_kind(name, own);
            }
            return Some(all);
        }
        let known = self.known();
        let mut is_changed = false;
        for (kind, name) in kinds() {
            let of = self.catalogue.ontology.kinds().get(kind)?;
            let subjects = parameters.subjects_of(kind, &of.name);
            let is_about = subjects.iter().any(|subject| known.has(kind, subject));
            let own = all.of_kind(name);
            let listed = listed.get(kind).cloned().and_then(mentioned);
            let own = match chosen.clone().filter(|_| is_about) {
                Some(Candidate { intent, entity, bucket, .. }) => {
                    let subjects = subjects.to_vec();
                    own.after(Reference { subjects, entity, intent, bucket, updated_at: now(), turn_index })
                }
                None if listed.is_some() => References { listed, unanswered: None, ..own },
                None => continue,
            };
            is_changed = true;
            all = all.with_kind(name, own);
        }
        // What was not answered before is answered now, whatever its kind.
        for (_, name) in kinds().filter(|_| is_changed) {
            let own = References { unanswered: None, ..all.of_kind(name) };
            all = all.with_kind(name, own);
        }
        is_changed.then_some(all)
    }

    /// What a question names that it was not answered about.
    fn unanswered(&self, question: &Question, parameters: &Parameters) -> Vec<String> {
        let known = self.known();
        let named = question.all_subjects().iter().map(|one| known.shown(one.kind, &one.code).to_owned());
        let mut names: Vec<String> = named.chain(question.strangers()).collect();
        let is_name = |unread: &&Unread| matches!(unread.kind, UnreadKind::Name | UnreadKind::Ambiguous);
        for unread in parameters.unread.iter().filter(is_name) {
            if !names.contains(&unread.words) {
                names.push(unread.words.clone());
            }
        }
        names
    }
}

/// What a conversation knows of one kind of subject.
struct KindPast {
    references: References,
    resolved: ResolvedReference,
    /// What a question that names none would inherit.
    last: ResolvedReference,
    recent: Vec<Vec<String>>,
}

impl KindPast {
    /// The turn of its last reference.
    fn turn(&self) -> Option<u64> {
        self.references.last.as_ref().map(|last| last.turn_index)
    }

    fn given(&self, may_look_back: bool, newest: Option<u64>) -> GivenSubjects<'_> {
        let Self { references, resolved, last, recent } = self;
        let may_inherit = matches!(last.reason, ReferenceReason::LastReferenceApplied | ReferenceReason::NoCandidate);
        GivenSubjects {
            inherited: if resolved.used() { &resolved.subjects } else { &[] },
            reference: if may_look_back && last.used() { &last.subjects } else { &[] },
            recent: if may_look_back && last.used() { recent } else { &[] },
            listed: if may_inherit { references.listed() } else { &[] },
            several: if may_inherit { references.several() } else { &[] },
            unanswered: if may_inherit { references.unanswered() } else { &[] },
            turn: self.turn(),
            is_older: self.turn() < newest,
        }
    }
}
