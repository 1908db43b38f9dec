//! The letter trigrams of a term, which find it when it is inflected or misspelt.

/// The distinct trigrams of a term whose beginning counts as a letter, in order. Empty for terms of less than
/// three letters and for numbers: what is near 1987 is another year.
pub fn trigrams(term: &str) -> Vec<u32> {
    if term.chars().nth(2).is_none() || term.chars().any(|c| c.is_numeric()) {
        return Vec::new();
    }
    let mut window = [None, Some('^')];
    let mut grams: Vec<u32> = Vec::with_capacity(term.len());
    for c in term.chars() {
        if let [Some(a), Some(b)] = window {
            grams.push(gram(a, b, c));
        }
        let [_, b] = window;
        window = [b, Some(c)];
    }
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn gram(a: char, b: char, c: char) -> u32 {
    let letters = u64::from(u32::from(a)) << 42 | u64::from(u32::from(b)) << 21 | u64::from(u32::from(c));
    (letters.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// The Dice coefficient of two terms, by their shared trigrams and the trigrams of each: 0 to 1.
pub fn likeness(shared: usize, ours: usize, theirs: usize) -> f32 {
    2.0 * shared as f32 / (ours + theirs).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_words_share_most_trigrams() {
        let [one, other] = [trigrams("капитан"), trigrams("капитанск")];
        let shared = one.iter().filter(|gram| other.contains(gram)).count();
        assert_eq!((one.len(), shared), (6, 6));
        assert!(likeness(shared, one.len(), other.len()) > 0.8);
    }

    #[test]
    fn short_words_and_numbers_have_none() {
        assert!(trigrams("ab").is_empty() && trigrams("2023").is_empty() && trigrams("").is_empty());
        assert_eq!(trigrams("cat").len(), 2);
    }
}
