//! The rolling summary: what fell out of the window is covered, whatever arrives meanwhile.

use novelo_engine::limits::MEMORY_BYTES_MAX;

use std::time::Duration;

use crate::support::models::{Act, Models, words};
use crate::support::{Client, Home, Server, Value, eventually, json, says, thread, user};

const WINDOW: u64 = 10;
const THRESHOLD: usize = 20;

fn at(name: &str) -> String {
    thread("u", name, "/summary")
}

fn say(client: &Client, name: &str, from: usize, to: usize) {
    for n in from..to {
        client.say("u", name, &[&format!("Fact number {n} is that the colour{n} was seen.")]);
    }
}

/// Waits until the summary covers the thread up to a seq.
fn covers(client: &Client, name: &str, upto: u64) -> Value {
    let mut summary = Value::Null;
    let is_so = eventually(|| {
        let answer = client.get(&at(name));
        summary = answer.json();
        answer.status == 200 && summary["upto_seq"] == upto
    });
    assert!(is_so, "not covered up to {upto}: {summary}");
    summary
}

#[test]
fn a_thread_is_summed_up_beyond_the_threshold() {
    let server = Server::start();
    say(&server, "t", 1, THRESHOLD + 1);
    server.say("u", "other", &["x"]);
    server.get(&at("t")).refused(404, "not_found");
    say(&server, "t", 21, 22);
    let summary = covers(&server, "t", 21 - WINDOW);
    assert_eq!(summary.as_object().unwrap().keys().collect::<Vec<_>>(), ["text", "upto_seq", "by", "updated_at"]);
    let text = summary["text"].as_str().unwrap();
    assert!(summary["by"] == "extract" && text.contains("colour1") && !text.contains("colour12"), "{text}");
    assert!(text.chars().count() <= 1_200);
    server.get(&at("other")).refused(404, "not_found");
    server.get(&thread("u2", "t", "/summary")).refused(404, "not_found");
    server.append("u", "t", &(22..40).map(|n| says("user", &format!("colour{n}"))).collect::<Vec<_>>());
    covers(&server, "t", 39 - WINDOW);
    let first = |made: Value| made["messages"][0]["content"].as_str().unwrap().to_owned();
    let made = server.post("/memory/context", json!({"user_id": "u", "session_id": "t"})).ok();
    assert!(first(made).starts_with("Previous context summary: "));
    let ask = |budget: u32| first(server.context(json!({"user": "u", "thread": "t", "budget_tokens": budget})));
    assert!(ask(600).starts_with("Previous context summary: "), "some of what it sums up is out");
    assert!(ask(24_000).starts_with("Fact number 1 "), "all that it sums up is there");
}

#[test]
fn the_settings_say_when_and_how_much() {
    let settings = [
        ("NOVELO_MEMORY_SHORT_TERM_WINDOW", "2"),
        ("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "3"),
        ("NOVELO_MEMORY_SUMMARY_CHARS", "60"),
    ];
    let server = Home::new().serve_with(&settings);
    say(&server, "t", 1, 5);
    let summary = covers(&server, "t", 2);
    assert!((1..=60).contains(&summary["text"].as_str().unwrap().chars().count()), "{summary}");
}

#[test]
fn no_turn_is_lost_while_others_arrive() {
    let server = Server::start();
    std::thread::scope(|scope| {
        for writer in 0..64 {
            let server = &server;
            scope.spawn(move || say(server, "t", writer * 4, writer * 4 + 4));
        }
    });
    let last: u64 = 64 * 4;
    covers(&server, "t", last - WINDOW);
    assert_eq!(server.said("u", "t").len() as u64, last);
    let more = server.say("u", "t", &["one more"]);
    assert_eq!(more[0]["seq"], last + 1);
    covers(&server, "t", last + 1 - WINDOW);
}

#[test]
fn a_callers_summary_is_continued_also_in_the_middle_of_a_race() {
    let server = Server::start();
    let set = json!({"text": "The caller said zebra."});
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let server = &server;
            scope.spawn(move || say(server, "t", writer * 10, writer * 10 + 10));
        }
        for _ in 0..5 {
            let mine = server.put(&at("t"), &set).ok();
            assert_eq!((&mine["by"], &mine["text"]), (&json!("caller"), &set["text"]));
        }
    });
    say(&server, "t", 80, 81);
    let summary = covers(&server, "t", 81 - WINDOW);
    assert!(summary["text"].as_str().unwrap().contains("zebra"), "{summary}");
}

#[test]
fn a_caller_sets_reads_and_deletes() {
    let server = Server::start();
    say(&server, "t", 1, 16);
    let set = server.put(&at("t"), json!({"text": "mine"})).ok();
    assert_eq!((&set["upto_seq"], &set["by"]), (&json!(15 - WINDOW), &json!("caller")));
    assert_eq!(server.get(&at("t")).ok(), set);
    assert_eq!(server.put(&at("t"), json!({"text": "mine", "upto_seq": 15})).ok()["upto_seq"], 15);
    let past = server.put(&at("t"), json!({"text": "mine", "upto_seq": 16})).refused(422, "invalid_field");
    assert_eq!(past["param"], "upto_seq");
    for (body, param) in [
        (json!({}), Value::Null),
        (json!({"text": " "}), json!("text")),
        (json!({"text": "t", "by": "me"}), json!("by")),
        (json!({"text": "t", "upto_seq": -1}), json!("upto_seq")),
        (json!({"text": "x".repeat(MEMORY_BYTES_MAX + 1)}), json!("text")),
    ] {
        assert_eq!(server.put(&at("t"), body).refused(422, "invalid_field")["param"], param);
    }
    server.put(&at("t"), json!({"text": "x".repeat(MEMORY_BYTES_MAX)})).ok();
    assert_eq!(server.delete(&at("t")).ok(), json!({"deleted": true}));
    server.delete(&at("t")).refused(404, "not_found");
    server.get(&at("t")).refused(404, "not_found");
    assert_eq!(server.put(&at("empty"), json!({"text": "before all"})).ok()["upto_seq"], 0);
}

#[test]
fn after_a_restart_the_next_turn_picks_it_up() {
    let home = Home::new();
    let never = [("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "1000000")];
    let server = home.serve_with(&never);
    say(&server, "t", 1, 31);
    server.get(&at("t")).refused(404, "not_found");
    let home = server.kill();
    let server = home.serve();
    server.get(&at("t")).refused(404, "not_found");
    say(&server, "t", 31, 32);
    covers(&server, "t", 31 - WINDOW);
    let server = server.restart();
    covers(&server, "t", 31 - WINDOW);
    say(&server, "t", 32, 33);
    covers(&server, "t", 32 - WINDOW);
}

#[test]
fn turns_that_come_as_documents_or_by_a_fork_are_summed_up_too() {
    let server = Server::start();
    let message = |n: usize| json!({"role": "user", "content": format!("colour{n}")});
    for n in 0..21 {
        server.put(&format!("/v1/docs/users/u/convo.sessions/put/messages/m{n}"), message(n)).ok();
    }
    covers(&server, "put", 21 - WINDOW);
    let ops: Vec<Value> = (0..21)
        .map(|n| json!({"op": "put", "path": format!("users/u/convo.sessions/batch/messages/m{n}"), "value": message(n)}))
        .collect();
    server.post("/v1/docs:batch", json!({"ops": ops})).ok();
    covers(&server, "batch", 21 - WINDOW);
    server.post(&thread("u", "batch", "/fork"), json!({"at_seq": 21, "to": "fork"})).ok();
    covers(&server, "fork", 21 - WINDOW);
}

#[test]
fn a_forgotten_thread_leaves_no_summary_behind() {
    let server = Server::start();
    for round in 0..5 {
        let name = format!("t{round}");
        let turns: Vec<Value> = (0..200).map(|n| says("user", &format!("canary {n} of a thread."))).collect();
        server.append("u", &name, &turns);
        server.delete(&thread("u", &name, "")).ok();
    }
    server.say("u", "after", &["x"]);
    covers_nothing(&server);
}

/// Lets the writer of summaries finish with all that it may have had in hand, by a thread that comes after
/// it.
fn covers_nothing(server: &Server) {
    say(server, "last", 0, 25);
    covers(server, "last", 25 - WINDOW);
    let export = server.get(&user("u", "/export")).text();
    assert!(!export.contains("canary"), "{export}");
}

#[test]
fn a_long_summary_of_a_caller_is_kept_whole() {
    let server = Server::start();
    let given: String = (0..400).map(|n| format!("Fact{n} holds. ")).collect();
    let given = given.trim_end();
    say(&server, "t", 1, THRESHOLD + 2);
    server.put(&at("t"), json!({"text": given}).to_string()).ok();
    say(&server, "t", 30, 50);
    let summary = covers(&server, "t", 41 - WINDOW);
    let text = summary["text"].as_str().unwrap();
    assert!(text.starts_with(given) && text.len() > given.len(), "{text}");
    assert_eq!(summary["by"], "caller");
    say(&server, "t", 50, 51);
    let again = covers(&server, "t", 42 - WINDOW);
    assert!(again["text"].as_str().unwrap().starts_with(given));
    assert!(again["text"].as_str().unwrap().len() <= given.len() + 1_201, "what is made behind it does not pile up");
}

#[test]
fn a_summary_that_was_removed_does_not_come_back() {
    let server = Server::start();
    for (n, removes) in [("a", true), ("b", false)] {
        say(&server, n, 1, THRESHOLD + 2);
        covers(&server, n, 21 - WINDOW);
        match removes {
            true => server.delete(&at(n)).ok(),
            false => server.post("/memory/reset", json!({"user_id": "u", "session_id": n, "scope": "summary"})).ok(),
        };
        server.get(&at(n)).refused(404, "not_found");
        say(&server, n, 60, 61);
        let text = covers(&server, n, 22 - WINDOW)["text"].as_str().unwrap().to_owned();
        assert!(text.contains("colour12") && !text.contains("colour3"), "only what came since: {text}");
    }
}

fn settings(models: &Models) -> [(&str, &str); 3] {
    [
        ("NOVELO_MODELS_SUMMARY_URL", &models.base),
        ("NOVELO_MEMORY_SHORT_TERM_WINDOW", "2"),
        ("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "3"),
    ]
}

#[test]
fn a_model_sums_up_where_one_is_set_and_answers() {
    let models = Models::start();
    let server = Home::new().serve_with(&settings(&models));
    models.play([Act::says(&["The facts: colour1 ", "and colour2 were seen."])]);
    say(&server, "t", 1, 5);
    let summary = covers(&server, "t", 2);
    let told = "The facts: colour1 and colour2 were seen.";
    assert_eq!((&summary["text"], &summary["by"]), (&json!(told), &json!("model")));
    models.play([Act::Status(400, "no".into())]);
    say(&server, "t", 5, 6);
    let summary = covers(&server, "t", 3);
    assert!(summary["by"] == "extract" && summary["text"].as_str().unwrap().contains("colour3"), "{summary}");
    let asked = models.asked();
    let shown = asked[1].contents();
    assert!(shown[0].starts_with("You keep the running summary of a conversation."), "{shown:?}");
    assert!(shown[1].starts_with(&format!("Summary so far:\n{told}\n\nMessages since:\n20")), "{shown:?}");
    assert!(shown[1].contains(" user: Fact number 3"), "{shown:?}");
}

#[test]
fn what_is_forgotten_while_a_model_sums_it_up_stays_forgotten() {
    let models = Models::start();
    let server = Home::new().serve_with(&settings(&models));
    models.play([Act::Slowly(Duration::from_millis(600), words(&["secret colours"]))]);
    say(&server, "t", 1, 5);
    assert!(eventually(|| models.asked().len() == 1));
    server.delete(&thread("u", "t", "")).ok();
    let answered = "novelo_model_calls_total{job=\"summary\",outcome=\"ok\"}";
    assert!(eventually(|| server.metric(answered) == 1));
    server.get(&at("t")).refused(404, "not_found");
    // The next summary of a thread waits for the one in progress, so a late write would be part of its
    // prompt.
    server.say("u", "t", &["a", "b", "c", "d", "e"]);
    covers(&server, "t", 3);
    let asked = models.asked();
    let prompts: Vec<_> = asked.iter().skip(1).flat_map(|asked| asked.contents()).collect();
    assert!(!prompts.concat().contains("secret"), "{prompts:?}");
}
