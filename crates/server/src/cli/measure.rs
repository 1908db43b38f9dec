//! `novelo bench` and `novelo eval`: their arguments, and the start of `novelo-bench`, which does the work.
//!
//! Owns the command line of both commands, so that help and wrong usage need no second program.
//! `novelo-bench` is a separate binary because users who run the server do not need it. It is expected beside
//! `novelo`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, bail};
use clap::{Parser, Subcommand, ValueEnum};

use super::{Cli, Output, exit_code, keep_files_private, runtime};
use novelo_conversation::settings::Settings;

const PROGRAM: &str = "novelo-bench";

/// The commands of `novelo-bench`.
#[derive(Subcommand)]
pub enum MeasureCommand {
    /// Measure quality on data that says what is right
    #[command(subcommand)]
    Eval(EvalCommand),
    /// Measure speed, each figure beside its raw equivalent in the same run
    Bench(BenchArgs),
    /// Run the server that `bench W1-HTTP` measures ours beside
    #[command(hide = true)]
    BareServer,
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_precedence_over_arg = true)]
pub struct BenchArgs {
    #[command(subcommand)]
    pub command: Option<BenchCommand>,
    /// Which to run: W1 W1-HTTP redis W2 W3 W4 W5 W6 W7 HTTP footprint appends contexts, all without names;
    /// or growth: a store of a million turns and one of a million threads
    pub names: Vec<String>,
    /// Seconds for each measurement of a rate
    #[arg(long, default_value_t = 1.0)]
    pub seconds: f64,
}

#[derive(Subcommand)]
pub enum BenchCommand {
    /// Put a load on a running server or cluster and print how long its turns took
    ///
    /// Turns begin at a fixed rate, whether or not earlier ones have ended, and the response time counts from
    /// when a turn should have begun. The users of the load are made up, and forgotten at the end.
    Load(LoadArgs),
}

#[derive(clap::Args)]
pub struct LoadArgs {
    /// Address of a node; several with commas are used in turn
    #[arg(long, default_value = "http://127.0.0.1:7420", value_delimiter = ',')]
    pub url: Vec<String>,
    /// Key that may write for any user: a service or admin key
    #[arg(long, env = "NOVELO_KEY", hide_env_values = true, default_value = "")]
    pub key: String,
    /// Turns that begin per second
    #[arg(long)]
    pub rate: f64,
    /// How many users they are spread over, each with one thread
    #[arg(long, default_value_t = 1_000)]
    pub users: u64,
    /// How long turns begin
    #[arg(long, default_value_t = 30.0)]
    pub seconds: f64,
    /// Most turns that run at once; later ones wait, and their wait counts
    #[arg(long, default_value_t = 256)]
    pub connections: usize,
    /// What a turn is
    #[arg(long, default_value = "turn")]
    pub work: LoadWork,
    /// Keep the users of the load instead of forgetting them
    #[arg(long)]
    pub keep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LoadWork {
    /// Append a question, load the last 20 turns, append an answer
    Turn,
    /// Append a question, make a context of 4,000 tokens with the preset chat, append an answer
    Context,
}

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
    /// How much of what matters survives in a short prompt: planted facts, goals and rules
    Compact {
        /// Conversations with questions, as JSON
        file: PathBuf,
    },
    /// How near rewritten follow-up questions come to a human's, and what they find
    Rewrite {
        /// Questions with their history and a human's rewrite, as one JSON object per line
        file: PathBuf,
        /// Who rewrites: the rules, or the model of the settings models.rewrite.…, with the rules where it
        /// fails
        #[arg(long, default_value = "rules")]
        with: Rewriter,
    },
    /// How well the rules tell which later text replaces which earlier one
    Truth {
        /// Pairs of texts, as one JSON object per line: id, old, new, supersedes, language, kind
        file: PathBuf,
        /// Which pairs: all, or those with odd or even ids
        #[arg(long, default_value = "all")]
        half: TruthHalfChoice,
    },
    /// How many questions the ontology sends to the intent that a human gave them
    Routing {
        /// Questions with their intents, as one JSON object per line
        file: PathBuf,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EmbedChoice {
    None,
    Local,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TruthHalfChoice {
    All,
    Odd,
    Even,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rewriter {
    Rules,
    Model,
}

/// The `main` of `novelo-bench`: takes the arguments of `novelo`, and `run` carries out its measuring
/// commands.
pub fn main_of_bench(run: impl AsyncFnOnce(MeasureCommand, Settings, Output) -> anyhow::Result<()>) -> ExitCode {
    exit_code(|| {
        let cli = Cli::parse();
        keep_files_private();
        let super::Command::Measure(command) = cli.command else {
            bail!("{PROGRAM} only runs `bench` and `eval`\nhint: use novelo");
        };
        let flags = [("data", cli.data)];
        let settings = Settings::gather(cli.config.as_deref(), |name| std::env::var(name).ok(), &flags)?;
        runtime()?.block_on(run(command, settings, Output { json: cli.json }))?;
        Ok(ExitCode::SUCCESS)
    })
}

/// Replaces this process by `novelo-bench`, with the same arguments, environment and standard streams.
pub(crate) fn start_bench() -> anyhow::Result<ExitCode> {
    let novelo = std::env::current_exe().context("cannot tell where novelo is")?;
    let program = novelo.with_file_name(PROGRAM);
    let run_by_cargo = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    // `cargo run` builds `novelo` alone, and may do so after a change to `novelo-bench`.
    if (run_by_cargo.is_some() || !program.exists())
        && let Some(checkout) = checkout_of(&novelo, run_by_cargo.as_deref())
    {
        build_bench(checkout, &novelo)?;
    }
    if !program.exists() {
        bail!(
            "there is no {PROGRAM} beside {}\nhint: `cargo build --release` in a checkout builds both; \
             `cargo install --path crates/bench` installs it",
            novelo.display()
        );
    }
    let failure = Command::new(&program).args(std::env::args_os().skip(1)).exec();
    Err(failure).with_context(|| format!("cannot run {}", program.display()))
}

/// The source tree that `novelo` was built in, if it is still where cargo put it.
fn checkout_of<'p>(novelo: &'p Path, manifest_dir: Option<&'p Path>) -> Option<&'p Path> {
    let above = novelo.ancestors().chain(manifest_dir.into_iter().flat_map(Path::ancestors));
    above.into_iter().find(|dir| dir.join("crates/bench/Cargo.toml").exists())
}

fn build_bench(checkout: &Path, novelo: &Path) -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = novelo.parent().and_then(Path::file_name).filter(|profile| *profile != "debug");
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "--bin", PROGRAM, "--manifest-path"]).arg(checkout.join("Cargo.toml"));
    build.args(profile.into_iter().flat_map(|profile| [OsString::from("--profile"), profile.to_owned()]));
    complain!("building {PROGRAM}, unless it is up to date");
    let status = build.stdin(Stdio::null()).status().context("cannot run cargo, which builds novelo-bench")?;
    if !status.success() {
        bail!("cargo cannot build {PROGRAM}");
    }
    Ok(())
}
