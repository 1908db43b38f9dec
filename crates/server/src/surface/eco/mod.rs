//! `POST /ask-eco`: answers a conversation, whole or as a stream. `novelo_conversation::answer::guide` makes
//! the answer.
//!
//! Owns the wire form: fields, flags and frames. Every answer names its request trace.

mod delivery;
mod frames;
mod guests;
mod repeat;
pub(crate) mod schema;

use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::post;
use novelo_engine::limits::{INLINE_MESSAGES_MAX, QUESTION_BYTES_MAX};
use novelo_engine::path::check_id;
use novelo_engine::{Message, Role};
use novelo_language::decide::Delivery;
use novelo_language::finish::Block;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use self::frames::{Shown, event, guest_of, reconnected, whole};
use super::native::turns::accept_messages;
use crate::auth::Access;
use crate::http::ClientAddress;
use crate::http::body::{QueryParams, RawBody, parse_object};
use crate::http::error::{ApiError, ApiResult};
use crate::http::sse;
use crate::http::trace_id::header_value;
use crate::route::Routes;
use crate::server::Server;
use novelo_conversation::answer::guide::GuidedRequest;
use novelo_conversation::answer::guide::load::{NAME_BYTES_MAX, as_name};
use novelo_conversation::answer::{
    self, AnswerRequest, EventReader, Patience, ReplyOptions, ReplyOwner, ResponseFormat,
};
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::remember::check;
use novelo_conversation::remember::reset::DEFAULT_SESSION;
use novelo_conversation::text::said;
use novelo_conversation::trace::RequestTracer;

/// The id of a guest, including one that was created here.
const GUEST_ID: HeaderName = HeaderName::from_static("x-eco-guest-id");
const TRACE_ID: HeaderName = HeaderName::from_static("x-eco-trace-id");

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct EcoRequest<'b> {
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
    meta_from_builder: Option<BuilderMeta>,
}

/// What a client's own prompt builder says about the message.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct BuilderMeta {
    nome: Option<String>,
    abertura_hibrida: Option<BuilderOpening>,
    bloco_tecnico_forcado: Option<ForcedBlock>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct BuilderOpening {
    sugestao_nivel: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForcedBlock {
    intensidade: Option<f32>,
    resumo: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    categoria: Option<String>,
    emocao: Option<String>,
}

#[derive(Deserialize)]
struct EcoParams {
    debug: Option<String>,
}

pub(crate) fn routes(server: &Server) -> Routes {
    // Inside of the layer, so that this refusal is traced too.
    let other = async || ApiError(Error::new(Code::MethodNotAllowed, "this address takes other methods"));
    Routes::new(server)
        .route("/ask-eco", Access::AnyKey.for_pages("POST"), post(ask).fallback(other))
        .layer(from_fn_with_state(server.clone(), traced))
}

/// Starts a trace for each request and names it in the response. A refused request is traced too.
async fn traced(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let tracer = RequestTracer::begin(&app.recorder, "ask-eco");
    request.extensions_mut().insert(tracer.clone());
    let mut response = next.run(request).await;
    if let Some(error) = response.extensions().get::<Arc<Error>>() {
        tracer.refused(error);
        tracer.end();
    }
    response.headers_mut().insert(TRACE_ID, header_value(&tracer.id()));
    response
}

async fn ask(
    State(server): State<Server>,
    Extension(tracer): Extension<RequestTracer>,
    Extension(ClientAddress(peer)): Extension<ClientAddress>,
    caller: Caller,
    QueryParams(flags): QueryParams<EcoParams>,
    headers: HeaderMap,
    RawBody(body): RawBody,
) -> ApiResult<Response> {
    let app = &server.app;
    let wants_trace = matches!(flags.debug.as_deref(), Some("1" | "true"));
    if wants_trace {
        caller.require_admin()?;
    }
    if let Some(reader) = sse::resume(app, &caller, &headers, |format| matches!(format, ResponseFormat::Guided { .. }))?
    {
        tracer.heuristic("resume", reader.trace_id(), "Last-Event-ID");
        tracer.end();
        let behind = headers.get(sse::LAST_EVENT_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
        let head = reconnected(&behind, &reader);
        let shown = Shown { may_debug: caller.is_admin(), guest: guest_of(&reader) };
        return Ok(sse::answer_after(Some(head), reader, move |told| event(told, &shown)));
    }
    let wire: EcoRequest<'_> = parse_object(&body)?;
    let delivery = delivery::of_request(wire.stream, &headers);
    let mut asked = accept(wire, &caller, EcoOptions { delivery, wants_trace, tracer: tracer.clone() })?;
    asked.repeat = repeat::key(&headers, &asked)?;
    let owner = ReplyOwner { user: Some(asked.user.clone()), thread: Some(asked.thread.clone()) };
    let guest = asked.is_guest.then(|| asked.user.clone());
    if asked.is_guest {
        guests::claim(&server, &asked.user).await?;
    }
    let repeat = repeat::running_key(&asked);
    if let Some(reader) = app.replies.join(&owner, &repeat)? {
        tracer.joined(&reader.trace_id());
        return answered(reader, delivery, Shown { may_debug: wants_trace, guest }).await;
    }
    if asked.is_guest {
        let named = app.settings.eco.address_header.as_deref();
        // A person in danger is answered regardless of the limit. Such an answer calls no model, so it cannot
        // be used to get around the limit.
        let rules = &app.policies.guide().rules;
        if rules.crisis(&rules.read(&asked.text)).is_none() {
            guests::admit(app, &asked.user, &address(&headers, named, peer)).await?;
        }
    }
    // A request that may come again, such as a double click whose first call is aborted, waits for that.
    let waits = delivery != Delivery::Json || asked.repeat.is_some();
    let patience = if waits { Patience::Page } else { Patience::None };
    let format = ResponseFormat::Guided { guest: guest.clone() };
    let options = ReplyOptions { owner, format, patience, tracer, repeat: Some(repeat), response: None };
    let reader = answer::begin(app, AnswerRequest::Guided(asked), options)?;
    answered(reader, delivery, Shown { may_debug: wants_trace, guest }).await
}

/// The answer in the form that the client asks for.
async fn answered(reader: EventReader, delivery: Delivery, shown: Shown) -> ApiResult<Response> {
    let guest = shown.guest_header();
    let mut response = match delivery {
        Delivery::Json => whole(reader, &shown).await?,
        Delivery::Events | Delivery::Stream => sse::answer(reader, move |told| event(told, &shown)),
    };
    response.headers_mut().extend(guest.map(|id| (GUEST_ID, id)));
    Ok(response)
}

/// What a request says outside of its body.
struct EcoOptions {
    delivery: Delivery,
    wants_trace: bool,
    tracer: RequestTracer,
}

fn accept(wire: EcoRequest<'_>, caller: &Caller, accepted: EcoOptions) -> Result<GuidedRequest> {
    let (user, is_guest) = identity(&wire, caller)?;
    let thread = session(wire.session_meta.as_ref())?;
    let EcoOptions { delivery, wants_trace, tracer } = accepted;
    tracer.about(&user, &thread);
    if let Some(meta) = wire.session_meta {
        tracer.heuristic("sessionMeta", meta, "as the client says");
    }
    let messages = wire.messages.ok_or_else(|| Error::invalid("messages", "is missing"))?;
    let messages = accept_messages(&messages, INLINE_MESSAGES_MAX, "INLINE_MESSAGES_MAX")?;
    let text = last_said(&messages)?;
    if let Some(instructions) = &wire.prompt_override {
        check::text("promptOverride", instructions, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    }
    let BuilderMeta { nome, abertura_hibrida, bloco_tecnico_forcado } = wire.meta_from_builder.unwrap_or_default();
    let opening = abertura_hibrida.map(|opening| opening.sugestao_nivel);
    if opening.is_some_and(|level| !(1..=3).contains(&level)) {
        return Err(Error::invalid("metaFromBuilder.aberturaHibrida.sugestaoNivel", "must be 1, 2 or 3"));
    }
    Ok(GuidedRequest {
        user,
        thread,
        is_guest,
        messages,
        text,
        delivery,
        is_ready_at_once: wire.prompt_ready_immediate.unwrap_or(false),
        forced: wire.forcar_metodo_viva.unwrap_or(false),
        instructions: wire.prompt_override,
        name: name(nome)?,
        opening,
        block: bloco_tecnico_forcado.map(block).transpose()?,
        repeat: None,
        wants_trace,
        tracer,
    })
}

/// Who asks: a user, a guest, or the owner of the key.
fn identity(wire: &EcoRequest<'_>, caller: &Caller) -> Result<(String, bool)> {
    let says_guest = wire.is_guest.unwrap_or(wire.guest_id.is_some() && wire.user_id.is_none());
    if !says_guest && !caller.is_guest() {
        let user = caller.subject("userId", wire.user_id.clone())?;
        return user.map(|user| (user, false)).ok_or_else(|| Error::invalid("userId", "is missing"));
    }
    if caller.is_guest() && (wire.user_id.is_some() || wire.is_guest == Some(false)) {
        return Err(Error::new(Code::Forbidden, "a guest key speaks for no user, but for guests alone"));
    }
    let guest = match &wire.guest_id {
        Some(guest) => guest.clone(),
        None if wire.user_id.is_some() => return Err(Error::invalid("guestId", "is missing")),
        None => guests::new_id()?,
    };
    check_id(&guest).map_err(|e| Error::bad_id("guestId", &e))?;
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
    let id = id.as_str().ok_or_else(|| Error::invalid("sessionMeta.sessionId", "must be a string"))?;
    check_id(id).map_err(|e| Error::bad_id("sessionMeta.sessionId", &e))?;
    Ok(id.to_owned())
}

/// The last message of the user, which is answered.
fn last_said(messages: &[Message]) -> Result<String> {
    let Some(last) = messages.last() else { return Err(Error::invalid("messages", "is empty")) };
    let at = messages.len() - 1;
    if !last.is(Role::User) {
        return Err(Error::invalid(format!("messages[{at}].role"), "must be user: that is what is answered"));
    }
    let text = said(last).unwrap_or_default().into_owned();
    check::text(&format!("messages[{at}].content"), &text, ("QUESTION_BYTES_MAX", QUESTION_BYTES_MAX))?;
    Ok(text)
}

/// The cap on each text of a block, in bytes.
const PART_BYTES_MAX: usize = 2_000;
const TAGS_MAX: usize = 20;

fn name(given: Option<String>) -> Result<Option<String>> {
    let Some(given) = given.filter(|name| !name.trim().is_empty()) else { return Ok(None) };
    let refuse = || {
        let problem = format!("must be one line of at most {NAME_BYTES_MAX} bytes");
        Error::invalid("metaFromBuilder.nome", problem)
    };
    as_name(&given).map(|name| Some(name.to_owned())).ok_or_else(refuse)
}

fn block(forced: ForcedBlock) -> Result<Block> {
    const AT: &str = "metaFromBuilder.blocoTecnicoForcado";
    let ForcedBlock { intensidade, resumo, tags, categoria, emocao } = forced;
    if intensidade.is_some_and(|intensity| !(0.0..=10.0).contains(&intensity)) {
        return Err(Error::invalid(format!("{AT}.intensidade"), "must be between 0 and 10"));
    }
    let parts = [("resumo", resumo.as_deref()), ("categoria", categoria.as_deref()), ("emocao", emocao.as_deref())];
    let tags_of = tags.iter().map(|tag| ("tags", Some(tag.as_str())));
    for (part, text) in parts.into_iter().chain(tags_of) {
        if text.is_some_and(|text| text.len() > PART_BYTES_MAX) {
            return Err(Error::invalid(format!("{AT}.{part}"), format_args!("has more than {PART_BYTES_MAX} bytes")));
        }
    }
    if tags.len() > TAGS_MAX {
        return Err(Error::invalid(format!("{AT}.tags"), format_args!("has more than {TAGS_MAX} entries")));
    }
    Ok(Block { intensity: intensidade, summary: resumo, tags, category: categoria, emotion: emocao })
}

/// The address of the client: from the header of a trusted proxy if the operator set one, else of the
/// connection.
fn address(headers: &HeaderMap, named: Option<&str>, peer: std::net::IpAddr) -> String {
    let said = named.and_then(|named| headers.get(named)).and_then(|value| value.to_str().ok());
    let first = said.and_then(|said| said.split(',').next()).map(str::trim).filter(|said| !said.is_empty());
    first.map_or_else(|| peer.to_string(), str::to_owned)
}
