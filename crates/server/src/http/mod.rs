//! HTTP: from a socket to a handler and back.
//!
//! Owns the listener, the limits on what a client may send and how slowly, extractors, errors as responses, event
//! streams, and the way to declare a route. Knows no surface and no state of the server.

pub mod body;
pub mod body_bytes;
pub mod connections;
pub mod error;
mod guide_schemas;
mod listener;
mod memory_schemas;
pub mod openapi;
pub mod origin;
pub mod route;
pub mod sse;
mod stall;
mod strict;
pub mod trace_id;

use std::net::IpAddr;

use axum::http::HeaderName;

pub use listener::serve;

pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The other end of a connection; every request knows it.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);
