//! Running a script with a package of another project, and the server that it talks to.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::model;
use crate::support::models::Models;
use crate::support::{Home, Ran, Server, Value, json};

pub const USER: &str = "ana";

/// What runs a script, and which packages it sees.
#[derive(Debug, Clone, Copy)]
pub enum Script {
    Python(&'static str),
    /// With the packages of LlamaIndex first.
    LlamaIndex(&'static str),
    Node(&'static str),
}

/// A server and the model behind it.
pub struct Setting {
    pub models: Models,
    pub server: Server,
}

impl Setting {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// One with more settings.
    pub fn start_with(settings: &[(&str, &str)]) -> Self {
        let models = model::start();
        let server = Home::new().serve_with(&[&models.talking(), settings].concat());
        Self { models, server }
    }

    /// Runs a script to its end with what it is to do; what it tells.
    #[track_caller]
    pub fn run(&self, script: Script, mut task: Value) -> Value {
        task["base_url"] = format!("http://{}/v1", self.server.addr).into();
        task["user"] = USER.into();
        let (mut command, _dir) = script.command();
        command.arg(task.to_string()).stdin(Stdio::null());
        let ran = Ran::of(&mut command);
        assert_eq!(ran.code, Some(0), "{script:?} {task}\n{}\n{}", ran.out, ran.err);
        let told = ran.out.lines().last().unwrap_or_default();
        serde_json::from_str(told).unwrap_or_else(|e| panic!("{script:?}: {e}: {}\n{}", ran.out, ran.err))
    }

    /// Runs one part of a script.
    #[track_caller]
    pub fn part(&self, script: Script, part: &str) -> Value {
        self.run(script, json!({"part": part}))
    }
}

impl Script {
    /// The command without its task, and a directory that must live as long.
    fn command(self) -> (Command, Option<TempDir>) {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients");
        let clients = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/clients");
        let (mut command, dir) = match self {
            Self::Python(name) | Self::LlamaIndex(name) => {
                let mut command = Command::new(installed(&clients.join("venv/bin/python")));
                command.arg("-B").arg(here.join("python").join(name));
                (command, None)
            }
            Self::Node(name) => {
                let dir = beside_packages(&here.join("node"), &installed(&clients.join("node/node_modules")));
                let mut command = Command::new("node");
                command.arg(dir.path().join(name));
                (command, Some(dir))
            }
        };
        if let Self::LlamaIndex(_) = self {
            command.env("PYTHONPATH", installed(&clients.join("llama-index")));
        }
        quiet(&mut command);
        (command, dir)
    }
}

#[track_caller]
pub fn installed(path: &Path) -> PathBuf {
    assert!(path.exists(), "{} is missing: run `make clients`", path.display());
    std::path::absolute(path).unwrap()
}

/// A copy of the scripts in a directory where their imports find the packages.
pub fn beside_packages(scripts: &Path, packages: &Path) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for script in std::fs::read_dir(scripts).unwrap().map(Result::unwrap) {
        std::fs::copy(script.path(), dir.path().join(script.file_name())).unwrap();
    }
    std::os::unix::fs::symlink(packages.canonicalize().unwrap(), dir.path().join("node_modules")).unwrap();
    dir
}

/// Without what the developer's own environment names, and without calls to anybody but the server.
pub fn quiet(command: &mut Command) {
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
        command.env_remove(name);
    }
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_LOG"] {
        command.env_remove(name);
    }
    command.env("OPENAI_AGENTS_DISABLE_TRACING", "1").env("LANGSMITH_TRACING", "false").env("PYTHONNOUSERSITE", "1");
    command.env("AI_SDK_LOG_WARNINGS", "false").env("NO_COLOR", "1");
}
