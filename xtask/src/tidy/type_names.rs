//! A type name is unique within its crate, so that "go to symbol" has one answer.
//!
//! Associated types and types in test code may share a name.

use std::collections::BTreeMap;
use std::ops::Range;

use super::Finding;
use crate::source::{Declared, Source, body, declarations, phrases};
use crate::tree::{Tree, part};

const KEYWORDS: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut first: BTreeMap<(&str, &str), String> = BTreeMap::new();
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        for declared in types(source) {
            let place = format!("{}:{}", file.path, source.line(declared.offset));
            match first.get(&(part(&file.path), declared.name)) {
                None => _ = first.insert((part(&file.path), declared.name), place),
                Some(other) => {
                    let what = format!("`{} {}` shares its name with {other}", declared.keyword, declared.name);
                    findings.push(Finding::at(file, source, declared.offset, what));
                }
            }
        }
    }
    findings
}

fn types(source: &Source) -> impl Iterator<Item = Declared<'_>> {
    let blocks = implementations(&source.code);
    let is_associated = move |declared: &Declared<'_>| {
        declared.keyword == "type" && blocks.iter().any(|block| block.contains(&declared.offset))
    };
    declarations(&source.code)
        .filter(|declared| KEYWORDS.contains(&declared.keyword) && !source.is_test(declared.offset))
        .filter(move |declared| !is_associated(declared))
}

/// The bodies of `impl` and `trait` blocks.
pub fn implementations(code: &str) -> Vec<Range<usize>> {
    ["impl", "trait"].into_iter().flat_map(|keyword| phrases(code, keyword)).filter_map(|at| body(code, at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).into_iter().map(|f| format!("{}:{}: {}", f.file, f.line, f.what)).collect()
    }

    #[test]
    fn a_name_is_declared_once_in_a_crate() {
        let files = [
            ("crates/store/src/a.rs", "struct Wire;\nenum Other {}\n"),
            ("crates/store/src/b.rs", "fn f() {}\ntype Wire = u8;\n"),
            ("crates/recall/src/a.rs", "struct Wire;\n"),
        ];
        let expected = "crates/store/src/b.rs:2: `type Wire` shares its name with crates/store/src/a.rs:1";
        assert_eq!(found(&files), [expected]);
    }

    #[test]
    fn associated_types_tests_and_values_may_share_a_name() {
        let text = "struct Output;\ntrait T { type Output; }\nimpl T for u8 { type Output = u8; }\nconst Output: u8 = 1;\n\
                    #[cfg(test)]\nmod tests { struct Output; }\n";
        assert_eq!(found(&[("crates/store/src/a.rs", text)]), [""; 0]);
    }
}
