//! Documents into passages.

use std::ops::Range;

const PASSAGE_BYTES: usize = 800;

/// The passages of a text, as ranges of bytes, in order.
pub fn passages(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let to = text.ceil_char_boundary(from + PASSAGE_BYTES);
        ranges.push(from..to);
        from = to;
    }
    ranges
}
