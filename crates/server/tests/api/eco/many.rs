//! Many at once: each gets an answer of its own, and every turn is stored once.

use std::time::Duration;

use crate::support::asking::never_panicked;
use crate::support::eco::{HEAVY, LIGHT, PATH, asks, end, memories, open, serve, turns, with};
use crate::support::models::{Act, Models, words};
use crate::support::{Answer, Client, Server, Value, json};

/// Runs so many at once, and gives what each came to.
fn at_once<T: Send + 'static>(
    server: &Server,
    count: usize,
    run: impl Fn(&Client, usize) -> T + Clone + Send + 'static,
) -> Vec<T> {
    let start = |n: usize| {
        let (client, run) = (server.client(), run.clone());
        std::thread::spawn(move || run(&client, n))
    };
    let running: Vec<_> = (0..count).map(start).collect();
    running.into_iter().map(|one| one.join().unwrap()).collect()
}

/// How often each of the texts was said by a user.
fn counts(turns: &[Value], texts: impl Iterator<Item = String>) -> Vec<usize> {
    let times = |text: String| turns.iter().filter(|turn| turn["role"] == "user" && turn["content"] == text).count();
    texts.map(times).collect()
}

#[test]
fn sixty_four_conversations_at_once_do_not_meet() {
    const COUNT: usize = 64;
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::Paced(words(&["a", "b", "c"]), Duration::from_millis(50)));
    let said = |n: usize| format!("{HEAVY}, pessoa numero{n}x");
    let streams = at_once(&server, COUNT, move |client, n| open(client, &asks(&format!("u{n}"), "t", &said(n))).rest());
    for (n, frames) in streams.iter().enumerate() {
        let done = end(frames);
        assert_eq!(
            (&done["message"], &done["fallback"], &done["cache"]),
            (&json!("abc"), &json!(false), &json!(false))
        );
        let kept = turns(&server, &format!("u{n}"), "t");
        assert_eq!((kept.len(), &kept[0]["content"], &kept[1]["content"]), (2, &json!(said(n)), &json!("abc")));
        assert_eq!(memories(&server, &format!("u{n}")).len(), 1);
    }
    let asked = models.asked();
    assert_eq!(asked.len(), COUNT);
    for asked in asked {
        let told = asked.body["messages"].to_string();
        assert_eq!(told.matches("numero").count(), 1, "{told}");
    }
    never_panicked(&server.home);
}

#[track_caller]
fn check_one_conversation(server: &Server, answers: &[Answer], said: impl Fn(usize) -> String) {
    for (n, answer) in answers.iter().enumerate() {
        assert!(answer.status == 200 || answer.status == 429, "{n}: {} {}", answer.status, answer.text());
    }
    let acknowledged: Vec<usize> = (0..answers.len()).filter(|n| answers[*n].status == 200).collect();
    let kept = turns(server, "ana", "t");
    assert!(counts(&kept, acknowledged.iter().map(|n| said(*n))).iter().all(|times| *times == 1), "{kept:?}");
    assert_eq!(kept.len(), 2 * acknowledged.len(), "each with its answer");
    assert!(acknowledged.len() >= answers.len() / 2, "{} of {}", acknowledged.len(), answers.len());
    never_panicked(&server.home);
}

#[test]
fn a_hundred_at_once_in_one_conversation_are_each_stored_once() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::Slowly(Duration::from_millis(30), words(&["Sim", "."])));
    let said = |n: usize| format!("{LIGHT}, parte {n}");
    let answers = at_once(&server, 100, move |client, n| client.post(PATH, asks("ana", "t", &said(n))));
    check_one_conversation(&server, &answers, said);
    assert!(answers.iter().all(|answer| answer.json()["cache"] == false));
}

#[test]
fn a_hundred_at_once_that_weigh_and_stream_are_each_stored_once() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::Slowly(Duration::from_millis(30), words(&["Sim", "."])));
    let said = |n: usize| format!("{HEAVY}, parte {n}");
    let answers = at_once(&server, 100, move |client, n| {
        client.post(PATH, with(asks("ana", "t", &said(n)), "stream", n % 2 == 0))
    });
    check_one_conversation(&server, &answers, said);
    let ends = |answer: &Answer| answer.text().matches("\nevent: done\n").count();
    assert!(answers.iter().step_by(2).all(|answer| ends(answer) == 1));
    assert_eq!(memories(&server, "ana").len(), 100);
}

/// Who sends the same at the same time says it as often; whatever comes of it, nothing breaks.
#[test]
fn the_same_at_once_breaks_nothing() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::Slowly(Duration::from_millis(30), words(&["Sim", "."])));
    let answers = at_once(&server, 50, |client, _| client.post(PATH, asks("ana", "t", HEAVY)));
    assert!(answers.iter().all(|answer| answer.ok()["message"] == "Sim."));
    let kept = turns(&server, "ana", "t");
    let by = |role: &str| kept.iter().filter(|turn| turn["role"] == role).count();
    assert!(by("user") <= 50 && by("assistant") <= 50 && by("user") >= 1, "{kept:?}");
    never_panicked(&server.home);
}

#[test]
fn while_it_is_forgotten_again_and_again_nothing_breaks() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::Slowly(Duration::from_millis(5), words(&["Sim", "."])));
    let statuses = at_once(&server, 60, |client, n| match n % 6 {
        0 => client.delete("/v1/users/ana/threads/t").status,
        _ => client.post(PATH, asks("ana", "t", &format!("{HEAVY} {n}"))).status,
    });
    assert!(statuses.iter().all(|status| *status == 200 || *status == 429), "{statuses:?}");
    server.delete("/v1/users/ana").ok();
    assert_eq!((turns(&server, "ana", "t").len(), memories(&server, "ana").len()), (0, 0));
    never_panicked(&server.home);
}
