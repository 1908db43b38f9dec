//! The weights, and the sum.
//!
//! One set of weights for every kind of passage, round and on plateaus, chosen on three data sets (long chats
//! of two people, chats with an assistant, Russian facts). What differs is what a passage has: a speaker, a
//! group, a role.

use super::cut;
use super::lexical::{Field, Lexical, NO_GROUP};
use crate::index::{Index, Kind, Reading, Slot};

/// A word that is only alike, against one that is the same.
const FUZZY: f32 = 0.7;
/// What a passage gets of those before and after it: talk stays with its matter.
const AROUND: [(isize, f32); 4] = [(-1, 0.4), (1, 0.3), (-2, 0.3), (2, 0.2)];
/// What it gets on top of that of a question before it: an answer is found by what was asked.
const ASKED: f32 = 0.2;
/// What it gets of its group, scored as one long passage.
const GROUP: f32 = 0.7;
/// What an asked passage gets of its answer, and what the answer itself keeps: long replies say a bit of
/// everything.
const ANSWER: f32 = 0.4;
const ANSWERED: f32 = 0.5;
/// In deviations of the lexical score, what a passage gets whose speaker the query names.
const SPEAKER: f32 = 5.0;
/// Whose time lies in a date of the query.
const DATE: f32 = 5.0;
/// That tells a time to a query that asks for one.
const TIME: f32 = 1.0;
/// That ends by asking, among people who talk: the answer is elsewhere.
const ASKS: f32 = -1.0;
/// The dense score against the lexical one, both in deviations, and the share of the vectors around it in
/// that.
const DENSE: f32 = 1.3;
const DENSE_AROUND: f32 = 0.2;
/// In deviations, the score that an index elsewhere gives for the same words, against the lexical one of
/// here.
const SHARED: f32 = 0.1;
/// Below this cosine a passage that no word speaks for is left out.
const COSINE_MIN: f32 = 0.2;

/// By place: empty, or not a number where there is none.
#[derive(Debug, Default)]
pub struct Cosines {
    pub values: Vec<f32>,
    /// Where these are the highest only: of how many.
    pub of: Option<usize>,
}

/// By place.
#[derive(Debug)]
pub struct Fused {
    pub own: Vec<f32>,
    pub neighbours: Vec<f32>,
    /// Empty, or not a number where there is none.
    pub cosines: Vec<f32>,
    /// What an index elsewhere gives for shared words; empty without one.
    pub shared: Vec<f32>,
    /// Infinitely low for what matches nothing.
    pub scores: Vec<f32>,
    pub matching: usize,
}

impl Fused {
    pub fn cosine(&self, place: usize) -> Option<f32> {
        self.cosines.get(place).copied().filter(|cosine| !cosine.is_nan())
    }
}

pub(crate) fn fuse(
    index: &Index,
    field: &Field,
    reading: &Reading,
    lexical: &Lexical,
    cosines: Cosines,
    shared: Vec<f32>,
) -> Fused {
    let mut own: Vec<f32> =
        lexical.exact.iter().zip(&lexical.fuzzy).map(|(exact, fuzzy)| exact + FUZZY * fuzzy).collect();
    let neighbours = neighbours(index, field, &mut own);
    let mut scores: Vec<f32> = own.iter().zip(&neighbours).map(|(own, neighbours)| own + neighbours).collect();
    add_named(index, field, reading, lexical, 1.0 / spread(&own).1, &mut scores);
    add_shared(field, &shared, &mut scores);
    add_dense(field, &cosines, &mut scores);
    let matching = scores.iter().filter(|score| **score > f32::NEG_INFINITY).count();
    Fused { own, neighbours, cosines: cosines.values, shared, scores, matching }
}

/// Turns what words give into deviations, and adds what does not come from words. Leaves out what neither
/// speaks for.
fn add_named(index: &Index, field: &Field, reading: &Reading, lexical: &Lexical, scale: f32, scores: &mut [f32]) {
    if field.is_plain() && !reading.names_any() {
        let matched = |score: f32| if score > 0.0 { score * scale } else { f32::NEG_INFINITY };
        scores.iter_mut().for_each(|score| *score = matched(*score));
        return;
    }
    for (place, (slot, score)) in index.in_order().zip(scores).enumerate() {
        let named = SPEAKER * f32::from(u8::from(reading.names(slot))) + DATE * reading.nearness(slot);
        *score = match *score + named > 0.0 {
            true => {
                (*score + group_part(lexical, field, place)) * scale + named + prior(slot, field.kind(place), reading)
            }
            false => f32::NEG_INFINITY,
        };
    }
}

/// Adds what an index elsewhere gives for shared words.
fn add_shared(field: &Field, shared: &[f32], scores: &mut [f32]) {
    let scale = SHARED / spread(shared).1;
    for (place, (score, given)) in scores.iter_mut().zip(shared).enumerate().filter(|(_, (_, given))| **given > 0.0) {
        let given = given * scale * kept(field.kind(place));
        *score = if *score == f32::NEG_INFINITY { given } else { *score + given };
    }
}

fn add_dense(field: &Field, cosines: &Cosines, scores: &mut [f32]) {
    let near = nearness(cosines);
    let cosines = &cosines.values;
    if field.is_plain() {
        for (score, (cosine, near)) in scores.iter_mut().zip(cosines.iter().zip(&near)) {
            let given = if *score == f32::NEG_INFINITY && *cosine >= COSINE_MIN { 0.0 } else { *score };
            *score = given + near;
        }
        return;
    }
    let around = around(&near, &field.groups, &[(-1, DENSE_AROUND), (1, DENSE_AROUND)]);
    let dense = cosines.iter().zip(near.iter().zip(&around));
    for ((kind, score), (cosine, (near, around))) in field.kinds.iter().zip(scores).zip(dense) {
        if *score == f32::NEG_INFINITY && *cosine >= COSINE_MIN {
            *score = 0.0;
        }
        *score += near + if *kind == Kind::Said { *around } else { 0.0 };
    }
}

/// What the likeness of words gives to a passage.
pub(crate) fn fuzzy_part(fuzzy: f32, kind: Kind) -> f32 {
    FUZZY * fuzzy * kept(kind)
}

/// How much of what its own words give a passage keeps.
fn kept(kind: Kind) -> f32 {
    if kind == Kind::Answered { ANSWERED } else { 1.0 }
}

/// What its group gives to a passage.
pub(crate) fn group_part(lexical: &Lexical, field: &Field, place: usize) -> f32 {
    field.group(place).and_then(|group| lexical.groups.get(group)).map_or(0.0, |score| GROUP * score)
}

fn prior(slot: &Slot, kind: Kind, reading: &Reading) -> f32 {
    let tells = reading.asks_time && slot.tells_time && kind != Kind::Answered;
    let asks = slot.asks && kind == Kind::Said && slot.group != 0;
    TIME * f32::from(u8::from(tells)) + ASKS * f32::from(u8::from(asks))
}

/// What the passages around them give to passages. Lowers what the answers of assistants say themselves.
fn neighbours(index: &Index, field: &Field, own: &mut [f32]) -> Vec<f32> {
    if field.is_plain() {
        return vec![0.0; own.len()];
    }
    let mut given = around(own, &field.groups, &AROUND);
    let mut before: Option<(&Slot, f32)> = None;
    for (place, slot) in index.in_order().enumerate() {
        let said = own.get(place).copied().unwrap_or(0.0);
        let asked = before.filter(|(asked, _)| asked.shares_group(slot));
        let kind = field.kind(place);
        match (kind, given.get_mut(place)) {
            (Kind::Said, Some(given)) => *given += asked.filter(|(it, _)| it.asks).map_or(0.0, |(_, own)| ASKED * own),
            (_, Some(given)) => *given = 0.0,
            _ => {}
        }
        if kind == Kind::Answered {
            let question =
                asked.filter(|_| field.kind(place - 1) == Kind::Asked).and_then(|_| given.get_mut(place - 1));
            question.into_iter().for_each(|given| *given = ANSWER * said);
            own.get_mut(place).into_iter().for_each(|own| *own *= ANSWERED);
        }
        before = Some((slot, said));
    }
    given
}

/// For each place the weighted sum of the values that stand so far from it in its group.
fn around(values: &[f32], groups: &[u32], weights: &[(isize, f32)]) -> Vec<f32> {
    let mut sums = vec![0.0; values.len()];
    for (by, weight) in weights {
        let far = by.unsigned_abs();
        let (to, from) = if *by < 0 { (far, 0) } else { (0, far) };
        let Some((sums, groups_to)) = sums.get_mut(to..).zip(groups.get(to..)) else { continue };
        let Some((values, groups_from)) = values.get(from..).zip(groups.get(from..)) else { continue };
        for ((sum, group), (value, other)) in sums.iter_mut().zip(groups_to).zip(values.iter().zip(groups_from)) {
            // Without a branch, so that the compiler takes several at once.
            *sum += if (group == other) & (*group != NO_GROUP) { weight * value } else { 0.0 };
        }
    }
    sums
}

/// The cosines in weighted deviations; 0 where there is none, and what is likely where it was not told.
fn nearness(cosines: &Cosines) -> Vec<f32> {
    let known = cosines.values.iter().copied().filter(|cosine| !cosine.is_nan());
    let (mean, deviation, rest) = match cosines.of.and_then(|of| cut::estimate(known, of)) {
        Some(told) => (told.mean, told.deviation, told.rest),
        None => {
            let (mean, deviation) = spread(&cosines.values);
            (mean, deviation, mean)
        }
    };
    let scale = DENSE / deviation;
    let value = |cosine: &f32| if cosine.is_nan() { rest } else { *cosine };
    cosines.values.iter().map(|cosine| (value(cosine) - mean) * scale).collect()
}

/// Mean and standard deviation of what is a number; 1 where all are the same.
fn spread(values: &[f32]) -> (f32, f32) {
    let (mut count, mut sum, mut squares) = (0.0_f64, 0.0_f64, 0.0_f64);
    for value in values.iter().copied().filter(|value| !value.is_nan()).map(f64::from) {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / count.max(1.0);
    let deviation = (squares / count.max(1.0) - mean * mean).max(0.0).sqrt();
    (mean as f32, if deviation > 1e-6 { deviation as f32 } else { 1.0 })
}
