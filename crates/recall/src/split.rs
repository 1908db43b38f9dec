//! Documents into passages.
//!
//! Owns where a text is cut: before headings, between paragraphs, after sentences, between words, and between
//! characters when nothing better is near. Keeps no text and drops none but blanks: every other byte is in a
//! passage.

use std::ops::Range;

/// A passage ends at the best border after the first of these, and never passes the second.
const PASSAGE_BYTES_MIN: usize = 600;
const PASSAGE_BYTES_GOOD: usize = 1_000;
const PASSAGE_BYTES_MAX: usize = 1_200;
/// More blanks than these before the first word of a line are not kept.
const INDENTATION_BYTES_MAX: usize = 100;
const HEADING_BYTES_MAX: usize = 120;

/// The passages of a text, as ranges of bytes, in order. Each is trimmed, but for the indentation of its
/// first line, and has at most 1,200 bytes.
pub fn passages(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut from = skip_blank(text, 0);
    while from < text.len() {
        let to = end(text, from);
        let kept = text.get(from..to).unwrap_or_default().trim_end().len();
        ranges.push(from..from + kept);
        from = skip_blank(text, to);
    }
    ranges
}

/// Where what is not blank begins, or its line if that is indented.
fn skip_blank(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let blank = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
    if blank == rest.len() {
        return text.len();
    }
    let skipped = rest.get(..blank).unwrap_or_default();
    let is_line_start = text.get(..from).is_some_and(|before| before.is_empty() || before.ends_with('\n'));
    let line = skipped.rfind('\n').map(|at| at + 1).or(is_line_start.then_some(0));
    let is_indented = |line: &usize| {
        let indentation = skipped.get(*line..).unwrap_or_default();
        indentation != " " && indentation.len() <= INDENTATION_BYTES_MAX
    };
    from + line.filter(is_indented).unwrap_or(blank)
}

/// The headings of a Markdown text, as far as it was read.
#[derive(Debug, Default)]
pub struct Headings {
    /// With their levels: each is below the one before it.
    open: Vec<(usize, String)>,
    in_code: bool,
}

impl Headings {
    /// Reads on.
    pub fn read(&mut self, text: &str) {
        for line in text.lines().map(str::trim_start) {
            if line.starts_with("```") || line.starts_with("~~~") {
                self.in_code = !self.in_code;
            } else if let Some((level, heading)) = heading(line).filter(|_| !self.in_code) {
                self.open.retain(|(above, _)| *above < level);
                self.open.push((level, heading.to_owned()));
            }
        }
    }

    /// The headings of what comes next, the outermost first; its own heading counts where it begins with one.
    pub fn above(&self, next: &str) -> Option<String> {
        let own = next.lines().next().and_then(heading).filter(|_| !self.in_code);
        let level = own.map_or(usize::MAX, |(level, _)| level);
        let above = self.open.iter().filter(|(above, _)| *above < level).map(|(_, heading)| heading.as_str());
        let headings: Vec<&str> = above.chain(own.map(|(_, heading)| heading)).collect();
        (!headings.is_empty()).then(|| headings.join(" / "))
    }
}

/// The level and the text of a heading: `## Ports` is one, `#ports` and `#!/bin/sh` are not.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let heading = text.trim().trim_end_matches('#').trim_end();
    let is_one = (1..=6).contains(&level) && text.starts_with([' ', '\t']) && !heading.is_empty();
    is_one.then(|| (level, cut_heading(heading)))
}

fn cut_heading(heading: &str) -> &str {
    heading.get(..floor_char(heading, HEADING_BYTES_MAX)).unwrap_or_default()
}

/// Where the passage ends that begins here. Looks no further than a passage may reach, so that all ends
/// together take time by the length of the text.
fn end(text: &str, from: usize) -> usize {
    let window = text.get(from..floor_char(text, from + PASSAGE_BYTES_MAX)).unwrap_or_default();
    // A heading begins a passage, unless only a few lines stand before it.
    let heading = window.find("\n#").map(|at| at + 1).filter(|at| *at >= PASSAGE_BYTES_MIN / 2);
    if let Some(heading) = heading {
        return from + heading;
    }
    if text.len() - from <= PASSAGE_BYTES_GOOD {
        return text.len();
    }
    let (low, good) = (floor_char(window, PASSAGE_BYTES_MIN), floor_char(window, PASSAGE_BYTES_GOOD));
    let borders = [
        (Border::Paragraph, low..good),
        (Border::Sentence, low..good),
        (Border::Paragraph, good..window.len()),
        (Border::Sentence, good..window.len()),
        (Border::Word, low..window.len()),
    ];
    from + borders.into_iter().find_map(|(border, part)| border.last_in(window, part)).unwrap_or(good)
}

/// The last border between characters up to here.
fn floor_char(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[derive(Debug, Clone, Copy)]
enum Border {
    Paragraph,
    Sentence,
    Word,
}

impl Border {
    /// The last place in a part of the window after which a passage may begin.
    fn last_in(self, window: &str, part: Range<usize>) -> Option<usize> {
        let start = part.start;
        let text = window.get(part)?;
        let at = match self {
            Self::Paragraph => text.rfind("\n\n").map(|at| at + 2).or_else(|| text.rfind('\n').map(|at| at + 1)),
            Self::Sentence => last_sentence_end(text),
            Self::Word => text.rfind(char::is_whitespace),
        };
        at.filter(|at| *at > 0).map(|at| start + at)
    }
}

/// After the last mark that ends a sentence and is followed by a blank, or needs none.
fn last_sentence_end(text: &str) -> Option<usize> {
    let mut after = None;
    let mut next_is_blank = false;
    for (at, c) in text.char_indices().rev() {
        let ends = matches!(c, '。' | '！' | '？') || (next_is_blank && matches!(c, '.' | '!' | '?' | '…' | ';'));
        if ends {
            after = Some(at + c.len_utf8());
            break;
        }
        next_is_blank = c.is_whitespace();
    }
    after
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        passages(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn short_texts_are_one_passage() {
        assert_eq!(texts(" A line.\n\nAnother. \n"), ["A line.\n\nAnother."]);
        assert!(passages("").is_empty() && passages(" \n\t ").is_empty());
    }

    #[test]
    fn paragraphs_and_sentences_stay_whole() {
        let paragraph = format!("{}end.", "Some words of a sentence. ".repeat(25));
        let text = [paragraph.as_str(); 4].join("\n\n");
        assert_eq!(texts(&text), [paragraph.as_str(); 4]);
        let long = "One sentence with some words in it. ".repeat(200);
        assert!(texts(&long).iter().all(|passage| passage.ends_with("in it.")));
        assert!(texts(&long).iter().rev().skip(1).all(|passage| passage.len() > 600));
    }

    #[test]
    fn code_keeps_the_indentation_of_its_first_line() {
        assert_eq!(texts("\n\n    if x {\n        y();\n    }\n"), ["    if x {\n        y();\n    }"]);
        let line = format!("    {};\n", "word ".repeat(40));
        assert!(texts(&line.repeat(20)).iter().all(|passage| passage.starts_with("    word")));
        assert_eq!(texts(&format!("a\n{}b", " ".repeat(5_000))).concat(), "ab");
    }

    #[test]
    fn a_heading_begins_a_passage() {
        let part = "Words that fill a part of the document. ".repeat(12);
        let text = format!("# One\n{part}\n## Two\n{part}");
        assert_eq!(texts(&text).iter().map(|it| it.lines().next().unwrap()).collect::<Vec<_>>(), ["# One", "## Two"]);
    }

    #[test]
    fn ten_megabytes_of_one_line_take_linear_time() {
        for line in ["x".repeat(10_000_000), "слово ".repeat(1_000_000), "🙂".repeat(2_500_000), " ".repeat(10_000_000)]
        {
            let start = std::time::Instant::now();
            let ranges = passages(&line);
            assert!(ranges.iter().all(|range| range.len() <= PASSAGE_BYTES_MAX));
            assert!(start.elapsed().as_secs() < 5);
        }
    }

    proptest! {
        #[test]
        fn every_word_is_in_one_passage(text in "([a-zé\u{4f60}🙂]{1,9}|[ \n]|\\. |\n\n|\n# ){0,150}", times in 1..9_usize) {
            let text = text.repeat(times);
            let mut end = 0;
            for range in passages(&text) {
                prop_assert!(text[end..range.start].trim().is_empty());
                let passage = &text[range.clone()];
                prop_assert!(!passage.is_empty() && passage.len() <= PASSAGE_BYTES_MAX && passage == passage.trim_end());
                prop_assert!(!passage.starts_with('\n') && !passage.trim().is_empty());
                end = range.end;
            }
            prop_assert!(text[end..].trim().is_empty());
        }
    }
}
