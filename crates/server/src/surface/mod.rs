//! Surfaces: each translates its wire form into a request of the one path, and the answer back.

pub mod ask;
pub mod debug;
mod debug_page;
pub mod eco;
pub mod memory;
pub mod native;
pub mod thread;
pub mod topic;
