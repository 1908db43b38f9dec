//! What every request shares.
//!
//! Owns the open store, the keys, the presets and the recorder, and the tasks behind them: the writer of traces, the
//! writer of summaries, the sweeper of what has expired, and the one that embeds. `close` ends them all and leaves the
//! store flushed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use novelo_engine::assemble::Mark;
use novelo_store::{LocalOptions, RedisOptions, Store};
use rustc_hash::FxHashMap;
use tokio::task::JoinHandle;

use crate::answer::guide::Guides;
use crate::answer::reply::Replies;
use crate::cache::Cache;
use crate::context::answer::{Answer, Made};
use crate::context::load::Caches;
use crate::data::Data;
use crate::forget::{ForgetLog, PendingErasure};
use crate::model::Models;
use crate::policy::Policies;
use crate::remember::summary::{self, Due};
use crate::search::{Corpus, Embedder, Indexes, Points};
use crate::settings::{Config, without_password};
use crate::storage::eviction::{self, Evictions};
use crate::storage::incomplete;
use crate::telemetry::{Metrics, now};
use crate::trace::record::Recorder;

/// The running application; clones share it.
pub type App = Arc<Shared>;

pub struct Shared {
    pub store: Store,
    pub policies: Policies,
    pub recorder: Recorder,
    pub metrics: Metrics,
    pub caches: Caches,
    pub indexes: Indexes,
    pub models: Models,
    pub replies: Replies,
    /// What this node is called among those that share the store.
    pub node: String,
    pub evictions: Evictions,
    /// What guided replies keep between requests.
    pub guides: Guides,
    /// What questions are answered from by query.
    pub data: Option<Arc<Data>>,
    /// What was forgotten, for restores; and whether the raw files are to be cleaned of single documents.
    pub forgets: ForgetLog,
    pub erasure: PendingErasure,
    /// Threads whose summary may have fallen behind.
    pub due: Due,
    /// Answers that were asked for again, by all that went into them.
    pub made: Cache<(u128, Answer), Made>,
    pub last: LastPrompts,
    pub config: Config,
}

/// The tasks that `close` must end.
pub struct Tasks {
    recorder: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    embedding: JoinHandle<()>,
    summaries: JoinHandle<()>,
}

const MADE_BYTES_MAX: usize = 32 * 1024 * 1024;
const SWEEP_EVERY: Duration = Duration::from_secs(1);
const LOOK_AT_EVICTIONS_TICKS: u32 = 2;

/// Opens the store and starts the tasks.
pub async fn open(config: Config) -> anyhow::Result<(App, Tasks)> {
    let store = open_store(&config, Opens::Complete).await?;
    open_with(config, store).await
}

/// The same with a data directory that is only read.
pub async fn open_read_only(config: Config) -> anyhow::Result<(App, Tasks)> {
    let store = Store::open_read_only(&config.data(), LocalOptions::default()).await?;
    open_with(config, store).await
}

/// The same for a command that fills the store: it may be marked as incomplete.
pub async fn open_to_fill(config: Config) -> anyhow::Result<(App, Tasks)> {
    let store = open_store(&config, Opens::Any).await?;
    open_with(config, store).await
}

/// Whether a store that is still being filled may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    Complete,
    Any,
}

/// Starts the tasks on a store that is open: one of the nodes that share it.
pub async fn open_with(config: Config, store: Store) -> anyhow::Result<(App, Tasks)> {
    let data = Data::open(&config)?;
    let database = data.as_ref().map(|data| data.database.clone());
    let app = Arc::new(Shared {
        policies: Policies::open(config.text("policies").into(), database)?,
        recorder: Recorder::default(),
        metrics: Metrics::default(),
        caches: Caches::default(),
        indexes: Indexes::new(
            config.number("index_bytes") as usize,
            Embedder::open(&config).await,
            Points::open(&config)?,
        ),
        models: Models::open(&config)?,
        replies: Replies::default(),
        node: crate::ids::short(),
        evictions: Evictions::new(&config),
        guides: Guides::default(),
        data,
        forgets: ForgetLog::open(&store, &config).await?,
        erasure: PendingErasure::open(&store).await?,
        due: Due::default(),
        made: Cache::new(MADE_BYTES_MAX),
        last: LastPrompts::default(),
        store,
        config,
    });
    let tasks = Tasks {
        recorder: tokio::spawn(record(app.clone())),
        sweeper: tokio::spawn(sweep(app.clone())),
        embedding: tokio::spawn(embed(app.clone())),
        summaries: tokio::spawn(summary::run(app.clone())),
    };
    Ok((app, tasks))
}

impl Shared {
    /// Tells that turns were added to a thread.
    pub fn touched(&self, user: &str, thread: &str) {
        self.due.add(user, thread);
        self.indexes.touched(user, Corpus::Turns);
    }
}

/// Stores what is waiting, and closes the store.
pub async fn close(app: App, tasks: Tasks) -> anyhow::Result<()> {
    app.replies.close().await;
    tasks.sweeper.abort();
    app.indexes.waiting.close();
    app.due.close();
    tasks.summaries.await.context("the writer of summaries ended early")?;
    app.recorder.close();
    tasks.recorder.await.context("the writer of traces ended early")?;
    tasks.embedding.await.context("embedding ended early")?;
    app.store.clone().close().await?;
    Ok(())
}

async fn open_store(config: &Config, opens: Opens) -> anyhow::Result<Store> {
    match config.text("store") {
        "memory" => Ok(Store::memory()),
        "redis" => {
            let timeout = Duration::from_millis(config.number("redis.timeout_ms"));
            open_redis(config, timeout, opens).await
        }
        _ => Ok(open_local(config, opens).await?),
    }
}

/// The data directory.
pub async fn open_local(config: &Config, opens: Opens) -> Result<Store, novelo_store::Error> {
    let options = LocalOptions {
        hot_bytes_max: config.number("hot_bytes") as usize,
        relaxed: config.text("durability") == "relaxed",
        free_bytes_min: config.number("free_bytes_min"),
        opens_incomplete: opens == Opens::Any,
        ..LocalOptions::default()
    };
    Store::open_local(&config.data(), options).await
}

/// The server or cluster that several nodes share, whose answers may take so long.
pub async fn open_redis(config: &Config, timeout: Duration, opens: Opens) -> anyhow::Result<Store> {
    let options = RedisOptions {
        url: config.text("redis.url").to_owned(),
        prefix: config.text("redis.prefix").to_owned(),
        timeout,
        hot_bytes_max: config.number("hot_bytes") as usize,
    };
    let place = without_password(config.text("redis.url")).into_owned();
    let hint = "start Redis there, or set redis.url (REDIS_URL) to where it is; store = \"local\" needs none";
    let opened = Store::open_redis(options).await;
    let unopened = |error| anyhow::anyhow!("the store at redis.url, {place}, does not open: {error}\nhint: {hint}");
    let store = opened.map_err(unopened)?;
    eviction::require_none(&store, config).await?;
    if opens == Opens::Complete {
        incomplete::require_complete(&store, config).await?;
    }
    Ok(store)
}

async fn record(app: App) {
    app.recorder.run(&app.store, app.config.number("traces.ttl_seconds"), &app.metrics).await;
}

async fn embed(app: App) {
    if let Err(error) = crate::search::worker::run(&app).await {
        tracing::error!(%error, "passages are no longer embedded");
    }
}

async fn sweep(app: App) {
    let mut ticks = tokio::time::interval(SWEEP_EVERY);
    let mut ticks_left = 0;
    loop {
        ticks.tick().await;
        // A store that does not write has said so itself.
        if app.store.health().writable
            && let Err(error) = app.store.sweep(now()).await
        {
            tracing::warn!(%error, "expired documents were not removed");
        }
        app.replies.sweep();
        if ticks_left == 0 {
            app.evictions.look(&app.store).await;
            ticks_left = LOOK_AT_EVICTIONS_TICKS;
        }
        ticks_left -= 1;
        crate::forget::erase_when_due(&app).await;
    }
}

/// The newest prompt of each thread and recipe, for telling how much of the front has stayed the same.
#[derive(Debug, Default)]
pub struct LastPrompts(Mutex<FxHashMap<u64, LastPrompt>>);

#[derive(Debug)]
struct LastPrompt {
    epoch: u64,
    marks: Vec<Mark>,
}

const LAST_PROMPTS_MAX: usize = 10_000;

impl LastPrompts {
    /// Puts the newest prompt in; the leading tokens it shares with the one before, where there was one.
    pub fn replace(&self, key: &impl std::hash::Hash, epoch: u64, marks: Vec<Mark>) -> Option<u32> {
        use std::hash::BuildHasher;
        let key = rustc_hash::FxBuildHasher.hash_one(key);
        let mut last = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.len() >= LAST_PROMPTS_MAX {
            last.clear();
        }
        let unchanged = last
            .get(&key)
            .filter(|before| before.epoch == epoch)
            .map(|before| novelo_engine::assemble::unchanged_tokens(&before.marks, &marks));
        last.insert(key, LastPrompt { epoch, marks });
        unchanged
    }
}
