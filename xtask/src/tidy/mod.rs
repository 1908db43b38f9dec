//! What the compiler cannot check and a reviewer should not have to.
//!
//! One file per check; each looks at the tree and returns what it found. A check that cannot fail does not
//! belong here.

mod allowance;
pub mod api;
mod comments;
mod contract;
mod cycles;
mod layering;
mod links;
mod machine;
mod names;
mod phrases;
mod purity;
mod shortcuts;
mod size;
mod type_names;
mod visibility;

use std::process::ExitCode;

use crate::source::Source;
use crate::tree::{self, File, Tree};

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub file: String,
    pub line: usize,
    pub what: String,
}

type Check = fn(&Tree) -> Vec<Finding>;

/// Checks that the tree passes: each finding fails.
const STRICT: [Check; 8] = [
    layering::check,
    purity::check,
    shortcuts::check,
    names::check,
    machine::check,
    size::check,
    contract::check,
    links::check,
];

/// Checks that the tree does not pass yet, by their names in `xtask/allowance.txt`.
const COUNTED: [(&str, Check); 5] = [
    ("comments", comments::check),
    ("cycles", cycles::check),
    ("phrases", phrases::check),
    ("type-names", type_names::check),
    ("visibility", visibility::check),
];

/// Prints what was measured and each finding; findings within the allowance are left out.
pub fn run() -> anyhow::Result<ExitCode> {
    let tree = Tree::read()?;
    let mut findings: Vec<Finding> = STRICT.iter().flat_map(|check| check(&tree)).collect();
    findings.extend(allowance::exceeded(allowed(&tree), counted(&tree)));
    findings.extend(api::check(&tree));
    print!("{}", size::report(&tree));
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => Ok(ExitCode::SUCCESS),
        n => {
            eprintln!("tidy: {n} to mend");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Writes the allowance from what is found now, and prints the lines that rose.
pub fn renew() -> anyhow::Result<ExitCode> {
    let tree = Tree::read()?;
    for rose in allowance::renew(&tree::root()?, allowed(&tree), &counted(&tree))? {
        println!("{rose}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what the allowance covers.
pub fn list() -> anyhow::Result<ExitCode> {
    for (check, finding) in counted(&Tree::read()?) {
        println!("{check}: {finding}");
    }
    Ok(ExitCode::SUCCESS)
}

fn counted(tree: &Tree) -> Vec<(&'static str, Finding)> {
    let named = COUNTED.iter().flat_map(|(name, check)| check(tree).into_iter().map(|finding| (*name, finding)));
    named.collect()
}

fn allowed(tree: &Tree) -> &str {
    tree.files.iter().find(|file| file.path == allowance::FILE).map_or("", |file| &file.text)
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}

impl Finding {
    fn at(file: &File, source: &Source, offset: usize, what: impl Into<String>) -> Self {
        Self { file: file.path.clone(), line: source.line(offset), what: what.into() }
    }
}

/// Runs one check over one file and gives the lines it complained about, for the tests of the checks.
#[cfg(test)]
fn lines(check: fn(&Tree) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
    check(&Tree::of(&[(path, text)])).into_iter().map(|finding| finding.line).collect()
}
