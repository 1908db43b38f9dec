//! Surfaces: each translates its wire form into a request to the conversation, and the answer back.
//!
//! Each declares its routes with their facts (`route`).

mod ask;
mod debug;
mod eco;
mod memory;
mod native;
pub mod openapi;
mod pages;
mod responses;
mod thread;
mod topic;

use novelo_engine::path::check_id;

use crate::route::Routes;
use crate::server::Server;
use novelo_conversation::error::{Error, Result};

/// The routes of all surfaces.
pub(crate) fn routes(server: &Server) -> Routes {
    native::routes(server)
        .merge(responses::routes(server))
        .merge(topic::routes(server))
        .merge(memory::routes(server))
        .merge(thread::routes(server))
        .merge(ask::routes(server))
        .merge(eco::routes(server))
        .merge(debug::routes(server))
        .merge(pages::routes(server))
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
