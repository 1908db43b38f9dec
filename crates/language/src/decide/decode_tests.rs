//! Each way to break a file names its field.

use serde_json::{Value, json};

use super::decide_tests::{decode, files};
use crate::plan::ontology::decode::{ENTRIES_MAX, GROUPS_MAX, NAME_BYTES_MAX};

/// Puts a value at a pointer; `null` takes it away, as it does in a file.
#[track_caller]
fn problem(file: usize, pointer: &str, value: Value) -> Option<String> {
    let mut files = files();
    match files[file].pointer_mut(pointer) {
        Some(place) => *place = value,
        None => {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            files[file].pointer_mut(parent).unwrap()[key] = value;
        }
    }
    decode(&files).err().map(|error| error.to_string())
}

#[track_caller]
fn check(file: usize, pointer: &str, value: Value, expect: &str) {
    assert_eq!(problem(file, pointer, value.clone()).as_deref(), Some(expect), "{pointer} {value}");
}

const SIGNALS: usize = 0;
const HEURISTICS: usize = 1;
const GREETINGS: usize = 2;
const SAFETY: usize = 3;

#[test]
fn signals() {
    let check = |pointer: &str, value: Value, expect: &str| check(SIGNALS, pointer, value, expect);
    check("", json!([]), "signals must be an object");
    check("/intensities", json!([]), "signals.intensities is not known; did you mean intensity?");
    check("/negations", json!("não"), "signals.negations must be an array");
    check("/negations/1", json!("nem que"), "signals.negations[1] must be one word");
    check("/negations/1", json!("…"), "signals.negations[1] has no word");
    check("/intensity", json!(null), "signals.intensity must have at least one group");
    check("/intensity", json!([]), "signals.intensity must have at least one group");
    check("/intensity/2", json!("x"), "signals.intensity[2] must be an object");
    check("/intensity/2/name", json!(null), "signals.intensity[2].name is missing");
    check("/intensity/2/name", json!(" "), "signals.intensity[2].name must be a name of 1 to 64 bytes");
    check("/intensity/2/name", json!("a\u{7}"), "signals.intensity[2].name must be a name of 1 to 64 bytes");
    check("/intensity/2/name", json!("desespero"), "signals.intensity[2].name is desespero, which stands there before");
    check("/intensity/2/weight", json!(null), "signals.intensity[2].weight is missing");
    check("/intensity/2/weight", json!("4"), "signals.intensity[2].weight must be a number");
    for weight in [json!(0), json!(-1), json!(10.1)] {
        check("/intensity/2/weight", weight, "signals.intensity[2].weight must be a number above 0, up to 10");
    }
    check("/intensity/2/any", json!([]), "signals.intensity[2].any must have at least one phrase");
    check("/intensity/2/any", json!(null), "signals.intensity[2].any must have at least one phrase");
    check("/intensity/2/any/0", json!(true), "signals.intensity[2].any[0] must be a word");
    check("/intensity/2/any/0", json!("!?"), "signals.intensity[2].any[0] has no word");
    check("/intensity/2/all", json!([]), "signals.intensity[2].all is not known; did you mean any?");
    check("/amplifiers/weight", json!(null), "signals.amplifiers.weight is missing");
    check("/amplifiers/at_most", json!(0), "signals.amplifiers.at_most must be a number above 0, up to 10");
    check("/amplifiers/max", json!(0), "signals.amplifiers.max is not known");
    check("/amplifiers/any/1", json!(""), "signals.amplifiers.any[1] has no word");
    check("/emphasis/capitals", json!(-0.1), "signals.emphasis.capitals must be a number from 0 to 10");
    check("/emphasis/capital", json!(1), "signals.emphasis.capital is not known; did you mean capitals?");
    check("/vulnerability/0", json!({}), "signals.vulnerability[0] must be a word");
    check("/heavy", json!({}), "signals.heavy must be an array");
    check("/triggers/0", json!(""), "signals.triggers[0] has no word");
    check("/emotions/1/weight", json!(1), "signals.emotions[1].weight is not known");
    check("/emotions/1/name", json!("medo"), "signals.emotions[1].name is medo, which stands there before");
    check("/categories/0/any", json!([]), "signals.categories[0].any must have at least one phrase");
}

#[test]
fn heuristics() {
    let check = |pointer: &str, value: Value, expect: &str| check(HEURISTICS, pointer, value, expect);
    check("", json!({}), "heuristics must be an array");
    check("/1/name", json!("culpa"), "heuristics[1].name is culpa, which stands there before");
    let name = "must be a name of letters, digits, _ and -, at most 64 bytes";
    check("/1/name", json!("dó"), &format!("heuristics[1].name {name}"));
    check("/0/about", json!(1), "heuristics[0].about must be a string");
    check("/1/examples", json!([]), "heuristics[1] needs any or examples");
    check("/1/examples/1", json!(" "), "heuristics[1].examples[1] must be a text of 1 to 1000 characters");
    check("/1/examples/1", json!("é".repeat(1001)), "heuristics[1].examples[1] must be a text of 1 to 1000 characters");
    for similarity in [0.0, 1.01] {
        check("/1/similarity", json!(similarity), "heuristics[1].similarity must be a number above 0, up to 1");
    }
    check("/1/example", json!([]), "heuristics[1].example is not known; did you mean examples?");
}

#[test]
fn greetings() {
    let check = |pointer: &str, value: Value, expect: &str| check(GREETINGS, pointer, value, expect);
    for words in [json!(0), json!(21), json!("6")] {
        check("/words_max", words, "greetings.words_max must be a whole number from 1 to 20");
    }
    check("/phrases", json!([]), "greetings.phrases must have at least one phrase");
    check("/fillers/0", json!("🙂"), "greetings.fillers[0] has no word");
    check("/answers", json!(null), "greetings.answers is missing");
    check("/answers/named", json!([]), "greetings.answers.named must have 1 to 20 entries");
    check("/answers/unnamed", json!(vec!["x"; 21]), "greetings.answers.unnamed must have 1 to 20 entries");
    check("/answers/named/0", json!("Oi, {nome}!"), "greetings.answers.named[0] has a brace; only {name} is filled in");
    check(
        "/answers/unnamed/1",
        json!("Oi, {name}!"),
        "greetings.answers.unnamed[1] has a brace; nothing is filled in here",
    );
    check("/answers/other", json!([]), "greetings.answers.other is not known");
    check("/phrase", json!([]), "greetings.phrase is not known; did you mean phrases?");
}

#[test]
fn safety() {
    let check = |pointer: &str, value: Value, expect: &str| check(SAFETY, pointer, value, expect);
    check("/phrases", json!(null), "safety.phrases must have at least one phrase");
    check("/except", json!("x"), "safety.except must be an array");
    check("/locales", json!({}), "safety.locales must have at least one locale");
    check("/locales", json!([]), "safety.locales must be an object");
    check("/locales/pt-BR", json!(""), "safety.locales.pt-BR must be a text of 1 to 4000 characters");
    check("/locales/pt-BR", json!("é".repeat(4001)), "safety.locales.pt-BR must be a text of 1 to 4000 characters");
    check(
        "/locales/pt BR",
        json!("x"),
        "safety.locales.pt BR must be a name of letters, digits, _ and -, at most 64 bytes",
    );
    check("/phrasen", json!([]), "safety.phrasen is not known; did you mean phrases?");
}

#[test]
fn caps_hold_at_the_cap_and_one_past_it() {
    let fits = |file, pointer: &str, value: Value| problem(file, pointer, value).is_none();
    let groups = |count: usize| -> Value {
        (0..count).map(|n| json!({"name": format!("g{n}"), "weight": 1, "any": ["x"]})).collect()
    };
    let heuristics = |count: usize, examples: usize| -> Value {
        (0..count).map(|n| json!({"name": format!("h{n}"), "any": ["x"], "examples": vec!["x"; examples]})).collect()
    };
    for extra in [0, 1] {
        let is_at_cap = extra == 0;
        let cases = [
            (SIGNALS, "/intensity", groups(GROUPS_MAX + extra)),
            (SIGNALS, "/heavy", json!(vec!["x"; ENTRIES_MAX + extra])),
            (SIGNALS, "/negations", json!(vec!["x"; ENTRIES_MAX + extra])),
            (SIGNALS, "/heavy/0", json!("x ".repeat(500) + &" ".repeat(extra))),
            (SIGNALS, "/emotions/0/name", json!("x".repeat(NAME_BYTES_MAX + extra))),
            (HEURISTICS, "", heuristics(GROUPS_MAX + extra, 0)),
            (HEURISTICS, "", heuristics(50 + extra, 10)),
            (HEURISTICS, "/0/examples/0", json!("é".repeat(1000 + extra))),
            (GREETINGS, "/answers/named", json!(vec!["x"; 20 + extra])),
            (GREETINGS, "/answers/named/0", json!("é".repeat(4000 + extra))),
            (SAFETY, "/locales", (0..50 + extra).map(|n| (format!("l{n}"), json!("x"))).collect()),
        ];
        for (n, (file, pointer, value)) in cases.into_iter().enumerate() {
            assert_eq!(fits(file, pointer, value), is_at_cap, "{n} {pointer}");
        }
    }
    assert!(fits(SIGNALS, "/intensity/0/weight", json!(10)));
    assert!(fits(HEURISTICS, "/1/similarity", json!(1)));
    assert!(fits(GREETINGS, "/words_max", json!(20)));
}

#[test]
fn what_may_be_left_out() {
    for (file, pointer) in [
        (SIGNALS, "/negations"),
        (SIGNALS, "/amplifiers"),
        (SIGNALS, "/emphasis"),
        (SIGNALS, "/vulnerability"),
        (SIGNALS, "/heavy"),
        (SIGNALS, "/triggers"),
        (SIGNALS, "/emotions"),
        (SIGNALS, "/categories"),
        (HEURISTICS, "/0/any"),
        (HEURISTICS, "/0/examples"),
        (HEURISTICS, "/0/about"),
        (HEURISTICS, "/1/similarity"),
        (GREETINGS, "/words_max"),
        (GREETINGS, "/fillers"),
        (SAFETY, "/except"),
    ] {
        assert_eq!(problem(file, pointer, Value::Null), None, "{pointer}");
    }
    assert_eq!(problem(HEURISTICS, "", json!([])), None);
}
