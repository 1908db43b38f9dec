//! Memories: kept, listed by level, found at once, and gone when they are deleted.

use novelo_engine::limits::{JSON_DEPTH_MAX, MEMORY_BYTES_MAX, QUESTION_BYTES_MAX, RECALL_HITS_MAX};

use crate::support::{Client, Home, Server, Value, holding, json, user};

/// Keeps a memory; its id.
fn keep(client: &Client, of: &str, text: &str) -> String {
    let answer = client.post(&user(of, "/memories"), json!({"text": text})).ok();
    answer["id"].as_str().unwrap().to_owned()
}

fn find(client: &Client, of: &str, query: &str) -> Value {
    client.post(&user(of, "/memories/search"), json!({"query": query})).ok()
}

/// One member of each row of a list.
fn each(rows: &Value, name: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

/// The texts of the hits of a search.
fn texts(client: &Client, of: &str, query: &str) -> Vec<String> {
    each(&find(client, of, query)["hits"], "text")
}

#[test]
fn a_memory_is_found_by_the_next_search_and_by_no_other_user() {
    let server = Server::start();
    for text in ["likes green tea", "lives in Paris", "plays chess"] {
        keep(&server, "u", text);
        assert_eq!(texts(&server, "u", text.split(' ').next_back().unwrap()), [text]);
    }
    keep(&server, "u2", "dislikes tea");
    assert_eq!(texts(&server, "u", "tea"), ["likes green tea"]);
    assert_eq!(texts(&server, "u2", "tea"), ["dislikes tea"]);
    assert_eq!(texts(&server, "u3", "tea"), [""; 0]);
    let server = server.restart();
    assert_eq!(texts(&server, "u", "tea"), ["likes green tea"]);
}

#[test]
fn a_hit_says_what_it_is_and_why() {
    let server = Server::start();
    let meta = r#"{"from":"chat","n":1.50,"deep":{"a":[1]}}"#;
    let body = format!(r#"{{"text":"likes tea","id":"m1","meta":{meta}}}"#);
    assert_eq!(server.post(&user("u", "/memories"), body).ok(), json!({"id": "m1"}));
    let plain = find(&server, "u", "tea");
    assert_eq!(plain.as_object().unwrap().keys().collect::<Vec<_>>(), ["hits"]);
    let hit = &plain["hits"][0];
    assert_eq!(hit.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "text", "score", "level", "meta"]);
    assert_eq!((&hit["id"], &hit["level"]), (&json!("m1"), &json!("short")));
    let asked = json!({"query": "tea", "k": 1, "explain": true});
    let answer = server.post(&user("u", "/memories/search"), &asked);
    assert!(answer.text().contains(meta), "its bytes: {}", answer.text());
    assert!(answer.ok()["hits"][0]["why"].is_object());
    assert_eq!(answer.ok()["near"], json!([]));
    keep(&server, "u", "makes tea");
    let near = server.post(&user("u", "/memories/search"), asked).ok()["near"].clone();
    assert_eq!(near.as_array().unwrap().len(), 1);
    assert_eq!(near[0].as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "text", "score"]);
}

#[test]
fn the_same_memory_again_is_the_first_and_another_under_its_id_is_refused() {
    let server = Server::start();
    let path = user("u", "/memories");
    let memory = json!({"id": "m", "text": "likes tea", "meta": {"a": 1}});
    server.post(&path, &memory).ok();
    server.post(&path, &memory).ok();
    server.post(&path, json!({"id": "m", "text": "likes coffee"})).refused(409, "conflict");
    assert_eq!(server.get(&path).ok()["memories"].as_array().unwrap().len(), 1);
}

#[test]
fn memories_list_oldest_first_in_pages() {
    let server = Server::start();
    let ids: Vec<String> = (0..5).map(|n| keep(&server, "u", &format!("number {n}"))).collect();
    let page = |query: &str| server.get(&user("u", &format!("/memories{query}"))).ok();
    let all = page("");
    assert_eq!((each(&all["memories"], "id"), &all["has_more"]), (ids.clone(), &json!(false)));
    let fields = ["id", "text", "level", "meta", "create_time"];
    assert_eq!(all["memories"][0].as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    let first = page("?limit=2");
    assert_eq!((each(&first["memories"], "id"), &first["has_more"]), (ids[..2].to_vec(), &json!(true)));
    let last = page(&format!("?limit=3&after={}", ids[1]));
    assert_eq!((each(&last["memories"], "id"), &last["has_more"]), (ids[2..].to_vec(), &json!(false)));
    assert_eq!(page(&format!("?after={}", ids[4]))["memories"], json!([]));
    for query in ["?limit=0", "?limit=1001", "?after=none", "?from=1"] {
        server.get(&user("u", &format!("/memories{query}"))).refused(422, "invalid_field");
    }
}

#[test]
fn levels_are_the_newest_so_many() {
    let settings = [("NOVELO_MEMORY_SHORT_MAX", "3"), ("NOVELO_MEMORY_MEDIUM_MAX", "5")];
    let server = Home::new().serve_with(&settings);
    let ids: Vec<String> = (0..7).map(|n| keep(&server, "u", &format!("tea number {n}"))).collect();
    let levels = || each(&server.get(&user("u", "/memories")).ok()["memories"], "level");
    assert_eq!(levels(), ["long", "long", "medium", "medium", "short", "short", "short"]);
    let hits = find(&server, "u", "tea");
    for hit in hits["hits"].as_array().unwrap() {
        let at = ids.iter().position(|id| hit["id"] == **id).unwrap();
        assert_eq!(hit["level"], json!(levels()[at]));
    }
    server.delete(&user("u", &format!("/memories/{}", ids[5]))).ok();
    assert_eq!(levels(), ["long", "medium", "medium", "short", "short", "short"]);
}

#[test]
fn levels_end_at_100_and_at_500() {
    let server = Server::start();
    let mut session = server.session().unwrap();
    for n in 0..501 {
        let body = json!({"text": format!("number {n}")});
        assert_eq!(session.call("POST", &user("u", "/memories"), body).unwrap().status, 200);
    }
    let levels = each(&server.get(&user("u", "/memories?limit=1000")).ok()["memories"], "level");
    let count = |level: &str| levels.iter().filter(|known| *known == level).count();
    assert_eq!([count("long"), count("medium"), count("short")], [1, 400, 100]);
    assert_eq!([&levels[0], &levels[1], &levels[400], &levels[401]], ["long", "medium", "medium", "short"]);
}

#[test]
fn a_deleted_memory_is_not_found_by_the_next_search() {
    let server = Server::start();
    let (one, two) = (keep(&server, "u", "likes tea"), keep(&server, "u", "makes tea"));
    assert_eq!(texts(&server, "u", "tea").len(), 2);
    assert_eq!(server.delete(&user("u", &format!("/memories/{one}"))).ok(), json!({"deleted": true}));
    assert_eq!(texts(&server, "u", "tea"), ["makes tea"]);
    server.delete(&user("u", &format!("/memories/{one}"))).refused(404, "not_found");
    server.delete(&user("u2", &format!("/memories/{two}"))).refused(404, "not_found");
}

#[test]
fn forgotten_memories_are_gone_from_searches_and_files() {
    let server = Server::start();
    let canary = "canary-of-memories";
    keep(&server, "u", canary);
    keep(&server, "u", "likes tea");
    keep(&server, "u2", "makes tea");
    server.say("u", "t", &["tea?"]);
    assert_eq!(texts(&server, "u", canary), [canary]);
    let answer = server.delete(&user("u", "/memories")).ok();
    assert_eq!(answer["forgotten"], json!({"documents": 2, "passages": 0, "traces": 0}));
    assert_eq!(texts(&server, "u", canary), [""; 0]);
    assert_eq!(server.get(&user("u", "/memories")).ok()["memories"], json!([]));
    assert_eq!(texts(&server, "u2", "tea"), ["makes tea"]);
    assert_eq!(server.said("u", "t"), ["tea?"]);
    let erased = || server.get("/health/ready").ok()["erasing"] == json!(false);
    assert!(crate::support::eventually(erased));
    assert_eq!(holding(&server.home.data(), canary), None);
    keep(&server, "u", "anew");
    assert_eq!(texts(&server, "u", "anew"), ["anew"]);
}

#[test]
fn what_is_no_memory_is_refused_by_name() {
    let server = Server::start();
    let check = |body: Value, param: Option<&str>, words: &[&str]| {
        let answer = server.post(&user("u", "/memories"), &body);
        answer.refused_with(422, "invalid_field", words);
        assert_eq!(answer.json()["error"]["param"], json!(param), "{body}");
    };
    check(json!({}), None, &["text"]);
    check(json!({"text": ""}), Some("text"), &["empty"]);
    check(json!({"text": " \n"}), Some("text"), &["empty"]);
    check(json!({"text": 1}), Some("text"), &[]);
    check(json!({"text": "t", "meta": [1]}), Some("meta"), &["object"]);
    check(json!({"text": "t", "id": ""}), Some("id"), &[]);
    check(json!({"text": "t", "tags": []}), Some("tags"), &["tags"]);
    let sized = |bytes: usize| json!({"text": "x".repeat(bytes)});
    server.post(&user("u", "/memories"), sized(MEMORY_BYTES_MAX)).ok();
    check(sized(MEMORY_BYTES_MAX + 1), Some("text"), &["MEMORY_BYTES_MAX", "65537"]);
    let meta = |bytes: usize| json!({"text": "t", "meta": {"m": "x".repeat(bytes - r#"{"m":""}"#.len())}});
    server.post(&user("u", "/memories"), meta(MEMORY_BYTES_MAX)).ok();
    check(meta(MEMORY_BYTES_MAX + 1), Some("meta"), &["MEMORY_BYTES_MAX"]);
    let deep = |levels: usize| format!(r#"{{"text":"t","meta":{}1{}}}"#, r#"{"a":"#.repeat(levels), "}".repeat(levels));
    server.post(&user("u", "/memories"), deep(JSON_DEPTH_MAX - 1)).ok();
    server.post(&user("u", "/memories"), deep(JSON_DEPTH_MAX)).refused_with(422, "invalid_field", &["JSON_DEPTH_MAX"]);
    server.post(&user("u", "/memories"), "{").refused(400, "malformed_json");
}

#[test]
fn what_is_no_search_is_refused_by_name() {
    let server = Server::start();
    for path in ["/memories/search", "/turns/search", "/documents/search"] {
        let ask = |body: Value| server.post(&user("u", path), body);
        assert_eq!(ask(json!({"query": "x", "k": RECALL_HITS_MAX})).ok()["hits"], json!([]));
        for k in [0, RECALL_HITS_MAX + 1] {
            let refused = ask(json!({"query": "x", "k": k})).refused(422, "invalid_field");
            assert_eq!(refused["param"], "k", "{path}");
            assert!(refused["message"].as_str().unwrap().contains("RECALL_HITS_MAX"), "{refused}");
        }
        for body in [json!({"query": " "}), json!({"query": ""})] {
            assert_eq!(ask(body).refused(422, "invalid_field")["param"], "query", "{path}");
        }
        ask(json!({})).refused_with(422, "invalid_field", &["query"]);
        ask(json!({"query": "x", "limit": 3})).refused_with(422, "invalid_field", &["limit"]);
        ask(json!({"query": "x".repeat(QUESTION_BYTES_MAX)})).ok();
        let past = ask(json!({"query": "x".repeat(QUESTION_BYTES_MAX + 1)}));
        past.refused_with(422, "invalid_field", &["QUESTION_BYTES_MAX"]);
    }
}

#[test]
fn hits_are_as_many_as_asked_for() {
    let server = Server::start();
    for n in 0..RECALL_HITS_MAX + 5 {
        keep(&server, "u", &format!("tea number {n}"));
    }
    let count = |body: Value| server.post(&user("u", "/memories/search"), body).ok()["hits"].as_array().unwrap().len();
    assert_eq!(count(json!({"query": "tea"})), 10);
    assert_eq!(count(json!({"query": "tea", "k": 1})), 1);
    assert_eq!(count(json!({"query": "tea", "k": RECALL_HITS_MAX})), RECALL_HITS_MAX);
}
