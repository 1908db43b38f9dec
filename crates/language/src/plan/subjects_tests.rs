//! Which subjects a text names.

use proptest::prelude::*;
use serde_json::json;

use super::Ontology;
use super::text::Subjects;

fn ontology() -> Ontology {
    let value = json!({
        "subject": {"name": "ticker", "shape": "AAAA99"},
        "ordinary": ["casa", "maio"],
        "fillers": ["fundo", "imobiliario", "logistica"],
        "intents": {"price": {"tokens": {"preco": 1}}},
    });
    Ontology::decode(&value).unwrap()
}

fn known() -> Subjects {
    let known = [
        ("HGLG11", Some("Pátria Logística")),
        ("CASA11", Some("Casa")),
        ("VINO11", None),
        ("PARA11", Some("Fundo Imobiliário")),
        ("VINC11", Some("Vinci Shopping")),
        ("VISC11", Some("Vinci Shopping Centers")),
        ("HGLG12", None),
    ];
    Subjects::new(known.map(|(code, name)| (code.to_owned(), name.map(str::to_owned))).to_vec())
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(ontology().read(text, &known()).subjects, expect, "{text}");
}

#[test]
fn codes_are_read_in_any_case_and_between_any_signs() {
    for text in [
        "HGLG11",
        "preço do hglg11?",
        "(hglg11),",
        "\"HgLg11\"",
        "$HGLG11.",
        "#hglg11",
        "HGLG11.SA",
        "ＨＧＬＧ１１",
        "x/HGLG11",
    ] {
        check(text, &["HGLG11"]);
    }
    check("VINO11, hglg11 e VINO11; XPTO99", &["VINO11", "HGLG11", "XPTO99"]);
}

#[test]
fn a_code_is_a_whole_word() {
    for text in ["xHGLG11", "HGLG111", "HGLG11x", "my_hglg11", "hglg11_id", "HGLG1", "11HGLG"] {
        check(text, &[]);
    }
}

#[test]
fn a_code_in_two_pieces_must_be_known() {
    for text in ["HGLG-11", "hglg 11", "HGLG–11"] {
        check(text, &["HGLG11"]);
    }
    check("XPTO-99 e XPTO 99", &[]);
    check("hglg, 11", &["HGLG11"]);
    check("VINO-12", &["VINO11"]);
}

#[test]
fn an_unknown_code_is_one_unless_its_letters_are_a_word() {
    check("ABCD12", &["ABCD12"]);
    check("maio25", &[]);
    check("casa11 e casa12", &["CASA11"]);
}

#[test]
fn bare_letters_are_known_ones_and_no_ordinary_word() {
    check("como está o vino hoje", &["VINO11"]);
    check("HGLG", &["HGLG11"]);
    check("XPTO", &[]);
    check("quero comprar uma casa para morar", &[]);
    check("o preço da CASA hoje", &["CASA11"]);
    check("QUANTO CUSTA UMA CASA PARA MORAR", &[]);
    check("preço PARA hoje", &[]);
    check("vinos e x_vino", &[]);
}

#[test]
fn another_name_is_read_whole_and_the_longest_first() {
    check("o Patria Logistica pagou?", &["HGLG11"]);
    check("vinci shopping centers hoje", &["VISC11"]);
    check("VINCI SHOPPING hoje", &["VINC11"]);
    check("vinci hoje, shopping amanhã, pátria", &[]);
    check("qual fundo imobiliário rende?", &[]);
    check("em casa", &[]);
}

#[test]
fn what_looks_like_an_attack_is_only_text() {
    check("HGLG11'; DROP TABLE fiis; --", &["HGLG11"]);
    check("\0\u{202e}{{HGLG11}}<script>:ticker", &["HGLG11"]);
}

proptest! {
    #[test]
    fn a_subject_is_known_or_of_the_shape(text in "\\PC{0,60}|[A-Za-z0-9 _'-]{0,60}") {
        let question = ontology().read(&text, &known());
        for subject in &question.subjects {
            let bytes = subject.as_bytes();
            prop_assert!(bytes.len() == 6 && bytes[..4].iter().all(u8::is_ascii_uppercase) && bytes[4..].iter().all(u8::is_ascii_digit));
        }
        prop_assert!(question.named().iter().all(|named| named.end <= question.words().len()));
        prop_assert!(question.named().windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}
