//! Numbers, amounts and dates as they are written in Russian.

use crate::locale::Locale;

pub(crate) const RUSSIAN: Locale = Locale {
    currency: "\u{a0}₽",
    is_currency_first: false,
    decimal_point: ',',
    group_sign: '\u{a0}',
    percent: "\u{a0}%",
    day: |year, month, day| format!("{day}.{month}.{year}"),
    short_months: ["янв", "фев", "мар", "апр", "май", "июн", "июл", "авг", "сен", "окт", "ноя", "дек"],
    month_joint: " ",
    scales: [(3, "тыс."), (6, "млн"), (9, "млрд")],
    yes: "да",
    no: "нет",
    and: " и ",
};
