//! The top-level modules of a crate have an order: no module imports another that leads back to it.
//!
//! Imports are read by name: `crate::x`, and `super::…` where it reaches the root of the crate. A name that
//! the root re-exports counts as its module. Test code may import anything.

use std::collections::{BTreeMap, VecDeque};

use super::Finding;
use crate::source::{Source, body, declarations, phrases, words};
use crate::tree::{File, Tree};

/// Where a module imports another for the first time.
struct Import<'t> {
    file: &'t File,
    line: usize,
}

/// The imports of one crate: from a module to a module.
type Imports<'t> = BTreeMap<&'t str, BTreeMap<&'t str, Import<'t>>>;

pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, Vec<(&str, &File, &Source)>> = BTreeMap::new();
    for (file, source) in tree.sources() {
        if let Some((root, path)) = file.path.split_once("/src/").filter(|(_, path)| !path.starts_with("bin/")) {
            crates.entry(root).or_default().push((path, file, source));
        }
    }
    crates.values().flat_map(|files| cycles(&imports(files))).collect()
}

fn cycles(imports: &Imports<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for module in imports.keys() {
        let Some(way) = way_back(imports, module) else { continue };
        let import = way.get(1).and_then(|next| imports.get(module)?.get(next));
        findings.extend(import.map(|import| Finding {
            file: import.file.path.clone(),
            line: import.line,
            what: format!("import cycle: {}", way.join(" → ")),
        }));
    }
    findings
}

/// The shortest way from a module over its imports to itself.
fn way_back<'t>(imports: &Imports<'t>, module: &'t str) -> Option<Vec<&'t str>> {
    let mut queue = VecDeque::from([vec![module]]);
    let mut seen = Vec::new();
    while let Some(way) = queue.pop_front() {
        for next in imports.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            let longer: Vec<&str> = way.iter().copied().chain([*next]).collect();
            if *next == module {
                return Some(longer);
            }
            if !seen.contains(next) {
                seen.push(next);
                queue.push_back(longer);
            }
        }
    }
    None
}

fn imports<'t>(files: &[(&'t str, &'t File, &'t Source)]) -> Imports<'t> {
    let modules: Vec<&str> = files.iter().filter_map(|(path, ..)| module_path(path).first().copied()).collect();
    let roots = files.iter().filter(|(path, ..)| module_path(path).is_empty());
    let exported: BTreeMap<&str, &str> = roots.flat_map(|(_, _, source)| exports(&source.code)).collect();
    let mut imports = Imports::new();
    for (path, file, source) in files {
        let own = module_path(path);
        let Some(from) = own.first() else { continue };
        for (at, name) in root_names(&source.code, own.len()) {
            let to = modules.iter().find(|module| **module == name).or_else(|| exported.get(name));
            if let Some(to) = to.filter(|to| *to != from && modules.contains(to) && !source.is_test(at)) {
                let first = imports.entry(from).or_default().entry(to);
                first.or_insert(Import { file, line: source.line(at) });
            }
        }
    }
    imports
}

/// `a/b.rs` and `a/b/mod.rs` are `[a, b]`; the root of a crate is empty.
fn module_path(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    if matches!(parts.as_slice(), ["lib" | "main"] | [.., "mod"]) {
        parts.pop();
    }
    parts
}

/// Names that a file takes from the root of its crate, with their offsets; `depth` is the file's own below
/// the root.
fn root_names(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let from_crate = phrases(code, "crate::").map(|at| at + "crate::".len());
    let from_super = chains(code).filter(|(at, supers)| *supers == depth + inline_modules(code, *at));
    let starts = from_crate.chain(from_super.map(|(at, supers)| at + supers * "super::".len()));
    starts.flat_map(|start| first_names(code, start)).collect()
}

/// Every `super::super::…` with how many there are of it.
fn chains(code: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let starts = phrases(code, "super::").filter(|at| !code.get(..*at).unwrap_or("").ends_with("super::"));
    starts.map(|at| {
        let mut rest = code.get(at..).unwrap_or("");
        let mut supers = 0;
        while let Some(after) = rest.strip_prefix("super::") {
            (rest, supers) = (after, supers + 1);
        }
        (at, supers)
    })
}

/// How many `mod name { … }` of the same file an offset is in.
fn inline_modules(code: &str, offset: usize) -> usize {
    let modules = declarations(code).filter(|declared| declared.keyword == "mod");
    modules.filter_map(|declared| body(code, declared.offset)).filter(|body| body.contains(&offset)).count()
}

/// The name at `start`, or the first names of a group in braces.
fn first_names(code: &str, start: usize) -> Vec<(usize, &str)> {
    let Some(rest) = code.get(start..) else { return Vec::new() };
    if !rest.starts_with('{') {
        return words(rest).next().filter(|(at, _)| *at == 0).map(|(_, word)| (start, word)).into_iter().collect();
    }
    let mut depth = 0_usize;
    let mut names = Vec::new();
    let mut is_first = false;
    for (at, c) in rest.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            _ => {}
        }
        match c {
            '{' | ',' => is_first = depth == 1,
            c if is_first && !c.is_whitespace() => {
                names.extend(words(rest.get(at..).unwrap_or("")).next().map(|(_, word)| (start + at, word)));
                is_first = false;
            }
            _ => {}
        }
    }
    names
}

/// Names that the root of a crate re-exports, each with its module: `pub use a::{B, C}`.
fn exports(code: &str) -> Vec<(&str, &str)> {
    let mut exports = Vec::new();
    for at in phrases(code, "use") {
        let statement = code.get(at..).and_then(|rest| rest.split(';').next()).unwrap_or("");
        let mut names =
            words(statement).map(|(_, word)| word).filter(|word| !matches!(*word, "use" | "crate" | "self"));
        if let Some(module) = names.next() {
            exports.extend(names.map(|name| (name, module)));
        }
    }
    exports
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/store/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        check(&Tree::of(&files)).into_iter().map(|f| format!("{}:{}: {}", f.file, f.line, f.what)).collect()
    }

    #[test]
    fn a_cycle_is_found_at_each_of_its_modules() {
        let files = [
            ("a.rs", "\nuse crate::b::B;\n"),
            ("b/mod.rs", ""),
            ("b/c.rs", "fn f() { crate::d::g() }"),
            ("d.rs", "use super::a;"),
        ];
        let expected = [
            "crates/store/src/a.rs:2: import cycle: a → b → d → a",
            "crates/store/src/b/c.rs:1: import cycle: b → d → a → b",
            "crates/store/src/d.rs:1: import cycle: d → a → b → d",
        ];
        assert_eq!(found(&files), expected);
    }

    #[test]
    fn groups_re_exports_and_chains_of_super_are_read() {
        let group = [("lib.rs", ""), ("a.rs", "use crate::{\n    x::{b, c},\n    b::B};"), ("b.rs", "use crate::a;")];
        assert_eq!(found(&group).len(), 2);
        let exported = [("lib.rs", "pub use b::{B, C};"), ("a.rs", "use crate::C;"), ("b.rs", "use crate::a;")];
        assert_eq!(found(&exported).len(), 2);
        let chain = [("a/mod.rs", ""), ("a/c.rs", "use super::super::b;"), ("b.rs", "mod d { use super::super::a; }")];
        assert_eq!(found(&chain).len(), 2);
    }

    #[test]
    fn order_tests_and_names_inside_a_module_are_no_cycle() {
        let files = [
            ("main.rs", "use crate::a;"),
            ("a/mod.rs", "use crate::b; use super::b;"),
            ("a/c.rs", "use super::d; use crate::a::d; use std::b;"),
            ("b.rs", "mod d { use super::a; }\n#[cfg(test)]\nmod tests { use crate::a; }\n// crate::a\n"),
            ("b/e.rs", "use super::a; use crate::x::{a, b};"),
            ("bin/tool.rs", "use crate::a;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }
}
