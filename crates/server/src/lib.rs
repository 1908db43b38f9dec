//! The binary `novelo`: HTTP, the surfaces and the command line around `novelo-conversation`.

mod auth;
pub mod cli;
mod cors;
pub mod files;
pub mod http;
mod instance;
pub mod peers;
mod route;
pub mod router;
pub mod server;
pub mod surface;
mod transfer;
