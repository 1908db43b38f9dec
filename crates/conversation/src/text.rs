//! Cutting text.

/// The first characters of a text.
pub fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}
