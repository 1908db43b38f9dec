//! The table of all settings, and the structs that it makes. A new setting is one row.
//!
//! A row is `field: Type = default, about;` in the block of its prefix. The key is the prefix and the field,
//! or the name in parentheses where the field leaves out its unit. `or` names variables of other programs.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use super::*;

/// What a key is called behind its prefix.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

macro_rules! settings {
    (
        Settings {$(
            $field:ident: $type:ty = $default:literal $(or $usual:literal)*, $about:literal;
        )*}
        models: $Models:ident of $Model:ident {$($job:ident {$(
            $part:ident $(($part_key:literal))? = $part_default:literal $(or $part_usual:literal)*, $part_about:literal;
        )*})*}
        $($group:ident: $Group:ident {$(
            $inner:ident $(($inner_key:literal))?: $inner_type:ty
                = $inner_default:literal $(or $inner_usual:literal)*, $inner_about:literal;
        )*})*
    ) => {
        /// Every setting, as it is documented.
        pub const SETTINGS: &[Setting] = &[
            $(Setting {
                key: stringify!($field), default: $default, about: $about, usual: [$($usual),*].as_slice(),
            },)*
            $($(Setting {
                key: concat!(stringify!($group), ".", key!($inner $($inner_key)?)),
                default: $inner_default, about: $inner_about, usual: [$($inner_usual),*].as_slice(),
            },)*)*
            $($(Setting {
                key: concat!("models.", stringify!($job), ".", key!($part $($part_key)?)),
                default: $part_default, about: $part_about, usual: [$($part_usual),*].as_slice(),
            },)*)*
        ];

        /// The values in force. `Settings::default()` has the defaults, for a program that sets a few itself.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $(#[doc = $about] pub $field: $type,)*
            $(#[doc = concat!("The settings below `", stringify!($group), "`.")] pub $group: $Group,)*
            /// The model of each job.
            pub models: $Models,
        }

        $(
            #[doc = concat!("The settings below `", stringify!($group), "`.")]
            #[derive(Debug, Clone)]
            pub struct $Group {
                $(#[doc = $inner_about] pub $inner: $inner_type,)*
            }
        )*

        /// The model of each job.
        #[derive(Debug, Clone)]
        pub struct $Models {
            $(#[doc = concat!("The model of the job `", stringify!($job), "`.")] pub $job: $Model,)*
        }

        impl Settings {
            pub(super) fn read(raw: &RawSettings) -> anyhow::Result<Self> {
                Ok(Self {
                    $($field: raw.read(stringify!($field))?,)*
                    $($group: $Group {
                        $($inner: raw.read(concat!(stringify!($group), ".", key!($inner $($inner_key)?)))?,)*
                    },)*
                    models: $Models {
                        $($job: $Model {$(
                            $part: raw.read(concat!("models.", stringify!($job), ".", key!($part $($part_key)?)))?,
                        )*},)*
                    },
                })
            }
        }
    };
}

/// Where the model of a job is, and how it is used.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    /// The base address of the server.
    pub url: Sourced<BaseUrl>,
    /// The key for the server.
    pub key: Sourced<Secret>,
    /// The name of the model.
    pub model: Sourced<String>,
    /// The longest prompt and answer together, in tokens.
    pub window_tokens: u64,
    /// How long its server may keep silent, or a whole answer may take.
    pub timeout: Duration,
}

settings! {
    Settings {
        addr: SocketAddr = "127.0.0.1:7420", "address to listen on; other than loopback needs a key";
        data: PathBuf = "./novelo-data", "directory of the embedded store";
        store: StoreKind = "local", "where documents are kept: local (the data directory), memory (gone at the end), or redis (shared by several nodes)";
        policies: PathBuf = "./policies", "directory of files that add to the shipped ones and override them: presets, prompts, context.yaml, ontology.yaml, param_inference.yaml, entities, eco";
        sample: bool = "true", "put the sample thread into a new data directory";
        durability: Durability = "full", "full: an acknowledged write survives power loss; relaxed: it survives a crash of the process";
        hot_bytes: usize = "67108864", "memory for hot threads";
        index_bytes: usize = "268435456", "memory for the search indexes of users; the largest in use stays whatever it takes";
        free_bytes_min: u64 = "33554432", "free disk space below which writes are refused";
        embed: EmbedKind = "none", "where embeddings come from: none, local (a directory), or openai (any server of that form)";
        index: IndexKind = "local", "where passages are searched by meaning: local (in this process), or qdrant";
    }
    models: JobModels of ModelSettings {
        answer {
            url = "" or "OLLAMA_HOST" or "OPENAI_BASE_URL", "base address of the model server that answers; empty: OpenAI's where models.answer.key is set, else none; none: none";
            key = "" or "OPENAI_API_KEY", "key for it";
            model = "", "model that answers; empty: gpt-4o-mini at OpenAI, elsewhere the first that the server lists";
            window_tokens = "0", "tokens that the model sees at once; 0: what its server says";
            timeout ("timeout_ms") = "60000", "how long the model may keep silent, before its first word and between two";
        }
        rewrite {
            url = "", "model server that makes follow-ups standalone; empty: that of models.answer; none: rules alone";
            key = "", "key for it; empty: that of models.answer where the address is the same";
            model = "gpt-4o-mini", "model for it; where this is not set and the server is not OpenAI's, as models.summary.model";
            window_tokens = "0", "as models.answer.window_tokens";
            timeout ("timeout_ms") = "2000", "how long a rewrite may take in all; then the rules take over";
        }
        summary {
            url = "", "model server that sums up; empty: that of models.answer; none: summaries are extracted";
            key = "", "as models.rewrite.key";
            model = "", "model for it; empty: that of models.answer where the address is the same, else as there";
            window_tokens = "0", "as models.answer.window_tokens";
            timeout ("timeout_ms") = "30000", "how long a summary may take in all; then it is extracted";
        }
        narrate {
            url = "", "model server that puts data into words; empty: that of models.answer; none: none";
            key = "", "as models.rewrite.key";
            model = "", "as models.summary.model";
            window_tokens = "0", "as models.answer.window_tokens";
            timeout ("timeout_ms") = "20000", "how long a narration may take in all; then the plain answer stands";
        }
    }
    redis: RedisSettings {
        url: Sourced<RedisUrl> = "redis://127.0.0.1:6379" or "REDIS_URL", "Redis server or cluster for store = redis: redis://[USER:PASSWORD@]HOST[:PORT][/DB], several with commas; rediss:// for TLS";
        prefix: String = "", "put before every key there";
        timeout ("timeout_ms"): Duration = "2000", "how long one answer of it may take; then the request is refused with 503";
        allow_eviction: bool = "false", "true: start also where Redis drops documents when its memory is short (maxmemory-policy other than noeviction)";
    }
    node: NodeSettings {
        url: Option<NodeUrl> = "", "address at which other nodes of the same store reach this one; empty: http:// and addr, where that names an address";
    }
    http: HttpSettings {
        hosts: Sourced<Vec<String>> = "", "names under which a server without keys may be reached beside its own address: HOST or HOST:PORT, several with commas";
        origins: Sourced<Vec<String>> = "", "pages of other sites that may call this server: http://HOST[:PORT] or https://HOST[:PORT], several with commas; in a browser they may read /ask-eco and its traces";
        bodies_bytes: Sourced<usize> = "268435456", "memory for the bodies of all requests together, at least 32 MiB; beyond it requests are refused with 503";
    }
    forgets: ForgetsSettings {
        file: ForgetsFile = "", "file beside the data directory that records what was forgotten, for a restore; empty: the name of the directory and .forgets; none: no file";
    }
    threads: ThreadSettings {
        turns_max: Option<u64> = "0", "keep only the last n turns of each thread; 0 keeps all";
        ttl ("ttl_seconds"): Option<Duration> = "0", "forget turns this long after their time, and chains and conversations this long after their last turn; 0 never";
    }
    traces: TraceSettings {
        ttl ("ttl_seconds"): Option<Duration> = "604800", "forget traces after this long; 0 never";
    }
    memory: MemorySettings {
        short_max: usize = "100", "newest memories that the level short holds";
        medium_max: usize = "500", "newest memories that the level medium holds";
        short_term_window: NonZeroU64 = "10", "newest messages that a memory context shows";
        summary_threshold_messages: u64 = "20", "messages of a thread after which those before the window are summed up";
        summary_chars: usize = "1200", "characters of a summary that is made here";
        supersede: SupersedeKind = "rules", "how a later memory or turn replaces an earlier one: rules (and what callers say), or off (only what callers say)";
        task_ttl ("task_ttl_seconds"): Option<Duration> = "86400", "forget the results of a task after this long; 0 never";
    }
    load: LoadSettings {
        timeout ("timeout_ms"): Option<Duration> = "3000", "how long each search for a prompt may take; then the prompt goes without, and says so; 0: no limit";
    }
    replies: ReplySettings {
        patience ("patience_ms"): Duration = "5000", "how long a streamed answer goes on without a reader, so that it can be resumed";
    }
    embedding: EmbeddingSettings {
        dir: PathBuf = "./models/all-MiniLM-L6-v2", "sentence-transformers directory for embed = local";
        url: BaseUrl = "https://api.openai.com/v1" or "OPENAI_BASE_URL", "base address for embed = openai; /embeddings is added";
        key: Secret = "" or "OPENAI_API_KEY", "key for it";
        model: String = "text-embedding-3-small", "model for it";
        timeout ("timeout_ms"): Duration = "2000", "how long a question waits for its embedding; then the search is lexical";
    }
    qdrant: QdrantSettings {
        url: HttpUrl = "http://127.0.0.1:6333" or "QDRANT_URL", "base address of the Qdrant server for index = qdrant";
        key: Secret = "" or "QDRANT_API_KEY", "key for it";
        prefix: String = "", "put before the names of its collections, so that several stores can share a server";
        timeout ("timeout_ms"): Duration = "1000", "how long a search waits for it; then the search is lexical";
    }
    completions: CompletionsSettings {
        default_thread: DefaultThread = "none", "the thread of /v1/chat/completions for callers that name none: none, or user (one for each user; without a user none)";
    }
    ask: AskSettings {
        database: AskDatabase = "sample", "what /ask answers from: sample (made up), none, or a SQLite file, which is opened read-only";
        catalogue: AskCatalogue = "fiis", "the shipped catalogue of /ask, which files of the policy directory override: fiis (Brazilian funds, in Portuguese) or library (a town library, in English); sample is its data";
    }
    eco: EcoSettings {
        locale: String = "pt-BR", "whose help lines /ask-eco gives in a crisis: one that policies/eco/safety.yaml has";
        cache ("cache_seconds"): Option<Duration> = "60", "how long the same conversation is answered as before; 0 never";
        guest_max: Sourced<u64> = "20", "messages of one guest in a window; 0: any number";
        address_max: Sourced<u64> = "100", "messages of guests from one address in a window; 0: any number";
        guest_window ("guest_window_seconds"): Duration = "3600", "how long that window is";
        address_header: Option<String> = "", "header in which a proxy says who asks, such as X-Forwarded-For; empty: the address of the connection";
    }
    log: LogSettings {
        level: LogLevel = "info", "error, warn, info, debug or trace";
        format: LogFormat = "text", "text or json";
    }
}
