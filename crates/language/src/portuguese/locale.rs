//! Numbers, amounts and dates as they are written in Brazil.

use crate::locale::Locale;

pub(crate) const BRAZIL: Locale = Locale {
    currency: "R$ ",
    is_currency_first: true,
    decimal_point: ',',
    group_sign: '.',
    percent: "%",
    day: |year, month, day| format!("{day}/{month}/{year}"),
    short_months: ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"],
    month_joint: "/",
    scales: [(3, "mil"), (6, "mi"), (9, "bi")],
    yes: "sim",
    no: "não",
    and: " e ",
};
