//! `novelo bench`
use super::Output;
use std::process::ExitCode;
#[derive(clap::Args)]
pub struct BenchArgs {
    names: Vec<String>,
}
pub async fn run(_args: BenchArgs, _out: &Output) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
