//! Windows with names of their own: `este mês`, `ano passado`, `hoje`, `D-1`.

use crate::window::words::holds;
use crate::window::{DAYS_MAX, Period, Tokens, Window};

pub(crate) fn period(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    fixed(tokens, at, tokens.words.names.phrases).or_else(|| pointed(tokens, at)).or_else(|| bare(tokens, at))
}

pub(crate) fn day(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    // Up to now is no day: it may begin anywhere.
    if holds(tokens.words.names.until, tokens.before(at)) {
        return None;
    }
    fixed(tokens, at, tokens.words.names.days)
        .or_else(|| days_before(tokens, at))
        .or_else(|| weekday(tokens, at))
        .or_else(|| of_day(tokens, at))
}

fn fixed(tokens: &Tokens<'_>, at: usize, table: &[(&str, Window)]) -> Option<(Window, usize)> {
    table.iter().find_map(|(phrase, window)| Some((*window, tokens.phrase(at, phrase)?)))
}

/// `este mês`, `mês passado`, `next month`, `ano atual`.
fn pointed(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let words = &tokens.words.names;
    if let Some(period) = named_period(tokens, at + 1) {
        match tokens.word(at) {
            word if holds(words.this_before, word) => return Some((Window::This(period), at + 2)),
            word if holds(words.previous_before, word) => return Some((Window::Previous(period), at + 2)),
            word if holds(words.next_before, word) => return Some((Window::Next(period), at + 2)),
            _ => {}
        }
    }
    let period = named_period(tokens, at)?;
    match tokens.word(at + 1) {
        word if holds(words.previous_after, word) => Some((Window::Previous(period), at + 2)),
        word if holds(words.this_after, word) => Some((Window::This(period), at + 2)),
        _ => None,
    }
}

fn named_period(tokens: &Tokens<'_>, at: usize) -> Option<Period> {
    let word = tokens.word(at);
    tokens.words.names.periods.iter().find(|(names, _)| holds(names, word)).map(|(_, period)| *period)
}

/// `no ano`, `do mês`: the current one, unless the text says more.
fn bare(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let words = &tokens.words.names;
    let period = named_period(tokens, at + 1).filter(|_| tokens.is_in(at, words.bare_before))?;
    let is_part = holds(words.bare_parts, tokens.before(at)) || tokens.is_in(at + 2, words.goes_on);
    (!is_part && pointed(tokens, at + 1).is_none()).then_some((Window::This(period), at + 2))
}

/// `maiores altas do dia`; more may be said of a day than of a month, so this ends what is said.
fn of_day(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let next = tokens.words.names.of_day.iter().find_map(|phrase| tokens.phrase(at, phrase))?;
    let is_end = next >= tokens.len() || !tokens.gap(next).chars().all(char::is_whitespace);
    is_end.then_some((Window::Today, next))
}

/// `D-1`, as those say it who close books.
fn days_before(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if !tokens.is_in(at, tokens.words.names.day_letter) || tokens.joint(at + 1) != Some('-') {
        return None;
    }
    let window = match u32::try_from(tokens.digits(at + 1)?).ok()? {
        0 => Window::Today,
        1 => Window::Yesterday,
        days if days <= DAYS_MAX => Window::DaysAgo(days),
        _ => return None,
    };
    Some((window, at + 2))
}

/// `sexta-feira`, `última sexta`, `sexta passada`, `friday`: alone, `sexta` may be a sixth.
fn weekday(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let words = &tokens.words.names;
    let last = usize::from(tokens.is_in(at, words.weekday_last));
    let word = tokens.word(at + last);
    let (_, day, is_sure) = *words.weekdays.iter().find(|(names, ..)| holds(names, word))?;
    let next = at + last + 1;
    let end = next + usize::from(tokens.is_in(next, words.weekday_noun));
    let end = end + usize::from(tokens.is_in(end, words.weekday_after));
    (is_sure || end > next || (last > 0 && end >= tokens.len())).then_some((Window::Weekday(day), end))
}
