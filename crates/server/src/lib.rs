//! The binary `novelo`: one engine behind its native API and the command line.
//!
//! Owns the way of a request: `http` reads it, a surface translates it, `flow` runs it, `record` keeps the trace.
//! Dependencies point one way: `server → store, recall → engine`.

pub mod answer;
pub mod app;
pub mod auth;
pub mod cache;
pub mod cli;
pub mod collapse;
pub mod config;
pub mod data;
pub mod eviction;
pub mod files;
pub mod flow;
pub mod forget;
mod guide;
pub mod http;
pub mod ids;
pub mod incomplete;
pub mod instance;
pub mod kept;
pub mod load;
pub mod memory;
pub mod model;
pub mod outbound;
pub mod peers;
pub mod pens;
pub mod policy;
pub mod recall;
pub mod record;
pub mod refused;
pub mod reply;
pub mod request;
pub mod sample;
pub mod surface;
pub mod telemetry;
pub mod trace;
pub mod transfer;
pub mod turns;
pub mod yaml;
