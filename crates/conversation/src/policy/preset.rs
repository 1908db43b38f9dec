//! Presets: recipes by name, those shipped inside the binary and those of files, which add to them and override them.

use std::sync::{Arc, OnceLock};

use novelo_engine::decode::DecodeError;
use novelo_engine::recipe::check_filters;
use novelo_engine::{Recipe, Tokenizer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::watch::File;

/// A recipe with the text it was read from, so that a trace can keep it.
#[derive(Debug)]
pub struct Preset {
    /// `None` for a recipe that came with a request.
    pub name: Option<String>,
    pub text: Box<RawValue>,
    pub recipe: Recipe,
    /// The same with the ids of documents counted, and with them shown; made when first asked for.
    with_ids: [OnceLock<Arc<Preset>>; 2],
}

impl Preset {
    /// A recipe that stands at `path` of a request.
    pub fn given(path: &str, value: Value) -> Result<Self, DecodeError> {
        let recipe = Recipe::decode(path, &value)?;
        let text = RawValue::from_string(value.to_string()).map_err(|e| DecodeError::new(path, e.to_string()))?;
        Ok(Self { name: None, recipe, text, with_ids: Default::default() })
    }

    /// The same with the ids of documents on their messages: shown, or only counted.
    pub fn with_ids(&self, shown: bool) -> Result<Arc<Self>, DecodeError> {
        let [counted, seen] = &self.with_ids;
        let (made, ids) = if shown { (seen, "shown") } else { (counted, "counted") };
        if let Some(made) = made.get() {
            return Ok(made.clone());
        }
        let mut value = self.value();
        put(&mut value, "docIds", ids.into());
        let preset = Arc::new(Self { name: self.name.clone(), ..Self::given("recipe", value)? });
        Ok(made.get_or_init(|| preset).clone())
    }

    fn value(&self) -> Value {
        serde_json::from_str(self.text.get()).expect("the text was written from a value")
    }

    /// The same with other filters or another tokenizer.
    pub fn with(&self, filters: Option<Value>, tokenizer: Option<Tokenizer>) -> Result<Self, DecodeError> {
        let mut value = self.value();
        if let Some(filters) = filters {
            check_filters("filters", filters.as_array().map(Vec::as_slice).unwrap_or_default())?;
            put(&mut value, "filters", filters);
        }
        if let Some(tokenizer) = tokenizer {
            put(&mut value, "tokenizer", tokenizer.name().into());
        }
        Ok(Self { name: self.name.clone(), ..Self::given("recipe", value)? })
    }
}

fn put(recipe: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = recipe {
        fields.insert(key.to_owned(), value);
    }
}

macro_rules! shipped {
    ($($name:literal)*) => {
        const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../policies/presets/", $name, ".json")))),*];
    };
}

shipped! { "chat" "agent" "stable" "thread" "TopicContext" }

/// Those inside the binary.
pub fn shipped() -> anyhow::Result<Vec<Arc<Preset>>> {
    SHIPPED
        .iter()
        .map(|(name, text)| Ok(Arc::new(read(name, text).map_err(|e| anyhow::anyhow!("{name}: {e}"))?)))
        .collect()
}

/// The shipped ones and those of the files; where a file is broken, the one from before stays.
pub fn take(
    files: &[File],
    shipped: &[Arc<Preset>],
    before: &[Arc<Preset>],
    broken: &mut Vec<String>,
) -> Vec<Arc<Preset>> {
    let mut presets = shipped.to_vec();
    for file in files {
        let name = file.name();
        let preset = match file.load().and_then(|text| read(name, &text)) {
            Ok(preset) => Some(Arc::new(preset)),
            Err(problem) => {
                broken.push(file.tell(problem));
                before.iter().find(|p| p.name.as_deref() == Some(name)).cloned()
            }
        };
        presets.retain(|p| preset.is_none() || p.name.as_deref() != Some(name));
        presets.extend(preset);
    }
    presets
}

fn read(name: &str, text: &str) -> Result<Preset, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let preset = Preset::given("preset", value).map_err(|e| e.to_string())?;
    Ok(Preset { name: Some(name.to_owned()), ..preset })
}
