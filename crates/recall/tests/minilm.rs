//! The embedder with real weights: all-MiniLM-L6-v2, as `make model` installs it, or where
//! `NOVELO_TEST_MODEL` says.
//!
//! Expected numbers are from a forward pass in numpy, in `f64`, over the tokens of the `tokenizers` library.
//! The vectors of all the texts are compared by their dot product with one of them, and the first dimensions
//! of each.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use std::path::PathBuf;

use novelo_recall::embed::{Model, decode, encode, quantise};

fn model() -> Model {
    let installed = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/all-MiniLM-L6-v2"));
    let dir = std::env::var_os("NOVELO_TEST_MODEL").map_or_else(installed, PathBuf::from);
    Model::open(&dir).unwrap_or_else(|error| panic!("no model to test with: run `make model`\n{error}"))
}

/// A text, how often it stands in a row, its first dimensions, and its cosine with the first text.
type Known = (&'static str, usize, [f32; 4], f32);

const KNOWN: [Known; 8] = [
    ("This is an example sentence", 1, [0.0676569, 0.0634959, 0.0487131, 0.079305], 1.0),
    ("", 1, [-0.1188384, 0.0482987, -0.0025481, -0.0110112], 0.2282517),
    ("São Paulo não é Brasília, é coração.", 1, [0.0520496, 0.0295786, -0.0190004, 0.0251319], 0.0700906),
    ("Привет, как дела? Ёлка и йод", 1, [0.0029844, 0.0995476, 0.0136867, -0.0225843], 0.0433481),
    ("你好，世界！今天天气很好。", 1, [0.0311776, 0.1562148, 0.0735744, -0.0256617], 0.1117174),
    ("👍🏽 👨‍👩‍👧‍👦 🇧🇷 ❤️ naïve café", 1, [0.0312006, 0.0190573, 0.0353882, 0.0302293], 0.1775994),
    ("...!?;: -- (x) [SEP] $5.00 “quoted”", 1, [-0.0675893, 0.0736409, 0.0710691, 0.0076398], 0.166409),
    ("the quick brown fox jumps over a lazy dog. ", 100, [0.0516147, -0.0722748, 0.0791617, -0.0215891], 0.0483575),
];

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn vectors_are_those_of_the_reference() {
    let model = model();
    assert_eq!(model.dimensions, 384);
    let texts: Vec<String> = KNOWN.iter().map(|(text, times, ..)| text.repeat(*times)).collect();
    let vectors = model.embed(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    for ((text, _, first, cosine), vector) in KNOWN.iter().zip(&vectors) {
        assert_eq!(vector.len(), 384);
        assert!((dot(vector, vector) - 1.0).abs() < 1e-6, "{text}");
        assert!(first.iter().zip(vector).all(|(a, b)| (a - b).abs() < 2e-6), "{text}: {:?}", &vector[..4]);
        assert!((dot(vector, &vectors[0]) - cosine).abs() < 1e-5, "{text}");
    }
}

#[test]
fn meaning_is_near_to_meaning_once_quantised() {
    let texts = [
        "Where did she go on holiday?",
        "Melanie: we spent the summer by the sea in Portugal",
        "The invoice is due on Friday",
        "My brother repairs old bicycles",
    ];
    let kept: Vec<Vec<i8>> =
        model().embed(&texts).iter().map(|vector| decode(&encode(&quantise(vector))).unwrap()).collect();
    let near = |at: usize| kept[0].iter().zip(&kept[at]).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
    assert!(near(1) > near(2) && near(1) > near(3));
}

#[test]
fn the_print_is_the_same_each_time() {
    let print = model().print;
    assert_eq!(print, model().print);
    assert!(print.len() == 16 && print.bytes().all(|byte| byte.is_ascii_hexdigit()), "{print}");
}
