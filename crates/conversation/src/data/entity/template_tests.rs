use super::*;

static SUBJECTS: std::sync::LazyLock<[String; 1]> = std::sync::LazyLock::new(|| ["tickers".to_owned()]);

fn names() -> Names<'static> {
    Names { subjects: &*SUBJECTS, columns: &["ticker", "total", "count"], is_of_row: true }
}

fn filled(text: &str, subjects: &str, window: &str) -> String {
    let mut out = String::from("> ");
    let template = Template::parse(text, names()).unwrap();
    template.write(&mut out, |slot, out| match slot {
        Slot::Subjects(_) => out.push_str(subjects),
        Slot::Window => out.push_str(window),
        Slot::Count => out.push('3'),
        Slot::Column { name, format } => out.push_str(&format!("<{name} {format:?}>")),
    });
    out.split_off(2)
}

#[test]
fn slots_are_columns_or_words() {
    assert_eq!(filled("{ticker}: { total | money }!", "", ""), "<ticker None>: <total Some(Money)>!");
    assert_eq!(filled("{tickers} {window}", "A e B", "em 2024"), "A e B em 2024");
    assert_eq!(filled("", "", ""), "");
    assert_eq!(filled("{{{ticker}}} }}{{", "", ""), "{<ticker None>} }{");
    // In a row its own column wins, in a title the word.
    assert_eq!(filled("{count}", "", ""), "<count None>");
    let title = Template::parse("{count}", Names { is_of_row: false, ..names() }).unwrap();
    assert_eq!(title.columns().count(), 0);
}

#[test]
fn the_blank_of_an_empty_value_closes_up() {
    for (text, expected) in [
        ("Dividendos de {tickers} {window}", "Dividendos de"),
        ("Não há {tickers} {window}.", "Não há."),
        ("a {window} b", "a b"),
        ("{window} b", "b"),
        ("a {window}, b", "a, b"),
        ("({window})", "()"),
        ("a {tickers}{window} b", "a b"),
        ("a-{window}-b", "a--b"),
        ("{window}", ""),
    ] {
        assert_eq!(filled(text, "", ""), expected, "{text}");
    }
    assert_eq!(filled("a {window} b", "", "x"), "a x b");
}

#[test]
fn values_are_not_read_again() {
    assert_eq!(filled("{tickers} {window}", "{window}", "{{x}}"), "{window} {{x}}");
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| Template::parse(text, names()).unwrap_err();
    assert_eq!(error("{tikers}"), "names {tikers}, which is not known; did you mean {tickers}?");
    let known = "{ticker}, {total}, {count}, {tickers}, {window}";
    assert_eq!(error("{something_else}"), format!("names {{something_else}}, which is not known; there are {known}"));
    assert_eq!(error("{total|mony}"), "names {total|mony}: mony is no format; did you mean money?");
    assert_eq!(error("{window|money}"), "gives {window} a format; only columns have one");
    for text in ["{total", "total}", "{", "a {b"] {
        assert!(error(text).contains("alone"), "{text}: {}", error(text));
    }
    assert!(Template::parse(&"é".repeat(TEMPLATE_BYTES_MAX / 2), names()).is_ok());
    assert!(error(&"x".repeat(TEMPLATE_BYTES_MAX + 1)).contains("TEMPLATE_BYTES_MAX"));
}
