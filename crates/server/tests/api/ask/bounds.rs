//! What a query may take, and what may be answered again without one.

use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;

use super::own::{CATCHES, CREWS, boats, database, harbour, serve};
use crate::support::asking::{self, ask, question, reference};
use crate::support::{Server, Value, json};

/// As long as ENDLESS may take.
const LIMIT: Duration = Duration::from_millis(200);
/// What everything beside the query may take where many tests run at once.
const SLACK: Duration = Duration::from_secs(2);

fn hit(answer: &Value) -> bool {
    answer["meta"]["cache"]["hit"].as_bool().unwrap()
}

/// Changes a file of an entity, and has the server see it.
fn change(server: &Server, name: &str, text: &str) {
    let path = server.home.write(&format!("policies/entities/{name}.yaml"), text);
    let time = SystemTime::now() + Duration::from_secs(1);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
}

#[test]
fn a_query_over_its_time_is_ended_and_the_server_goes_on() {
    let server = serve(&harbour(2));
    ask(&server, "ann", "c", "what was the catch of SEA11?");
    let before = reference(&server, "ann", "c");
    let started = Instant::now();
    let answer = server.post("/ask", question("ann", "c", "forever"));
    answer.refused_with(502, "data_failed", &["endless", "200 ms"]);
    assert!((LIMIT..LIMIT + SLACK).contains(&started.elapsed()), "it took {:?}", started.elapsed());
    assert_eq!(server.said("ann", "c").last().unwrap(), "forever", "the question is kept, without an answer");
    assert_eq!(reference(&server, "ann", "c"), before);
    assert_eq!(boats(&ask(&server, "ann", "c", "and the crew?")), ["SEA11"]);
}

#[test]
fn many_queries_over_their_time_keep_nobody_waiting_for_long() {
    let server = serve(&harbour(2));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for n in 0..16 {
            let client = server.client();
            scope.spawn(move || {
                let answer = client.post("/ask", question("ann", &format!("c{n}"), "forever"));
                answer.refused(502, "data_failed");
            });
        }
    });
    // Each waits as long for its turn as it may take, and then no longer.
    assert!(started.elapsed() < 2 * LIMIT + SLACK, "they took {:?}", started.elapsed());
    let started = Instant::now();
    assert_eq!(boats(&ask(&server, "ann", "c", "what was the catch of SEA11?")), ["SEA11"]);
    assert!(started.elapsed() < SLACK);
}

#[test]
fn rows_past_the_most_are_cut_and_that_is_told() {
    for (rows_max, count, cut) in [(2, 2, true), (3, 3, false), (4, 3, false)] {
        let home = harbour(2);
        home.write(
            "policies/entities/catches.yaml",
            &CATCHES.replace("rows_max: 40", &format!("rows_max: {rows_max}")),
        );
        let answer = ask(&serve(&home), "ann", "c", "what was the catch of SEA11?");
        assert_eq!(answer["meta"]["rows"], json!({"count": count, "cut": cut}), "rows_max {rows_max}");
        assert_eq!(answer["results"].as_array().unwrap().len(), count);
    }
}

#[test]
fn rows_are_found_again_by_plan() {
    let server = serve(&harbour(2));
    let ask = |user: &str, of: &str, text: &str| ask(&server, user, of, text);
    let first = ask("ann", "c", "what was the catch of SEA11?");
    assert!(!hit(&first));
    let again = ask("ben", "d", "show me the landings of sea11, please");
    assert!(hit(&again), "another's question with the same plan");
    assert_eq!(again["results"], first["results"]);
    let others = [
        "what was the catch of SUN12?",
        "what was the catch of SEA11 in 2024?",
        "total catch of SEA11",
        "crew of SEA11",
    ];
    // Each in a conversation of its own, so that nothing is inherited.
    for (n, other) in others.into_iter().enumerate() {
        let answer = ask("ann", &format!("o{n}"), other);
        assert!(!hit(&answer), "{other}");
        assert_ne!(answer["results"], first["results"], "{other}");
        assert!(hit(&ask("ben", &format!("o{n}"), other)), "{other}");
    }
    ask("ann", "o1", "and the crew?");
    assert!(hit(&ask("ann", "o1", "and the catch in 2024?")), "an inherited plan is a plan");
    assert!(!hit(&ask("ann", "e", "bananas")));
}

#[test]
fn rows_of_another_number_are_not_found() {
    let server = asking::serve();
    let rows = |user: &str, text: &str| ask(&server, user, "c", text)["results"].as_array().unwrap().len();
    assert_eq!([rows("a", "60 cotações do ALMI11"), rows("b", "preço do ALMI11")], [60, 1]);
    assert_eq!([rows("a", "preço do XPLG11"), rows("b", "60 cotações do XPLG11")], [1, 60]);
}

#[test]
fn private_rows_are_never_found_by_another() {
    let server = serve(&harbour(2));
    let own = json!([{"boat": "SEA11", "kilos": 5}]);
    for (user, is_hit, rows) in [
        ("ann", false, own.clone()),
        ("ann", true, own.clone()),
        ("ben", false, json!([{"boat": "SUN12", "kilos": 7}])),
        ("cid", false, json!([])),
        ("cid", true, json!([])),
        ("ann", true, own),
    ] {
        let answer = ask(&server, user, "c", "my orders");
        assert_eq!((hit(&answer), &answer["results"]), (is_hit, &rows), "{user}");
    }
}

#[test]
fn what_an_entity_said_before_it_changed_is_not_found() {
    let server = serve(&harbour(2));
    let crew = || ask(&server, "ann", "c", "crew of SEA11");
    assert!(!hit(&crew()));
    assert!(hit(&crew()));
    change(&server, "crews", &CREWS.replace("b.sailor FROM", "upper(b.sailor) AS sailor FROM"));
    let after = crew();
    assert_eq!((hit(&after), &after["results"][0]["sailor"]), (false, &json!("SAILOR OF SEA11")));
    assert!(hit(&crew()));
    change(&server, "crews", &CREWS.replace("cache_seconds: 300", "cache_seconds: 0"));
    assert_eq!([hit(&crew()), hit(&crew())], [false, false], "0 keeps nothing");
}

#[test]
fn a_database_that_is_written_to_or_replaced_is_seen() {
    let home = harbour(2);
    let server = serve(&home);
    let catch = || ask(&server, "ann", "c", "what was the catch of SEA11 in 2024?");
    assert_eq!((&catch()["results"][0]["kilos"], hit(&catch())), (&json!(100), true));
    let own = Connection::open(home.path("harbour.db")).unwrap();
    own.execute("UPDATE catches SET kilos = 111", []).unwrap();
    drop(own);
    let written = catch();
    assert_eq!((&written["results"][0]["kilos"], hit(&written)), (&json!(111), false));
    let newcomer = |of: &str| asking::ask(&server, "ann", of, "haul of the northern qac");
    assert_eq!(newcomer("d")["status"], "incomplete", "there is no such boat yet");
    database(&home.path("newer.db"), 3, 500);
    std::fs::rename(home.path("newer.db"), home.path("harbour.db")).unwrap();
    let replaced = catch();
    assert_eq!((&replaced["results"][0]["kilos"], hit(&replaced)), (&json!(500), false));
    assert_eq!(boats(&newcomer("e")), ["QAC02"], "new subjects are known");
}

#[test]
fn a_catalogue_that_did_not_fit_the_database_is_tried_again_when_that_is_replaced() {
    let home = harbour(2);
    let whole = home.path("whole.db");
    std::fs::copy(home.path("harbour.db"), &whole).unwrap();
    Connection::open(home.path("harbour.db")).unwrap().execute("DROP TABLE orders", []).unwrap();
    let server = home.serve_with(&[("NOVELO_ASK_DATABASE", home.path("harbour.db").to_str().unwrap())]);
    let ask = || server.post("/ask", question("ann", "c", "my orders"));
    ask().refused(503, "no_data");
    std::fs::rename(whole, home.path("harbour.db")).unwrap();
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
    assert_eq!(ask().ok()["results"], json!([{"boat": "SEA11", "kilos": 5}]));
}

#[test]
fn a_database_that_goes_away_is_told_and_its_return_is_seen() {
    let home = harbour(2);
    let server = serve(&home);
    let ask = || server.post("/ask", question("ann", "c", "crew of SEA11"));
    std::fs::rename(home.path("harbour.db"), home.path("away.db")).unwrap();
    ask().refused(502, "data_failed");
    std::fs::rename(home.path("away.db"), home.path("harbour.db")).unwrap();
    assert_eq!(boats(&ask().ok()), ["SEA11"]);
}
