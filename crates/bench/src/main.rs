//! `novelo-bench`, which `novelo bench` and `novelo eval` start.

/// The allocator of `novelo`, so that what is measured in this process is as fast as it is there.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    novelo_server::cli::main_of_bench(novelo_bench::run)
}
