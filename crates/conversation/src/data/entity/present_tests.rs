use novelo_language::plan::Question;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::data::entity::{Entity, EntityLanguage};
use novelo_language::Language;

fn portuguese(subject: &str) -> EntityLanguage {
    EntityLanguage::new(Language::Portuguese, None, vec![format!("{subject}s")])
}

fn entity() -> Entity {
    let file = json!({
        "about": "a",
        "columns": {
            "ticker": {"label": "Fundo"},
            "day": {"label": "Data", "format": "date"},
            "close": {"label": "Fechamento", "format": "money", "asked_by": ["preço", "fechamento"]},
            "high": {"label": "Máxima|dia", "format": "money", "asked_by": ["máxima"]},
        },
        "queries": {
            "list": {"sql": "x", "table": {"title": "Preços de {tickers} {window} ({count}), até {day}"}},
            "bare": {"sql": "x", "table": {}},
            "items": {"sql": "x", "list": {"title": "São {count}:", "item": "{ticker}: {close} {window}"}},
            "pairs": {"sql": "x", "list": {}},
            "text": {"sql": "x", "text": {"item": "{ticker} fechou a {close|number:1} em {day}."}},
        },
        "empty": "Não há preços de {tickers} {window}.",
    });
    Entity::decode("prices", &portuguese("ticker"), &file).unwrap()
}

fn rows(cells: Value) -> Rows {
    let columns = ["ticker", "day", "close", "high"].map(str::to_owned).into();
    Rows { columns, rows: serde_json::from_value(cells).unwrap(), is_cut: false }
}

fn two() -> Rows {
    rows(json!([["AAAA11", "2025-01-02", 10.5, 11], ["BBBB11", "2025-01-03", null, 1234.5]]))
}

fn told(aggregation: &str, rows: &Rows, question: &str, subjects: &[&str], window: &str) -> String {
    let subjects = [subjects.iter().map(|s| (*s).to_owned()).collect()];
    let question = Question::new(question, Language::Portuguese, Vec::new());
    entity()
        .present(rows, &Spoken { aggregation, subjects: &subjects, window, question: &question, conditions: &[] })
        .into_text()
}

#[test]
fn a_table_has_its_title_above_it() {
    let text = told("list", &two(), "como estão?", &["AAAA11", "BBBB11", "CCCC11"], "em 2025");
    insta::assert_snapshot!(text, @r"
    Preços de AAAA11, BBBB11 e CCCC11 em 2025 (2), até 02/01/2025

    | Fundo | Data | Fechamento | Máxima\|dia |
    |---|---|---:|---:|
    | AAAA11 | 02/01/2025 | R$ 10,50 | R$ 11,00 |
    | BBBB11 | 03/01/2025 | — | R$ 1.234,50 |
    ");
    assert_eq!(told("unheard", &two(), "", &[], ""), told("list", &two(), "", &[], ""));
    assert!(told("bare", &two(), "", &[], "").starts_with("| Fundo"));
}

#[test]
fn a_question_that_mentions_columns_sees_them() {
    let heads = |question: &str| told("bare", &two(), question, &[], "").lines().next().unwrap().to_owned();
    assert_eq!(heads("qual a máxima?"), "| Fundo | Data | Máxima\\|dia |");
    assert_eq!(heads("qual o fechamento?"), "| Fundo | Data | Fechamento |");
    let both = "| Fundo | Data | Fechamento | Máxima\\|dia |";
    assert_eq!([heads("preços e máximas"), heads("como está?")], [both, both]);
    let text = told("pairs", &two(), "qual a máxima?", &[], "");
    assert_eq!(text.lines().next(), Some("- Fundo: AAAA11; Data: 02/01/2025; Máxima|dia: R$ 11,00"));
    // A column that this query does not answer focuses nothing.
    let narrow = Rows { columns: ["ticker", "close"].map(str::to_owned).into(), ..rows(json!([["AAAA11", 1]])) };
    let text = told("bare", &narrow, "qual a máxima?", &[], "");
    assert_eq!(text.lines().next(), Some("| Fundo | Fechamento |"));
}

#[test]
fn lists_and_sentences() {
    let text = told("items", &two(), "", &[], "");
    assert_eq!(text, "São 2:\n\n- AAAA11: R$ 10,50\n- BBBB11: —");
    assert_eq!(
        told("text", &two(), "", &[], ""),
        "AAAA11 fechou a 10,5 em 02/01/2025.\nBBBB11 fechou a — em 03/01/2025."
    );
}

#[test]
fn nothing_to_tell_is_said() {
    for blank in [json!([]), json!([[null, null, null, null]])] {
        for aggregation in ["list", "items", "text"] {
            let text = told(aggregation, &rows(blank.clone()), "", &["AAAA11"], "");
            assert_eq!(text, "Não há preços de AAAA11.");
        }
    }
}

#[test]
fn what_was_cut_is_said() {
    let cut = Rows { is_cut: true, ..two() };
    let text = told("text", &cut, "", &[], "");
    assert!(text.ends_with("\n\n(Há mais do que isto: são as primeiras 2 linhas.)"), "{text}");
}

#[test]
fn data_breaks_neither_table_nor_list_and_is_no_template() {
    let evil = "x|y\n| z\\| `c` {close} {{window}} <b> ![i](http://e)";
    let told = |aggregation| told(aggregation, &rows(json!([[evil, "a\nb", 1, 2]])), "", &[evil], "w");
    let table = told("list");
    assert_eq!(table.lines().count(), 5, "{table}");
    let cells = r"| x\|y \| z\\\| \`c\` {close} {{window}} \<b> !\[i](http://e) | a b | R$ 1,00 | R$ 2,00 |";
    assert_eq!(table.lines().last(), Some(cells));
    assert_eq!(told("items").lines().count(), 3);
    assert_eq!(told("text").lines().count(), 1);
    assert_eq!(told("pairs").lines().count(), 1);
}

fn any_cell() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        "[|\\\\`\n\r\t {}\u{2028}]{0,10}".prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn any_rows_are_told_and_stay_in_their_lines(
        cells in prop::collection::vec(prop::collection::vec(any_cell(), 0..6), 0..6),
        names in prop::collection::vec("[a-z]{1,6}|ticker|day|close|high", 0..6),
        subjects in prop::collection::vec("\\PC{0,8}", 0..3),
        aggregation in "list|bare|items|pairs|text|other",
        question in "\\PC{0,20}|máxima|preço",
    ) {
        let rows = Rows { columns: names.into(), rows: cells, is_cut: false };
        let question = Question::new(&question, Language::Portuguese, Vec::new());
        let subjects = [subjects];
        let spoken = Spoken { aggregation: &aggregation, subjects: &subjects, window: "", question: &question, conditions: &[] };
        let text = entity().present(&rows, &spoken).into_text();
        let above = match aggregation.as_str() {
            _ if rows.is_blank() => return Ok(()),
            "list" | "other" => 4,
            "bare" | "items" => 2,
            _ => 0,
        };
        let lines = text.split('\n').count();
        prop_assert_eq!(lines, above + rows.rows.len(), "{}", text);
    }
}
