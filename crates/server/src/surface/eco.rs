//! `POST /ask-eco`: a conversation, and its answer, whole or as it is made. How it is answered is `crate::guide`'s.
//!
//! Owns the wire form: fields, flags, frames, and that every answer says which course it has.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use novelo_engine::limits::{INLINE_MESSAGES_MAX, QUESTION_BYTES_MAX};
use novelo_engine::path::{check_id, encode_segment};
use novelo_engine::{Message, Role};
use novelo_recall::finish::Block;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::native::turns::accept_messages;
use crate::app::App;
use crate::auth::Caller;
use crate::guide::load::{NAME_BYTES_MAX, as_name};
use crate::guide::{self, Asked, guests};
use crate::http::Peer;
use crate::http::body::{Json, Params, Raw, parse_object};
use crate::http::error::{ApiError, Code, Result};
use crate::http::sse;
use crate::memory::check;
use crate::memory::reset::DEFAULT_SESSION;
use crate::recall::said;
use crate::reply::{Event, Form, Owner, Patience, Reader, Terms, Told};
use crate::telemetry::now;
use crate::trace::Tracer;

/// The id of a guest, also of one that was made here.
const GUEST_ID: HeaderName = HeaderName::from_static("x-eco-guest-id");
const TRACE_ID: HeaderName = HeaderName::from_static("x-eco-trace-id");

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Wire<'b> {
    #[serde(borrow)]
    messages: Option<Vec<&'b RawValue>>,
    user_id: Option<String>,
    guest_id: Option<String>,
    is_guest: Option<bool>,
    stream: Option<bool>,
    prompt_ready_immediate: Option<bool>,
    forcar_metodo_viva: Option<bool>,
    session_meta: Option<Map<String, Value>>,
    prompt_override: Option<String>,
    meta_from_builder: Option<Built>,
}

/// What a client's own builder says of the message.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Built {
    nome: Option<String>,
    abertura_hibrida: Option<Opening>,
    bloco_tecnico_forcado: Option<Forced>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Opening {
    sugestao_nivel: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Forced {
    intensidade: Option<f32>,
    resumo: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    categoria: Option<String>,
    emocao: Option<String>,
}

#[derive(Deserialize)]
struct Flags {
    debug: Option<String>,
}

pub fn routes(app: App) -> Router<App> {
    // Inside of the layer, so that this refusal has its course too.
    let other = async || ApiError::new(Code::MethodNotAllowed, "this address takes other methods");
    Router::new().route("/ask-eco", post(ask).fallback(other)).layer(from_fn_with_state(app, traced))
}

/// Gives each request a course, and its answer the name of it. A request that is refused has a course too.
async fn traced(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let tracer = Tracer::begin(&app, "ask-eco");
    request.extensions_mut().insert(tracer.clone());
    let mut response = next.run(request).await;
    if let Some(error) = response.extensions().get::<Arc<ApiError>>() {
        tracer.refused(error);
        tracer.end();
    }
    response.headers_mut().insert(TRACE_ID, tracer.id().header());
    response
}

async fn ask(
    State(app): State<App>,
    Extension(tracer): Extension<Tracer>,
    Extension(Peer(peer)): Extension<Peer>,
    caller: Caller,
    Params(flags): Params<Flags>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response> {
    let wants_trace = matches!(flags.debug.as_deref(), Some("1" | "true"));
    if wants_trace {
        caller.require_admin()?;
    }
    if let Some(reader) = sse::resume(&app, &caller, &headers, |form| matches!(form, Form::Guided { .. }))? {
        tracer.heuristic("resume", reader.trace_id(), "Last-Event-ID");
        tracer.end();
        let behind = headers.get(sse::LAST_EVENT_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
        let head = reconnected(&behind, &reader);
        let shown = Shown { may_debug: caller.is_admin(), guest: guest_of(&reader) };
        return Ok(sse::answer_after(Some(head), reader, move |told| event(told, &shown)));
    }
    let wire: Wire<'_> = parse_object(&body)?;
    let streams = sse::is_wanted(wire.stream, &headers);
    let asked = accept(wire, &caller, Accepted { streams, wants_trace, tracer: tracer.clone() })?;
    if asked.is_guest {
        let named = app.config.text("eco.address_header");
        guests::claim(&app, &asked.user).await?;
        // Whoever is in danger is answered, however often. That asks no model, so nobody gets past the limit by it.
        let rules = &app.policies.guide().rules;
        if rules.crisis(&rules.read(&asked.text)).is_none() {
            guests::admit(&app, &asked.user, &address(&headers, named, peer)).await?;
        }
    }
    let guest = asked.is_guest.then(|| asked.user.clone());
    let owner = Owner { user: Some(asked.user.clone()), thread: Some(asked.thread.clone()) };
    let patience = if streams { Patience::Page } else { Patience::None };
    let terms = Terms { owner, form: Form::Guided { guest: guest.clone() }, patience, tracer };
    let reader = app.replies.start(&app, terms, move |app, log, ends| guide::run(app, asked, log, ends))?;
    let shown = Shown { may_debug: true, guest };
    let guest = shown.guest_header();
    let mut response = match streams {
        true => sse::answer(reader, move |told| event(told, &shown)),
        false => whole(reader, &shown).await?,
    };
    response.headers_mut().extend(guest.map(|id| (GUEST_ID, id)));
    Ok(response)
}

/// What an answer shows beside the words.
struct Shown {
    /// Whether a trace that was asked for is for this caller.
    may_debug: bool,
    /// The guest that asked, which needs its id to ask again.
    guest: Option<String>,
}

impl Shown {
    /// As in an address, since an id of a caller's may hold any letter.
    fn guest_header(&self) -> Option<HeaderValue> {
        self.guest.as_deref().and_then(|id| HeaderValue::try_from(encode_segment(id)).ok())
    }
}

fn guest_of(reader: &Reader) -> Option<String> {
    match reader.form() {
        Form::Guided { guest } => guest.clone(),
        Form::Assist | Form::Relay { .. } => None,
    }
}

/// What a request says beside its body.
struct Accepted {
    streams: bool,
    wants_trace: bool,
    tracer: Tracer,
}

fn accept(wire: Wire<'_>, caller: &Caller, accepted: Accepted) -> Result<Asked> {
    let (user, is_guest) = identity(&wire, caller)?;
    let thread = session(wire.session_meta.as_ref())?;
    let Accepted { streams, wants_trace, tracer } = accepted;
    tracer.about(&user, &thread);
    if let Some(meta) = wire.session_meta {
        tracer.heuristic("sessionMeta", meta, "as the client says");
    }
    let messages = wire.messages.ok_or_else(|| ApiError::invalid("messages", "is missing"))?;
    let messages = accept_messages(&messages, INLINE_MESSAGES_MAX, "INLINE_MESSAGES_MAX")?;
    let text = last_said(&messages)?;
    if let Some(instructions) = &wire.prompt_override {
        check::text("promptOverride", instructions, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    }
    let Built { nome, abertura_hibrida, bloco_tecnico_forcado } = wire.meta_from_builder.unwrap_or_default();
    let opening = abertura_hibrida.map(|opening| opening.sugestao_nivel);
    if opening.is_some_and(|level| !(1..=3).contains(&level)) {
        return Err(ApiError::invalid("metaFromBuilder.aberturaHibrida.sugestaoNivel", "must be 1, 2 or 3"));
    }
    Ok(Asked {
        user,
        thread,
        is_guest,
        messages,
        text,
        streams,
        is_ready_at_once: wire.prompt_ready_immediate.unwrap_or(false),
        forced: wire.forcar_metodo_viva.unwrap_or(false),
        instructions: wire.prompt_override,
        name: name(nome)?,
        opening,
        block: bloco_tecnico_forcado.map(block).transpose()?,
        wants_trace,
        tracer,
    })
}

/// Who asks: a user, a guest, or whoever the key belongs to.
fn identity(wire: &Wire<'_>, caller: &Caller) -> Result<(String, bool)> {
    let says_guest = wire.is_guest.unwrap_or(wire.guest_id.is_some() && wire.user_id.is_none());
    if !says_guest && !caller.is_guest() {
        let user = caller.subject("userId", wire.user_id.clone())?;
        return user.map(|user| (user, false)).ok_or_else(|| ApiError::invalid("userId", "is missing"));
    }
    if caller.is_guest() && (wire.user_id.is_some() || wire.is_guest == Some(false)) {
        return Err(ApiError::new(Code::Forbidden, "a guest key speaks for no user, but for guests alone"));
    }
    let guest = match &wire.guest_id {
        Some(guest) => guest.clone(),
        None if wire.user_id.is_some() => return Err(ApiError::invalid("guestId", "is missing")),
        None => guests::new_id()?,
    };
    check_id(&guest).map_err(|e| ApiError::bad_id("guestId", &e))?;
    match caller.is_guest() {
        true => guests::require_unguessable(&guest)?,
        false => caller.require_user(&guest)?,
    }
    Ok((guest, true))
}

/// The thread: that of the session, else one per user.
fn session(meta: Option<&Map<String, Value>>) -> Result<String> {
    let Some(id) = meta.and_then(|meta| meta.get("sessionId")).filter(|id| !id.is_null()) else {
        return Ok(DEFAULT_SESSION.to_owned());
    };
    let id = id.as_str().ok_or_else(|| ApiError::invalid("sessionMeta.sessionId", "must be a string"))?;
    check_id(id).map_err(|e| ApiError::bad_id("sessionMeta.sessionId", &e))?;
    Ok(id.to_owned())
}

/// What the user said last, which is what is answered.
fn last_said(messages: &[Message]) -> Result<String> {
    let Some(last) = messages.last() else { return Err(ApiError::invalid("messages", "is empty")) };
    let at = messages.len() - 1;
    if !last.is(Role::User) {
        return Err(ApiError::invalid(format!("messages[{at}].role"), "must be user: that is what is answered"));
    }
    let text = said(last).unwrap_or_default().into_owned();
    check::text(&format!("messages[{at}].content"), &text, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    Ok(text)
}

/// Bytes of each part of a block.
const PART_BYTES_MAX: usize = 2_000;
const TAGS_MAX: usize = 20;

fn name(given: Option<String>) -> Result<Option<String>> {
    let Some(given) = given.filter(|name| !name.trim().is_empty()) else { return Ok(None) };
    let refuse = || {
        let problem = format!("must be one line of at most {NAME_BYTES_MAX} bytes");
        ApiError::invalid("metaFromBuilder.nome", problem)
    };
    as_name(&given).map(|name| Some(name.to_owned())).ok_or_else(refuse)
}

fn block(forced: Forced) -> Result<Block> {
    const AT: &str = "metaFromBuilder.blocoTecnicoForcado";
    let Forced { intensidade, resumo, tags, categoria, emocao } = forced;
    if intensidade.is_some_and(|intensity| !(0.0..=10.0).contains(&intensity)) {
        return Err(ApiError::invalid(format!("{AT}.intensidade"), "must be between 0 and 10"));
    }
    let parts = [("resumo", resumo.as_deref()), ("categoria", categoria.as_deref()), ("emocao", emocao.as_deref())];
    let tags_of = tags.iter().map(|tag| ("tags", Some(tag.as_str())));
    for (part, text) in parts.into_iter().chain(tags_of) {
        if text.is_some_and(|text| text.len() > PART_BYTES_MAX) {
            return Err(ApiError::invalid(
                format!("{AT}.{part}"),
                format_args!("has more than {PART_BYTES_MAX} bytes"),
            ));
        }
    }
    if tags.len() > TAGS_MAX {
        return Err(ApiError::invalid(format!("{AT}.tags"), format_args!("has more than {TAGS_MAX} entries")));
    }
    Ok(Block { intensity: intensidade, summary: resumo, tags, category: categoria, emotion: emocao })
}

/// Where a request comes from: as a proxy says, where the operator trusts one, else the other end of the connection.
fn address(headers: &HeaderMap, named: &str, peer: std::net::IpAddr) -> String {
    let said = (!named.is_empty()).then(|| headers.get(named)).flatten().and_then(|value| value.to_str().ok());
    let first = said.and_then(|said| said.split(',').next()).map(str::trim).filter(|said| !said.is_empty());
    first.map_or_else(|| peer.to_string(), str::to_owned)
}

/// Events before the first piece of text: that the prompt is ready, and that the first word is there.
const BEFORE_TEXT: usize = 2;

/// The first frame of a stream that goes on. It has the id that the client came with.
fn reconnected(behind: &str, reader: &Reader) -> String {
    let at = now();
    let since_ms = ((at - reader.started_at()) * 1e3).max(0.0);
    let data = json!({"type": "reconnect", "at": at, "sinceStartMs": since_ms, "lastEventId": behind});
    frame(behind, "reconnect", &data)
}

/// The frames of an event; the trace of one that was asked for with it, only for whom it is.
fn event(told: &Told, shown: &Shown) -> String {
    let missed = match told.missed {
        0 => String::new(),
        // It stands before the event, so that who breaks off here comes back to that.
        missed => frame(&told.before(), "reconnect", &with(told, "reconnect", json!({"missed": missed}))),
    };
    let (name, data) = match &*told.event {
        Event::Ready => ("prompt_ready", json!({})),
        Event::First => ("first_token", json!({})),
        Event::Text(text) => ("chunk", json!({"index": told.number.saturating_sub(BEFORE_TEXT + 1), "delta": text})),
        Event::Spoken { first_ms, last_ms } => ("latency", json!({"ttfbMs": first_ms, "ttlcMs": last_ms})),
        Event::Pending => ("meta_pending", json!({})),
        Event::Guided(_) | Event::Failed(_) => return missed + &frame(&told.id, "done", &done(told, shown)),
        Event::Question(_) | Event::Prompt(_) | Event::Anew | Event::Skill(_) | Event::Calls(_) | Event::Done(_) => {
            return missed;
        }
    };
    missed + &frame(&told.id, name, &with(told, name, data))
}

/// The last event, which is also the whole answer.
fn done(told: &Told, shown: &Shown) -> Value {
    let mut data = match &*told.event {
        Event::Guided(answer) if shown.may_debug => json!(answer),
        Event::Guided(answer) => json!(guide::Answer { trace: None, ..(**answer).clone() }),
        Event::Failed(error) => {
            let body: Value = serde_json::from_slice(&error.body()).unwrap_or_default();
            json!({"fallback": true, "cache": false, "error": body.get("error")})
        }
        _ => json!({}),
    };
    if let (Some(fields), Some(guest)) = (data.as_object_mut(), &shown.guest) {
        fields.insert("guestId".to_owned(), guest.clone().into());
    }
    with(told, "done", data)
}

/// What every frame says, and then what it says itself.
fn with(told: &Told, name: &str, data: Value) -> Value {
    let mut all = json!({"type": name, "at": told.at, "sinceStartMs": told.since_ms});
    if let (Value::Object(all), Value::Object(data)) = (&mut all, data) {
        all.extend(data);
    }
    all
}

fn frame(id: &str, name: &str, data: &Value) -> String {
    sse::frame(id, name, &data.to_string())
}

async fn whole(reader: Reader, shown: &Shown) -> Result<Response> {
    let told = sse::last(reader).await?;
    Ok(Json::of(&done(&told, shown)).into_response())
}
