//! Each rule of inference, and what a file of rules is refused for.

use serde_json::{Value, json};

use super::*;

const INTENTS: [&str; 4] = ["dividends", "rankings", "news", "terms"];

fn wire() -> Value {
    json!({
        "aggregations": {
            "list": ["por mes"],
            "sum": ["total", "quanto * pagou"],
            "avg": ["media"],
            "max": ["maior", "maiores"],
            "latest": ["ultimo", "mais recente"],
            "next": ["proximo", "proximos"],
        },
        "compare": ["compare", "comparado", "versus", "em relacao ao"],
        "intents": {
            "dividends": {
                "ticker": {"source": ["text", "context"], "required": true, "ask": "De qual fundo?"},
                "window": {"source": ["text", "context"], "default": "months:12"},
                "aggregation": {"allow": ["next", "latest", "list", "avg", "sum"], "default": "list"},
                "limit": {"default": 12, "max": 24, "of": ["dividendos"]},
            },
            "rankings": {
                "ticker": {"source": ["text"]},
                "window": {"source": ["text", "context"], "rows": false},
                "limit": {"source": ["text", "context"], "default": 10, "max": 100},
                "choices": {
                    "metric": {
                        "source": ["text", "context"],
                        "values": {
                            "sharpe": ["sharpe", "indice de sharpe"],
                            "yield": ["yield"],
                            "dy": ["dividend yield", "dy"],
                        },
                        "default": ["dy"],
                    },
                    "kind": {"values": {"paper": ["papel"]}, "required": true, "ask": "De que tipo?"},
                    "tone": {"values": {"good": ["bom"]}},
                },
            },
            "news": {
                "ticker": {"source": ["text", "context"], "unless": ["em geral", "fiis"]},
                "aggregation": {"allow": ["list", "max"]},
                "limit": {"default": 5, "max": 50, "of": ["noticias", "fatos relevantes"]},
            },
            "terms": null,
        },
    })
}

fn rules() -> ParameterRules {
    ParameterRules::of(&wire(), &["ticker"], &INTENTS, Language::Portuguese).unwrap()
}

fn question(text: &str) -> Question {
    let is_subject = |word: &&str| word.len() == 6 && word.ends_with("11");
    let words = text.split(|c: char| !c.is_alphanumeric());
    Question::new(text, Language::Portuguese, words.filter(is_subject).map(str::to_owned).collect())
}

fn infer(intent: &str, text: &str) -> Parameters {
    rules().infer(intent, &question(text), &Given::default())
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn taken(found: &Parameters, name: &str) -> Vec<Taken> {
    found.taken.get(name).cloned().unwrap_or_default()
}

#[test]
fn subjects_come_from_the_text_and_then_from_the_conversation() {
    let inherited = names(&["HGLG11", "KNRI11"]);
    let own = [GivenSubjects { inherited: &inherited, ..GivenSubjects::default() }];
    let given = Given { subjects: &own, ..Given::default() };
    let infer = |intent: &str, text: &str| rules().infer(intent, &question(text), &given);

    let found = infer("dividends", "dividendos do MXRF11");
    assert_eq!((found.subjects.clone(), taken(&found, "ticker")), (names(&["MXRF11"]), vec![Taken::Text]));
    let found = infer("dividends", "e os dividendos?");
    assert_eq!((found.subjects.clone(), taken(&found, "ticker")), (inherited.clone(), vec![Taken::Context]));
    assert_eq!(infer("rankings", "ranking de papel").subjects, names(&[]));
    assert_eq!(infer("rankings", "XPML11 no ranking").subjects, names(&["XPML11"]));
    assert_eq!(infer("terms", "termos do XPML11"), Parameters { aggregation: "list".into(), ..Parameters::default() });
    assert_eq!(infer("nowhere", "XPML11").subjects, names(&[]));
    assert_eq!(infer("news", "e as notícias?").subjects, inherited);
    assert_eq!(infer("news", "e as notícias em geral?").subjects, names(&[]));
    assert_eq!(infer("news", "notícias de FIIs como o MXRF11").subjects, names(&["MXRF11"]));
}

#[test]
fn what_is_required_and_absent_is_missing() {
    assert_eq!(infer("dividends", "dividendos").missing, ["ticker"]);
    assert_eq!(infer("dividends", "dividendos do HGLG11").missing, names(&[]));
    assert_eq!(infer("news", "notícias").missing, names(&[]));
    assert_eq!(infer("rankings", "ranking").missing, ["kind"]);
    assert_eq!(infer("rankings", "ranking de papel").missing, names(&[]));
    let rules = rules();
    assert_eq!(rules.sentence("dividends", "ticker"), Some("De qual fundo?"));
    assert_eq!(rules.sentence("rankings", "kind"), Some("De que tipo?"));
    assert_eq!(
        [rules.sentence("news", "ticker"), rules.sentence("x", "ticker"), rules.sentence("news", "x")],
        [None; 3]
    );
}

#[test]
fn a_comparison_with_one_side_is_joined_with_the_reference() {
    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let reference = names(&["HGLG11", "KNRI11"]);
        let own = [GivenSubjects { reference: &reference, ..GivenSubjects::default() }];
        let given = Given { subjects: &own, ..Given::default() };
        let found = rules().infer("dividends", &question(text), &given);
        assert_eq!(found.subjects, expect, "{text}");
        let both = found.subjects.first().is_some_and(|first| first == "HGLG11") && expect.len() > 2;
        assert_eq!(taken(&found, "ticker") == [Taken::Context, Taken::Text], both, "{text}");
    }
    check("compare com XPML11", &["HGLG11", "KNRI11", "XPML11"]);
    check("e comparado ao XPML11?", &["HGLG11", "KNRI11", "XPML11"]);
    check("compare o XPML11", &["HGLG11", "KNRI11", "XPML11"]);
    check("versus XPML11", &["HGLG11", "KNRI11", "XPML11"]);
    check("compare com o dividendo total do XPML11 e do MXRF11", &["HGLG11", "KNRI11", "XPML11", "MXRF11"]);
    check("compare XPML11 com MXRF11", &["XPML11", "MXRF11"]);
    check("compare XPML11 e MXRF11", &["XPML11", "MXRF11"]);
    check("XPML11 versus MXRF11", &["XPML11", "MXRF11"]);
    check("compare XPML11 com o IFIX", &["XPML11"]);
    check("em relação ao IFIX, quanto foi o dividendo médio do XPML11?", &["XPML11"]);
    check("dividendos do XPML11", &["XPML11"]);

    let reference = names(&["HGLG11", "XPML11"]);
    let own = [GivenSubjects { reference: &reference, ..GivenSubjects::default() }];
    let given = Given { subjects: &own, ..Given::default() };
    assert_eq!(rules().infer("dividends", &question("compare com XPML11"), &given).subjects, reference);
    assert_eq!(rules().infer("rankings", &question("compare com MXRF11"), &given).subjects, ["MXRF11"]);
    assert_eq!(infer("dividends", "compare com XPML11").subjects, ["XPML11"]);
}

#[test]
fn windows_come_from_the_text_the_conversation_or_the_rule() {
    let window =
        |found: &Parameters| (found.window.map(|it| it.to_string()).unwrap_or_default(), taken(found, "window"));
    let earlier = Parameters { window: "year:2023".parse().ok(), ..Parameters::default() };
    let given = Given { parameters: Some(&earlier), ..Given::default() };
    let after = |intent: &str, text: &str| window(&rules().infer(intent, &question(text), &given));
    assert_eq!(window(&infer("dividends", "em 2024")), ("year:2024".into(), vec![Taken::Text]));
    assert_eq!(window(&infer("dividends", "e agora os do HGLG11")), ("today".into(), vec![Taken::Text]));
    assert_eq!(window(&infer("dividends", "os do HGLG11")), ("months:12".into(), vec![Taken::Default]));
    assert_eq!(after("dividends", "os do HGLG11"), ("year:2023".into(), vec![Taken::Context]));
    assert_eq!(after("dividends", "os do HGLG11 em 2024"), ("year:2024".into(), vec![Taken::Text]));
    assert_eq!(after("rankings", "ranking de hoje"), ("year:2023".into(), vec![Taken::Context]));
    assert_eq!(window(&infer("rankings", "ranking de hoje")), (String::new(), vec![]));
    assert_eq!(window(&infer("rankings", "ranking deste mês")), ("this_month".into(), vec![Taken::Text]));
    assert_eq!(after("news", "notícias em 2024"), (String::new(), vec![]));
}

#[test]
fn aggregations_are_spoken_for_in_the_order_of_the_rule() {
    #[track_caller]
    fn check(intent: &str, text: &str, expect: &str, from: Taken) {
        let found = infer(intent, text);
        assert_eq!((found.aggregation.as_str(), taken(&found, "aggregation")), (expect, vec![from]), "{text}");
    }
    check("dividends", "total dos últimos 12 meses", "sum", Taken::Text);
    check("dividends", "quanto o HGLG11 pagou em 2024", "sum", Taken::Text);
    check("dividends", "quanto foi que o fundo HGLG11 já pagou", "list", Taken::Default);
    check("dividends", "quanto o HGLG11 pagou por mês", "list", Taken::Text);
    check("dividends", "quanto o HGLG11 pagou no dividendo mais recente", "latest", Taken::Text);
    check("dividends", "o último dividendo", "latest", Taken::Text);
    check("dividends", "os últimos dividendos", "list", Taken::Default);
    check("dividends", "o próximo pagamento", "next", Taken::Text);
    check("dividends", "nos próximos meses", "next", Taken::Text);
    check("dividends", "nos próximos 3 meses", "list", Taken::Default);
    check("dividends", "o maior dividendo", "list", Taken::Default);
    check("news", "a maior", "max", Taken::Text);
    check("news", "as 3 maiores", "list", Taken::Default);
}

#[test]
fn limits_are_read_and_capped() {
    #[track_caller]
    fn check(intent: &str, text: &str, expect: u32, from: Taken) {
        let found = infer(intent, text);
        assert_eq!((found.limit, taken(&found, "limit")), (Some(expect), vec![from]), "{text}");
    }
    for (text, expect) in [
        ("quais foram as três últimas notícias?", 3),
        ("top 5", 5),
        ("top cinco", 5),
        ("TOP10", 10),
        ("os 10 maiores", 10),
        ("os 5 primeiros", 5),
        ("as últimas 7", 7),
        ("me dê 4 notícias", 4),
        ("2 fatos relevantes", 2),
        ("a última notícia", 1),
        ("top 50", 50),
        ("top 51", 50),
        ("top 9999", 50),
    ] {
        check("news", text, expect, Taken::Text);
    }
    for text in ["notícias", "top 0", "top", "as últimas notícias", "uma notícia", "4 fundos", "top99999", "11"] {
        check("news", text, 5, Taken::Default);
    }
    check("dividends", "dividendos", 12, Taken::Default);
    // A named stretch of time is answered whole.
    assert_eq!(infer("dividends", "dividendos nos últimos 3 meses").limit, None);
    assert_eq!(infer("dividends", "dividendos até 2024").limit, Some(12));
    assert_eq!(infer("terms", "top 5").limit, None);

    let earlier = Parameters { limit: Some(500), ..Parameters::default() };
    let given = Given { parameters: Some(&earlier), ..Given::default() };
    let after = |intent: &str, text: &str| rules().infer(intent, &question(text), &given).limit;
    assert_eq!(
        [after("rankings", "e?"), after("rankings", "top 3"), after("news", "e?")],
        [Some(100), Some(3), Some(5)]
    );
}

#[test]
fn choices_are_made_by_the_longest_phrase() {
    let metric =
        |found: &Parameters| (found.choices.get("metric").cloned().unwrap_or_default(), taken(found, "metric"));
    let asked = |text: &str| metric(&infer("rankings", text));
    assert_eq!(asked("por dividend yield"), (names(&["dy"]), vec![Taken::Text]));
    assert_eq!(asked("por yield"), (names(&["yield"]), vec![Taken::Text]));
    assert_eq!(asked("por índice de Sharpe e dividend yield"), (names(&["sharpe", "dy"]), vec![Taken::Text]));
    assert_eq!(asked("por dy, sharpe e dy"), (names(&["dy", "sharpe"]), vec![Taken::Text]));
    assert_eq!(asked("ranking"), (names(&["dy"]), vec![Taken::Default]));
    assert_eq!(infer("rankings", "ranking").choices.get("tone"), None);

    let choices = [("metric", vec!["sharpe", "gone"]), ("tone", vec!["good"])];
    let choices = choices.map(|(name, values)| (name.to_owned(), names(&values)));
    let earlier = Parameters { choices: choices.into(), ..Parameters::default() };
    let given = Given { parameters: Some(&earlier), ..Given::default() };
    let found = rules().infer("rankings", &question("e os de papel?"), &given);
    assert_eq!(metric(&found), (names(&["sharpe"]), vec![Taken::Context]));
    assert_eq!(found.choices.get("tone"), None);
    assert_eq!(metric(&rules().infer("rankings", &question("por yield"), &given)).0, names(&["yield"]));
}

#[test]
fn parameters_are_kept_without_where_they_came_from() {
    let found = infer("dividends", "total do HGLG11 em 2024");
    let kept = serde_json::to_value(&found).unwrap();
    assert_eq!(kept, json!({"subjects": ["HGLG11"], "window": "year:2024", "aggregation": "sum"}));
    let back: Parameters = serde_json::from_value(kept).unwrap();
    assert_eq!((back.window, back.limit, back.taken.len()), (found.window, found.limit, 0));
}

/// The problem of the rules with one value changed.
#[track_caller]
fn check_problem(pointer: &str, value: Value, expect: &str) {
    let mut wire = wire();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    wire.pointer_mut(parent).unwrap()[name] = value;
    let error = ParameterRules::of(&wire, &["ticker"], &INTENTS, Language::Portuguese).unwrap_err().to_string();
    assert!(error.starts_with(expect), "{error}");
}

#[test]
fn a_broken_file_is_refused_with_the_place() {
    check_problem("/intents/newz", json!({}), "intents.newz is no intent of the ontology; did you mean news?");
    check_problem("/x", json!(1), "x unknown field `x`");
    check_problem("/intents/news/tickr", json!({}), "intents.news.tickr is not known; did you mean ticker?");
    check_problem("/intents/news/ticker/ask", json!(" "), "intents.news.ticker.ask must be a sentence of at most 500");
    check_problem("/intents/news/ticker/x", json!(1), "intents.news.ticker.x unknown field `x`");
    check_problem("/intents/news/ticker/source", json!(["txt"]), "intents.news.ticker.source[0] unknown variant `txt`");
    for source in [json!([]), json!(["context"]), json!(["context", "text"]), json!(["text", "text"])] {
        check_problem(
            "/intents/news/ticker/source",
            source,
            "intents.news.ticker.source must be [text] or [text, context]",
        );
    }
    check_problem("/intents/news/ticker/unless", json!(["…"]), "intents.news.ticker.unless[0] holds no word");
    let window = "intents.dividends.window.default is no window: months:0; windows are today";
    check_problem("/intents/dividends/window/default", json!("months:0"), window);
    let rows = "intents.rankings.window.default is today, which picks rows, and rows is false";
    check_problem("/intents/rankings/window/default", json!("today"), rows);
    let allow = "intents.news.aggregation.allow[1] is no aggregation; did you mean max?";
    check_problem("/intents/news/aggregation/allow", json!(["list", "mex"]), allow);
    let default = "intents.news.aggregation.default is sum, which allow does not hold";
    check_problem("/intents/news/aggregation/default", json!("sum"), default);
    check_problem("/intents/news/aggregation/allow", json!(["max"]), "intents.news.aggregation.default is list");
    check_problem("/aggregations/Sum", json!(["a"]), "aggregations.Sum must be a name of small letters");
    check_problem("/aggregations/sum", json!([]), "aggregations.sum must hold a word");
    check_problem("/compare", json!(["?"]), "compare[0] holds no word");
}

#[test]
fn limits_and_choices_of_a_broken_file_are_refused() {
    check_problem(
        "/intents/news/limit/max",
        json!(1001),
        "intents.news.limit.max must be a whole number from 1 to 1000",
    );
    check_problem("/intents/news/limit/max", json!(0), "intents.news.limit.max must be");
    check_problem(
        "/intents/news/limit/default",
        json!(51),
        "intents.news.limit.default must be a whole number from 1 to 50",
    );
    check_problem("/intents/news/limit/default", json!(0), "intents.news.limit.default must be");
    let metric = "/intents/rankings/choices/metric";
    let default = "intents.rankings.choices.metric.default[0] is none of its values; did you mean sharpe?";
    check_problem(&format!("{metric}/default"), json!(["sharp"]), default);
    check_problem(&format!("{metric}/values"), json!({}), "intents.rankings.choices.metric.values must hold a value");
    let taken = |name: &str| format!("intents.rankings.choices.{name} is a parameter that every query has");
    for name in ["limit", "ticker", "tickers", "from", "client_id"] {
        check_problem(&format!("/intents/rankings/choices/{name}"), json!({"values": {"a": ["b"]}}), &taken(name));
    }
    let phrases: Vec<String> = (0..=decode::PHRASES_MAX).map(|n| format!("w{n}")).collect();
    check_problem("/compare", json!(phrases), "compare must hold at most 200 phrases");
    let mut wire = wire();
    wire["compare"] = json!(&phrases[1..]);
    wire["intents"]["news"]["limit"]["max"] = json!(1000);
    wire["intents"]["news"]["ticker"]["ask"] = json!("x".repeat(decode::ASK_BYTES_MAX));
    assert!(ParameterRules::of(&wire, &["ticker"], &INTENTS, Language::Portuguese).is_ok());
    let too_long = json!("x".repeat(decode::ASK_BYTES_MAX + 1));
    check_problem("/intents/news/ticker/ask", too_long, "intents.news.ticker.ask must be");
}

proptest::proptest! {
    #[test]
    fn any_text_is_inferred_from(text in ".{0,60}", more in "(top|ultimas|quanto|pagou|compare|com|XPML11|10|2024| ){0,8}") {
        let text = format!("{text} {more}");
        for intent in INTENTS {
            let found = rules().infer(intent, &question(&text), &Given::default());
            proptest::prop_assert!(!found.aggregation.is_empty());
        }
    }
}
