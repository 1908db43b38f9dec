//! A search: bring the index up to date, rank, pick, and read what was picked.

use std::sync::Arc;

use novelo_engine::recall::RecallSource;
use novelo_language::calendar::day;
use novelo_recall::{Hit, Query, Ranked, Why};
use novelo_store::Range;
use tokio::sync::RwLock;

use super::embedder::another_size;
use super::passage::FoundPassage;
use super::qdrant_index::{self, QdrantHits};
use super::sources::PassageRef;
use super::standing::{self, is_valid};
use super::user_index::UserIndex;
use crate::error::{Code, Error, Result};
use crate::search::Search;

/// Who looks for what, and where.
#[derive(Debug, Clone, Copy)]
pub struct PassageQuery<'a> {
    /// The user whose passages are searched.
    pub user: &'a str,
    /// The kind of passage.
    pub source: RecallSource,
    /// What is searched for.
    pub query: &'a str,
    /// Of which threads or documents; of all where none is named. Only a help: what is picked decides.
    pub parents: &'a [&'a str],
    /// Whether each hit should say why.
    pub explain: bool,
    /// How many hits there may be, with those that replaced a hit.
    pub hits_max: usize,
    /// What was said after this time, in seconds, is not there.
    pub as_of: Option<f64>,
    /// The time at which a memory must be valid, if it says when it is.
    pub valid_at: Option<f64>,
}

/// All passages of one kind, scored.
pub struct Ranking<'r> {
    pub(super) part: &'r UserIndex,
    pub(super) ranked: Ranked<'r>,
    as_of: Option<f64>,
}

/// What was picked from a ranking, best first, and what nearly was.
#[derive(Debug, Default)]
pub struct Picked {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// The best passages that were not picked.
    pub near: Vec<Hit>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<FoundPassage>,
    /// The best passages that were not picked.
    pub near: Vec<FoundPassage>,
    /// What the caller should know of, such as an embedder that did not answer.
    pub notes: Vec<String>,
}

/// Ranking more passages than these takes too long for other requests to wait.
const RANKED_AT_ONCE_MAX: usize = 20_000;
pub(crate) const NEAR_MAX: usize = 3;
/// What scores less than this share of the best is there by chance, or is not worth a place that could stay
/// empty.
pub(crate) const SHARE_MIN: f32 = 0.03;
const FILLING_SHARE_MIN: f32 = 0.2;
/// How often a document may be there again before it costs others their place.
const REPEATS_MAX: usize = 8;

impl Ranking<'_> {
    /// The best `k` of those within, and the few behind them.
    pub fn pick(&self, k: usize, within: impl Fn(PassageRef<'_>) -> bool) -> Picked {
        let mut hits = self.top(k + NEAR_MAX, within);
        let near = hits.split_off(k.min(hits.len()));
        Picked { hits, near }
    }

    /// The seq of the first of the newest so many passages, where all are of one collection.
    pub(crate) fn newest_from(&self, count: usize) -> u64 {
        self.part.newest_from(count)
    }

    /// The best `k` of those within that speak to the query, and the few behind them: what a prompt may be
    /// given.
    pub(crate) fn pick_relevant(&self, k: usize, within: impl Fn(PassageRef<'_>) -> bool) -> Picked {
        let mut hits = Vec::new();
        let near = self.add_relevant(&mut hits, k, SHARE_MIN, within);
        Picked { hits, near }
    }

    /// The same for places that may stay empty: what fits much worse than the best does not get one.
    pub(crate) fn pick_filling(&self, k: usize) -> Picked {
        let mut hits = Vec::new();
        let near = self.add_relevant(&mut hits, k, FILLING_SHARE_MIN, |_| true);
        Picked { hits, near }
    }

    /// Adds the best `k` of those within that speak to the query and say what none of the others says.
    /// Returns the few behind them. Of texts that are nearly equal the newest stands for all; of documents,
    /// which have no time, the best.
    pub(crate) fn add_relevant(
        &self,
        hits: &mut Vec<Hit>,
        k: usize,
        share_min: f32,
        within: impl Fn(PassageRef<'_>) -> bool,
    ) -> Vec<Hit> {
        let (hits_max, mut near) = (hits.len() + k, Vec::new());
        let found = self.top(hits_max * REPEATS_MAX + NEAR_MAX, within);
        let score_min = found.first().map_or(0.0, |best| best.score * share_min);
        for hit in found {
            if let Some(kept) = hits.iter_mut().find(|kept| self.ranked.are_alike(kept.key, hit.key)) {
                if self.part.source != RecallSource::Documents && self.ranked.is_newer(hit.key, kept.key) {
                    kept.key = hit.key;
                }
            } else if hits.len() < hits_max && hit.score >= score_min && self.ranked.is_relevant(hit.key) {
                hits.push(hit);
            } else if near.len() < NEAR_MAX {
                near.push(hit);
            }
        }
        near
    }

    /// The best `k` of those within, best first.
    pub fn top(&self, k: usize, within: impl Fn(PassageRef<'_>) -> bool) -> Vec<Hit> {
        let last_day = self.as_of.and_then(day);
        let is_known = |key| last_day.is_none_or(|last| self.ranked.day(key).is_none_or(|day| day <= last));
        self.ranked.top(k, |key| is_known(key) && self.part.place(key).is_some_and(&within))
    }
}

/// Looks for something, and reads what `pick` takes of the ranking.
pub async fn search(app: &Search, ask: PassageQuery<'_>, pick: impl FnOnce(&Ranking<'_>) -> Picked) -> Result<Found> {
    let part = current(app, ask.user, ask.source).await?;
    let (similar, notes) = similar(app, &part, &ask).await;
    let part = part.read().await;
    let rank = || match &similar {
        Similar::Vector(vector) => part.index.rank(&Query { text: ask.query, vector: vector.as_deref() }),
        Similar::QdrantHits(found) => part.index.rank_with(&Query { text: ask.query, vector: None }, &found.near()),
    };
    let ranked = match part.index.len() > RANKED_AT_ONCE_MAX {
        true => tokio::task::block_in_place(rank),
        false => rank(),
    };
    let ranking = Ranking { part: &part, ranked, as_of: ask.as_of };
    let picked = pick(&ranking);
    let mut found = Found { notes, ..Found::default() };
    for (hits, out) in [(&picked.hits, &mut found.hits), (&picked.near, &mut found.near)] {
        for hit in hits {
            let why = ask.explain.then(|| ranking.ranked.why(hit.key));
            let passage = read(app, &ranking, ask.source, hit, why).await?;
            out.extend(passage.filter(|passage| is_valid(passage, &ask)));
        }
    }
    standing::arrange(app, &ranking, &mut found, &ask).await?;
    Ok(found)
}

/// Whether a user has any passage of a kind.
pub(crate) async fn has_any(app: &Search, user: &str, source: RecallSource) -> Result<bool> {
    Ok(!current(app, user, source).await?.read().await.index.is_empty())
}

/// What says how near passages are to a question.
enum Similar {
    Vector(Option<Arc<[f32]>>),
    QdrantHits(QdrantHits),
}

async fn similar(app: &Search, part: &RwLock<UserIndex>, ask: &PassageQuery<'_>) -> (Similar, Vec<String>) {
    match &app.indexes.points {
        Some(points) => {
            let (found, notes) = qdrant_index::near(app, points, part, ask).await;
            (Similar::QdrantHits(found), notes)
        }
        None => {
            let (vector, notes) = embedded(app, part, ask.query).await;
            (Similar::Vector(vector), notes)
        }
    }
}

/// The embedding of a question, if there is anything to compare it with; what went wrong otherwise.
async fn embedded(app: &Search, part: &RwLock<UserIndex>, query: &str) -> (Option<Arc<[f32]>>, Vec<String>) {
    let question = {
        let part = part.read().await;
        part.index.dimensions().map(|here| (here, part.index.to_embed(query)))
    };
    let Some((here, question)) = question else { return (None, Vec::new()) };
    let fault = match app.indexes.embedder.query(&question).await {
        Ok(vector) if vector.len() == here => return (Some(vector), Vec::new()),
        Ok(vector) => another_size(vector.len(), here),
        Err(failure) => failure.to_string(),
    };
    (None, vec![format!("lexical results only, the embedder failed: {fault}")])
}

/// The user's index as of now.
pub async fn current(app: &Search, user: &str, source: RecallSource) -> Result<Arc<RwLock<UserIndex>>> {
    let key = (user.to_owned(), source);
    let part = app.indexes.parts.get(&key).unwrap_or_else(|| {
        let part = Arc::new(RwLock::new(app.indexes.part(source)));
        app.indexes.parts.insert(key.clone(), part.clone(), part_bytes_min(&key));
        part
    });
    if part.read().await.is_current(&app.store, user).await? {
        return Ok(part);
    }
    let (bytes, has_work) = sync(app, &part, user).await?;
    if has_work {
        app.indexes.waiting.add(user, source);
    }
    app.indexes.keep(key, part.clone(), bytes);
    Ok(part)
}

/// Brings an index up to date, in a task of its own: a caller who hangs up must not leave it half done. How
/// much memory it takes then, and whether there is something to embed.
async fn sync(app: &Search, part: &Arc<RwLock<UserIndex>>, user: &str) -> Result<(usize, bool)> {
    let (part, store, user) = (part.clone(), app.store.clone(), user.to_owned());
    let print = app.indexes.embedder.fingerprint().map(str::to_owned);
    let is_kept_up = print.is_some() || app.indexes.points.is_some();
    let task = tokio::spawn(async move {
        let mut part = part.write().await;
        if !part.is_current(&store, &user).await?
            && let Err(error) = part.sync(&store, &user, print.as_deref()).await
        {
            part.begin_anew();
            return Err(error);
        }
        Ok((part.bytes(), is_kept_up && part.has_work()))
    });
    task.await.map_err(|e| Error::new(Code::Internal, format!("indexing ended early: {e}")))?
}

/// What an index takes that is empty as yet.
fn part_bytes_min((user, _): &(String, RecallSource)) -> usize {
    1_024 + user.len()
}

pub(super) async fn read(
    app: &Search,
    ranking: &Ranking<'_>,
    source: RecallSource,
    hit: &Hit,
    why: Option<Why>,
) -> Result<Option<FoundPassage>> {
    let Some(PassageRef { of, seq }) = ranking.part.place(hit.key) else { return Ok(None) };
    let turns = app.store.turns(of, Range::Between { first: seq, last: seq }).await?;
    Ok(turns.iter().next().and_then(|turn| FoundPassage::read(source, of, turn, hit.score, why)))
}
