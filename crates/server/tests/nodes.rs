//! Two nodes over one store: what was done through one holds on the other.
//!
//! Both run in this process and share the store that is gone with it, so that nothing but the store lies
//! between them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use novelo_conversation::app::{self, App};
use novelo_conversation::settings::Settings;
use novelo_engine::path::Prefix;
use novelo_engine::scope;
use novelo_server::server::Server;
use novelo_server::{http, router};
use novelo_store::Store;
use support::eco::{self, HEAVY, LIGHT, asks, course_of, guest};
use support::embeddings::Embeddings;
use support::models::{Act, Models, words};
use support::{CONFIRM, Client, Home, Value, eventually, json, says, thread, user};
use tokio::runtime::Runtime;

/// A store, and where nodes on it run. They end with it.
struct Cluster {
    runtime: Runtime,
    store: Store,
    home: Arc<Home>,
}

/// A node, and a client without a key for it.
struct Node {
    app: App,
    client: Client,
}

impl std::ops::Deref for Node {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Cluster {
    fn new() -> Self {
        Self { runtime: Runtime::new().unwrap(), store: Store::memory(), home: eco::home() }
    }

    fn node(&self, settings: &[(&str, &str)]) -> Node {
        let policies = self.home.path("policies").to_str().unwrap().to_owned();
        let ours = [("NOVELO_SAMPLE", "false"), ("NOVELO_ASK_DATABASE", "none"), ("NOVELO_POLICIES", &policies)];
        let settings: Vec<(&str, &str)> = [&ours, settings].concat();
        let env = |name: &str| settings.iter().find(|(of, _)| *of == name).map(|(_, value)| (*value).to_owned());
        let settings = Settings::gather(None, env, &[]).unwrap();
        let (app, server, listener) = self.runtime.block_on(async {
            let (app, _tasks) = app::open_with(settings, self.store.clone()).await.unwrap();
            let server = Server::new(app.clone()).await.unwrap();
            let listener = router::bind(&server, "127.0.0.1:0".parse().unwrap()).await.unwrap();
            (app, server, listener)
        });
        let client = Client::new(listener.local_addr().unwrap());
        self.runtime.spawn(http::serve(
            router::router(server.clone()),
            listener,
            server.connections.clone(),
            std::future::pending(),
        ));
        Node { app, client }
    }

    fn two(&self, settings: &[(&str, &str)]) -> [Node; 2] {
        [self.node(settings), self.node(settings)]
    }

    /// Every path that is stored below a user.
    fn paths(&self, of: &str) -> Vec<String> {
        self.below(&scope::user(of).unwrap().prefix())
    }

    fn below(&self, what: &Prefix) -> Vec<String> {
        let export = self.runtime.block_on(async { self.store.export(what).await.unwrap().all().await.unwrap() });
        export.iter().map(|exported| exported.path.to_string()).collect()
    }
}

#[test]
fn a_key_counts_on_every_node_at_once() {
    let cluster = Cluster::new();
    let [a, b] = cluster.two(&[]);
    b.get("/v1/keys").ok();
    let made = a.with(CONFIRM.0, CONFIRM.1).post("/v1/keys", json!({"admin": true})).ok();
    b.get("/v1/keys").refused(401, "unauthorized");
    let admin = b.with("authorization", &format!("Bearer {}", made["key"].as_str().unwrap()));
    let ana = admin.post("/v1/keys", json!({"user": "ana"})).ok();
    let key = format!("Bearer {}", ana["key"].as_str().unwrap());
    let of_ana = |node: &Node| node.with("authorization", &key).get(&user("ana", "/memories"));
    of_ana(&a).ok();
    of_ana(&b).ok();
    admin.delete(&format!("/v1/keys/{}", ana["id"].as_str().unwrap())).ok();
    of_ana(&a).refused(401, "unauthorized");
    of_ana(&b).refused(401, "unauthorized");
}

#[test]
fn a_guest_has_so_many_messages_on_all_nodes_and_after_a_restart() {
    let cluster = Cluster::new();
    let settings = [("NOVELO_ECO_GUEST_MAX", "3"), ("NOVELO_ECO_ADDRESS_MAX", "5")];
    let [a, b] = cluster.two(&settings);
    let speak = |node: &Node, id: &str, n: usize| node.post(eco::PATH, guest(id, &format!("Conta o caso {n}")));
    for (n, node) in [&a, &b, &a].into_iter().enumerate() {
        speak(node, "g1", n).ok();
    }
    let limited = |node: &Node, id: &str, setting: &str| {
        let answer = speak(node, id, 9);
        answer.refused_with(429, "rate_limited", &[setting]);
        assert!((1..=3_600).contains(&answer.header("retry-after").unwrap().parse::<u64>().unwrap()));
    };
    for node in [&a, &b, &cluster.node(&settings)] {
        limited(node, "g1", "eco.guest_max");
    }
    speak(&b, "g2", 0).ok();
    speak(&a, "g2", 1).ok();
    limited(&b, "g2", "eco.address_max");
    limited(&a, "g3", "eco.address_max");
}

#[test]
fn guests_of_many_nodes_at_once_are_counted_one_by_one() {
    let cluster = Cluster::new();
    let nodes = cluster.two(&[("NOVELO_ECO_GUEST_MAX", "10"), ("NOVELO_ECO_ADDRESS_MAX", "0")]);
    let running: Vec<_> = (0..40)
        .map(|n| {
            let client = nodes[n % 2].client.clone();
            std::thread::spawn(move || client.post(eco::PATH, guest("g", &format!("Conta o caso {n}"))).status)
        })
        .collect();
    let statuses: Vec<u16> = running.into_iter().map(|one| one.join().unwrap()).collect();
    let count = |status: u16| statuses.iter().filter(|known| **known == status).count();
    assert_eq!((count(200), count(429)), (10, 30), "{statuses:?}");
}

#[test]
fn an_answer_is_given_again_by_every_node_and_forgotten_by_all() {
    let models = Models::start();
    models.play((0..20).map(|n| Act::says(&[&format!("Resposta {n}.")])));
    let cluster = Cluster::new();
    let [a, b] = cluster.two(&models.talking());
    let is_hit = |node: &Node, text: &str| eco::ask(node, &asks("ana", "t", text))["cache"] == true;
    let first = eco::ask(&a, &asks("ana", "t", HEAVY));
    let again = eco::ask(&b, &asks("ana", "t", HEAVY));
    assert_eq!((&again["cache"], &again["message"]), (&json!(true), &first["message"]));
    assert_eq!((&again["meta"], &again["usage"], &again["tags"]), (&first["meta"], &first["usage"], &first["tags"]));
    assert_eq!(models.asked().len(), 1);
    b.post(&user("ana", "/memories"), json!({"text": "Gosta de chá"})).ok();
    assert!(!is_hit(&a, HEAVY), "something is remembered since");
    assert!(is_hit(&b, HEAVY));
    b.append("ana", "t", &[says("user", "Aliás, choveu.")]);
    assert!(!is_hit(&a, HEAVY), "something was said since");
    assert!(is_hit(&b, HEAVY) && is_hit(&a, HEAVY));
    let count = eco::turns(&a, "ana", "t").len();
    b.delete(&thread("ana", "t", "")).ok();
    a.append("ana", "t", &vec![says("assistant", "Outra coisa."); count]);
    assert!(!is_hit(&a, HEAVY), "it was forgotten through the other");
    assert!(cluster.paths("ana").iter().any(|path| path.ends_with("/answered/last")));
    b.delete(&thread("ana", "t", "")).ok();
    assert!(!cluster.paths("ana").iter().any(|path| path.contains("/t/")), "{:?}", cluster.paths("ana"));
}

#[test]
fn a_context_that_was_made_is_known_to_every_node() {
    let models = Models::start();
    let cluster = Cluster::new();
    let [a, b] = cluster.two(&models.talking());
    let status = |node: &Node, text: &str| {
        let answer = node.post(eco::DEBUG, eco::with(asks("ana", "t", text), "forcarMetodoViva", true)).ok();
        let trace = &answer["trace"];
        let marks = trace["modules"].as_array().unwrap().iter().filter(|module| module["name"] == "__context_cache");
        let cached = marks.count();
        let caches = trace["caches"].as_array().unwrap().iter();
        let status = caches.filter(|cache| cache["cache"] == "context").map(|cache| cache["status"].clone());
        (status.collect::<Vec<Value>>(), cached)
    };
    assert_eq!(status(&a, LIGHT), (vec![json!("miss")], 0));
    assert_eq!(status(&b, "Fala do almoço"), (vec![json!("hit")], 1));
    assert_eq!(status(&a, "Fala do jantar"), (vec![json!("hit")], 1));
    let told = |n: usize| models.asked()[n].body["messages"][0].clone();
    assert_eq!(told(0), told(1), "and is the same");
    a.delete(&user("ana", "")).ok();
    assert_eq!(status(&b, LIGHT), (vec![json!("miss")], 0));
}

/// The answering node is slow, and the other node forgets meanwhile.
#[test]
fn what_another_node_forgot_meanwhile_is_not_kept() {
    let models = Models::start();
    let cluster = Cluster::new();
    let [a, b] = cluster.two(&models.talking());
    let doors = [
        (eco::PATH, asks("ana", "t", HEAVY)),
        ("/api/ask", json!({"question": "Choveu?", "thread_id": "t", "user_id": "ana"})),
        ("/memory/chat", json!({"message": "Choveu?", "session_id": "t", "user_id": "ana"})),
    ];
    for (path, body) in doors {
        for gone in [thread("ana", "t", ""), user("ana", "")] {
            models.play([Act::Slowly(Duration::from_millis(500), words(&["late"]))]);
            let (before, client) = (models.asked().len(), a.client.clone());
            let asking = std::thread::spawn({
                let body = body.clone();
                move || client.post(path, body)
            });
            assert!(eventually(|| models.asked().len() > before), "{path}");
            assert_eq!(b.said("ana", "t").len(), 1, "{path}");
            b.delete(&gone).ok();
            asking.join().unwrap().ok();
            assert!(eventually(|| a.app.recorder.is_idle()), "{path}");
            let left = cluster.paths("ana");
            let is_said = |path: &&String| ["/t/", "/memories/"].iter().any(|part| path.contains(part));
            assert_eq!(left.iter().find(is_said), None, "{path} {gone}: {left:?}");
            b.delete(&user("ana", "")).ok();
        }
    }
}

/// A course that names a thread which the other node forgot is dropped, and nothing is lost by it.
#[test]
fn courses_of_a_thread_that_lives_are_stored_for_every_node() {
    let models = Models::start();
    let cluster = Cluster::new();
    let [a, b] = cluster.two(&models.talking());
    let answer = a.post(eco::PATH, asks("ana", "t", LIGHT));
    answer.ok();
    let course = format!("/debug/trace/{}", course_of(&answer));
    assert!(eventually(|| b.get(&course).status == 200));
    b.delete(&thread("ana", "t", "")).ok();
    b.get(&course).refused(404, "not_found");
    assert!(eventually(|| a.get(&course).status == 404));
}

#[test]
fn a_summary_of_what_another_node_forgot_is_not_stored() {
    let models = Models::start();
    let cluster = Cluster::new();
    let settings = [
        ("NOVELO_MEMORY_SHORT_TERM_WINDOW", "2"),
        ("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "3"),
        ("NOVELO_MODELS_ANSWER_URL", &models.base),
    ];
    let [a, b] = cluster.two(&settings);
    models.play([Act::Slowly(Duration::from_millis(500), words(&["canary"]))]);
    a.append("u", "t", &vec![says("user", "Uma coisa."); 6]);
    assert!(eventually(|| !models.asked().is_empty()), "the summary is being made");
    b.delete(&thread("u", "t", "")).ok();
    a.append("u", "t", &vec![says("user", "Outra coisa."); 6]);
    let summary = || b.get(&thread("u", "t", "/summary")).json();
    assert!(eventually(|| summary()["upto_seq"] == 4));
    assert!(!summary().to_string().contains("canary"), "{}", summary());
    let asked = models.asked().iter().map(|asked| asked.body.to_string()).collect::<Vec<_>>();
    assert!(asked.iter().skip(1).all(|asked| !asked.contains("canary")), "nor was it gone on from: {asked:?}");
}

#[test]
fn two_nodes_that_sum_up_one_thread_lose_nothing_and_double_nothing() {
    let cluster = Cluster::new();
    let settings = [("NOVELO_MEMORY_SHORT_TERM_WINDOW", "2"), ("NOVELO_MEMORY_SUMMARY_THRESHOLD_MESSAGES", "3")];
    let nodes = cluster.two(&settings);
    std::thread::scope(|scope| {
        for node in &nodes {
            scope.spawn(move || {
                for n in 0..40 {
                    node.append("u", "t", &[says("user", &format!("Fact {n} is that it rained."))]);
                }
            });
        }
    });
    let summary = || nodes[0].get(&thread("u", "t", "/summary")).json();
    assert!(eventually(|| summary()["upto_seq"] == 78), "{}", summary());
    let text = summary()["text"].as_str().unwrap().to_owned();
    let sentences: Vec<&str> = text.split_inclusive('.').map(str::trim).collect();
    let twice = sentences.iter().filter(|one| sentences.iter().filter(|other| other == one).count() > 2).count();
    assert_eq!(twice, 0, "a sentence that was said twice stands there more often: {text}");
}

#[test]
fn what_one_node_embedded_no_other_embeds_again() {
    let embeddings = Embeddings::start();
    let cluster = Cluster::new();
    let [a, b] = cluster.two(&embeddings.settings());
    let done = |node: &Node| node.app.indexes.waiting.progress()["done"].as_u64().unwrap();
    let search = |node: &Node, query: &str| {
        let query = json!({"query": query, "explain": true});
        node.post(&user("u", "/memories/search"), query).ok()["hits"][0].clone()
    };
    a.post(&user("u", "/memories"), json!({"text": "Ana bought a boat in spring"})).ok();
    assert!(eventually(|| done(&a) == 1));
    assert_eq!(search(&b, "a ship")["why"]["dense"]["rank"], 1, "what is new here comes with its vector");
    a.post(&user("u", "/memories"), json!({"text": "The parrot speaks Latin"})).ok();
    assert!(eventually(|| done(&a) == 2));
    assert!(eventually(|| search(&b, "a bird")["text"] == "The parrot speaks Latin"), "so does what is new since");
    assert_eq!((done(&a), done(&b)), (2, 0));
    let made = embeddings.texts();
    assert_eq!(made.iter().filter(|text| text.contains("parrot")).count(), 1, "{made:?}");
}
