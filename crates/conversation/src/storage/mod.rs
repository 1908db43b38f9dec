//! The state of the stores that a node opens.

pub(crate) mod eviction;
pub mod incomplete;
