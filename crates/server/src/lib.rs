//! The binary `novelo`: HTTP, the surfaces and the command line around `novelo-conversation`.

pub mod auth;
pub mod cli;
pub mod files;
pub mod http;
pub mod instance;
pub mod peers;
pub mod router;
pub mod server;
pub mod surface;
pub mod transfer;
