//! What is shipped fits together, and does what its files say.

use std::sync::Arc;

use novelo_language::plan::{Circumstances, Earlier, Given, Parameters};

use super::catalogue::{self, Catalogue};
use super::database::Database;
use super::shipped::{FIIS, LIBRARY, ShippedCatalogue};

struct Shipped {
    catalogue: Arc<Catalogue>,
    database: Database,
    _dir: tempfile::TempDir,
}

fn shipped() -> Shipped {
    shipped_as(&FIIS)
}

fn shipped_as(of: &'static ShippedCatalogue) -> Shipped {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("sample.db");
    Database::make(of.script, &path).unwrap();
    let database = Database::open(&path).unwrap();
    let mut broken = Vec::new();
    let catalogue = catalogue::take(&[], of, &database, &None, &mut broken);
    assert_eq!(broken, [""; 0]);
    Shipped { catalogue: catalogue.unwrap(), database, _dir: dir }
}

impl Shipped {
    #[track_caller]
    fn check(&self, question: &str, earlier: &[&str], expect: Option<&str>) {
        let earlier: Vec<_> = earlier.iter().map(|intent| Earlier { intent, ..Earlier::default() }).collect();
        let ontology = &self.catalogue.ontology;
        let scores = ontology.score(
            &ontology.read(question, &self.catalogue.subjects(&self.database)),
            &Circumstances { earlier: &earlier, ..Circumstances::default() },
        );
        assert_eq!(scores.routed().map(|it| it.intent.as_str()), expect, "{question}: {:?}", scores.candidates.first());
    }

    fn parameters(&self, intent: &str, question: &str) -> Parameters {
        let Catalogue { ontology, rules, .. } = &*self.catalogue;
        let question = ontology.read(question, &self.catalogue.subjects(&self.database));
        rules.infer(intent, &question, &Given::default())
    }
}

#[test]
fn every_intent_is_its_own_entity() {
    let shipped = shipped();
    let intents = shipped.catalogue.ontology.intents();
    assert_eq!(intents.len(), 28);
    assert!(intents.iter().all(|intent| intent.name == intent.entity && intent.bucket.is_some()));
}

#[test]
fn the_library_speaks_english_and_has_two_kinds_of_subject() {
    let library = shipped_as(&LIBRARY);
    let ontology = &library.catalogue.ontology;
    assert_eq!(ontology.kinds().iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>(), ["book", "author"]);
    assert_eq!(library.catalogue.subjects(&library.database).len(), 16 + 7);
    library.check("how often was Paper Boats borrowed in 2024?", &[], Some("loans"));
    library.check("which books are longer than 400 pages?", &[], Some("books"));
    library.check("the 3 most borrowed crime novels", &[], Some("rankings"));
    library.check("how old is Amara Okafor?", &[], Some("author_details"));
    library.check("and in 2024?", &["loans"], Some("loans"));
    library.check("what is the capital of France?", &[], None);
}

#[test]
fn follow_ups_lean_on_the_last_intent() {
    let shipped = shipped();
    for question in [
        "compare com XPML11",
        "Compara com o HGLG11 e o KNRI11",
        "e do MXRF11?",
        "e o VINO?",
        "e em 2024?",
        "e nos últimos 6 meses?",
        "e ontem?",
        "e em março de 2025?",
        "agora do KNRI11",
        "e a média?",
        "HGLG11 vs XPML11",
        "e no mês passado, do MXRF11?",
    ] {
        shipped.check(question, &["fiis_dividends", "fiis_news"], Some("fiis_dividends"));
        shipped.check(question, &[], None);
    }
}

#[test]
fn a_question_of_its_own_does_not_lean() {
    let shipped = shipped();
    for (question, intent) in [
        ("Como está o KNRI11 hoje?", "fiis_quota_prices"),
        ("e o preço?", "fiis_quota_prices"),
        ("e o DY?", "fiis_dividends_yields"),
        ("qual o cnpj?", "fiis_registrations"),
        ("e as notícias dele?", "fiis_news"),
    ] {
        shipped.check(question, &["fiis_dividends"], Some(intent));
    }
    for chatter in ["obrigado", "ok", "por quê?", "bom dia", "quem é o presidente?", ""] {
        shipped.check(chatter, &["fiis_dividends"], None);
    }
}

#[test]
fn parameters_are_read_by_the_shipped_rules() {
    let shipped = shipped();
    let total = shipped.parameters("fiis_dividends", "Total de dividendos do VISC11 nos últimos 6 meses");
    let window = total.window.map(|window| window.to_string());
    assert_eq!((total.aggregation.as_str(), window.as_deref(), total.limit), ("sum", Some("months:6"), None));
    let top = shipped.parameters("fiis_rankings", "top 5 fiis por menor volatilidade");
    assert_eq!((top.choices.get("metric").unwrap().as_slice(), top.limit), (&["volatility".to_owned()][..], Some(5)));
    assert_eq!(shipped.parameters("fiis_financials_risk", "qual o sharpe?").missing, ["ticker"]);
}

#[test]
fn what_nobody_said_gives_way() {
    let shipped = shipped();
    let told = |question: &str| {
        let Parameters { window, limit, aggregation, .. } = shipped.parameters("fiis_quota_prices", question);
        (window.map(|window| window.to_string()).unwrap_or_default(), limit, aggregation)
    };
    for (question, window, limit, aggregation) in [
        ("preço do HGLG11", "today", Some(1), "list"),
        ("60 cotações do HGLG11", "today", Some(60), "list"),
        ("últimos 5 fechamentos do HGLG11", "rows:5", Some(5), "list"),
        ("preço do HGLG11 nos últimos 10 pregões", "rows:10", Some(10), "list"),
        ("preço do HGLG11 em 2024", "year:2024", None, "list"),
        ("preço do HGLG11 até 2024", "until:2024", Some(60), "list"),
        ("maior preço do HGLG11", "all", None, "max"),
        ("maior preço do HGLG11 em 2024", "year:2024", None, "max"),
    ] {
        assert_eq!(told(question), (window.to_owned(), limit, aggregation.to_owned()), "{question}");
    }
}

#[test]
fn a_condition_is_applied_or_told() {
    let shipped = shipped();
    let Catalogue { ontology, rules, .. } = &*shipped.catalogue;
    let read = |intent: &str, text: &str| {
        let question = ontology.read(text, &shipped.catalogue.subjects(&shipped.database));
        let conditions = &shipped.catalogue.entity(intent).unwrap().conditions;
        rules.infer(intent, &question, &Given { conditions, ..Given::default() })
    };
    for (intent, text, expect) in [
        ("fiis_dividends_yields", "fundos com dy acima de 10%", "dy_12m > 10.0"),
        ("fiis_dividends_yields", "fundos com mais de 10,5 por cento de dy", "dy_12m > 10.5"),
        ("fiis_dividends_yields", "dy dos fiis de shopping", r#"sector in ["Shoppings"]"#),
        ("fiis_financials_snapshot", "fundos com vacância menor que 5 por cento", "vacancy_pct < 5.0"),
        ("fiis_financials_snapshot", "fundos com P/VP de no máximo 0,9", "price_to_worth <= 0.9"),
        ("fiis_financials_snapshot", "fundos com patrimônio de menos de 1,5 bilhão", "equity < 1500000000.0"),
        ("fiis_quota_prices", "fundos que custam entre 8 e 10 reais", "close >= 8.0, close <= 10.0"),
        ("fiis_registrations", "fundos com mais de 300 mil cotistas", "shareholders > 300000.0"),
        ("fiis_real_estate", "imóveis do HGLG11 em SP e em Minas", r#"state in ["MG","SP"]"#),
        ("fiis_financials_risk", "fundos com beta > 0,5", "beta > 0.5"),
    ] {
        let found = read(intent, text);
        let told: Vec<String> =
            found.conditions.iter().map(|it| format!("{} {} {}", it.column, it.op, it.value)).collect();
        assert_eq!(
            (told.join(", ").as_str(), &found.unread[..], &found.missing[..]),
            (expect, &[][..], &[][..]),
            "{text}"
        );
    }
    for (intent, text, words) in [
        ("fiis_quota_prices", "fundos com liquidez acima de 5 milhões", "acima de 5 milhões"),
        ("fiis_dividends_yields", "fundos com dy acima de R$ 10", "acima de R$ 10"),
    ] {
        let unread = read(intent, text).unread;
        assert_eq!(unread.first().map(|unread| unread.words.as_str()), Some(words), "{text}");
    }
    for text in
        ["preço do HGLG11", "preço de mais de um fundo", "preço maior que o IFIX?", "últimos 5 fechamentos do HGLG11"]
    {
        assert_eq!(read("fiis_quota_prices", text).conditions, [], "{text}");
    }
}

#[test]
fn a_time_that_is_not_understood_is_not_today() {
    let shipped = shipped();
    for text in ["no dia 10", "em 31/02/2025", "amanhã", "daqui a 1 ano", "na segunda quinzena"] {
        let found = shipped.parameters("fiis_quota_prices", &format!("preço do HGLG11 {text}"));
        assert_eq!(found.missing, ["window"], "{text}");
        let said = shipped.catalogue.rules.sentence_of(&found.unread[0]);
        assert!(said.starts_with("Não entendi") && said.contains(&found.unread[0].words), "{said}");
    }
    for text in ["", "hoje", "em 27/10/2025", "nos últimos 30 dias", "no dia 27/10/2025"] {
        let missing = shipped.parameters("fiis_quota_prices", &format!("preço do HGLG11 {text}")).missing;
        assert_eq!(missing, [""; 0], "{text}");
    }
}
