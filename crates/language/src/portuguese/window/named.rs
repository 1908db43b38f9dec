//! Windows with names of their own: `este mês`, `ano passado`, `hoje`, `D-1`.

use crate::window::Tokens;
use crate::window::{DAYS_MAX, Period, Window};

pub fn period(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    fixed(tokens, at, &PERIODS).or_else(|| pointed(tokens, at)).or_else(|| bare(tokens, at))
}

pub fn day(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    // Up to now is no day: it may begin anywhere.
    if matches!(tokens.before(at), "ate" | "until") {
        return None;
    }
    fixed(tokens, at, &DAYS)
        .or_else(|| days_before(tokens, at))
        .or_else(|| weekday(tokens, at))
        .or_else(|| of_day(tokens, at))
}

const DAYS: [(&str, Window); 13] = [
    ("hoje", Window::Today),
    ("agora", Window::Today),
    ("neste momento", Window::Today),
    ("nesse momento", Window::Today),
    ("no momento", Window::Today),
    ("today", Window::Today),
    ("now", Window::Today),
    ("ontem", Window::Yesterday),
    ("yesterday", Window::Yesterday),
    ("vespera", Window::Yesterday),
    ("anteontem", Window::DaysAgo(2)),
    ("antes de ontem", Window::DaysAgo(2)),
    ("day before yesterday", Window::DaysAgo(2)),
];

/// Rows of a recent history.
const RECENT_ROWS: u32 = 10;

const PERIODS: [(&str, Window); 62] = [
    ("historico recente", Window::Rows(RECENT_ROWS)),
    ("ytd", Window::This(Period::Year)),
    ("year to date", Window::This(Period::Year)),
    ("desde o inicio do ano", Window::This(Period::Year)),
    ("desde o comeco do ano", Window::This(Period::Year)),
    ("ano todo", Window::This(Period::Year)),
    ("ano inteiro", Window::This(Period::Year)),
    ("mtd", Window::This(Period::Month)),
    ("month to date", Window::This(Period::Month)),
    ("desde o inicio do mes", Window::This(Period::Month)),
    ("desde o comeco do mes", Window::This(Period::Month)),
    ("mes que vem", Window::Next(Period::Month)),
    ("ano que vem", Window::Next(Period::Year)),
    ("semana que vem", Window::Next(Period::Week)),
    ("proximo pagamento", Window::Upcoming),
    ("proximos pagamentos", Window::Upcoming),
    ("proximo dividendo", Window::Upcoming),
    ("proximos dividendos", Window::Upcoming),
    ("proximo provento", Window::Upcoming),
    ("proximos proventos", Window::Upcoming),
    ("proximo rendimento", Window::Upcoming),
    ("proximos rendimentos", Window::Upcoming),
    ("proxima distribuicao", Window::Upcoming),
    ("proximas distribuicoes", Window::Upcoming),
    ("proxima data", Window::Upcoming),
    ("proximas datas", Window::Upcoming),
    ("next payment", Window::Upcoming),
    ("next payments", Window::Upcoming),
    ("next dividend", Window::Upcoming),
    ("next dividends", Window::Upcoming),
    ("upcoming", Window::Upcoming),
    ("vai pagar", Window::Upcoming),
    ("vao pagar", Window::Upcoming),
    ("pagara", Window::Upcoming),
    ("pagarao", Window::Upcoming),
    ("daqui para frente", Window::Upcoming),
    ("daqui pra frente", Window::Upcoming),
    ("de agora em diante", Window::Upcoming),
    ("a partir de hoje", Window::Upcoming),
    ("todo o historico", Window::All),
    ("todo historico", Window::All),
    ("historico completo", Window::All),
    ("historico inteiro", Window::All),
    ("historico todo", Window::All),
    ("toda a serie", Window::All),
    ("serie completa", Window::All),
    ("ao longo do tempo", Window::All),
    ("todos os tempos", Window::All),
    ("desde sempre", Window::All),
    ("desde o inicio", Window::All),
    ("desde o comeco", Window::All),
    ("desde o ipo", Window::All),
    ("desde o lancamento", Window::All),
    ("desde a criacao", Window::All),
    ("desde a estreia", Window::All),
    ("desde a listagem", Window::All),
    ("desde a fundacao", Window::All),
    ("desde sua criacao", Window::All),
    ("desde a sua criacao", Window::All),
    ("since inception", Window::All),
    ("all time", Window::All),
    ("over time", Window::All),
];

fn fixed(tokens: &Tokens<'_>, at: usize, table: &[(&str, Window)]) -> Option<(Window, usize)> {
    table.iter().find_map(|(phrase, window)| Some((*window, tokens.phrase(at, phrase)?)))
}

/// `este mês`, `mês passado`, `next month`, `ano atual`.
fn pointed(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    const THIS: [&str; 15] = [
        "este", "esta", "esse", "essa", "neste", "nesta", "nesse", "nessa", "deste", "desta", "desse", "dessa", "this",
        "presente", "atual",
    ];
    if let Some(period) = Period::parse(tokens.word(at + 1)) {
        match tokens.word(at) {
            word if THIS.contains(&word) => return Some((Window::This(period), at + 2)),
            "last" | "previous" | "past" => return Some((Window::Previous(period), at + 2)),
            "proximo" | "proxima" | "next" => return Some((Window::Next(period), at + 2)),
            _ => {}
        }
    }
    let period = Period::parse(tokens.word(at))?;
    match tokens.word(at + 1) {
        "passado" | "passada" | "anterior" => Some((Window::Previous(period), at + 2)),
        "atual" | "corrente" | "vigente" => Some((Window::This(period), at + 2)),
        _ => None,
    }
}

/// Words behind a period that say more of it.
const GOES_ON: [&str; 9] = ["de", "do", "da", "a", "em", "que", "por", "retrasado", "retrasada"];

/// `no ano`, `do mês`: the current one, unless the text says more.
fn bare(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    const PARTS: [&str; 15] = [
        "inicio", "comeco", "fim", "final", "meio", "meados", "resto", "restante", "dia", "dias", "vez", "vezes",
        "mes", "semana", "cada",
    ];
    let period = Period::parse(tokens.word(at + 1)).filter(|_| tokens.is_one_of(at, &["no", "na", "do", "da"]))?;
    let is_part = PARTS.contains(&tokens.before(at)) || GOES_ON.contains(&tokens.word(at + 2));
    (!is_part && pointed(tokens, at + 1).is_none()).then_some((Window::This(period), at + 2))
}

/// `maiores altas do dia`; more may be said of a day than of a month, so this ends what is said.
fn of_day(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    let next = tokens.phrase(at, "do dia").or_else(|| tokens.phrase(at, "no dia"))?;
    let is_end = next >= tokens.len() || !tokens.gap(next).chars().all(char::is_whitespace);
    is_end.then_some((Window::Today, next))
}

/// `D-1`, as those say it who close books.
fn days_before(tokens: &Tokens<'_>, at: usize) -> Option<(Window, usize)> {
    if tokens.word(at) != "d" || tokens.joint(at + 1) != Some('-') {
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
    let last = usize::from(tokens.is_one_of(at, &["ultima", "ultimo", "last"]));
    let (day, is_sure) = match tokens.word(at + last) {
        "segunda" => (1, false),
        "terca" => (2, false),
        "quarta" => (3, false),
        "quinta" => (4, false),
        "sexta" => (5, false),
        "monday" => (1, true),
        "tuesday" => (2, true),
        "wednesday" => (3, true),
        "thursday" => (4, true),
        "friday" => (5, true),
        "sabado" | "saturday" => (6, true),
        "domingo" | "sunday" => (7, true),
        _ => return None,
    };
    let next = at + last + 1;
    let end = next + usize::from(tokens.word(next) == "feira");
    let end = end + usize::from(tokens.is_one_of(end, &["passada", "passado"]));
    (is_sure || end > next || (last > 0 && end >= tokens.len())).then_some((Window::Weekday(day), end))
}
