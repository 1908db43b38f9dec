//! Answers: by a model, guided, from data.

pub mod guide;
pub mod reply;
