//! The contracts, run: every scenario of `contract/*/*.md` against a server of its own.
//!
//! A page states clauses, each a line that opens with `**TC-LIM-2**`, and proves them in fenced blocks:
//!
//! ````text
//! ```http TC-LIM-2 TC-ERR-4
//! SET memory.short_term_window = 2                   a setting, from the next start of the server on
//! WRITE repo/a.txt "two\nlines"                      a file below the server's directory, which is {home}
//! DATABASE own.db "CREATE TABLE …; INSERT …"         a SQLite file there, made or changed by a script
//!
//! POST /context/topicContextYoj/run?userId=ana       method and address
//! authorization: {ana}                               headers, if any; {ana} is a key of ana's, {admin} an admin's
//! {"kala": {"kind": "Topic", "topicId": "t"}}        the body, if any, sent byte for byte
//! => 200 {"yoj": []}                                 the status, and the answer where it matters
//! has "role":"system","content"                      the raw answer holds this text; `lacks` is the opposite
//! save trace = header x-novelo-trace                 or `save id = body /yoj/0/docId`; used later as {trace}
//!
//! RESTART                                            the server ends as by `kill -9` and starts on the same data
//!
//! GET /health/ready
//! => until 200                                       the call is made again until this comes, or 30 seconds passed
//! ```
//! ````
//!
//! Answers compare by value: `"<any>"`, `"<number>"`, `"<string>"`, `"<now>"`, `"<uuid4>"`, `"<chars:9>"` (a text of at most 9
//! characters), `"<below:9>"` (a number) and `"<text:a...b>"` stand for many values, an element `"..."` for any number of elements, a member
//! `"..."` for any other members. `{now}` and `{week}` are times in seconds, with `+60` or `-60` where needed.
//! `{{list 3 TEXT}}` writes a text three times with commas, `{{repeat 3 TEXT}}` without; `{{list 2-4 TEXT}}` counts
//! from 2 to 4, and `{n}` is the number. In a text for a file, `\u007bname}` is a `{name}` that nothing is filled in for.
//! `{embedder}` is the address of a server of embeddings that knows a few words, refuses what is unspeakable, and takes its time
//! over what is ponderous.
//! A stream of events compares as the array of its frames, `[{"id", "event", "data"}]`, comments left out.
//!
//! `{model}` is the address of a model server that does as it is told, a line for each request to come:
//!
//! ````text
//! SET models.answer.url = {model}
//! MODEL {"says": ["At ", "nine."]}                   `manner.rs` has the other things it does
//! MODEL always {"status": 500}                       for every request that no other line is left for
//!
//! ASKED                                              what it was asked since the last such step
//! => 200 [{"...": "", "messages": ["...", {"role": "user", "content": "When?"}]}]
//! ````

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod events;
mod expect;
mod fill;
mod manner;
mod page;
mod run;
mod runner;
mod step;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use page::Page;

/// A module for each surface, and in it one test for each page, so that they run side by side.
macro_rules! surfaces {
    ($($surface:ident { $($page:ident)* })*) => {
        $(mod $surface {
            $(#[test]
            fn $page() {
                crate::check(stringify!($surface), stringify!($page));
            })*

            #[test]
            fn every_page_has_its_test() {
                crate::every_page_has_its_test(stringify!($surface), &[$(stringify!($page)),*]);
            }
        })*

        const SURFACES: &[&str] = &[$(stringify!($surface)),*];
    };
}

surfaces! {
    ask {
        answers
        call
        data
        doors
        isolation
        narrator
        own
        parameters
        planner
        policy
        privacy
        recent
        reference
        scopes
        turns
    }
    eco {
        cache
        call
        decision
        doors
        extra
        fallback
        finalizer
        guests
        loading
        modules
        policies
        resume
        route
        shortcuts
        stream
        trace
    }
    memory {
        chat
        conversation
        documents
        doors
        errors
        independence
        isolation
        levels
        limits
        memories
        order
        query
        repositories
        reset
        short_term
        skills
        summary
        task_memory
        tasks
        user_data
    }
    thread {
        ask
        doors
        errors
        failing_model
        generate
        ids
        isolation
        limits
        no_model
        page
        rewrite
        rules
        sources
        stream
        window
    }
    topic_context {
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
}

/// For as long as anyone would wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where a surface's pages are, from the root of the repository.
fn directory(surface: &str) -> String {
    format!("contract/{}", surface.replace('_', "-"))
}

fn below_root(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Every page of a surface.
fn pages(surface: &str) -> Vec<Page> {
    let directory = directory(surface);
    let entries = std::fs::read_dir(below_root(&directory)).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "md")).collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        Page::read(&format!("{directory}/{name}.md"), &text).unwrap_or_else(|problem| panic!("{problem}"))
    };
    paths.iter().map(read).collect()
}

fn file(surface: &str, page: &str) -> String {
    format!("{}/{}.md", directory(surface), page.replace('_', "-"))
}

fn check(surface: &str, page: &str) {
    let pages = pages(surface);
    let file = file(surface, page);
    let known: BTreeSet<&str> = pages.iter().flat_map(|page| page.clauses.iter().map(String::as_str)).collect();
    let page = pages.iter().find(|page| page.file == file).unwrap_or_else(|| panic!("there is no {file}"));
    let failures = run::page(page, &known, PATIENCE);
    assert!(
        failures.is_empty(),
        "{} of {} scenarios failed\n\n{}",
        failures.len(),
        page.scenarios.len(),
        failures.join("\n\n")
    );
}

fn every_page_has_its_test(surface: &str, listed: &[&str]) {
    let there: Vec<String> = pages(surface).into_iter().map(|page| page.file).collect();
    let mut listed: Vec<String> = listed.iter().map(|page| file(surface, page)).collect();
    listed.sort();
    assert_eq!(there, listed);
}

#[test]
fn every_surface_has_its_tests() {
    let entries = std::fs::read_dir(below_root("contract")).unwrap().map(|entry| entry.unwrap().file_name());
    let there: BTreeSet<String> = entries.map(|name| format!("contract/{}", name.to_str().unwrap())).collect();
    assert_eq!(there, SURFACES.iter().map(|surface| directory(surface)).collect());
}
