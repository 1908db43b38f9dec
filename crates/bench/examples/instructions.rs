//! Carries out one main operation for `make instructions`, which counts its instructions under Valgrind.
//!
//! `instructions NAME` runs it; without a name, the names are printed.

use std::io::Write;

use novelo_bench::instructions;

/// The allocator of `novelo`, because allocating is part of the work.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1) {
        Some(name) => instructions::run(&name),
        None => Ok(writeln!(std::io::stdout(), "{}", instructions::NAMES.join("\n"))?),
    }
}
