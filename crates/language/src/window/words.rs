//! The words by which a language names stretches of time. The folder of each language fills one table; lists
//! of words are separated by blanks, and all words are folded.

use super::{Period, Window, YearOf};

/// How a language names stretches of time.
#[derive(Debug)]
pub(crate) struct WindowWords {
    pub numbers: &'static [(&'static str, u32)],
    /// Between tens and ones: `vinte e um`.
    pub number_joint: &'static str,
    /// The first to the fourth.
    pub ordinals: [&'static str; 4],
    /// The first of a month.
    pub first_day: &'static str,
    pub counts: CountWords,
    pub names: NameWords,
    pub dates: DateWords,
    /// Words that lead up to a window and belong to it.
    pub leads: &'static str,
}

/// `últimos 12 meses`, `3 days ago`, `за последние полгода`.
#[derive(Debug)]
pub(crate) struct CountWords {
    pub units: &'static [(&'static str, TimeUnit)],
    /// Units of several words.
    pub unit_phrases: &'static [(&'static str, TimeUnit)],
    /// Units that are written together with their number: `12m`.
    pub short_units: &'static [(&'static str, TimeUnit)],
    pub last: &'static str,
    /// Those of them that mean, before one unit, the one before this: `last month`.
    pub last_is_previous: &'static str,
    pub next: &'static str,
    /// Phrases behind a count that say that it lies behind.
    pub recent_ends: &'static [&'static str],
    pub ago_before: &'static str,
    pub ago_after: &'static str,
    /// Before a count that is a stretch, and before one that may be.
    pub within: &'static str,
    pub within_of: &'static str,
    /// Metrics whose names have a count of months.
    pub metrics: &'static str,
    /// What a count is a stretch behind, and how other such words begin.
    pub stretched: &'static str,
    pub stretched_begin: &'static str,
    /// How words begin after which a count tells when something falls due.
    pub due_begin: &'static str,
    /// How words begin that bound a count.
    pub bounds_begin: &'static str,
    /// Whether a unit is said of many.
    pub is_many: fn(&str) -> bool,
}

/// `este mês`, `last year`, `вчера`.
#[derive(Debug)]
pub(crate) struct NameWords {
    pub days: &'static [(&'static str, Window)],
    pub phrases: &'static [(&'static str, Window)],
    pub periods: &'static [(&'static str, Period)],
    pub this_before: &'static str,
    pub previous_before: &'static str,
    pub next_before: &'static str,
    pub this_after: &'static str,
    pub previous_after: &'static str,
    /// Before a period that alone means the current one: `no ano`.
    pub bare_before: &'static str,
    pub bare_parts: &'static str,
    /// Words behind a period that say more of it.
    pub goes_on: &'static str,
    /// The day that something is of, at the end of what is said.
    pub of_day: &'static [&'static str],
    pub until: &'static str,
    /// The letter of `D-1`.
    pub day_letter: &'static str,
    /// The days of the week, and whether the word means nothing else.
    pub weekdays: &'static [(&'static str, u32, bool)],
    pub weekday_last: &'static str,
    pub weekday_noun: &'static str,
    pub weekday_after: &'static str,
}

/// `em março de 2025`, `since 2023`, `с января по март`.
#[derive(Debug)]
pub(crate) struct DateWords {
    pub month: fn(&str) -> Option<MonthName>,
    /// Whether `03/04/2025` is the third of April; not read where it is not sure.
    pub is_day_first: bool,
    /// Words after which a bare number may be a year and a short word a month.
    pub before: &'static str,
    /// What a number counts, so that it is no year.
    pub counted: &'static str,
    /// Words before a number that bound it, so that it is no year.
    pub bounds: &'static str,
    /// Between a day and its month, and between a month and its year.
    pub of: &'static str,
    pub day_endings: &'static [&'static str],
    pub year_phrases: &'static [(&'static str, YearOf)],
    pub year_of: &'static [&'static str],
    /// Nouns behind the number of a year: `2024 года`.
    pub year_nouns: &'static str,
    pub part_last: &'static str,
    pub halves: &'static str,
    pub quarters: &'static str,
    pub months: &'static str,
    pub quarter_letters: &'static str,
    pub half_letters: &'static str,
    pub limits: &'static [(&'static str, DateBound)],
    /// Between a bound and its date.
    pub fillers: &'static str,
    pub last_year: &'static [&'static str],
    pub this_year: &'static [&'static str],
    /// Between two dates.
    pub links: &'static str,
    pub onward: &'static [&'static str],
    pub day_leads: &'static str,
    pub day_fillers: &'static str,
    /// `primeiros seis meses de 2024`.
    pub first: &'static str,
    pub first_months: &'static str,
    pub of_this_year: &'static [&'static str],
}

/// What is counted, in the smallest that it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TimeUnit {
    Days(u32),
    Months(u32),
    Rows,
}

/// How a date bounds a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DateBound {
    None,
    Since,
    Until,
    After,
    Before,
}

/// The name of a month.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MonthName {
    pub number: i32,
    /// Whether the day may stand behind it: `March 5`.
    pub leads_day: bool,
    /// An abbreviation that is a word of its own: out, set, mar.
    pub is_short: bool,
    /// Whether the word means nothing else.
    pub is_sure: bool,
}

/// Whether a list of words holds one.
pub(crate) fn holds(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|one| one == word)
}

/// Whether a word begins as one of a list.
pub(crate) fn begins_as(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|begin| word.starts_with(begin))
}
