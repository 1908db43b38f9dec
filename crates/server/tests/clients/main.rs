//! `/v1/chat/completions` and `/v1/responses` in the hands of the clients that people use: each test starts
//! the real server before a model that calls tools, and runs a script with a package that another project
//! wrote.
//!
//! A script tells what its client saw; the thread and what the model was sent are compared here. Novelo's own
//! clients have tests of their own, and run the suites of the frameworks; `own` starts the servers for them.
//! `make clients` installs the packages.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod agents;
mod conversation;
mod failures;
mod model;
mod openai;
mod own;
mod responses;
mod script;
