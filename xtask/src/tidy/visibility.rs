//! `pub` only where another crate uses the name: `pub` hides dead code from the compiler.
//!
//! It compares names, not paths, and so lets through what shares a name with something used. Users are the
//! crates that name this one, fuzz targets, binaries and test folders. A type in the signature of a used item
//! counts as used.

use std::collections::BTreeSet;

use super::Finding;
use super::type_names::implementations;
use crate::source::{Declared, Source, declarations, item_end, words};
use crate::tree::{File, Tree, part};

/// A `pub` item of a library.
struct Public<'t> {
    file: &'t File,
    source: &'t Source,
    declared: Declared<'t>,
}

pub fn check(tree: &Tree) -> Vec<Finding> {
    let libraries = tree.files.iter().filter_map(|file| file.path.strip_suffix("/src/lib.rs"));
    libraries.flat_map(|root| unused(tree, root)).collect()
}

fn unused(tree: &Tree, root: &str) -> Vec<Finding> {
    let (own, other): (Vec<_>, Vec<_>) = tree.sources().partition(|(file, _)| is_library(&file.path, root));
    let name = format!("novelo_{}", root.rsplit('/').next().unwrap_or(root));
    let users: BTreeSet<&str> = other
        .iter()
        .filter(|(_, source)| source.code.contains(&name))
        .map(|(file, _)| part(&file.path))
        .chain(own.first().map(|(file, _)| part(&file.path)))
        .collect();
    let by_users = other.iter().filter(|(file, _)| users.contains(part(&file.path)));
    let used = by_users.flat_map(|(_, source)| words(&source.code)).map(|(_, word)| word);
    let associated = own.iter().flat_map(|(_, source)| associated_types(source));
    let mut used: BTreeSet<&str> = used.chain(associated).collect();
    let public: Vec<Public<'_>> = own.iter().flat_map(|(file, source)| public_items(file, source)).collect();
    add_signatures(&mut used, &public);
    public.iter().filter(|item| !used.contains(item.declared.name)).map(Public::finding).collect()
}

/// A file of the library of this crate: not a binary, not a test folder.
fn is_library(path: &str, root: &str) -> bool {
    let inside = path.strip_prefix(root).and_then(|rest| rest.strip_prefix("/src/"));
    inside.is_some_and(|inside| inside != "main.rs" && !inside.starts_with("bin/"))
}

fn public_items<'t>(file: &'t File, source: &'t Source) -> impl Iterator<Item = Public<'t>> {
    declarations(&source.code)
        .filter(|declared| !source.is_test(declared.offset) && is_public(&source.code, declared.offset))
        .map(move |declared| Public { file, source, declared })
}

/// Whether `pub` stands before the keyword at this offset, perhaps with `const`, `async` or `unsafe` between.
fn is_public(code: &str, offset: usize) -> bool {
    let mut before = code.get(..offset).unwrap_or("").trim_end();
    while let Some(rest) = ["const", "async", "unsafe"].iter().find_map(|word| before.strip_suffix(word)) {
        before = rest.trim_end();
    }
    before.strip_suffix("pub").is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The types on the right of `type Item = …` in implementations: the compiler wants them as public as their
/// trait.
fn associated_types(source: &Source) -> impl Iterator<Item = &str> {
    let blocks = implementations(&source.code);
    let types = declarations(&source.code).filter(|declared| declared.keyword == "type");
    let inside = types.filter(move |declared| blocks.iter().any(|block| block.contains(&declared.offset)));
    inside.flat_map(|declared| types_in(signature(&source.code, &declared)))
}

/// Adds the types that the signatures of used items name, until there is no more to add.
fn add_signatures<'t>(used: &mut BTreeSet<&'t str>, public: &[Public<'t>]) {
    loop {
        let before = used.len();
        for item in public {
            if used.contains(item.declared.name) {
                used.extend(types_in(signature(&item.source.code, &item.declared)));
            }
        }
        if used.len() == before {
            return;
        }
    }
}

fn signature<'t>(code: &'t str, declared: &Declared<'_>) -> &'t str {
    let rest = code.get(declared.offset..).unwrap_or("");
    match declared.keyword {
        "fn" | "mod" => rest.split(['{', ';']).next().unwrap_or(""),
        _ => code.get(declared.offset..item_end(code, declared.offset).unwrap_or(code.len())).unwrap_or(""),
    }
}

fn types_in(signature: &str) -> impl Iterator<Item = &str> {
    words(signature).map(|(_, word)| word).filter(|word| word.starts_with(char::is_uppercase))
}

impl Public<'_> {
    fn finding(&self) -> Finding {
        let Declared { keyword, name, offset } = self.declared;
        Finding::at(self.file, self.source, offset, format!("`pub {keyword} {name}`: no other crate uses the name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).into_iter().map(|f| format!("{}:{}: {}", f.file, f.line, f.what)).collect()
    }

    const LIB: &str = "crates/store/src/lib.rs";

    #[test]
    fn a_name_that_only_its_own_crate_uses_is_found() {
        let files = [
            (LIB, "pub fn used() {}\npub const fn unused() {}\npub(crate) fn inner() { unused() }\nfn private() {}\n"),
            ("crates/server/src/a.rs", "use novelo_store::used;"),
            ("crates/recall/src/a.rs", "fn unused() {}"),
        ];
        assert_eq!(found(&files), ["crates/store/src/lib.rs:2: `pub fn unused`: no other crate uses the name"]);
    }

    #[test]
    fn binaries_tests_and_fuzz_targets_are_users() {
        let files = [
            (
                LIB,
                "pub fn a() {}\npub fn b() {}\npub fn c() {}\npub fn d() {}\n#[cfg(test)]\nmod tests { pub fn e() {} }",
            ),
            ("crates/store/src/main.rs", "fn main() { a() }"),
            ("crates/store/tests/t.rs", "fn t() { b() }"),
            ("fuzz/f.rs", "use novelo_store::c;"),
        ];
        assert_eq!(found(&files), ["crates/store/src/lib.rs:4: `pub fn d`: no other crate uses the name"]);
    }

    #[test]
    fn types_in_used_signatures_are_used() {
        let text = "pub fn a(x: B) {}\npub struct B { c: C }\npub enum C {}\nimpl I for u8 { type Item = D; }\n\
                    pub struct D;\npub struct E;\n";
        let files = [(LIB, text), ("crates/store/tests/t.rs", "a()"), ("xtask/src/main.rs", "pub fn f() {}")];
        assert_eq!(found(&files), ["crates/store/src/lib.rs:6: `pub struct E`: no other crate uses the name"]);
    }
}
