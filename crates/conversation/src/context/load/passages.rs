//! Searching for passages: the second round of loading, since the query may depend on the documents of the
//! first.

use std::time::Duration;

use novelo_engine::assemble::needed_tokens;
use novelo_engine::path::{self, CollectionPath};
use novelo_engine::recall::{Recall, RecallHit, RecallSource, Recalled, ShownPassage};
use novelo_engine::{Message, Need, Recipe, Role, Tokenizer, Turn};
use novelo_recall::Why;
use novelo_store::{Range, Store};
use serde::Deserialize;

use super::ContextInputs;
use crate::context::Contexts;
use crate::context::request::Request;
use crate::error::{Code, Result};
use crate::policy::Prompt;
use crate::search::levels::Levels;
use crate::search::{
    Found, FoundPassage, NEAR_MAX, PassageQuery, PassageRef, Picked, Ranking, has_any, join_neighbours, name_documents,
    search,
};
use crate::telemetry::now;
use crate::thread::tail::excerpt;
use crate::trace::RecalledInput;

/// Messages that a question is made of where none is asked, and the characters taken of each.
const ASKED_TURNS: usize = 2;
const ASKED_CHARS: usize = 150;

impl ContextInputs {
    /// Searches for the passages that a recipe asks for.
    pub(crate) async fn search_passages(&mut self, app: &Contexts, recipe: &Recipe, request: &Request) -> Result<()> {
        let recalls = recipe.needs().into_iter().filter_map(|need| match need {
            Need::Recall(recall) => Some(recall),
            _ => None,
        });
        let asked = request.query.as_deref().or(request.question.as_deref());
        let query = asked.map(str::to_owned).or_else(|| self.last_said());
        let (shown, newest_user) = (self.shown_from(recipe), self.newest_user());
        let thread = request.reach.thread_id();
        let refused: Vec<u64> = self.refused.iter().map(|turn| turn.seq).collect();
        let is_here = |seq: u64| seq >= shown || Some(seq) == newest_user || refused.contains(&seq);
        let is_shown = |place: PassageRef<'_>| thread == Some(place.parent()) && is_here(place.seq);
        for recall in recalls {
            let given = request.recalled.iter().find(|given| given.recalled.recall == recall);
            let found = match (given, &request.user, &query) {
                (Some(given), ..) => Some(given.clone()),
                (None, Some(user), Some(query)) => find(app, user, &recall, (query, request.as_of), is_shown).await?,
                _ => None,
            };
            let Some(found) = found else { continue };
            self.take_found(found, recipe, request.budget_tokens);
        }
        if !request.omits_recall_notice && self.recalled.iter().any(|recalled| recalled.message.is_some()) {
            let notice = app.policies.prompt(Prompt::Recalled);
            self.recall_notice = Some(Message::text(Role::System, &notice));
        }
        Ok(())
    }

    /// Takes in the passages of one recall: as many as its share of the budget holds, numbered after those
    /// that are there.
    fn take_found(&mut self, mut found: RecalledPassages, recipe: &Recipe, budget_tokens: Option<u32>) {
        let first = self.sources.len() + 1;
        if found.recalled.recall.share_permille.is_some() {
            let needed_tokens = needed_tokens(recipe, &self.loaded());
            let room_tokens = found.recalled.recall.room_tokens(budget_tokens, needed_tokens).unwrap_or(u32::MAX);
            let lone_tokens = found.recalled.recall.lone_room_tokens(budget_tokens, needed_tokens);
            found.shorten(room_tokens, lone_tokens.unwrap_or(u32::MAX), recipe.tokenizer, first);
        } else if first > 1 {
            found.show(first);
        }
        self.recalled.push(found.recalled);
        self.sources.extend(found.shown);
    }

    /// The seq of the first turn that a window shows.
    fn shown_from(&self, recipe: &Recipe) -> u64 {
        let first = match recipe.window_turns() {
            Some(turns) => self.turns.iter().rev().take(turns as usize).last(),
            None => self.turns.iter().next(),
        };
        first.map_or(u64::MAX, |turn| turn.seq)
    }

    /// The newest turn of a user, which every window shows.
    fn newest_user(&self) -> Option<u64> {
        let is_user = |turn: &&Turn| turn.message.shown().is(Role::User) && !self.is_refused(turn.seq);
        self.turns.iter().rev().find(is_user).map(|turn| turn.seq)
    }

    /// What was said last, where nothing is asked.
    fn last_said(&self) -> Option<String> {
        let inline = self.inline.iter().rev();
        let stored = self.turns.iter().rev().filter(|turn| !self.is_refused(turn.seq));
        let messages = inline.chain(stored.map(|turn| turn.message.shown()));
        let texts = messages.filter_map(|message| excerpt(message, ASKED_CHARS));
        let mut texts: Vec<String> = texts.take(ASKED_TURNS).collect();
        texts.reverse();
        let text = texts.join(" ");
        (!text.trim().is_empty()).then_some(text)
    }

    /// Reads the passages of an old prompt again, as far as they are still stored.
    pub(super) async fn search_again(
        &mut self,
        store: &Store,
        recipe: &Recipe,
        inputs: &[RecalledInput],
    ) -> Result<()> {
        for input in inputs {
            let mut passages = Vec::new();
            for hit in &input.hits {
                passages.extend(read_again(store, input.recall.from, hit).await?);
            }
            name_documents(store, &mut passages).await?;
            let first = self.sources.len() + 1;
            let message = match input.has_origins {
                true => {
                    let shown = as_shown(&input.recall, &passages);
                    let message = show(&input.recall, &shown, first);
                    self.sources.extend(shown);
                    message
                }
                false => show_bare(&input.recall, &passages),
            };
            self.recalled.push(Recalled {
                recall: recall_of_recipe(recipe, input),
                message,
                hits: input.hits.clone(),
                near: input.near.clone(),
                problems: input.problems.clone(),
            });
        }
        Ok(())
    }
}

/// The recall of a recipe that an input belongs to. The defaults of older versions were others.
fn recall_of_recipe(recipe: &Recipe, input: &RecalledInput) -> Recall {
    let of = |recall: &Recall| (recall.from, recall.heading.clone(), recall.empty.clone());
    let recalls = recipe.needs().into_iter().filter_map(|need| match need {
        Need::Recall(recall) => Some(recall),
        _ => None,
    });
    let mut same = recalls.filter(|recall| !input.has_origins && of(recall) == of(&input.recall));
    same.next().unwrap_or_else(|| input.recall.clone())
}

/// The result of one recall of a recipe: as the prompt shows it, and the passages.
#[derive(Debug, Clone)]
pub struct RecalledPassages {
    /// As the prompt shows it.
    pub recalled: Recalled,
    /// The passages, best first.
    pub hits: Vec<FoundPassage>,
    /// The hits as the prompt shows them: neighbours are joined.
    pub shown: Vec<FoundPassage>,
    /// The best of what was not taken.
    pub near: Vec<FoundPassage>,
}

impl RecalledPassages {
    fn new(recall: &Recall, found: Found) -> Self {
        let Found { hits, near, notes } = found;
        let recalled =
            Recalled { recall: recall.clone(), message: None, hits: Vec::new(), near: Vec::new(), problems: notes };
        let mut passages = Self { recalled, hits, shown: Vec::new(), near };
        passages.show(1);
        passages
    }

    /// Makes the message, with numbers from `first` on.
    fn show(&mut self, first: usize) {
        let Self { recalled, hits, shown, near } = self;
        *shown = as_shown(&recalled.recall, hits);
        recalled.message = show(&recalled.recall, shown, first);
        recalled.hits = hits.iter().map(FoundPassage::to_hit).collect();
        recalled.near = near.iter().map(FoundPassage::to_hit).collect();
    }

    /// Keeps the best hits that fit into a room together, and makes the message of them. If none does, the
    /// best one that fits into the room of a lone hit.
    fn shorten(&mut self, room_tokens: u32, lone_tokens: u32, tokenizer: Tokenizer, first: usize) {
        let count = self.hits.len();
        self.fit(room_tokens, tokenizer, first);
        // Those that do not fit are the first of `near`, and one that is tried returns to its front.
        for at in 0..count.min(self.near.len()) {
            if !self.hits.is_empty() {
                return;
            }
            // What was replaced is not shown without what replaced it.
            if self.near.get(at).is_none_or(FoundPassage::is_history) {
                continue;
            }
            self.hits = vec![self.near.remove(at)];
            self.fit(lone_tokens, tokenizer, first);
        }
    }

    fn fit(&mut self, room_tokens: u32, tokenizer: Tokenizer, first: usize) {
        let (mut left_tokens, mut lacks_newest) = (room_tokens, false);
        let mut is_kept = |hit: &FoundPassage| {
            let tokens = tokenizer.count(&hit.text);
            let fits = tokens <= left_tokens && !(hit.is_history() && lacks_newest);
            left_tokens -= if fits { tokens } else { 0 };
            lacks_newest = if hit.is_history() { lacks_newest } else { !fits };
            fits
        };
        let (kept, left): (Vec<_>, Vec<_>) = std::mem::take(&mut self.hits).into_iter().partition(|hit| is_kept(hit));
        self.hits = kept;
        self.near.splice(0..0, left);
        self.near.truncate(NEAR_MAX);
        self.show(first);
        // Tags and origins take room too. They are counted here, and exactly.
        while self.recalled.message.as_ref().is_some_and(|message| message.tokens(tokenizer) > room_tokens) {
            if let Some(last) = self.hits.pop() {
                self.near.insert(0, last);
                self.near.truncate(NEAR_MAX);
            }
            self.show(first);
        }
    }
}

/// Searches for one recall of a recipe, so that a caller knows what was found before it asks for the prompt.
/// A search that is late, or that fails, finds nothing and says why.
pub(crate) async fn recall_one(
    app: &Contexts,
    user: &str,
    recall: &Recall,
    query: &str,
    is_shown: impl Fn(PassageRef<'_>) -> bool,
) -> Result<RecalledPassages> {
    let nothing = || RecalledPassages::new(recall, Found::default());
    Ok(find(app, user, recall, (query, None), is_shown).await?.unwrap_or_else(nothing))
}

/// The same; `None` where the user has nothing that could be found.
async fn find(
    app: &Contexts,
    user: &str,
    recall: &Recall,
    (query, as_of): (&str, Option<f64>),
    is_shown: impl Fn(PassageRef<'_>) -> bool,
) -> Result<Option<RecalledPassages>> {
    let hits_max = recall.hits_max as usize;
    let valid_at = Some(as_of.unwrap_or_else(now));
    let ask = PassageQuery { user, source: recall.from, query, parents: &[], explain: true, hits_max, as_of, valid_at };
    let search = async {
        if !has_any(app, user, ask.source).await? {
            return Ok(None);
        }
        let levels = Levels::of(&app.settings);
        let mut found = search(app, ask, |ranking| pick(ranking, recall, levels, &is_shown)).await?;
        found.hits.retain(|hit| !is_shown(PassageRef { of: &hit.collection, seq: hit.seq }));
        Ok(Some(found))
    };
    let limit = app.settings.load.timeout;
    let found = match within(limit, search).await? {
        Ok(found) => found,
        Err(why) => {
            let notes = vec![format!("{} were not searched: {why}", recall.from.name())];
            Some(Found { notes, ..Found::default() })
        }
    };
    let found = match found {
        Some(mut found) => {
            name_documents(&app.store, &mut found.hits).await?;
            Some(found)
        }
        None => None,
    };
    Ok(found.map(|found| RecalledPassages::new(recall, found)))
}

/// What a search gave, else what kept it from it, in words; none is no limit. A request that is at fault
/// itself is still refused.
async fn within<T>(
    limit: Option<Duration>,
    search: impl Future<Output = Result<T>>,
) -> Result<std::result::Result<T, String>> {
    let done = match limit {
        None => search.await,
        Some(limit) => match tokio::time::timeout(limit, search).await {
            Ok(done) => done,
            Err(_) => return Ok(Err(format!("it took longer than {limit:?}"))),
        },
    };
    match done {
        Err(error) if error.code != Code::InvalidField => Ok(Err(error.message)),
        done => done.map(Ok),
    }
}

fn pick(ranking: &Ranking<'_>, recall: &Recall, levels: Levels, is_shown: impl Fn(PassageRef<'_>) -> bool) -> Picked {
    let most = recall.hits_max as usize;
    match (recall.from, recall.per_level) {
        (RecallSource::Memories, Some(each)) => levels.pick(ranking, each as usize, most),
        (RecallSource::Turns, _) => ranking.pick_relevant(most, |place| !is_shown(place)),
        _ if recall.share_permille.is_some() => ranking.pick_filling(most),
        _ => ranking.pick_relevant(most, |_| true),
    }
}

/// Hits as a prompt shows them: of documents, neighbours are joined. What is longer than a hit may be is cut
/// to where the words of the query are, and not joined.
fn as_shown(recall: &Recall, hits: &[FoundPassage]) -> Vec<FoundPassage> {
    let mut shown = hits.to_vec();
    if recall.from != RecallSource::Documents {
        return shown;
    }
    for passage in &mut shown {
        if let Some(cut) = recall.cut(&passage.text, &passage.matched_words()) {
            (passage.text, passage.place.part) = (cut, None);
        }
    }
    join_neighbours(&shown)
}

fn show(recall: &Recall, shown: &[FoundPassage], first: usize) -> Option<Message> {
    let passages: Vec<ShownPassage<'_>> = shown.iter().map(FoundPassage::to_shown).collect();
    recall.show(&passages, first)
}

/// The message of a recall as older versions made it: without origins, and a line each.
fn show_bare(recall: &Recall, hits: &[FoundPassage]) -> Option<Message> {
    let bare = |hit| ShownPassage { lead: None, ..FoundPassage::to_shown(hit) };
    recall.show_lines(&hits.iter().map(bare).collect::<Vec<_>>())
}

async fn read_again(store: &Store, source: RecallSource, hit: &RecallHit) -> Result<Option<FoundPassage>> {
    let collection =
        path::decode(&hit.collection).and_then(|segments| CollectionPath::new(&segments)).map_err(super::bad_id)?;
    let turns = store.turns(&collection, Range::Between { first: hit.seq, last: hit.seq }).await?;
    let why = Why::deserialize(&hit.why).ok();
    let found = turns.iter().next().and_then(|turn| FoundPassage::read(source, &collection, turn, hit.score, why));
    Ok(found.map(|found| FoundPassage { standing: hit.standing.clone(), ..found }))
}

#[cfg(test)]
#[path = "passages_tests.rs"]
mod tests;
