//! The pages that there are: a test for each, and none forgotten.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::page::Page;
use crate::run;

/// A module for each surface, and in it one test for each page, so that they run side by side.
macro_rules! surfaces {
    ($($surface:ident { $($page:ident)* })*) => {
        $(mod $surface {
            $(#[test]
            fn $page() {
                crate::surfaces::check(stringify!($surface), stringify!($page));
            })*

            #[test]
            fn every_page_has_its_test() {
                crate::surfaces::every_page_has_its_test(stringify!($surface), &[$(stringify!($page)),*]);
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
        locale
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
    compaction {
        back
        compact
        errors
    }
    eco {
        cache
        call
        crisis
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
        truth
        user_data
    }
    responses {
        chains
        compaction
        conversations
        embeddings
        errors
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

pub fn check(surface: &str, page: &str) {
    let pages = pages(surface);
    let file = file(surface, page);
    let known: BTreeSet<&str> = pages.iter().flat_map(|page| page.clauses.iter().map(String::as_str)).collect();
    let page = pages.iter().find(|page| page.file == file).unwrap_or_else(|| panic!("there is no {file}"));
    let failures = run::page(page, &known, PATIENCE);
    let (count, all) = (failures.len(), page.scenarios.len());
    assert!(failures.is_empty(), "{count} of {all} scenarios failed\n\n{}", failures.join("\n\n"));
}

pub fn every_page_has_its_test(surface: &str, listed: &[&str]) {
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

/// Every clause of every page.
#[allow(dead_code, reason = "asked for where some have an exception")]
pub fn clauses() -> BTreeSet<String> {
    SURFACES.iter().flat_map(|surface| pages(surface)).flat_map(|page| page.clauses).collect()
}
