//! Prompts: the instructions for models, shipped inside the binary or from a file of that name.

use std::sync::Arc;

use crate::files::WatchedFile;

/// An instruction for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prompt {
    /// Makes a question stand alone.
    Rewrite,
    /// Sums up a thread.
    Summary,
    /// Puts rows into words.
    Narrate,
    /// Stands before what was recalled, in every prompt.
    Recalled,
}

impl Prompt {
    const ALL: [Self; 4] = [Self::Rewrite, Self::Summary, Self::Narrate, Self::Recalled];

    /// The name of its file.
    fn name(self) -> &'static str {
        match self {
            Self::Rewrite => "rewrite",
            Self::Summary => "summary",
            Self::Narrate => "narrate",
            Self::Recalled => "recalled",
        }
    }

    /// The text that is shipped.
    pub fn shipped(self) -> &'static str {
        match self {
            Self::Rewrite => include_str!("../../policies/prompts/rewrite.txt"),
            Self::Summary => include_str!("../../policies/prompts/summary.txt"),
            Self::Narrate => include_str!("../../policies/prompts/narrate.txt"),
            Self::Recalled => include_str!("../../policies/prompts/recalled.txt"),
        }
    }
}

const PROMPT_BYTES_MAX: usize = 64 * 1024;

/// The prompts of files, by which those shipped are overridden.
pub type Own = Vec<(Prompt, Arc<str>)>;

/// Those of the files; where one is broken, the one from before stays.
pub fn take(files: &[WatchedFile], before: &Own, broken: &mut Vec<String>) -> Own {
    let mut own = Own::new();
    for file in files {
        let known = || Prompt::ALL.map(Prompt::name).join(", ");
        let Some(prompt) = Prompt::ALL.into_iter().find(|prompt| prompt.name() == file.name()) else {
            broken.push(file.tell(format!("there is no such prompt; there are {}", known())));
            continue;
        };
        match file.load().and_then(|text| check(&text)) {
            Ok(text) => own.push((prompt, text)),
            Err(problem) => {
                broken.push(file.tell(problem));
                own.extend(before.iter().find(|(of, _)| *of == prompt).cloned());
            }
        }
    }
    own
}

fn check(text: &str) -> Result<Arc<str>, String> {
    match text.trim() {
        "" => Err("is empty".to_owned()),
        text if text.len() > PROMPT_BYTES_MAX => Err(format!("has more than {PROMPT_BYTES_MAX} bytes")),
        text => Ok(text.into()),
    }
}
