//! A model that is slow, fails, talks nonsense or dies: asked once more, whole, and then no more.

use std::net::TcpListener;
use std::time::Duration;

use crate::support::eco::{
    self, HEAVY, LIGHT, NONE, TIMEOUT, ask, asks, course, course_of, end, heard, memories, serve, stages, text, turns,
    whole, with,
};
use crate::support::models::{Act, Asked, Models, words};
use crate::support::{Server, Value, json, says};

/// Long enough for all tries of a stream and the pauses between them.
const TIMEOUT_MS: (&str, &str) = ("NOVELO_MODELS_ANSWER_TIMEOUT_MS", "1500");
/// What was said before a stream broke off.
const HALF: &str = "Um dia";

/// A way for a stream to go wrong.
struct Way {
    name: &'static str,
    /// What the model does with each request for a stream.
    acts: Vec<Act>,
    reason: &'static str,
    /// What is shown before it goes wrong.
    shown: &'static str,
}

fn way(name: &'static str, acts: impl Into<Vec<Act>>, reason: &'static str, shown: &'static str) -> Way {
    Way { name, acts: acts.into(), reason, shown }
}

fn ways() -> Vec<Way> {
    let half = || words(&["Um", " dia", " longo"]);
    let refused = |status: u16| Act::Status(status, json!({"error": {"message": "no"}}).to_string());
    let raw = |bytes: &[u8]| [Act::Raw(vec![bytes.to_vec()])];
    let word = br#"data: {"choices":[{"index":0,"delta":{"content":"Um dia"}}]}"#;
    vec![
        way("never answers", [Act::Hangs], "timeout", ""),
        way("stalls before the first word", [Act::StallsAfter(0, half())], "timeout", ""),
        way("stalls in the middle", [Act::StallsAfter(2, half())], "timeout", HALF),
        way("only pings", [Act::Repeats(b": ping\n\n".to_vec(), Duration::from_millis(50))], "timeout", ""),
        way("500, however often", vec![refused(500); 3], "error", ""),
        way("404", [refused(404)], "error", ""),
        way("400", [refused(400)], "error", ""),
        way("hangs up, however often", vec![Act::HangsUp; 3], "error", ""),
        way("dies before the first word", [Act::DiesAfter(0, half())], "error", ""),
        way("dies in the middle", [Act::DiesAfter(2, half())], "error", HALF),
        way("an error instead of words", [Act::ErrorAfter(0, half())], "error", ""),
        way("an error in the middle", [Act::ErrorAfter(2, half())], "error", HALF),
        way("no JSON", raw(b"data: certainly!\n\n"), "error", ""),
        way("no text", raw(&[0xff; 64]), "error", ""),
        way("JSON of another form", raw(b"data: {\"answer\": 42}\n\n"), "error", ""),
        way("an end without a reason", raw(&[word.as_slice(), b"\n\n"].concat()), "error", HALF),
        way("an error in one piece", [Act::Whole(json!({"error": {"message": "no"}}))], "error", ""),
        way("nothing at all", [Act::says(&[])], "error", ""),
        way("blanks", [Act::says(&[" ", "\n"])], "error", ""),
    ]
}

/// Asserts how the model was asked since: so often for a stream, and once for the whole.
#[track_caller]
fn asked_once_more(models: &Models, before: usize, way: &Way) {
    let asked = models.asked();
    let streams: Vec<bool> = asked[before..].iter().map(|asked| asked.body["stream"].as_bool().unwrap()).collect();
    let expected: Vec<bool> = way.acts.iter().map(|_| true).chain([false]).collect();
    assert_eq!(streams, expected, "{}", way.name);
    let messages: Vec<&Value> = asked[before..].iter().map(|asked| &asked.body["messages"]).collect();
    assert!(messages.iter().all(|same| *same == messages[0]), "{}: {messages:?}", way.name);
}

/// Asserts that nothing of it is given again or remembered; the same question is asked anew.
#[track_caller]
fn leaves_nothing(server: &Server, models: &Models, of: &str, way: &Way) {
    assert_eq!(memories(server, of), NONE, "{}", way.name);
    let before = models.asked().len();
    let again = ask(server, &asks(of, "t", HEAVY));
    assert_eq!((&again["cache"], &again["fallback"]), (&json!(false), &json!(false)), "{}: {again}", way.name);
    assert_eq!((&again["message"], models.asked().len()), (&json!("Hello there."), before + 1), "{}", way.name);
    assert_eq!(memories(server, of).len(), 1, "{}: what goes well is remembered", way.name);
}

#[test]
fn a_stream_that_fails_is_asked_for_once_more_whole() {
    let models = Models::start();
    let server = serve(&models, &[TIMEOUT_MS]);
    for (n, way) in ways().iter().enumerate() {
        let (of, before) = (format!("u{n}"), models.asked().len());
        models.play(way.acts.iter().cloned().chain([whole("Inteira, afinal.")]));
        let frames = heard(&server, &asks(&of, "t", HEAVY));
        let done = end(&frames);
        assert_eq!(
            (&done["message"], &done["fallback"], &done["meta"]["reason"]),
            (&json!("Inteira, afinal."), &json!(true), &json!(way.reason)),
            "{}: {done}",
            way.name
        );
        assert_eq!((&done["cache"], &done["meta"]["saveMemory"]), (&json!(false), &json!(false)), "{}", way.name);
        assert_eq!((&done["modelo"], &done["intensidade"]), (&json!("tiny"), &json!(8.0)), "{}", way.name);
        let shown = if way.shown.is_empty() { "Inteira, afinal." } else { way.shown };
        assert_eq!(text(&frames), shown, "{}: what was shown is not shown again", way.name);
        asked_once_more(&models, before, way);
        let course = &done["trace"];
        assert_eq!((stages(course), &course["cacheStatus"]), (vec!["stream"], &json!("miss")), "{}", way.name);
        assert_eq!(course["memoryDecision"]["saveMemory"], false, "{}: {course}", way.name);
        assert_eq!(turns(&server, &of, "t")[1], says("assistant", "Inteira, afinal."), "{}", way.name);
        leaves_nothing(&server, &models, &of, way);
    }
}

#[test]
fn where_both_fail_a_sentence_stands_in() {
    let models = Models::start();
    let server = serve(&models, &[TIMEOUT_MS]);
    let fails = [Act::Status(500, "no".into()), Act::HangsUp, Act::Raw(vec![b"certainly!".to_vec()]), whole(" \n")];
    for (n, way) in ways().iter().enumerate() {
        let (of, before) = (format!("u{n}"), models.asked().len());
        let second = if way.reason == "timeout" { Act::Hangs } else { fails[n % fails.len()].clone() };
        models.play(way.acts.iter().cloned().chain([second.clone()]));
        let frames = heard(&server, &asks(&of, "t", HEAVY));
        let done = end(&frames);
        assert_eq!(
            (&done["message"], &done["fallback"], &done["meta"]["reason"]),
            (&json!(TIMEOUT), &json!(true), &json!(way.reason)),
            "{}, {second:?}: {done}",
            way.name
        );
        assert_eq!((&done["cache"], &done["meta"]["saveMemory"]), (&json!(false), &json!(false)), "{}", way.name);
        assert_eq!(text(&frames), if way.shown.is_empty() { TIMEOUT } else { way.shown }, "{}", way.name);
        asked_once_more(&models, before, way);
        assert_eq!(stages(&done["trace"]), ["stream", "model"], "{}, {second:?}", way.name);
        let mut expected = vec![says("user", HEAVY)];
        if !way.shown.is_empty() {
            expected.push(json!({"role": "assistant", "content": way.shown, "partial": "model_failed"}));
        }
        assert_eq!(turns(&server, &of, "t"), expected, "{}: the fallback sentence is not stored as a turn", way.name);
        leaves_nothing(&server, &models, &of, way);
    }
}

/// An address at which nobody listens.
fn nowhere() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

#[test]
fn a_model_that_is_not_there_is_replaced_by_the_sentence() {
    let url = nowhere();
    let server = eco::home().serve_with(&[("NOVELO_MODELS_ANSWER_URL", &url), ("NOVELO_MODELS_SUMMARY_URL", "none")]);
    let frames = heard(&server, &asks("ana", "t", HEAVY));
    let done = end(&frames);
    assert_eq!((&done["message"], &done["meta"]["reason"]), (&json!(TIMEOUT), &json!("error")));
    assert_eq!((&done["fallback"], stages(&done["trace"])), (&json!(true), vec!["stream", "model"]));
    for text in [LIGHT, HEAVY] {
        let answer = server.post("/ask-eco", asks("bia", "t", text));
        assert_eq!(answer.ok()["message"], TIMEOUT);
        assert!(stages(&course(&server, &course_of(&answer))).contains(&"model"));
    }
    assert_eq!(memories(&server, "ana"), NONE);
    assert_eq!(turns(&server, "ana", "t"), [says("user", HEAVY)]);
}

#[test]
fn a_client_that_wants_all_at_once_gets_the_same() {
    let models = Models::start();
    let server = serve(&models, &[TIMEOUT_MS]);
    for (n, way) in ways().iter().enumerate().step_by(3) {
        let (of, before) = (format!("u{n}"), models.asked().len());
        models.play(way.acts.iter().cloned().chain([whole("Inteira, afinal.")]));
        let answer = server.post("/ask-eco", asks(&of, "t", HEAVY));
        let told = answer.ok();
        assert_eq!((&told["type"], &told["message"]), (&json!("done"), &json!("Inteira, afinal.")), "{}", way.name);
        assert_eq!((&told["fallback"], &told["meta"]["reason"]), (&json!(true), &json!(way.reason)), "{}", way.name);
        assert_eq!(told.get("trace"), None, "nobody asked for it");
        asked_once_more(&models, before, way);
        assert_eq!(stages(&course(&server, &course_of(&answer))), ["stream"], "{}", way.name);
        leaves_nothing(&server, &models, &of, way);
    }
}

/// What is asked for whole from the beginning has nothing to fall back to.
#[test]
fn what_was_whole_from_the_beginning_falls_back_to_the_sentence() {
    let models = Models::start();
    let server = serve(&models, &[TIMEOUT_MS]);
    let fast = asks("ana", "t", LIGHT);
    let full = with(asks("bia", "t", HEAVY), "promptOverride", "Own: say little.");
    for (body, mode) in [(&fast, "fast"), (&full, "full")] {
        for (act, reason) in [(Act::Hangs, "timeout"), (Act::Status(400, "no".into()), "error"), (whole(""), "error")] {
            let before = models.asked().len();
            models.play([act.clone()]);
            let answer = server.post("/ask-eco", body);
            let told = answer.ok();
            assert_eq!((&told["meta"]["mode"], &told["message"]), (&json!(mode), &json!(TIMEOUT)), "{act:?}");
            assert_eq!((&told["fallback"], &told["meta"]["reason"]), (&json!(true), &json!(reason)), "{act:?}");
            assert_eq!(stages(&course(&server, &course_of(&answer))), ["model"], "{act:?}");
            let asked = models.asked();
            assert_eq!((asked.len(), &asked[before].body["stream"]), (before + 1, &json!(false)), "{act:?}");
        }
        models.play([whole("Bem.")]);
        let told = ask(&server, body);
        assert_eq!(
            (&told["message"], &told["fallback"], &told["cache"]),
            (&json!("Bem."), &json!(false), &json!(false))
        );
    }
    assert_eq!(memories(&server, "ana"), NONE);
    assert_eq!(memories(&server, "bia").len(), 1);
}

/// What a model server refuses that takes no prompt of more than 6 kB, and says no lengths.
fn refuses_long(asked: &Asked) -> Act {
    let refusal = json!({"error": {"type": "exceed_context_size_error", "message": "the prompt is too long"}});
    match asked.body["messages"].to_string().len() > 6_000 {
        true => Act::Status(400, refusal.to_string()),
        false if asked.body["stream"] == true => Act::says(&["Um", " dia."]),
        false => whole("Um dia."),
    }
}

/// A thread of long turns, as many as any mode shows.
fn fill(server: &Server, of: &str) {
    let long = "palavra ".repeat(200);
    let pair = [says("user", &long), says("assistant", &long)];
    server.append(of, "t", &(0..12).flat_map(|_| pair.clone()).collect::<Vec<_>>());
}

#[test]
fn a_prompt_that_is_too_long_is_shortened() {
    let models = Models::start();
    let server = serve(&models, &[]);
    models.otherwise(Act::Decides(refuses_long));
    let overridden = with(asks("cid", "t", HEAVY), "promptOverride", "Own: say little.");
    for (of, body, mode) in [
        ("ana", asks("ana", "t", HEAVY), "stream"),
        ("bia", asks("bia", "t", LIGHT), "fast"),
        ("cid", overridden, "full"),
    ] {
        fill(&server, of);
        let before = models.asked().len();
        let told = ask(&server, &body);
        assert_eq!((&told["meta"]["mode"], &told["message"]), (&json!(mode), &json!("Um dia.")), "{told}");
        assert_eq!((&told["fallback"], told["meta"].get("reason")), (&json!(false), None), "{told}");
        assert_eq!(told["modelo"], "tiny");
        let asked = models.asked();
        let sizes: Vec<usize> = asked[before..].iter().map(|asked| asked.body["messages"].to_string().len()).collect();
        assert!(sizes.len() > 1 && sizes.is_sorted_by(|a, b| a > b), "each is shorter than the one before: {sizes:?}");
        let question = &body["messages"][0]["content"];
        let asks_it = |asked: &Asked| asked.contents().iter().filter(|content| **content == *question).count() == 1;
        assert!(asked[before..].iter().all(asks_it), "the question is asked once in each");
        let kept = turns(&server, of, "t");
        assert_eq!(kept[24..], [body["messages"][0].clone(), says("assistant", "Um dia.")], "{mode}");
    }
    let frames = heard(&server, &asks("ana", "t", "Que desespero"));
    assert_eq!((text(&frames).as_str(), &end(&frames)["fallback"]), ("Um dia.", &json!(false)));
}

#[test]
fn a_prompt_that_stays_too_long_is_replaced_by_the_sentence() {
    let models = Models::start();
    let server = serve(&models, &[]);
    let refusal = json!({"error": {"type": "exceed_context_size_error", "message": "the prompt is too long"}});
    models.otherwise(Act::Status(400, refusal.to_string()));
    fill(&server, "ana");
    let told = ask(&server, &asks("ana", "t", HEAVY));
    assert_eq!((&told["message"], &told["meta"]["reason"]), (&json!(TIMEOUT), &json!("error")), "{told}");
    let asked = models.asked();
    let sizes: Vec<usize> = asked.iter().map(|asked| asked.body["messages"].to_string().len()).collect();
    assert!(sizes.is_sorted_by(|a, b| a > b) && sizes.len() <= 4, "no prompt is sent twice: {sizes:?}");
}
