//! `novelo eval`: quality, measured on data that says what is right.

mod recall;
mod rewrite;
mod routing;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use serde::Serialize;

use self::recall::EmbedChoice;
use self::rewrite::Rewriter;
use super::Output;
use novelo_conversation::settings::Config;

#[derive(Subcommand)]
pub enum EvalCommand {
    /// How many questions find the turns that answer them, each conversation by itself
    Recall {
        /// Conversations with questions, as JSON
        file: PathBuf,
        /// Where embeddings come from: none, or local (the directory of the setting embedding.dir)
        #[arg(long, default_value = "none")]
        embed: EmbedChoice,
    },
    /// How near rewritten follow-up questions come to a human's, and what they find
    Rewrite {
        /// Questions with their history and a human's rewrite, as one JSON object per line
        file: PathBuf,
        /// Who rewrites: the rules, or the model of the settings models.rewrite.…, with the rules where it fails
        #[arg(long, default_value = "rules")]
        with: Rewriter,
    },
    /// How many questions the ontology sends to the intent that a human gave them
    Routing {
        /// Questions with their intents, as one JSON object per line
        file: PathBuf,
    },
}

pub fn run(command: EvalCommand, config: &Config, out: &Output) -> anyhow::Result<ExitCode> {
    match command {
        EvalCommand::Recall { file, embed } => report(&recall::measure(&file, embed, config)?, recall::print, out)?,
        EvalCommand::Rewrite { file, with } => report(&rewrite::measure(&file, with, config)?, rewrite::print, out)?,
        EvalCommand::Routing { file } => report(&routing::measure(&file, config)?, routing::print, out)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn report<R: Serialize>(report: &R, print: fn(&R), out: &Output) -> anyhow::Result<()> {
    match out.json {
        true => say!("{}", serde_json::to_string(report)?),
        false => print(report),
    }
    Ok(())
}
