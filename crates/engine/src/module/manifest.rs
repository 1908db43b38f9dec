//! The manifest: which texts there are, when each is called for, and what it may cost.
//!
//! Refuses a text that costs more than it may, and a placeholder that nobody fills. The same manifest and the
//! same situation give the same texts, in the same order.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use serde_json::{Value, json};

use crate::decode::{DecodeError, Fields};
use crate::json::utf16_units;
use crate::limits::BUDGET_TOKENS_MAX;
use crate::tokens::approx;

use super::text::Text;
use super::when::When;
use super::{MODULES_MAX, NAME_BYTES_MAX, TEXT_TOKENS_MAX, decode_weight};

const ROOT: &str = "modules";

/// All modules, in their order, checked.
#[derive(Debug, Clone)]
pub struct Manifest {
    budget_tokens: u32,
    modules: Vec<Entry>,
    fingerprint: u64,
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    when: When,
    priority: u32,
    pinned: bool,
    text: Text,
}

/// What is known of the question when the prompt is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Situation<'s> {
    /// Whether the short prompt is made, rather than the full one.
    pub fast: bool,
    /// How open the question is, from 1 to 3.
    pub openness: u8,
    /// How intense the question is.
    pub intensity: f32,
    /// Whether the conversation is guided.
    pub guided: bool,
    /// Whether the caller forced the guidance.
    pub forced: bool,
    /// The names of the heuristics that fired.
    pub heuristics: &'s [&'s str],
    /// Whether some were found.
    pub memories: bool,
    /// The level that the client suggests.
    pub opening: Option<u8>,
    /// Whether the exchange will be remembered.
    pub saves: bool,
    /// Whether danger was voiced in the conversation, and is not over.
    pub crisis: bool,
    /// Whether it is a brief greeting: only what is pinned is said then.
    pub greeting: bool,
    /// The steps that the answer should take.
    pub steps: &'s str,
    /// Empty where it is not known.
    pub name: &'s str,
}

/// A module that the situation calls for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The name of the module.
    pub name: String,
    /// With its placeholders filled.
    pub text: String,
    /// Its priority.
    pub priority: u32,
    /// Whether it is pinned.
    pub pinned: bool,
    /// What called for it.
    pub why: String,
    /// Whether it is there because of a crisis.
    pub is_for_crisis: bool,
}

impl Manifest {
    /// Reads what stands under `modules`; `text` gives the text of a name that was checked.
    pub fn decode(value: &Value, text: impl Fn(&str) -> Option<String>) -> Result<Self, DecodeError> {
        let mut fields = Fields::from_value(ROOT, value)?;
        let budget_tokens = fields.number("budget_tokens", 1, BUDGET_TOKENS_MAX as u32)?;
        let budget_tokens =
            budget_tokens.ok_or_else(|| DecodeError::new(fields.path("budget_tokens"), "is missing"))?;
        let (path, list) = (fields.path("list"), fields.list("list")?);
        fields.finish()?;
        if list.len() > MODULES_MAX {
            return Err(DecodeError::new(path, format!("has {} entries; at most {MODULES_MAX} can be", list.len())));
        }
        let mut hasher = FxHasher::default();
        value.to_string().hash(&mut hasher);
        let mut modules: Vec<Entry> = Vec::with_capacity(list.len());
        for (i, entry) in list.iter().enumerate() {
            let (module, raw) = Entry::decode(&format!("{path}[{i}]"), entry, &text)?;
            if modules.iter().any(|earlier| earlier.name == module.name) {
                let problem = format!("is {}, as that of an earlier module", module.name);
                return Err(DecodeError::new(format!("{path}[{i}].name"), problem));
            }
            raw.hash(&mut hasher);
            modules.push(module);
        }
        Ok(Self { budget_tokens, modules, fingerprint: hasher.finish() })
    }

    /// The heuristics that some module waits for, each with the path of its name.
    pub fn heuristics(&self) -> impl Iterator<Item = (String, &str)> {
        self.modules.iter().enumerate().flat_map(|(i, module)| {
            let named = module.when.heuristics.iter().enumerate();
            named.map(move |(n, name)| (format!("{ROOT}.list[{i}].when.heuristics[{n}]"), name.as_str()))
        })
    }

    /// What the situation calls for, in the order of the manifest.
    pub fn choose(&self, situation: &Situation<'_>) -> Vec<Chosen> {
        let called = self.modules.iter().filter(|module| module.pinned || !situation.greeting);
        let chosen = |module: &Entry| {
            Some(Chosen {
                why: module.when.holds(situation)?,
                name: module.name.clone(),
                text: module.text.fill(situation),
                priority: module.priority,
                pinned: module.pinned,
                is_for_crisis: module.when.is_for_crisis(),
            })
        };
        called.filter_map(chosen).filter(|chosen| !chosen.text.is_empty()).collect()
    }

    /// The tokens that all modules of one prompt may cost.
    pub fn budget_tokens(&self) -> u32 {
        self.budget_tokens
    }

    /// Changes when any text or rule changes.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The components that put these modules in a recipe.
    pub fn recipe_components(chosen: &[Chosen]) -> Vec<Value> {
        let component = |c: &Chosen| json!({"kind": "module", "name": c.name, "value": c.text, "priority": c.priority, "pinned": c.pinned});
        chosen.iter().map(component).collect()
    }
}

impl Entry {
    /// Reads an entry of the list; the module, and its text as written.
    fn decode(path: &str, entry: &Value, text: impl Fn(&str) -> Option<String>) -> Result<(Self, String), DecodeError> {
        let mut fields = Fields::from_value(path, entry)?;
        let missing = |fields: &Fields<'_>, name| DecodeError::new(fields.path(name), "is missing");
        let name = fields.string("name")?.ok_or_else(|| missing(&fields, "name"))?;
        if !is_name(name) {
            let problem = format!("must be 1 to {NAME_BYTES_MAX} of a to z, 0 to 9 and _");
            return Err(DecodeError::new(fields.path("name"), problem));
        }
        let tokens = fields.number("tokens", 1, TEXT_TOKENS_MAX)?.ok_or_else(|| missing(&fields, "tokens"))?;
        let (priority, pinned) = decode_weight(&mut fields)?;
        let when = match fields.value("when") {
            Some(when) => When::decode(Fields::from_value(fields.path("when"), when)?)?,
            None => When::default(),
        };
        let (name_path, tokens_path) = (fields.path("name"), fields.path("tokens"));
        fields.finish()?;
        let problem = |problem: String| DecodeError::new(&name_path, format!("has a bad text: {problem}"));
        let raw = text(name).ok_or_else(|| problem(format!("modules/{name}.txt is not there")))?;
        let raw = raw.trim_end().to_owned();
        let cost = approx(utf16_units(&raw));
        if cost > tokens {
            let problem = format!("is {tokens}, but the text modules/{name}.txt costs {cost}");
            return Err(DecodeError::new(tokens_path, problem));
        }
        let text = Text::parse(&raw).map_err(|e| problem(format!("modules/{name}.txt {e}")))?;
        Ok((Self { name: name.to_owned(), when, priority, pinned, text }, raw))
    }
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(fits)
}
