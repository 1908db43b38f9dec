//! The tree builds anywhere: no file names a path of one machine, or a registry other than the public one.

use super::Finding;
use crate::tree::Tree;

/// Top folders that exist on somebody's machine only, without their slashes.
const FOLDERS: [&str; 4] = ["work", "root", "tmp/bash_jobs", "opt/wheels"];

/// Settings that point cargo, pip or npm at another registry, cut in two so that this file does not hold
/// them.
const SETTINGS: [(&str, &str); 5] =
    [("replace", "-with"), ("index", "-url"), ("find", "-links"), ("registry", "-index"), ("trusted", "-host")];

/// The one source a lock file may name.
const CRATES_IO: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        for (at, line) in file.text.lines().enumerate() {
            if let Some(what) = objection(line, &file.path) {
                findings.push(Finding { file: file.path.clone(), line: at + 1, what });
            }
        }
    }
    findings
}

fn objection(line: &str, path: &str) -> Option<String> {
    if let Some(folder) = FOLDERS.iter().find(|folder| names_folder(line, folder)) {
        return Some(format!("a path of one machine: /{folder}/"));
    }
    if let Some((a, b)) = SETTINGS.iter().find(|(a, b)| line.contains(&format!("{a}{b}"))) {
        return Some(format!("{a}{b} names a registry; the public one needs no setting"));
    }
    if path.ends_with("package-lock.json") && line.contains("\"resolved\":") {
        return Some("names a registry; write the file with npm install --omit-lockfile-registry-resolved".to_owned());
    }
    let is_other_source = path.ends_with("Cargo.lock") && line.starts_with("source = ") && line != CRATES_IO;
    is_other_source.then(|| format!("not from crates.io: {line}"))
}

/// A path that begins at this folder; `docs/work/` and `https://a/work/` do not.
fn names_folder(line: &str, folder: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || ".-_~}%".contains(c);
    line.match_indices(&format!("/{folder}/"))
        .filter_map(|(at, _)| line.get(..at))
        .any(|before| !before.ends_with(continues))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn paths_of_a_machine_are_found_and_relative_ones_are_not() {
        let text =
            format!("cd /{0}/main\nls docs/{0}/a ../{0}/ {{x}}/{0}/\nx=\"/{1}/.cargo\"\n/rootless/\n", "work", "root");
        assert_eq!(lines(check, "README.md", &text), [1, 3]);
    }

    #[test]
    fn other_registries_are_found() {
        assert_eq!(lines(check, "a.toml", &format!("{}{} = \"mirror\"\n", "replace", "-with")), [1]);
        let lock = format!("{CRATES_IO}\nsource = \"git+https://example.org/a\"\n");
        assert_eq!(lines(check, "Cargo.lock", &lock), [2]);
        let lock = "{\n  \"resolved\": \"https://example.org/a.tgz\",\n  \"integrity\": \"sha512-a\"\n}\n";
        assert_eq!(lines(check, "a/package-lock.json", lock), [2]);
    }
}
