//! Outputs of models that were asked for a standalone question: the question in them, or none.

#![allow(clippy::panic, reason = "a panic is how a test fails")]

use novelo_language::generated::accept_rewrite;
use novelo_language::rewrite::Utterance;

/// How many outputs are read wrongly, of how many; each of those is printed.
fn wrong(cases: &str) -> (usize, usize) {
    let (mut history, mut question, mut said) = (Vec::new(), "", String::new());
    let (mut wrong, mut all) = (0, 0);
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        match kind {
            "case" => history.clear(),
            "user:" => history.push(Utterance { speaker: "user", text: rest }),
            "assistant:" => history.push(Utterance { speaker: "assistant", text: rest }),
            "ask:" => question = rest,
            ">" => said = rest.replace("\\n", "\n"),
            "=" | "x" => {
                let expected = (kind == "=").then(|| rest.to_owned());
                let found = accept_rewrite(&history, question, &said);
                all += 1;
                if found.as_ref().ok() != expected.as_ref() {
                    wrong += 1;
                    println!("{question} / {said:?}\n  expected {expected:?}\n  found {found:?}");
                }
            }
            _ => panic!("not a line of a case: {line}"),
        }
    }
    (wrong, all)
}

#[test]
fn what_models_say_is_cleaned_before_it_is_judged() {
    let (wrong, all) = wrong(include_str!("model_rewrites/seen.txt"));
    assert!(all >= 50, "{all}");
    assert_eq!(wrong, 0);
}

/// Nothing was tuned on these.
#[test]
fn outputs_that_were_not_seen_are_read_as_well() {
    let (wrong, all) = wrong(include_str!("model_rewrites/unseen.txt"));
    assert!(all >= 45, "{all}");
    assert_eq!(wrong, 0);
}
