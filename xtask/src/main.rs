//! Work on the tree itself: `cargo run -p xtask -- tidy` checks what the compiler cannot, and `ci` runs
//! `make test`.

mod source;
mod tidy;
mod tree;

use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};

const USAGE: &str = "usage: cargo run -p xtask -- <command>

  tidy           check layering, source rules and sizes; print what was measured
  tidy --renew   write xtask/allowance.txt from what is found now
  tidy --list    print what the allowance covers
  api            write the lists of the public API again (crates/*/api.txt)
  ci             run everything that must hold (make test)";

fn main() -> anyhow::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy::run(),
        ["tidy", "--renew"] => tidy::renew(),
        ["tidy", "--list"] => tidy::list(),
        ["api"] => tidy::api::write(&tree::root()?).map(|()| ExitCode::SUCCESS),
        ["ci"] => ci(),
        _ => {
            eprintln!("{USAGE}");
            Ok(ExitCode::from(2))
        }
    }
}

fn ci() -> anyhow::Result<ExitCode> {
    let root = tree::root()?;
    let status = Command::new("make").arg("test").current_dir(root).status().context("cannot start make")?;
    ensure!(status.success(), "make test failed");
    Ok(ExitCode::SUCCESS)
}
