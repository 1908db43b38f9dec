//! The figures of a text: amounts with their signs and units, dates, ordinals and codes.
//!
//! Reads the spellings of every language that is known; which mark stands before decimals depends on the
//! language of the text. Judges nothing.

use std::ops::Range;

use crate::Language;
use crate::analyse::Words;
use crate::dates::{dates, month};
use crate::syntax::FigureWords;

/// Words of a text that are read.
const WORDS_MAX: usize = 20_000;
const BLANKS: [char; 4] = [' ', '\u{a0}', '\u{202f}', '\u{2009}'];
const MINUSES: [char; 4] = ['-', '−', '–', '‐'];
/// Signs of currencies. A letter may stand before the first: `R$`, `US$`.
const CURRENCY_SIGNS: [(char, &str); 4] = [('$', "USD"), ('€', "EUR"), ('£', "GBP"), ('₽', "RUB")];
/// The names of months are recognised by so many letters in `out/2025`.
const SHORT_MONTH_CHARS: usize = 3;

/// A text with its words and figures.
#[derive(Debug)]
pub(super) struct Figures<'t> {
    pub text: &'t str,
    pub words: Vec<FigureWord>,
    pub figures: Vec<Figure>,
}

#[derive(Debug)]
pub(super) struct FigureWord {
    pub folded: String,
    pub range: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub range: Range<usize>,
    pub kind: FigureKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum FigureKind {
    Quantity(Quantity),
    /// A date, in each way that it can be read: year, month and day, as far as they were given.
    Day(Vec<[Option<i32>; 3]>),
    Ordinal(u32),
    /// The number of a line of a list.
    Item(u32),
    /// Letters and digits.
    Code(String),
    /// Digits with marks that make no number.
    Other(String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quantity {
    /// Without its sign.
    pub value: f64,
    pub sign: FigureSign,
    pub unit: FigureUnit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureSign {
    None,
    Plus,
    Minus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FigureUnit {
    None,
    Percent,
    /// The code of its currency.
    Money(&'static str),
    /// Months and days that one of it has.
    Time(u32, u32),
}

/// The figures of a text whose language is the one given.
pub(super) fn figures(text: &str, language: Language) -> Figures<'_> {
    let words = Words::new(text, WORDS_MAX);
    let named = dates(text, &words).into_iter().filter(|date| date.parts()[1].is_some());
    let named: Vec<(Range<usize>, [Option<i32>; 3])> =
        named.map(|date| (date.range.clone(), date.parts())).filter(|(range, _)| is_named(text, range)).collect();
    let words: Vec<FigureWord> =
        words.iter().map(|word| FigureWord { folded: word.folded.to_owned(), range: word.range }).collect();
    let mut reader = FigureReader { text, words: &words, language };
    let (mut figures, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        let date = named.iter().find(|(range, _)| range.contains(&word.range.start));
        let read = match date {
            Some((range, parts)) => {
                let after = words.iter().position(|word| word.range.start >= range.end).unwrap_or(words.len());
                Some((FigureKind::Day(vec![*parts]), range.clone(), after))
            }
            None => reader.read(at),
        };
        match read {
            Some((kind, range, next)) => {
                figures.push(Figure { range, kind });
                at = next.max(at + 1);
            }
            None => at += 1,
        }
    }
    Figures { text, words, figures }
}

/// Whether a date has the name of a month. Others are read here.
fn is_named(text: &str, range: &Range<usize>) -> bool {
    text.get(range.clone()).is_some_and(|text| text.chars().any(char::is_alphabetic))
}

type ReadFigure = (FigureKind, Range<usize>, usize);

struct FigureReader<'a> {
    text: &'a str,
    words: &'a [FigureWord],
    language: Language,
}

impl FigureReader<'_> {
    fn read(&mut self, at: usize) -> Option<ReadFigure> {
        let word = self.word(at)?;
        if !word.contains(|c: char| c.is_ascii_digit()) {
            return self.month_and_year(at).or_else(|| self.spelled(at));
        }
        if !word.starts_with(|c: char| c.is_ascii_digit()) {
            let range = self.words.get(at)?.range.clone();
            return Some((FigureKind::Code(word.to_owned()), range, at + 1));
        }
        self.calendar_day(at).or_else(|| self.list_item(at)).or_else(|| self.number(at))
    }

    fn word(&self, at: usize) -> Option<&str> {
        self.words.get(at).map(|word| word.folded.as_str())
    }

    /// What stands between a word and the next one.
    fn gap(&self, at: usize) -> &str {
        let end = self.words.get(at).map_or(0, |word| word.range.end);
        let next = self.words.get(at + 1).map_or(self.text.len(), |word| word.range.start);
        self.text.get(end..next).unwrap_or("")
    }

    fn figures_of(&self) -> &'static FigureWords {
        &self.language.grammar().words.figures
    }

    /// Digits alone.
    fn digits(&self, at: usize) -> Option<(i32, usize)> {
        let word = self.word(at)?;
        let are_digits = word.len() <= 8 && word.bytes().all(|byte| byte.is_ascii_digit());
        if are_digits { Some((word.parse().ok()?, word.len())) } else { None }
    }

    fn span(&self, from: usize, last: usize) -> Range<usize> {
        let start = self.words.get(from).map_or(0, |word| word.range.start);
        start..self.words.get(last).map_or(start, |word| word.range.end)
    }

    /// `31/10/2025`, `2025-10-31`, `31.10.2025`, `31/10`, `10/2025`, `2025-10`.
    fn calendar_day(&self, at: usize) -> Option<ReadFigure> {
        let first = self.digits(at)?;
        let (mark, second) = (self.gap(at), self.digits(at + 1)?);
        let third = self.digits(at + 2).filter(|_| self.gap(at + 1) == mark);
        if !matches!(mark, "/" | "-" | ".") {
            return None;
        }
        let (days, last) = match (first, second, third) {
            ((year, 4), (month, 1..=2), Some((day, 1..=2))) => (vec![day_of(year, month, day)], at + 2),
            ((day, 1..=2), (month, 1..=2), Some((year, 4 | 2))) => {
                let year = if year < 100 { year + 2000 } else { year };
                (vec![day_of(year, month, day), self.month_first(year, day, month)], at + 2)
            }
            _ if third.is_some() || mark == "." => return None,
            ((year, 4), (month, 2), None) if mark == "-" => (vec![in_month(Some(year), month)], at + 1),
            ((month, 1..=2), (year, 4), None) if mark == "/" => (vec![in_month(Some(year), month)], at + 1),
            ((day, 1..=2), (month, 1..=2), None) if mark == "/" => {
                let parts = |month, day| is_day(month, day).then_some([None, Some(month), Some(day)]);
                let other = self.figures_of().has_month_first.then(|| parts(day, month)).flatten();
                (vec![parts(month, day), other], at + 1)
            }
            _ => return None,
        };
        let days: Vec<[Option<i32>; 3]> = days.into_iter().flatten().collect();
        (!days.is_empty()).then(|| (FigureKind::Day(days), self.span(at, last), last + 1))
    }

    fn month_first(&self, year: i32, month: i32, day: i32) -> Option<[Option<i32>; 3]> {
        if self.figures_of().has_month_first { day_of(year, month, day) } else { None }
    }

    /// `out/2025`.
    fn month_and_year(&self, at: usize) -> Option<ReadFigure> {
        let word = self.word(at)?;
        let (year, 4) = self.digits(at + 1).filter(|_| self.gap(at) == "/")? else { return None };
        let short = |language: Language| {
            let months = language.grammar().analysis.calendar.months.iter().zip(1..);
            let begins = |names: &str| names.split(' ').any(|name| name.starts_with(word));
            months.into_iter().find(|(names, _)| begins(names)).map(|(_, month)| month)
        };
        let is_long = word.chars().count() >= SHORT_MONTH_CHARS;
        let month = month(word).or_else(|| Language::ALL.into_iter().filter(|_| is_long).find_map(short))?;
        Some((FigureKind::Day(vec![[Some(year), Some(month), None]]), self.span(at, at + 1), at + 2))
    }

    /// `1.` or `1)` at the beginning of a line.
    fn list_item(&self, at: usize) -> Option<ReadFigure> {
        let (number, 1..=2) = self.digits(at)? else { return None };
        let range = self.words.get(at)?.range.clone();
        let line = self.text.get(..range.start)?.rsplit('\n').next().unwrap_or("");
        let is_first = line.chars().all(|c| c.is_whitespace() || matches!(c, '*' | '#' | '>' | '_'));
        let gap = self.gap(at).trim_start_matches('*');
        let is_marked = [". ", ") ", ".\u{a0}", ".* ", ".** ", ")** "].iter().any(|mark| gap.starts_with(mark));
        (is_first && is_marked).then(|| (FigureKind::Item(number.unsigned_abs()), range, at + 1))
    }

    /// A number in digits, with what stands before and after it.
    fn number(&self, at: usize) -> Option<ReadFigure> {
        let mut parts = vec![self.word(at)?];
        let mut marks: Vec<char> = Vec::new();
        let mut last = at;
        while let (true, Some(mark), Some(next)) = (is_digits(parts.last()?), self.mark(last), self.word(last + 1)) {
            let is_blank = BLANKS.contains(&mark);
            let digits = next.bytes().take_while(u8::is_ascii_digit).count();
            let groups = digits == 3 && parts.last().is_some_and(|part| part.len() <= 3);
            if digits == 0 || (is_blank && !groups) {
                break;
            }
            marks.push(if is_blank { ' ' } else { mark });
            parts.push(next);
            last += 1;
        }
        let range = self.span(at, last);
        let tail = parts.pop()?;
        let (digits, suffix) = tail.split_at(tail.bytes().take_while(u8::is_ascii_digit).count());
        parts.push(digits);
        if suffix.contains(|c: char| c.is_ascii_digit()) || marks.contains(&':') {
            let spelled = self.text.get(range.clone())?.to_lowercase();
            let kind = if marks.is_empty() { FigureKind::Code(tail.to_owned()) } else { FigureKind::Other(spelled) };
            return Some((kind, range, last + 1));
        }
        if marks.is_empty() && !suffix.is_empty() && self.is_ordinal(suffix) {
            return Some((FigureKind::Ordinal(digits.parse().ok()?), range, last + 1));
        }
        let Some(value) = value_of(&parts, &marks, self.figures_of().decimal) else {
            return Some((FigureKind::Other(self.text.get(range.clone())?.to_lowercase()), range, last + 1));
        };
        let value = value * scale(suffix).unwrap_or(1.0);
        Some(self.quantity(value, range, last))
    }

    /// The mark between the digits of a number.
    fn mark(&self, at: usize) -> Option<char> {
        let mut chars = self.gap(at).chars();
        let mark = chars.next().filter(|_| chars.next().is_none())?;
        let is_blank = BLANKS.contains(&mark) && (mark != ' ' || self.figures_of().has_blank_groups);
        (is_blank || matches!(mark, '.' | ',' | ':')).then_some(mark)
    }

    fn is_ordinal(&self, suffix: &str) -> bool {
        Language::ALL.into_iter().any(|it| has(it.grammar().words.figures.ordinal_endings, suffix))
    }

    /// A number in words. `um` alone is an article.
    fn spelled(&self, at: usize) -> Option<ReadFigure> {
        let language = Language::ALL.into_iter().find(|it| is_number_word(*it, self.word(at).unwrap_or("")))?;
        if self.word(at) == Some("cento") && at.checked_sub(1).and_then(|at| self.word(at)) == Some("por") {
            return None;
        }
        let words = &language.grammar().words.figures;
        let (mut total, mut current, mut room, mut next, mut last) = (0.0, 0.0, f64::INFINITY, at, at);
        while let Some(word) = self.word(next) {
            let is_joined = next == at || self.gap(next - 1).chars().all(|c| BLANKS.contains(&c) || c == '-');
            if !is_joined {
                break;
            }
            if let Some(number) = numeral(language, word).map(f64::from).filter(|number| *number < room) {
                current += number;
                room = if number >= 100.0 {
                    100.0
                } else if number >= 20.0 {
                    10.0
                } else {
                    0.0
                };
            } else if let Some(scale) = scale_in(language, word).filter(|_| word.len() > 2) {
                let of = f64::max(current, 1.0);
                (total, current) = if scale < 1e3 { (total, of * scale) } else { (total + of * scale, 0.0) };
                room = scale;
            } else if next > at && has(words.and, word) {
                next += 1;
                continue;
            } else {
                break;
            }
            (last, next) = (next, next + 1);
        }
        let value = total + current;
        if last == at && value == 1.0 {
            return None;
        }
        Some(self.quantity(value, self.span(at, last), last))
    }

    /// A number whose last word is at a place, with its sign and unit.
    fn quantity(&self, value: f64, range: Range<usize>, last: usize) -> ReadFigure {
        let (sign, currency, start) = self.before(range.start);
        let (scaled, unit, end, next) = self.after(value, last);
        let unit = currency.map_or(unit, FigureUnit::Money);
        let mut quantity = Quantity { value: scaled, sign, unit };
        let (mut end, mut next) = (end, next);
        if let (FigureUnit::Money(_), Some((cents, after, at))) = (unit, self.cents(next)) {
            quantity.value += cents / 100.0;
            (end, next) = (after, at);
        }
        (FigureKind::Quantity(quantity), start..end, next)
    }

    /// `e vinte centavos`.
    fn cents(&self, at: usize) -> Option<(f64, usize, usize)> {
        let words = |language: Language| &language.grammar().words.figures;
        let word = self.word(at)?;
        let at = at + usize::from(Language::ALL.into_iter().any(|it| has(words(it).and, word)));
        let number = self.word(at)?;
        let (cents, last) = match number.parse::<u32>() {
            Ok(cents) => (f64::from(cents), at),
            Err(_) => {
                let small = |word: &str| Language::ALL.into_iter().find_map(|it| numeral(it, word)).map(f64::from);
                let tens = small(number)?;
                let joined = at
                    + 1
                    + usize::from(
                        Language::ALL.into_iter().any(|it| has(words(it).and, self.word(at + 1).unwrap_or(""))),
                    );
                match self.word(joined).and_then(small).filter(|ones| tens >= 20.0 && *ones < 10.0) {
                    Some(ones) => (tens + ones, joined),
                    None => (tens, at),
                }
            }
        };
        let unit = self.word(last + 1)?;
        let is_cents = cents < 100.0 && Language::ALL.into_iter().any(|it| has(words(it).cents, unit));
        is_cents.then(|| (cents, self.span(at, last + 1).end, last + 2))
    }

    /// The sign and the currency before a number, and where they begin.
    fn before(&self, start: usize) -> (FigureSign, Option<&'static str>, usize) {
        let (mut sign, mut currency, mut from) = (FigureSign::None, None, start);
        for _ in 0..2 {
            let rest = self.text.get(..from).unwrap_or("");
            let close = rest.trim_end_matches(BLANKS);
            if let Some(before) = rest.strip_suffix(MINUSES).or_else(|| rest.strip_suffix('+'))
                && sign == FigureSign::None
                && !before.ends_with(char::is_alphanumeric)
            {
                sign = if rest.ends_with('+') { FigureSign::Plus } else { FigureSign::Minus };
                from = before.len();
            }
            let rest = self.text.get(..from).unwrap_or("").trim_end_matches(BLANKS);
            if let (None, Some((code, before))) = (currency, currency_before(rest)) {
                currency = Some(code);
                from = before;
            }
            if sign == FigureSign::None && self.says_minus(close) {
                sign = FigureSign::Minus;
            }
        }
        (sign, currency, from)
    }

    /// Whether a text ends with a word that is a sign.
    fn says_minus(&self, before: &str) -> bool {
        let last = |text: &str| {
            let start = text.trim_end_matches(char::is_alphanumeric).len();
            (text.get(start..).unwrap_or("").to_lowercase(), start)
        };
        let (word, start) = last(before);
        let (earlier, _) = last(before.get(..start).unwrap_or("").trim_end());
        Language::ALL.into_iter().any(|it| {
            let words = &it.grammar().words.figures;
            has(words.minus, &word) && !has(words.before_no_minus, &earlier)
        })
    }

    /// The number with its scale, its unit, where that ends, and the next word.
    fn after(&self, value: f64, last: usize) -> (f64, FigureUnit, usize, usize) {
        let mut end = self.words.get(last).map_or(0, |word| word.range.end);
        let (mut value, mut next) = (value, last + 1);
        let is_near = |gap: &str| gap.chars().all(|c| BLANKS.contains(&c) || matches!(c, '*' | '_' | '-'));
        let sign_at = |end: usize| {
            let rest = self.text.get(end..).unwrap_or("").trim_start_matches(['*', '_']).trim_start_matches(BLANKS);
            rest.chars().next()
        };
        if sign_at(end) == Some('%') {
            return (value, FigureUnit::Percent, end + self.gap(last).find('%').map_or(0, |at| at + 1), next);
        }
        if let Some(times) = self.word(next).filter(|_| is_near(self.gap(next - 1))).and_then(scale) {
            value *= times;
            end = self.words.get(next).map_or(end, |word| word.range.end);
            next += 1;
        }
        if let Some((_, code)) = CURRENCY_SIGNS.iter().find(|(sign, _)| sign_at(end) == Some(*sign)) {
            // `R$` after a number belongs to the next one, and has a letter before its sign.
            return (value, FigureUnit::Money(code), end, next);
        }
        let of = usize::from(
            Language::ALL
                .into_iter()
                .any(|it| next > last + 1 && has(it.grammar().words.figures.of, self.word(next).unwrap_or(""))),
        );
        if !is_near(self.gap(next - 1)) || (of > 0 && !is_near(self.gap(next))) {
            return (value, FigureUnit::None, end, next);
        }
        match self.unit(next + of) {
            Some((unit, count)) => {
                let after = next + of + count;
                (value, unit, self.words.get(after - 1).map_or(end, |word| word.range.end), after)
            }
            None => (value, FigureUnit::None, end, next),
        }
    }

    /// A unit in words, and how many they are.
    fn unit(&self, at: usize) -> Option<(FigureUnit, usize)> {
        let word = self.word(at)?;
        let two = self.word(at + 1).filter(|_| BLANKS.iter().any(|blank| self.gap(at) == blank.to_string()));
        let two = two.map(|next| format!("{word} {next}"));
        Language::ALL.into_iter().find_map(|language| {
            let words = &language.grammar().words.figures;
            if let Some(two) = &two
                && words.percent.contains(&two.as_str())
            {
                return Some((FigureUnit::Percent, 2));
            }
            if words.percent.contains(&word) {
                return Some((FigureUnit::Percent, 1));
            }
            let money = words.currencies.iter().find(|(_, names)| has(names, word));
            let months = words.months.iter().find(|(_, names)| has(names, word));
            let days = words.days.iter().find(|(_, names)| has(names, word));
            let unit = money.map(|(code, _)| FigureUnit::Money(code));
            let unit = unit.or_else(|| months.map(|(count, _)| FigureUnit::Time(*count, 0)));
            unit.or_else(|| days.map(|(count, _)| FigureUnit::Time(0, *count))).map(|unit| (unit, 1))
        })
    }
}

fn is_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_day(month: i32, day: i32) -> bool {
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn day_of(year: i32, month: i32, day: i32) -> Option<[Option<i32>; 3]> {
    is_day(month, day).then_some([Some(year), Some(month), Some(day)])
}

fn in_month(year: Option<i32>, month: i32) -> Option<[Option<i32>; 3]> {
    is_day(month, 1).then_some([year, Some(month), None])
}

/// The currency that a text ends with, and where it begins.
fn currency_before(text: &str) -> Option<(&'static str, usize)> {
    if let Some((sign, code)) = CURRENCY_SIGNS.iter().find(|(sign, _)| text.ends_with(*sign)) {
        let before = text.strip_suffix(*sign)?;
        return Some(match sign {
            '$' if before.ends_with("US") => (code, before.len() - 2),
            '$' if before.ends_with('R') => ("BRL", before.len() - 1),
            _ => (code, before.len()),
        });
    }
    let start = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
    let word = text.get(start..).filter(|word| word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase()))?;
    let codes = Language::ALL.into_iter().flat_map(|it| it.grammar().words.figures.currencies.iter());
    codes.into_iter().find(|(code, _)| *code == word).map(|(code, _)| (*code, start))
}

/// Whether a list of words has one; `begin*` has every word that begins so.
pub(super) fn has(list: &str, word: &str) -> bool {
    !word.is_empty()
        && list.split_whitespace().any(|entry| match entry.strip_suffix('*') {
            Some(front) => word.starts_with(front),
            None => entry == word,
        })
}

/// A number below a thousand by its word.
pub(super) fn numeral(language: Language, folded: &str) -> Option<u32> {
    let numerals = language.grammar().words.figures.numerals.iter();
    numerals.into_iter().find(|(_, words)| has(words, folded)).map(|(number, _)| *number)
}

fn scale_in(language: Language, folded: &str) -> Option<f64> {
    let scales = language.grammar().words.figures.scales.iter();
    scales.into_iter().find(|(_, words)| has(words, folded)).map(|(scale, _)| *scale)
}

fn scale(folded: &str) -> Option<f64> {
    Language::ALL.into_iter().find_map(|it| scale_in(it, folded))
}

/// Whether a word begins a number. Short names of scales only follow one.
fn is_number_word(language: Language, folded: &str) -> bool {
    numeral(language, folded).is_some() || scale_in(language, folded).is_some_and(|_| folded.len() > 2)
}

/// The number that parts of digits make with the marks between them.
fn value_of(parts: &[&str], marks: &[char], decimal: char) -> Option<f64> {
    let are_groups =
        |from: usize, to: usize| parts.get(from..to).is_some_and(|parts| parts.iter().all(|it| it.len() == 3));
    let (first, last) = (parts.first()?, parts.len() - 1);
    let has_fraction = match marks {
        [] => false,
        [.., mark] => {
            let others = marks.get(..marks.len() - 1).unwrap_or(&[]);
            let is_same = others.iter().all(|other| other == mark);
            let is_group = are_groups(1, last + 1) && first.len() <= 3 && *first != "0";
            match () {
                () if *mark == ' ' => false,
                () if others.is_empty() && is_group => *mark == decimal,
                () if others.is_empty() => true,
                () if is_same => false,
                () => others.iter().all(|other| Some(other) == others.first()),
            }
        }
    };
    let whole = if has_fraction { last } else { last + 1 };
    if !are_groups(1, whole) || (whole > 1 && first.len() > 3) {
        return None;
    }
    let digits = parts.get(..whole)?.concat();
    let fraction = if has_fraction { parts.get(last).copied().unwrap_or("0") } else { "0" };
    format!("{digits}.{fraction}").parse().ok()
}
