//! How fast and how large an index of 10,000 turns is, and how fast a question is rewritten. Prints; run it
//! optimised: `cargo test --release -p novelo-recall --test speed -- --ignored --nocapture`
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::time::{Duration, Instant};

use novelo_language::rewrite::{Utterance, rewrite};
use novelo_recall::{Index, Passage, Query};

const TURNS: u64 = 10_000;
const DIMENSIONS: usize = 384;

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// Small numbers are frequent, as common words are: evenly spread over the orders of magnitude.
    fn word(&mut self) -> String {
        const COMMON: [&str; 16] =
            ["the", "I", "to", "and", "a", "you", "it", "my", "was", "in", "of", "for", "is", "that", "we", "with"];
        const FORMS: [&str; 4] = ["", "s", "ing", "ed"];
        if self.roll(100) < 45 {
            return COMMON[self.roll(16) as usize].to_owned();
        }
        let size = 1 << (4 + self.roll(11));
        let mut letters = Dice(self.roll(size) * 7_919 + 1);
        let syllables = 1 + letters.roll(3);
        let letter = |letters: &mut Self, of: &[u8]| char::from(of[letters.roll(of.len() as u64) as usize]);
        let mut word = String::new();
        for _ in 0..=syllables {
            word.push(letter(&mut letters, b"bcdfghjklmnprstvwyz"));
            word.push(letter(&mut letters, b"aeiou"));
        }
        word.push(letter(&mut letters, b"nrtlmkdp"));
        word + FORMS[self.roll(4) as usize]
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(&self.word());
            text.push(' ');
        }
        text
    }

    fn vector(&mut self) -> Vec<f32> {
        let vector: Vec<f32> = (0..DIMENSIONS).map(|_| self.roll(2_001) as f32 / 1_000.0 - 1.0).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<usize>().ok()).unwrap_or(0) * 1_024
}

#[test]
#[ignore = "measures; run it optimised and alone"]
fn ten_thousand_turns() {
    let mut dice = Dice(7);
    let texts: Vec<String> = (0..TURNS).map(|_| dice.text(125)).collect();
    let vectors: Vec<Vec<i8>> = (0..TURNS).map(|_| novelo_recall::embed::quantise(&dice.vector())).collect();
    let mut index = Index::default();
    let before = resident();
    let start = Instant::now();
    for (key, text) in (0..).zip(&texts) {
        let speaker = Some(if key % 2 == 0 { "Ann" } else { "Bob" });
        index.add(
            key,
            &Passage { text, speaker, group: key / 20 + 1, time: Some(1.6e9 + key as f64 * 4e3), role: None },
        );
    }
    let add = start.elapsed() / TURNS as u32;
    let (grown, told) = (resident() - before, index.bytes());
    println!("add {add:?}; {} bytes a turn by bytes(), {} by resident memory", told / texts.len(), grown / texts.len());
    let queries: Vec<String> = (0..200).map(|_| format!("What did Ann {}", dice.text(45))).collect();
    // The best of five runs of each query: other processes take their share of the machine.
    let once = |index: &Index, text: &str, vector: Option<&[f32]>| {
        let start = Instant::now();
        assert!(!index.rank(&Query { text, vector }).top(20, |_| true).is_empty());
        start.elapsed()
    };
    let time = |index: &Index, vector: Option<&[f32]>| {
        median(queries.iter().filter_map(|text| (0..5).map(|_| once(index, text, vector)).min()).collect())
    };
    let lexical = time(&index, None);
    for (key, vector) in (0..).zip(&vectors) {
        index.set_vector(key, vector);
    }
    let query = dice.vector();
    println!("rank {lexical:?} by words, {:?} with {TURNS} vectors", time(&index, Some(&query)));
    let start = Instant::now();
    for key in 0..1_000 {
        index.remove(key * 10);
    }
    println!("remove {:?}", start.elapsed() / 1_000);
    let tolerance = told.abs_diff(grown) as f64 / grown.max(1) as f64;
    assert!(tolerance < 0.2, "bytes() is off by {:.0} %", tolerance * 100.0);
}

/// After a history as long as is looked at, of long messages.
#[test]
#[ignore = "measures; run it optimised and alone"]
fn one_question_rewritten() {
    let mut dice = Dice(7);
    let texts: Vec<String> = (0..40).map(|_| format!("What is the {}?", dice.text(400))).collect();
    let said: Vec<Utterance<'_>> = (0..)
        .zip(&texts)
        .map(|(at, text)| Utterance { speaker: if at % 2 == 0 { "user" } else { "assistant" }, text })
        .collect();
    for (name, history) in [("2", &said[38..]), ("40", &said[..])] {
        let once = || {
            let start = Instant::now();
            assert!(!rewrite(history, "How does it work, and what are its effects?").question.is_empty());
            start.elapsed()
        };
        println!("rewrite after {name} messages {:?}", median((0..200).map(|_| once()).collect()));
    }
}
