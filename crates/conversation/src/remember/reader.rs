//! Reading files that need a parser, in a process of their own.
//!
//! Owns the way to that process and its limits: memory, processor time, time, output, open files. A file may
//! make a parser loop, recurse or take all memory; then that process ends, the file is named with the cause,
//! and nothing else is lost. Invariants: no parser runs in this process, and what the other one answers is
//! bounded before it is read.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use novelo_engine::limits::{READ_FILE_BYTES_MAX, READ_MEMORY_BYTES_MAX, READ_TEXT_BYTES_MAX, READ_WAIT_S_MAX};
use novelo_files::{self as files, FileFormat, FileSection};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use serde::{Deserialize, Serialize};

/// The text is escaped on its way, which makes each byte at most six, and seldom more than one.
const ANSWER_BYTES_MAX: u64 = READ_TEXT_BYTES_MAX as u64 * 2;
/// Parsers recurse; what recurses deeper than this is hostile.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// How this program is started so that it reads a file.
struct ReaderProgram {
    program: PathBuf,
    arguments: Vec<OsString>,
}

static READER: OnceLock<ReaderProgram> = OnceLock::new();

/// What the process answers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ReaderAnswer {
    Sections(Vec<FileSection>),
    Problem(String),
}

/// Says how to start a process that calls [`read_in_child`]; the name of the format is its last argument.
/// Until this was said, files that need a parser are skipped. The first call counts.
pub fn set_reader(program: PathBuf, arguments: impl IntoIterator<Item = OsString>) {
    READER.get_or_init(|| ReaderProgram { program, arguments: arguments.into_iter().collect() });
}

/// Reads a file in a process of its own. The error says what is wrong with the file.
pub(super) fn read(file: File, format: FileFormat) -> Result<Vec<FileSection>, String> {
    let reader = READER.get().ok_or("needs a reader process, and this program has none")?;
    let mut command = Command::new(&reader.program);
    command.args(&reader.arguments).arg(format.name());
    // Its environment holds no secrets, and keeps the allocator from reserving more than it may have.
    command.env_clear().env("MIMALLOC_ARENA_RESERVE", "32768").env("MIMALLOC_ARENA_EAGER_COMMIT", "0");
    command.stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().map_err(|error| format!("could not be read: no process for it: {error}"))?;
    let (ended, bytes) = wait(child)?;
    if !ended.success() {
        return Err(cause(ended));
    }
    match serde_json::from_slice(&bytes) {
        Ok(ReaderAnswer::Sections(sections)) => Ok(sections),
        Ok(ReaderAnswer::Problem(problem)) => Err(problem),
        Err(_) => Err("could not be read: its reader answered nothing".into()),
    }
}

/// Waits for the answer of a reader, and ends it when it takes too long or says too much.
fn wait(mut child: Child) -> Result<(ExitStatus, Vec<u8>), String> {
    let output = child.stdout.take().ok_or("could not be read: its reader has no output")?;
    let (answered, answer) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.take(ANSWER_BYTES_MAX + 1).read_to_end(&mut bytes);
        // Nobody waits any longer if the deadline has passed.
        let _unread = answered.send(read.map(|_| bytes));
    });
    let answer = answer.recv_timeout(Duration::from_secs(READ_WAIT_S_MAX as u64));
    let bytes = match answer {
        Ok(Ok(bytes)) if bytes.len() as u64 <= ANSWER_BYTES_MAX => Ok(bytes),
        Ok(Ok(_)) => Err(format!("has more text than the cap READ_TEXT_BYTES_MAX, {READ_TEXT_BYTES_MAX} bytes")),
        Ok(Err(error)) => Err(format!("could not be read: {error}")),
        Err(_) => Err(too_slow()),
    };
    if bytes.is_err() {
        // One that has ended by itself is as good.
        let _gone = child.kill();
    }
    let ended = child.wait().map_err(|error| format!("could not be read: {error}"))?;
    bytes.map(|bytes| (ended, bytes))
}

fn too_slow() -> String {
    format!("takes longer to read than the cap READ_WAIT_S_MAX, {READ_WAIT_S_MAX} s")
}

/// Why a reader ended without an answer.
fn cause(ended: ExitStatus) -> String {
    let signal = ended.signal().and_then(Signal::from_named_raw);
    match signal {
        Some(Signal::XCPU | Signal::KILL) => too_slow(),
        Some(Signal::ABORT | Signal::SEGV | Signal::BUS) => format!(
            "needs more memory than the cap READ_MEMORY_BYTES_MAX, {READ_MEMORY_BYTES_MAX} bytes, or is nested too deeply"
        ),
        _ => format!("could not be read: its reader ended with {ended}"),
    }
}

/// The whole work of the process that reads a file: limits itself, reads standard input, and answers on
/// standard output.
pub fn read_in_child(format: &str) -> ExitCode {
    let answer = match (FileFormat::from_name(format), limit_this_process()) {
        (Some(format), Ok(())) => read_input(format),
        (None, _) => ReaderAnswer::Problem(format!("has a format that is not known: {format}")),
        (_, Err(error)) => ReaderAnswer::Problem(format!("could not be read: no limits for its reader: {error}")),
    };
    let written = serde_json::to_vec(&answer).map(|bytes| std::io::stdout().write_all(&bytes));
    if matches!(written, Ok(Ok(()))) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn limit_this_process() -> rustix::io::Result<()> {
    let seconds = READ_WAIT_S_MAX as u64;
    let limits = [
        (Resource::As, READ_MEMORY_BYTES_MAX as u64),
        (Resource::Cpu, seconds),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
        // Standard input and output are open; nothing else is needed.
        (Resource::Nofile, 3),
    ];
    limits.into_iter().try_for_each(|(resource, limit)| {
        let limit = Some(limit);
        setrlimit(resource, Rlimit { current: limit, maximum: limit })
    })
}

/// Reads standard input on a large stack. A panic of a parser is an answer too.
fn read_input(format: FileFormat) -> ReaderAnswer {
    let work = move || -> Result<Vec<FileSection>, String> {
        let mut bytes = Vec::new();
        let read = std::io::stdin().take(READ_FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("could not be read: {error}"))?;
        if bytes.len() > READ_FILE_BYTES_MAX {
            return Err(format!("has more bytes than the cap READ_FILE_BYTES_MAX, {READ_FILE_BYTES_MAX}"));
        }
        files::read(format, &bytes)
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let read = thread.map_err(|error| format!("could not be read: {error}")).and_then(|thread| {
        thread.join().unwrap_or_else(|_| Err(format!("is damaged: reading it as {} failed", format.name())))
    });
    read.map_or_else(ReaderAnswer::Problem, ReaderAnswer::Sections)
}
