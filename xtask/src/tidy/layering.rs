//! Dependencies point one way, and each crate keeps the absence that earns it its place.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::Finding;
use crate::tree::Tree;

/// Every crate of ours, and the crates of ours that it may use. A crate that is not there yet is skipped.
const LAYERS: [(&str, &[&str]); 9] = [
    ("novelo-engine", &[]),
    ("novelo-language", &["novelo-engine"]),
    ("novelo-recall", &["novelo-engine", "novelo-language"]),
    ("novelo-files", &["novelo-engine"]),
    ("novelo-store", &["novelo-engine"]),
    ("novelo-conversation", &["novelo-engine", "novelo-files", "novelo-language", "novelo-recall", "novelo-store"]),
    ("novelo-server", &["novelo-conversation", "novelo-engine", "novelo-language", "novelo-recall", "novelo-store"]),
    (
        "novelo-bench",
        &["novelo-conversation", "novelo-engine", "novelo-language", "novelo-recall", "novelo-server", "novelo-store"],
    ),
    ("xtask", &[]),
];

/// A runtime, a socket, a database, a source of randomness.
const IMPURE: [&str; 15] = [
    "async-std",
    "axum",
    "fjall",
    "fred",
    "getrandom",
    "hyper",
    "lsm-tree",
    "mio",
    "rand",
    "redis",
    "reqwest",
    "rusqlite",
    "smol",
    "socket2",
    "tokio",
];

/// A crate, and the packages that its tree of normal dependencies must not contain.
const ABSENT: [(&str, &[&str]); 6] = [
    ("novelo-engine", &IMPURE),
    ("novelo-language", &IMPURE),
    ("novelo-recall", &IMPURE),
    // Its archives bring a source of randomness along, for writing, which nothing there does.
    ("novelo-files", &["axum", "fjall", "hyper", "mio", "rand", "rusqlite", "socket2", "tokio"]),
    ("novelo-store", &["axum", "clap", "hyper", "tower"]),
    ("novelo-conversation", &["axum", "clap", "tower"]),
];

/// Parts of a package that a crate must not name although it may use the rest: an HTTP client is not a
/// server.
const UNNAMED: [(&str, &str); 2] =
    [("crates/conversation/src/", "hyper::server"), ("crates/conversation/src/", "hyper_util::server")];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let graph = Graph::read(&tree.metadata);
    let absent = ABSENT.iter().flat_map(|(name, unwanted)| {
        let chains = unwanted.iter().filter_map(|unwanted| graph.chain(name, unwanted));
        chains.map(|chain| finding(tree, name, &chain)).collect::<Vec<_>>()
    });
    absent.chain(upward(tree, &graph)).chain(named(tree)).chain(included(tree)).collect()
}

/// Dependencies of one crate of ours on another that the table does not list. Tests obey it too.
fn upward(tree: &Tree, graph: &Graph<'_>) -> Vec<Finding> {
    let is_ours = |name: &str| name == "xtask" || name.starts_with("novelo-");
    let mut findings = Vec::new();
    for (from, dependencies) in graph.any.iter().filter(|(name, _)| is_ours(name)) {
        let Some((_, below)) = LAYERS.iter().find(|(name, _)| name == from) else {
            findings.push(finding(tree, from, &[from, "no row in the table of layers"]));
            continue;
        };
        let unlisted = dependencies.iter().filter(|to| is_ours(to) && !below.contains(to));
        findings.extend(unlisted.map(|to| finding(tree, from, &[from, to])));
    }
    findings
}

fn named(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        for (_, phrase) in UNNAMED.iter().filter(|(folder, _)| file.path.starts_with(folder)) {
            let places = source.find(phrase);
            findings.extend(places.map(|at| Finding::at(file, source, at, format!("layering: {phrase}"))));
        }
    }
    findings
}

/// Files outside of a crate that its code contains: the package of the crate would not build alone.
fn included(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, source) in tree.sources() {
        let Some((_, inside)) = file.path.strip_prefix("crates/").and_then(|path| path.split_once('/')) else {
            continue;
        };
        let outside = format!("\"{}", "../".repeat(inside.matches('/').count() + 1));
        let places = source.find("include_str!").chain(source.find("include_bytes!"));
        for at in places.filter(|at| !source.is_test(*at)) {
            let line = file.text.get(at..).and_then(|rest| rest.lines().next()).unwrap_or("");
            if line.contains(&outside) {
                findings.push(Finding::at(file, source, at, "layering: includes a file of another folder".to_owned()));
            }
        }
    }
    findings
}

/// Names of packages; versions do not matter here.
#[derive(Default)]
struct Graph<'a> {
    normal: BTreeMap<&'a str, BTreeSet<&'a str>>,
    any: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Graph<'a> {
    fn read(metadata: &'a Value) -> Self {
        let text = |value: &'a Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or("");
        let names: BTreeMap<&str, &str> =
            list(metadata, "packages").iter().map(|package| (text(package, "id"), text(package, "name"))).collect();
        let name = |id: &str| names.get(id).copied().unwrap_or("");
        let mut graph = Self::default();
        for node in metadata.get("resolve").map_or(&[][..], |resolve| list(resolve, "nodes")) {
            for dependency in list(node, "deps") {
                let (from, to) = (name(text(node, "id")), name(text(dependency, "pkg")));
                graph.any.entry(from).or_default().insert(to);
                if list(dependency, "dep_kinds").iter().any(|kind| kind.get("kind").is_none_or(Value::is_null)) {
                    graph.normal.entry(from).or_default().insert(to);
                }
            }
        }
        graph
    }

    /// The shortest way from one package to another through normal dependencies.
    fn chain(&self, from: &'a str, to: &str) -> Option<Vec<&'a str>> {
        let mut seen = BTreeSet::from([from]);
        let mut queue = VecDeque::from([vec![from]]);
        while let Some(chain) = queue.pop_front() {
            let last = chain.last().copied()?;
            if last == to {
                return Some(chain);
            }
            for next in self.normal.get(last).into_iter().flatten() {
                if seen.insert(next) {
                    queue.push_back(chain.iter().copied().chain([*next]).collect());
                }
            }
        }
        None
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Points at the line of the manifest where the unwanted chain begins.
fn finding(tree: &Tree, name: &str, chain: &[&str]) -> Finding {
    let declares = format!("name = \"{name}\"");
    let manifest = tree.files.iter().find(|f| f.path.ends_with("Cargo.toml") && f.text.contains(&declares));
    let first = chain.get(1).copied().unwrap_or(name);
    let line = manifest.and_then(|f| f.text.lines().position(|line| line.starts_with(first))).map_or(1, |at| at + 1);
    let file = manifest.map_or(name, |f| &f.path).to_owned();
    Finding { file, line, what: format!("layering: {}", chain.join(" → ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tidy::lines;

    /// Packages named by `from kind to` triples; `normal` is what cargo writes as null.
    fn tree(edges: &[(&str, &str, &str)]) -> Tree {
        let names: BTreeSet<&str> = edges.iter().flat_map(|(from, _, to)| [*from, *to]).collect();
        let node = |name: &str| {
            let of = edges.iter().filter(|(from, _, _)| *from == name);
            let deps = of.map(|(_, kind, to)| {
                let kind = Some(*kind).filter(|kind| *kind != "normal");
                json!({"pkg": format!("id#{to}"), "dep_kinds": [{"kind": kind, "target": null}]})
            });
            json!({"id": format!("id#{name}"), "deps": deps.collect::<Vec<_>>()})
        };
        let manifest = "[package]\nname = \"novelo-engine\"\n[dependencies]\nbpe.workspace = true\n";
        let mut tree = Tree::of(&[("crates/engine/Cargo.toml", manifest)]);
        tree.metadata = json!({
            "packages": names.iter().map(|n| json!({"id": format!("id#{n}"), "name": n})).collect::<Vec<_>>(),
            "resolve": {"nodes": names.iter().map(|n| node(n)).collect::<Vec<_>>()},
        });
        tree
    }

    #[test]
    fn a_runtime_below_the_engine_is_found_with_its_chain() {
        let findings = check(&tree(&[("novelo-engine", "normal", "bpe"), ("bpe", "normal", "tokio")]));
        let what = "layering: novelo-engine → bpe → tokio".to_owned();
        assert_eq!(findings, [Finding { file: "crates/engine/Cargo.toml".into(), line: 4, what }]);
    }

    #[test]
    fn what_only_tests_and_builds_use_is_no_layer() {
        assert_eq!(check(&tree(&[("novelo-engine", "dev", "tokio"), ("novelo-engine", "build", "rand")])), []);
    }

    #[test]
    fn the_store_may_sleep_but_not_serve() {
        let found = check(&tree(&[("novelo-store", "normal", "tokio"), ("novelo-store", "normal", "hyper")]));
        assert_eq!(found.iter().map(|f| &*f.what).collect::<Vec<_>>(), ["layering: novelo-store → hyper"]);
    }

    fn whats(edges: &[(&str, &str, &str)]) -> Vec<String> {
        check(&tree(edges)).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn only_the_benchmark_stands_above_the_server_even_in_tests() {
        assert_eq!(whats(&[("xtask", "dev", "novelo-server")]), ["layering: xtask → novelo-server"]);
        assert_eq!(whats(&[("novelo-bench", "normal", "novelo-server")]), [""; 0]);
    }

    #[test]
    fn dependencies_point_down_and_every_crate_has_a_layer() {
        let down = [("novelo-recall", "normal", "novelo-language"), ("novelo-language", "normal", "novelo-engine")];
        assert_eq!(whats(&down), [""; 0]);
        let up = [("novelo-language", "normal", "novelo-recall"), ("novelo-new", "normal", "novelo-engine")];
        let expected =
            ["layering: novelo-language → novelo-recall", "layering: novelo-new → no row in the table of layers"];
        assert_eq!(whats(&up), expected);
    }

    #[test]
    fn the_conversation_has_no_web_server() {
        let edges = [("novelo-conversation", "normal", "hyper"), ("novelo-conversation", "normal", "tower")];
        assert_eq!(whats(&edges), ["layering: novelo-conversation → tower"]);
        let text = "use hyper::client;\nuse hyper_util::server::conn;\n";
        assert_eq!(lines(check, "crates/conversation/src/a.rs", text), [2]);
        assert_eq!(lines(check, "crates/server/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn a_crate_contains_files_of_its_own_folder_only() {
        let text = "include_str!(\"../../a.txt\");\ninclude_str!(concat!(\"../../../a\", \".txt\"));\n";
        assert_eq!(lines(check, "crates/conversation/src/b/c.rs", text), [2]);
        assert_eq!(lines(check, "crates/conversation/src/c.rs", text), [1, 2]);
    }
}
