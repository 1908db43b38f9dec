//! The types that a setting may have, and how each is read from text.

use std::fmt;
use std::net::SocketAddr;
use std::ops::Deref;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;

use super::{ValueSource, without_password};

/// The text of a setting, before it is read.
pub struct RawValue<'a> {
    pub(super) key: &'static str,
    pub(super) text: &'a str,
    pub(super) source: &'a ValueSource,
}

/// A type that a setting may have.
pub trait SettingValue: Sized {
    /// What a value must do, behind "KEY must".
    const MUST: &'static str;

    /// Reads a value, if it has the right form.
    fn read(raw: &RawValue<'_>) -> Option<Self>;
}

macro_rules! parsed {
    ($($type:ty: $must:literal),* $(,)?) => {$(
        impl SettingValue for $type {
            const MUST: &'static str = $must;

            fn read(raw: &RawValue<'_>) -> Option<Self> {
                raw.text.parse().ok()
            }
        }
    )*};
}

parsed! {
    u64: "be a whole number",
    usize: "be a whole number",
    std::num::NonZeroU64: "be at least 1",
    bool: "be true or false",
    SocketAddr: "be an address such as 127.0.0.1:7420",
    PathBuf: "be a path",
    String: "be text",
}

/// The end of the key says the unit.
impl SettingValue for Duration {
    const MUST: &'static str = "be a whole number";

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        let count = raw.text.parse().ok()?;
        Some(if raw.key.ends_with("_ms") { Self::from_millis(count) } else { Self::from_secs(count) })
    }
}

macro_rules! none_where_default {
    ($($type:ty),*) => {$(
        /// 0, or an empty text, is none.
        impl SettingValue for Option<$type> {
            const MUST: &'static str = <$type>::MUST;

            fn read(raw: &RawValue<'_>) -> Option<Self> {
                <$type>::read(raw).map(|value| Some(value).filter(|value| *value != <$type>::default()))
            }
        }
    )*};
}

none_where_default!(u64, Duration, String, NodeUrl);

/// Several, with commas between them.
impl SettingValue for Vec<String> {
    const MUST: &'static str = "be a list";

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        let items = raw.text.split(',').map(str::trim).filter(|item| !item.is_empty());
        Some(items.map(str::to_owned).collect())
    }
}

/// A value that knows what it is called and where it comes from, for those who check it or fall back.
#[derive(Debug, Clone)]
pub struct Sourced<T> {
    /// The name of the setting.
    pub key: &'static str,
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: ValueSource,
}

impl<T: SettingValue> SettingValue for Sourced<T> {
    const MUST: &'static str = T::MUST;

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        T::read(raw).map(|value| Self { key: raw.key, value, source: raw.source.clone() })
    }
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl Sourced<Vec<String>> {
    /// The entries, each read; `kind` is what each must be.
    pub fn each<T>(&self, kind: &str, read: impl Fn(&str) -> Option<T>) -> anyhow::Result<Vec<T>> {
        let Self { key, value, source } = self;
        let wrong =
            |item: &str| format!("{key} must hold {kind}, with commas between several, not {item:?} (from {source})");
        value.iter().map(|item| read(item).with_context(|| wrong(item))).collect()
    }
}

macro_rules! choices {
    ($($(#[$about:meta])* $Choice:ident { $First:ident = $first:literal $(, $Next:ident = $next:literal)* })*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $Choice {
            #[doc = concat!("`", $first, "`.")]
            $First
            $(, #[doc = concat!("`", $next, "`.")] $Next)*
        }

        impl $Choice {
            /// As it is written in the settings.
            pub fn name(self) -> &'static str {
                match self { Self::$First => $first $(, Self::$Next => $next)* }
            }
        }

        impl SettingValue for $Choice {
            const MUST: &'static str = concat!("be one of ", $first $(, ", ", $next)*);

            fn read(raw: &RawValue<'_>) -> Option<Self> {
                [Self::$First $(, Self::$Next)*].into_iter().find(|choice| choice.name() == raw.text)
            }
        }
    )*};
}

choices! {
    /// Where documents are kept.
    StoreKind { Local = "local", Memory = "memory", Redis = "redis" }
    /// Where passages are searched by meaning.
    IndexKind { Local = "local", Qdrant = "qdrant" }
    /// Whether later memories replace earlier ones by rules.
    SupersedeKind { Rules = "rules", Off = "off" }
    /// What an acknowledged write survives.
    Durability { Full = "full", Relaxed = "relaxed" }
    /// Where embeddings come from.
    EmbedKind { None = "none", Local = "local", OpenAi = "openai" }
    /// The thread of chat completions that name none.
    DefaultThread { None = "none", User = "user" }
    /// The shipped catalogue of `/ask`.
    AskCatalogue { Fiis = "fiis", Library = "library" }
    /// The least serious lines that are logged.
    LogLevel { Error = "error", Warn = "warn", Info = "info", Debug = "debug", Trace = "trace" }
    /// How a line of the log looks.
    LogFormat { Text = "text", Json = "json" }
}

/// The database that `/ask` answers from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskDatabase {
    /// The shipped sample.
    Sample,
    /// None: `/ask` is off.
    None,
    /// A SQLite file.
    File(PathBuf),
}

impl SettingValue for AskDatabase {
    const MUST: &'static str = "be sample, none or a path";

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        Some(match raw.text {
            "sample" => Self::Sample,
            "none" => Self::None,
            path => Self::File(path.into()),
        })
    }
}

/// The file that records what was forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetsFile {
    /// Beside the data directory, with its name and `.forgets`.
    Beside,
    /// Nothing is recorded.
    None,
    /// This file.
    File(PathBuf),
}

impl SettingValue for ForgetsFile {
    const MUST: &'static str = "be empty, none or a path";

    fn read(raw: &RawValue<'_>) -> Option<Self> {
        Some(match raw.text {
            "" => Self::Beside,
            "none" => Self::None,
            path => Self::File(path.into()),
        })
    }
}

macro_rules! texts {
    ($($(#[$about:meta])* $Text:ident: $must:literal, $is_right:expr, $shown:expr;)*) => {$(
        $(#[$about])*
        #[derive(Clone, Default, PartialEq, Eq)]
        pub struct $Text(String);

        impl SettingValue for $Text {
            const MUST: &'static str = $must;

            fn read(raw: &RawValue<'_>) -> Option<Self> {
                let is_right: fn(&str) -> bool = $is_right;
                is_right(raw.text).then(|| Self(raw.text.to_owned()))
            }
        }

        impl Deref for $Text {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $Text {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        /// Shows no secret.
        impl fmt::Debug for $Text {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let shown: fn(&str) -> std::borrow::Cow<'_, str> = $shown;
                f.write_str(&shown(&self.0))
            }
        }
    )*};
}

texts! {
    /// A key that only its server may read.
    Secret: "be text", |_| true, |text| if text.is_empty() { "" } else { "***" }.into();
    /// A base address, which is checked by its user.
    BaseUrl: "be an address", |_| true, without_password;
    /// The address of a web server.
    HttpUrl: "begin with http:// or https://", |text| begins_with(text, &["http://", "https://"]), without_password;
    /// One or several Redis servers.
    RedisUrl: "begin with redis:// or rediss://", |text| begins_with(text, &["redis://", "rediss://"]),
        without_password;
    /// Where other nodes reach this one; empty where it is not set.
    NodeUrl: "be http://HOST:PORT", is_node_url, without_password;
}

fn begins_with(text: &str, schemes: &[&str]) -> bool {
    schemes.iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme))
}

/// Requests are passed on to it with their own paths, so that it has none.
fn is_node_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let is_bare = |host: &str| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']);
    text.is_empty() || rest.is_some_and(is_bare)
}
