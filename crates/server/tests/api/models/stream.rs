//! Answers as they come: words, calls, usage, and every way to end.

use std::time::{Duration, Instant};

use novelo_conversation::model::{Ask, Delta, Failure, Job, ToolCall, Usage};
use serde_json::{Map, json};

use super::{answerer, ask, error, metric, of, open, read, run};
use crate::support::eventually;
use crate::support::models::{Act, Models, words};

#[test]
fn words_come_one_by_one_with_the_usage_at_the_end() {
    let server = Models::start();
    let models = of(&server, &[]);
    server.play([Act::Paced(words(&["Olá", ", ", "mundo"]), Duration::from_millis(40))]);
    run(async {
        let started = Instant::now();
        let mut deltas = answerer(&models).stream(&ask("hi")).await.unwrap();
        assert_eq!(deltas.next().await, Some(Ok(Delta::Text("Olá".to_owned()))));
        let first = started.elapsed();
        assert_eq!(deltas.next().await, Some(Ok(Delta::Text(", ".to_owned()))));
        assert_eq!(deltas.next().await, Some(Ok(Delta::Text("mundo".to_owned()))));
        let usage = Some(Usage { prompt_tokens: 10, completion_tokens: 3 });
        assert_eq!(deltas.next().await, Some(Ok(Delta::End { finish: "stop".to_owned(), usage })));
        assert_eq!(deltas.next().await, None);
        assert!(started.elapsed() >= first + Duration::from_millis(60), "the first word came before the others");
    });
    assert_eq!(answerer(&models).name(), "tiny");
    assert_eq!(metric(&models, "calls_total{job=\"answer\",outcome=\"ok\"}"), 1.0);
    assert_eq!(metric(&models, "tokens_total{job=\"answer\",kind=\"prompt\"}"), 10.0);
    assert_eq!(metric(&models, "tokens_total{job=\"answer\",kind=\"completion\"}"), 3.0);
    assert_eq!(metric(&models, "first_token_seconds_count{job=\"answer\"}"), 1.0);
    let (first, whole) =
        (metric(&models, "first_token_seconds_sum{job=\"answer\"}"), metric(&models, "seconds_sum{job=\"answer\"}"));
    assert!(first > 0.03 && whole > first + 0.06, "{first} {whole}");
}

#[test]
fn what_is_sent_is_what_models_take() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_MODEL", "m"), ("NOVELO_MODELS_ANSWER_KEY", "secret-7")]);
    let messages = r#"[{"role":"user","content":"caf\u00e9","id":"x","create_time":1}]"#;
    let options: Map<_, _> = serde_json::from_str(r#"{"temperature":0,"stream":false}"#).unwrap();
    run(answerer(&models).complete(&Ask { messages: messages.into(), options })).unwrap();
    let asked = &server.asked()[0];
    let expected = json!({
        "model": "m", "messages": [{"role": "user", "content": "café"}], "stream": true,
        "stream_options": {"include_usage": true}, "temperature": 0,
    });
    assert_eq!(asked.body, expected);
    assert_eq!(asked.header("authorization"), Some("Bearer secret-7"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert_eq!(server.all_asked().len(), 1, "a model that is named is not asked for");
}

#[test]
fn connections_are_used_again() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_MODEL", "m")]);
    run(async {
        for _ in 0..5 {
            answerer(&models).complete(&ask("hi")).await.unwrap();
        }
    });
    assert_eq!((server.asked().len(), server.connections()), (5, 1));
}

#[test]
fn calls_are_put_together() {
    let server = Models::start();
    let models = of(&server, &[]);
    let calls = vec![("search".to_owned(), json!({"q": "chá"})), ("list".to_owned(), json!({}))];
    server.play([Act::Calls(calls)]);
    let whole = run(answerer(&models).complete(&ask("hi"))).unwrap();
    let call = |id: &str, name: &str, arguments: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        ..ToolCall::default()
    };
    assert_eq!(whole.calls, [call("call-0", "search", r#"{"q":"chá"}"#), call("call-1", "list", "{}")]);
    assert_eq!((whole.text.as_str(), whole.finish.as_str()), ("", "tool_calls"));
}

#[test]
fn a_server_that_does_not_stream_answers_too() {
    let server = Models::start();
    let models = of(&server, &[]);
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"});
    server.play([
        Act::Whole(json!({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})),
        Act::Whole(error("out of memory")),
    ]);
    let (text, whole) = run(read(answerer(&models)));
    assert_eq!(text, "whole");
    assert_eq!(whole.unwrap().usage, Some(Usage { prompt_tokens: 1, completion_tokens: 2 }));
    let (_, failed) = run(read(answerer(&models)));
    assert!(matches!(failed, Err(Failure::Refused(why)) if why.contains("out of memory")));
    assert_eq!(server.asked().len(), 2, "what was answered is not tried again");
}

#[test]
fn a_whole_answer_is_asked_for_in_one_piece() {
    let server = Models::start();
    let settings = [("NOVELO_MODELS_ANSWER_MODEL", "m"), ("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "400")];
    let models = of(&server, &settings);
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": "whole"}, "finish_reason": "stop"});
    server.play([Act::Whole(json!({"choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}))]);
    let whole = run(answerer(&models).whole(&ask("hi"))).unwrap();
    assert_eq!((whole.text.as_str(), whole.usage.unwrap().completion_tokens), ("whole", 2));
    let sent = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": false});
    assert_eq!(server.asked()[0].body, sent);

    server.play([Act::Paced(words(&["a"; 8]), Duration::from_millis(100))]);
    let late = run(answerer(&models).whole(&ask("hi")));
    assert!(matches!(&late, Err(Failure::Slow(why)) if why.contains("took longer than 400ms")), "{late:?}");
}

#[test]
fn a_whole_answer_is_tried_again_or_once() {
    let server = Models::start();
    let models = of(&server, &[]);
    server.otherwise(Act::Status(503, String::new()));
    let failed = run(answerer(&models).whole(&ask("hi")));
    assert!(matches!(failed, Err(Failure::Down(_))) && server.asked().len() == 3, "{failed:?}");
    let failed = run(answerer(&models).whole_once(&ask("hi")));
    assert!(matches!(failed, Err(Failure::Down(_))) && server.asked().len() == 4, "{failed:?}");
}

#[test]
fn an_answer_ends_with_a_reason_or_breaks() {
    let server = Models::start();
    let models = of(&server, &[]);
    server.play([Act::NoDone(words(&["a", "b"]))]);
    let (text, ended) = run(read(answerer(&models)));
    assert_eq!((text.as_str(), ended.unwrap().finish.as_str()), ("ab", "stop"));

    server.play([Act::DiesAfter(2, words(&["a", "b", "c"])), Act::ErrorAfter(1, words(&["a"]))]);
    let (text, ended) = run(read(answerer(&models)));
    assert_eq!(text, "ab");
    assert!(
        matches!(&ended, Err(Failure::Broke(why)) if why.contains("models.answer.url") && why.contains(&server.base))
    );
    let (text, ended) = run(read(answerer(&models)));
    assert_eq!(text, "a");
    assert!(matches!(&ended, Err(Failure::Broke(why)) if why.contains("the model fell over")), "{ended:?}");

    server.play([Act::Raw(vec![b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n".to_vec()])]);
    let (text, ended) = run(read(answerer(&models)));
    assert_eq!(text, "a");
    assert!(matches!(&ended, Err(Failure::Broke(why)) if why.contains("an end before")), "{ended:?}");
    assert_eq!(server.asked().len(), 4, "never tried again after the first byte");
    assert_eq!(metric(&models, "calls_total{job=\"answer\",outcome=\"broke\"}"), 3.0);
}

#[test]
fn an_error_before_the_first_word_is_a_refusal() {
    let server = Models::start();
    let models = of(&server, &[]);
    let too_long = json!({"error": {"code": 400, "type": "exceed_context_size_error", "message": "too long",
        "n_prompt_tokens": 900, "n_ctx": 512}});
    server.play([Act::ErrorAfter(0, Vec::new()), Act::Raw(vec![format!("data: {too_long}\n\n").into_bytes()])]);
    let (_, failed) = run(read(answerer(&models)));
    assert!(matches!(failed, Err(Failure::Refused(why)) if why.contains("the model fell over")));
    let (_, failed) = run(read(answerer(&models)));
    assert!(
        matches!(failed, Err(Failure::TooLong { prompt_tokens: Some(900), window_tokens: Some(512), .. })),
        "{failed:?}"
    );
}

#[test]
fn a_silent_model_is_given_up_where_silence_counts() {
    let server = Models::start();
    let settings = [("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "300"), ("NOVELO_MODELS_REWRITE_TIMEOUT_MS", "300")];
    let models = of(&server, &settings);
    let started = Instant::now();
    server.play([Act::Hangs]);
    let (_, failed) = run(read(answerer(&models)));
    assert!(matches!(&failed, Err(Failure::Slow(why)) if why.contains("models.answer.url")), "{failed:?}");
    assert!(started.elapsed() < Duration::from_secs(3));

    let six = words(&["a", "b", "c", "d", "e", "f"]);
    server.play([Act::Paced(six.clone(), Duration::from_millis(100))]);
    let (text, ended) = run(read(answerer(&models)));
    assert_eq!(
        (text.as_str(), ended.is_ok()),
        ("abcdef", true),
        "slower than the time-out in all, never silent for long"
    );

    server.play([Act::Paced(six, Duration::from_millis(100))]);
    let (text, ended) = run(read(models.get(Job::Rewrite).unwrap()));
    assert!(matches!(ended, Err(Failure::Slow(_))), "a rewrite has its time in all: {ended:?}");
    assert!(text.len() < 6);

    server.play([Act::Repeats(b": ping\n\n".to_vec(), Duration::from_millis(50))]);
    let started = Instant::now();
    let (_, failed) = run(read(answerer(&models)));
    assert!(matches!(failed, Err(Failure::Slow(_))), "a comment breaks no silence: {failed:?}");
    assert!(started.elapsed() < Duration::from_secs(3));
    let thinking = r#"data: {"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}"#;
    server.play([Act::Repeats(format!("{thinking}\n\n").into_bytes(), Duration::from_millis(50))]);
    let thinks = run(async { tokio::time::timeout(Duration::from_secs(1), read(answerer(&models))).await });
    assert!(thinks.is_err(), "a thought does: {thinks:?}");
}

#[test]
fn a_caller_who_is_slow_is_not_the_silence_of_the_model() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "300")]);
    let ping = b": ping\n\n".to_vec();
    let word = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n".to_vec();
    let done = b"data: [DONE]\n\n".to_vec();
    server.play([Act::Raw(vec![word.clone(), ping.clone(), word.clone(), ping, word, done])]);
    run(async {
        let mut deltas = answerer(&models).stream(&ask("hi")).await.unwrap();
        let mut count = 0;
        while let Some(delta) = deltas.next().await {
            delta.unwrap();
            count += 1;
            // Longer than the timeout of the model: how long the caller takes is what is tested.
            tokio::time::sleep(Duration::from_millis(400)).await;
        }
        assert_eq!(count, 4);
    });
}

#[test]
fn one_that_has_finished_is_not_waited_for() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_MODEL", "m")]);
    let word = br#"data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}"#;
    let done = b"data: [DONE]\n\n";
    for (rest, at_most) in
        [(b"\n\n".as_slice(), 4000), (b"\n\n: ping\n\n", 4000), (&[b"\n\n", done.as_slice()].concat(), 1000)]
    {
        server.play([Act::Stalls(vec![[word, rest].concat()])]);
        let started = Instant::now();
        let (text, ended) = run(read(answerer(&models)));
        assert_eq!((text.as_str(), ended.unwrap().finish.as_str()), ("a", "stop"));
        assert!(started.elapsed() < Duration::from_millis(at_most), "{:?}", started.elapsed());
    }
}

#[test]
fn who_leaves_closes_the_connection() {
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_MODEL", "m")]);
    server.play([Act::Paced(words(&["a"; 1000]), Duration::from_millis(20)), Act::Hangs]);
    run(async {
        let mut deltas = answerer(&models).stream(&ask("hi")).await.unwrap();
        deltas.next().await.unwrap().unwrap();
        drop(deltas);
        let left = Instant::now();
        wait_for_hangups(&server, 1).await;
        assert!(server.hangups()[0].saturating_duration_since(left) < Duration::from_secs(1));

        let model = answerer(&models);
        let unanswered = tokio::time::timeout(Duration::from_millis(200), model.complete(&ask("hi"))).await;
        assert!(unanswered.is_err());
        wait_for_hangups(&server, 2).await;
    });
    assert_eq!(metric(&models, "calls_total{job=\"answer\",outcome=\"cancelled\"}"), 2.0);
}

async fn wait_for_hangups(server: &Models, count: usize) {
    for _ in 0..500 {
        if server.hangups().len() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the server saw {} of {count} hang up", server.hangups().len());
}

#[test]
fn a_key_is_in_no_message() {
    const KEY: &str = "sk-very-secret-0123";
    let server = Models::start();
    let models = of(&server, &[("NOVELO_MODELS_ANSWER_KEY", KEY), ("NOVELO_MODELS_ANSWER_MODEL", "m")]);
    let echoed = error(&format!("Incorrect API key provided: {KEY}.")).to_string();
    server.play([Act::Status(401, echoed.clone()), Act::Status(500, echoed.clone())]);
    server.play([Act::Raw(vec![format!("data: {echoed}\n\n").into_bytes()])]);
    server.otherwise(Act::Raw(vec![format!("data: no JSON but {KEY}\n\n").into_bytes()]));
    for _ in 0..3 {
        let (_, failed) = run(read(answerer(&models)));
        let failure = failed.unwrap_err();
        assert!(
            !format!("{failure} {failure:?} {models:?} {}", models.state(novelo_conversation::model::Detail::Full))
                .contains(KEY),
            "{failure}"
        );
    }
    let unreachable = open(&[("NOVELO_MODELS_ANSWER_URL", "http://127.0.0.1:1"), ("NOVELO_MODELS_ANSWER_KEY", KEY)]);
    let (_, failed) = run(read(answerer(&unreachable)));
    let failure = failed.unwrap_err();
    assert!(matches!(&failure, Failure::Down(why) if why.contains("models.answer.url (http://127.0.0.1:1/v1)")));
    assert!(!format!("{failure:?} {unreachable:?}").contains(KEY));
}

#[test]
fn so_many_calls_run_at_once_and_no_more() {
    use novelo_engine::limits::MODEL_CALLS_MAX;
    let server = Models::start();
    let settings = [("NOVELO_MODELS_ANSWER_MODEL", "m"), ("NOVELO_MODELS_REWRITE_TIMEOUT_MS", "300")];
    let models = of(&server, &settings);
    server.otherwise(Act::Paced(words(&["a"; 10_000]), Duration::from_secs(1)));
    run(async {
        let mut held = Vec::new();
        for _ in 0..MODEL_CALLS_MAX {
            held.push(answerer(&models).stream(&ask("hi")).await.unwrap());
        }
        let late = models.get(Job::Rewrite).unwrap().stream(&ask("hi")).await;
        assert!(
            matches!(late, Err(Failure::Slow(why)) if why.contains("MODEL_CALLS_MAX")),
            "who waits for a place, waits within the deadline"
        );
        assert_eq!(server.asked().len(), MODEL_CALLS_MAX);
        held.pop();
        assert!(answerer(&models).stream(&ask("hi")).await.is_ok(), "a place that was left is taken");
    });
    assert!(eventually(|| server.hangups().len() > MODEL_CALLS_MAX));
}
