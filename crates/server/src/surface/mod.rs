//! Surfaces: each translates its wire form into a request to the conversation, and the answer back.
//!
//! Each declares its routes with their facts (`http::route`).

mod ask;
mod debug;
mod eco;
mod memory;
mod native;
pub mod openapi;
mod pages;
mod thread;
mod topic;

use novelo_engine::path::check_id;

use crate::http::route::Routes;
use crate::server::Server;
use novelo_conversation::error::{Error, Result};

/// The routes of all surfaces.
pub(crate) fn routes(server: &Server) -> Routes<Server> {
    native::routes()
        .merge(topic::routes())
        .merge(memory::routes())
        .merge(thread::routes())
        .merge(ask::routes())
        .merge(eco::routes(server.clone()))
        .merge(debug::routes())
        .merge(pages::routes())
}

/// An id of a body that must be there.
fn required_id(name: &str, id: Option<String>) -> Result<String> {
    optional_id(name, id)?.ok_or_else(|| Error::invalid(name, "is missing"))
}

/// An id of a body that may be left out.
fn optional_id(name: &str, id: Option<String>) -> Result<Option<String>> {
    id.as_deref().map_or(Ok(()), |id| check_id(id).map_err(|e| Error::bad_id(name, &e)))?;
    Ok(id)
}
