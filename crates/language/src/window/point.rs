//! A year, or a part of one: what a date in a question names.

use crate::calendar::{self, Day};

/// Years that are read as years.
pub(crate) const YEARS: std::ops::RangeInclusive<i32> = 1900..=2099;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    pub(crate) year: YearOf,
    pub(crate) part: Part,
}

/// Which year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum YearOf {
    /// Not said: the newest in which that part has begun.
    Newest,
    This,
    Last,
    Of(i32),
}

/// What part of it. Numbers begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Whole,
    Half(i32),
    Quarter(i32),
    Month(i32),
    Day { month: i32, day: i32 },
}

impl Point {
    /// None, where the calendar has no such thing.
    pub fn new(year: YearOf, part: Part) -> Option<Self> {
        let year_fits = match year {
            YearOf::Of(year) => YEARS.contains(&year),
            YearOf::Newest => part != Part::Whole,
            YearOf::This | YearOf::Last => true,
        };
        let part_fits = match part {
            Part::Whole => true,
            Part::Half(half) => (1..=2).contains(&half),
            Part::Quarter(quarter) => (1..=4).contains(&quarter),
            Part::Month(month) => (1..=12).contains(&month),
            Part::Day { month, day } => {
                // A year that is not known may be a leap year.
                let year = if let YearOf::Of(year) = year { year } else { 2000 };
                (1..=12).contains(&month) && (1..=days_in(year, month)).contains(&day)
            }
        };
        (year_fits && part_fits).then_some(Self { year, part })
    }

    /// Whether it says which year it means.
    pub(crate) fn has_year(self) -> bool {
        matches!(self.year, YearOf::Of(_))
    }

    pub(crate) fn with_year(self, year: YearOf) -> Option<Self> {
        Self::new(year, self.part)
    }

    /// Its first and last day, seen from a day.
    pub fn days(self, from: Day) -> (Day, Day) {
        let this = calendar::civil(from).0;
        match self.year {
            YearOf::Of(year) => self.in_year(year),
            YearOf::This => self.in_year(this),
            YearOf::Last => self.in_year(this - 1),
            YearOf::Newest => {
                // A leap day may lie eight years back.
                let years = (this - 8..=this).rev().filter(|year| self.is_in(*year)).map(|year| self.in_year(year));
                years.into_iter().find(|(first, _)| *first <= from).unwrap_or_else(|| self.in_year(this))
            }
        }
    }

    /// Its first and last day in a year.
    pub(crate) fn in_year(self, year: i32) -> (Day, Day) {
        let months = |first: i32, count: i32| {
            let last = first + count - 1;
            (calendar::days(year, first, 1), calendar::days(year, last, days_in(year, last)))
        };
        match self.part {
            Part::Whole => months(1, 12),
            Part::Half(half) => months(half * 6 - 5, 6),
            Part::Quarter(quarter) => months(quarter * 3 - 2, 3),
            Part::Month(month) => months(month, 1),
            Part::Day { month, day } => {
                let day = calendar::days(year, month, day);
                (day, day)
            }
        }
    }

    fn is_in(self, year: i32) -> bool {
        !matches!(self.part, Part::Day { month, day } if day > days_in(year, month))
    }

    /// The day as a point.
    pub(crate) fn of_day(day: Day) -> Option<Self> {
        let (year, month, day) = calendar::civil(day);
        Self::new(YearOf::Of(year), Part::Day { month, day })
    }

    /// Two points as a stretch, the earlier first: `novembro a fevereiro de 2025` begins in 2024.
    pub fn pair(self, to: Self) -> Option<(Self, Self)> {
        let (from, to) = match (self.year, to.year) {
            (YearOf::Newest, YearOf::Of(year)) => {
                let before = i32::from(self.in_year(year).0 > to.in_year(year).1);
                (self.with_year(YearOf::Of(year - before))?, to)
            }
            (YearOf::Of(year), YearOf::Newest) => {
                let after = i32::from(to.in_year(year).1 < self.in_year(year).0);
                (self, to.with_year(YearOf::Of(year + after))?)
            }
            (YearOf::Newest, year @ (YearOf::This | YearOf::Last)) => (self.with_year(year)?, to),
            _ => (self, to),
        };
        let is_turned =
            matches!((from.year, to.year), (YearOf::Of(a), YearOf::Of(b)) if from.in_year(a).0 > to.in_year(b).0);
        Some(if is_turned { (to, from) } else { (from, to) })
    }
}

pub(crate) fn days_in(year: i32, month: i32) -> i32 {
    let (next_year, next) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    calendar::days(next_year, next, 1) - calendar::days(year, month, 1)
}
