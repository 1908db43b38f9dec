//! The contracts once more, over three nodes and one cluster of Redis: every request goes to the next node.
//!
//! The pages and what runs them are those of `contract`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

#[path = "../contract/events.rs"]
mod events;
#[path = "../contract/expect.rs"]
mod expect;
#[path = "../contract/fill.rs"]
mod fill;
#[path = "../contract/manner.rs"]
mod manner;
#[path = "../contract/page.rs"]
mod page;
#[path = "../contract/run.rs"]
mod run;
#[path = "../contract/step.rs"]
mod step;
#[path = "../contract/surfaces.rs"]
mod surfaces;

use std::sync::Arc;

use page::Scenario;
use support::Home;
use support::nodes::{NODES as ROUND, Nodes as Serving, cluster};

fn serve(home: &Arc<Home>, settings: &[(&str, &str)], scenario: &Scenario) -> Serving {
    let nodes = Serving::start(home, &cluster().url(), settings);
    let stays = ON_ONE_NODE.iter().any(|(clause, _)| scenario.clauses.iter().any(|id| id == clause));
    if stays { nodes.staying() } else { nodes }
}

/// The clauses that are about one process by their nature, and why: there the client stays with one of the
/// three nodes.
const ON_ONE_NODE: &[(&str, &str)] = &[
    ("AS-DAT-7", "rows of the database are kept ready by the node that read them"),
    ("AS-ISO-4", "rows of the database are kept ready by the node that read them"),
    ("AS-OWN-4", "a changed file is read by each node in its own time, and what is waited for is the answer of one"),
    ("AS-OWN-5", "a changed file is read by each node in its own time, and what is waited for is the answer of one"),
    ("EC-EXT-2", "embeddings of questions are kept ready by the node that asked for them"),
    ("ME-RST-5", "a trace on its way to the store that goes with its turn is counted by nobody"),
];

#[test]
fn what_stays_on_one_node_is_there_and_has_its_reason() {
    let clauses = surfaces::clauses();
    for (clause, reason) in ON_ONE_NODE {
        assert!(clauses.contains(*clause) && !reason.is_empty(), "{clause}");
    }
}
