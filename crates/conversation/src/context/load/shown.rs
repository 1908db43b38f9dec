//! Single documents, as a prompt shows them.

use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::Message;
use novelo_engine::loaded::summary_upto;
use novelo_engine::path::DocumentPath;
use novelo_store::Store;

use crate::cache::Cache;
use crate::error::Result;

/// A document, and how a prompt shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The document as it is stored.
    pub raw: Bytes,
    /// The message that shows it.
    pub message: Arc<Message>,
    /// Of a summary, the last turn that it was made from.
    pub upto_seq: Option<u64>,
}

impl Shown {
    /// A document, unless `show` leaves it out.
    pub fn new(raw: Bytes, show: impl Fn(&[u8]) -> Option<Message>) -> Option<Self> {
        let message = Arc::new(show(&raw)?);
        let upto_seq = summary_upto(&raw);
        Some(Self { raw, message, upto_seq })
    }
}

/// A document that is kept for as long as its bytes are the same.
pub async fn load(
    store: &Store,
    kept: &Cache<DocumentPath, Shown>,
    path: &DocumentPath,
    show: impl Fn(&[u8]) -> Option<Message>,
) -> Result<Option<Shown>> {
    let Some(document) = store.get(path).await? else { return Ok(None) };
    if let Some(shown) = kept.get(path).filter(|shown| shown.raw == document.value) {
        return Ok(Some(shown));
    }
    let Some(shown) = Shown::new(document.value, show) else { return Ok(None) };
    kept.insert(path.clone(), shown.clone(), 256 + shown.raw.len() + shown.message.weight());
    Ok(Some(shown))
}
