//! Surfaces: each translates its wire form into a request of the one path, and the answer back.
//!
//! Each declares its routes with their facts (`http::route`).

pub mod ask;
pub mod debug;
pub mod eco;
pub mod memory;
pub mod native;
pub mod pages;
pub mod thread;
pub mod topic;

use crate::http::route::Routes;
use crate::server::Server;

/// The routes of all surfaces.
pub fn routes(server: &Server) -> Routes<Server> {
    native::routes()
        .merge(topic::routes())
        .merge(memory::routes())
        .merge(thread::routes())
        .merge(ask::routes())
        .merge(eco::routes(server.clone()))
        .merge(debug::routes())
        .merge(pages::routes())
}
