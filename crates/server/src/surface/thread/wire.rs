//! Replies as JSON: the whole answer, and the data of its events.

use novelo_conversation::answer::{Generated, Prompted, Reply, SkillCall, UnderstoodQuestion};
use novelo_conversation::model::Usage;
use novelo_conversation::search::FoundPassage;
use novelo_engine::recall;
use serde::Serialize;
use serde_json::value::RawValue;

/// `answered_by` where no model answered.
const PASSAGES: &str = "passages";

#[derive(Serialize)]
pub(crate) struct ReplyBody<'r> {
    answer: &'r str,
    #[serde(flatten)]
    question: QuestionBody<'r>,
    #[serde(flatten)]
    sources: SourcesBody<'r>,
    /// A model by its name, or `passages`.
    answered_by: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallBody<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<&'static str>,
    /// Whether the model failed at first and was asked again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fallback: bool,
    notes: &'r [String],
}

#[derive(Serialize)]
pub(crate) struct QuestionBody<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<&'r str>,
    standalone_question: &'r str,
    rewritten_by: &'static str,
}

#[derive(Serialize)]
pub(crate) struct SourcesBody<'r> {
    sources: Vec<SourceBody<'r>>,
    tokens: u32,
    budget_tokens: Option<u32>,
    trace_id: &'r str,
}

#[derive(Serialize)]
struct SourceBody<'r> {
    /// The number that the answer cites it by, as `[1]`.
    n: usize,
    from: recall::RecallSource,
    id: &'r str,
    name: &'r str,
    text: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heading: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line_end: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<u64>,
    score: f32,
}

#[derive(Serialize)]
pub(crate) struct CallBody<'r> {
    name: &'r str,
    arguments: &'r str,
    result: &'r RawValue,
}

impl<'r> From<&'r Reply> for ReplyBody<'r> {
    fn from(reply: &'r Reply) -> Self {
        let Generated { text, model, usage, calls, partial, retried_after, notes, .. } = &reply.generated;
        Self {
            answer: text,
            question: (&reply.understood).into(),
            sources: (&reply.prompted).into(),
            answered_by: model.as_deref().unwrap_or(PASSAGES),
            usage: *usage,
            calls: calls.iter().map(CallBody::from).collect(),
            partial: partial.map(|partial| partial.name()),
            fallback: retried_after.is_some(),
            notes,
        }
    }
}

impl<'r> From<&'r UnderstoodQuestion> for QuestionBody<'r> {
    fn from(UnderstoodQuestion { thread, rewritten }: &'r UnderstoodQuestion) -> Self {
        let thread_id = thread.as_deref();
        Self { thread_id, standalone_question: &rewritten.question, rewritten_by: rewritten.by.name() }
    }
}

impl<'r> From<&'r Prompted> for SourcesBody<'r> {
    fn from(Prompted { sources, tokens, budget_tokens, trace_id, .. }: &'r Prompted) -> Self {
        let sources = (1..).zip(sources.iter()).map(SourceBody::from).collect();
        Self { sources, tokens: *tokens, budget_tokens: *budget_tokens, trace_id }
    }
}

impl<'r> From<(usize, &'r FoundPassage)> for SourceBody<'r> {
    fn from((n, passage): (usize, &'r FoundPassage)) -> Self {
        let FoundPassage { source: from, id, text, score, place, .. } = passage;
        let (file, heading) = (place.file.as_deref(), place.heading.as_deref());
        let (line, line_end, page) = (place.line, place.line_end, place.page);
        Self { n, from: *from, id, name: passage.name(), text, file, heading, line, line_end, page, score: *score }
    }
}

impl<'r> From<&'r SkillCall> for CallBody<'r> {
    fn from(SkillCall { name, arguments, result }: &'r SkillCall) -> Self {
        Self { name, arguments, result }
    }
}
