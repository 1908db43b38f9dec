//! How a country writes numbers, amounts and dates for people.

/// The words and signs of one country.
#[derive(Debug)]
pub struct Locale {
    /// The sign of an amount, and whether it stands before it.
    pub currency: &'static str,
    pub is_currency_first: bool,
    pub decimal_point: char,
    /// Between groups of three digits.
    pub group_sign: char,
    /// Behind a number that is a percentage.
    pub percent: &'static str,
    /// A day, from its year, month and day of two digits.
    pub day: fn(&str, &str, &str) -> String,
    pub short_months: [&'static str; 12],
    /// Between a short month and its year.
    pub month_joint: &'static str,
    /// Powers of ten by which a short amount is divided, and the name of each.
    pub scales: [(usize, &'static str); 3],
    pub yes: &'static str,
    pub no: &'static str,
    /// Before the last of several names.
    pub and: &'static str,
}
