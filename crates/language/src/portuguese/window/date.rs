//! Dates, months, quarters, halves and years in a text.

use super::dated;
use super::number::ordinal;
use crate::english;
use crate::portuguese::analysis::MONTHS;
use crate::window::Tokens;
use crate::window::{Part, Point, YearOf};

/// Words after which a bare number may be a year and a short word a month.
const BEFORE_DATES: [&str; 30] = [
    "em", "no", "na", "de", "do", "da", "desde", "ate", "a", "e", "ao", "entre", "para", "apos", "ano", "anos", "mes",
    "dia", "in", "on", "since", "until", "from", "to", "of", "and", "between", "after", "before", "for",
];

/// What a number counts, so that it is no year.
const COUNTED: [&str; 22] = [
    "cotas", "cota", "reais", "unidades", "pontos", "imoveis", "fundos", "fiis", "metros", "m2", "mil", "milhoes",
    "mi", "bi", "dias", "meses", "anos", "semanas", "clientes", "cotistas", "pregoes", "acoes",
];

/// The date that begins at a word; where it ends. Numbers that are joined are read together or not at all.
pub fn point(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let is_inner =
        tokens.joint(at).is_some() && tokens.digits(at).is_some() && tokens.digits(at.wrapping_sub(1)).is_some();
    if is_inner { None } else { joined(tokens, at) }
}

/// The same after a dash that joins two dates.
pub fn joined(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
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
        ((of_month, 1..=2), (month, 1..=2), Some((year, 4))) => day(year, month, of_month),
        ((of_month, 1..=2), (month, 1..=2), Some((year, 2))) if joint != '-' => day(2000 + year, month, of_month),
        ((year, 4), (month, 2), None) if joint != '.' => Point::new(YearOf::Of(year), Part::Month(month)),
        ((month, 1..=2), (year, 4), None) if joint != '.' => Point::new(YearOf::Of(year), Part::Month(month)),
        ((day, days), (month, months @ 1..=2), None) if joint == '/' && days <= 2 => {
            let is_said = days + months == 4 || is_led(tokens, at);
            let is_counted = tokens.is_one_of(at + 2, &COUNTED) || tokens.is_one_of(at + 2, &["de", "da", "do"]);
            let point = Point::new(YearOf::Newest, Part::Day { month, day });
            point.filter(|_| is_said && !is_counted)
        }
        _ => None,
    };
    Some((found?, at + 2 + usize::from(third.is_some())))
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
    if let Some(day) = day_number(tokens.word(at)) {
        return day_and_month(tokens, at, day);
    }
    let month = Month::parse(tokens.word(at)).filter(|_| !follows_day(tokens, at))?;
    if let Some(day) = day_number(tokens.word(at + 1)).filter(|_| month.is_english && tokens.joint(at + 1).is_none()) {
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
    let then = at + 1 + usize::from(tokens.is_one_of(at + 1, &["de", "of"]));
    let month = Month::parse(tokens.word(then))?;
    let (year, next) = year_after(tokens, then + 1, false).unwrap_or((YearOf::Newest, then + 1));
    let is_sure = month.is_sure || then > at + 1 || year != YearOf::Newest || tokens.joint(then).is_some();
    Some((Point::new(year, Part::Day { month: month.number, day }).filter(|_| is_sure)?, next))
}

pub fn is_month(word: &str) -> bool {
    Month::parse(word).is_some()
}

/// Whether a word is the name of a month and nothing else.
pub fn is_sure_month(word: &str) -> bool {
    Month::parse(word).is_some_and(|month| month.is_sure && !month.is_english)
}

struct Month {
    number: i32,
    is_english: bool,
    /// Three letters, which are words of their own: out, set, dez, mar.
    is_short: bool,
    /// Whether the word means nothing else.
    is_sure: bool,
}

impl Month {
    fn parse(word: &str) -> Option<Self> {
        let holds = |names: &str| names.split(' ').any(|name| name == word);
        let months = MONTHS.iter().zip(&english::MONTHS).zip(1..);
        let number = match word {
            "mai" => 5,
            "set" => 9,
            _ => months.into_iter().find(|((own, english), _)| holds(own) || holds(english))?.1,
        };
        let is_english = english::MONTHS.iter().any(|names| names.split(' ').next() == Some(word));
        let is_short = (word.len() <= 3 || word == "sept") && !is_english;
        Some(Self { number, is_english, is_short, is_sure: !is_short && !matches!(word, "march" | "may" | "marco") })
    }
}

/// A day that the calendar did not know leaves no month behind.
fn follows_day(tokens: &Tokens<'_>, at: usize) -> bool {
    let of = usize::from(matches!(tokens.before(at), "de" | "of"));
    let before = at.checked_sub(1 + of).map_or("", |before| tokens.word(before));
    before.len() <= 4 && day_number(before).is_some()
}

/// `27`, `1º`, `27th`: any number of one or two digits.
pub fn day_number(word: &str) -> Option<i32> {
    let digits = ["st", "nd", "rd", "th", "o"].into_iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    match word {
        "primeiro" => Some(1),
        _ if (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
        _ => None,
    }
}

/// The year of a month, of a half or of a quarter. `is_loose`: two digits after a blank may be one.
pub fn year_after(tokens: &Tokens<'_>, at: usize, is_loose: bool) -> Option<(YearOf, usize)> {
    const PHRASES: [(&str, YearOf); 16] = [
        ("do ano passado", YearOf::Last),
        ("do ano anterior", YearOf::Last),
        ("ano passado", YearOf::Last),
        ("of last year", YearOf::Last),
        ("last year", YearOf::Last),
        ("deste ano", YearOf::This),
        ("desse ano", YearOf::This),
        ("neste ano", YearOf::This),
        ("nesse ano", YearOf::This),
        ("este ano", YearOf::This),
        ("do ano atual", YearOf::This),
        ("do ano corrente", YearOf::This),
        ("of this year", YearOf::This),
        ("this year", YearOf::This),
        ("passado", YearOf::Newest),
        ("ultimo", YearOf::Newest),
    ];
    if let Some(found) = PHRASES.iter().find_map(|(phrase, year)| Some((*year, tokens.phrase(at, phrase)?))) {
        return Some(found);
    }
    let is_of = tokens.is_one_of(at, &["de", "do", "of"]);
    let from = tokens.phrase(at, "do ano de").unwrap_or(at + usize::from(is_of));
    let year = tokens.digits(from)?;
    let is_last = from + 1 >= tokens.len() || !tokens.gap(from + 1).chars().all(char::is_whitespace);
    let is_tied = matches!(tokens.joint(from), Some('/' | '-')) || matches!(tokens.gap(from), "'" | "’" | " '" | " ’");
    let year = match tokens.word(from).len() {
        4 => year,
        2 if is_tied => 2000 + year,
        2 if (is_of || is_loose) && is_last && (10..40).contains(&year) => 2000 + year,
        _ => return None,
    };
    Some((YearOf::Of(year), from + 1))
}

/// `primeiro semestre de 2024`; the last one only of a year that is given.
fn part_of_year(tokens: &Tokens<'_>, at: usize) -> Option<(Point, usize)> {
    let is_last = tokens.is_one_of(at, &["ultimo", "last"]);
    let nth = ordinal(tokens.word(at));
    let nth = |last: i32| if is_last { Some(last) } else { nth };
    let part = match tokens.word(at + 1) {
        "semestre" | "sem" | "half" | "semester" => Part::Half(nth(2)?),
        "trimestre" | "tri" | "quarter" => Part::Quarter(nth(4)?),
        "mes" if is_last => Part::Month(12),
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
    let part = |letter: char, nth: i32| match letter {
        't' | 'q' => Some(Part::Quarter(nth)),
        's' | 'h' => Some(Part::Half(nth)),
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
    const BOUNDS: [&str; 12] = [
        "acima", "abaixo", "maior", "menor", "mais", "menos", "cerca", "superior", "inferior", "above", "below", "over",
    ];
    let year = tokens.digits(at).filter(|_| tokens.word(at).len() == 4)?;
    let said = if is_led(tokens, at) { 1990..=2099 } else { 2010..=2039 };
    let two_before = at.checked_sub(2).map_or("", |before| tokens.word(before));
    let (before, after) = (tokens.gap(at), tokens.gap(at + 1));
    let is_decimal = matches!(after, "," | ".") && tokens.digits(at + 1).is_some() || matches!(before, "," | ".");
    let is_amount = before.contains('$') || after.starts_with('%') || is_decimal || tokens.is_one_of(at + 1, &COUNTED);
    let is_bounded = BOUNDS.contains(&two_before) && is_led(tokens, at) || BOUNDS.contains(&tokens.before(at));
    let of = usize::from(matches!(tokens.before(at), "de" | "do" | "of"));
    let month = at.checked_sub(1 + of).and_then(|before| Month::parse(tokens.word(before)));
    let is_left = month.is_some_and(|month| month.is_sure || month.number == 3);
    let is_year = said.contains(&year) && !is_amount && !is_bounded && !is_left;
    Some((Point::new(YearOf::Of(year), Part::Whole).filter(|_| is_year)?, at + 1))
}

fn is_led(tokens: &Tokens<'_>, at: usize) -> bool {
    BEFORE_DATES.contains(&tokens.before(at))
}
