//! Surfaces: each translates its wire form into a request of the one path, and the answer back.

pub mod ask;
pub mod memory;
pub mod native;
pub mod thread;
pub mod topic;
