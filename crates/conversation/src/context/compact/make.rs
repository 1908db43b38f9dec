//! The texts of spans: sentences of the span itself, or a model's, checked against it.

use std::borrow::Cow;

use futures_util::future::{BoxFuture, join_all};
use novelo_engine::compact::{CompactedSpan, CompactionPlan, PlannedSpan, SpanMaker};
use novelo_engine::path::DocumentPath;
use novelo_engine::{Message, Role, Tokenizer, json};
use novelo_language::generated::accept_compaction;
use novelo_language::iso_date;
use novelo_recall::extract::{DatedTurn, EarlierSummary, Emphasis, Extract};
use serde_json::Map;

use crate::context::Contexts;
use crate::context::work_prompt::WorkPrompt;
use crate::error::{Code, Error, Result};
use crate::model::{Ask, Job, Model};
use crate::policy::Prompt;
use crate::telemetry::now;
use crate::text::{cut, member, said};
use crate::thread::compaction::{Compaction, compaction_id};

/// Characters of a message that are looked at: all of what people say, less of what models and tools say.
const SAID_CHARS_MAX: usize = 16_000;
const ASSISTANT_CHARS_MAX: usize = 4_000;
const TOOL_CHARS_MAX: usize = 1_200;
const ARGUMENTS_CHARS_MAX: usize = 120;
/// How often a text is made shorter until it fits.
const TRIES_MAX: usize = 8;
/// Characters of text per token, to begin with.
const CHARS_PER_TOKEN: usize = 4;
/// Characters of a message that a model is shown, and spans that it works on at once.
const MODEL_TURN_CHARS_MAX: usize = 2_000;
const SPANS_AT_ONCE: usize = 4;
/// Tokens that a model may write beside the text, for thoughts.
const MODEL_TOKENS_MORE: u32 = 256;
/// The reason of a model that was stopped at its limit.
const LENGTH: &str = "length";

/// A compaction that is being made.
pub(crate) struct CompactionWork<'w> {
    pub app: &'w Contexts,
    /// The user and the thread, where there is one.
    pub thread: Option<(&'w str, &'w str)>,
    pub plan: &'w CompactionPlan,
    pub tokenizer: Tokenizer,
    pub number: u64,
    /// The newest turn of the thread: traces of prompts go with it.
    pub made_from: Option<DocumentPath>,
}

impl CompactionWork<'_> {
    /// Makes the text of each span from its messages.
    pub async fn make(&self, messages: &[Vec<(Message, f64)>]) -> Result<Compaction> {
        let lines: Vec<Vec<SpanLine>> = messages.iter().map(|of| SpanLine::read(of)).collect();
        let mut spans = self.extract(lines.clone()).await?;
        if self.plan.by == SpanMaker::Model {
            self.ask_model(&mut spans, &lines).await;
        }
        let freed: u32 = spans.iter().map(|span| span.tokens).sum();
        let texts: u32 = spans.iter().map(|span| span.message().tokens(self.tokenizer)).sum();
        Ok(Compaction {
            id: compaction_id(self.number),
            created_at: now(),
            tokens_before: self.plan.tokens,
            tokens_after: self.plan.tokens.saturating_sub(freed).saturating_add(texts),
            max_tokens: self.plan.max_tokens,
            tokenizer: self.tokenizer.name().to_owned(),
            spans,
        })
    }

    /// The spans with extracted texts.
    async fn extract(&self, lines: Vec<Vec<SpanLine>>) -> Result<Vec<CompactedSpan>> {
        let planned = self.plan.spans.iter().enumerate().map(|(n, span)| (span_id(self.number, n), span.clone()));
        let tokenizer = self.tokenizer;
        let tasks = planned.zip(lines).map(|((id, span), lines)| {
            tokio::task::spawn_blocking(move || {
                let text = extract(&span, &id, &lines, tokenizer);
                span.with(&id, &text, SpanMaker::Extract)
            })
        });
        let ended = |e| Error::new(Code::Internal, format!("compacting ended early: {e}"));
        join_all(tasks.collect::<Vec<_>>()).await.into_iter().map(|made| made.map_err(ended)).collect()
    }

    /// Replaces texts by those of the model, where they pass.
    async fn ask_model(&self, spans: &mut [CompactedSpan], lines: &[Vec<SpanLine>]) {
        let Some(model) = self.app.models.get(Job::Summary) else {
            spans.iter_mut().for_each(|span| span.refused = Some("no model is set".into()));
            return;
        };
        let mut at = 0;
        while at < spans.len() {
            let work = (at..spans.len().min(at + SPANS_AT_ONCE)).filter_map(|n| {
                let (span, planned, lines) = (spans.get(n)?, self.plan.spans.get(n)?, lines.get(n)?);
                Some(self.model_text(model, span, planned, lines))
            });
            let made = join_all(work.collect::<Vec<_>>()).await;
            for (span, made) in spans.iter_mut().skip(at).zip(made) {
                match made {
                    Ok(text) => (span.text, span.by) = (text.into(), SpanMaker::Model),
                    Err(problem) => span.refused = Some(problem.into()),
                }
            }
            at += SPANS_AT_ONCE;
        }
    }

    /// What a model writes of a span. The future has a type of its own: the prompt is made by the same path
    /// as the one that is being compacted.
    fn model_text<'f>(
        &'f self,
        model: &'f Model,
        extracted: &'f CompactedSpan,
        planned: &'f PlannedSpan,
        lines: &'f [SpanLine],
    ) -> BoxFuture<'f, std::result::Result<String, String>> {
        Box::pin(self.write_by_model(model, extracted, planned, lines))
    }

    async fn write_by_model(
        &self,
        model: &Model,
        extracted: &CompactedSpan,
        planned: &PlannedSpan,
        lines: &[SpanLine],
    ) -> std::result::Result<String, String> {
        if planned.text_tokens == 0 || lines.is_empty() {
            return Err("there is no room for a text".to_owned());
        }
        let chars_max = planned.text_tokens as usize * CHARS_PER_TOKEN;
        let instruction = format!("{}\nAt most {chars_max} characters.", self.app.policies.prompt(Prompt::Summary));
        let made_from = self.made_from.clone();
        let prompt = WorkPrompt { instruction: &instruction, model, thread: self.thread, made_from };
        let text = |share: usize| {
            let said = lines.iter().map(|line| line.written(MODEL_TURN_CHARS_MAX / share)).collect::<Vec<_>>();
            format!("Summary so far:\n(none)\n\nMessages since:\n{}", said.join("\n"))
        };
        let prompt = prompt.make(self.app, text).await.map_err(|error| error.message)?;
        let mut options = Map::new();
        options.insert("temperature".to_owned(), 0.into());
        options.insert("max_tokens".to_owned(), planned.text_tokens.saturating_add(MODEL_TOKENS_MORE).into());
        let ask = Ask { messages: prompt.messages(), options };
        let made = model.complete(&ask).await.map_err(|failure| failure.to_string())?;
        if made.finish == LENGTH {
            return Err("it wrote more than it may".to_owned());
        }
        let said = lines.iter().map(|line| line.written(usize::MAX)).collect::<Vec<_>>().join("\n");
        let text = accept_compaction(made.said(), &[&said], &extracted.text, chars_max)?;
        match planned.fits(&extracted.id, &text, self.tokenizer) {
            true => Ok(text),
            false => Err("it wrote more than it may".to_owned()),
        }
    }
}

/// The spans of a plan with extracted texts, without a store: for measuring.
pub fn extract_spans(
    plan: &CompactionPlan,
    number: u64,
    messages: &[Vec<(Message, f64)>],
    tokenizer: Tokenizer,
) -> Vec<CompactedSpan> {
    let work = plan.spans.iter().zip(messages).enumerate().map(|(n, (span, messages))| {
        let id = span_id(number, n);
        let text = extract(span, &id, &SpanLine::read(messages), tokenizer);
        span.with(&id, &text, SpanMaker::Extract)
    });
    work.collect()
}

fn span_id(number: u64, n: usize) -> String {
    format!("s{number}-{}", n + 1)
}

/// A message in words, who said it and when.
#[derive(Debug, Clone)]
struct SpanLine {
    speaker: String,
    text: String,
    date: String,
}

impl SpanLine {
    fn read(messages: &[(Message, f64)]) -> Vec<Self> {
        messages.iter().filter_map(|(message, time)| Self::read_one(message, *time)).collect()
    }

    fn read_one(message: &Message, time: f64) -> Option<Self> {
        let role = message.role()?;
        let chars_max = match role {
            Role::Tool => TOOL_CHARS_MAX,
            Role::Assistant => ASSISTANT_CHARS_MAX,
            _ => SAID_CHARS_MAX,
        };
        let text = cut(&said(message).unwrap_or_default(), chars_max);
        let called = called(message);
        let text = [text.trim(), &called].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
        let name = member(message, "name").filter(|name| !name.trim().is_empty() && !name.contains([':', '\n']));
        let speaker = name.unwrap_or(Cow::Borrowed(role.name())).into_owned();
        let date = if time > 0.0 { iso_date(time) } else { String::new() };
        (!text.is_empty()).then_some(Self { speaker, text, date })
    }

    fn turn(&self) -> DatedTurn<'_> {
        DatedTurn { speaker: &self.speaker, text: &self.text, date: &self.date }
    }

    fn written(&self, chars_max: usize) -> String {
        let text = cut(&self.text, chars_max);
        format!("{} {}: {text}", self.date, self.speaker).trim_start().to_owned()
    }
}

/// The tools that a message calls, in words: their names and their arguments.
fn called(message: &Message) -> String {
    let raw = message.as_str();
    let Some(calls) = json::member(raw, "tool_calls").map(|calls| calls.slice(raw)) else { return String::new() };
    let line = |call: &str| {
        let function = json::member(call, "function")?.slice(call);
        let text = |name: &str| json::unescape(json::member(function, name)?.slice(function));
        let arguments = text("arguments").unwrap_or_default();
        let words = arguments.split(['{', '}', '"', '<', '>', '`', '=', '|', '\\', '[', ']']);
        let words = words.map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        Some(format!("called {} {}", text("name")?, cut(&words, ARGUMENTS_CHARS_MAX)).trim_end().to_owned())
    };
    json::elements(calls).filter_map(|call| line(call.slice(calls))).collect::<Vec<_>>().join("\n")
}

/// The sentences of a span that say most, within its room.
fn extract(span: &PlannedSpan, id: &str, lines: &[SpanLine], tokenizer: Tokenizer) -> String {
    if span.text_tokens == 0 {
        return String::new();
    }
    let turns: Vec<DatedTurn<'_>> = lines.iter().map(SpanLine::turn).collect();
    let extract = Extract::read(EarlierSummary::default(), &turns, Emphasis::Facts);
    let mut chars_max = span.text_tokens as usize * CHARS_PER_TOKEN;
    for _ in 0..TRIES_MAX {
        let text = extract.text(chars_max);
        if span.fits(id, &text, tokenizer) {
            return text;
        }
        let cost = span.with(id, &text, SpanMaker::Extract).message().tokens(tokenizer).max(1);
        let share = f64::from(span.text_tokens) / f64::from(cost);
        chars_max = (text.chars().count() as f64 * share.clamp(0.3, 0.95)) as usize;
    }
    String::new()
}
