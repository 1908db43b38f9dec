//! Topic contexts, where a contract page says too little: answers that are kept, long threads, races.

use crate::support::{Client, Server, Value, json};

const RUN: &str = "/context/topicContextYoj/run";
const INDEXER: &str = "/collapse/indexer/run";

fn model() -> Value {
    json!({"components": [{"kind": "yoj", "name": "summaries"}, {"kind": "yoj", "name": "messages"}], "filters": ["collapseGroupReplacer"]})
}

fn run(client: &Client, kala: Value) -> Vec<Value> {
    let body = json!({"userId": "u", "kala": kala, "model": model()});
    client.post(RUN, body).ok()["yoj"].as_array().unwrap().clone()
}

/// A thread whose turns did not come in the order of their times, beside one that belongs to no user.
fn fill(client: &Client) {
    let turn = |(n, time): (usize, &u32)| json!({"role": "user", "content": format!("at {time}"), "id": format!("m{n}"), "create_time": time});
    let turns: Vec<Value> = [100, 300, 200, 400].iter().enumerate().map(turn).collect();
    client.append("u", "s", &turns);
    let doc = |path: &str, value: Value| drop(client.put(&format!("/v1/docs/{path}"), value).ok());
    doc("users/u/convo.sessions/s/summaries/a", json!({"create_time": 150, "value": "a"}));
    doc("users/u/log.sessions.summaries/w", json!({"create_time": 1000, "value": "w"}));
    doc("convo.sessions/s/messages/m0", json!({"role": "user", "content": "nobody's", "create_time": 1}));
    let groups = json!([{"name": "G", "items": [{"type": "message", "id": "m2"}]}]);
    client.post(INDEXER, json!({"userId": "u", "sessionId": "s", "groups": groups})).ok();
}

/// Requests that read the same thread in other ways.
fn requests() -> Vec<(&'static str, Value)> {
    let session = |end: u32| json!({"kind": "SessionKala", "sessionId": "s", "sessionEnd": end});
    let segment =
        |end: u32, length: u32| json!({"kind": "SegKala", "sessionId": "s", "end": end, "windowSeconds": length});
    let topic = json!({"kind": "Topic", "topicId": "s"});
    let kalas = [
        topic.clone(),
        session(1),
        session(100),
        session(250),
        session(9_999),
        segment(1, 1),
        segment(300, 100),
        segment(300, 300),
        json!({"kind": "SegKala", "sessionId": "s", "windowSeconds": 1}),
        json!({"kind": "WeekKala", "weekEnd": 259_200}),
        json!({"kind": "Other"}),
    ];
    let ask =
        |kala: Value, ids: bool| (RUN, json!({"userId": "u", "kala": kala, "model": model(), "includeDocId": ids}));
    let mut requests: Vec<_> = kalas.into_iter().map(|kala| ask(kala, false)).collect();
    requests.push(ask(topic.clone(), true));
    requests.push((RUN, json!({"kala": topic, "model": model()})));
    let mut recipe = model();
    recipe["docIds"] = "counted".into();
    requests.push(("/v1/context", json!({"user": "u", "thread": "s", "recipe": recipe})));
    requests
}

fn messages(client: &Client, (path, body): &(&str, Value)) -> Value {
    let answer = client.post(path, body.clone()).ok();
    [&answer["yoj"], &answer["messages"]].into_iter().find(|list| list.is_array()).unwrap().clone()
}

#[test]
fn what_was_asked_before_changes_no_answer() {
    let (server, fresh) = (Server::start(), Server::start());
    fill(&server);
    fill(&fresh);
    let requests = requests();
    let expected: Vec<Value> = requests.iter().map(|request| messages(&fresh, request)).collect();
    let distinct: std::collections::BTreeSet<String> = expected.iter().map(Value::to_string).collect();
    assert!(distinct.len() > 8, "the requests differ: {distinct:#?}");
    for before in &requests {
        (0..4).for_each(|_| drop(messages(&server, before)));
        for (request, expected) in requests.iter().zip(&expected) {
            for _ in 0..4 {
                assert_eq!(&messages(&server, request), expected, "{request:?} after {before:?}");
            }
        }
    }
}

#[test]
fn a_long_thread_is_read_at_any_stretch() {
    let server = Server::start();
    let turn = |time: u32| json!({"role": "user", "content": "x", "create_time": time});
    for thousand in 0..12 {
        let turns: Vec<Value> = (1..=1_000).map(|n| turn(thousand * 1_000 + n)).collect();
        server.append("u", "s", &turns);
    }
    let segment =
        |end: u32, length: u32| json!({"kind": "SegKala", "sessionId": "s", "end": end, "windowSeconds": length});
    let session = |end: u32| json!({"kind": "SessionKala", "sessionId": "s", "sessionEnd": end});
    for (kala, count) in [
        (segment(4_000, 500), 500),
        (session(4_000), 4_000),
        (segment(3_000, 2_000), 2_000),
        (segment(1_500, 500), 500),
        (segment(11_000, 1_000), 1_000),
        (session(11_500), 10_000),
        (segment(1, 1), 1),
    ] {
        assert_eq!(run(&server, kala.clone()).len(), count, "{kala}");
    }
    let newest = run(&server, session(20_000));
    assert_eq!((newest.len(), &newest.last().unwrap()["create_time"]), (10_000, &json!(12_000)));
}

/// Writes so many turns, one for each second, in blocks of a thousand: the newest block first.
fn backfill(client: &Client, thousands: u32) {
    for thousand in (0..thousands).rev() {
        let turn = |n: u32| json!({"role": "user", "content": "x", "create_time": thousand * 1_000 + n});
        client.append("u", "s", &(1..=1_000).map(turn).collect::<Vec<_>>());
    }
}

fn times(messages: &[Value]) -> Vec<u64> {
    messages.iter().map(|message| message["create_time"].as_u64().unwrap()).collect()
}

#[test]
fn a_window_holds_what_lies_in_it_whatever_was_written_first() {
    let server = Server::start();
    backfill(&server, 12);
    let segment =
        |end: u32, length: u32| json!({"kind": "SegKala", "sessionId": "s", "end": end, "windowSeconds": length});
    let session = |end: u32| json!({"kind": "SessionKala", "sessionId": "s", "sessionEnd": end});
    let check = |kala: Value, first: u64, last: u64| {
        assert_eq!(times(&run(&server, kala.clone())), (first..=last).collect::<Vec<_>>(), "{kala}");
    };
    check(segment(12_000, 500), 11_501, 12_000);
    check(segment(500, 500), 1, 500);
    check(segment(6_500, 1_000), 5_501, 6_500);
    check(session(20_000), 2_001, 12_000);
    check(session(11_500), 1_501, 11_500);
    check(session(9_000), 1, 9_000);
    check(json!({"kind": "Topic", "topicId": "s"}), 2_001, 12_000);
    // The conversation goes on: what is new is the newest, and old turns that come late are in their place.
    server.append("u", "s", &[json!({"role": "user", "content": "x", "create_time": 12_001})]);
    check(session(20_000), 2_002, 12_001);
    server.append("u", "s", &[json!({"role": "user", "content": "late", "create_time": 5_000, "id": "late"})]);
    let shown = run(&server, segment(5_001, 2));
    assert_eq!(times(&shown), [5_000, 5_000, 5_001]);
    assert_eq!(shown[1]["content"], "late");
}

#[test]
fn a_window_over_the_cap_is_told_exactly_and_made_again_from_its_trace() {
    let server = Server::start();
    backfill(&server, 11);
    let window = json!({"name": "historyWindow", "options": {"turns": 2}});
    let model = json!({"components": [{"kind": "yoj", "name": "messages"}], "filters": [window]});
    let ask = |kala: Value| {
        let answer = server.post(RUN, json!({"userId": "u", "kala": kala, "model": model}));
        let trace = format!("/v1/traces/{}", answer.header("x-novelo-trace").unwrap());
        (times(answer.ok()["yoj"].as_array().unwrap()), trace)
    };
    let segment =
        |begin: u32, end: u32| json!({"kind": "SegKala", "sessionId": "s", "end": end, "windowSeconds": end - begin});
    for (kala, newest, older) in [
        (json!({"kind": "Topic", "topicId": "s"}), 11_000, 1_000),
        (json!({"kind": "SessionKala", "sessionId": "s"}), 11_000, 1_000),
        (json!({"kind": "SessionKala", "sessionId": "s", "sessionEnd": 10_600}), 10_600, 600),
        (segment(400, 10_500), 10_500, 100),
        (segment(500, 10_500), 10_500, 0),
    ] {
        let (shown, trace) = ask(kala.clone());
        assert_eq!(shown, [newest - 1, newest], "{kala}");
        let trace = server.get(&trace).ok();
        assert_eq!(trace["identical"], true, "{kala}");
        let told = trace["explain"]["notes"].as_array().unwrap().iter().find(|note| note["note"] == "not_loaded");
        assert_eq!(told.map_or(0, |note| note["turns"].as_u64().unwrap()), older, "{kala}");
        let rows = trace["explain"]["pieces"].as_array().unwrap().len();
        assert_eq!(rows, 10_000 + usize::from(older > 0), "{kala}");
    }
    let (_, trace) = ask(json!({"kind": "Topic", "topicId": "s"}));
    let before = server.get(&trace).ok();
    server.append("u", "s", &[json!({"role": "user", "content": "later", "create_time": 11_000})]);
    let after = server.get(&trace).ok();
    assert_eq!((&after["identical"], &after["explain"]), (&json!(true), &before["explain"]));
}

#[test]
fn a_native_context_looks_at_exactly_the_newest_turns_but_for_a_window_that_keeps_its_front() {
    let server = Server::start();
    let turns = |numbers: std::ops::RangeInclusive<u32>| -> Vec<Value> {
        numbers.map(|n| json!({"role": "user", "content": n.to_string()})).collect()
    };
    for block in 0..10 {
        server.append("u", "s", &turns(block * 1_000 + 1..=(block + 1) * 1_000));
    }
    server.append("u", "s", &turns(10_001..=10_001));
    for (filter, older) in [
        (json!({"name": "historyWindow", "options": {"turns": 1}}), 1),
        (json!({"name": "stableWindow", "options": {"maxTokens": 1_000}}), 5_000),
    ] {
        let recipe = json!({"components": [{"kind": "history"}], "filters": [filter]});
        let body = json!({"user": "u", "thread": "s", "recipe": recipe, "explain": true});
        let answer = server.post("/v1/context", body).ok();
        assert_eq!(answer["explain"]["pieces"][0]["turns"], older, "{filter}");
        assert_eq!(answer["explain"]["pieces"][1]["seq"], older + 1, "{filter}");
    }
}

#[test]
fn a_group_that_an_older_index_has_is_expanded_by_its_name() {
    let server = Server::start();
    let base = "/v1/docs/users/u/convo.sessions/s";
    let doc = |path: &str, value: Value| drop(server.put(&format!("{base}/{path}"), value).ok());
    doc("messages/m1", json!({"role": "user", "content": "one"}));
    doc("collapsed/r", json!({"groups": [{"name": "Reunião", "description": "d", "items": []}]}));
    let entry = json!({"responseId": "r", "updated_at": 1});
    doc("indexes/collapsed/messageToGroups/m1", json!({"groups": {"REUNI_O": entry}}));
    doc("indexes/collapsed/groupToResponse/REUNI_O", json!({"responseId": "r", "updated_at": 1, "size": 1}));
    let shown = run(&server, json!({"kind": "Topic", "topicId": "s"}));
    assert!(shown[0]["content"].as_str().unwrap().contains(r#""description":"d""#), "{shown:?}");
    let state = json!({"userId": "u", "sessionId": "s", "group": "Reunião", "expanded": true});
    assert_eq!(server.post("/collapse/state/set", state).ok()["group"], "REUNI_O");
    assert_eq!(run(&server, json!({"kind": "Topic", "topicId": "s"}))[0]["content"], "one");
}

#[test]
fn a_collection_over_the_cap_shows_its_newest_documents_and_says_so() {
    let server = Server::start();
    let put = |n: u32| {
        let value = json!({"create_time": n, "value": n});
        json!({"op": "put", "path": format!("users/u/convo.sessions/s/summaries/d{n}"), "value": value})
    };
    let numbers: Vec<u32> = (1..=10_003).rev().collect();
    for some in numbers.chunks(200) {
        server.post("/v1/docs:batch", json!({"ops": some.iter().map(|n| put(*n)).collect::<Vec<_>>()})).ok();
    }
    let model = json!({"components": [{"kind": "yoj", "name": "summaries"}], "filters": []});
    let ask = |kala: Value| {
        let answer = server.post(RUN, json!({"userId": "u", "kala": kala, "model": model}));
        let trace = format!("/v1/traces/{}", answer.header("x-novelo-trace").unwrap());
        (answer.ok()["yoj"].as_array().unwrap().clone(), server.get(&trace).ok())
    };
    let (shown, trace) = ask(json!({"kind": "Topic", "topicId": "s"}));
    assert_eq!((shown.len(), &shown[0]["content"]), (10_000, &json!("(Convo) 4")));
    let note = json!({"note": "documents_not_loaded", "collection": "summaries", "level": "convo", "documents": 3});
    assert_eq!(trace["explain"]["notes"][0], note);
    assert_eq!(trace["identical"], true);
    let (shown, _) = ask(json!({"kind": "SegKala", "sessionId": "s", "end": 10_003, "windowSeconds": 2}));
    assert_eq!(shown.iter().map(|m| &m["content"]).collect::<Vec<_>>(), ["(Convo) 10002", "(Convo) 10003"]);
}

#[test]
fn a_response_deleted_while_it_is_indexed_leaves_nothing() {
    let server = Server::start();
    let response = json!({"groups": [{"name": "G", "items": [{"type": "message", "id": "m"}]}]});
    let at = "/v1/docs/users/u/convo.sessions/s/collapsed/r";
    for round in 0..40 {
        server.put(at, response.clone()).ok();
        std::thread::scope(|scope| {
            scope.spawn(|| drop(server.post(INDEXER, json!({"userId": "u", "sessionId": "s", "responseId": "r"}))));
            scope.spawn(|| drop(server.delete(at).ok()));
        });
        let index = "/v1/docs/users/u/convo.sessions/s/indexes/collapsed";
        for left in ["messageToGroups", "groupToResponse", "responseToGroups"] {
            let left = server.get(&format!("{index}/{left}")).ok();
            assert_eq!(left["documents"], json!([]), "round {round}");
        }
    }
}

#[test]
fn what_belongs_to_no_user_is_in_no_trace_of_one() {
    let server = Server::start();
    let admin = server.admin_key();
    let user = server.user_key(&admin, "u");
    admin.append("u", "s", &[json!({"role": "user", "content": "own", "id": "m"})]);
    admin.put("/v1/docs/convo.sessions/s/indexes/collapsed/messageToGroups/SECRET", json!({})).ok();
    let body = json!({"userId": "u", "kala": {"kind": "Topic", "topicId": "s"}, "model": model()});
    let answer = admin.post(RUN, body.clone());
    let trace = format!("/v1/traces/{}", answer.header("x-novelo-trace").unwrap());
    assert!(admin.get(&trace).text().contains("SECRET"));
    assert_eq!(user.get(&trace).status, 403);
    assert!(!user.get("/v1/users/u/export").text().contains("SECRET"));
    admin.delete("/v1/users/u").ok();
    assert_eq!(admin.get(&trace).status, 404, "forgotten with its user");
}

#[test]
fn a_collection_named_twice_is_shown_twice_and_no_more() {
    let server = Server::start();
    fill(&server);
    let twice = json!({"components": [{"kind": "yoj", "name": "summaries"}, {"kind": "ista", "name": "summaries"}]});
    let body = json!({"userId": "u", "kala": {"kind": "Topic", "topicId": "s"}, "model": twice});
    assert_eq!(server.post(RUN, body).ok()["yoj"].as_array().unwrap().len(), 2);
}

#[test]
fn what_belongs_to_no_user_stands_in_for_turns_that_were_all_deleted() {
    let server = Server::start();
    fill(&server);
    let at = |n: u32| format!("/v1/docs/users/u/convo.sessions/s/messages/m{n}");
    (0..4).for_each(|n| drop(server.delete(&at(n)).ok()));
    let shown = run(&server, json!({"kind": "Topic", "topicId": "s"}));
    assert_eq!(shown.last().unwrap()["content"], "nobody's");
}

#[test]
fn a_body_that_is_a_list_is_refused() {
    let server = Server::start();
    for path in [RUN, INDEXER, "/collapse/state/set"] {
        let refused = server.post(path, json!([{"kind": "Topic", "topicId": "s"}, null, null, null, null]));
        let answer = refused.json();
        assert_eq!((refused.status, &answer["error"]), (400, &json!("body must be a JSON object")), "{path}");
        assert_eq!(answer.get("ok"), Some(&json!(false)).filter(|_| path != RUN), "{path}");
    }
    server.post("/v1/context", json!(["u", "t"])).refused(422, "invalid_field");
}
