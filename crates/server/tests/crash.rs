//! `kill -9` at any instant loses nothing that was acknowledged, and leaves nothing that was not sent.
//!
//! `NOVELO_CRASH_ROUNDS=5000 cargo test -p novelo-server --test crash` runs for longer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use support::asking::{self, is_gone, reason, references, tickers};
use support::batches::{Batch, fault, turns};
use support::eco;
use support::models::{Act, Models};
use support::{Client, Home, Server, holding, json, says, thread, user};

const WRITERS: usize = 16;
const ROUNDS: usize = 100;
/// The rounds are shared out among so many stores: opening one after a crash takes longer the more is in its
/// journal.
const STORES: usize = 10;
const PATIENCE: Duration = Duration::from_secs(30);

/// Appends batch after batch until the connection breaks. Only the last one is unacknowledged.
fn write(client: &Client, round: usize, writer: usize, acknowledged: &Sender<()>) -> Vec<Batch> {
    let mut batches = Vec::new();
    let Ok(mut session) = client.session() else { return batches };
    for n in 0.. {
        let mut batch = Batch::new(round, writer, n);
        let answer = session.call("POST", &thread("u", &batch.thread, "/turns"), batch.body());
        if let Ok(answer) = &answer {
            batch.acknowledge(&answer.ok());
        }
        batches.push(batch);
        if answer.is_err() || acknowledged.send(()).is_err() {
            break;
        }
    }
    batches
}

/// Lets all writers write, and kills the server after so many acknowledgements; what each writer sent.
fn crash(server: Server, round: usize, acknowledgements: usize) -> (Arc<Home>, Vec<Vec<Batch>>) {
    let (sender, acknowledged) = channel();
    let client: Client = (*server).clone();
    std::thread::scope(|scope| {
        let start = |writer: usize| {
            let (client, sender) = (client.clone(), sender.clone());
            scope.spawn(move || write(&client, round, writer, &sender))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        for _ in 0..acknowledgements {
            acknowledged.recv_timeout(PATIENCE).expect("the server acknowledges");
        }
        let home = server.kill();
        (home, writers.into_iter().map(|writer| writer.join().unwrap()).collect())
    })
}

#[test]
fn a_fault_is_seen() {
    let batch = |texts: &[&str], seqs: Option<&[u64]>| Batch {
        thread: "t".into(),
        texts: texts.iter().map(|&text| text.to_owned()).collect(),
        seqs: seqs.map(<[u64]>::to_vec),
    };
    let sent = [
        vec![batch(&["a", "b"], Some(&[1, 2])), batch(&["c", "d"], None)],
        vec![batch(&["x"], Some(&[3])), batch(&["y", "z"], None)],
    ];
    let check = |turns: &[(u64, &str)], expected: Option<&str>| {
        let turns: Vec<(u64, String)> = turns.iter().map(|(seq, text)| (*seq, (*text).to_owned())).collect();
        let found = fault("t", &turns, &sent);
        assert!(
            found.as_deref().map(|fault| fault.contains(expected.unwrap_or("-"))) == expected.map(|_| true),
            "{found:?}"
        );
    };
    check(&[(1, "a"), (2, "b"), (3, "x")], None);
    check(&[(1, "a"), (2, "b"), (3, "x"), (4, "y"), (5, "z"), (6, "c"), (7, "d")], None);
    check(&[(1, "a"), (2, "b")], Some("lost"));
    check(&[(1, "a"), (2, "b"), (4, "x")], Some("gaps"));
    check(&[(1, "a"), (2, "b"), (3, "x"), (4, "c")], Some("in pieces"));
    check(&[(1, "a"), (2, "b"), (3, "x"), (4, "y"), (5, "c"), (6, "z"), (7, "d")], Some("in pieces"));
    check(&[(1, "x"), (2, "a"), (3, "b")], Some("elsewhere"));
    check(&[(1, "a"), (2, "b"), (3, "x"), (4, "q")], Some("phantom"));
    check(&[(1, "c"), (2, "d"), (3, "x")], Some("out of order"));
}

fn check_round(client: &Client, round: usize, sent: &[Vec<Batch>]) {
    let own = (0..WRITERS).map(|writer| format!("r{round}-w{writer}"));
    for of in own.chain([format!("r{round}-shared")]) {
        assert_eq!(fault(&of, &turns(client, "u", &of), sent), None, "{of}");
    }
}

/// Sends again what was in flight, as a client does that got no answer.
fn send_again(client: &Client, sent: &mut [Vec<Batch>]) {
    let in_flight = sent.iter_mut().filter_map(|batches| batches.last_mut()).filter(|batch| batch.seqs.is_none());
    for batch in in_flight {
        let answer = client.post(&thread("u", &batch.thread, "/turns"), batch.body()).ok();
        batch.acknowledge(&answer);
    }
}

/// Starts a server and kills it on the way up; where it is by then depends on the delay.
fn crash_while_starting(home: &Home, delay: Duration) {
    let mut child =
        home.command(&["serve", "--addr", "127.0.0.1:0"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    // The moment of the kill is what is tested; no event marks it.
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Crashes one store again and again; in the end all that it ever acknowledged is still there.
fn crash_one_store(rounds: std::ops::Range<usize>) {
    let mut server = Server::start();
    let mut all = Vec::new();
    for round in rounds {
        let (home, mut sent) = crash(server, round, 80 + round * 53 % 300);
        if round % 4 == 3 {
            crash_while_starting(&home, Duration::from_millis((round % 60) as u64));
        }
        server = home.serve();
        check_round(&server, round, &sent);
        send_again(&server, &mut sent);
        check_round(&server, round, &sent);
        all.push((round, sent));
    }
    let server = server.restart();
    all.iter().for_each(|(round, sent)| check_round(&server, *round, sent));
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
}

#[test]
fn a_crash_loses_nothing_acknowledged_and_invents_nothing() {
    let rounds = std::env::var("NOVELO_CRASH_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let per_store = rounds.div_ceil(STORES);
    for first in (0..rounds).step_by(per_store) {
        crash_one_store(first..rounds.min(first + per_store));
    }
}

const CANARY: &str = "canary-0815-song";

/// Kills the server while it forgets a user; whether the forget was acknowledged.
fn crash_in_forget(server: Server, of: &str, delay: Duration) -> (Arc<Home>, bool) {
    let client: Client = (*server).clone();
    let forget = std::thread::spawn({
        let path = user(of, "");
        move || client.try_call("DELETE", &path, b"").is_ok_and(|answer| answer.status == 200)
    });
    // As above: the kill comes at an arbitrary moment of the forget.
    std::thread::sleep(delay);
    let home = server.kill();
    (home, forget.join().unwrap())
}

#[test]
fn a_crash_in_a_forget_leaves_all_or_nothing() {
    let mut server = Server::start();
    // While it commits, and at several points of cleaning the files.
    for (round, delay_ms) in [0, 5, 300, 1_500].into_iter().enumerate() {
        let of = format!("u{round}");
        for name in ["a", "b"] {
            server.append(&of, name, &vec![says("user", CANARY); 50]);
        }
        let (home, acknowledged) = crash_in_forget(server, &of, Duration::from_millis(delay_ms));
        server = home.serve();
        let left = [server.said(&of, "a").len(), server.said(&of, "b").len()];
        assert!(left == [0, 0] || (left == [50, 50] && !acknowledged), "{left:?} left, acknowledged: {acknowledged}");
        if left != [0, 0] {
            server.delete(&user(&of, "")).ok();
        }
        let is_clean = || server.get("/health/ready").ok()["erasing"] == json!(false);
        assert!(support::eventually(is_clean) && holding(&home.data(), CANARY).is_none(), "the files end up clean");
    }
}

/// Kills the server while a narrator keeps an answer waiting.
fn crash_in_an_answer(server: Server, models: &Models, text: &str) -> Arc<Home> {
    let (client, body, before) = (server.client(), asking::question("demo", "c", text), models.asked().len());
    let asking = std::thread::spawn(move || client.try_call("POST", "/ask", body.to_string().as_bytes()).is_ok());
    assert!(support::eventually(|| models.asked().len() > before), "the narrator is asked");
    let home = server.kill();
    assert!(!asking.join().unwrap(), "the answer never came");
    home
}

#[test]
fn a_crash_between_a_question_and_its_answer_keeps_the_question_alone() {
    let models = Models::start();
    models.otherwise(Act::Hangs);
    let silent = [asking::SAMPLE];
    let home = asking::home(asking::CONTEXT);
    let home = crash_in_an_answer(home.serve_with(&models.settings_with_data()), &models, "preço do KNRI11");
    let server = home.serve_with(&silent);
    assert_eq!(server.said("demo", "c"), ["preço do KNRI11"]);
    server.get(&references("demo", "c")).refused(404, "not_found");
    let bare = asking::ask(&server, "demo", "c", "e o preço?");
    assert_eq!((reason(&bare), &bare["status"]), ("no_candidate", &json!("incomplete")));
    assert_eq!(tickers(&asking::ask(&server, "demo", "c", "preço do HGLG11")), ["HGLG11"]);

    // With a reference from before, that one stays, whole.
    let before = asking::reference(&server, "demo", "c");
    server.kill();
    let home = crash_in_an_answer(home.serve_with(&models.settings_with_data()), &models, "preço do MXRF11");
    let server = home.serve_with(&silent);
    assert_eq!(asking::reference(&server, "demo", "c"), before);
    assert_eq!(asking::turns(&server, "demo", "c").len(), 6);
    assert_eq!(tickers(&asking::ask(&server, "demo", "c", "e o preço?")), ["HGLG11"]);
    assert_eq!(asking::reference(&server, "demo", "c")["turn_index"], json!(8));
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
    server.delete(&thread("demo", "c", "")).ok();
    is_gone(&server, "demo", "c");
}

/// Asks something that weighs, and kills the server as soon as the last event is there, or the whole answer.
fn crash_behind_an_answer(server: Server, of: &str, streams: bool) -> Arc<Home> {
    let body = eco::asks(of, "t", eco::HEAVY);
    match streams {
        true => {
            let mut stream = eco::open(&server, &body);
            while stream.next().unwrap().event != "done" {}
        }
        false => drop(eco::ask(&server, &body)),
    }
    server.kill()
}

#[test]
fn a_crash_behind_a_guided_answer_loses_nothing_of_it() {
    let models = Models::start();
    let mut home = eco::home();
    for round in 0..10 {
        let of = format!("u{round}");
        home = crash_behind_an_answer(home.serve_with(&models.talking()), &of, round % 2 == 0);
        let server = home.serve_with(&models.talking());
        let expected = [says("user", eco::HEAVY), says("assistant", "Hello there.")];
        assert_eq!(eco::turns(&server, &of, "t"), expected, "{of}");
        let kept = eco::memories(&server, &of);
        assert_eq!((kept.len(), &kept[0]["meta"]["sessao"]), (1, &json!("t")), "{of}: {kept:?}");
        let found = server.post(&user(&of, "/memories/search"), json!({"query": "desespero"})).ok();
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{of}: {found}");
        server.kill();
    }
    let server = home.serve();
    assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]));
}

#[test]
fn a_crash_in_a_guided_answer_keeps_the_question_alone() {
    let models = Models::start();
    models.otherwise(Act::Hangs);
    let home = eco::home();
    let server = home.serve_with(&models.talking());
    let running = eco::open(&server, &eco::asks("ana", "t", eco::HEAVY));
    assert!(support::eventually(|| models.asked().len() == 1));
    server.kill();
    drop(running);
    models.otherwise(Act::says(&["Sim."]));
    let server = home.serve_with(&models.talking());
    assert_eq!(eco::turns(&server, "ana", "t"), [says("user", eco::HEAVY)]);
    assert_eq!(eco::memories(&server, "ana"), eco::NONE);
    eco::ask(&server, &eco::asks("ana", "t", eco::HEAVY));
    assert_eq!(eco::turns(&server, "ana", "t"), [says("user", eco::HEAVY), says("assistant", "Sim.")], "asked again");
}
