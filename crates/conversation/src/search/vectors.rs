//! Vectors as documents.
//!
//! Owns their place and their form. The vectors of a collection lie beside it, in a collection `vectors`, by
//! the seq of the passage: so forgetting the thread, the document or the user forgets them too. Each says
//! which model it is of, and of which bytes: one of another model, or of a text that was changed since, is
//! none.

use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_recall::embed::{decode, encode};
use novelo_store::{Op, PutTerms, Range, Store};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::telemetry::now;

/// The last segment of a collection of vectors.
pub(crate) const VECTORS: &str = "vectors";

const READ_LIMIT: usize = 1_000;

/// A quantised embedding.
#[derive(Debug)]
pub struct Vector {
    /// The name of the model that made it.
    pub model: String,
    /// The digest of the document that was embedded.
    pub digest: u64,
    /// Its values.
    pub values: Vec<i8>,
}

#[derive(Serialize, Deserialize)]
struct Wire<'w> {
    model: std::borrow::Cow<'w, str>,
    of: String,
    vector: String,
}

/// The stored vectors of a collection's passages, by their seqs.
pub async fn read(store: &Store, of: &CollectionPath) -> Result<Vec<(u64, Vector)>> {
    let Some(beside) = beside(of) else { return Ok(Vec::new()) };
    let mut kept = Vec::new();
    let mut seq = 0;
    loop {
        let page = store.turns(&beside, Range::After { seq, limit: READ_LIMIT }).await?;
        kept.extend(page.iter().filter_map(|row| Some((row.id.parse().ok()?, parse(row.message.as_str())?))));
        seq = page.iter().next_back().map_or(seq, |row| row.seq);
        if !page.has_more {
            return Ok(kept);
        }
    }
}

/// The stored vector of one passage.
pub async fn get(store: &Store, of: &CollectionPath, seq: u64) -> Result<Option<Vector>> {
    let Some(at) = path(of, seq) else { return Ok(None) };
    let document = store.get(&at).await?;
    Ok(document.and_then(|document| parse(std::str::from_utf8(&document.value).ok()?)))
}

/// The write that stores a passage's vector.
pub fn put(of: &CollectionPath, seq: u64, vector: &Vector) -> Option<Op> {
    let wire = Wire {
        model: vector.model.as_str().into(),
        of: format!("{:016x}", vector.digest),
        vector: encode(&vector.values),
    };
    let value = serde_json::to_vec(&wire).ok()?.into();
    Some(Op::Put { at: path(of, seq)?, value, terms: PutTerms { now: now(), ..PutTerms::default() } })
}

/// Where the vector of a passage is.
pub fn path(of: &CollectionPath, seq: u64) -> Option<DocumentPath> {
    beside(of)?.document(&seq.to_string()).ok()
}

fn parse(text: &str) -> Option<Vector> {
    let wire: Wire<'_> = serde_json::from_str(text).ok()?;
    let digest = u64::from_str_radix(&wire.of, 16).ok()?;
    Some(Vector { model: wire.model.into_owned(), digest, values: decode(&wire.vector)? })
}

/// A collection, and that of its vectors.
pub fn with(of: &CollectionPath) -> Vec<CollectionPath> {
    [Some(of.clone()), beside(of)].into_iter().flatten().collect()
}

fn beside(of: &CollectionPath) -> Option<CollectionPath> {
    let (_, parent) = of.segments().split_last()?;
    let mut segments: Vec<&str> = parent.iter().map(|segment| &**segment).collect();
    segments.push(VECTORS);
    CollectionPath::new(&segments).ok()
}
