//! Cosines of which only the highest are known.
//!
//! Another index gives the best few of many. How far apart these stand says how wide all of them spread, if
//! that is as a bell: so what came back weighs what it would weigh among all, and what did not is a little
//! below the middle.

/// Mean and deviation of all, and where those stand that did not come back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub mean: f32,
    pub deviation: f32,
    pub rest: f32,
}

/// Of the highest values, out of so many; `None` where they are all there are, or too few to tell.
pub(crate) fn estimate(highest: impl Iterator<Item = f32> + Clone, of: usize) -> Option<Estimate> {
    let (count, sum, lowest) = highest.fold((0_usize, 0.0_f64, f64::MAX), |(count, sum, lowest), value| {
        (count + 1, sum + f64::from(value), lowest.min(f64::from(value)))
    });
    if count < 2 || of <= count {
        return None;
    }
    let share = count as f64 / of as f64;
    let bound = -quantile(share);
    let density = (-bound * bound / 2.0).exp() / std::f64::consts::TAU.sqrt();
    let above = density / share - bound;
    let deviation = ((sum / count as f64 - lowest) / above).max(1e-6);
    let mean = lowest - bound * deviation;
    let rest = mean - deviation * density / (1.0 - share);
    Some(Estimate { mean: mean as f32, deviation: deviation as f32, rest: rest as f32 })
}

/// The value below which this share of a standard normal distribution lies (by its rational approximation in
/// two pieces, right to about three digits).
fn quantile(share: f64) -> f64 {
    if share > 0.5 {
        return -quantile(1.0 - share);
    }
    let far = (-2.0 * share.max(1e-12).ln()).sqrt();
    let above = (0.010_328 * far + 0.802_853) * far + 2.515_517;
    let below = ((0.001_308 * far + 0.189_269) * far + 1.432_788) * far + 1.0;
    above / below - far
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many values as a bell of this middle and width has them.
    fn bell(count: usize, mean: f64, deviation: f64) -> Vec<f32> {
        let at = |n: usize| mean + deviation * quantile((n as f64 + 0.5) / count as f64);
        (0..count).rev().map(|n| at(n) as f32).collect()
    }

    #[test]
    fn the_highest_tell_how_all_are_spread() {
        let all = bell(10_000, 0.1, 0.12);
        for known in [50, 200, 1_000, 5_000, 9_000] {
            let told = estimate(all.iter().copied().take(known), all.len()).unwrap();
            assert!((told.mean - 0.1).abs() < 0.03 && (told.deviation - 0.12).abs() < 0.012, "{known}: {told:?}");
            assert!(told.rest < told.mean + 1e-6 && told.rest < all[known - 1], "{known}: {told:?}");
        }
    }

    #[test]
    fn where_all_came_back_nothing_is_estimated() {
        assert_eq!(estimate([0.5, 0.4].into_iter(), 2), None);
        assert_eq!(estimate([0.5].into_iter(), 9), None);
        assert_eq!(estimate(std::iter::empty(), 9), None);
        let same = estimate([0.5; 7].into_iter(), 100).unwrap();
        assert!(same.deviation > 0.0 && same.mean.is_finite() && same.rest <= 0.5);
    }
}
