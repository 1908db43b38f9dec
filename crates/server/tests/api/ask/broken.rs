//! Files of `/ask` that are broken, at the start and while the server runs: told with file, line and field,
//! and no harm done.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use crate::support::asking::{self, CONTEXT, SAMPLE, question, reason};
use crate::support::{Answer, Home, Server, json};

/// A way to break a file.
struct Case {
    file: &'static str,
    /// What the good file has that the shipped one does not: `from` there is `to` in it.
    own: (&'static str, &'static str),
    /// What breaks it: the first `from` becomes `to`.
    fault: (&'static str, &'static str),
    /// Where the fault is: the text of its line begins with this, and the field that is named.
    line: &'static str,
    field: &'static str,
    /// What shows whether the own file is in force.
    ask: &'static str,
    told: &'static str,
}

/// The file of prices, with a title of its own.
const PRICES: Case = Case {
    file: "entities/fiis_quota_prices.yaml",
    own: ("title: \"Cotação de", "title: \"Own prices of"),
    fault: ("", ""),
    line: "",
    field: "",
    ask: "preço do HGLG11",
    told: "Own prices of HGLG11",
};
const RULES: Case = Case {
    file: "param_inference.yaml",
    own: ("De qual fundo você quer a cotação?", "Own: which fund?"),
    ask: "qual o preço?",
    told: "Own: which fund?",
    ..PRICES
};
const ONTOLOGY: Case = Case {
    file: "ontology.yaml",
    own: ("    preco: [cotacao,", "    preco: [cotacao, quotazzo,"),
    ask: "quotazzo do HGLG11",
    told: "Cotação de HGLG11",
    ..PRICES
};
const REMEMBERING: Case = Case {
    file: "context.yaml",
    own: ("max_age_turns: 10", "max_age_turns: 11"),
    ask: "qual o preço?",
    told: "no_candidate",
    ..PRICES
};

const CASES: &[Case] = &[
    Case {
        fault: ("  max_turns: 6", "  max_turns: many"),
        line: "  max_turns: many",
        field: "context.max_turns",
        ..REMEMBERING
    },
    Case {
        fault: ("    inject_history: true", "    inject_history: often"),
        line: "    inject_history: often",
        field: "context.narrator.inject_history",
        ..REMEMBERING
    },
    Case { fault: ("bucket_ttl: {}", "bucket_ttl: {"), line: "", field: "", ..REMEMBERING },
    Case { fault: ("context:", "contexts:"), line: "contexts:", field: "contexts", ..REMEMBERING },
    Case {
        fault: ("{min_score: 1.0, ", "{min_score: high, "),
        line: "  threshold:",
        field: "ontology.threshold.min_score",
        ..ONTOLOGY
    },
    Case {
        fault: ("index: SELECT ticker, name FROM fiis_registrations", "index: SELECT ticker, name FROM nowhere"),
        line: "    index:",
        field: "ontology.subject.index",
        ..ONTOLOGY
    },
    Case {
        fault: ("entity: fiis_quota_prices", "entity: fiis_quota_priices"),
        line: "entity: fiis_quota_priices",
        field: "ontology.intents.fiis_quota_prices.entity",
        ..ONTOLOGY
    },
    Case { fault: ("  fillers: [", "  fillers: [[["), line: "", field: "", ..ONTOLOGY },
    Case {
        fault: ("limit: {default: 60, max: 260, of", "limit: {default: many, max: 260, of"),
        line: "      limit: {default: many",
        field: "param_inference.intents.fiis_quota_prices.limit.default",
        ..RULES
    },
    Case {
        fault: ("    fiis_overview:", "    fiis_overviewed:"),
        line: "    fiis_overviewed:",
        field: "param_inference.intents.fiis_overviewed",
        ..RULES
    },
    Case {
        fault: (
            "window: {source: [text, context], default: today}",
            "window: {source: [text, context], default: yoreday}",
        ),
        line: "      window: {source: [text, context], default: yoreday}",
        field: "param_inference.intents.fiis_quota_prices.window.default",
        ..RULES
    },
    Case {
        fault: ("allow: [list, max, min, avg, latest]", "allow: [list, max, min, avg, latest, sum]"),
        line: "      aggregation: {allow: [list, max, min, avg, latest, sum]",
        field: "param_inference.intents.fiis_quota_prices.aggregation.allow",
        ..RULES
    },
    Case { fault: ("rows_max: 800", "rows_max: 0"), line: "rows_max:", field: "rows_max", ..PRICES },
    Case { fault: ("rows_max: 800", "rows_mux: 300"), line: "rows_mux:", field: "rows_mux", ..PRICES },
    Case { fault: ("columns:", "columns: ]"), line: "", field: "", ..PRICES },
    Case {
        fault: ("JOIN fiis_quota_prices p", "JOIN fiis_quota_proces p"),
        line: "    sql: |",
        field: "queries.list.sql",
        ..PRICES
    },
    Case {
        fault: (
            "p.day <= coalesce(:to, '9999')\n        AND p.day",
            "p.day <= coalesce(:too, '9999')\n        AND p.day",
        ),
        line: "    sql: |",
        field: "queries.list.sql",
        ..PRICES
    },
    Case {
        fault: ("SELECT max(day) FROM trading_days", "DELETE FROM trading_days RETURNING day"),
        line: "last_day:",
        field: "last_day",
        ..PRICES
    },
    Case {
        fault: ("Own prices of {tickers} {window}", "Own prices of {tickrs} {window}"),
        line: "    table: {title: \"Own",
        field: "queries.list.table.title",
        ..PRICES
    },
    Case {
        fault: ("{ticker} fechou a {close} em {day}", "{ticker} fechou a {close} em {days}"),
        line: "    text: {item:",
        field: "queries.latest.text.item",
        ..PRICES
    },
    Case {
        fault: ("empty: \"Não há cotação de {tickers}", "empty: \"Não há cotação de {ticker|}"),
        line: "empty:",
        field: "empty",
        ..PRICES
    },
];

impl Case {
    fn shipped(&self) -> String {
        let path = format!("{}/../../policies/{}", env!("CARGO_MANIFEST_DIR"), self.file);
        std::fs::read_to_string(path).unwrap()
    }

    fn good(&self) -> String {
        replaced(&self.shipped(), self.own)
    }

    fn bad(&self) -> String {
        replaced(&self.good(), self.fault)
    }

    fn is_catalogue(&self) -> bool {
        self.file != "context.yaml"
    }

    /// Writes the file so that it is surely newer than the one before.
    fn write(&self, home: &Home, text: &str, age: u64) {
        let path = home.write(&format!("policies/{}", self.file), text);
        let time = SystemTime::now() + Duration::from_secs(age);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    /// Asks in a conversation of its own.
    fn ask(&self, server: &Server) -> Answer {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        let of = format!("c{}", ASKED.fetch_add(1, Ordering::Relaxed));
        server.post("/ask", question("demo", &of, self.ask))
    }

    /// Asserts that the own file is in force.
    #[track_caller]
    fn is_in_force(&self, server: &Server) {
        let answer = self.ask(server).ok();
        let told = match self.is_catalogue() {
            true => answer["answer"].as_str().unwrap(),
            false => reason(&answer),
        };
        assert!(told.starts_with(self.told), "{}, {:?}: {answer}", self.file, self.fault);
    }

    /// Asserts that the health page and the doctor report the fault.
    #[track_caller]
    fn is_told(&self, server: &Server) {
        let about = format!("{}, {:?}", self.file, self.fault);
        let doctor = server.get("/v1/doctor").ok();
        let ready = server.get("/health/ready").ok();
        let status = if self.is_catalogue() { "ok" } else { "invalid" };
        assert_eq!((&ready["policy_status"], &ready["broken_policies"]), (&json!(status), &json!(1)), "{about}");
        assert_eq!((&doctor["healthy"], doctor["findings"].as_array().unwrap().len()), (&json!(false), 1), "{doctor}");
        let what = doctor["findings"][0]["what"].as_str().unwrap().to_owned();
        assert!(what.contains(&format!("policies/{}: line ", self.file)), "{about}: {what}");
        if let Some(line) = self.line() {
            assert!(what.contains(&format!(": line {line}: {} ", self.field)), "{about}, line {line}: {what}");
        }
        let log = std::fs::read_to_string(server.home.path("stderr.log")).unwrap();
        assert!(log.contains(self.file) && log.contains(self.field), "{about}: {log}");
    }

    /// The line of the fault, where it is a field's.
    fn line(&self) -> Option<usize> {
        let bad = self.bad();
        let is_it = |line: &str| line.starts_with(self.line) || !self.line.starts_with(' ') && line.contains(self.line);
        (!self.line.is_empty()).then(|| bad.lines().position(is_it).unwrap() + 1)
    }

    #[track_caller]
    fn is_whole(&self, server: &Server) {
        assert_eq!(server.get("/v1/doctor").ok()["findings"], json!([]), "{}", self.file);
        let ready = server.get("/health/ready").ok();
        assert_eq!((&ready["policy_status"], &ready["broken_policies"]), (&json!("ok"), &json!(0)), "{}", self.file);
        self.is_in_force(server);
    }
}

fn replaced(text: &str, (from, to): (&str, &str)) -> String {
    assert!(text.contains(from), "{from:?} is not there any more");
    text.replacen(from, to, 1)
}

/// A home with the policy, and with the parameters, which an ontology of one's own needs beside it.
fn home() -> Arc<Home> {
    let home = asking::home(CONTEXT);
    home.write("policies/param_inference.yaml", &RULES.shipped());
    home
}

#[test]
fn a_file_that_is_broken_from_the_start_is_told_and_heals_when_it_is_mended() {
    let home = home();
    for case in CASES {
        case.write(&home, &case.bad(), 1);
        let server = home.serve_with(&[SAMPLE]);
        case.is_told(&server);
        let answer = case.ask(&server);
        match case.is_catalogue() {
            true => answer.refused_with(503, "no_data", &["novelo doctor"]),
            false => assert_eq!(reason(&answer.ok()), "context_disabled", "the defaults are in force"),
        }
        case.write(&home, &case.good(), 2);
        case.is_whole(&server);
    }
}

#[test]
fn a_file_that_breaks_later_leaves_the_last_good_one_in_force() {
    let home = home();
    let server = home.serve_with(&[SAMPLE]);
    for (case, age) in CASES.iter().zip((1..).step_by(3)) {
        case.write(&home, &case.good(), age);
        case.is_whole(&server);
        case.write(&home, &case.bad(), age + 1);
        case.is_told(&server);
        case.is_in_force(&server);
        case.write(&home, &case.good(), age + 2);
        case.is_whole(&server);
    }
}

#[test]
fn a_question_that_a_broken_catalogue_cannot_answer_is_not_kept() {
    let home = home();
    PRICES.write(&home, "rows_max: none\n", 1);
    let server = home.serve_with(&[SAMPLE]);
    server.post("/ask", question("demo", "c", "preço do HGLG11")).refused(503, "no_data");
    asking::is_gone(&server, "demo", "c");
}

#[test]
fn one_health_page_does_not_contradict_itself() {
    let home = home();
    let server = home.serve_with(&[SAMPLE]);
    for (age, text, expected) in [(1, "context: {enabled: maybe}\n", ("invalid", 1)), (2, CONTEXT, ("ok", 0))] {
        REMEMBERING.write(&home, text, age);
        let ready = server.get("/health/ready").ok();
        let told = (ready["policy_status"].as_str().unwrap(), ready["broken_policies"].as_u64().unwrap());
        assert_eq!(told, expected);
    }
}

#[test]
fn a_policy_that_is_missing_is_told_and_taken_when_it_comes() {
    let home = Home::new();
    let server = home.serve_with(&[SAMPLE]);
    let status = || server.get("/health/ready").ok()["policy_status"].clone();
    let ask = || reason(&server.post("/ask", question("demo", "c", "qual o preço?")).ok()).to_owned();
    assert_eq!((status(), ask()), (json!("missing"), "no_candidate".to_owned()), "the shipped one is in force");
    REMEMBERING.write(&home, "context: {enabled: false}", 1);
    server.get("/v1/doctor").ok();
    assert_eq!((status(), ask()), (json!("ok"), "context_disabled".to_owned()));
    std::fs::remove_file(home.path("policies/context.yaml")).unwrap();
    server.get("/v1/doctor").ok();
    assert_eq!((status(), ask()), (json!("missing"), "no_candidate".to_owned()));
}

#[test]
fn each_shipped_file_can_be_copied_and_changed_alone() {
    for case in [&ONTOLOGY, &RULES, &PRICES, &REMEMBERING] {
        let home = asking::home(CONTEXT);
        case.write(&home, &case.good(), 1);
        case.is_whole(&home.serve_with(&[SAMPLE]));
    }
}
