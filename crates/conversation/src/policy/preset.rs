//! Presets: recipes by name, those shipped inside the binary and those of files, which add to them and
//! override them.

use std::sync::{Arc, OnceLock};

use novelo_engine::decode::DecodeError;
use novelo_engine::piece::DocIdMode;
use novelo_engine::recipe::{ComponentSpec, RecipeDocument};
use novelo_engine::{Recipe, Tokenizer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::files::WatchedFile;

/// A recipe with the text it was read from, so that a trace can store it.
#[derive(Debug)]
pub struct Preset {
    /// `None` for a recipe that came with a request.
    pub name: Option<String>,
    document: RecipeDocument,
    /// The same without the ids of documents, and with them; made when first needed.
    with_ids: [OnceLock<Arc<Preset>>; 2],
}

impl From<RecipeDocument> for Preset {
    fn from(document: RecipeDocument) -> Self {
        Self { name: None, document, with_ids: Default::default() }
    }
}

impl Preset {
    /// Reads a recipe that stands at `path` of a request.
    pub fn given(path: &str, value: Value) -> Result<Self, DecodeError> {
        RecipeDocument::decode(path, value).map(Self::from)
    }

    /// Its recipe.
    pub fn recipe(&self) -> &Recipe {
        self.document.recipe()
    }

    /// The JSON of the recipe.
    pub fn text(&self) -> &RawValue {
        self.document.text()
    }

    /// The same with the ids of documents on their messages, or without them.
    pub fn with_ids(self: &Arc<Self>, shown: bool) -> Result<Arc<Self>, DecodeError> {
        let [hidden, seen] = &self.with_ids;
        let (made, tag) = if shown { (seen, DocIdMode::Shown) } else { (hidden, DocIdMode::None) };
        if self.recipe().doc_ids == tag {
            return Ok(self.clone());
        }
        if let Some(made) = made.get() {
            return Ok(made.clone());
        }
        let preset = Arc::new(self.renewed(self.document.with_doc_ids(tag)?));
        Ok(made.get_or_init(|| preset).clone())
    }

    /// The same with other filters or another tokenizer.
    pub fn with(&self, filters: Option<Value>, tokenizer: Option<Tokenizer>) -> Result<Self, DecodeError> {
        let mut document = self.document.clone();
        if let Some(filters) = filters {
            document = document.with_filters(filters)?;
        }
        if let Some(tokenizer) = tokenizer {
            document = document.with_tokenizer(tokenizer)?;
        }
        Ok(self.renewed(document))
    }

    /// The same with the filter `compact`, with options that stand at `path` of a request.
    pub fn with_compact(&self, path: &str, options: Value) -> Result<Self, DecodeError> {
        Ok(self.renewed(self.document.with_compact(path, options)?))
    }

    /// The same with components before all others. An error names the field `path` of the request.
    pub fn with_leading(
        &self,
        path: &str,
        components: impl IntoIterator<Item = ComponentSpec>,
    ) -> Result<Self, DecodeError> {
        self.document.with_leading(path, components).map(Self::from)
    }

    fn renewed(&self, document: RecipeDocument) -> Self {
        Self { name: self.name.clone(), ..Self::from(document) }
    }
}

macro_rules! shipped {
    ($($name:literal)*) => {
        const SHIPPED: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../policies/presets/", $name, ".json")))),*];
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
    files: &[WatchedFile],
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
