//! The shared filter vectors: real inputs and the outputs that they must give.
//!
//! They stand beside the project where it is developed, and in CI. A clone without them runs `filters.rs`
//! alone.

use novelo_engine::{Loaded, Message, Recipe, assemble};
use serde_json::Value;

#[test]
fn all_pairs_hold_exactly() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/filters.jsonl");
    let Ok(lines) = std::fs::read_to_string(path) else {
        eprintln!("SKIPPED: no {path}");
        return;
    };
    let mut pairs = 0;
    for (n, line) in lines.lines().enumerate() {
        let pair: Value = serde_json::from_str(line).unwrap();
        let recipe = Recipe::decode("recipe", &serde_json::json!({"filters": pair["filters"]})).unwrap();
        let inline: Vec<Message> = pair["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| Message::accept(m.to_string().into()).unwrap())
            .collect();
        let loaded = Loaded { inline: &inline, ..Loaded::default() };
        let assembly = assemble(&recipe, &loaded, None).unwrap();
        let mut out = Vec::new();
        assembly.write(&mut out);
        let got: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(got.to_string(), pair["expected"].to_string(), "pair {n}: {}", pair["filters"]);
        for (piece, expected) in assembly.messages().zip(pair["expected"].as_array().unwrap()) {
            let cost = Message::from_stored(expected.to_string().into()).tokens(Default::default());
            assert_eq!(piece.tokens, cost, "pair {n}");
        }
        pairs += 1;
    }
    assert_eq!(pairs, 120);
}
