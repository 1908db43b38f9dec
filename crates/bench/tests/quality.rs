//! How well passages are found and questions are rewritten, on cases of our own and on the data sets where
//! they are at hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;
use std::time::{Duration, Instant};

use novelo_bench::quality;
use novelo_language::rewrite::rewrite;

/// all@5, all@10 and all@20, by words alone, of a data set beside the workspace.
#[track_caller]
fn floor(file: &str, floors: [f64; 3]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(file);
    let Ok(json) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let report = quality::run(&quality::parse(&json).unwrap(), None, &mut |_, _| {});
    let all = report.total.all;
    println!("{file}: all@5 {:.1}, all@10 {:.1}, all@20 {:.1}", all.at_5, all.at_10, all.at_20);
    for (reached, floor) in [all.at_5, all.at_10, all.at_20].into_iter().zip(floors) {
        assert!(reached >= floor, "{file}: {reached:.1} is below {floor}");
    }
}

#[test]
fn recall_of_long_chats_stays() {
    floor("locomo-dev.json", [65.4, 71.8, 77.6]);
}

#[test]
fn recall_of_long_replies_stays() {
    floor("beam-dev.json", [38.8, 48.1, 57.3]);
}

#[test]
fn recall_of_russian_facts_stays() {
    floor("recall-ru.json", [88.2, 93.2, 96.9]);
}

/// Every passage has another one beside it that the bare follow-up fits as well.
#[test]
fn rewritten_questions_find_what_bare_ones_do_not() {
    let cases = quality::rewrite::parse(include_str!("retrieval.jsonl")).unwrap();
    let report =
        quality::rewrite::run(&cases, &mut |case| rewrite(&case.said(), &case.question).question, &mut |_, _| {});
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
    let cases = quality::rewrite::parse(&lines).unwrap();
    let bare = quality::rewrite::run(&cases, &mut |case| case.question.clone(), &mut |_, _| {});
    let report =
        quality::rewrite::run(&cases, &mut |case| rewrite(&case.said(), &case.question).question, &mut |_, _| {});
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

/// Over the questions of the data set beside the workspace.
#[test]
#[ignore = "measures; run it optimised and alone"]
fn real_questions_rewritten() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/rewrite-dev.jsonl");
    let Ok(lines) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return;
    };
    let cases = quality::rewrite::parse(&lines).unwrap();
    let mut times: Vec<Duration> = Vec::new();
    for case in &cases {
        let said = case.said();
        let start = Instant::now();
        assert!(!rewrite(&said, &case.question).question.is_empty());
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!("rewrite median {:?}, 99 of 100 within {:?}, all within {:?}", at(50), at(99), at(100));
}
