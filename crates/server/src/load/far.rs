//! The second round of loading: what is searched for depends on what the first round gave.

use novelo_engine::filter::Filter;
use novelo_engine::path::{self, CollectionPath};
use novelo_engine::recall::{self, Hit, Recall, Recalled};
use novelo_engine::{Need, Recipe, Role};
use novelo_store::{Range, Store};
use serde_json::Value;

use super::Near;
use crate::app::Shared;
use crate::http::error::Result;
use crate::memory::levels::Levels;
use crate::recall::{Ask, Corpus, Found, Passage, Picked, Place, Ranking, has_any, said, search};
use crate::request::Request;
use crate::trace::RecalledInput;

/// Messages that a question is made of where none is asked, and the characters taken of each.
const ASKED_TURNS: usize = 2;
const ASKED_CHARS: usize = 150;

impl Near {
    /// Recalls what a recipe asks for.
    pub async fn recall(&mut self, app: &Shared, recipe: &Recipe, request: &Request) -> Result<()> {
        let recalls = recipe.needs().into_iter().filter_map(|need| match need {
            Need::Recall(recall) => Some(recall),
            _ => None,
        });
        let Some(user) = request.user.as_deref() else { return Ok(()) };
        for recall in recalls {
            if !has_any(app, user, corpus(recall.from)).await? {
                continue;
            }
            let asked = request.query.as_deref().or(request.question.as_deref());
            let Some(query) = asked.map(str::to_owned).or_else(|| self.last_said()) else { return Ok(()) };
            let (shown, newest_user) = (self.shown_from(recipe), self.newest_user());
            let thread = request.reach.thread_id();
            let ask = Ask { user, corpus: corpus(recall.from), query: &query, explain: true };
            let is_shown = |place: Place<'_>| {
                thread == Some(place.parent()) && (place.seq >= shown || Some(place.seq) == newest_user)
            };
            let found = search(app, ask, |ranking| pick(ranking, recall, Levels::of(&app.config), is_shown)).await?;
            self.sources.extend(found.hits.iter().map(|passage| Source::of(recall.from, passage)));
            self.recalled.push(recalled(recall, found));
        }
        Ok(())
    }

    /// The seq of the first turn that a window shows.
    fn shown_from(&self, recipe: &Recipe) -> u64 {
        let window = recipe.filters.iter().find_map(|filter| match filter {
            Filter::HistoryWindow(window) => window.turns(),
            _ => None,
        });
        let first = match window {
            Some(turns) => self.turns.iter().rev().take(turns as usize).last(),
            None => self.turns.iter().next(),
        };
        first.map_or(u64::MAX, |turn| turn.seq)
    }

    /// The newest turn of a user, which every window shows.
    fn newest_user(&self) -> Option<u64> {
        self.turns.iter().rev().find(|turn| turn.message.shown().is(Role::User)).map(|turn| turn.seq)
    }

    /// What was said last, where nothing is asked.
    fn last_said(&self) -> Option<String> {
        let inline = self.inline.iter().rev();
        let messages = inline.chain(self.turns.iter().rev().map(|turn| turn.message.shown()));
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
                recall: input.recall,
                message: input.recall.show(texts.iter().map(|(text, hit)| (text.as_str(), words(hit)))),
                hits: input.hits.clone(),
                near: input.near.clone(),
                problems: input.problems.clone(),
            });
        }
        Ok(())
    }
}

/// A passage that went into a prompt.
#[derive(Debug, Clone)]
pub struct Source {
    pub from: recall::Source,
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
    fn of(from: recall::Source, passage: &Passage) -> Self {
        let (file, line) = passage.place_in_file();
        let (parent, id, text) = (passage.parent().into(), passage.id.clone(), passage.text.as_str().into());
        Self { from, parent, id, text, file, line, score: passage.score }
    }
}

fn corpus(from: recall::Source) -> Corpus {
    match from {
        recall::Source::Memories => Corpus::Memories,
        recall::Source::Turns => Corpus::Turns,
        recall::Source::Documents => Corpus::Documents,
    }
}

fn pick(ranking: &Ranking<'_>, recall: Recall, levels: Levels, is_shown: impl Fn(Place<'_>) -> bool) -> Picked {
    let most = recall.hits_max as usize;
    match (recall.from, recall.per_level) {
        (recall::Source::Memories, Some(each)) => levels.pick(ranking, each as usize, most),
        (recall::Source::Turns, _) => ranking.pick_relevant(most, |place| !is_shown(place)),
        _ => ranking.pick_relevant(most, |_| true),
    }
}

fn recalled(recall: Recall, found: Found) -> Recalled {
    let texts: Vec<String> = found.hits.iter().map(|passage| passage.text.clone()).collect();
    let hits: Vec<Hit> = found.hits.into_iter().map(hit).collect();
    let near = found.near.into_iter().map(hit).collect();
    let message = recall.show(texts.iter().map(String::as_str).zip(hits.iter().map(words)));
    Recalled { recall, message, hits, near, problems: found.notes }
}

fn hit(passage: Passage) -> Hit {
    let why = passage.why.and_then(|why| serde_json::to_value(why).ok()).unwrap_or(Value::Null);
    Hit { of: passage.of.to_string(), id: passage.id.into(), seq: passage.seq, score: passage.score, why }
}

/// The words of the query that found something.
fn words(hit: &Hit) -> Vec<&str> {
    let of = |name: &str| hit.why.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    of("matched").chain(of("alike")).collect()
}

async fn text_again(store: &Store, from: recall::Source, hit: &Hit) -> Result<Option<String>> {
    let of = path::decode(&hit.of).and_then(|segments| CollectionPath::new(&segments)).map_err(super::bad_id)?;
    let turns = store.turns(&of, Range::Between { first: hit.seq, last: hit.seq }).await?;
    Ok(turns.iter().next().and_then(|turn| Some(corpus(from).text(turn)?.into_owned())))
}

/// The first characters of a text.
pub fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}
