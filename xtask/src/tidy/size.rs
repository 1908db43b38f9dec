//! Sizes: the main path and every function have a cap; the report lists medians and the longest.

use std::fmt::Write;

use super::Finding;
use crate::source::{Function, Source, words};
use crate::tree::Tree;

const FUNCTION_LINES_MAX: usize = 70;
/// A function longer than this wants a second look; the report counts them.
const FUNCTION_LINES_LONG: usize = 40;

/// The one file that knows the whole order of a request.
const MAIN_PATH: &str = "crates/conversation/src/context/mod.rs";
const MAIN_PATH_LINES_MAX: usize = 199;

const LISTED_MAX: usize = 5;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        let lines = file.text.lines().count();
        if file.path == MAIN_PATH && lines > MAIN_PATH_LINES_MAX {
            let what = format!("the main path has {lines} lines; the cap is {MAIN_PATH_LINES_MAX}");
            findings.push(Finding { file: file.path.clone(), line: MAIN_PATH_LINES_MAX + 1, what });
        }
        let long = counted(source).filter(|function| function.lines > FUNCTION_LINES_MAX);
        findings.extend(long.map(|function| {
            let what = format!("fn {} has {} lines; the cap is {FUNCTION_LINES_MAX}", function.name, function.lines);
            Finding { file: file.path.clone(), line: function.line, what }
        }));
    }
    findings
}

/// What was measured, outside tests.
pub fn report(tree: &Tree) -> String {
    let mut files = Vec::new();
    let mut functions = Vec::new();
    for (file, source) in tree.sources() {
        files.extend(Some((source.product_lines(), file.path.clone())).filter(|(lines, _)| *lines > 0));
        functions.extend(counted(source).map(|f| (f.lines, format!("{}:{} {}", file.path, f.line, f.name))));
    }
    let long = functions.iter().filter(|(lines, _)| *lines > FUNCTION_LINES_LONG).count();
    let mut out = String::new();
    section(&mut out, "files", &mut files);
    section(&mut out, "functions", &mut functions);
    writeln!(out, "functions over {FUNCTION_LINES_LONG} lines: {long}").expect("a String takes any text");
    out
}

fn section(out: &mut String, title: &str, sizes: &mut [(usize, String)]) {
    sizes.sort_by(|a, b| b.cmp(a));
    let median = sizes.get(sizes.len() / 2).map_or(0, |(lines, _)| *lines);
    writeln!(out, "{title}: {}, median {median} lines, longest:", sizes.len()).expect("a String takes any text");
    for (lines, name) in sizes.iter().take(LISTED_MAX) {
        writeln!(out, "  {lines:>5}  {name}").expect("a String takes any text");
    }
}

/// Functions outside tests, without the tables that are longer than a function may be.
fn counted(source: &Source) -> impl Iterator<Item = &Function> {
    let product = source.functions.iter().filter(|f| !source.is_test(f.body.start));
    product.filter(|f| f.lines <= FUNCTION_LINES_MAX || !is_table(source, f))
}

/// One expression without statements, branches or loops: a literal, a list, a match of one-line arms.
fn is_table(source: &Source, function: &Function) -> bool {
    let body = source.code.get(function.body.clone()).unwrap_or("");
    !body.contains(';')
        && words(body).all(|(_, word)| !matches!(word, "if" | "else" | "for" | "while" | "loop" | "let"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    fn function(statement: &str, lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", format!("    {statement}\n").repeat(lines - 2))
    }

    #[test]
    fn a_function_may_have_seventy_lines_and_no_more() {
        assert_eq!(lines(check, "crates/store/src/a.rs", &function("a();", 70)), [0; 0]);
        assert_eq!(lines(check, "crates/store/src/a.rs", &function("a();", 71)), [1]);
    }

    #[test]
    fn tables_and_tests_may_be_long() {
        assert_eq!(lines(check, "crates/store/src/a.rs", &function("A => 1,", 300)), [0; 0]);
        assert_eq!(lines(check, "crates/store/tests/a.rs", &function("a();", 300)), [0; 0]);
    }

    #[test]
    fn the_main_path_stays_under_two_hundred_lines() {
        assert_eq!(lines(check, MAIN_PATH, &"// a\n".repeat(199)), [0; 0]);
        assert_eq!(lines(check, MAIN_PATH, &"// a\n".repeat(200)), [200]);
    }

    #[test]
    fn the_report_gives_medians_and_the_longest() {
        let tree = Tree::of(&[("a.rs", &function("a();", 71)), ("b.rs", "fn b() {\n    let a = 1;\n}\n")]);
        let expected = "files: 2, median 3 lines, longest:\n     71  a.rs\n      3  b.rs\n\
                        functions: 2, median 3 lines, longest:\n     71  a.rs:1 long\n      3  b.rs:1 b\n\
                        functions over 40 lines: 1\n";
        assert_eq!(report(&tree), expected);
    }
}
