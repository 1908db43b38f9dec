use serde_json::json;

use super::normal::Normal;
use super::tiny::{Tiny, VOCAB};

const NORMAL: Normal =
    Normal { clean: true, part_ideographs: true, strip_accents: true, lowercase: true, lowercase_first: false };

fn check_normal(normal: Normal, text: &str, expected: &str) {
    assert_eq!(normal.chars(text).collect::<String>(), expected, "{text:?}");
}

#[test]
fn each_step_of_normalisation_can_be_left_out() {
    let text = "É\u{200b}\t中x";
    check_normal(NORMAL, text, "e  中 x");
    check_normal(Normal { clean: false, ..NORMAL }, text, "e\u{200b}\t 中 x");
    check_normal(Normal { part_ideographs: false, ..NORMAL }, text, "e 中x");
    check_normal(Normal { strip_accents: false, ..NORMAL }, text, "é  中 x");
    check_normal(Normal { lowercase: false, ..NORMAL }, text, "E  中 x");
    check_normal(Normal { lowercase: false, lowercase_first: true, ..NORMAL }, text, "e  中 x");
}

#[test]
fn dirt_goes_and_all_space_is_the_same() {
    check_normal(NORMAL, "a\0b\u{fffd}c\u{7f}d\u{ad}e\u{feff}f\u{e000}g", "abcdefg");
    check_normal(NORMAL, "a\nb\rc\u{a0}d\u{3000}e\u{2028}f", "a b c d e f");
    check_normal(NORMAL, "İ ẞ Ǆ ﬁ", "i ß ǆ ﬁ");
    check_normal(NORMAL, "Ёлка й", "елка и");
}

/// The tokens of a text in the tiny vocabulary, without the first and the last, which are always there.
fn check(text: &str, expected: &[&str]) {
    check_in(&Tiny::new(), text, expected);
}

fn check_in(tiny: &Tiny, text: &str, expected: &[&str]) {
    let ids = tiny.open().unwrap().tokens.ids(text);
    let tokens: Vec<&str> = ids.iter().map(|id| VOCAB[*id as usize]).collect();
    assert_eq!(tokens.first(), Some(&"[CLS]"));
    assert_eq!(tokens.last(), Some(&"[SEP]"));
    assert_eq!(&tokens[1..tokens.len() - 1], expected, "{text:?}");
}

#[test]
fn words_are_cut_into_the_longest_pieces() {
    check("unaffable", &["un", "##aff", "##able"]);
    check("aas", &["a", "##a", "##s"]);
    check("Café", &["cafe"]);
}

#[test]
fn a_word_that_is_not_all_pieces_is_unknown_as_a_whole() {
    check("unaffx", &["[UNK]"]);
    check("aff able", &["[UNK]", "[UNK]"]);
    check("un aff", &["un", "[UNK]"]);
}

#[test]
fn punctuation_and_ideographs_are_words() {
    check("hello,world", &["hello", ",", "world"]);
    check("a中中a", &["a", "中", "中", "a"]);
    check("a—a", &["a", "[UNK]", "a"]);
}

#[test]
fn a_word_has_at_most_so_many_characters() {
    check(&"a".repeat(8), &["a", "##a", "##a", "##a", "##a", "##a", "##a", "##a"]);
    let mut tiny = Tiny::new();
    tiny.tokenizer["model"]["max_input_chars_per_word"] = json!(4);
    check_in(&tiny, "aaaa", &["a", "##a", "##a", "##a"]);
    check_in(&tiny, "aaaaa a", &["[UNK]", "a"]);
    check_in(&tiny, "ääää", &["a", "##a", "##a", "##a"]);
}

#[test]
fn a_text_may_name_tokens() {
    check("a[MASK]a [SEP]", &["a", "[MASK]", "a", "[SEP]"]);
    check("[mask] [", &["[UNK]", "[UNK]", "[UNK]", "[UNK]"]);
    let mut tiny = Tiny::new();
    tiny.tokenizer["added_tokens"] = json!([
        {"id": 5, "content": "<a"}, {"id": 6, "content": "<ab>"}, {"id": 10, "content": "é"},
    ]);
    check_in(&tiny, "<ab><aé", &["world", "hello", ","]);
}

#[test]
fn nothing_is_nothing() {
    for text in ["", " ", "\n\t", "\u{200b}", "\u{301}"] {
        check(text, &[]);
    }
}

#[test]
fn reading_stops_when_there_are_enough_tokens() {
    check(&"a ".repeat(8), &["a"; 8]);
    check(&"a ".repeat(9), &["a"; 8]);
    check(&"a".repeat(9), &["a", "##a", "##a", "##a", "##a", "##a", "##a", "##a"]);
    check(&"[MASK]".repeat(9), &["[MASK]"; 8]);
}

#[test]
fn so_much_of_a_text_is_read_and_no_more() {
    let at_the_end = |spaces: usize| format!("{}a", " ".repeat(spaces));
    check(&at_the_end(10 * 512 - 1), &["a"]);
    check(&at_the_end(10 * 512), &[]);
    check(&"é".repeat(10 << 20), &["[UNK]"]);
}

#[test]
fn a_vocabulary_without_the_name_of_its_kind_is_of_its_kind() {
    let mut tiny = Tiny::new();
    tiny.tokenizer["model"].as_object_mut().unwrap().remove("type");
    tiny.tokenizer["post_processor"] = json!({"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]});
    check_in(&tiny, "hello", &["hello"]);
}
