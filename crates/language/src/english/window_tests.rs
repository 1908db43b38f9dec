//! Questions in English and the windows that they name.

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
        "loans in the last 3 months => months:3
        over the past two weeks => days:14
        last twenty four months => months:24
        how many yesterday? => yesterday
        3 days ago => days_ago:3
        last month => last_month
        this year so far => this_year
        next week => next_week
        in 2024 => year:2024
        in March 2025 => month:2025-03
        on March 5, 2025 => day:2025-03-05
        on 5 March 2025 => day:2025-03-05
        on the 5th of March 2025 => day:2025-03-05
        since 2023 => since:2023
        before May 2024 => until:2024-04-30
        from January to March 2025 => between:2025-01..2025-03
        between 2022 and 2024 => between:2022..2024
        in the first quarter of 2024 => quarter:2024-Q1
        Q3 2024 => quarter:2024-Q3
        2025-10-27 => day:2025-10-27
        on 27/10/2025 => day:2025-10-27
        on 10/27/2025 => day:2025-10-27
        on 04/05/2025 => 
        last friday => weekday:5
        of all time => all
        more than 300 pages => 
        books under 20 dollars => ",
    );
}

#[test]
fn windows_read_well_after_a_noun() {
    for (code, expect) in [
        ("months:12", "in the last 12 months"),
        ("days:1", "in the last day"),
        ("year:2024", "in 2024"),
        ("month:2025-03", "in March 2025"),
        ("day:2025-03-05", "on 5 March 2025"),
        ("since:2023", "since 2023"),
        ("between:2025-01..2025-03", "from January 2025 to March 2025"),
        ("quarter:2024-Q1", "in the first quarter of 2024"),
        ("last_month", "last month"),
        ("all", "of all time"),
    ] {
        assert_eq!(named(code.parse().unwrap()), expect, "{code}");
    }
}
