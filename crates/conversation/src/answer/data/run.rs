//! One question from beginning to end. Read this first.

use std::sync::Arc;

use novelo_engine::policy::Policy;
use novelo_engine::reference::{self, ResolvedReference};
use novelo_engine::{Message, Role};
use novelo_language::plan::{
    Candidate, Circumstances, ConditionRule, Earlier, Parameters, Question, Scores, SubjectKind, Subjects,
};
use serde_json::{Value, json};

use super::also::Also;
use super::lookup::{Plan, look_up};
use super::narrate::{Narration, Told, narrate};
use super::past::{self, DataPast, TurnMeta};
use super::tell::{self, Answered, Clock};
use super::{DataQuestion, DataStatus};
use crate::answer::Shared;
use crate::data::catalogue::Catalogue;
use crate::data::entity::{Entity, Presented, Spoken, with_remarks};
use crate::data::{Data, FoundRows};
use crate::error::{Code, Error, Result};
use crate::model::Job;
use crate::thread::kept::StoredAnswer;
use crate::trace::RequestTracer;

/// Answers a question, and stores both where the policy says so.
pub async fn ask(app: &Shared, asked: DataQuestion, tracer: &RequestTracer) -> Result<Answered> {
    let mut clock = Clock::new();
    let work = DataWork::new(app, &asked, tracer)?;
    let past = DataPast::load(app, &work.policy, &asked).await?;
    clock.mark("load");
    let understood = work.understand(&past);
    tell::mark_scores(tracer, &understood.scores);
    clock.mark("plan");
    let kept = work.register(&understood).await?;
    clock.mark("register");
    let planned = work.plan(&past, &understood, kept.turns());
    tell::mark_reference(tracer, &planned);
    let found = work.look_up(&planned).await?;
    let also = work.look_up_also(&past, &understood, &planned, kept.turns()).await?;
    clock.mark("query");
    let plain = work.present(&understood.question, &planned, found.as_ref());
    clock.mark("present");
    let (mut answer, narration) = work.narrate(&past, &planned, found.as_ref(), &also, plain, &kept).await;
    also.iter().for_each(|also| also.tell(&mut answer));
    tell::mark_narration(tracer, &narration);
    clock.mark("narrate");
    let listed = found.as_ref().map(|found| work.listed(found, &planned)).unwrap_or_default();
    let is_kept = work.record(&past, &understood.question, &planned, listed, &kept, &answer).await?;
    clock.mark("record");
    Ok(tell::answer(&asked, tell::Parts { understood, planned, found, also, answer, narration, is_kept, clock }))
}

/// What every stage sees, as it was when the question came.
pub(super) struct DataWork<'a> {
    app: &'a Shared,
    pub(super) asked: &'a DataQuestion,
    tracer: &'a RequestTracer,
    data: Arc<Data>,
    pub(super) catalogue: Arc<Catalogue>,
    pub(super) policy: Arc<Policy>,
}

/// A question with what speaks for each intent.
pub struct Understood {
    pub question: Question,
    pub scores: Scores,
    /// Those that it asks for one beside the other.
    pub several: Vec<(Candidate, std::ops::Range<usize>)>,
    /// What the last answers said about themselves, as far as the planner may look back.
    pub(super) answers: Vec<TurnMeta>,
}

/// What is to be looked up, and what it was made of.
pub struct Planned {
    pub status: DataStatus,
    /// The intent that won.
    pub chosen: Option<Candidate>,
    pub resolved: ResolvedReference,
    pub parameters: Parameters,
}

impl<'a> DataWork<'a> {
    fn new(app: &'a Shared, asked: &'a DataQuestion, tracer: &'a RequestTracer) -> Result<Self> {
        let policy = app.policies.remembering().policy;
        let none = |problem: &str| {
            tracer.in_memory();
            Error::new(Code::NoData, problem)
        };
        let data = app.data.clone().ok_or_else(|| none("there is no database to ask; ask.database names one"))?;
        let broken = || none("the ontology, its parameters or its entities are broken; `novelo doctor` says which");
        let catalogue = app.policies.catalogue().ok_or_else(broken)?;
        if !policy.enabled {
            tracer.in_memory();
        }
        Ok(Self { app, asked, tracer, data, catalogue, policy })
    }

    /// The subjects that are known now.
    pub(super) fn known(&self) -> Arc<Subjects> {
        self.catalogue.subjects(&self.data.database)
    }

    fn understand(&self, past: &DataPast) -> Understood {
        let ontology = &self.catalogue.ontology;
        let question = ontology.read(&self.asked.question, &self.known());
        let answers = past.answers(&self.policy);
        let earlier: Vec<Earlier<'_>> = answers.iter().filter_map(|meta| self.earlier(&question, meta)).collect();
        let rules = &self.catalogue.rules;
        let circumstances = Circumstances {
            earlier: &earlier,
            reads: &|intent| rules.reads(intent, &question, self.conditions(ontology.entity_of(intent))).0,
            lacks_subject: &|intent| self.lacks_subject(past, &question, intent),
        };
        let mut scores = ontology.score(&question, &circumstances);
        self.prefer_last_kind(past, &question, &mut scores);
        let several = ontology.several(&question);
        if let Some((first, _)) = several.first() {
            scores.take_first_of(first);
        }
        Understood { question, scores, several, answers }
    }

    /// Of intents that are too close, the only one about the kind of subject that was spoken of last:
    /// `what has she written`.
    fn prefer_last_kind(&self, past: &DataPast, question: &Question, scores: &mut Scores) {
        let kinds = (0..self.catalogue.ontology.kinds().len()).map(|kind| (kind, self.kind_name(kind)));
        let turn = |name| past.references.of_kind(name).last.map(|last| last.turn_index);
        let newest = kinds.filter_map(|(kind, name)| Some((turn(name)?, kind))).max();
        let Some((_, newest)) = newest.filter(|_| !question.names_any()) else { return };
        scores.take_only(self.catalogue.ontology.gap(), |one| {
            let own = self.catalogue.rules.kinds_of(&one.intent);
            (!own.is_empty()).then(|| own.contains(&newest))
        });
    }

    /// What the intent of an earlier answer makes of a question.
    fn earlier<'m>(&self, question: &Question, meta: &'m TurnMeta) -> Option<Earlier<'m>> {
        let intent = meta.intent.as_deref()?;
        let (read, has_condition) =
            self.catalogue.rules.reads(intent, question, self.conditions(meta.entity.as_deref()));
        let kinds = self.catalogue.rules.kinds_of(intent);
        let named = question.all_subjects();
        let is_without_subject = match named.is_empty() {
            true => kinds.is_empty(),
            false => !named.iter().any(|subject| kinds.contains(&subject.kind)),
        };
        Some(Earlier { intent, read, has_condition, is_without_subject })
    }

    /// What an entity can be selected by.
    fn conditions(&self, entity: Option<&str>) -> &[ConditionRule] {
        entity.and_then(|entity| self.catalogue.entity(entity)).map_or(&[], |entity| &entity.conditions)
    }

    /// Whether an intent needs a subject that is neither named nor the one that was spoken of last.
    fn lacks_subject(&self, past: &DataPast, question: &Question, intent: &str) -> bool {
        let is_missing = |kind: &usize| {
            let own = past.references.of_kind(self.kind_name(*kind));
            own.last.is_none() || own.listed().len() > 1
        };
        let needed = self.catalogue.rules.needed_kinds(intent);
        !question.names_any() && !needed.is_empty() && needed.iter().all(is_missing)
    }

    /// Stores the question, so that it is there whatever becomes of the answer.
    async fn register(&self, understood: &Understood) -> Result<StoredAnswer> {
        let DataQuestion { question, user, thread, nickname, .. } = self.asked;
        let meta =
            TurnMeta { nickname: Some(nickname.clone()), ..TurnMeta::new(self.asked, understood.scores.routed()) };
        let place = self.policy.enabled.then_some((user.as_str(), thread.as_str()));
        let said = vec![turn(Role::User, question, &meta)];
        StoredAnswer::begin(self.app, self.tracer, place, said, Vec::new()).await
    }

    pub(super) async fn look_up(&self, planned: &Planned) -> Result<Option<FoundRows>> {
        let is_complete = planned.status == DataStatus::Ok;
        let Some(chosen) = planned.chosen.as_ref().filter(|_| is_complete) else { return Ok(None) };
        let plan = Plan { entity: &chosen.entity, parameters: &planned.parameters, user: &self.asked.user };
        let found = look_up(&self.data, &self.catalogue, plan).await?;
        self.tracer.cache("rows", found.is_cached, None);
        Ok(Some(found))
    }

    pub(super) fn entity(&self, planned: &Planned) -> Option<&Entity> {
        self.catalogue.entity(&planned.chosen.as_ref()?.entity)
    }

    /// The answer without a model: the rows in words, or what is still to be said.
    pub(super) fn present(&self, question: &Question, planned: &Planned, found: Option<&FoundRows>) -> Presented {
        let Planned { parameters, chosen, .. } = planned;
        let rules = &self.catalogue.rules;
        let Some((entity, found)) = self.entity(planned).zip(found) else {
            let intent = chosen.as_ref().map_or("", |chosen| chosen.intent.as_str());
            let known = self.known();
            let mut said: Vec<String> = parameters.unread.iter().map(|unread| rules.sentence_of(unread)).collect();
            said.extend(parameters.unread.iter().filter_map(|unread| rules.suggestion(unread, &known)));
            if said.is_empty() {
                said.extend(parameters.missing.iter().filter_map(|it| rules.sentence(intent, it)).map(str::to_owned));
            }
            return Presented { told: said.join(" "), remarks: Vec::new() };
        };
        let ontology = &self.catalogue.ontology;
        let known = self.known();
        let shown = |(at, kind): (usize, &SubjectKind)| {
            let subjects = parameters.subjects_of(at, &kind.name).iter();
            subjects.map(|code| known.shown(at, code).to_owned()).collect()
        };
        let subjects: Vec<Vec<String>> = ontology.kinds().iter().enumerate().map(shown).collect();
        let (aggregation, conditions) = (parameters.aggregation.as_str(), &parameters.conditions);
        let window = self.window_of(parameters, found);
        let spoken = Spoken { aggregation, subjects: &subjects, window: &window, question, conditions };
        entity.present(&found.rows, &spoken)
    }

    /// The stretch of time that was looked up, in words; empty if there is none.
    fn window_of(&self, parameters: &Parameters, found: &FoundRows) -> String {
        let language = self.catalogue.ontology.language();
        parameters.window.map(|window| language.tell_window(&found.span, window)).unwrap_or_default()
    }

    /// The answer in the words of a model, where there is one for it.
    async fn narrate(
        &self,
        past: &DataPast,
        planned: &Planned,
        found: Option<&FoundRows>,
        also: &[Also],
        plain: Presented,
        kept: &StoredAnswer,
    ) -> (String, Narration) {
        let Some((chosen, (entity, found))) = planned.chosen.as_ref().zip(self.entity(planned).zip(found)) else {
            return (plain.into_text(), Narration::none("no_rows"));
        };
        if !entity.is_narrated {
            return (plain.into_text(), Narration::none("entity_not_narrated"));
        }
        let is_told = |entity: &str| self.catalogue.entity(entity).is_some_and(|entity| entity.is_narrated);
        let past = past.to_wire(&self.policy, &entity.name, is_told);
        let Some(model) = self.app.models.get(Job::Narrate) else {
            return (plain.into_text(), Narration::none("no_model"));
        };
        self.tracer.model(model.name());
        let told = Told {
            intent: &chosen.intent,
            entity,
            aggregation: &planned.parameters.aggregation,
            rows: &found.rows,
            answer: &plain.told,
            apart: also.iter().map(|also| also.text.as_str()).collect(),
            past,
            is_stored: self.policy.enabled,
            made_from: kept.newest(),
            tracer: self.tracer,
        };
        let (said, narration) = narrate(self.app, model, self.asked, told).await;
        self.tracer.prompt_ready();
        // Its server may say what it is called only when it is asked.
        self.tracer.model(model.name());
        let answer = match said {
            Some(said) => keep_remarks(said, &plain, &self.window_of(&planned.parameters, found)),
            None => plain.into_text(),
        };
        (answer, narration)
    }

    /// Stores the answer and, in the same write, what it was about or left open; whether both are kept.
    async fn record(
        &self,
        past: &DataPast,
        question: &Question,
        planned: &Planned,
        listed: Vec<Vec<String>>,
        kept: &StoredAnswer,
        answer: &str,
    ) -> Result<bool> {
        let Planned { chosen, parameters, .. } = planned;
        let said = chosen.as_ref().map(|_| parameters.clone());
        let meta = TurnMeta { parameters: said, ..TurnMeta::new(self.asked, chosen.as_ref()) };
        let at = past::place(self.asked)?;
        let are_readable = past.are_readable;
        let references = |turn_index| {
            let references = self.references(past, question, planned, &listed, turn_index)?;
            Some(past::refer(self.app, at.clone(), &references, are_readable))
        };
        kept.add_with(self.app, turn(Role::Assistant, answer, &meta), references).await
    }

    /// The subjects of the rows, each once; of the kinds that were not asked about.
    fn listed(&self, found: &FoundRows, planned: &Planned) -> Vec<Vec<String>> {
        let of_kind = |(at, kind): (usize, &SubjectKind)| {
            let is_asked = !planned.parameters.subjects_of(at, &kind.name).is_empty();
            let column = found.rows.columns.iter().position(|column| *column == kind.name);
            let Some(column) = column.filter(|_| !is_asked) else { return Vec::new() };
            let mut listed: Vec<String> = Vec::new();
            for row in &found.rows.rows {
                let code = match row.get(column) {
                    Some(Value::String(text)) => text.clone(),
                    Some(Value::Number(number)) => number.to_string(),
                    _ => continue,
                };
                if listed.len() < reference::LISTED_SUBJECTS_MAX && !listed.contains(&code) {
                    listed.push(code);
                }
            }
            listed
        };
        self.catalogue.ontology.kinds().iter().enumerate().map(of_kind).collect()
    }
}

fn turn(role: Role, content: &str, meta: &TurnMeta) -> Message {
    Message::from_stored(json!({"role": role.name(), "content": content, "meta": meta}).to_string().into())
}

/// A narration with the remarks of the plain answer, and with its stretch of time if it leaves that out.
fn keep_remarks(said: String, plain: &Presented, window: &str) -> String {
    let has = |text: &str| text.to_lowercase().contains(&window.to_lowercase());
    let period = (!window.is_empty() && has(&plain.told) && !has(&said)).then(|| format!("({window})"));
    let remarks: Vec<String> = period.into_iter().chain(plain.remarks.iter().cloned()).collect();
    with_remarks(said, &remarks)
}
