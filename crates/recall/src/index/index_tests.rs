#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn index(texts: &[&str]) -> Index {
    let mut index = Index::default();
    for (key, text) in (1..).zip(texts) {
        index.add(key, &Passage { text, ..Passage::default() });
    }
    index
}

fn keys(index: &Index, query: &str) -> Vec<u64> {
    let ranked = index.rank(&Query { text: query, vector: None });
    ranked.top(100, |_| true).iter().map(|hit| hit.key).collect()
}

/// A passage that a property makes up.
#[derive(Debug, Clone)]
struct Made {
    words: Vec<&'static str>,
    speaker: Option<&'static str>,
    role: Option<Role>,
    group: u64,
    time: Option<f64>,
    vector: Option<Vec<i8>>,
}

const WORDS: [&str; 16] = [
    "cat",
    "cats",
    "category",
    "the",
    "what",
    "gato",
    "gatos",
    "não",
    "кот",
    "коту",
    "и",
    "May",
    "2023",
    "Ann",
    "?",
    "茶道具",
];

fn made() -> impl Strategy<Value = Made> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8);
    let speaker = prop::option::of(prop::sample::select(&["Ann", "Bob", "user"][..]));
    let role = prop::option::of(prop::sample::select(&[Role::User, Role::Assistant][..]));
    let vector = prop::option::of(prop::collection::vec(-127..=127_i8, 4));
    let time = prop::option::of(1.6e9..1.7e9);
    (words, speaker, role, 0..3_u64, time, vector).prop_map(|(words, speaker, role, group, time, vector)| Made {
        words,
        speaker,
        role,
        group,
        time,
        vector,
    })
}

impl Made {
    fn put(&self, key: u64, index: &mut Index) {
        let text = self.words.join(" ");
        index.add(
            key,
            &Passage { text: &text, speaker: self.speaker, role: self.role, group: self.group, time: self.time },
        );
        if let Some(vector) = &self.vector {
            index.set_vector(key, vector);
        }
    }
}

proptest! {
    /// What was removed or replaced leaves no trace in any ranking, to the last bit.
    #[test]
    fn removed_is_as_if_never_added(
        steps in prop::collection::vec((0..12_u64, prop::option::of(made())), 0..40),
        query in prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6),
        vector in prop::option::of(prop::collection::vec(-1.0..1.0_f32, 4)),
    ) {
        let (mut lived, mut left) = (Index::default(), BTreeMap::new());
        for (key, step) in steps {
            match step {
                Some(made) => {
                    made.put(key, &mut lived);
                    left.insert(key, made);
                }
                None => prop_assert_eq!(lived.remove(key), left.remove(&key).is_some()),
            }
        }
        let mut fresh = Index::default();
        for (key, made) in &left {
            made.put(*key, &mut fresh);
        }
        let text = query.join(" ");
        let query = Query { text: &text, vector: vector.as_deref() };
        let (lived_ranked, fresh_ranked) = (lived.rank(&query), fresh.rank(&query));
        prop_assert_eq!(lived_ranked.top(100, |_| true), fresh_ranked.top(100, |_| true));
        prop_assert_eq!(lived.len(), left.len());
        prop_assert_eq!(lived.to_embed(&text), fresh.to_embed(&text));
        for key in left.keys() {
            prop_assert_eq!(lived_ranked.why(*key), fresh_ranked.why(*key));
        }
    }

    #[test]
    fn any_text_is_indexed_and_asked(texts in prop::collection::vec("\\PC{0,60}|(.|\n){0,60}", 0..6), query in "(.|\n){0,60}") {
        let mut index = Index::default();
        for (key, text) in (0..).zip(&texts) {
            index.add(key, &Passage { text, speaker: Some(text), group: key / 2, time: Some(f64::NAN), ..Passage::default() });
        }
        let ranked = index.rank(&Query { text: &query, vector: Some(&[0.0; 4]) });
        let top = ranked.top(usize::MAX, |_| true);
        prop_assert!(top.windows(2).all(|pair| pair[0].score >= pair[1].score));
        prop_assert!(top.iter().all(|hit| hit.score.is_finite()));
    }
}

#[test]
fn of_equals_the_newer_comes_first() {
    assert_eq!(keys(&index(&["tea time", "tea time", "coffee"]), "tea"), [2, 1]);
}

#[test]
fn what_matches_nothing_is_left_out() {
    let index = index(&["I like tea", "we met in Rome"]);
    assert_eq!(keys(&index, "tea"), [1]);
    for nothing in ["", " ?! …", "\0", "\u{301}", "🙂", "zzzz"] {
        assert_eq!(keys(&index, nothing), [0; 0], "{nothing:?}");
    }
    assert_eq!(keys(&Index::default(), "tea"), [0; 0]);
}

#[test]
fn the_head_and_the_tail_are_one_ranking() {
    let mut index = Index::default();
    for key in 0..1_000 {
        let text = format!("tea {}", "x ".repeat((key * 7 % 1_000) as usize));
        index.add(key, &Passage { text: &text, ..Passage::default() });
    }
    let ranked = index.rank(&Query { text: "tea", vector: None });
    let all = ranked.top(1_000, |_| true);
    assert_eq!(all.len(), 1_000);
    assert!(all.windows(2).all(|pair| pair[0].score > pair[1].score || pair[0].key > pair[1].key));
    assert_eq!(ranked.top(300, |_| true), all[..300]);
    let odd: Vec<Hit> = all.iter().copied().filter(|hit| hit.key % 2 == 1).take(200).collect();
    assert_eq!(ranked.top(200, |key| key % 2 == 1), odd);
}

#[test]
fn vectors_of_another_length_are_ignored() {
    let mut index = index(&["one", "two", "three"]);
    index.set_vector(1, &[127, 0]);
    index.set_vector(2, &[127, 0, 0]);
    index.set_vector(9, &[1, 1]);
    assert_eq!([1, 2, 9].map(|key| index.has_vector(key)), [true, false, false]);
    assert_eq!(index.rank(&Query { text: "", vector: Some(&[1.0, 0.0, 0.0]) }).top(9, |_| true), []);
    index.remove(1);
    index.set_vector(2, &[127, 0, 0]);
    assert!(index.has_vector(2), "the last vector of a length takes it along");
}

#[test]
fn a_new_text_loses_the_old_vector() {
    let mut index = index(&["one"]);
    index.set_vector(1, &[127, 0]);
    index.add(1, &Passage { text: "two", ..Passage::default() });
    assert!(!index.has_vector(1));
}

#[test]
fn cosines_are_those_of_the_vectors() {
    let rows = [[1.0, 0.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let mut index = index(&["a", "b", "c"]);
    for (key, row) in (1..).zip(rows) {
        index.set_vector(key, &crate::embed::quantise(&row));
    }
    let ranked = index.rank(&Query { text: "", vector: Some(&[1.0, 0.0, 0.0, 0.0]) });
    let cosine = |key| ranked.why(key).dense.unwrap();
    assert!(
        (cosine(1).score - 1.0).abs() < 0.02 && (cosine(2).score - 0.6).abs() < 0.02 && cosine(3).score.abs() < 0.02
    );
    assert_eq!([1, 2, 3].map(|key| cosine(key).rank), [1, 2, 3]);
    assert_eq!(ranked.top(9, |_| true).iter().map(|hit| hit.key).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn huge_input_is_cut_and_not_fatal() {
    let mut index = index(&["tea"]);
    let word = "ы".repeat(5_000_000);
    let words: String = (0..200_000).map(|n| format!("w{n} ")).collect();
    index.add(2, &Passage { text: &word, ..Passage::default() });
    index.add(3, &Passage { text: &words, ..Passage::default() });
    assert_eq!(keys(&index, &word), [2]);
    assert_eq!(keys(&index, "w17"), [3]);
    assert!(!keys(&index, &words).is_empty());
    assert!(index.remove(2) && index.remove(3));
    assert_eq!(keys(&index, "w17"), [0; 0]);
}

#[test]
fn to_embed_has_no_names_and_no_dates() {
    let mut index = index(&["no one"]);
    assert_eq!(index.to_embed("What did Ann's dog do in May 2023?"), "What did Ann's dog do in May 2023?");
    index.add(2, &Passage { text: "hi", speaker: Some("Ann"), time: Some(1.7e9), ..Passage::default() });
    index.add(3, &Passage { text: "hi", speaker: Some("assistant"), ..Passage::default() });
    assert_eq!(index.to_embed("What did Ann's dog do in May 2023?"), "What did dog do in ?");
    assert_eq!(index.to_embed("which assistant?"), "which assistant?");
    assert_eq!(index.to_embed("Ann?"), "Ann?");
    index.remove(2);
    assert_eq!(index.to_embed("What did Ann do in May 2023?"), "What did Ann do in May 2023?");
}

#[test]
fn why_tells_words_speaker_neighbours_and_date() {
    let mut index = Index::default();
    let turn =
        |text, speaker, group| Passage { text, speaker: Some(speaker), group, time: Some(1_683_554_160.0), role: None };
    index.add(1, &turn("Where did you hike?", "Ann", 7));
    index.add(2, &turn("Up the volcanos of the island", "Bob", 7));
    index.add(3, &turn("I never go out", "Bob", 8));
    let ranked = index.rank(&Query { text: "When did Bob hike a volcano on 8 May 2023?", vector: None });
    assert_eq!(ranked.top(1, |_| true)[0].key, 2);
    let why = ranked.why(2);
    assert_eq!((why.matched, why.alike, why.speaker, why.date), (vec!["volcano".to_owned()], vec![], true, 1.0));
    assert!(why.neighbours > 0.0 && why.group > 0.0 && why.dense.is_none());
    assert_eq!(why.lexical.unwrap().rank, 2, "the question before it has a rarer word in a shorter text");
    assert_eq!(ranked.why(3).neighbours, 0.0);
    assert_eq!(ranked.why(99), Why::default());
}

#[test]
fn names_and_dates_are_words_too() {
    let mut index = Index::default();
    let said = [
        ("Eve", "Bob is allergic to nuts"),
        ("Bob", "Good morning"),
        ("Eve", "Ana was born in 1990"),
        ("Eve", "Встреча 5 марта 2024 года"),
        ("Eve", "Reunião em 14 de julho de 2023"),
        ("Eve", "Contract signed 2023-07-15 in Porto"),
    ];
    for (key, (speaker, text)) in (1..).zip(said) {
        index.add(key, &Passage { text, speaker: Some(speaker), time: Some(1.7e9), ..Passage::default() });
    }
    let finds = |query: &str, key: u64| {
        let ranked = index.rank(&Query { text: query, vector: None });
        ranked.is_relevant(key) && ranked.top(3, |_| true).iter().any(|hit| hit.key == key)
    };
    for (query, key) in
        [("who is Bob", 1), ("1990", 3), ("5 марта 2024", 4), ("14 de julho de 2023", 5), ("2023-07-15", 6)]
    {
        assert!(finds(query, key), "{query}");
    }
}

/// Some passages, and a vector for each.
fn near_and_far() -> (Index, Vec<(u64, [f32; 4])>) {
    let texts = ["tea in spring", "a ship at sea", "tea tea tea", "the parrot", "rent", "a boat", "tea for two"];
    let mut index = index(&texts);
    let rows = (1..=texts.len() as u64).map(|key| (key, [1.0 / key as f32, 0.1 * key as f32, 0.3, 0.0]));
    let rows: Vec<(u64, [f32; 4])> = rows.collect();
    for (key, row) in &rows {
        index.set_vector(*key, &crate::embed::quantise(row));
    }
    (index, rows)
}

#[test]
fn cosines_from_elsewhere_rank_as_those_of_here() {
    let (index, _) = near_and_far();
    let query = Query { text: "tea", vector: Some(&[1.0, 0.0, 0.1, 0.0]) };
    let here = index.rank(&query);
    let dense: Vec<(u64, f32)> = (1..=7).map(|key| (key, here.why(key).dense.unwrap().score)).collect();
    let elsewhere = index
        .rank_with(&Query { text: "tea", vector: None }, &ExternalHits { dense: &dense, ..ExternalHits::default() });
    assert_eq!(elsewhere.top(9, |_| true), here.top(9, |_| true));
    assert_eq!(
        (1..=7).map(|key| elsewhere.why(key)).collect::<Vec<_>>(),
        (1..=7).map(|key| here.why(key)).collect::<Vec<_>>()
    );
}

#[test]
fn what_came_back_stands_before_what_did_not() {
    let mut index = Index::default();
    for key in 1..=1_000 {
        index.add(key, &Passage { text: &format!("word{key}"), ..Passage::default() });
    }
    let dense: Vec<(u64, f32)> = (1..=50).map(|key| (key, 0.6 - 0.004 * key as f32)).collect();
    let query = Query { text: "word900", vector: None };
    let ranked = index.rank_with(&query, &ExternalHits { dense: &dense, dense_of: Some(1_000), sparse: &[] });
    let keys: Vec<u64> = ranked.top(51, |_| true).iter().map(|hit| hit.key).collect();
    assert_eq!(keys[0], 900, "a word that is nowhere else outweighs a meaning that is near");
    assert_eq!(keys[1..], (1..=50).collect::<Vec<u64>>());
    assert!(ranked.is_relevant(1) && !ranked.is_relevant(60) && ranked.why(60).dense.is_none());
}

#[test]
fn terms_from_elsewhere_have_their_part() {
    let index = index(&["tea time", "tea time", "coffee"]);
    let query = Query { text: "tea", vector: None };
    let keys = |near: &ExternalHits<'_>| {
        index.rank_with(&query, near).top(9, |_| true).iter().map(|hit| hit.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&ExternalHits::default()), [2, 1]);
    let near = ExternalHits { sparse: &[(1, 2.0), (3, 0.5), (99, 7.0)], ..ExternalHits::default() };
    assert_eq!(keys(&near), [1, 2, 3]);
    let why = index.rank_with(&query, &near).why(1);
    assert_eq!((why.sparse.unwrap().rank, why.sparse.unwrap().score), (1, 2.0));
}
