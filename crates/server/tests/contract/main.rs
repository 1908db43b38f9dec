//! The contracts, run: every scenario of `contract/*/*.md` against a server of its own.
//!
//! A page states clauses, each a line that opens with `**TC-LIM-2**`, and proves them in fenced blocks:
//!
//! ````text
//! ```http TC-LIM-2 TC-ERR-4
//! POST /context/topicContextYoj/run?userId=ana       method and address
//! authorization: {ana}                               headers, if any; {ana} is a key of ana's, {admin} an admin's
//! {"kala": {"kind": "Topic", "topicId": "t"}}        the body, if any, sent byte for byte
//! => 200 {"yoj": []}                                 the status, and the answer where it matters
//! has "role":"system","content"                      the raw answer holds this text; `lacks` is the opposite
//! save trace = header x-novelo-trace                 or `save id = body /yoj/0/docId`; used later as {trace}
//! ```
//! ````
//!
//! Answers compare by value: `"<any>"`, `"<number>"`, `"<string>"`, `"<now>"` and `"<text:a...b>"` stand for many
//! values, an element `"..."` for any number of elements, a member `"..."` for any other members. `{now}` and `{week}`
//! are times in seconds, with `+60` or `-60` where needed. `{{list 3 TEXT}}` writes a text three times with commas,
//! `{{repeat 3 TEXT}}` without; `{{list 2-4 TEXT}}` counts from 2 to 4, and `{n}` is the number.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod expect;
mod fill;
mod page;
mod run;
mod runner;
mod step;

use std::collections::BTreeSet;
use std::path::PathBuf;

use page::Page;

/// One test for each page, so that they run side by side.
macro_rules! pages {
    ($($name:ident)*) => {
        const PAGES: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            check(stringify!($name));
        })*
    };
}

pages! {
    cleanup
    collapse_group_replacer
    doc_ids
    endpoints
    errors
    examples
    file_contents_limiter
    filters
    indexer
    kala
    limits
    nesting
    presets
    promotion
    rendering
    schema
    size_limiter
    spill
    state
    tool_call_backfill
    ui
    who
    windows
}

const SURFACE: &str = "contract/topic-context";

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(SURFACE)
}

/// Every page of the surface.
fn pages() -> Vec<Page> {
    let entries = std::fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        Page::read(&format!("{SURFACE}/{name}.md"), &text).unwrap_or_else(|problem| panic!("{problem}"))
    };
    paths.iter().map(read).collect()
}

fn check(name: &str) {
    let pages = pages();
    let file = format!("{SURFACE}/{}.md", name.replace('_', "-"));
    let known: BTreeSet<&str> = pages.iter().flat_map(|page| page.clauses.iter().map(String::as_str)).collect();
    let page = pages.iter().find(|page| page.file == file).unwrap_or_else(|| panic!("there is no {file}"));
    let failures = run::page(page, &known);
    assert!(
        failures.is_empty(),
        "{} of {} scenarios failed\n\n{}",
        failures.len(),
        page.scenarios.len(),
        failures.join("\n\n")
    );
}

#[test]
fn every_page_has_its_test() {
    let there: Vec<String> = pages().into_iter().map(|page| page.file).collect();
    let listed: Vec<String> = PAGES.iter().map(|name| format!("{SURFACE}/{}.md", name.replace('_', "-"))).collect();
    assert_eq!(there, listed);
}
