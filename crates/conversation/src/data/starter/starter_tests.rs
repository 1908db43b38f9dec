use super::column::{ColumnKind, DateForm};
use super::*;

fn starter(script: &str) -> (tempfile::TempDir, PathBuf, Starter) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("own.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(script).unwrap();
    let made = read(&path, None).unwrap();
    (dir, path, made)
}

#[test]
fn what_is_made_fits_its_database() {
    for script in [
        "CREATE TABLE notes (body TEXT); INSERT INTO notes VALUES ('a'), ('b')",
        "CREATE TABLE \"limit\" (\"from\" TEXT PRIMARY KEY, \"order\" REAL); INSERT INTO \"limit\" VALUES ('x1', 2.5)",
        "CREATE TABLE \"tall \"\"old\"\" trees\" (\"found in\" TEXT, \"f\"\"g\" REAL);
         INSERT INTO \"tall \"\"old\"\" trees\" VALUES ('h i', 1.5)",
        "CREATE TABLE people (name TEXT, born TEXT, pct REAL, year INTEGER, made_at INTEGER);
         INSERT INTO people VALUES ('Ana', '1990-02-03', 4.5, 2001, 1700000000000), ('Rui', '1980-01-01', 3, 2002, 1700000100000)",
        "CREATE TABLE a (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE b (id INTEGER PRIMARY KEY, a_id INTEGER, n INTEGER);
         INSERT INTO a VALUES (1, 'One'), (2, 'Two'); INSERT INTO b VALUES (1, 1, 5), (2, 2, 6)",
    ] {
        let (_dir, path, made) = starter(script);
        made.check(&path).unwrap_or_else(|error| panic!("{script}: {error:#}\n{:#?}", made.files));
    }
}

#[test]
fn a_table_without_words_is_left_out() {
    let script = "CREATE TABLE n (a INTEGER); INSERT INTO n VALUES (1), (2);
        CREATE TABLE notes (body TEXT); INSERT INTO notes VALUES ('a'), ('b')";
    let (_dir, path, made) = starter(script);
    let left_out: Vec<&str> = made.left_out.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((left_out, made.tables.len()), (vec!["n"], 1));
    made.check(&path).unwrap();
}

#[test]
fn columns_are_known_by_their_values() {
    let text =
        |values: &[&str]| values.iter().map(|it| rusqlite::types::Value::Text((*it).to_owned())).collect::<Vec<_>>();
    let whole = |values: &[i64]| values.iter().map(|it| rusqlite::types::Value::Integer(*it)).collect::<Vec<_>>();
    for (name, values, expected) in [
        ("sold", text(&["2025-01-31", "2025-02-28 10:00:00"]), ColumnKind::Date(DateForm::Iso)),
        ("sold", text(&["31/01/2025", "28.02.2025"]), ColumnKind::Date(DateForm::DayFirst)),
        ("sold", text(&["31/31/2025", "x"]), ColumnKind::Text),
        ("created_at", whole(&[1_700_000_000, 1_700_000_001]), ColumnKind::Date(DateForm::Seconds)),
        ("created_at", whole(&[1_700_000_000_000]), ColumnKind::Date(DateForm::Milliseconds)),
        ("day", whole(&[20_250_131, 20_250_228]), ColumnKind::Date(DateForm::Digits)),
        ("amount", whole(&[1_700_000_000]), ColumnKind::Integer),
        ("year", whole(&[1999, 2025]), ColumnKind::Year),
        ("customer_id", whole(&[1, 2]), ColumnKind::Id),
        ("note", vec![rusqlite::types::Value::Null], ColumnKind::Other),
    ] {
        assert_eq!(column::kind(name, false, &values), expected, "{name} {values:?}");
    }
}
