//! Skills: a model's way to the same memory.

use novelo_engine::limits::TASK_RESULT_BYTES_MAX;

use crate::support::{Client, Server, Value, json, user};

fn run(client: &Client, name: &str, arguments: Value) -> Value {
    client.post(&format!("/memory/skills/{name}"), json!({"user_id": "u", "arguments": arguments})).ok()["result"]
        .clone()
}

fn definitions(client: &Client) -> Vec<Value> {
    client.get("/memory/skills").ok()["skills"].as_array().unwrap().clone()
}

#[test]
fn skills_are_listed_as_tools() {
    let server = Server::start();
    let skills = definitions(&server);
    let names: Vec<&str> = skills.iter().map(|skill| skill["function"]["name"].as_str().unwrap()).collect();
    let expected = [
        "list_tasks",
        "add_task",
        "update_task",
        "complete_task",
        "delete_task",
        "remember",
        "recall",
        "set_user_data",
        "index_document",
        "index_repo",
        "vector_rag",
        "search_repos",
    ];
    assert_eq!(names, expected);
    for skill in &skills {
        assert_eq!(skill["type"], "function");
        let function = &skill["function"];
        assert!(!function["description"].as_str().unwrap().is_empty());
        let parameters = &function["parameters"];
        assert_eq!((&parameters["type"], &parameters["additionalProperties"]), (&json!("object"), &json!(false)));
        for name in parameters["required"].as_array().unwrap() {
            assert!(parameters["properties"].get(name.as_str().unwrap()).is_some(), "{skill}");
        }
    }
}

#[test]
fn every_skill_refuses_what_its_schema_does() {
    let server = Server::start();
    for skill in definitions(&server) {
        let (name, parameters) = (skill["function"]["name"].as_str().unwrap(), &skill["function"]["parameters"]);
        let send = |arguments: Value| {
            server.post(&format!("/memory/skills/{name}"), json!({"user_id": "u", "arguments": arguments}))
        };
        let refused = |arguments: Value, param: &str| {
            let error = send(arguments).refused(422, "invalid_field");
            assert_eq!(error["param"], param, "{name}");
            assert!(error["message"].as_str().unwrap().starts_with(param), "{error}");
        };
        refused(json!({"stranger": 1}), "arguments.stranger");
        refused(json!([]), "arguments");
        if let Some(first) = parameters["required"][0].as_str() {
            refused(json!({}), &format!("arguments.{first}"));
        }
        for argument in parameters["properties"].as_object().unwrap().keys() {
            let wrong = |(known, of): (&String, &Value)| {
                let fits = match of["type"].as_str().unwrap() {
                    "string" => json!(of["enum"][0].as_str().unwrap_or("x")),
                    "integer" => json!(1),
                    _ => json!({}),
                };
                (known.clone(), if known == argument { json!([]) } else { fits })
            };
            let arguments: serde_json::Map<_, _> =
                parameters["properties"].as_object().unwrap().iter().map(wrong).collect();
            refused(arguments.into(), &format!("arguments.{argument}"));
        }
    }
}

#[test]
fn tasks_go_from_open_to_done() {
    let server = Server::start();
    let task = run(&server, "add_task", json!({"title": "buy tea", "due": "friday"}));
    let id = task["id"].as_str().unwrap();
    run(&server, "update_task", json!({"id": id, "title": "buy oolong", "notes": "much"}));
    assert_eq!(run(&server, "list_tasks", json!({}))["tasks"][0]["title"], "buy oolong");
    let done = run(&server, "complete_task", json!({"id": id}));
    assert!(done["status"] == "done" && done["done_at"].is_number() && done["notes"] == "much");
    assert_eq!(run(&server, "list_tasks", json!({"status": "open"}))["tasks"], json!([]));
    assert_eq!(server.get(&user("u", &format!("/tasks/{id}"))).ok(), done, "the native API reads the same");
    assert_eq!(run(&server, "delete_task", json!({"id": id})), json!({"deleted": true}));
    for skill in ["update_task", "complete_task", "delete_task"] {
        let body = json!({"user_id": "u", "arguments": {"id": id}});
        server.post(&format!("/memory/skills/{skill}"), body).refused(404, "not_found");
    }
    let blank = json!({"user_id": "u", "arguments": {"title": " "}});
    let error = server.post("/memory/skills/add_task", blank).refused(422, "invalid_field");
    assert_eq!((&error["param"], &error["message"]), (&json!("arguments.title"), &json!("arguments.title is empty")));
}

#[test]
fn what_is_remembered_is_recalled() {
    let server = Server::start();
    let id = run(&server, "remember", json!({"text": "likes green tea", "meta": {"from": "chat"}}))["id"].clone();
    let hit = run(&server, "recall", json!({"query": "tea", "k": 3}))["hits"][0].clone();
    assert_eq!((&hit["id"], &hit["meta"]), (&id, &json!({"from": "chat"})));
    assert_eq!(run(&server, "set_user_data", json!({"data": {"name": "Ada"}})), json!({"name": "Ada"}));
    let both = run(&server, "set_user_data", json!({"data": {"city": "Paris"}}));
    assert_eq!(both, json!({"name": "Ada", "city": "Paris"}));
    assert_eq!(server.get(&user("u", "/data")).ok(), both);
    let nested = run(&server, "set_user_data", json!({"data": {"a": {"b": [1]}}}));
    assert_eq!(nested, json!({"name": "Ada", "city": "Paris", "a": {"b": [1]}}));
    assert_eq!(server.get(&user("u", "/data")).ok(), nested);
    for (k, param) in [(0, "arguments.k"), (101, "arguments.k")] {
        let body = json!({"user_id": "u", "arguments": {"query": "x", "k": k}});
        assert_eq!(server.post("/memory/skills/recall", body).refused(422, "invalid_field")["param"], param);
    }
}

#[test]
fn documents_and_repositories_are_found_each_by_its_skill() {
    let server = Server::start();
    let root =
        server.home.write("project/src/tea.rs", "fn brew_tea() {}").parent().unwrap().parent().unwrap().to_owned();
    run(&server, "index_document", json!({"name": "book", "text": "tea in the book", "id": "b", "meta": {"n": 1}}));
    let made = run(&server, "index_repo", json!({"path": root, "name": "kettle"}));
    assert_eq!((&made["files"], &made["passages"]), (&json!(1), &json!(1)));
    let names = |skill: &str, arguments: Value| -> Vec<Value> {
        run(&server, skill, arguments)["hits"].as_array().unwrap().iter().map(|hit| hit["name"].clone()).collect()
    };
    assert_eq!(names("vector_rag", json!({"query": "tea"})), ["book"]);
    assert_eq!(names("search_repos", json!({"query": "tea"})), ["kettle"]);
    assert_eq!(names("search_repos", json!({"query": "tea", "repo": "kettle"})), ["kettle"]);
    let wrong = json!({"user_id": "u", "arguments": {"query": "tea", "repo": "book"}});
    server.post("/memory/skills/search_repos", wrong).refused_with(404, "not_found", &["book"]);
    let admin = server.admin_key();
    let own = server.user_key(&admin, "u");
    own.post("/memory/skills/index_repo", json!({"arguments": {"path": root}})).refused(403, "forbidden");
    own.post("/memory/skills/index_document", json!({"arguments": {"name": "n", "text": "t"}})).ok();
}

#[test]
fn with_a_task_the_result_is_kept_in_its_memory() {
    let server = Server::start();
    let body = json!({"user_id": "u", "task_id": "k", "arguments": {"text": "likes tea"}});
    let result = server.post("/memory/skills/remember", body).ok()["result"].clone();
    let kept = server.get(&user("u", "/tasks/k/results")).ok()["results"].clone();
    assert_eq!(kept.as_array().unwrap().len(), 1);
    assert_eq!(kept[0]["name"], "remember");
    assert_eq!(serde_json::from_str::<Value>(kept[0]["content"].as_str().unwrap()).unwrap(), result);
    for _ in 0..20 {
        run(&server, "remember", json!({"text": "tea ".repeat(16 * 1024)}));
    }
    let large = json!({"user_id": "u", "task_id": "large", "arguments": {"query": "tea", "k": 20}});
    server.post("/memory/skills/recall", large).ok();
    let content = server.get(&user("u", "/tasks/large/results")).ok()["results"][0]["content"].clone();
    assert_eq!(content.as_str().unwrap().len(), TASK_RESULT_BYTES_MAX, "of a large result the front is kept");
    let refused = json!({"user_id": "u", "task_id": "k", "arguments": {"text": ""}});
    server.post("/memory/skills/remember", refused).refused(422, "invalid_field");
    assert_eq!(server.get(&user("u", "/tasks/k/results")).ok()["results"].as_array().unwrap().len(), 1);
}

#[test]
fn a_skill_is_of_the_callers_user_and_has_a_known_name() {
    let server = Server::start();
    let body = json!({"user_id": "u"});
    server.post("/memory/skills/list_task", &body).refused_with(404, "not_found", &["list_tasks"]);
    server.post("/memory/skills/juggle", &body).refused_with(404, "not_found", &["juggle"]);
    for (body, param) in [
        (json!({}), "user_id"),
        (json!({"user_id": "u", "task_id": "\n"}), "task_id"),
        (json!({"user_id": "u", "session_id": ""}), "session_id"),
        (json!({"user_id": "u", "args": {}}), "args"),
    ] {
        assert_eq!(server.post("/memory/skills/list_tasks", body).refused(422, "invalid_field")["param"], param);
    }
    let admin = server.admin_key();
    let (own, other) = (server.user_key(&admin, "u"), server.user_key(&admin, "u2"));
    other.post("/memory/skills/list_tasks", &body).refused(403, "forbidden");
    own.post("/memory/skills/remember", json!({"arguments": {"text": "likes tea"}})).ok();
    let recall = json!({"arguments": {"query": "tea"}});
    assert_eq!(other.post("/memory/skills/recall", &recall).ok()["result"]["hits"], json!([]));
    assert_eq!(own.post("/memory/skills/recall", &recall).ok()["result"]["hits"][0]["text"], "likes tea");
}
