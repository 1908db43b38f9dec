//! One question from beginning to end. Read this first.

use std::sync::Arc;

use novelo_engine::policy::Policy;
use novelo_engine::reference::{self, Reference, ResolvedReference};
use novelo_engine::{Message, Role};
use novelo_language::plan::{Candidate, Given, Parameters, Question, Scores};
use serde_json::json;

use super::lookup::{Plan, look_up};
use super::narrate::{Narration, Told, narrate};
use super::past::{self, Meta, Past};
use super::tell::{self, Answered, Clock};
use super::{DataQuestion, DataStatus};
use crate::answer::Shared;
use crate::data::catalogue::Catalogue;
use crate::data::entity::{Entity, Spoken};
use crate::data::{Data, FoundRows};
use crate::error::{Code, Error, Result};
use crate::model::Job;
use crate::telemetry::now;
use crate::thread::kept::Kept;
use crate::trace::Tracer;

/// Answers a question, and stores both where the policy says so.
pub async fn ask(app: &Shared, asked: DataQuestion, tracer: &Tracer) -> Result<Answered> {
    let mut clock = Clock::new();
    let work = Work::new(app, &asked, tracer)?;
    let past = Past::load(app, &work.policy, &asked).await?;
    clock.mark("load");
    let understood = work.understand(&past);
    tell::mark_scores(tracer, &understood.scores);
    clock.mark("plan");
    let kept = work.register(&understood).await?;
    clock.mark("register");
    let planned = work.plan(&past, &understood, kept.turns());
    tell::mark_reference(tracer, &planned);
    let found = work.look_up(&planned).await?;
    clock.mark("query");
    let plain = work.present(&understood.question, &planned, found.as_ref());
    clock.mark("present");
    let (answer, narration) = work.narrate(&past, &planned, found.as_ref(), plain, &kept).await;
    tell::mark_narration(tracer, &narration);
    clock.mark("narrate");
    let is_kept = work.record(&past, &planned, &kept, &answer).await?;
    clock.mark("record");
    Ok(tell::answer(&asked, tell::Parts { understood, planned, found, answer, narration, is_kept, clock }))
}

/// What every stage sees, as it was when the question came.
struct Work<'a> {
    app: &'a Shared,
    asked: &'a DataQuestion,
    tracer: &'a Tracer,
    data: Arc<Data>,
    catalogue: Arc<Catalogue>,
    policy: Arc<Policy>,
}

/// A question with what speaks for each intent.
pub struct Understood {
    pub question: Question,
    pub scores: Scores,
    /// What the last answers said about themselves, as far as the planner may look back.
    answers: Vec<Meta>,
}

/// What is to be looked up, and what it was made of.
pub struct Planned {
    pub status: DataStatus,
    /// The intent that won.
    pub chosen: Option<Candidate>,
    pub resolved: ResolvedReference,
    pub parameters: Parameters,
}

impl<'a> Work<'a> {
    fn new(app: &'a Shared, asked: &'a DataQuestion, tracer: &'a Tracer) -> Result<Self> {
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

    fn understand(&self, past: &Past) -> Understood {
        let ontology = &self.catalogue.ontology;
        let question = ontology.read(&self.asked.question, &self.catalogue.subjects(&self.data.database));
        let answers = past.answers(&self.policy);
        let earlier: Vec<&str> = answers.iter().filter_map(|meta| meta.intent.as_deref()).collect();
        let scores = ontology.score(&question, &earlier);
        Understood { question, scores, answers }
    }

    /// Stores the question, so that it is there whatever becomes of the answer.
    async fn register(&self, understood: &Understood) -> Result<Kept> {
        let DataQuestion { question, user, thread, nickname, .. } = self.asked;
        let meta = Meta { nickname: Some(nickname.clone()), ..Meta::new(self.asked, understood.scores.routed()) };
        let place = self.policy.enabled.then_some((user.as_str(), thread.as_str()));
        let said = vec![turn(Role::User, question, &meta)];
        Kept::begin(self.app, self.tracer, place, said, Vec::new()).await
    }

    /// Takes the subjects from the text, else from the conversation, and the parameters of the intent that
    /// won.
    fn plan(&self, past: &Past, understood: &Understood, turns: u64) -> Planned {
        let routed = understood.scores.routed();
        let entity = routed.map(|routed| routed.entity.as_str());
        let bucket = routed.and_then(|routed| routed.bucket.as_deref());
        let named = reference::ReferenceQuestion { entity, bucket, subjects: &understood.question.subjects, turns };
        let resolved = past.references.resolve(&self.policy, &named);
        let Some(chosen) = routed.cloned() else {
            return Planned {
                status: DataStatus::Unroutable,
                chosen: None,
                resolved,
                parameters: Parameters::default(),
            };
        };
        let may_look_back = self.policy.planner.allows(entity);
        // A question that says what it is about says all that it means: only one that takes up another takes
        // after it.
        let earlier = understood.answers.iter().find(|meta| meta.intent.as_ref() == Some(&chosen.intent));
        let earlier = earlier.filter(|_| self.catalogue.ontology.takes_up(&understood.question, &chosen));
        // What it would inherit if it named none, for "compare com XPML11".
        let last = past.references.resolve(&self.policy, &reference::ReferenceQuestion { subjects: &[], ..named });
        let given = Given {
            inherited: if resolved.used() { &resolved.subjects } else { &[] },
            reference: if may_look_back && last.used() { &last.subjects } else { &[] },
            parameters: earlier.filter(|_| may_look_back).and_then(|meta| meta.parameters.as_ref()),
        };
        let parameters = self.catalogue.rules.infer(&chosen.intent, &understood.question, &given);
        let status = if parameters.missing.is_empty() { DataStatus::Ok } else { DataStatus::Incomplete };
        Planned { status, chosen: Some(chosen), resolved, parameters }
    }

    async fn look_up(&self, planned: &Planned) -> Result<Option<FoundRows>> {
        let is_complete = planned.status == DataStatus::Ok;
        let Some(chosen) = planned.chosen.as_ref().filter(|_| is_complete) else { return Ok(None) };
        let plan = Plan { entity: &chosen.entity, parameters: &planned.parameters, user: &self.asked.user };
        let found = look_up(&self.data, &self.catalogue, plan).await?;
        self.tracer.cache("rows", found.is_cached, None);
        Ok(Some(found))
    }

    fn entity(&self, planned: &Planned) -> Option<&Entity> {
        self.catalogue.entity(&planned.chosen.as_ref()?.entity)
    }

    /// The answer without a model: the rows in words, or what is still to be said.
    fn present(&self, question: &Question, planned: &Planned, found: Option<&FoundRows>) -> String {
        let Planned { parameters, chosen, .. } = planned;
        let Some((entity, found)) = self.entity(planned).zip(found) else {
            let intent = chosen.as_ref().map_or("", |chosen| chosen.intent.as_str());
            let sentence = |missing: &String| self.catalogue.rules.sentence(intent, missing);
            return parameters.missing.iter().filter_map(sentence).collect::<Vec<_>>().join(" ");
        };
        let window = parameters.window.map(|window| found.span.in_words(window)).unwrap_or_default();
        let (aggregation, subjects) = (parameters.aggregation.as_str(), parameters.subjects.as_slice());
        let told = entity.present(&found.rows, &Spoken { aggregation, subjects, window: &window, question });
        match self.catalogue.rules.unmet(question) {
            Some(remark) => format!("{told}\n\n{remark}"),
            None => told,
        }
    }

    /// The answer in the words of a model, where there is one for it.
    async fn narrate(
        &self,
        past: &Past,
        planned: &Planned,
        found: Option<&FoundRows>,
        plain: String,
        kept: &Kept,
    ) -> (String, Narration) {
        let Some((chosen, (entity, found))) = planned.chosen.as_ref().zip(self.entity(planned).zip(found)) else {
            return (plain, Narration::none("no_rows"));
        };
        if !entity.is_narrated {
            return (plain, Narration::none("entity_not_narrated"));
        }
        let is_told = |entity: &str| self.catalogue.entity(entity).is_some_and(|entity| entity.is_narrated);
        let past = past.to_wire(&self.policy, &entity.name, is_told);
        let Some(model) = self.app.models.get(Job::Narrate) else { return (plain, Narration::none("no_model")) };
        self.tracer.model(model.name());
        let told = Told {
            intent: &chosen.intent,
            entity,
            rows: &found.rows,
            answer: &plain,
            past,
            is_stored: self.policy.enabled,
            made_from: kept.newest(),
            tracer: self.tracer,
        };
        let (said, narration) = narrate(self.app, model, self.asked, told).await;
        self.tracer.prompt_ready();
        // Its server may say what it is called only when it is asked.
        self.tracer.model(model.name());
        (said.unwrap_or(plain), narration)
    }

    /// Stores the answer and, in the same write, what it was about; whether both are kept.
    async fn record(&self, past: &Past, planned: &Planned, kept: &Kept, answer: &str) -> Result<bool> {
        let Planned { chosen, parameters, .. } = planned;
        let said = chosen.as_ref().map(|_| parameters.clone());
        let meta = Meta { parameters: said, ..Meta::new(self.asked, chosen.as_ref()) };
        let known = self.catalogue.subjects(&self.data.database);
        let is_about = planned.status == DataStatus::Ok && parameters.subjects.iter().any(|subject| known.has(subject));
        let about = chosen.as_ref().filter(|_| is_about);
        let at = past::place(self.asked)?;
        let are_readable = past.are_readable;
        let reference = |turn_index| {
            let Candidate { intent, entity, bucket, .. } = about?.clone();
            let subjects = parameters.subjects.clone();
            let reference = Reference { subjects, entity, intent, bucket, updated_at: now(), turn_index };
            Some(past::refer(self.app, at.clone(), reference, are_readable))
        };
        kept.add_with(self.app, turn(Role::Assistant, answer, &meta), reference).await
    }
}

fn turn(role: Role, content: &str, meta: &Meta) -> Message {
    Message::from_stored(json!({"role": role.name(), "content": content, "meta": meta}).to_string().into())
}
