//! Codes of windows: `months:12`, `month:2025-03`, `between:2024-12-16..2024-12-20`.

use std::fmt;
use std::str::FromStr;

use super::point::{Part, Point, YearOf};
use super::{DAYS_MAX, MONTHS_MAX, Period, ROWS_MAX, Window};

const PLAIN: [(&str, Window); 19] = [
    ("today", Window::Today),
    ("yesterday", Window::Yesterday),
    ("upcoming", Window::Upcoming),
    ("all", Window::All),
    ("this_week", Window::This(Period::Week)),
    ("this_month", Window::This(Period::Month)),
    ("this_quarter", Window::This(Period::Quarter)),
    ("this_half", Window::This(Period::Half)),
    ("this_year", Window::This(Period::Year)),
    ("last_week", Window::Previous(Period::Week)),
    ("last_month", Window::Previous(Period::Month)),
    ("last_quarter", Window::Previous(Period::Quarter)),
    ("last_half", Window::Previous(Period::Half)),
    ("last_year", Window::Previous(Period::Year)),
    ("next_week", Window::Next(Period::Week)),
    ("next_month", Window::Next(Period::Month)),
    ("next_quarter", Window::Next(Period::Quarter)),
    ("next_half", Window::Next(Period::Half)),
    ("next_year", Window::Next(Period::Year)),
];

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Days(n) => write!(f, "days:{n}"),
            Self::Months(n) => write!(f, "months:{n}"),
            Self::Rows(n) => write!(f, "rows:{n}"),
            Self::DaysAgo(n) => write!(f, "days_ago:{n}"),
            Self::MonthsAgo(n) => write!(f, "months_ago:{n}"),
            Self::Weekday(n) => write!(f, "weekday:{n}"),
            Self::NextDays(n) => write!(f, "next_days:{n}"),
            Self::NextMonths(n) => write!(f, "next_months:{n}"),
            Self::In(point) => write!(f, "{}:{point}", point.part.name()),
            Self::Between(a, b) => write!(f, "between:{a}..{b}"),
            Self::Since(point) => write!(f, "since:{point}"),
            Self::Until(point) => write!(f, "until:{point}"),
            Self::Today | Self::Yesterday | Self::Upcoming | Self::All => self.plain(f),
            Self::This(_) | Self::Previous(_) | Self::Next(_) => self.plain(f),
        }
    }
}

impl Window {
    fn plain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = PLAIN.iter().find(|(_, window)| window == self).map(|(code, _)| *code);
        f.write_str(code.unwrap_or_default())
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(code: &str) -> Result<Self, String> {
        let plain = PLAIN.iter().find(|(name, _)| *name == code).map(|(_, window)| *window);
        let window = plain.or_else(|| code.split_once(':').and_then(|(kind, rest)| with_rest(kind, rest)));
        window.ok_or_else(|| {
            let examples = "today, rows:10, days:30, months:12, this_year, last_month, year:2024, month:2025-03, \
                            day:2024-12-27, since:2023, between:2024-12-16..2024-12-20, upcoming, all";
            format!("is no window: {code}; windows are {examples}")
        })
    }
}

fn with_rest(kind: &str, rest: &str) -> Option<Window> {
    let count = |most: u32| number(rest, 1..=5).filter(|n| (1..=most).contains(n));
    match kind {
        "days" => count(DAYS_MAX).map(Window::Days),
        "months" => count(MONTHS_MAX).map(Window::Months),
        "rows" => count(ROWS_MAX).map(Window::Rows),
        "days_ago" => count(DAYS_MAX).map(Window::DaysAgo),
        "months_ago" => count(MONTHS_MAX).map(Window::MonthsAgo),
        "weekday" => count(7).map(Window::Weekday),
        "next_days" => count(DAYS_MAX).map(Window::NextDays),
        "next_months" => count(MONTHS_MAX).map(Window::NextMonths),
        "since" => point(rest).map(Window::Since),
        "until" => point(rest).map(Window::Until),
        "between" => {
            let (a, b) = rest.split_once("..")?;
            let (a, b) = point(a)?.pair(point(b)?)?;
            Some(Window::Between(a, b))
        }
        // This year and the last have codes of their own.
        _ => point(rest).filter(|it| it.part.name() == kind && it.is_dated()).map(Window::In),
    }
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Whole => "year",
            Self::Half(_) => "half",
            Self::Quarter(_) => "quarter",
            Self::Month(_) => "month",
            Self::Day { .. } => "day",
        }
    }
}

impl Point {
    fn is_dated(self) -> bool {
        self.part != Part::Whole || matches!(self.year, YearOf::Of(_))
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let joint = if matches!(self.year, YearOf::Newest) || self.part == Part::Whole { "" } else { "-" };
        match self.year {
            YearOf::Newest => {}
            YearOf::This => f.write_str("this")?,
            YearOf::Last => f.write_str("last")?,
            YearOf::Of(year) => write!(f, "{year:04}")?,
        }
        f.write_str(joint)?;
        match self.part {
            Part::Whole => Ok(()),
            Part::Half(half) => write!(f, "H{half}"),
            Part::Quarter(quarter) => write!(f, "Q{quarter}"),
            Part::Month(month) => write!(f, "{month:02}"),
            Part::Day { month, day } => write!(f, "{month:02}-{day:02}"),
        }
    }
}

/// `2024`, `2024-03`, `2024-03-27`, `2024-Q1`, `2024-H1`; without the year, or with `this` or `last` for it.
fn point(code: &str) -> Option<Point> {
    let (first, rest) = match code.split_once('-') {
        Some((first, rest)) => (first, Some(rest)),
        None => (code, None),
    };
    let year = match first {
        "this" => Some(YearOf::This),
        "last" => Some(YearOf::Last),
        _ => number(first, 4..=4).and_then(|year| i32::try_from(year).ok()).map(YearOf::Of),
    };
    match (year, rest) {
        (Some(year), None) => Point::new(year, Part::Whole),
        (Some(year), Some(rest)) => Point::new(year, part(rest)?),
        (None, _) => Point::new(YearOf::Newest, part(code)?),
    }
}

fn part(code: &str) -> Option<Part> {
    let two = |text: &str| number(text, 2..=2).and_then(|n| i32::try_from(n).ok());
    let one = |text: &str| number(text, 1..=1).and_then(|n| i32::try_from(n).ok());
    if let Some(half) = code.strip_prefix('H') {
        return one(half).map(Part::Half);
    }
    if let Some(quarter) = code.strip_prefix('Q') {
        return one(quarter).map(Part::Quarter);
    }
    match code.split_once('-') {
        None => two(code).map(Part::Month),
        Some((month, day)) => Some(Part::Day { month: two(month)?, day: two(day)? }),
    }
}

/// Digits only, and as many as one of these lengths.
fn number(text: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<u32> {
    let fits = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

impl TryFrom<String> for Window {
    type Error = String;

    fn try_from(code: String) -> Result<Self, String> {
        code.parse()
    }
}

impl From<Window> for String {
    fn from(window: Window) -> Self {
        window.to_string()
    }
}
