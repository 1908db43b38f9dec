//! Stretches of time that a question names.
//!
//! Owns how they are read in Portuguese and English (`read`), their codes (`code`), their days (`days`) and their words
//! (`words`). Refuses what only looks like one: `DY de 12 meses` names a metric, `vencimento em 6-9 meses` a band, and
//! 31/02/2025 no day. Has no clock: the last day of the data and today come in as values.

mod code;
pub(super) mod counted;
mod date;
mod dated;
mod days;
mod named;
pub(super) mod number;
mod point;
mod read;
pub(super) mod token;
#[cfg(test)]
mod window_tests;
mod words;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use self::token::Tokens;

pub use self::days::Span;
pub use self::point::{Part, Point, YearOf};

/// The most days, months and rows that a window counts; more are none that anyone means.
pub const DAYS_MAX: u32 = 36_500;
pub const MONTHS_MAX: u32 = 1_200;
pub const ROWS_MAX: u32 = 1_000;

/// A stretch of time as it was said, before anyone knows what today is. Written as a code such as `months:12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Window {
    /// This many days, up to the last day of the data.
    Days(u32),
    Months(u32),
    /// This many of the newest rows, such as sessions of an exchange.
    Rows(u32),
    /// The newest row up to today.
    Today,
    Yesterday,
    /// The newest row up to the day that lies so far back.
    DaysAgo(u32),
    MonthsAgo(u32),
    /// The newest such day of the week; Monday is 1.
    Weekday(u32),
    This(Period),
    Previous(Period),
    Next(Period),
    /// Whatever is still to come.
    Upcoming,
    NextDays(u32),
    NextMonths(u32),
    In(Point),
    Between(Point, Point),
    Since(Point),
    Until(Point),
    All,
}

/// A stretch of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    Week,
    Month,
    Quarter,
    Half,
    Year,
}

impl Window {
    /// The one that a text names, with the bytes that name it.
    pub fn locate(text: &str) -> Option<(Self, Range<usize>)> {
        let tokens = Tokens::of(text);
        Self::among(&tokens).map(|(window, words)| (window, tokens.range(words)))
    }

    /// The words of a text that name one, by their numbers.
    pub(super) fn words(text: &str) -> Range<usize> {
        Self::among(&Tokens::of(text)).map_or(0..0, |(_, words)| words)
    }

    /// How many of the newest rows it picks, where it is no stretch.
    pub fn rows(self) -> Option<u32> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::Today | Self::Yesterday | Self::DaysAgo(_) | Self::MonthsAgo(_) => Some(1),
            _ => None,
        }
    }

    /// Whether it has a first day, so that all of it can be told.
    pub fn has_start(self) -> bool {
        self.rows().is_none() && !matches!(self, Self::Until(_) | Self::All)
    }

    /// Whether its name says less than its days: which year, which month.
    pub fn is_relative_name(self) -> bool {
        match self {
            Self::This(_) | Self::Previous(_) | Self::Next(_) | Self::Weekday(_) => true,
            Self::In(point) => !point.has_year(),
            _ => false,
        }
    }

    /// The same with the words that name it.
    pub(super) fn among(tokens: &Tokens<'_>) -> Option<(Self, Range<usize>)> {
        read::window(tokens)
    }
}
