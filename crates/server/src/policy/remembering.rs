//! What a conversation remembers: the policy of `context.yaml`.

use std::path::Path;
use std::sync::Arc;

use novelo_engine::policy::Policy;
use serde::Serialize;

use super::watch::File;
use crate::yaml::Yaml;

/// The policy in force, and how its file is.
#[derive(Debug, Clone, Default)]
pub struct Remembering {
    pub policy: Arc<Policy>,
    pub status: Status,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    #[default]
    Missing,
    Invalid,
}

/// That of the file; the defaults where there is none, and where it is broken the one from before.
pub fn take(dir: &Path, files: &[File], before: &Remembering, broken: &mut Vec<String>) -> Remembering {
    let Some(file) = files.first() else {
        let file = dir.join(FILE);
        // Whoever has no policies at all misses none.
        match dir.is_dir() {
            true => tracing::warn!(file = %file.display(), "there is no such policy, the defaults are in force"),
            false => tracing::info!(file = %file.display(), "there is no such policy, the defaults are in force"),
        }
        return Remembering::default();
    };
    match file.load().and_then(|text| read(&text)) {
        Ok(policy) => Remembering { policy: Arc::new(policy), status: Status::Ok },
        Err(problem) => {
            broken.push(file.tell(problem));
            Remembering { policy: before.policy.clone(), status: Status::Invalid }
        }
    }
}

pub const FILE: &str = "context.yaml";
const KEY: &str = "context";

fn read(text: &str) -> Result<Policy, String> {
    let yaml = Yaml::read(text).map_err(|problem| problem.to_string())?;
    yaml.under(KEY).and_then(|value| yaml.decode(KEY, value)).map_err(|problem| problem.to_string())
}
