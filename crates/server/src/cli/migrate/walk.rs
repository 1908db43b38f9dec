//! Walks two stores in step.
//!
//! Owns the order of exports, which is the same for every back-end: by the path of the collection, then by
//! seq. Skips documents of running nodes, and documents that have expired or are about to, since one of the
//! stores may have removed them. Invariant: every other document of either store is visited once.

use std::cmp::Ordering;

use anyhow::bail;
use novelo_engine::path::Prefix;
use novelo_store::{Export, Exported, Reserved, Store};

use novelo_conversation::caller::NODES;
use novelo_conversation::telemetry::now;

/// The clocks of nodes differ by at most this much; documents that expire sooner may already be removed.
const CLOCKS_APART_S: f64 = 5.0;

/// The comparison of one path.
pub enum Comparison {
    Missing(Exported),
    Same(Exported),
    /// Both have a document there; the text names the difference.
    Differs(Exported, &'static str),
    /// Only the target has it.
    Extra(Exported),
}

pub(crate) struct StoreWalk {
    source: WalkedStore,
    target: WalkedStore,
}

/// One of the two stores, with its next document.
struct WalkedStore {
    export: Export,
    next: Option<Exported>,
}

impl StoreWalk {
    pub async fn begin(source: &Store, target: &Store) -> anyhow::Result<Self> {
        Ok(Self { source: WalkedStore::begin(source).await?, target: WalkedStore::begin(target).await? })
    }

    /// About how many documents there are: in the source, and in the target.
    pub(crate) fn hints(&self) -> (u64, u64) {
        (self.source.export.documents_hint(), self.target.export.documents_hint())
    }

    pub async fn next(&mut self) -> anyhow::Result<Option<Comparison>> {
        loop {
            let order = match (&self.source.next, &self.target.next) {
                (None, None) => return Ok(None),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(source), Some(target)) => compare(source, target),
            };
            let source = if order.is_le() { self.source.advance().await? } else { None };
            let target = if order.is_ge() { self.target.advance().await? } else { None };
            let met = match (source, target) {
                (Some(source), Some(target)) => match difference(&source, &target) {
                    Some(what) => Comparison::Differs(source, what),
                    None => Comparison::Same(source),
                },
                (Some(source), None) => Comparison::Missing(source),
                (None, Some(target)) => Comparison::Extra(target),
                (None, None) => continue,
            };
            if !met.is_fleeting() {
                return Ok(Some(met));
            }
        }
    }

    /// The seqs that collections of the source have assigned beyond their last document, as far as they were
    /// read.
    pub(crate) fn take_reserved(&mut self) -> Vec<Reserved> {
        let mut reserved = self.source.export.take_reserved();
        reserved.retain(|reserved| !is_of_nodes(reserved.of.segments()));
        reserved
    }
}

impl Comparison {
    fn is_fleeting(&self) -> bool {
        match self {
            Self::Same(_) => false,
            Self::Missing(document) | Self::Differs(document, _) | Self::Extra(document) => {
                document.expires_at.is_some_and(|at| at <= now() + CLOCKS_APART_S)
            }
        }
    }
}

impl WalkedStore {
    async fn begin(store: &Store) -> anyhow::Result<Self> {
        let mut side = Self { export: store.export(&Prefix::all()).await?, next: None };
        side.advance().await?;
        Ok(side)
    }

    /// Takes the next document, and reads the one after it.
    async fn advance(&mut self) -> anyhow::Result<Option<Exported>> {
        let taken = self.next.take();
        while let Some(document) = self.export.next().await.transpose()? {
            if is_of_nodes(document.path.segments()) || document.expires_at.is_some_and(|at| at <= now()) {
                continue;
            }
            if taken.as_ref().is_some_and(|taken| compare(taken, &document).is_ge()) {
                bail!("{} came out of order: this is a fault of novelo", document.path);
            }
            self.next = Some(document);
            break;
        }
        Ok(taken)
    }
}

fn is_of_nodes(path: &[Box<str>]) -> bool {
    path.first().is_some_and(|root| &**root == NODES)
}

/// By collection, then by seq.
fn compare(a: &Exported, b: &Exported) -> Ordering {
    collection(a).cmp(collection(b)).then(a.seq.cmp(&b.seq))
}

fn collection(document: &Exported) -> &[Box<str>] {
    document.path.segments().split_last().map_or(&[], |(_, collection)| collection)
}

fn difference(source: &Exported, target: &Exported) -> Option<&'static str> {
    match () {
        // A store that has its own closing state keeps it.
        () if crate::auth::is_state_path(&source.path) && source.path == target.path => None,
        () if source.path != target.path => Some("another document has its seq"),
        () if source.value != target.value => Some("the bytes differ"),
        () if source.version != target.version => Some("the version differs"),
        () if source.create_time.to_bits() != target.create_time.to_bits() => Some("the time differs"),
        () if source.expires_at.map(f64::to_bits) != target.expires_at.map(f64::to_bits) => Some("the expiry differs"),
        () => None,
    }
}
