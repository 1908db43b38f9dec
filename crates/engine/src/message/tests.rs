use super::*;

fn message(json: &str) -> Message {
    Message::accept(Bytes::copy_from_slice(json.as_bytes())).expect(json)
}

fn refused(json: &str) -> String {
    Message::accept(Bytes::copy_from_slice(json.as_bytes())).expect_err(json).to_string()
}

#[test]
fn bytes_stay_as_they_came() {
    let odd = r#"{ "content" : null,"x":1.50, "role":"\u0061ssistant" , "tool_calls":[{"id":"a","function":{"arguments":"{ }"}}]}"#;
    let kept = message(odd);
    assert_eq!(kept.as_str(), odd);
    assert_eq!(kept.role(), Some(Role::Assistant));
    assert_eq!(kept.calls().iter().map(|c| &*c.id).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn bad_messages_name_the_field() {
    for (json, expect) in [
        ("[]", "is not a JSON object"),
        ("{", "is not a JSON object"),
        (r#"{"content":"x"}"#, "role is missing"),
        (r#"{"role":"robot"}"#, "role must be system, developer, user, assistant or tool"),
        (r#"{"role":1}"#, "role must be system, developer, user, assistant or tool"),
        (r#"{"role":"user","content":{}}"#, "content must be a string, an array of parts or null"),
        (r#"{"role":"user","content":7}"#, "content must be a string, an array of parts or null"),
        (r#"{"role":"user","role":"tool"}"#, r#"has the key "role" twice"#),
        (
            r#"{"role":"assistant","tool_calls":[{"id":1}]}"#,
            "tool_calls must be an array of objects, each with a string id",
        ),
        (r#"{"role":"tool","tool_call_id":3}"#, "tool_call_id must be a string"),
    ] {
        assert_eq!(refused(json), expect, "{json}");
    }
}

#[test]
fn caps_hold_at_the_cap_and_one_past_it() {
    let nested = |deep: usize| format!(r#"{{"role":"user","x":{}{}}}"#, "[".repeat(deep - 1), "]".repeat(deep - 1));
    message(&nested(JSON_DEPTH_MAX));
    assert!(refused(&nested(JSON_DEPTH_MAX + 1)).contains("JSON_DEPTH_MAX"));
    let sized = |bytes: usize| {
        let frame = r#"{"role":"user","content":""}"#.len();
        format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(bytes - frame))
    };
    message(&sized(MESSAGE_BYTES_MAX));
    assert!(refused(&sized(MESSAGE_BYTES_MAX + 1)).contains("MESSAGE_BYTES_MAX"));
}

#[test]
fn cost_is_that_of_the_compact_text() {
    let tight = message(r#"{"role":"user","content":"é"}"#);
    let loose = message("{ \"role\" : \"user\",\n \"content\" : \"\\u00e9\" }");
    for tokenizer in Tokenizer::ALL {
        assert_eq!(tight.tokens(tokenizer), loose.tokens(tokenizer), "{tokenizer:?}");
    }
    assert_eq!(tight.tokens(Tokenizer::Approx), 29u32.div_ceil(4) + OVERHEAD_TOKENS);
    assert_eq!(tight.text_tokens(Tokenizer::O200kBase), Tokenizer::O200kBase.count(tight.as_str()));
}

#[test]
fn answers_know_the_comma_that_goes_with_their_id() {
    for (json, rest) in [
        (r#"{"role":"tool","tool_call_id":"a","content":"x"}"#, r#"{"role":"tool","content":"x"}"#),
        (r#"{"tool_call_id":"a" , "role":"tool"}"#, r#"{ "role":"tool"}"#),
        (r#"{"role":"tool", "tool_call_id":"a"}"#, r#"{"role":"tool"}"#),
    ] {
        let kept = message(json);
        let span = kept.tools().and_then(|t| t.answer.as_ref()).and_then(|a| a.id_member).unwrap();
        let cut = format!("{}{}", &json[..span.start as usize], &json[span.end as usize..]);
        assert_eq!(cut, rest);
    }
}

#[test]
fn documents_that_are_no_messages_are_kept_too() {
    for json in [r#"{"create_time":1,"value":{"a":1}}"#, "[1,2]", "7", r#"{"role":"robot"}"#] {
        assert_eq!(Message::from_stored(Bytes::copy_from_slice(json.as_bytes())).role(), None);
    }
}

#[test]
fn a_key_in_two_spellings_stands_twice() {
    assert_eq!(refused(r#"{"role":"user","\u0072ole":"system"}"#), r#"has the key "role" twice"#);
}

#[test]
fn a_call_without_an_id_has_its_file_all_the_same() {
    let call = |id: &str, path: &str| {
        let arguments = json::literal(&format!(r#"{{"filepath":"{path}","content":"x"}}"#));
        format!(r#"{{{id}"function":{{"arguments":{arguments}}}}}"#)
    };
    let calls = [call("", "a"), call(r#""id":"1","#, "b"), call(r#""id":7,"#, "c")].join(",");
    let kept = Message::from_stored(format!(r#"{{"role":"assistant","tool_calls":[{calls}]}}"#).into());
    assert_eq!(kept.call_ids().collect::<Vec<_>>(), ["1"]);
    assert_eq!(kept.tools().unwrap().files.iter().map(|f| &*f.path).collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn a_call_that_names_its_id_twice_goes_by_the_last() {
    let kept = message(r#"{"role":"assistant","tool_calls":[{"id":"a","function":{},"id":"b"}]}"#);
    assert_eq!(kept.calls().iter().map(|c| &*c.id).collect::<Vec<_>>(), ["b"]);
}

#[test]
fn half_a_character_is_kept_and_counted_as_it_is_spelled() {
    let half = message(r#"{"role":"tool","tool_call_id":"\ud83d","content":"\ude00"}"#);
    assert_eq!(half.units(), half.as_str().len() as u32);
    assert_eq!((half.content_text(), half.content().unwrap().unescaped_units), (None, 1));
    assert!(half.tools().unwrap().answer.as_ref().unwrap().id.is_none());
    assert!(refused(r#"{"role":"assistant","tool_calls":[{"id":"\ud83d"}]}"#).starts_with("tool_calls"));
}
