//! The second round of loading: what is searched for depends on what the first round gave.

use std::time::Duration;

use novelo_engine::path::{self, CollectionPath};
use novelo_engine::recall::{self, Recall, RecallHit, Recalled};
use novelo_engine::{Need, Recipe, Role, Turn};
use novelo_store::{Range, Store};
use serde_json::Value;

use super::Near;
use crate::context::Contexts;
use crate::context::request::Request;
use crate::error::{Code, Result};
use crate::search::levels::Levels;
use crate::search::{Ask, Corpus, Found, Passage, Picked, Place, Ranking, has_any, said, search};
use crate::text::cut;
use crate::trace::RecalledInput;

/// Messages that a question is made of where none is asked, and the characters taken of each.
const ASKED_TURNS: usize = 2;
const ASKED_CHARS: usize = 150;

impl Near {
    /// Recalls what a recipe asks for.
    pub async fn recall(&mut self, app: &Contexts, recipe: &Recipe, request: &Request) -> Result<()> {
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
        let is_shown = |place: Place<'_>| thread == Some(place.parent()) && is_here(place.seq);
        for recall in recalls {
            let given = request.recalled.iter().find(|(recalled, _)| recalled.recall == recall);
            let found = match (given, &request.user, &query) {
                (Some(given), ..) => Some(given.clone()),
                (None, Some(user), Some(query)) => find(app, user, &recall, query, is_shown).await?,
                _ => None,
            };
            let Some((recalled, sources)) = found else { continue };
            self.recalled.push(recalled);
            self.sources.extend(sources);
        }
        Ok(())
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
        let mut texts: Vec<String> =
            messages.filter_map(said).map(|text| cut(&text, ASKED_CHARS)).take(ASKED_TURNS).collect();
        texts.reverse();
        let text = texts.join(" ");
        (!text.trim().is_empty()).then_some(text)
    }

    /// What an old prompt recalled, as far as it is still there.
    pub(super) async fn recall_again(&mut self, store: &Store, inputs: &[RecalledInput]) -> Result<()> {
        for input in inputs {
            let mut texts = Vec::new();
            for hit in &input.hits {
                texts.extend(text_again(store, input.recall.from, hit).await?.map(|text| (text, hit)));
            }
            self.recalled.push(Recalled {
                recall: input.recall.clone(),
                message: input.recall.show(texts.iter().map(|(text, hit)| (text.as_str(), words(hit)))),
                hits: input.hits.clone(),
                near: input.near.clone(),
                problems: input.problems.clone(),
            });
        }
        Ok(())
    }
}

/// Searches for one recall of a recipe, so that a caller knows what was found before it asks for the prompt. A search
/// that is late, or that fails, finds nothing and says why.
pub async fn recall_one(
    app: &Contexts,
    user: &str,
    recall: &Recall,
    query: &str,
    is_shown: impl Fn(Place<'_>) -> bool,
) -> Result<(Recalled, Vec<Source>)> {
    let nothing = || (recalled(recall, Found::default()), Vec::new());
    Ok(find(app, user, recall, query, is_shown).await?.unwrap_or_else(nothing))
}

/// The same; `None` where the user has nothing that could be found.
async fn find(
    app: &Contexts,
    user: &str,
    recall: &Recall,
    query: &str,
    is_shown: impl Fn(Place<'_>) -> bool,
) -> Result<Option<(Recalled, Vec<Source>)>> {
    let ask = Ask { user, corpus: corpus(recall.from), query, parents: &[], explain: true };
    let search = async {
        match has_any(app, user, ask.corpus).await? {
            true => {
                search(app, ask, |ranking| pick(ranking, recall, Levels::of(&app.config), is_shown)).await.map(Some)
            }
            false => Ok(None),
        }
    };
    let limit = Duration::from_millis(app.config.number("load.timeout_ms"));
    let found = match within(limit, search).await? {
        Ok(found) => found,
        Err(why) => {
            let notes = vec![format!("{} were not searched: {why}", recall.from.name())];
            Some(Found { notes, ..Found::default() })
        }
    };
    Ok(found.map(|found| {
        let sources = found.hits.iter().map(|passage| Source::of(recall.from, passage)).collect();
        (recalled(recall, found), sources)
    }))
}

/// What a search gave, else what kept it from it, in words; zero is no limit. A request that is at fault itself is
/// still refused.
async fn within<T>(limit: Duration, search: impl Future<Output = Result<T>>) -> Result<std::result::Result<T, String>> {
    let done = match limit.is_zero() {
        true => search.await,
        false => match tokio::time::timeout(limit, search).await {
            Ok(done) => done,
            Err(_) => return Ok(Err(format!("it took longer than {limit:?}"))),
        },
    };
    match done {
        Err(error) if error.code != Code::InvalidField => Ok(Err(error.message)),
        done => done.map(Ok),
    }
}

/// A passage that went into a prompt.
#[derive(Debug, Clone)]
pub struct Source {
    pub from: recall::RecallSource,
    /// The thread of a turn, the document of a passage.
    pub parent: Box<str>,
    pub id: Box<str>,
    pub text: Box<str>,
    /// The file and the line that it was taken from.
    pub file: Option<String>,
    pub line: Option<u64>,
    pub score: f32,
}

impl Source {
    fn of(from: recall::RecallSource, passage: &Passage) -> Self {
        let (file, line) = passage.place_in_file();
        let (parent, id, text) = (passage.parent().into(), passage.id.clone(), passage.text.as_str().into());
        Self { from, parent, id, text, file, line, score: passage.score }
    }
}

fn corpus(from: recall::RecallSource) -> Corpus {
    match from {
        recall::RecallSource::Memories => Corpus::Memories,
        recall::RecallSource::Turns => Corpus::Turns,
        recall::RecallSource::Documents => Corpus::Documents,
    }
}

fn pick(ranking: &Ranking<'_>, recall: &Recall, levels: Levels, is_shown: impl Fn(Place<'_>) -> bool) -> Picked {
    let most = recall.hits_max as usize;
    match (recall.from, recall.per_level) {
        (recall::RecallSource::Memories, Some(each)) => levels.pick(ranking, each as usize, most),
        (recall::RecallSource::Turns, _) => ranking.pick_relevant(most, |place| !is_shown(place)),
        _ => ranking.pick_relevant(most, |_| true),
    }
}

fn recalled(recall: &Recall, found: Found) -> Recalled {
    let texts: Vec<String> = found.hits.iter().map(|passage| passage.text.clone()).collect();
    let hits: Vec<RecallHit> = found.hits.into_iter().map(hit).collect();
    let near = found.near.into_iter().map(hit).collect();
    let message = recall.show(texts.iter().map(String::as_str).zip(hits.iter().map(words)));
    Recalled { recall: recall.clone(), message, hits, near, problems: found.notes }
}

fn hit(passage: Passage) -> RecallHit {
    let why = passage.why.and_then(|why| serde_json::to_value(why).ok()).unwrap_or(Value::Null);
    RecallHit { collection: passage.of.to_string(), id: passage.id.into(), seq: passage.seq, score: passage.score, why }
}

/// The words of the query that found something.
fn words(hit: &RecallHit) -> Vec<&str> {
    let of = |name: &str| hit.why.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    of("matched").chain(of("alike")).collect()
}

async fn text_again(store: &Store, from: recall::RecallSource, hit: &RecallHit) -> Result<Option<String>> {
    let of =
        path::decode(&hit.collection).and_then(|segments| CollectionPath::new(&segments)).map_err(super::bad_id)?;
    let turns = store.turns(&of, Range::Between { first: hit.seq, last: hit.seq }).await?;
    Ok(turns.iter().next().and_then(|turn| Some(corpus(from).text(turn)?.into_owned())))
}

#[cfg(test)]
#[path = "far_tests.rs"]
mod tests;
