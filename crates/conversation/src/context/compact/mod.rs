//! Compactions in prompts: how those of a thread are shown, and how the next one is made.
//!
//! Owns the cached view of a thread's compactions (their documents are in `thread/compaction`). `make` writes
//! the texts of spans, `change` compacts on demand and gives spans back.

mod change;
mod make;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use novelo_engine::compact::{CompactedSpan, Compactions};
use novelo_engine::path::CollectionPath;
use novelo_store::{Store, Version};
use rustc_hash::FxHasher;

use crate::cache::Cache;
use crate::error::Result;
use crate::thread::compaction::{StoredCompactions, collection, number};
use crate::trace::CompactionsInput;

pub use change::{CompactRequest, Compacted, SpanTurn, SpanTurns, compact, compact_messages, pins, restore, span};
pub(crate) use make::CompactionWork;
pub use make::extract_spans;

/// Compactions by where they are, each true for one version.
pub type FoundCompactions = Cache<CollectionPath, (Version, Arc<ThreadCompactions>)>;

/// The compactions of a thread as a prompt takes them.
#[derive(Debug, Default)]
pub struct ThreadCompactions {
    /// As the engine takes them.
    pub compactions: Compactions,
    /// Tells them from others.
    pub fingerprint: u64,
    last_number: u64,
}

impl ThreadCompactions {
    fn new(spans: Vec<CompactedSpan>, pins: Vec<Box<str>>, last_number: u64) -> Self {
        let mut hasher = FxHasher::default();
        (&spans, &pins).hash(&mut hasher);
        Self { compactions: Compactions::new(spans, pins), fingerprint: hasher.finish(), last_number }
    }

    /// The compactions that an old prompt was made with.
    pub fn again(input: &CompactionsInput) -> Self {
        Self::new(input.spans.clone(), input.pins.clone(), 0)
    }

    pub(crate) fn to_trace(&self) -> CompactionsInput {
        let mut pins: Vec<Box<str>> = self.compactions.pins().map(Into::into).collect();
        pins.sort_unstable();
        CompactionsInput { spans: self.compactions.effective().cloned().collect(), pins }
    }

    /// The same with more spans, for a prompt of which nothing is stored.
    pub(crate) fn with(&self, spans: Vec<CompactedSpan>) -> Self {
        let pins = self.compactions.pins().map(Into::into).collect();
        let all = self.compactions.effective().cloned().chain(spans).collect();
        Self::new(all, pins, self.last_number)
    }

    /// The number of the next compaction: it was never given before.
    pub(crate) fn next_number(&self) -> u64 {
        self.last_number + 1
    }
}

/// The compactions of a thread; `None` where it never had any.
pub async fn find(
    store: &Store,
    kept: &FoundCompactions,
    user: &str,
    thread: &str,
) -> Result<Option<Arc<ThreadCompactions>>> {
    let of = collection(user, thread)?;
    let version = store.version(&of).await?;
    if version.last_seq == 0 {
        return Ok(None);
    }
    if let Some((_, found)) = kept.get(&of).filter(|(at, _)| *at == version) {
        return Ok(Some(found));
    }
    let stored = StoredCompactions::read(store, &of).await?;
    let last_number = stored.compactions.iter().filter_map(|it| number(&it.id)).max().unwrap_or(0);
    let spans: Vec<CompactedSpan> = stored.compactions.into_iter().flat_map(|it| it.spans).collect();
    let bytes = 256 + spans.iter().map(|span| 512 + 2 * span.text.len()).sum::<usize>();
    let found = Arc::new(ThreadCompactions::new(spans, stored.pins, last_number.max(version.last_seq)));
    kept.insert(of, (version, found.clone()), bytes);
    Ok(Some(found))
}
