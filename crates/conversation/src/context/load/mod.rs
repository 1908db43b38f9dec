//! Loading what components need.
//!
//! Owns the way from needs to documents: all at once, and nothing else touches the store during an assembly.
//! What it gives is owned by the request; the engine borrows it. Documents are kept as they are shown, so
//! that a warm context parses nothing.

mod collection;
mod inputs;
mod passages;
mod shown;
mod turns;

use std::ops::Range;
use std::sync::Arc;

use novelo_engine::decode::UnknownField;
use novelo_engine::group::Membership;
use novelo_engine::loaded::{self, RefusedTurn, show_summary, show_user_data};
use novelo_engine::path::{CollectionPath, DocumentPath, PathError, Prefix};
use novelo_engine::recall::Recalled;
use novelo_engine::recipe::Shape;
use novelo_engine::scope::{Root, THREADS, TURNS};
use novelo_engine::time_scope::{Level, LevelScope, TimeRange, TimeScope};
use novelo_engine::{Message, Need, Recipe};
use novelo_store::{Store, Turns};

use crate::cache::Cache;
use crate::context::collapse::{FoundGroups, ThreadGroups};
use crate::context::compact::{self, FoundCompactions, ThreadCompactions};
use crate::error::{Error, Result};
use crate::search::FoundPassage;
use crate::thread::refused::Refusals;
use collection::{Collected, Collections};
pub use passages::RecalledPassages;
pub(crate) use passages::recall_one;
pub use shown::Shown;
use turns::OlderTurns;

/// Everything that one prompt is made from.
#[derive(Debug, Default)]
pub(crate) struct ContextInputs {
    turns: Turns,
    /// The first turns of a thread that is too long to be looked at whole.
    lead: Turns,
    turns_before: u64,
    stretch: TimeRange,
    in_time: bool,
    /// Whether the turns were chosen by their times, so that turns between them may be missing.
    by_time: bool,
    summary: Option<Shown>,
    user_data: Option<Shown>,
    collections: Vec<ChosenCollection>,
    groups: Option<Arc<ThreadGroups>>,
    membership: Option<Arc<Membership>>,
    compactions: Option<Arc<ThreadCompactions>>,
    /// The turns that a model refused, by seq.
    refused: Vec<RefusedTurn>,
    /// The results of searches, as the prompt shows them.
    recalled: Vec<Recalled>,
    /// Stands before these.
    recall_notice: Option<Message>,
    /// The passages that they found.
    pub sources: Vec<FoundPassage>,
    pub inline: Vec<Message>,
    pub question: Option<Message>,
    /// Fields of the request that were ignored.
    pub unknown_fields: Vec<UnknownField>,
    /// Where the turns are.
    turns_in: Option<CollectionPath>,
    /// Whether something was read that belongs to no user. Such a prompt is for admins to look at.
    pub outside: bool,
}

/// A collection at one level, and the part of it that is shown.
#[derive(Debug)]
struct ChosenCollection {
    name: String,
    shape: Shape,
    level: Level,
    of: Arc<Collected>,
    range: Range<usize>,
    /// Documents of the same stretch that are older.
    before: u64,
}

/// Documents as they are shown, kept from request to request.
#[derive(Debug)]
pub struct Caches {
    shown: Cache<DocumentPath, Shown>,
    collections: Collections,
    older: Cache<CollectionPath, OlderTurns>,
    /// The groups of threads.
    pub groups: FoundGroups,
    /// The compactions of threads.
    pub compactions: FoundCompactions,
}

/// Whose documents a request reads, and where those that belong to no user may stand in for what a user
/// lacks.
#[derive(Debug, Clone, Copy)]
pub struct Whose<'a> {
    /// The user, if there is one.
    pub user: Option<&'a str>,
    /// Whether documents from before there were users are read too.
    pub legacy: bool,
}

const SHOWN_BYTES_MAX: usize = 16 * 1024 * 1024;
const COLLECTIONS_BYTES_MAX: usize = 32 * 1024 * 1024;
const OLDER_BYTES_MAX: usize = 1024 * 1024;
const GROUPS_BYTES_MAX: usize = 16 * 1024 * 1024;
const COMPACTIONS_BYTES_MAX: usize = 16 * 1024 * 1024;

impl Default for Caches {
    fn default() -> Self {
        Self {
            shown: Cache::new(SHOWN_BYTES_MAX),
            collections: Cache::new(COLLECTIONS_BYTES_MAX),
            older: Cache::new(OLDER_BYTES_MAX),
            groups: Cache::new(GROUPS_BYTES_MAX),
            compactions: Cache::new(COMPACTIONS_BYTES_MAX),
        }
    }
}

impl Caches {
    /// Lets go of what was forgotten.
    pub fn forget(&self, what: &Prefix) {
        self.shown.retain(|path| !what.holds(path.segments()));
        self.collections.retain(|(path, _)| !what.holds(path.segments()));
        self.older.retain(|path| !what.holds(path.segments()));
        self.groups.retain(|(path, _)| !what.holds(path.segments()));
        self.compactions.retain(|path| !what.holds(path.segments()));
    }
}

impl<'a> Whose<'a> {
    /// Where to look, first place first.
    pub fn roots(self) -> impl Iterator<Item = Root<'a>> {
        self.user.map(Root::User).into_iter().chain(self.legacy.then_some(Root::Legacy))
    }
}

/// Reads for one request.
struct Loader<'a> {
    store: &'a Store,
    caches: &'a Caches,
    whose: Whose<'a>,
    /// Whether the first turn that is looked at moves in large steps only.
    keeps_front: bool,
    /// The most turns of a thread that are looked at.
    turns_max: usize,
    inputs: ContextInputs,
}

impl ContextInputs {
    /// Loads the documents that a recipe needs. What it searches for comes afterwards, in `search_passages`.
    pub(crate) async fn load_documents(
        store: &Store,
        caches: &Caches,
        whose: Whose<'_>,
        reach: &TimeScope,
        recipe: &Recipe,
        turns_max: usize,
    ) -> Result<Self> {
        let Some(local) = &reach.local else { return Ok(Self::default()) };
        let above = if recipe.promotes { reach.above.as_slice() } else { &[] };
        let inputs = Self { stretch: local.range, in_time: reach.in_time, ..Self::default() };
        let keeps_front = recipe.keeps_front();
        let mut loader = Loader { store, caches, whose, keeps_front, turns_max, inputs };
        for need in recipe.needs() {
            match (need, reach.thread_id()) {
                (Need::Turns, Some(thread)) => loader.turns(thread).await?,
                (Need::Turns, None) => loader.collection(local, TURNS, Shape::Message).await?,
                (Need::Summary, Some(thread)) => loader.summary(thread).await?,
                (Need::UserData, _) => loader.user_data().await?,
                (Need::Collection { name, shape }, _) => {
                    for reading in above.iter().chain([local]) {
                        loader.collection(reading, &name, shape).await?;
                    }
                }
                (Need::Groups, Some(thread)) => loader.groups(thread).await?,
                (Need::Compactions, Some(thread)) => loader.compactions(thread).await?,
                (Need::Summary | Need::Groups | Need::Compactions, None) | (Need::Recall(_), _) => {}
            }
        }
        Ok(loader.inputs)
    }
}

impl Loader<'_> {
    async fn turns(&mut self, thread: &str) -> Result<()> {
        for root in self.whose.roots() {
            let of = root.collection(&[THREADS, thread, TURNS]).map_err(bad_id)?;
            if self.turns_of(&of).await? {
                self.inputs.turns_in = Some(of);
                self.inputs.outside |= root == Root::Legacy;
                if let Root::User(user) = root {
                    self.inputs.refused = Refusals::load(self.store, user, thread).await?.turns;
                }
                return Ok(());
            }
        }
        Ok(())
    }

    async fn collection(&mut self, reading: &LevelScope, name: &str, shape: Shape) -> Result<()> {
        for root in self.whose.roots() {
            let of = reading.collection(root, name).map_err(bad_id)?;
            let read = collection::read(self.store, &self.caches.collections, &of, shape, reading.range).await?;
            let Some((of, before)) = read else { continue };
            let (name, level, range) = (name.to_owned(), reading.level, of.within(reading.range));
            self.inputs.collections.push(ChosenCollection { name, shape, level, of, range, before });
            self.inputs.outside |= root == Root::Legacy;
            return Ok(());
        }
        Ok(())
    }

    async fn summary(&mut self, thread: &str) -> Result<()> {
        let Some(user) = self.whose.user else { return Ok(()) };
        let path = loaded::summary_path(user, thread).map_err(bad_id)?;
        self.inputs.summary = shown::load(self.store, &self.caches.shown, &path, show_summary).await?;
        Ok(())
    }

    async fn user_data(&mut self) -> Result<()> {
        let Some(user) = self.whose.user else { return Ok(()) };
        let path = loaded::user_data_path(user).map_err(bad_id)?;
        self.inputs.user_data = shown::load(self.store, &self.caches.shown, &path, show_user_data).await?;
        Ok(())
    }

    async fn compactions(&mut self, thread: &str) -> Result<()> {
        let Some(user) = self.whose.user else { return Ok(()) };
        self.inputs.compactions = compact::find(self.store, &self.caches.compactions, user, thread).await?;
        Ok(())
    }

    async fn groups(&mut self, thread: &str) -> Result<()> {
        let found = crate::context::collapse::find(self.store, &self.caches.groups, self.whose, thread).await?;
        self.inputs.outside |= found.outside;
        if !self.inputs.by_time {
            self.inputs.membership = Some(found.membership(self.inputs.turns_in.as_ref(), &self.inputs.turns));
        }
        self.inputs.groups = Some(found);
        Ok(())
    }
}

fn bad_id(error: PathError) -> Error {
    Error::bad_id("user or thread", &error)
}
