//! Questions in Russian and the windows that they name.

use super::*;

static TABLE: WindowWords = WORDS;

#[track_caller]
fn check(table: &str) {
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (text, expect) = line.split_once(" => ").unwrap_or((line, ""));
        let found = Window::locate(text, &TABLE).map(|(window, _)| window.to_string()).unwrap_or_default();
        assert_eq!(found, expect, "{text}");
    }
}

#[test]
fn stretches_of_time_are_read() {
    check(
        "за последние 3 месяца => months:3
        за последние две недели => days:14
        за последний год => months:12
        за полгода => months:6
        сколько вчера? => yesterday
        3 дня назад => days_ago:3
        в прошлом месяце => last_month
        на прошлой неделе => last_week
        в этом году => this_year
        в 2024 году => year:2024
        за 2024 год => year:2024
        в марте 2025 года => month:2025-03
        за март => month:03
        5 марта 2025 года => day:2025-03-05
        27.10.2025 => day:2025-10-27
        с 2023 года => since:2023
        с января по март 2025 года => between:2025-01..2025-03
        в первом квартале 2024 года => quarter:2024-Q1
        до 2024 года => until:2024
        за все время => all
        больше 300 страниц => ",
    );
}

#[test]
fn windows_read_well_after_a_noun() {
    for (code, expect) in [
        ("months:12", "за последние 12 месяцев"),
        ("months:3", "за последние 3 месяца"),
        ("year:2024", "в 2024 году"),
        ("month:2025-03", "в марте 2025 года"),
        ("day:2025-03-05", "за 5 марта 2025 года"),
        ("since:2023", "с 2023 года"),
        ("last_week", "на прошлой неделе"),
        ("all", "за всё время"),
    ] {
        assert_eq!(named(code.parse().unwrap()), expect, "{code}");
    }
}
