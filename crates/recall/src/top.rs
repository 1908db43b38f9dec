//! The best of many numbers, without sorting all of them.

/// The number of histogram bins between the lowest and the highest value.
const STEPS: usize = 1_024;

/// A number that at least so many of the values reach, infinitely low ones and what is no number apart, if
/// there are so many, and seldom many more do.
pub fn floor(values: &[f32], wanted: usize) -> f32 {
    let (mut low, mut high) = (f32::MAX, f32::MIN);
    for value in values {
        low = if (*value < low) & (*value > f32::NEG_INFINITY) { *value } else { low };
        high = if *value > high { *value } else { high };
    }
    let scale = (STEPS - 1) as f32 / (high - low).max(f32::MIN_POSITIVE);
    if values.len() <= wanted || !scale.is_finite() {
        return f32::MIN;
    }
    let mut counts = [0_usize; STEPS];
    for value in values.iter().filter(|value| **value >= low) {
        if let Some(count) = counts.get_mut(((value - low) * scale) as usize) {
            *count += 1;
        }
    }
    let mut sum = 0;
    let reached = counts.iter().rposition(|count| {
        sum += count;
        sum >= wanted
    });
    // One bin lower, so that rounding loses no value that was counted.
    reached.map_or(f32::MIN, |step| low + (step as f32 - 1.0) / scale)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn enough_reach_it(values in prop::collection::vec(prop_oneof![-1e6..1e6_f32, Just(f32::NEG_INFINITY), Just(0.5)], 0..500), wanted in 1..50_usize) {
            let floor = floor(&values, wanted);
            let finite = values.iter().filter(|value| value.is_finite()).count();
            prop_assert!(values.iter().filter(|value| **value >= floor).count() >= wanted.min(finite));
        }
    }

    #[test]
    fn few_more_reach_it() {
        let values: Vec<f32> = (0..10_000).map(|n| (n * 7 % 10_000) as f32).collect();
        let floor = floor(&values, 100);
        assert!((100..150).contains(&values.iter().filter(|value| **value >= floor).count()));
    }
}
