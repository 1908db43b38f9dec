//! `GET /debug/trace/{id}`: the trace of a request for an operator, of any surface.
//!
//! Owns this wire form, and which of its two forms a client gets: JSON, for admins only, or the page that
//! reads it. The page is the same for every id and every caller, so that it does not reveal what exists.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::Value;

use super::pages;
use crate::auth::Access;
use crate::http::body::{Json, PathIds};
use crate::http::error::ApiResult;
use crate::route::{NodeMemory, Routes, prefers_page};
use crate::server::Server;
use novelo_conversation::app::App;
use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Error, Result};
use novelo_conversation::trace::{self, TraceEntry, TraceId};

pub(crate) fn routes(server: &Server) -> Routes {
    let facts = Access::Admins.with_public_page().reading(NodeMemory::Trace);
    Routes::new(server).route("/debug/trace/{id}", facts.for_pages("GET"), get(read))
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
        Some(TraceEntry::Request(request_trace)) => Ok(trace::view(&request_trace)),
        Some(TraceEntry::Prompt(_)) => {
            Err(Error::not_found("course of this id, but a prompt\nhint: read it at /v1/traces/{id}"))
        }
        None => Err(Error::not_found("such trace")),
    }
}
