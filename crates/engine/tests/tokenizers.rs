//! Exact counts are those of the reference implementation, to the token.

use novelo_engine::Tokenizer;
use proptest::prelude::*;

fn check(text: &str) {
    let reference =
        [(Tokenizer::O200kBase, bpe_openai::o200k_base()), (Tokenizer::Cl100kBase, bpe_openai::cl100k_base())];
    for (ours, reference) in reference {
        assert_eq!(ours.count(text) as usize, reference.count(text), "{} of {text:?}", ours.name());
    }
}

#[test]
fn languages_spaces_and_punctuation_agree() {
    for text in [
        "",
        " ",
        "   \n\n  x",
        "The quick brown fox doesn't jump; it's 2026-11-15, 12345678 times.",
        "Não há amanhã: «quantos níveis ele tem?»",
        "Сколько у него уровней? Память, контекст.",
        "漢字とかな、한국어도 😀👩‍👩‍👧",
        "{\"role\":\"user\",\"content\":\"tab\\t and \\u00e9\"}",
        "trailing space \t ",
        "\u{a0}\u{2003}x\u{200b}y\r\n\r\n  z",
        "CamelCaseHTTPServer's WE'LL // path/to/file\n/",
    ] {
        check(text);
    }
}

#[test]
fn long_runs_agree() {
    for text in ["a".repeat(5_000), "ab".repeat(3_000), " ".repeat(3_000), "é".repeat(2_000), "\n".repeat(999)] {
        check(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_agrees(text in "\\PC{0,80}") {
        check(&text);
    }

    #[test]
    fn text_of_words_and_space_agrees(text in "([a-zA-Zéñжщ]{0,9}|[0-9]{1,7}|[ \t\n\r]{1,5}|['.,/!-]{1,3}){0,30}") {
        check(&text);
    }
}
