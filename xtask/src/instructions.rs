//! Counts the instructions of the main operations under Valgrind, and compares them with their budgets.
//!
//! Owns `crates/bench/instructions.txt`: for each compiler, target and profile the counts that are allowed.
//! An operation that needs over 5 % more fails. Where the file has no budgets for a compiler and target, the
//! counts are only reported.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, bail, ensure};

use crate::tree::{self, cargo, run as output};

const FILE: &str = "crates/bench/instructions.txt";
const EXAMPLE: &str = "instructions";
/// What is counted, by the names of functions: the operation, and for an append what the committer does.
const COUNTED: &str = "novelo_bench::instructions::counted";
const COMMITTER: &str = "novelo_store::local::committer::Committer::group";
const GROWTH_PERCENT: u64 = 5;

/// Instructions by operation.
type OperationCounts = BTreeMap<String, u64>;

/// How the example is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// That of the tests, which has built nearly everything already.
    Dev,
    Release,
}

/// Fails where a count left its budget.
pub fn check(profile: Profile) -> anyhow::Result<ExitCode> {
    let (root, key) = (tree::root()?, key(profile)?);
    let budgets = read(&read_file(&root)?)?;
    let counts = count_all(&root, profile)?;
    let Some(budgets) = budgets.get(&key) else {
        println!("{FILE} has no budgets for {key}; only reported:");
        counts.iter().for_each(|(name, count)| println!("  {name:<14} {count:>12}"));
        return Ok(ExitCode::SUCCESS);
    };
    println!("{key}:");
    let failures = compare(budgets, &counts, |line| println!("  {line}"));
    failures.iter().for_each(|failure| eprintln!("{failure}"));
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the budgets of this compiler, target and profile from what is counted now. Others stay.
pub fn renew(profile: Profile) -> anyhow::Result<ExitCode> {
    let (root, key) = (tree::root()?, key(profile)?);
    let mut budgets = read(&read_file(&root)?)?;
    let counts = count_all(&root, profile)?;
    let before = budgets.insert(key, counts.clone()).unwrap_or_default();
    for (name, count) in &counts {
        println!("  {}", line(name, before.get(name).copied(), *count));
    }
    std::fs::write(root.join(FILE), text(&budgets)).with_context(|| format!("cannot write {FILE}"))?;
    println!("{FILE} is written; say in the commit why a count rose");
    Ok(ExitCode::SUCCESS)
}

fn compare(budgets: &OperationCounts, counts: &OperationCounts, mut report: impl FnMut(String)) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, count) in counts {
        let budget = budgets.get(name).copied();
        report(line(name, budget, *count));
        let renew = "cargo run -p xtask -- instructions --renew";
        match budget {
            Some(budget) if *count > budget + budget / 100 * GROWTH_PERCENT => failures.push(format!(
                "{name} needs {:.1} % more instructions than its budget: find out why; if it must be, run {renew} and \
                 give the reason in the commit",
                (*count as f64 / budget as f64 - 1.0) * 100.0
            )),
            Some(_) => {}
            None => failures.push(format!("{name} has no budget: run {renew}")),
        }
    }
    for name in budgets.keys().filter(|name| !counts.contains_key(*name)) {
        failures.push(format!("{FILE} has a budget for {name}, which is not counted any more"));
    }
    failures
}

fn line(name: &str, budget: Option<u64>, count: u64) -> String {
    match budget {
        Some(budget) => {
            format!("{name:<14} {count:>12} of {budget:>12}, {:+.1} %", (count as f64 / budget as f64 - 1.0) * 100.0)
        }
        None => format!("{name:<14} {count:>12}"),
    }
}

/// The compiler and the target that counts depend on, and the profile.
fn key(profile: Profile) -> anyhow::Result<String> {
    let rustc = output(Command::new("rustc").arg("-vV"))?;
    let field = |name: &str| rustc.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let (release, host) = (field("release:").context("rustc names no release")?, field("host:").unwrap_or_default());
    let profile = if profile == Profile::Dev { "dev" } else { "release" };
    Ok(format!("rustc {release} {host} {profile}"))
}

fn read_file(root: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))
}

/// Sections of `[key]` and lines of `name count`.
fn read(text: &str) -> anyhow::Result<BTreeMap<String, OperationCounts>> {
    let mut sections: BTreeMap<String, OperationCounts> = BTreeMap::new();
    let mut section = None;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    for (at, line) in lines {
        if let Some(key) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = Some(sections.entry(key.to_owned()).or_default());
            continue;
        }
        let read = line.split_once(' ').and_then(|(name, count)| Some((name, count.trim().parse().ok()?)));
        match (&mut section, read) {
            (Some(section), Some((name, count))) => _ = section.insert(name.to_owned(), count),
            _ => bail!("{FILE}:{}: not `[rustc VERSION TARGET PROFILE]` or `name count`", at + 1),
        }
    }
    Ok(sections)
}

fn text(budgets: &BTreeMap<String, OperationCounts>) -> String {
    let mut text = "# Instructions of the main operations, counted by `make instructions`. Written by\n\
        # `cargo run -p xtask -- instructions --renew`; a commit that raises one says why.\n"
        .to_owned();
    for (key, counts) in budgets {
        _ = writeln!(text, "\n[{key}]");
        counts.iter().for_each(|(name, count)| _ = writeln!(text, "{name:<14} {count}"));
    }
    text
}

fn count_all(root: &Path, profile: Profile) -> anyhow::Result<OperationCounts> {
    let valgrind = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    ensure!(valgrind.is_ok_and(|status| status.success()), "valgrind is missing: install Debian's valgrind");
    let program = build(root, profile)?;
    let names: Vec<String> = output(&mut Command::new(&program))?.lines().map(str::to_owned).collect();
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    let mut counts = OperationCounts::new();
    for names in names.chunks(at_once) {
        let running: Vec<_> =
            names.iter().map(|name| Running::start(root, &program, name)).collect::<Result<_, _>>()?;
        for running in running {
            let (name, count) = running.finish()?;
            counts.insert(name, count);
        }
    }
    Ok(counts)
}

/// Builds the example. In the profile of the tests, the whole workspace decides the features of what all
/// need, so that little is built twice.
fn build(root: &Path, profile: Profile) -> anyhow::Result<PathBuf> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--locked", "--example", EXAMPLE]).current_dir(root);
    match profile {
        Profile::Dev => build.arg("--workspace"),
        // Names of functions and lines must stay in the program, and each crate keeps its own code.
        Profile::Release => build
            .args(["--release", "-p", "novelo-bench"])
            .env("CARGO_PROFILE_RELEASE_STRIP", "none")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_PROFILE_RELEASE_LTO", "off"),
    };
    ensure!(build.status().context("cannot start cargo")?.success(), "the example {EXAMPLE} does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = if profile == Profile::Dev { "debug" } else { "release" };
    Ok(target.join(folder).join("examples").join(EXAMPLE))
}

/// An operation that is being counted.
struct Running {
    name: String,
    profile: PathBuf,
    child: std::process::Child,
}

impl Running {
    fn start(root: &Path, program: &Path, name: &str) -> anyhow::Result<Self> {
        let folder = root.join("target/instructions");
        std::fs::create_dir_all(&folder)?;
        let profile = folder.join(name);
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "-q", &format!("--toggle-collect={COUNTED}")]);
        if name == "append" {
            valgrind.arg(format!("--toggle-collect={COMMITTER}"));
        }
        valgrind.arg(format!("--callgrind-out-file={}", profile.display())).arg(program).arg(name);
        let child = valgrind.stdin(Stdio::null()).spawn().context("cannot start valgrind")?;
        Ok(Self { name: name.to_owned(), profile, child })
    }

    fn finish(mut self) -> anyhow::Result<(String, u64)> {
        ensure!(self.child.wait()?.success(), "{} failed under valgrind", self.name);
        let profile = std::fs::read_to_string(&self.profile)
            .with_context(|| format!("valgrind wrote no {}", self.profile.display()))?;
        let count = profile.lines().find_map(|line| line.strip_prefix("totals:")).and_then(|n| n.trim().parse().ok());
        let count = count.filter(|count| *count > 0);
        Ok((self.name.clone(), count.with_context(|| format!("nothing of {} was counted", self.name))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(of: &[(&str, u64)]) -> OperationCounts {
        of.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    fn failures(budgets: &[(&str, u64)], found: &[(&str, u64)]) -> Vec<String> {
        let said = compare(&counts(budgets), &counts(found), |_| {});
        said.iter().map(|failure| failure.split(':').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn five_percent_more_hold_and_what_goes_beyond_fails() {
        assert!(failures(&[("append", 1_000), ("tail", 1_000)], &[("append", 1_050), ("tail", 1)]).is_empty());
        let said = failures(&[("append", 1_000)], &[("append", 1_051)]);
        assert_eq!(said, ["append needs 5.1 % more instructions than its budget"]);
    }

    #[test]
    fn an_operation_without_a_budget_and_a_budget_without_an_operation_fail() {
        let said = failures(&[("append", 1)], &[("tail", 1)]);
        assert_eq!(
            said,
            ["tail has no budget", &format!("{FILE} has a budget for append, which is not counted any more")]
        );
    }

    #[test]
    fn what_is_written_is_read_again_and_other_lines_are_named() {
        let budgets = BTreeMap::from([("rustc 1 x dev".to_owned(), counts(&[("append", 7), ("context-warm", 9)]))]);
        assert_eq!(read(&text(&budgets)).unwrap(), budgets);
        assert!(read("append 1\n").unwrap_err().to_string().contains(":1: not"));
        assert!(read("[a]\nappend x\n").unwrap_err().to_string().contains(":2: not"));
    }
}
