//! `POST /v1/responses`: reads the request, finds its place, and starts the answer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use novelo_engine::limits::RESPONSE_WAIT_S_MAX;
use novelo_engine::recipe::{ComponentSpec, FilterSpec, RecipeBuilder};
use novelo_engine::{Message, Role, Tokenizer, scope};
use serde_json::{Map, Value, json};

use super::call::{answer_in, ttl};
use super::compact::CompactionChoice;
use super::options::chat_options;
use super::request::ResponseRequest;
use super::writer::{self, ResponseWriter};
use super::{OpenAiResult, SURFACE, coded, in_openai_form, in_thread, items, stored, user};
use crate::http::body::{Json, RawBody, parse_object};
use crate::http::error::{ApiError, ApiResult};
use crate::http::sse;
use crate::surface::native::completions::{self, subject};
use novelo_conversation::answer::reply::{RelayRequest, ReplyInput, ReplyKind, ReplyRequest};
use novelo_conversation::answer::response::{self, ResponseDraft, ResponsePlace, ShownResponse};
use novelo_conversation::answer::{
    self, AnswerRequest, EventReader, Patience, PromptRecording, ReplyOptions, ReplyOwner, ResponseFormat,
};
use novelo_conversation::app::{App, Shared};
use novelo_conversation::caller::Caller;
use novelo_conversation::context;
use novelo_conversation::context::answer::Answer;
use novelo_conversation::context::request::{RecipeChoice, Request};
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::policy::{self, Preset};
use novelo_conversation::telemetry::now;
use novelo_conversation::thread::item::{ItemTurn, ResponseId, conversation_id, read_items};
use novelo_conversation::thread::retention;
use novelo_conversation::trace::RequestTracer;

/// How long a stream may take to begin.
const HEAD_WAIT: Duration = Duration::from_secs(5);
/// How many seconds a request waits while another response is made in its conversation.
const WAIT: HeaderName = HeaderName::from_static("x-novelo-wait");
/// Options of the model that the response shows.
const NUMBERS: [&str; 4] = ["temperature", "top_p", "frequency_penalty", "presence_penalty"];
/// The member of a response's metadata that has the id of its trace.
const TRACE: &str = "novelo_trace_id";

pub(super) async fn create(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: ApiResult<RawBody>,
) -> OpenAiResult<Response> {
    let RawBody(body) = body?;
    respond(&app, &caller, &headers, &body).await
}

/// `POST /v1/responses/input_tokens`: what a request would cost, without asking a model.
pub(super) async fn count(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    body: ApiResult<RawBody>,
) -> OpenAiResult<Response> {
    let RawBody(body) = body?;
    let asked = AskedResponse::read(&app, &caller, &headers, &body).await?;
    let request = Request {
        messages: asked.unstored_messages(&app).await?,
        recipe: RecipeChoice::Decoded(Arc::new(stateless()?)),
        answer: Answer::Messages("messages"),
        is_off_record: true,
        ..Request::default()
    };
    let mut tokens = context::context(&app, request).await?.tokens;
    if let Some(tools) = asked.members.get("tools").filter(|tools| !tools.is_null()) {
        tokens += Message::text(Role::System, &tools.to_string()).tokens(Tokenizer::Approx);
    }
    answer_in(None, &json!({"object": "response.input_tokens", "input_tokens": tokens}))
}

async fn respond(app: &App, caller: &Caller, headers: &HeaderMap, body: &[u8]) -> OpenAiResult<Response> {
    if let Some(reader) = sse::resume(app, caller, headers, |format| matches!(format, ResponseFormat::Response(_)))? {
        let thread = reader.thread().map(str::to_owned);
        return Ok(in_thread(thread.as_deref(), streamed(reader)));
    }
    let asked = AskedResponse::read(app, caller, headers, body).await?;
    let wait = wait(headers)?;
    if asked.turns.is_empty() {
        return Err(Error::invalid("input", "is missing").into());
    }
    let (job, model) = completions::model(app, asked.request.model.as_deref()).await?;
    let is_openai = model.as_ref().is_some_and(|model| model.host().starts_with("api.openai.com"));
    let options = chat_options(&asked.members, is_openai)?;
    let name = asked.request.model.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| job.name().to_owned());
    let has_span_tools = asked.compaction()?.is_some_and(|choice| choice.has_tools);
    let kind = RelayRequest { job, model, options, shortens: asked.request.shortens(), has_span_tools };
    let (reply, shown) = match asked.request.is_stored() {
        true => asked.stored(app, kind, &name, wait).await?,
        false => asked.unstored(app, kind, &name).await?,
    };
    let (trace_id, thread) = (reply.tracer.id().encode(), reply.thread.clone());
    let begun_id = reply.response.as_ref().filter(|_| asked.request.is_background()).map(|draft| draft.id.clone());
    let options = asked.reply_options(&reply, shown.clone());
    if let Some(draft) = reply.response.as_ref().filter(|_| asked.request.is_background()) {
        app.store.write(vec![draft.begun(&trace_id)?]).await?;
    }
    let answer = match answer::begin(app, AnswerRequest::Reply(reply), options) {
        Ok(reader) if asked.request.streams() => begun(reader).await,
        Ok(_) if asked.request.is_background() => Ok(Json::from_value(&writer::queued(&shown)).into_response()),
        Ok(reader) => whole(reader).await,
        Err(error) => {
            if let Some(id) = &begun_id {
                ResponseDraft::discard(app, &asked.user, id).await?;
            }
            Err(error)
        }
    };
    let answer = answer.map_err(in_openai_form);
    let answer = match asked.request.is_stored() {
        true => sse::traced(&trace_id, answer),
        false => answer.unwrap_or_else(|error| ApiError(error).into_response()),
    };
    Ok(in_thread(thread.as_deref(), answer))
}

/// How long a request waits for another response in its conversation.
fn wait(headers: &HeaderMap) -> Result<Duration> {
    let Some(value) = headers.get(WAIT) else { return Ok(Duration::ZERO) };
    let seconds = value.to_str().ok().and_then(|text| text.trim().parse::<u64>().ok());
    match seconds.filter(|seconds| *seconds <= RESPONSE_WAIT_S_MAX as u64) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => {
            let problem = format!("must be whole seconds, at most RESPONSE_WAIT_S_MAX, {RESPONSE_WAIT_S_MAX}");
            Err(Error::invalid("X-Novelo-Wait", problem))
        }
    }
}

/// A stream that has begun; an early error gets its own status.
async fn begun(mut reader: EventReader) -> Result<Response> {
    match tokio::time::timeout(HEAD_WAIT, reader.begun()).await.ok().flatten() {
        Some(error) => Err(error),
        None => Ok(streamed(reader)),
    }
}

fn streamed(reader: EventReader) -> Response {
    let writer = ResponseWriter::for_reader(&reader, None);
    let head = writer.head();
    sse::answer_after(Some(head), reader, move |told| writer.write_event(told))
}

async fn whole(reader: EventReader) -> Result<Response> {
    let format = reader.format().clone();
    let ResponseFormat::Response(shown) = format else {
        return Err(Error::new(Code::Internal, "the answer has another form"));
    };
    sse::whole(reader, |reply| match completions::broken(reply) {
        Some(error) => Err(error),
        None => Ok(Json::from_value(&writer::finished(&shown, reply)).into_response()),
    })
    .await
}

/// A request that was read and checked.
pub(super) struct AskedResponse {
    pub(super) user: String,
    request: ResponseRequest,
    /// All members of the body.
    members: Map<String, Value>,
    turns: Vec<ItemTurn>,
    previous: Option<(ResponseId, response::StoredResponse)>,
    conversation: Option<String>,
    /// The thread that the caller names by a header or in the metadata.
    named: Option<String>,
    /// How long the conversation is kept after its last turn.
    ttl: Option<Duration>,
}

impl AskedResponse {
    pub(super) async fn read(app: &App, caller: &Caller, headers: &HeaderMap, body: &[u8]) -> Result<Self> {
        let request: ResponseRequest = parse_object(body)?;
        let members: Map<String, Value> = parse_object(body)?;
        request.check()?;
        let is_wrong = |name: &&&str| members.get(**name).is_some_and(|value| !value.is_null() && !value.is_number());
        if let Some(name) = NUMBERS.iter().find(is_wrong) {
            return Err(Error::invalid(*name, "must be a number"));
        }
        let user = user(headers, request.user.as_deref(), caller)?;
        let conversation = match &request.conversation {
            Some(name) => Some(stored::require_conversation(app, &user, name.id()).await?),
            None => None,
        };
        let previous = match &request.previous_response_id {
            Some(id) => Some(previous(app, &user, id).await?),
            None => None,
        };
        let named = subject::thread(headers, request.metadata.as_ref())?;
        if let Some(named) =
            named.as_ref().filter(|named| previous.is_some() || conversation.as_ref().is_some_and(|of| of != *named))
        {
            let message = format!("the request names the thread {named:?} and also a conversation or a response");
            return Err(Error {
                param: Some("X-Novelo-Thread".to_owned()),
                ..Error::new(Code::Contradiction, message)
            });
        }
        let items = items::resolved(app, &user, request.items()?).await?;
        let turns = read_items("input", items)?;
        Ok(Self { user, request, members, turns, previous, conversation, named, ttl: ttl(app, caller) })
    }

    /// The answer that is stored, and what its response shows from the beginning.
    async fn stored(
        &self,
        app: &App,
        kind: RelayRequest,
        model: &str,
        wait: Duration,
    ) -> Result<(ReplyRequest, Arc<ShownResponse>)> {
        let (user, turns) = (&*self.user, self.turns.clone());
        let place = match (&self.previous, &self.conversation, &self.named) {
            (Some((id, previous)), ..) => ResponsePlace::after(app, user, (id, previous), turns).await?,
            (None, Some(thread), _) => ResponsePlace::within(app, user, thread, turns, wait).await?,
            (None, None, Some(thread)) => ResponsePlace::resent(app, user, thread, turns, wait).await?,
            (None, None, None) => ResponsePlace::anew(app, user, turns).await?,
        };
        let id = place.lock.id.clone();
        retention::keep_for(app, user, &id.thread, self.ttl).await?;
        let tracer = RequestTracer::begin(&app.recorder, SURFACE);
        tracer.about(user, &id.thread);
        let conversation = place.is_in_conversation.then(|| conversation_id(&id.thread));
        let members = self.shown(&id.encode(), model, conversation, Some(&tracer));
        let shown = Arc::new(ShownResponse { members, thread: id.thread.clone(), turn: id.name.clone() });
        let thread = Some(id.thread.clone());
        let draft = ResponseDraft {
            id,
            lock: place.lock,
            user: self.user.clone(),
            shown: shown.clone(),
            is_in_conversation: place.is_in_conversation,
            outlives_failure: self.request.is_background() || self.request.streams(),
            if_seq: place.if_seq,
            first_seq: place.first_seq,
        };
        let request = ReplyRequest {
            user: Some(self.user.clone()),
            thread,
            input: ReplyInput::Items(place.turns),
            preset: Arc::new(self.preset(app)?),
            kind: ReplyKind::Relay(Box::new(kind)),
            tracer,
            response: Some(draft),
            recording: PromptRecording { explains: self.request.explains(), is_off_record: false },
        };
        Ok((request, shown))
    }

    /// The answer of which nothing is stored.
    async fn unstored(&self, app: &App, kind: RelayRequest, model: &str) -> Result<(ReplyRequest, Arc<ShownResponse>)> {
        let messages = self.unstored_messages(app).await?;
        let tracer = RequestTracer::begin(&app.recorder, SURFACE);
        tracer.off_record();
        let id = ResponseId::unstored();
        let conversation = self.conversation.as_deref().map(conversation_id);
        let members = self.shown(&id, model, conversation, None);
        let thread = id.trim_start_matches("resp_").to_owned();
        let shown = Arc::new(ShownResponse { members, thread, turn: "0".to_owned() });
        let request = ReplyRequest {
            user: None,
            thread: None,
            input: ReplyInput::Messages(messages),
            preset: Arc::new(self.compacting(stateless()?)?),
            kind: ReplyKind::Relay(Box::new(kind)),
            tracer,
            response: None,
            recording: PromptRecording { explains: self.request.explains(), is_off_record: true },
        };
        Ok((request, shown))
    }

    /// All messages that the model should see, for a prompt that reads no thread.
    async fn unstored_messages(&self, app: &Shared) -> Result<Vec<Message>> {
        let before = match (&self.previous, &self.conversation, &self.named) {
            (Some((id, previous)), ..) => {
                response::messages_upto(app, &self.user, &id.thread, Some(previous.last_seq)).await?
            }
            (None, Some(thread), _) | (None, None, Some(thread)) => {
                response::messages_upto(app, &self.user, thread, None).await?
            }
            (None, None, None) => Vec::new(),
        };
        let instructions = self.request.instructions.as_deref().map(|text| Message::text(Role::System, text));
        let new = self.turns.iter().map(|turn| turn.message.shown().clone());
        let new = new.filter(|message| message.role().is_some());
        Ok(instructions.into_iter().chain(before).chain(new).collect())
    }

    /// The recipe: the whole chain, or with `truncation: auto` what the preset of threads keeps of it.
    fn preset(&self, app: &Shared) -> Result<Preset> {
        let literal = self.request.instructions.as_deref().filter(|text| !text.is_empty()).map(ComponentSpec::system);
        if self.request.shortens() {
            let preset = app.policies.preset(policy::DEFAULT);
            let preset = preset.ok_or_else(|| Error::new(Code::Internal, "there is no preset chat"))?;
            return self.compacting(preset.with_leading("instructions", literal)?);
        }
        let recipe = RecipeBuilder::new().components(literal).component(ComponentSpec::history());
        self.compacting(Preset::from(recipe.filter(FilterSpec::tool_call_backfill()).build()?))
    }

    /// Whether and when the conversation is compacted.
    pub(super) fn compaction(&self) -> Result<Option<CompactionChoice>> {
        self.request.compaction()
    }

    /// The recipe with the filter `compact`, where the request asks for it.
    fn compacting(&self, preset: Preset) -> Result<Preset> {
        match self.compaction()? {
            Some(choice) => Ok(preset.with_compact("context_management", choice.options())?),
            None => Ok(preset),
        }
    }

    /// The thread, if the request is about all of it and brings nothing new.
    pub(super) async fn whole_thread(&self, app: &App) -> Result<Option<String>> {
        let thread = match (&self.previous, &self.conversation, &self.named) {
            (Some((id, _)), ..) => Some(&id.thread),
            (None, Some(thread), _) | (None, None, Some(thread)) => Some(thread),
            (None, None, None) => None,
        };
        let Some(thread) = thread.filter(|_| self.turns.is_empty()) else { return Ok(None) };
        let of = scope::turns(&self.user, thread).map_err(|e| Error::bad_id("user or thread", &e))?;
        let last_seq = app.store.version(&of).await?.last_seq;
        let is_end = self.previous.as_ref().is_none_or(|(_, previous)| previous.last_seq == last_seq);
        Ok(Some(thread.clone()).filter(|_| is_end))
    }

    /// Everything that the model would see, as the documents of turns.
    pub(super) async fn documents(&self, app: &Shared) -> Result<Vec<Message>> {
        let new = self.turns.iter().filter(|turn| turn.message.shown().role().is_some());
        let new: Vec<Message> = new.map(|turn| turn.message.clone()).collect();
        let mut all = self.unstored_messages(app).await?;
        all.truncate(all.len().saturating_sub(new.len()));
        all.extend(new);
        Ok(all)
    }

    fn reply_options(&self, reply: &ReplyRequest, shown: Arc<ShownResponse>) -> ReplyOptions {
        let usual = reply.reply_options(self.request.streams());
        let patience = match () {
            () if self.request.is_background() => Patience::Background,
            // Its events would stay in memory, for a client that resumes it.
            () if !self.request.is_stored() => Patience::None,
            () => usual.patience,
        };
        let owner = ReplyOwner { user: Some(self.user.clone()), thread: reply.thread.clone() };
        ReplyOptions { owner, patience, format: ResponseFormat::Response(shown), ..usual }
    }

    /// The members that the request decides.
    fn shown(
        &self,
        id: &str,
        model: &str,
        conversation: Option<String>,
        tracer: Option<&RequestTracer>,
    ) -> Map<String, Value> {
        let ResponseRequest { metadata, .. } = &self.request;
        let given = |name: &str| self.members.get(name).cloned().unwrap_or_default();
        let or = |name: &str, usual: Value| {
            self.members.get(name).filter(|value| !value.is_null()).cloned().unwrap_or(usual)
        };
        let mut metadata = metadata.clone().unwrap_or_default();
        metadata.extend(tracer.map(|tracer| (TRACE.to_owned(), tracer.id().encode().into())));
        let ttl = self.ttl.filter(|_| self.request.is_stored());
        let expires_at = ttl.map(|ttl| (now() + ttl.as_secs_f64()) as u64);
        let shown = json!({
            "id": id, "object": "response", "created_at": now() as u64, "status": "in_progress",
            "background": self.request.is_background(), "completed_at": null,
            "conversation": conversation.map(|id| json!({"id": id})), "error": null, "incomplete_details": null,
            "expires_at": expires_at, "instructions": given("instructions"), "max_output_tokens": given("max_output_tokens"),
            "max_tool_calls": given("max_tool_calls"), "metadata": metadata, "model": model, "output": [],
            "parallel_tool_calls": or("parallel_tool_calls", true.into()),
            "previous_response_id": given("previous_response_id"), "prompt_cache_key": given("prompt_cache_key"),
            "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
            "safety_identifier": given("safety_identifier"), "service_tier": or("service_tier", "default".into()),
            "frequency_penalty": or("frequency_penalty", 0.into()), "presence_penalty": or("presence_penalty", 0.into()),
            "store": self.request.is_stored(), "temperature": or("temperature", 1.0.into()),
            "text": or("text", json!({"format": {"type": "text"}})), "tool_choice": or("tool_choice", "auto".into()),
            "tools": or("tools", json!([])), "top_logprobs": or("top_logprobs", 0.into()), "top_p": or("top_p", 1.0.into()),
            "truncation": or("truncation", "disabled".into()), "usage": null, "user": given("user"),
        });
        shown.as_object().cloned().unwrap_or_default()
    }
}

/// Messages that are given, with their calls answered.
fn stateless() -> Result<Preset> {
    Ok(Preset::from(RecipeBuilder::new().filter(FilterSpec::tool_call_backfill()).build()?))
}

/// The response that is continued.
async fn previous(app: &App, user: &str, id: &str) -> Result<(ResponseId, response::StoredResponse)> {
    let unknown = || {
        let message = format!("Previous response with id '{id}' not found.");
        coded(400, "previous_response_not_found", Some("previous_response_id"), message)
    };
    let parsed = ResponseId::parse(id).ok_or_else(unknown)?;
    let stored = response::load(&app.store, user, &parsed).await?.ok_or_else(unknown)?;
    stored.require_continuable(app, &parsed)?;
    Ok((parsed, stored))
}
