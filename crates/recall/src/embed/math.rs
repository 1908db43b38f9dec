//! What a BERT encoder needs besides products: exponentials, the error function, softmax, normalisation.
//!
//! Approximations are good to about 1e-7 of their largest value, the precision of `f32` itself.

use fearless_simd::{Level, Simd, SimdBase, SimdFloat, dispatch, f32x8};

use super::product::LANES;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// By the error function.
    Gelu,
    /// By the hyperbolic tangent.
    GeluTanh,
}

#[inline(always)]
pub(crate) fn activate<S: Simd>(simd: S, activation: Activation, x: f32x8<S>) -> f32x8<S> {
    let one = f32x8::splat(simd, 1.0);
    // Far below zero the approximations are off by a hair, which must not be multiplied by something large.
    let half = x.max(f32x8::splat(simd, -6.0)) * f32x8::splat(simd, 0.5);
    let turn = match activation {
        Activation::Gelu => erf(simd, x * f32x8::splat(simd, std::f32::consts::FRAC_1_SQRT_2)),
        Activation::GeluTanh => {
            let cube = x * x * x;
            let inner = cube.mul_add(f32x8::splat(simd, 0.044_715), x);
            tanh(simd, inner * f32x8::splat(simd, (2.0 / std::f32::consts::PI).sqrt()))
        }
    };
    half * (one + turn)
}

/// The rational approximation of Eigen, odd over even powers; beyond 4 the error function is 1 in `f32`.
#[inline(always)]
fn erf<S: Simd>(simd: S, x: f32x8<S>) -> f32x8<S> {
    const ODD: [f32; 7] = [
        -2.726_142_4e-10,
        2.770_681_5e-8,
        -2.101_024e-6,
        -5.692_506_2e-5,
        -7.349_906_4e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const EVEN: [f32; 5] = [-1.456_607_15e-5, -2.133_740_5e-4, -1.682_827e-3, -7.373_329_3e-3, -1.426_473_9e-2];
    let x = x.max(f32x8::splat(simd, -4.0)).min(f32x8::splat(simd, 4.0));
    let square = x * x;
    x * horner(simd, square, &ODD) / horner(simd, square, &EVEN)
}

#[inline(always)]
fn tanh<S: Simd>(simd: S, x: f32x8<S>) -> f32x8<S> {
    let one = f32x8::splat(simd, 1.0);
    let two = f32x8::splat(simd, 2.0);
    one - two / (exp(simd, x * two) + one)
}

/// By Cephes: a power of two, and a polynomial for what remains. Saturates at both ends instead of leaving
/// the finite.
#[inline(always)]
fn exp<S: Simd>(simd: S, x: f32x8<S>) -> f32x8<S> {
    const POLYNOMIAL: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5];
    let splat = |value| f32x8::splat(simd, value);
    let x = x.max(splat(-87.0)).min(splat(88.0));
    let power = (x * splat(std::f32::consts::LOG2_E)).round_ties_even();
    let rest = power.mul_add(splat(-0.693_359_4), x);
    let rest = power.mul_add(splat(2.121_944_4e-4), rest);
    let fraction = horner(simd, rest, &POLYNOMIAL).mul_add(rest * rest, rest + splat(1.0));
    let exponent = simd.shl_i32x8(simd.add_i32x8(simd.cvt_i32_f32x8(power), simd.splat_i32x8(127)), 23);
    fraction * simd.cvt_from_bytes_f32x8(simd.cvt_to_bytes_i32x8(exponent))
}

#[inline(always)]
fn horner<S: Simd, const N: usize>(simd: S, x: f32x8<S>, coefficients: &[f32; N]) -> f32x8<S> {
    let mut sum = f32x8::splat(simd, 0.0);
    for coefficient in coefficients {
        sum = sum.mul_add(x, f32x8::splat(simd, *coefficient));
    }
    sum
}

/// Softmax: each row of this many columns becomes shares of 1.
pub(crate) fn softmax(level: Level, data: &mut [f32], columns: usize) {
    dispatch!(level, simd => softmax_rows(simd, data, columns));
}

#[inline(always)]
fn softmax_rows<S: Simd>(simd: S, data: &mut [f32], columns: usize) {
    for row in data.chunks_exact_mut(columns) {
        let highest = f32x8::splat(simd, highest(simd, row));
        let (chunks, rest) = row.as_chunks_mut::<LANES>();
        let mut sums = f32x8::splat(simd, 0.0);
        for chunk in chunks {
            let share = exp(simd, simd.load_array_ref_f32x8(chunk) - highest);
            sums += share;
            *chunk = share.into();
        }
        let mut last = [f32::MIN; LANES];
        last.iter_mut().zip(rest.iter()).for_each(|(slot, value)| *slot = *value);
        let shares: [f32; LANES] = exp(simd, simd.load_array_f32x8(last) - highest).into();
        rest.iter_mut().zip(shares).for_each(|(slot, share)| *slot = share);
        let sum = lanes(sums).iter().chain(rest.iter()).sum::<f32>();
        row.iter_mut().for_each(|share| *share /= sum);
    }
}

#[inline(always)]
fn highest<S: Simd>(simd: S, row: &[f32]) -> f32 {
    let (chunks, rest) = row.as_chunks::<LANES>();
    let mut highest = f32x8::splat(simd, f32::MIN);
    for chunk in chunks {
        highest = highest.max(simd.load_array_ref_f32x8(chunk));
    }
    lanes(highest).iter().chain(rest).copied().fold(f32::MIN, f32::max)
}

#[inline(always)]
fn lanes<S: Simd>(vector: f32x8<S>) -> [f32; LANES] {
    vector.into()
}

/// The weights of a layer's normalisation.
#[derive(Debug)]
pub struct Norm {
    pub scale: Vec<f32>,
    pub shift: Vec<f32>,
    pub epsilon: f32,
}

impl Norm {
    /// Adds `residual` to rows, and normalises each. Rows are of whole vectors of [`LANES`].
    pub fn add(&self, level: Level, data: &mut [f32], residual: &[f32]) {
        dispatch!(level, simd => self.add_rows(simd, data, residual));
    }

    #[inline(always)]
    fn add_rows<S: Simd>(&self, simd: S, data: &mut [f32], residual: &[f32]) {
        let columns = self.scale.len();
        for (row, residual) in data.chunks_exact_mut(columns).zip(residual.chunks_exact(columns)) {
            let mut sums = f32x8::splat(simd, 0.0);
            for (x, residual) in chunks_mut(row).iter_mut().zip(chunks(residual)) {
                let sum = simd.load_array_ref_f32x8(x) + simd.load_array_ref_f32x8(residual);
                sums += sum;
                *x = sum.into();
            }
            let mean = f32x8::splat(simd, lanes(sums).iter().sum::<f32>() / columns as f32);
            let mut squares = f32x8::splat(simd, 0.0);
            for x in chunks(row) {
                let off = simd.load_array_ref_f32x8(x) - mean;
                squares = off.mul_add(off, squares);
            }
            let variance = lanes(squares).iter().sum::<f32>() / columns as f32;
            let inverse = f32x8::splat(simd, (variance + self.epsilon).sqrt().recip());
            let weights = chunks(&self.scale).iter().zip(chunks(&self.shift));
            for (x, (scale, shift)) in chunks_mut(row).iter_mut().zip(weights) {
                let scale = simd.load_array_ref_f32x8(scale) * inverse;
                let off = simd.load_array_ref_f32x8(x) - mean;
                *x = off.mul_add(scale, simd.load_array_ref_f32x8(shift)).into();
            }
        }
    }
}

#[inline(always)]
fn chunks(row: &[f32]) -> &[[f32; LANES]] {
    row.as_chunks().0
}

#[inline(always)]
fn chunks_mut(row: &mut [f32]) -> &mut [[f32; LANES]] {
    row.as_chunks_mut().0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By its Taylor series, in `f64`.
    fn erf_exactly(x: f64) -> f64 {
        if x.abs() > 4.5 {
            return x.signum();
        }
        let mut term = x;
        let mut sum = x;
        for n in 1..120 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    /// The same on the best instructions of this machine and on those that every machine has.
    fn check(activation: Activation, x: f32, exact: f64) {
        for level in [Level::new(), Level::baseline()] {
            let found: [f32; LANES] =
                dispatch!(level, simd => activate(simd, activation, f32x8::splat(simd, x)).into());
            assert_eq!(found, [found[0]; LANES]);
            let error = (f64::from(found[0]) - exact).abs();
            assert!(
                error <= 5e-7 * f64::from(x.abs().max(1.0)),
                "{activation:?} of {x} is off by {error} on {level:?}"
            );
        }
    }

    #[test]
    fn activations_are_exact() {
        for step in -12_000..=12_000 {
            let x = step as f32 / 1500.0;
            let wide = f64::from(x);
            check(Activation::Gelu, x, wide * 0.5 * (1.0 + erf_exactly(wide / 2f64.sqrt())));
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044_715 * wide.powi(3));
            check(Activation::GeluTanh, x, wide * 0.5 * (1.0 + inner.tanh()));
        }
    }

    #[test]
    fn activations_of_large_numbers_are_themselves_or_nothing() {
        for activation in [Activation::Gelu, Activation::GeluTanh] {
            check(activation, 1e30, f64::from(1e30f32));
            let level = Level::new();
            let low: [f32; LANES] =
                dispatch!(level, simd => activate(simd, activation, f32x8::splat(simd, -1e30)).into());
            assert!(low[0].abs() <= 1e-6, "{activation:?}: {}", low[0]);
        }
    }

    #[test]
    fn shares_of_rows_of_any_length_are_exact() {
        for columns in 1..40_usize {
            let scores: Vec<f32> = (0..3 * columns).map(|i| ((i * 37 + columns) % 101) as f32 / 3.0 - 20.0).collect();
            let mut shares = scores.clone();
            softmax(Level::new(), &mut shares, columns);
            for (scores, shares) in scores.chunks(columns).zip(shares.chunks(columns)) {
                let sum: f64 = scores.iter().map(|x| f64::from(*x).exp()).sum();
                for (score, share) in scores.iter().zip(shares) {
                    assert!((f64::from(*score).exp() / sum - f64::from(*share)).abs() < 1e-6, "{columns}");
                }
            }
        }
    }

    #[test]
    fn shares_survive_scores_far_apart() {
        let mut shares = [3e38, -3e38, 0.0, 3e38];
        softmax(Level::new(), &mut shares, 4);
        assert!(shares.iter().zip([0.5, 0.0, 0.0, 0.5]).all(|(share, expected)| (share - expected).abs() < 1e-6));
    }
}
