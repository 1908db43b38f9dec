//! Questions about data: how they are asked, what is kept of them, and the database that the answers must
//! agree with.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, ToSql};

use super::{Answer, Client, Home, Server, Value, enc, files, json, thread};

/// The policy as it is shipped.
pub const CONTEXT: &str = include_str!("../../../../policies/context.yaml");
pub const SAMPLE: (&str, &str) = ("NOVELO_ASK_DATABASE", "sample");

/// A home with a policy of what conversations remember.
pub fn home(context: &str) -> Arc<Home> {
    let home = Home::new();
    home.write("policies/context.yaml", context);
    home
}

/// A server on the sample, with the shipped policy.
pub fn serve() -> Server {
    home(CONTEXT).serve_with(&[SAMPLE])
}

pub fn question(user: &str, of: &str, text: &str) -> Value {
    json!({"question": text, "conversation_id": of, "nickname": "Ana", "client_id": user})
}

/// Asks what must be answered.
#[track_caller]
pub fn ask(client: &Client, user: &str, of: &str, text: &str) -> Value {
    client.post("/ask", question(user, of, text)).ok()
}

/// The name of the course of a request.
#[track_caller]
pub fn course_of(answer: &Answer) -> String {
    answer.header("x-novelo-trace-id").unwrap_or_else(|| panic!("no trace is named: {:?}", answer.headers)).to_owned()
}

/// The name of the course of a question that a user asked.
pub fn course(client: &Client, user: &str) -> String {
    course_of(&client.post("/ask", question(user, "t", "preço do HGLG11")))
}

/// Why a question inherited what it did.
pub fn reason(answer: &Value) -> &str {
    answer["meta"]["reference"]["reason"].as_str().unwrap()
}

/// The values of one column of the rows, each once, in order.
pub fn column<'a>(answer: &'a Value, name: &str) -> Vec<&'a str> {
    let mut values: Vec<&str> =
        answer["results"].as_array().unwrap().iter().map(|row| row[name].as_str().unwrap()).collect();
    values.dedup();
    values
}

/// The funds that the rows are of.
pub fn tickers(answer: &Value) -> Vec<&str> {
    column(answer, "ticker")
}

/// Where the references of a conversation are.
pub fn references(user: &str, of: &str) -> String {
    format!("/v1/docs/users/{}/convo.sessions/{}/references/last", enc(user), enc(of))
}

/// The reference of a conversation that has one.
#[track_caller]
pub fn reference(client: &Client, user: &str, of: &str) -> Value {
    client.get(&references(user, of)).ok()["value"]["last"].clone()
}

/// The turns of a conversation, as they are stored.
pub fn turns(client: &Client, user: &str, of: &str) -> Vec<Value> {
    client.get(&thread(user, of, "/turns?last=1000")).ok()["turns"].as_array().unwrap().clone()
}

/// Asserts that nothing of a conversation is kept.
#[track_caller]
pub fn is_gone(client: &Client, user: &str, of: &str) {
    assert_eq!(turns(client, user, of), Vec::<Value>::new());
    client.get(&references(user, of)).refused(404, "not_found");
}

/// The file of the sample, which the server made.
pub fn sample_file(home: &Home) -> PathBuf {
    let is_sample = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "db");
    files(&home.data()).into_iter().find(is_sample).unwrap()
}

/// The sample, read without the server.
pub fn sample(home: &Home) -> Connection {
    Connection::open_with_flags(sample_file(home), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

/// The rows of a query, as answers tell them.
pub fn rows(database: &Connection, sql: &str, parameters: &[&dyn ToSql]) -> Value {
    let mut statement = database.prepare(sql).unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let cell = |value: ValueRef<'_>| match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => std::str::from_utf8(text).unwrap().into(),
        ValueRef::Blob(_) => panic!("a blob is in {sql}"),
    };
    let row = |row: &rusqlite::Row<'_>| {
        names.iter().enumerate().map(|(n, name)| Ok((name.clone(), cell(row.get_ref(n)?)))).collect()
    };
    let rows: rusqlite::Result<Vec<Value>> = statement.query_map(parameters, row).unwrap().collect();
    rows.unwrap().into()
}

/// Asserts that an answer is allowed by the contract, and that nothing broke on the way to it.
#[track_caller]
pub fn is_decent(answer: &Answer, allowed: &[u16], about: &str) {
    assert!(allowed.contains(&answer.status), "{about}: {} {}", answer.status, answer.text());
}

/// Asserts that no thread of the server panicked.
#[track_caller]
pub fn never_panicked(home: &Home) {
    let log = std::fs::read_to_string(home.path("stderr.log")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
}
