//! The state of the stores that a node opens.

pub mod eviction;
pub mod incomplete;
