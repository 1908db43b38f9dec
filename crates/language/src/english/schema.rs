//! English words in the names of tables and columns.

use crate::question_grammar::SchemaWords;

pub(crate) const WORDS: SchemaWords = SchemaWords {
    names: "name title label fullname",
    codes: "code sku isbn ticker symbol ref reference slug",
    times: "date day datetime time timestamp created updated at on when month hired born sold ts",
    years: "year",
    percents: "pct percent percentage",
    keys: "id",
    empty: "id ids tbl table pk fk the of and key by with per in no",
    is_own: |_, _| false,
    plurals: &[("ies", "y", 3), ("ses", "s", 3), ("xes", "x", 3)],
    latin: &[],
    average: "average",
    rows: "Count",
    all: ["all", "every"],
    list: "list",
};
