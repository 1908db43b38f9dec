//! `novelo`, the command.

/// The system's allocator returns what one context used to the kernel and faults it in again for the next.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // What is written here is text that people said: data, backups and exports are for this user alone.
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    novelo_server::cli::main()
}
