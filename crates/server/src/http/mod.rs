//! HTTP: from a socket to a handler and back.
//!
//! Owns the listener, the limits on what a client may send and how slowly, extractors, errors as responses,
//! and event streams. Knows no surface and no state of the server.

pub mod body;
pub(crate) mod body_bytes;
pub mod connections;
pub(crate) mod error;
mod listener;
pub(crate) mod origin;
pub(crate) mod sse;
mod stall;
mod strict;
pub(crate) mod trace_id;

use std::net::IpAddr;

use axum::http::HeaderName;

pub use listener::serve;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The address of the client. Every request carries it as an extension.
#[derive(Debug, Clone, Copy)]
pub struct ClientAddress(pub IpAddr);
