//! What is refused in an ontology, and where it is said to be.

use serde_json::{Map, Value, json};

use super::decode::*;
use super::*;

fn base() -> Value {
    json!({
        "subject": {"name": "ticker", "shape": "AAAA99"},
        "buckets": {"funds": null},
        "intents": {"price": {"bucket": "funds", "tokens": {"preco": 1}}},
    })
}

/// The problem after one change of a good ontology.
fn problem(pointer: &str, value: Value) -> Option<String> {
    let mut ontology = base();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let at = ontology.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    at.insert(key.to_owned(), value);
    Ontology::decode(&ontology).err().map(|error| error.to_string())
}

#[track_caller]
fn check(pointer: &str, value: Value, expect: &str) {
    assert_eq!(problem(pointer, value).as_deref(), Some(expect));
}

#[test]
fn a_good_one_is_read() {
    let ontology = Ontology::decode(&base()).unwrap();
    let intent = Intent { name: "price".into(), entity: "price".into(), bucket: Some("funds".into()) };
    assert_eq!((ontology.intents(), ontology.kinds()[0].name.as_str()), ([intent].as_slice(), "ticker"));
}

#[test]
fn strangers_are_told_their_nearest_name() {
    check("/synonims", json!({}), "ontology.synonims is not known; did you mean synonyms?");
    check("/intents/price/phrase", json!({}), "ontology.intents.price.phrase is not known; did you mean phrases?");
    check("/subject/shap", json!(1), "ontology.subject.shap is not known; did you mean shape?");
    check("/threshold", json!({"min_scor": 1}), "ontology.threshold.min_scor is not known; did you mean min_score?");
    check("/buckets/funds", json!({"token": {}}), "ontology.buckets.funds.token is not known; did you mean tokens?");
    check(
        "/intents/price/bucket",
        json!("fund"),
        "ontology.intents.price.bucket names fund, which is none of the buckets; did you mean funds?",
    );
    check(
        "/intents/price/phrases",
        json!({"a @tiker": 1}),
        "ontology.intents.price.phrases.a @tiker has @tiker, which is not known; did you mean @ticker?",
    );
}

#[test]
fn an_intent_needs_words() {
    check("/intents", json!({}), "ontology.intents must have at least one intent");
    check("/intents/price", json!({}), "ontology.intents.price needs tokens or phrases that speak for it");
    check(
        "/intents/price",
        json!({"negatives": {"a": 1}}),
        "ontology.intents.price needs tokens or phrases that speak for it",
    );
    check("/intents/price", json!(3), "ontology.intents.price must be an object");
    check(
        "/intents/price/tokens",
        json!({"?!": 1}),
        "ontology.intents.price.tokens.?! has no word where one is needed",
    );
    check(
        "/intents/price/phrases",
        json!({"a | ": 1}),
        "ontology.intents.price.phrases.a |  has no word where one is needed",
    );
    check(
        "/intents/price/tokens",
        json!({"preco medio": 1}),
        "ontology.intents.price.tokens.preco medio is no single word; phrases takes it",
    );
    check(
        "/intents/price/tokens",
        json!({"preco": 1, "precos | x": 1}),
        "ontology.intents.price.tokens.precos | x has a word that is the same as one of preco",
    );
}

#[test]
fn weights_are_above_zero() {
    let problem = "must have a weight above 0, up to 100";
    for weight in [json!(0), json!(-1.0), json!(100.5), json!("1"), json!(null)] {
        check(
            "/intents/price/negatives",
            json!({"a": weight}),
            &format!("ontology.intents.price.negatives.a {problem}"),
        );
    }
    assert_eq!(problem_of_weight(WEIGHT_MAX), None);
    check("/threshold", json!({"min_gap": -0.1}), "ontology.threshold.min_gap must be a number from 0 to 100");
    check("/unknown_words", json!({"weight": 101}), "ontology.unknown_words.weight must be a number from 0 to 100");
}

fn problem_of_weight(weight: f64) -> Option<String> {
    problem("/intents/price/tokens", json!({"a": weight}))
}

#[test]
fn a_subject_has_a_shape() {
    check("/subject", json!(null), "ontology.subject is missing");
    check(
        "/subject/shape",
        json!("AAx9"),
        "ontology.subject.shape must be made of A (a letter), 9 (a digit), X (either), + (one or more of the one before) and the signs - / . _ : #",
    );
    check("/subject/shape", json!(""), "ontology.subject.shape must have a letter or a digit");
    check("/subject/shape", json!("A".repeat(33)), "ontology.subject.shape must have at most 32 characters");
    assert_eq!(problem("/subject/shape", json!("A".repeat(32))), None);
    assert_eq!(problem("/subject/shape", json!(["AA-99", 9999])), None);
    check("/subject/name", json!("window"), "ontology.subject.name must not be window, which is a stretch of time");
    assert!(problem("/subject/name", json!("a b")).unwrap().contains("must be a name of letters"));
}

#[test]
fn a_synonym_stands_for_one_word() {
    check("/synonyms", json!({"a b": ["c"]}), "ontology.synonyms.a b must be one word");
    check("/synonyms", json!({"dy": "yield"}), "ontology.synonyms.dy must be a list of words");
    check(
        "/synonyms",
        json!({"dy": ["cotista"], "x": ["cotistas"]}),
        "ontology.synonyms.x[0] is already a synonym of another word",
    );
    check(
        "/synonyms",
        json!({"dy": ["a b"], "x": ["c", "a b"]}),
        "ontology.synonyms.x[1] is already a synonym of another word",
    );
    check(
        "/synonyms",
        json!({"dy": ["yield"], "yield": ["z"]}),
        "ontology.synonyms.yield is itself a synonym of another word",
    );
    check("/follow_ups", json!(["e tambem"]), "ontology.follow_ups[0] must be one word");
    check("/times", json!([true]), "ontology.times[0] must be a word");
    check("/groups", json!({"window": ["a"]}), "ontology.groups.window has a name that stands for something else");
    check("/groups", json!({"a": []}), "ontology.groups.a must be a list of words");
}

#[test]
fn counts_and_lengths_are_capped() {
    let many = |count: usize, value: Value| {
        (0..count).map(|n| (format!("x{n}"), value.clone())).collect::<Map<String, Value>>()
    };
    let intent = json!({"tokens": {"preco": 1}});
    assert_eq!(problem("/intents", Value::Object(many(INTENTS_MAX, intent.clone()))), None);
    check("/intents", Value::Object(many(INTENTS_MAX + 1, intent)), "ontology.intents must have at most 200 entries");
    let buckets = |count| {
        let mut buckets = many(count, json!({}));
        buckets.insert("funds".to_owned(), json!({}));
        Value::Object(buckets)
    };
    assert_eq!(problem("/buckets", buckets(BUCKETS_MAX - 1)), None);
    check("/buckets", buckets(BUCKETS_MAX), "ontology.buckets must have at most 50 entries");
    assert_eq!(problem("/times", json!(vec!["a"; ENTRIES_MAX])), None);
    check("/times", json!(vec!["a"; ENTRIES_MAX + 1]), "ontology.times must have at most 2000 entries");
    let groups = |count| Value::Object(many(count, json!(["a"])));
    assert_eq!(problem("/groups", groups(GROUPS_MAX)), None);
    check("/groups", groups(GROUPS_MAX + 1), "ontology.groups must have at most 100 entries");
    assert_eq!(problem("/times", json!(["a".repeat(ENTRY_BYTES_MAX)])), None);
    check("/times", json!(["a".repeat(ENTRY_BYTES_MAX + 1)]), "ontology.times[0] must have at most 1000 bytes");
    assert_eq!(problem("/intents/price/entity", json!("a".repeat(NAME_BYTES_MAX))), None);
    for name in ["a".repeat(NAME_BYTES_MAX + 1), "../x".to_owned(), String::new()] {
        assert!(problem("/intents/price/entity", json!(name)).unwrap().contains("must be a name of letters"));
    }
}

#[test]
fn a_catalogue_has_a_locale_and_kinds() {
    check("/locale", json!("fr"), "ontology.locale is fr; locales are pt, en and ru");
    assert_eq!(problem("/locale", json!("ru")), None);
    check("/currency", json!(""), "ontology.currency must be a sign of 1 to 8 bytes");
    check("/subject", json!([]), "ontology.subject must be 1 to 8 kinds");
    let two = json!([{"name": "ticker"}, {"name": "ticker"}]);
    check("/subject", two, "ontology.subject[1].name is the name of another kind, or of several of it");
    check("/subject/plural", json!("ticker"), "ontology.subject.plural must not be the name of one");
    assert_eq!(problem("/subject", json!([{"name": "ticker"}, {"name": "manager", "called": ["gestora"]}])), None);
}
