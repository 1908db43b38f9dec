//! `GET /debug/trace/{id}`: the trace of a request for an operator, of any surface.
//!
//! Owns this wire form, and which of its two forms a client gets: JSON, for admins only, or the page that
//! reads it. The page is the same for every id and every caller, so that it does not reveal what exists.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;

use super::pages;
use crate::auth::Access;
use crate::http::body::{Json, PathIds};
use crate::http::error::ApiResult;
use crate::http::route::{NodeMemory, Routes};
use crate::server::Server;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::trace::{self, Entry, TraceId};

pub(crate) fn routes() -> Routes<Server> {
    let facts = Access::Admins.with_public_page().reading(NodeMemory::Trace);
    Routes::new().route("/debug/trace/{id}", facts, get(read))
}

async fn read(State(server): State<Server>, request: Request) -> ApiResult<Response> {
    let (mut parts, _) = request.into_parts();
    let mut response = match prefers_page(&parts.headers) {
        true => pages::page("debug.html", &parts.headers)?,
        false => {
            Caller::from_request_parts(&mut parts, &server).await?;
            let PathIds(id) = PathIds::<String>::from_request_parts(&mut parts, &server).await?;
            let json = Json::from_value(&request_trace(&server.app, &id).await?);
            ([(header::CACHE_CONTROL, "no-store")], json).into_response()
        }
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

async fn request_trace(app: &App, id: &str) -> Result<Value> {
    let found = match TraceId::decode(id) {
        Some(id) => trace::find(&app.store, &app.recorder, &id).await?,
        None => None,
    };
    match found {
        Some(Entry::Course(course)) => Ok(trace::view(&course)),
        Some(Entry::Prompt(_)) => {
            Err(Error::not_found("course of this id, but a prompt\nhint: read it at /v1/traces/{id}"))
        }
        None => Err(Error::not_found("such course")),
    }
}

/// Whether a client prefers a page to JSON, as browsers do.
fn prefers_page(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT).iter().map(HeaderValue::to_str).filter_map(std::result::Result::ok);
    let list = lists.collect::<Vec<_>>().join(",");
    let weight = |kind: &str| {
        let (group, _) = kind.split_once('/').unwrap_or_default();
        let named = [kind.to_owned(), format!("{group}/*"), "*/*".to_owned()];
        named.iter().find_map(|name| list.split(',').find_map(|item| quality(item, name))).unwrap_or(0.0)
    };
    weight("text/html") > weight("application/json")
}

/// The weight that an item of an `Accept` header gives to `name`, if it names it.
fn quality(item: &str, name: &str) -> Option<f32> {
    let mut parts = item.split(';').map(str::trim);
    parts.next().filter(|kind| kind.eq_ignore_ascii_case(name))?;
    let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    Some(weight.and_then(|weight| weight.trim().parse().ok()).unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_a_page_and_programs_json() {
        let prefers = |accept: &str| {
            let value = HeaderValue::from_str(accept).unwrap();
            prefers_page(&HeaderMap::from_iter([(header::ACCEPT, value)]))
        };
        for page in ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html", "TEXT/*"] {
            assert!(prefers(page), "{page}");
        }
        let json = ["*/*", "", "application/json", "application/json, text/html", "text/html;q=0.5, */*", "text/plain"];
        for json in json {
            assert!(!prefers(json), "{json}");
        }
        assert!(!prefers_page(&HeaderMap::new()));
    }
}
