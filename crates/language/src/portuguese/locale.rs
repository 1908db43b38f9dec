//! Numbers, amounts and dates as they are written in Brazil.

use crate::locale::Locale;

pub static BRAZIL: Locale = Locale {
    currency: "R$ ",
    short_months: ["jan", "fev", "mar", "abr", "mai", "jun", "jul", "ago", "set", "out", "nov", "dez"],
    scales: [(3, "mil"), (6, "mi"), (9, "bi")],
    yes: "sim",
    no: "não",
};
