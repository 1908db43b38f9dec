//! Surfaces: each translates its wire form into a request of the one path, and the answer back.

pub mod ask;
pub mod debug;
pub mod eco;
pub mod memory;
pub mod native;
pub mod pages;
pub mod thread;
pub mod topic;
