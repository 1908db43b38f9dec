use proptest::prelude::*;
use serde_json::json;

use super::*;

fn written(format: &str, value: &Value) -> String {
    let mut out = String::new();
    Format::parse(format).unwrap().write(value, &Writing::new(Language::Portuguese, None), &mut out);
    out
}

#[test]
fn other_locales_write_in_their_way() {
    let written = |language: Language, format: &str, value: Value| {
        let mut out = String::new();
        Format::parse(format).unwrap().write(&value, &Writing::new(language, None), &mut out);
        out
    };
    for (format, value, english, russian) in [
        ("number", json!(1234567.891), "1,234,567.89", "1\u{a0}234\u{a0}567,89"),
        ("percent:1", json!(12.34), "12.3%", "12,3\u{a0}%"),
        ("money", json!(-1234.5), "-$1,234.50", "-1\u{a0}234,50\u{a0}₽"),
        ("money_short", json!(2_500_000), "$2.5 m", "2,5 млн\u{a0}₽"),
        ("date", json!("2025-03-05"), "5 Mar 2025", "05.03.2025"),
        ("month", json!("2025-03"), "Mar 2025", "мар 2025"),
        ("yes_no", json!(1), "yes", "да"),
    ] {
        assert_eq!(written(Language::English, format, value.clone()), english);
        assert_eq!(written(Language::Russian, format, value), russian);
    }
    let mut out = String::new();
    Format::Money.write(&json!(5), &Writing::new(Language::English, Some("£")), &mut out);
    assert_eq!(out, "£5.00");
}

fn check(format: &str, cases: &[(Value, &str)]) {
    for (value, expected) in cases {
        assert_eq!(written(format, value), *expected, "{value} as {format}");
    }
}

#[test]
fn numbers() {
    let cases = [
        (json!(1234567.891), "1.234.567,89"),
        (json!(-1234.5), "-1.234,50"),
        (json!(-0.001), "0,00"),
        (json!(0.005), "0,01"),
        (json!(-0.005), "-0,01"),
        (json!(999), "999,00"),
        (json!(1000), "1.000,00"),
        (json!("1234.5"), "1.234,50"),
        (json!("n/d"), "n/d"),
        (json!(null), "—"),
    ];
    check("number", &cases);
    check("number:4", &[(json!(0.12345), "0,1235"), (json!(1), "1,0000")]);
    check("number:0", &[(json!(1234.5), "1.235")]);
    check("integer", &[(json!(1234567), "1.234.567"), (json!(-1.5), "-2"), (json!(null), "—")]);
    check("percent", &[(json!(12.5), "12,50%"), (json!(-0.3), "-0,30%"), (json!(null), "—"), (json!("x"), "x")]);
    check("percent:1", &[(json!(12.55), "12,6%"), (json!(1234.0), "1.234,0%")]);
}

#[test]
fn money() {
    let cases = [
        (json!(1234.56), "R$ 1.234,56"),
        (json!(-10), "-R$ 10,00"),
        (json!(-0.004), "R$ 0,00"),
        (json!(0.095), "R$ 0,10"),
        (json!("10.5"), "R$ 10,50"),
        (json!(null), "—"),
    ];
    check("money", &cases);
}

#[test]
fn short_money_takes_the_unit_that_it_has_after_rounding() {
    let cases = [
        (json!(0), "R$ 0,00"),
        (json!(950.5), "R$ 950,50"),
        (json!(999.99), "R$ 999,99"),
        (json!(999.995), "R$ 1,0 mil"),
        (json!(1000), "R$ 1,0 mil"),
        (json!(12_340), "R$ 12,3 mil"),
        (json!(999_949), "R$ 999,9 mil"),
        (json!(999_950), "R$ 1,0 mi"),
        (json!(1_250_000), "R$ 1,3 mi"),
        (json!(999_950_000), "R$ 1,0 bi"),
        (json!(1_234_567_890), "R$ 1,2 bi"),
        (json!(-1_234_567_890), "-R$ 1,2 bi"),
        (json!(1_234_567_890_123_u64), "R$ 1.234,6 bi"),
        (json!(null), "—"),
    ];
    check("money_short", &cases);
}

#[test]
fn days_and_months_are_those_that_there_are() {
    let cases = [
        (json!("2025-01-31"), "31/01/2025"),
        (json!("2024-02-29"), "29/02/2024"),
        (json!("2025-02-29"), "2025-02-29"),
        (json!("1900-02-29"), "1900-02-29"),
        (json!("2000-02-29"), "29/02/2000"),
        (json!("2025-04-31"), "2025-04-31"),
        (json!("2025-13-01"), "2025-13-01"),
        (json!("2025-00-10"), "2025-00-10"),
        (json!("2025-01-00"), "2025-01-00"),
        (json!("2025-1-2"), "2025-1-2"),
        (json!("2025-01-02T10:00"), "2025-01-02T10:00"),
        (json!("31/01/2025"), "31/01/2025"),
        (json!("2025-01"), "2025-01"),
        (json!("٢٠٢٥-٠١-٠١"), "٢٠٢٥-٠١-٠١"),
        (json!(20250131), "20250131"),
        (json!(null), "—"),
    ];
    check("date", &cases);
    let cases = [
        (json!("2025-01"), "jan/2025"),
        (json!("2025-12-31"), "dez/2025"),
        (json!("2025"), "2025"),
        (json!(null), "—"),
    ];
    check("month", &cases);
}

#[test]
fn texts_and_answers_of_yes_and_no() {
    check("yes_no", &[(json!(1), "sim"), (json!(0), "não"), (json!(true), "sim"), (json!("talvez"), "talvez")]);
    let cases = [
        (json!("a|b"), "a|b"),
        (json!(2025), "2025"),
        (json!(1234.5), "1234,5"),
        (json!(-0.25), "-0,25"),
        (json!(true), "true"),
        (json!(null), "—"),
    ];
    check("text", &cases);
}

#[test]
fn the_set_is_closed() {
    let error = |text: &str| Format::parse(text).unwrap_err();
    assert_eq!(error("mony"), "mony is no format; did you mean money?");
    assert_eq!(error("Money"), "Money is no format; did you mean money?");
    assert!(error("xyzzy-plugh").contains("there are text, integer, number"));
    assert_eq!(Format::parse("number:8"), Ok(Format::Number(8)));
    for text in ["number:9", "number:", "number:-1", "money:2", "text:1", "percent:x"] {
        assert!(error(text).contains("0 to 8 digits"), "{text}");
    }
    for name in NAMES {
        assert!(Format::parse(name).is_ok(), "{name}");
    }
}

proptest! {
    #[test]
    fn money_reads_back_as_the_same_cents(cents in -1_000_000_000_000_i64..1_000_000_000_000) {
        let text = written("money", &json!(cents as f64 / 100.0));
        let digits = text.replace("R$ ", "").replace(['.', ','], "");
        prop_assert_eq!(digits.parse::<i64>().unwrap(), cents, "{}", text);
    }

    #[test]
    fn any_value_has_a_text_in_any_format(name in 0..NAMES.len(), text in ".{0,40}", number in any::<f64>(), whole in any::<i64>()) {
        for value in [json!(text), json!(number), json!(whole), json!([text]), json!({"a": number})] {
            prop_assert!(value == json!("") || !written(NAMES[name], &value).is_empty());
        }
    }
}
