//! `novelo ask-init`: a database of one's own is answered about at once.

use rusqlite::Connection;

use crate::support::asking::ask;
use crate::support::{Home, Server, Value, json};

const SHOP: &str = "
    CREATE TABLE products (id INTEGER PRIMARY KEY, sku TEXT, name TEXT, price REAL, stock INTEGER);
    INSERT INTO products VALUES (1, 'TE-01', 'Green Tea', 4.5, 10), (2, 'TE-02', 'Black Tea', 3.25, 0), (3, 'CO-01', 'Coffee Beans', 9.9, 7);
    CREATE TABLE sales (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES products(id), sold_on TEXT, quantity INTEGER, revenue REAL);
    INSERT INTO sales VALUES (1, 1, '2025-01-10', 2, 9.0), (2, 1, '2025-02-03', 5, 22.5), (3, 2, '2025-02-20', 4, 13.0), (4, 3, '2025-03-01', 1, 9.9);
    CREATE VIEW revenue_by_product AS SELECT p.name AS product, sum(s.revenue) AS income FROM sales s JOIN products p ON p.id = s.product_id GROUP BY p.name;
";
const LOJA: &str = "
    CREATE TABLE produtos (codigo TEXT PRIMARY KEY, nome TEXT, preco REAL);
    INSERT INTO produtos VALUES ('CH01', 'Erva Mate', 12.5), ('CH02', 'Camomila', 8.0), ('CH03', 'Hortelã', 9.75);
    CREATE TABLE \"vendas da loja\" (produto TEXT, data TEXT, quantidade INTEGER);
    INSERT INTO \"vendas da loja\" VALUES ('CH01', '05/03/2025', 10), ('CH01', '20/03/2025', 20), ('CH02', '21/03/2025', 6), ('CH01', '02/04/2025', 90);
";
const LAVKA: &str = "
    CREATE TABLE товары (код TEXT PRIMARY KEY, название TEXT, цена REAL);
    INSERT INTO товары VALUES ('Ч1', 'Самовар', 5400.0), ('Ч2', 'Заварник', 1250.0);
    CREATE TABLE продажи (товар TEXT, дата INTEGER, количество INTEGER);
    INSERT INTO продажи VALUES ('Ч1', 1741132800, 3), ('Ч1', 1742428800, 5), ('Ч2', 1743552000, 8);
";
const WEATHER: &str = "
    CREATE TABLE measurements (city TEXT, measured_on INTEGER, temperature REAL);
    INSERT INTO measurements VALUES ('Lisbon', 20250301, 14.0), ('Lisbon', 20250302, 16.0), ('Lisbon', 20250401, 19.0),
        ('Porto', 20250301, 11.0), ('Porto', 20250302, 13.0);
";

/// A server on a database, with the catalogue that the command makes of it.
fn serve(script: &str) -> (Server, Value) {
    let home = Home::new();
    let path = home.path("own.sqlite");
    Connection::open(&path).unwrap().execute_batch(script).unwrap();
    let made: Value = serde_json::from_str(&home.done(&["ask-init", "own.sqlite", "--json"])).unwrap();
    let server = home.serve_with(&[("NOVELO_ASK_DATABASE", path.to_str().unwrap())]);
    (server, made)
}

/// The values of a column, as they are in the rows.
fn values(answer: &Value, column: &str) -> Vec<Value> {
    answer["results"].as_array().unwrap().iter().map(|row| row[column].clone()).collect()
}

#[track_caller]
fn check(server: &Server, question: &str, column: &str, expected: &[Value]) {
    let answer = ask(server, "demo", question, question);
    assert_eq!(answer["status"], "ok", "{question}: {answer}");
    assert_eq!(values(&answer, column), expected, "{question}: {answer}");
}

#[test]
fn a_shop_in_english_is_answered_about() {
    let (server, made) = serve(SHOP);
    assert_eq!((&made["locale"], made["left_out"].as_array().unwrap().len()), (&json!("en"), 0), "{made}");
    check(&server, "list the products", "product", &[json!("CO-01"), json!("TE-01"), json!("TE-02")]);
    check(&server, "what is the price of TE-01?", "price", &[json!(4.5)]);
    let follow_up = |question: &str| ask(&server, "demo", "one conversation", question);
    assert_eq!(values(&follow_up("what is the price of the coffee beans?"), "price"), [json!(9.9)]);
    assert_eq!(values(&follow_up("list the products"), "price").len(), 3, "all of them, not the one spoken of");
    check(&server, "price of Black Tea", "price", &[json!(3.25)]);
    check(&server, "latest sales of Green Tea", "sold_on", &[json!("2025-02-03")]);
    check(&server, "average quantity of sales of Green Tea in February 2025", "avg_of_quantity", &[json!(5.0)]);
    check(&server, "total revenue of sales in February 2025", "revenue", &[json!(22.5), json!(13.0)]);
    check(&server, "income of Coffee Beans", "income", &[json!(9.9)]);
    let asked_back = ask(&server, "demo", "other", "price of TE-77");
    assert_eq!(asked_back["status"], "incomplete", "{asked_back}");
}

#[test]
fn a_shop_in_portuguese_with_a_table_of_several_words_is_answered_about() {
    let (server, made) = serve(LOJA);
    assert_eq!(made["locale"], "pt", "{made}");
    check(&server, "liste os produtos", "produto", &[json!("CH01"), json!("CH02"), json!("CH03")]);
    check(&server, "qual o preço do CH02?", "preco", &[json!(8.0)]);
    check(&server, "preço da Erva Mate", "preco", &[json!(12.5)]);
    check(&server, "última venda do CH01", "quantidade", &[json!(90)]);
    check(&server, "quantidade média de vendas do CH01 em março de 2025", "avg_of_quantidade", &[json!(15.0)]);
}

#[test]
fn a_shop_in_russian_with_seconds_for_dates_is_answered_about() {
    let (server, made) = serve(LAVKA);
    assert_eq!(made["locale"], "ru", "{made}");
    check(&server, "покажи товары", "tovary", &[json!("Ч1"), json!("Ч2")]);
    check(&server, "цена Самовар", "tsena", &[json!(5400.0)]);
    check(&server, "последние продажи Самовар", "kolichestvo", &[json!(5)]);
    check(&server, "среднее количество продажи Самовар за март 2025", "avg_of_kolichestvo", &[json!(4.0)]);
}

#[test]
fn a_table_without_a_key_is_answered_about_by_its_repeated_names() {
    let (server, made) = serve(WEATHER);
    assert_eq!(made["tables"][0]["subjects"], json!(["city"]), "{made}");
    check(&server, "latest measurements in Lisbon", "temperature", &[json!(19.0)]);
    check(&server, "average temperature in Porto in March 2025", "avg_of_temperature", &[json!(12.0)]);
    check(&server, "average temperature in Lisbon in March 2025", "avg_of_temperature", &[json!(15.0)]);
    check(&server, "list measurements in Porto", "temperature", &[json!(13.0), json!(11.0)]);
}

#[test]
fn what_cannot_be_made_is_refused_and_nothing_is_replaced() {
    let home = Home::new();
    home.run(&["ask-init", "none.sqlite"]).failed(&["there is no file none.sqlite"]);
    home.write("text.sqlite", "This is no database, however long it is.".repeat(100).as_str());
    home.run(&["ask-init", "text.sqlite"]).failed(&["text.sqlite is not a SQLite database"]);
    Connection::open(home.path("empty.sqlite")).unwrap().execute_batch("CREATE TABLE t (a); DROP TABLE t").unwrap();
    home.run(&["ask-init", "empty.sqlite"]).failed(&["empty.sqlite has no tables"]);
    Connection::open(home.path("bare.sqlite")).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    home.run(&["ask-init", "bare.sqlite"]).failed(&["no table that can be asked about", "t: it has no rows"]);
    let odd = "CREATE TABLE \"→→\" (a TEXT); INSERT INTO \"→→\" VALUES ('x')";
    Connection::open(home.path("odd.sqlite")).unwrap().execute_batch(odd).unwrap();
    home.run(&["ask-init", "odd.sqlite"]).failed(&["no letters that a file can have"]);
    Connection::open(home.path("shop.sqlite")).unwrap().execute_batch(SHOP).unwrap();
    home.run(&["ask-init", "shop.sqlite", "--locale", "de"]).failed(&["--locale must be pt, en or ru"]);
    let said = home.done(&["ask-init", "shop.sqlite", "--to", "mine"]);
    assert!(said.contains("mine/ontology.yaml") && said.contains("ask.database = "), "{said}");
    home.write("mine/ontology.yaml", "ontology: {}");
    home.run(&["ask-init", "shop.sqlite", "--to", "mine"]).failed(&["mine/ontology.yaml is there already", "--force"]);
    assert_eq!(std::fs::read_to_string(home.path("mine/ontology.yaml")).unwrap(), "ontology: {}");
    home.done(&["ask-init", "shop.sqlite", "--to", "mine", "--force"]);
    assert!(std::fs::read_to_string(home.path("mine/ontology.yaml")).unwrap().contains("locale: en"));
}
