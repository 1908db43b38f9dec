//! A text, shortened by whole lines or sentences.

/// The text with as many of its parts as fit, and how many of how many those are; `None` if none does. Of
/// several lines, the first, the last and then those between them stay, so that what is left speaks of the
/// whole; of one line, the first sentences.
pub(crate) fn shorten(text: &str, fits: impl Fn(&str) -> bool) -> Option<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (parts, joint, order) = match lines.len() {
        0 | 1 => {
            let parts = sentences(text);
            let order = (0..parts.len()).collect();
            (parts, " ", order)
        }
        count => (lines, "\n", spread(count)),
    };
    let mut stays = vec![false; parts.len()];
    let mut shorter = None;
    for at in order {
        stays.get_mut(at).into_iter().for_each(|stays| *stays = true);
        let kept: Vec<&str> = parts.iter().zip(&stays).filter(|(_, stays)| **stays).map(|(part, _)| *part).collect();
        let tried = kept.join(joint);
        match fits(&tried) {
            true => shorter = Some((tried, kept.len(), parts.len())),
            // A sentence of a paragraph leans on those before it.
            false if joint == " " => break,
            false => stays.get_mut(at).into_iter().for_each(|stays| *stays = false),
        }
    }
    shorter
}

/// Sentences end after a mark that is followed by a blank.
fn sentences(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut marked) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        if marked && c.is_whitespace() {
            parts.extend(text.get(from..at).map(str::trim));
            from = at;
        }
        marked = matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？');
    }
    parts.extend(text.get(from..).map(str::trim));
    parts.retain(|part| !part.is_empty());
    parts
}

/// Places in an order in which each front is spread over the whole: the ends, the middle, the quarters.
fn spread(count: usize) -> Vec<usize> {
    let mut order = vec![0];
    let mut gaps = std::collections::VecDeque::from([(0_usize, count.saturating_sub(1))]);
    order.extend((count > 1).then_some(count - 1));
    while let Some((from, to)) = gaps.pop_front() {
        let middle = from.midpoint(to);
        if middle > from && middle < to {
            order.push(middle);
            gaps.extend([(from, middle), (middle, to)]);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, bytes_max: usize, expected: Option<(&str, usize, usize)>) {
        let found = shorten(text, |text| text.len() <= bytes_max);
        assert_eq!(found.as_ref().map(|(text, kept, of)| (text.as_str(), *kept, *of)), expected);
    }

    #[test]
    fn lines_stay_from_both_ends_and_the_middle() {
        let lines = "a1\nb2\nc3\nd4\ne5";
        check(lines, 14, Some((lines, 5, 5)));
        check(lines, 13, Some(("a1\nb2\nc3\ne5", 4, 5)));
        check(lines, 8, Some(("a1\nc3\ne5", 3, 5)));
        check(lines, 5, Some(("a1\ne5", 2, 5)));
        check(lines, 2, Some(("a1", 1, 5)));
        check(lines, 1, None);
        check("a long one\nb", 5, Some(("b", 1, 2)));
    }

    #[test]
    fn of_a_paragraph_the_first_sentences_stay() {
        check("One is. Two is 2.5 now. Three", 40, Some(("One is. Two is 2.5 now. Three", 3, 3)));
        check("One is. Two is 2.5 now. Three", 25, Some(("One is. Two is 2.5 now.", 2, 3)));
        check("One is. Two is 2.5 now. Three", 10, Some(("One is.", 1, 3)));
        check("One is. Two", 3, None);
        check("", 3, None);
    }

    #[test]
    fn every_place_is_in_the_order_once() {
        for count in 1..40 {
            let mut order = spread(count);
            order.sort_unstable();
            assert_eq!(order, (0..count).collect::<Vec<_>>());
        }
    }
}
