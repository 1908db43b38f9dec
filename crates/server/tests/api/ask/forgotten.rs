//! Forgetting a conversation takes its turns and its references, and an answer that comes later is not kept.

use std::time::Duration;

use crate::support::asking::{CONTEXT, ask, home, is_gone, question, reason, reference, serve, tickers};
use crate::support::models::{Act, Models, words};
use crate::support::{Server, eventually, holding, json, thread, user};

/// Asks with a narrator that takes its time, and forgets meanwhile.
fn forget_meanwhile(server: &Server, models: &Models, path: &str) {
    models.play([Act::Slowly(Duration::from_millis(800), words(&["canary-of-the-model"]))]);
    let before = models.asked().len();
    let client = server.client();
    let asking = std::thread::spawn(move || client.post("/ask", question("demo", "c", "preço do KNRI11 canary-asked")));
    assert!(eventually(|| models.asked().len() > before), "the narrator is asked");
    assert_eq!(server.said("demo", "c"), ["preço do KNRI11 canary-asked"]);
    server.delete(path).ok();
    let answer = asking.join().unwrap().ok();
    assert_eq!((&answer["answer"], tickers(&answer)), (&json!("canary-of-the-model"), vec!["KNRI11"]));
    assert_eq!(
        answer["meta"]["notes"].as_array().unwrap().len(),
        1,
        "the answer says that this was not stored: {answer}"
    );
}

#[test]
fn what_is_forgotten_is_not_inherited() {
    let server = serve();
    for path in [thread("demo", "c", ""), user("demo", "")] {
        ask(&server, "demo", "c", "preço do HGLG11");
        ask(&server, "demo", "c", "quantas cotas do KNRI11 eu tenho?");
        ask(&server, "demo", "d", "preço do MXRF11");
        reference(&server, "demo", "c");
        server.delete(&path).ok();
        is_gone(&server, "demo", "c");
        let after = ask(&server, "demo", "c", "e o preço?");
        assert_eq!((reason(&after), &after["status"]), ("no_candidate", &json!("incomplete")), "{path}");
        let other = ask(&server, "demo", "d", "e o preço?");
        assert_eq!(other["results"].as_array().unwrap().len(), usize::from(path.contains("threads")), "{path}");
        server.delete(&user("demo", "")).ok();
    }
}

#[test]
fn an_answer_that_was_forgotten_meanwhile_is_not_kept() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    for path in [thread("demo", "c", ""), user("demo", "")] {
        forget_meanwhile(&server, &models, &path);
        is_gone(&server, "demo", "c");
    }
    models.otherwise(Act::Status(503, "later".into()));
    let after = ask(&server, "demo", "c", "e o preço?");
    assert_eq!(reason(&after), "no_candidate");
    server.delete(&thread("demo", "c", "")).ok();
    let is_clean = || server.get("/health/ready").ok()["erasing"] == json!(false);
    assert!(eventually(is_clean));
    for canary in ["canary-asked", "canary-of-the-model"] {
        assert_eq!(holding(&server.home.data(), canary), None, "{canary} is still in a file");
    }
}

#[test]
fn what_was_asked_anew_meanwhile_is_kept_alone() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    models.play([Act::Slowly(Duration::from_millis(800), words(&["old"])), Act::says(&["new"])]);
    let client = server.client();
    let old = std::thread::spawn(move || client.post("/ask", question("demo", "c", "preço do KNRI11")));
    assert!(eventually(|| models.asked().len() == 1));
    server.delete(&thread("demo", "c", "")).ok();
    assert_eq!(ask(&server, "demo", "c", "preço do MXRF11")["answer"], "new");
    assert_eq!(old.join().unwrap().ok()["answer"], "old");
    assert_eq!(server.said("demo", "c"), ["preço do MXRF11", "new"]);
    assert_eq!(reference(&server, "demo", "c")["tickers"], json!(["MXRF11"]));
}
