//! Settings: where each comes from, and what is in force.
//!
//! There are two forms. `RawSettings` holds the text of every setting and where it comes from: a flag beats
//! the environment, which beats the file, which beats the default. `Settings` is what the program uses: every
//! value has its type, and was read once. Both come from one table (`registry`), which also feeds `novelo
//! config` and the docs. An unknown key is an error that names the nearest known one; a wrong value is an
//! error that names the key, the value and its source.

mod registry;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use novelo_engine::decode::nearest;
use novelo_engine::limits::BODY_BYTES_MAX;

pub use registry::*;
pub use value::*;

/// One setting, as it is documented.
pub struct Setting {
    /// Its name in a settings file.
    pub key: &'static str,
    /// Its default, as it is written in a file.
    pub default: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The name that other programs have for it in the environment.
    pub usual: &'static [&'static str],
}

impl Setting {
    /// What it is called in the environment, the name that wins last.
    pub fn env_names(&self) -> impl Iterator<Item = String> {
        let own = format!("NOVELO_{}", self.key.replace('.', "_").to_uppercase());
        self.usual.iter().map(|name| (*name).to_owned()).chain([own])
    }

    /// The setting as anybody may see it.
    fn shown<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.key {
            "redis.url" => without_password(text),
            key if (key.ends_with(".key") && !text.is_empty()) || holds_password(text) => "***".into(),
            _ => text.into(),
        }
    }
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// Nobody set it.
    Default,
    /// A settings file.
    File(PathBuf),
    /// A variable of the environment.
    Env(String),
    /// A flag of the command line.
    Flag,
}

/// The text of every setting, and where it comes from.
pub struct RawSettings(BTreeMap<&'static str, (String, ValueSource)>);

impl Default for RawSettings {
    fn default() -> Self {
        Self(SETTINGS.iter().map(|s| (s.key, (s.default.to_owned(), ValueSource::Default))).collect())
    }
}

/// Shows no secret.
impl std::fmt::Debug for RawSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}

impl RawSettings {
    /// Gathers the settings. `file` was asked for and must be there; without it, `novelo.toml` is read if it
    /// is there. A flag names a key of the registry.
    pub fn gather(
        file: Option<&Path>,
        env: impl Fn(&str) -> Option<String>,
        flags: &[(&'static str, Option<String>)],
    ) -> anyhow::Result<Self> {
        let Self(mut values) = Self::default();
        values.extend(read_file(file)?.into_iter().map(|(key, value, source)| (key, (value, source))));
        for setting in SETTINGS {
            for name in setting.env_names() {
                // An empty variable of other programs means that there is none.
                let is_usual = setting.usual.contains(&name.as_str());
                if let Some(value) = env(&name).filter(|value| !(is_usual && value.is_empty())) {
                    values.insert(setting.key, (value, ValueSource::Env(name)));
                }
            }
        }
        for (key, value) in flags {
            if let Some(value) = value {
                let known = values.get_mut(key).with_context(|| format!("unknown setting {key}"))?;
                *known = (value.clone(), ValueSource::Flag);
            }
        }
        Ok(Self(values))
    }

    /// The same in the form that the program uses; the first value that is wrong is named.
    pub fn parse(&self) -> anyhow::Result<Settings> {
        let settings = Settings::read(self)?;
        let (least, bodies_bytes) = (2 * BODY_BYTES_MAX, &settings.http.bodies_bytes);
        if **bodies_bytes < least {
            let Sourced { key, source, .. } = bodies_bytes;
            bail!("{key} must be at least {least}, so that the largest body fits (from {source})");
        }
        Ok(settings)
    }

    /// All of them, for `novelo config`; secrets are masked.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Cow<'_, str>, &ValueSource)> {
        self.0.iter().filter_map(|(key, (value, source))| {
            let setting = SETTINGS.iter().find(|setting| setting.key == *key)?;
            Some((*key, setting.shown(value), source))
        })
    }

    fn read<T: SettingValue>(&self, key: &'static str) -> anyhow::Result<T> {
        let (text, source) = self.0.get(key).expect("the registry made both forms");
        T::read(&RawValue { key, text, source })
            .with_context(|| format!("{key} must {}, not {:?} (from {source})", T::MUST, without_password(text)))
    }
}

impl Default for Settings {
    /// The settings that nobody changed.
    fn default() -> Self {
        RawSettings::default().parse().expect("the tests read every default")
    }
}

impl Settings {
    /// Gathers and reads the settings.
    pub fn gather(
        file: Option<&Path>,
        env: impl Fn(&str) -> Option<String>,
        flags: &[(&'static str, Option<String>)],
    ) -> anyhow::Result<Self> {
        RawSettings::gather(file, env, flags)?.parse()
    }

    /// The defaults with nothing on disk: documents in memory, no sample and no database.
    pub fn in_memory() -> Self {
        let ask = AskSettings { database: AskDatabase::None, catalogue: AskCatalogue::Fiis };
        Self { store: StoreKind::Memory, sample: false, ask, ..Self::default() }
    }

    /// Whether documents are kept where several nodes have them.
    pub fn is_shared(&self) -> bool {
        self.store == StoreKind::Redis
    }

    /// Where other nodes reach this one, which listens here; none where that is every address and no other is
    /// set.
    pub fn node_url(&self, listens: SocketAddr) -> Option<String> {
        let set = self.node.url.as_ref().map(|url| url.to_string());
        set.or_else(|| (!listens.ip().is_unspecified()).then(|| format!("http://{listens}")))
    }
}

/// An address as anybody may see it. A password may hold any mark, so that all before the last `@` is taken
/// for one.
pub fn without_password(url: &str) -> Cow<'_, str> {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    match (rest.rsplit_once('@'), scheme) {
        (None, _) => url.into(),
        (Some((_, host)), "") => format!("***@{host}").into(),
        (Some((_, host)), scheme) => format!("{scheme}://***@{host}").into(),
    }
}

/// Whether an address names whom to log in as, which `serve` refuses, and nobody should read.
fn holds_password(value: &str) -> bool {
    value.split_once("://").is_some_and(|(_, rest)| rest.split('/').next().is_some_and(|host| host.contains('@')))
}

fn read_file(asked: Option<&Path>) -> anyhow::Result<Vec<(&'static str, String, ValueSource)>> {
    let path = asked.unwrap_or(Path::new("novelo.toml"));
    if asked.is_none() && !path.exists() {
        return Ok(Vec::new());
    }
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let table: toml::Table = text.parse().with_context(|| format!("{} is not TOML", path.display()))?;
    let mut flat = Vec::new();
    flatten("", &table, &mut flat);
    flat.into_iter()
        .map(|(key, value)| {
            let known = SETTINGS.iter().find(|s| s.key == key).ok_or_else(|| unknown(path, &key))?;
            Ok((known.key, value, ValueSource::File(path.to_owned())))
        })
        .collect()
}

fn flatten(prefix: &str, table: &toml::Table, out: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, out),
            toml::Value::String(text) => out.push((key, text.clone())),
            toml::Value::Array(items) => {
                let texts = items.iter().map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned));
                out.push((key, texts.collect::<Vec<_>>().join(",")));
            }
            other => out.push((key, other.to_string())),
        }
    }
}

fn unknown(path: &Path, key: &str) -> anyhow::Error {
    let known: Vec<&str> = SETTINGS.iter().map(|s| s.key).collect();
    let hint = nearest(key, &known).map(|near| format!("\nhint: did you mean {near}?")).unwrap_or_default();
    anyhow::anyhow!("{}: unknown setting {key}{hint}", path.display())
}

impl std::fmt::Display for ValueSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Env(name) => f.write_str(name),
            Self::Flag => f.write_str("flag"),
        }
    }
}

#[cfg(test)]
mod tests;
