//! Guests: so many messages per guest and per address, and then none for a while.

use crate::support::eco::{PATH, asks, course, course_of, guest, home, memories, serve, stages, turns, with};
use crate::support::models::Models;
use crate::support::{Answer, Client, Server, eventually, json, says};

const MAX: (&str, &str) = ("NOVELO_ECO_GUEST_MAX", "3");
const HEADER: (&str, &str) = ("NOVELO_ECO_ADDRESS_HEADER", "X-Forwarded-For");

/// Asks something else each time.
fn speak(client: &Client, id: &str, n: usize) -> Answer {
    client.post(PATH, guest(id, &format!("Conta o caso {n}")))
}

/// Asserts a refusal that says when there is more, and that its course tells of it.
#[track_caller]
fn is_limited(server: &Server, answer: &Answer, setting: &str, seconds_max: u64) {
    answer.refused_with(429, "rate_limited", &[setting]);
    let after: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=seconds_max).contains(&after), "{after}");
    let course = course(server, &course_of(answer));
    assert_eq!(stages(&course), ["rate_limit"], "{course}");
    assert_eq!(course["errors"][0]["message"], answer.json()["error"]["message"]);
    assert!(course["model"].is_null() && course["latency"]["totalMs"].is_number(), "{course}");
}

#[test]
fn a_guest_has_so_many_messages_and_no_more() {
    let server = home().serve_with(&[MAX]);
    for n in 0..3 {
        speak(&server, "g1", n).ok();
    }
    for n in 3..5 {
        is_limited(&server, &speak(&server, "g1", n), "eco.guest_max", 3_600);
    }
    assert_eq!(turns(&server, "g1", "default").len(), 6, "what is refused is not kept");
    speak(&server, "g2", 0).ok();
    for n in 0..5 {
        server.post(PATH, asks("ana", "t", &format!("Conta o caso {n}"))).ok();
    }
    server.post(PATH, asks("g1", "t", "Conta o caso")).ok();
    is_limited(&server, &speak(&server, "g1", 9), "eco.guest_max", 3_600);
}

#[test]
fn a_stream_is_refused_before_it_begins() {
    let server = home().serve_with(&[("NOVELO_ECO_GUEST_MAX", "1")]);
    let streams = |n: usize| server.post(PATH, with(guest("g", &format!("Conta {n}")), "stream", true));
    assert_eq!(streams(0).header("content-type"), Some("text/event-stream"));
    is_limited(&server, &streams(1), "eco.guest_max", 3_600);
}

#[test]
fn an_address_has_so_many_messages_of_all_its_guests() {
    let server = home().serve_with(&[MAX, HEADER, ("NOVELO_ECO_ADDRESS_MAX", "5")]);
    let from = |address: &str| server.with("x-forwarded-for", address);
    let one = from("203.0.113.7, 10.0.0.1");
    for n in 0..5 {
        speak(&one, &format!("g{n}"), n).ok();
    }
    is_limited(&server, &speak(&one, "g5", 5), "eco.address_max", 3_600);
    is_limited(&server, &speak(&from("203.0.113.7"), "g0", 6), "eco.address_max", 3_600);
    is_limited(&server, &speak(&from("  203.0.113.7  ,x"), "g0", 6), "eco.address_max", 3_600);
    let other = from("203.0.113.8");
    for n in 0..3 {
        speak(&other, "g5", n).ok();
    }
    is_limited(&server, &speak(&other, "g5", 3), "eco.guest_max", 3_600);
    for n in 0..2 {
        speak(&other, "g6", n).ok();
    }
    is_limited(&server, &speak(&other, "g7", 0), "eco.address_max", 3_600);
    for n in 0..9 {
        one.post(PATH, asks("ana", "t", &format!("Conta o caso {n}"))).ok();
    }
}

#[test]
fn without_the_setting_nobody_chooses_an_address() {
    let server = home().serve_with(&[("NOVELO_ECO_ADDRESS_MAX", "2")]);
    let from = |address: &str| server.with("x-forwarded-for", address);
    speak(&from("203.0.113.1"), "g1", 0).ok();
    speak(&from("203.0.113.2"), "g2", 0).ok();
    is_limited(&server, &speak(&from("203.0.113.3"), "g3", 0), "eco.address_max", 3_600);
    let trusting = home().serve_with(&[HEADER, ("NOVELO_ECO_ADDRESS_MAX", "2")]);
    for id in ["g1", "g2"] {
        speak(&trusting, id, 0).ok();
    }
    is_limited(&trusting, &speak(&trusting, "g3", 0), "eco.address_max", 3_600);
    speak(&trusting.with("x-forwarded-for", "203.0.113.1"), "g3", 0).ok();
}

#[test]
fn when_the_window_is_over_there_is_more() {
    let server = home().serve_with(&[("NOVELO_ECO_GUEST_MAX", "2"), ("NOVELO_ECO_GUEST_WINDOW_SECONDS", "2")]);
    let began = std::time::Instant::now();
    for n in 0..2 {
        speak(&server, "g", n).ok();
    }
    is_limited(&server, &speak(&server, "g", 2), "eco.guest_max", 3);
    assert!(eventually(|| speak(&server, "g", 3).status == 200));
    assert!(began.elapsed() >= std::time::Duration::from_secs(2), "{:?}", began.elapsed());
    speak(&server, "g", 4).ok();
    assert_eq!(speak(&server, "g", 5).status, 429, "and the next one begins to count anew");
}

#[test]
fn zero_is_any_number() {
    let server = home().serve_with(&[("NOVELO_ECO_GUEST_MAX", "0"), ("NOVELO_ECO_ADDRESS_MAX", "0")]);
    for n in 0..120 {
        speak(&server, "g", n).ok();
    }
}

#[test]
fn what_is_wrong_does_not_count() {
    let server = home().serve_with(&[MAX]);
    for body in [json!({"guestId": "g", "messages": []}), json!({"guestId": "g"}), with(guest("g", "x"), "stream", 7)] {
        server.post(PATH, body).refused(422, "invalid_field");
    }
    server.post(PATH, "{").refused(400, "malformed_json");
    for n in 0..3 {
        speak(&server, "g", n).ok();
    }
    is_limited(&server, &speak(&server, "g", 3), "eco.guest_max", 3_600);
}

#[test]
fn many_at_once_are_counted_one_by_one() {
    let server = home().serve_with(&[("NOVELO_ECO_GUEST_MAX", "10")]);
    let running: Vec<_> = (0..40)
        .map(|n| {
            let client = server.client();
            std::thread::spawn(move || speak(&client, "g", n).status)
        })
        .collect();
    let statuses: Vec<u16> = running.into_iter().map(|one| one.join().unwrap()).collect();
    let count = |status: u16| statuses.iter().filter(|known| **known == status).count();
    assert_eq!((count(200), count(429)), (10, 30), "{statuses:?}");
}

#[test]
fn who_is_a_guest() {
    let models = Models::start();
    let server = serve(&models, &[MAX]);
    let said = json!([says("user", "Bateu o desespero")]);
    for body in [
        json!({"isGuest": true, "userId": "ana", "messages": said}),
        json!({"isGuest": true, "guestId": "", "messages": said}),
        json!({"isGuest": true, "guestId": "a\u{1}", "messages": said}),
    ] {
        let refused = server.post(PATH, &body).refused(422, "invalid_field");
        assert_eq!(refused["param"], "guestId", "{body}");
    }
    for body in [json!({"messages": said}), json!({"isGuest": false, "guestId": "g", "messages": said})] {
        assert_eq!(server.post(PATH, &body).refused(422, "invalid_field")["param"], "userId", "{body}");
    }
    let told = server.post(PATH, json!({"guestId": "g", "messages": said}));
    assert_eq!(told.ok()["meta"]["saveMemory"], false, "a guest, without saying so");
    let course = course(&server, &course_of(&told));
    assert_eq!(course["memoryDecision"]["saveMemory"], false);
    assert_eq!(course["memoryDecision"]["intensity"], json!(8.0));
    assert_eq!((memories(&server, "g").len(), turns(&server, "g", "default").len()), (0, 2));
}

#[test]
fn a_key_speaks_for_no_guest_but_an_admins_does() {
    let server = home().serve_with(&[MAX]);
    let admin = server.admin_key();
    let ana = server.user_key(&admin, "ana");
    server.client().post(PATH, guest("g", "Conta")).refused(401, "unauthorized");
    ana.post(PATH, guest("g", "Conta")).refused(403, "forbidden");
    for n in 0..3 {
        speak(&admin, "g", n).ok();
    }
    assert_eq!(speak(&admin, "g", 3).status, 429);
}

/// A random id of the form that pages make.
fn page_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[test]
fn a_guest_that_brings_no_id_is_given_one_that_cannot_be_guessed() {
    let server = home().serve();
    let guest_key = server.key_of_kind(&server.admin_key(), "guest");
    let body = json!({"isGuest": true, "messages": [says("user", "Conta o caso")]});
    let ids: Vec<String> = (0..20)
        .map(|_| {
            let answer = guest_key.post(PATH, &body);
            let id = answer.ok()["guestId"].as_str().unwrap().to_owned();
            assert_eq!(answer.header("x-eco-guest-id"), Some(&*id));
            id
        })
        .collect();
    let random = |id: &String| id.strip_prefix("guest-").unwrap().to_owned();
    assert!(ids.iter().all(|id| random(id).len() == 22), "128 bits in base64: {ids:?}");
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    let again = guest_key.post(PATH, guest(&ids[0], "Conta outro")).ok();
    assert_eq!(again["guestId"], json!(ids[0]), "it goes on with that id");
    let frames = crate::support::stream::Stream::open(&guest_key, "POST", PATH, with(body, "stream", true)).rest();
    let done = frames.last().unwrap();
    assert!(done.event == "done" && done.data["guestId"].as_str().unwrap().starts_with("guest-"), "{done:?}");
}

#[test]
fn a_guest_key_asks_as_a_guest_and_reads_nothing() {
    let server = home().serve_with(&[MAX]);
    let admin = server.admin_key();
    let guest_key = server.key_of_kind(&admin, "guest");
    let (one, other) = (page_id(), page_id());
    speak(&guest_key, &one, 0).ok();
    for path in
        [&format!("/v1/users/{one}/threads")[..], &crate::support::thread(&one, "default", "/turns"), "/v1/keys"]
    {
        guest_key.get(path).refused(403, "forbidden");
    }
    let said = json!([says("user", "Conta o caso")]);
    for body in [
        json!({"userId": "ana", "messages": said}),
        json!({"userId": "ana", "isGuest": true, "guestId": one, "messages": said}),
        json!({"isGuest": false, "messages": said}),
    ] {
        guest_key.post(PATH, body).refused(403, "forbidden");
    }
    guest_key.post("/ask-eco?debug=1", guest(&other, "Conta")).refused(403, "forbidden");
    for short in ["g1", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "ana@example.com-ana@example"] {
        let refused = speak(&guest_key, short, 0).refused(422, "invalid_field");
        assert_eq!(refused["param"], "guestId", "{short}");
        assert!(refused["message"].as_str().unwrap().contains("22 letters"), "{refused}");
    }
    assert_eq!(turns(&admin, &one, "default").len(), 2);
    assert!(turns(&admin, &other, "default").is_empty());
    admin.put("/v1/users/5f0c1f0e-5a57-4c0d-9d6f-0123456789ab/data", json!({"nome": "Ana"})).ok();
    speak(&guest_key, "5f0c1f0e-5a57-4c0d-9d6f-0123456789ab", 0).refused_with(403, "forbidden", &["guestId"]);
    for n in 1..3 {
        speak(&guest_key, &one, n).ok();
    }
    is_limited_by_key(&speak(&guest_key, &one, 3));
}

#[track_caller]
fn is_limited_by_key(answer: &Answer) {
    answer.refused_with(429, "rate_limited", &["eco.guest_max"]);
}

#[test]
fn a_guest_key_resumes_a_guests_stream_by_its_name_and_no_users() {
    use crate::support::stream::Stream;
    let models = Models::start();
    let server = serve(&models, &[("NOVELO_MODELS_REWRITE_URL", "none")]);
    let admin = server.admin_key();
    let guest_key = server.key_of_kind(&admin, "guest");
    let id = page_id();
    let unbroken = Stream::open(&guest_key, "POST", PATH, with(guest(&id, "Conta o caso"), "stream", true)).rest();
    let resumed = Stream::open(&guest_key.with("last-event-id", &unbroken[0].at), "POST", PATH, "").rest();
    assert_eq!(resumed[0].event, "reconnect");
    assert_eq!(resumed[1..], unbroken[1..]);
    assert_eq!(resumed.last().unwrap().data["guestId"], json!(id));
    let users = Stream::open(&admin, "POST", PATH, with(asks("ana", "t", "Conta o caso"), "stream", true)).rest();
    guest_key.with("last-event-id", &users[0].at).post(PATH, "").refused(404, "not_found");
    for path in ["/api/ask", "/v1/chat/completions", "/memory/chat"] {
        guest_key.with("last-event-id", &unbroken[0].at).post(path, "").refused(403, "forbidden");
    }
}

#[test]
fn nobody_is_a_guest_by_the_name_of_a_user() {
    let server = home().serve();
    server.post(PATH, asks("said", "t", "Conta o caso")).ok();
    server.post("/v1/users/remembered/memories", json!({"text": "Gosta de chá"})).ok();
    server.put("/v1/users/known/data", json!({"nome": "Ana"})).ok();
    for (n, user) in ["said", "remembered", "known"].into_iter().enumerate() {
        let refused = speak(&server, user, n);
        refused.refused_with(403, "forbidden", &["guestId"]);
        assert_eq!(stages(&course(&server, &course_of(&refused))), ["auth"]);
    }
    assert!(turns(&server, "remembered", "default").is_empty());
    server.post(PATH, json!({"guestId": "new", "messages": []})).refused(422, "invalid_field");
    for n in 0..2 {
        speak(&server, "new", n).ok();
    }
    server.post(PATH, asks("new", "t", "Agora tenho conta")).ok();
    speak(&server, "new", 3).ok();
}

#[test]
fn a_guest_whose_id_became_a_users_is_a_guest_no_more() {
    let server = home().serve_with(&[MAX]);
    let admin = server.admin_key();
    let guest_key = server.key_of_kind(&admin, "guest");
    let id = "3f0c9a52-5a57-4c0d-9d6f-0123456789cd";
    speak(&guest_key, id, 0).ok();
    server.user_key(&admin, id);
    speak(&guest_key, id, 1).refused_with(403, "forbidden", &["guestId"]);
}
