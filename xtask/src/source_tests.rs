use super::*;

fn check_code(text: &str, expected: &str) {
    assert_eq!(Source::read("a.rs", text).code, expected);
}

fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let source = Source::read("a.rs", text);
    source.functions.into_iter().map(|f| (f.name, f.line, f.lines)).collect()
}

#[test]
fn literals_and_comments_are_blanked_and_lifetimes_are_code() {
    check_code("a // b\nc", "a     \nc");
    check_code("a /* b /* c */ d */ e", "a                   e");
    check_code(r#"f("x\"{", '{', '\'', b'{', 'a)"#, "f(      ,    ,     ,     , 'a)");
    check_code(r###"r#"}"}"#; r#type; br"}""###, "        ; r#type;      ");
    check_code("\"é\"x", "    x");
}

#[test]
fn comments_alone_keep_their_place() {
    let source = Source::read("a.rs", "a; // b\n\"// c\"");
    assert_eq!(source.comments, "   // b\n      ");
}

#[test]
fn functions_have_lengths_and_declarations_without_body_are_none() {
    let text =
        "trait T {\n    fn none(&self) -> [u8; 4];\n    fn one() {}\n}\nfn three(a: [u8; 2])\n{\n    \"}\";\n}\n";
    assert_eq!(functions(text), [("one".into(), 3, 1), ("three".into(), 5, 4)]);
}

#[test]
fn macros_and_function_types_hold_no_functions() {
    assert_eq!(functions("macro_rules! m { () => { fn inside() {} } }\ntype F = fn(u8);\nfn out() {}").len(), 1);
}

#[test]
fn test_items_end_where_the_item_ends() {
    let text =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod d_tests;\nfn e() {}\n";
    let source = Source::read("a.rs", text);
    let product: Vec<_> = text.lines().enumerate().filter(|(i, _)| !source.is_test(source.line_starts[*i])).collect();
    assert_eq!(product, [(0, "fn a() {}"), (5, "fn c() {}"), (8, "fn e() {}")]);
    assert_eq!(source.product_lines(), 3);
}

#[test]
fn files_of_tests_are_tests_throughout() {
    for path in ["crates/store/tests/soak.rs", "a/b_tests.rs", "a/tests.rs", "a/tests/support/mod.rs"] {
        assert!(Source::read(path, "fn a() {}").is_test(0), "{path}");
    }
    assert!(!Source::read("a/contests.rs", "fn a() {}").is_test(0));
}

#[test]
fn phrases_are_whole_words() {
    assert_eq!(phrases("FxHashMap HashMap HashMaps", "HashMap").collect::<Vec<_>>(), [10]);
    assert_eq!(phrases("std::fs::File std::fsx", "std::fs").collect::<Vec<_>>(), [0]);
}
