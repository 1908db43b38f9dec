//! Conversations are threads, and items are turns.

use super::{AT, id, serve, text};
use crate::support::models::{Act, Models};
use crate::support::{Value, eventually, json, says};

const CONVERSATIONS: &str = "/v1/conversations";

#[test]
fn a_conversation_is_a_thread_through_every_door() {
    let models = Models::start();
    let server = serve(&models);
    let made = server.post(CONVERSATIONS, json!({"user": "ana", "metadata": {"topic": "tea"}, "items": [{"role": "user", "content": "I drink green tea."}]}));
    let conversation = id(&made.ok());
    assert_eq!((&made.ok()["object"], &made.ok()["metadata"]), (&json!("conversation"), &json!({"topic": "tea"})));
    let thread = made.header("x-novelo-thread").unwrap().to_owned();
    let ana = server.with("x-novelo-user", "ana");
    let body = json!({"model": "answer", "input": "Which tea?", "conversation": conversation});
    let answer = ana.post(AT, &body).ok();
    assert_eq!(answer["conversation"], json!({"id": conversation}));
    assert_eq!(models.asked()[0].contents(), ["I drink green tea.", "Which tea?"]);
    assert_eq!(server.said("ana", &thread), ["I drink green tea.", "Which tea?", "Hello there."]);
    server.say("ana", &thread, &["And now?"]);
    let items = ana.get(&format!("{CONVERSATIONS}/{conversation}/items?order=asc")).ok();
    let said: Vec<&str> =
        items["data"].as_array().unwrap().iter().map(|item| item["content"][0]["text"].as_str().unwrap()).collect();
    assert_eq!(said, ["I drink green tea.", "Which tea?", "Hello there.", "And now?"]);
    assert_eq!(items["data"][2]["id"], answer["output"][0]["id"], "an item has one id");
    server.say("ana", "of another door", &["Hello"]);
    let listed = ana.get(CONVERSATIONS).ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
    let other = listed["data"].as_array().unwrap().iter().map(id).find(|other| *other != conversation).unwrap();
    assert_eq!(ana.get(&format!("{CONVERSATIONS}/{other}")).ok()["metadata"], json!({}));
    ana.post(AT, json!({"input": "Hi", "conversation": {"id": other}})).ok();
    assert_eq!(server.said("ana", "of another door"), ["Hello", "Hi", "Hello there."]);
}

#[test]
fn metadata_are_replaced_and_a_deleted_conversation_is_forgotten() {
    let models = Models::start();
    let server = serve(&models);
    let made = server.post(CONVERSATIONS, "").ok();
    let at = format!("{CONVERSATIONS}/{}", id(&made));
    let changed = server.post(&at, json!({"metadata": {"a": "1"}})).ok();
    assert_eq!((&changed["metadata"], &changed["created_at"]), (&json!({"a": "1"}), &made["created_at"]));
    assert_eq!(server.post(&at, json!({"metadata": {"b": "2"}})).ok()["metadata"], json!({"b": "2"}));
    let answer = server.post(AT, json!({"input": "Hi", "conversation": id(&made)})).ok();
    let deleted = server.delete(&at).ok();
    assert_eq!(deleted, json!({"id": id(&made), "object": "conversation.deleted", "deleted": true}));
    server.get(&at).refused(404, "not_found");
    server.get(&format!("{AT}/{}", id(&answer))).refused(404, "not_found");
    server.post(AT, json!({"input": "Hi", "conversation": id(&made)})).refused(404, "not_found");
    assert!(!server.get("/v1/export").text().contains("Hello there."));
}

#[test]
fn items_come_back_as_they_were_in_pages() {
    let models = Models::start();
    let server = serve(&models);
    let at = format!("{CONVERSATIONS}/{}/items", id(&server.post(CONVERSATIONS, "{}").ok()));
    let items = json!([
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "low"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "tea"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Tea.", "annotations": [{"type": "url_citation", "url": "http://a", "title": "A", "start_index": 0, "end_index": 1}]}]},
    ]);
    let made = server.post(&at, json!({"items": items})).ok();
    let plain = |item: &Value| {
        let mut item = item.clone();
        item.as_object_mut().unwrap().retain(|name, _| name != "id" && name != "status");
        item
    };
    let given: Vec<Value> = items.as_array().unwrap().iter().map(plain).collect();
    let shown: Vec<Value> = made["data"].as_array().unwrap().iter().map(plain).collect();
    assert_eq!(shown, given);
    assert_eq!(made["data"][1]["id"], "rs_1");
    let mut seen: Vec<Value> = Vec::new();
    loop {
        let after = seen.last().map(|item| format!("&after={}", item["id"].as_str().unwrap())).unwrap_or_default();
        let page = server.get(&format!("{at}?limit=4&order=asc{after}")).ok();
        assert_eq!(page["first_id"], page["data"][0]["id"]);
        seen.extend(page["data"].as_array().unwrap().iter().cloned());
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(json!(seen), made["data"]);
    seen.reverse();
    assert_eq!(server.get(&at).ok()["data"], json!(seen));
    for item in &seen {
        let id = item["id"].as_str().unwrap();
        assert_eq!(&server.get(&format!("{at}/{id}")).ok(), item);
    }
    server.delete(&format!("{at}/fc_1")).ok();
    server.get(&format!("{at}/fc_1")).refused(404, "not_found");
    assert_eq!(server.get(&format!("{at}/rs_1")).ok()["encrypted_content"], "x", "the rest of its turn stays");
    let first = made["data"][0]["id"].as_str().unwrap();
    assert_eq!(server.delete(&format!("{at}/{first}")).ok()["object"], "conversation");
    assert_eq!(server.get(&at).ok()["data"].as_array().unwrap().len(), 4);
}

#[test]
fn caps_hold_at_their_value_and_one_past_it() {
    let models = Models::start();
    let server = serve(&models);
    let items = |count: usize| json!({"items": vec![says("user", "x"); count]});
    let at = format!("{CONVERSATIONS}/{}/items", id(&server.post(CONVERSATIONS, items(20)).ok()));
    server.post(CONVERSATIONS, items(21)).refused_with(400, "invalid_value", &["CONVERSATION_ITEMS_MAX"]);
    server.post(&at, items(21)).refused(400, "invalid_value");
    server.post(&at, items(0)).refused(400, "invalid_value");
    server.get(&format!("{at}?limit=100")).ok();
    for query in ["limit=0", "limit=101", "order=up"] {
        server.get(&format!("{at}?{query}")).refused(400, "invalid_value");
    }
}

#[test]
fn there_is_one_answer_at_a_time() {
    let models = Models::start();
    let server = serve(&models);
    let conversation = id(&server.post(CONVERSATIONS, "{}").ok());
    models.play([Act::Hangs]);
    let body = json!({"input": "Count!", "conversation": conversation, "background": true});
    let running = id(&server.post(AT, &body).ok());
    assert!(eventually(|| !models.asked().is_empty()));
    let second = json!({"input": "Hi", "conversation": conversation});
    server.post(AT, &second).refused_with(409, "conversation_locked", &[&running]);
    assert_eq!(server.post(&format!("{AT}/{running}/cancel"), "").ok()["status"], "cancelled");
    assert_eq!(text(&server.post(AT, &second).ok()), "Hello there.");
}

#[test]
fn a_request_waits_for_the_answer_before_it_if_it_asks_to() {
    let models = Models::start();
    let server = serve(&models);
    let conversation = id(&server.post(CONVERSATIONS, "{}").ok());
    let body = |text: &str| json!({"input": text, "conversation": conversation});
    models.play([Act::Hangs]);
    let mut first = body("Count!");
    first["background"] = true.into();
    let running = id(&server.post(AT, &first).ok());
    assert!(eventually(|| !models.asked().is_empty()));
    server.with("x-novelo-wait", "1").post(AT, body("Hi")).refused_with(409, "conversation_locked", &[&running]);
    let waiting = server.with("x-novelo-wait", "300");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| waiting.post(AT, body("Hi")).ok());
        // Whether the second request has come yet or not: it is answered once the first has ended.
        server.post(&format!("{AT}/{running}/cancel"), "").ok();
        assert_eq!(text(&waits.join().unwrap()), "Hello there.");
    });
    for wrong in ["x", "-1", "1.5", "301"] {
        server.with("x-novelo-wait", wrong).post(AT, body("Hi")).refused_with(400, "invalid_value", &["X-Novelo-Wait"]);
    }
}

#[test]
fn conversations_without_items_are_listed_too() {
    let models = Models::start();
    let server = serve(&models);
    let mut made: Vec<String> = (0..3).map(|_| id(&server.post(CONVERSATIONS, "{}").ok())).collect();
    server.say("anonymous", "of another door", &["Hello"]);
    server.post(AT, json!({"input": "Hi", "conversation": made[1]})).ok();
    made.push("conv_of~20another~20door".to_owned());
    made.sort();
    let mut listed: Vec<String> = Vec::new();
    loop {
        let after = listed.last().map(|last| format!("&after={last}")).unwrap_or_default();
        let page = server.get(&format!("{CONVERSATIONS}?limit=2{after}")).ok();
        listed.extend(page["data"].as_array().unwrap().iter().map(id));
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(listed, made);
    server.delete(&format!("{CONVERSATIONS}/{}", made[0])).ok();
    assert_eq!(server.get(CONVERSATIONS).ok()["data"].as_array().unwrap().len(), 3);
}

/// A chain is kept as a whole for as long as its key says, from its last turn on.
#[test]
fn what_is_kept_for_a_while_is_forgotten_as_a_whole() {
    let models = Models::start();
    let server = serve(&models);
    let admin = server.admin_key();
    let key = |body: Value| {
        let made = admin.post("/v1/keys", &body).ok();
        assert_eq!(made["ttl_seconds"], body["ttl_seconds"], "{made}");
        server.with("authorization", &format!("Bearer {}", made["key"].as_str().unwrap()))
    };
    let (brief, long) = (key(json!({"user": "ana", "ttl_seconds": 1})), key(json!({"user": "ana"})));
    let kept = long.post(AT, json!({"input": "Kept"})).ok();
    assert_eq!(kept["expires_at"], Value::Null);
    let empty = brief.post(CONVERSATIONS, "{}").ok();
    assert!(empty["expires_at"].as_u64() > empty["created_at"].as_u64(), "{empty}");
    let conversation = brief.post(CONVERSATIONS, json!({"items": [says("user", "Tea")]})).ok();
    let first = long.post(AT, json!({"input": "One"})).ok();
    let after = |previous: &Value, text: &str| json!({"input": text, "previous_response_id": id(previous)});
    let second = long.post(AT, after(&first, "Two")).ok();
    let branch = long.post(AT, after(&first, "Branch")).ok();
    // What was said last counts: from here on the chain is kept for a second.
    let third = brief.post(AT, after(&second, "Three")).ok();
    assert!(third["expires_at"].as_u64() > third["created_at"].as_u64(), "{third}");
    let is_gone = |path: String| eventually(|| long.get(&path).status == 404);
    for gone in [&first, &second, &third] {
        assert!(is_gone(format!("{AT}/{}", id(gone))));
    }
    long.post(AT, after(&third, "Four")).refused(400, "previous_response_not_found");
    long.post(AT, after(&branch, "Four")).ok();
    let told = models.asked().last().unwrap().contents().join(" | ");
    assert_eq!(told, "One | Hello there. | Branch | Hello there. | Four", "a fork is whole");
    assert!(is_gone(format!("{CONVERSATIONS}/{}", id(&empty))));
    assert!(is_gone(format!("{CONVERSATIONS}/{}", id(&conversation))));
    assert!(eventually(|| !admin.get("/v1/export").text().contains("novelo.retention/")), "nothing is left of them");
    long.get(&format!("{AT}/{}", id(&kept))).ok();
    for (body, named) in [
        (json!({"user": "ana", "ttl_seconds": 0}), "ttl_seconds"),
        (json!({"kind": "guest", "ttl_seconds": 9}), "ttl_seconds"),
    ] {
        admin.post("/v1/keys", &body).refused_with(422, "invalid_field", &[named]);
    }
}

#[test]
fn a_named_thread_takes_only_what_is_new() {
    let models = Models::start();
    let server = serve(&models);
    let client = server.with("x-novelo-thread", "garden").with("x-novelo-user", "ana");
    client.post(AT, json!({"input": "One"})).ok();
    let again = json!([
        {"role": "user", "content": "One"},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "content": [{"type": "output_text", "text": "Hello there.", "annotations": []}]},
        {"role": "user", "content": "Two"},
    ]);
    let answer = client.post(AT, json!({"input": again}));
    assert_eq!(answer.header("x-novelo-thread"), Some("garden"));
    assert_eq!(server.said("ana", "garden"), ["One", "Hello there.", "Two", "Hello there."]);
    let body = json!({"input": "x", "previous_response_id": id(&answer.ok())});
    client.post(AT, &body).refused(400, "invalid_value");
}
