//! `docs/limits.md` is the table of `limits.rs`, written out. `NOVELO_BLESS=1` writes it anew.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use novelo_engine::limits::ALL;

const HEAD: &str = "# Limits

The caps that a caller can meet, as `crates/engine/src/limits.rs` has them. A request past one is answered with 413, 422
or 429 and the name of the cap. Bounds of single options and policy fields are in the errors that quote them. This page is written by a test: `NOVELO_BLESS=1 cargo test -p novelo-engine --test limits_doc`.

| cap | value | bounds |
|---|---:|---|
";

#[test]
fn the_page_is_the_table() {
    let rows = ALL.iter().map(|limit| format!("| `{}` | {} | {} |\n", limit.name, grouped(limit.value), limit.bounds));
    let page = format!("{HEAD}{}", rows.collect::<String>());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/limits.md");
    if std::env::var_os("NOVELO_BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, page, "docs/limits.md is not the table; NOVELO_BLESS=1 writes it anew");
}

/// Thousands apart: 16,777,216.
fn grouped(value: usize) -> String {
    let digits = value.to_string();
    let comma = |(n, digit): (usize, char)| {
        if n > 0 && (digits.len() - n).is_multiple_of(3) { vec![',', digit] } else { vec![digit] }
    };
    digits.chars().enumerate().flat_map(comma).collect()
}
