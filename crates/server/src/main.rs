//! `novelo`, the command.

/// The system's allocator returns what one context used to the kernel and faults it in again for the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    novelo_server::cli::main()
}
