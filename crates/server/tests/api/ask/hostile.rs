//! Hostile texts, in whatever way they come in: nothing of them is ever SQL, and nobody sees the rows of
//! others.

use crate::support::asking::{
    ask, is_decent, never_panicked, question, reason, references, rows, sample, sample_file, serve, tickers,
};
use crate::support::{Client, Server, Value, json};

const TEXTS: &[&str] = &[
    "' OR '1'='1",
    "ana' OR '1'='1' --",
    "'; DROP TABLE client_positions; --",
    "HGLG11'; DELETE FROM fiis_quota_prices; --",
    "HGLG11' UNION SELECT client_id, ticker, broker, quantity, close, value, day FROM client_positions --",
    "\"; ATTACH DATABASE '/tmp/novelo-hostile.db' AS other; --",
    "1; PRAGMA writable_schema = 1",
    "HGLG11) OR 1=1 --",
    ":client_id",
    ":tickers",
    "?1",
    "$client_id",
    "@ticker",
    "%",
    "_______",
    "*",
    "NULL",
    "[\"ana\"]",
    "{\"$ne\": null}",
    "{ticker}{client_id}",
    "ana\\",
    "ana\u{2019} OR 1=1",
    "x'61 6e 61'",
    "char(97,110,97)",
    "ana/../ana",
    "..%2fana",
];

/// A server whose database must be the same in the end, byte for byte.
struct Guarded {
    server: Server,
    before: Vec<u8>,
}

impl Guarded {
    fn start() -> Self {
        let server = serve();
        let before = std::fs::read(sample_file(&server.home)).unwrap();
        Self { server, before }
    }

    #[track_caller]
    fn check(&self) {
        assert!(std::fs::read(sample_file(&self.server.home)).unwrap() == self.before, "the database changed");
        let database = sample(&self.server.home);
        let sound = rows(&database, "PRAGMA integrity_check", &[]);
        assert_eq!(sound, json!([{"integrity_check": "ok"}]));
        let count = "SELECT count(*) AS n FROM sqlite_schema WHERE type = 'table' AND name LIKE 'client%'";
        assert!(rows(&database, count, &[])[0]["n"].as_u64().unwrap() >= 4);
        assert!(!std::path::Path::new("/tmp/novelo-hostile.db").exists());
        assert_eq!(tickers(&ask(&self.server, "demo", "after", "preço do HGLG11")), ["HGLG11"]);
        never_panicked(&self.server.home);
    }
}

/// Asserts that what came back is an answer or a refusal, and holds nothing of what the sample's clients own.
#[track_caller]
fn is_harmless(client: &Client, body: &Value) {
    let answer = client.post("/ask", body);
    is_decent(&answer, &[200, 400, 422], &body.to_string());
    if answer.status == 200 {
        let rows = answer.json()["results"].to_string();
        assert!(!rows.contains("Corretora") && !rows.contains("client_id"), "{body}: {rows}");
    }
}

#[test]
fn a_hostile_text_in_any_field_is_only_a_text() {
    let guarded = Guarded::start();
    for text in TEXTS {
        for asked in ["preço do HGLG11", "minhas posições", "e o preço?"] {
            for field in ["conversation_id", "nickname", "client_id"] {
                let mut body = question("nobody", "c", asked);
                body[field] = json!(text);
                is_harmless(&guarded.server, &body);
            }
        }
        for asked in ["", "preço do ", "minhas posições ", "noticias negativas ", "ranking por sharpe "] {
            is_harmless(&guarded.server, &question("nobody", "c", &format!("{asked}{text}")));
        }
    }
    guarded.check();
}

#[test]
fn a_client_sees_the_rows_of_its_own_name_alone() {
    let guarded = Guarded::start();
    let held = |user: &str| ask(&guarded.server, user, "c", "minhas posições")["results"].clone();
    let database = sample(&guarded.server.home);
    for user in ["demo", "ana"] {
        let sql =
            "SELECT ticker, quantity FROM client_positions WHERE client_id = ?1 ORDER BY value DESC, ticker, broker";
        let own = rows(&database, sql, &[&user]);
        let held = held(user);
        let shown =
            held.as_array().unwrap().iter().map(|row| json!({"ticker": row["ticker"], "quantity": row["quantity"]}));
        assert_eq!(json!(shown.collect::<Vec<_>>()), own, "{user}");
    }
    for user in ["Ana", "ana ", " ana", "an%", "a_a", "ana;", "аna", "ana\u{200b}", "nobody"] {
        assert_eq!(held(user), json!([]), "{user:?}");
    }
    guarded.check();
}

fn stored(tickers: &Value) -> Value {
    let last = json!({"tickers": tickers, "entity": "fiis_quota_prices", "intent": "fiis_quota_prices",
        "bucket": "funds", "updated_at": 0.0, "turn_index": 0});
    json!({"last": last, "buckets": {"funds": last}})
}

#[test]
fn a_hostile_reference_is_bound_like_any_other() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    for (n, text) in TEXTS.iter().enumerate() {
        for (m, asked) in
            ["e o preço?", "e os dividendos em 2024?", "e quantas cotas eu tenho?"].into_iter().enumerate()
        {
            let of = format!("c{n}-{m}");
            server.put(&references("demo", &of), stored(&json!([text]))).ok();
            let answer = ask(server, "demo", &of, asked);
            assert_eq!((&answer["results"], reason(&answer)), (&json!([]), "last_reference_applied"), "{text} {asked}");
        }
        let of = format!("d{n}");
        server.put(&references("demo", &of), stored(&json!([text]))).ok();
        assert_eq!(tickers(&ask(server, "demo", &of, "compare o preço com XPML11")), ["XPML11"], "{text}");
    }
    guarded.check();
}

#[test]
fn many_and_long_inherited_subjects_are_no_trouble() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    let many: Vec<String> = (0..20_000).map(|n| format!("XX{n:06}")).collect();
    let odd = [json!(many), json!(["x".repeat(400_000)]), json!(["\u{0}"]), json!([""]), json!([])];
    for (n, tickers) in odd.into_iter().enumerate() {
        let of = format!("c{n}");
        server.put(&references("demo", &of), stored(&tickers)).ok();
        is_decent(&server.post("/ask", question("demo", &of, "e o preço?")), &[200, 502], "odd subjects");
    }
    guarded.check();
}

#[test]
fn a_reference_that_cannot_be_read_is_none() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    let broken = [
        json!({"last": 7}),
        json!("x"),
        json!(7),
        json!(null),
        json!([]),
        json!({"last": {"tickers": [1]}}),
        json!({"last": {"tickers": "HGLG11"}}),
        json!({"last": {"tickers": ["HGLG11"], "turn_index": -1}}),
        json!({"last": null, "buckets": []}),
        json!({"buckets": {"funds": {}}}),
    ];
    for (n, document) in broken.into_iter().enumerate() {
        let of = &format!("c{n}");
        server.put(&references("demo", of), &document).ok();
        let answer = server.post("/ask", question("demo", of, "e o preço?"));
        is_decent(&answer, &[200], &document.to_string());
        assert_eq!(reason(&answer.json()), "no_candidate", "{document}");
        assert_eq!(tickers(&ask(server, "demo", of, "preço do HGLG11")), ["HGLG11"], "{document}");
        assert_eq!(tickers(&ask(server, "demo", of, "e o preço?")), ["HGLG11"], "the next answer mends it");
    }
    guarded.check();
}

#[test]
fn a_turn_cannot_bring_in_parameters_that_the_rules_do_not_know() {
    let guarded = Guarded::start();
    let server = &guarded.server;
    let best = ask(server, "demo", "before", "ranking dos fundos por sharpe")["results"].clone();
    for (n, text) in TEXTS.iter().enumerate() {
        let (c, d) = (format!("c{n}"), format!("d{n}"));
        let parameters = json!({"subjects": [text], "aggregation": text, "limit": 4_000_000_000_u32,
            "choices": {"metric": [text], "order": [text], text.to_string(): [text]}});
        let meta = json!({"intent": "fiis_rankings", "entity": "fiis_rankings", "parameters": parameters});
        server.append("demo", &c, &[json!({"role": "assistant", "content": "x", "meta": meta})]);
        let answer = ask(server, "demo", &c, "ranking dos fundos por sharpe");
        assert!(answer["results"].as_array().unwrap().len() <= 16, "{text}");
        assert_eq!(answer["results"][0], best[0], "{text}");
        server.append("demo", &d, &[json!({"role": "assistant", "content": "x", "meta": meta})]);
        is_decent(&server.post("/ask", question("demo", &d, "ranking de fundos")), &[200], text);
    }
    for meta in [
        json!(7),
        json!({"intent": 7}),
        json!({"intent": "x", "parameters": []}),
        json!({"parameters": {"window": "x"}}),
    ] {
        server.append("demo", "c", &[json!({"role": "assistant", "content": "x", "meta": meta})]);
        is_decent(&server.post("/ask", question("demo", "c", "e em 2024?")), &[200], &meta.to_string());
    }
    guarded.check();
}
