//! What servers send, written down in their manners, and read whatever way the network cuts it.

use super::*;
use crate::model::{CallDelta, Usage};
use serde_json::json;

type Read = (Vec<Delta>, Option<StreamFault>);

fn read(pieces: &[&[u8]]) -> Read {
    let (mut reading, mut out) = (Reading::default(), VecDeque::new());
    let fed = pieces.iter().try_for_each(|piece| reading.feed(piece, &mut out));
    let fault = fed.and_then(|()| reading.end(&mut out)).err();
    (joined(out), fault)
}

/// Texts that follow each other as one: where they are cut does not matter.
fn joined(deltas: VecDeque<Delta>) -> Vec<Delta> {
    deltas.into_iter().fold(Vec::new(), |mut all, delta| {
        match (all.last_mut(), delta) {
            (Some(Delta::Text(before)), Delta::Text(more)) => before.push_str(&more),
            (_, delta) => all.push(delta),
        }
        all
    })
}

/// Reads a stream whole, byte by byte, and cut in two at every byte.
#[track_caller]
fn replay(stream: &str) -> Read {
    let bytes = stream.as_bytes();
    let whole = read(&[bytes]);
    assert_eq!(read(&bytes.chunks(1).collect::<Vec<_>>()), whole, "byte by byte");
    for at in 0..bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(read(&[front, back]), whole, "cut at {at}");
    }
    whole
}

#[track_caller]
fn check(stream: &str, expected: &[Delta]) {
    assert_eq!(replay(stream), (expected.to_vec(), None));
    assert_eq!(replay(&stream.replace('\n', "\r\n")), (expected.to_vec(), None), "with CRLF");
}

fn text(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

fn end(finish: &str, usage: Option<(u64, u64)>) -> Delta {
    let usage = usage.map(|(prompt_tokens, completion_tokens)| Usage { prompt_tokens, completion_tokens });
    Delta::End { finish: finish.to_owned(), usage }
}

fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Delta {
    let (id, name) = (id.map(str::to_owned), name.map(str::to_owned));
    Delta::Call(CallDelta { index, id, name, arguments: arguments.to_owned(), ..CallDelta::default() })
}

#[test]
fn openai() {
    let stream = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","service_tier":"default","system_fingerprint":"fp_1","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"Xk"}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"content":"Olá"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"content":" 👋"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":0}}}

data: [DONE]

"#;
    check(stream, &[text("Olá 👋"), end("stop", Some((9, 2)))]);
}

#[test]
fn openai_calls() {
    let stream = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"search","arguments":""}}],"refusal":null},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ñ\"}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":"{}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
    let calls = [
        call(0, Some("call_a"), Some("search"), ""),
        call(0, None, None, "{\"q\":"),
        call(0, None, None, "\"ñ\"}"),
        call(1, Some("call_b"), Some("list"), "{}"),
        end("tool_calls", None),
    ];
    check(stream, &calls);
}

#[test]
fn llama_cpp() {
    let stream = r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"chatcmpl-j","model":"SmolLM2","system_fingerprint":"b1","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"I"}}],"created":1,"id":"chatcmpl-j","model":"SmolLM2","object":"chat.completion.chunk"}

: 

data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"'m"}}],"created":1,"id":"chatcmpl-j","model":"SmolLM2","object":"chat.completion.chunk"}

data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}],"created":1,"id":"chatcmpl-j","model":"SmolLM2","object":"chat.completion.chunk"}

data: {"choices":[],"created":1,"id":"chatcmpl-j","model":"SmolLM2","object":"chat.completion.chunk","usage":{"completion_tokens":2,"prompt_tokens":32,"total_tokens":34},"timings":{"prompt_n":32,"predicted_ms":23.458}}

data: [DONE]

"#;
    check(stream, &[text("I'm"), end("length", Some((32, 2)))]);
    let old = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\nerror: {\"code\":500,\"message\":\"slot gone\"}\n\n";
    assert_eq!(replay(old), (vec![text("a")], Some(StreamFault::Said(json!({"code": 500, "message": "slot gone"})))));
}

#[test]
fn ollama() {
    let stream = r#"data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"},"finish_reason":null}]}

data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"!"},"finish_reason":null}]}

data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-7","object":"chat.completion.chunk","created":1,"model":"llama3.2","system_fingerprint":"fp_ollama","choices":[],"usage":{"prompt_tokens":26,"completion_tokens":3,"total_tokens":29}}

data: [DONE]

"#;
    check(stream, &[text("Hi!"), end("stop", Some((26, 3)))]);
    let calls = r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","index":0,"type":"function","function":{"name":"a","arguments":"{}"}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_2","index":0,"type":"function","function":{"name":"b","arguments":{"x":1}}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;
    let expected = [
        call(0, Some("call_1"), Some("a"), "{}"),
        call(1, Some("call_2"), Some("b"), "{\"x\":1}"),
        end("tool_calls", None),
    ];
    check(calls, &expected);
}

#[test]
fn lm_studio() {
    let stream = r#"data: {"id":"chatcmpl-k","object":"chat.completion.chunk","created":1,"model":"qwen3-4b","system_fingerprint":"qwen3-4b","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"The user greets"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-k","object":"chat.completion.chunk","created":1,"model":"qwen3-4b","choices":[{"index":0,"delta":{"role":"assistant","content":"Привет"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-k","object":"chat.completion.chunk","created":1,"model":"qwen3-4b","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

"#;
    check(stream, &[text("Привет"), end("stop", None)]);
    let broken = r#"data: {"choices":[{"index":0,"delta":{"content":"Пр"},"finish_reason":null}]}

event: error
data: {"error":{"message":"The model has crashed without additional information."}}

"#;
    let fault =
        StreamFault::Said(json!({"error": {"message": "The model has crashed without additional information."}}));
    assert_eq!(replay(broken), (vec![text("Пр")], Some(fault)));
}

#[test]
fn vllm() {
    let stream = r#"data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen2.5-7B","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}

data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen2.5-7B","choices":[{"index":0,"delta":{"content":"42"},"logprobs":null,"finish_reason":null,"token_ids":null}]}

data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen2.5-7B","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null}]}

data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"Qwen/Qwen2.5-7B","choices":[],"usage":{"prompt_tokens":31,"total_tokens":33,"completion_tokens":2}}

data: [DONE]

"#;
    check(stream, &[text("42"), end("stop", Some((31, 2)))]);
    let broken = r#"data: {"choices":[{"index":0,"delta":{"content":"4"},"finish_reason":null}]}

data: {"object":"error","message":"EngineDead","type":"InternalServerError","code":500}

data: [DONE]

"#;
    let (said, fault) = replay(broken);
    assert_eq!(said, [text("4")]);
    assert!(matches!(fault, Some(StreamFault::Said(said)) if said["message"] == "EngineDead"));
}

const WORD: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
const FINISH: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

#[test]
fn an_end_needs_a_reason_or_done() {
    check(&format!("{WORD}{FINISH}"), &[text("a"), end("stop", None)]);
    check(format!("{WORD}{FINISH}").trim_end(), &[text("a"), end("stop", None)]);
    check(&format!("{WORD}data: [DONE]\n\n"), &[text("a"), end("stop", None)]);
    check(&format!("{WORD}data:[DONE]"), &[text("a"), end("stop", None)]);
    for early in [WORD, "", " \n", ": ping\n\n"] {
        let (_, fault) = replay(early);
        assert!(matches!(fault, Some(StreamFault::Form(why)) if why.contains("an end before")), "{early:?}");
    }
}

#[test]
fn what_follows_done_is_not_read() {
    check(&format!("{WORD}data: [DONE]\n\ndata: nonsense\n\n{WORD}"), &[text("a"), end("stop", None)]);
}

#[test]
fn keep_alives_say_nothing() {
    let mut reading = Reading::default();
    let mut out = VecDeque::new();
    reading.feed(b": ping\n\n: ping\n\ndata:\n\n", &mut out).unwrap();
    assert_eq!((reading.signs, out.len()), (0, 0));
    reading.feed(WORD.as_bytes(), &mut out).unwrap();
    assert_eq!((reading.signs, out.len()), (1, 1));
}

#[test]
fn a_completion_in_one_piece_is_an_answer() {
    let whole = json!({
        "id": "c", "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "né",
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        }}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    });
    let expected = [text("né"), call(0, Some("x"), Some("f"), "{}"), end("tool_calls", Some((3, 4)))];
    check(&whole.to_string(), &expected);
    check(&format!("\u{feff}\n {whole:#}\n"), &expected);
    let silent = json!({"choices": [{"message": {"role": "assistant", "content": "a"}}]});
    check(&silent.to_string(), &[text("a"), end("stop", None)]);
}

#[test]
fn an_error_in_one_piece_is_an_error() {
    let error = json!({"error": {"message": "no", "type": "invalid_request_error"}});
    assert_eq!(replay(&error.to_string()), (Vec::new(), Some(StreamFault::Said(error))));
    assert!(matches!(replay("{}").1, Some(StreamFault::Form(_))));
    assert!(matches!(replay("{\"choices\": [").1, Some(StreamFault::Form(_))));
}

#[test]
fn a_mark_at_the_front_is_skipped() {
    check(&format!("\u{feff}{WORD}{FINISH}"), &[text("a"), end("stop", None)]);
}

#[test]
fn what_is_no_json_breaks_off_after_what_came() {
    let (said, fault) = replay(&format!("{WORD}data: certainly!\n\n{FINISH}"));
    assert_eq!(said, [text("a")]);
    assert!(matches!(fault, Some(StreamFault::Form(why)) if why.contains("not JSON")));
}

#[test]
fn other_choices_and_parts_that_are_no_text_are_skipped() {
    let stream = r#"data: {"choices":[{"index":1,"delta":{"content":"no"}},{"index":0,"delta":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"yes"}]}}]}

data: {"choices":[{"index":0,"delta":{"content":7,"refusal":"never"},"finish_reason":""}]}

"#;
    check(&format!("{stream}{FINISH}"), &[text("yes"), Delta::Refusal("never".to_owned()), end("stop", None)]);
}

#[test]
fn calls_without_an_index_are_told_apart_by_their_ids() {
    let stream = r#"data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"id":"b","function":{"name":"g"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":" "}}]}}]}

"#;
    let expected = [
        call(0, Some("a"), Some("f"), "{"),
        call(0, None, None, "}"),
        call(1, Some("b"), Some("g"), ""),
        call(0, Some("a"), None, " "),
        end("stop", None),
    ];
    check(&format!("{stream}{FINISH}"), &expected);
}

#[test]
fn an_answer_has_a_cap() {
    use novelo_engine::limits::MODEL_ANSWER_BYTES_MAX;
    let half = "x".repeat(MODEL_ANSWER_BYTES_MAX / 2);
    let word = |text: &str| format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}));
    let at = format!("{}{}{FINISH}", word(&half), word(&half));
    assert_eq!(read(&[at.as_bytes()]).1, None);
    let past = format!("{}{}{}{FINISH}", word(&half), word(&half), word("x"));
    let fault = read(&[past.as_bytes()]).1;
    assert!(matches!(fault, Some(StreamFault::Form(why)) if why.contains("MODEL_ANSWER_BYTES_MAX")));
}

#[test]
fn an_answer_in_one_piece_has_a_cap_too() {
    let body = |bytes: usize| format!("{{{}", " ".repeat(bytes - 1));
    let feed = |text: String| Reading::default().feed(text.as_bytes(), &mut VecDeque::new());
    assert_eq!(feed(body(MODEL_FRAME_BYTES_MAX)), Ok(()));
    assert!(feed(body(MODEL_FRAME_BYTES_MAX + 1)).is_err());
    assert!(feed(" ".repeat(MODEL_FRAME_BYTES_MAX + 1)).is_err(), "blanks as well");
}

#[test]
fn a_stream_has_a_cap() {
    let mut reading = Reading { bytes: MODEL_STREAM_BYTES_MAX - WORD.len(), ..Reading::default() };
    let mut out = VecDeque::new();
    assert_eq!(reading.feed(WORD.as_bytes(), &mut out), Ok(()));
    let past = reading.feed(b":", &mut out);
    assert!(matches!(past, Err(StreamFault::Form(why)) if why.contains("MODEL_STREAM_BYTES_MAX")));
}
