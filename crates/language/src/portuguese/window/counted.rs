//! Windows by a count: `últimos 12 meses`, `há 3 dias`, `próximos 6 meses`, `últimos 10 pregões`.
//!
//! A count alone is none: `DY de 12 meses` and `dy 12m` name a metric, `acima de 36 meses` a band.

use super::number::number;
use crate::window::Tokens;
use crate::window::{DAYS_MAX, MONTHS_MAX, Period, ROWS_MAX, Window};

/// What is counted, in the smallest that it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum TimeUnit {
    Days(u32),
    Months(u32),
    Rows,
}

const LAST: [&str; 7] = ["ultimos", "ultimas", "ultimo", "ultima", "last", "past", "previous"];
const NEXT: [&str; 5] = ["proximos", "proximas", "proximo", "proxima", "next"];

pub fn read(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    last(tokens, at).or_else(|| next(tokens, at)).or_else(|| ago(tokens, at)).or_else(|| within(tokens, at))
}

/// `últimos 12 meses`, `12 últimos meses`, `último ano`; a few, if no number is given.
fn last(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if let Some((count, then)) = number(tokens, at) {
        let (unit, next) = if tokens.is_one_of(then, &LAST) { unit(tokens, then + 1)? } else { recent(tokens, then)? };
        return Some((unit.last(count)?, next));
    }
    if !tokens.is_one_of(at, &LAST) {
        return None;
    }
    let (count, unit, next) = counted(tokens, at + 1).or_else(|| short(tokens, at + 1)).or_else(|| {
        let (unit, next) = unit(tokens, at + 1)?;
        // In English, last month is the one before this.
        let is_period = matches!(tokens.word(at), "last" | "past" | "previous") && !is_many(tokens, next - 1);
        (!is_period || unit == TimeUnit::Rows).then(|| (unit.few(is_many(tokens, at + 1)), unit, next))
    })?;
    Some((unit.last(count)?, next))
}

/// `6 meses mais recentes`.
fn recent(tokens: &Tokens<'_>, at: usize) -> Option<(TimeUnit, usize)> {
    const ENDS: [&str; 6] = ["mais recentes", "anteriores", "passados", "passadas", "para ca", "pra ca"];
    let (unit, next) = unit(tokens, at)?;
    let end = ENDS.iter().find_map(|end| tokens.phrase(next, end))?;
    Some((unit, end))
}

/// `próximos 6 meses`; those without a number have no end.
fn next(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let (count, unit, next) = match number(tokens, at) {
        Some((count, then)) if tokens.is_one_of(then, &NEXT) => {
            let (unit, next) = unit(tokens, then + 1)?;
            (count, unit, next)
        }
        _ if !tokens.is_one_of(at, &NEXT) => return None,
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
    let is_led = tokens.is_one_of(at, &["ha", "faz"]);
    let (count, unit, next) = counted(tokens, at + usize::from(is_led))?;
    let is_back = tokens.is_one_of(next, &["atras", "ago"]);
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
    const METRICS: [&str; 3] = ["dy", "yield", "yields"];
    const DUE_WORDS: usize = 3;
    let is_in = tokens.is_one_of(at, &["em", "nos", "nas", "durante", "in", "over", "within"]);
    let is_of = tokens.is_one_of(at, &["de", "das", "dos", "of"]);
    let (count, unit, next) = counted(tokens, at + usize::from(is_in || is_of))?;
    let is_due = |at: usize| ["venc", "recebiv", "praz"].iter().any(|stem| tokens.word(at).starts_with(stem));
    let is_none = METRICS.contains(&tokens.before(at)) || (at.saturating_sub(DUE_WORDS)..at).any(is_due);
    let is_said = (is_in || is_stretched(tokens.before(at))) && !is_none;
    Some((unit.last(count).filter(|_| is_said)?, next))
}

/// A count that stands alone, `e 6 meses?`, or without a word that says that it is a stretch, `preço 90
/// dias`: where no other window is named. Not `DY de 12 meses`, nor what a bound is set by or falls due.
pub fn bare(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    const BOUNDS: [&str; 14] = [
        "acima", "abaixo", "mais", "menos", "maior", "menor", "superior", "inferior", "ate", "apos", "daqui", "venc",
        "prazo", "entre",
    ];
    const BEFORE: usize = 3;
    let (count, unit, next) = counted(tokens, at).or_else(|| short(tokens, at))?;
    let window = unit.last(count)?;
    let is_bound = |at: usize| BOUNDS.iter().any(|word| tokens.word(at).starts_with(word));
    let is_due = (at.saturating_sub(BEFORE)..at).any(is_bound);
    let is_metric = |at: usize| matches!(tokens.word(at), "dy" | "yield" | "yields");
    let names_metric = window == Window::Months(12) && (at.saturating_sub(BEFORE)..at).any(is_metric);
    let is_joined = tokens.joint(at).is_some();
    (!is_due && !names_metric && !is_joined).then_some((window, next))
}

/// What is reported for a stretch of days, so that a count behind it is that stretch. A metric of the day,
/// such as the DY or the volatility, has the count in its name.
fn is_stretched(word: &str) -> bool {
    const WORDS: [&str; 17] = [
        "maxima",
        "minima",
        "maximo",
        "minimo",
        "media",
        "medio",
        "historico",
        "serie",
        "variacao",
        "rentabilidade",
        "retorno",
        "total",
        "soma",
        "dividendos",
        "proventos",
        "rendimentos",
        "evolucao",
    ];
    word.starts_with("acumulad") || WORDS.contains(&word)
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
    let unit = match word.strip_prefix(digits)? {
        "d" => TimeUnit::Days(1),
        "m" => TimeUnit::Months(1),
        "a" | "y" => TimeUnit::Months(12),
        _ => return None,
    };
    let fits = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let count = if fits { digits.parse().ok() } else { None };
    Some((count?, unit, at + 1))
}

fn unit(tokens: &Tokens<'_>, at: usize) -> Option<(TimeUnit, usize)> {
    const ROWS: [&str; 6] = ["dias uteis", "dia util", "trading days", "trading day", "business days", "business day"];
    if let Some(next) = ROWS.iter().find_map(|phrase| tokens.phrase(at, phrase)) {
        return Some((TimeUnit::Rows, next));
    }
    let unit = match tokens.word(at) {
        "dia" | "dias" | "day" | "days" => TimeUnit::Days(1),
        "semana" | "semanas" | "week" | "weeks" => TimeUnit::Days(7),
        "quinzena" | "quinzenas" => TimeUnit::Days(15),
        "mes" | "meses" | "month" | "months" => TimeUnit::Months(1),
        "bimestre" | "bimestres" => TimeUnit::Months(2),
        "trimestre" | "trimestres" | "quarter" | "quarters" => TimeUnit::Months(3),
        "quadrimestre" | "quadrimestres" => TimeUnit::Months(4),
        "semestre" | "semestres" => TimeUnit::Months(6),
        "ano" | "anos" | "year" | "years" => TimeUnit::Months(12),
        "decada" | "decade" => TimeUnit::Months(120),
        "pregao" | "pregoes" | "sessao" | "sessoes" | "session" | "sessions" | "fechamento" | "fechamentos" => {
            TimeUnit::Rows
        }
        _ => return None,
    };
    Some((unit, at + 1))
}

/// Whether a word is the name of a stretch that is counted.
pub fn is_time_unit(word: &str) -> bool {
    is_unit(&Tokens::new(word), 0)
}

/// Whether a word counts time, or rows that stand for days.
pub fn is_unit(tokens: &Tokens<'_>, at: usize) -> bool {
    unit(tokens, at).is_some()
}

fn is_many(tokens: &Tokens<'_>, at: usize) -> bool {
    tokens.word(at).ends_with('s') && tokens.word(at) != "mes"
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

impl Period {
    pub(super) fn parse(word: &str) -> Option<Self> {
        match word {
            "semana" | "week" => Some(Self::Week),
            "mes" | "month" => Some(Self::Month),
            "trimestre" | "quarter" => Some(Self::Quarter),
            "semestre" => Some(Self::Half),
            "ano" | "year" => Some(Self::Year),
            _ => None,
        }
    }
}
