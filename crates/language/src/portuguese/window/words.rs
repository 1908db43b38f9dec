//! Windows as a Portuguese sentence says them, after a noun.

use crate::window::{Part, Period, Point, Span, Window, YearOf};

const MONTHS: [&str; 12] = [
    "janeiro",
    "fevereiro",
    "março",
    "abril",
    "maio",
    "junho",
    "julho",
    "agosto",
    "setembro",
    "outubro",
    "novembro",
    "dezembro",
];
const ORDINALS: [&str; 4] = ["primeiro", "segundo", "terceiro", "quarto"];

const WEEKDAYS: [&str; 7] =
    ["segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado", "domingo"];

impl Span {
    /// The window that it is of, as a sentence says it: with its days, where its name leaves open which they
    /// are.
    pub fn in_words(&self, window: Window) -> String {
        let shown = |day: &str| -> Option<String> {
            let mut parts = day.splitn(3, '-');
            let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
            Some(format!("{day}/{month}/{year}"))
        };
        let days = self.from.as_deref().and_then(shown).zip(self.to.as_deref().and_then(shown));
        match days.filter(|_| window.is_relative_name()) {
            Some((from, to)) if from == to => format!("em {from}"),
            Some((from, to)) => format!("de {from} a {to}"),
            None => window.in_words(),
        }
    }
}

impl Window {
    /// How a sentence in Portuguese says it: `nos últimos 12 meses`. Nothing for today, since its row may be
    /// older: the day stands in the row.
    pub fn in_words(self) -> String {
        match self {
            Self::Days(n) => counted(n, "no último dia", "nos últimos", "dias"),
            Self::Months(n) => counted(n, "no último mês", "nos últimos", "meses"),
            Self::Rows(n) => counted(n, "no último pregão", "nos últimos", "pregões"),
            Self::Today => String::new(),
            Self::Yesterday => "até ontem".to_owned(),
            Self::DaysAgo(2) => "até anteontem".to_owned(),
            Self::DaysAgo(n) => format!("até {n} dias atrás"),
            Self::MonthsAgo(1) => "até um mês atrás".to_owned(),
            Self::MonthsAgo(n) => format!("até {n} meses atrás"),
            Self::Weekday(day @ 1..=5) => format!("na última {}", name(&WEEKDAYS, day)),
            Self::Weekday(day) => format!("no último {}", name(&WEEKDAYS, day)),
            Self::This(period) => period.with("neste", "nesta", ""),
            Self::Previous(period) => {
                period.with("no", "na", if period == Period::Week { "passada" } else { "passado" })
            }
            Self::Next(period) => period.with("no próximo", "na próxima", ""),
            Self::Upcoming => "a partir de hoje".to_owned(),
            Self::NextDays(n) => counted(n, "no próximo dia", "nos próximos", "dias"),
            Self::NextMonths(n) => counted(n, "no próximo mês", "nos próximos", "meses"),
            Self::In(point) => point.after("em", "no"),
            Self::Between(a, b) => between(a, b),
            Self::Since(point) => point.after("desde", "desde o"),
            Self::Until(point) => point.after("até", "até o"),
            Self::All => "em todo o histórico".to_owned(),
        }
    }
}

/// The name of a number that begins with 1.
fn name(names: &[&'static str], number: impl TryInto<usize>) -> &'static str {
    let at = number.try_into().ok().and_then(|number: usize| number.checked_sub(1));
    at.and_then(|at| names.get(at)).copied().unwrap_or_default()
}

fn counted(n: u32, one: &str, many: &str, unit: &str) -> String {
    if n == 1 { one.to_owned() } else { format!("{many} {n} {unit}") }
}

/// The year stands once: `de janeiro a março de 2025`.
fn between(a: Point, b: Point) -> String {
    let is_day = |point: Point| matches!(point.part, Part::Day { .. });
    let is_shared = a.year == b.year && a.part != Part::Whole && b.part != Part::Whole && !is_day(a) && !is_day(b);
    let shown = if is_shared { Point { year: YearOf::Newest, ..a } } else { a };
    format!("{} {}", shown.after("de", "do"), b.after("a", "ao"))
}

impl Period {
    fn with(self, masculine: &str, feminine: &str, end: &str) -> String {
        let (before, noun) = match self {
            Self::Week => (feminine, "semana"),
            Self::Month => (masculine, "mês"),
            Self::Quarter => (masculine, "trimestre"),
            Self::Half => (masculine, "semestre"),
            Self::Year => (masculine, "ano"),
        };
        format!("{before} {noun} {end}").trim_end().to_owned()
    }
}

impl Point {
    /// After one of two words: that for a noun with an article, or that for one without.
    fn after(self, bare: &str, with_article: &str) -> String {
        let of = match self.year {
            YearOf::Newest => String::new(),
            YearOf::This => " deste ano".to_owned(),
            YearOf::Last => " do ano passado".to_owned(),
            YearOf::Of(year) => format!(" de {year}"),
        };
        match (self.part, self.year) {
            (Part::Whole, YearOf::Of(year)) => format!("{bare} {year}"),
            (Part::Whole, YearOf::Last) => format!("{with_article} ano passado"),
            (Part::Whole, _) => format!("{bare} este ano"),
            (Part::Half(half), _) => format!("{with_article} {} semestre{of}", name(&ORDINALS, half)),
            (Part::Quarter(quarter), _) => format!("{with_article} {} trimestre{of}", name(&ORDINALS, quarter)),
            (Part::Month(month), _) => format!("{bare} {}{of}", name(&MONTHS, month)),
            (Part::Day { month, day }, YearOf::Of(year)) => format!("{bare} {day:02}/{month:02}/{year}"),
            (Part::Day { month, day }, _) => format!("{bare} {day:02}/{month:02}{of}"),
        }
    }
}
