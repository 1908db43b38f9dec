//! `novelo ask`: one question, its answer as it comes.

use std::process::ExitCode;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::Output;
use super::client::Client;
use super::events::{Event, Events};
use super::screen::Screen;
use novelo_conversation::caller::ANONYMOUS;

#[derive(clap::Args)]
pub struct AskArgs {
    question: String,
    #[command(flatten)]
    pub of: ThreadArgs,
}

/// Whose conversation it is, and which.
#[derive(clap::Args)]
pub struct ThreadArgs {
    /// Whose documents and threads
    #[arg(long, default_value = ANONYMOUS)]
    pub user: String,
    /// The thread to go on with; a new one without it
    #[arg(long)]
    pub thread: Option<String>,
}

/// What a program that SIGINT ended is said to have answered.
pub(crate) const INTERRUPTED: u8 = 130;

const PATH: &str = "/api/ask";
const DISMISS_MAX: Duration = Duration::from_secs(3);

pub async fn run(client: &Client, args: AskArgs, out: &Output) -> anyhow::Result<ExitCode> {
    let ThreadArgs { user, thread } = args.of;
    let is_new = thread.is_none();
    let thread = thread.unwrap_or_else(new_thread);
    if out.json {
        let wish = wish(&user, &thread, &args.question, false);
        say!("{}", client.call(Method::POST, PATH, Some(wish)).await?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut screen = Screen::new();
    let mut interrupts = signal(SignalKind::interrupt())?;
    let wish = wish(&user, &thread, &args.question, true);
    let answer = tell(client, &wish, &mut screen, &mut interrupts).await?;
    if let Some(answer) = &answer {
        screen.remarks(&args.question, answer)?;
    }
    if is_new {
        complain!("thread {thread}");
    }
    Ok(answer.map_or(ExitCode::from(INTERRUPTED), |_| ExitCode::SUCCESS))
}

pub(crate) fn new_thread() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// A question as the API takes it.
pub fn wish(user: &str, thread: &str, question: &str, stream: bool) -> Value {
    json!({"question": question, "thread_id": thread, "user_id": user, "stream": stream})
}

/// Shows an answer as it comes; the whole of it, or `None` where SIGINT came first.
pub async fn tell(
    client: &Client,
    wish: &Value,
    screen: &mut Screen,
    interrupts: &mut Signal,
) -> anyhow::Result<Option<Value>> {
    let mut events = None;
    let told = tokio::select! {
        told = show(client, wish, screen, &mut events) => told.map(Some),
        _ = interrupts.recv() => Ok(None),
    };
    screen.end_line()?;
    if let (Ok(None), Some(reply)) = (&told, events.and_then(|events| events.reply)) {
        dismiss(client, &reply).await;
    }
    told
}

async fn show(
    client: &Client,
    wish: &Value,
    screen: &mut Screen,
    events: &mut Option<Events>,
) -> anyhow::Result<Value> {
    let events = events.insert(Events::ask(client, PATH, wish).await?);
    loop {
        match events.next().await? {
            Event::Text(text) => screen.say(&text)?,
            Event::Anew => screen.end_line()?,
            Event::Done(answer) => return Ok(answer),
        }
    }
}

/// Ends the reply. The server stores the part it has before the next question comes.
async fn dismiss(client: &Client, reply: &str) {
    let path = format!("/chat/replies/{reply}");
    let dismissed = tokio::time::timeout(DISMISS_MAX, client.call(Method::DELETE, &path, None)).await;
    if !matches!(dismissed, Ok(Ok(_))) {
        tracing::debug!("the server ends by itself what nobody reads");
    }
}
