//! Work left undone and failures swallowed, outside tests.

use super::Finding;
use crate::source::{Source, phrases};
use crate::tree::{File, Tree};

/// Code that is never right to leave in the tree, and why.
const UNDONE: [(&str, &str); 7] = [
    ("todo!", "work left undone"),
    ("unimplemented!", "work left undone"),
    ("allow(dead_code)", "delete what nothing uses"),
    ("expect(dead_code)", "delete what nothing uses"),
    ("allow(unused", "delete what nothing uses"),
    ("let _ =", "a swallowed failure: handle it, return it, or name what is dropped and why"),
    ("let _:", "a swallowed failure: handle it, return it, or name what is dropped and why"),
];

const MARKS: [&str; 3] = ["TODO", "FIXME", "XXX"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let rust = tree.sources().flat_map(|(file, source)| {
        let found = undone(file, source).into_iter().chain(swallowed(file, source)).chain(marks(file, source));
        found.collect::<Vec<_>>()
    });
    rust.collect()
}

fn undone(file: &File, source: &Source) -> Vec<Finding> {
    let each = UNDONE.iter().flat_map(|(phrase, why)| source.find(phrase).map(move |at| (at, phrase, why)));
    each.map(|(at, phrase, why)| Finding::at(file, source, at, format!("{phrase}: {why}"))).collect()
}

/// `.ok();` where its value goes nowhere.
fn swallowed(file: &File, source: &Source) -> Vec<Finding> {
    let statements = source.code.match_indices(".ok();").map(|(at, _)| at).filter(|at| !source.is_test(*at));
    let dropped = statements.filter(|at| !is_used(&statement(&source.code, *at)));
    dropped.map(|at| Finding::at(file, source, at, ".ok(); swallows a failure: handle it or return it")).collect()
}

/// The statement that runs into `end`, back to the `;` or the brace before it, without what its brackets
/// hold.
fn statement(code: &str, end: usize) -> String {
    let mut depth = 0_i32;
    let mut own = Vec::new();
    for c in code.get(..end).unwrap_or("").chars().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth -= 1,
            ';' if depth == 0 => break,
            _ if depth == 0 => own.push(c),
            _ => {}
        }
        if depth < 0 {
            break;
        }
    }
    own.into_iter().rev().collect()
}

fn is_used(statement: &str) -> bool {
    let assigns = statement.split_whitespace().any(|part| part == "=");
    assigns || ["return", "break"].iter().any(|word| phrases(statement, word).next().is_some())
}

fn marks(file: &File, source: &Source) -> Vec<Finding> {
    let each = MARKS.iter().flat_map(|mark| phrases(&source.comments, mark).map(move |at| (at, mark)));
    let outside_tests = each.filter(|(at, _)| !source.is_test(*at));
    outside_tests.map(|(at, mark)| Finding::at(file, source, at, format!("{mark}: work left undone"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    fn check_lines(text: &str, expected: &[usize]) {
        assert_eq!(lines(check, "crates/store/src/a.rs", text), expected, "{text}");
    }

    #[test]
    fn undone_work_is_found_in_code_and_comments_but_not_in_text() {
        check_lines("fn a() { todo!() }", &[1]);
        check_lines("#[allow(dead_code)]\nfn a() {}", &[1]);
        check_lines("// TODO: later\nlet a = \"TODO todo!()\";", &[1]);
        check_lines("// a photodiode, TODOS", &[]);
    }

    #[test]
    fn a_value_dropped_on_the_floor_is_found() {
        check_lines("fn a() {\n    let _ = b();\n    let _guard = c();\n}", &[2]);
        check_lines("fn a() {\n    b();\n    c(|x| { x; })\n        .ok();\n}", &[4]);
        check_lines("fn a() {\n    if b { c = 1; }\n    d().ok();\n}", &[3]);
        check_lines("fn a() {\n    let x = match b { _ => { 1; } }.ok();\n    y = c().ok();\n    d().ok()\n}", &[]);
    }

    #[test]
    fn tests_may_take_shortcuts() {
        check_lines("#[cfg(test)]\nmod tests {\n    // TODO\n    fn a() { let _ = b(); c().ok(); }\n}", &[]);
    }
}
