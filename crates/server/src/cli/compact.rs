//! `novelo thread compact`, `spans`, `restore-span` and `pin`: old turns in short, and back again.

use hyper::Method;
use serde_json::{Value, json};

use super::Output;
use super::client::Client;
use super::commands::{number, rows, thread_path};
use novelo_engine::path::encode_segment;

#[derive(clap::Args)]
pub(super) struct CompactArgs {
    user: String,
    thread: String,
    /// Compact if the thread costs more tokens than this
    #[arg(long)]
    max_tokens: Option<u32>,
    /// The share of that which is left
    #[arg(long)]
    keep: Option<f64>,
    /// The newest messages that stay
    #[arg(long)]
    recent_turns: Option<u32>,
    /// Tokens of the text of one span, at most
    #[arg(long)]
    max_text_tokens: Option<u32>,
    /// What makes the texts: extract or model
    #[arg(long)]
    by: Option<String>,
    /// approx, o200k_base or cl100k_base
    #[arg(long)]
    tokenizer: Option<String>,
    /// Undo a compaction instead, by its id
    #[arg(long, conflicts_with_all = ["max_tokens", "keep", "recent_turns", "max_text_tokens", "by", "tokenizer"])]
    undo: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct SpanArgs {
    user: String,
    thread: String,
    /// The id of a span; without it all are listed
    span: Option<String>,
    /// Show it word for word in prompts again
    #[arg(long, requires = "span")]
    restore: bool,
}

pub(super) async fn compact(client: &Client, args: CompactArgs, out: &Output) -> anyhow::Result<()> {
    let base = format!("{}/compactions", thread_path(&args.user, &args.thread));
    if let Some(id) = &args.undo {
        let answer = client.call(Method::DELETE, &format!("{base}/{}", encode_segment(id)), None).await?;
        out.show(&answer, |_| say!("{id} is undone"));
        return Ok(());
    }
    let mut body = json!({
        "max_tokens": args.max_tokens, "keep": args.keep, "recent_turns": args.recent_turns, "by": args.by,
        "max_text_tokens": args.max_text_tokens, "tokenizer": args.tokenizer,
    });
    if let Some(members) = body.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    let answer = client.call(Method::POST, &base, Some(body)).await?;
    out.show(&answer, |answer| {
        let (tokens, max_tokens) = (number(answer, "tokens"), number(answer, "max_tokens"));
        let compaction = answer.get("compaction").filter(|it| !it.is_null());
        let Some(compaction) = compaction else {
            say!("nothing to compact: {tokens} tokens, and {max_tokens} are allowed");
            return;
        };
        let before = number(compaction, "tokens_before");
        say!("{}: {before} tokens became {tokens}", text(compaction, "id"));
        rows(compaction, "spans").for_each(show_span);
    });
    Ok(())
}

pub(super) async fn spans(client: &Client, args: SpanArgs, out: &Output) -> anyhow::Result<()> {
    let base = thread_path(&args.user, &args.thread);
    let Some(id) = &args.span else {
        let answer = client.call(Method::GET, &format!("{base}/compactions?limit=1000"), None).await?;
        out.show(&answer, |answer| {
            rows(answer, "compactions").flat_map(|it| rows(it, "spans")).for_each(show_span);
        });
        return Ok(());
    };
    let path = format!("{base}/spans/{}", encode_segment(id));
    let answer = match args.restore {
        true => client.call(Method::POST, &format!("{path}/restore"), None).await?,
        false => client.call(Method::GET, &path, None).await?,
    };
    out.show(&answer, |answer| {
        for turn in rows(answer, "messages") {
            let message = turn.get("message").unwrap_or(&Value::Null);
            let content = message.get("content").unwrap_or(&Value::Null);
            let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
            say!("{:>6} {:<10} {content}", number(turn, "seq"), text(message, "role"));
        }
    });
    Ok(())
}

fn show_span(span: &Value) {
    let (first, last, by) = (number(span, "first_seq"), number(span, "last_seq"), text(span, "by"));
    let state = if span.get("restored_at").is_some() { ", restored" } else { "" };
    let (id, turns, tokens) = (text(span, "id"), number(span, "turns"), number(span, "tokens"));
    say!("{id}  turns {first} to {last} ({turns} messages, {tokens} tokens), by {by}{state}");
    text(span, "text").lines().for_each(|line| say!("    {line}"));
}

fn text<'v>(value: &'v Value, of: &str) -> &'v str {
    value.get(of).and_then(Value::as_str).unwrap_or("")
}
