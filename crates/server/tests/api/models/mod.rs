//! The client of models, against servers on real sockets: scripted ones, and a real model.

mod llm;
mod retry;
mod served;
mod stream;
mod window;

use std::time::Duration;

use novelo_conversation::model::{Ask, Completion, Failure, Job, Model, Models};
use novelo_conversation::settings::Settings;
use serde_json::{Map, Value, json};

use crate::support::models::Models as Scripted;

/// Opens the models that an environment asks for.
fn open(env: &[(&str, &str)]) -> Models {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("novelo.toml");
    std::fs::write(&file, "").unwrap();
    let find = |name: &str| env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    Models::open(&Settings::gather(Some(&file), find, &[]).unwrap()).unwrap()
}

/// Opens the models of a scripted server, with further settings.
fn of(server: &Scripted, more: &[(&str, &str)]) -> Models {
    open(&[&server.settings(), more].concat())
}

fn answerer(models: &Models) -> &Model {
    models.get(Job::Answer).unwrap()
}

fn ask(text: &str) -> Ask {
    let messages = json!([{"role": "user", "content": text, "id": "m1"}]).to_string();
    Ask { messages: messages.into(), options: Map::new() }
}

/// What a handler does must be fit to move between threads, so this is asked of it here too.
fn run<T>(work: impl Future<Output = T> + Send) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(Duration::from_secs(120), work).await.unwrap() })
}

/// The text that came, and how it ended.
async fn read(model: &Model) -> (String, Result<Completion, Failure>) {
    let mut whole = Completion::default();
    let mut deltas = match model.stream(&ask("hi")).await {
        Ok(deltas) => deltas,
        Err(failure) => return (String::new(), Err(failure)),
    };
    while let Some(delta) = deltas.next().await {
        match delta {
            Ok(delta) => whole.add(delta),
            Err(failure) => {
                assert!(deltas.next().await.is_none(), "nothing follows a failure");
                return (whole.text, Err(failure));
            }
        }
    }
    (whole.text.clone(), Ok(whole))
}

fn metric(models: &Models, name: &str) -> f64 {
    let page = models.metrics();
    let line = page.lines().find_map(|line| line.strip_prefix(&format!("novelo_model_{name} ")));
    line.unwrap_or_else(|| panic!("no {name} in {page}")).parse().unwrap()
}

fn error(message: &str) -> Value {
    json!({"error": {"message": message}})
}
