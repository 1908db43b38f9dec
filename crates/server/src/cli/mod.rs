//! The command line.
//!
//! Owns the commands and their output. Every command but `serve`, `config`, `ask-init`, `migrate`, `eval` and
//! `bench` is a client of the API: of the running server if there is one, else of a server opened within this
//! process. So the command line behaves as the API does. Exit codes: 0 done, 1 refused or failed, 2 wrong
//! usage, 130 stopped by Ctrl-C.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "a closed pipe would be a panic: use say! and complain!")]

#[macro_use]
mod output;

mod ask;
mod ask_init;
mod chat;
mod client;
mod commands;
mod compact;
mod doctor;
mod events;
mod forgotten;
mod measure;
mod memory;
mod migrate;
mod progress;
mod restore;
mod screen;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde_json::Value;

pub use self::measure::{
    BenchArgs, BenchCommand, EmbedChoice, EvalCommand, LoadArgs, LoadWork, MeasureCommand, Rewriter, TruthHalfChoice,
    main_of_bench,
};
#[doc(hidden)]
pub use self::output::{print, print_error};
pub use self::progress::steps as progress_bar;
use novelo_conversation::logs;
use novelo_conversation::remember::reader;
use novelo_conversation::settings::RawSettings;

/// A conversation-context engine: turns in, an explained context out.
#[derive(Parser)]
#[command(name = "novelo", version)]
struct Cli {
    /// Settings file; ./novelo.toml is read if it is there
    #[arg(long, global = true)]
    config: Option<PathBuf>,
    /// Data directory of the embedded store
    #[arg(long, global = true)]
    data: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the server
    Serve(ServeArgs),
    /// Ask a question and have it answered from the documents
    Ask(ask::AskArgs),
    /// Make a starting catalogue for /ask from the schema of a SQLite file
    AskInit(ask_init::AskInitArgs),
    /// Talk in the terminal: questions, follow-ups, answers as they come
    Chat(ask::ThreadArgs),
    /// Show the context of a thread, and why each turn is in or out
    Explain(ExplainArgs),
    /// List, show, fork, compact, export and import threads
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// Forget a user, or one thread, also in the raw files
    Forget {
        user: String,
        thread: Option<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Make files and directories searchable
    Index(memory::IndexArgs),
    /// Search what is remembered of a user
    Search(memory::SearchArgs),
    /// Write everything to a file, also while the server runs
    Backup { file: PathBuf },
    /// Read a backup into an empty data directory, without what was forgotten since; the same command again
    /// resumes one that broke off
    Restore(forgotten::RestoreArgs),
    /// Move everything from the data directory into Redis, or back, and compare the two
    Migrate(migrate::MigrateArgs),
    /// Make, list and revoke keys
    #[command(subcommand)]
    Key(KeyCommand),
    /// Show the settings in force and where each comes from
    Config,
    /// Say what is wrong with the data, the policies and the settings
    Doctor,
    #[command(flatten)]
    Measure(MeasureCommand),
    /// Reads a file for another process of this program
    #[command(hide = true, name = READ_FILE)]
    ReadFile { format: String },
}

const READ_FILE: &str = "read-file";

#[derive(clap::Args)]
struct ServeArgs {
    /// Address to listen on
    #[arg(long)]
    addr: Option<String>,
    /// Where documents are kept: local, memory, or redis, which several nodes share
    #[arg(long)]
    store: Option<String>,
    /// Where passages are searched: local or qdrant
    #[arg(long)]
    index: Option<String>,
}

#[derive(clap::Args)]
struct ExplainArgs {
    user: String,
    thread: String,
    /// What is asked now
    #[arg(long)]
    question: Option<String>,
    /// A preset by name
    #[arg(long)]
    preset: Option<String>,
    /// Tokens that the whole answer may have
    #[arg(long)]
    budget_tokens: Option<u32>,
    /// approx, o200k_base or cl100k_base
    #[arg(long)]
    tokenizer: Option<String>,
}

#[derive(Subcommand)]
enum ThreadCommand {
    /// List the threads of a user
    List { user: String },
    /// Show the turns of a thread
    Show {
        user: String,
        thread: String,
        /// How many of the newest
        #[arg(long, default_value_t = 20)]
        last: usize,
    },
    /// Make a thread that holds the turns up to and including a seq
    Fork { user: String, thread: String, at_seq: u64, to: String },
    /// Show old turns in short, so that the thread costs less; or undo that
    Compact(compact::CompactArgs),
    /// List what was compacted, read a span word for word, or have it back in prompts
    Spans(compact::SpanArgs),
    /// Write a thread, or all of a user, as JSON Lines
    Export {
        user: String,
        thread: Option<String>,
        /// Standard output without it
        #[arg(long, short)]
        output: Option<PathBuf>,
    },
    /// Read JSON Lines that export wrote
    Import { file: PathBuf },
}

#[derive(Subcommand)]
enum KeyCommand {
    /// Make a key; its secret is shown once
    Create(NewKeyArgs),
    /// List keys
    List,
    /// Revoke a key by its id; the server stays closed without one
    Revoke { id: String },
    /// Let everyone on this machine in again without a key, once all keys are revoked
    Open {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(clap::Args)]
#[group(skip)]
struct NewKeyArgs {
    #[command(flatten)]
    kind: NewKeyKind,
    /// What to call it in the list
    #[arg(long)]
    name: Option<String>,
    /// Keep the responses and conversations that it makes for this long after their last turn
    #[arg(long)]
    ttl_seconds: Option<u64>,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct NewKeyKind {
    /// A key of one user, for what is theirs
    #[arg(long)]
    user: Option<String>,
    /// A key for visitors of a page: they may ask at /ask-eco and nothing else
    #[arg(long)]
    guest: bool,
    /// A key for a backend: it acts for any user that it names, and administers nothing
    #[arg(long = "service")]
    for_any_user: bool,
    /// A key for everything
    #[arg(long)]
    admin: bool,
}

/// Runs the command that was typed.
pub fn main() -> ExitCode {
    exit_code(|| run(Cli::parse()))
}

/// Carries out a command; prints its error, and gives the exit code.
fn exit_code(command: impl FnOnce() -> anyhow::Result<ExitCode>) -> ExitCode {
    let done = command().and_then(|code| output::finish().map(|()| code));
    logs::flush_logs();
    match done {
        Ok(code) => code,
        Err(error) if output::is_reader_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain!("error: {}", output::in_words(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    if let Command::Measure(_) = &cli.command {
        return measure::start_bench();
    }
    if let Command::ReadFile { format } = &cli.command {
        return Ok(reader::read_in_child(format));
    }
    offer_reader();
    keep_files_private();
    let [addr, store, index] = match &cli.command {
        Command::Serve(args) => [&args.addr, &args.store, &args.index].map(Clone::clone),
        _ => [None, None, None],
    };
    let flags = [("data", cli.data.clone()), ("addr", addr), ("store", store), ("index", index)];
    let raw = RawSettings::gather(cli.config.as_deref(), |name| std::env::var(name).ok(), &flags)?;
    let settings = raw.parse()?;
    let out = Output { json: cli.json };
    if let Command::AskInit(args) = &cli.command {
        return ask_init::run(args, &settings, &out);
    }
    runtime()?.block_on(async move {
        match cli.command {
            Command::Serve(_) => serve::run(settings).await.map(|()| ExitCode::SUCCESS),
            Command::Config => commands::config(&raw, &out),
            Command::Doctor => doctor::run(settings, &out).await,
            Command::Migrate(args) => migrate::run(args, &settings, &out).await,
            other => commands::run(other, settings, &out).await,
        }
    })
}

/// Files that need a parser are read by this program, started once more.
fn offer_reader() {
    // The name in /proc stays right when the file is replaced, as by an upgrade.
    let own = PathBuf::from("/proc/self/exe");
    let program = if own.exists() { Ok(own) } else { std::env::current_exe() };
    match program {
        Ok(program) => reader::set_reader(program, [READ_FILE.into()]),
        Err(error) => tracing::warn!(%error, "files that need a parser will be skipped: where is this program?"),
    }
}

/// Data, backups and exports hold text that people said: only this user may read the files that are written.
fn keep_files_private() {
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// How results are printed.
pub struct Output {
    pub json: bool,
}

impl Output {
    /// Prints JSON where it was asked for, else what `text` prints.
    fn show(&self, answer: &Value, text: impl FnOnce(&Value)) {
        match self.json {
            true => say!("{answer}"),
            false => text(answer),
        }
    }
}
