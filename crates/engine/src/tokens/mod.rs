//! What text costs.
//!
//! Owns the one count of tokens. A message costs its compact JSON plus a fixed overhead: `approx` divides
//! UTF-16 code units by four, the exact tokenizers count real tokens of the same text. Counts are made once
//! per message and kept beside it; [`counted`] tells how many were made, so that a test can prove that warm
//! work makes none.

mod vocabulary;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use crate::decode::{DecodeError, Fields};
use vocabulary::Vocabulary;

/// Tokens that frame a message, beside its text.
pub(crate) const OVERHEAD_TOKENS: u32 = 8;

/// How tokens are counted.
///
/// ```
/// use novelo_engine::Tokenizer;
///
/// let text = "Frigatebirds sleep while they fly.";
/// assert_eq!(Tokenizer::Approx.count(text), 9);
/// assert_eq!(Tokenizer::O200kBase.count(text), 8);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tokenizer {
    /// An estimate: UTF-16 code units divided by four.
    #[default]
    Approx,
    /// Exact counts of `o200k_base`, which GPT-4o and later models use.
    O200kBase,
    /// Exact counts of `cl100k_base`, which GPT-4 and GPT-3.5 use.
    Cl100kBase,
}

impl Tokenizer {
    /// All tokenizers.
    pub const ALL: [Self; 3] = [Self::Approx, Self::O200kBase, Self::Cl100kBase];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approx => "approx",
            Self::O200kBase => "o200k_base",
            Self::Cl100kBase => "cl100k_base",
        }
    }

    /// The tokenizer of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Reads the field `tokenizer`.
    pub(crate) fn decode(fields: &mut Fields<'_>) -> Result<Option<Self>, DecodeError> {
        let Some(name) = fields.string("tokenizer")? else { return Ok(None) };
        let known = Self::ALL.map(Self::name).join(", ");
        let refuse = || DecodeError::new(fields.path("tokenizer"), format!("must be one of {known}"));
        Self::from_name(name).map(Some).ok_or_else(refuse)
    }

    /// Loads the vocabulary. The first count with an exact tokenizer does it too, and then takes longer.
    pub fn load(self) {
        self.vocabulary();
    }

    /// Whether its vocabulary is loaded.
    pub fn is_loaded(self) -> bool {
        match self {
            Self::Approx => true,
            Self::O200kBase => O200K.get().is_some(),
            Self::Cl100kBase => CL100K.get().is_some(),
        }
    }

    fn vocabulary(self) -> Option<&'static Vocabulary> {
        match self {
            Self::Approx => None,
            Self::O200kBase => Some(O200K.get_or_init(|| Vocabulary::load(&vocabulary::O200K))),
            Self::Cl100kBase => Some(CL100K.get_or_init(|| Vocabulary::load(&vocabulary::CL100K))),
        }
    }

    /// Tokens of a text.
    pub fn count(self, text: &str) -> u32 {
        COUNTED.fetch_add(1, Ordering::Relaxed);
        match self.vocabulary() {
            Some(vocabulary) => vocabulary.count(text),
            None => approx(crate::json::utf16_units(text)),
        }
    }
}

/// The estimate for a text of this many UTF-16 code units.
pub(crate) fn approx(units: u32) -> u32 {
    units.div_ceil(4)
}

/// The most UTF-16 code units that a message of this estimated cost can have.
pub(crate) fn units_max(tokens: u32) -> u32 {
    tokens.saturating_mul(4)
}

/// The sum of costs; one that is past counting is past every budget too.
pub fn total(costs: impl Iterator<Item = u32>) -> u32 {
    costs.fold(0, u32::saturating_add)
}

/// How many texts have been counted since the process began.
pub fn counted() -> u64 {
    COUNTED.load(Ordering::Relaxed)
}

static COUNTED: AtomicU64 = AtomicU64::new(0);

static O200K: OnceLock<Vocabulary> = OnceLock::new();
static CL100K: OnceLock<Vocabulary> = OnceLock::new();
