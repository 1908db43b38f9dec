//! The response to a question, with the reasons for it and nothing of earlier turns.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use novelo_engine::reference::ReferenceReason;
use novelo_language::plan::{Because, Candidate, Condition, Scores, Span, Taken, Unread, Verdict};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::also::Also;
use super::narrate::Narration;
use super::run::{Planned, Understood};
use super::{DataQuestion, DataStatus};
use crate::data::FoundRows;
use crate::data::database::Rows;
use crate::trace::RequestTracer;

/// The answer to a question.
#[derive(Debug, Serialize)]
pub struct Answered {
    pub status: DataStatus,
    #[serde(serialize_with = "write_rows")]
    pub results: Arc<Rows>,
    pub meta: AnswerMeta,
    pub answer: String,
}

fn write_rows<S: Serializer>(rows: &Rows, to: S) -> Result<S::Ok, S::Error> {
    rows.serialize(to)
}

/// Why it is what it is.
#[derive(Debug, Serialize)]
pub struct AnswerMeta {
    request_id: String,
    intent: Option<String>,
    entity: Option<String>,
    bucket: Option<String>,
    planner: Planner,
    reference: Referred,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Inferred>,
    /// What was said and not understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<Unread>,
    /// What else was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<Asked>,
    rows: Counted,
    cache: CacheMeta,
    narrator: Narration,
    timings_us: Map<String, Value>,
    notes: Vec<&'static str>,
}

/// Another intent of the question, with its rows.
#[derive(Debug, Serialize)]
struct Asked {
    status: DataStatus,
    intent: String,
    entity: String,
    parameters: Inferred,
    rows: Counted,
    #[serde(serialize_with = "write_rows")]
    results: Arc<Rows>,
}

#[derive(Debug, Serialize)]
struct Planner {
    verdict: Verdict,
    /// The first few, with what speaks for and against each.
    candidates: Vec<Scored>,
}

#[derive(Debug, Serialize)]
struct Scored {
    intent: String,
    score: f64,
    because: Vec<Because>,
}

#[derive(Debug, Serialize)]
struct Referred {
    used: bool,
    reason: ReferenceReason,
}

/// The parameters, but for subjects that the text does not name: those are no part of this question.
#[derive(Debug, Serialize)]
struct Inferred {
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    aggregation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    choices: BTreeMap<String, Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Condition>,
    taken: BTreeMap<String, Vec<Taken>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Counted {
    count: usize,
    /// Whether there were more than the entity allows.
    cut: bool,
}

#[derive(Debug, Serialize)]
struct CacheMeta {
    hit: bool,
}

const CANDIDATES_MAX: usize = 5;

/// All that an answer is made of.
pub struct Parts {
    pub understood: Understood,
    pub planned: Planned,
    pub found: Option<FoundRows>,
    pub also: Vec<Also>,
    pub answer: String,
    pub narration: Narration,
    pub is_kept: bool,
    pub clock: Clock,
}

pub fn answer(asked: &DataQuestion, parts: Parts) -> Answered {
    let Parts { understood, planned, found, also, answer, narration, is_kept, clock } = parts;
    let (intent, entity, bucket) = match planned.chosen.clone() {
        Some(Candidate { intent, entity, bucket, .. }) => (Some(intent), Some(entity), bucket),
        None => (None, None, None),
    };
    let (rows, span, hit) = rows_of(found);
    let scored = |one: Candidate| Scored { intent: one.intent, score: one.score, because: one.because };
    let candidates = understood.scores.candidates.into_iter().take(CANDIDATES_MAX).map(scored).collect();
    let meta = AnswerMeta {
        request_id: asked.request_id.clone(),
        intent,
        entity,
        bucket,
        planner: Planner { verdict: understood.scores.verdict, candidates },
        reference: Referred { used: inherits(&planned), reason: planned.resolved.reason },
        parameters: planned.chosen.as_ref().map(|_| inferred(&planned, span)),
        unread: planned.parameters.unread.clone(),
        also: also.into_iter().filter_map(asked_also).collect(),
        rows: Counted { count: rows.rows.len(), cut: rows.is_cut },
        cache: CacheMeta { hit },
        narrator: narration,
        timings_us: clock.read(),
        notes: if is_kept {
            Vec::new()
        } else {
            vec!["the conversation was forgotten meanwhile, and this was not kept"]
        },
    };
    Answered { status: planned.status, results: rows, meta, answer }
}

fn rows_of(found: Option<FoundRows>) -> (Arc<Rows>, Span, bool) {
    match found {
        Some(found) => (found.rows, found.span, found.is_cached),
        None => (Arc::new(Rows { columns: Arc::new([]), rows: Vec::new(), is_cut: false }), Span::default(), false),
    }
}

fn asked_also(also: Also) -> Option<Asked> {
    let Candidate { intent, entity, .. } = also.planned.chosen.clone()?;
    let (results, span, _) = rows_of(also.found);
    let rows = Counted { count: results.rows.len(), cut: results.is_cut };
    Some(Asked {
        status: also.planned.status,
        intent,
        entity,
        parameters: inferred(&also.planned, span),
        rows,
        results,
    })
}

/// What speaks for each intent, as the answer tells it.
pub(crate) fn mark_scores(tracer: &RequestTracer, scores: &Scores) {
    for one in scores.candidates.iter().take(CANDIDATES_MAX) {
        let because = one.because.iter().map(|because| {
            let Because { kind, feature, weight } = because;
            format!("{kind} {feature} {weight:+}")
        });
        tracer.heuristic(&one.intent, one.score, because.collect::<Vec<_>>().join(", "));
    }
    let best = scores.candidates.first().map_or("no intent", |best| &best.intent);
    tracer.heuristic("verdict", json!(scores.verdict), best);
}

/// Whether the question takes after the conversation, and why.
pub(crate) fn mark_reference(tracer: &RequestTracer, planned: &Planned) {
    let reason = json!(planned.resolved.reason);
    tracer.heuristic("reference", inherits(planned), reason.as_str().unwrap_or_default());
}

/// The answer is there: in the words of a model or, where it failed, in plain ones.
pub(crate) fn mark_narration(tracer: &RequestTracer, narration: &Narration) {
    tracer.first_token();
    if let (Some(_), Some(reason)) = (&narration.model, narration.reason) {
        tracer.error("model", reason);
    }
}

/// Whether subjects were inherited: the reference may apply to a question that then takes none, or is not
/// routed.
fn inherits(planned: &Planned) -> bool {
    let Planned { resolved, parameters, .. } = planned;
    resolved.used() && parameters.has_subjects()
}

fn inferred(planned: &Planned, span: Span) -> Inferred {
    let of = planned.parameters.clone();
    Inferred {
        window: of.window.map(|window| window.to_string()),
        from: span.from,
        to: span.to,
        aggregation: of.aggregation,
        limit: of.limit,
        choices: of.choices,
        conditions: of.conditions,
        taken: of.taken,
        missing: of.missing,
    }
}

/// How long each stage took.
pub struct Clock {
    started: Instant,
    last: Instant,
    marks: Vec<(&'static str, u64)>,
}

impl Clock {
    pub fn new() -> Self {
        let started = Instant::now();
        Self { started, last: started, marks: Vec::new() }
    }

    /// The stage of this name is over.
    pub fn mark(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.marks.push((stage, now.duration_since(self.last).as_micros() as u64));
        self.last = now;
    }

    fn read(self) -> Map<String, Value> {
        let total = self.started.elapsed().as_micros() as u64;
        let marks = self.marks.into_iter().chain([("total", total)]);
        marks.map(|(stage, took)| (stage.to_owned(), took.into())).collect()
    }
}
