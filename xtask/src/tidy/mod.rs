//! What the compiler cannot check and a reviewer should not have to.
//!
//! One file per check; each looks at the tree and returns what it found. A check that cannot fail does not belong here.

mod contract;
mod layering;
mod machine;
mod names;
mod purity;
mod shortcuts;
mod size;

use std::process::ExitCode;

use crate::source::Source;
use crate::tree::{File, Tree};

/// One place that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    pub file: String,
    pub line: usize,
    pub what: String,
}

const CHECKS: [fn(&Tree) -> Vec<Finding>; 7] =
    [layering::check, purity::check, shortcuts::check, names::check, machine::check, size::check, contract::check];

pub fn run() -> anyhow::Result<ExitCode> {
    let tree = Tree::read()?;
    let findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&tree)).chain(crate::api::check(&tree)).collect();
    print!("{}", size::report(&tree));
    for finding in &findings {
        eprintln!("{}:{}: {}", finding.file, finding.line, finding.what);
    }
    match findings.len() {
        0 => Ok(ExitCode::SUCCESS),
        n => {
            eprintln!("tidy: {n} to mend");
            Ok(ExitCode::FAILURE)
        }
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
