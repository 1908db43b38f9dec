//! Listing threads, and forking them.

use crate::support::{Client, Server, Value, json, says, thread, user};

fn ids(answer: &Value) -> Vec<&str> {
    answer["threads"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

fn fork(client: &Client, from: &str, at_seq: u64, to: &str) -> crate::support::Answer {
    client.post(&thread("u", from, "/fork"), json!({"at_seq": at_seq, "to": to}))
}

fn turns(client: &Client, of: &str) -> Value {
    client.get(&thread("u", of, "/turns?last=1000")).ok()["turns"].clone()
}

#[test]
fn threads_are_listed_by_id_in_pages() {
    let server = Server::start();
    for (at, id) in ["é", "a/b", "b", "a", "c"].iter().enumerate() {
        let newest = json!({"role": "user", "content": "x", "create_time": 100 + at});
        server.append("u", id, &[says("user", "old"), newest]);
    }
    server.say("v", "other", &["x"]);
    let list = |query: &str| server.get(&user("u", &format!("/threads{query}"))).ok();
    let all = list("");
    assert_eq!((ids(&all), &all["has_more"]), (vec!["a", "a/b", "b", "c", "é"], &json!(false)));
    assert_eq!(all["threads"][1], json!({"id": "a/b", "turns": 2, "updated_at": 101.0}));
    let first = list("?limit=2");
    assert_eq!((ids(&first), &first["has_more"]), (vec!["a", "a/b"], &json!(true)));
    let rest = list("?limit=3&after=a%2Fb");
    assert_eq!((ids(&rest), &rest["has_more"]), (vec!["b", "c", "é"], &json!(false)));
    assert_eq!(list("?after=%C3%A9"), json!({"threads": [], "has_more": false}));
    for query in ["?limit=0", "?limit=1001"] {
        server.get(&user("u", &format!("/threads{query}"))).refused_with(422, "invalid_field", &["PAGE_MAX"]);
    }
    assert_eq!(ids(&list("?limit=1000")).len(), 5);
}

#[test]
fn a_fork_holds_the_turns_up_to_its_seq_and_goes_its_own_way() {
    let server = Server::start();
    server.say("u", "t", &["1", "2", "3", "4", "5"]);
    assert_eq!(fork(&server, "t", 3, "f").ok(), json!({"thread": "f", "turns": 3}));
    assert_eq!(turns(&server, "f"), json!(turns(&server, "t").as_array().unwrap()[..3]));
    server.say("u", "f", &["4'"]);
    server.say("u", "t", &["6"]);
    assert_eq!(server.said("u", "f"), ["1", "2", "3", "4'"]);
    assert_eq!(server.said("u", "t"), ["1", "2", "3", "4", "5", "6"]);
    assert_eq!(turns(&server, "f")[3]["seq"], 4);

    assert_eq!(fork(&server, "f", 4, "g").ok()["turns"], 4, "a fork of a fork");
    assert_eq!(server.said("u", "g"), ["1", "2", "3", "4'"]);
    assert_eq!(fork(&server, "t", 3, "f").ok(), json!({"thread": "f", "turns": 3}), "asked for again");
}

#[test]
fn a_fork_that_cannot_be_is_refused() {
    let server = Server::start();
    server.say("u", "t", &["1", "2"]);
    server.say("u", "taken", &["x"]);
    fork(&server, "t", 1, "taken").refused(409, "conflict");
    fork(&server, "t", 0, "f").refused(422, "invalid_field");
    fork(&server, "t", 3, "f").refused_with(422, "invalid_field", &["3", "2"]);
    fork(&server, "t", 1, "t").refused(422, "invalid_field");
    fork(&server, "t", 1, "").refused(422, "invalid_field");
    fork(&server, "nobody", 1, "f").refused(404, "not_found");
    server.post(&thread("u", "t", "/fork"), json!({"to": "f"})).refused_with(422, "invalid_field", &["at_seq"]);
    assert_eq!(ids(&server.get(&user("u", "/threads")).ok()), ["t", "taken"]);
}

#[test]
fn a_fork_survives_the_end_of_its_parent() {
    let server = Server::start();
    server.say("u", "t", &["1", "2", "3"]);
    fork(&server, "t", 2, "f").ok();
    let before = turns(&server, "f");
    assert_eq!(server.delete(&thread("u", "t", "")).ok()["forgotten"]["documents"], 3);
    assert_eq!(server.said("u", "t"), Vec::<String>::new());
    assert_eq!(turns(&server, "f"), before);
    let server = server.restart();
    assert_eq!(turns(&server, "f"), before, "also from the disk");
    server.say("u", "f", &["3'"]);
    assert_eq!(server.said("u", "f"), ["1", "2", "3'"]);
}
