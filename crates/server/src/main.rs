//! `novelo`, the command.

fn main() -> std::process::ExitCode {
    novelo_server::cli::main()
}
