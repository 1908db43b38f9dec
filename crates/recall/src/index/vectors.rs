//! The embeddings of an index: one block of bytes, a row per slot.
//!
//! Owns the scan. Rows are quantised with one scale for all (`embed::quantise`), so that whole numbers
//! compare; the best are scored again with the query as it came.

use fearless_simd::{Level, dispatch};
use rustc_hash::FxHashMap;

use crate::{embed, top};

/// The first of the coarse ranking, or a few more, are scored again.
const RESCORED: usize = 100;

#[derive(Debug, Default)]
pub struct Vectors {
    dimensions: usize,
    block: Vec<i8>,
    /// The row of a slot, and the slot of a row.
    rows: FxHashMap<u32, u32>,
    slots: Vec<u32>,
}

impl Vectors {
    /// A vector of another length than those already here is ignored: it belongs to another model.
    pub fn set(&mut self, slot: u32, vector: &[i8]) {
        if self.slots.is_empty() {
            self.dimensions = vector.len();
        }
        if vector.is_empty() || vector.len() != self.dimensions {
            return;
        }
        let next = self.slots.len() as u32;
        let row = *self.rows.entry(slot).or_insert(next);
        if row == next {
            self.slots.push(slot);
            self.block.extend_from_slice(vector);
        } else if let Some(old) = self.row_mut(row) {
            old.copy_from_slice(vector);
        }
    }

    /// The last row takes the place of the one that goes.
    pub fn remove(&mut self, slot: u32) {
        let Some(row) = self.rows.remove(&slot) else { return };
        let last = self.slots.len().saturating_sub(1);
        self.slots.swap_remove(row as usize);
        if let Some(moved) = self.slots.get(row as usize) {
            self.rows.insert(*moved, row);
            self.block.copy_within(last * self.dimensions.., row as usize * self.dimensions);
        }
        self.block.truncate(last * self.dimensions);
    }

    pub fn has(&self, slot: u32) -> bool {
        self.rows.contains_key(&slot)
    }

    pub fn dimensions(&self) -> Option<usize> {
        (!self.slots.is_empty()).then_some(self.dimensions)
    }

    pub fn bytes(&self) -> usize {
        self.block.capacity() + self.slots.capacity() * 4 + self.rows.capacity() * 9
    }

    /// The cosine of each slot that has a vector with the query, or nothing when the query is of another
    /// model.
    pub(crate) fn cosines(&self, query: &[f32]) -> (&[u32], Vec<f32>) {
        if query.len() != self.dimensions || self.slots.is_empty() {
            return (&[], Vec::new());
        }
        let coarse = embed::quantise(query);
        let scale = 1.0 / ((dot(&coarse, &coarse) as f32).sqrt() * embed::unit(self.dimensions)).max(f32::MIN_POSITIVE);
        let mut cosines = vec![0.0; self.slots.len()];
        dispatch!(Level::new(), _simd => scan(&self.block, &coarse, scale, &mut cosines));
        self.rescore(&mut cosines, query);
        (&self.slots, cosines)
    }

    fn rescore(&self, cosines: &mut [f32], query: &[f32]) {
        let length = query.iter().map(|x| x * x).sum::<f32>().sqrt();
        let scale = 1.0 / (length * embed::unit(self.dimensions)).max(f32::MIN_POSITIVE);
        let floor = top::floor(cosines, RESCORED);
        for (row, cosine) in (0..).zip(cosines).filter(|(_, cosine)| **cosine >= floor) {
            *cosine = self.row(row).iter().zip(query).map(|(x, y)| f32::from(*x) * y).sum::<f32>() * scale;
        }
    }

    fn row(&self, row: u32) -> &[i8] {
        let from = row as usize * self.dimensions;
        self.block.get(from..from + self.dimensions).unwrap_or_default()
    }

    fn row_mut(&mut self, row: u32) -> Option<&mut [i8]> {
        let from = row as usize * self.dimensions;
        self.block.get_mut(from..from + self.dimensions)
    }
}

/// The cosines of all rows with a query. Compiled once more for wide vector instructions, and chosen by the
/// processor that it runs on; everything it calls must be part of it for that.
#[inline(always)]
fn scan(block: &[i8], query: &[i8], scale: f32, cosines: &mut [f32]) {
    for (cosine, row) in cosines.iter_mut().zip(block.chunks_exact(query.len())) {
        *cosine = dot(row, query) as f32 * scale;
    }
}

/// In plain loops of fixed steps, which the compiler turns into the vector instructions of its caller.
#[inline(always)]
fn dot(row: &[i8], query: &[i8]) -> i32 {
    const STEP: usize = 32;
    let (rows, queries) = (row.chunks_exact(STEP), query.chunks_exact(STEP));
    let mut sum = 0;
    for (x, y) in rows.remainder().iter().zip(queries.remainder()) {
        sum += i32::from(*x) * i32::from(*y);
    }
    for (row, query) in rows.zip(queries) {
        let mut step = 0;
        for (x, y) in row.iter().zip(query) {
            step += i32::from(*x) * i32::from(*y);
        }
        sum += step;
    }
    sum
}
