//! `novelo doctor`: what is wrong, and what to do about it.

use std::process::ExitCode;

use hyper::Method;
use serde_json::{Value, json};

use super::Output;
use super::client::Client;
use super::output::in_words;
use novelo_conversation::settings::Settings;

/// Checks the store through the running server, or by opening it. A store that does not open is the first
/// finding.
pub async fn run(settings: Settings, out: &Output) -> anyhow::Result<ExitCode> {
    let data = &settings.data;
    let (is_here, place) = match settings.is_shared() {
        true => (true, "redis.url".to_owned()),
        false => (data.exists(), data.display().to_string()),
    };
    let answer = match is_here {
        false => finding(&place, "there is no such directory", "name it with --data"),
        true => match Client::connect_to_read(settings).await {
            Ok(client) => {
                let answer = client.call(Method::GET, "/v1/doctor", None).await;
                client.close().await?;
                answer?
            }
            Err(error) => {
                let said = in_words(&error);
                let (what, hint) = said.split_once("\nhint: ").unwrap_or((&said, advice(&error)));
                finding(&place, without_place(what, &place), hint)
            }
        },
    };
    let healthy = answer.get("healthy") == Some(&Value::Bool(true));
    out.show(&answer, |answer| {
        show_rows(answer, "findings", "");
        show_rows(answer, "notes", "note: ");
        for (job, model) in answer.get("models").and_then(Value::as_object).into_iter().flatten() {
            if let Some(line) = line(model) {
                say!("models.{job}: {line}");
            }
        }
        if let Some((store, index)) = text(answer, "store").zip(text(answer, "index")) {
            say!("store: {store}, index: {index}");
        }
        if healthy {
            say!("healthy");
        }
    });
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn show_rows(answer: &Value, kind: &str, mark: &str) {
    for row in answer.get(kind).and_then(Value::as_array).into_iter().flatten() {
        let [place, what, advice] = ["place", "what", "advice"].map(|name| text(row, name).unwrap_or_default());
        say!("{mark}{place}: {what}\nhint: {advice}");
    }
}

fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}

/// A model in a line; nothing for a job without one.
fn line(model: &Value) -> Option<String> {
    let server = model.get("server")?.as_str()?;
    let name = model.get("model").and_then(Value::as_str).unwrap_or("(its model is not known yet)");
    let window = match model.get("window_tokens").and_then(Value::as_u64) {
        Some(tokens) => format!("a window of {tokens} tokens"),
        None => "a window it does not tell".to_owned(),
    };
    Some(format!("{name} at {server}, {window}"))
}

fn finding(place: &str, what: &str, advice: &str) -> Value {
    json!({"healthy": false, "findings": [{"place": place, "what": what, "advice": advice}]})
}

/// What is wrong, where the place stands before it already.
fn without_place<'w>(what: &'w str, place: &str) -> &'w str {
    let rest = what.strip_prefix(place).and_then(|rest| rest.strip_prefix(": ").or(rest.strip_prefix(' ')));
    rest.unwrap_or(what)
}

fn advice(error: &anyhow::Error) -> &'static str {
    use std::io::ErrorKind;

    use novelo_store::Error as E;
    match error.downcast_ref::<E>() {
        Some(E::Damaged { .. }) => "keep the directory as it is and restore a backup into a new one",
        Some(E::Locked { .. }) => "end that process first; a server can be asked through its note, serving.json",
        Some(E::Io { source, .. }) => match source.kind() {
            ErrorKind::PermissionDenied => {
                "run this as the user who owns the directory, or let this user read and write it"
            }
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "name a directory with --data; this is a file",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some disk space; nothing was lost",
            ErrorKind::ReadOnlyFilesystem => "mount the file system for writing, or copy the directory elsewhere",
            _ => "check that the directory can be read and written by this user",
        },
        _ => "the message says what is missing",
    }
}
