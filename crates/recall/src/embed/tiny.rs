//! A model of a few hundred weights, in a temporary directory, for tests to open and to damage.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Model, ModelError};

pub(crate) const HIDDEN: usize = 8;
const LAYERS: usize = 2;
const WIDE: usize = 12;
pub(crate) const POSITIONS: usize = 12;
pub(crate) const VOCAB: [&str; 16] = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "hello", "world", "un", "##aff", "##able", ",", "中", "a", "##a",
    "##s", "cafe",
];

/// What a directory of a model holds, to be changed before it is written.
pub(crate) struct Tiny {
    pub config: Value,
    pub tokenizer: Value,
    pub modules: Value,
    pub pooling: Value,
    pub input: Value,
    pub tensors: Vec<TinyTensor>,
}

#[derive(Clone)]
pub(crate) struct TinyTensor {
    pub name: String,
    pub dtype: &'static str,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Tiny {
    pub fn new() -> Self {
        let vocab: Value = VOCAB.iter().zip(0..).map(|(token, id)| ((*token).to_owned(), json!(id))).collect();
        let added = |id: usize| json!({"id": id, "content": VOCAB[id], "special": true, "normalized": false});
        Self {
            config: json!({
                "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": 2,
                "intermediate_size": WIDE, "hidden_act": "gelu", "layer_norm_eps": 1e-5,
                "max_position_embeddings": POSITIONS, "vocab_size": VOCAB.len(), "type_vocab_size": 2,
            }),
            tokenizer: json!({
                "added_tokens": (0..5).map(added).collect::<Vec<_>>(),
                "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                    "strip_accents": null, "lowercase": true},
                "pre_tokenizer": {"type": "BertPreTokenizer"},
                "post_processor": {"type": "TemplateProcessing", "single": [
                    {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]},
                "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                    "max_input_chars_per_word": 10, "vocab": vocab},
            }),
            modules: json!([
                {"path": "", "type": "sentence_transformers.models.Transformer"},
                {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
                {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
            ]),
            pooling: json!({"word_embedding_dimension": HIDDEN, "pooling_mode_mean_tokens": true}),
            input: json!({"max_seq_length": 10, "do_lower_case": false}),
            tensors: tensors(),
        }
    }

    pub fn write(&self) -> TempDir {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("1_Pooling")).unwrap();
        let files = [
            ("config.json", &self.config),
            ("tokenizer.json", &self.tokenizer),
            ("modules.json", &self.modules),
            ("1_Pooling/config.json", &self.pooling),
            ("sentence_bert_config.json", &self.input),
        ];
        for (name, value) in files {
            std::fs::write(dir.path().join(name), value.to_string()).unwrap();
        }
        std::fs::write(dir.path().join("model.safetensors"), safetensors(&self.tensors)).unwrap();
        dir
    }

    pub fn open(&self) -> Result<Model, ModelError> {
        Model::open(self.write().path())
    }

    pub(crate) fn tensor(&mut self, name: &str) -> &mut TinyTensor {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap()
    }

    /// Weights in another type. All of them fit into any type that can be read.
    pub(crate) fn halved(mut self, dtype: &'static str, half: fn(f32) -> u16) -> Self {
        for tensor in &mut self.tensors {
            let weights = tensor.bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap()));
            tensor.bytes = weights.flat_map(|weight| half(weight).to_le_bytes()).collect();
            tensor.dtype = dtype;
        }
        self
    }
}

pub fn replace(dir: &Path, file: &str, bytes: &[u8]) {
    std::fs::write(dir.join(file), bytes).unwrap();
}

pub(crate) fn safetensors(tensors: &[TinyTensor]) -> Vec<u8> {
    let mut header = json!({"__metadata__": {"format": "pt"}});
    let mut data = Vec::new();
    for TinyTensor { name, dtype, shape, bytes } in tensors {
        let from = data.len();
        data.extend_from_slice(bytes);
        header[name] = json!({"dtype": dtype, "shape": shape, "data_offsets": [from, data.len()]});
    }
    framed(&header, &data)
}

pub(crate) fn framed(header: &Value, data: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn tensors() -> Vec<TinyTensor> {
    let mut tensors = Vec::new();
    let mut add = |name: String, shape: &[usize]| {
        let at = tensors.len();
        tensors.push(tensor(name, shape, at));
    };
    let layer_norm = |add: &mut dyn FnMut(String, &[usize]), name: &str| {
        add(format!("{name}.weight"), &[HIDDEN]);
        add(format!("{name}.bias"), &[HIDDEN]);
    };
    add("embeddings.word_embeddings.weight".into(), &[VOCAB.len(), HIDDEN]);
    add("embeddings.position_embeddings.weight".into(), &[POSITIONS, HIDDEN]);
    add("embeddings.token_type_embeddings.weight".into(), &[2, HIDDEN]);
    layer_norm(&mut add, "embeddings.LayerNorm");
    for layer in 0..LAYERS {
        let dense = [
            ("attention.self.query", [HIDDEN, HIDDEN]),
            ("attention.self.key", [HIDDEN, HIDDEN]),
            ("attention.self.value", [HIDDEN, HIDDEN]),
            ("attention.output.dense", [HIDDEN, HIDDEN]),
            ("intermediate.dense", [WIDE, HIDDEN]),
            ("output.dense", [HIDDEN, WIDE]),
        ];
        for (name, shape) in dense {
            add(format!("encoder.layer.{layer}.{name}.weight"), &shape);
            add(format!("encoder.layer.{layer}.{name}.bias"), &shape[..1]);
        }
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            layer_norm(&mut add, &format!("encoder.layer.{layer}.{name}"));
        }
    }
    tensors
}

/// Weight `i` of tensor `at` is `v = ((7i² + 37i + 101at + 11) mod 64 − 32) / 64`; a scale is `v + 1`, a bias
/// `v / 4`.
fn tensor(name: String, shape: &[usize], at: usize) -> TinyTensor {
    let weight = |i: usize| {
        let v = ((7 * i * i + 37 * i + 101 * at + 11) % 64) as f32 / 64.0 - 0.5;
        match name.as_str() {
            name if name.ends_with("LayerNorm.weight") => v + 1.0,
            name if name.ends_with("bias") => v / 4.0,
            _ => v,
        }
    };
    let bytes = (0..shape.iter().product()).flat_map(|i| weight(i).to_le_bytes()).collect();
    TinyTensor { name, dtype: "F32", shape: shape.to_vec(), bytes }
}
