use super::*;
use crate::data::database::Database;

const SCRIPT: &str = "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);";

fn count(path: &Path) -> i64 {
    let database = rusqlite::Connection::open(path).unwrap();
    database.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
}

fn files(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_script_that_fails_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Database::make(SCRIPT, &path).unwrap();
    for (script, problem) in [
        ("CREATE TABLE t (a); INSERT INTO x VALUES (1)", "no such table: x"),
        ("CREATE TABLE t (a); BEGIN; INSERT INTO t VALUES (1)", "does not end the transaction"),
        ("ATTACH 'b.db' AS b", "too many attached databases"),
    ] {
        let error = format!("{:#}", Database::make(script, &path).unwrap_err());
        assert!(error.contains(problem) && error.contains(&path.display().to_string()), "{error}");
        assert_eq!((count(&path), files(dir.path())), (2, vec!["a.db".to_owned()]));
    }
    let missing = dir.path().join("no/a.db");
    assert!(format!("{:#}", Database::make(SCRIPT, &missing).unwrap_err()).contains("no/a.db"));
}

#[test]
fn what_a_killed_maker_left_is_no_hindrance() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    for left in [".a.db.partial", ".a.db.partial-journal", "a.db-journal", "a.db-wal"] {
        std::fs::write(dir.path().join(left), "half").unwrap();
    }
    Database::make(SCRIPT, &path).unwrap();
    assert_eq!((count(&path), files(dir.path())), (2, vec!["a.db".to_owned()]));
}

#[test]
fn several_makers_at_once_leave_one_whole_database() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    Database::make(SCRIPT, &path).unwrap();
                    assert_eq!(count(&path), 2);
                }
            });
        }
    });
    assert_eq!(files(dir.path()), ["a.db"]);
}

#[test]
fn a_script_may_have_its_own_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Database::make(&format!("BEGIN; {SCRIPT} COMMIT;"), &path).unwrap();
    assert_eq!(count(&path), 2);
}
