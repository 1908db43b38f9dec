//! Every endpoint and shape of the native API, on a running server.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod ask;
mod assistant;
mod completions;
mod context;
mod courses;
mod documents;
mod eco;
mod embedding;
mod erasure;
mod fallback;
mod health;
mod keys;
mod memories;
mod models;
mod page;
mod passages;
mod policies;
mod qdrant;
mod real_qdrant;
mod recall;
mod removal;
mod replies;
mod reset;
mod responses;
mod resume;
mod skills;
mod summary;
mod tasks;
mod threads;
mod topics;
mod traces;
mod turns;
