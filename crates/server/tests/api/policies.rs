//! Presets as files: they are read again when they change, and a broken one does no harm.

use std::time::{Duration, SystemTime};

use crate::support::{Home, Server, json};

fn preset(text: &str) -> String {
    json!({"components": [{"kind": "literal", "value": text}]}).to_string()
}

/// Writes a preset that is surely newer than the one before.
fn write(home: &Home, name: &str, text: &str, age: u64) {
    let path = home.write(&format!("policies/presets/{name}.json"), text);
    let time = SystemTime::now() + Duration::from_secs(age);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn broken(server: &Server) -> u64 {
    server.get("/health/ready").ok()["broken_policies"].as_u64().unwrap()
}

fn says(server: &Server, preset: &str) -> String {
    let answer = server.context(json!({"user": "u", "thread": "t", "preset": preset}));
    answer["messages"][0]["content"].as_str().unwrap().to_owned()
}

#[test]
fn a_preset_is_read_again_when_its_file_changes() {
    let server = Server::start();
    server.post("/v1/context", json!({"user": "u", "thread": "t", "preset": "mine"})).refused(422, "invalid_field");
    write(&server.home, "mine", &preset("first"), 1);
    assert_eq!(broken(&server), 0);
    assert_eq!(says(&server, "mine"), "first");
    assert!(server.get("/health/ready").text().contains("\"mine\""));
    write(&server.home, "mine", &preset("second"), 2);
    assert!(crate::support::eventually(|| says(&server, "mine") == "second"));
    write(&server.home, "chat", &preset("mine now"), 3);
    assert_eq!(broken(&server), 0);
    assert_eq!(says(&server, "chat"), "mine now", "a file overrides what is shipped");
}

#[test]
fn a_broken_preset_keeps_the_last_good_one_and_is_told() {
    let server = Server::start();
    write(&server.home, "mine", &preset("good"), 1);
    assert_eq!(broken(&server), 0);
    for (age, text) in [(2, "{"), (3, r#"{"components":[{"kind":"histroy"}]}"#), (4, "[]")] {
        write(&server.home, "mine", text, age);
        assert_eq!(broken(&server), 1, "{text}");
        assert_eq!(says(&server, "mine"), "good", "{text}");
        let doctor = server.get("/v1/doctor").ok();
        assert_eq!(doctor["healthy"], json!(false));
        assert!(doctor["findings"][0]["what"].as_str().unwrap().contains("mine.json"), "{doctor}");
    }
    write(&server.home, "mine", &preset("mended"), 5);
    assert_eq!(broken(&server), 0);
    assert_eq!(says(&server, "mine"), "mended");
    let doctor = server.get("/v1/doctor").ok();
    assert_eq!((&doctor["healthy"], &doctor["findings"]), (&json!(true), &json!([])));
}

#[test]
fn a_file_that_is_broken_from_the_start_leaves_what_is_shipped() {
    let home = Home::new();
    write(&home, "chat", "{}}", 1);
    let server = home.serve();
    server.say("u", "t", &["hi"]);
    assert_eq!((broken(&server), says(&server, "chat").as_str()), (1, "hi"));
}

#[test]
fn an_old_prompt_is_made_with_the_preset_of_its_time() {
    let server = Server::start();
    write(&server.home, "mine", &preset("then"), 1);
    assert_eq!(broken(&server), 0);
    let made = server.context(json!({"user": "u", "thread": "t", "preset": "mine"}));
    write(&server.home, "mine", &preset("now"), 2);
    assert_eq!((broken(&server), says(&server, "mine").as_str()), (0, "now"));
    let again = server.post(&format!("/v1/traces/{}/replay", made["trace_id"].as_str().unwrap()), "").ok();
    assert_eq!(again, json!({"messages": made["messages"], "identical": true}));
}
