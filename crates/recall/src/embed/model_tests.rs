//! A tiny model against numbers from elsewhere.
//!
//! The expected vectors come from a forward pass of forty lines of numpy in `f64`: the weights of `tiny.rs`
//! by their formula, attention as `softmax(QKᵀ/√4)V` over two heads, the activation by `math.erf` or `tanh`,
//! layer normalisation after each residual, and the mean (or the first row) divided by its length. It was
//! given numbers of tokens, not text.

use serde_json::json;

use super::tiny::{HIDDEN, POSITIONS, Tiny, VOCAB, replace};
use super::{BATCH_TOKENS_MAX, Model};

const EMPTY: [f32; HIDDEN] = [0.266304, -0.3178383, 0.1901221, -0.6861843, 0.4573855, 0.2055808, 0.1636098, 0.2069602];
/// Of tokens 2 5 10 6 3.
const HELLO: [f32; HIDDEN] = [0.1242124, -0.2598836, 0.0297912, -0.204009, 0.5284446, -0.2990106, 0.2719227, 0.6572074];
const HELLO_TANH: [f32; HIDDEN] =
    [0.1242103, -0.2598736, 0.0298028, -0.2040328, 0.5283884, -0.2990039, 0.2719519, 0.65724];
const HELLO_FIRST: [f32; HIDDEN] =
    [0.3185861, -0.6167849, 0.2166764, -0.1559272, 0.1916972, 0.3920758, -0.4994652, 0.0829491];
/// Of tokens 2 7 8 9 1 12 13 14 15 3.
const LONG: [f32; HIDDEN] = [0.2487727, -0.409681, 0.0915665, -0.1910654, 0.4409172, -0.2460713, 0.2382804, 0.6431537];

const HELLO_TEXT: &str = "Hello, WORLD";
const LONG_TEXT: &str = "unaffable nonsense aas café";

fn check(model: &Model, text: &str, expected: &[f32]) {
    let found = model.embed(&[text]).remove(0);
    let near = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6);
    assert!(near, "{text:?}: {found:?} is not {expected:?}");
}

#[test]
fn vectors_are_those_of_the_reference() {
    let model = Tiny::new().open().unwrap();
    assert_eq!(model.dimensions, HIDDEN);
    check(&model, "", &EMPTY);
    check(&model, HELLO_TEXT, &HELLO);
    check(&model, LONG_TEXT, &LONG);
}

#[test]
fn both_forms_of_gelu_and_of_pooling_are_those_of_the_reference() {
    let mut tiny = Tiny::new();
    tiny.config["hidden_act"] = json!("gelu_new");
    check(&tiny.open().unwrap(), HELLO_TEXT, &HELLO_TANH);
    let mut tiny = Tiny::new();
    tiny.pooling = json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    check(&tiny.open().unwrap(), HELLO_TEXT, &HELLO_FIRST);
}

#[test]
fn a_text_has_the_same_vector_in_any_company() {
    let model = Tiny::new().open().unwrap();
    let texts: Vec<String> =
        (0..BATCH_TOKENS_MAX).map(|i| [HELLO_TEXT, "", "a", LONG_TEXT][i % 4].repeat(i % 3)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed(&texts);
    assert_eq!(together.len(), texts.len());
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&model.embed(&[text])[0], vector, "{text:?}");
    }
    assert!(model.embed(&[]).is_empty());
}

#[test]
fn a_text_is_cut_at_the_longest_input() {
    let model = Tiny::new().open().unwrap();
    let words = |count: usize| model.embed(&[&"a ".repeat(count)]).remove(0);
    assert_ne!(words(7), words(8));
    assert_eq!(words(8), words(9));
    assert_eq!(words(8), words(5 << 20));
}

#[test]
fn the_longest_input_is_at_most_the_positions() {
    let mut tiny = Tiny::new();
    for input in [json!({"max_seq_length": 1000}), json!({"max_seq_length": null}), json!({})] {
        tiny.input = input;
        let model = tiny.open().unwrap();
        let words = |count: usize| model.embed(&[&"a ".repeat(count)]).remove(0);
        assert_ne!(words(POSITIONS - 3), words(POSITIONS - 2));
        assert_eq!(words(POSITIONS - 2), words(POSITIONS - 1));
    }
}

#[test]
fn half_precision_and_prefixed_names_are_read() {
    let half = |weight: f32| {
        let bits = weight.to_bits();
        let exponent = (bits >> 23 & 0xff) as i32 - 112;
        let sign = (bits >> 16) as u16 & 0x8000;
        if exponent <= 0 { sign } else { sign | (exponent as u16) << 10 | (bits >> 13) as u16 & 0x3ff }
    };
    check(&Tiny::new().halved("F16", half).open().unwrap(), HELLO_TEXT, &HELLO);
    check(&Tiny::new().halved("BF16", |weight| (weight.to_bits() >> 16) as u16).open().unwrap(), HELLO_TEXT, &HELLO);
    let mut tiny = Tiny::new();
    tiny.tensors.iter_mut().for_each(|tensor| tensor.name.insert_str(0, "bert."));
    check(&tiny.open().unwrap(), HELLO_TEXT, &HELLO);
}

#[test]
fn the_text_form_of_a_vocabulary_will_do() {
    let dir = Tiny::new().write();
    std::fs::remove_file(dir.path().join("tokenizer.json")).unwrap();
    replace(dir.path(), "vocab.txt", VOCAB.join("\n").as_bytes());
    replace(dir.path(), "tokenizer_config.json", b"{}");
    let model = Model::open(dir.path()).unwrap();
    check(&model, HELLO_TEXT, &HELLO);
    check(&model, LONG_TEXT, &LONG);
    replace(dir.path(), "tokenizer_config.json", b"{\"do_lower_case\": false}");
    let cased = Model::open(dir.path()).unwrap();
    assert_ne!(cased.embed(&[HELLO_TEXT]), model.embed(&[HELLO_TEXT]));
    assert_ne!(cased.print, model.print);
}

#[test]
fn what_only_sentence_transformers_writes_may_be_absent() {
    let dir = Tiny::new().write();
    std::fs::remove_file(dir.path().join("modules.json")).unwrap();
    std::fs::remove_file(dir.path().join("sentence_bert_config.json")).unwrap();
    std::fs::remove_dir_all(dir.path().join("1_Pooling")).unwrap();
    check(&Model::open(dir.path()).unwrap(), HELLO_TEXT, &HELLO);
}

#[test]
fn an_encoder_may_stand_in_a_directory_of_its_own() {
    let mut tiny = Tiny::new();
    tiny.modules[0]["path"] = json!("0_Transformer");
    let dir = tiny.write();
    std::fs::create_dir(dir.path().join("0_Transformer")).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors", "sentence_bert_config.json"] {
        std::fs::rename(dir.path().join(file), dir.path().join("0_Transformer").join(file)).unwrap();
    }
    check(&Model::open(dir.path()).unwrap(), HELLO_TEXT, &HELLO);
}

#[test]
fn whatever_changes_vectors_changes_the_print() {
    let changes: [fn(&mut Tiny); 7] = [
        |_| {},
        |tiny| tiny.config["layer_norm_eps"] = json!(1e-6),
        |tiny| tiny.tokenizer["normalizer"]["lowercase"] = json!(false),
        |tiny| tiny.pooling = json!({"pooling_mode_cls_token": true}),
        |tiny| tiny.input = json!({"max_seq_length": 9}),
        |tiny| tiny.input = json!({"max_seq_length": 10, "do_lower_case": true}),
        |tiny| tiny.tensor("encoder.layer.1.output.LayerNorm.bias").bytes[1] ^= 1,
    ];
    let prints: Vec<String> = changes
        .iter()
        .map(|change| {
            let mut tiny = Tiny::new();
            change(&mut tiny);
            tiny.open().unwrap().print
        })
        .collect();
    let mut distinct = prints.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), prints.len(), "{prints:?}");
    assert_eq!(Tiny::new().open().unwrap().print, prints[0]);
}

#[test]
fn weights_that_overflow_give_no_numbers_that_are_none() {
    let mut tiny = Tiny::new();
    for tensor in &mut tiny.tensors {
        tensor.bytes.chunks_exact_mut(4).for_each(|bytes| bytes.copy_from_slice(&3e38f32.to_le_bytes()));
    }
    assert_eq!(tiny.open().unwrap().embed(&[HELLO_TEXT]), [vec![0.0; HIDDEN]]);
}
