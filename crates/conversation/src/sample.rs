//! What a new store holds: a thread to look at, and documents to ask about. All of it is made up.
//!
//! Invariant: in a store that several nodes share it is written by one of them, and once, also where all
//! start together.

use bytes::Bytes;
use novelo_engine::path::{CollectionPath, DocumentPath, Prefix};
use novelo_engine::{Message, scope};
use novelo_store::{AppendTerms, Document, Error, NewDocument, NewId, PutTerms, Store};

use crate::app::Shared;
use crate::caller::ANONYMOUS;
use crate::remember::documents::{self, NewText};
use crate::telemetry::now;

const THREAD: &str = include_str!("../policies/sample/welcome.jsonl");

macro_rules! documents {
    ($($id:literal)*) => {
        const DOCUMENTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../policies/sample/documents/", $id, ".md")))),*];
    };
}

documents! { "clube-capivara" "clube-tucano" "harbour-tea-house" "muzej-mayaka" }

/// How long a node may take to write it; then it has died over it, and another does.
const WRITING_S_MAX: f64 = 60.0;
const WRITING: &[u8] = br#"{"written":false}"#;
const WRITTEN: &[u8] = br#"{"written":true}"#;

/// Puts it into a store that others have too, if that is new and nobody else does. A mark tells, and stays:
/// what was removed does not come back with the next node.
pub async fn write_once(app: &Shared) -> anyhow::Result<()> {
    let mark = CollectionPath::new(&["novelo.sample"])?.document("welcome")?;
    let is_ours = match app.store.get(&mark).await? {
        Some(found) if is_left(&found) => put(&app.store, &mark, WRITING, Some(found.version)).await?,
        Some(_) => false,
        None if is_new(&app.store).await? => put(&app.store, &mark, WRITING, Some(0)).await?,
        None => {
            put(&app.store, &mark, WRITTEN, Some(0)).await?;
            false
        }
    };
    if is_ours {
        write(app).await?;
        put(&app.store, &mark, WRITTEN, None).await?;
    }
    Ok(())
}

/// Whether somebody began to write it, and never came to the end.
fn is_left(mark: &Document) -> bool {
    mark.value == WRITING && now() - mark.create_time > WRITING_S_MAX
}

/// Puts the mark, unless somebody else was first.
async fn put(store: &Store, mark: &DocumentPath, value: &'static [u8], version: Option<u64>) -> Result<bool, Error> {
    let terms = PutTerms { if_version: version, create_time: Some(now()), now: now(), ..PutTerms::default() };
    match store.put(mark, Bytes::from_static(value), terms).await {
        Ok(_) => Ok(true),
        Err(Error::Stale { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether it holds nothing but what nodes say of themselves.
async fn is_new(store: &Store) -> Result<bool, Error> {
    let mut all = store.export(&Prefix::all()).await?;
    while let Some(document) = all.next().await {
        if !document?.path.segments().first().is_some_and(|root| root.starts_with("novelo.")) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Puts it into an empty store. The documents answer the questions of the chat page, until there are keys.
pub async fn write(app: &Shared) -> anyhow::Result<()> {
    for (id, text) in DOCUMENTS {
        let name = text.lines().next().unwrap_or(id).trim_start_matches(['#', ' ']);
        documents::index_text(app, ANONYMOUS, NewText { id: Some(id), name, text, meta: None }).await?;
    }
    let at = now();
    let turns = THREAD.lines().enumerate().map(|(i, line)| {
        let message = Message::accept(Bytes::from_static(line.as_bytes()))?;
        let id = NewId::Given(format!("sample-{:02}", i + 1).into());
        Ok(NewDocument { id, create_time: at, value: message.raw().clone(), expires_at: None })
    });
    let turns = turns.collect::<anyhow::Result<Vec<_>>>()?;
    app.store.append(&scope::turns("demo", "welcome")?, turns, AppendTerms::default()).await?;
    Ok(())
}
