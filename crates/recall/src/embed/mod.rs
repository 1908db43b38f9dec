//! Embeddings: a sentence-transformers model that runs in this process, and vectors as they are kept.
//!
//! Owns the reading of a model's directory, its tokeniser, the forward pass of a BERT encoder, and the form
//! of a stored vector. Refuses every model it would not reproduce: other architectures, other tokenisers than
//! WordPiece, other pooling than mean or first token, damaged weights. Reads files only in [`Model::open`],
//! and has no network.
//!
//! Always holds: a model that opens gives, for any text, a vector of length 1 (of zeros, should its weights
//! overflow) that depends on that text alone; and two models whose vectors may differ have different prints.

mod bert;
mod config;
mod error;
mod files;
mod math;
mod normal;
mod product;
mod safetensors;
mod tokenizer;
mod vector;
mod wordpiece;

#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tiny;
#[cfg(test)]
mod wordpiece_tests;

use std::path::Path;

use xxhash_rust::xxh3::Xxh3Default;

pub use error::{Fault, ModelError};
pub(crate) use vector::unit;
pub use vector::{decode, encode, quantise};

use bert::Bert;
use config::Config;
use safetensors::Weights;
use wordpiece::WordPiece;

/// Changes whenever the same files would give other vectors than before.
const REVISION: &[u8] = b"novelo embed 1";

/// So many tokens pass through the encoder at once. More would not be faster, and each takes about 40 bytes
/// per dimension.
const BATCH_TOKENS_MAX: usize = 1024;

/// A sentence-transformers model that runs in this process.
#[derive(Debug)]
pub struct Model {
    pub dimensions: usize,
    /// Tells this model from any other.
    pub print: String,
    tokens: WordPiece,
    bert: Bert,
}

impl Model {
    /// Reads the model in a directory. Takes about as long as reading its bytes, and as much memory as its
    /// weights in `f32`.
    pub fn open(dir: &Path) -> Result<Self, ModelError> {
        let mut print = Xxh3Default::new();
        print.update(REVISION);
        let config = Config::read(dir, &mut print)?;
        let tokens = tokenizer::read(&config, &mut print)?;
        let mut weights = Weights::open(&config.root.join("model.safetensors"), print)?;
        let bert = Bert::read(&config, &mut weights)?;
        Ok(Self { dimensions: config.hidden, print: format!("{:016x}", weights.print()), tokens, bert })
    }

    /// The embeddings of texts, each of length 1. Takes as long as it takes: not for the request's thread.
    pub fn embed(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let mut embedded = Vec::with_capacity(texts.len());
        let mut batch: Vec<Vec<u32>> = Vec::new();
        let mut batch_tokens = 0;
        for text in texts {
            let ids = self.tokens.ids(text);
            if batch_tokens + ids.len() > BATCH_TOKENS_MAX && !batch.is_empty() {
                embedded.append(&mut self.bert.embed(&batch));
                batch.clear();
                batch_tokens = 0;
            }
            batch_tokens += ids.len();
            batch.push(ids);
        }
        embedded.append(&mut self.bert.embed(&batch));
        embedded
    }

    /// How many tokens a text has. None where these are more than [`Model::tokens_max`].
    pub fn count_tokens(&self, text: &str) -> Option<usize> {
        self.tokens.count(text)
    }

    /// How many tokens of a text the model reads.
    pub fn tokens_max(&self) -> usize {
        self.tokens.tokens_max
    }
}
