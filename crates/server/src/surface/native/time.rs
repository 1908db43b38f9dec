//! Times in requests.

use novelo_language::iso_seconds;
use serde::Deserialize;

use novelo_conversation::error::{Error, Result};

/// A time: seconds since 1970, or a date or a time as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum TimeWire {
    Seconds(f64),
    Text(String),
}

impl TimeWire {
    pub(crate) fn seconds(self, field: &str) -> Result<f64> {
        let seconds = match self {
            Self::Seconds(seconds) => Some(seconds),
            Self::Text(text) => iso_seconds(&text),
        };
        let problem = "must be seconds since 1970, a date such as 2026-11-16, or a time such as 2026-11-16T09:05:00Z";
        seconds.filter(|seconds| seconds.is_finite()).ok_or_else(|| Error::invalid(field, problem))
    }
}

/// The time in the past that a request asks about.
pub(crate) fn as_of(wire: Option<TimeWire>) -> Result<Option<f64>> {
    wire.map(|time| time.seconds("as_of")).transpose()
}
