//! `novelo chat`: a conversation in a terminal, or line by line from a pipe.
//!
//! The terminal itself edits lines. Ctrl-C ends the answer in progress, and the server keeps the part it has;
//! pressed twice at the prompt, it ends the conversation.

use std::io::{BufRead, IsTerminal};
use std::process::ExitCode;

use anyhow::bail;
use serde_json::Value;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use super::Output;
use super::ask::{INTERRUPTED, ThreadArgs, new_thread, tell, wish};
use super::client::Client;
use super::screen::Screen;

const PROMPT: &str = "> ";
const HELP: &str = "/new      begins a new thread
/sources  shows the passages of the last answer
/help     shows this
/quit     ends, as Ctrl-D does
Ctrl-C    stops the answer that is coming";

struct Chat<'c> {
    client: &'c Client,
    user: String,
    thread: String,
    screen: Screen,
    interrupts: Signal,
    /// Whether someone sits at a terminal.
    is_live: bool,
    /// The last answer, for its sources.
    last: Value,
    has_failed: bool,
}

/// How a conversation goes on after a line.
enum NextStep {
    On,
    End(ExitCode),
}

pub async fn run(client: &Client, args: ThreadArgs, out: &Output) -> anyhow::Result<ExitCode> {
    if out.json {
        bail!("a chat is not JSON\nhint: --json goes with novelo ask");
    }
    let screen = Screen::new();
    let is_live = std::io::stdin().is_terminal() && screen.is_terminal();
    let mut chat = Chat {
        client,
        user: args.user,
        thread: args.thread.unwrap_or_else(new_thread),
        screen: if is_live { screen } else { screen.without_colours() },
        interrupts: signal(SignalKind::interrupt())?,
        is_live,
        last: Value::Null,
        has_failed: false,
    };
    if is_live {
        chat.screen.aside("ask away; /help says what else there is, Ctrl-D ends")?;
    }
    let code = chat.run(lines()).await?;
    complain!("thread {}", chat.thread);
    Ok(code)
}

/// The lines of standard input, as they come. Their reader waits for the next one until the process ends.
fn lines() -> mpsc::Receiver<String> {
    let (to, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            if to.blocking_send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}

impl Chat<'_> {
    async fn run(&mut self, mut lines: mpsc::Receiver<String>) -> anyhow::Result<ExitCode> {
        let mut was_warned = false;
        loop {
            if self.is_live {
                self.screen.say(PROMPT)?;
            }
            let line = tokio::select! {
                line = lines.recv() => line,
                _ = self.interrupts.recv() => match self.is_live && !was_warned {
                    true => {
                        was_warned = true;
                        self.screen.aside("Ctrl-C again, Ctrl-D or /quit ends")?;
                        continue;
                    }
                    false => return self.ended(ExitCode::from(INTERRUPTED)),
                },
            };
            was_warned = false;
            let Some(line) = line else { break };
            // The terminal has shown what was typed, up to the end of its line.
            self.screen.typed();
            if let NextStep::End(code) = self.take(line.trim()).await? {
                return Ok(code);
            }
        }
        self.ended(self.code())
    }

    fn code(&self) -> ExitCode {
        if self.has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    fn ended(&mut self, code: ExitCode) -> anyhow::Result<ExitCode> {
        self.screen.end_line()?;
        Ok(code)
    }

    async fn take(&mut self, line: &str) -> anyhow::Result<NextStep> {
        match line {
            "" => {}
            "/quit" => return Ok(NextStep::End(self.code())),
            "/help" => HELP.lines().try_for_each(|line| self.screen.aside(line))?,
            "/sources" => self.screen.sources(&self.last)?,
            "/new" => {
                self.thread = new_thread();
                self.last = Value::Null;
                self.screen.aside("a new thread")?;
            }
            command if is_command(command) => {
                self.screen.aside(&format!("there is no {command}; /help says what there is"))?
            }
            question => return self.ask(question).await,
        }
        Ok(NextStep::On)
    }

    async fn ask(&mut self, question: &str) -> anyhow::Result<NextStep> {
        let wish = wish(&self.user, &self.thread, question, true);
        match tell(self.client, &wish, &mut self.screen, &mut self.interrupts).await {
            Ok(Some(answer)) => {
                self.screen.remarks(question, &answer)?;
                self.last = answer;
            }
            Ok(None) if self.is_live => self.screen.aside("stopped; what there is of the answer is kept")?,
            Ok(None) => return Ok(NextStep::End(ExitCode::from(INTERRUPTED))),
            Err(error) if error.is::<std::io::Error>() => return Err(error),
            Err(error) => {
                complain!("error: {}", super::output::in_words(&error));
                self.has_failed = !self.is_live;
            }
        }
        self.screen.say("\n")?;
        Ok(NextStep::On)
    }
}

/// One word behind a slash; what has more of either may be a question about a path.
fn is_command(line: &str) -> bool {
    line.strip_prefix('/').is_some_and(|word| word.chars().all(|c| c.is_ascii_alphabetic()))
}
