//! Dependencies point one way, and each crate keeps the absence that earns it its place.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::Finding;
use crate::tree::Tree;

/// A crate and what its tree of normal dependencies must not hold.
const ABSENT: [(&str, &[&str]); 4] = [
    (
        "novelo-engine",
        &[
            "async-std",
            "axum",
            "fjall",
            "fred",
            "getrandom",
            "hyper",
            "lsm-tree",
            "mio",
            "novelo-language",
            "novelo-recall",
            "novelo-store",
            "rand",
            "redis",
            "reqwest",
            "rusqlite",
            "smol",
            "socket2",
            "tokio",
        ],
    ),
    (
        "novelo-language",
        &["axum", "fjall", "getrandom", "hyper", "mio", "novelo-recall", "novelo-store", "reqwest", "tokio"],
    ),
    ("novelo-recall", &["axum", "fjall", "getrandom", "hyper", "mio", "novelo-store", "reqwest", "tokio"]),
    ("novelo-store", &["axum", "hyper", "novelo-language", "novelo-recall"]),
];

/// The top of the tree: nothing may depend on it in any way.
const TOP: &str = "novelo-server";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let graph = Graph::read(&tree.metadata);
    let absent = ABSENT.iter().flat_map(|(name, unwanted)| {
        let chains = unwanted.iter().filter_map(|unwanted| graph.chain(name, unwanted));
        chains.map(|chain| finding(tree, name, &chain)).collect::<Vec<_>>()
    });
    let above_top = graph.any.iter().filter(|(_, dependencies)| dependencies.contains(TOP));
    absent.chain(above_top.map(|(name, _)| finding(tree, name, &[name, TOP]))).collect()
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

    #[test]
    fn nothing_stands_above_the_server_even_in_tests() {
        assert_eq!(check(&tree(&[("xtask", "dev", "novelo-server")])).len(), 1);
    }
}
