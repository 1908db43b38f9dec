//! What `novelo bench` and `novelo eval` measure.
//!
//! Owns every figure in the README: `speed` beside a raw equivalent, `quality` on data that says what is
//! right. The command line of both is `novelo_server::cli`; this crate only carries the commands out. Nothing
//! depends on it.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "a closed pipe would be a panic: use say! and complain!")]

mod eval;
pub mod instructions;
pub mod quality;
mod speed;

use novelo_conversation::settings::Settings;
use novelo_server::cli::{MeasureCommand, Output};

/// Carries out one command and prints its result.
pub async fn run(command: MeasureCommand, settings: Settings, out: Output) -> anyhow::Result<()> {
    match command {
        MeasureCommand::Eval(command) => eval::run(command, &settings, &out),
        MeasureCommand::BareServer => speed::bare::serve().await,
        MeasureCommand::Bench(args) => speed::run(args, &settings, &out).await,
    }
}
