//! Windows by dates: in one, from one to another, since one, until one.

use super::date;
use super::number::number;
use crate::window::words::DateBound;
use crate::window::{Part, Point, Tokens, Window, YearOf};

pub(crate) fn read(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if let Some(found) = days_of_month(tokens, at).or_else(|| first_months(tokens, at)) {
        return Some(found);
    }
    let (bound, from) = bound(tokens, at);
    let (a, next) = match bound {
        DateBound::None => date::point(tokens, from)?,
        _ => filled(tokens, from)?,
    };
    if let (DateBound::None | DateBound::Since, Some((b, end))) = (bound, last(tokens, next)) {
        let (a, b) = a.pair(b)?;
        return Some((Window::Between(a, b), end));
    }
    let onward = onward(tokens, next);
    let end = onward.unwrap_or(next);
    Some((bounded(bound, a, onward.is_some()), end))
}

fn bounded(bound: DateBound, point: Point, is_onward: bool) -> Window {
    let beside = |day: fn((i32, i32)) -> i32| match point.year {
        YearOf::Of(year) => Point::of_day(day(point.in_year(year))).unwrap_or(point),
        _ => point,
    };
    match bound {
        DateBound::None if is_onward => Window::Since(point),
        DateBound::None => Window::In(point),
        DateBound::Since => Window::Since(point),
        DateBound::Until => Window::Until(point),
        DateBound::After => Window::Since(beside(|(_, last)| last + 1)),
        DateBound::Before => Window::Until(beside(|(first, _)| first - 1)),
    }
}

fn bound(tokens: &Tokens<'_>, at: usize) -> (DateBound, usize) {
    let found = tokens.words.dates.limits.iter().find_map(|(phrase, bound)| Some((*bound, tokens.phrase(at, phrase)?)));
    found.unwrap_or((DateBound::None, at))
}

/// A point after a few words that say nothing: `desde o início de 2024`. Here `o ano passado` is one, too.
fn filled(tokens: &Tokens<'_>, from: usize) -> Option<(Point, usize)> {
    const FILLERS_MAX: usize = 4;
    let here = |at: usize| date::point(tokens, at).or_else(|| relative(tokens, at));
    let fillers = (from..from + FILLERS_MAX).take_while(|at| tokens.is_in(*at, tokens.words.dates.fillers)).count();
    (from..=from + fillers).find_map(here)
}

fn relative(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let year = |phrases: &[&str], year| {
        let next = phrases.iter().find_map(|phrase| tokens.phrase(at, phrase))?;
        Some((Point::new(year, Part::Whole)?, next))
    };
    let words = &tokens.words.dates;
    year(words.last_year, YearOf::Last).or_else(|| year(words.this_year, YearOf::This))
}

/// The other end of a stretch: of `2022, 2023 e 2024`, the last.
fn last(tokens: &Tokens<'_>, next: usize) -> Option<(Point, usize)> {
    let one_more = |from: usize| {
        let listed = if tokens.gap(from).trim() == "," { date::point(tokens, from) } else { None };
        second(tokens, from).or(listed)
    };
    std::iter::successors(one_more(next), |(_, end)| one_more(*end)).last()
}

/// What a date is linked to.
pub(crate) fn second(tokens: &Tokens<'_>, next: usize) -> Option<(Point, usize)> {
    let is_years = || tokens.word(next).len() == 4 && tokens.before(next).len() == 4;
    let is_months = || date::is_month(tokens, next) && next > 0 && date::is_month(tokens, next - 1);
    match tokens.joint(next) {
        Some('-') => return date::joined(tokens, next),
        Some('/') if is_years() || is_months() => return date::joined(tokens, next),
        _ => {}
    }
    let is_dash = tokens.joint_of(next) == Some('-');
    match tokens.is_in(next, tokens.words.dates.links) {
        true => filled(tokens, next + 1),
        false if is_dash => date::point(tokens, next),
        false => None,
    }
}

/// `de 2023 para cá`: where these words end.
fn onward(tokens: &Tokens<'_>, next: usize) -> Option<usize> {
    tokens.words.dates.onward.iter().find_map(|phrase| tokens.phrase(next, phrase))
}

/// `de 16 a 20 de dezembro de 2024`: the first day takes the month of the second.
fn days_of_month(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if !tokens.is_in(at, tokens.words.dates.day_leads) {
        return None;
    }
    let from = at + 1 + usize::from(tokens.is_in(at + 1, tokens.words.dates.day_fillers));
    let first = date::day_number(tokens, from)?;
    if date::point(tokens, from).is_some() {
        return None;
    }
    let (to, end) = second(tokens, from + 1)?;
    let Part::Day { month, .. } = to.part else { return None };
    let from = Point::new(to.year, Part::Day { month, day: first })?;
    Some((Window::Between(from, to), end))
}

/// `primeiros seis meses de 2024`.
fn first_months(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let (count, then) = number(tokens, at + 1).filter(|_| tokens.is_in(at, tokens.words.dates.first))?;
    let count = i32::try_from(count).ok().filter(|_| tokens.is_in(then, tokens.words.dates.first_months))?;
    let this = tokens
        .words
        .dates
        .of_this_year
        .iter()
        .find_map(|phrase| Some((YearOf::This, tokens.phrase(then + 1, phrase)?)));
    let (year, next) = date::year_after(tokens, then + 1, false).or(this)?;
    let (from, to) = (Point::new(year, Part::Month(1))?, Point::new(year, Part::Month(count))?);
    Some((Window::Between(from, to), next))
}
