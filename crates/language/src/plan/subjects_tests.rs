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
    check("VINO11, hglg11 e VINO11; XPTO99", &["VINO11", "HGLG11"]);
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
}

#[test]
fn an_unknown_code_is_a_stranger_unless_its_letters_are_a_word() {
    let strangers = |text: &str| ontology().read(text, &known()).strangers();
    for (text, expect) in [
        ("ABCD12", "ABCD12"),
        ("sharpe do petr4?", "petr4"),
        ("VINO-12", "VINO-12"),
        ("preço do vino 12", "vino 12"),
        ("HGLG111", "HGLG111"),
    ] {
        check(text, &[]);
        assert_eq!(strangers(text), [expect], "{text}");
    }
    for (text, subjects) in [("maio25", &[][..]), ("vino 12 meses", &["VINO11"]), ("casa11 e casa12", &["CASA11"])] {
        check(text, subjects);
        assert_eq!(strangers(text), [""; 0], "{text}");
    }
    let ontology = ontology();
    assert_eq!(ontology.read("ABCD12 e petr4", &Subjects::default()).subjects, ["ABCD12"], "where none are listed");
    assert_eq!((known().near("HGLG13"), known().near("VINO1")), (None, Some("VINO11")), "of two, neither");
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
fn codes_of_any_form_are_known_ones() {
    let known = Subjects::new(["AB-7/1", "X 90", "00123"].map(|code| (code.to_owned(), None)).to_vec());
    for (text, expect) in
        [("e o ab-7/1?", "AB-7/1"), ("preço do ab71", "AB-7/1"), ("x90", "X 90"), ("o 00123", "00123")]
    {
        assert_eq!(ontology().read(text, &known).subjects, [expect], "{text}");
    }
    assert_eq!(ontology().read("x 90", &known).subjects, [""; 0], "a letter alone is no beginning");
}

#[test]
fn another_name_is_read_by_its_words_and_the_longest_first() {
    check("o Patria Logistica pagou?", &["HGLG11"]);
    check("vinci shopping centers hoje", &["VISC11"]);
    check("VINCI SHOPPING hoje", &["VINC11"]);
    check("vinci hoje, shopping amanhã", &[]);
    check("e o da Pátria?", &["HGLG11"]);
    check("o Patra Logística pagou?", &["HGLG11"]);
    check("o Patra pagou?", &[]);
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
