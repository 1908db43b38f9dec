//! The public API of the libraries, as a list that is reviewed like code: one line per item, in `api.txt` of
//! the crate.
//!
//! Reads the source with the scanner of the other checks, so it needs no nightly compiler and no network. It
//! lists what is `pub` without a restriction. The crates warn about `pub` items that cannot be reached, so
//! the two are the same.

use std::ops::Range;
use std::path::Path;

use anyhow::Context;

use super::Finding;
use crate::source::{Source, words};
use crate::tree::Tree;

/// The folders of the crates whose API is listed.
const CRATES: [&str; 2] = ["crates/conversation", "crates/engine"];

const LIST: &str = "api.txt";

/// Lists that are not what the source says.
pub fn check(tree: &Tree) -> Vec<Finding> {
    CRATES.iter().filter_map(|folder| difference(tree, folder)).collect()
}

/// Writes the lists anew.
pub fn write(root: &Path) -> anyhow::Result<()> {
    let tree = Tree::read()?;
    for folder in CRATES {
        let path = root.join(folder).join(LIST);
        std::fs::write(&path, list(&tree, folder)).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// The first line at which the list of a crate differs from its source.
fn difference(tree: &Tree, folder: &str) -> Option<Finding> {
    let file = format!("{folder}/{LIST}");
    let (actual, expected) = (list(tree, folder), tree.files.iter().find(|f| f.path == file).map_or("", |f| &f.text));
    if actual == expected {
        return None;
    }
    let mut now = actual.lines();
    let mut listed = expected.lines();
    let mut line = 1;
    let (now, listed) = loop {
        match (now.next(), listed.next()) {
            (a, b) if a == b && a.is_some() => line += 1,
            (a, b) => break (a.unwrap_or("nothing"), b.unwrap_or("nothing")),
        }
    };
    let what = format!(
        "the public API changed: the source has `{now}` where the list has `{listed}`\n  \
         hint: if that is meant, run `cargo run -p xtask -- api` and review the difference"
    );
    Some(Finding { file, line, what })
}

/// Every public item of a crate with its signature, one per line, sorted.
fn list(tree: &Tree, folder: &str) -> String {
    let src = format!("{folder}/src/");
    let mut scan = Scan::default();
    for (file, source) in tree.sources() {
        if let Some(path) = file.path.strip_prefix(&src) {
            scan.module = module(path);
            scan.items(source, 0..source.code.len(), &Container::Module);
        }
    }
    let Scan { mut lines, types, impls, .. } = scan;
    let is_public =
        |header: &String| words(self_type(header)).next().is_some_and(|(_, name)| types.iter().any(|t| t == name));
    lines.extend(impls.into_iter().filter(|(_, header)| is_public(header)).map(|(module, header)| module + &header));
    lines.sort();
    lines.dedup();
    lines.into_iter().map(|line| line + "\n").collect()
}

/// `recipe::spec: ` for `recipe/spec.rs`; nothing for the root.
fn module(path: &str) -> String {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" { String::new() } else { path.replace('/', "::") + ": " }
}

/// What an item stands in.
enum Container {
    Module,
    /// An inherent impl, by its header.
    Impl(String),
    Trait(String),
}

#[derive(Default)]
struct Scan {
    module: String,
    lines: Vec<String>,
    /// The names of public types.
    types: Vec<String>,
    /// Modules and headers of trait impls.
    impls: Vec<(String, String)>,
}

/// One item: its attributes, what stands before its body, and the body.
struct Item {
    attributes: String,
    header: String,
    body: Range<usize>,
    end: usize,
}

impl Scan {
    fn items(&mut self, source: &Source, range: Range<usize>, container: &Container) {
        let mut at = range.start;
        while let Some(item) = next_item(&source.code, at, range.end) {
            let start = at;
            at = item.end.max(at + 1);
            let begin = start + source.code.get(start..at).map_or(0, |text| text.len() - text.trim_start().len());
            if !source.is_test(begin) {
                self.item(source, &item, container);
            }
        }
    }

    fn item(&mut self, source: &Source, item: &Item, container: &Container) {
        let header = item.header.as_str();
        if header.starts_with("impl") {
            return self.implementation(source, item);
        }
        if header.starts_with("macro_rules!") {
            return self.generated(source, item.body.clone());
        }
        if header.ends_with('!') && matches!(container, Container::Module) {
            return self.rows(source, item);
        }
        let prefix = match container {
            Container::Module => "",
            Container::Impl(header) | Container::Trait(header) => header,
        };
        let is_member = matches!(container, Container::Trait(_));
        let Some(rest) = header.strip_prefix("pub ").or(is_member.then_some(header)) else { return };
        self.add(&format!("{prefix}{}", signature(header)));
        let mut names = words(rest).map(|(_, word)| word);
        match (names.next(), names.next()) {
            (Some("struct"), Some(name)) => {
                self.named(item, name);
                self.fields(source, item.body.clone(), name);
            }
            (Some("enum"), Some(name)) => {
                self.named(item, name);
                self.variants(source, item.body.clone(), name);
            }
            (Some("trait"), Some(name)) => {
                self.items(source, item.body.clone(), &Container::Trait(format!("trait {name}: ")));
            }
            _ => {}
        }
    }

    fn add(&mut self, line: &str) {
        self.lines.push(format!("{}{line}", self.module));
    }

    fn named(&mut self, item: &Item, name: &str) {
        self.types.push(name.to_owned());
        let derives = item.attributes.split("#[").filter_map(|a| a.trim().strip_prefix("derive("));
        for derive in
            derives.map(|list| list.trim_end_matches(']').trim_end_matches(')').to_owned()).collect::<Vec<_>>()
        {
            self.add(&format!("{name}: derive({derive})"));
        }
    }

    fn implementation(&mut self, source: &Source, item: &Item) {
        if item.header.contains(" for ") {
            self.impls.push((self.module.clone(), item.header.clone()));
        } else {
            self.items(source, item.body.clone(), &Container::Impl(format!("{}: ", item.header)));
        }
    }

    fn fields(&mut self, source: &Source, body: Range<usize>, name: &str) {
        for field in parts(source.code.get(body).unwrap_or("")) {
            if field.starts_with("pub ") {
                self.add(&format!("{name}: {field}"));
            }
        }
    }

    fn variants(&mut self, source: &Source, body: Range<usize>, name: &str) {
        for variant in parts(source.code.get(body).unwrap_or("")) {
            self.add(&format!("{name}::{variant}"));
        }
    }

    /// Public items that a macro of the crate makes, where their names are fixed.
    fn generated(&mut self, source: &Source, body: Range<usize>) {
        let text = source.code.get(body).unwrap_or("");
        for (at, _) in text.match_indices("pub ") {
            let rest = text.get(at..).unwrap_or("");
            let header = signature(&normal(rest.get(..rest.find([';', '{']).unwrap_or(rest.len())).unwrap_or("")));
            if !header.contains('$') {
                self.add(&header);
            }
        }
    }

    /// The rows `NAME = …;` of a table that is a macro call.
    fn rows(&mut self, source: &Source, item: &Item) {
        for row in source.code.get(item.body.clone()).unwrap_or("").split(';') {
            if let Some((name, _)) = row.split_once('=') {
                self.add(&format!("{} {}", item.header, name.trim()));
            }
        }
    }
}

/// The item that begins at `at` or after it.
fn next_item(code: &str, at: usize, end: usize) -> Option<Item> {
    let text = code.get(at..end)?;
    let (attributes, rest) = attributes(text);
    let start = at + text.len() - rest.len();
    let stop = item_stop(rest)?;
    let (header, from) = (normal(rest.get(..stop)?), start + stop);
    match rest.as_bytes().get(stop) {
        Some(b'{') => {
            let close = from + balanced(rest.get(stop..)?);
            Some(Item { attributes, header, body: from + 1..close - 1, end: close })
        }
        _ => Some(Item { attributes, header, body: from..from, end: from + 1 }),
    }
}

/// The attributes that a text begins with, and the rest.
fn attributes(text: &str) -> (String, &str) {
    let mut rest = text.trim_start();
    while let Some(bracket) = rest.starts_with('#').then(|| rest.find('[')).flatten() {
        let length = bracket + balanced(rest.get(bracket..).unwrap_or(""));
        rest = rest.get(length..).unwrap_or("").trim_start();
    }
    let length = text.len() - rest.len();
    (normal(text.get(..length).unwrap_or("")), rest)
}

/// Where the header of an item ends: at its body, or at its semicolon.
fn item_stop(text: &str) -> Option<usize> {
    let visible = text.strip_prefix("pub ").unwrap_or(text);
    let is_value = ["use ", "const ", "static ", "type "].iter().any(|word| visible.starts_with(word));
    let has_body = !is_value || visible.starts_with("const fn");
    let mut depth = 0_i32;
    text.bytes().position(|byte| {
        match byte {
            b'{' if has_body && depth == 0 => return true,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0 && byte == b';'
    })
}

/// The length of the brackets that a text begins with, both included.
fn balanced(text: &str) -> usize {
    let mut depth = 0_i32;
    let close = text.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    close.map_or(text.len(), |at| at + 1)
}

/// Fields or variants, without their attributes.
fn parts(body: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_i32;
    for c in body.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
    }
    parts.iter().map(|part| normal(attributes(part).1)).filter(|part| !part.is_empty()).collect()
}

/// A header without the value of a constant and without the private fields of a tuple.
fn signature(header: &str) -> String {
    let visible = header.strip_prefix("pub ").unwrap_or(header);
    let is_constant = visible.starts_with("const ") || visible.starts_with("static ");
    if is_constant && let Some((declared, _)) = header.split_once(" = ") {
        return declared.to_owned();
    }
    match header.split_once('(') {
        Some((name, fields)) if visible.starts_with("struct ") && !fields.contains("pub ") => format!("{name}(_)"),
        _ => header.to_owned(),
    }
}

fn self_type(header: &str) -> &str {
    header.split_once(" for ").map_or("", |(_, name)| name)
}

/// On one line, spaced as rustfmt would space it there.
fn normal(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("( ", "(").replace(", )", ")").replace("{ }", "{}").replace(", }", " }")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"
        //! A crate.
        mod inner;
        pub mod outer;
        pub use inner::{One, Two};

        /// A point.
        #[derive(Debug, Clone)]
        pub struct Point<T> {
            #[serde(rename = "x, y")]
            pub map: Map<String, T>,
            hidden: u8,
        }
        pub struct Wrapped(Vec<u8>);
        pub(crate) struct Internal { pub field: u8 }
        #[derive(Debug)]
        pub enum Shape { Dot, Line { from: u8, to: u8 }, Pair(u8, u16) }
        pub const MAX: usize = { 1 + 2 };
        impl<T> Point<T> {
            pub fn long(
                &self,
                size: [u8; 3],
            ) -> Option<&T> where T: Copy { None }
            fn private() {}
            pub(crate) fn inside() {}
        }
        impl Default for Point<u8> { fn default() -> Self { todo() } }
        impl Default for Internal { fn default() -> Self { todo() } }
        pub trait Draws { fn draw(&self); }
        table! { A = 1, "a"; B = 2, "b"; }
        #[cfg(test)]
        pub fn for_tests() {}
    "#;

    fn tree(list: &str) -> Tree {
        Tree::of(&[("crates/engine/src/lib.rs", SOURCE), ("crates/engine/api.txt", list)])
    }

    #[test]
    fn every_public_item_is_a_line() {
        let expected = "\
Point: derive(Debug, Clone)
Point: pub map: Map<String, T>
Shape: derive(Debug)
Shape::Dot
Shape::Line { from: u8, to: u8 }
Shape::Pair(u8, u16)
impl Default for Point<u8>
impl<T> Point<T>: pub fn long(&self, size: [u8; 3]) -> Option<&T> where T: Copy
pub const MAX: usize
pub enum Shape
pub mod outer
pub struct Point<T>
pub struct Wrapped(_)
pub trait Draws
pub use inner::{One, Two}
table! A
table! B
trait Draws: fn draw(&self)
";
        assert_eq!(list(&tree(""), "crates/engine"), expected);
        assert_eq!(check(&tree(expected)), []);
    }

    #[test]
    fn a_changed_signature_is_found_at_its_line() {
        let before = list(&tree(""), "crates/engine").replace("size: [u8; 3]", "size: u8");
        let findings = check(&tree(&before));
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [8]);
        assert!(findings[0].what.contains("where the list has `impl<T> Point<T>: pub fn long(&self, size: u8)"));
    }

    #[test]
    fn a_missing_list_and_a_missing_end_are_found() {
        assert_eq!(check(&tree("")).len(), 1);
        let longer = list(&tree(""), "crates/engine") + "zzz\n";
        assert_eq!(check(&tree(&longer))[0].line, 19);
    }
}
