//! Which subjects a text names.

use proptest::prelude::*;
use serde_json::json;

use super::Subjects;
use crate::plan::Ontology;

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
    listed(known.map(|(code, name)| (code.to_owned(), name.map(str::to_owned).into_iter().collect())).to_vec())
}

fn listed(known: Vec<(String, Vec<String>)>) -> Subjects {
    let ontology = ontology();
    let mut subjects = Subjects::default();
    subjects.add(0, &ontology.kinds()[0], known, ontology.language());
    subjects
}

#[track_caller]
fn check(text: &str, expect: &[&str]) {
    assert_eq!(ontology().read(text, &known()).subjects(0), expect, "{text}");
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
    check("vino, 11", &["VINO11"]);
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
    assert_eq!(ontology.read("ABCD12 e petr4", &Subjects::default()).subjects(0), ["ABCD12"], "where none are listed");
    assert_eq!(
        (known().near("HGLG13").len(), known().near("VINO1")),
        (0, vec!["VINO11".to_owned()]),
        "of two, neither"
    );
}

#[test]
fn bare_letters_are_known_ones_and_no_ordinary_word() {
    check("como está o vino hoje", &["VINO11"]);
    check("HGLG", &[]);
    assert_eq!(ontology().read("HGLG", &known()).unclear().count(), 1, "two codes begin so");
    check("XPTO", &[]);
    check("quero comprar uma casa para morar", &[]);
    check("o preço da CASA hoje", &["CASA11"]);
    check("QUANTO CUSTA UMA CASA PARA MORAR", &[]);
    check("preço PARA hoje", &[]);
    check("vinos e x_vino", &[]);
}

#[test]
fn codes_of_any_form_are_known_ones() {
    let known = listed(["AB-7/1", "X 90", "00123"].map(|code| (code.to_owned(), Vec::new())).to_vec());
    for (text, expect) in
        [("e o ab-7/1?", "AB-7/1"), ("preço do ab71", "AB-7/1"), ("x90", "X 90"), ("o 00123", "00123")]
    {
        assert_eq!(ontology().read(text, &known).subjects(0), [expect], "{text}");
    }
    assert_eq!(ontology().read("x 90", &known).subjects(0), [""; 0], "a letter alone is no beginning");
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

fn library() -> (Ontology, Subjects) {
    let value = json!({
        "locale": "en",
        "subject": [
            {"name": "book", "shape": "BB-999".replace('B', "A"), "called": ["book", "books", "title"]},
            {"name": "author", "called": ["author", "writer"]},
        ],
        "intents": {"loans": {"tokens": {"loans": 1, "history": 0.2}}, "age": {"tokens": {"old": 1}}},
    });
    let ontology = Ontology::decode(&value).unwrap();
    let mut known = Subjects::default();
    let books = [
        ("BK-001", "A Brief History of Time"),
        ("BK-002", "A Short History of Salt"),
        ("BK-003", "The Lord of the Rings"),
        ("BK-004", "Harbour Lights"),
    ];
    let books = books.map(|(code, name)| (code.to_owned(), vec![name.to_owned()])).to_vec();
    let authors = ["Ursula Marsh", "Tom Marsh", "Katharine Oyelaran"].map(|name| (name.to_owned(), Vec::new()));
    known.add(0, &ontology.kinds()[0], books, ontology.language());
    known.add(1, &ontology.kinds()[1], authors.to_vec(), ontology.language());
    (ontology, known)
}

#[test]
fn names_are_found_by_words_and_with_slips_and_stay_open_where_several_have_them() {
    let (ontology, known) = library();
    for (text, books, authors) in [
        ("loans of a brief history", &["BK-001"][..], &[][..]),
        ("loans of \"Lord of the Rings\"", &["BK-003"], &[]),
        ("loans of lord rings", &["BK-003"], &[]),
        ("loans of harbor lights", &["BK-004"], &[]),
        ("loans of Harbour Ligths", &["BK-004"], &[]),
        ("loans of bk 4", &[], &[]),
        ("how old is ursula?", &[], &["Ursula Marsh"]),
        ("how old is Katherine Oyelaran?", &[], &["Katharine Oyelaran"]),
        ("how old is oyelran", &[], &["Katharine Oyelaran"]),
        ("how old is Marsh", &[], &[]),
        ("loans of BK-005", &[], &[]),
        ("loans of BK-001 by Tom Marsh", &["BK-001"], &["Tom Marsh"]),
    ] {
        let question = ontology.read(text, &known);
        assert_eq!(
            (question.subjects(0), question.subjects(1)),
            (
                books.iter().map(|one| (*one).to_owned()).collect(),
                authors.iter().map(|one| (*one).to_owned()).collect(),
            ),
            "{text}"
        );
    }
    let unclear = ontology.read("how old is Marsh", &known);
    let offered: Vec<String> = unclear.unclear().flat_map(|(_, subjects)| known.offered(subjects)).collect();
    assert_eq!(offered, ["Ursula Marsh", "Tom Marsh"]);
    assert_eq!(ontology.read("loans of BK-005", &known).strangers(), ["BK-005"], "no other code is taken for it");
}

/// The authors that a question names, and whether it may mean several.
fn authors(locale: &str, known: &[&str], text: &str) -> (Vec<String>, bool) {
    let value = json!({
        "locale": locale,
        "subject": [{"name": "author"}],
        "intents": {"age": {"tokens": {"age": 1}}},
    });
    let ontology = Ontology::decode(&value).unwrap();
    let names = known.iter().map(|name| ((*name).to_owned(), Vec::new())).collect();
    let mut subjects = Subjects::default();
    subjects.add(0, &ontology.kinds()[0], names, ontology.language());
    let question = ontology.read(text, &subjects);
    (question.subjects(0), question.unclear().next().is_some())
}

#[test]
fn names_of_two_people_are_not_mixed() {
    let both = ["Ivan Petrov", "Anna Petrova"];
    for locale in ["en", "pt"] {
        for (known, text, expect) in [
            (&both[..], "age of petrov", &["Ivan Petrov"][..]),
            (&both, "age of petrova", &["Anna Petrova"]),
            (&both[..1], "age of Petrova", &[]),
            (&both[1..], "age of petrov", &[]),
            (&["Fernanda Lima"], "age of fernanda", &["Fernanda Lima"]),
        ] {
            assert_eq!(
                authors(locale, known, text),
                (expect.iter().map(|it| (*it).to_owned()).collect(), false),
                "{text}"
            );
        }
    }
    assert_eq!(authors("pt", &["Fernanda Lima"], "idade de fernando"), (Vec::new(), false));
    let both = ["Иван Петров", "Анна Петрова"];
    for (known, text, expect, is_unclear) in [
        (&both[..], "сколько лет Петровой", &["Анна Петрова"][..], false),
        (&both, "кто такой Петров", &["Иван Петров"], false),
        (&both, "книги Петрова", &[], true),
        (&both[..1], "книги Петрова", &["Иван Петров"], false),
        (&both[..1], "книги Петровой", &[], false),
        (&both[1..], "кто такой Петров", &[], false),
    ] {
        assert_eq!(
            authors("ru", known, text),
            (expect.iter().map(|it| (*it).to_owned()).collect(), is_unclear),
            "{text}"
        );
    }
}

#[test]
fn an_everyday_word_is_part_of_a_name_only_where_a_name_stands() {
    let (ontology, known) = library();
    for (text, expect) in [
        ("what is salt", &[][..]),
        ("which salt is best", &[]),
        ("do you sell salt", &[]),
        ("loans of salt", &["BK-002"]),
        ("and the salt?", &["BK-002"]),
        ("loans of the book Salt", &["BK-002"]),
        ("a short history of salt", &["BK-002"]),
    ] {
        let expect: Vec<String> = expect.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(ontology.read(text, &known).subjects(0), expect, "{text}");
    }
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
        for subject in question.subjects(0) {
            let bytes = subject.as_bytes();
            prop_assert!(bytes.len() == 6 && bytes[..4].iter().all(u8::is_ascii_uppercase) && bytes[4..].iter().all(u8::is_ascii_digit));
        }
        prop_assert!(question.named().iter().all(|named| named.end <= question.words().len()));
        prop_assert!(question.named().windows(2).all(|pair| pair[0].end <= pair[1].start));
    }
}
