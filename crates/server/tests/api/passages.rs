//! Documents and repositories as passages, and searches over them and over what was said.

use std::path::Path;

use novelo_engine::limits::{ID_BYTES_MAX, REPO_FILE_BYTES_MAX};

use crate::support::{Client, Server, Value, enc, json, says, user};

fn index(client: &Client, of: &str, body: Value) -> Value {
    client.post(&user(of, "/documents"), body).ok()
}

fn find(client: &Client, of: &str, body: Value) -> Vec<Value> {
    client.post(&user(of, "/documents/search"), body).ok()["hits"].as_array().unwrap().clone()
}

/// The passages of a document as they are stored: id, version and value.
fn stored(client: &Client, of: &str, document: &str) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let after = all.last().map(|row| format!("&after={}", row["id"].as_str().unwrap())).unwrap_or_default();
        let path = format!("/v1/docs/users/{}/documents/{}/passages?limit=1000{after}", enc(of), enc(document));
        let page = client.get(&path).ok();
        all.extend(page["documents"].as_array().unwrap().clone());
        if page["has_more"] == json!(false) {
            return all;
        }
    }
}

/// Paragraphs that no splitter joins.
fn paragraphs(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word} {}\n\n", "and more of it. ".repeat(60))).collect()
}

fn write(root: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_document_is_found_by_the_next_search_and_by_no_other_user() {
    let server = Server::start();
    let meta = json!({"author": "Ada"});
    let made = index(&server, "u", json!({"name": "Tea book", "text": "All about oolong.", "meta": meta, "id": "b"}));
    assert_eq!(made, json!({"id": "b", "passages": 1}));
    let hits = find(&server, "u", json!({"query": "oolong"}));
    assert_eq!(hits.len(), 1);
    let fields = ["id", "document", "name", "text", "score", "meta"];
    assert_eq!(hits[0].as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    assert_eq!((&hits[0]["document"], &hits[0]["name"]), (&json!("b"), &json!("Tea book")));
    assert_eq!((&hits[0]["text"], &hits[0]["meta"]), (&json!("All about oolong."), &meta));
    assert_eq!(find(&server, "u2", json!({"query": "oolong"})), [Value::Null; 0]);
    assert!(find(&server, "u", json!({"query": "oolong", "explain": true}))[0]["why"].is_object());
    let server = server.restart();
    assert_eq!(find(&server, "u", json!({"query": "oolong"})).len(), 1);
}

#[test]
fn a_document_is_replaced_and_what_did_not_change_is_kept() {
    let server = Server::start();
    let old = paragraphs(&["alpha", "beta", "gamma"]);
    let first = index(&server, "u", json!({"name": "n", "text": old, "id": "d"}));
    let before = stored(&server, "u", "d");
    assert_eq!(first["passages"], before.len());
    index(&server, "u", json!({"name": "n", "text": old, "id": "d"}));
    assert_eq!(stored(&server, "u", "d"), before, "nothing was written");

    let new = old.clone() + "\n\n" + &paragraphs(&["delta"]);
    let second = index(&server, "u", json!({"name": "n2", "text": new, "id": "d"}));
    let after = stored(&server, "u", "d");
    assert_eq!(second["passages"], after.len());
    let kept = before.iter().filter(|row| after.contains(row)).count();
    assert!(kept >= before.len() - 1 && after.len() > before.len(), "{kept} of {}", before.len());
    let found = |word: &str| find(&server, "u", json!({"query": word})).len();
    assert!(found("alpha") > 0 && found("delta") > 0);

    index(&server, "u", json!({"name": "n", "text": "only omega", "id": "d"}));
    assert_eq!(stored(&server, "u", "d").len(), 1);
    assert_eq!([found("alpha"), found("delta"), found("omega")], [0, 0, 1]);
    assert_eq!(server.get(&user("u", "/documents/d")).ok()["passages"], 1);
}

#[test]
fn replacing_at_once_from_many_sides_leaves_one_of_them_whole() {
    let server = Server::start();
    let text =
        |n: usize| (0..20).map(|p| format!("writer{n} part{p} {}\n\n", "words ".repeat(150))).collect::<String>();
    index(&server, "u", json!({"name": "n", "text": text(9), "id": "d"}));
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (server, text) = (&server, text(n));
            scope.spawn(move || index(server, "u", json!({"name": format!("n{n}"), "text": text, "id": "d"})));
        }
    });
    let head = server.get(&user("u", "/documents/d")).ok();
    let writer = head["name"].as_str().unwrap().replace('n', "writer");
    let passages = stored(&server, "u", "d");
    assert_eq!(head["passages"], passages.len());
    let all: String = passages.iter().map(|row| row["value"]["text"].as_str().unwrap()).collect();
    let others = (0..10).map(|n| format!("writer{n}")).filter(|other| *other != writer);
    assert!(all.contains(&writer));
    others.for_each(|other| assert!(!all.contains(&other), "{other} beside {writer}"));
}

#[test]
fn a_document_of_one_long_line_is_taken() {
    let server = Server::start();
    let mut text = "lorem ipsum dolor ".repeat(10 * 1024 * 1024 / 18);
    text.push_str("needle");
    let made = index(&server, "u", json!({"name": "long", "text": text, "id": "d"}));
    assert!(made["passages"].as_u64().unwrap() > 1_000, "{made}");
    let hits = find(&server, "u", json!({"query": "needle"}));
    assert!(hits[0]["text"].as_str().unwrap().ends_with("needle"), "{hits:?}");
    assert_eq!(server.get(&user("u", "/documents/d")).ok()["bytes"], text.len());
    assert_eq!(server.delete(&user("u", "/documents/d")).ok(), json!({"deleted": true, "passages": made["passages"]}));
    assert_eq!(find(&server, "u", json!({"query": "needle"})), [Value::Null; 0]);
}

#[test]
fn documents_are_listed_read_and_deleted() {
    let server = Server::start();
    for n in 0..3 {
        index(&server, "u", json!({"name": format!("n{n}"), "text": format!("text {n}"), "id": format!("d{n}")}));
    }
    let page = |query: &str| server.get(&user("u", &format!("/documents{query}"))).ok();
    let ids = |page: &Value| -> Vec<String> {
        page["documents"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().into()).collect()
    };
    assert_eq!(
        (ids(&page("")), page("")["has_more"].clone()),
        (vec!["d0".into(), "d1".into(), "d2".into()], json!(false))
    );
    assert_eq!(
        (ids(&page("?limit=2")), page("?limit=2")["has_more"].clone()),
        (vec!["d0".into(), "d1".into()], json!(true))
    );
    assert_eq!(ids(&page("?limit=2&after=d1")), ["d2"]);
    server.get(&user("u", "/documents?after=none")).refused(422, "invalid_field");
    let one = server.get(&user("u", "/documents/d1")).ok();
    assert_eq!((&one["name"], &one["kind"], &one["bytes"]), (&json!("n1"), &json!("document"), &json!(6)));
    assert_eq!(server.delete(&user("u", "/documents/d1")).ok(), json!({"deleted": true, "passages": 1}));
    server.get(&user("u", "/documents/d1")).refused(404, "not_found");
    server.delete(&user("u", "/documents/d1")).refused(404, "not_found");
    server.delete(&user("u2", "/documents/d0")).refused(404, "not_found");
    assert_eq!(find(&server, "u", json!({"query": "text"})).len(), 2);
    let forgotten = server.delete(&user("u", "")).ok();
    assert_eq!(forgotten["forgotten"], json!({"documents": 2, "passages": 2, "traces": 0}));
}

#[test]
fn what_is_no_document_is_refused_by_name() {
    let server = Server::start();
    let check = |body: Value, param: Option<&str>, words: &[&str]| {
        let answer = server.post(&user("u", "/documents"), &body);
        answer.refused_with(422, "invalid_field", words);
        assert_eq!(answer.json()["error"]["param"], json!(param), "{body}");
    };
    check(json!({}), Some("text"), &["missing"]);
    check(json!({"text": "t"}), Some("name"), &["missing"]);
    check(json!({"text": "t", "name": " "}), Some("name"), &["empty"]);
    check(json!({"text": " ", "name": "n"}), Some("text"), &["empty"]);
    check(json!({"text": "t", "name": "n", "path": "/x"}), Some("path"), &["exclude"]);
    check(json!({"text": "t", "name": "n", "meta": 1}), Some("meta"), &["object"]);
    check(json!({"text": "t", "name": "n", "id": "\n"}), Some("id"), &[]);
    check(json!({"text": "t", "name": "n", "lang": "en"}), Some("lang"), &[]);
    check(json!({"path": "relative/x"}), Some("path"), &["absolute"]);
    check(json!({"path": "/no/such/place"}), Some("path"), &["cannot be read"]);
    check(json!({"path": "/", "meta": {}}), Some("meta"), &["text"]);
    index(&server, "u", json!({"text": "t", "name": "x".repeat(ID_BYTES_MAX)}));
    check(json!({"text": "t", "name": "x".repeat(ID_BYTES_MAX + 1)}), Some("name"), &["ID_BYTES_MAX"]);
    let search = |body: Value| server.post(&user("u", "/documents/search"), body);
    search(json!({"query": "x", "kind": "book"})).refused_with(422, "invalid_field", &["book"]);
    search(json!({"query": "x", "document": "none"})).refused_with(404, "not_found", &["none"]);
}

#[test]
fn a_repository_is_read_as_git_would() {
    let server = Server::start();
    let root = server.home.path("project");
    let outside = server.home.write("outside/secret.txt", "needle in secret");
    write(&root, "src/main.rs", format!("{}fn needle_main() {{}}\n", "// line\n".repeat(300)));
    write(&root, "README.md", "needle in the readme");
    write(&root, ".gitignore", "*.log\n/target/\n");
    write(&root, "debug.log", "needle in a log");
    write(&root, "target/out.txt", "needle in target");
    write(&root, ".env", "needle in hidden");
    write(&root, "image.png", b"\x89PNG\0needle");
    write(&root, "latin1.txt", b"needle caf\xe9");
    write(&root, "at_the_cap.txt", "a".repeat(REPO_FILE_BYTES_MAX));
    write(&root, "large.txt", "a".repeat(REPO_FILE_BYTES_MAX + 1));
    std::os::unix::fs::symlink(&outside, root.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(outside.parent().unwrap(), root.join("linked")).unwrap();
    let made = index(&server, "u", json!({"path": root}));
    assert_eq!(made["files"], 3, "{made}");
    let skipped = &made["skipped"];
    assert_eq!((&skipped["binary"], &skipped["large"], &skipped["unreadable"]), (&json!(2), &json!(1), &json!(0)));
    let named: Vec<_> = skipped["files"].as_array().unwrap().iter().map(|file| file["file"].clone()).collect();
    assert_eq!(named, ["image.png", "large.txt", "latin1.txt"]);

    let hits = find(&server, "u", json!({"query": "needle", "k": 100, "kind": "repo"}));
    let texts: Vec<&str> = hits.iter().map(|hit| hit["text"].as_str().unwrap()).collect();
    for text in ["secret", "in a log", "in target", "in hidden"] {
        assert!(!texts.iter().any(|found| found.contains(text)), "{text}");
    }
    let readme = hits.iter().find(|hit| hit["file"] == "README.md").unwrap();
    assert_eq!((&readme["line"], &readme["name"]), (&json!(1), &json!("project")));
    let main = find(&server, "u", json!({"query": "needle_main"}));
    let main = main.iter().find(|hit| hit["file"] == "src/main.rs").unwrap();
    let (line, text) = (main["line"].as_u64().unwrap(), main["text"].as_str().unwrap());
    assert_eq!(line + text.trim_end().matches('\n').count() as u64, 301, "{main}");
}

#[test]
fn a_repository_again_writes_what_changed_and_drops_what_is_gone() {
    let server = Server::start();
    let root = server.home.path("project");
    write(&root, "a.txt", "alpha");
    write(&root, "b.txt", "walnut");
    let first = index(&server, "u", json!({"path": root, "name": "p"}));
    let id = first["id"].as_str().unwrap();
    let before = stored(&server, "u", id);
    write(&root, "b.txt", "delta");
    write(&root, "c.txt", "gamma");
    std::fs::remove_file(root.join("a.txt")).unwrap();
    write(&root, "d/a.txt", "alpha");
    let second = index(&server, "u", json!({"path": root.join("../project"), "name": "p"}));
    assert_eq!(second["id"], first["id"], "a place has one id, however it is written");
    let after = stored(&server, "u", id);
    let of = |word: &str| find(&server, "u", json!({"query": word}));
    let is_first = |word: &str| of(word).first().is_some_and(|hit| hit["text"].as_str().unwrap().trim() == word);
    assert_eq!(["walnut", "delta", "gamma"].map(is_first), [false, true, true]);
    assert_eq!(of("alpha")[0]["file"], "d/a.txt");
    assert!(before.iter().all(|row| !after.contains(row)) && after.len() == 3);
    index(&server, "u", json!({"path": root, "name": "p"}));
    assert_eq!(stored(&server, "u", id), after);
    let one = index(&server, "u", json!({"path": root.join("c.txt"), "id": "one"}));
    assert_eq!((&one["files"], &one["passages"]), (&json!(1), &json!(1)));
    let hits = find(&server, "u", json!({"query": "gamma", "document": "one"}));
    assert_eq!((hits.len(), &hits[0]["file"], &hits[0]["name"]), (1, &json!("c.txt"), &json!("c.txt")));
}

#[test]
fn paths_of_the_server_are_for_admins() {
    let server = Server::start();
    let root = server.home.write("project/a.txt", "alpha");
    let admin = server.admin_key();
    let own = server.user_key(&admin, "u");
    own.post(&user("u", "/documents"), json!({"path": root})).refused(403, "forbidden");
    own.post(&user("u", "/documents"), json!({"name": "n", "text": "t"})).ok();
    admin.post(&user("u", "/documents"), json!({"path": root})).ok();
    assert_eq!(find(&own, "u", json!({"query": "alpha"})).len(), 1);
}

#[test]
fn a_search_stays_within_a_kind_or_a_document() {
    let server = Server::start();
    let root = server.home.write("project/a.txt", "tea in the repo");
    index(&server, "u", json!({"path": root, "name": "repo", "id": "r"}));
    index(&server, "u", json!({"name": "book", "text": "tea in the book", "id": "b"}));
    index(&server, "u", json!({"name": "novel", "text": "tea in the novel", "id": "n"}));
    let of = |more: Value| -> Vec<String> {
        let mut body = json!({"query": "tea"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut found: Vec<String> =
            find(&server, "u", body).iter().map(|hit| hit["document"].as_str().unwrap().into()).collect();
        found.sort();
        found
    };
    assert_eq!(of(json!({})), ["b", "n", "r"]);
    assert_eq!(of(json!({"kind": "repo"})), ["r"]);
    assert_eq!(of(json!({"kind": "document"})), ["b", "n"]);
    assert_eq!(of(json!({"document": "b"})), ["b"]);
    assert_eq!(of(json!({"document": "novel"})), ["n"], "by name too");
    let wrong_kind = json!({"query": "tea", "kind": "repo", "document": "b"});
    server.post(&user("u", "/documents/search"), wrong_kind).refused(404, "not_found");
}

#[test]
fn what_was_said_is_found_in_all_threads_or_in_one() {
    let server = Server::start();
    server.append(
        "u",
        "t1",
        &[says("user", "I like tea"), says("assistant", "Which tea?"), says("system", "tea rules")],
    );
    server.say("u", "t2", &["more tea"]);
    server.say("u2", "t1", &["tea of another"]);
    let find = |body: Value| server.post(&user("u", "/turns/search"), body).ok()["hits"].as_array().unwrap().clone();
    let hits = find(json!({"query": "tea"}));
    assert_eq!(hits.len(), 3, "instructions are not looked through: {hits:?}");
    let fields = ["id", "thread", "seq", "role", "text", "score", "create_time"];
    assert_eq!(hits[0].as_object().unwrap().keys().collect::<Vec<_>>(), fields);
    let in_t2 = find(json!({"query": "tea", "thread": "t2"}));
    assert_eq!((in_t2.len(), &in_t2[0]["thread"], &in_t2[0]["seq"]), (1, &json!("t2"), &json!(1)));
    assert_eq!(find(json!({"query": "Which", "explain": true}))[0]["role"], "assistant");
    assert_eq!(find(json!({"query": "tea", "thread": "none"})), [Value::Null; 0]);
    server.say("u", "t2", &["oolong tea"]);
    assert_eq!(find(json!({"query": "oolong"}))[0]["text"], "oolong tea");
    server.delete("/v1/users/u/threads/t2").ok();
    assert_eq!(find(json!({"query": "oolong"})), [Value::Null; 0]);
}
