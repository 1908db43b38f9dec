//! Products of matrices, for which nearly all of the time of an embedding goes.
//!
//! Owns the layout in which a right-hand side is kept (panels of sixteen columns, packed once) and in which a
//! left-hand side is taken (strips of six rows, packed as it comes), so that the innermost loop holds 6 × 16
//! sums in registers and reads both sides in order. Every shape works; what does not fill a strip or a panel
//! is padded with zeros.

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f32x8};

use super::math::{self, Activation};

pub(crate) const LANES: usize = 8;
const PANEL_COLUMNS: usize = 2 * LANES;
const STRIP_ROWS: usize = 6;
/// Of a left-hand side that is packed at once: it stays in the second-level cache while the panels pass by.
const BLOCK_FLOATS: usize = 64 << 10;

/// One row of a panel.
type Columns = [[f32; LANES]; 2];
/// One column of a strip.
type Strip = [f32; STRIP_ROWS];

/// Rows of a matrix, or a stretch of each.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    pub data: &'a [f32],
    /// Between the starts of rows.
    pub stride: usize,
    pub from: usize,
    pub width: usize,
}

/// Where a product goes.
#[derive(Debug)]
pub struct Place<'a> {
    pub data: &'a mut [f32],
    pub stride: usize,
    pub from: usize,
}

impl<'a> Rows<'a> {
    pub fn whole(data: &'a [f32], columns: usize) -> Self {
        Self { data, stride: columns, from: 0, width: columns }
    }

    pub fn iter(self) -> impl Iterator<Item = &'a [f32]> {
        let range = self.from..self.from + self.width;
        self.data.chunks_exact(self.stride).filter_map(move |row| row.get(range.clone()))
    }
}

/// A right-hand side.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    /// Rows of the right-hand side, which are columns of the left one.
    depth: usize,
    columns: usize,
    /// `depth` entries for each panel.
    data: Vec<Columns>,
    /// One for each panel.
    bias: Vec<Columns>,
}

impl Panels {
    pub fn depth(&self) -> usize {
        self.depth
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The transpose of these rows: each is a column.
    pub(crate) fn pack_columns(&mut self, rows: Rows<'_>) {
        self.depth = rows.width;
        self.columns = 0;
        self.data.clear();
        for (at, row) in rows.iter().enumerate() {
            let start = at / PANEL_COLUMNS * self.depth;
            self.data.resize(start + self.depth, Columns::default());
            let panel = self.data.iter_mut().skip(start);
            for (columns, value) in panel.zip(row) {
                set(columns, at % PANEL_COLUMNS, *value);
            }
            self.columns += 1;
        }
        self.bias.clear();
        self.bias.resize(self.columns.div_ceil(PANEL_COLUMNS), Columns::default());
    }

    /// These rows as they are.
    pub(crate) fn pack_rows(&mut self, rows: Rows<'_>) {
        self.depth = rows.iter().count();
        self.columns = rows.width;
        let panels = self.columns.div_ceil(PANEL_COLUMNS);
        self.data.clear();
        self.data.resize(panels * self.depth, Columns::default());
        for (at, row) in rows.iter().enumerate() {
            let places = self.data.iter_mut().skip(at).step_by(self.depth);
            for (columns, values) in places.zip(row.chunks(PANEL_COLUMNS)) {
                columns.as_flattened_mut().iter_mut().zip(values).for_each(|(slot, value)| *slot = *value);
            }
        }
        self.bias.clear();
        self.bias.resize(panels, Columns::default());
    }

    pub(crate) fn set_bias(&mut self, bias: &[f32]) {
        for (columns, values) in self.bias.iter_mut().zip(bias.chunks(PANEL_COLUMNS)) {
            columns.as_flattened_mut().iter_mut().zip(values).for_each(|(slot, value)| *slot = *value);
        }
    }
}

fn set(columns: &mut Columns, at: usize, value: f32) {
    if let Some(slot) = columns.as_flattened_mut().get_mut(at) {
        *slot = value;
    }
}

/// `left × right + bias`, with the activation applied to each element.
pub(crate) fn product(level: Level, left: Rows<'_>, right: &Panels, activation: Option<Activation>, place: Place<'_>) {
    dispatch!(level, simd => blocks(simd, left, right, activation, place));
}

#[inline(always)]
fn blocks<S: Simd>(simd: S, left: Rows<'_>, right: &Panels, activation: Option<Activation>, place: Place<'_>) {
    let depth = right.depth.max(1);
    let block_rows = (BLOCK_FLOATS / depth / STRIP_ROWS).max(1) * STRIP_ROWS;
    let mut strips: Vec<Strip> = Vec::new();
    let lefts = left.data.chunks(block_rows * left.stride);
    let outs = place.data.chunks_mut(block_rows * place.stride);
    for (data, out) in lefts.zip(outs) {
        pack_strips(Rows { data, ..left }, depth, &mut strips);
        for (at, (panel, bias)) in right.data.chunks_exact(depth).zip(&right.bias).enumerate() {
            let from = place.from + at * PANEL_COLUMNS;
            let columns = PANEL_COLUMNS.min(right.columns - at * PANEL_COLUMNS);
            for (strip, out) in strips.chunks_exact(depth).zip(out.chunks_mut(STRIP_ROWS * place.stride)) {
                let mut sums = tile(simd, strip, panel, bias);
                activate(simd, &mut sums, activation);
                store(&sums, out, place.stride, from..from + columns);
            }
        }
    }
}

fn pack_strips(rows: Rows<'_>, depth: usize, strips: &mut Vec<Strip>) {
    strips.clear();
    for (at, row) in rows.iter().enumerate() {
        let start = at / STRIP_ROWS * depth;
        strips.resize(start + depth, Strip::default());
        for (strip, value) in strips.iter_mut().skip(start).zip(row) {
            if let Some(slot) = strip.get_mut(at % STRIP_ROWS) {
                *slot = *value;
            }
        }
    }
}

type Tile<S> = [[f32x8<S>; 2]; STRIP_ROWS];

#[inline(always)]
fn tile<S: Simd>(simd: S, strip: &[Strip], panel: &[Columns], [low, high]: &Columns) -> Tile<S> {
    let mut sums = [[simd.load_array_ref_f32x8(low), simd.load_array_ref_f32x8(high)]; STRIP_ROWS];
    for (lefts, [low, high]) in strip.iter().zip(panel) {
        let low = simd.load_array_ref_f32x8(low);
        let high = simd.load_array_ref_f32x8(high);
        for ([sum_low, sum_high], left) in sums.iter_mut().zip(lefts) {
            let left = f32x8::splat(simd, *left);
            *sum_low = left.mul_add(low, *sum_low);
            *sum_high = left.mul_add(high, *sum_high);
        }
    }
    sums
}

#[inline(always)]
fn activate<S: Simd>(simd: S, sums: &mut Tile<S>, activation: Option<Activation>) {
    let Some(activation) = activation else { return };
    for sum in sums.as_flattened_mut() {
        *sum = math::activate(simd, activation, *sum);
    }
}

#[inline(always)]
fn store<S: Simd>(sums: &Tile<S>, out: &mut [f32], stride: usize, columns: std::ops::Range<usize>) {
    for ([low, high], row) in sums.iter().zip(out.chunks_mut(stride)) {
        let Some(slots) = row.get_mut(columns.clone()) else { continue };
        if let Some((slots_low, rest)) = slots.split_first_chunk_mut::<LANES>()
            && let Some(slots_high) = rest.first_chunk_mut::<LANES>()
        {
            *slots_low = (*low).into();
            *slots_high = (*high).into();
        } else {
            let sums: [[f32; LANES]; 2] = [(*low).into(), (*high).into()];
            slots.iter_mut().zip(sums.as_flattened()).for_each(|(slot, sum)| *slot = *sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * i * 31 + i * 17 + seed) % 97) as f32 / 97.0 - 0.5).collect()
    }

    /// `rows × depth` by `depth × columns`, against three plain loops.
    fn check(level: Level, rows: usize, depth: usize, columns: usize) {
        let left = numbers(rows * depth, 3);
        let right = numbers(columns * depth, 5);
        let bias = numbers(columns, 7);
        let mut panels = Panels::default();
        panels.pack_columns(Rows::whole(&right, depth));
        panels.set_bias(&bias);
        let mut out = vec![9.0; rows * (columns + 2)];
        let place = Place { data: &mut out, stride: columns + 2, from: 1 };
        product(level, Rows::whole(&left, depth), &panels, None, place);
        for (row, out) in left.chunks(depth).zip(out.chunks(columns + 2)) {
            assert_eq!((out[0], out[columns + 1]), (9.0, 9.0), "what stands beside is untouched");
            for ((right, bias), out) in right.chunks(depth).zip(&bias).zip(&out[1..]) {
                let sum = bias + row.iter().zip(right).map(|(a, b)| a * b).sum::<f32>();
                assert!((sum - out).abs() < 1e-4, "{rows} {depth} {columns}: {sum} {out}");
            }
        }
    }

    #[test]
    fn every_shape_is_multiplied() {
        for level in [Level::new(), Level::baseline()] {
            for (rows, depth) in [(1, 1), (5, 3), (6, 8), (7, 16), (13, 33)] {
                for columns in [1, 7, 8, 9, 15, 16, 17, 33] {
                    check(level, rows, depth, columns);
                }
            }
        }
        check(Level::new(), BLOCK_FLOATS / 1000 + 9, 1000, 20);
    }

    #[test]
    fn rows_and_columns_pack_to_the_same_panels() {
        let (depth, columns) = (5, 19);
        let rows = numbers(depth * columns, 1);
        let turned: Vec<f32> =
            (0..columns).flat_map(|c| (0..depth).map(move |r| (r, c))).map(|(r, c)| rows[r * columns + c]).collect();
        let (mut by_rows, mut by_columns) = (Panels::default(), Panels::default());
        by_rows.pack_rows(Rows::whole(&rows, columns));
        by_columns.pack_columns(Rows::whole(&turned, depth));
        assert_eq!(by_rows.data, by_columns.data);
        assert_eq!((by_rows.depth(), by_rows.columns()), (by_columns.depth(), by_columns.columns()));
    }
}
