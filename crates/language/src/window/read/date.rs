//! Dates, months, quarters, halves and years in a text.

use super::dated;
use super::number::ordinal;
use crate::window::words::{MonthName, WindowWords, holds};
use crate::window::{Part, Point, Tokens, YearOf};

/// The date that begins at a word; where it ends. Numbers that are joined are read together or not at all.
pub(crate) fn point(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let is_inner =
        tokens.joint(at).is_some() && tokens.digits(at).is_some() && tokens.digits(at.wrapping_sub(1)).is_some();
    if is_inner { None } else { joined(tokens, at) }
}

/// The same after a dash that joins two dates.
pub(crate) fn joined(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    if tokens.digits(at).is_some() && tokens.digits(at + 1).is_some() && tokens.joint(at + 1).is_some() {
        return numeric(tokens, at).or_else(|| first_year(tokens, at));
    }
    with_month(tokens, at)
        .or_else(|| part_of_year(tokens, at))
        .or_else(|| compact(tokens, at))
        .or_else(|| bare_year(tokens, at))
}

/// `27/10/2025`, `2025-10-27`, `10/2025`, `2025-10`, `27/10`.
fn numeric(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let joint = tokens.joint(at + 1)?;
    let number = |nth: usize| Some((tokens.digits(at + nth)?, tokens.word(at + nth).len()));
    let third = number(2).filter(|_| tokens.joint(at + 2) == Some(joint));
    let is_longer = third.is_some() && tokens.joint(at + 3) == Some(joint) && number(3).is_some();
    let day = |year: i32, month, day| Point::new(YearOf::Of(year), Part::Day { month, day });
    let found = match (number(0)?, number(1)?, third) {
        _ if is_longer => None,
        ((year, 4), (month, 1..=2), Some((of_month, 1..=2))) => day(year, month, of_month),
        ((first, 1..=2), (second, 1..=2), Some((year, 4))) => ordered(tokens, year, first, second),
        ((first, 1..=2), (second, 1..=2), Some((year, 2))) if joint != '-' => {
            ordered(tokens, 2000 + year, first, second)
        }
        ((year, 4), (month, 2), None) if joint != '.' => Point::new(YearOf::Of(year), Part::Month(month)),
        ((month, 1..=2), (year, 4), None) if joint != '.' => Point::new(YearOf::Of(year), Part::Month(month)),
        ((day, days), (month, months @ 1..=2), None)
            if joint == '/' && days <= 2 && tokens.words.dates.is_day_first =>
        {
            let is_said = days + months == 4 || is_led(tokens, at);
            let is_counted =
                tokens.is_in(at + 2, tokens.words.dates.counted) || tokens.is_in(at + 2, tokens.words.dates.of);
            let point = Point::new(YearOf::Newest, Part::Day { month, day });
            point.filter(|_| is_said && !is_counted)
        }
        _ => None,
    };
    let next = at + 2 + usize::from(third.is_some());
    Some((found?, next + usize::from(tokens.is_in(next, tokens.words.dates.year_nouns))))
}

/// Two numbers and a year. Where a language has both orders, a date that may be two days is none.
fn ordered(tokens: &Tokens<'_>, year: i32, first: i32, second: i32) -> Option<Point> {
    let point = |day, month| Point::new(YearOf::Of(year), Part::Day { month, day });
    let (day_first, month_first) = (point(first, second), point(second, first));
    match tokens.words.dates.is_day_first {
        true => day_first,
        false if first == second => day_first,
        false => day_first.xor(month_first),
    }
}

/// The first of two years, `2023-2024`.
fn first_year(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let is_year =
        |at: usize| tokens.word(at).len() == 4 && tokens.digits(at).is_some_and(|year| (1990..2100).contains(&year));
    let is_pair =
        is_year(at) && is_year(at + 1) && !(tokens.joint(at + 2).is_some() && tokens.digits(at + 2).is_some());
    let year = tokens.digits(at).filter(|_| is_pair && matches!(tokens.joint(at + 1), Some('-' | '/')))?;
    Some((Point::new(YearOf::Of(year), Part::Whole)?, at + 1))
}

/// A date with the name of a month.
fn with_month(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    if let Some(day) = day_number(tokens, at) {
        return day_and_month(tokens, at, day);
    }
    let month = month_name(tokens, at).filter(|_| !follows_day(tokens, at))?;
    if let Some(day) = day_number(tokens, at + 1).filter(|_| month.leads_day && tokens.joint(at + 1).is_none()) {
        let (year, next) = year_after(tokens, at + 2, false).unwrap_or((YearOf::Newest, at + 2));
        return Some((Point::new(year, Part::Day { month: month.number, day })?, next));
    }
    let is_led = is_led(tokens, at);
    // `jan a mar de 2025`: what the second is says what the first is.
    let is_first = || dated::second(tokens, at + 1).is_some_and(|(to, _)| matches!(to.year, YearOf::Of(_)));
    let (year, next) = match year_after(tokens, at + 1, is_led) {
        Some(found) => found,
        None if month.is_sure || (is_led && !month.is_short) || is_first() => (YearOf::Newest, at + 1),
        None => return None,
    };
    Some((Point::new(year, Part::Month(month.number))?, next))
}

fn day_and_month(tokens: &Tokens<'_>, at: usize, day: i32) -> Option<(Point, usize)> {
    let then = at + 1 + usize::from(tokens.is_in(at + 1, tokens.words.dates.of));
    let month = month_name(tokens, then)?;
    let (year, next) = year_after(tokens, then + 1, false).unwrap_or((YearOf::Newest, then + 1));
    let is_sure = month.is_sure || then > at + 1 || year != YearOf::Newest || tokens.joint(then).is_some();
    Some((Point::new(year, Part::Day { month: month.number, day }).filter(|_| is_sure)?, next))
}

pub(crate) fn is_month(tokens: &Tokens<'_>, at: usize) -> bool {
    month_name(tokens, at).is_some()
}

/// Whether a word is the name of a month and nothing else.
pub(crate) fn is_month_name(word: &str, words: &WindowWords) -> bool {
    (words.dates.month)(word).is_some_and(|month| month.is_sure)
}

fn month_name(tokens: &Tokens<'_>, at: usize) -> Option<MonthName> {
    (tokens.words.dates.month)(tokens.word(at))
}

/// A day that the calendar did not know leaves no month behind.
fn follows_day(tokens: &Tokens<'_>, at: usize) -> bool {
    let of = usize::from(holds(tokens.words.dates.of, tokens.before(at)));
    let before = at.checked_sub(1 + of);
    before.is_some_and(|before| tokens.word(before).len() <= 4 && day_number(tokens, before).is_some())
}

/// `27`, `1º`, `27th`: any number of one or two digits.
pub(crate) fn day_number(tokens: &Tokens<'_>, at: usize) -> Option<i32> {
    let word = tokens.word(at);
    let endings = tokens.words.dates.day_endings;
    let digits = endings.iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    match word {
        _ if tokens.is_in(at, tokens.words.first_day) => Some(1),
        _ if (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    }
}

/// The year of a month, of a half or of a quarter. `is_loose`: two digits after a blank may be one.
pub(crate) fn year_after(tokens: &Tokens<'_>, at: usize, is_loose: bool) -> Option<(YearOf, usize)> {
    let words = &tokens.words.dates;
    if let Some(found) = words.year_phrases.iter().find_map(|(phrase, year)| Some((*year, tokens.phrase(at, phrase)?)))
    {
        return Some(found);
    }
    let is_of = tokens.is_in(at, words.of);
    let led = words.year_of.iter().find_map(|phrase| tokens.phrase(at, phrase));
    let from = led.unwrap_or(at + usize::from(is_of));
    let year = tokens.digits(from)?;
    let is_last = from + 1 >= tokens.len() || !tokens.gap(from + 1).chars().all(char::is_whitespace);
    let is_tied = matches!(tokens.joint(from), Some('/' | '-')) || matches!(tokens.gap(from), "'" | "’" | " '" | " ’");
    let year = match tokens.word(from).len() {
        4 => year,
        2 if is_tied => 2000 + year,
        2 if (is_of || is_loose) && is_last && (10..40).contains(&year) => 2000 + year,
        _ => return None,
    };
    Some((YearOf::Of(year), from + 1 + usize::from(tokens.is_in(from + 1, words.year_nouns))))
}

/// `primeiro semestre de 2024`; the last one only of a year that is given.
fn part_of_year(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let words = &tokens.words.dates;
    let is_last = tokens.is_in(at, words.part_last);
    let nth = ordinal(tokens, at);
    let nth = |last: i32| if is_last { Some(last) } else { nth };
    let part = match tokens.word(at + 1) {
        word if holds(words.halves, word) => Part::Half(nth(2)?),
        word if holds(words.quarters, word) => Part::Quarter(nth(4)?),
        word if is_last && holds(words.months, word) => Part::Month(12),
        _ => return None,
    };
    let year = year_after(tokens, at + 2, false);
    if is_last && year.is_none_or(|(year, _)| year == YearOf::Newest) {
        return None;
    }
    let (year, next) = year.unwrap_or((YearOf::Newest, at + 2));
    Some((Point::new(year, part)?, next))
}

/// `3T24`, `1S2025`, `Q3 2024`.
fn compact(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let word = tokens.word(at);
    let words = &tokens.words.dates;
    let part = |letter: char, nth: i32| match letter {
        _ if words.quarter_letters.contains(letter) => Some(Part::Quarter(nth)),
        _ if words.half_letters.contains(letter) => Some(Part::Half(nth)),
        _ => None,
    };
    let digit = |c: char| c.to_digit(10).and_then(|digit| i32::try_from(digit).ok());
    let mut chars = word.chars();
    let (first, second) = (chars.next()?, chars.next()?);
    let rest = chars.as_str();
    if let Some(nth) = digit(first) {
        let is_year = matches!(rest.len(), 2 | 4) && rest.bytes().all(|byte| byte.is_ascii_digit());
        let part = part(second, nth)?;
        return match rest.parse::<i32>() {
            Ok(year) if is_year => {
                Some((Point::new(YearOf::Of(if year < 100 { 2000 + year } else { year }), part)?, at + 1))
            }
            _ if rest.is_empty() => dated(tokens, at, part),
            _ => None,
        };
    }
    let part = part(first, digit(second)?)?;
    if rest.is_empty() { dated(tokens, at, part) } else { None }
}

fn dated(tokens: &Tokens<'_>, at: usize, part: Part) -> Option<(Point, usize)> {
    let (year, next) = year_after(tokens, at + 1, false)?;
    Some((Point::new(year, part)?, next))
}

/// Four digits, where nothing says that they count something.
fn bare_year(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let words = &tokens.words.dates;
    let year = tokens.digits(at).filter(|_| tokens.word(at).len() == 4)?;
    let said = if is_led(tokens, at) { 1990..=2099 } else { 2010..=2039 };
    let two_before = at.checked_sub(2).map_or("", |before| tokens.word(before));
    let (before, after) = (tokens.gap(at), tokens.gap(at + 1));
    let is_decimal = matches!(after, "," | ".") && tokens.digits(at + 1).is_some() || matches!(before, "," | ".");
    let is_amount = before.contains('$') || after.starts_with('%') || is_decimal || tokens.is_in(at + 1, words.counted);
    let is_bounded = holds(words.bounds, two_before) && is_led(tokens, at) || holds(words.bounds, tokens.before(at));
    let of = usize::from(holds(words.of, tokens.before(at)));
    let month = at.checked_sub(1 + of).and_then(|before| month_name(tokens, before));
    let is_left = month.is_some_and(|month| month.is_sure || month.number == 3);
    let is_year = said.contains(&year) && !is_amount && !is_bounded && !is_left;
    let next = at + 1 + usize::from(tokens.is_in(at + 1, words.year_nouns));
    Some((Point::new(YearOf::Of(year), Part::Whole).filter(|_| is_year)?, next))
}

fn is_led(tokens: &Tokens<'_>, at: usize) -> bool {
    holds(tokens.words.dates.before, tokens.before(at))
}
