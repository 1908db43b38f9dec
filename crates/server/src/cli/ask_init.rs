//! `novelo ask-init`: a starting catalogue for `/ask`, from the schema of a database.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use novelo_conversation::data::starter::{self, Starter, StarterLocale, StarterTable};
use novelo_conversation::settings::Settings;
use serde_json::{Value, json};

use super::Output;

#[derive(clap::Args)]
pub struct AskInitArgs {
    /// The SQLite file that questions are answered from
    file: PathBuf,
    /// Directory for the files; that of the setting `policies` without it
    #[arg(long)]
    to: Option<PathBuf>,
    /// Language of questions and answers: pt, en or ru; that of the names in the schema without it
    #[arg(long)]
    locale: Option<String>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

pub fn run(args: &AskInitArgs, settings: &Settings, out: &Output) -> anyhow::Result<ExitCode> {
    let locale = |code: &String| {
        StarterLocale::parse(code).ok_or_else(|| anyhow!("--locale must be pt, en or ru, and not {code}"))
    };
    let locale = args.locale.as_ref().map(locale).transpose()?;
    let dir = args.to.as_ref().unwrap_or(&settings.policies);
    let starter = starter::read(&args.file, locale)?;
    starter.check(&args.file)?;
    starter.write(dir, args.force)?;
    let database = std::path::absolute(&args.file).context("the path of the database cannot be made absolute")?;
    let written: Vec<String> = starter.files.iter().map(|(file, _)| dir.join(file).display().to_string()).collect();
    let told = tell(&starter, dir, &database, &written);
    out.show(&told, |_| show(&starter, dir, &database, &written));
    Ok(ExitCode::SUCCESS)
}

fn tell(starter: &Starter, dir: &Path, database: &Path, written: &[String]) -> Value {
    let table = |table: &StarterTable| {
        let StarterTable { name, entity, subjects, measures, date, words } = table;
        json!({"name": name, "entity": entity, "subjects": subjects, "measures": measures, "date": date, "words": words})
    };
    let left_out = starter.left_out.iter().map(|(name, why)| json!({"name": name, "why": why}));
    json!({
        "database": database.display().to_string(),
        "directory": dir.display().to_string(),
        "locale": starter.locale.code(),
        "tables": starter.tables.iter().map(table).collect::<Vec<_>>(),
        "left_out": left_out.collect::<Vec<_>>(),
        "files": written,
        "settings": {"ask.database": database.display().to_string(), "policies": dir.display().to_string()},
        "example": starter.example(),
    })
}

fn show(starter: &Starter, dir: &Path, database: &Path, written: &[String]) {
    for table in &starter.tables {
        let about = if table.subjects.is_empty() { "its rows".to_owned() } else { table.subjects.join(", ") };
        let measures = if table.measures.is_empty() { "none".to_owned() } else { table.measures.join(", ") };
        let date = table.date.as_ref().map(|date| format!("; by {date}")).unwrap_or_default();
        say!("{}: about {about}; numbers: {measures}{date}", table.name);
    }
    for (name, why) in &starter.left_out {
        say!("left out {name}: {why}");
    }
    for file in written {
        say!("wrote {file}");
    }
    say!("\nPut these lines into novelo.toml, start `novelo serve`, and ask:\n");
    say!("  policies = {}", Value::from(dir.display().to_string()));
    say!("  ask.database = {}", Value::from(database.display().to_string()));
    if let Some(example) = starter.example() {
        let question = json!({"question": example, "conversation_id": "c1", "nickname": "me", "client_id": "demo"});
        say!("\n  curl -s localhost:7420/ask -d '{}'", question.to_string().replace('\'', "'\\''"));
    }
    say!(
        "\nThen add the words that your people use: to `tokens` and `synonyms` in ontology.yaml, and to `asked_by` of"
    );
    say!("the columns in entities/. `novelo doctor` says what is wrong with a file.");
}
