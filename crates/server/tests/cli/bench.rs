//! `novelo bench` and `novelo eval` start `novelo-bench`, which lies beside `novelo`. Its own work is tested
//! in `crates/bench`.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{Home, Ran};

/// A directory with `novelo` alone in it, on the file system of the build so that it can be linked.
fn installed() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let novelo = dir.path().join("novelo");
    std::fs::hard_link(env!("CARGO_BIN_EXE_novelo"), &novelo).unwrap();
    (dir, novelo)
}

/// As a user runs it. Below the target directory of a checkout it would build `novelo-bench`, which a missing
/// cargo prevents.
fn run(novelo: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(novelo);
    command.args(args).env("CARGO", "/nonexistent/cargo").env_remove("CARGO_MANIFEST_DIR").env("FROM", "here");
    Ran::of(&mut command)
}

#[test]
fn arguments_environment_and_exit_code_are_passed_on() {
    let (dir, novelo) = installed();
    let program = dir.path().join("novelo-bench");
    std::fs::write(&program, "#!/bin/sh\necho \"$@\" from $FROM\necho oh >&2\nexit 7\n").unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    for args in [&["--json", "bench", "W1", "--seconds", "0.5"][..], &["eval", "routing", "a file", "--data", "d"]] {
        let ran = run(&novelo, args);
        assert_eq!(ran.out, format!("{} from here\n", args.join(" ")));
        assert_eq!((ran.code, ran.err.as_str()), (Some(7), "oh\n"));
    }
}

#[test]
fn help_and_wrong_usage_need_no_second_program() {
    let home = Home::new();
    assert!(home.done(&["bench", "--help"]).contains("Usage: novelo bench [OPTIONS] [NAMES]..."));
    assert!(home.done(&["help", "eval", "rewrite"]).contains("Usage: novelo eval rewrite [OPTIONS] <FILE>"));
    for wrong in
        [&["bench", "--seconds", "x"][..], &["eval"], &["eval", "recall"], &["eval", "recall", "f", "--embed", "x"]]
    {
        assert_eq!(home.run(wrong).code, Some(2), "{wrong:?}");
    }
}

#[test]
fn a_missing_second_program_is_built_or_named() {
    let (_dir, novelo) = installed();
    let ran = run(&novelo, &["bench", "W2"]);
    assert_eq!(ran.code, Some(1));
    let said = "building novelo-bench, unless it is up to date\nerror: cannot run cargo, which builds novelo-bench";
    assert!(ran.err.starts_with(said), "{ran:?}");
    let elsewhere = tempfile::tempdir().unwrap();
    let novelo = elsewhere.path().join("novelo");
    std::fs::copy(env!("CARGO_BIN_EXE_novelo"), &novelo).unwrap();
    run(&novelo, &["bench", "W2"]).failed(&["there is no novelo-bench beside", "hint: `cargo build --release`"]);
}
