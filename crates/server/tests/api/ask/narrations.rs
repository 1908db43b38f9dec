//! What a model makes of the rows is shown only if the rows say it too.

use crate::support::asking::{CONTEXT, SAMPLE, ask, home};
use crate::support::models::{Act, Models};
use crate::support::{Value, json};

/// A number as the sample's templates write it.
fn written(value: &Value, decimals: usize) -> String {
    format!("{:.decimals$}", value.as_f64().unwrap()).replace('.', ",")
}

#[test]
fn a_narration_of_the_rows_is_shown_and_one_of_other_rows_is_not() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    let plain_server = home(CONTEXT).serve_with(&[SAMPLE]);
    let question = "Compare o beta do HGLG11 com o do XPML11";
    let plain = ask(&plain_server, "demo", "c", question);
    let rows = plain["results"].as_array().unwrap();
    let [first, second] = rows.as_slice() else { panic!("two funds were asked about: {plain}") };
    let (a, b) = (written(&first["beta"], 2), written(&second["beta"], 2));
    assert_ne!(a, b, "the test needs two values");
    let (one, other) = (first["ticker"].as_str().unwrap(), second["ticker"].as_str().unwrap());
    for (n, (narration, is_right)) in [
        (format!("O beta do {one} é {a} e o do {other} é {b}."), true),
        (format!("{one}: {a}\n{other}: {b}"), true),
        (format!("Dos dois fundos, {one} tem beta de {a}."), true),
        (format!("O beta do {one} é {b} e o do {other} é {a}."), false),
        (format!("O beta do {one} é -{a}."), false),
        (format!("O beta do {one} é {a}%."), false),
        (format!("O beta do {one} é {a}, acima dos 3,14 do setor."), false),
        (format!("O beta do KNRI11 é {a}."), false),
        (format!("Os sete fundos têm beta de {a}."), false),
        (format!("O beta do {one} é {a}, segundo a Bloomberg."), false),
    ]
    .into_iter()
    .enumerate()
    {
        models.otherwise(Act::says(&[&narration]));
        let told = ask(&server, "demo", &format!("c{n}"), question);
        assert_eq!(told["results"], plain["results"], "{narration}");
        let narrator = &told["meta"]["narrator"];
        assert_eq!(narrator["used"], json!(is_right), "{narration}: {narrator}");
        let expected = if is_right { json!(narration) } else { plain["answer"].clone() };
        assert_eq!(told["answer"], expected, "{narration}");
        assert_eq!(narrator["reason"].is_string(), !is_right, "{narration}: {narrator}");
    }
}

#[test]
fn a_number_of_an_earlier_turn_is_not_shown_again() {
    let models = Models::start();
    let server = home(CONTEXT).serve_with(&models.settings_with_data());
    models.otherwise(Act::says(&["Veja os indicadores."]));
    let earlier = ask(&server, "demo", "c", "Qual o Sharpe do HGLG11?");
    let sharpe = written(&earlier["results"][0]["sharpe"], 2);
    models.otherwise(Act::says(&[&format!("O beta foi dito. Antes, o Sharpe era {sharpe}.")]));
    let later = ask(&server, "demo", "c", "Qual o preço do XPML11?");
    assert_eq!(later["meta"]["narrator"]["used"], json!(false), "{later}");
    assert!(!later.to_string().contains(&sharpe), "{later}");
}
