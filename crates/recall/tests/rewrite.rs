//! How good rewritten questions are, by what they find and on the data set where it is at hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;

use novelo_language::rewrite::rewrite;
use novelo_recall::eval::rewrite as eval;

/// Every passage has another one beside it that the bare follow-up fits as well.
#[test]
fn rewritten_questions_find_what_bare_ones_do_not() {
    let cases = eval::parse(include_str!("rewrite/retrieval.jsonl")).unwrap();
    let report = eval::run(&cases, &mut |case| rewrite(&case.said(), &case.question).question, &mut |_, _| {});
    let found = report.total.retrieval;
    println!("{found:?}");
    assert!(!found.stand_in);
    assert!(found.rewritten.at_1 >= 95.0 && found.rewritten.at_1 >= found.raw.at_1 + 45.0, "{found:?}");
}

/// ROUGE-1 F1, its F1 where a rewrite is needed, and what stays untouched, of each set beside the workspace.
#[test]
fn quality_of_rewrites_stays() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/rewrite-dev.jsonl");
    let Ok(lines) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let cases = eval::parse(&lines).unwrap();
    let bare = eval::run(&cases, &mut |case| case.question.clone(), &mut |_, _| {});
    let report = eval::run(&cases, &mut |case| rewrite(&case.said(), &case.question).question, &mut |_, _| {});
    // What the published tables say of no rewrite at all: the figures are the same figures.
    for (set, expect) in [("CAsT19", [75.7, 81.8, 60.5, 74.4]), ("MuDoCo-dev", [91.6, 92.9, 86.4, 72.7])] {
        let of = &bare.by_set[set];
        for (figure, expect) in [of.rouge1_r, of.rouge1_f, of.bleu, of.need.rouge1_f].into_iter().zip(expect) {
            assert!((figure - expect).abs() < 0.06, "{set}: {figure:.2} is not {expect}");
        }
    }
    for (set, floors) in [("CAsT19", [89.5, 85.3, 99.0]), ("MuDoCo-dev", [96.0, 86.4, 98.0])] {
        let of = &report.by_set[set];
        let reached = [of.rouge1_f, of.need.rouge1_f, of.untouched];
        println!("{set}: F1 {:.1}, where needed {:.1}, untouched {:.1}", reached[0], reached[1], reached[2]);
        println!("{of:?}");
        for (reached, floor) in reached.into_iter().zip(floors) {
            assert!(reached >= floor, "{set}: {reached:.1} is below {floor}");
        }
    }
}
