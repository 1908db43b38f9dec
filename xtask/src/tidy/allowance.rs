//! How many findings of a check a part of the repository may still have. The numbers only go down.
//!
//! `xtask/allowance.txt` has one line per check and part: `cycles server 23`. More findings fail, and so do
//! fewer, until the line is lowered. `tidy --renew` writes the file from what it finds, also over a file with
//! conflict marks.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context;

use super::Finding;
use crate::tree::part;

pub const FILE: &str = "xtask/allowance.txt";

/// Findings counted by check and part.
type Counts<'a> = BTreeMap<(&'a str, &'a str), usize>;

/// What the allowance leaves to mend, of the findings of all counted checks.
pub fn exceeded(allowed: &str, found: Vec<(&str, Finding)>) -> Vec<Finding> {
    let (allowed, mut failures) = read(allowed);
    let counted = count(&found);
    for ((check, part), allowed) in &allowed {
        let now = counted.get(&(*check, *part)).copied().unwrap_or(0);
        if now < *allowed {
            failures.push(failure(allowed_line(check, part, now)));
        }
    }
    let limit = |key: &(&str, &str)| allowed.get(key).copied().unwrap_or(0);
    for (key, now) in counted.iter().filter(|(key, now)| **now > limit(key)) {
        failures.push(failure(format!("{} {}: {now} found, {} allowed; see above", key.0, key.1, limit(key))));
    }
    let over = found.iter().map(|(check, finding)| (*check, part(&finding.file)));
    let over: Vec<bool> = over.map(|key| counted.get(&key).is_some_and(|now| *now > limit(&key))).collect();
    let kept = found.into_iter().zip(over).filter(|(_, is_over)| *is_over).map(|((_, finding), _)| finding);
    kept.chain(failures).collect()
}

fn allowed_line(check: &str, part: &str, now: usize) -> String {
    match now {
        0 => format!("{check} {part}: none found; delete the line"),
        now => format!("{check} {part}: {now} found; lower the allowance to {now}"),
    }
}

/// Writes the file from what was found, and returns what rose since `before`.
pub fn renew(root: &Path, before: &str, found: &[(&str, Finding)]) -> anyhow::Result<Vec<String>> {
    let counted = count(found);
    let lines: String = counted.iter().map(|((check, part), now)| format!("{check} {part} {now}\n")).collect();
    std::fs::write(root.join(FILE), lines).with_context(|| format!("cannot write {FILE}"))?;
    let (before, _) = read(before);
    let rose = counted.iter().filter_map(|(key, now)| {
        let allowed = before.get(key).copied().unwrap_or(0);
        (*now > allowed).then(|| format!("{} {}: {allowed} → {now}", key.0, key.1))
    });
    Ok(rose.collect())
}

/// The allowance, and a finding for each line that is none.
fn read(text: &str) -> (Counts<'_>, Vec<Finding>) {
    let mut counts = Counts::new();
    let mut failures = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let parts: Vec<&str> = line.split(' ').collect();
        let read = match parts.as_slice() {
            [check, part, count] => count.parse().ok().filter(|count| *count > 0).map(|count| ((*check, *part), count)),
            _ => None,
        };
        match read {
            Some((key, count)) if !counts.contains_key(&key) => _ = counts.insert(key, count),
            _ => failures.push(Finding { line: at + 1, ..failure("not `check part count`: run tidy --renew".into()) }),
        }
    }
    (counts, failures)
}

fn count<'a>(found: &'a [(&'a str, Finding)]) -> Counts<'a> {
    let mut counts = Counts::new();
    for (check, finding) in found {
        *counts.entry((check, part(&finding.file))).or_default() += 1;
    }
    counts
}

fn failure(what: String) -> Finding {
    Finding { file: FILE.into(), line: 1, what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: usize) -> (&'static str, Finding) {
        ("cycles", Finding { file: "crates/store/src/a.rs".into(), line, what: "found".into() })
    }

    fn check(allowed: &str, found: usize, expected: &[&str]) {
        let exceeded = exceeded(allowed, (1..=found).map(finding).collect());
        let exceeded: Vec<String> = exceeded.iter().map(|f| format!("{}:{}: {}", f.file, f.line, f.what)).collect();
        assert_eq!(exceeded, expected);
    }

    #[test]
    fn as_many_as_allowed_pass_and_one_more_shows_all() {
        check("cycles store 2\n", 2, &[]);
        let over = "xtask/allowance.txt:1: cycles store: 2 found, 1 allowed; see above";
        let each = ["crates/store/src/a.rs:1: found", "crates/store/src/a.rs:2: found", over];
        check(
            "cycles store 1\ncycles recall 1\n",
            2,
            &[&each[..2], &["xtask/allowance.txt:1: cycles recall: none found; delete the line", over]].concat(),
        );
        check(
            "",
            1,
            &["crates/store/src/a.rs:1: found", "xtask/allowance.txt:1: cycles store: 1 found, 0 allowed; see above"],
        );
    }

    #[test]
    fn fewer_than_allowed_lower_the_allowance() {
        check("cycles store 3\n", 2, &["xtask/allowance.txt:1: cycles store: 2 found; lower the allowance to 2"]);
        check("cycles store 3\n", 0, &["xtask/allowance.txt:1: cycles store: none found; delete the line"]);
    }

    #[test]
    fn conflict_marks_zeros_and_repeated_lines_are_no_allowance() {
        let bad = |line: usize| format!("xtask/allowance.txt:{line}: not `check part count`: run tidy --renew");
        check(
            "<<<<<<< a\ncycles store 1\ncycles store 2\npub store 0\n",
            1,
            &[&bad(1), &bad(3), &bad(4)].map(String::as_str),
        );
    }

    #[test]
    fn renewing_writes_what_is_found_and_names_what_rose() {
        let root = std::env::temp_dir().join(format!("novelo-tidy-{}", std::process::id()));
        std::fs::create_dir_all(root.join("xtask")).unwrap();
        let rose = renew(&root, "<<<<<<<\ncycles store 1\n", &[finding(1), finding(2)]).unwrap();
        let written = std::fs::read_to_string(root.join(FILE)).unwrap();
        std::fs::remove_dir_all(&root).unwrap();
        assert_eq!((written.as_str(), rose), ("cycles store 2\n", vec!["cycles store: 1 → 2".to_owned()]));
    }
}
