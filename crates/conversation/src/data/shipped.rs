//! The catalogues that are shipped inside the binary, each with its made-up data.

use crate::settings::AskCatalogue;

/// A catalogue with its data. Files of the policy directory override its files one by one.
#[derive(Debug)]
pub struct ShippedCatalogue {
    /// The value of `ask.catalogue` that chooses it.
    pub name: &'static str,
    /// The ontology.
    pub ontology: &'static str,
    /// The rules for values in a question.
    pub rules: &'static str,
    /// The entities: name and text of the file.
    pub entities: &'static [(&'static str, &'static str)],
    /// What a conversation remembers, where there is no `context.yaml`.
    pub context: &'static str,
    /// The script that makes its database, and a query that works on nothing else.
    pub script: &'static str,
    /// A query that only the sample's data can answer.
    pub probe: &'static str,
}

macro_rules! entities {
    ($dir:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../policies/", $dir, $name, ".yaml")))),*]
    };
}

/// Brazilian real-estate funds, in Portuguese.
pub(crate) static FIIS: ShippedCatalogue = ShippedCatalogue {
    name: "fiis",
    ontology: include_str!("../../policies/ontology.yaml"),
    rules: include_str!("../../policies/param_inference.yaml"),
    entities: entities! { "entities/":
        "client_fiis_dividends_evolution" "client_fiis_enriched_portfolio" "client_fiis_performance_vs_benchmark"
        "client_fiis_performance_vs_benchmark_summary" "client_fiis_positions" "consolidated_macroeconomic"
        "fiis_dividends" "fiis_dividends_yields" "fiis_financials_revenue_schedule" "fiis_financials_risk"
        "fiis_financials_snapshot" "fiis_legal_proceedings" "fiis_news" "fiis_overview" "fiis_quota_prices"
        "fiis_rankings" "fiis_real_estate" "fiis_registrations" "fiis_yield_history" "history_b3_indexes"
        "history_currency_rates" "history_market_indicators" "institutional_about" "institutional_limits"
        "institutional_pricing" "institutional_privacy" "institutional_terms" "support_howto"
    },
    context: include_str!("../../policies/context.yaml"),
    script: include_str!("../../policies/sample/fiis.sql"),
    probe: "SELECT ticker FROM fiis_registrations",
};

/// A town library with its books and their authors, in English.
pub(crate) static LIBRARY: ShippedCatalogue = ShippedCatalogue {
    name: "library",
    ontology: include_str!("../../policies/library/ontology.yaml"),
    rules: include_str!("../../policies/library/param_inference.yaml"),
    entities: entities! { "library/entities/":
        "author_details" "book_details" "books" "library_hours" "loans" "rankings" "reviews"
    },
    context: include_str!("../../policies/library/context.yaml"),
    script: include_str!("../../policies/library/library.sql"),
    probe: "SELECT book FROM library_books",
};

/// The one that a setting names.
pub(crate) fn shipped(catalogue: AskCatalogue) -> &'static ShippedCatalogue {
    match catalogue {
        AskCatalogue::Fiis => &FIIS,
        AskCatalogue::Library => &LIBRARY,
    }
}
