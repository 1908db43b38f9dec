//! Stretches of time as English names them and says them.

use super::MONTHS;
use crate::window::{
    CountWords, DateBound, DateWords, MonthName, NameWords, Part, Period, Point, Span, TimeUnit, Window, WindowWords,
    YearOf, holds,
};

pub(crate) const WORDS: WindowWords = WindowWords {
    numbers: &NUMBERS,
    number_joint: "and",
    ordinals: ["first 1st", "second 2nd", "third 3rd", "fourth 4th"],
    first_day: "",
    counts: COUNTS,
    names: NAMES,
    dates: DATES,
    leads: "in on the from of over during for at between within throughout",
};

const COUNTS: CountWords = CountWords {
    units: &[
        ("day days", TimeUnit::Days(1)),
        ("week weeks", TimeUnit::Days(7)),
        ("fortnight fortnights", TimeUnit::Days(14)),
        ("month months", TimeUnit::Months(1)),
        ("quarter quarters", TimeUnit::Months(3)),
        ("year years", TimeUnit::Months(12)),
        ("decade decades", TimeUnit::Months(120)),
        ("session sessions", TimeUnit::Rows),
    ],
    unit_phrases: &[
        ("working days", TimeUnit::Rows),
        ("business days", TimeUnit::Rows),
        ("trading days", TimeUnit::Rows),
        ("half years", TimeUnit::Months(6)),
        ("half year", TimeUnit::Months(6)),
    ],
    short_units: &[("d", TimeUnit::Days(1)), ("m", TimeUnit::Months(1)), ("y", TimeUnit::Months(12))],
    last: "last past previous recent preceding",
    last_is_previous: "last past previous preceding",
    next: "next coming following",
    recent_ends: &["back", "just gone"],
    ago_before: "",
    ago_after: "ago earlier",
    within: "in over within during for throughout",
    within_of: "of",
    metrics: "",
    stretched: "average mean total sum maximum minimum history highest lowest peak",
    stretched_begin: "cumulat",
    due_begin: "expir due matur",
    bounds_begin: "above below over under more less at least fewer than after before until between every",
    is_many: |word| word.ends_with('s'),
};

const NAMES: NameWords = NameWords {
    days: &[
        ("today", Window::Today),
        ("now", Window::Today),
        ("right now", Window::Today),
        ("at the moment", Window::Today),
        ("currently", Window::Today),
        ("day before yesterday", Window::DaysAgo(2)),
        ("yesterday", Window::Yesterday),
    ],
    phrases: &[
        ("ytd", Window::This(Period::Year)),
        ("year to date", Window::This(Period::Year)),
        ("so far this year", Window::This(Period::Year)),
        ("since the start of the year", Window::This(Period::Year)),
        ("since the beginning of the year", Window::This(Period::Year)),
        ("month to date", Window::This(Period::Month)),
        ("so far this month", Window::This(Period::Month)),
        ("since the beginning", Window::All),
        ("since the start", Window::All),
        ("from the beginning", Window::All),
        ("since records began", Window::All),
        ("of all time", Window::All),
        ("all time", Window::All),
        ("all the time", Window::All),
        ("over time", Window::All),
        ("over the years", Window::All),
        ("the whole history", Window::All),
        ("entire history", Window::All),
        ("whole period", Window::All),
        ("ever since", Window::All),
        ("ever", Window::All),
        ("upcoming", Window::Upcoming),
        ("from now on", Window::Upcoming),
        ("from today", Window::Upcoming),
    ],
    periods: &[("week", Period::Week), ("month", Period::Month), ("quarter", Period::Quarter), ("year", Period::Year)],
    this_before: "this current",
    previous_before: "last previous past preceding",
    next_before: "next coming following",
    this_after: "",
    previous_after: "",
    bare_before: "",
    bare_parts: "",
    goes_on: "",
    of_day: &["of the day"],
    until: "until till",
    day_letter: "",
    weekdays: &[
        ("monday", 1, true),
        ("tuesday", 2, true),
        ("wednesday", 3, true),
        ("thursday", 4, true),
        ("friday", 5, true),
        ("saturday", 6, true),
        ("sunday", 7, true),
    ],
    weekday_last: "last",
    weekday_noun: "",
    weekday_after: "",
};

const DATES: DateWords = DateWords {
    month,
    is_day_first: false,
    before: "in on since until till from to of and between after before for by during year through",
    counted: "books copies pages people items units points times dollars pounds euros days weeks months years copies
        loans orders customers members percent kilos km miles",
    bounds: "above below over under than least most exceeding",
    of: "of the",
    day_endings: &["st", "nd", "rd", "th"],
    year_phrases: &[
        ("of last year", YearOf::Last),
        ("last year", YearOf::Last),
        ("of the previous year", YearOf::Last),
        ("of this year", YearOf::This),
        ("this year", YearOf::This),
    ],
    year_of: &["of the year", "in the year"],
    year_nouns: "",
    part_last: "last final",
    halves: "half semester",
    quarters: "quarter",
    months: "month",
    quarter_letters: "q",
    half_letters: "h",
    limits: &[
        ("since", DateBound::Since),
        ("from", DateBound::Since),
        ("starting in", DateBound::Since),
        ("starting from", DateBound::Since),
        ("until", DateBound::Until),
        ("till", DateBound::Until),
        ("up to", DateBound::Until),
        ("through", DateBound::Until),
        ("by the end of", DateBound::Until),
        ("after", DateBound::After),
        ("later than", DateBound::After),
        ("before", DateBound::Before),
        ("earlier than", DateBound::Before),
        ("prior to", DateBound::Before),
    ],
    fillers: "the of in start beginning end middle year month early late",
    last_year: &["last year"],
    this_year: &["this year"],
    links: "to and until till through vs versus with",
    onward: &["onwards", "onward", "to date", "until now", "till now", "to now", "until today", "to today", "on"],
    day_leads: "from between the",
    day_fillers: "the",
    first: "first",
    first_months: "months",
    of_this_year: &["of the year"],
};

fn month(word: &str) -> Option<MonthName> {
    let (names, number) = MONTHS.iter().zip(1..).find(|(names, _)| holds(names, word))?;
    let is_whole = names.split(' ').next() == Some(word);
    let is_sure =
        !matches!(word, "march" | "may" | "mar" | "jan" | "jun" | "dec" | "sep") && (is_whole || word.len() > 2);
    Some(MonthName { number, leads_day: true, is_short: false, is_sure })
}

const NUMBERS: [(&str, u32); 28] = [
    ("a", 1),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

const MONTH_NAMES: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const ORDINALS: [&str; 4] = ["first", "second", "third", "fourth"];
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The window that a span is of, as a sentence says it after a noun: with its days, where its name leaves
/// open which they are.
pub(crate) fn in_words(span: &Span, window: Window) -> String {
    let shown = |day: &str| -> Option<String> {
        let mut parts = day.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        Some((super::locale::ENGLISH.day)(year, month, day))
    };
    let days = span.from.as_deref().and_then(shown).zip(span.to.as_deref().and_then(shown));
    match days.filter(|_| window.is_relative_name()) {
        Some((from, to)) if from == to => format!("on {from}"),
        Some((from, to)) => format!("from {from} to {to}"),
        None => named(window),
    }
}

fn named(window: Window) -> String {
    match window {
        Window::Days(n) => counted(n, "in the last", "day"),
        Window::Months(n) => counted(n, "in the last", "month"),
        Window::Rows(n) => counted(n, "in the last", "session"),
        Window::Today => String::new(),
        Window::Yesterday => "up to yesterday".to_owned(),
        Window::DaysAgo(n) => format!("up to {n} days ago"),
        Window::MonthsAgo(1) => "up to a month ago".to_owned(),
        Window::MonthsAgo(n) => format!("up to {n} months ago"),
        Window::Weekday(day) => format!("last {}", name(&WEEKDAYS, day)),
        Window::This(period) => format!("this {}", period_noun(period)),
        Window::Previous(period) => format!("last {}", period_noun(period)),
        Window::Next(period) => format!("next {}", period_noun(period)),
        Window::Upcoming => "from today on".to_owned(),
        Window::NextDays(n) => counted(n, "in the next", "day"),
        Window::NextMonths(n) => counted(n, "in the next", "month"),
        Window::In(point) => match point.part {
            Part::Day { .. } => format!("on {}", said(point)),
            _ => format!("in {}", said(point)),
        },
        Window::Between(a, b) => format!("from {} to {}", said(a), said(b)),
        Window::Since(point) => format!("since {}", said(point)),
        Window::Until(point) => format!("until {}", said(point)),
        Window::All => "of all time".to_owned(),
    }
}

fn counted(n: u32, lead: &str, unit: &str) -> String {
    if n == 1 { format!("{lead} {unit}") } else { format!("{lead} {n} {unit}s") }
}

fn period_noun(period: Period) -> &'static str {
    match period {
        Period::Week => "week",
        Period::Month => "month",
        Period::Quarter => "quarter",
        Period::Half => "half-year",
        Period::Year => "year",
    }
}

fn name(names: &[&'static str], number: impl TryInto<usize>) -> &'static str {
    let at = number.try_into().ok().and_then(|number: usize| number.checked_sub(1));
    at.and_then(|at| names.get(at)).copied().unwrap_or_default()
}

fn said(point: Point) -> String {
    let (of, year) = match point.year {
        YearOf::Newest => (String::new(), String::new()),
        YearOf::This => (" of this year".to_owned(), " this year".to_owned()),
        YearOf::Last => (" of last year".to_owned(), " last year".to_owned()),
        YearOf::Of(year) => (format!(" of {year}"), format!(" {year}")),
    };
    match point.part {
        Part::Whole => year.trim_start().to_owned(),
        Part::Half(half) => format!("the {} half{of}", name(&ORDINALS, half)),
        Part::Quarter(quarter) => format!("the {} quarter{of}", name(&ORDINALS, quarter)),
        Part::Month(month) => format!("{}{year}", name(&MONTH_NAMES, month)),
        Part::Day { month, day } => format!("{day} {}{year}", name(&MONTH_NAMES, month)),
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
