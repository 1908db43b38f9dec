//! `POST /v1/responses/compact`, and the option `context_management`: compaction in OpenAI's form.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use novelo_engine::compact::SpanSource;
use novelo_engine::limits::{BUDGET_TOKENS_MAX, CONTEXT_TURNS_MAX};
use novelo_engine::recipe::CompactOptions;
use novelo_engine::{Message, Tokenizer, scope};
use novelo_store::Range;
use serde::Deserialize;
use serde_json::{Value, json};

use super::OpenAiResult;
use super::call::answer_in;
use super::create::AskedResponse;
use crate::http::body::RawBody;
use crate::http::error::ApiResult;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::context::compact::{self, CompactRequest};
use novelo_conversation::error::{Error, Result};
use novelo_conversation::telemetry::now;
use novelo_conversation::thread::compaction::Compaction;
use novelo_conversation::thread::item::{ResponseId, show_compaction, show_document};

/// An entry of `context_management`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextManagement {
    #[serde(rename = "type")]
    kind: String,
    compact_threshold: Option<u64>,
    /// Ours: the model gets the tools `compact` and `restore_span`.
    #[serde(default)]
    tools: bool,
}

/// What a request says about compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CompactionChoice {
    threshold: Option<u32>,
    pub has_tools: bool,
}

impl CompactionChoice {
    pub(super) fn read(entries: Option<&[ContextManagement]>) -> Result<Option<Self>> {
        let mut choice = None;
        for (n, entry) in entries.unwrap_or_default().iter().enumerate() {
            let refuse =
                |field: &str, problem: String| Err(Error::invalid(format!("context_management[{n}].{field}"), problem));
            if entry.kind != "compaction" {
                return refuse("type", "must be compaction".to_owned());
            }
            if choice.is_some() {
                return refuse("type", "is compaction for a second time".to_owned());
            }
            let threshold = match entry.compact_threshold.map(u32::try_from) {
                None => None,
                Some(Ok(tokens)) if (1..=BUDGET_TOKENS_MAX as u32).contains(&tokens) => Some(tokens),
                Some(_) => {
                    return refuse("compact_threshold", format!("must be 1 to BUDGET_TOKENS_MAX, {BUDGET_TOKENS_MAX}"));
                }
            };
            choice = Some(Self { threshold, has_tools: entry.tools });
        }
        Ok(choice)
    }

    /// The options of the filter.
    pub(super) fn options(self) -> Value {
        self.threshold.map_or_else(|| json!({}), |tokens| json!({"maxTokens": tokens}))
    }
}

/// Of the tokens of a conversation, the part that is left where no threshold is named.
const KEPT_PART: u32 = 4;
/// The newest messages that stay.
const RECENT_TURNS: u32 = 2;

pub(super) async fn make(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: ApiResult<RawBody>,
) -> OpenAiResult<Response> {
    let RawBody(body) = body?;
    let asked = AskedResponse::read(&app, &caller, &headers, &body).await?;
    let threshold = asked.compaction()?.and_then(|choice| choice.threshold);
    let thread = asked.whole_thread(&app).await?;
    let (before, compaction, output) = match &thread {
        Some(thread) => in_stored(&app, &asked.user, thread, threshold).await?,
        None => in_given(&app, asked.documents(&app).await?, threshold).await?,
    };
    let after = compaction.as_ref().map_or(before, |compaction| compaction.tokens_after);
    let texts = after.saturating_sub(before.saturating_sub(replaced(compaction.as_ref())));
    let answer = json!({
        "id": ResponseId::unstored(), "object": "response.compaction", "created_at": now() as u64,
        "output": output,
        "usage": {
            "input_tokens": before, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": texts, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": before.saturating_add(texts),
        },
    });
    answer_in(thread.as_deref(), &answer)
}

fn replaced(compaction: Option<&Compaction>) -> u32 {
    compaction.map_or(0, |compaction| compaction.spans.iter().map(|span| span.tokens).sum())
}

fn request(tokens: u32, threshold: Option<u32>) -> CompactRequest {
    let max_tokens = threshold.unwrap_or(tokens / KEPT_PART).max(1);
    let options =
        CompactOptions { max_tokens: Some(max_tokens), recent_turns: Some(RECENT_TURNS), ..CompactOptions::default() };
    CompactRequest { options, tokenizer: Tokenizer::Approx }
}

/// Compacts a stored conversation: its spans can be restored by id.
async fn in_stored(
    app: &App,
    user: &str,
    thread: &str,
    threshold: Option<u32>,
) -> Result<(u32, Option<Compaction>, Vec<Value>)> {
    let of = scope::turns(user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
    let turns = app.store.turns(&of, Range::Last(CONTEXT_TURNS_MAX)).await?;
    let tokens = turns.iter().map(|turn| turn.message.shown().tokens(Tokenizer::Approx)).sum();
    let compaction = compact::compact(app, user, thread, &request(tokens, threshold)).await?.compaction;
    let items = turns.iter().map(|turn| (turn.seq, show_document(thread, &turn.id, turn.message.raw())));
    let output = with_compaction(thread, compaction.as_ref(), SpanSource::Thread, items);
    Ok((compaction.as_ref().map_or(tokens, |it| it.tokens_before), compaction, output))
}

/// Compacts what was given, and stores nothing.
async fn in_given(
    app: &App,
    documents: Vec<Message>,
    threshold: Option<u32>,
) -> Result<(u32, Option<Compaction>, Vec<Value>)> {
    let messages: Vec<Message> = documents.iter().map(|document| document.shown().clone()).collect();
    let tokens = messages.iter().map(|message| message.tokens(Tokenizer::Approx)).sum();
    let compaction = compact::compact_messages(app, messages, &request(tokens, threshold)).await?;
    let thread = ResponseId::unstored();
    let items = (0..)
        .zip(&documents)
        .map(|(n, document): (u64, _)| (n, show_document(&thread, &n.to_string(), document.raw())));
    let output = with_compaction(&thread, compaction.as_ref(), SpanSource::Request, items);
    Ok((tokens, compaction, output))
}

/// The items that stay, with the item of the compaction where the first of its spans stood.
fn with_compaction(
    thread: &str,
    compaction: Option<&Compaction>,
    source: SpanSource,
    items: impl Iterator<Item = (u64, Vec<Value>)>,
) -> Vec<Value> {
    let mut output = Vec::new();
    let mut waiting = compaction;
    for (seq, items) in items {
        let spans = compaction.iter().flat_map(|compaction| &compaction.spans);
        if spans.into_iter().any(|span| span.holds(source, seq)) {
            output.extend(waiting.take().map(|compaction| show_compaction(thread, compaction)));
        } else {
            output.extend(items);
        }
    }
    output
}
