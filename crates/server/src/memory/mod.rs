//! What is remembered of a user.

pub mod levels;
