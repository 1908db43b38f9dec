//! What speaks for an intent: one rule of scoring per test.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn value() -> Value {
    json!({
        "threshold": {"min_score": 1.0, "min_gap": 0.25},
        "subject": {"name": "ticker", "shape": "AAAA99", "index": "SELECT 1"},
        "unknown_words": {"weight": 0.5, "max": 1.0},
        "times": ["ontem", "mes", "ultimo"],
        "fillers": ["fundo", "mostre"],
        "follow_ups": ["compare", "versus"],
        "openers": ["e"],
        "ordinary": ["prego", "mesa", "saldo"],
        "synonyms": {"preco": ["cotacao", "valor da cota"], "dy": ["dividend yield", "valor da cota paga"]},
        "groups": {"paid": ["pagou", "distribuiu"]},
        "buckets": {
            "funds": {"phrases": {"@ticker": 0.5}, "negatives": {"carteira": 1.0}},
            "own": {"required": true, "tokens": {"meu": 0.75}},
        },
        "intents": {
            "price": {"bucket": "funds", "entity": "prices", "tokens": {"preco": 1.0}, "phrases": {"como esta @ticker": 1.0}, "negatives": {"medio": 0.5}},
            "dividends": {"bucket": "funds", "tokens": {"dividendo": 1.0}, "phrases": {"quanto @ticker @paid": 2.0, "@window": 0.25}},
            "yield": {"bucket": "funds", "tokens": {"dy": 1.0}, "phrases": {"dy + mensal": 1.0}},
            "assets": {"bucket": "own", "tokens": {"patrimonio | saldo": 1.0}},
            "news": {"tokens": {"noticia": 1.0}, "phrases": {"fato relevante": 2.0}, "threshold": {"min_score": 1.5}},
        },
    })
}

fn ontology() -> Ontology {
    Ontology::decode(&value()).unwrap()
}

fn known() -> Subjects {
    let mut known = Subjects::default();
    let listed = ["HGLG11", "XPML11"].map(|code| (code.to_owned(), Vec::new())).to_vec();
    known.add(0, &ontology().kinds()[0], listed, crate::Language::Portuguese);
    known
}

fn earlier_intents<'a>(names: &[&'a str]) -> Vec<Earlier<'a>> {
    names.iter().map(|intent| Earlier { intent, ..Earlier::default() }).collect()
}

fn scores(question: &str, earlier: &[&str]) -> Scores {
    let ontology = ontology();
    ontology.score(
        &ontology.read(question, &known()),
        &Circumstances { earlier: &earlier_intents(earlier), ..Circumstances::default() },
    )
}

/// The candidates as `intent score: feature weight, …`, and the verdict.
#[track_caller]
fn check(question: &str, verdict: Verdict, expect: &[&str]) {
    let scores = scores(question, &[]);
    let because = |it: &Because| format!("{} {} {}", it.kind, it.feature, it.weight);
    let told = |it: &Candidate| {
        let because: Vec<String> = it.because.iter().map(because).collect();
        format!("{} {}: {}", it.intent, it.score, because.join(", "))
    };
    assert_eq!(scores.candidates.iter().map(told).collect::<Vec<_>>(), expect, "{question}");
    assert_eq!(scores.verdict, verdict, "{question}");
}

#[track_caller]
fn goes(question: &str, earlier: &[&str], expect: Option<&str>) {
    let scores = scores(question, earlier);
    assert_eq!(scores.routed().map(|it| it.intent.as_str()), expect, "{question}: {scores:?}");
}

use Verdict::{Routed, TooClose, TooLow};

#[test]
fn a_word_counts_once_whatever_its_endings_case_and_accents() {
    for question in ["preço", "PREÇOS", "o preco, o preço e os preços"] {
        check(question, Routed, &["price 1: token preco 1"]);
    }
    check("", TooLow, &[]);
    assert_eq!(scores("preço", &[]).candidates[0].entity, "prices");
}

#[test]
fn synonyms_of_one_and_of_several_words_are_folded() {
    check("cotações", Routed, &["price 1: token preco 1"]);
    check("o valor da cota", Routed, &["price 1: token preco 1"]);
    check("dividend yield", Routed, &["yield 1: token dy 1"]);
    check("o valor da cota paga", Routed, &["yield 1: token dy 1"]);
    // The words of a synonym, apart, are none.
    goes("cota da valor", &[], None);
}

#[test]
fn a_phrase_keeps_its_order_and_bridges_what_says_nothing() {
    let paid = ["dividends 2.5: phrase quanto @ticker @paid 2, bucket @ticker 0.5"];
    for question in ["quanto o HGLG11 pagou", "quanto HGLG11 distribuiu?", "quanto o fundo do HGLG11 pagou"] {
        let scores = scores(question, &[]);
        assert_eq!(scores.candidates[0].score, 2.5, "{question}: {scores:?}");
    }
    check(
        "quanto a de do HGLG11 pagou",
        Routed,
        &[paid[0], "price 0.5: bucket @ticker 0.5", "yield 0.5: bucket @ticker 0.5"],
    );
    assert_eq!(scores("quanto ontem o HGLG11 pagou", &[]).candidates[0].score, 2.75);
    for apart in
        ["quanto a de do fundo HGLG11 pagou", "pagou quanto HGLG11", "quanto casa HGLG11 pagou", "HGLG11 pagou"]
    {
        goes(apart, &[], None);
    }
}

#[test]
fn alternatives_count_once_and_both_may_stand_anywhere() {
    check("meu saldo e patrimônio", Routed, &["assets 1.75: token patrimonio 1, bucket meu 0.75"]);
    check("mensal: o dy", Routed, &["yield 2: token dy 1, phrase dy + mensal 1"]);
    goes("mensal", &[], None);
}

#[test]
fn a_window_is_a_run_of_times_or_a_number() {
    let window = |question| scores(question, &[]).candidates[0].score;
    assert_eq!([window("dividendos"), window("dividendos ontem"), window("dividendos em 2024")], [1.0, 1.25, 1.25]);
    assert_eq!(window("dividendos do último mês de 2024"), 1.25);
}

#[test]
fn negatives_are_taken_off() {
    check("preço médio", TooLow, &["price 0.5: token preco 1, negative medio -0.5"]);
    check("médio", TooLow, &[]);
}

#[test]
fn a_bucket_lifts_and_sinks_all_its_intents_but_wins_nothing_alone() {
    check(
        "preço HGLG11",
        Routed,
        &[
            "price 1.5: token preco 1, bucket @ticker 0.5",
            "dividends 0.5: bucket @ticker 0.5",
            "yield 0.5: bucket @ticker 0.5",
        ],
    );
    check("preço da carteira", TooLow, &["price 0: token preco 1, bucket carteira -1"]);
    let mut alone = value();
    alone["buckets"]["funds"]["phrases"]["@ticker"] = json!(5.0);
    alone["intents"]["dividends"]["negatives"] = json!({"@ticker": 1.0});
    alone["intents"]["yield"]["negatives"] = json!({"@ticker": 1.0});
    let ontology = Ontology::decode(&alone).unwrap();
    let scores = ontology.score(&ontology.read("HGLG11", &known()), &Circumstances::default());
    assert_eq!((scores.candidates[0].score, scores.verdict), (5.0, TooLow));
}

#[test]
fn a_required_bucket_is_out_where_nothing_speaks_for_it() {
    goes("saldo", &[], None);
    assert!(scores("saldo", &[]).candidates.is_empty());
    goes("meu saldo", &[], Some("assets"));
}

#[test]
fn a_slip_counts_less_and_is_told() {
    check("notícai fato", TooLow, &["news 0.9: token noticia (typo: noticai) 0.9"]);
    check("prceo", TooLow, &["price 0.9: token preco (typo: prceo) 0.9"]);
    check("meu patrimnio e saldo", Routed, &["assets 1.75: token saldo 1, bucket meu 0.75"]);
    // Spelled right once is spelled right.
    check("prceo e preço", Routed, &["price 1: token preco 1"]);
    check(
        "quanto HGLG11 pagpu",
        Routed,
        &[
            "dividends 2.3: phrase quanto @ticker @paid (typo: pagpu) 1.8, bucket @ticker 0.5",
            "price 0.5: bucket @ticker 0.5",
            "yield 0.5: bucket @ticker 0.5",
        ],
    );
}

#[test]
fn an_ordinary_word_is_neither_a_slip_nor_an_ending() {
    assert!(scores("prego", &[]).candidates.is_empty());
    assert_eq!(scores("dividendos na mesa", &[]).candidates[0].because.len(), 2, "not a month, but unknown");
}

#[test]
fn unknown_words_count_against_a_question_without_a_subject() {
    check("preço do arroz", TooLow, &["price 0.5: token preco 1, negative 1 unknown -0.5"]);
    check("preço do prego", TooLow, &["price 0.5: token preco 1, negative 1 unknown -0.5"]);
    check("preço arroz branco longo bonito", TooLow, &["price 0: token preco 1, negative 4 unknown -1"]);
    goes("preço do arroz branco HGLG11", &[], Some("price"));
    goes("mostre o preço versus ontem 2024", &[], Some("price"));
}

#[test]
fn the_thresholds_hold_at_their_bounds() {
    check("notícia", TooLow, &["news 1: token noticia 1"]);
    check("fato relevante", Routed, &["news 2: phrase fato relevante 2"]);
    let with_gap = |gap: f64| {
        let mut value = value();
        value["threshold"]["min_gap"] = json!(gap);
        let ontology = Ontology::decode(&value).unwrap();
        ontology.score(&ontology.read("preço e dividendos ontem", &known()), &Circumstances::default()).verdict
    };
    assert_eq!([with_gap(0.25), with_gap(0.2500001)], [Routed, TooClose]);
}

#[test]
fn equals_stay_as_they_were_written() {
    check(
        "dy, preço e dividendo",
        TooClose,
        &["price 1: token preco 1", "dividends 1: token dividendo 1", "yield 1: token dy 1"],
    );
}

#[test]
fn an_elliptical_question_takes_the_newest_earlier_intent() {
    for question in
        ["compare com XPML11", "e do HGLG11?", "e em 2024?", "e ontem?", "e nos últimos 6 meses?", "HGLG versus XPML"]
    {
        goes(question, &["dividends", "price"], Some("dividends"));
        goes(question, &["gone", "price"], Some("price"));
        goes(question, &[], None);
    }
    let scores = scores("e do HGLG11?", &["news"]);
    let last = scores.candidates[0].because.last().unwrap();
    assert_eq!((last.kind, last.feature.as_str(), scores.candidates[0].score), ("history", "news", 2.0));
}

#[test]
fn a_question_takes_up_another_by_its_first_word_or_its_intent() {
    let ontology = ontology();
    for (text, expect) in
        [("e o preço do XPML11?", true), ("compare com XPML11", true), ("qual o preço do XPML11 e?", false)]
    {
        let question = ontology.read(text, &known());
        let scores = ontology
            .score(&question, &Circumstances { earlier: &earlier_intents(&["price"]), ..Circumstances::default() });
        assert_eq!(ontology.takes_up(&question, scores.routed().unwrap()), expect, "{text}");
    }
}

#[test]
fn a_question_that_says_more_or_nothing_looks_not_back() {
    for question in ["arroz ontem", "ok", "e o fundo?", "sim", "medio HGLG11", "", "?"] {
        goes(question, &["dividends"], None);
    }
    // What it names is not known, and is asked back; what it asks for is.
    goes("e o arroz de ontem?", &["dividends"], Some("dividends"));
    goes("preço do HGLG11", &["dividends"], Some("price"));
    goes("como está o HGLG11?", &["dividends"], Some("price"));
    let alone = scores("preço do HGLG11", &[]).candidates;
    assert_eq!(scores("preço do HGLG11", &["dividends"]).candidates, alone);
}

#[test]
fn an_intent_looked_back_at_is_above_all_others() {
    let mut value = value();
    value["intents"]["price"]["phrases"] = json!({"ontem | @ticker": 9.0});
    value["intents"]["yield"]["phrases"] = json!({"ontem | @ticker": 9.0});
    let ontology = Ontology::decode(&value).unwrap();
    let scores = ontology.score(
        &ontology.read("e do HGLG11?", &known()),
        &Circumstances { earlier: &earlier_intents(&["news"]), ..Circumstances::default() },
    );
    assert_eq!(scores.routed().map(|it| it.intent.as_str()), Some("news"));
    assert!(scores.candidates[0].score >= scores.candidates[1].score + 0.25, "{scores:?}");
}

fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("preço".to_owned()),
        Just("cotação".to_owned()),
        Just("dividendos".to_owned()),
        Just("dy".to_owned()),
        Just("carteira".to_owned()),
        Just("meu".to_owned()),
        Just("saldo".to_owned()),
        Just("HGLG11".to_owned()),
        Just("quanto".to_owned()),
        Just("pagou".to_owned()),
        Just("ontem".to_owned()),
        Just("notícias".to_owned()),
        Just("prceo".to_owned()),
        Just("compare".to_owned()),
        "[a-zà-ü]{1,9}",
        "\\PC{0,6}",
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn a_score_is_the_sum_of_its_reasons_and_the_best_is_first(question in words(), back: bool) {
        let scores = scores(&question, if back { &["yield"] } else { &[] });
        for it in &scores.candidates {
            prop_assert_eq!(it.because.iter().map(|it| it.weight).sum::<f64>(), it.score);
            prop_assert!(it.because.iter().any(|it| it.weight > 0.0));
        }
        prop_assert!(scores.candidates.windows(2).all(|pair| pair[0].score >= pair[1].score));
    }

    #[test]
    fn case_and_accents_make_no_difference(words in prop::collection::vec("[a-zç]{1,9}|preço|cotação|dividendos|mês|hglg11", 0..12)) {
        let question = words.join(" ");
        let folded: String = question.chars().map(|c| match c { 'ç' => 'c', 'ã' => 'a', 'ê' => 'e', _ => c }).collect();
        let told = |question: &str| scores(question, &[]).candidates;
        prop_assert_eq!(told(&question), told(&folded));
        prop_assert_eq!(told(&question), told(&question.to_uppercase()));
    }
}
