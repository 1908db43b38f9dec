//! Windows in days. Relative ones end with the data, or today, whichever is earlier.

use super::point::{YearOf, days_in};
use super::{DAYS_MAX, Period, Point, Window};
use crate::calendar::{self, Day};

/// A window in days, as `2024-12-31`; without a bound where it has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    pub from: Option<String>,
    pub to: Option<String>,
    /// Only this many of the newest rows.
    pub rows: Option<u32>,
}

/// Days of the years 1 to 9999, so that no arithmetic leaves the calendar.
const CALENDAR: (Day, Day) = (-719_162, 2_932_896);

impl Window {
    /// In days. `data_day` is the last day that there is data of, `today` is today, both in days since 1970.
    pub fn span(self, data_day: Day, today: Day) -> Span {
        let today = today.clamp(CALENDAR.0, CALENDAR.1);
        let data_day = data_day.clamp(CALENDAR.0, CALENDAR.1);
        let last = today.min(data_day);
        // What is to come begins today; where the data ended before, on the day after its last.
        let next = today.min(data_day + 1);
        match self {
            Self::Days(days) => Span::between(back(last, days) + 1, last),
            Self::Months(months) => Span::between(months_from(last, -signed(months)) + 1, last),
            Self::Rows(rows) => Span::newest(rows, last),
            Self::Today => Span::newest(1, last),
            Self::Yesterday => Span::newest(1, (today - 1).min(data_day)),
            Self::DaysAgo(days) => Span::newest(1, back(today, days).min(data_day)),
            Self::MonthsAgo(months) => Span::newest(1, months_from(last, -signed(months))),
            Self::Weekday(day) => {
                let monday = Period::Week.start(last, 0);
                let this = monday + signed(day) - 1;
                let day = if this > last { this - 7 } else { this };
                Span::between(day, day)
            }
            Self::This(period) => Span::between(period.start(last, 0), last),
            Self::Previous(period) => Span::between(period.start(last, -1), period.start(last, 0) - 1),
            Self::Next(period) => Span::between(period.start(last, 1), period.start(last, 2) - 1),
            Self::Upcoming => Span { from: Some(iso(next)), ..Span::default() },
            Self::NextDays(days) => Span::between(next, next + signed(days) - 1),
            Self::NextMonths(months) => Span::between(next, months_from(next - 1, signed(months))),
            Self::In(point) => {
                let (from, to) = point.days(last);
                Span::between(from, to)
            }
            Self::Between(a, b) => between(a, b, last),
            Self::Since(point) => Span { from: Some(iso(point.days(last).0)), ..Span::default() },
            Self::Until(point) => Span { to: Some(iso(point.days(last).1)), ..Span::default() },
            Self::All => Span::default(),
        }
    }
}

impl Span {
    fn between(from: Day, to: Day) -> Self {
        Self { from: Some(iso(from)), to: Some(iso(to)), rows: None }
    }

    fn newest(rows: u32, to: Day) -> Self {
        Self { from: None, to: Some(iso(to)), rows: Some(rows) }
    }
}

impl Period {
    /// The first day of the one that lies this many after the one that a day is in.
    fn start(self, day: Day, shift: i32) -> Day {
        let months = match self {
            // The first of January 1970 was a Thursday.
            Self::Week => return day - (day + 3).rem_euclid(7) + 7 * shift,
            Self::Month => 1,
            Self::Quarter => 3,
            Self::Half => 6,
            Self::Year => 12,
        };
        let (year, month, _) = calendar::civil(day);
        let month = (month - 1) / months * months + months * shift;
        calendar::days(year + month.div_euclid(12), month.rem_euclid(12) + 1, 1)
    }
}

/// Two points that name no year belong to one stretch, which begins in the newest year that it can.
fn between(a: Point, b: Point, last: Day) -> Span {
    let a_days = a.days(last);
    let b_days = match (a.year, b.year) {
        (YearOf::Newest, YearOf::Newest) => {
            let year = calendar::civil(a_days.0).0;
            let same = b.in_year(year);
            if same.1 < a_days.0 { b.in_year(year + 1) } else { same }
        }
        _ => b.days(last),
    };
    Span::between(a_days.0.min(b_days.0), a_days.1.max(b_days.1))
}

/// The day that many months later. The last day of a month goes to the last day of a month.
fn months_from(day: Day, months: i32) -> Day {
    let (year, month, of_month) = calendar::civil(day);
    let index = month - 1 + months;
    let (to_year, to_month) = (year + index.div_euclid(12), index.rem_euclid(12) + 1);
    let last = days_in(to_year, to_month);
    let is_last = of_month == days_in(year, month);
    calendar::days(to_year, to_month, if is_last { last } else { of_month.min(last) })
}

fn back(day: Day, days: u32) -> Day {
    day - signed(days)
}

/// No count is above the cap of days.
fn signed(count: u32) -> i32 {
    i32::try_from(count.min(DAYS_MAX)).unwrap_or_default()
}

fn iso(day: Day) -> String {
    let (year, month, day) = calendar::civil(day.clamp(CALENDAR.0, CALENDAR.1));
    format!("{year:04}-{month:02}-{day:02}")
}
