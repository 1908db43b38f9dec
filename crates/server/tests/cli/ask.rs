//! One question from the command line.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::stopped;
use crate::support::models::{Act, Models, words};
use crate::support::{Client, Home, Ran, Server, Value, eventually, json, thread, user};

const TEA: &str = "The Tea House opens at nine. It closes at six.";

pub fn tea(client: &Client, of: &str) {
    client.post(&user(of, "/documents"), json!({"id": "tea", "name": "Tea House", "text": TEA})).ok();
}

/// The messages of a thread once it has so many.
#[track_caller]
pub fn messages(client: &Client, of: &str, id: &str, count: usize) -> Vec<Value> {
    let mut turns = Vec::new();
    let found = eventually(|| {
        let answer = client.get(&thread(of, id, "/turns?last=100")).ok();
        turns = answer["turns"].as_array().unwrap().iter().map(|turn| turn["message"].clone()).collect();
        turns.len() >= count
    });
    assert!(found && turns.len() == count, "{turns:?}");
    turns
}

/// A server that goes on, or none.
pub fn or_none(server: Server, goes_on: bool) -> Option<Server> {
    if goes_on {
        return Some(server);
    }
    stopped(server);
    None
}

/// The thread that a command named on standard error.
fn named(ran: &Ran) -> String {
    ran.err.lines().find_map(|line| line.strip_prefix("thread ")).unwrap_or_else(|| panic!("{ran:?}")).to_owned()
}

#[test]
fn a_question_is_answered_from_the_documents_with_and_without_a_server() {
    let home = Home::new();
    home.write("docs/tea.md", TEA);
    home.done(&["index", "docs"]);
    let expected = "“The Tea House opens at nine.” — docs, tea.md:1 [1]\n[1] docs, tea.md:1\n\
                    note: no model is set; these are the passages that fit best\n";
    let check = || {
        let ran = home.run(&["ask", "When does the Tea House open?"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), expected), "{ran:?}");
        assert!(uuid::Uuid::parse_str(&named(&ran)).is_ok_and(|id| id.get_version_num() == 4), "{ran:?}");
        named(&ran)
    };
    let first = check();
    let server = home.serve();
    assert_ne!(check(), first, "each is a thread of its own");
    let said = messages(&server, "anonymous", &first, 2);
    assert_eq!(said[0], json!({"role": "user", "content": "When does the Tea House open?"}));
}

#[test]
fn a_follow_up_names_its_thread_and_says_how_it_was_understood() {
    let models = Models::start();
    models.play([
        Act::says(&["At ", "nine."]),
        Act::says(&["When does the Tea House close?"]),
        Act::says(&["At six."]),
    ]);
    let home = Home::new();
    let server = home.serve_with(&models.settings());
    tea(&server, "ana");
    let first = home.run(&["ask", "When does the Tea House open?", "--user", "ana"]);
    assert_eq!(first.out, "At nine.\n[1] Tea House\n");
    let id = named(&first);
    let second = home.run(&["ask", "And when does it close?", "--user", "ana", "--thread", &id]);
    assert_eq!(second.out, "At six.\nunderstood as: When does the Tea House close?\n[1] Tea House\n");
    assert_eq!(second.err, "", "the thread was named by the caller");
    messages(&server, "ana", &id, 4);
}

#[test]
fn json_is_the_answer_of_the_api() {
    let server = Server::start();
    tea(&server, "ana");
    let ran = server.home.run(&["ask", "When does the Tea House open?", "--user", "ana", "--thread", "t", "--json"]);
    let answer = ran.json();
    assert_eq!((&answer["thread_id"], &answer["answered_by"]), (&json!("t"), &json!("passages")));
    assert_eq!(answer["sources"][0]["name"], "Tea House");
    assert_eq!(ran.err, "");
}

#[test]
fn a_refusal_is_told_in_the_words_of_the_server() {
    let server = Server::start();
    let long = "x".repeat(65_537);
    for (args, words) in [
        (["ask", " ", "--thread", "t"], "question is empty"),
        (["ask", &long, "--thread", "t"], "QUESTION_BYTES_MAX"),
        (["ask", "hi", "--thread", ""], "thread_id"),
        (["ask", "hi", "--user", ""], "user_id"),
    ] {
        server.home.run(&args).failed(&[words]);
        server.home.run(&[&args[..], &["--json"]].concat()).failed(&[words]);
    }
    assert_eq!(server.home.run(&["ask"]).code, Some(2));
    Home::new().run(&["ask", "hi"]).failed(&["there is no data directory"]);
}

#[test]
fn an_answer_that_broke_off_is_shown_as_far_as_it_came() {
    let models = Models::start();
    models.play([Act::ErrorAfter(1, words(&["At nine", " or ten"])), Act::Status(400, String::new())]);
    let home = Home::new();
    let server = home.serve_with(&models.settings());
    let ran = home.run(&["ask", "When?", "--thread", "t"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("At nine\nnote: the model broke off: "), "{ran:?}");
    assert_eq!(messages(&server, "anonymous", "t", 2)[1]["partial"], "model_failed");
}

#[test]
fn an_answer_that_begins_anew_begins_a_line() {
    let models = Models::start();
    models.play([Act::ErrorAfter(1, words(&["At nine", " or ten"])), Act::says(&["At ten."])]);
    let home = Home::new();
    let _server = home.serve_with(&models.settings());
    let ran = home.run(&["ask", "When?", "--thread", "t"]);
    assert!(ran.out.starts_with("At nine\nAt ten.\nnote: the model broke off; it was asked again"), "{ran:?}");
}

/// An answer of so many words more that takes its time.
pub fn slowly(more: usize) -> Act {
    let said = [words(&["At "]), vec!["nine ".to_owned(); more]].concat();
    Act::Paced(said, Duration::from_millis(500))
}

/// A command that is asked for such an answer, and has said the first of it.
fn slow(home: &Home, models: &Models, settings: &[(&str, &str)], more: usize) -> Child {
    models.play([slowly(more)]);
    let mut command: Command = home.command(&["ask", "When?", "--thread", "t"]);
    command.envs(settings.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut first = [0; 3];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"At ");
    child
}

#[test]
fn an_answer_comes_as_it_is_made() {
    let models = Models::start();
    let home = Home::new();
    let _server = home.serve_with(&models.settings());
    let mut child = slow(&home, &models, &[], 2);
    assert!(child.try_wait().unwrap().is_none(), "the rest is still to come");
    let rest = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&rest.stdout), "nine nine \n");
}

#[test]
fn ctrl_c_stops_the_answer_and_what_there_is_of_it_is_kept() {
    for with_server in [true, false] {
        let models = Models::start();
        let home = Home::new();
        let server = home.serve_with(&models.settings());
        let server = or_none(server, with_server);
        let mut child = slow(&home, &models, &models.settings(), 60);
        let sent = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "server: {with_server}");
        let server = server.unwrap_or_else(|| home.serve());
        let said = messages(&server, "anonymous", "t", 2);
        assert_eq!(said[1]["content"].as_str().map(|text| text.starts_with("At ")), Some(true), "{said:?}");
        assert_eq!(said[1]["partial"], "client_left", "server: {with_server}");
        assert_eq!(models.hangups().len(), 1, "the model is no longer asked");
    }
}
