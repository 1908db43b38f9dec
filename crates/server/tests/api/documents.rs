//! Documents by their paths, collections by time, batches, and user data.

use novelo_engine::limits::{BATCH_OPS_MAX, MESSAGE_BYTES_MAX, PATH_SEGMENTS_MAX};

use crate::support::{Client, Server, Value, json, user};

const AT: &str = "/v1/docs/users/u/notes/n";

fn version(client: &Client, path: &str) -> Value {
    client.get(path).ok()["version"].clone()
}

#[test]
fn a_document_is_the_bytes_that_came() {
    let server = Server::start();
    for value in [r#"{ "b" : 1.50 ,"a":"\u00e9" }"#, "5", "null", r#""text""#, "[1,  2]", "1e400"] {
        server.put(AT, format!(" {value}\n")).ok();
        let answer = server.get(AT).text();
        assert!(answer.ends_with(&format!(",\"value\":{value}}}")), "{answer}");
    }
    let fields = ["id", "create_time", "version", "value"];
    server.put(AT, "{}").ok();
    let answer = server.get(AT).ok();
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    assert_eq!((&answer["id"], &answer["value"]), (&json!("n"), &json!({})));
}

#[test]
fn a_put_replaces_and_a_patch_merges_deeply() {
    let server = Server::start();
    server.put(AT, r#"{"keep":1.50,"deep":{"a":1,"b":2},"list":[1]}"#).ok();
    server.patch(AT, r#"{"deep":{"b":3,"c":4},"list":[2],"more":null}"#).ok();
    let merged = r#"{"keep":1.50,"deep":{"a":1,"b":3,"c":4},"list":[2],"more":null}"#;
    assert!(server.get(AT).text().ends_with(&format!("\"value\":{merged}}}")));
    server.put(AT, r#"{"only":1}"#).ok();
    assert_eq!(server.get(AT).ok()["value"], json!({"only": 1}));
    server.patch("/v1/docs/users/u/notes/new", r#"{"made":1}"#).ok();
    assert_eq!(server.get("/v1/docs/users/u/notes/new").ok()["value"], json!({"made": 1}));
    server.patch(AT, "[1]").refused(422, "invalid_field");
}

#[test]
fn a_document_may_bring_its_time() {
    let server = Server::start();
    let stamp = server.put(AT, json!({"create_time": 12.5})).ok();
    assert_eq!(stamp, json!({"id": "n", "seq": 1, "create_time": 12.5, "version": 1}));
    server.patch(AT, json!({"create_time": 13})).ok();
    assert_eq!(server.get(AT).ok()["create_time"], 13.0);
    server.put("/v1/docs/users/u/notes/now", json!({"create_time": "no number"})).ok();
    assert!(server.get("/v1/docs/users/u/notes/now").ok()["create_time"].as_f64().unwrap() > 1.7e9);
}

#[test]
fn if_match_refuses_a_lost_update() {
    let server = Server::start();
    let known = |version: &str| server.with("if-match", version);
    known("0").put(AT, "1").ok();
    known("0").put(AT, "2").refused_with(409, "stale", &["0", "1"]);
    known("1").put(AT, "2").ok();
    known("1").patch(AT, "{}").refused(409, "stale");
    known("\"2\"").put(AT, "3").ok();
    known("2").delete(AT).refused(409, "stale");
    assert_eq!((version(&server, AT), server.get(AT).ok()["value"].clone()), (json!(3), json!(3)));
    let error = known("*").put(AT, "4").refused(422, "invalid_field");
    assert_eq!(error["param"], "If-Match");
    assert_eq!(known("3").delete(AT).ok(), json!({"deleted": true}));
}

#[test]
fn what_is_deleted_is_not_found() {
    let server = Server::start();
    server.get(AT).refused(404, "not_found");
    server.delete(AT).refused(404, "not_found");
    server.put(AT, "1").ok();
    server.delete(AT).ok();
    server.get(AT).refused(404, "not_found");
    server.put(AT, "2").ok();
    assert_eq!(version(&server, AT), 1, "a new document");
}

#[test]
fn a_collection_lists_by_time_from_begin_to_end() {
    let server = Server::start();
    for time in [5, 3, 1, 4, 2] {
        server.put(&format!("/v1/docs/users/u/notes/d{time}"), json!({"create_time": time})).ok();
    }
    let check = |query: &str, expected: &[&str], has_more: bool| {
        let answer = server.get(&format!("/v1/docs/users/u/notes{query}")).ok();
        let rows = answer["documents"].as_array().unwrap();
        assert_eq!(rows.iter().map(|row| row["id"].as_str().unwrap()).collect::<Vec<_>>(), expected, "{query}");
        assert_eq!(answer["has_more"], json!(has_more), "{query}");
    };
    check("", &["d1", "d2", "d3", "d4", "d5"], false);
    check("/", &["d1", "d2", "d3", "d4", "d5"], false);
    check("?begin=2&end=4", &["d3", "d4"], false);
    check("?begin=2.5", &["d3", "d4", "d5"], false);
    check("?end=1", &["d1"], false);
    check("?limit=2", &["d1", "d2"], true);
    check("?limit=2&after=d2", &["d3", "d4"], true);
    check("?limit=2&after=d4", &["d5"], false);
    check("?begin=1&end=4&limit=2&after=d2", &["d3", "d4"], false);
    check("?begin=5", &[], false);
    for query in ["?limit=0", "?limit=1001", "?after=nobody", "?begin=nan", "?end=soon", "?from=1"] {
        server.get(&format!("/v1/docs/users/u/notes{query}")).refused(422, "invalid_field");
    }
    assert_eq!(server.get("/v1/docs/users/u/nothing").ok(), json!({"documents": [], "has_more": false}));
}

#[test]
fn a_path_has_its_shape_and_its_cap() {
    let server = Server::start();
    for method in ["PUT", "PATCH", "DELETE"] {
        server.call(method, "/v1/docs/users/u/notes", "{}").refused(405, "method_not_allowed");
    }
    let path = |segments: usize| format!("/v1/docs{}", "/s".repeat(segments));
    server.put(&path(PATH_SEGMENTS_MAX), "{}").ok();
    server.get(&path(PATH_SEGMENTS_MAX)).ok();
    server.get(&path(PATH_SEGMENTS_MAX + 1)).refused_with(422, "invalid_field", &["PATH_SEGMENTS_MAX"]);
    for path in ["users//notes/n", "a/%FF", "a/%0A", "a/%2", "a/%zz"] {
        let error = server.get(&format!("/v1/docs/{path}")).refused(422, "invalid_field");
        assert_eq!(error["param"], "path", "{path}");
    }
    server.get("/v1/docs/keys").refused(403, "forbidden");
    server.put("/v1/docs/keys/mine", "{}").refused(403, "forbidden");
}

#[test]
fn a_batch_is_all_or_nothing() {
    let server = Server::start();
    let path = |name: &str| format!("users/u/notes/{name}");
    let batch = |ops: Value| server.post("/v1/docs:batch", json!({"ops": ops}));
    server.put("/v1/docs/users/u/notes/old", "{}").ok();
    server.put("/v1/docs/users/u/notes/merged", r#"{"a":1}"#).ok();
    let ops = json!([
        {"op": "put", "path": path("a%20b"), "value": 1},
        {"op": "patch", "path": path("merged"), "value": {"b": 2}},
        {"op": "delete", "path": path("old")},
    ]);
    assert_eq!(batch(ops).ok(), json!({"done": 3}));
    assert_eq!(server.get("/v1/docs/users/u/notes/a%20b").ok()["value"], 1);
    assert_eq!(server.get("/v1/docs/users/u/notes/merged").ok()["value"], json!({"a": 1, "b": 2}));
    server.get("/v1/docs/users/u/notes/old").refused(404, "not_found");

    let good = json!({"op": "put", "path": path("never"), "value": 1});
    for (bad, param) in [
        (json!({"op": "put", "path": "users/u/notes", "value": 1}), "ops[1].path"),
        (json!({"op": "put", "path": path("x")}), "ops[1].value"),
        (json!({"op": "delete", "path": path("x"), "value": 1}), "ops[1].value"),
        (json!({"op": "patch", "path": path("x"), "value": 1}), "ops[1].value"),
        (json!({"op": "move", "path": path("x")}), "ops[1].op"),
    ] {
        assert_eq!(batch(json!([good, bad])).refused(422, "invalid_field")["param"], param);
    }
    let reserved = json!({"op": "put", "path": "keys/mine", "value": 1});
    batch(json!([good, reserved])).refused(403, "forbidden");
    server.get("/v1/docs/users/u/notes/never").refused(404, "not_found");
}

#[test]
fn a_batch_has_a_cap() {
    let server = Server::start();
    let ops = |count: usize| -> Value {
        (0..count).map(|n| json!({"op": "put", "path": format!("users/u/notes/{n}"), "value": n})).collect()
    };
    let error = server.post("/v1/docs:batch", json!({"ops": ops(BATCH_OPS_MAX + 1)})).refused(422, "invalid_field");
    assert_eq!(error["param"], "ops");
    assert!(error["message"].as_str().unwrap().contains("BATCH_OPS_MAX is 400"), "{error}");
    assert_eq!(server.get("/v1/docs/users/u/notes").ok()["documents"], json!([]));
    assert_eq!(server.post("/v1/docs:batch", json!({"ops": ops(BATCH_OPS_MAX)})).ok(), json!({"done": 400}));
    assert_eq!(server.get("/v1/docs/users/u/notes?limit=400").ok()["has_more"], json!(false));
}

/// Puts two collapse responses and their index below a root; gives what is left of the index at any time.
fn collapsed<'s>(server: &'s Server, root: &str) -> (String, impl Fn() -> Vec<String> + use<'s>) {
    let thread = format!("/v1/docs/{root}convo.sessions/s");
    let index = format!("{thread}/indexes/collapsed");
    for (response, group) in [("r1", "A"), ("r2", "B")] {
        let entry = json!({"responseId": response, "updated_at": 1});
        server.put(&format!("{thread}/collapsed/{response}"), json!({"groups": [{"name": group}]})).ok();
        server.patch(&format!("{index}/messageToGroups/m"), json!({"groups": {group: &entry}})).ok();
        server.put(&format!("{index}/byMessage/m/groups/{group}X"), &entry).ok();
        server.put(&format!("{index}/groupToResponse/{group}"), &entry).ok();
        server.put(&format!("{index}/groupState/{group}"), json!({"expanded": true})).ok();
        server.put(&format!("{index}/responseToGroups/{response}"), json!({"groups": [group]})).ok();
    }
    let below = ["messageToGroups", "byMessage/m/groups", "groupToResponse", "groupState", "responseToGroups"];
    let left = move || {
        let documents = below.iter().flat_map(|of| {
            let answer = server.get(&format!("{index}/{of}")).ok();
            let ids = answer["documents"].as_array().unwrap().iter().map(|d| (d["id"].clone(), d["value"].clone()));
            ids.map(|(id, value)| match value["groups"].as_object() {
                Some(groups) => groups.keys().map(String::as_str).collect::<Vec<_>>().join("+"),
                None => id.as_str().unwrap().to_owned(),
            })
            .collect::<Vec<_>>()
        });
        documents.collect()
    };
    (thread, left)
}

#[test]
fn a_collapse_response_is_deleted_with_its_index() {
    let server = Server::start();
    for root in ["users/u/", ""] {
        let (thread, left) = collapsed(&server, root);
        let all = ["A+B", "AX", "BX", "A", "B", "A", "B", "r1", "r2"];
        assert_eq!(left(), all);
        server.with("if-match", "7").delete(&format!("{thread}/collapsed/r1")).refused(409, "stale");
        server.delete(&format!("{thread}/collapsed/nobody")).refused(404, "not_found");
        server.delete(&format!("{thread}/messages/r1")).refused(404, "not_found");
        assert_eq!(left(), all, "a refusal leaves it alone");
        server.with("if-match", "1").delete(&format!("{thread}/collapsed/r1")).ok();
        assert_eq!(left(), ["B", "BX", "B", "B", "r2"]);
        server.delete(&format!("{thread}/collapsed/r2")).ok();
        assert_eq!(left(), [""; 0]);
        server.get(&format!("{thread}/collapsed/r2")).refused(404, "not_found");
    }
}

#[test]
fn a_batch_deletes_collapse_responses_with_their_index() {
    let server = Server::start();
    let (thread, left) = collapsed(&server, "users/u/");
    let path = |response: &str| format!("users/u/convo.sessions/s/collapsed/{response}");
    let delete = |response: &str| json!({"op": "delete", "path": path(response)});
    let patch = |value: Value| json!({"op": "patch", "path": "users/u/notes/n", "value": value});
    let long = "x".repeat(MESSAGE_BYTES_MAX * 2 / 3);
    let before = left();
    server.put(AT, json!({"a": &long})).ok();
    let ops = json!({"ops": [delete("r1"), patch(json!({"b": &long}))]});
    server.post("/v1/docs:batch", ops).refused_with(422, "invalid_field", &["MESSAGE_BYTES_MAX"]);
    assert_eq!(left(), before);
    let ops = json!({"ops": [delete("r1"), patch(json!({"a": 1})), delete("r2")]});
    assert_eq!(server.post("/v1/docs:batch", ops).ok(), json!({"done": 3}));
    assert_eq!(left(), [""; 0]);
    server.get(&format!("{thread}/collapsed/r1")).refused(404, "not_found");
    assert_eq!(server.get(AT).ok()["value"], json!({"a": 1}));
}

#[test]
fn user_data_is_an_object_of_any_values() {
    let server = Server::start();
    let data = user("u", "/data");
    assert_eq!(server.get(&data).ok(), json!({}));
    assert_eq!(server.put(&data, r#"{"name":"Ada","score":1.50}"#).text(), r#"{"name":"Ada","score":1.50}"#);
    assert_eq!(server.patch(&data, r#"{"city":"Paris","name":"Eve"}"#).ok()["name"], "Eve");
    assert_eq!(server.get(&data).text(), r#"{"name":"Eve","score":1.50,"city":"Paris"}"#);
    for body in [r#"{"deep":{"a":[1,{}]}}"#, r#"{"a":1,"list":[]}"#] {
        assert_eq!(server.put(&data, body).text(), body);
        assert_eq!(server.get(&data).text(), body);
    }
    assert_eq!(server.put(&data, "[]").refused(422, "invalid_field")["param"], "body");
    assert_eq!(server.patch(&data, "[]").refused(422, "invalid_field")["param"], "body");
    assert_eq!(server.put(&data, r#"{"only":true}"#).ok(), json!({"only": true}));
}
