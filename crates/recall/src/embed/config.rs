//! What a model's directory says about the model: `config.json`, `modules.json`, the pooling, the longest
//! input.
//!
//! Refuses whatever would change the vectors and is not done here, so that nothing is silently left out.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use xxhash_rust::xxh3::Xxh3Default;

use super::error::{Fault, ModelError};
use super::files;
use super::math::Activation;
use super::product::LANES;

#[derive(Debug)]
pub struct Config {
    /// Where the files of the encoder are.
    pub root: PathBuf,
    pub hidden: usize,
    pub layers: usize,
    pub heads: usize,
    pub intermediate: usize,
    pub positions: usize,
    pub token_types: usize,
    pub vocab: usize,
    pub activation: Activation,
    pub norm_epsilon: f32,
    pub pooling: Pooling,
    /// Of a text, with the first and the last token that every text gets.
    pub tokens_max: usize,
    /// Texts are in lower case before anything else happens to them.
    pub lowercase: bool,
}

/// How the vectors of the tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    Mean,
    First,
}

impl Config {
    pub fn read(dir: &Path, print: &mut Xxh3Default) -> Result<Self, ModelError> {
        let modules = Modules::read(dir)?;
        let root = dir.join(&modules.encoder);
        let path = root.join("config.json");
        let bytes = files::read(&path)?;
        print.update(&bytes);
        let ModelKind { model_type } = files::parse(&path, &bytes)?;
        if model_type != "bert" {
            return Err(Fault::unsupported("model_type", model_type, "bert").of(&path));
        }
        let encoder: Encoder = files::parse(&path, &bytes)?;
        let activation = encoder.check().map_err(|fault| fault.of(&path))?;
        let input = Input::read(&root)?;
        let pooling = match &modules.pooling {
            Some(pooling) => read_pooling(&dir.join(pooling).join("config.json"), encoder.hidden_size)?,
            None => Pooling::Mean,
        };
        let tokens_max = input.max_seq_length.unwrap_or(usize::MAX).min(encoder.max_position_embeddings);
        if tokens_max < 2 {
            let fault = Fault::unsupported("the longest input in tokens", tokens_max, "2 or more");
            return Err(fault.of(&root.join(INPUT_FILE)));
        }
        print.update(format!("{pooling:?} {tokens_max} {}", input.do_lower_case).as_bytes());
        Ok(Self {
            root,
            hidden: encoder.hidden_size,
            layers: encoder.num_hidden_layers,
            heads: encoder.num_attention_heads,
            intermediate: encoder.intermediate_size,
            positions: encoder.max_position_embeddings,
            token_types: encoder.type_vocab_size,
            vocab: encoder.vocab_size,
            activation,
            norm_epsilon: encoder.layer_norm_eps,
            pooling,
            tokens_max,
            lowercase: input.do_lower_case,
        })
    }
}

#[derive(Deserialize)]
struct ModelKind {
    model_type: String,
}

/// `config.json`, with the defaults of `transformers`.
#[derive(Deserialize)]
struct Encoder {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    vocab_size: usize,
    #[serde(default = "two")]
    type_vocab_size: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    position_embedding_type: Option<String>,
}

fn two() -> usize {
    2
}

fn gelu() -> String {
    "gelu".to_owned()
}

fn epsilon() -> f32 {
    1e-12
}

impl Encoder {
    /// Sizes are not capped here: the tensors must have them, and the tensors must be in the file.
    fn check(&self) -> Result<Activation, Fault> {
        let sizes = [self.intermediate_size, self.vocab_size, self.type_vocab_size, self.num_hidden_layers];
        if sizes.contains(&0) {
            return Err(Fault::unsupported("a size", 0, "1 or more"));
        }
        if self.hidden_size == 0 || !self.hidden_size.is_multiple_of(LANES) {
            return Err(Fault::unsupported("hidden_size", self.hidden_size, "a multiple of 8"));
        }
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err(Fault::unsupported(
                "num_attention_heads",
                self.num_attention_heads,
                "a divisor of hidden_size",
            ));
        }
        if !(self.layer_norm_eps > 0.0 && self.layer_norm_eps < 1.0) {
            return Err(Fault::unsupported("layer_norm_eps", self.layer_norm_eps, "between 0 and 1"));
        }
        match self.position_embedding_type.as_deref() {
            None | Some("absolute") => {}
            Some(other) => return Err(Fault::unsupported("position_embedding_type", other, "absolute")),
        }
        match self.hidden_act.as_str() {
            "gelu" => Ok(Activation::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
            other => Err(Fault::unsupported("hidden_act", other, "gelu or gelu_new")),
        }
    }
}

const INPUT_FILE: &str = "sentence_bert_config.json";

/// `sentence_bert_config.json`, which need not exist.
#[derive(Deserialize, Default)]
struct Input {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

impl Input {
    fn read(root: &Path) -> Result<Self, ModelError> {
        let path = root.join(INPUT_FILE);
        files::read_if_any(&path)?.map_or_else(|| Ok(Self::default()), |bytes| files::parse(&path, &bytes))
    }
}

/// Directories of the parts of a model, from `modules.json`.
struct Modules {
    encoder: String,
    pooling: Option<String>,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    r#type: String,
}

impl Modules {
    /// Without a `modules.json` it is an encoder alone, and is pooled as sentence-transformers would: by the
    /// mean.
    fn read(dir: &Path) -> Result<Self, ModelError> {
        let path = dir.join("modules.json");
        let mut parts = Self { encoder: String::new(), pooling: None };
        let Some(bytes) = files::read_if_any(&path)? else { return Ok(parts) };
        for module in files::parse::<Vec<Module>>(&path, &bytes)? {
            if !Path::new(&module.path).components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(Fault::unsupported("the path of a module", module.path, "inside the model").of(&path));
            }
            match module.r#type.rsplit('.').next() {
                Some("Transformer") => parts.encoder = module.path,
                Some("Pooling") => parts.pooling = Some(module.path),
                Some("Normalize") => {}
                _ => {
                    let supported = "Transformer, Pooling or Normalize";
                    return Err(Fault::unsupported("a module", module.r#type, supported).of(&path));
                }
            }
        }
        Ok(parts)
    }
}

/// A pooling's `config.json`: several modes may be on at once, of which one is done here.
#[derive(Deserialize)]
struct PoolingModes {
    word_embedding_dimension: Option<usize>,
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_max_tokens: bool,
    #[serde(default)]
    pooling_mode_mean_sqrt_len_tokens: bool,
    #[serde(default)]
    pooling_mode_weightedmean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
}

fn read_pooling(path: &Path, hidden: usize) -> Result<Pooling, ModelError> {
    let bytes = files::read(path)?;
    let modes: PoolingModes = files::parse(path, &bytes)?;
    let unsupported = |what, found: String, supported| Err(Fault::unsupported(what, found, supported).of(path));
    if modes.word_embedding_dimension.is_some_and(|dimension| dimension != hidden) {
        let found = format!("{:?}", modes.word_embedding_dimension);
        return unsupported("word_embedding_dimension", found, "the hidden_size of the encoder");
    }
    let others = [
        modes.pooling_mode_max_tokens,
        modes.pooling_mode_mean_sqrt_len_tokens,
        modes.pooling_mode_weightedmean_tokens,
        modes.pooling_mode_lasttoken,
    ];
    match (modes.pooling_mode_mean_tokens, modes.pooling_mode_cls_token, others.contains(&true)) {
        (true, false, false) => Ok(Pooling::Mean),
        (false, true, false) => Ok(Pooling::First),
        _ => unsupported("the pooling", "another".to_owned(), "either of mean or of the first token"),
    }
}
