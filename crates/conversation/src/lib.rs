//! Conversations without a web server: threads, contexts, memory, search and answers.
//!
//! Another Rust program can embed this crate; `novelo-server` puts HTTP and a command line around it.

pub mod answer;
pub mod app;
pub mod base;
pub mod cache;
pub mod caller;
pub mod context;
pub mod data;
pub mod error;
mod files;
pub mod ids;
pub mod locks;
pub mod model;
pub mod outbound;
pub mod policy;
pub mod remember;
pub mod sample;
pub mod search;
pub mod settings;
pub mod storage;
pub mod telemetry;
pub mod text;
pub mod thread;
pub mod trace;
pub mod yaml;
