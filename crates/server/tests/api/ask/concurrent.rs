//! Many conversations at once never see each other's references; many questions in one are all answered and
//! kept.

use std::collections::BTreeSet;

use super::own::{boats, code, harbour, serve};
use crate::support::asking::{ask, reason, reference, turns};
use crate::support::{Client, json};

const CLIENTS: usize = 16;
const CONVERSATIONS_EACH: usize = 4;
const ROUNDS: usize = 6;
const AT_ONCE: usize = 150;

/// One conversation of a client about one boat, which only its first question names.
fn converse(client: &Client, user: &str, of: &str, boat: &str) {
    let first = ask(client, user, of, &format!("what was the catch of {boat}?"));
    assert_eq!(boats(&first), [boat], "{user} {of}");
    for round in 0..ROUNDS {
        let text = ["and the crew?", "and the catch?", "and the catch in 2023?"][round % 3];
        let answer = ask(client, user, of, text);
        assert_eq!((boats(&answer), reason(&answer)), (vec![boat], "last_reference_applied"), "{user} {of}: {text}");
        assert!(answer["answer"].as_str().unwrap().contains(boat), "{answer}");
    }
    assert_eq!(reference(client, user, of)["tickers"], json!([boat]));
    assert_eq!(turns(client, user, of).len(), 2 * (ROUNDS + 1));
}

#[test]
fn conversations_at_once_never_see_each_others_references() {
    let server = serve(&harbour(CLIENTS * CONVERSATIONS_EACH));
    let names: BTreeSet<String> = (0..CLIENTS * CONVERSATIONS_EACH).map(code).collect();
    assert_eq!(names.len(), CLIENTS * CONVERSATIONS_EACH, "each conversation has its own boat");
    let client = server.client();
    std::thread::scope(|scope| {
        for n in 0..CLIENTS * CONVERSATIONS_EACH {
            let client = &client;
            // The conversations of all clients have the same names.
            let (user, of) = (format!("client{}", n % CLIENTS), format!("c{}", n / CLIENTS));
            scope.spawn(move || converse(client, &user, &of, &code(n)));
        }
    });
}

#[test]
fn questions_at_once_in_one_conversation_are_all_answered_and_kept() {
    let server = serve(&harbour(AT_ONCE));
    let text = |n: usize| format!("what was the catch of {}?", code(n));
    std::thread::scope(|scope| {
        for n in 0..AT_ONCE {
            let client = server.client();
            scope.spawn(move || assert_eq!(boats(&ask(&client, "ann", "c", &text(n))), [code(n)]));
        }
    });
    let turns = turns(&server, "ann", "c");
    assert!(turns.iter().map(|turn| turn["seq"].as_u64().unwrap()).eq(1..=2 * AT_ONCE as u64));
    let of_role = |role: &str| turns.iter().filter(|turn| turn["message"]["role"] == role).collect::<Vec<_>>();
    let said: BTreeSet<&str> =
        of_role("user").iter().map(|turn| turn["message"]["content"].as_str().unwrap()).collect();
    let asked: Vec<String> = (0..AT_ONCE).map(text).collect();
    assert_eq!(said, asked.iter().map(String::as_str).collect());
    let answers = of_role("assistant");
    let of =
        |turn: &serde_json::Value| turn["message"]["meta"]["parameters"]["subjects"][0].as_str().unwrap().to_owned();
    let answered: BTreeSet<String> = answers.iter().map(|turn| of(turn)).collect();
    assert_eq!((answers.len(), answered), (AT_ONCE, (0..AT_ONCE).map(code).collect()));
    let last = reference(&server, "ann", "c");
    let newest = answers.last().unwrap();
    assert_eq!((&last["turn_index"], &last["tickers"]), (&newest["seq"], &json!([of(newest)])));
    assert_eq!(boats(&ask(&server, "ann", "c", "and the crew?")), [of(newest)], "the conversation goes on");
}
