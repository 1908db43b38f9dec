//! What a sentence means.
//!
//! Owns words and their stems, languages, calendar dates, follow-up questions made self-contained, questions
//! about data, the weighing and routing of messages, and the clean-up of a model's answer. Pure: no storage,
//! no network, no clock.
//!
//! Each language is one folder with a `Grammar` and one line in `language.rs`; the other modules hold no
//! words of any language.

pub mod analyse;
pub mod calendar;
mod claim_words;
pub mod claims;
pub mod content;
pub mod dates;
pub mod decide;
mod english;
pub mod finish;
pub mod generated;
mod language;
mod locale;
pub mod plan;
mod portuguese;
mod question_grammar;
pub mod remark;
pub mod rewrite;
mod russian;
pub mod schema_words;
mod stated;
mod syntax;
mod window;

pub use self::calendar::{iso_date, iso_day, iso_seconds, utc_minute};
pub use self::language::Language;
pub use self::locale::Locale;
