//! Vectors as they are kept: one byte a dimension, and in documents as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The largest value that is kept, as a multiple of what each would be if all were equal. Wider makes the
/// steps coarser for all; narrower cuts the few large values of a model.
const DEVIATIONS_MAX: f32 = 5.0;

/// A vector of length 1, in steps that depend on its dimensions alone: a scale of its own would break the
/// comparison between vectors.
pub fn quantise(vector: &[f32]) -> Vec<i8> {
    let scale = unit(vector.len());
    vector.iter().map(|x| (x * scale).round().clamp(-127.0, 127.0) as i8).collect()
}

/// The length that a vector of length 1 has in these steps.
pub fn unit(dimensions: usize) -> f32 {
    127.0 * (dimensions as f32).sqrt() / DEVIATIONS_MAX
}

/// A quantised vector as a document holds it.
pub fn encode(vector: &[i8]) -> String {
    STANDARD.encode(vector.iter().map(|x| x.cast_unsigned()).collect::<Vec<u8>>())
}

/// What [`encode`] wrote, and nothing else.
pub fn decode(text: &str) -> Option<Vec<i8>> {
    let bytes = STANDARD.decode(text).ok()?;
    Some(bytes.into_iter().map(u8::cast_signed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_depend_on_the_dimensions_alone() {
        assert_eq!(quantise(&[0.5, -0.5, 0.5, -0.5]), [25, -25, 25, -25]);
        assert_eq!(quantise(&[0.25, 0.0, 0.0, 0.0]), [13, 0, 0, 0]);
        assert_eq!(quantise(&[1.0; 25]), [127; 25]);
        assert_eq!(quantise(&[-1.1; 25]), [-127; 25]);
        assert_eq!(quantise(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY]), [0, 127, -127]);
        assert!(quantise(&[]).is_empty());
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let all: Vec<i8> = (-128..=127).collect();
        assert_eq!(decode(&encode(&all)), Some(all));
        assert_eq!(encode(&[0, 1, -1]), "AAH/");
        assert_eq!(decode(""), Some(Vec::new()));
        for wrong in ["AAH", "AAH/=", "A H/", "é", "AAH_"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
