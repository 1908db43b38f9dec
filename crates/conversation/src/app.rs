//! Opening and closing the application.
//!
//! Opens the store, builds the rooms from the bottom up, and starts the background tasks: one writes traces,
//! one writes summaries, one removes what has expired, one embeds. `close` ends them all and leaves the store
//! flushed.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use novelo_store::{LocalOptions, RedisOptions, Store};
use tokio::task::JoinHandle;

use crate::answer::Replies;
use crate::answer::guide::Guides;
use crate::answer::response;
use crate::base::Base;
use crate::context::Contexts;
use crate::data::Data;
use crate::data::shipped::shipped;
use crate::model::Models;
use crate::policy::Policies;
use crate::remember::forget::{self, ForgetLog, PendingErasure, Traces};
use crate::remember::{LetGo, UserMemory, summary};
use crate::search::{Embedder, Indexes, QdrantIndex, Search};
use crate::settings::{Durability, Settings, StoreKind, without_password};
use crate::storage::eviction::{self, Evictions};
use crate::storage::incomplete;
use crate::telemetry::{Metrics, now};
use crate::thread::Threads;
use crate::thread::due::Due;
use crate::trace::record::Recorder;

pub use crate::answer::{App, Shared};

/// The tasks that `close` must end.
pub struct Tasks {
    recorder: JoinHandle<()>,
    sweeper: JoinHandle<()>,
    embedding: JoinHandle<()>,
    summaries: JoinHandle<()>,
}

const SWEEP_EVERY: Duration = Duration::from_secs(1);
const LOOK_AT_EVICTIONS_TICKS: u32 = 2;

/// Opens the store and starts the tasks.
pub async fn open(settings: Settings) -> anyhow::Result<(App, Tasks)> {
    let store = open_store(&settings, Opens::Complete).await?;
    open_with(settings, store).await
}

/// The same with a data directory that is only read.
pub async fn open_read_only(settings: Settings) -> anyhow::Result<(App, Tasks)> {
    let store = Store::open_read_only(&settings.data, LocalOptions::default()).await?;
    open_with(settings, store).await
}

/// The same for a command that fills the store: it may be marked as incomplete.
pub async fn open_to_fill(settings: Settings) -> anyhow::Result<(App, Tasks)> {
    let store = open_store(&settings, Opens::Any).await?;
    open_with(settings, store).await
}

/// Whether a store that is still being filled may be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// Only a complete store.
    Complete,
    /// Any store.
    Any,
}

/// Starts the tasks on a store that is open: one of the nodes that share it.
pub async fn open_with(settings: Settings, store: Store) -> anyhow::Result<(App, Tasks)> {
    let data = Data::open(&settings)?;
    let database = data.as_ref().map(|data| data.database.clone());
    let metrics = Arc::new(Metrics::default());
    let base = Base {
        policies: Policies::open_with(settings.policies.clone(), database, shipped(settings.ask.catalogue))?,
        recorder: Arc::new(Recorder::new(metrics.clone())),
        metrics,
        models: Models::open(&settings)?,
        evictions: Evictions::new(&settings),
        node: crate::ids::short(),
        data,
        store,
        settings,
    };
    let (forgets, erasure) =
        (ForgetLog::open(&base.store, &base.settings).await?, PendingErasure::open(&base.store).await?);
    let (embedder, points) = (Embedder::open(&base.settings).await, QdrantIndex::open(&base.settings)?);
    let indexes = Indexes::new(base.settings.index_bytes, embedder, points);
    let search = Arc::new(Search { base, indexes });
    let threads = Threads { search, due: Due::default() };
    let (replies, guides) = (Arc::new(Replies::default()), Arc::new(Guides::default()));
    let let_go = let_go(replies.clone(), guides.clone());
    let memory = Arc::new(UserMemory { contexts: Contexts::new(threads), forgets, erasure, let_go });
    let app = Arc::new(Shared { memory, replies, guides });
    let tasks = Tasks {
        recorder: tokio::spawn(record(app.clone())),
        sweeper: tokio::spawn(sweep(app.clone())),
        embedding: tokio::spawn(embed(app.search.clone())),
        summaries: tokio::spawn(summary::run(app.memory.clone())),
    };
    Ok((app, tasks))
}

/// Lets go of the answers of a user that are in memory.
fn let_go(replies: Arc<Replies>, guides: Arc<Guides>) -> LetGo {
    Box::new(move |user, traces| {
        match traces {
            // Answers may quote what is gone, whichever thread they are of.
            Traces::Stay => replies.forget_ended(user),
            Traces::OfThread(thread) => replies.forget(user, Some(thread)),
            Traces::OfUser => replies.forget(user, None),
        }
        guides.forget(user);
    })
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

async fn open_store(settings: &Settings, opens: Opens) -> anyhow::Result<Store> {
    match settings.store {
        StoreKind::Memory => Ok(Store::memory()),
        StoreKind::Redis => open_redis(settings, settings.redis.timeout, opens).await,
        StoreKind::Local => Ok(open_local(settings, opens).await?),
    }
}

/// The data directory.
pub async fn open_local(settings: &Settings, opens: Opens) -> Result<Store, novelo_store::Error> {
    let options = LocalOptions {
        hot_bytes_max: settings.hot_bytes,
        relaxed: settings.durability == Durability::Relaxed,
        free_bytes_min: settings.free_bytes_min,
        opens_incomplete: opens == Opens::Any,
        ..LocalOptions::default()
    };
    Store::open_local(&settings.data, options).await
}

/// The server or cluster that several nodes share, whose answers may take so long.
pub async fn open_redis(settings: &Settings, timeout: Duration, opens: Opens) -> anyhow::Result<Store> {
    let options = RedisOptions {
        url: settings.redis.url.to_string(),
        prefix: settings.redis.prefix.clone(),
        timeout,
        hot_bytes_max: settings.hot_bytes,
    };
    let place = without_password(&settings.redis.url).into_owned();
    let hint = "start Redis there, or set redis.url (REDIS_URL) to where it is; store = \"local\" needs none";
    let opened = Store::open_redis(options).await;
    let unopened = |error| anyhow::anyhow!("the store at redis.url, {place}, does not open: {error}\nhint: {hint}");
    let store = opened.map_err(unopened)?;
    eviction::require_none(&store, settings).await?;
    if opens == Opens::Complete {
        incomplete::require_complete(&store, settings).await?;
    }
    Ok(store)
}

async fn record(app: App) {
    app.recorder.run(&app.store, app.settings.traces.ttl).await;
}

async fn embed(search: Arc<Search>) {
    if let Err(error) = crate::search::worker::run(&search).await {
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
        if app.store.health().writable
            && let Err(error) = response::prune(&app).await
        {
            tracing::warn!(%error, "conversations that are due were not forgotten");
        }
        app.replies.sweep();
        if ticks_left == 0 {
            app.evictions.look(&app.store).await;
            ticks_left = LOOK_AT_EVICTIONS_TICKS;
        }
        ticks_left -= 1;
        forget::erase_when_due(&app).await;
    }
}
