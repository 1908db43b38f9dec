//! Numbers, amounts and dates as they are written in English.

use crate::locale::Locale;

pub(crate) const ENGLISH: Locale = Locale {
    currency: "$",
    is_currency_first: true,
    decimal_point: '.',
    group_sign: ',',
    percent: "%",
    // Written out, since 3/4/2025 is another day on each side of an ocean.
    day: |year, month, day| {
        let at = month.parse::<usize>().ok().and_then(|month| month.checked_sub(1));
        let name = at.and_then(|at| SHORT_MONTHS.get(at)).copied().unwrap_or(month);
        format!("{} {name} {year}", day.trim_start_matches('0'))
    },
    short_months: SHORT_MONTHS,
    month_joint: " ",
    scales: [(3, "k"), (6, "m"), (9, "bn")],
    yes: "yes",
    no: "no",
    and: " and ",
};

const SHORT_MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
