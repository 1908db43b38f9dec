//! Tests that cannot run for lack of a part. Each one is named at the end of `make test`; in CI it is a
//! failure.

use std::fs::{OpenOptions, create_dir_all};
use std::io::Write;
use std::path::Path;

/// Records that the test of this thread did not run, and how to run it.
#[track_caller]
pub fn skip(missing: &str, remedy: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("{test}: no {missing}; {remedy}");
    assert!(std::env::var_os("NOVELO_NO_SKIPS").is_none(), "skipped where NOVELO_NO_SKIPS is set: {line}");
    eprintln!("\n!!! SKIPPED {line}\n");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    create_dir_all(&target).unwrap();
    let mut list = OpenOptions::new().create(true).append(true).open(target.join("skipped-tests")).unwrap();
    list.write_all(format!("{line}\n").as_bytes()).unwrap();
}
