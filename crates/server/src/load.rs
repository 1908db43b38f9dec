//! Loading what components need.
//!
//! Owns the way from needs to documents: all at once, and nothing else touches the store during an assembly. What it
//! gives is owned by the request; the engine borrows it. Summaries and user data are kept as they are shown, so that a
//! warm context parses nothing.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use novelo_engine::component::{self, Item, show_summary, show_user_data};
use novelo_engine::limits::{CONTEXT_TURNS_MAX, PAGE_MAX};
use novelo_engine::path::{DocumentPath, PathError, Prefix};
use novelo_engine::{Loaded, Message, Need, Role, Turn, scope};
use novelo_store::{Cursor, Document, Range, Store, Turns, Window};
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::value::RawValue;

use crate::http::error::{ApiError, Result};
use crate::trace::{CollectionInput, Inputs, Trace};

/// What was loaded for one request.
#[derive(Debug, Default)]
pub struct Near {
    turns: Turns,
    /// The first turns of a thread that is too long to be looked at whole.
    lead: Turns,
    pub turns_before: u64,
    pub summary: Option<Shown>,
    pub user_data: Option<Shown>,
    collections: Vec<Collected>,
    pub inline: Vec<Message>,
    pub question: Option<Message>,
}

/// The documents of a collection: as stored, and as a prompt shows them.
#[derive(Debug)]
struct Collected {
    name: String,
    documents: Vec<(Box<str>, Bytes)>,
    items: Vec<Item>,
}

/// A document, and how a prompt shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    pub raw: Bytes,
    pub message: Arc<Message>,
}

/// Shown documents by path, each valid for the bytes it was made of. Bounded by dropping all of them.
#[derive(Debug, Default)]
pub struct ShownCache(Mutex<FxHashMap<DocumentPath, Shown>>);

const SHOWN_MAX: usize = 20_000;
const LEAD_TURNS_MAX: usize = 8;

impl Near {
    /// Answers the needs of a recipe for one thread.
    pub async fn load(store: &Store, shown: &ShownCache, user: &str, thread: &str, needs: &[Need]) -> Result<Self> {
        let mut near = Self::default();
        for need in needs {
            match need {
                Need::Turns => near.load_turns(store, user, thread).await?,
                Need::Summary => {
                    let path = component::summary_path(user, thread).map_err(bad_id)?;
                    near.summary = shown.load(store, &path, show_summary).await?;
                }
                Need::UserData => {
                    let path = component::user_data_path(user).map_err(bad_id)?;
                    near.user_data = shown.load(store, &path, show_user_data).await?;
                }
                Need::Collection { name } => near.load_collection(store, user, thread, name).await?,
            }
        }
        Ok(near)
    }

    /// The newest turns. Of a very long thread, the first one looked at moves in large steps only, so that windows
    /// which look back stay put from turn to turn; the instructions that lead it come along all the same.
    async fn load_turns(&mut self, store: &Store, user: &str, thread: &str) -> Result<()> {
        let of = scope::turns(user, thread).map_err(bad_id)?;
        self.turns = store.turns(&of, Range::Last(CONTEXT_TURNS_MAX)).await?;
        if self.turns.has_more {
            let step = (CONTEXT_TURNS_MAX / 2) as u64;
            let first = self.first_seq().next_multiple_of(step) + 1;
            self.lead = store.turns(&of, Range::After { seq: 0, limit: LEAD_TURNS_MAX }).await?;
            self.turns = store.turns(&of, Range::Between { first, last: self.turns.last_seq }).await?;
            self.turns_before = (first - 1).saturating_sub(self.lead().count() as u64);
        }
        Ok(())
    }

    fn first_seq(&self) -> u64 {
        self.turns.iter().next().map_or(0, |t| t.seq)
    }

    /// The documents of an old prompt again.
    pub async fn reload(store: &Store, trace: &Trace) -> Result<Self> {
        let inputs = &trace.inputs;
        let bytes = |raw: &RawValue| Bytes::copy_from_slice(raw.get().as_bytes());
        let mut near = Self {
            summary: inputs.summary.as_deref().and_then(|raw| Shown::new(bytes(raw), show_summary)),
            user_data: inputs.user_data.as_deref().and_then(|raw| Shown::new(bytes(raw), show_user_data)),
            inline: inputs.messages.iter().map(|raw| Message::from_stored(bytes(raw))).collect(),
            turns_before: inputs.turns_before,
            ..Self::default()
        };
        for input in &inputs.collections {
            let document = |(id, raw): &(String, Box<RawValue>)| (id.as_str().into(), bytes(raw));
            near.add_collection(&input.name, input.documents.iter().map(document).collect());
        }
        if let (Some(user), Some(thread), Some((first, last))) = (&trace.user, &trace.thread, inputs.turns) {
            let of = scope::turns(user, thread).map_err(bad_id)?;
            if inputs.lead > 0 {
                near.lead = store.turns(&of, Range::After { seq: 0, limit: LEAD_TURNS_MAX }).await?;
            }
            near.turns = store.turns(&of, Range::Between { first, last }).await?;
        }
        near.ask(trace.question.as_deref());
        Ok(near)
    }

    /// The instructions that lead the thread, where the turns do not reach back to them.
    fn lead(&self) -> impl Iterator<Item = &Turn> {
        let first = self.first_seq();
        let instructs = move |t: &&Turn| t.message.role().is_some_and(Role::instructs) && t.seq < first;
        self.lead.iter().take_while(instructs)
    }

    async fn load_collection(&mut self, store: &Store, user: &str, thread: &str, name: &str) -> Result<()> {
        let of = scope::thread(user, thread).and_then(|t| t.child(name)).map_err(bad_id)?;
        let mut documents: Vec<Document> = Vec::new();
        loop {
            let after = documents.last().map(|d| Cursor { create_time: d.create_time, seq: d.seq });
            let page = store.scan(&of, Window { after, limit: PAGE_MAX, ..Window::default() }).await?;
            documents.extend(page.items);
            if !page.has_more {
                break;
            }
            if documents.len() >= CONTEXT_TURNS_MAX {
                let problem = format!("has more documents than CONTEXT_TURNS_MAX, {CONTEXT_TURNS_MAX}");
                return Err(ApiError::invalid(format!("collection {name}"), problem));
            }
        }
        self.add_collection(name, documents.into_iter().map(|d| (d.id, d.value)).collect());
        Ok(())
    }

    fn add_collection(&mut self, name: &str, documents: Vec<(Box<str>, Bytes)>) {
        let items = documents.iter().map(|(id, value)| component::item(id, value.clone())).collect();
        self.collections.push(Collected { name: name.to_owned(), documents, items });
    }

    /// Adds the question, unless the newest turn asks it already.
    pub fn ask(&mut self, question: Option<&str>) {
        let newest = self.turns.iter().next_back().map(|t| &t.message);
        let newest = self.inline.last().or(newest).filter(|m| m.is(Role::User));
        let asked = |q: &&str| newest.and_then(|m| m.said()).as_deref() == Some(*q);
        self.question = question.filter(|q| !asked(q)).map(|q| Message::text(Role::User, q));
    }

    /// The view that the engine takes.
    pub fn loaded(&self) -> Loaded<'_> {
        let collections = self.collections.iter().map(|c| (c.name.as_str(), c.items.as_slice()));
        Loaded {
            turns: self.lead().chain(self.turns.iter()).collect(),
            turns_before: self.turns_before,
            summary: self.summary.as_ref().map(|s| &*s.message),
            user_data: self.user_data.as_ref().map(|s| &*s.message),
            collections: collections.collect(),
            inline: &self.inline,
            question: self.question.as_ref(),
        }
    }

    /// What of the store went in, for the trace.
    pub fn inputs(&self) -> Inputs {
        let ends = self.turns.iter().next().zip(self.turns.iter().next_back());
        let kept = |shown: &Option<Shown>| shown.as_ref().and_then(|s| raw(&s.raw));
        let collection = |c: &Collected| CollectionInput {
            name: c.name.clone(),
            documents: c.documents.iter().filter_map(|(id, value)| Some((id.to_string(), raw(value)?))).collect(),
        };
        Inputs {
            turns: ends.map(|(first, last)| (first.seq, last.seq)),
            lead: self.lead().count() as u64,
            turns_before: self.turns_before,
            summary: kept(&self.summary),
            user_data: kept(&self.user_data),
            collections: self.collections.iter().map(collection).collect(),
            messages: self.inline.iter().filter_map(|m| raw(m.raw())).collect(),
        }
    }

    /// What tells these inputs from those of another moment, beside the prompt that they make.
    pub fn moment(&self) -> (u64, u64, u64) {
        let mut hasher = FxHasher::default();
        self.inline.iter().for_each(|m| m.raw().hash(&mut hasher));
        self.collections.iter().for_each(|c| (&c.name, &c.documents).hash(&mut hasher));
        self.summary.iter().chain(&self.user_data).for_each(|shown| shown.raw.hash(&mut hasher));
        (self.turns.last_seq, self.turns.epoch, hasher.finish())
    }

    /// Changes when stored turns were replaced or removed.
    pub fn epoch(&self) -> u64 {
        self.turns.epoch
    }
}

fn raw(bytes: &[u8]) -> Option<Box<RawValue>> {
    RawValue::from_string(std::str::from_utf8(bytes).ok()?.to_owned()).ok()
}

impl Shown {
    pub fn new(raw: Bytes, show: impl Fn(&[u8]) -> Option<Message>) -> Option<Self> {
        let message = Arc::new(show(&raw)?);
        Some(Self { raw, message })
    }
}

impl ShownCache {
    async fn load(
        &self,
        store: &Store,
        path: &DocumentPath,
        show: impl Fn(&[u8]) -> Option<Message>,
    ) -> Result<Option<Shown>> {
        let Some(document) = store.get(path).await? else { return Ok(None) };
        if let Some(shown) = self.lock().get(path).filter(|shown| shown.raw == document.value) {
            return Ok(Some(shown.clone()));
        }
        let Some(shown) = Shown::new(document.value, show) else { return Ok(None) };
        let mut cache = self.lock();
        if cache.len() >= SHOWN_MAX {
            cache.clear();
        }
        cache.insert(path.clone(), shown.clone());
        Ok(Some(shown))
    }

    /// Lets go of what was forgotten.
    pub fn forget(&self, what: &Prefix) {
        self.lock().retain(|path, _| !what.holds(path.segments()));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<DocumentPath, Shown>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn bad_id(error: PathError) -> ApiError {
    ApiError::bad_id("user or thread", &error)
}
