//! Every way in which a model's directory may be wrong: an error that names the file, never a panic.

use std::path::Path;

use serde_json::{Value, json};

use super::tiny::{HIDDEN, Tiny, VOCAB, framed, replace, safetensors};
use super::{Fault, Model, ModelError};

const FILES: [&str; 6] = [
    "config.json",
    "tokenizer.json",
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "model.safetensors",
];
const WEIGHTS: &str = "model.safetensors";

fn refused(dir: &Path, file: &str) -> Fault {
    let ModelError { file: named, fault } = Model::open(dir).expect_err(file);
    assert_eq!(named, dir.join(file), "{fault}");
    fault
}

/// What is said about a tiny model after a change, of the file that was changed.
fn changed(file: &str, change: impl FnOnce(&mut Tiny)) -> Fault {
    let mut tiny = Tiny::new();
    change(&mut tiny);
    refused(tiny.write().path(), file)
}

fn check_unsupported(file: &str, what: &str, change: impl FnOnce(&mut Tiny)) {
    let fault = changed(file, change);
    assert!(matches!(&fault, Fault::Unsupported { what: named, .. } if *named == what), "{what}: {fault:?}");
}

#[test]
fn a_missing_file_is_named() {
    for file in ["config.json", "1_Pooling/config.json", WEIGHTS] {
        let dir = Tiny::new().write();
        std::fs::remove_file(dir.path().join(file)).unwrap();
        assert!(matches!(refused(dir.path(), file), Fault::Unreadable(_)));
    }
    let dir = Tiny::new().write();
    std::fs::remove_file(dir.path().join("tokenizer.json")).unwrap();
    assert!(matches!(refused(dir.path(), "vocab.txt"), Fault::Unreadable(_)));
    replace(dir.path(), "vocab.txt", VOCAB.join("\n").as_bytes());
    assert!(matches!(refused(dir.path(), "tokenizer_config.json"), Fault::Unreadable(_)));
    assert!(matches!(refused(&dir.path().join("absent"), "config.json"), Fault::Unreadable(_)));
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for file in FILES {
        let dir = Tiny::new().write();
        let bytes = std::fs::read(dir.path().join(file)).unwrap();
        for end in (0..bytes.len()).step_by(bytes.len() / 97 + 1) {
            replace(dir.path(), file, &bytes[..end]);
            let fault = refused(dir.path(), file);
            assert!(file == WEIGHTS || matches!(fault, Fault::Json(_)), "{file} at {end}: {fault:?}");
        }
    }
}

#[test]
fn a_file_of_something_else_is_refused() {
    for file in FILES {
        let dir = Tiny::new().write();
        for bytes in [&b"\xff\xfe\0\0\0\0\0\0"[..], b"[[]]", b"null", b"{}{}", &[b'['; 200_000]] {
            replace(dir.path(), file, bytes);
            refused(dir.path(), file);
        }
    }
}

#[test]
fn a_small_file_may_not_be_large() {
    let dir = Tiny::new().write();
    let file = std::fs::File::create(dir.path().join("tokenizer.json")).unwrap();
    file.set_len(32 << 20).unwrap();
    assert!(matches!(refused(dir.path(), "tokenizer.json"), Fault::Json(_)));
    file.set_len((32 << 20) + 1).unwrap();
    assert!(matches!(refused(dir.path(), "tokenizer.json"), Fault::TooLarge { .. }));
}

#[test]
fn other_encoders_are_refused() {
    let cases = [
        ("model_type", "model_type", json!("distilbert")),
        ("hidden_act", "hidden_act", json!("relu")),
        ("position_embedding_type", "position_embedding_type", json!("relative_key")),
        ("hidden_size", "hidden_size", json!(12)),
        ("hidden_size", "hidden_size", json!(0)),
        ("num_attention_heads", "num_attention_heads", json!(3)),
        ("num_attention_heads", "num_attention_heads", json!(0)),
        ("layer_norm_eps", "layer_norm_eps", json!(0.0)),
        ("num_hidden_layers", "a size", json!(0)),
        ("intermediate_size", "a size", json!(0)),
    ];
    for (key, what, value) in cases {
        check_unsupported("config.json", what, |tiny| tiny.config[key] = value);
    }
    check_unsupported("sentence_bert_config.json", "the longest input in tokens", |tiny| {
        tiny.input["max_seq_length"] = json!(1);
    });
    assert!(matches!(changed("config.json", |tiny| tiny.config["hidden_size"] = json!(-8)), Fault::Json(_)));
}

#[test]
fn other_modules_and_poolings_are_refused() {
    check_unsupported("modules.json", "a module", |tiny| {
        tiny.modules[2]["type"] = json!("sentence_transformers.models.Dense");
    });
    for path in ["../1_Pooling", "/1_Pooling", "a/../../b"] {
        check_unsupported("modules.json", "the path of a module", |tiny| tiny.modules[1]["path"] = json!(path));
    }
    let file = "1_Pooling/config.json";
    check_unsupported(file, "the pooling", |tiny| tiny.pooling["pooling_mode_max_tokens"] = json!(true));
    check_unsupported(file, "the pooling", |tiny| tiny.pooling["pooling_mode_cls_token"] = json!(true));
    check_unsupported(file, "the pooling", |tiny| tiny.pooling = json!({"pooling_mode_lasttoken": true}));
    check_unsupported(file, "word_embedding_dimension", |tiny| {
        tiny.pooling["word_embedding_dimension"] = json!(HIDDEN + 1);
    });
}

#[test]
fn other_tokenizers_are_refused() {
    let file = "tokenizer.json";
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 8] = [
        ("the tokenizer", |file| file["model"] = json!({"type": "Unigram", "unk_id": 0, "vocab": [["a", -1.5]]})),
        ("the tokenizer", |file| file["model"] = json!({"vocab": {"a": 0}, "merges": []})),
        ("the normalizer", |file| file["normalizer"] = json!({"type": "Lowercase"})),
        ("the normalizer", |file| file["normalizer"] = json!(null)),
        ("the pre_tokenizer", |file| file["pre_tokenizer"] = json!({"type": "Whitespace"})),
        ("the post_processor", |file| file["post_processor"]["single"] = json!([])),
        ("an added token", |file| file["added_tokens"][4]["normalized"] = json!(true)),
        ("an added token", |file| file["added_tokens"][4]["content"] = json!("")),
    ];
    for (what, change) in cases {
        check_unsupported(file, what, |tiny| change(&mut tiny.tokenizer));
    }
}

#[test]
fn a_vocabulary_needs_its_tokens_and_only_numbers_of_the_model() {
    for token in ["[CLS]", "[SEP]", "[UNK]"] {
        let fault = changed("tokenizer.json", |tiny| {
            tiny.tokenizer["added_tokens"] = json!([]);
            tiny.tokenizer["model"]["vocab"].as_object_mut().unwrap().remove(token);
        });
        assert!(matches!(&fault, Fault::NoToken(named) if named == token), "{fault:?}");
    }
    for id in [VOCAB.len() as u64, u64::MAX] {
        let fault = changed("tokenizer.json", |tiny| tiny.tokenizer["model"]["vocab"]["a"] = json!(id));
        assert!(matches!(fault, Fault::TokenNumber { .. }), "{fault:?}");
        let fault = changed("tokenizer.json", |tiny| tiny.tokenizer["added_tokens"][0]["id"] = json!(id));
        assert!(matches!(fault, Fault::TokenNumber { .. }), "{fault:?}");
    }
}

#[test]
fn tensors_must_be_there_and_as_expected() {
    const NAME: &str = "encoder.layer.1.intermediate.dense.weight";
    let fault = changed(WEIGHTS, |tiny| tiny.tensors.retain(|tensor| tensor.name != NAME));
    assert!(matches!(&fault, Fault::NoTensor(name) if name == NAME), "{fault:?}");
    let fault = changed(WEIGHTS, |tiny| tiny.tensor(NAME).shape.reverse());
    assert!(matches!(&fault, Fault::Shape { tensor, .. } if tensor == NAME), "{fault:?}");
    let fault = changed(WEIGHTS, |tiny| tiny.tensor(NAME).dtype = "I32");
    assert!(matches!(&fault, Fault::Dtype { tensor, .. } if tensor == NAME), "{fault:?}");
    let fault = changed(WEIGHTS, |tiny| tiny.tensor(NAME).dtype = "F16");
    assert!(matches!(&fault, Fault::Offsets(name) if name == NAME), "{fault:?}");
    for wrong in [f32::NAN, f32::INFINITY] {
        let fault = changed(WEIGHTS, |tiny| tiny.tensor(NAME).bytes[8..12].copy_from_slice(&wrong.to_le_bytes()));
        assert!(matches!(&fault, Fault::NotFinite(name) if name == NAME), "{fault:?}");
    }
    let fault = changed(WEIGHTS, |tiny| tiny.config["num_hidden_layers"] = json!(u64::MAX));
    assert!(matches!(fault, Fault::NoTensor(_)), "{fault:?}");
    let fault = changed(WEIGHTS, |tiny| tiny.config["vocab_size"] = json!(u64::MAX));
    assert!(matches!(fault, Fault::Shape { .. }), "{fault:?}");
}

#[test]
fn a_header_that_lies_about_sizes_allocates_nothing() {
    let dir = Tiny::new().write();
    for header_bytes in [0u64, 1, 4 << 20, u64::MAX / 2, u64::MAX] {
        replace(dir.path(), WEIGHTS, &[&header_bytes.to_le_bytes()[..], b"{}"].concat());
        let fault = refused(dir.path(), WEIGHTS);
        assert!(header_bytes < 2 || matches!(fault, Fault::Header { .. }), "{header_bytes}: {fault:?}");
    }
    const NAME: &str = "embeddings.word_embeddings.weight";
    let offsets = [json!([0, u64::MAX]), json!([u64::MAX, 0]), json!([4, 8]), json!([8, 0]), json!([0, 4])];
    for data_offsets in offsets {
        let header = json!({NAME: {"dtype": "F32", "shape": [VOCAB.len(), HIDDEN], "data_offsets": data_offsets}});
        replace(dir.path(), WEIGHTS, &framed(&header, &[0; 8]));
        assert!(matches!(refused(dir.path(), WEIGHTS), Fault::Offsets(_)));
    }
    let shared = json!({"dtype": "F32", "shape": [1], "data_offsets": [0, 4]});
    replace(dir.path(), WEIGHTS, &framed(&json!({"a": shared, "b": shared}), &[0; 4]));
    assert!(matches!(refused(dir.path(), WEIGHTS), Fault::Offsets(_)));
}

#[test]
fn any_byte_of_a_header_may_be_wrong() {
    let dir = Tiny::new().write();
    let bytes = safetensors(&Tiny::new().tensors);
    let header_end = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    for at in (0..header_end).step_by(3) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        replace(dir.path(), WEIGHTS, &bytes);
        if let Err(error) = Model::open(dir.path()) {
            assert_eq!(error.file, dir.path().join(WEIGHTS), "{error}");
        }
    }
}
