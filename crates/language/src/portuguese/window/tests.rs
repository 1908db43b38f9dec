//! Questions and the windows they name; windows and their days; codes and back.

use proptest::prelude::*;

use super::words::named;
use super::*;
use crate::calendar;
use crate::window::{Part, Point};

static TABLE: WindowWords = WORDS;

fn code(text: &str) -> String {
    Window::locate(text, &TABLE).map(|(window, _)| window.to_string()).unwrap_or_default()
}

/// Lines of a question and the code of its window.
#[track_caller]
fn check(table: &str) {
    let lines = table.lines().map(str::trim).filter(|line| !line.is_empty());
    let wrong = lines.filter_map(|line| {
        let (text, expect) = line.split_once(" => ").unwrap_or((line, ""));
        let found = code(text);
        (found != expect.trim()).then(|| format!("{text}: {found}, not {expect}"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn counts_that_lie_behind() {
    check(
        "Total de dividendos do VISC11 nos últimos 6 meses => months:6
        ao longo dos últimos 12 meses (histórico)? => months:12
        dy mensal nos ultimos 12 meses? => months:12
        últimos seis meses => months:6
        últimos 12 (doze) meses => months:12
        nos últimos vinte e quatro meses => months:24
        nos últimos 30 dias => days:30
        nos últimos trinta e cinco dias => days:35
        últimas 3 semanas => days:21
        última quinzena => days:15
        em cada mês do último ano => months:12
        nos últimos dois anos => months:24
        no último mês de referência => months:1
        frente ao IBOV no último mês => months:1
        último trimestre => months:3
        último semestre => months:6
        última semana => days:7
        os 6 últimos meses => months:6
        os seis meses mais recentes => months:6
        nos últimos 12m => months:12
        nos últimos dias => days:7
        nos últimos meses => months:6
        Como o IFIX se comportou nos últimos 10 pregões? => rows:10
        nos últimos 5 dias úteis => rows:5
        no último pregão (cotação D-1)? => rows:1
        no último fechamento => rows:1
        últimas dez sessões => rows:10
        acumulado em 12 meses? => months:12
        máxima de 52 semanas => days:364
        média de 30 dias => days:30
        quanto recebi em 12 meses => months:12
        quanto rendeu em um ano => months:12
        de 6 meses para cá => months:6
        há 3 dias => days_ago:3
        quanto valia há 6 meses? => months_ago:6
        um ano atrás => months_ago:12
        last 12 months => months:12
        over the past two years => months:24
        last 10 trading days => rows:10
        3 days ago => days_ago:3",
    );
}

#[test]
fn dates_and_stretches_between_them() {
    check(
        "Quais proventos o MXRF11 pagou em 2024? => year:2024
        proventos MXRF11 2024 => year:2024
        DY por mes do HGLG11 em 2023. => year:2023
        no ano de 2022 => year:2022
        de 2023 a 2024 => between:2023..2024
        2023-2024 => between:2023..2024
        2023/2024 => between:2023..2024
        em 2023 e 2024 => between:2023..2024
        em 2022, 2023 e 2024 => between:2022..2024
        compare 2024 com 2023 => between:2023..2024
        fevereiro a 2024 => between:2024..2024-02
        entre 1º e 15 de março de 2025 => between:2025-03-01..2025-03-15
        nos primeiros seis meses de 2024 => between:2024-01..2024-06
        primeiros 3 meses do ano => between:this-01..this-03
        outubro/novembro de 2025 => between:2025-10..2025-11
        de jan a mar de 2025 => between:2025-01..2025-03
        jan-mar/2025 => between:2025-01..2025-03
        desde 2023. => since:2023
        desde março de 2024 => since:2024-03
        desde o início de 2024 => since:2024
        desde o ano passado => since:last
        a partir de 15/03/2024 => since:2024-03-15
        de 2023 para cá => since:2023
        de março de 2024 até hoje => since:2024-03
        após 2023 => since:2024-01-01
        até junho de 2025 => until:2025-06
        até o fim de 2024 => until:2024
        antes de março de 2024 => until:2024-02-29
        desde janeiro até março de 2025 => between:2025-01..2025-03
        em março de 2025? => month:2025-03
        março/2025 => month:2025-03
        janeiro/2025 => month:2025-01
        jan/25 => month:2025-01
        em jan 25 => month:2025-01
        dez/2024 => month:2024-12
        em out de 2024 => month:2024-10
        10/2025 => month:2025-10
        2025-10 => month:2025-10
        com data com em outubro de 2025? => month:2025-10
        em outubro => month:10
        dividendos outubro => month:10
        em março? => month:03
        março do ano passado => month:last-03
        em março deste ano => month:this-03
        entre novembro e fevereiro de 2025 => between:2024-11..2025-02
        de janeiro a março => between:01..03
        de novembro de 2024 a fevereiro => between:2024-11..2025-02
        primeiro semestre de 2024 => half:2024-H1
        1º semestre de 2024 => half:2024-H1
        no terceiro trimestre => quarter:Q3
        3T24 => quarter:2024-Q3
        1S2025 => half:2025-H1
        último trimestre de 2024 => quarter:2024-Q4
        segundo semestre do ano passado => half:last-H2
        Máxima e mínima do MXRF11 em 27/10/2025 => day:2025-10-27
        27/10/25 => day:2025-10-27
        no dia 27/10 => day:10-27
        27-10-2025 => day:2025-10-27
        27.10.2025 => day:2025-10-27
        em 2024-12-27 no histórico de câmbio D-1? => day:2024-12-27
        27 de outubro de 2025 => day:2025-10-27
        dia 27 de outubro => day:10-27
        1º de março de 2025 => day:2025-03-01
        29/02/2024 => day:2024-02-29
        entre 2024-12-16 e 2024-12-20 => between:2024-12-16..2024-12-20
        de 16/12/2024 a 20/12/2024 => between:2024-12-16..2024-12-20
        16/12/2024 - 20/12/2024 => between:2024-12-16..2024-12-20
        16/12/2024-20/12/2024 => between:2024-12-16..2024-12-20
        de 16 a 20 de dezembro de 2024 => between:2024-12-16..2024-12-20
        in March 2025 => month:2025-03
        October 27, 2025 => day:2025-10-27
        on October 27th => day:10-27
        since 2023 => since:2023
        from 2023 to 2024 => between:2023..2024
        Q3 2024 => quarter:2024-Q3",
    );
}

#[test]
fn periods_and_days_with_names() {
    check(
        "Quais os dividendos do HGLG11 esse mês? => this_month
        Variação do CDI este mês => this_month
        no mês => this_month
        mês atual => this_month
        no mês passado => last_month
        mês anterior => last_month
        neste trimestre => this_quarter
        neste semestre => this_half
        este ano => this_year
        rendimento no ano => this_year
        a maior alta do ano => this_year
        YTD => this_year
        desde o início do ano => this_year
        no ano passado => last_year
        semana passada => last_week
        esta semana => this_week
        last month => last_month
        this year => this_year
        mês que vem => next_month
        no próximo mês => next_month
        para os próximos meses => upcoming
        nos próximos 3 meses => next_months:3
        próximas 2 semanas => next_days:14
        Qual é o próximo pagamento de dividendos do MXRF11? => upcoming
        quanto o MXRF11 vai pagar => upcoming
        Histórico recente do IFIX (D-1) => rows:10
        todo o histórico => all
        ao longo do tempo? => all
        desde o início => all
        Quanto está o HGLG11 hoje? => today
        Como está o preço do VINO agora? => today
        today => today
        maiores altas do dia? => today
        Preço de fechamento de ontem do KNRI11 => yesterday
        CDI d-1 => yesterday
        em D–1 => yesterday
        D-2 => days_ago:2
        anteontem => days_ago:2
        yesterday => yesterday
        na sexta-feira => weekday:5
        na última segunda-feira => weekday:1
        na terça passada => weekday:2
        last friday => weekday:5
        na última quinta? => weekday:4
        no fechamento de hoje (D-1) => today",
    );
}

#[test]
fn what_only_looks_like_a_window_is_none() {
    check(
        "Qual o DY de 12 meses do HGLG11
        ranking de dy 12 meses?
        DY em 12 meses
        Mostra o dy 12m mes a mes do HGLG11.
        tem vencimento acima de 36 meses?
        faixas 0–3m até acima de 36m
        receitas com vencimento em 6-9 meses do KNRI11
        vencendo em 0–3 meses no cronograma
        vencimento em 12 meses
        o beta e o R² do KNRI11
        HGLG11
        mais de 2000 cotas
        R$ 2024
        acima de 2024
        2.024 cotas
        1/3 da carteira
        31/02/2025
        2025-02-30
        29/02/2023
        31 de fevereiro de 2025
        45/13/2025
        1.2.3.4
        10/20/2024/30
        por mês
        em cada mês
        mês a mês
        Desde quando existem processos
        desde a última data de posição?
        contra IBOV até agora (visão resumida)
        as três últimas notícias
        últimos dividendos
        top 10
        os dez maiores
        o mar, out, set
        o marco legal
        últimos 0 meses
        últimos 9999 anos
        últimas notícias
        taxa ao ano
        na sexta posição
        no dia a dia
        no dia do pagamento
        no dia 15
        a segunda maior
        volatilidade de 12 meses
        segundo o último relatório
        ",
    );
}

#[test]
fn the_words_of_a_window_are_known_by_their_place() {
    let text = "Total do VISC11 nos últimos 6 meses, por favor";
    let (_, range) = Window::locate(text, &TABLE).unwrap();
    assert_eq!(&text[range], "nos últimos 6 meses");
    let text = "e de 16/12/2024 a 20/12/2024?";
    assert_eq!(&text[Window::locate(text, &TABLE).unwrap().1], "de 16/12/2024 a 20/12/2024");
}

/// The days of a code, seen from a last day of data and a today.
#[track_caller]
fn days_of(code: &str, data_day: (i32, i32, i32), today: (i32, i32, i32), expect: &str) {
    let day = |(year, month, day)| calendar::days(year, month, day);
    let span = code.parse::<Window>().unwrap().span(day(data_day), day(today));
    let rows = span.rows.map(|rows| format!(" rows {rows}")).unwrap_or_default();
    assert_eq!(format!("{}..{}{rows}", span.from.unwrap_or_default(), span.to.unwrap_or_default()), expect, "{code}");
}

#[test]
fn relative_windows_end_with_the_data_or_today() {
    let (data, today) = ((2025, 10, 31), (2026, 11, 16));
    for (code, expect) in [
        ("months:12", "2024-11-01..2025-10-31"),
        ("months:1", "2025-10-01..2025-10-31"),
        ("days:30", "2025-10-02..2025-10-31"),
        ("rows:10", "..2025-10-31 rows 10"),
        ("today", "..2025-10-31 rows 1"),
        ("yesterday", "..2025-10-31 rows 1"),
        ("months_ago:6", "..2025-04-30 rows 1"),
        ("weekday:5", "2025-10-31..2025-10-31"),
        ("weekday:6", "2025-10-25..2025-10-25"),
        ("weekday:1", "2025-10-27..2025-10-27"),
        ("this_week", "2025-10-27..2025-10-31"),
        ("last_week", "2025-10-20..2025-10-26"),
        ("this_month", "2025-10-01..2025-10-31"),
        ("last_month", "2025-09-01..2025-09-30"),
        ("next_month", "2025-11-01..2025-11-30"),
        ("this_quarter", "2025-10-01..2025-10-31"),
        ("last_quarter", "2025-07-01..2025-09-30"),
        ("last_half", "2025-01-01..2025-06-30"),
        ("this_year", "2025-01-01..2025-10-31"),
        ("last_year", "2024-01-01..2024-12-31"),
        ("upcoming", "2025-11-01.."),
        ("next_months:2", "2025-11-01..2025-12-31"),
        ("next_days:7", "2025-11-01..2025-11-07"),
        ("month:10", "2025-10-01..2025-10-31"),
        ("month:11", "2024-11-01..2024-11-30"),
        ("month:last-02", "2024-02-01..2024-02-29"),
        ("day:02-29", "2024-02-29..2024-02-29"),
        ("between:11..02", "2024-11-01..2025-02-28"),
        ("between:01..03", "2025-01-01..2025-03-31"),
        ("between:2024..2023", "2023-01-01..2024-12-31"),
        ("year:2024", "2024-01-01..2024-12-31"),
        ("quarter:2024-Q1", "2024-01-01..2024-03-31"),
        ("half:H2", "2025-07-01..2025-12-31"),
        ("since:last", "2024-01-01.."),
        ("until:2024-02", "..2024-02-29"),
        ("all", ".."),
    ] {
        days_of(code, data, today, expect);
    }
}

#[test]
fn fresh_data_is_seen_from_today() {
    let (data, today) = ((2025, 11, 30), (2025, 10, 15));
    for (code, expect) in [
        ("today", "..2025-10-15 rows 1"),
        ("yesterday", "..2025-10-14 rows 1"),
        ("days_ago:3", "..2025-10-12 rows 1"),
        ("months:1", "2025-09-16..2025-10-15"),
        ("upcoming", "2025-10-15.."),
        ("next_months:1", "2025-10-15..2025-11-14"),
        ("month:11", "2024-11-01..2024-11-30"),
    ] {
        days_of(code, data, today, expect);
    }
}

#[test]
fn months_keep_their_ends() {
    let at = |code: &str, day: (i32, i32, i32), expect: &str| days_of(code, day, day, expect);
    at("months:12", (2025, 2, 28), "2024-03-01..2025-02-28");
    at("months:12", (2024, 2, 29), "2023-03-01..2024-02-29");
    at("months:1", (2024, 3, 30), "2024-03-01..2024-03-30");
    at("months:3", (2025, 1, 31), "2024-11-01..2025-01-31");
    at("months:1", (2025, 3, 15), "2025-02-16..2025-03-15");
    at("last_month", (2025, 1, 1), "2024-12-01..2024-12-31");
    at("last_month", (2024, 3, 31), "2024-02-01..2024-02-29");
    at("last_quarter", (2025, 1, 31), "2024-10-01..2024-12-31");
    at("next_year", (2024, 12, 31), "2025-01-01..2025-12-31");
    at("month:01", (2025, 1, 1), "2025-01-01..2025-01-31");
    at("month:01", (2024, 12, 31), "2024-01-01..2024-01-31");
    at("day:12-31", (2025, 1, 1), "2024-12-31..2024-12-31");
}

#[test]
fn windows_read_well_after_a_noun() {
    for (code, expect) in [
        ("months:12", "nos últimos 12 meses"),
        ("months:1", "no último mês"),
        ("rows:10", "nos últimos 10 pregões"),
        ("today", ""),
        ("yesterday", "até ontem"),
        ("days_ago:2", "até anteontem"),
        ("this_week", "nesta semana"),
        ("weekday:5", "na última sexta-feira"),
        ("weekday:7", "no último domingo"),
        ("this_month", "neste mês"),
        ("last_year", "no ano passado"),
        ("last_week", "na semana passada"),
        ("next_month", "no próximo mês"),
        ("upcoming", "a partir de hoje"),
        ("year:2024", "em 2024"),
        ("month:2025-03", "em março de 2025"),
        ("month:10", "em outubro"),
        ("month:last-03", "em março do ano passado"),
        ("half:2024-H1", "no primeiro semestre de 2024"),
        ("day:2025-10-27", "em 27/10/2025"),
        ("between:2024-12-16..2024-12-20", "de 16/12/2024 a 20/12/2024"),
        ("between:2023..2024", "de 2023 a 2024"),
        ("between:2025-01..2025-03", "de janeiro a março de 2025"),
        ("between:2024-11..2025-02", "de novembro de 2024 a fevereiro de 2025"),
        ("between:2024-Q1..2024-Q2", "do primeiro trimestre ao segundo trimestre de 2024"),
        ("since:2023", "desde 2023"),
        ("since:last", "desde o ano passado"),
        ("until:2025-06", "até junho de 2025"),
        ("all", "em todo o histórico"),
    ] {
        assert_eq!(named(code.parse::<Window>().unwrap()), expect, "{code}");
    }
}

#[test]
fn codes_that_are_none_are_refused() {
    for code in [
        "",
        "months",
        "months:",
        "months:0",
        "months:1201",
        "months:+2",
        "days:36501",
        "rows:1001",
        "year:24",
        "year:this",
        "year:1899",
        "month:13",
        "month:2025-3",
        "month:2025",
        "day:2025-02-29",
        "day:02-30",
        "between:2024",
        "since:",
        "quarter:Q5",
        "half:H0",
        "Today",
        "months:12 ",
        "week:1",
        "weekday:8",
        "weekday:0",
    ] {
        assert!(code.parse::<Window>().is_err(), "{code}");
    }
    for code in ["months:1200", "days:36500", "rows:1000", "day:02-29", "since:2023-01-01"] {
        assert_eq!(code.parse::<Window>().unwrap().to_string(), code);
    }
    assert!("months:x".parse::<Window>().unwrap_err().starts_with("is no window: months:x; windows are today, "));
}

fn points() -> impl Strategy<Value = Point> {
    let year = prop_oneof![
        Just(YearOf::Newest),
        Just(YearOf::This),
        Just(YearOf::Last),
        (1900..=2099_i32).prop_map(YearOf::Of)
    ];
    let part = prop_oneof![
        Just(Part::Whole),
        (1..=2_i32).prop_map(Part::Half),
        (1..=4_i32).prop_map(Part::Quarter),
        (1..=12_i32).prop_map(Part::Month),
        (1..=12_i32, 1..=31_i32).prop_map(|(month, day)| Part::Day { month, day })
    ];
    (year, part).prop_filter_map("of the calendar", |(year, part)| Point::new(year, part))
}

fn windows() -> impl Strategy<Value = Window> {
    let count = 1..=1000_u32;
    let period = prop_oneof![
        Just(Period::Week),
        Just(Period::Month),
        Just(Period::Quarter),
        Just(Period::Half),
        Just(Period::Year)
    ];
    prop_oneof![
        count.clone().prop_map(Window::Days),
        count.clone().prop_map(Window::Months),
        count.clone().prop_map(Window::Rows),
        count.clone().prop_map(Window::DaysAgo),
        count.clone().prop_map(Window::MonthsAgo),
        count.clone().prop_map(Window::NextDays),
        count.prop_map(Window::NextMonths),
        (1..=7_u32).prop_map(Window::Weekday),
        Just(Window::Today),
        Just(Window::Yesterday),
        Just(Window::Upcoming),
        Just(Window::All),
        period.clone().prop_map(Window::This),
        period.clone().prop_map(Window::Previous),
        period.prop_map(Window::Next),
        points()
            .prop_filter("has a name", |it| it.part != Part::Whole || matches!(it.year, YearOf::Of(_)))
            .prop_map(Window::In),
        points().prop_map(Window::Since),
        points().prop_map(Window::Until),
        (points(), points()).prop_filter_map("is a pair", |(a, b)| a.pair(b).map(|(a, b)| Window::Between(a, b))),
    ]
}

proptest! {
    #[test]
    fn codes_come_back(window in windows()) {
        prop_assert_eq!(window.to_string().parse::<Window>(), Ok(window));
    }

    #[test]
    fn days_are_in_order_whatever_today_is(window in windows(), data_day: i32, today: i32) {
        let span = window.span(data_day, today);
        if let (Some(from), Some(to)) = (&span.from, &span.to) {
            prop_assert!(from <= to, "{} {:?}", window, span);
        }
        prop_assert!(window == Window::Today || !named(window).is_empty());
    }

    #[test]
    fn any_text_is_read(text in ".{0,80}") {
        if let Some((window, range)) = Window::locate(&text, &TABLE) {
            prop_assert!(text.get(range).is_some());
            prop_assert_eq!(window.to_string().parse::<Window>(), Ok(window));
        }
    }

    #[test]
    fn any_words_of_time_are_read(words in prop::collection::vec(prop_oneof![
        Just("últimos"), Just("de"), Just("a"), Just("até"), Just("desde"), Just("12"), Just("31"), Just("2024"), Just("/"),
        Just("-"), Just("meses"), Just("dias"), Just("fevereiro"), Just("ano"), Just("passado"), Just("próximos"), Just("em"),
        Just("9999"), Just("0"), Just("dez"), Just("D"), Just("1º"), Just("semestre"), Just("há"), Just("e"), Just(".")
    ], 0..12), tight: bool) {
        let text = words.join(if tight { "" } else { " " });
        if let Some((window, range)) = Window::locate(&text, &TABLE) {
            prop_assert!(text.get(range).is_some());
            prop_assert_eq!(window.to_string().parse::<Window>(), Ok(window));
            window.span(20_000, 20_000);
        }
    }
}
