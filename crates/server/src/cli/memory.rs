//! `novelo index` and `novelo search`: what is remembered of a user.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use hyper::Method;
use novelo_engine::path::encode_segment;
use serde_json::{Value, json};

use super::client::Client;
use super::{Output, progress};
use novelo_conversation::caller::ANONYMOUS;

#[derive(clap::Args)]
pub struct IndexArgs {
    /// Files and directories: text, PDF, DOCX, XLSX, EPUB, HTML, CSV; a directory is read as git would,
    /// without what is ignored
    #[arg(required_unless_present = "rebuild")]
    paths: Vec<PathBuf>,
    /// Whose they become; without keys, the chat page answers from those of anonymous, whose they are without
    /// it
    #[arg(long)]
    user: Option<String>,
    /// What to call it, instead of the last part of its path
    #[arg(long)]
    name: Option<String>,
    /// Make the points in Qdrant anew from the documents: of all users, or of the one named. One that was
    /// broken off goes on
    #[arg(long, conflicts_with_all = ["paths", "name"])]
    rebuild: bool,
    /// Begin a rebuild of all users again, also where one was broken off
    #[arg(long, requires = "rebuild", conflicts_with = "user")]
    anew: bool,
}

#[derive(clap::Args)]
pub struct SearchArgs {
    user: String,
    query: String,
    /// Where to look
    #[arg(long = "in", value_enum, default_value_t = SearchTarget::Memories)]
    place: SearchTarget,
    /// How many hits at most
    #[arg(long, default_value_t = 10)]
    k: u64,
    /// Say why each was found, and what nearly was
    #[arg(long)]
    explain: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchTarget {
    Memories,
    Turns,
    Documents,
}

/// Indexes each path as a repository of its own. Fails in the end if nothing was taken from one of them.
pub async fn index(client: &Client, args: IndexArgs, out: &Output) -> anyhow::Result<()> {
    if args.rebuild {
        return rebuild(client, &args, out).await;
    }
    let user = args.user.as_deref().unwrap_or(ANONYMOUS);
    if args.name.is_some() && args.paths.len() > 1 {
        bail!("--name goes with one path, not with {}", args.paths.len());
    }
    let bar = progress::steps(args.paths.len() as u64);
    let mut empty = Vec::new();
    for path in &args.paths {
        bar.set_message(path.display().to_string());
        // The server may run in another directory, so the path is absolute.
        let whole = path.canonicalize().with_context(|| format!("cannot read {}", path.display()))?;
        let body = json!({"path": whole, "name": args.name});
        let address = format!("/v1/users/{}/documents", encode_segment(user));
        let answer = client.call(Method::POST, &address, Some(body)).await?;
        bar.inc(1);
        bar.suspend(|| out.show(&answer, |answer| show_indexed(answer, path)));
        if answer.get("files") == Some(&json!(0)) {
            empty.push(path.display().to_string());
        }
    }
    bar.finish_and_clear();
    match empty.is_empty() {
        true => Ok(()),
        false => bail!("nothing was indexed of {}", empty.join(", ")),
    }
}

fn show_indexed(answer: &Value, path: &Path) {
    say!("{}  {}", indexed(answer), path.display());
    let files = answer.pointer("/skipped/files").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for skipped in files {
        let text = |name: &str| skipped.get(name).and_then(Value::as_str).unwrap_or("");
        say!("  skipped {} {}", text("file"), text("why"));
    }
    let count = |(why, _): &(&str, &str)| count_of(answer, &format!("/skipped/{why}"));
    let all: u64 = SKIPPED.iter().map(count).sum();
    if all > files.len() as u64 && !files.is_empty() {
        say!("  and {} more", all - files.len() as u64);
    }
}

/// Asks for step after step until all users are done, and says whether the counts agree.
async fn rebuild(client: &Client, args: &IndexArgs, out: &Output) -> anyhow::Result<()> {
    let bar = progress::steps(0);
    let mut anew = args.anew;
    let answer = loop {
        let body = json!({"user": args.user, "anew": anew});
        let answer = client.call(Method::POST, "/v1/index/rebuild", Some(body)).await.context(GOES_ON)?;
        anew = false;
        let count = |name: &str| answer.get(name).and_then(Value::as_u64).unwrap_or(0);
        bar.set_length(count("users"));
        bar.set_position(count("done"));
        bar.set_message("users");
        if answer.get("finished") == Some(&Value::Bool(true)) {
            break answer;
        }
    };
    bar.finish_and_clear();
    let rows = || answer.get("collections").and_then(Value::as_array).into_iter().flatten();
    let differs = |row: &&Value| row.get("points") != row.get("passages");
    out.show(&answer, |_| {
        if rows().next().is_none() {
            say!("nothing to rebuild: index is local, and made anew at each start");
        }
        for row in rows() {
            let part = |name: &str| row.get(name).cloned().unwrap_or_default();
            say!("{}: {} points of {} passages", part("name").as_str().unwrap_or(""), part("points"), part("passages"));
        }
    });
    match rows().find(differs) {
        Some(row) => bail!(
            "the counts differ: {row}\nhint: what was written meanwhile is still on its way; `novelo doctor` counts again"
        ),
        None => Ok(()),
    }
}

const GOES_ON: &str = "the rebuild was broken off; the same command goes on with it";

/// Why files are skipped: as the API names it, and in words.
const SKIPPED: [(&str, &str); 5] = [
    ("binary", "binary"),
    ("large", "large"),
    ("unreadable", "unreadable"),
    ("not_prose", "not prose"),
    ("failed", "failed"),
];

fn count_of(answer: &Value, at: &str) -> u64 {
    answer.pointer(at).and_then(Value::as_u64).unwrap_or(0)
}

fn indexed(answer: &Value) -> String {
    let skipped = SKIPPED
        .map(|(why, words)| (count_of(answer, &format!("/skipped/{why}")), words))
        .into_iter()
        .filter(|(files, _)| *files > 0)
        .map(|(files, words)| format!("{files} {words}"));
    let skipped: Vec<String> = skipped.collect();
    let skipped = if skipped.is_empty() { String::new() } else { format!(", skipped {}", skipped.join(", ")) };
    format!("{} files, {} passages{skipped}", count_of(answer, "/files"), count_of(answer, "/passages"))
}

pub async fn search(client: &Client, args: SearchArgs, out: &Output) -> anyhow::Result<()> {
    let place = match args.place {
        SearchTarget::Memories => "memories",
        SearchTarget::Turns => "turns",
        SearchTarget::Documents => "documents",
    };
    let address = format!("/v1/users/{}/{place}/search", encode_segment(&args.user));
    let body = json!({"query": args.query, "k": args.k, "explain": args.explain});
    let answer = client.call(Method::POST, &address, Some(body)).await?;
    out.show(&answer, show);
    Ok(())
}

fn show(answer: &Value) {
    let rows = |name: &str| answer.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    rows("hits").iter().for_each(show_hit);
    if rows("hits").is_empty() {
        say!("nothing was found");
    }
    for near in rows("near") {
        say!("{}  nearly: {}", score(&near), line(&near));
    }
    rows("notes").iter().for_each(|note| say!("note: {}", note.as_str().unwrap_or_default()));
}

fn show_hit(hit: &Value) {
    let text = |name: &str| hit.get(name).and_then(Value::as_str);
    let number = |name: &str| hit.get(name).and_then(Value::as_u64);
    let place = match (text("thread"), text("name"), text("file"), text("level")) {
        (Some(thread), ..) => format!("{thread}#{} {}", number("seq").unwrap_or(0), text("role").unwrap_or("")),
        (_, Some(name), Some(file), _) => match (number("line"), number("page")) {
            (Some(line), _) => format!("{name}/{file}:{line}"),
            (None, Some(page)) => format!("{name}/{file}#page={page}"),
            (None, None) => format!("{name}/{file}"),
        },
        (_, Some(name), None, _) => name.to_owned(),
        (.., level) => level.unwrap_or("").to_owned(),
    };
    say!("{}  {place}  {}", score(hit), line(hit));
    if let Some(why) = hit.get("why") {
        say!("        {why}");
    }
}

fn score(hit: &Value) -> String {
    format!("{:>6.3}", hit.get("score").and_then(Value::as_f64).unwrap_or(0.0))
}

const LINE_CHARS: usize = 100;

/// What a hit says, in one line.
fn line(hit: &Value) -> String {
    let text = hit.get("text").and_then(Value::as_str).unwrap_or("");
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ");
    match joined.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", joined.get(..end).unwrap_or("")),
        None => joined,
    }
}
