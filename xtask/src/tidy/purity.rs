//! The engine is a function of its inputs: no clock, no files, no sockets, no randomness, no order that
//! differs between runs.

use super::Finding;
use crate::source::{Source, phrases};
use crate::tree::{File, Tree};

const ENGINE: &str = "crates/engine/src/";

/// What the engine does not name, and what to do instead.
const ABSENT: [(&str, &str); 13] = [
    ("SystemTime", "`now` comes in as a value"),
    ("Instant", "`now` comes in as a value"),
    ("HashMap", "its order differs between runs: use FxHashMap for look-up, BTreeMap or Vec to walk"),
    ("HashSet", "its order differs between runs: use FxHashSet for look-up, BTreeSet or Vec to walk"),
    ("RandomState", "hashes differ between runs"),
    ("rand::", "randomness comes in as a value"),
    ("getrandom", "randomness comes in as a value"),
    ("async fn", "waiting is the loader's work"),
    (".await", "waiting is the loader's work"),
    ("println!", "the caller prints"),
    ("eprintln!", "the caller prints"),
    ("static mut", "state comes in as a value"),
    ("thread_local!", "state comes in as a value"),
];

/// Modules of `std` that reach outside the process.
const OUTSIDE: [&str; 5] = ["env", "fs", "net", "process", "thread"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let engine = tree.sources().filter(|(file, _)| file.path.starts_with(ENGINE));
    engine.flat_map(|(file, source)| named(file, source).into_iter().chain(outside(file, source))).collect()
}

fn named(file: &File, source: &Source) -> Vec<Finding> {
    let each = ABSENT.iter().flat_map(|(phrase, instead)| source.find(phrase).map(move |at| (at, phrase, instead)));
    each.map(|(at, phrase, instead)| Finding::at(file, source, at, format!("engine: {phrase}: {instead}"))).collect()
}

/// `std::fs` in full, and `fs` in `use std::{fmt, fs}`.
fn outside(file: &File, source: &Source) -> Vec<Finding> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for module in OUTSIDE {
        found.extend(source.find(&format!("std::{module}")).map(|at| (at, module)));
    }
    for start in source.find("use std::{") {
        let group = source.code.get(start..).and_then(|rest| rest.split(';').next()).unwrap_or("");
        for module in OUTSIDE {
            found.extend(phrases(group, module).map(|at| (start + at, module)));
        }
    }
    let finding = |(at, module)| Finding::at(file, source, at, format!("engine: std::{module} reaches outside"));
    found.into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn the_engine_names_no_clock_no_file_and_no_std_map() {
        let text = "use std::time::Instant;\nuse std::{fmt,\n    fs};\nlet m: HashMap<u8, u8>;\nstd::net::lookup();\n";
        let mut found = lines(check, "crates/engine/src/a.rs", text);
        found.sort_unstable();
        assert_eq!(found, [1, 3, 4, 5]);
        assert_eq!(lines(check, "crates/store/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn words_in_comments_tests_and_longer_names_are_free() {
        let text =
            "// HashMap\nuse rustc_hash::FxHashMap;\nlet operand::A = 1;\n#[cfg(test)]\nmod tests { use std::fs; }\n";
        assert_eq!(lines(check, "crates/engine/src/a.rs", text), [0; 0]);
    }
}
