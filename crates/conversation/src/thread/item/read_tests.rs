use novelo_engine::Turn;

use super::*;
use crate::thread::item::show_turn;

/// What turns hold, and the items that they show.
fn stored(items: Value) -> (Vec<Value>, Vec<Value>) {
    let turns = read_items("input", serde_json::from_value(items).unwrap()).unwrap();
    let documents = turns.iter().map(|turn| serde_json::from_slice(turn.message.raw()).unwrap()).collect();
    let shown = turns.into_iter().zip(1..).flat_map(|(turn, seq)| {
        show_turn("t", &Turn { seq, id: turn.id.into(), create_time: 0.0, message: turn.message })
    });
    (documents, shown.collect())
}

fn refused(item: Value) -> String {
    read_items("input", vec![item]).unwrap_err().param.unwrap()
}

#[test]
fn what_a_chat_can_say_is_a_plain_message() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let (documents, shown) = stored(json!([
        {"role": "user", "content": "Hi"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]},
        call("c1"), call("c2"),
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "two"}]},
    ]));
    assert_eq!(documents[0], json!({"role": "user", "content": "Hi"}));
    assert_eq!(documents[1]["tool_calls"][1]["id"], "c2");
    assert_eq!(documents[1]["content"], "Let me look.");
    assert_eq!(documents[2], json!({"role": "tool", "tool_call_id": "c1", "content": "one"}));
    assert_eq!(documents[3]["value"], json!({"role": "tool", "tool_call_id": "c2", "content": "two"}));
    let types: Vec<&str> = shown.iter().map(|item| item["type"].as_str().unwrap()).collect();
    let expected =
        ["message", "message", "function_call", "function_call", "function_call_output", "function_call_output"];
    assert_eq!(types, expected);
    assert_eq!(shown[0]["content"], json!([{"type": "input_text", "text": "Hi"}]));
    assert_eq!(shown[5]["output"], json!([{"type": "input_text", "text": "two"}]));
    let ids: std::collections::BTreeSet<&str> = shown.iter().map(|item| item["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), shown.len());
}

#[test]
fn what_a_chat_cannot_say_is_kept_beside_it() {
    let items = json!([
        {"type": "reasoning", "id": "rs_theirs", "summary": [], "encrypted_content": "abc"},
        {"type": "function_call", "id": "fc_theirs", "call_id": "c", "name": "f", "arguments": "{}", "status": "completed"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "tea"}},
        {"type": "message", "role": "developer", "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "low"},
            {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,AA"},
        ], "status": "completed"},
        {"type": "message", "role": "assistant", "id": "msg_theirs", "status": "completed", "phase": "commentary",
         "content": [{"type": "refusal", "refusal": "No."}]},
    ]);
    let (documents, shown) = stored(items.clone());
    for (kept, item) in shown.iter().zip(items.as_array().unwrap()) {
        let mut kept = kept.clone();
        if item.get("id").is_none() {
            kept.as_object_mut().unwrap().remove("id");
        }
        assert_eq!(&kept, item);
    }
    assert_eq!(shown.len(), 5);
    assert_eq!(documents.len(), 4, "a thought goes with the call after it");
    assert_eq!(documents[0]["value"]["tool_calls"][0]["id"], "c");
    assert_eq!(documents[1].get("value"), None);
    let parts = &documents[2]["content"];
    assert_eq!(
        parts[0],
        json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA", "detail": "low"}})
    );
    assert_eq!(parts[1]["file"]["filename"], "a.txt");
    assert_eq!(documents[3]["value"]["refusal"], "No.");
}

#[test]
fn the_field_at_fault_is_named() {
    for (item, param) in [
        (json!("x"), "input[0]"),
        (json!({"content": "x"}), "input[0].type"),
        (json!({"role": "parrot", "content": "x"}), "input[0].role"),
        (json!({"role": "user"}), "input[0].content"),
        (
            json!({"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}),
            "input[0].content[0].image_url",
        ),
        (
            json!({"role": "user", "content": [{"type": "input_file", "file_url": "f"}]}),
            "input[0].content[0].file_data",
        ),
        (json!({"role": "user", "content": [{"type": "hologram"}]}), "input[0].content[0].type"),
        (json!({"role": "assistant", "content": [{"type": "output_text"}]}), "input[0].content[0].text"),
        (json!({"type": "function_call", "call_id": "c", "name": "f"}), "input[0].arguments"),
        (json!({"type": "function_call_output", "output": "x"}), "input[0].call_id"),
        (json!({"type": "function_call_output", "call_id": "c", "output": 7}), "input[0].output"),
    ] {
        assert_eq!(refused(item.clone()), param, "{item}");
    }
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(refused(json!({"type": "odd", "deep": deep})), "input[0]");
}

#[test]
fn a_reference_names_an_item() {
    assert_eq!(is_reference(&json!({"type": "item_reference", "id": "a"})), Some("a"));
    assert_eq!(is_reference(&json!({"id": "a"})), Some("a"));
    assert_eq!(is_reference(&json!({"id": "a", "role": "user", "content": "x"})), None);
    assert_eq!(is_reference(&json!({"id": "a", "type": "message"})), None);
}
