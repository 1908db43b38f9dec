//! Policies: what users edit while the server runs.
//!
//! Owns the presets and the prompts: those shipped inside the binary, and files of the policy directory, which add to
//! them and override them. Files are read again when they change; a broken one keeps the last good one and says so.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use novelo_engine::decode::DecodeError;
use novelo_engine::recipe::decode_filters;
use novelo_engine::{Recipe, Tokenizer};
use serde_json::Value;
use serde_json::value::RawValue;

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
            decode_filters("filters", filters.as_array().map(Vec::as_slice).unwrap_or_default())?;
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
            &[$(($name, include_str!(concat!("../../../policies/presets/", $name, ".json")))),*];
    };
}

shipped! { "chat" "agent" "stable" "thread" "TopicContext" }

/// What a model is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    Rewrite,
    Summary,
}

impl Prompt {
    const ALL: [Self; 2] = [Self::Rewrite, Self::Summary];

    /// The name of its file.
    fn name(self) -> &'static str {
        match self {
            Self::Rewrite => "rewrite",
            Self::Summary => "summary",
        }
    }

    fn shipped(self) -> &'static str {
        match self {
            Self::Rewrite => include_str!("../../../policies/prompts/rewrite.txt"),
            Self::Summary => include_str!("../../../policies/prompts/summary.txt"),
        }
    }
}

const PROMPT_BYTES_MAX: usize = 64 * 1024;

/// The preset that a thread uses when the request names none.
pub const DEFAULT: &str = "chat";

/// All of them. Whoever looks one up re-reads the directory when it is time.
#[derive(Debug)]
pub struct Policies {
    dir: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    shipped: Vec<Arc<Preset>>,
    presets: Vec<Arc<Preset>>,
    /// Those that a file overrides.
    prompts: Vec<(Prompt, Arc<str>)>,
    /// What is wrong now, a line each.
    broken: Vec<String>,
    seen: Vec<(PathBuf, Option<SystemTime>)>,
    looked: Instant,
}

const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Policies {
    pub fn open(dir: PathBuf) -> anyhow::Result<Self> {
        let shipped = SHIPPED
            .iter()
            .map(|(name, text)| Ok(Arc::new(read(name, text).map_err(|e| anyhow::anyhow!("{name}: {e}"))?)))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let (prompts, broken, seen) = (Vec::new(), Vec::new(), Vec::new());
        let state = State { presets: shipped.clone(), shipped, prompts, broken, seen, looked: Instant::now() };
        let policies = Self { dir, state: Mutex::new(state) };
        policies.reload(&mut policies.lock());
        Ok(policies)
    }

    pub fn preset(&self, name: &str) -> Option<Arc<Preset>> {
        self.current().presets.iter().find(|p| p.name.as_deref() == Some(name)).cloned()
    }

    pub fn prompt(&self, prompt: Prompt) -> Arc<str> {
        let own = self.current().prompts.iter().find(|(of, _)| *of == prompt).map(|(_, text)| text.clone());
        own.unwrap_or_else(|| prompt.shipped().trim().into())
    }

    pub fn names(&self) -> Vec<String> {
        self.lock().presets.iter().filter_map(|p| p.name.clone()).collect()
    }

    /// What is wrong with the files, a line each.
    pub fn broken(&self) -> Vec<String> {
        let mut state = self.lock();
        self.reload(&mut state);
        state.broken.clone()
    }

    fn current(&self) -> std::sync::MutexGuard<'_, State> {
        let mut state = self.lock();
        if state.looked.elapsed() >= LOOK_EVERY {
            self.reload(&mut state);
        }
        state
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn reload(&self, state: &mut State) {
        state.looked = Instant::now();
        let seen = [self.files("presets", "json"), self.files("prompts", "txt")].concat();
        if seen == state.seen {
            return;
        }
        state.broken.clear();
        let presets = std::mem::replace(&mut state.presets, state.shipped.clone());
        let prompts = std::mem::take(&mut state.prompts);
        for (path, _) in &seen {
            let name = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
            let read = match path.extension().is_some_and(|e| e == "json") {
                true => state.take_preset(name, path, &presets),
                false => state.take_prompt(name, path, &prompts),
            };
            if let Err(problem) = read {
                tracing::warn!(file = %path.display(), %problem, "broken policy, the last good one stays in force");
                state.broken.push(format!("{}: {problem}", path.display()));
            }
        }
        state.seen = seen;
    }

    fn files(&self, below: &str, extension: &str) -> Vec<(PathBuf, Option<SystemTime>)> {
        let Ok(entries) = std::fs::read_dir(self.dir.join(below)) else { return Vec::new() };
        let mut files: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|e| e == extension))
            .map(|path| (path.clone(), path.metadata().and_then(|m| m.modified()).ok()))
            .collect();
        files.sort();
        files
    }
}

impl State {
    /// Takes a preset from its file; where that is broken, the one from before stays, and what is wrong is told.
    fn take_preset(&mut self, name: &str, path: &Path, before: &[Arc<Preset>]) -> Result<(), String> {
        let last_good = || before.iter().find(|p| p.name.as_deref() == Some(name)).cloned();
        let (preset, told) = match load(path).and_then(|text| read(name, &text)) {
            Ok(preset) => (Some(Arc::new(preset)), Ok(())),
            Err(problem) => (last_good(), Err(problem)),
        };
        self.presets.retain(|p| preset.is_none() || p.name.as_deref() != Some(name));
        self.presets.extend(preset);
        told
    }

    fn take_prompt(&mut self, name: &str, path: &Path, before: &[(Prompt, Arc<str>)]) -> Result<(), String> {
        let known = || Prompt::ALL.map(Prompt::name).join(", ");
        let prompt = Prompt::ALL.into_iter().find(|prompt| prompt.name() == name);
        let prompt = prompt.ok_or_else(|| format!("there is no such prompt; there are {}", known()))?;
        match load(path).and_then(|text| check_prompt(&text)) {
            Ok(text) => self.prompts.push((prompt, text)),
            Err(problem) => {
                self.prompts.extend(before.iter().find(|(of, _)| *of == prompt).cloned());
                return Err(problem);
            }
        }
        Ok(())
    }
}

fn load(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| e.to_string())
}

fn check_prompt(text: &str) -> Result<Arc<str>, String> {
    match text.trim() {
        "" => Err("is empty".to_owned()),
        text if text.len() > PROMPT_BYTES_MAX => Err(format!("has more than {PROMPT_BYTES_MAX} bytes")),
        text => Ok(text.into()),
    }
}

fn read(name: &str, text: &str) -> Result<Preset, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let preset = Preset::given("preset", value).map_err(|e| e.to_string())?;
    Ok(Preset { name: Some(name.to_owned()), ..preset })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_file_gives_way_to_the_shipped_preset() {
        let dir = tempfile::tempdir().unwrap();
        let presets = dir.path().join("presets");
        std::fs::create_dir(&presets).unwrap();
        for name in ["chat", "mine"] {
            std::fs::write(presets.join(name).with_extension("json"), r#"{"budget_tokens": 7}"#).unwrap();
        }
        let policies = Policies::open(dir.path().to_owned()).unwrap();
        let budget = |name: &str| policies.preset(name).map(|p| p.recipe.budget_tokens);
        assert_eq!((budget("chat"), budget("mine")), (Some(Some(7)), Some(Some(7))));
        std::fs::write(presets.join("mine.json"), "{").unwrap();
        std::fs::remove_file(presets.join("chat.json")).unwrap();
        assert_eq!(policies.broken().len(), 1);
        assert_eq!((budget("chat"), budget("mine")), (Some(Some(24_000)), Some(Some(7))));
        std::fs::remove_file(presets.join("mine.json")).unwrap();
        assert!(policies.broken().is_empty());
        assert_eq!(budget("mine"), None);
    }

    #[test]
    fn a_prompt_is_the_file_or_the_last_good_one() {
        let dir = tempfile::tempdir().unwrap();
        let prompts = dir.path().join("prompts");
        std::fs::create_dir(&prompts).unwrap();
        let policies = Policies::open(dir.path().to_owned()).unwrap();
        let write = |name: &str, text: &str| {
            std::fs::write(prompts.join(name), text).unwrap();
            policies.broken()
        };
        assert_eq!(&*policies.prompt(Prompt::Rewrite), Prompt::Rewrite.shipped().trim());
        assert!(write("rewrite.txt", " Say it again.\n").is_empty());
        assert_eq!(&*policies.prompt(Prompt::Rewrite), "Say it again.");
        std::fs::remove_file(prompts.join("rewrite.txt")).unwrap();
        assert!(policies.broken().is_empty());
        assert_eq!(&*policies.prompt(Prompt::Rewrite), Prompt::Rewrite.shipped().trim());
        assert!(write("rewite.txt", "x")[0].contains("there are rewrite, summary"));
        std::fs::remove_file(prompts.join("rewite.txt")).unwrap();
        assert!(write("summary.txt", "Sum up.").is_empty());
        assert!(write("summary.txt", &"x".repeat(PROMPT_BYTES_MAX + 1))[0].contains("more than 65536 bytes"));
        assert_eq!(&*policies.prompt(Prompt::Summary), "Sum up.");
    }
}
