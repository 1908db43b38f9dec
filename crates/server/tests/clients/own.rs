//! Novelo's own clients, as `make clients` built and installed them: their tests, the suites of the
//! frameworks and the examples of the docs, on each store.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::script::{beside_packages, installed, quiet};
use crate::support::redis::Redis;
use crate::support::{Home, Ran, Server};

/// A server and what it stores in.
struct Stored {
    server: Server,
    _redis: Option<Redis>,
}

impl Stored {
    fn local() -> Self {
        Self { server: Home::new().serve(), _redis: None }
    }

    fn redis() -> Self {
        let redis = Redis::start();
        let server = Home::new().serve_with(&[("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", &redis.url())]);
        Self { server, _redis: Some(redis) }
    }

    /// Runs these files of `clients/python/tests`.
    #[track_caller]
    fn python(&self, files: &[&str]) {
        let mut command = Command::new(installed(&root().join("target/clients/venv/bin/python")));
        command.args(["-B", "-m", "pytest", "-q", "--disable-warnings"]);
        command.args(files.iter().map(|file| format!("tests/{file}"))).current_dir(root().join("clients/python"));
        self.passes(command);
    }

    /// Runs all files of `clients/typescript/test`.
    #[track_caller]
    fn node(&self) {
        let packages = installed(&root().join("target/clients/node/node_modules"));
        let dir = beside_packages(&root().join("clients/typescript/test"), &packages);
        let mut command = Command::new("node");
        command.args(["--test", "--test-reporter", "spec"]).current_dir(dir.path());
        self.passes(command);
    }

    #[track_caller]
    fn passes(&self, mut command: Command) {
        quiet(&mut command);
        command.env("NOVELO_URL", format!("http://{}", self.server.addr)).env("NOVELO_TREE", root());
        let ran = Ran::of(command.stdin(Stdio::null()));
        assert_eq!(ran.code, Some(0), "{command:?}\n{}\n{}", ran.out, ran.err);
    }
}

fn root() -> PathBuf {
    std::path::absolute(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

const CLIENT: [&str; 3] = ["test_client.py", "test_openapi.py", "test_docs.py"];
const LANGGRAPH: [&str; 1] = ["test_langgraph.py"];
const OTHERS: [&str; 2] = ["test_langchain.py", "test_agents.py"];

#[test]
fn novelo_for_python() {
    Stored::local().python(&CLIENT);
}

#[test]
fn novelo_for_python_on_redis() {
    Stored::redis().python(&CLIENT);
}

#[test]
fn langgraph_keeps_its_checkpoints() {
    Stored::local().python(&LANGGRAPH);
}

#[test]
fn langgraph_keeps_its_checkpoints_in_redis() {
    Stored::redis().python(&LANGGRAPH);
}

#[test]
fn langchain_and_agents_keep_their_history() {
    Stored::local().python(&OTHERS);
}

#[test]
fn langchain_and_agents_keep_their_history_in_redis() {
    Stored::redis().python(&OTHERS);
}

#[test]
fn novelo_for_javascript() {
    Stored::local().node();
}

#[test]
fn novelo_for_javascript_on_redis() {
    Stored::redis().node();
}
