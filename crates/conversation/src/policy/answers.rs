//! What is said in place of a model, and how much a model may say: `answers.yaml`.

use novelo_engine::decode::{DecodeError, Fields};
use serde_json::Value;

const ROOT: &str = "answers";
const TEXT_CHARS_MAX: usize = 4000;
const MAX_TOKENS_MAX: u32 = 100_000;
const PAIRS_MAX: u32 = 200;

type Decoded<T> = Result<T, DecodeError>;

/// The fixed texts of guided conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// Said where no model answered in time.
    pub timeout: String,
    /// Said where no model is set, by openness.
    pub no_model: [String; 3],
    max_tokens_fast: u32,
    max_tokens: [u32; 3],
    /// The heading above memories in a prompt.
    pub memories_heading: String,
    /// In place of memories, where there are none.
    pub memories_none: String,
    /// Questions with their answers that a model sees, and those that it sees where it answers quickly.
    pub history_pairs: u32,
    /// How many exchanges a quick answer sees.
    pub fast_pairs: u32,
}

impl Answers {
    /// Reads the texts from a policy file.
    pub fn decode(value: &Value) -> Decoded<Self> {
        let mut fields = Fields::from_value(ROOT, value)?;
        let timeout = text(&mut fields, "timeout")?;
        let mut no_model = below(&mut fields, "no_model")?;
        let mut max_tokens = below(&mut fields, "max_tokens")?;
        let mut memories = below(&mut fields, "memories")?;
        let answers = Self {
            timeout,
            no_model: [text(&mut no_model, "1")?, text(&mut no_model, "2")?, text(&mut no_model, "3")?],
            max_tokens_fast: tokens(&mut max_tokens, "fast")?,
            max_tokens: [tokens(&mut max_tokens, "1")?, tokens(&mut max_tokens, "2")?, tokens(&mut max_tokens, "3")?],
            memories_heading: text(&mut memories, "heading")?,
            memories_none: text(&mut memories, "none")?,
            history_pairs: number(&mut fields, "history_pairs", PAIRS_MAX)?,
            fast_pairs: number(&mut fields, "fast_pairs", PAIRS_MAX)?,
        };
        [no_model, max_tokens, memories, fields].into_iter().try_for_each(Fields::finish)?;
        Ok(answers)
    }

    /// What an answer may cost at most.
    pub(crate) fn max_tokens(&self, fast: bool, openness: u8) -> u32 {
        if fast { self.max_tokens_fast } else { *of(&self.max_tokens, openness) }
    }

    /// The answer if no model is configured.
    pub fn no_model(&self, openness: u8) -> &str {
        of::<String>(&self.no_model, openness)
    }
}

fn of<T>([first, second, third]: &[T; 3], openness: u8) -> &T {
    match openness {
        ..=1 => first,
        2 => second,
        3.. => third,
    }
}

fn missing(fields: &Fields<'_>, name: &str) -> DecodeError {
    DecodeError::new(fields.path(name), "is missing")
}

fn below<'v>(fields: &mut Fields<'v>, name: &'static str) -> Decoded<Fields<'v>> {
    let value = fields.value(name).ok_or_else(|| missing(fields, name))?;
    Fields::from_value(fields.path(name), value)
}

fn text(fields: &mut Fields<'_>, name: &'static str) -> Decoded<String> {
    let text = fields.string(name)?.ok_or_else(|| missing(fields, name))?.trim();
    match !text.is_empty() && text.chars().count() <= TEXT_CHARS_MAX {
        true => Ok(text.to_owned()),
        false => {
            Err(DecodeError::new(fields.path(name), format!("must be a text of 1 to {TEXT_CHARS_MAX} characters")))
        }
    }
}

fn tokens(fields: &mut Fields<'_>, name: &'static str) -> Decoded<u32> {
    number(fields, name, MAX_TOKENS_MAX)
}

fn number(fields: &mut Fields<'_>, name: &'static str, most: u32) -> Decoded<u32> {
    fields.number(name, 1, most)?.ok_or_else(|| missing(fields, name))
}
