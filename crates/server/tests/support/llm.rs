//! A real language model: llama.cpp with SmolLM2-135M, which `make model` installs. Tests that use it have
//! `llm` in their names, so that one runs at a time.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running one. It ends with its handle, and with the process.
pub struct Llm {
    /// With `/v1`.
    pub base: String,
    child: Child,
}

impl Llm {
    /// Starts one with a window of so many tokens.
    #[track_caller]
    pub fn start(window_tokens: u32) -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let python = std::env::var("NOVELO_TEST_LLM").map(PathBuf::from);
        let python = python.unwrap_or_else(|_| root.join("target/llm/bin/python"));
        assert!(python.is_file(), "{} is missing: run `make model`", python.display());
        let mut command = Command::new(python);
        command.arg(root.join("ci/model_server.py")).args(["--ctx", &window_tokens.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.map_while(Result::ok).find(|line| line.starts_with("http://127.0.0.1:"));
        let url = url.unwrap_or_else(|| panic!("the model server did not start: {:?}", child.wait()));
        Self { base: format!("{url}/v1"), child }
    }

    /// The settings that make a server use it for everything. It is slow where many tests run at once.
    pub fn settings(&self) -> [(&str, &str); 3] {
        [
            ("NOVELO_MODELS_ANSWER_URL", &self.base),
            ("NOVELO_MODELS_REWRITE_TIMEOUT_MS", "60000"),
            ("NOVELO_MODELS_SUMMARY_TIMEOUT_MS", "120000"),
        ]
    }
}

impl Drop for Llm {
    fn drop(&mut self) {
        // It may have ended already, which is no reason to hide how the test went.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
