//! Tasks, and what tools answered while one was worked on.

use novelo_engine::limits::{JSON_DEPTH_MAX, MEMORY_BYTES_MAX, TASK_RESULT_BYTES_MAX};

use crate::support::{Client, Home, Server, Value, eventually, json, user};

fn add(client: &Client, of: &str, body: Value) -> Value {
    client.post(&user(of, "/tasks"), body).ok()
}

fn titles(page: &Value) -> Vec<String> {
    page["tasks"].as_array().unwrap().iter().map(|task| task["title"].as_str().unwrap().into()).collect()
}

#[test]
fn a_task_is_added_changed_done_and_deleted() {
    let server = Server::start();
    let task = add(&server, "u", json!({"title": "buy tea", "notes": "green", "due": "2026-12-01"}));
    let fields = ["id", "title", "status", "notes", "due", "created_at", "updated_at"];
    assert_eq!(task.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    let at = user("u", &format!("/tasks/{}", task["id"].as_str().unwrap()));
    assert_eq!(server.get(&at).ok(), task);
    let changed = server.patch(&at, json!({"title": "buy oolong", "notes": null})).ok();
    assert_eq!((&changed["title"], &changed["due"]), (&json!("buy oolong"), &json!("2026-12-01")));
    assert_eq!((changed.get("notes"), &changed["created_at"]), (None, &task["created_at"]));
    let done = server.patch(&at, json!({"status": "done"})).ok();
    assert!(done["status"] == "done" && done["done_at"].as_f64() >= task["created_at"].as_f64());
    assert_eq!(server.patch(&at, json!({"status": "done"})).ok()["done_at"], done["done_at"]);
    assert_eq!(server.patch(&at, json!({"status": "open"})).ok().get("done_at"), None);
    let server = server.restart();
    assert_eq!(server.get(&at).ok()["title"], "buy oolong");
    assert_eq!(server.delete(&at).ok(), json!({"deleted": true}));
    for refused in [server.get(&at), server.delete(&at), server.patch(&at, json!({"status": "done"}))] {
        refused.refused(404, "not_found");
    }
}

#[test]
fn tasks_list_by_status_in_pages() {
    let server = Server::start();
    for n in 0..6 {
        add(&server, "u", json!({"title": format!("t{n}"), "id": format!("k{n}")}));
        if n % 2 == 1 {
            server.patch(&user("u", &format!("/tasks/k{n}")), json!({"status": "done"})).ok();
        }
    }
    add(&server, "u2", json!({"title": "of another"}));
    let page = |query: &str| server.get(&user("u", &format!("/tasks{query}"))).ok();
    assert_eq!(titles(&page("")), ["t0", "t1", "t2", "t3", "t4", "t5"]);
    assert_eq!(titles(&page("?status=open")), ["t0", "t2", "t4"]);
    assert_eq!(titles(&page("?status=done")), ["t1", "t3", "t5"]);
    let first = page("?status=done&limit=2");
    assert_eq!((titles(&first), &first["has_more"]), (vec!["t1".into(), "t3".into()], &json!(true)));
    let rest = page("?status=done&limit=2&after=k3");
    assert_eq!((titles(&rest), &rest["has_more"]), (vec!["t5".into()], &json!(false)));
    let exact = page("?status=done&limit=3");
    assert_eq!((titles(&exact).len(), &exact["has_more"]), (3, &json!(false)));
    for query in ["?status=late", "?limit=0", "?after=none", "?x=1"] {
        server.get(&user("u", &format!("/tasks{query}"))).refused(422, "invalid_field");
    }
}

#[test]
fn what_is_no_task_is_refused_by_name() {
    let server = Server::start();
    add(&server, "u", json!({"title": "t", "id": "k"}));
    server.post(&user("u", "/tasks"), json!({"title": "other", "id": "k"})).refused(409, "conflict");
    let check = |method: &str, path: &str, body: Value, param: Option<&str>| {
        let refused = server.call(method, &user("u", path), &body).refused(422, "invalid_field");
        assert_eq!(refused["param"], json!(param), "{body}");
    };
    for (body, param) in [
        (json!({}), None),
        (json!({"title": " "}), Some("title")),
        (json!({"title": 1}), Some("title")),
        (json!({"title": "t", "status": "done"}), Some("status")),
        (json!({"title": "t", "due": ""}), Some("due")),
        (json!({"title": "t", "id": ""}), Some("id")),
        (json!({"title": "x".repeat(MEMORY_BYTES_MAX + 1)}), Some("title")),
        (json!({"title": "t", "notes": "x".repeat(MEMORY_BYTES_MAX + 1)}), Some("notes")),
    ] {
        check("POST", "/tasks", body, param);
    }
    check("PATCH", "/tasks/k", json!({"title": ""}), Some("title"));
    check("PATCH", "/tasks/k", json!({"status": "late"}), Some("status"));
    check("PATCH", "/tasks/k", json!({"id": "k2"}), Some("id"));
    let most = "x".repeat(MEMORY_BYTES_MAX);
    add(&server, "u", json!({"title": most, "notes": most}));
}

#[test]
fn changes_from_many_sides_are_all_kept() {
    let server = Server::start();
    add(&server, "u", json!({"title": "t", "id": "k"}));
    let at = user("u", "/tasks/k");
    std::thread::scope(|scope| {
        for body in [json!({"title": "new"}), json!({"notes": "n"}), json!({"due": "d"}), json!({"status": "done"})] {
            let (server, at) = (&server, &at);
            scope.spawn(move || server.patch(at, body).ok());
        }
    });
    let task = server.get(&at).ok();
    assert_eq!([&task["title"], &task["notes"], &task["due"], &task["status"]], ["new", "n", "d", "done"]);
}

#[test]
fn results_of_a_task_are_kept_in_order_for_their_time() {
    let server = Server::start();
    let path = user("u", "/tasks/any%20id/results");
    let ids: Vec<Value> = (0..3)
        .map(|n| server.post(&path, json!({"name": "tool", "content": format!("answer {n}")})).ok()["id"].clone())
        .collect();
    server.post(&path, json!({"content": ""})).ok();
    let all = server.get(&path).ok();
    let contents: Vec<&Value> = all["results"].as_array().unwrap().iter().map(|row| &row["content"]).collect();
    assert_eq!(contents, ["answer 0", "answer 1", "answer 2", ""]);
    assert_eq!(all["results"][0].as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "name", "content", "at"]);
    let page = server.get(&format!("{path}?limit=1&after={}", ids[0].as_str().unwrap())).ok();
    assert_eq!((&page["results"][0]["content"], &page["has_more"]), (&json!("answer 1"), &json!(true)));
    assert_eq!(server.get(&user("u", "/tasks/other/results")).ok()["results"], json!([]));
    assert_eq!(server.get(&user("u2", "/tasks/any%20id/results")).ok()["results"], json!([]));
    let export = server.get(&user("u", "/export")).text();
    let line = export.lines().find(|line| line.contains("answer 0")).unwrap();
    let row: Value = serde_json::from_str(line).unwrap();
    assert_eq!(row["path"], format!("users/u/task_memory/any%20id/results/{}", ids[0].as_str().unwrap()));
    let kept = row["expires_at"].as_f64().unwrap() - row["create_time"].as_f64().unwrap();
    assert_eq!(kept, 86_400.0);
    for body in [json!({}), json!({"content": "c", "name": ""}), json!({"content": "c", "x": 1})] {
        server.post(&path, body).refused(422, "invalid_field");
    }
    let deep = |depth: usize| json!({"content": (0..depth).fold(json!(1), |inner, _| json!([inner]))});
    server.post(&path, deep(JSON_DEPTH_MAX)).refused_with(422, "invalid_field", &["content", "JSON_DEPTH_MAX"]);
    server.post(&path, deep(JSON_DEPTH_MAX - 1)).ok();
    server.post(&path, json!({"content": "x".repeat(TASK_RESULT_BYTES_MAX)})).ok();
    let past = server.post(&path, json!({"content": "x".repeat(TASK_RESULT_BYTES_MAX + 1)}));
    past.refused_with(422, "invalid_field", &["TASK_RESULT_BYTES_MAX"]);
}

#[test]
fn results_are_gone_after_their_time() {
    let server = Home::new().serve_with(&[("NOVELO_MEMORY_TASK_TTL_SECONDS", "1")]);
    let path = user("u", "/tasks/k/results");
    server.post(&path, json!({"content": "answer"})).ok();
    assert!(eventually(|| server.get(&path).ok()["results"] == json!([])));
    let server = Home::new().serve_with(&[("NOVELO_MEMORY_TASK_TTL_SECONDS", "0")]);
    server.post(&path, json!({"content": "answer"})).ok();
    assert!(!server.get(&user("u", "/export")).text().contains("expires_at"));
}
