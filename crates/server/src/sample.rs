//! What a new data directory holds: a thread to look at, and documents to ask about. All of it is made up.

use bytes::Bytes;
use novelo_engine::{Message, scope};
use novelo_store::{AppendTerms, NewDocument, NewId};

use crate::app::Shared;
use crate::auth::ANONYMOUS;
use crate::memory::documents::{self, NewText};
use crate::telemetry::now;

const THREAD: &str = include_str!("../../../policies/sample/welcome.jsonl");

macro_rules! documents {
    ($($id:literal)*) => {
        const DOCUMENTS: &[(&str, &str)] =
            &[$(($id, include_str!(concat!("../../../policies/sample/documents/", $id, ".md")))),*];
    };
}

documents! { "clube-capivara" "clube-tucano" "harbour-tea-house" "muzej-mayaka" }

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
