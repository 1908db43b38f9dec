//! Files that need a parser: what is found in them, and that a hostile one costs nothing but an error.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::support::{Home, Value, json, user};

fn packed(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        let method = if *name == "mimetype" { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn put(home: &Home, name: &str, bytes: &[u8]) {
    home.write(name, "");
    std::fs::write(home.path(name), bytes).unwrap();
}

fn docx(text: &str) -> Vec<u8> {
    packed(&[("word/document.xml", &format!("<w:document><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:document>"))])
}

/// One page, without a table of objects: readers mend that.
fn pdf(text: &str) -> String {
    let content = format!("BT /F1 12 Tf 72 700 Td ({text}) Tj ET");
    format!(
        "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
         2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n\
         3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>\nendobj\n\
         4 0 obj\n<< /Length {} >>\nstream\n{content}\nendstream\nendobj\n\
         5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n\
         trailer << /Root 1 0 R >>\n%%EOF\n",
        content.len()
    )
}

/// A sheet of a hundred million cells in a few bytes.
fn huge_ods() -> Vec<u8> {
    let cell =
        r#"<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16000"/>"#;
    let rows = format!(r#"<table:table-row table:number-rows-repeated="6000">{cell}</table:table-row>"#);
    let content = format!(
        r#"<office:document-content xmlns:office="o" xmlns:table="t"><office:body><office:spreadsheet><table:table table:name="s">{rows}</table:table></office:spreadsheet></office:body></office:document-content>"#
    );
    packed(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", "<manifest:manifest/>"),
        ("content.xml", &content),
    ])
}

#[test]
fn documents_of_many_formats_are_found() {
    let home = Home::new();
    put(&home, "lib/menu.pdf", pdf("The zeppelin serves oolong.").as_bytes());
    put(&home, "lib/letter.docx", &docx("The walrus sings."));
    put(&home, "lib/page.html", b"<h1>Harbour</h1><p>The parrot sleeps.");
    put(&home, "lib/prices.csv", b"Tea;Price\nSencha;4,50\n");
    put(&home, "lib/logo.svg", b"<svg><text>zebra</text></svg>");
    put(&home, "lib/broken.docx", b"PK\x03\x04 and no more");
    let server = home.serve();
    let done = home.done(&["index", "lib"]);
    assert!(done.starts_with("4 files, 4 passages, skipped 1 not prose, 1 failed  lib\n"), "{done}");
    assert!(done.contains("  skipped broken.docx is no archive that can be opened"), "{done}");
    assert!(done.contains("  skipped logo.svg is an SVG drawing, not prose\n"), "{done}");

    let search = |query: &str| -> Value {
        server.post(&user("anonymous", "/documents/search"), json!({"query": query})).ok()["hits"][0].clone()
    };
    let hit = search("oolong");
    assert_eq!(
        (&hit["file"], &hit["page"], &hit["text"]),
        (&json!("menu.pdf"), &json!(1), &json!("The zeppelin serves oolong."))
    );
    assert_eq!(search("walrus")["file"], "letter.docx");
    assert_eq!(search("parrot")["text"], "# Harbour\n\nThe parrot sleeps.");
    assert_eq!(search("sencha")["text"], "Tea | Price\nTea: Sencha | Price: 4,50");
    let found = home.done(&["search", "anonymous", "oolong", "--in", "documents"]);
    assert!(found.contains("  lib/menu.pdf#page=1  The zeppelin"), "{found}");
    let asked = server.post("/api/ask", json!({"question": "What does the zeppelin serve?"})).ok();
    assert_eq!((&asked["sources"][0]["file"], &asked["sources"][0]["page"]), (&json!("menu.pdf"), &json!(1)));
}

#[test]
fn a_hostile_file_is_an_error_that_names_it_and_the_cause() {
    let home = Home::new();
    put(&home, "bomb.docx", &docx(&" ".repeat(65 * 1024 * 1024)));
    put(&home, "huge.ods", &huge_ods());
    put(&home, "cut.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type");
    let server = home.serve();
    for (file, cause) in [
        ("bomb.docx", "unpacks to more than 64 MiB: word/document.xml"),
        ("huge.ods", "READ_MEMORY_BYTES_MAX"),
        ("cut.pdf", "is no PDF that can be read"),
    ] {
        home.run(&["index", file]).failed(&[&format!("{file} "), cause]);
    }
    assert_eq!(server.get(&user("anonymous", "/documents")).ok()["documents"], json!([]), "nothing was stored");
    put(&home, "all/huge.ods", &huge_ods());
    put(&home, "all/good.html", b"<p>The parrot sleeps.");
    let done = home.done(&["index", "all"]);
    assert!(done.starts_with("1 files, 1 passages, skipped 1 failed  all\n  skipped huge.ods "), "{done}");
    assert_eq!(server.get("/health/ready").ok()["status"], "ok");
}

#[test]
fn a_file_that_became_unreadable_keeps_what_was_indexed() {
    let home = Home::new();
    put(&home, "a.docx", &docx("The walrus sings."));
    home.done(&["index", "a.docx"]);
    put(&home, "a.docx", b"PK\x03\x04");
    home.run(&["index", "a.docx"]).failed(&["a.docx is no archive"]);
    assert!(home.done(&["search", "anonymous", "walrus", "--in", "documents"]).contains("a.docx"));
}

#[test]
fn nothing_indexed_is_a_failure() {
    let home = Home::new();
    put(&home, "pictures/a.png", b"\x89PNG\0");
    home.write("notes/a.txt", "tea");
    std::fs::create_dir(home.path("empty")).unwrap();
    let ran = home.run(&["index", "pictures", "notes", "empty"]);
    assert!(
        ran.out.contains("  skipped a.png is binary\n") && ran.out.contains("1 files, 1 passages  notes"),
        "{ran:?}"
    );
    ran.failed(&["nothing was indexed of pictures, empty"]);
}
