//! Follow-ups take what they leave out, and their rows are those of the database.

use crate::support::asking::{CONTEXT, SAMPLE, ask, home, reason, reference, rows, sample, serve, tickers, turns};
use crate::support::{Value, json};

const PRICES: &str = "SELECT ticker, day, close, change_pct, open, high, low FROM fiis_quota_prices ";
const TODAY: &str = "WHERE ticker = ?1 ORDER BY day DESC LIMIT 1";

#[test]
fn a_conversation_about_funds_has_the_rows_of_the_database() {
    let server = serve();
    let database = sample(&server.home);
    let ask = |text: &str| ask(&server, "demo", "c", text);

    let sharpe = ask("Qual o Sharpe do HGLG11?");
    let sql = "SELECT ticker, day, sharpe FROM fiis_risk WHERE ticker = 'HGLG11' ORDER BY day DESC LIMIT 1";
    let expected = rows(&database, sql, &[]);
    for name in ["ticker", "day", "sharpe"] {
        assert_eq!(sharpe["results"][0][name], expected[0][name], "{name}");
    }
    assert_eq!((&sharpe["meta"]["intent"], reason(&sharpe)), (&json!("fiis_financials_risk"), "input_has_ticker"));
    let said = expected[0]["sharpe"].to_string().replace('.', ",");
    assert!(sharpe["answer"].as_str().unwrap().contains(&said), "{sharpe}");

    let price = ask("e o preço?");
    assert_eq!(price["results"], rows(&database, &format!("{PRICES}{TODAY}"), &[&"HGLG11"]));
    assert_eq!(price["meta"]["reference"], json!({"used": true, "reason": "last_reference_applied"}));
    assert_eq!(price["meta"]["parameters"]["taken"]["ticker"], json!(["context"]));

    let both = ask("compare com XPML11");
    let newest = |ticker: &str| rows(&database, &format!("{PRICES}{TODAY}"), &[&ticker])[0].clone();
    assert_eq!(both["results"], json!([newest("HGLG11"), newest("XPML11")]));
    assert_eq!(both["meta"]["intent"], "fiis_quota_prices", "the intent is that of the answer before");

    let year = ask("e em 2024?");
    let sql = format!("{PRICES}WHERE ticker = ?1 AND day LIKE '2024-%' ORDER BY day DESC");
    let of = |ticker: &str| rows(&database, &sql, &[&ticker]).as_array().unwrap().clone();
    assert_eq!(year["results"], json!([of("HGLG11"), of("XPML11")].concat()));
    assert_eq!(year["meta"]["rows"]["cut"], false, "a period that was named is returned whole");
    assert_eq!(year["meta"]["reference"]["used"], true, "several are inherited together");
}

#[test]
fn the_newest_reference_wins_whatever_its_bucket() {
    let server = serve();
    let ask = |text: &str| ask(&server, "demo", "c", text);
    ask("preço do HGLG11");
    let held = ask("Quantas cotas do KNRI11 eu tenho?");
    assert_eq!((&held["meta"]["bucket"], tickers(&held)), (&json!("portfolio"), vec!["KNRI11"]));
    let sql = "SELECT quantity FROM client_positions WHERE client_id = 'demo' AND ticker = 'KNRI11'";
    assert_eq!(held["results"][0]["quantity"], rows(&sample(&server.home), sql, &[])[0]["quantity"]);
    assert_eq!(reference(&server, "demo", "c")["tickers"], json!(["KNRI11"]));
    assert_eq!(tickers(&ask("e o preço?")), ["KNRI11"], "a price takes the fund of the positions");
    assert_eq!(tickers(&ask("e quantas cotas do HGLG11 eu tenho?")), ["HGLG11"]);
    assert_eq!(tickers(&ask("e o preço?")), ["HGLG11"]);
}

#[test]
fn references_and_what_they_are_of_survive_a_crash() {
    let server = serve();
    ask(&server, "demo", "c", "dividendos do MXRF11 em 2024");
    let before = reference(&server, "demo", "c");
    assert_eq!((&before["tickers"], &before["turn_index"]), (&json!(["MXRF11"]), &json!(2)));
    assert_eq!((&before["intent"], &before["bucket"]), (&json!("fiis_dividends"), &json!("funds")));
    let server = server.kill().serve_with(&[SAMPLE]);
    assert_eq!(reference(&server, "demo", "c"), before);
    let price = ask(&server, "demo", "c", "e o preço?");
    assert_eq!((tickers(&price), reason(&price)), (vec!["MXRF11"], "last_reference_applied"));
    let again = ask(&server, "demo", "c", "e os dividendos?");
    assert_eq!(again["meta"]["intent"], "fiis_dividends");
    let index = reference(&server, "demo", "c")["turn_index"].as_u64().unwrap();
    let turns = turns(&server, "demo", "c");
    assert_eq!((turns.len(), index), (6, 6));
    assert_eq!(turns[5]["message"]["meta"]["intent"], "fiis_dividends");
}

#[test]
fn the_planner_looks_back_only_where_the_policy_lets_it() {
    for (rule, status) in [("enabled: true", "ok"), ("enabled: false", "unroutable")] {
        let context = CONTEXT.replacen("  planner:\n    enabled: true", &format!("  planner:\n    {rule}"), 1);
        let server = home(&context).serve_with(&[SAMPLE]);
        ask(&server, "demo", "c", "preço do HGLG11");
        assert_eq!(ask(&server, "demo", "c", "e em 2024?")["status"], status, "the intent is taken up, or not");
        assert_eq!(
            tickers(&ask(&server, "demo", "c", "e o sharpe?")),
            ["HGLG11"],
            "the fund is inherited all the same"
        );
    }
}

#[test]
fn another_user_and_another_conversation_inherit_nothing() {
    let server = serve();
    ask(&server, "demo", "c", "preço do HGLG11");
    for (user, of) in [("demo", "d"), ("ana", "c"), ("demo", "C"), ("Demo", "c")] {
        let answer = ask(&server, user, of, "e o preço?");
        assert_eq!((reason(&answer), &answer["status"]), ("no_candidate", &json!("incomplete")), "{user} {of}");
        assert_eq!(answer["results"], json!([]));
    }
    assert_eq!(tickers(&ask(&server, "demo", "c", "e o preço?")), ["HGLG11"]);
}

#[test]
fn a_number_of_rows_that_is_asked_for_is_given() {
    let server = serve();
    let database = sample(&server.home);
    let closes = ask(&server, "demo", "c", "últimos 5 fechamentos do HGLG11");
    let sql = "SELECT day FROM fiis_quota_prices WHERE ticker = 'HGLG11' ORDER BY day DESC LIMIT 5";
    let days = |rows: &Value| rows.as_array().unwrap().iter().map(|row| row["day"].clone()).collect::<Vec<_>>();
    assert_eq!(days(&closes["results"]), days(&rows(&database, sql, &[])));
    let top = ask(&server, "demo", "c", "top 5 fiis por sharpe");
    assert_eq!(tickers(&top).len(), 5, "{top}");
}

#[test]
fn a_fund_that_was_not_taken_is_not_told_as_used() {
    let server = serve();
    ask(&server, "demo", "c", "preço do ALMI11");
    let all = ask(&server, "demo", "c", "minhas posições");
    assert!(tickers(&all).len() > 5 && all["meta"]["parameters"]["taken"].get("ticker").is_none(), "{all}");
    assert_eq!(all["meta"]["reference"]["used"], false, "{}: nothing was inherited", reason(&all));
}
