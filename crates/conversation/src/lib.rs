//! Conversations without a web server: threads, contexts, memory, search and answers.
//!
//! Another Rust program can embed this crate; `novelo-server` puts HTTP and a command line around it.
//!
//! ```
//! use novelo_conversation::context::{self, request::Request};
//! use novelo_conversation::settings::Settings;
//! use novelo_conversation::telemetry::now;
//! use novelo_conversation::{app, thread};
//! use novelo_engine::time_scope::TimeScope;
//! use novelo_engine::{Message, Role};
//!
//! # tokio::runtime::Runtime::new().unwrap().block_on(async {
//! // `Settings::default()` stores into a directory, `./novelo-data`.
//! let (app, tasks) = app::open(Settings::in_memory()).await?;
//!
//! let turns = ["Olá!", "Do you have books on knots?"].map(|text| Message::text(Role::User, text).into());
//! thread::append(&app, "ana", "t1", turns, None).await?;
//!
//! let reach = TimeScope::thread("t1", now());
//! let user = Some("ana".to_owned());
//! let request = Request { user, reach, budget_tokens: Some(200), ..Request::default() };
//! let context = context::context(&app, request).await?;
//! assert!(context.tokens <= 200);
//! assert!(context.messages().ends_with(b"Do you have books on knots?\"}]"));
//!
//! app::close(app, tasks).await?;
//! # anyhow::Ok(()) }).unwrap();
//! ```

#![deny(missing_docs)]

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
pub mod logs;
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
