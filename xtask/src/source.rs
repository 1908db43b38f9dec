//! A Rust file as the checks see it: code and comments apart, functions with their lengths, test code marked.
//!
//! It is a scanner, not a parser: it knows strings, comments and balanced brackets, which is enough to say
//! where a function ends and what `#[cfg(test)]` covers. Invariant: `code`, `comments` and `literals` are as
//! long as the file, so an offset in one is the same place in the other.

use std::ops::Range;

pub struct Source {
    /// The text with comments and literals blanked.
    pub code: String,
    /// The text with everything but comments blanked.
    pub comments: String,
    /// The text with everything but string and character literals blanked.
    pub literals: String,
    pub functions: Vec<Function>,
    line_starts: Vec<usize>,
    /// Sorted; they may nest.
    tests: Vec<Range<usize>>,
}

pub struct Function {
    pub name: String,
    pub line: usize,
    pub lines: usize,
    /// Offsets of what stands between its braces.
    pub body: Range<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Attributes whose item is test code.
const TEST_ATTRIBUTES: [&str; 5] = ["#[cfg(test)", "#[cfg(all(test", "#[cfg(any(test", "#[test]", "#[tokio::test"];

impl Source {
    pub fn read(path: &str, text: &str) -> Self {
        let tokens = tokens(text);
        let code = only(Kind::Code, text, &tokens);
        let comments = only(Kind::Comment, text, &tokens);
        let literals = only(Kind::Literal, text, &tokens);
        let line_starts: Vec<usize> = [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let tests = match is_test_path(path) {
            true => std::iter::once(0..text.len()).collect(),
            false => test_items(&code),
        };
        let mut source = Self { code, comments, literals, functions: Vec::new(), line_starts, tests };
        source.functions = source.find_functions();
        source
    }

    /// The line an offset stands on, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= offset)
    }

    pub fn is_test(&self, offset: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&offset))
    }

    /// How many lines are not test code.
    pub fn product_lines(&self) -> usize {
        let len = self.code.len();
        self.line_starts.iter().filter(|start| **start < len && !self.is_test(**start)).count()
    }

    /// Where a phrase stands in the code outside tests, not as a part of a longer word.
    pub fn find<'a>(&'a self, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
        phrases(&self.code, phrase).filter(|at| !self.is_test(*at))
    }

    fn find_functions(&self) -> Vec<Function> {
        let macros: Vec<Range<usize>> =
            phrases(&self.code, "macro_rules!").map(|at| at..item_end(&self.code, at).unwrap_or(at)).collect();
        declarations(&self.code)
            .filter(|declared| declared.keyword == "fn" && !macros.iter().any(|m| m.contains(&declared.offset)))
            .filter_map(|declared| {
                let body = body(&self.code, declared.offset)?;
                let line = self.line(declared.offset);
                let lines = self.line(body.end) - line + 1;
                Some(Function { name: declared.name.to_owned(), line, lines, body })
            })
            .collect()
    }
}

pub struct Declared<'a> {
    pub keyword: &'a str,
    pub name: &'a str,
    pub offset: usize,
}

/// Named items: `fn name`, `struct Name` and their like. `fn(u8)`, a type, has no name and is none.
pub fn declarations(code: &str) -> impl Iterator<Item = Declared<'_>> {
    const KEYWORDS: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "type", "mod", "const", "static"];
    let pairs = words(code).zip(words(code).skip(1));
    pairs.filter_map(move |((offset, keyword), (name_at, name))| {
        let between = code.get(offset + keyword.len()..name_at)?;
        let named = KEYWORDS.contains(&keyword) && between.trim().is_empty() && name != "fn";
        named.then_some(Declared { keyword, name, offset })
    })
}

/// Every identifier and keyword with its offset.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text.get(rest..)?.find(is_word)?;
        let tail = text.get(start..)?;
        let word = tail.get(..tail.find(|c| !is_word(c)).unwrap_or(tail.len()))?;
        rest = start + word.len();
        Some((start, word))
    })
}

/// Where a phrase stands, not as a part of a longer word.
pub fn phrases<'a>(text: &'a str, phrase: &'a str) -> impl Iterator<Item = usize> + 'a {
    let joins = |a: Option<char>, b: Option<char>| a.is_some_and(is_word) && b.is_some_and(is_word);
    text.match_indices(phrase).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (text.get(..*at).unwrap_or(""), text.get(at + phrase.len()..).unwrap_or(""));
        !joins(before.chars().next_back(), phrase.chars().next())
            && !joins(phrase.chars().next_back(), after.chars().next())
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whole files of tests: `tests/…`, `…_tests.rs`, `tests.rs`.
fn is_test_path(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    folder.split('/').any(|part| part == "tests") || name == "tests.rs" || name.ends_with("_tests.rs")
}

fn test_items(code: &str) -> Vec<Range<usize>> {
    let starts = TEST_ATTRIBUTES.iter().flat_map(|attribute| code.match_indices(attribute));
    let mut items: Vec<_> =
        starts.map(|(start, _)| start..item_end(code, start).map_or(code.len(), |end| end + 1)).collect();
    items.sort_by_key(|item| item.start);
    items
}

/// The offset of the brace or semicolon that ends the item that begins at `start`.
pub fn item_end(code: &str, start: usize) -> Option<usize> {
    match opening(code, start)? {
        (at, b'{') => closing(code, at),
        (at, _) => Some(at),
    }
}

/// What stands between the braces of the item that begins at `start`; `None` if it ends with a semicolon.
pub fn body(code: &str, start: usize) -> Option<Range<usize>> {
    match opening(code, start)? {
        (at, b'{') => Some(at + 1..closing(code, at)?),
        _ => None,
    }
}

/// The first `{`, `}` or `;` from `start` on that is not inside parentheses or square brackets.
fn opening(code: &str, start: usize) -> Option<(usize, u8)> {
    let mut depth = 0_i32;
    code.bytes().enumerate().skip(start).find(|(_, byte)| {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            _ => {}
        }
        depth <= 0 && matches!(byte, b'{' | b'}' | b';')
    })
}

/// The brace that closes the one at `open`.
fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    let found = code.bytes().enumerate().skip(open).find(|(_, byte)| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    found.map(|(at, _)| at)
}

/// The text with everything of another kind blanked, byte for byte; line ends stay.
fn only(kind: Kind, text: &str, tokens: &[(Kind, Range<usize>)]) -> String {
    let mut out = String::with_capacity(text.len());
    for (of, range) in tokens {
        let part = text.get(range.clone()).unwrap_or("");
        match *of == kind {
            true => out.push_str(part),
            false => out.extend(part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })),
        }
    }
    out
}

fn tokens(text: &str) -> Vec<(Kind, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let (kind, len) = token(rest);
        tokens.push((kind, at..at + len));
        at += len;
    }
    tokens
}

/// The kind and length of what a text begins with.
fn token(rest: &str) -> (Kind, usize) {
    if rest.starts_with("//") {
        return (Kind::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Kind::Comment, block_comment(rest));
    }
    let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let (prefix, tail) = rest.split_at(word);
    match (prefix, tail.as_bytes().first()) {
        ("r" | "br" | "cr", Some(b'"' | b'#')) => match raw_string(tail) {
            Some(len) => (Kind::Literal, word + len),
            None => (Kind::Code, word),
        },
        ("" | "b" | "c", Some(b'"')) => (Kind::Literal, word + quoted(tail, '"')),
        ("" | "b", Some(b'\'')) => match character(tail) {
            Some(len) => (Kind::Literal, word + len),
            None => (Kind::Code, word + 1),
        },
        ("", _) => (Kind::Code, rest.chars().next().map_or(1, char::len_utf8)),
        _ => (Kind::Code, word),
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(tail) = rest.get(at..).filter(|tail| !tail.is_empty()) {
        let step = match tail {
            t if t.starts_with("/*") => {
                depth += 1;
                2
            }
            t if t.starts_with("*/") => {
                depth -= 1;
                2
            }
            t => t.chars().next().map_or(1, char::len_utf8),
        };
        at += step;
        if depth == 0 {
            break;
        }
    }
    at
}

/// The length of `#"…"#` with any number of hashes; `None` for a raw identifier.
fn raw_string(rest: &str) -> Option<usize> {
    let hashes = rest.find(|c| c != '#')?;
    let inside = rest.get(hashes..)?.strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(hashes + 1 + inside.find(&end).map_or(inside.len(), |at| at + end.len()))
}

/// The length of a literal from its opening quote to its closing one.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; `None` for a lifetime.
fn character(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    match chars.next()? {
        (_, '\\') => Some(quoted(rest, '\'')),
        _ => chars.next().filter(|(_, c)| *c == '\'').map(|(at, _)| at + 1),
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
