//! Stretches of time that a question about data can name.
//!
//! Owns what they are, their codes (`code`), their days (`days`) and how they are read (`read`). The words by
//! which a language names them are in the folder of that language. Has no clock: the last day of the data and
//! today come in as values.

mod code;
mod days;
mod point;
mod read;
mod token;
mod words;

use serde::{Deserialize, Serialize};

pub use self::days::Span;
pub use self::point::{Part, Point, YearOf};
pub(crate) use self::read::{is_calendar_unit, is_month_name, is_time_unit, is_unit, number};
pub(crate) use self::token::Tokens;
pub(crate) use self::words::{
    CountWords, DateBound, DateWords, MonthName, NameWords, TimeUnit, WindowWords, begins_as, holds,
};

/// The most days, months and rows that a window may count.
pub(crate) const DAYS_MAX: u32 = 36_500;
pub(crate) const MONTHS_MAX: u32 = 1_200;
pub const ROWS_MAX: u32 = 1_000;

/// A stretch of time as it was said, before anyone knows what today is. Written as a code such as
/// `months:12`.
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
    /// How many of the newest rows it picks, where it is no stretch.
    pub fn rows(self) -> Option<u32> {
        match self {
            Self::Rows(rows) => Some(rows),
            Self::Today | Self::Yesterday | Self::DaysAgo(_) | Self::MonthsAgo(_) => Some(1),
            _ => None,
        }
    }

    /// Whether it has a first day, so that all of it can be told.
    pub(crate) fn has_start(self) -> bool {
        self.rows().is_none() && !matches!(self, Self::Until(_) | Self::All)
    }

    /// Whether its name says less than its days: which year, which month.
    pub(crate) fn is_relative_name(self) -> bool {
        match self {
            Self::This(_) | Self::Previous(_) | Self::Next(_) | Self::Weekday(_) => true,
            Self::In(point) => !point.has_year(),
            _ => false,
        }
    }
}
