//! Streams that are lost and resumed: each chunk once, one end, and no second request to the model.

use std::time::Duration;

use crate::support::eco::{DEBUG, HEAVY, LIGHT, PATH, ask, asks, end, events, open, serve, text, turns, whole, with};
use crate::support::models::{Act, Models, words};
use crate::support::stream::{Frame, Stream};
use crate::support::{Client, Value, eventually, json, thread, user};

const WORDS: [&str; 5] = ["Um", " dois", " três", " quatro", " cinco."];
const WHOLE: &str = "Um dois três quatro cinco.";

fn paced() -> Act {
    Act::Paced(words(&WORDS), Duration::from_millis(20))
}

/// Comes back; what it sends beside the header does not matter.
fn resume(client: &Client, at: &str) -> Stream {
    Stream::open(&client.with("last-event-id", at), "POST", PATH, "no JSON")
}

/// The first frames of a stream, which is then lost.
fn first(mut stream: Stream, count: usize) -> Vec<Frame> {
    (0..count).map(|_| stream.next().unwrap()).collect()
}

/// Asserts that a stream goes on behind an id, and gives what comes after that was said.
#[track_caller]
fn goes_on(stream: Stream, behind: &str) -> Vec<Frame> {
    assert_eq!(stream.status, 200, "{}", stream.headers);
    let mut frames = stream.rest();
    let head = frames.remove(0);
    assert_eq!((head.event.as_str(), head.at.as_str()), ("reconnect", behind));
    assert_eq!((&head.data["type"], &head.data["lastEventId"]), (&json!("reconnect"), &json!(behind)));
    assert!(head.data["at"].is_number() && head.data["sinceStartMs"].is_number(), "{head:?}");
    assert_eq!(head.data.get("missed"), None, "{head:?}");
    assert!(frames.iter().all(|frame| frame.event != "reconnect"), "{frames:?}");
    frames
}

#[test]
fn wherever_it_is_lost_each_chunk_comes_once() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(paced());
    let unbroken = open(&server, &asks("ana", "whole", HEAVY)).rest();
    assert_eq!(end(&unbroken)["message"], WHOLE);
    for count in 1..=unbroken.len() {
        let of = format!("lost after {count}");
        let mut frames = first(open(&server, &asks(&of, "t", HEAVY)), count);
        let last = frames[count - 1].at.clone();
        frames.extend(goes_on(resume(&server, &last), &last));
        assert_eq!(events(&frames), events(&unbroken), "{of}");
        assert_eq!((&end(&frames)["message"], text(&frames).as_str()), (&json!(WHOLE), WHOLE), "{of}");
        assert!(frames.iter().map(|frame| frame.id).eq(1..=frames.len() as u64), "{of}: {frames:?}");
        assert_eq!(models.asked().len(), 1 + count, "{of}: it is not asked anew");
        assert_eq!(turns(&server, &of, "t").len(), 2, "{of}");
    }
}

#[test]
fn it_may_be_lost_again_and_again() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.play([Act::Slowly(Duration::from_millis(300), words(&WORDS))]);
    let mut frames = first(open(&server, &asks("ana", "t", HEAVY)), 1);
    while frames.last().unwrap().event != "done" {
        let last = frames.last().unwrap().at.clone();
        // Lost at once, with nothing but the head: that has the id to come back with.
        let head = first(resume(&server, &last), 1).remove(0);
        assert_eq!((head.event.as_str(), &head.at), ("reconnect", &last));
        let two = first(resume(&server, &head.at), 2);
        frames.push(two[1].clone());
    }
    assert_eq!(end(&frames)["message"], WHOLE);
    assert_eq!(models.asked().len(), 1);
}

#[test]
fn several_may_read_the_same_reply() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.play([paced()]);
    let mut stream = open(&server, &asks("ana", "t", HEAVY));
    let seen = stream.next().unwrap();
    let others = [resume(&server, &seen.at), resume(&server, &seen.at)];
    let rest = stream.rest();
    for other in others {
        assert_eq!(goes_on(other, &seen.at), rest);
    }
    assert_eq!(goes_on(resume(&server, &seen.at), &seen.at), rest, "also after its end");
    assert_eq!(models.asked().len(), 1);
}

#[test]
fn what_falls_back_meanwhile_is_told_to_who_comes_back() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "700")]);
    models.play([Act::StallsAfter(2, words(&WORDS)), whole("Inteira.")]);
    let mut frames = first(open(&server, &asks("ana", "t", HEAVY)), 3);
    let last = frames[2].at.clone();
    frames.extend(goes_on(resume(&server, &last), &last));
    let done = end(&frames);
    assert_eq!((&done["message"], &done["fallback"]), (&json!("Inteira."), &json!(true)));
    assert_eq!((text(&frames).as_str(), models.asked().len()), ("Um dois", 2));
}

#[test]
fn what_no_model_said_can_be_come_back_to_as_well() {
    let models = Models::start();
    let server = serve(&models, &[]);
    ask(&server, &asks("ana", "cached", LIGHT));
    for (session, said) in [("greeting", "Oi, Eco"), ("safety", "Corro perigo de vida"), ("cached", LIGHT)] {
        let unbroken = open(&server, &asks("ana", session, said)).rest();
        end(&unbroken);
        for frame in &unbroken {
            let rest = goes_on(resume(&server, &frame.at), &frame.at);
            assert_eq!(rest, unbroken[frame.id as usize..], "{session}");
        }
    }
    assert_eq!(models.asked().len(), 1);
}

#[test]
fn only_its_owner_comes_back_and_only_where_it_began() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_MODELS_REWRITE_URL", "none")]);
    let admin = server.admin_key();
    let (ana, bia) = (server.user_key(&admin, "ana"), server.user_key(&admin, "bia"));
    let unbroken = open(&ana, &asks("ana", "t", HEAVY)).rest();
    let at = unbroken[0].at.clone();
    let coming = |client: &Client, path: &str, at: &str| client.with("last-event-id", at).post(path, "");
    let refused = coming(&bia, PATH, &at).refused(404, "not_found");
    let unknown = coming(&ana, PATH, "00112233445566778899aabbccddeeff.1").refused(404, "not_found");
    assert_eq!(refused, unknown, "as if there were none");
    coming(&server, PATH, &at).refused(401, "unauthorized");
    for client in [&ana, &admin] {
        assert_eq!(goes_on(resume(client, &at), &at), unbroken[1..]);
    }
    for path in ["/api/ask", "/v1/chat/completions", "/memory/chat"] {
        coming(&ana, path, &at).refused(404, "not_found");
    }
    let elsewhere = json!({"question": "Como foi?", "thread_id": "t", "stream": true});
    let other = Stream::open(&ana, "POST", "/api/ask", elsewhere).rest();
    coming(&ana, PATH, &other[0].at).refused(404, "not_found");
    let name = at.strip_suffix(".1").unwrap();
    for id in ["7", "x", name, "a.b", ".1", ".", &format!("{at}x"), &format!("{name}.-1"), &format!("{name}."), ""] {
        let refused = coming(&ana, PATH, id).refused(422, "invalid_field");
        assert_eq!(refused["param"], "Last-Event-ID", "{id:?}");
    }
    assert_eq!(models.asked().len(), 2);
}

#[test]
fn behind_the_end_there_is_the_end() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let unbroken = open(&server, &asks("ana", "t", HEAVY)).rest();
    let name = unbroken[0].at.strip_suffix(".1").unwrap();
    let end = format!("{name}.{}", unbroken.len());
    assert_eq!(goes_on(resume(&server, &end), &end), [], "it was read");
    for number in [unbroken.len() + 1, usize::MAX] {
        let at = format!("{name}.{number}");
        assert_eq!(goes_on(resume(&server, &at), &at), unbroken[unbroken.len() - 1..], "{at}");
    }
    let all = format!("{name}.0");
    assert_eq!(goes_on(resume(&server, &all), &all), unbroken);
}

#[test]
fn what_can_no_longer_be_told_is_told_as_missed() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let piece = "x".repeat(100 * 1024);
    models.play([Act::Words(vec![piece.clone(); 6])]);
    let unbroken = open(&server, &asks("ana", "t", HEAVY)).rest();
    assert_eq!(text(&unbroken).len(), 6 * piece.len());
    let at = &unbroken.iter().find(|frame| frame.event == "chunk").unwrap().at;
    let frames = resume(&server, at).rest();
    assert_eq!((frames[0].event.as_str(), &frames[0].at), ("reconnect", at));
    let missed: Vec<&Value> = frames.iter().filter_map(|frame| frame.data.get("missed")).collect();
    let missed = missed.first().and_then(|count| count.as_u64()).unwrap();
    let chunks = frames.iter().filter(|frame| frame.event == "chunk").count() as u64;
    assert!((1..=5).contains(&missed) && chunks + missed == 5, "{missed} missed, {chunks} told");
    let done = &frames.last().unwrap();
    assert_eq!((done.event.as_str(), done.data["message"].as_str().unwrap().len()), ("done", 6 * piece.len()));
}

#[test]
fn what_is_forgotten_cannot_be_come_back_to() {
    let models = Models::start();
    let server = serve(&models, &[]);
    for (n, path) in [thread("ana", "t", ""), user("ana", "")].into_iter().enumerate() {
        models.play([paced(), Act::Paced(words(&["w"; 40]), Duration::from_millis(50))]);
        let ended = open(&server, &asks("ana", "t", HEAVY)).rest();
        let running = first(open(&server, &asks("ana", "t", &format!("{HEAVY} {n}"))), 3);
        server.delete(&path).ok();
        for frames in [ended, running] {
            assert_eq!(resume(&server, &frames[0].at).status, 404, "{path}");
        }
    }
}

#[test]
fn who_does_not_come_back_in_time_finds_what_there_is() {
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_REPLIES_PATIENCE_MS", "100")]);
    models.play([Act::Paced(words(&["w"; 600]), Duration::from_millis(20))]);
    let mut frames = first(open(&server, &asks("ana", "t", HEAVY)), 4);
    assert!(eventually(|| models.hangups().len() == 1));
    let last = frames[3].at.clone();
    frames.extend(goes_on(resume(&server, &last), &last));
    let done = end(&frames);
    assert_eq!((&done["meta"]["reason"], &done["meta"]["saveMemory"]), (&json!("client_left"), &json!(false)));
    assert_eq!(turns(&server, "ana", "t")[1]["content"], done["message"]);
}

#[test]
fn the_trace_that_an_admin_asked_for_is_the_admins() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let admin = server.admin_key();
    let ana = server.user_key(&admin, "ana");
    let streamed = with(asks("ana", "t", HEAVY), "stream", true);
    let unbroken = Stream::open(&admin, "POST", DEBUG, streamed).rest();
    assert!(unbroken.last().unwrap().data["trace"].is_object());
    let at = &unbroken[0].at;
    let end = |client: &Client| goes_on(resume(client, at), at).pop().unwrap();
    assert_eq!(end(&admin), *unbroken.last().unwrap());
    assert_eq!((end(&ana).event.as_str(), end(&ana).data.get("trace")), ("done", None));
}
