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

/// The window that a span is of, as a sentence says it: with its days, where its name leaves open which they
/// are.
pub(crate) fn in_words(span: &Span, window: Window) -> String {
    let shown = |day: &str| -> Option<String> {
        let mut parts = day.splitn(3, '-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        Some(format!("{day}/{month}/{year}"))
    };
    let days = span.from.as_deref().and_then(shown).zip(span.to.as_deref().and_then(shown));
    match days.filter(|_| window.is_relative_name()) {
        Some((from, to)) if from == to => format!("em {from}"),
        Some((from, to)) => format!("de {from} a {to}"),
        None => named(window),
    }
}

/// `nos últimos 12 meses`. Nothing for today, since its row may be older: the day stands in the row.
pub(crate) fn named(window: Window) -> String {
    match window {
        Window::Days(n) => counted(n, "no último dia", "nos últimos", "dias"),
        Window::Months(n) => counted(n, "no último mês", "nos últimos", "meses"),
        Window::Rows(n) => counted(n, "no último pregão", "nos últimos", "pregões"),
        Window::Today => String::new(),
        Window::Yesterday => "até ontem".to_owned(),
        Window::DaysAgo(2) => "até anteontem".to_owned(),
        Window::DaysAgo(n) => format!("até {n} dias atrás"),
        Window::MonthsAgo(1) => "até um mês atrás".to_owned(),
        Window::MonthsAgo(n) => format!("até {n} meses atrás"),
        Window::Weekday(day @ 1..=5) => format!("na última {}", name(&WEEKDAYS, day)),
        Window::Weekday(day) => format!("no último {}", name(&WEEKDAYS, day)),
        Window::This(period) => with(period, "neste", "nesta", ""),
        Window::Previous(period) => {
            with(period, "no", "na", if period == Period::Week { "passada" } else { "passado" })
        }
        Window::Next(period) => with(period, "no próximo", "na próxima", ""),
        Window::Upcoming => "a partir de hoje".to_owned(),
        Window::NextDays(n) => counted(n, "no próximo dia", "nos próximos", "dias"),
        Window::NextMonths(n) => counted(n, "no próximo mês", "nos próximos", "meses"),
        Window::In(point) => after(point, "em", "no"),
        Window::Between(a, b) => between(a, b),
        Window::Since(point) => after(point, "desde", "desde o"),
        Window::Until(point) => after(point, "até", "até o"),
        Window::All => "em todo o histórico".to_owned(),
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
    format!("{} {}", after(shown, "de", "do"), after(b, "a", "ao"))
}

fn with(period: Period, masculine: &str, feminine: &str, end: &str) -> String {
    let (before, noun) = match period {
        Period::Week => (feminine, "semana"),
        Period::Month => (masculine, "mês"),
        Period::Quarter => (masculine, "trimestre"),
        Period::Half => (masculine, "semestre"),
        Period::Year => (masculine, "ano"),
    };
    format!("{before} {noun} {end}").trim_end().to_owned()
}

/// After one of two words: that for a noun with an article, or that for one without.
fn after(point: Point, bare: &str, with_article: &str) -> String {
    let of = match point.year {
        YearOf::Newest => String::new(),
        YearOf::This => " deste ano".to_owned(),
        YearOf::Last => " do ano passado".to_owned(),
        YearOf::Of(year) => format!(" de {year}"),
    };
    match (point.part, point.year) {
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
