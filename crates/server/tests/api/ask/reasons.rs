//! Why a question inherits the last fund, or why not: a conversation for each of the eight reasons.

use crate::support::asking::{SAMPLE, ask, home, is_gone, reason, reference, tickers, turns};
use crate::support::{Value, json};

const ON: &str = "context:\n  enabled: true\n  last_reference:\n    enable_last_ticker: true\n";

/// Asks one after another, each with the reason, the status and the funds that are expected.
#[track_caller]
fn check(context: &str, steps: &[(&str, &str, &str, &[&str])]) {
    let server = home(context).serve_with(&[SAMPLE]);
    for (n, (text, expected, status, funds)) in steps.iter().enumerate() {
        let answer = ask(&server, "demo", "c", text);
        let told = (reason(&answer), answer["status"].as_str().unwrap(), tickers(&answer));
        assert_eq!(told, (*expected, *status, funds.to_vec()), "step {n}, {text:?}: {answer}");
        assert_eq!(answer["meta"]["reference"]["used"], *expected == "last_reference_applied");
        assert_eq!(turns(&server, "demo", "c").len(), 2 * n + 2);
    }
}

#[test]
fn context_disabled() {
    for context in ["context: {}\n", "context:\n  enabled: false\n  last_reference: {enable_last_ticker: true}\n"] {
        let server = home(context).serve_with(&[SAMPLE]);
        let named = ask(&server, "demo", "c", "preço do HGLG11");
        assert_eq!((reason(&named), tickers(&named)), ("context_disabled", vec!["HGLG11"]));
        let bare = ask(&server, "demo", "c", "e o preço?");
        assert_eq!((reason(&bare), &bare["status"]), ("context_disabled", &json!("incomplete")));
        is_gone(&server, "demo", "c");
    }
}

#[test]
fn last_reference_disabled() {
    check(
        "context: {enabled: true}\n",
        &[
            ("preço do HGLG11", "last_reference_disabled", "ok", &["HGLG11"]),
            ("e o preço?", "last_reference_disabled", "incomplete", &[]),
        ],
    );
}

#[test]
fn no_entity() {
    let server = home(ON).serve_with(&[SAMPLE]);
    let ask = |text: &str| ask(&server, "demo", "c", text);
    ask("preço do HGLG11");
    let before = reference(&server, "demo", "c");
    let lost = ask("bananas azuis voadoras");
    assert_eq!((reason(&lost), &lost["status"], &lost["answer"]), ("no_entity", &json!("unroutable"), &json!("")));
    assert_eq!(lost["meta"]["entity"], Value::Null);
    assert_eq!(reference(&server, "demo", "c"), before, "what could not be answered leaves the reference");
    assert_eq!(turns(&server, "demo", "c")[3]["message"]["content"], "", "an empty turn stands for its answer");
    assert_eq!(tickers(&ask("e o preço?")), ["HGLG11"]);
}

#[test]
fn entity_not_allowed() {
    check(
        &format!("{ON}    allowed_entities: [fiis_quota_prices]\n"),
        &[
            ("preço do HGLG11", "input_has_ticker", "ok", &["HGLG11"]),
            ("e o sharpe?", "entity_not_allowed", "incomplete", &[]),
            ("sharpe do XPML11", "entity_not_allowed", "ok", &["XPML11"]),
            ("e o preço?", "last_reference_applied", "ok", &["XPML11"]),
        ],
    );
}

#[test]
fn input_has_ticker() {
    check(
        ON,
        &[
            ("preço do HGLG11", "input_has_ticker", "ok", &["HGLG11"]),
            ("preço do MXRF11", "input_has_ticker", "ok", &["MXRF11"]),
            ("e do knri?", "input_has_ticker", "ok", &["KNRI11"]),
            ("e o sharpe?", "last_reference_applied", "ok", &["KNRI11"]),
        ],
    );
}

#[test]
fn no_candidate() {
    check(
        ON,
        &[
            ("qual o preço?", "no_candidate", "incomplete", &[]),
            ("e o sharpe?", "no_candidate", "incomplete", &[]),
            ("preço do HGLG11", "input_has_ticker", "ok", &["HGLG11"]),
            ("e o sharpe?", "last_reference_applied", "ok", &["HGLG11"]),
        ],
    );
}

#[test]
fn expired() {
    let aged = |rule: &str, last: (&str, &str, &[&str])| {
        let (reason, status, funds) = last;
        let steps: [(&str, &str, &str, &[&str]); 4] = [
            ("preço do HGLG11", "input_has_ticker", "ok", &["HGLG11"]),
            ("bananas azuis voadoras", "no_entity", "unroutable", &[]),
            ("laranjas verdes voadoras", "no_entity", "unroutable", &[]),
            ("qual o preço?", reason, status, funds),
        ];
        check(&format!("{ON}    {rule}\n"), &steps);
    };
    // The answer was turn 2, the last question is turn 7.
    for rule in ["max_age_turns: 4", "bucket_ttl: {funds: 4}", "max_age_turns: 9\n    bucket_ttl: {funds: 4}"] {
        aged(rule, ("expired", "incomplete", &[]));
    }
    for rule in ["max_age_turns: 5", "bucket_ttl: {funds: 5}", "bucket_ttl: {portfolio: 1}", "max_age_turns: 0"] {
        aged(rule, ("last_reference_applied", "ok", &["HGLG11"]));
    }
}

#[test]
fn last_reference_applied() {
    check(
        ON,
        &[
            ("preço do HGLG11 e do XPML11", "input_has_ticker", "ok", &["HGLG11", "XPML11"]),
            ("e o sharpe?", "last_reference_applied", "ok", &["HGLG11", "XPML11"]),
            ("preço do MXRF11", "input_has_ticker", "ok", &["MXRF11"]),
            ("e o sharpe?", "last_reference_applied", "ok", &["MXRF11"]),
        ],
    );
}
