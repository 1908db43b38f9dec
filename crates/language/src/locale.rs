//! How a country writes numbers, amounts and dates for people.

/// The words and signs of one country.
#[derive(Debug)]
pub struct Locale {
    /// Written before an amount.
    pub currency: &'static str,
    pub short_months: [&'static str; 12],
    /// Powers of ten by which a short amount is divided, and the name of each.
    pub scales: [(usize, &'static str); 3],
    pub yes: &'static str,
    pub no: &'static str,
}
