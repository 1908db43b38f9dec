//! What a column holds, by its name, its declared type and some of its values.

use novelo_language::schema_words::{SchemaWords, any_has};
use rusqlite::types::Value;

use super::words::{fold, split};

/// The share of values that must look alike.
const ALIKE: f64 = 0.9;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    /// A number that only tells rows apart.
    Id,
    Integer,
    Real,
    Percent,
    Year,
    Date(DateForm),
    Text,
    /// Bytes, or nothing at all.
    Other,
}

/// How a date is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DateForm {
    Iso,
    /// `31/10/2025`, or with points.
    DayFirst,
    Seconds,
    Milliseconds,
    /// `20251031`.
    Digits,
}

impl DateForm {
    /// The day of an expression, as `2025-10-31`.
    pub(super) fn sql(self, of: &str) -> String {
        match self {
            Self::Iso => format!("substr({of}, 1, 10)"),
            Self::DayFirst => format!("substr({of}, 7, 4) || '-' || substr({of}, 4, 2) || '-' || substr({of}, 1, 2)"),
            Self::Seconds => format!("date({of}, 'unixepoch')"),
            Self::Milliseconds => format!("date({of} / 1000, 'unixepoch')"),
            Self::Digits => format!("substr({of}, 1, 4) || '-' || substr({of}, 5, 2) || '-' || substr({of}, 7, 2)"),
        }
    }
}

/// Whether a name has one of these words.
pub(super) fn named(list: fn(&SchemaWords) -> &'static str, name: &str) -> bool {
    split(name).iter().any(|word| any_has(list, word) || any_has(list, &fold(word)))
}

pub(super) fn is_name(name: &str) -> bool {
    named(|it| it.names, name)
}

pub(super) fn is_code(name: &str) -> bool {
    named(|it| it.codes, name)
}

/// Whether a name ends as that of a key does: `id`, `product_id`.
pub(super) fn is_id(name: &str) -> bool {
    split(name).last().is_some_and(|word| any_has(|it| it.keys, word))
}

/// What a column holds. `is_key`: whether it tells rows apart or names rows of another table.
pub(super) fn kind(name: &str, is_key: bool, values: &[Value]) -> ColumnKind {
    let filled: Vec<&Value> = values.iter().filter(|value| !matches!(value, Value::Null)).collect();
    if filled.is_empty() {
        return ColumnKind::Other;
    }
    let share =
        |is: &dyn Fn(&Value) -> bool| filled.iter().filter(|value| is(value)).count() as f64 / filled.len() as f64;
    let are = |is: &dyn Fn(&Value) -> bool| share(is) >= ALIKE;
    let number = |value: &Value| match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Real(number) => Some(*number),
        _ => None,
    };
    let within = |from: f64, to: f64| move |value: &Value| number(value).is_some_and(|it| (from..to).contains(&it));
    if are(&|value| text(value).is_some_and(is_iso)) {
        return ColumnKind::Date(DateForm::Iso);
    }
    if are(&|value| text(value).is_some_and(is_day_first)) {
        return ColumnKind::Date(DateForm::DayFirst);
    }
    if are(&|value| number(value).is_some()) {
        let is_time = named(|it| it.times, name) && !is_key;
        return match () {
            () if is_time && are(&within(1e11, 1e13)) => ColumnKind::Date(DateForm::Milliseconds),
            () if is_time && are(&|value| number(value).is_some_and(is_digits)) => ColumnKind::Date(DateForm::Digits),
            () if is_time && are(&within(1e8, 1e11)) => ColumnKind::Date(DateForm::Seconds),
            () if is_key || is_id(name) => ColumnKind::Id,
            () if named(|it| it.years, name) && are(&within(1000.0, 3000.0)) => ColumnKind::Year,
            () if named(|it| it.percents, name) => ColumnKind::Percent,
            () if filled.iter().all(|value| matches!(value, Value::Integer(_))) => ColumnKind::Integer,
            () => ColumnKind::Real,
        };
    }
    if are(&|value| matches!(value, Value::Text(_))) { ColumnKind::Text } else { ColumnKind::Other }
}

pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

fn is_iso(text: &str) -> bool {
    let day = text.get(..10).unwrap_or("");
    novelo_language::iso_day(day).is_some()
        && text.get(10..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['T', ' ']))
}

fn is_day_first(text: &str) -> bool {
    let parts: Vec<&str> = text.get(..10).unwrap_or("").split(['/', '.']).collect();
    match parts.as_slice() {
        [day, month, year] if day.len() == 2 && month.len() == 2 => {
            novelo_language::iso_day(&format!("{year}-{month}-{day}")).is_some()
        }
        _ => false,
    }
}

fn is_digits(number: f64) -> bool {
    let digits = format!("{number}");
    let day = |from: usize, to: usize| digits.get(from..to).unwrap_or("");
    digits.len() == 8 && novelo_language::iso_day(&format!("{}-{}-{}", day(0, 4), day(4, 6), day(6, 8))).is_some()
}
