//! `novelo eval`: quality, measured on data that says what is right.

mod compact;
mod recall;
mod rewrite;
mod routing;
mod truth;

use novelo_conversation::settings::Settings;
use novelo_server::cli::{EvalCommand, Output};
use novelo_server::say;
use serde::Serialize;

pub fn run(command: EvalCommand, settings: &Settings, out: &Output) -> anyhow::Result<()> {
    match command {
        EvalCommand::Compact { file } => report(&compact::measure(&file)?, compact::print, out),
        EvalCommand::Recall { file, embed } => report(&recall::measure(&file, embed, settings)?, recall::print, out),
        EvalCommand::Rewrite { file, with } => report(&rewrite::measure(&file, with, settings)?, rewrite::print, out),
        EvalCommand::Truth { file, half } => report(&truth::measure(&file, half)?, truth::print, out),
        EvalCommand::Routing { file } => report(&routing::measure(&file, settings)?, routing::print, out),
    }
}

fn report<R: Serialize>(report: &R, print: fn(&R), out: &Output) -> anyhow::Result<()> {
    match out.json {
        true => say!("{}", serde_json::to_string(report)?),
        false => print(report),
    }
    Ok(())
}
