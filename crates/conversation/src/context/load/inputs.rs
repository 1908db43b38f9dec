//! What was loaded: as the engine takes it, as a trace keeps it, and again from a trace.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use novelo_engine::compact::{CompactionPlan, PlannedSpan, SpanSource};
use novelo_engine::group::Groups;
use novelo_engine::loaded::{LoadedCollection, RefusedTurn, show_summary, show_user_data, summary_path};
use novelo_engine::path::{self, CollectionPath, DocumentPath};
use novelo_engine::piece::Origin;
use novelo_engine::time_scope::TimeRange;
use novelo_engine::{Assembly, Loaded, Message, Recipe, Role, Tokenizer, Turn, json, scope};
use novelo_store::{Range, Store};
use serde_json::value::RawValue;

use super::collection::Collected;
use super::turns::LEAD_TURNS_MAX;
use super::{ChosenCollection, ContextInputs, Shown, bad_id, shown};
use crate::context::Contexts;
use crate::context::collapse::ThreadGroups;
use crate::context::compact::{self, CompactionWork, ThreadCompactions};
use crate::context::request::Request;
use crate::error::Result;
use crate::thread::WantedSummary;
use crate::thread::compaction::{self, Compaction};
use crate::trace::{CollectionInput, GroupsInput, Inputs, PromptTrace, RecalledInput};

impl ContextInputs {
    /// Messages, and nothing of a store.
    pub(crate) fn given(messages: Vec<Message>) -> Self {
        Self { inline: messages, ..Self::default() }
    }

    /// Adds the question, unless the newest turn asks it already.
    pub fn ask(&mut self, question: Option<&str>) {
        let newest = self.turns.iter().rev().find(|turn| !self.is_refused(turn.seq)).map(|t| &t.message);
        let newest = self.inline.last().or(newest).filter(|m| m.is(Role::User));
        let asked = |q: &&str| newest.and_then(|m| m.content_text()).as_deref() == Some(*q);
        self.question = question.filter(|q| !asked(q)).map(|q| Message::text(Role::User, q));
    }

    /// The last turn of the user's thread that was looked at, if one was.
    pub fn last_seq(&self) -> Option<u64> {
        self.turns_in.as_ref().filter(|_| !self.outside).map(|_| self.turns.last_seq)
    }

    /// The last of the turns at the front that a prompt leaves out. Instructions stay in front of these.
    pub(crate) fn left_out_upto(&self, assembly: &Assembly<'_>) -> u64 {
        let first = assembly.messages().find_map(|piece| match piece.origin {
            // The text of a span covers its turns.
            Origin::Compaction(shown) => Some(shown.span.first_seq),
            Origin::Turn { seq, .. } if !piece.base().role().is_some_and(Role::instructs) => Some(seq),
            _ => None,
        });
        first.map_or(self.turns.last_seq, |first| first.saturating_sub(1))
    }

    /// The last turn that the summary was made from.
    pub(crate) fn summary_upto(&self) -> u64 {
        self.summary.as_ref().and_then(|summary| summary.upto_seq).unwrap_or(0)
    }

    /// Has the thread summed up to a turn, unless it is, and takes the new summary in.
    pub async fn sum_up(&mut self, app: &Contexts, request: &Request, upto_seq: u64) -> Result<()> {
        let (Some(user), Some(thread)) = (&request.user, request.reach.thread_id()) else { return Ok(()) };
        let path = summary_path(user, thread).map_err(bad_id)?;
        // A caller's summary, and one that says nothing, cover turns too.
        let stored = app.store.get(&path).await?;
        if stored.and_then(|document| covered_upto(&document.value)).is_some_and(|covered| covered >= upto_seq) {
            return Ok(());
        }
        app.sum_up_now(user, thread, WantedSummary::Anyway).await;
        self.summary = shown::load(&app.store, &app.caches.shown, &path, show_summary).await?;
        Ok(())
    }

    /// Carries a compaction out, and takes its spans in. In a thread of the user it is stored; if another
    /// request was faster, its compaction is taken instead. Returns what was stored.
    pub async fn compact(
        &mut self,
        app: &Contexts,
        request: &Request,
        plan: &CompactionPlan,
        tokenizer: Tokenizer,
    ) -> Result<Option<Arc<Compaction>>> {
        let known = self.compactions.take().unwrap_or_default();
        let thread = request.user.as_deref().zip(request.reach.thread_id()).filter(|_| !self.outside);
        let (number, made_from) = (known.next_number(), self.newest_turn());
        let work = CompactionWork { app, thread, plan, tokenizer, number, made_from };
        let made = Arc::new(work.make(&self.span_messages(plan)).await?);
        let is_threads = plan.spans.iter().all(|span| span.source == SpanSource::Thread);
        let mut is_stored = false;
        self.compactions = match (thread.filter(|_| is_threads), &self.turns_in) {
            (Some((user, thread)), Some(turns)) => {
                is_stored = compaction::store(app, user, thread, &made, &self.span_turns(turns, &made)?).await?;
                compact::find(&app.store, &app.caches.compactions, user, thread).await?
            }
            _ => Some(Arc::new(known.with(made.spans.clone()))),
        };
        Ok(Some(made).filter(|_| is_stored))
    }

    /// The compactions that were loaded.
    pub(crate) fn compactions(&self) -> Option<&ThreadCompactions> {
        self.compactions.as_deref()
    }

    /// The messages of each span, with their times, which are 0 for messages of the request.
    pub(crate) fn span_messages(&self, plan: &CompactionPlan) -> Vec<Vec<(Message, f64)>> {
        let of = |span: &PlannedSpan| -> Vec<(Message, f64)> {
            match span.source {
                SpanSource::Thread => {
                    let holds = |turn: &&Turn| (span.first_seq..=span.last_seq).contains(&turn.seq);
                    let turns = self.turns.iter().filter(holds).filter(|turn| !self.is_refused(turn.seq));
                    turns.map(|turn| (turn.message.shown().clone(), turn.create_time)).collect()
                }
                SpanSource::Request => {
                    let first = usize::try_from(span.first_seq).unwrap_or(usize::MAX);
                    let count = usize::try_from(span.last_seq - span.first_seq).unwrap_or(usize::MAX);
                    let messages = self.inline.iter().skip(first).take(count.saturating_add(1));
                    messages.map(|message| (message.clone(), 0.0)).collect()
                }
            }
        };
        plan.spans.iter().map(of).collect()
    }

    /// The documents of the turns that a compaction was made from.
    pub(crate) fn span_turns(&self, of: &CollectionPath, made: &Compaction) -> Result<Vec<DocumentPath>> {
        let holds = |turn: &&Turn| made.spans.iter().any(|span| span.holds(SpanSource::Thread, turn.seq));
        self.turns.iter().filter(holds).map(|turn| of.document(&turn.id).map_err(bad_id)).collect()
    }

    /// The view that the engine takes.
    pub fn loaded(&self) -> Loaded<'_> {
        Loaded {
            turns: self.stretch_of_turns(),
            turns_before: self.turns_before,
            summary: self.summary.as_ref().map(|s| &*s.message),
            summary_upto: self.summary.as_ref().and_then(|s| s.upto_seq),
            user_data: self.user_data.as_ref().map(|s| &*s.message),
            collections: self.collections.iter().map(ChosenCollection::read).collect(),
            groups: self.groups.as_ref().map(|found| &found.groups),
            compactions: self.compactions.as_ref().map(|found| &found.compactions),
            refused: &self.refused,
            membership: self.membership.as_deref(),
            recalled: &self.recalled,
            recall_notice: self.recall_notice.as_ref(),
            inline: &self.inline,
            question: self.question.as_ref(),
            unknown_fields: &self.unknown_fields,
        }
    }

    fn stretch_of_turns(&self) -> Vec<&Turn> {
        let all = self.lead().chain(self.turns.iter());
        let mut turns = Vec::with_capacity(self.turns.len() + LEAD_TURNS_MAX);
        match self.stretch == TimeRange::default() {
            true => turns.extend(all),
            false => turns.extend(all.filter(|turn| self.stretch.holds(turn.create_time))),
        }
        if self.in_time && !turns.is_sorted_by(|a, b| a.create_time <= b.create_time) {
            turns.sort_by(|a, b| a.create_time.total_cmp(&b.create_time));
        }
        turns
    }

    /// Whether a model refused a turn.
    pub(super) fn is_refused(&self, seq: u64) -> bool {
        self.refused.binary_search_by_key(&seq, |turn| turn.seq).is_ok()
    }

    /// The instructions that lead the thread, where the turns do not reach back to them.
    pub(super) fn lead(&self) -> impl Iterator<Item = &Turn> {
        let first = self.first_seq();
        let instructs = move |t: &&Turn| t.message.role().is_some_and(Role::instructs) && t.seq < first;
        self.lead.iter().take_while(instructs)
    }

    pub(super) fn first_seq(&self) -> u64 {
        self.turns.iter().next().map_or(0, |t| t.seq)
    }

    /// The stored documents among them, as a trace keeps them.
    pub(crate) fn to_trace(&self) -> Inputs {
        let ends = self.turns.iter().next().zip(self.turns.iter().next_back());
        let kept = |shown: &Option<Shown>| shown.as_ref().and_then(|s| raw(&s.raw));
        let collection = |chosen: &ChosenCollection| {
            let documents = chosen.of.items.iter().zip(&chosen.of.values);
            let documents = documents.skip(chosen.range.start).take(chosen.range.len());
            CollectionInput {
                name: chosen.name.clone(),
                shape: chosen.shape,
                level: chosen.level,
                documents: documents.filter_map(|(item, value)| Some((item.id.to_string(), raw(value)?))).collect(),
                before: chosen.before,
            }
        };
        Inputs {
            turns: ends.map(|(first, last)| (first.seq, last.seq)),
            turns_in: self.turns_in.as_ref().filter(|_| self.outside).map(CollectionPath::to_string),
            begin: self.stretch.begin,
            end: self.stretch.end,
            in_time: self.in_time,
            newest: self.by_time.then_some(self.turns.len() as u64),
            lead: self.lead().count() as u64,
            turns_before: self.turns_before,
            summary: kept(&self.summary),
            user_data: kept(&self.user_data),
            collections: self.collections.iter().map(collection).collect(),
            groups: self.groups.as_ref().map(|found| self.groups_input(&found.groups)),
            compactions: self.compactions.as_ref().map(|found| found.to_trace()),
            refused: self.refused_input(),
            recalled: self.recalled.iter().map(RecalledInput::of).collect(),
            recall_notice: self.recall_notice.as_ref().and_then(|notice| raw(notice.raw())),
            messages: self.inline.iter().filter_map(|m| raw(m.raw())).collect(),
            unknown_fields: self.unknown_fields.clone(),
        }
    }

    /// The marks of the turns that were looked at.
    fn refused_input(&self) -> Vec<RefusedTurn> {
        let first = self.first_seq();
        self.refused.iter().filter(|turn| turn.seq >= first).cloned().collect()
    }

    fn groups_input(&self, groups: &Groups) -> GroupsInput {
        let place = |turn: &Turn| Some((turn.id.clone(), groups.place(&turn.id)? as u32));
        GroupsInput {
            groups: groups.iter().cloned().collect(),
            of: self.lead().chain(self.turns.iter()).filter_map(place).collect(),
            problems: groups.problems.clone(),
        }
    }

    /// Loads the inputs of an old prompt again.
    pub async fn reload(store: &Store, recipe: &Recipe, trace: &PromptTrace) -> Result<Self> {
        let traced = &trace.inputs;
        let mut inputs = Self {
            summary: traced.summary.as_deref().and_then(|raw| Shown::new(bytes(raw), show_summary)),
            user_data: traced.user_data.as_deref().and_then(|raw| Shown::new(bytes(raw), show_user_data)),
            inline: traced.messages.iter().map(|raw| Message::from_stored(bytes(raw))).collect(),
            turns_before: traced.turns_before,
            stretch: TimeRange { begin: traced.begin, end: traced.end },
            in_time: traced.in_time,
            collections: traced.collections.iter().map(chosen).collect(),
            groups: traced.groups.as_ref().map(|groups| Arc::new(ThreadGroups::again(groups))),
            compactions: traced.compactions.as_ref().map(|input| Arc::new(ThreadCompactions::again(input))),
            refused: traced.refused.clone(),
            recall_notice: traced.recall_notice.as_deref().map(|raw| Message::from_stored(bytes(raw))),
            unknown_fields: traced.unknown_fields.clone(),
            ..Self::default()
        };
        if let (Some(of), Some((first, last))) = (turns_in(trace)?, traced.turns) {
            if traced.lead > 0 {
                inputs.lead = store.turns(&of, Range::After { seq: 0, limit: LEAD_TURNS_MAX }).await?;
            }
            match traced.newest {
                Some(turns) => inputs.choose_again(store, &of, (first, last), turns).await?,
                None => inputs.turns = store.turns(&of, Range::Between { first, last }).await?,
            }
        }
        inputs.search_again(store, recipe, &traced.recalled).await?;
        inputs.ask(trace.question.as_deref());
        Ok(inputs)
    }

    /// The newest turn of the user's that went in.
    pub(crate) fn newest_turn(&self) -> Option<DocumentPath> {
        let of = self.turns_in.as_ref().filter(|_| !self.outside)?;
        of.document(&self.turns.iter().next_back()?.id).ok()
    }

    /// Changes when stored turns were replaced or removed.
    pub(crate) fn epoch(&self) -> u64 {
        self.turns.epoch
    }
}

/// Everything by which one prompt differs from another, but for the turns, which are hashed by their seqs as
/// loaded.
impl Hash for ContextInputs {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self {
            turns,
            turns_before,
            summary,
            user_data,
            collections,
            groups,
            compactions,
            refused,
            recalled,
            recall_notice,
            inline,
            question,
            turns_in,
            outside,
            unknown_fields,
            // They say which turns are loaded, and in which order.
            lead: _,
            stretch: _,
            in_time: _,
            by_time: _,
            // It follows from the groups and the turns.
            membership: _,
            // They are the passages of `recalled`.
            sources: _,
        } = self;
        (turns_in.as_ref().map(CollectionPath::segments), turns.last_seq, turns.epoch).hash(hasher);
        (turns_before, outside, inline.len(), collections.len()).hash(hasher);
        inline.iter().for_each(|message| message.raw().hash(hasher));
        [question, recall_notice].map(|message| message.as_ref().map(Message::raw)).hash(hasher);
        unknown_fields.hash(hasher);
        let chosen = |c: &ChosenCollection| (c.shape, c.level, c.of.fingerprint, c.range.clone(), c.before);
        collections.iter().for_each(|c| (&c.name, chosen(c)).hash(hasher));
        [summary, user_data].map(|shown| shown.as_ref().map(|s| &s.raw)).hash(hasher);
        groups.as_ref().map(|found| found.fingerprint).hash(hasher);
        compactions.as_ref().map(|found| found.fingerprint).hash(hasher);
        refused.hash(hasher);
        for recalled in recalled {
            recalled.message.as_ref().map(Message::raw).hash(hasher);
            let hits = recalled.hits.iter().chain(&recalled.near);
            hits.for_each(|hit| (&hit.collection, hit.seq, hit.score.to_bits()).hash(hasher));
            recalled.problems.hash(hasher);
        }
    }
}

impl ChosenCollection {
    fn read(&self) -> LoadedCollection<'_> {
        let items = self.of.items.get(self.range.clone()).unwrap_or_default();
        LoadedCollection { name: &self.name, shape: self.shape, level: self.level, items, before: self.before }
    }
}

fn chosen(input: &CollectionInput) -> ChosenCollection {
    let documents = input.documents.iter().map(|(id, raw)| (id.as_str().into(), 0.0, bytes(raw)));
    let of = Arc::new(Collected::new(documents, input.shape));
    let range = 0..of.items.len();
    let (name, before) = (input.name.clone(), input.before);
    ChosenCollection { name, shape: input.shape, level: input.level, of, range, before }
}

/// Where the turns of a trace are.
fn turns_in(trace: &PromptTrace) -> Result<Option<CollectionPath>> {
    if let Some(of) = &trace.inputs.turns_in {
        let segments = path::decode(of).map_err(bad_id)?;
        return CollectionPath::new(&segments).map(Some).map_err(bad_id);
    }
    match (&trace.user, &trace.thread) {
        (Some(user), Some(thread)) => scope::turns(user, thread).map(Some).map_err(bad_id),
        _ => Ok(None),
    }
}

/// The last turn that a summary covers, as its document says.
fn covered_upto(raw: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(raw).ok()?;
    json::member(text, "upto_seq")?.slice(text).parse().ok()
}

fn bytes(raw: &RawValue) -> Bytes {
    Bytes::copy_from_slice(raw.get().as_bytes())
}

fn raw(bytes: &[u8]) -> Option<Box<RawValue>> {
    RawValue::from_string(std::str::from_utf8(bytes).ok()?.to_owned()).ok()
}
