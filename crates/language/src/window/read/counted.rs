//! Windows by a count: `últimos 12 meses`, `há 3 dias`, `próximos 6 meses`, `últimos 10 pregões`.
//!
//! A count alone is none: `DY de 12 meses` and `dy 12m` name a metric, `acima de 36 meses` a band.

use super::number::number;
use crate::window::words::{TimeUnit, WindowWords, begins_as, holds};
use crate::window::{DAYS_MAX, MONTHS_MAX, ROWS_MAX, Tokens, Window};

pub(crate) fn read(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    last(tokens, at).or_else(|| next(tokens, at)).or_else(|| ago(tokens, at)).or_else(|| within(tokens, at))
}

/// `últimos 12 meses`, `12 últimos meses`, `último ano`; a few, if no number is given.
fn last(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if let Some((count, then)) = number(tokens, at) {
        let (unit, next) =
            if tokens.is_in(then, tokens.words.counts.last) { unit(tokens, then + 1)? } else { recent(tokens, then)? };
        return Some((unit.last(count)?, next));
    }
    if !tokens.is_in(at, tokens.words.counts.last) {
        return None;
    }
    let (count, unit, next) = counted(tokens, at + 1).or_else(|| short(tokens, at + 1)).or_else(|| {
        let (unit, next) = unit(tokens, at + 1)?;
        // In English, last month is the one before this.
        let is_period = tokens.is_in(at, tokens.words.counts.last_is_previous) && !is_many(tokens, next - 1);
        (!is_period || unit == TimeUnit::Rows).then(|| (unit.few(is_many(tokens, at + 1)), unit, next))
    })?;
    Some((unit.last(count)?, next))
}

/// `6 meses mais recentes`.
fn recent(tokens: &Tokens<'_>, at: usize) -> Option<(TimeUnit, usize)> {
    let (unit, next) = unit(tokens, at)?;
    let end = tokens.words.counts.recent_ends.iter().find_map(|end| tokens.phrase(next, end))?;
    Some((unit, end))
}

/// `próximos 6 meses`; those without a number have no end.
fn next(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let (count, unit, next) = match number(tokens, at) {
        Some((count, then)) if tokens.is_in(then, tokens.words.counts.next) => {
            let (unit, next) = unit(tokens, then + 1)?;
            (count, unit, next)
        }
        _ if !tokens.is_in(at, tokens.words.counts.next) => return None,
        _ => match counted(tokens, at + 1).or_else(|| short(tokens, at + 1)) {
            Some(found) => found,
            None => {
                let (_, next) = unit(tokens, at + 1)?;
                return is_many(tokens, at + 1).then_some((Window::Upcoming, next));
            }
        },
    };
    let window = match unit {
        TimeUnit::Days(days) => capped(count, days, DAYS_MAX).map(Window::NextDays),
        TimeUnit::Months(months) => capped(count, months, MONTHS_MAX).map(Window::NextMonths),
        TimeUnit::Rows => None,
    };
    Some((window?, next))
}

/// `há 3 dias`, `3 dias atrás`: a day, not a stretch.
fn ago(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let is_led = tokens.is_in(at, tokens.words.counts.ago_before);
    let (count, unit, next) = counted(tokens, at + usize::from(is_led))?;
    let is_back = tokens.is_in(next, tokens.words.counts.ago_after);
    let window = match unit {
        TimeUnit::Days(days) => capped(count, days, DAYS_MAX).map(Window::DaysAgo),
        TimeUnit::Months(months) => capped(count, months, MONTHS_MAX).map(Window::MonthsAgo),
        TimeUnit::Rows => None,
    };
    let window = if window == Some(Window::DaysAgo(1)) { Some(Window::Yesterday) } else { window };
    Some((window.filter(|_| is_led || is_back)?, next + usize::from(is_back)))
}

/// `em 12 meses`, `máxima de 52 semanas`; not where it tells when something falls due, or belongs to the name
/// of a metric.
fn within(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    const DUE_WORDS: usize = 3;
    let words = &tokens.words.counts;
    let is_in = tokens.is_in(at, words.within);
    let is_of = tokens.is_in(at, words.within_of);
    let (count, unit, next) = counted(tokens, at + usize::from(is_in || is_of))?;
    let is_due = |at: usize| begins_as(words.due_begin, tokens.word(at));
    let is_none = holds(words.metrics, tokens.before(at)) || (at.saturating_sub(DUE_WORDS)..at).any(is_due);
    let is_said = (is_in || is_stretched(tokens, tokens.before(at))) && !is_none;
    Some((unit.last(count).filter(|_| is_said)?, next))
}

/// A count that stands alone, `e 6 meses?`, or without a word that says that it is a stretch, `preço 90
/// dias`: where no other window is named. Not `DY de 12 meses`, nor what a bound is set by or falls due.
pub(crate) fn bare(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    const BEFORE: usize = 3;
    let (count, unit, next) = counted(tokens, at).or_else(|| short(tokens, at))?;
    let window = unit.last(count)?;
    let words = &tokens.words.counts;
    let is_bound = |at: usize| begins_as(words.bounds_begin, tokens.word(at));
    let is_due = (at.saturating_sub(BEFORE)..at).any(is_bound);
    let is_metric = |at: usize| tokens.is_in(at, words.metrics);
    let names_metric = window == Window::Months(12) && (at.saturating_sub(BEFORE)..at).any(is_metric);
    let is_joined = tokens.joint(at).is_some();
    (!is_due && !names_metric && !is_joined).then_some((window, next))
}

/// What is reported for a stretch of days, so that a count behind it is that stretch. A metric of the day,
/// such as the DY or the volatility, has the count in its name.
fn is_stretched(tokens: &Tokens<'_>, word: &str) -> bool {
    let words = &tokens.words.counts;
    !word.is_empty() && (begins_as(words.stretched_begin, word) || holds(words.stretched, word))
}

fn counted(tokens: &Tokens<'_>, at: usize) -> Option<(u32, TimeUnit, usize)> {
    let (count, then) = number(tokens, at)?;
    let (unit, next) = unit(tokens, then)?;
    Some((count, unit, next))
}

/// `12m`, `30d`, which only count behind `últimos`.
fn short(tokens: &Tokens<'_>, at: usize) -> Option<(u32, TimeUnit, usize)> {
    let word = tokens.word(at);
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let rest = word.strip_prefix(digits)?;
    let unit = tokens.words.counts.short_units.iter().find(|(name, _)| *name == rest).map(|(_, unit)| *unit)?;
    let fits = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count = if fits { digits.parse().ok() } else { None };
    Some((count?, unit, at + 1))
}

fn unit(tokens: &Tokens<'_>, at: usize) -> Option<(TimeUnit, usize)> {
    let words = &tokens.words.counts;
    let phrase = words.unit_phrases.iter().find_map(|(phrase, unit)| Some((*unit, tokens.phrase(at, phrase)?)));
    let word = tokens.word(at);
    let one = || words.units.iter().find(|(names, _)| holds(names, word)).map(|(_, unit)| (*unit, at + 1));
    phrase.or_else(one)
}

/// Whether a word is the name of a stretch that is counted.
pub(crate) fn is_time_unit(word: &str, words: &'static WindowWords) -> bool {
    is_unit(&Tokens::new(word, words), 0)
}

/// The same, but for rows that stand for days.
pub(crate) fn is_calendar_unit(word: &str, words: &'static WindowWords) -> bool {
    unit(&Tokens::new(word, words), 0).is_some_and(|(unit, _)| unit != TimeUnit::Rows)
}

/// Whether a word counts time, or rows that stand for days.
pub(crate) fn is_unit(tokens: &Tokens<'_>, at: usize) -> bool {
    unit(tokens, at).is_some()
}

fn is_many(tokens: &Tokens<'_>, at: usize) -> bool {
    (tokens.words.counts.is_many)(tokens.word(at))
}

impl TimeUnit {
    fn last(self, count: u32) -> Option<Window> {
        match self {
            Self::Days(days) => capped(count, days, DAYS_MAX).map(Window::Days),
            Self::Months(months) => capped(count, months, MONTHS_MAX).map(Window::Months),
            Self::Rows => capped(count, 1, ROWS_MAX).map(Window::Rows),
        }
    }

    /// What `os últimos meses` are taken for; the answer says the number.
    fn few(self, is_many: bool) -> u32 {
        match self {
            _ if !is_many => 1,
            Self::Days(1) => 7,
            Self::Days(_) => 4,
            Self::Months(1) => 6,
            Self::Months(_) => 3,
            Self::Rows => 5,
        }
    }
}

fn capped(count: u32, each: u32, most: u32) -> Option<u32> {
    count.checked_mul(each).filter(|total| (1..=most).contains(total))
}
