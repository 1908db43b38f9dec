//! The body of `POST /v1/responses`, and what is refused in it.

use super::compact::{CompactionChoice, ContextManagement};
use novelo_engine::limits::INLINE_MESSAGES_MAX;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use novelo_conversation::error::{Code, Error, Result};

/// The members that are read here. Others are options of the model.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResponseRequest {
    pub model: Option<String>,
    #[serde(default)]
    pub input: Value,
    pub instructions: Option<String>,
    pub previous_response_id: Option<String>,
    pub conversation: Option<ConversationName>,
    pub store: Option<bool>,
    pub stream: Option<bool>,
    pub background: Option<bool>,
    pub metadata: Option<Map<String, Value>>,
    pub user: Option<String>,
    pub truncation: Option<String>,
    pub include: Option<Vec<String>>,
    pub max_output_tokens: Option<u64>,
    pub prompt: Option<Value>,
    pub context_management: Option<Vec<ContextManagement>>,
}

/// A conversation by its id, or in an object.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ConversationName {
    Id(String),
    Object { id: String },
}

impl ConversationName {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Id(id) | Self::Object { id } => id,
        }
    }
}

/// What a client may ask to be included: what of the conversation the model saw, and why.
const EXPLAIN: &str = "novelo.explain";
/// Thoughts are shown in clear: there is nothing to encrypt.
const INCLUDABLE: [&str; 2] = ["reasoning.encrypted_content", EXPLAIN];
const METADATA_MAX: usize = 16;
const METADATA_NAME_MAX: usize = 64;
const METADATA_VALUE_MAX: usize = 512;
/// OpenAI's smallest number of tokens of an answer.
const OUTPUT_TOKENS_MIN: u64 = 1;

impl ResponseRequest {
    /// Refuses what contradicts itself, or is not done here.
    pub(super) fn check(&self) -> Result<()> {
        if self.conversation.is_some() && self.previous_response_id.is_some() {
            let message = "previous_response_id and conversation exclude each other";
            let param = Some("previous_response_id".to_owned());
            return Err(Error { param, ..Error::new(Code::Contradiction, message) });
        }
        if self.is_background() && !self.is_stored() {
            return Err(Error::invalid(
                "background",
                "needs store: a response that is not stored cannot be read later",
            ));
        }
        if self.prompt.as_ref().is_some_and(|prompt| !prompt.is_null()) {
            return Err(Error::invalid("prompt", "is not supported: there are no prompt templates; use instructions"));
        }
        if !matches!(self.truncation.as_deref(), None | Some("auto" | "disabled")) {
            return Err(Error::invalid("truncation", "must be auto or disabled"));
        }
        if self.max_output_tokens.is_some_and(|tokens| tokens < OUTPUT_TOKENS_MIN) {
            return Err(Error::invalid("max_output_tokens", "must be at least 1"));
        }
        let unknown = |name: &&String| !INCLUDABLE.contains(&name.as_str());
        if let Some(name) = self.include.iter().flatten().find(unknown) {
            let known = INCLUDABLE.join(", ");
            return Err(Error::invalid("include", format_args!("has {name:?}; what there is to include: {known}")));
        }
        self.compaction()?;
        check_metadata(self.metadata.as_ref())
    }

    /// Whether and when the conversation is compacted.
    pub(super) fn compaction(&self) -> Result<Option<CompactionChoice>> {
        CompactionChoice::read(self.context_management.as_deref())
    }

    pub(super) fn is_stored(&self) -> bool {
        self.store != Some(false)
    }

    pub(super) fn is_background(&self) -> bool {
        self.background == Some(true)
    }

    pub(super) fn streams(&self) -> bool {
        self.stream == Some(true)
    }

    /// Whether the response is returned with its explanation.
    pub(super) fn explains(&self) -> bool {
        self.include.iter().flatten().any(|name| name == EXPLAIN)
    }

    pub(super) fn shortens(&self) -> bool {
        self.truncation.as_deref() == Some("auto")
    }

    /// The items of the input; a text is a message of the user.
    pub(super) fn items(&self) -> Result<Vec<Value>> {
        match &self.input {
            Value::Null => Ok(Vec::new()),
            Value::String(text) => Ok(vec![json!({"role": "user", "content": text})]),
            Value::Array(items) if items.len() > INLINE_MESSAGES_MAX => {
                let cap = format!("the cap INLINE_MESSAGES_MAX is {INLINE_MESSAGES_MAX}");
                Err(Error::invalid("input", format_args!("has {} items; {cap}", items.len())))
            }
            Value::Array(items) => Ok(items.clone()),
            _ => Err(Error::invalid("input", "must be a string or an array of items")),
        }
    }
}

/// Metadata are up to 16 short texts.
pub(super) fn check_metadata(metadata: Option<&Map<String, Value>>) -> Result<()> {
    let Some(metadata) = metadata else { return Ok(()) };
    if metadata.len() > METADATA_MAX {
        let problem = format!("has {} members; there may be {METADATA_MAX}", metadata.len());
        return Err(Error::invalid("metadata", problem));
    }
    for (name, value) in metadata {
        let at = format!("metadata.{name}");
        let Some(text) = value.as_str() else { return Err(Error::invalid(at, "must be a string")) };
        if name.chars().count() > METADATA_NAME_MAX {
            return Err(Error::invalid(at, format_args!("has a name of more than {METADATA_NAME_MAX} characters")));
        }
        if text.chars().count() > METADATA_VALUE_MAX {
            return Err(Error::invalid(at, format_args!("has more than {METADATA_VALUE_MAX} characters")));
        }
    }
    Ok(())
}
