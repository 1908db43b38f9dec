//! Each option of each filter, and the budget, in small cases.
//!
//! A message is written `u:hello`: the first letter of its role, the ids of its calls or of the call it
//! answers in brackets (`a(x;y)`, `t(x):done`, with arguments `a(x={…})`), and its content, where it has one.
//! In what is expected, a message as it came has no sign; `-` is dropped, `~` cut or redacted, `>` moved, `+`
//! made.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a panic is how a test fails")]

use novelo_engine::piece::{Fate, Piece};
use novelo_engine::{Assembly, Loaded, Message, Recipe, assemble};
use serde_json::{Value, json};

#[track_caller]
fn check(input: &[&str], recipe: Value, expect: &[&str]) {
    with_assembly(input, recipe, |assembly| {
        let shown: Vec<String> = assembly.pieces.iter().map(show).collect();
        assert_eq!(shown, expect);
    });
}

/// As `check`, for the reasons of all that is not simply as it came.
#[track_caller]
fn check_whys(input: &[&str], recipe: Value, expect: &[&str]) {
    with_assembly(input, recipe, |assembly| {
        let rows = assembly.explain().pieces.into_iter().filter(|row| row.why != "as stored");
        let whys: Vec<String> = rows.map(|row| format!("{}: {}", row.by, row.why)).collect();
        assert_eq!(whys, expect);
    });
}

/// As `check`, for the remarks of the filters.
#[track_caller]
fn check_notes(input: &[&str], recipe: Value, expect: Value) {
    with_assembly(input, recipe, |assembly| {
        assert_eq!(serde_json::to_value(&assembly.notes).unwrap(), expect);
    });
}

#[track_caller]
fn with_assembly(input: &[&str], recipe: Value, then: impl FnOnce(&Assembly<'_>)) {
    let recipe = Recipe::decode("recipe", &recipe).unwrap();
    let inline: Vec<Message> = input.iter().map(|short| read(short)).collect();
    let loaded = Loaded { inline: &inline, ..Loaded::default() };
    then(&assemble(&recipe, &loaded, recipe.budget_tokens).unwrap());
}

const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

fn read(short: &str) -> Message {
    let (head, content) = short.split_once(':').map_or((short, None), |(head, content)| (head, Some(content)));
    let (head, content) = match short.find("={") {
        Some(arguments) if arguments < head.len() => {
            let end = short.find("})").unwrap() + 2;
            (&short[..end], short[end..].strip_prefix(':'))
        }
        _ => (head, content),
    };
    let role = ROLES.iter().find(|role| role.starts_with(&head[..1])).unwrap();
    let ids = head[1..].strip_prefix('(').and_then(|ids| ids.strip_suffix(')'));
    let mut message = json!({"role": role});
    if let Some(ids) = ids.filter(|_| *role == "assistant") {
        message["tool_calls"] = ids.split(';').map(call).collect();
    } else if let Some(id) = ids {
        message["tool_call_id"] = id.into();
    }
    if let Some(content) = content {
        message["content"] = serde_json::from_str(content).ok().filter(Value::is_array).unwrap_or(content.into());
    }
    Message::accept(message.to_string().into()).unwrap()
}

fn call(short: &str) -> Value {
    let (id, arguments) = short.split_once('=').unwrap_or((short, ""));
    json!({"id": id, "function": {"arguments": arguments}})
}

fn show(piece: &Piece<'_>) -> String {
    let mut bytes = Vec::new();
    piece.write(&mut bytes);
    let message: Value = serde_json::from_slice(&bytes).unwrap();
    let sign = match piece.fate {
        Fate::Dropped => "- ",
        Fate::Cut | Fate::Redacted => "~ ",
        Fate::Moved => "> ",
        Fate::Made => "+ ",
        Fate::Kept | Fate::Collapsed => "",
    };
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let arguments = call["function"]["arguments"].as_str().filter(|a| !a.is_empty());
        format!("{}{}", call["id"].as_str().unwrap(), arguments.map(|a| format!("={a}")).unwrap_or_default())
    });
    let ids = calls.chain(message["tool_call_id"].as_str().map(str::to_owned)).collect::<Vec<_>>().join(";");
    let ids = if ids.is_empty() { ids } else { format!("({ids})") };
    let content = match &message["content"] {
        Value::Null => String::new(),
        Value::String(text) => format!(":{text}"),
        parts => format!(":{parts}"),
    };
    format!("{sign}{}{ids}{content}", &message["role"].as_str().unwrap()[..1])
}

fn only(name: &str, options: Value) -> Value {
    json!({"filters": [{"name": name, "options": options}]})
}

mod size_limiter {
    use super::*;

    /// `u:` costs 15 tokens, `u:` with 4, 8, … letters one more for each four. `s:` costs 16, `a:` 17.
    fn limited(mut options: Value, max_tokens: u32) -> Value {
        options["maxTokens"] = max_tokens.into();
        only("sizeLimiter", options)
    }

    #[test]
    fn max_tokens_keeps_the_newest_at_the_cap_and_not_one_below() {
        let all = ["u:one4", "u:two4", "u:six4"];
        check(&all, limited(json!({}), 48), &all);
        check(&all, limited(json!({}), 47), &["- u:one4", "u:two4", "u:six4"]);
    }

    #[test]
    fn what_does_not_fit_is_skipped_and_an_older_one_may_still_fit() {
        check(
            &["u:one4", "u:longer than 4", "u:six4"],
            limited(json!({}), 34),
            &["u:one4", "- u:longer than 4", "u:six4"],
        );
    }

    #[test]
    fn per_message_overhead_counts_for_each_message() {
        let all = ["u:one4", "u:two4"];
        check(&all, limited(json!({"perMessageOverhead": 0}), 16), &all);
        check(&all, limited(json!({"perMessageOverhead": 1}), 17), &["- u:one4", "u:two4"]);
    }

    #[test]
    fn users_choose_before_others_unless_told_not_to() {
        let all = ["u:one4", "a:yes", "s:no"];
        check(&all, limited(json!({}), 33), &["u:one4", "- a:yes", "s:no"]);
        check(&all, limited(json!({"prioritizeUser": false}), 33), &["- u:one4", "a:yes", "s:no"]);
    }

    #[test]
    fn systems_choose_first_when_told_to() {
        let all = ["s:no", "u:one4", "u:two4"];
        check(&all, limited(json!({}), 32), &["- s:no", "u:one4", "u:two4"]);
        check(&all, limited(json!({"prioritizeSystem": true}), 32), &["s:no", "- u:one4", "u:two4"]);
    }

    #[test]
    fn a_system_message_is_preserved_only_when_nothing_else_is_kept() {
        let all = ["s:old", "s:new", "a:yes"];
        check(&all, limited(json!({}), 1), &["- s:old", "s:new", "- a:yes"]);
        check(&all, limited(json!({"preserveAtLeastOneSystem": false}), 1), &["- s:old", "- s:new", "- a:yes"]);
        check(&["s:a long one indeed", "a:yes"], limited(json!({}), 17), &["- s:a long one indeed", "a:yes"]);
        check(&["d:mind", "u:one4"], limited(json!({}), 1), &["- d:mind", "- u:one4"]);
    }

    #[test]
    fn what_an_earlier_limiter_dropped_stays_dropped() {
        let limiter = |max: u32| json!({"name": "sizeLimiter", "options": {"maxTokens": max}});
        let recipe = json!({"filters": [limiter(17), limiter(1)]});
        check(&["s:too long for 17 tokens", "a:yes"], recipe, &["- s:too long for 17 tokens", "- a:yes"]);
    }

    #[test]
    fn contents_are_cut_to_whole_characters() {
        let cut = |chars: u32| only("sizeLimiter", json!({"maxContentChars": chars}));
        check(&["u:ab😀c", "a:abcde"], cut(3), &["~ u:ab", "~ a:abc"]);
        check(&["u:ab😀c", "a:abcde"], cut(5), &["u:ab😀c", "a:abcde"]);
        check(&[r#"u:["abcdef"]"#, "a(x)"], cut(1), &[r#"u:["abcdef"]"#, "a(x)"]);
    }

    #[test]
    fn contents_are_cut_before_they_are_counted() {
        check(&["u:12345678"], limited(json!({"maxContentChars": 4}), 16), &["~ u:1234"]);
    }

    #[test]
    fn a_preserved_message_is_still_said_to_be_cut() {
        check(&["s:abc"], limited(json!({"maxContentChars": 2}), 1), &["~ s:ab"]);
    }

    #[test]
    fn defaults_are_24000_tokens_and_50000_characters() {
        let (long, cut) = (format!("u:{}", "x".repeat(50_001)), format!("u:{}", "x".repeat(50_000)));
        let (sent, dropped) = (format!("~ {cut}"), format!("- {cut}"));
        let rest = format!("a:{}", "x".repeat((24_000 - 12_515 - 8) * 4 - 33));
        check(&[&long, &rest], only("sizeLimiter", json!({})), &[&sent, &rest]);
        check(&["u:one4", &long, &long], only("sizeLimiter", json!({})), &["u:one4", &dropped, &sent]);
    }

    #[test]
    fn a_tokenizer_of_its_own_counts() {
        let long = format!("u:{}", "a".repeat(400));
        check(&[&long], limited(json!({"tokenizer": "o200k_base"}), 80), &[&long]);
        check(&[&long], limited(json!({"tokenizer": "approx"}), 80), &[&format!("- {long}")]);
    }

    #[test]
    fn reasons_give_the_numbers() {
        check_whys(
            &["u:one4", "u:a longer one"],
            limited(json!({"maxContentChars": 4}), 16),
            &["sizeLimiter: needs 16 tokens, 0 were left", "sizeLimiter: content cut from 12 to 4 characters"],
        );
        check_whys(
            &["s:only"],
            limited(json!({}), 1),
            &["sizeLimiter: over the cap, but the one system message that is preserved"],
        );
    }
}

mod file_contents_limiter {
    use super::*;

    fn limited(options: Value) -> Value {
        only("fileContentsLimiter", options)
    }

    fn file(path: &str, content: &str) -> String {
        format!(r#"{{"filepath":"{path}","content":"{content}"}}"#)
    }

    fn answer(path: &str, content: &str) -> String {
        format!("t(x):{}", file(path, content))
    }

    fn hidden(path: &str) -> String {
        format!("~ {}", answer(path, "gone"))
    }

    #[test]
    fn files_limit_keeps_the_newest_files() {
        let recipe = limited(json!({"filesLimit": 1, "placeholder": "gone"}));
        check(
            &[&answer("a", "1"), &answer("b", "2"), &answer("b", "3")],
            recipe,
            &[&hidden("a"), &answer("b", "2"), &answer("b", "3")],
        );
    }

    #[test]
    fn versions_per_file_keeps_the_newest_versions() {
        let recipe = limited(json!({"versionsPerFile": 1, "placeholder": "gone"}));
        check(
            &[&answer("a", "1"), &answer("b", "2"), &answer("a", "3")],
            recipe,
            &[&hidden("a"), &answer("b", "2"), &answer("a", "3")],
        );
    }

    #[test]
    fn defaults_are_seven_files_in_two_versions() {
        let placeholder = "(file contents ommited for space)";
        let files: Vec<String> = ["h", "a", "a", "a", "b", "c", "d", "e", "f", "g"].map(|f| answer(f, "1")).into();
        let mut expect = files.clone();
        expect[0] = format!("~ {}", answer("h", placeholder));
        expect[1] = format!("~ {}", answer("a", placeholder));
        let [input, expect] = [&files, &expect].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
        check(&input, limited(json!({})), &expect);
    }

    #[test]
    fn calls_and_answers_are_each_looked_at_unless_told_not_to() {
        let call = format!("a(x={})", file("a", "1"));
        let hidden_call = format!("~ a(x={})", file("a", "gone"));
        let all = [call.as_str(), &answer("b", "2")];
        let recipe = |option: &str| limited(json!({"filesLimit": 0, "placeholder": "gone", option: false}));
        check(&all, limited(json!({"filesLimit": 0, "placeholder": "gone"})), &[&hidden_call, &hidden("b")]);
        check(&all, recipe("detectAssistantToolCalls"), &[&call, &hidden("b")]);
        check(&all, recipe("detectToolMessages"), &[&hidden_call, &answer("b", "2")]);
    }

    #[test]
    fn calls_of_one_message_count_first_to_last() {
        let calls = |first: &str, last: &str| format!("a(x={};y={})", file("a", first), file("b", last));
        check(
            &[&calls("1", "2")],
            limited(json!({"filesLimit": 1, "placeholder": "gone"})),
            &[&format!("~ {}", calls("1", "gone"))],
        );
    }

    #[test]
    fn what_is_no_file_stays_byte_for_byte() {
        for content in [
            "no json",
            r#"{ "filepath": "a" }"#,
            r#"{ "filepath": "a", "content": null }"#,
            r#"{ "filepath": null, "content": "x" }"#,
            r#"{ "content": "x" }"#,
            r#"{ "filepath": "a", "content": "x" } and more"#,
        ] {
            let answer = format!("t(x):{content}");
            check(&[&answer], limited(json!({"filesLimit": 0})), &[&answer]);
        }
    }

    #[test]
    fn an_odd_path_and_a_repeated_key_hide_no_content() {
        for (content, hidden) in [
            (r#"{ "filepath": 1, "content": "x" }"#, r#"{"filepath":1,"content":"gone"}"#),
            (r#"{ "filepath": "a", "filepath": "b", "content": "x" }"#, r#"{"filepath":"b","content":"gone"}"#),
            (r#"{"filepath":"a","content":"x","content":"y"}"#, r#"{"filepath":"a","content":"gone"}"#),
        ] {
            let gone = limited(json!({"filesLimit": 0, "placeholder": "gone"}));
            check(&[&format!("t(x):{content}")], gone, &[&format!("~ t(x):{hidden}")]);
        }
    }

    #[test]
    fn hiding_keeps_keys_in_order_and_drops_space() {
        let loose = r#"t(x):{ "n": 1.50, "content": {"any": ["thing"]}, "filepath" : "a\u0041" }"#;
        check(
            &[loose],
            limited(json!({"filesLimit": 0, "placeholder": "a \"b\""})),
            &[r#"~ t(x):{"n":1.50,"content":"a \"b\"","filepath":"aA"}"#],
        );
    }

    #[test]
    fn a_second_limiter_counts_what_the_first_has_hidden() {
        let limiter =
            |with: &str| json!({"name": "fileContentsLimiter", "options": {"filesLimit": 0, "placeholder": with}});
        check(&[&answer("a", "1")], json!({"filters": [limiter("one"), limiter("gone")]}), &[&hidden("a")]);
    }

    #[test]
    fn a_text_that_was_cut_is_no_file_any_more() {
        let cut = json!({"name": "sizeLimiter", "options": {"maxContentChars": 5}});
        let hide = json!({"name": "fileContentsLimiter", "options": {"filesLimit": 0}});
        check(&[&answer("a", "1")], json!({"filters": [cut, hide]}), &[r#"~ t(x):{"fil"#]);
    }

    #[test]
    fn reasons_name_every_file() {
        let calls = format!("a(x={};y={};z={})", file("a", "1"), file("a", "2"), file("b", "3"));
        check_whys(
            &[&calls],
            limited(json!({"filesLimit": 1, "versionsPerFile": 1})),
            &[
                "fileContentsLimiter: contents of b hidden, beyond filesLimit; contents of a hidden, beyond versionsPerFile",
            ],
        );
    }

    #[test]
    fn notes_count_what_it_did() {
        let calls = format!("a(x={};y={})", file("a", "1"), file("b", "2"));
        let both = [calls.as_str(), &answer("c", "3")];
        check_notes(&both, limited(json!({"filesLimit": 0})), json!([{"note": "files_hidden", "payloads": 3}]));
        check_notes(&both, limited(json!({})), json!([]));
    }

    #[test]
    fn a_redaction_is_named_whatever_becomes_of_the_message_later() {
        let recipe = json!({"filters": [
            {"name": "fileContentsLimiter", "options": {"filesLimit": 0}},
            {"name": "historyWindow", "options": {"turns": 9}},
            {"name": "sizeLimiter", "options": {"maxContentChars": 5}},
            "toolCallBackfill",
        ]});
        check_whys(
            &[&answer("a", "1"), "a(x)"],
            recipe,
            &[
                "historyWindow: inside the window",
                "toolCallBackfill: moved to follow its call x; content cut from 62 to 5 characters; \
             contents of a hidden, beyond filesLimit",
            ],
        );
    }
}

mod tool_call_backfill {
    use super::*;

    fn filled(options: Value) -> Value {
        only("toolCallBackfill", options)
    }

    #[test]
    fn a_prompt_in_order_stays_as_it_is() {
        let all = ["u:go", "a(x;y)", "t(x):1", "t(x):2", "t(y):3", "a:done"];
        check(&all, filled(json!({})), &all);
    }

    #[test]
    fn answers_follow_their_calls_in_the_order_of_the_calls() {
        check(
            &["a(x;y)", "u:wait", "t(y):2", "t(x):1", "t(x):3"],
            filled(json!({})),
            &["a(x;y)", "> t(x):1", "> t(x):3", "> t(y):2", "u:wait"],
        );
    }

    #[test]
    fn an_answer_that_came_first_moves_behind_its_call() {
        check(&["t(x):1", "t(x):2", "u:hi", "a(x)"], filled(json!({})), &["u:hi", "a(x)", "> t(x):1", "> t(x):2"]);
    }

    #[test]
    fn ids_used_again_belong_to_the_nearest_call_before_them() {
        let all = ["a(x)", "t(x):1", "a(x)", "u:wait", "t(x):2", "t(x):3"];
        check(&all, filled(json!({})), &["a(x)", "t(x):1", "a(x)", "> t(x):2", "> t(x):3", "u:wait"]);
        check(
            &["t(x):0", "a(x)", "a(x)"],
            filled(json!({})),
            &["a(x)", "> t(x):0", "a(x)", "+ t(x):Tool call failed to respond"],
        );
    }

    #[test]
    fn an_id_twice_in_one_message_is_answered_once() {
        check(
            &["a(x;y;x)", "t(x):1", "t(y):2", "t(x):3"],
            filled(json!({})),
            &["a(x;y;x)", "t(x):1", "> t(x):3", "> t(y):2"],
        );
        check(&["a(x;x)"], filled(json!({})), &["a(x;x)", "+ t(x):Tool call failed to respond"]);
    }

    #[test]
    fn more_calls_than_are_compared_are_looked_up() {
        let ids: Vec<String> = (0..40).map(|n| format!("c{}", n % 30)).collect();
        let calls = format!("a({})", ids.join(";"));
        let answers: Vec<String> = ids[..30].iter().map(|id| format!("t({id}):1")).collect();
        let all: Vec<&str> = [&calls].into_iter().chain(&answers).map(String::as_str).collect();
        check(&all, filled(json!({})), &all);
    }

    #[test]
    fn missing_content_is_what_a_made_answer_says() {
        check(&["a(x;y)", "t(y):2"], filled(json!({"missingContent": "none"})), &["a(x;y)", "+ t(x):none", "t(y):2"]);
    }

    #[test]
    fn role_is_who_a_made_answer_speaks_as() {
        check(&["a(x)"], filled(json!({"role": "user", "missingContent": "none"})), &["a(x)", "+ u(x):none"]);
    }

    #[test]
    fn orphan_role_is_what_an_answer_without_a_call_becomes() {
        check(&["t(x):1", "t:2", "u:hi"], filled(json!({})), &["~ s:1", "~ s:2", "u:hi"]);
        check(&["t(x):1"], filled(json!({"orphanRole": "user"})), &["~ u:1"]);
    }

    #[test]
    fn the_id_of_an_orphan_is_stripped_unless_told_not_to() {
        check(&["t(x):1"], filled(json!({"stripOrphanToolId": false})), &["~ s(x):1"]);
    }

    #[test]
    fn a_made_answer_whose_call_is_dropped_is_an_orphan_too() {
        let size = json!({"name": "sizeLimiter", "options": {"maxTokens": 30, "perMessageOverhead": 0}});
        let recipe = json!({"filters": ["toolCallBackfill", size, "toolCallBackfill"]});
        let long = format!("a(x):{}", "long ".repeat(40));
        check(&[&long, "u:hi"], recipe.clone(), &[&format!("- {long}"), "~ s:Tool call failed to respond", "u:hi"]);
        check_whys(
            &[&long, "u:hi"],
            recipe,
            &[
                "sizeLimiter: needs 72 tokens, 3 were left",
                "toolCallBackfill: no call x in the window, now a system message",
            ],
        );
    }

    #[test]
    fn notes_count_what_it_did() {
        let expect = json!([{"note": "backfilled", "made": 1, "moved": 2, "orphans": 1}]);
        check_notes(&["t(z):0", "a(x;y)", "u:wait", "t(x):1", "t(x):2"], filled(json!({})), expect);
        check_notes(&["a(x)", "t(x):1"], filled(json!({})), json!([]));
        check_notes(&["a(x;x)", "t(x):1"], filled(json!({})), json!([]));
    }

    #[test]
    fn reasons_name_the_call() {
        check_whys(
            &["t(z):0", "t:0", "a(x;y)", "u:wait", "t(x):1"],
            filled(json!({})),
            &[
                "toolCallBackfill: no call z in the window, now a system message",
                "toolCallBackfill: names no call, now a system message",
                "toolCallBackfill: moved to follow its call x",
                "toolCallBackfill: answers call y, which had no answer",
            ],
        );
    }
}

mod history_window {
    use super::*;

    fn turns(n: u32) -> Value {
        only("historyWindow", json!({"turns": n}))
    }

    fn pairs(n: u32) -> Value {
        only("historyWindow", json!({"pairs": n}))
    }

    #[test]
    fn turns_keeps_the_last_n() {
        let all = ["u:1", "a:2", "u:3"];
        check(&all, turns(2), &["- u:1", "a:2", "u:3"]);
        check(&all, turns(3), &all);
    }

    #[test]
    fn instructions_that_lead_stay_and_later_ones_go() {
        check(&["s:be", "d:kind", "u:1", "s:now", "u:2"], turns(1), &["s:be", "d:kind", "- u:1", "- s:now", "u:2"]);
    }

    #[test]
    fn a_block_that_only_half_fits_stays_out() {
        check(
            &["u:1", "a(x;y)", "t(x):1", "t(y):2", "u:2"],
            turns(3),
            &["- u:1", "- a(x;y)", "- t(x):1", "- t(y):2", "u:2"],
        );
    }

    #[test]
    fn the_newest_block_is_in_however_large_and_so_is_the_newest_user_turn() {
        check(&["u:0", "u:1", "a(x)", "t(x):1"], turns(1), &["- u:0", "u:1", "a(x)", "t(x):1"]);
    }

    #[test]
    fn what_an_earlier_filter_dropped_is_no_block() {
        let huge = format!("a:{}", "x".repeat(400));
        let recipe = json!({"filters": [
            {"name": "sizeLimiter", "options": {"maxTokens": 100}},
            {"name": "historyWindow", "options": {"turns": 1}},
        ]});
        check(&["u:0", "a(x)", "t(x):1", &huge], recipe, &["u:0", "a(x)", "t(x):1", &format!("- {huge}")]);
    }

    #[test]
    fn pairs_keeps_the_last_n_user_turns_with_what_follows() {
        let all = ["a:hi", "u:1", "a:2", "a:3", "u:4", "a:5"];
        check(&all, pairs(1), &["- a:hi", "- u:1", "- a:2", "- a:3", "u:4", "a:5"]);
        check(&all, pairs(2), &["- a:hi", "u:1", "a:2", "a:3", "u:4", "a:5"]);
        check(&all, pairs(3), &all);
    }

    #[test]
    fn pairs_parts_no_call_from_its_answers() {
        check(&["u:0", "a(x)", "u:1", "t(x):1", "a:ok"], pairs(1), &["- u:0", "- a(x)", "u:1", "- t(x):1", "a:ok"]);
        check(&["u:0", "t(x):1", "u:1", "a(x)", "a:ok"], pairs(1), &["- u:0", "- t(x):1", "u:1", "- a(x)", "a:ok"]);
    }

    #[test]
    fn notes_count_what_it_did() {
        let expect = json!([{"note": "windowed", "kept": 2, "dropped": 2}]);
        check_notes(&["s:be", "u:1", "a:2", "u:3"], turns(1), expect);
    }

    #[test]
    fn reasons_say_what_the_window_did() {
        check_whys(
            &["s:be", "a:0", "u:1", "a:2"],
            turns(1),
            &[
                "historyWindow: leads the thread, always stays",
                "historyWindow: before the last 1 turns",
                "historyWindow: newest user turn, always stays",
                "historyWindow: inside the window",
            ],
        );
        check_whys(
            &["a:0", "u:1"],
            pairs(1),
            &["historyWindow: before the last 1 pairs", "historyWindow: inside the window"],
        );
    }
}

mod stable_window {
    use super::*;

    /// Each of these costs 16.
    const SIX: [&str; 6] = ["u:one4", "u:two4", "u:thr4", "u:fou4", "u:fiv4", "u:six4"];

    fn stable(options: Value) -> Value {
        only("stableWindow", options)
    }

    #[test]
    fn nothing_goes_up_to_max_tokens() {
        check(&SIX, stable(json!({"maxTokens": 96})), &SIX);
    }

    #[test]
    fn past_max_tokens_it_falls_back_to_keep() {
        let two_left = ["- u:one4", "- u:two4", "- u:thr4", "- u:fou4", "u:fiv4", "u:six4"];
        let four_left = ["- u:one4", "- u:two4", "u:thr4", "u:fou4", "u:fiv4", "u:six4"];
        check(&SIX, stable(json!({"maxTokens": 95})), &four_left);
        check(&SIX, stable(json!({"maxTokens": 95, "keep": 0.4})), &two_left);
        check(&SIX, stable(json!({"maxTokens": 95, "keep": 32})), &two_left);
    }

    #[test]
    fn the_front_stays_put_until_the_window_is_full_again() {
        let seven: Vec<&str> = SIX.iter().copied().chain(["u:sev4"]).collect();
        let eight: Vec<&str> = seven.iter().copied().chain(["u:eig4"]).collect();
        let recipe = stable(json!({"maxTokens": 80, "keep": 0.4}));
        check(&SIX, recipe.clone(), &["- u:one4", "- u:two4", "- u:thr4", "- u:fou4", "u:fiv4", "u:six4"]);
        check(
            &eight,
            recipe,
            &["- u:one4", "- u:two4", "- u:thr4", "- u:fou4", "u:fiv4", "u:six4", "u:sev4", "u:eig4"],
        );
    }

    #[test]
    fn keep_of_one_is_all_of_max_tokens() {
        let one_less: Vec<&str> = ["- u:one4"].into_iter().chain(SIX[1..].iter().copied()).collect();
        check(&SIX, stable(json!({"maxTokens": 95, "keep": 1})), &one_less);
    }

    #[test]
    fn the_newest_block_stays_also_before_what_was_dropped() {
        let huge = format!("a:{}", "x".repeat(400));
        let recipe = json!({"filters": [
            {"name": "sizeLimiter", "options": {"maxTokens": 100}},
            {"name": "stableWindow", "options": {"maxTokens": 10}},
        ]});
        check(&["a:yes", &huge], recipe, &["a:yes", &format!("- {huge}")]);
    }

    #[test]
    fn leading_instructions_count_and_stay() {
        check(&["s:no", "u:one4", "u:two4"], stable(json!({"maxTokens": 47})), &["s:no", "- u:one4", "u:two4"]);
    }

    #[test]
    fn blocks_go_whole() {
        check(
            &["a(x)", "t(x):1", "u:one4", "u:two4"],
            stable(json!({"maxTokens": 60, "keep": 59})),
            &["- a(x)", "- t(x):1", "u:one4", "u:two4"],
        );
    }

    #[test]
    fn a_spared_user_turn_counts() {
        let all = ["u:one4", "a:yes", "a:yes", "a:yes", "a:yes"];
        check(&all[..4], stable(json!({"maxTokens": 66, "keep": 0.8})), &["u:one4", "- a:yes", "a:yes", "a:yes"]);
        check(&all, stable(json!({"maxTokens": 66, "keep": 0.8})), &["u:one4", "- a:yes", "- a:yes", "a:yes", "a:yes"]);
    }

    #[test]
    fn a_spared_user_turn_goes_when_the_next_one_comes() {
        let all = ["u:one4", "a:yes", "a:yes", "a:yes", "u:two4"];
        check(
            &all,
            stable(json!({"maxTokens": 66, "keep": 0.8})),
            &["- u:one4", "- a:yes", "a:yes", "a:yes", "u:two4"],
        );
    }

    #[test]
    fn reasons_give_the_numbers() {
        check_whys(
            &["u:one4", "a:yes", "a:yes"],
            stable(json!({"maxTokens": 40, "keep": 0.5})),
            &[
                "stableWindow: newest user turn, always stays",
                "stableWindow: evicted in a block: past 40 tokens the window falls back to 20",
            ],
        );
    }
}

mod dedupe {
    use super::*;

    fn deduped() -> Value {
        json!({"filters": ["dedupe"]})
    }

    #[test]
    fn a_retry_goes_but_only_right_after() {
        check(&["u:hi", "u:hi", "a:yo", "u:hi"], deduped(), &["u:hi", "- u:hi", "a:yo", "u:hi"]);
    }

    #[test]
    fn role_and_content_must_both_be_equal() {
        let all = ["u:hi", "a:hi", "a:ho"];
        check(&all, deduped(), &all);
    }

    #[test]
    fn a_system_text_stays_once_wherever_it_stands() {
        check(
            &["s:be kind", "u:hi", "s:be kind", "d:be kind"],
            deduped(),
            &["s:be kind", "u:hi", "- s:be kind", "d:be kind"],
        );
    }

    #[test]
    fn calls_and_answers_are_never_touched() {
        let all = ["a(x)", "a(x)", "t(x):1", "t(x):1"];
        check(&all, deduped(), &all);
    }

    #[test]
    fn parts_are_compared_whole() {
        check(
            &[r#"u:["a"]"#, r#"u:["a"]"#, r#"u:["b"]"#, "a", "a"],
            deduped(),
            &[r#"u:["a"]"#, r#"- u:["a"]"#, r#"u:["b"]"#, "a", "- a"],
        );
    }

    #[test]
    fn what_a_dropped_one_stood_between_is_compared_too() {
        check(&["s:be", "u:hi", "s:be", "u:hi"], deduped(), &["s:be", "u:hi", "- s:be", "- u:hi"]);
    }

    #[test]
    fn notes_count_what_it_did() {
        check_notes(&["u:hi", "u:hi", "u:hi"], deduped(), json!([{"note": "deduped", "dropped": 2}]));
    }

    #[test]
    fn reasons_say_so() {
        check_whys(&["u:hi", "u:hi"], deduped(), &["dedupe: repeats the message before it"]);
    }
}

mod module_budget {
    use super::*;
    use novelo_engine::limits::BUDGET_TOKENS_MAX;

    const PINNED: Option<u32> = None;

    /// Modules by text and priority. Up to two letters cost 16 tokens, and each four more one more.
    fn modules(list: &[(&str, Option<u32>)], max_tokens: u32) -> Value {
        let module = |(text, priority): &(&str, Option<u32>)| {
            let pinned = *priority == PINNED;
            json!({"kind": "module", "name": "m", "value": text, "priority": priority, "pinned": pinned})
        };
        let mut recipe = only("moduleBudget", json!({"maxTokens": max_tokens}));
        recipe["components"] = list.iter().map(module).collect();
        recipe
    }

    #[test]
    fn it_holds_at_the_cap_and_one_below() {
        let two = [("a", Some(50)), ("b", Some(50))];
        check(&[], modules(&two, 32), &["s:a", "s:b"]);
        check(&[], modules(&two, 31), &["s:a", "- s:b"]);
        check(&[], modules(&two, 16), &["s:a", "- s:b"]);
        check(&[], modules(&two, 15), &["- s:a", "- s:b"]);
        check(&[], modules(&two, 0), &["- s:a", "- s:b"]);
    }

    #[test]
    fn what_is_pinned_comes_first_then_the_higher_priority() {
        let four = [("a", Some(10)), ("b", Some(90)), ("c", PINNED), ("d", Some(1_000))];
        check(&[], modules(&four, 16), &["- s:a", "- s:b", "s:c", "- s:d"]);
        check(&[], modules(&four, 32), &["- s:a", "- s:b", "s:c", "s:d"]);
        check(&[], modules(&four, 48), &["- s:a", "s:b", "s:c", "s:d"]);
    }

    #[test]
    fn of_equal_ones_the_first_stays() {
        check(&[], modules(&[("a", Some(50)), ("b", Some(50))], 16), &["s:a", "- s:b"]);
        let mut recipe = modules(&[("a", PINNED), ("b", PINNED)], 16);
        (recipe["components"][0]["priority"], recipe["components"][1]["priority"]) = (json!(1), json!(99));
        check(&[], recipe, &["s:a", "- s:b"]);
    }

    #[test]
    fn one_without_room_leaves_it_to_the_next() {
        let long = "a".repeat(14);
        let list = [(long.as_str(), Some(90)), ("b", Some(50)), ("c", Some(10))];
        check(&[], modules(&list, 18), &[&format!("- s:{long}"), "s:b", "- s:c"]);
        let pinned = [(long.as_str(), PINNED), ("b", PINNED)];
        check(&[], modules(&pinned, 18), &[&format!("- s:{long}"), "s:b"]);
    }

    #[test]
    fn reasons_give_the_numbers() {
        let list = [("a".repeat(14), Some(90)), ("b".to_owned(), Some(50)), ("c".to_owned(), Some(60))];
        let list: Vec<(&str, Option<u32>)> = list.iter().map(|(text, priority)| (text.as_str(), *priority)).collect();
        check_whys(
            &[],
            modules(&list, 36),
            &[
                "moduleBudget: fits, 36 tokens were left",
                "moduleBudget: needs 16 tokens, 1 were left",
                "moduleBudget: fits, 17 tokens were left",
            ],
        );
    }

    #[test]
    fn notes_count_what_it_did() {
        let expect = json!([{"note": "modules_cut", "kept": 2, "dropped": 1, "tokens": 32, "max_tokens": 40}]);
        check_notes(&["u:hi"], modules(&[("a", PINNED), ("b", Some(1)), ("c", Some(0))], 40), expect);
        let nothing = json!([{"note": "modules_cut", "kept": 0, "dropped": 0, "tokens": 0, "max_tokens": 40}]);
        check_notes(&["u:hi"], modules(&[], 40), nothing);
    }

    #[test]
    fn nothing_but_modules_is_touched() {
        let mut recipe = modules(&[("a", PINNED)], 0);
        let components = recipe["components"].as_array_mut().unwrap();
        components.push(json!({"kind": "literal", "value": "be brief"}));
        components.push(json!({"kind": "recall", "from": "memories", "empty": "none"}));
        check(&["s:no", "u:hi"], recipe.clone(), &["- s:a", "+ s:be brief", "s:none", "s:no", "u:hi"]);
        check_whys(&["s:no", "u:hi"], recipe, &["moduleBudget: needs 16 tokens, 0 were left"]);
    }

    #[test]
    fn a_text_is_read_with_the_recipe_and_not_with_each_prompt() {
        let mut recipe = modules(&[("a", PINNED)], 16);
        let nothing_found = json!({"kind": "recall", "from": "memories", "empty": "none"});
        recipe["components"].as_array_mut().unwrap().push(nothing_found);
        with_assembly(&[], recipe, |assembly| {
            assert_eq!(assembly.pieces.iter().map(Piece::is_verbatim).collect::<Vec<_>>(), [true, true]);
        });
    }

    #[test]
    fn what_is_out_already_takes_no_room() {
        let mut recipe = modules(&[("a", PINNED), ("b", Some(9)), ("c", Some(8))], 32);
        recipe["components"][1]["value"] = json!("a");
        recipe["filters"].as_array_mut().unwrap().insert(0, json!("dedupe"));
        check(&[], recipe.clone(), &["s:a", "- s:a", "s:c"]);
        let whys = [
            "moduleBudget: fits, 32 tokens were left",
            "dedupe: repeats the message before it",
            "moduleBudget: fits, 16 tokens were left",
        ];
        check_whys(&[], recipe, &whys);
    }

    #[test]
    fn one_that_was_cut_costs_what_is_left_of_it() {
        let mut recipe = modules(&[(&"a".repeat(60), PINNED)], 17);
        let cut = json!({"name": "sizeLimiter", "options": {"maxContentChars": 4}});
        recipe["filters"].as_array_mut().unwrap().insert(0, cut);
        check(&[], recipe, &["~ s:aaaa"]);
    }

    #[test]
    fn the_tokenizer_of_the_recipe_counts() {
        let text = "word ".repeat(20);
        let mut recipe = modules(&[(text.as_str(), PINNED)], 38);
        check(&[], recipe.clone(), &[&format!("- s:{text}")]);
        recipe["tokenizer"] = json!("o200k_base");
        check(&[], recipe, &[&format!("s:{text}")]);
    }

    #[test]
    fn the_log_windows_leave_modules_where_they_are() {
        let mut recipe = modules(&[("a", Some(1))], 16);
        let window = json!({"name": "historyWindow", "options": {"turns": 1}});
        recipe["filters"].as_array_mut().unwrap().insert(0, window);
        recipe["budget_tokens"] = json!(32);
        check(&["u:one4", "u:two4"], recipe, &["s:a", "- u:one4", "u:two4"]);
    }

    #[test]
    fn the_option_holds_at_the_cap_and_one_past_it() {
        let refused = |options: Value| Recipe::decode("recipe", &only("moduleBudget", options)).unwrap_err().problem;
        Recipe::decode("recipe", &only("moduleBudget", json!({"maxTokens": BUDGET_TOKENS_MAX}))).unwrap();
        let range = "must be a whole number from 0 to 10000000";
        assert_eq!(refused(json!({"maxTokens": BUDGET_TOKENS_MAX + 1})), range);
        assert_eq!(refused(json!({})), "is missing");
        assert_eq!(refused(json!({"maxTokens": 1, "keep": 1})), "is not known");
    }
}

mod budget {
    use super::*;

    fn budget(budget_tokens: u32) -> Value {
        json!({"budget_tokens": budget_tokens})
    }

    #[test]
    fn it_holds_at_the_cap_and_one_below() {
        let all = ["u:one4", "u:two4"];
        check(&all, budget(32), &all);
        check(&all, budget(31), &["- u:one4", "u:two4"]);
    }

    #[test]
    fn the_walk_stops_at_the_first_that_does_not_fit() {
        check(
            &["u:old4", "a:a reply of some length", "u:one4", "u:two4"],
            budget(50),
            &["- u:old4", "- a:a reply of some length", "u:one4", "u:two4"],
        );
    }

    #[test]
    fn what_could_never_fit_is_passed_over() {
        let huge = format!("a:{}", "x".repeat(400));
        check(&["u:one4", &huge, "u:two4"], budget(40), &["u:one4", &format!("- {huge}"), "u:two4"]);
    }

    #[test]
    fn leading_instructions_and_the_newest_user_turn_stay() {
        check(&["s:no", "u:one4", "a:yes", "a:yes"], budget(50), &["s:no", "u:one4", "- a:yes", "a:yes"]);
        check(&["s:no", "u:one4", "a:yes"], budget(40), &["s:no", "u:one4", "- a:yes"]);
    }

    #[test]
    fn a_call_goes_with_its_answers() {
        check(&["a(x)", "t(x):1", "u:one4"], budget(38), &["- a(x)", "- t(x):1", "u:one4"]);
    }

    #[test]
    fn an_orphan_that_was_recast_neither_leads_nor_asks() {
        let recipe = |role: &str| json!({"filters": [{"name": "toolCallBackfill", "options": {"orphanRole": role}}], "budget_tokens": 20});
        check(&["t(x):1", "u:one4"], recipe("system"), &["- s:1", "u:one4"]);
        check(&["u:one4", "t(x):1"], recipe("user"), &["u:one4", "- u:1"]);
    }

    #[test]
    fn notes_count_what_it_did() {
        let expect = json!([{"note": "budgeted", "dropped": 1, "tokens": 32}]);
        check_notes(&["u:old4", "u:one4", "u:two4"], budget(40), expect);
        check_notes(&["u:one4"], budget(16), json!([]));
    }

    #[test]
    fn must_haves_over_the_budget_are_refused_with_the_numbers() {
        let inline = ["s:no", "u:one4", "a:yes"].map(read);
        let loaded = Loaded { inline: &inline, ..Loaded::default() };
        let error = assemble(&Recipe::default(), &loaded, Some(31)).unwrap_err();
        assert_eq!((error.budget_tokens, error.needed_tokens), (31, 32));
    }

    #[test]
    fn reasons_give_the_numbers() {
        let huge = format!("a:{}", "x".repeat(400));
        check_whys(
            &["s:no", "u:old4", "u:mid4", &huge, "a:yes", "u:one4"],
            budget(60),
            &[
                "budget: leads the thread, always stays",
                "budget: older than the first turn that did not fit",
                "budget: needs 16 tokens, 11 were left",
                "budget: needs 117 tokens, more than the 28 that all turns share",
                "budget: fits, 28 tokens were left",
                "budget: newest user turn, always stays",
            ],
        );
    }
}

mod options {
    use super::*;
    use novelo_engine::limits::ADDED_TEXT_BYTES_MAX;

    #[track_caller]
    fn refused(name: &str, options: Value, expect: &str) {
        let error = Recipe::decode("recipe", &only(name, options)).unwrap_err().to_string();
        assert_eq!(error, format!("recipe.filters[0].options.{expect}"));
    }

    #[test]
    fn bad_ones_name_their_path() {
        for option in ["prioritizeSystem", "prioritizeUser", "preserveAtLeastOneSystem"] {
            refused("sizeLimiter", json!({option: 1}), &format!("{option} must be true or false"));
        }
        refused("sizeLimiter", json!({"maxTokens": -1}), "maxTokens must be a whole number from 0 to 10000000");
        refused("sizeLimiter", json!({"tokenizer": "gpt"}), "tokenizer must be one of approx, o200k_base, cl100k_base");
        refused(
            "fileContentsLimiter",
            json!({"filesLimit": 1_001}),
            "filesLimit must be a whole number from 0 to 1000",
        );
        refused("toolCallBackfill", json!({"role": "robot"}), "role must be a role");
        refused("toolCallBackfill", json!({"orphanRole": "robot"}), "orphanRole must be a role");
        refused("historyWindow", json!({}), "turns or pairs must be given, and not both");
        refused("historyWindow", json!({"turns": 1, "pairs": 1}), "turns or pairs must be given, and not both");
        refused("historyWindow", json!({"turns": 0}), "turns must be a whole number from 1 to 1000000");
        refused("stableWindow", json!({}), "maxTokens is missing");
        for keep in [json!(-0.1), json!(9.5)] {
            let expect = "keep must be a share of maxTokens from 0 to 1, or tokens up to maxTokens";
            refused("stableWindow", json!({"maxTokens": 9, "keep": keep}), expect);
        }
        refused("dedupe", json!({"x": 1}), "x is not known");
        refused("sizeLimiter", json!({"maxToken": 1}), "maxToken is not known; did you mean maxTokens?");
    }

    #[test]
    fn an_entry_has_a_name_and_options_and_nothing_else() {
        let refused = |entry: Value| Recipe::decode("recipe", &json!({"filters": [entry]})).unwrap_err().to_string();
        let near = "recipe.filters[0].option is not known; did you mean options?";
        assert_eq!(refused(json!({"name": "dedupe", "option": {}})), near);
        assert_eq!(refused(json!({"name": "dedupe", "options": 1})), "recipe.filters[0].options must be an object");
        assert_eq!(refused(json!(7)), "recipe.filters[0] must be an object");
    }

    #[test]
    fn added_texts_hold_at_the_cap_and_one_past_it() {
        let text = |bytes: usize| "x".repeat(bytes);
        for (name, option) in [("toolCallBackfill", "missingContent"), ("fileContentsLimiter", "placeholder")] {
            Recipe::decode("recipe", &only(name, json!({option: text(ADDED_TEXT_BYTES_MAX)}))).unwrap();
            let expect = format!("{option} must be a string of at most 1024 bytes (ADDED_TEXT_BYTES_MAX)");
            refused(name, json!({option: text(ADDED_TEXT_BYTES_MAX + 1)}), &expect);
        }
    }

    #[test]
    fn unknown_filters_are_skipped_and_noted() {
        with_assembly(&["u:hi"], json!({"filters": ["sparkle"]}), |assembly| {
            assert_eq!(
                serde_json::to_value(&assembly.notes).unwrap(),
                json!([
                    {"note": "unknown_filter", "name": "sparkle"},
                ])
            );
            assert_eq!(assembly.messages().count(), 1);
        });
    }
}
