//! What a sentence means.
//!
//! Owns words and their stems, languages, calendar dates, follow-up questions made self-contained, questions about data,
//! the weighing and routing of messages, and the clean-up of a model's answer. Pure: no storage, no network, no clock.

pub mod analyse;
pub mod decide;
pub mod finish;
pub mod plan;
pub mod rewrite;

pub use analyse::Language;
pub use analyse::dates::{iso_date, iso_day};
