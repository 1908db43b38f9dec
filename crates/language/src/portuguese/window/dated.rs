//! Windows by dates: in one, from one to another, since one, until one.

use super::date;
use super::number::number;
use crate::window::Tokens;
use crate::window::Window;
use crate::window::{Part, Point, YearOf};

/// How a date bounds a window.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    None,
    Since,
    Until,
    After,
    Before,
}

const BOUNDS: [(&str, Bound); 21] = [
    ("desde", Bound::Since),
    ("since", Bound::Since),
    ("from", Bound::Since),
    ("a partir de", Bound::Since),
    ("a partir do", Bound::Since),
    ("a partir da", Bound::Since),
    ("ate", Bound::Until),
    ("until", Bound::Until),
    ("till", Bound::Until),
    ("up to", Bound::Until),
    ("through", Bound::Until),
    ("apos", Bound::After),
    ("depois de", Bound::After),
    ("depois do", Bound::After),
    ("posterior a", Bound::After),
    ("after", Bound::After),
    ("antes de", Bound::Before),
    ("antes do", Bound::Before),
    ("anterior a", Bound::Before),
    ("anteriores a", Bound::Before),
    ("before", Bound::Before),
];

pub fn read(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if let Some(found) = days_of_month(tokens, at).or_else(|| first_months(tokens, at)) {
        return Some(found);
    }
    let (bound, from) = bound(tokens, at);
    let (a, next) = match bound {
        Bound::None => date::point(tokens, from)?,
        _ => filled(tokens, from)?,
    };
    if let (Bound::None | Bound::Since, Some((b, end))) = (bound, last(tokens, next)) {
        let (a, b) = a.pair(b)?;
        return Some((Window::Between(a, b), end));
    }
    let onward = onward(tokens, next);
    let end = onward.unwrap_or(next);
    Some((bounded(bound, a, onward.is_some()), end))
}

fn bounded(bound: Bound, point: Point, is_onward: bool) -> Window {
    let beside = |day: fn((i32, i32)) -> i32| match point.year {
        YearOf::Of(year) => Point::of_day(day(point.in_year(year))).unwrap_or(point),
        _ => point,
    };
    match bound {
        Bound::None if is_onward => Window::Since(point),
        Bound::None => Window::In(point),
        Bound::Since => Window::Since(point),
        Bound::Until => Window::Until(point),
        Bound::After => Window::Since(beside(|(_, last)| last + 1)),
        Bound::Before => Window::Until(beside(|(first, _)| first - 1)),
    }
}

fn bound(tokens: &Tokens<'_>, at: usize) -> (Bound, usize) {
    let found = BOUNDS.iter().find_map(|(phrase, bound)| Some((*bound, tokens.phrase(at, phrase)?)));
    found.unwrap_or((Bound::None, at))
}

/// A point after a few words that say nothing: `desde o início de 2024`. Here `o ano passado` is one, too.
fn filled(tokens: &Tokens<'_>, from: usize) -> Option<(Point, usize)> {
    const FILLERS: [&str; 16] = [
        "o", "a", "de", "do", "da", "em", "no", "dia", "mes", "ano", "inicio", "comeco", "fim", "final", "meados",
        "the",
    ];
    const FILLERS_MAX: usize = 4;
    let here = |at: usize| date::point(tokens, at).or_else(|| relative(tokens, at));
    let fillers = (from..from + FILLERS_MAX).take_while(|at| tokens.is_one_of(*at, &FILLERS)).count();
    (from..=from + fillers).find_map(here)
}

fn relative(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let year = |phrases: &[&str], year| {
        let next = phrases.iter().find_map(|phrase| tokens.phrase(at, phrase))?;
        Some((Point::new(year, Part::Whole)?, next))
    };
    year(&["ano passado", "ano anterior", "last year"], YearOf::Last)
        .or_else(|| year(&["este ano", "esse ano", "ano atual", "this year"], YearOf::This))
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
pub fn second(tokens: &Tokens<'_>, next: usize) -> Option<(Point, usize)> {
    const LINKS: [&str; 13] =
        ["a", "ate", "ao", "e", "para", "com", "vs", "versus", "to", "and", "until", "till", "through"];
    let is_years = || tokens.word(next).len() == 4 && tokens.before(next).len() == 4;
    let is_months = || date::is_month(tokens.word(next)) && date::is_month(tokens.before(next));
    match tokens.joint(next) {
        Some('-') => return date::joined(tokens, next),
        Some('/') if is_years() || is_months() => return date::joined(tokens, next),
        _ => {}
    }
    let is_dash = tokens.joint_of(next) == Some('-');
    match tokens.is_one_of(next, &LINKS) {
        true => filled(tokens, next + 1),
        false if is_dash => date::point(tokens, next),
        false => None,
    }
}

/// `de 2023 para cá`: where these words end.
fn onward(tokens: &Tokens<'_>, next: usize) -> Option<usize> {
    const PHRASES: [&str; 11] = [
        "para ca",
        "pra ca",
        "em diante",
        "ate hoje",
        "ate agora",
        "ate o momento",
        "ate ontem",
        "ate aqui",
        "onwards",
        "to date",
        "until now",
    ];
    PHRASES.iter().find_map(|phrase| tokens.phrase(next, phrase))
}

/// `de 16 a 20 de dezembro de 2024`: the first day takes the month of the second.
fn days_of_month(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if !tokens.is_one_of(at, &["de", "do", "dia", "dias", "entre", "from", "between"]) {
        return None;
    }
    let from = at + 1 + usize::from(tokens.is_one_of(at + 1, &["dia", "o", "os", "dias"]));
    let first = date::day_number(tokens.word(from))?;
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
    let (count, then) = number(tokens, at + 1).filter(|_| tokens.is_one_of(at, &["primeiros", "first"]))?;
    let count = i32::try_from(count).ok().filter(|_| tokens.is_one_of(then, &["meses", "months"]))?;
    let this = tokens.phrase(then + 1, "do ano").map(|next| (YearOf::This, next));
    let (year, next) = date::year_after(tokens, then + 1, false).or(this)?;
    let (from, to) = (Point::new(year, Part::Month(1))?, Point::new(year, Part::Month(count))?);
    Some((Window::Between(from, to), next))
}
