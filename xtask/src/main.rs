//! Work on the tree itself: `cargo run -p xtask -- tidy` checks what the compiler cannot, `instructions`
//! counts what the main operations cost, and `ci` runs `make test`.

mod instructions;
mod source;
mod tidy;
mod tree;

use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};

use self::instructions::Profile;

const USAGE: &str = "usage: cargo run -p xtask -- <command>

  tidy           check layering, source rules and sizes; print what was measured
  tidy --renew   write xtask/allowance.txt from what is found now
  tidy --list    print what the allowance covers
  api            write the lists of the public API again (crates/*/api.txt)
  instructions   count the instructions of the main operations and compare them with their budgets;
                 --renew writes the budgets, --release counts a release build
  ci             run everything that must hold (make test)";

fn main() -> anyhow::Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy::run(),
        ["tidy", "--renew"] => tidy::renew(),
        ["tidy", "--list"] => tidy::list(),
        ["api"] => tidy::api::write(&tree::root()?).map(|()| ExitCode::SUCCESS),
        ["instructions"] => instructions::check(Profile::Dev),
        ["instructions", "--renew"] => instructions::renew(Profile::Dev),
        ["instructions", "--release"] => instructions::check(Profile::Release),
        ["instructions", "--release", "--renew"] => instructions::renew(Profile::Release),
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
