use novelo_engine::limits::{ASKED_BY_BYTES_MAX, ASKED_BY_MAX, ENTITY_COLUMNS_MAX};
use serde_json::json;

use super::*;
use crate::yaml::Yaml;

const SCRIPT: &str = "CREATE TABLE dividends (ticker TEXT, day TEXT, amount REAL)";

const FILE: &str = "
about: What funds paid. Made up.
last_day: SELECT max(day) FROM dividends
rows_max: 60
timeout_ms: 700
cache_seconds: 300
narrate: false
columns:
  ticker: {label: Fundo}
  day: {label: Data, format: date}
  amount: {label: Valor, format: money, asked_by: [valor, por cota]}
  total: {format: number:4}
queries:
  list:
    sql: SELECT ticker, day, amount FROM dividends WHERE ticker = :ticker LIMIT :limit
    table: {title: 'Dividendos de {tickers} {window}'}
  sum:
    sql: SELECT ticker, sum(amount) AS total FROM dividends GROUP BY ticker
    text: {item: '{ticker} pagou {total|money} {window}.'}
empty: 'Não há dividendos de {tickers} {window}.'
";

fn portuguese(subject: &str) -> EntityLanguage {
    EntityLanguage::new(Language::Portuguese, None, vec![format!("{subject}s")])
}

fn decode(value: &Value) -> Result<Entity, DecodeError> {
    Entity::decode("fiis_dividends", &portuguese("ticker"), value)
}

/// The file with one field put in the place of another; null takes it away.
fn changed(pointer: &str, new: Value) -> Value {
    let mut value = Yaml::read(FILE).unwrap().value;
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    match new {
        Value::Null => drop(parent.remove(name)),
        new => drop(parent.insert(name.to_owned(), new)),
    }
    value
}

fn database() -> (tempfile::TempDir, Database) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Database::make(SCRIPT, &path).unwrap();
    let database = Database::open(&path).unwrap();
    (dir, database)
}

#[test]
fn a_file_is_read_and_fits_its_database() {
    let mut entity = decode(&Yaml::read(FILE).unwrap().value).unwrap();
    assert_eq!((entity.name.as_str(), entity.about.as_str()), ("fiis_dividends", "What funds paid. Made up."));
    assert_eq!((entity.bounds.rows_max, entity.bounds.wait), (60, Duration::from_millis(700)));
    assert_eq!((entity.keep, entity.is_narrated), (Duration::from_secs(300), false));
    assert_eq!(entity.last_day.as_deref(), Some("SELECT max(day) FROM dividends"));
    assert!(entity.query("sum").contains("sum(amount)"));
    assert_eq!(entity.query("avg"), entity.query("list"));
    assert_eq!(["list", "sum", "avg"].map(|name| entity.answers(name)), [true, true, false]);
    let (_dir, database) = database();
    entity.check(&database, &["ticker", "limit"]).unwrap();
}

#[test]
fn what_may_be_left_out_has_usual_values() {
    let value = json!({"about": "a", "columns": {"a": {}}, "queries": {"list": {"sql": "SELECT 1 AS a", "list": {}}}});
    let mut entity = decode(&value).unwrap();
    assert_eq!((entity.bounds.rows_max, entity.bounds.wait), (100, Duration::from_millis(500)));
    assert_eq!((entity.keep, entity.is_narrated, entity.last_day.is_none()), (Duration::ZERO, true, true));
    let (_dir, database) = database();
    entity.check(&database, &[]).unwrap();
}

#[test]
fn mistakes_are_named_with_their_path() {
    let item = "/queries/sum/text/item";
    for (pointer, new, path, problem) in [
        ("/queries/list", json!(null), "queries", "must have the query list"),
        ("/queries", json!([]), "queries", "invalid type"),
        ("/columns", json!({}), "columns", "1 to 64 columns"),
        ("/columns/a b", json!({}), "columns.a b", "must be named in letters"),
        ("/columns/day/formt", json!("date"), "columns.day.formt", "unknown field"),
        ("/columns/day/format", json!("dat"), "columns.day.format", "dat is no format; did you mean date?"),
        ("/columns/day/label", json!(" "), "columns.day.label", "1 to 2048 bytes"),
        ("/columns/amount/asked_by", json!(["valor", "?"]), "columns.amount.asked_by[1]", "must be words"),
        ("/columns/amount/asked_by", json!("valor"), "columns.amount.asked_by", "invalid type"),
        ("/about", json!(null), "", "missing field `about`"),
        ("/about", json!(""), "about", "1 to 2048 bytes"),
        ("/last_day", json!(" "), "last_day", "1 to 16384 bytes"),
        ("/narate", json!(true), "narate", "unknown field"),
        ("/queries/sum/text", json!(null), "queries.sum", "exactly one of table, list and text"),
        ("/queries/sum/list", json!({}), "queries.sum", "exactly one of table, list and text"),
        ("/queries/sum/table", json!({}), "queries.sum", "exactly one of table, list and text"),
        ("/queries/sum/sql", json!(""), "queries.sum.sql", "1 to 16384 bytes"),
        ("/queries/a-b", json!({"sql": "x", "list": {}}), "queries.a-b", "must be named in letters"),
        (item, json!("{totl}"), "queries.sum.text.item", "names {totl}, which is not known; did you mean {total}?"),
        (item, json!("{total|mony}"), "queries.sum.text.item", "did you mean money?"),
        ("/queries/list/table/title", json!("{tiker}"), "queries.list.table.title", "did you mean {ticker}?"),
        ("/queries/list/table/titel", json!("a"), "queries.list.table.titel", "unknown field"),
        ("/empty", json!("{ticker}"), "empty", "did you mean {tickers}?"),
        ("/empty", json!("{close_price}"), "empty", "there are {tickers}, {window}, {count}"),
        ("/rows_max", json!(0), "rows_max", "from 1 to 1000"),
        ("/rows_max", json!(-1), "rows_max", "invalid value"),
        ("/timeout_ms", json!(0), "timeout_ms", "from 1 to 5000"),
    ] {
        let error = decode(&changed(pointer, new.clone())).unwrap_err();
        assert_eq!(error.path, path, "{pointer} {new}: {error}");
        assert!(error.problem.contains(problem), "{pointer} {new}: {error}");
    }
}

#[test]
fn a_placeholder_is_named_after_the_subject() {
    let value = changed("/empty", json!("Não há {funds}."));
    assert!(Entity::decode("a", &portuguese("ticker"), &value).is_err());
    assert_eq!(Entity::decode("a", &portuguese("fund"), &value).unwrap_err().path, "queries.list.table.title");
}

#[test]
fn caps_hold_at_the_cap_and_not_past_it() {
    let many = |n: usize| (0..n).map(|i| (format!("c{i}"), json!({}))).collect::<serde_json::Map<_, _>>();
    let with = |n: usize| {
        let mut columns = many(n - 4);
        columns.extend(Yaml::read(FILE).unwrap().value["columns"].as_object().unwrap().clone());
        json!(columns)
    };
    let queries = |n: usize| {
        let query = |i| (format!("q{i}"), json!({"sql": "SELECT 1", "list": {}}));
        let mut queries: serde_json::Map<_, _> = (1..n).map(query).collect();
        queries.insert("list".to_owned(), json!({"sql": "SELECT 1", "list": {}}));
        json!(queries)
    };
    let asked = |n: usize| json!(vec!["valor"; n]);
    let long = |n: usize| json!("x".repeat(n));
    for (pointer, fits, fails) in [
        ("/rows_max", json!(ROWS_MAX), json!(ROWS_MAX + 1)),
        ("/timeout_ms", json!(QUERY_WAIT_MS_MAX), json!(QUERY_WAIT_MS_MAX + 1)),
        ("/cache_seconds", json!(ENTITY_CACHE_S_MAX), json!(ENTITY_CACHE_S_MAX + 1)),
        ("/columns", with(ENTITY_COLUMNS_MAX), with(ENTITY_COLUMNS_MAX + 1)),
        ("/queries", queries(ENTITY_QUERIES_MAX), queries(ENTITY_QUERIES_MAX + 1)),
        ("/columns/amount/asked_by", asked(ASKED_BY_MAX), asked(ASKED_BY_MAX + 1)),
        ("/columns/amount/asked_by", json!([long(ASKED_BY_BYTES_MAX)]), json!([long(ASKED_BY_BYTES_MAX + 1)])),
        ("/columns/day/label", long(TEMPLATE_BYTES_MAX), long(TEMPLATE_BYTES_MAX + 1)),
        ("/about", long(TEMPLATE_BYTES_MAX), long(TEMPLATE_BYTES_MAX + 1)),
        ("/empty", long(TEMPLATE_BYTES_MAX), long(TEMPLATE_BYTES_MAX + 1)),
        ("/queries/sum/text/item", long(TEMPLATE_BYTES_MAX), long(TEMPLATE_BYTES_MAX + 1)),
        ("/queries/sum/sql", long(SQL_BYTES_MAX), long(SQL_BYTES_MAX + 1)),
        ("/last_day", long(SQL_BYTES_MAX), long(SQL_BYTES_MAX + 1)),
    ] {
        decode(&changed(pointer, fits)).unwrap();
        let error = decode(&changed(pointer, fails)).unwrap_err();
        assert!(error.problem.contains("_MAX") || error.problem.contains("whole number"), "{pointer}: {error}");
    }
}

#[test]
fn queries_columns_and_templates_must_fit_each_other() {
    let (_dir, database) = database();
    let sum = "SELECT ticker, sum(amount) AS total FROM dividends";
    for (pointer, new, path, problem) in [
        ("/last_day", json!("SELECT max(day), 1 FROM dividends"), "last_day", "must answer one column"),
        ("/last_day", json!("SELECT max(day) FROM dividends WHERE ticker = :ticker"), "last_day", "takes :ticker"),
        ("/queries/sum/sql", json!("SELECT ticker FROM nowhere"), "queries.sum.sql", "no such table: nowhere"),
        ("/queries/sum/sql", json!("DELETE FROM dividends"), "queries.sum.sql", "does more than read"),
        ("/queries/sum/sql", json!(format!("{sum} WHERE day > :fron")), "queries.sum.sql", "did you mean :from?"),
        (
            "/queries/sum/sql",
            json!("SELECT ticker, sum(amount) AS totl FROM dividends"),
            "queries.sum.sql",
            "answers the column totl, which is not among the columns; did you mean total?",
        ),
        (
            "/queries/sum/text/item",
            json!("{amount}"),
            "queries.sum.text.item",
            "names {amount}, which its query does not",
        ),
        ("/queries/list/table/title", json!("{total}"), "queries.list.table.title", "names {total}, which its query"),
        ("/columns/more", json!({}), "columns.more", "is answered by no query"),
    ] {
        let error =
            decode(&changed(pointer, new.clone())).unwrap().check(&database, &["ticker", "limit", "from"]).unwrap_err();
        assert_eq!(error.path, path, "{pointer} {new}: {error}");
        assert!(error.problem.contains(problem), "{pointer} {new}: {error}");
    }
}
