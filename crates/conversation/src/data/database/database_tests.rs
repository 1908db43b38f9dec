use std::sync::mpsc;
use std::time::Instant;

use novelo_engine::limits::{CELL_BYTES_MAX, ENTITY_COLUMNS_MAX, QUERY_TEXT_BYTES_MAX, ROWS_BYTES_MAX, SQL_BYTES_MAX};
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::data::database::connection::{Connection, PATTERN_BYTES_MAX};
use crate::data::database::stamp::beside;

const SCRIPT: &str = "
    CREATE TABLE prices (ticker TEXT, day TEXT, close REAL, PRIMARY KEY (ticker, day)) WITHOUT ROWID;
    INSERT INTO prices VALUES ('AAAA11', '2025-01-02', 10.5), ('AAAA11', '2025-01-03', 11), ('BBBB11', '2025-01-02', 99.0);
    CREATE TABLE odd (text, blob);
    INSERT INTO odd VALUES (CAST(x'61ff62' AS TEXT), x'0102');
    CREATE VIRTUAL TABLE names USING fts5(name);
    INSERT INTO names VALUES ('fundo das capivaras'), ('fundo dos tucanos');
    CREATE VIEW newest AS SELECT ticker, max(day) AS day FROM prices GROUP BY ticker;";

/// Runs until it is stopped.
const ENDLESS: &str = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) AS i FROM n";

struct Room {
    dir: TempDir,
    database: Database,
}

fn room() -> Room {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("fiis.db");
    Database::make(SCRIPT, &path).unwrap();
    Room { database: Database::open(&path).unwrap(), dir }
}

fn bounds(rows_max: usize, wait_ms: u64) -> Bounds {
    Bounds { rows_max, wait: Duration::from_millis(wait_ms) }
}

impl Room {
    fn ask(&self, sql: &str, parameters: &[(&str, Value)]) -> Rows {
        self.database.query(sql, parameters, bounds(1_000, 5_000)).unwrap()
    }

    fn refusal(&self, sql: &str) -> String {
        self.database.query(sql, &[], bounds(10, 5_000)).unwrap_err().to_string()
    }

    fn cells(&self, sql: &str) -> Value {
        json!(self.ask(sql, &[]).rows)
    }
}

#[test]
fn values_go_in_by_name_and_come_out_as_json() {
    let room = room();
    let sql = "SELECT :a AS a, :b AS b, :c AS c, :d AS d, :e AS e, typeof(:f) AS f, :a AS again";
    let parameters = [
        ("unused", json!(1)),
        ("a", json!("x")),
        ("b", json!(7)),
        ("c", json!(1.5)),
        ("d", json!(null)),
        ("e", json!(true)),
        ("f", json!(u64::MAX)),
    ];
    let rows = room.ask(sql, &parameters);
    assert_eq!(*rows.columns, ["a", "b", "c", "d", "e", "f", "again"].map(str::to_owned));
    assert_eq!(json!(rows.rows), json!([["x", 7, 1.5, null, 1, "real", "x"]]));
    assert!(!rows.is_cut);

    let sql = "SELECT ticker FROM prices WHERE ticker IN (SELECT value FROM json_each(:tickers)) GROUP BY ticker";
    let of = |tickers| json!(room.ask(sql, &[("tickers", tickers)]).rows);
    assert_eq!(of(json!(["AAAA11", "BBBB11"])), json!([["AAAA11"], ["BBBB11"]]));
    assert_eq!(of(json!(["BBBB11"])), json!([["BBBB11"]]));
    assert_eq!([of(json!([])), of(json!(null))], [json!([]), json!([])]);
}

#[test]
fn what_json_cannot_hold_is_null_or_mended() {
    let room = room();
    assert_eq!(room.cells("SELECT text, blob, hex(blob) FROM odd"), json!([["a\u{fffd}b", null, "0102"]]));
    assert_eq!(room.cells("SELECT 9e999, -9e999, 9e999 - 9e999"), json!([[null, null, null]]));
    assert_eq!(room.cells("SELECT 9223372036854775807"), json!([[i64::MAX]]));
}

#[test]
fn views_full_text_and_windows_can_be_read() {
    let room = room();
    assert_eq!(room.cells("SELECT day FROM newest WHERE ticker = 'AAAA11'"), json!([["2025-01-03"]]));
    assert_eq!(room.cells("SELECT name FROM names WHERE names MATCH 'tucanos'"), json!([["fundo dos tucanos"]]));
    let running = "SELECT sum(close) OVER (PARTITION BY ticker ORDER BY day) FROM prices WHERE ticker = 'AAAA11'";
    assert_eq!(room.cells(running), json!([[10.5], [21.5]]));
}

#[test]
fn nothing_but_reading_is_allowed() {
    let room = room();
    let other = room.dir.path().join("other.db");
    let attach = format!("ATTACH '{}' AS other", other.display());
    let vacuum = format!("VACUUM INTO '{}'", other.display());
    let before = std::fs::read(room.database.path()).unwrap();
    for (sql, problem) in [
        ("INSERT INTO prices VALUES ('X', 'Y', 1)", "does more than read"),
        ("INSERT INTO prices VALUES ('X', 'Y', 1) RETURNING ticker", "does more than read"),
        ("UPDATE prices SET close = 0", "does more than read"),
        ("DELETE FROM prices", "does more than read"),
        ("DROP TABLE prices", "does more than read"),
        ("CREATE TABLE x (y)", "does more than read"),
        ("CREATE TEMP TABLE x (y)", "does more than read"),
        ("BEGIN", "does more than read"),
        ("SAVEPOINT a", "does more than read"),
        ("REINDEX", "does more than read"),
        ("ANALYZE", "does more than read"),
        ("PRAGMA query_only = 0", "does more than read"),
        ("PRAGMA journal_mode", "does more than read"),
        ("PRAGMA data_version = 1", "does more than read"),
        ("SELECT * FROM pragma_table_info('prices')", "does more than read"),
        ("SELECT name FROM PRAGMA_Table_Info('prices')", "does more than read"),
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT LOAD_Extension('x')", "not authorized"),
        ("SELECT 1 AS a; SELECT 2 AS b", "more than one statement"),
        ("SELECT 1 AS a; DROP TABLE prices", "does more than read"),
        ("EXPLAIN SELECT 1", "explains"),
        ("EXPLAIN QUERY PLAN SELECT 1", "explains"),
        ("", "answers no rows"),
        ("-- nothing", "answers no rows"),
        (&attach, "does more than read"),
        ("DETACH main", "does more than read"),
        (&vacuum, "answers no rows"),
        ("SELECT \"clsoe\" FROM prices", "no such column"),
        ("SELECT x FROM nowhere", "no such table: nowhere"),
        ("SELECT FROM", "syntax error"),
    ] {
        let queried = room.refusal(sql);
        assert!(queried.contains(problem), "{sql}: {queried}");
        let checked = room.database.check(sql, &[]).unwrap_err();
        assert!(checked.contains(problem), "{sql}: {checked}");
    }
    assert!(!other.exists());
    assert_eq!(std::fs::read(room.database.path()).unwrap(), before);
    assert_eq!(room.cells("SELECT count(*) FROM prices"), json!([[3]]));
}

#[test]
fn parameters_have_known_names_and_are_given() {
    let room = room();
    let known = ["ticker", "from"];
    let check = |sql| room.database.check(sql, &known);
    assert_eq!(check("SELECT close AS c, day FROM prices WHERE ticker = :ticker").unwrap(), ["c", "day"]);
    assert_eq!(check("SELECT 1 AS a;  -- done\n").unwrap(), ["a"]);
    for (sql, problem) in [
        ("SELECT :tiker AS a", "takes :tiker, which is not known; did you mean :ticker?"),
        ("SELECT @ticker AS a", "takes @ticker, which is not known; did you mean :ticker?"),
        ("SELECT $ticker AS a", "takes $ticker, which is not known; did you mean :ticker?"),
        ("SELECT ? AS a", "takes ?, which is not known; parameters are written :name"),
        ("SELECT ?1 AS a", "takes ?1, which is not known; parameters are written :name"),
        ("SELECT 1 AS a, 2 AS a", "answers the column a twice"),
    ] {
        assert_eq!(check(sql).unwrap_err(), problem, "{sql}");
    }
    assert_eq!(room.refusal("SELECT :ticker AS a"), "the query takes :ticker, which is not given");
    // What was bound before is gone.
    room.ask("SELECT :ticker AS a", &[("ticker", json!("x"))]);
    assert_eq!(room.refusal("SELECT :ticker AS a"), "the query takes :ticker, which is not given");
}

#[test]
fn a_value_is_never_read_as_sql() {
    let room = room();
    let before = std::fs::read(room.database.path()).unwrap();
    let sql = "SELECT * FROM prices WHERE ticker = :ticker AND ticker IN (SELECT value FROM json_each(:tickers))
               AND day >= date(:from) AND day <= date(:to) AND :client = 'demo' LIMIT CAST(:limit AS INTEGER)";
    let usual = [
        ("ticker", json!("AAAA11")),
        ("tickers", json!(["AAAA11"])),
        ("from", json!("2000-01-01")),
        ("to", json!("2099-12-31")),
        ("client", json!("demo")),
        ("limit", json!(10)),
    ];
    assert_eq!(room.ask(sql, &usual).rows.len(), 2);
    for text in
        ["' OR 1=1 --", "x'; DROP TABLE prices; --", "\" OR \"\"=\"", "AAAA11' UNION SELECT 1,2,3 --", "%", "\0"]
    {
        for at in 0..usual.len() {
            let mut parameters = usual.clone();
            parameters[at].1 = if at == 1 { json!([text]) } else { json!(text) };
            assert_eq!(room.ask(sql, &parameters).rows.len(), 0, "{} {text}", parameters[at].0);
        }
    }
    assert_eq!(std::fs::read(room.database.path()).unwrap(), before);
}

#[test]
fn rows_bytes_cells_columns_and_sql_have_their_caps() {
    let room = room();
    let count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows) SELECT i FROM n";
    let rows = |rows, rows_max| room.database.query(count, &[("rows", json!(rows))], bounds(rows_max, 5_000)).unwrap();
    assert_eq!((rows(9, 9).rows.len(), rows(9, 9).is_cut), (9, false));
    assert_eq!((rows(10, 9).rows.len(), rows(10, 9).is_cut), (9, true));

    let text = |bytes: usize| format!("SELECT printf('%*s', {bytes}, '') AS a");
    assert_eq!(room.ask(&text(CELL_BYTES_MAX), &[]).rows[0][0].as_str().map(str::len), Some(CELL_BYTES_MAX));
    assert!(room.refusal(&text(CELL_BYTES_MAX + 1)).contains("CELL_BYTES_MAX"));

    let length =
        |bytes: usize| room.database.query("SELECT length(:a)", &[("a", json!("x".repeat(bytes)))], bounds(1, 5_000));
    assert_eq!(length(QUERY_TEXT_BYTES_MAX).unwrap().rows, [[json!(QUERY_TEXT_BYTES_MAX)]]);
    assert!(length(QUERY_TEXT_BYTES_MAX + 1).unwrap_err().to_string().contains("too big"));
    let like =
        |bytes: usize| room.database.query("SELECT '' LIKE :a", &[("a", json!("x".repeat(bytes)))], bounds(1, 5_000));
    assert_eq!(like(PATTERN_BYTES_MAX).unwrap().rows, [[json!(0)]]);
    assert!(like(PATTERN_BYTES_MAX + 1).unwrap_err().to_string().contains("pattern too complex"));

    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
                SELECT printf('%60000s', '') AS a FROM n";
    let rows = room.ask(many, &[]);
    let row = 60_000 + size_of::<Value>();
    assert_eq!((rows.rows.len(), rows.is_cut, rows.bytes()), (ROWS_BYTES_MAX / row, true, ROWS_BYTES_MAX / row * row));

    let columns = |n: usize| format!("SELECT {}", (0..n).map(|i| format!("1 AS c{i}")).collect::<Vec<_>>().join(", "));
    assert_eq!(room.database.check(&columns(ENTITY_COLUMNS_MAX), &[]).unwrap().len(), ENTITY_COLUMNS_MAX);
    assert!(room.refusal(&columns(ENTITY_COLUMNS_MAX + 1)).contains("ENTITY_COLUMNS_MAX"));

    let long = |bytes: usize| format!("SELECT 1 AS a --{}", "x".repeat(bytes - 16));
    assert_eq!(room.ask(&long(SQL_BYTES_MAX), &[]).rows.len(), 1);
    assert!(room.refusal(&long(SQL_BYTES_MAX + 1)).contains("SQL_BYTES_MAX"));
}

#[test]
fn a_slow_query_is_stopped_and_its_connection_is_as_before() {
    let room = room();
    for sql in [
        ENDLESS,
        // Steps that each take long: SQLite's own limits bound them.
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(hex(randomblob(500000))) AS i FROM n",
    ] {
        let begun = Instant::now();
        let error = room.database.query(sql, &[], bounds(10, 50)).unwrap_err();
        assert!(matches!(error, QueryError::Slow(50)), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        assert_eq!(room.cells("SELECT count(*) FROM prices"), json!([[3]]));
    }
    assert!(room.refusal("SELECT hex(zeroblob(900000000)) AS a").contains("too big"));
}

#[test]
fn callers_beyond_the_connections_wait_and_are_then_refused() {
    let mut room = room();
    room.database.pool = Pool::of(1);
    let (begun, has_begun) = mpsc::channel();
    let room = &room;
    std::thread::scope(|scope| {
        let slow = scope.spawn(move || {
            let asked = |connection: &Connection| {
                begun.send(()).unwrap();
                connection.run(ENDLESS, &[], bounds(10, 400))
            };
            room.database.pool.with(room.database.path(), Duration::from_secs(5), asked)
        });
        has_begun.recv().unwrap();
        let error = room.database.query("SELECT 1 AS a", &[], bounds(10, 20)).unwrap_err();
        assert!(matches!(error, QueryError::Busy), "{error}");
        // One that waits longer than the slow one takes has its turn after it.
        assert_eq!(room.database.query("SELECT 1 AS a", &[], bounds(10, 5_000)).unwrap().rows.len(), 1);
        assert!(matches!(slow.join().unwrap().unwrap(), Err(QueryError::Slow(400))));
    });
}

#[test]
fn many_callers_share_few_connections() {
    let room = &room();
    let sql = "SELECT count(*) AS n FROM prices WHERE ticker = :ticker";
    std::thread::scope(|scope| {
        for n in 0..16 {
            let (ticker, expected) = if n % 2 == 0 { ("AAAA11", 2) } else { ("BBBB11", 1) };
            scope.spawn(move || {
                for _ in 0..50 {
                    assert_eq!(room.ask(sql, &[("ticker", json!(ticker))]).rows[0][0], json!(expected));
                }
            });
        }
    });
}

#[test]
fn a_panic_while_it_runs_gives_its_turn_back() {
    let mut room = room();
    room.database.pool = Pool::of(1);
    let run = || room.database.pool.with(room.database.path(), Duration::from_secs(1), |_| panic!("in a query"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert_eq!(room.cells("SELECT 1 AS a"), json!([[1]]));
}

#[test]
fn a_file_that_is_replaced_or_written_to_is_seen() {
    let room = room();
    let newest = "SELECT max(day) AS day FROM prices";
    assert_eq!(room.cells(newest), json!([["2025-01-03"]]));
    let first = room.database.generation();
    assert_eq!(room.database.generation(), first);

    let next = "CREATE TABLE prices (day TEXT, ticker TEXT); INSERT INTO prices VALUES ('2025-02-01', 'A')";
    Database::make(next, room.database.path()).unwrap();
    assert_eq!(room.cells(newest), json!([["2025-02-01"]]));
    assert_eq!(*room.ask("SELECT * FROM prices", &[]).columns, ["day", "ticker"].map(str::to_owned));
    let second = room.database.generation();
    assert_ne!(first, second);

    let writer = rusqlite::Connection::open(room.database.path()).unwrap();
    let script = "ALTER TABLE prices ADD COLUMN close; INSERT INTO prices VALUES ('2025-03-01', 'A', 2)";
    writer.execute_batch(script).unwrap();
    assert_eq!(room.cells(newest), json!([["2025-03-01"]]));
    assert_eq!(room.ask("SELECT * FROM prices", &[]).columns.len(), 3);
    let third = room.database.generation();
    assert_ne!(second, third);

    writer.execute_batch("PRAGMA journal_mode = WAL").unwrap();
    room.cells(newest);
    let fourth = room.database.generation();
    writer.execute_batch("INSERT INTO prices VALUES ('2025-04-01', 'A', 3)").unwrap();
    assert_eq!(room.cells(newest), json!([["2025-04-01"]]));
    assert_ne!(fourth, room.database.generation());
}

#[test]
fn a_file_is_replaced_while_a_query_runs_on_it() {
    let room = &room();
    let (begun, has_begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let running = scope.spawn(move || {
            let asked = |connection: &Connection| {
                begun.send(()).unwrap();
                let slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) \
                            SELECT count(*) AS i, (SELECT count(*) FROM prices) AS prices FROM n";
                connection.run(slow, &[], bounds(10, 5_000)).unwrap()
            };
            room.database.pool.with(room.database.path(), Duration::from_secs(5), asked).unwrap()
        });
        has_begun.recv().unwrap();
        Database::make("CREATE TABLE prices (day)", room.database.path()).unwrap();
        assert_eq!(room.cells("SELECT count(*) FROM prices"), json!([[0]]));
        assert_eq!(running.join().unwrap().rows[0][1], json!(3));
    });
    assert_eq!(room.cells("SELECT count(*) FROM prices"), json!([[0]]));
}

#[test]
fn a_writer_that_holds_the_file_makes_it_busy_for_as_long_as_the_query_may_take() {
    let room = room();
    let writer = rusqlite::Connection::open(room.database.path()).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let begun = Instant::now();
    let error = room.database.query("SELECT count(*) AS n FROM prices", &[], bounds(10, 50)).unwrap_err();
    assert!(matches!(error, QueryError::Busy), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(room.cells("SELECT count(*) FROM prices"), json!([[3]]));
}

#[test]
fn what_is_no_database_is_told_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let check = |path: &Path, problem: &str| {
        let error = Database::open(path).unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains(&path.display().to_string()), "{error}");
    };
    check(&dir.path().join("missing.db"), "there is no database at");
    check(dir.path(), "it is no file");
    let text = dir.path().join("text.db");
    std::fs::write(&text, "hello ".repeat(1_000)).unwrap();
    check(&text, "is no SQLite database");

    let room = room();
    std::fs::remove_file(room.database.path()).unwrap();
    assert!(room.refusal("SELECT 1 AS a").contains("there is no database at"));
    assert_eq!(room.database.generation(), 0);
    Database::make(SCRIPT, room.database.path()).unwrap();
    assert_eq!(room.cells("SELECT count(*) FROM prices"), json!([[3]]));
}

#[test]
fn a_name_is_a_name_and_no_address_with_options() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file:a.db?mode=rwc");
    Database::make(SCRIPT, &path).unwrap();
    let database = Database::open(&path).unwrap();
    assert!(database.query("SELECT 1 AS a", &[], bounds(1, 1_000)).is_ok());
    assert!(!beside(&path, "-journal").exists());
}
