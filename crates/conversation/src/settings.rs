//! Settings: where each comes from, and what is in force.
//!
//! Owns one registry that feeds the file, the environment, `novelo config` and the docs. A flag beats the
//! environment, which beats the file, which beats the default. An unknown key is an error that names the
//! nearest known one.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use novelo_engine::decode::nearest;
use novelo_engine::limits::BODY_BYTES_MAX;

/// One setting, as it is documented.
pub struct Setting {
    pub key: &'static str,
    pub default: &'static str,
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

    /// Whether only its presence is anyone's business.
    pub fn is_secret(&self) -> bool {
        self.key.ends_with(".key")
    }
}

macro_rules! settings {
    ($($key:literal = $default:literal $(or $usual:literal)*, $about:literal;)*) => {
        pub const SETTINGS: &[Setting] = &[$(Setting {
            key: $key, default: $default, about: $about, usual: [$($usual),*].as_slice(),
        }),*];
    };
}

settings! {
    "addr" = "127.0.0.1:7420", "address to listen on; other than loopback needs a key";
    "data" = "./novelo-data", "directory of the embedded store";
    "store" = "local", "where documents are kept: local (the data directory), memory (gone at the end), or redis (shared by several nodes)";
    "redis.url" = "redis://127.0.0.1:6379" or "REDIS_URL", "Redis server or cluster for store = redis: redis://[USER:PASSWORD@]HOST[:PORT][/DB], several with commas; rediss:// for TLS";
    "redis.prefix" = "", "put before every key there";
    "redis.timeout_ms" = "2000", "how long one answer of it may take; then the request is refused with 503";
    "redis.allow_eviction" = "false", "true: start also where Redis drops documents when its memory is short (maxmemory-policy other than noeviction)";
    "node.url" = "", "address at which other nodes of the same store reach this one; empty: http:// and addr, where that names an address";
    "http.hosts" = "", "names under which a server without keys may be reached beside its own address: HOST or HOST:PORT, several with commas";
    "http.origins" = "", "pages that may call a server without keys beside its own: http://HOST[:PORT] or https://HOST[:PORT], several with commas";
    "forgets.file" = "", "file beside the data directory that records what was forgotten, for a restore; empty: the name of the directory and .forgets; none: no file";
    "policies" = "./policies", "directory of files that add to the shipped ones and override them: presets, prompts, context.yaml, ontology.yaml, param_inference.yaml, entities, eco";
    "http.bodies_bytes" = "268435456", "memory for the bodies of all requests together, at least 32 MiB; beyond it requests are refused with 503";
    "sample" = "true", "put the sample thread into a new data directory";
    "durability" = "full", "full: an acknowledged write survives power loss; relaxed: it survives a crash of the process";
    "hot_bytes" = "67108864", "memory for hot threads";
    "index_bytes" = "268435456", "memory for the search indexes of users; the largest in use stays whatever it takes";
    "free_bytes_min" = "33554432", "free disk space below which writes are refused";
    "threads.turns_max" = "0", "keep only the last n turns of each thread; 0 keeps all";
    "threads.ttl_seconds" = "0", "forget turns this long after their time; 0 never";
    "traces.ttl_seconds" = "604800", "forget traces after this long; 0 never";
    "memory.short_max" = "100", "newest memories that the level short holds";
    "memory.medium_max" = "500", "newest memories that the level medium holds";
    "memory.short_term_window" = "10", "newest messages that a memory context shows";
    "memory.summary_threshold_messages" = "20", "messages of a thread after which those before the window are summed up";
    "load.timeout_ms" = "3000", "how long each search for a prompt may take; then the prompt goes without, and says so; 0: no limit";
    "replies.patience_ms" = "5000", "how long a streamed answer goes on without a reader, so that it can be resumed";
    "embed" = "none", "where embeddings come from: none, local (a directory), or openai (any server of that form)";
    "embedding.dir" = "./models/all-MiniLM-L6-v2", "sentence-transformers directory for embed = local";
    "embedding.url" = "https://api.openai.com/v1" or "OPENAI_BASE_URL", "base address for embed = openai; /embeddings is added";
    "embedding.key" = "" or "OPENAI_API_KEY", "key for it";
    "embedding.model" = "text-embedding-3-small", "model for it";
    "embedding.timeout_ms" = "2000", "how long a question waits for its embedding; then the search is lexical";
    "index" = "local", "where passages are searched by meaning: local (in this process), or qdrant";
    "qdrant.url" = "http://127.0.0.1:6333" or "QDRANT_URL", "base address of the Qdrant server for index = qdrant";
    "qdrant.key" = "" or "QDRANT_API_KEY", "key for it";
    "qdrant.prefix" = "", "put before the names of its collections, so that several stores can share a server";
    "qdrant.timeout_ms" = "1000", "how long a search waits for it; then the search is lexical";
    "completions.default_thread" = "none", "the thread of /v1/chat/completions for callers that name none: none, or user (one for each user; without a user none)";
    "models.answer.url" = "" or "OLLAMA_HOST" or "OPENAI_BASE_URL", "base address of the model server that answers; empty: OpenAI's where models.answer.key is set, else none; none: none";
    "models.answer.key" = "" or "OPENAI_API_KEY", "key for it";
    "models.answer.model" = "", "model that answers; empty: gpt-4o-mini at OpenAI, elsewhere the first that the server lists";
    "models.answer.window_tokens" = "0", "tokens that the model sees at once; 0: what its server says";
    "models.answer.timeout_ms" = "60000", "how long the model may keep silent, before its first word and between two";
    "models.rewrite.url" = "", "model server that makes follow-ups standalone; empty: that of models.answer; none: rules alone";
    "models.rewrite.key" = "", "key for it; empty: that of models.answer where the address is the same";
    "models.rewrite.model" = "gpt-4o-mini", "model for it; where this is not set and the server is not OpenAI's, as models.summary.model";
    "models.rewrite.window_tokens" = "0", "as models.answer.window_tokens";
    "models.rewrite.timeout_ms" = "2000", "how long a rewrite may take in all; then the rules take over";
    "models.summary.url" = "", "model server that sums up; empty: that of models.answer; none: summaries are extracted";
    "models.summary.key" = "", "as models.rewrite.key";
    "models.summary.model" = "", "model for it; empty: that of models.answer where the address is the same, else as there";
    "models.summary.window_tokens" = "0", "as models.answer.window_tokens";
    "models.summary.timeout_ms" = "30000", "how long a summary may take in all; then it is extracted";
    "models.narrate.url" = "", "model server that puts data into words; empty: that of models.answer; none: none";
    "models.narrate.key" = "", "as models.rewrite.key";
    "models.narrate.model" = "", "as models.summary.model";
    "models.narrate.window_tokens" = "0", "as models.answer.window_tokens";
    "models.narrate.timeout_ms" = "20000", "how long a narration may take in all; then the plain answer stands";
    "memory.summary_chars" = "1200", "characters of a summary that is made here";
    "memory.task_ttl_seconds" = "86400", "forget the results of a task after this long; 0 never";
    "ask.database" = "sample", "what /ask answers from: sample (made up), none, or a SQLite file, which is opened read-only";
    "eco.locale" = "pt-BR", "whose help lines /ask-eco gives in a crisis: one that policies/eco/safety.yaml has";
    "eco.cache_seconds" = "60", "how long the same conversation is answered as before; 0 never";
    "eco.guest_max" = "20", "messages of one guest in a window; 0: any number";
    "eco.address_max" = "100", "messages of guests from one address in a window; 0: any number";
    "eco.guest_window_seconds" = "3600", "how long that window is";
    "eco.address_header" = "", "header in which a proxy says who asks, such as X-Forwarded-For; empty: the address of the connection";
    "log.level" = "info", "error, warn, info, debug or trace";
    "log.format" = "text", "text or json";
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    File(PathBuf),
    Env(String),
    Flag,
}

/// The values in force.
#[derive(Debug, Clone)]
pub struct Config {
    values: BTreeMap<&'static str, (String, Source)>,
}

impl Config {
    /// Gathers the settings. `file` was asked for and must be there; without it, `novelo.toml` is read if it
    /// is there.
    pub fn gather(
        file: Option<&Path>,
        env: impl Fn(&str) -> Option<String>,
        flags: &[(&'static str, Option<String>)],
    ) -> anyhow::Result<Self> {
        let mut values: BTreeMap<_, _> =
            SETTINGS.iter().map(|s| (s.key, (s.default.to_owned(), Source::Default))).collect();
        for (key, value, source) in read_file(file)? {
            values.insert(key, (value, source));
        }
        for setting in SETTINGS {
            for name in setting.env_names() {
                // An empty variable of other programs means that there is none.
                let is_usual = setting.usual.contains(&name.as_str());
                if let Some(value) = env(&name).filter(|value| !(is_usual && value.is_empty())) {
                    values.insert(setting.key, (value, Source::Env(name)));
                }
            }
        }
        for (key, value) in flags {
            if let Some(value) = value {
                values.insert(key, (value.clone(), Source::Flag));
            }
        }
        let config = Self { values };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> anyhow::Result<()> {
        self.read::<std::net::SocketAddr>("addr", "an address such as 127.0.0.1:7420")?;
        for setting in SETTINGS.iter().filter(|setting| setting.default.parse::<u64>().is_ok()) {
            self.read::<u64>(setting.key, "a whole number")?;
        }
        if self.number("http.bodies_bytes") < 2 * BODY_BYTES_MAX as u64 {
            let (least, source) = (2 * BODY_BYTES_MAX, &self.entry("http.bodies_bytes").1);
            bail!("http.bodies_bytes must be at least {least}, so that the largest body fits (from {source})");
        }
        if self.number("memory.short_term_window") == 0 {
            bail!("memory.short_term_window must be at least 1 (from {})", self.entry("memory.short_term_window").1);
        }
        self.read::<bool>("sample", "true or false")?;
        self.read::<bool>("redis.allow_eviction", "true or false")?;
        self.one_of("embed", &["none", "local", "openai"])?;
        self.one_of("store", &["local", "memory", "redis"])?;
        self.one_of("index", &["local", "qdrant"])?;
        self.begins_with("redis.url", &["redis://", "rediss://"])?;
        self.begins_with("qdrant.url", &["http://", "https://"])?;
        self.check_node_url()?;
        self.one_of("durability", &["full", "relaxed"])?;
        self.one_of("completions.default_thread", &["none", "user"])?;
        self.one_of("log.level", &["error", "warn", "info", "debug", "trace"])?;
        self.one_of("log.format", &["text", "json"])
    }

    fn read<T: FromStr>(&self, key: &str, kind: &str) -> anyhow::Result<T> {
        let (value, source) = self.entry(key);
        value.parse().ok().with_context(|| format!("{key} must be {kind}, not {value:?} (from {source})"))
    }

    fn one_of(&self, key: &str, known: &[&str]) -> anyhow::Result<()> {
        let (value, source) = self.entry(key);
        match known.contains(&value.as_str()) {
            true => Ok(()),
            false => bail!("{key} must be one of {}, not {value:?} (from {source})", known.join(", ")),
        }
    }

    fn begins_with(&self, key: &str, known: &[&str]) -> anyhow::Result<()> {
        let (value, source) = self.entry(key);
        match known.iter().any(|scheme| value.len() > scheme.len() && value.starts_with(scheme)) {
            true => Ok(()),
            false => {
                bail!("{key} must begin with {}, not {:?} (from {source})", known.join(" or "), without_password(value))
            }
        }
    }

    /// Requests are passed on to it with their own paths, so that it has none.
    fn check_node_url(&self) -> anyhow::Result<()> {
        let (value, source) = self.entry("node.url");
        let rest = value.strip_prefix("http://").or_else(|| value.strip_prefix("https://"));
        let is_bare = |host: &str| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
        match value.is_empty() || rest.is_some_and(is_bare) {
            true => Ok(()),
            false => bail!("node.url must be http://HOST:PORT, not {:?} (from {source})", without_password(value)),
        }
    }

    fn entry(&self, key: &str) -> &(String, Source) {
        self.values.get(key).expect("code asks for settings of the registry only")
    }

    pub fn text(&self, key: &str) -> &str {
        &self.entry(key).0
    }

    /// The entries of a setting that holds several, each read; `kind` is what each must be.
    pub fn listed<T>(&self, key: &str, kind: &str, read: impl Fn(&str) -> Option<T>) -> anyhow::Result<Vec<T>> {
        let (value, source) = self.entry(key);
        let items = value.split(',').map(str::trim).filter(|item| !item.is_empty());
        let wrong =
            |item: &str| format!("{key} must hold {kind}, with commas between several, not {item:?} (from {source})");
        items.map(|item| read(item).with_context(|| wrong(item))).collect()
    }

    /// Where a value comes from.
    pub fn source(&self, key: &str) -> &Source {
        &self.entry(key).1
    }

    /// A number that `check` has accepted.
    pub fn number(&self, key: &str) -> u64 {
        self.text(key).parse().expect("numbers were checked when they were gathered")
    }

    pub fn addr(&self) -> std::net::SocketAddr {
        self.text("addr").parse().expect("the address was checked when it was gathered")
    }

    pub fn data(&self) -> PathBuf {
        self.text("data").into()
    }

    /// Whether documents are kept where several nodes have them.
    pub fn is_shared(&self) -> bool {
        self.text("store") == "redis"
    }

    /// Where other nodes reach this one, which listens here; none where that is every address and no other is
    /// set.
    pub fn node_url(&self, listens: std::net::SocketAddr) -> Option<String> {
        let set = Some(self.text("node.url")).filter(|url| !url.is_empty()).map(str::to_owned);
        set.or_else(|| (!listens.ip().is_unspecified()).then(|| format!("http://{listens}")))
    }

    /// All of them, for `novelo config`; secrets are masked.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, Cow<'_, str>, &Source)> {
        let secret = |key: &str| SETTINGS.iter().any(|setting| setting.key == key && setting.is_secret());
        self.values.iter().map(move |(key, (value, source))| {
            let shown = match *key {
                "redis.url" => without_password(value),
                _ if (secret(key) && !value.is_empty()) || holds_password(value) => "***".into(),
                _ => value.into(),
            };
            (*key, shown, source)
        })
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

fn read_file(asked: Option<&Path>) -> anyhow::Result<Vec<(&'static str, String, Source)>> {
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
            Ok((known.key, value, Source::File(path.to_owned())))
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

impl std::fmt::Display for Source {
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
mod tests {
    use super::*;

    fn gather(file: &str, env: &[(&str, &str)], flag: Option<&str>) -> anyhow::Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("novelo.toml");
        std::fs::write(&path, file).unwrap();
        let env = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
        Config::gather(Some(&path), env, &[("data", flag.map(str::to_owned))])
    }

    #[test]
    fn flag_beats_env_beats_file_beats_default() {
        let file = "data = \"file\"\n[threads]\nturns_max = 7\n";
        assert_eq!(gather("", &[], None).unwrap().text("data"), "./novelo-data");
        assert_eq!(gather(file, &[], None).unwrap().text("data"), "file");
        assert_eq!(gather(file, &[("NOVELO_DATA", "env")], None).unwrap().text("data"), "env");
        let config = gather(file, &[("NOVELO_DATA", "env")], Some("flag")).unwrap();
        assert_eq!((config.text("data"), config.number("threads.turns_max")), ("flag", 7));
    }

    #[test]
    fn a_list_is_an_array_or_has_commas() {
        let hosts = |file: &str| {
            gather(file, &[], None).unwrap().listed("http.hosts", "a name", |text| text.parse::<u8>().ok())
        };
        assert_eq!(hosts("http.hosts = \"1, 2\"").unwrap(), [1, 2]);
        assert_eq!(hosts("http.hosts = [\"1\", \"2\"]").unwrap(), [1, 2]);
        assert_eq!(hosts("").unwrap(), [0; 0]);
        let error = hosts("http.hosts = \"1,x\"").unwrap_err().to_string();
        assert!(error.starts_with("http.hosts must hold a name") && error.contains("\"x\""), "{error}");
    }

    #[test]
    fn what_is_secret_is_not_shown() {
        let file =
            "[models.answer]\nkey = \"sk\"\nurl = \"http://me:pw@h/v1\"\n[models.rewrite]\nurl = \"http://h/v1@x\"\n";
        let config = gather(file, &[], None).unwrap();
        let shown =
            |key: &str| config.rows().find(|(of, ..)| *of == key).map(|(_, value, _)| value.into_owned()).unwrap();
        assert_eq!(["models.answer.key", "models.answer.url"].map(shown), ["***", "***"]);
        assert_eq!(shown("models.rewrite.url"), "http://h/v1@x");
        assert_eq!(shown("models.rewrite.key"), "");
    }

    #[test]
    fn the_password_of_a_store_is_not_shown() {
        for (url, shown) in [
            ("redis://127.0.0.1:6379", "redis://127.0.0.1:6379"),
            ("redis://:hunter2@h:1/0", "redis://***@h:1/0"),
            ("rediss://me:hun/ter@2@a:1,b:2", "rediss://***@a:1,b:2"),
            ("me:hunter2@h", "***@h"),
        ] {
            assert_eq!(without_password(url), shown, "{url}");
        }
        let config = gather("", &[("REDIS_URL", "redis://me:hunter2@h")], None).unwrap();
        assert_eq!((config.text("store"), config.text("redis.url")), ("local", "redis://me:hunter2@h"));
        assert!(config.rows().all(|(_, value, _)| !value.contains("hunter2")));
        for wrong in ["http://me:hunter2@h", "me:hunter2@h"] {
            let error = gather("", &[("REDIS_URL", wrong)], None).unwrap_err().to_string();
            assert!(error.contains("redis://") && error.contains("REDIS_URL") && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_node_is_reached_where_it_listens_or_where_it_is_said_to_be() {
        let check = |set: &str, listens: &str, url: Option<&str>| {
            let config = gather("", &[("NOVELO_NODE_URL", set)], None).unwrap();
            assert_eq!(config.node_url(listens.parse().unwrap()).as_deref(), url, "{set} {listens}");
        };
        check("", "10.0.0.7:7420", Some("http://10.0.0.7:7420"));
        check("", "[::1]:7420", Some("http://[::1]:7420"));
        check("", "0.0.0.0:7420", None);
        check("", "[::]:7420", None);
        check("https://a.example:1", "0.0.0.0:7420", Some("https://a.example:1"));
        for wrong in ["10.0.0.7:7420", "ftp://x", "http://", "http://x/v1", "http://me:pw@x"] {
            let error = gather("", &[("NOVELO_NODE_URL", wrong)], None).unwrap_err().to_string();
            assert!(error.starts_with("node.url must be") && !error.contains("pw"), "{error}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let error = |file| gather(file, &[], None).unwrap_err().to_string();
        assert!(error("durabilty = \"full\"").ends_with("hint: did you mean durability?"));
        assert!(error("durability = \"some\"").contains("durability must be one of full, relaxed"));
        assert!(error("addr = 7").contains("addr must be an address"));
        assert!(error("= 3").contains("is not TOML"));
        assert!(gather("", &[("NOVELO_HOT_BYTES", "x")], None).unwrap_err().to_string().contains("NOVELO_HOT_BYTES"));
    }
}
