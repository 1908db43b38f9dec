//! Reads a tokeniser: `tokenizer.json`, or else `vocab.txt` with `tokenizer_config.json`.
//!
//! Refuses every other kind than BERT's own, step by step, because a vector of wrong tokens looks like any
//! other vector.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::Xxh3Default;

use super::config::Config;
use super::error::{Fault, ModelError};
use super::files;
use super::normal::Normal;
use super::wordpiece::WordPiece;

const FIRST: &str = "[CLS]";
const LAST: &str = "[SEP]";
const UNKNOWN: &str = "[UNK]";
const INSIDE_PREFIX: &str = "##";
const WORD_CHARS_MAX: usize = 100;

pub fn read(config: &Config, print: &mut Xxh3Default) -> Result<WordPiece, ModelError> {
    let path = config.root.join("tokenizer.json");
    match files::read_if_any(&path)? {
        Some(bytes) => {
            print.update(&bytes);
            let file: TokenizerFile<'_> = files::parse(&path, &bytes)?;
            file.word_piece(config).map_err(|fault| fault.of(&path))
        }
        None => read_vocab(config, print),
    }
}

#[derive(Deserialize)]
struct TokenizerFile<'b> {
    normalizer: Option<Normalizer>,
    pre_tokenizer: Option<Typed>,
    post_processor: Option<Typed>,
    #[serde(default)]
    added_tokens: Vec<Added>,
    #[serde(borrow)]
    model: ModelPart<'b>,
}

#[derive(Deserialize)]
struct Typed {
    r#type: String,
    /// The template of a `TemplateProcessing`.
    single: Option<Vec<serde_json::Value>>,
}

#[derive(Deserialize)]
struct Normalizer {
    r#type: String,
    #[serde(default = "yes")]
    clean_text: bool,
    #[serde(default = "yes")]
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    #[serde(default = "yes")]
    lowercase: bool,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize)]
struct Added {
    id: u64,
    content: String,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    normalized: bool,
}

#[derive(Deserialize)]
struct ModelPart<'b> {
    r#type: Option<String>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    /// Read only when the type is known: other kinds have another form of it.
    #[serde(borrow)]
    vocab: &'b RawValue,
}

impl TokenizerFile<'_> {
    fn word_piece(self, config: &Config) -> Result<WordPiece, Fault> {
        self.check()?;
        let normalizer = self.normalizer.as_ref();
        let normalizer = normalizer.ok_or_else(|| Fault::unsupported("the normalizer", "none", "BertNormalizer"))?;
        let normal = Normal {
            clean: normalizer.clean_text,
            part_ideographs: normalizer.handle_chinese_chars,
            strip_accents: normalizer.strip_accents.unwrap_or(normalizer.lowercase),
            lowercase: normalizer.lowercase,
            lowercase_first: config.lowercase,
        };
        let mut vocab: FxHashMap<Box<str>, u64> = serde_json::from_str(self.model.vocab.get())?;
        let mut named = Vec::new();
        for added in self.added_tokens {
            named.push((added.content.clone(), number(&added.content, added.id, config)?));
            vocab.entry(added.content.into()).or_insert(added.id);
        }
        let prefix = self.model.continuing_subword_prefix.as_deref().unwrap_or(INSIDE_PREFIX);
        let unknown = self.model.unk_token.as_deref().unwrap_or(UNKNOWN);
        let mut tokens = build(vocab, prefix, unknown, normal, config)?;
        tokens.named = named;
        tokens.word_chars_max = self.model.max_input_chars_per_word.unwrap_or(WORD_CHARS_MAX);
        Ok(tokens)
    }

    fn check(&self) -> Result<(), Fault> {
        match self.model.r#type.as_deref() {
            Some("WordPiece") => {}
            // Files from before the type was written have this setting in no other kind.
            None if self.model.max_input_chars_per_word.is_some() => {}
            other => return Err(Fault::unsupported("the tokenizer", other.unwrap_or("nameless"), "WordPiece")),
        }
        let kind = self.normalizer.as_ref().map_or("none", |normalizer| &normalizer.r#type);
        if kind != "BertNormalizer" {
            return Err(Fault::unsupported("the normalizer", kind, "BertNormalizer"));
        }
        let kind = self.pre_tokenizer.as_ref().map_or("none", |typed| &typed.r#type);
        if kind != "BertPreTokenizer" {
            return Err(Fault::unsupported("the pre_tokenizer", kind, "BertPreTokenizer"));
        }
        if self.post_processor.as_ref().is_some_and(|typed| !typed.frames()) {
            return Err(Fault::unsupported("the post_processor", "another", "[CLS] before and [SEP] after a text"));
        }
        let other =
            self.added_tokens.iter().find(|added| added.single_word || added.normalized || added.content.is_empty());
        match other {
            Some(added) => Err(Fault::unsupported("an added token", &added.content, "one found in the text as it is")),
            None => Ok(()),
        }
    }
}

impl Typed {
    /// Whether it puts the first token before a text and the last one after it.
    fn frames(&self) -> bool {
        let token = |part: &serde_json::Value, name| part.pointer("/SpecialToken/id").is_some_and(|id| id == name);
        match (self.r#type.as_str(), self.single.as_deref()) {
            ("BertProcessing", _) => true,
            ("TemplateProcessing", Some([first, text, last])) => {
                token(first, FIRST) && text.get("Sequence").is_some() && token(last, LAST)
            }
            _ => false,
        }
    }
}

/// The part of `tokenizer_config.json` that matters, with the defaults of `transformers`.
#[derive(Deserialize)]
struct TokenizerConfig {
    #[serde(default = "yes")]
    do_lower_case: bool,
    #[serde(default = "yes")]
    tokenize_chinese_chars: bool,
    strip_accents: Option<bool>,
}

/// A token a line, in the order of their numbers.
fn read_vocab(config: &Config, print: &mut Xxh3Default) -> Result<WordPiece, ModelError> {
    let path = config.root.join("vocab.txt");
    let text = files::read(&path)?;
    print.update(&text);
    let settings_path = config.root.join("tokenizer_config.json");
    let settings_bytes = files::read(&settings_path)?;
    print.update(&settings_bytes);
    let settings: TokenizerConfig = files::parse(&settings_path, &settings_bytes)?;
    let normal = Normal {
        clean: true,
        part_ideographs: settings.tokenize_chinese_chars,
        strip_accents: settings.strip_accents.unwrap_or(settings.do_lower_case),
        lowercase: settings.do_lower_case,
        lowercase_first: config.lowercase,
    };
    let tokens = || -> Result<WordPiece, Fault> {
        let text = str::from_utf8(&text).map_err(|_| Fault::unsupported("its text", "another", "UTF-8"))?;
        let vocab = text.lines().zip(0..).map(|(token, id)| (token.into(), id)).collect();
        let mut tokens = build(vocab, INSIDE_PREFIX, UNKNOWN, normal, config)?;
        for name in [FIRST, LAST, UNKNOWN, "[PAD]", "[MASK]"] {
            tokens.named.extend(tokens.starts.get(name).map(|id| (name.to_owned(), *id)));
        }
        Ok(tokens)
    };
    tokens().map_err(|fault| fault.of(Path::new(&path)))
}

fn build(
    vocab: FxHashMap<Box<str>, u64>,
    prefix: &str,
    unknown: &str,
    normal: Normal,
    config: &Config,
) -> Result<WordPiece, Fault> {
    let mut starts = FxHashMap::default();
    let mut insides = FxHashMap::default();
    let mut piece_bytes_max = 0;
    for (token, id) in vocab {
        let id = number(&token, id, config)?;
        piece_bytes_max = piece_bytes_max.max(token.len());
        if let Some(inside) = token.strip_prefix(prefix) {
            insides.insert(inside.into(), id);
        }
        starts.insert(token, id);
    }
    let required = |token: &str| starts.get(token).copied().ok_or_else(|| Fault::NoToken(token.to_owned()));
    Ok(WordPiece {
        unknown: required(unknown)?,
        first: required(FIRST)?,
        last: required(LAST)?,
        starts,
        insides,
        piece_bytes_max,
        word_chars_max: WORD_CHARS_MAX,
        named: Vec::new(),
        normal,
        tokens_max: config.tokens_max,
    })
}

/// The number of a token, if the model has an embedding for it.
fn number(token: &str, id: u64, config: &Config) -> Result<u32, Fault> {
    let known = u32::try_from(id).ok().filter(|id| (*id as usize) < config.vocab);
    known.ok_or_else(|| Fault::TokenNumber { token: token.to_owned(), id, vocab: config.vocab })
}
