//! A node that is killed takes nothing along: the client sends the same to the next one.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use crate::support::batches::{Batch, fault, turns};
use crate::support::models::{Act, Models, words};
use crate::support::nodes::{NODES, Nodes, cluster};
use crate::support::stream::Stream;
use crate::support::{Client, Home, Value, eco, json, says};
use crate::{PATIENCE, SetOnDrop, turns_of};

const WRITERS: usize = 12;
/// Acknowledgements between one kill and the next.
const BETWEEN: usize = 40;

/// Appends batch after batch until told otherwise, each until it is acknowledged.
fn write(client: &Client, writer: usize, done: &AtomicBool, broken: &AtomicUsize, told: &Sender<()>) -> Vec<Batch> {
    let _ends_the_others = SetOnDrop(done);
    let mut batches = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let mut batch = Batch::new(0, writer, batches.len());
        let body = batch.body().to_string();
        // A node that was killed gives no answer; the next one must take it at once.
        let answer = (0..).find_map(|tries| {
            assert!(tries < 100, "{batch:?}: no node takes it");
            let answer = client.try_call("POST", &turns_of("u", &batch.thread), body.as_bytes());
            broken.fetch_add(usize::from(answer.is_err()), Ordering::Relaxed);
            answer.ok()
        });
        batch.acknowledge(&answer.unwrap().ok());
        batches.push(batch);
        told.send(()).unwrap();
    }
    batches
}

#[test]
fn appends_go_on_at_the_next_node_and_each_is_there_once() {
    let mut nodes = Nodes::start(&Home::new(), &cluster().url(), &[]);
    let (client, done, broken) = (nodes.client(), AtomicBool::new(false), AtomicUsize::new(0));
    let (told, acknowledged) = channel();
    let sent: Vec<Vec<Batch>> = std::thread::scope(|scope| {
        let (client, done, broken) = (&client, &done, &broken);
        let start = |writer: usize| {
            let told = told.clone();
            scope.spawn(move || write(client, writer, done, broken, &told))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        let ends_writers = SetOnDrop(done);
        let some = || (0..BETWEEN).all(|_| acknowledged.recv_timeout(PATIENCE).is_ok());
        for n in 0..2 * NODES {
            let went_on = some();
            nodes.kill_node(n % NODES);
            let goes_on = some();
            nodes.start_node(n % NODES);
            if !(went_on && goes_on) {
                break;
            }
        }
        drop(ends_writers);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert!(broken.load(Ordering::Relaxed) > 0, "no kill was felt");
    let count: usize = sent.iter().flatten().map(|batch| batch.texts.len()).sum();
    assert!(sent.iter().all(|batches| batches.len() > 2), "every writer wrote");
    let mut threads: Vec<&String> = sent.iter().flatten().map(|batch| &batch.thread).collect();
    threads.sort();
    threads.dedup();
    for node in nodes.all() {
        let there = threads.iter().map(|of| {
            let turns = turns(node, "u", of);
            assert_eq!(fault(of, &turns, &sent), None, "{of}");
            turns.len()
        });
        assert_eq!(there.sum::<usize>(), count);
    }
}

const WORDS: [&str; 4] = ["One ", "two ", "three ", "four."];

/// Reads until the first word, and kills the node that tells it.
fn kill_in_the_middle(nodes: &mut Nodes, path: &str, thread: &str, body: &Value) {
    let client = nodes.node(0).with("x-novelo-thread", thread);
    let mut stream = Stream::open(&client, "POST", path, eco::with(body.clone(), "stream", true));
    let said = |data: &Value| {
        let text = data.get("delta").or_else(|| data.pointer("/choices/0/delta/content"));
        text.and_then(Value::as_str).is_some_and(|text| text.contains("One"))
    };
    while !said(&stream.next().expect("a word comes").data) {}
    nodes.kill_node(0);
    assert!(stream.rest().iter().all(|frame| frame.event != "done" && frame.data != "[DONE]"), "it never ended");
}

#[test]
fn an_answer_that_broke_off_is_asked_for_again_and_there_once() {
    let models = Models::start();
    let settings = [models.talking().as_slice(), &[("NOVELO_MODELS_REWRITE_URL", "none")]].concat();
    let mut nodes = Nodes::start(&eco::home(), &cluster().url(), &settings);
    let question = says("user", eco::LIGHT);
    // With the conversation in the request, the one who asks again is known to do so; without, it is one more
    // question.
    for (path, body, asked_twice) in [
        ("/ask-eco", eco::asks("ana", "eco", eco::LIGHT), false),
        ("/v1/chat/completions", json!({"user": "ana", "messages": [question]}), false),
        ("/api/ask", json!({"question": eco::LIGHT, "user_id": "ana", "thread_id": "ask"}), true),
        ("/memory/chat", json!({"message": eco::LIGHT, "user_id": "ana", "session_id": "chat"}), true),
    ] {
        let thread = path.rsplit(['/', '-']).next().unwrap();
        models.play([Act::StallsAfter(2, words(&WORDS))]);
        kill_in_the_middle(&mut nodes, path, thread, &body);
        let left = eco::turns(nodes.node(1), "ana", thread);
        assert_eq!(left, std::slice::from_ref(&question), "{path}: the question alone, and nothing of half an answer");

        models.play([Act::says(&WORDS)]);
        let client = nodes.node(1).with("x-novelo-thread", thread);
        let answer = client.post(path, &body).ok();
        assert!(answer.to_string().contains("One two three four."), "{path}: {answer}");
        let whole = says("assistant", "One two three four.");
        let expected = [vec![question.clone(); 1 + usize::from(asked_twice)], vec![whole]].concat();
        nodes.start_node(0);
        for node in nodes.all() {
            assert_eq!(eco::turns(node, "ana", thread), expected, "{path}");
        }
    }
}
