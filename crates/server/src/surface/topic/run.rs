//! `POST /context/topicContextYoj/run`: messages for a kala, by a model or a preset.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderName;
use axum::response::{IntoResponse, Response};
use novelo_engine::decode::Fields;
use serde_json::{Map, Value, json};

use super::unknown::{TopicBody, answer};
use super::{TopicCaller, kala};
use crate::http::body::{Json, RawBody};
use crate::http::error::ApiResult;
use crate::http::trace_id::{TRACE_ID, header_value};
use novelo_conversation::app::App;
use novelo_conversation::context;
use novelo_conversation::context::answer::Answer;
use novelo_conversation::context::request::{RecipeChoice, Request};
use novelo_conversation::error::{Error, Result};
use novelo_conversation::policy::Preset;
use novelo_conversation::telemetry::now;

const FIELDS: [&str; 5] = ["kala", "model", "presetId", "includeDocId", "userId"];

/// The header with the id of the trace, if there is one. The header that all surfaces share has it too.
const TRACE: HeaderName = HeaderName::from_static("x-novelo-trace");

/// Collections whose documents are rendered as data, with a label of their path.
const DATA: [&str; 3] = ["summaries", "topicInfos", "topicInfo"];

pub(crate) async fn run(State(app): State<App>, about: TopicCaller, RawBody(body): RawBody) -> ApiResult<Response> {
    let body = TopicBody::parse(&body, &FIELDS)?;
    Ok(answer(make(&app, about, &body).await, &body.unknown))
}

async fn make(app: &App, about: TopicCaller, body: &TopicBody) -> Result<Response> {
    let mut fields = Fields::from_value("", &body.fields)?;
    let subject = about.subject(fields.string("userId")?.map(str::to_owned))?;
    let (model, preset) = (fields.value("model"), fields.string("presetId")?);
    let with_ids = fields.flag("includeDocId")?.unwrap_or(false);
    let request = Request {
        reach: kala::reach(fields.value("kala"), now())?,
        recipe: RecipeChoice::Decoded(choose(app, model, preset, with_ids)?),
        user: subject.user,
        legacy: subject.legacy,
        answer: Answer::Messages("yoj"),
        unknown_fields: body.unknown.clone(),
        ..Request::default()
    };
    let made = context::context(app, request).await?;
    let mut response = Json::from_bytes(made.body).into_response();
    if made.traced {
        let trace = header_value(&made.trace);
        response.headers_mut().extend([(TRACE, trace.clone()), (TRACE_ID, trace)]);
    }
    Ok(response)
}

/// The model, else the preset, else nothing but the default filters.
fn choose(app: &App, model: Option<&Value>, preset: Option<&str>, with_ids: bool) -> Result<Arc<Preset>> {
    match (model, preset) {
        (Some(model), _) if model.get("docIds").is_some() => {
            Err(Error::invalid("model.docIds", "is not known; did you mean includeDocId?"))
        }
        (Some(model), _) => Ok(Arc::new(Preset::given("model", recipe(model.clone(), with_ids))?)),
        (None, Some(name)) => {
            let known = || format!("must be one of {}", app.policies.names().join(", "));
            let preset = app.policies.preset(name).ok_or_else(|| Error::invalid("presetId", known()))?;
            Ok(preset.with_ids(with_ids)?)
        }
        (None, None) => Ok(Arc::new(Preset::given("model", recipe(json!({}), with_ids))?)),
    }
}

/// A model as a recipe.
fn recipe(mut model: Value, with_ids: bool) -> Value {
    if let Value::Object(fields) = &mut model {
        if with_ids {
            fields.insert("docIds".to_owned(), "shown".into());
        }
        if fields.get("filters").is_none_or(Value::is_null) {
            let limiter = json!({"name": "sizeLimiter", "options": {"maxTokens": 24_000}});
            fields.insert("filters".to_owned(), json!([limiter, "toolCallBackfill"]));
        }
        fields.get_mut("components").into_iter().for_each(show_data);
    }
    model
}

/// Marks the leaves of a component tree that are data.
fn show_data(components: &mut Value) {
    for component in components.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        if is_data(component) {
            component.entry("as").or_insert_with(|| "data".into());
        }
        component.get_mut("children").into_iter().for_each(show_data);
    }
}

fn is_data(component: &Map<String, Value>) -> bool {
    component.get("name").and_then(Value::as_str).is_some_and(|name| DATA.contains(&name))
}
