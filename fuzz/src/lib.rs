//! What must hold for any bytes at all.
//!
//! One function per fuzz target, so that an input that broke one can be replayed from a test or a debugger.
//! Each panics when an invariant is broken, and returns otherwise.

mod bodies;
#[path = "../../crates/engine/tests/laws/mod.rs"]
mod laws;
mod policies;
mod wire;

pub use bodies::bodies;
pub use policies::policies;
pub use wire::{replies, streams};

use std::collections::BTreeMap;

use novelo_engine::loaded::{show_summary, show_user_data};
use novelo_engine::module::{Manifest, Situation};
use novelo_engine::{Loaded, Message, Recipe, Turn, path};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Any bytes are refused or read, and what was read keeps the laws of an assembly.
pub fn assemble(data: &[u8]) {
    reads(data);
    let Ok(request) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(data) else { return };
    let field = |name: &str| request.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let filters = field("filters").unwrap_or(json!([]));
    let recipe = json!({"components": field("components"), "filters": filters});
    let Ok(recipe) = Recipe::decode("recipe", &recipe) else { return };
    let messages: Vec<&RawValue> =
        request.get("messages").and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let accept = |raw: &&RawValue| Message::accept(raw.get().to_owned().into()).ok();
    let messages: Vec<Message> = messages.iter().filter_map(accept).collect();
    let budget_tokens = field("budget_tokens").and_then(|v| v.as_u64()).map(|n| n as u32);
    check(&recipe, &messages, budget_tokens, ends_paired(&filters));
}

/// The laws, with the messages given inline and with the same messages stored as a thread.
fn check(recipe: &Recipe, messages: &[Message], budget_tokens: Option<u32>, ends_paired: bool) {
    let turn = |(n, m): (usize, &Message)| Turn { seq: n as u64, id: "t".into(), create_time: 0.0, message: m.clone() };
    let turns: Vec<Turn> = messages.iter().enumerate().map(turn).collect();
    let given = Loaded { inline: messages, ..Loaded::default() };
    let stored = Loaded { turns: turns.iter().collect(), question: messages.first(), ..Loaded::default() };
    for loaded in [given, stored] {
        if let Ok(assembly) = laws::assembled(recipe, &loaded, budget_tokens) {
            if ends_paired {
                laws::paired(&assembly);
            }
        }
    }
}

/// Whether the last filter promises a prompt in which every call is answered and every answer called.
fn ends_paired(filters: &Value) -> bool {
    let Some(last) = filters.as_array().and_then(|list| list.last()) else { return false };
    let option = |name: &str| last["options"][name].as_str();
    (last == "toolCallBackfill" || last["name"] == "toolCallBackfill")
        && matches!(option("role"), None | Some("tool"))
        && !matches!(option("orphanRole"), Some("tool" | "assistant"))
}

/// No reader panics, and a path that was read survives the way out and back in.
fn reads(data: &[u8]) {
    if let Ok(message) = Message::accept(data.to_vec().into()) {
        assert_eq!(message.raw(), data, "an accepted message changed");
    }
    Message::from_stored(data.to_vec().into());
    show_summary(data);
    show_user_data(data);
    if let Some(Ok(recipe)) = serde_json::from_slice(data).ok().map(|value| Recipe::decode("recipe", &value)) {
        assert!(recipe.needs().len() <= recipe.components.len());
    }
    if let Ok(value) = serde_json::from_slice::<Value>(data) {
        chooses(&value);
    }
    if let Some(Ok(segments)) = std::str::from_utf8(data).ok().map(path::decode) {
        let encoded: Vec<String> = segments.iter().map(|s| path::encode_segment(s)).collect();
        assert_eq!(path::decode(&encoded.join("/")), Ok(segments), "a path changed on its way out and back in");
    }
}

/// What is chosen from any manifest, with any text, can stand in a recipe.
fn chooses(value: &Value) {
    let text = value.get("text").and_then(Value::as_str).unwrap_or("{name}: {steps}, {intensity}").to_owned();
    let Ok(manifest) = Manifest::decode(value, |_| Some(text.clone())) else { return };
    let calm = Situation { openness: 1, ..Situation::default() };
    let heavy = Situation { openness: 3, intensity: 9.0, guided: true, heuristics: &["x"], opening: Some(2), ..calm };
    for situation in [calm, heavy, Situation { fast: true, ..calm }, Situation { greeting: true, ..heavy }] {
        let chosen = manifest.choose(&situation);
        assert_eq!(chosen, manifest.choose(&situation), "same situation, other modules");
        let recipe = json!({"components": Manifest::recipe_components(&chosen)});
        Recipe::decode("recipe", &recipe).expect("modules that were chosen are components");
    }
}
