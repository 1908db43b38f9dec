//! The commands that are clients of the API.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use axum::body::Body;
use http_body_util::BodyExt;
use hyper::Method;
use novelo_engine::path::encode_segment;
use serde_json::{Value, json};

use super::client::{Client, refusal};
use super::output::StandardOutput;
use super::progress::{self, FileBody};
use super::restore::FillSource;
use super::{
    Command, ExplainArgs, KeyCommand, NewKeyArgs, NewKeyKind, Output, ThreadCommand, ask, chat, compact, memory,
    restore,
};
use novelo_conversation::settings::{RawSettings, Settings};

pub async fn run(command: Command, settings: Settings, out: &Output) -> anyhow::Result<ExitCode> {
    let makes = matches!(
        command,
        Command::Restore(_) | Command::Key(_) | Command::Index(_) | Command::Thread(ThreadCommand::Import { .. })
    );
    // A shared store lies elsewhere, and the directory may hold only the note of a server.
    let is_local = !settings.is_shared();
    if is_local && !makes && !settings.data.exists() {
        bail!("there is no data directory {}\nhint: name it with --data", settings.data.display());
    }
    match &command {
        Command::Restore(args) => return restore::run(settings, FillSource::Backup(args), out).await,
        Command::Thread(ThreadCommand::Import { file }) if is_local && restore::is_new(&settings.data)? => {
            return restore::run(settings, FillSource::Export(file), out).await;
        }
        _ => {}
    }
    let client = match command {
        Command::Backup { .. } => Client::connect_to_read(settings).await?,
        _ => Client::connect(settings).await?,
    };
    let done = dispatch(command, &client, out).await;
    client.close().await?;
    done
}

async fn dispatch(command: Command, client: &Client, out: &Output) -> anyhow::Result<ExitCode> {
    let done = match command {
        Command::Ask(args) => return ask::run(client, args, out).await,
        Command::Chat(args) => return chat::run(client, args, out).await,
        Command::Explain(args) => explain(client, args, out).await,
        Command::Thread(command) => thread(client, command, out).await,
        Command::Forget { user, thread, yes } => forget(client, &user, thread.as_deref(), yes, out).await,
        Command::Index(args) => memory::index(client, args, out).await,
        Command::Search(args) => memory::search(client, args, out).await,
        Command::Backup { file } => export(client, "/v1/export", Some(&file)).await,
        Command::Key(command) => key(client, command, out).await,
        Command::Serve(_)
        | Command::Config
        | Command::AskInit(_)
        | Command::Doctor
        | Command::Measure(_)
        | Command::ReadFile { .. }
        | Command::Migrate(_)
        | Command::Restore(_) => Ok(()),
    };
    done.map(|()| ExitCode::SUCCESS)
}

/// The settings in force.
pub fn config(settings: &RawSettings, out: &Output) -> anyhow::Result<ExitCode> {
    if out.json {
        let rows = settings.rows().map(|(key, value, from)| (key, json!({"value": value, "from": from.to_string()})));
        say!("{}", Value::Object(rows.map(|(k, v)| (k.to_owned(), v)).collect()));
        return Ok(ExitCode::SUCCESS);
    }
    for (key, value, from) in settings.rows() {
        say!("{key:<20} {value:<24} {from}");
    }
    Ok(ExitCode::SUCCESS)
}

async fn explain(client: &Client, args: ExplainArgs, out: &Output) -> anyhow::Result<()> {
    let how = if out.json { json!(true) } else { json!("text") };
    let turns =
        client.call(Method::GET, &format!("{}/turns?last=1", thread_path(&args.user, &args.thread)), None).await?;
    if rows(&turns, "turns").next().is_none() {
        bail!("{} has no turns in a thread {}", args.user, args.thread);
    }
    let body = json!({
        "user": args.user, "thread": args.thread, "question": args.question, "preset": args.preset,
        "budget_tokens": args.budget_tokens, "tokenizer": args.tokenizer, "explain": how,
    });
    let answer = client.call(Method::POST, "/v1/context", Some(body)).await?;
    match answer.get("explain").and_then(Value::as_str) {
        Some(text) => say_part!("{text}"),
        None => say!("{answer}"),
    }
    Ok(())
}

async fn thread(client: &Client, command: ThreadCommand, out: &Output) -> anyhow::Result<()> {
    match command {
        ThreadCommand::List { user } => list(client, &user, out).await,
        ThreadCommand::Show { user, thread, last } => {
            let path = format!("{}/turns?last={last}", thread_path(&user, &thread));
            let answer = client.call(Method::GET, &path, None).await?;
            if rows(&answer, "turns").next().is_none() {
                bail!("{user} has no turns in a thread {thread}");
            }
            out.show(&answer, |answer| rows(answer, "turns").for_each(show_turn));
            Ok(())
        }
        ThreadCommand::Fork { user, thread, at_seq, to } => {
            let path = format!("{}/fork", thread_path(&user, &thread));
            let answer = client.call(Method::POST, &path, Some(json!({"at_seq": at_seq, "to": to}))).await?;
            out.show(&answer, |a| say!("{} holds {} turns", to, a.get("turns").unwrap_or(&Value::Null)));
            Ok(())
        }
        ThreadCommand::Compact(args) => compact::compact(client, args, out).await,
        ThreadCommand::Spans(args) => compact::spans(client, args, out).await,
        ThreadCommand::Export { user, thread, output } => {
            let base = match &thread {
                Some(thread) => thread_path(&user, thread),
                None => format!("/v1/users/{}", encode_segment(&user)),
            };
            export(client, &format!("{base}/export"), output.as_deref()).await
        }
        ThreadCommand::Import { file } => {
            import(client, "/v1/import", Body::new(FileBody::open(&file)?), &file, out).await
        }
    }
}

async fn list(client: &Client, user: &str, out: &Output) -> anyhow::Result<()> {
    let mut after = String::new();
    loop {
        let path = format!("/v1/users/{}/threads?limit=1000&after={}", encode_segment(user), encode_segment(&after));
        let page = client.call(Method::GET, &path, None).await?;
        for row in rows(&page, "threads") {
            let id = row.get("id").and_then(Value::as_str).unwrap_or("");
            match out.json {
                true => say!("{row}"),
                false => say!("{:>8} turns  {id}", number(row, "turns")),
            }
            id.clone_into(&mut after);
        }
        if page.get("has_more") != Some(&Value::Bool(true)) {
            return Ok(());
        }
    }
}

fn show_turn(turn: &Value) {
    let message = turn.get("message").unwrap_or(&Value::Null);
    let role = message.get("role").and_then(Value::as_str).unwrap_or("-");
    let text = match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        _ => message.get("tool_calls").or(message.get("content")).unwrap_or(&Value::Null).to_string(),
    };
    say!("#{:<5} {role:<10} {text}", number(turn, "seq"));
}

pub(super) fn number(row: &Value, name: &str) -> u64 {
    row.get(name).and_then(Value::as_u64).unwrap_or(0)
}

async fn forget(client: &Client, user: &str, thread: Option<&str>, yes: bool, out: &Output) -> anyhow::Result<()> {
    let (what, path) = match thread {
        Some(thread) => (format!("thread {thread} of {user}"), thread_path(user, thread)),
        None => (format!("everything of {user}"), format!("/v1/users/{}", encode_segment(user))),
    };
    if !yes && !confirmed(&format!("forget {what}? this cannot be undone [y/N] "))? {
        bail!("nothing was forgotten");
    }
    let answer = client.call(Method::DELETE, &path, None).await?;
    let count = |name: &str| answer.pointer(&format!("/forgotten/{name}")).cloned().unwrap_or(Value::Null);
    let [documents, passages, traces] = ["documents", "passages", "traces"].map(count);
    out.show(&answer, |_| say!("forgot {documents} documents, {passages} passages and {traces} traces"));
    Ok(())
}

/// Asks on the terminal; anything but a yes is a no.
pub fn confirmed(question: &str) -> anyhow::Result<bool> {
    std::io::stderr().write_all(question.as_bytes())?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Writes an export to a file, or to standard output. A file is complete or not there.
async fn export(client: &Client, path: &str, file: Option<&Path>) -> anyhow::Result<()> {
    let response = client.send(Method::GET, path, Body::empty()).await?;
    if !response.status().is_success() {
        bail!("the export was refused: {}", response.status());
    }
    let hint = response.headers().get("x-novelo-documents").and_then(|h| h.to_str().ok()?.parse().ok());
    let Some(file) = file else { return write_lines(response.into_body(), &mut StandardOutput::new(), hint).await };
    if file.exists() {
        bail!("{} is there already", file.display());
    }
    let partial = file.with_extension("partial");
    let failure = || format!("cannot write {}", partial.display());
    let mut to = File::create(&partial).with_context(failure)?;
    write_lines(response.into_body(), &mut to, hint).await?;
    to.sync_all().with_context(failure)?;
    std::fs::rename(&partial, file).with_context(failure)
}

/// Longer than the last line of any export, which may arrive in two frames.
const LAST_LINE_BYTES_MAX: usize = 64;

async fn write_lines(mut body: Body, to: &mut impl Write, hint: Option<u64>) -> anyhow::Result<()> {
    let bar = progress::documents(hint);
    let mut end = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.context("the export broke off")?.into_data() else { continue };
        bar.inc(data.iter().filter(|b| **b == b'\n').count() as u64);
        to.write_all(&data)?;
        end.extend_from_slice(&data);
        end.drain(..end.len().saturating_sub(LAST_LINE_BYTES_MAX));
    }
    bar.finish_and_clear();
    let tail = end.trim_ascii_end().rsplit(|b| *b == b'\n').next().unwrap_or_default();
    match tail.starts_with(b"{\"documents\":") {
        true => Ok(()),
        false => bail!("the export broke off before its last line"),
    }
}

/// Sends the content of a file, and reports the result.
pub async fn import(client: &Client, path: &str, body: Body, file: &Path, out: &Output) -> anyhow::Result<()> {
    let response = client.send(Method::POST, path, body).await?;
    let status = response.status();
    let answer = response.into_body().collect().await?.to_bytes();
    if !status.is_success() {
        bail!("{}: {}", file.display(), refusal(&answer));
    }
    let answer: Value = serde_json::from_slice(&answer)?;
    let count = |name| answer.get(name).cloned().unwrap_or(Value::Null);
    out.show(&answer, |answer| {
        say!("read {} documents, {} of them new", count("documents"), count("new"));
        match answer.get("forgotten").and_then(Value::as_u64) {
            None | Some(0) => {}
            Some(count) => say!("{count} documents were forgotten since the backup and are not restored"),
        }
    });
    Ok(())
}

async fn key(client: &Client, command: KeyCommand, out: &Output) -> anyhow::Result<()> {
    match command {
        KeyCommand::Create(NewKeyArgs { kind, name, ttl_seconds }) => {
            let word = match &kind {
                NewKeyKind { user: Some(_), .. } => "user",
                NewKeyKind { guest: true, .. } => "guest",
                NewKeyKind { for_any_user: true, .. } => "service",
                NewKeyKind { .. } => "admin",
            };
            let body = json!({"kind": word, "user": kind.user, "name": name, "ttl_seconds": ttl_seconds});
            let answer = client.call(Method::POST, "/v1/keys", Some(body)).await?;
            out.show(&answer, |a| say!("{}", a.get("key").and_then(Value::as_str).unwrap_or("")));
            Ok(())
        }
        KeyCommand::List => {
            let answer = client.call(Method::GET, "/v1/keys", None).await?;
            out.show(&answer, |answer| {
                for key in rows(answer, "keys") {
                    let text = |name| key.get(name).and_then(Value::as_str).unwrap_or("");
                    let name = Some(text("name")).filter(|name| !name.is_empty()).map(|name| format!("({name})"));
                    let row = [text("id").to_owned(), format!("{:<7}", text("kind")), text("user").to_owned()];
                    let row: Vec<String> = row.into_iter().chain(name).filter(|cell| !cell.is_empty()).collect();
                    say!("{}", row.join("  ").trim_end());
                }
            });
            Ok(())
        }
        KeyCommand::Revoke { id } => {
            let answer = client.call(Method::DELETE, &format!("/v1/keys/{}", encode_segment(&id)), None).await?;
            out.show(&answer, |_| say!("revoked"));
            Ok(())
        }
        KeyCommand::Open { yes } => open_store(client, yes, out).await,
    }
}

async fn open_store(client: &Client, yes: bool, out: &Output) -> anyhow::Result<()> {
    const MEANING: &str = "every program and user of this machine that can reach the server becomes its admin";
    if !yes && !confirmed(&format!("{MEANING}; open it? [y/N] "))? {
        bail!("it was not opened");
    }
    let answer = client.call(Method::POST, "/v1/keys:open", None).await?;
    out.show(&answer, |answer| match answer.get("was_closed") == Some(&Value::Bool(true)) {
        true => say!("open: {MEANING}, until the next key is made"),
        false => say!("it was open already"),
    });
    Ok(())
}

pub(super) fn thread_path(user: &str, thread: &str) -> String {
    format!("/v1/users/{}/threads/{}", encode_segment(user), encode_segment(thread))
}

pub(super) fn rows<'v>(answer: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    answer.get(name).and_then(Value::as_array).into_iter().flatten()
}
