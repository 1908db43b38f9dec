//! Answers: by a model, guided, from data.

pub mod data;
pub mod guide;
pub mod reply;
