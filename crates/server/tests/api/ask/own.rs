//! Data of one's own: a database, an ontology, parameters and entities in English, with nothing of what is
//! shipped.

use std::sync::Arc;

use rusqlite::Connection;

use crate::support::asking::{ask, column, home, reason};
use crate::support::{Home, Server, Value, json};

pub const ONTOLOGY: &str = r#"ontology:
  threshold: {min_score: 1.0, min_gap: 0.1}
  subject:
    name: boat
    shape: AAA99
    index: SELECT boat, name FROM boats
  fillers: [show, me, please]
  follow_ups: [compare, also, with]
  synonyms: {catch: [haul, landings]}
  buckets:
    fleet: {phrases: {"@boat": 0.6}}
    mine: {required: true, tokens: {my: 0.5}}
  intents:
    catches: {bucket: fleet, entity: catches, tokens: {catch: 1.2}}
    crews: {bucket: fleet, entity: crews, tokens: {crew: 1.2}}
    orders: {bucket: mine, entity: orders, tokens: {order: 1.2}}
    endless: {entity: endless, tokens: {forever: 1.5}}
"#;

pub const RULES: &str = r#"param_inference:
  aggregations: {sum: [total, altogether]}
  compare: [compare]
  intents:
    catches:
      boat: {source: [text, context], required: true, ask: "Which boat?"}
      window: {source: [text, context], default: all}
      aggregation: {allow: [list, sum], default: list}
      limit: {default: 100, max: 500, of: [catches]}
    crews:
      boat: {source: [text, context], required: true, ask: "Whose crew?"}
    orders: {}
    endless: {}
"#;

pub const CATCHES: &str = r#"about: What each boat caught.
rows_max: 40
cache_seconds: 300
columns:
  boat: {label: Boat}
  day: {label: Day}
  kilos: {label: Kilos, format: integer}
queries:
  list:
    sql: |
      SELECT c.boat, c.day, c.kilos FROM json_each(:boats) s JOIN catches c ON c.boat = s.value
      WHERE c.day BETWEEN coalesce(:from, '') AND coalesce(:to, '9999') ORDER BY s.key, c.day DESC
    list: {item: "{boat} landed {kilos} kg on {day}"}
  sum:
    sql: |
      SELECT c.boat, sum(c.kilos) AS kilos FROM json_each(:boats) s JOIN catches c ON c.boat = s.value
      WHERE c.day BETWEEN coalesce(:from, '') AND coalesce(:to, '9999') GROUP BY c.boat ORDER BY s.key
    text: {item: "{boat} landed {kilos} kg altogether."}
empty: "{boats} caught nothing."
"#;

pub const CREWS: &str = r#"about: Who sails.
cache_seconds: 300
columns: {boat: {label: Boat}, sailor: {label: Sailor}}
queries:
  list:
    sql: SELECT b.boat, b.sailor FROM json_each(:boats) s JOIN boats b ON b.boat = s.value ORDER BY s.key
    table: {title: "Crew of {boats}"}
"#;

pub const ORDERS: &str = r#"about: What each client ordered.
cache_seconds: 300
columns: {boat: {label: Boat}, kilos: {label: Kilos, format: integer}}
queries:
  list: {sql: "SELECT boat, kilos FROM orders WHERE client_id = :client_id ORDER BY boat", table: {title: Your orders}}
empty: "You ordered nothing."
"#;

pub const ENDLESS: &str = r#"about: A query that never ends by itself.
timeout_ms: 200
columns: {n: {label: N, format: integer}}
queries:
  list: {sql: "WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up) SELECT max(n) AS n FROM up", table: {}}
"#;

/// So many boats, each with a sailor and three catches that name the boat.
pub fn database(at: &std::path::Path, boats: usize, kilos: usize) {
    let database = Connection::open(at).unwrap();
    let tables = "CREATE TABLE boats (boat TEXT PRIMARY KEY, name TEXT, sailor TEXT);
        CREATE TABLE catches (boat TEXT, day TEXT, kilos INTEGER); CREATE TABLE orders (client_id TEXT, boat TEXT, kilos INTEGER);
        INSERT INTO orders VALUES ('ann', 'SEA11', 5), ('ben', 'SUN12', 7);";
    database.execute_batch(tables).unwrap();
    for n in 0..boats {
        let code = code(n);
        let row = rusqlite::params![code, format!("Northern {}", &code[..3]), format!("Sailor of {code}")];
        database.execute("INSERT INTO boats VALUES (?1, ?2, ?3)", row).unwrap();
        for year in 2022..2025 {
            let row = rusqlite::params![code, format!("{year}-05-0{}", n % 9 + 1), (kilos + n) as i64];
            database.execute("INSERT INTO catches VALUES (?1, ?2, ?3)", row).unwrap();
        }
    }
}

/// The nth boat.
pub fn code(n: usize) -> String {
    let name = [("SEA", 11), ("SUN", 12)].get(n).map(|(name, n)| format!("{name}{n}"));
    let letter = |n: usize| char::from(b'A' + (n % 26) as u8);
    name.unwrap_or_else(|| format!("Q{}{}{:02}", letter(n / 26), letter(n), n % 100))
}

/// A home with all of it.
pub fn harbour(boats: usize) -> Arc<Home> {
    let home = home("context: {enabled: true, last_reference: {enable_last_ticker: true}}\n");
    home.write("policies/ontology.yaml", ONTOLOGY);
    home.write("policies/param_inference.yaml", RULES);
    for (name, text) in [("catches", CATCHES), ("crews", CREWS), ("orders", ORDERS), ("endless", ENDLESS)] {
        home.write(&format!("policies/entities/{name}.yaml"), text);
    }
    database(&home.path("harbour.db"), boats, 100);
    home
}

pub fn serve(home: &Arc<Home>) -> Server {
    let server = home.serve_with(&[("NOVELO_ASK_DATABASE", home.path("harbour.db").to_str().unwrap())]);
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
    server
}

pub fn boats(answer: &Value) -> Vec<&str> {
    column(answer, "boat")
}

#[test]
fn an_ontology_of_ones_own_answers_in_its_own_words() {
    let home = harbour(4);
    let server = serve(&home);
    assert_eq!(server.get("/health/ready").ok()["policy_status"], "ok");
    let ask = |text: &str| ask(&server, "ann", "c", text);
    let first = ask("What was the catch of SEA11 in 2024?");
    assert_eq!(first["results"], json!([{"boat": "SEA11", "day": "2024-05-01", "kilos": 100}]));
    assert_eq!(first["answer"], "- SEA11 landed 100 kg on 2024-05-01");
    let second = ask("and the crew?");
    assert_eq!((boats(&second), reason(&second)), (vec!["SEA11"], "last_reference_applied"));
    let table = "Crew of SEA11\n\n| Boat | Sailor |\n|---|---|\n| SEA11 | Sailor of SEA11 |";
    assert_eq!(second["answer"], table);
    assert_eq!(boats(&ask("compare with SUN12")), ["SEA11", "SUN12"]);
    let total = ask("total landings of sun12");
    assert_eq!(total["answer"], "SUN12 landed 303 kg altogether.");
    assert_eq!(boats(&ask("haul of the northern sea, please")), ["SEA11"], "a boat has a name too");
    let unknown = ask("catch of ZZZ99");
    assert_eq!((&unknown["status"], &unknown["meta"]["unread"][0]["words"]), (&json!("incomplete"), &json!("ZZZ99")));
    assert_eq!(ask("my orders")["results"], json!([{"boat": "SEA11", "kilos": 5}]));
    let shipped = ask("preço do HGLG11");
    assert_eq!((&shipped["status"], &shipped["meta"]["intent"]), (&json!("incomplete"), &Value::Null));
    assert_eq!(shipped["meta"]["unread"][0]["words"], "HGLG11", "nothing that is shipped is left");
}

#[test]
fn a_subject_of_ones_own_is_asked_for_in_its_own_words() {
    let server = serve(&harbour(2));
    let answer = ask(&server, "ann", "c", "what was the catch?");
    assert_eq!((&answer["status"], &answer["answer"]), (&json!("incomplete"), &json!("Which boat?")));
    assert_eq!(answer["meta"]["parameters"]["missing"], json!(["boat"]));
}
