//! What is tried again, when, and what never is.

use std::time::{Duration, Instant};

use novelo_conversation::model::{Failure, Job};
use serde_json::json;

use super::{answerer, ask, error, metric, of, read, run};
use crate::support::models::{Act, Models, words};

#[test]
fn what_may_pass_is_tried_twice_more() {
    for status in [408, 429, 500, 502, 503, 504] {
        let server = Models::start();
        let models = of(&server, &[]);
        server.play([Act::Status(status, String::new()), Act::HangsUp]);
        let (text, _) = run(read(answerer(&models)));
        assert_eq!((text.as_str(), server.asked().len()), ("Hello there.", 3), "{status}");
    }
    let server = Models::start();
    let models = of(&server, &[]);
    server.otherwise(Act::Status(503, error("loading model").to_string()));
    let started = Instant::now();
    let (_, failed) = run(read(answerer(&models)));
    assert!(matches!(&failed, Err(Failure::Down(why)) if why.contains("answered 503: loading model")), "{failed:?}");
    assert_eq!(server.asked().len(), 3);
    assert!(started.elapsed() >= Duration::from_millis(125 + 250), "with a pause before each");
    assert_eq!(metric(&models, "calls_total{job=\"answer\",outcome=\"down\"}"), 1.0, "one call, whatever its tries");
}

#[test]
fn what_will_not_pass_is_not_tried_again() {
    for status in [301, 400, 401, 403, 404, 413, 422, 501] {
        let server = Models::start();
        let models = of(&server, &[]);
        server.play([Act::Status(status, error("no").to_string())]);
        let (_, failed) = run(read(answerer(&models)));
        assert!(failed.is_err() && server.asked().len() == 1, "{status}: {failed:?}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_said_as_such() {
    let server = Models::start();
    let models = of(&server, &[]);
    let message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
    let body = json!({"error": {"message": message, "code": "context_length_exceeded"}}).to_string();
    server.play([Act::Status(400, body.clone()), Act::Status(500, body)]);
    for _ in 0..2 {
        let (_, failed) = run(read(answerer(&models)));
        let Err(Failure::TooLong { message, prompt_tokens, window_tokens }) = failed else { panic!("{failed:?}") };
        assert_eq!((prompt_tokens, window_tokens), (Some(9001), Some(8192)));
        assert!(message.starts_with("models.answer.url (http://127.0.0.1:"), "{message}");
    }
    assert_eq!(server.asked().len(), 2, "it would be as long the next time");
}

#[test]
fn a_server_may_say_when_to_come_back() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_REWRITE_TIMEOUT_MS", "1500")]);
    server.play([Act::StatusWith(429, "retry-after: 1".into(), String::new())]);
    run(answerer(&models).complete(&ask("hi"))).unwrap();
    let asked = server.asked();
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(1));

    server.play([Act::StatusWith(429, "retry-after: 30".into(), error("slow down").to_string())]);
    let started = Instant::now();
    let failed = run(models.get(Job::Rewrite).unwrap().complete(&ask("hi")));
    assert!(matches!(&failed, Err(Failure::Down(why)) if why.contains("slow down")), "{failed:?}");
    assert!(started.elapsed() < Duration::from_secs(1), "nobody waits for what comes too late");
}

#[test]
fn a_server_that_is_not_there_may_come() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    drop(listener);
    let settings = [("NOVELO_MODELS_ANSWER_URL", addr.as_str()), ("NOVELO_MODELS_ANSWER_MODEL", "m")];
    let models = super::open(&settings);
    let failed = run(answerer(&models).complete(&ask("hi")));
    assert!(matches!(&failed, Err(Failure::Down(why)) if why.contains("cannot be reached")), "{failed:?}");
    assert!(
        models.state(novelo_conversation::model::Detail::Full)["answer"]["last_failure"]
            .as_str()
            .unwrap()
            .contains("cannot be reached")
    );
    let answered = run(async {
        let model = answerer(&models);
        let question = ask("hi");
        let asking = model.complete(&question);
        let coming = async {
            // The first try finds nobody. No event tells of it: nothing listens, and a failed try is not
            // reported.
            tokio::time::sleep(Duration::from_millis(50)).await;
            Models::start_at(&addr)
        };
        tokio::join!(asking, coming).0
    });
    assert_eq!(answered.unwrap().text, "Hello there.");
    assert_eq!(
        models.state(novelo_conversation::model::Detail::Full)["answer"]["last_failure"],
        serde_json::Value::Null,
        "what went well is the last word"
    );
}

#[test]
fn who_takes_no_stream_options_is_asked_without_from_then_on() {
    let server = Models::start();
    let models = of(&server, &[]);
    server.otherwise(Act::NoUsage(Duration::from_millis(200), words(&["Hello"])));
    run(async {
        let (model, question) = (answerer(&models), ask("hi"));
        let at_once = tokio::join!(model.complete(&question), model.complete(&question));
        for whole in [at_once.0, at_once.1, model.complete(&question).await] {
            let whole = whole.unwrap();
            assert_eq!((whole.text.as_str(), whole.usage), ("Hello", None));
        }
    });
    let sent: Vec<bool> = server.asked().iter().map(|asked| asked.body.get("stream_options").is_some()).collect();
    assert_eq!(sent, [true, true, false, false, false]);
}

#[test]
fn the_name_of_the_first_model_is_asked_once_and_again_after_a_failure() {
    let server = Models::start();
    let models = of(&server, &[]);
    server.page("GET /v1/models", 200, json!({"data": []}));
    let failed = run(answerer(&models).complete(&ask("hi")));
    assert!(matches!(&failed, Err(Failure::Refused(why)) if why.contains("set models.answer.model")), "{failed:?}");
    assert_eq!(answerer(&models).name(), "");
    server.page("GET /v1/models", 200, json!({"data": [{"id": "nomic-embed-text"}, {"id": "llama"}, {"id": "b"}]}));
    run(async {
        for job in [Job::Answer, Job::Rewrite, Job::Summary] {
            models.get(job).unwrap().complete(&ask("hi")).await.unwrap();
            assert_eq!(models.get(job).unwrap().name(), "llama", "not one that only embeds");
        }
    });
    let listings = server.all_asked().iter().filter(|asked| asked.path == "/v1/models").count();
    assert_eq!(listings, 2);
    assert!(server.asked().iter().all(|asked| asked.body["model"] == "llama"));
}
