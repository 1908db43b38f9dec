//! Plain English: a short list of phrases that hide the subject of a sentence must not
//! appear in comments, pages and messages.
//!
//! It reads comments and literals of Rust files and the whole text of other pages. Scenarios of the contract
//! are data, and so is a literal that holds one of the words alone.

use super::Finding;
use crate::source::words;
use crate::tree::{File, Tree};

const PHRASES: [&str; 9] = [
    "whoever",
    "is told",
    "are told",
    "come back to",
    "nobody's",
    "of those that",
    "what came of",
    "said of it",
    "whose it is",
];

const PAGES: [&str; 7] = [".md", ".toml", ".js", ".html", ".css", ".py", "Makefile"];

/// What may stand between two words of a phrase: space, the marks of a comment, an apostrophe, a continued
/// line.
const BETWEEN: &str = " \t\n/!*#>'’\\";

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files.iter().flat_map(findings).collect()
}

fn findings(file: &File) -> Vec<Finding> {
    let mut found = match &file.source {
        Some(source) => [occurrences(&source.comments), occurrences(&source.literals)].concat(),
        None if is_page(&file.path) => occurrences(&prose(file)),
        None => Vec::new(),
    };
    found.sort_unstable();
    let line = |at: usize| file.text.get(..at).unwrap_or("").matches('\n').count() + 1;
    let finding =
        |(at, phrase)| Finding { file: file.path.clone(), line: line(at), what: format!("odd English: {phrase}") };
    found.into_iter().map(finding).collect()
}

fn is_page(path: &str) -> bool {
    PAGES.iter().any(|end| path.ends_with(end)) && !path.starts_with("policies/")
}

/// A page of the contract without its fenced blocks, byte for byte; any other page as it is.
fn prose(file: &File) -> String {
    if !file.path.starts_with("contract/") {
        return file.text.clone();
    }
    let mut inside = false;
    let mut out = String::with_capacity(file.text.len());
    for line in file.text.split_inclusive('\n') {
        let fence = line.starts_with("```");
        match inside || fence {
            true => out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })),
            false => out.push_str(line),
        }
        inside ^= fence;
    }
    out
}

fn occurrences(text: &str) -> Vec<(usize, &'static str)> {
    let words: Vec<(usize, &str)> = words(text).collect();
    PHRASES.into_iter().flat_map(|phrase| places(text, &words, phrase).map(move |at| (at, phrase))).collect()
}

fn places<'a>(text: &'a str, words: &'a [(usize, &'a str)], phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let wanted: Vec<&str> = crate::source::words(phrase).map(|(_, word)| word).collect();
    words.windows(wanted.len()).filter_map(move |window| {
        let same = window.iter().zip(&wanted).all(|((_, word), wanted)| word.eq_ignore_ascii_case(wanted));
        let (start, end) = (window.first()?.0, window.last().map(|(at, word)| at + word.len())?);
        let joined = window.iter().zip(window.iter().skip(1)).all(|((at, word), (next, _))| {
            let between = text.get(at + word.len()..*next).unwrap_or("");
            between.chars().all(|c| BETWEEN.contains(c)) && between.matches('\n').count() < 2
        });
        let alone = text.get(..start)?.ends_with('"') && text.get(end..)?.starts_with('"');
        (same && joined && !alone).then_some(start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn phrases_are_found_in_comments_literals_and_pages_across_lines() {
        let (told, who, nobody) = ("told", "Whoever", "nobody");
        let text = format!("let a = 1; // it is\n    // {told}\nlet b = \"an error: {who} x\";\n");
        assert_eq!(lines(check, "crates/store/tests/a.rs", &text), [1, 3]);
        let page = format!("This is\n{told}.\n\nIt is {nobody}'s.\n");
        assert_eq!(lines(check, "docs/a.md", &page), [1, 4]);
        assert_eq!(lines(check, "policies/a.md", who), [0; 0]);
    }

    #[test]
    fn code_single_words_and_distant_words_are_free() {
        let code = "let who = is_told;\n// it is\nfn a() {}\n// told\n";
        assert_eq!(lines(check, "crates/store/src/a.rs", code), [0; 0]);
        let list = format!("let words = [\"{}\", \"who\"];", "whoever");
        assert_eq!(lines(check, "crates/store/src/a.rs", &list), [0; 0]);
        assert_eq!(lines(check, "docs/a.md", "It is, told so; this told\n"), [0; 0]);
    }

    #[test]
    fn scenarios_of_the_contract_are_data() {
        let page = format!("**TC-A-1** One.\n```http TC-A-1\nPOST /a {}\n```\nThat is {}.\n", PHRASES[0], "told");
        assert_eq!(lines(check, "contract/ask/a.md", &page), [5]);
    }
}
