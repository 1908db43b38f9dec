//! What is still true of what was said, and what replaced the rest.
//!
//! Owns, per user and source, the claims that can replace others, and the memories that callers said replace
//! others. Nothing of it is stored: a memory that is deleted replaces nothing any more. Invariants: what was
//! not said by the user replaces nothing that was; a replaced passage is never shown without the newest one.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use novelo_engine::Role;
use novelo_engine::Turn;
use novelo_engine::recall::{RecallSource, Standing};
use novelo_language::claims::{self, StatedClaim};
use novelo_language::iso_date;
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::find::{Found, NEAR_MAX, PassageQuery, Ranking, current, read};
use super::passage::FoundPassage;
use super::sources::passage_text;
use super::user_index::UserIndex;
use super::validity::MemoryTerms;
use crate::error::Result;
use crate::search::Search;
use crate::settings::SupersedeKind;
use crate::text::member;
use novelo_recall::Hit;
use novelo_store::Range;

/// How often something can have been replaced before the search for the newest ends.
const STEPS_MAX: usize = 32;
/// The newest memories that are looked at for what they were replaced by.
const LISTED_MAX: usize = 10_000;
/// About what a claim takes.
const CLAIM_BYTES: usize = 256;

/// What was said that replaces what was said before.
#[derive(Debug, Default)]
pub struct LaterClaims {
    /// Passages by the keys of their claims.
    by_claim: FxHashMap<u64, Vec<u64>>,
    /// By the id of what is replaced, what callers said replaces it.
    by_id: FxHashMap<Box<str>, Vec<u64>>,
    said: FxHashMap<u64, SaidClaims>,
    /// What replaced what, of all memories, once that was asked for.
    all: OnceLock<Arc<ReplacedMemories>>,
}

/// By the seq of each memory that was replaced, what replaced it first.
pub(crate) type ReplacedMemories = BTreeMap<u64, LaterSaid>;

/// What a passage can replace.
#[derive(Debug)]
struct SaidClaims {
    id: Box<str>,
    claims: Vec<StatedClaim>,
    supersedes: Vec<Box<str>>,
    origin: ClaimOrigin,
}

/// Who said something, and since when it is so.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ClaimOrigin {
    since: f64,
    is_of_user: bool,
    /// A digest of the name of who said it.
    speaker: u64,
}

/// What replaced something.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaterSaid {
    pub key: u64,
    pub id: Box<str>,
    /// The id of what it replaced.
    pub earlier: Box<str>,
    pub since: f64,
    /// Why; none if a caller said so.
    pub rule: Option<claims::Replacement>,
}

impl LaterClaims {
    /// Takes in a passage, if it can replace others.
    pub fn take(&mut self, key: u64, source: RecallSource, turn: &Turn, text: &str) {
        self.all = OnceLock::new();
        let may_name = source == RecallSource::Memories && turn.message.as_str().contains("\"supersedes\"");
        let may_replace = claims::may_replace(text);
        if source == RecallSource::Documents || !may_name && !may_replace {
            return;
        }
        let terms = terms(source, turn);
        let Some(origin) = origin(source, turn, &terms) else { return };
        let supersedes = terms.supersedes.clone().unwrap_or_default();
        let is_read = may_replace && terms.allows_rules();
        let claims = if is_read { claims::read(text) } else { Vec::new() };
        let claims: Vec<StatedClaim> = claims.into_iter().filter(StatedClaim::can_replace).collect();
        if claims.is_empty() && supersedes.is_empty() {
            return;
        }
        claims.iter().for_each(|claim| self.by_claim.entry(claim.key()).or_default().push(key));
        supersedes.iter().for_each(|id| self.by_id.entry(id.clone()).or_default().push(key));
        self.said.insert(key, SaidClaims { id: turn.id.clone(), claims, supersedes, origin });
    }

    pub fn remove(&mut self, key: u64) {
        self.all = OnceLock::new();
        let Some(said) = self.said.remove(&key) else { return };
        for claim in said.claims {
            drop_from(&mut self.by_claim, &claim.key(), key);
        }
        for id in said.supersedes {
            drop_from(&mut self.by_id, &id, key);
        }
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.said.values().map(|said| 128 + said.claims.len() * CLAIM_BYTES + said.supersedes.len() * 64).sum()
    }

    /// What replaced a passage first: what a caller said, else what the rules find.
    fn later(&self, earlier: &EarlierSaid, ask: StandingAt) -> Option<LaterSaid> {
        let is_known = |said: &SaidClaims| ask.as_of.is_none_or(|as_of| said.origin.since <= as_of);
        let named =
            self.by_id.get(&earlier.id).into_iter().flatten().filter_map(|key| Some((*key, self.said.get(key)?)));
        let named = named.filter(|(key, said)| is_known(said) && *key != earlier.key);
        if let Some((key, said)) = named.max_by_key(|(key, _)| *key) {
            return Some(earlier.replaced_by(key, said, None));
        }
        if !ask.has_rules {
            return None;
        }
        let keys: FxHashSet<u64> =
            earlier.claims.iter().filter_map(|claim| self.by_claim.get(&claim.key())).flatten().copied().collect();
        let said = keys.into_iter().filter_map(|key| Some((key, self.said.get(&key)?)));
        let replaces = self.said.get(&earlier.key).map_or(&[][..], |said| &said.supersedes);
        let may = said.filter(|(key, said)| {
            is_known(said) && earlier.is_before(*key, &said.origin) && !replaces.contains(&said.id)
        });
        let found = may.filter_map(|(key, said)| {
            let rule = claims::replaces(&said.claims, &earlier.claims, year(said.origin.since))?;
            Some(earlier.replaced_by(key, said, Some(rule)))
        });
        found.min_by(|a, b| a.since.total_cmp(&b.since).then(a.key.cmp(&b.key)))
    }
}

fn drop_from<K: std::hash::Hash + Eq>(map: &mut FxHashMap<K, Vec<u64>>, at: &K, key: u64) {
    if let Some(keys) = map.get_mut(at) {
        keys.retain(|held| *held != key);
        if keys.is_empty() {
            map.remove(at);
        }
    }
}

/// Which of what was said later counts.
#[derive(Debug, Clone, Copy)]
struct StandingAt {
    as_of: Option<f64>,
    has_rules: bool,
}

/// Something that may have been replaced.
struct EarlierSaid {
    key: u64,
    id: Box<str>,
    claims: Vec<StatedClaim>,
    origin: ClaimOrigin,
}

impl EarlierSaid {
    fn read(source: RecallSource, key: u64, turn: &Turn, text: &str) -> Option<Self> {
        let origin = origin(source, turn, &terms(source, turn))?;
        Some(Self { key, id: turn.id.clone(), claims: claims::read(text), origin })
    }

    fn replaced_by(&self, key: u64, said: &SaidClaims, rule: Option<claims::Replacement>) -> LaterSaid {
        LaterSaid { key, id: said.id.clone(), earlier: self.id.clone(), since: said.origin.since, rule }
    }

    /// Whether something was said after it, by somebody who may replace it.
    fn is_before(&self, key: u64, later: &ClaimOrigin) -> bool {
        let is_after = later.since.total_cmp(&self.origin.since).then(key.cmp(&self.key)).is_gt();
        let may = later.is_of_user || !self.origin.is_of_user;
        is_after && may && later.speaker == self.origin.speaker
    }
}

fn terms(source: RecallSource, turn: &Turn) -> MemoryTerms {
    match source {
        RecallSource::Memories => MemoryTerms::read(turn.message.raw()),
        RecallSource::Turns | RecallSource::Documents => MemoryTerms::default(),
    }
}

/// Since when a passage is true; passages of documents have no time.
pub(super) fn since(source: RecallSource, turn: &Turn) -> Option<f64> {
    let is_dated = source == RecallSource::Memories && turn.message.as_str().contains("\"valid_from\"");
    let valid_from = if is_dated { terms(source, turn).valid_from } else { None };
    valid_from.or(Some(turn.create_time)).filter(|_| source != RecallSource::Documents)
}

/// Who said a passage; nobody said a passage of a document.
fn origin(source: RecallSource, turn: &Turn, terms: &MemoryTerms) -> Option<ClaimOrigin> {
    match source {
        RecallSource::Documents => None,
        RecallSource::Memories => {
            let since = terms.valid_from.unwrap_or(turn.create_time);
            Some(ClaimOrigin { since, is_of_user: terms.is_of_user(), speaker: 0 })
        }
        RecallSource::Turns => {
            let message = turn.message.shown();
            let is_of_user = message.role() == Some(Role::User);
            let name = member(message, "name").unwrap_or_default().trim().to_lowercase();
            // What an assistant says of itself is nothing that a user said.
            let speaker = xxh3_64(name.as_bytes()) ^ u64::from(!is_of_user);
            Some(ClaimOrigin { since: turn.create_time, is_of_user, speaker })
        }
    }
}

fn year(seconds: f64) -> Option<i32> {
    iso_date(seconds).get(..4)?.parse().ok()
}

/// Whether a memory is valid when it should be. One that does not say when it is, is.
pub(super) fn is_valid(passage: &FoundPassage, ask: &PassageQuery<'_>) -> bool {
    let is_known = ask.as_of.is_none_or(|as_of| {
        let terms = memory_terms(passage);
        terms.valid_from.unwrap_or(passage.create_time) <= as_of
    });
    let is_valid = ask.valid_at.filter(|_| passage.source == RecallSource::Memories).is_none_or(|at| {
        let terms = memory_terms(passage);
        terms.valid_from.is_none_or(|from| from <= at) && terms.valid_to.is_none_or(|to| at < to)
    });
    is_known && is_valid
}

fn memory_terms(passage: &FoundPassage) -> MemoryTerms {
    match passage.source {
        RecallSource::Memories => MemoryTerms::read(&passage.document),
        RecallSource::Turns | RecallSource::Documents => MemoryTerms::default(),
    }
}

/// Puts before each hit that was replaced what replaced it, and says of both since when.
pub(super) async fn arrange(
    app: &Search,
    ranking: &Ranking<'_>,
    found: &mut Found,
    ask: &PassageQuery<'_>,
) -> Result<()> {
    if ask.source == RecallSource::Documents {
        return Ok(());
    }
    let mut arranged: Vec<FoundPassage> = Vec::new();
    let hits = std::mem::take(&mut found.hits);
    for hit in &hits {
        let Some((newest, later)) = newest(app, ranking, hit, ask).await? else {
            if !has(&arranged, hit) {
                arranged.push(hit.clone());
            }
            continue;
        };
        let since = since_when(hit);
        let reason = later.rule.map(|rule| rule.reason);
        let superseded_by = Some(later.id.to_string());
        let standing = Standing { since, until: Some(later.since.max(since)), superseded_by, reason };
        let newest = hits.iter().find(|other| is_same(other, &newest)).cloned().unwrap_or(newest);
        let at = arranged.iter().position(|other| is_same(other, &newest)).unwrap_or_else(|| {
            arranged.push(newest.clone());
            arranged.len() - 1
        });
        if let Some(newest) = arranged.get_mut(at) {
            let since = since_when(newest);
            newest.standing = Some(Standing { since, until: None, superseded_by: None, reason: None });
        }
        let history = arranged.iter().skip(at + 1).take_while(|other| other.is_history()).count();
        arranged.insert(at + 1 + history, FoundPassage { standing: Some(standing), ..hit.clone() });
    }
    while arranged.len() > ask.hits_max {
        let last = arranged.iter().rposition(FoundPassage::is_history).unwrap_or(arranged.len() - 1);
        let left = arranged.remove(last);
        found.near.insert(0, left);
        found.near.truncate(NEAR_MAX);
    }
    found.hits = arranged;
    Ok(())
}

fn has(passages: &[FoundPassage], passage: &FoundPassage) -> bool {
    passages.iter().any(|other| is_same(other, passage))
}

fn is_same(one: &FoundPassage, other: &FoundPassage) -> bool {
    one.seq == other.seq && one.collection == other.collection
}

fn since_when(passage: &FoundPassage) -> f64 {
    memory_terms(passage).valid_from.unwrap_or(passage.create_time)
}

/// What replaced a hit in the end, and what did so first.
async fn newest(
    app: &Search,
    ranking: &Ranking<'_>,
    hit: &FoundPassage,
    ask: &PassageQuery<'_>,
) -> Result<Option<(FoundPassage, LaterSaid)>> {
    let part = ranking.part;
    let at = StandingAt { as_of: ask.as_of, has_rules: app.settings.memory.supersede == SupersedeKind::Rules };
    let Some(first) = later_than(part, hit, at) else { return Ok(None) };
    let (mut passed, mut last) = (vec![hit.clone()], None);
    let mut next = first.clone();
    for _ in 0..STEPS_MAX {
        let why = ask.explain.then(|| ranking.ranked.why(next.key));
        let found = Hit { key: next.key, score: hit.score };
        let Some(passage) = read(app, ranking, ask.source, &found, why).await?.filter(|it| is_valid(it, ask)) else {
            break;
        };
        // Documents that others wrote may replace each other in a circle.
        if has(&passed, &passage) {
            break;
        }
        passed.push(passage.clone());
        let later = later_than(part, &passage, at);
        last = Some(passage);
        match later {
            Some(later) => next = later,
            None => break,
        }
    }
    Ok(last.map(|newest| (newest, first)))
}

fn later_than(part: &UserIndex, passage: &FoundPassage, at: StandingAt) -> Option<LaterSaid> {
    let key = part.key_at(&passage.collection, passage.seq)?;
    let message = novelo_engine::Message::from_stored(passage.document.clone());
    let turn = Turn { seq: passage.seq, id: passage.id.clone(), create_time: passage.create_time, message };
    part.later.later(&EarlierSaid::read(part.source, key, &turn, &passage.text)?, at)
}

/// What replaced the memories of a user. Only the newest memories are looked at, and none if nothing replaces
/// anything.
pub(crate) async fn replaced_by_all(app: &Search, user: &str) -> Result<Arc<ReplacedMemories>> {
    let part = current(app, user, RecallSource::Memories).await?;
    let part = part.read().await;
    let mut replaced = ReplacedMemories::new();
    if part.later.said.is_empty() {
        return Ok(replaced.into());
    }
    if let Some(all) = part.later.all.get() {
        return Ok(all.clone());
    }
    let at = StandingAt { as_of: None, has_rules: app.settings.memory.supersede == SupersedeKind::Rules };
    for of in part.collections() {
        let turns = app.store.turns(of, Range::Last(LISTED_MAX)).await?;
        for turn in turns.iter() {
            let Some(text) = passage_text(RecallSource::Memories, turn) else { continue };
            let Some(key) = part.key_at(of, turn.seq) else { continue };
            let earlier = EarlierSaid::read(RecallSource::Memories, key, turn, &text);
            let later = earlier.and_then(|earlier| part.later.later(&earlier, at));
            replaced.extend(later.map(|later| (turn.seq, later)));
        }
    }
    Ok(part.later.all.get_or_init(|| replaced.into()).clone())
}
