//! `novelo eval`: quality, measured on data that says what is right.

mod recall;
mod rewrite;
mod routing;

use novelo_conversation::settings::Config;
use novelo_server::cli::{EvalCommand, Output};
use novelo_server::say;
use serde::Serialize;

pub fn run(command: EvalCommand, config: &Config, out: &Output) -> anyhow::Result<()> {
    match command {
        EvalCommand::Recall { file, embed } => report(&recall::measure(&file, embed, config)?, recall::print, out),
        EvalCommand::Rewrite { file, with } => report(&rewrite::measure(&file, with, config)?, rewrite::print, out),
        EvalCommand::Routing { file } => report(&routing::measure(&file, config)?, routing::print, out),
    }
}

fn report<R: Serialize>(report: &R, print: fn(&R), out: &Output) -> anyhow::Result<()> {
    match out.json {
        true => say!("{}", serde_json::to_string(report)?),
        false => print(report),
    }
    Ok(())
}
