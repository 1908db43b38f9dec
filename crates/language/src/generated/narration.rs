//! Whether a model's words for the rows of a query say what the rows say.
//!
//! Owns what a narration may contain: each figure stands in the rows, in the question, or in what the
//! catalogue declares; each code and name too; a figure stays with its row, its column and its sign.
//! Refuses what it cannot find, also if that is true: the plain answer is shown then.

use serde_json::Value;

use super::belonging::{Belonging, Claim};
use super::clean::without_wrapping;
use super::figure::{Figure, FigureKind, FigureSign, FigureUnit, Figures, Quantity, figures, has};
use super::rewrite::refuses;
use super::summary::Source;
use crate::Language;
use crate::analyse::Words;

/// Words that tell the language of a narration.
const LANGUAGE_WORDS_MAX: usize = 400;
/// Words between a word of falling or rising and its amount.
const DIRECTION_WORDS_MAX: usize = 8;
const NUMBER: &str = "the model said a number that is neither in the rows nor in the question";
const NAME: &str = "the model named something that is neither in the rows nor in the question";
const SIGN: &str = "the model turned the sign of a number around";
const PLACE: &str = "the model gave a number to a row or column that it is not of";
const REFUSAL: &str = "the model refused or asked back";
const NOTHING: &str = "the model said nothing";

/// What a narration was made from.
#[derive(Debug)]
pub struct NarrationFacts<'a> {
    pub question: &'a str,
    /// The rows in plain words.
    pub answer: &'a str,
    /// What else the model was given: what the rows are about, who asks.
    pub texts: &'a [&'a str],
    pub columns: Vec<FactColumn<'a>>,
    pub rows: Vec<Vec<FactCell<'a>>>,
}

/// The words that name a column.
#[derive(Debug)]
pub struct FactColumn<'a> {
    pub words: Vec<&'a str>,
}

/// A value of a row.
#[derive(Debug)]
pub struct FactCell<'a> {
    pub value: &'a Value,
    /// As templates write it: rounded and with its unit.
    pub written: Vec<String>,
}

/// The narration in what a model said, or why the plain answer stands.
pub fn accept_narration(said: &str, facts: &NarrationFacts<'_>) -> Result<String, &'static str> {
    let text = without_wrapping(said);
    let text = text.trim();
    if !text.chars().any(char::is_alphanumeric) {
        return Err(NOTHING);
    }
    let known = KnownFacts::read(facts, text);
    let narrated = figures(text, known.language);
    if refuses(text) && !facts.rows.is_empty() && !known.states_a_value(&narrated) {
        return Err(REFUSAL);
    }
    known.check_figures(&narrated)?;
    known.check_names(&narrated)?;
    Ok(text.to_owned())
}

/// A number of a row.
#[derive(Debug, Clone, Copy)]
struct CellNumber {
    row: usize,
    column: usize,
    value: f64,
    unit: FigureUnit,
}

/// The facts, read.
struct KnownFacts<'a> {
    facts: &'a NarrationFacts<'a>,
    language: Language,
    cells: Vec<CellNumber>,
    /// Year, month and day; with its row if it is of one.
    days: Vec<([Option<i32>; 3], Option<usize>)>,
    /// Quantities of the question and of what is declared.
    stated: Vec<Quantity>,
    /// How many rows there are, and how many different values a column has.
    counts: Vec<usize>,
    /// Texts that figures and names may come from, and the same as one.
    sources: Vec<String>,
    source: Source,
}

impl<'a> KnownFacts<'a> {
    fn read(facts: &'a NarrationFacts<'a>, narration: &str) -> Self {
        let sample = format!("{narration} {}", facts.question);
        let language = Language::detect(&Words::new(&sample, LANGUAGE_WORDS_MAX));
        let language = Language::by_script(&sample).unwrap_or(language);
        let mut sources: Vec<String> = [facts.question, facts.answer].iter().map(|text| (*text).to_owned()).collect();
        sources.extend(facts.texts.iter().map(|text| text.replace('_', " ")));
        sources.extend(facts.columns.iter().flat_map(|column| column.words.iter()).map(|word| (*word).to_owned()));
        let texts = facts.rows.iter().flatten();
        sources.extend(texts.filter_map(|cell| cell.value.as_str()).map(str::to_owned));
        let source = Source::read(&sources.iter().map(String::as_str).collect::<Vec<_>>());
        let (cells, days, stated, counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut known = Self { facts, language, cells, days, stated, counts, sources, source };
        known.read_rows();
        known.read_texts();
        known.count();
        known
    }

    fn read_rows(&mut self) {
        for (row, cells) in self.facts.rows.iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                self.read_cell(row, column, cell);
            }
        }
    }

    fn read_cell(&mut self, row: usize, column: usize, cell: &FactCell<'_>) {
        let exact = cell.value.as_f64();
        let raw = cell.value.as_str().unwrap_or("");
        let mut unit = FigureUnit::None;
        for written in cell.written.iter().map(String::as_str).chain([raw]) {
            // Which mark stands before decimals is the one that makes it the value.
            let readings = Language::ALL.map(|language| figures(written, language).figures);
            for figure in readings.iter().flatten() {
                match (&figure.kind, exact) {
                    (FigureKind::Quantity(read), Some(exact)) if is_near(read.value, exact.abs()) => {
                        unit = if read.unit == FigureUnit::None { unit } else { read.unit };
                        let value = read.value.copysign(exact);
                        self.cells.push(CellNumber { row, column, value, unit: read.unit });
                    }
                    (FigureKind::Quantity(read), None) => {
                        let value = if read.sign == FigureSign::Minus { -read.value } else { read.value };
                        self.cells.push(CellNumber { row, column, value, unit: read.unit });
                    }
                    (FigureKind::Day(days), _) => self.days.extend(days.iter().map(|day| (*day, Some(row)))),
                    _ => {}
                }
            }
        }
        self.cells.extend(exact.map(|value| CellNumber { row, column, value, unit }));
    }

    /// What the question and the declarations state. A figure of the plain answer that is a value of the
    /// rows is judged as such.
    fn read_texts(&mut self) {
        let mut texts = self.sources.clone();
        texts.truncate(2 + self.facts.texts.len() + self.facts.columns.iter().map(|it| it.words.len()).sum::<usize>());
        for (n, text) in texts.iter().enumerate() {
            let is_answer = n == 1;
            let languages = if is_answer { Language::ALL.to_vec() } else { vec![self.language] };
            let read: Vec<Figure> = languages.into_iter().flat_map(|it| figures(text, it).figures).collect();
            let quantities = |start: usize| {
                let there = read.iter().filter(move |figure| figure.range.start == start);
                there.filter_map(|figure| if let FigureKind::Quantity(read) = figure.kind { Some(read) } else { None })
            };
            let is_cell = |read: Quantity| self.cells.iter().any(|cell| same(cell.value.abs(), read.value));
            let mut stated = Vec::new();
            for figure in &read {
                match &figure.kind {
                    FigureKind::Quantity(quantity) => {
                        let is_time = matches!(quantity.unit, FigureUnit::Time(..));
                        let is_free = !is_answer || is_time || !quantities(figure.range.start).any(is_cell);
                        stated.extend(is_free.then_some(*quantity));
                    }
                    FigureKind::Day(days) => self.days.extend(days.iter().map(|day| (*day, None))),
                    _ => {}
                }
            }
            self.stated.extend(stated);
        }
    }

    fn count(&mut self) {
        let rows = &self.facts.rows;
        self.counts.push(rows.len());
        for column in 0..self.facts.columns.len() {
            let texts = rows.iter().filter_map(|row| row.get(column).and_then(|cell| cell.value.as_str()));
            let mut texts: Vec<&str> = texts.collect();
            texts.sort_unstable();
            texts.dedup();
            self.counts.extend((texts.len() > 1).then_some(texts.len()));
        }
    }

    /// Whether a narration has a value of the rows, or says that there are none.
    fn states_a_value(&self, narrated: &Figures<'_>) -> bool {
        narrated.figures.iter().any(|figure| match &figure.kind {
            FigureKind::Quantity(said) => self.cells.iter().any(|cell| same(cell.value.abs(), said.value)),
            FigureKind::Day(days) => self.has_day(days),
            _ => false,
        })
    }

    fn check_figures(&self, narrated: &Figures<'_>) -> Result<(), &'static str> {
        let mut claims = Vec::new();
        let mut items = 0;
        for (n, figure) in narrated.figures.iter().enumerate() {
            match &figure.kind {
                FigureKind::Item(number) => {
                    items = if *number == 1 { 1 } else { items + 1 };
                    if *number != items {
                        return Err(NUMBER);
                    }
                }
                FigureKind::Ordinal(number) if *number as usize <= self.facts.rows.len() => {}
                FigureKind::Ordinal(number) => {
                    let number = f64::from(*number);
                    let is_cell = |cell: &CellNumber| cell.unit == FigureUnit::None && same(cell.value, number);
                    let is_stated = self.stated.iter().any(|stated| same(stated.value, number));
                    (is_stated || self.cells.iter().any(is_cell)).then_some(()).ok_or(NUMBER)?;
                }
                FigureKind::Day(days) if self.has_day(days) => {}
                FigureKind::Day(_) | FigureKind::Other(_) => {
                    self.is_quoted(narrated, figure).then_some(()).ok_or(NUMBER)?
                }
                FigureKind::Code(code) => self.has_word(code).then_some(()).ok_or(NAME)?,
                FigureKind::Quantity(said) => claims.extend(self.claim(narrated, n, *said)?),
            }
        }
        let belonging = Belonging::read(self.facts, &self.days, narrated);
        belonging.check(&claims).then_some(()).ok_or(PLACE)
    }

    /// The values of the rows that a number can be. None if it stands without them.
    fn claim(&self, narrated: &Figures<'_>, nth: usize, said: Quantity) -> Result<Option<Claim>, &'static str> {
        let Some(figure) = narrated.figures.get(nth) else { return Ok(None) };
        let of_value = |cell: &&CellNumber| same(cell.value.abs(), said.value) && self.fits_unit(said.unit, cell);
        let cells: Vec<&CellNumber> = self.cells.iter().filter(of_value).collect();
        let direction = Direction::before(narrated, figure);
        let fits = |cell: &&&CellNumber| direction.fits(said.sign, cell.value, self.falls(cell.column));
        let places: Vec<(usize, usize)> = cells.iter().filter(fits).map(|cell| (cell.row, cell.column)).collect();
        let is_stated = self.is_stated(said);
        match () {
            () if is_stated => Ok(None),
            () if !places.is_empty() => Ok(Some(Claim { range: figure.range.clone(), places })),
            () if !cells.is_empty() => Err(SIGN),
            () => Err(NUMBER),
        }
    }

    fn is_stated(&self, said: Quantity) -> bool {
        let is_count = matches!(said.unit, FigureUnit::None | FigureUnit::Time(..)) && said.sign == FigureSign::None;
        let counts = |count: &usize| is_count && same(*count as f64, said.value);
        let year = |day: &([Option<i32>; 3], _)| day.0[0].is_some_and(|year| same(f64::from(year), said.value));
        self.counts.iter().any(counts)
            || (said.unit == FigureUnit::None && self.days.iter().any(year))
            || self.stated.iter().any(|stated| is_same_statement(*stated, said))
    }

    fn fits_unit(&self, said: FigureUnit, cell: &CellNumber) -> bool {
        match (said, cell.unit) {
            (FigureUnit::None, _) | (FigureUnit::Time(..), FigureUnit::None) => true,
            (said, FigureUnit::None) => {
                let words = self.facts.columns.get(cell.column).map_or(&[][..], |column| &column.words);
                words.iter().copied().chain([self.facts.question]).any(|text| names_unit(text, said))
            }
            (said, unit) => said == unit,
        }
    }

    /// Whether the name of a column says that its values are losses.
    fn falls(&self, column: usize) -> bool {
        let words = self.facts.columns.get(column).map_or(&[][..], |column| &column.words);
        words.iter().any(|text| Words::new(text, 20).iter().any(|word| is_fall(word.folded)))
    }

    fn has_day(&self, days: &[[Option<i32>; 3]]) -> bool {
        let is = |said: &[Option<i32>; 3], known: &[Option<i32>; 3]| {
            said.iter().zip(known).all(|(said, known)| said.is_none() || said == known)
        };
        days.iter().any(|said| self.days.iter().any(|(known, _)| is(said, known)))
    }

    fn has_word(&self, folded: &str) -> bool {
        self.sources.iter().any(|text| Words::new(text, usize::MAX).iter().any(|word| word.folded == folded))
    }

    fn is_quoted(&self, narrated: &Figures<'_>, figure: &Figure) -> bool {
        let spelled = narrated.text.get(figure.range.clone()).unwrap_or("").to_lowercase();
        self.sources.iter().any(|text| text.to_lowercase().contains(&spelled))
    }

    fn check_names(&self, narrated: &Figures<'_>) -> Result<(), &'static str> {
        let multiple =
            |folded: &str| Language::ALL.into_iter().any(|it| has(it.grammar().words.figures.multiples, folded));
        if narrated.words.iter().any(|word| multiple(&word.folded) && !self.has_word(&word.folded)) {
            return Err(NUMBER);
        }
        // What belongs to a figure is no name: `USD 4,410`.
        let mut text = narrated.text.to_owned();
        for figure in narrated.figures.iter().filter(|figure| !matches!(figure.kind, FigureKind::Code(_))) {
            if let Some(spelled) = text.get_mut(figure.range.clone()) {
                spelled.make_ascii_lowercase();
            }
        }
        if self.source.lacks_name(&text) { Err(NAME) } else { Ok(()) }
    }
}

/// Which way a value is said to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    None,
    Up,
    /// Somewhere before the number.
    Down,
    /// Directly before the number, or after it: that is the amount of the fall.
    DownBy,
}

impl Direction {
    /// By the nearest word before a number that no other number stands between, or else the one after it.
    fn before(narrated: &Figures<'_>, figure: &Figure) -> Self {
        let from = narrated.figures.iter().map(|other| other.range.end).filter(|end| *end <= figure.range.start).max();
        let from = from.unwrap_or(0);
        let inside = |text: Option<&str>| text.is_some_and(|text| !text.contains(['\n', ';']) && !ends_sentence(text));
        let words = narrated.words.iter().rev().filter(|word| word.range.end <= figure.range.start);
        let words = words.take_while(|word| {
            word.range.start >= from && inside(narrated.text.get(word.range.end..figure.range.start))
        });
        let mut is_close = true;
        for word in words.take(DIRECTION_WORDS_MAX) {
            if is_fall(&word.folded) {
                return if is_close { Self::DownBy } else { Self::Down };
            }
            if is_rise(&word.folded) {
                return Self::Up;
            }
            is_close &= Language::ALL.into_iter().any(|it| has(it.grammar().words.figures.by, &word.folded));
        }
        let after = narrated.words.iter().filter(|word| word.range.start >= figure.range.end);
        let after = after.take_while(|word| {
            narrated
                .text
                .get(figure.range.end..word.range.start)
                .is_some_and(|gap| !gap.contains([',', '.', ';', '\n', '(']))
        });
        for word in after.take(2) {
            match () {
                () if is_fall(&word.folded) => return Self::DownBy,
                () if is_rise(&word.folded) => return Self::Up,
                () if Language::ALL.into_iter().any(|it| has(it.grammar().words.figures.by, &word.folded)) => {}
                () => break,
            }
        }
        Self::None
    }

    /// Whether a value can be the one that is said, with a sign and in this direction. `falls`: whether its
    /// column is one of losses.
    fn fits(self, sign: FigureSign, value: f64, falls: bool) -> bool {
        if value == 0.0 {
            return true;
        }
        match (sign, value < 0.0) {
            (FigureSign::Minus, is_negative) => is_negative,
            (FigureSign::Plus, is_negative) => !is_negative,
            (FigureSign::None, true) => matches!(self, Self::Down | Self::DownBy) || (falls && self != Self::Up),
            (FigureSign::None, false) => self != Self::DownBy || falls,
        }
    }
}

fn ends_sentence(text: &str) -> bool {
    [". ", "! ", "? "].iter().any(|end| text.contains(end))
}

fn is_fall(folded: &str) -> bool {
    Language::ALL.into_iter().any(|it| has(it.grammar().words.figures.falls, folded))
}

fn is_rise(folded: &str) -> bool {
    Language::ALL.into_iter().any(|it| has(it.grammar().words.figures.rises, folded))
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * f64::max(1.0, a.abs())
}

/// Whether a written value can be a rounding of the exact one, so that it was read right.
fn is_near(written: f64, exact: f64) -> bool {
    (written - exact).abs() <= f64::max(0.6, exact * 0.1)
}

/// Whether the question or a declaration states what is said. A stretch of time may be said in other units.
fn is_same_statement(stated: Quantity, said: Quantity) -> bool {
    let time = |quantity: Quantity| match quantity.unit {
        FigureUnit::Time(months, days) => Some((quantity.value * f64::from(months), quantity.value * f64::from(days))),
        _ => None,
    };
    match (time(stated), time(said)) {
        (Some(stated), Some(said)) => same(stated.0, said.0) && same(stated.1, said.1),
        (None, None) => {
            let fits = stated.unit == said.unit || said.unit == FigureUnit::None || stated.unit == FigureUnit::None;
            let is_turned = (said.sign == FigureSign::Minus) != (stated.sign == FigureSign::Minus);
            fits && !is_turned && same(stated.value, said.value)
        }
        (Some(_), None) => false,
        (None, Some(_)) => stated.unit == FigureUnit::None && same(stated.value, said.value),
    }
}

/// Whether a text has the sign or the name of a unit.
fn names_unit(text: &str, unit: FigureUnit) -> bool {
    let with = |sign: &str| match figures(&format!("1{sign}"), Language::DEFAULT).figures.as_slice() {
        [Figure { kind: FigureKind::Quantity(read), .. }] => read.unit == unit,
        _ => false,
    };
    let signs = text.split(|c: char| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '(' | ')'));
    let is_brl = unit == FigureUnit::Money("BRL") && text.contains("R$");
    is_brl || signs.filter(|sign| !sign.is_empty()).any(with) || {
        let words = Words::new(text, 60);
        let names = |word: &str| with(&format!(" {word}"));
        words.iter().any(|word| names(word.folded))
    }
}
