//! Files as programs write them, small; and files that mean harm.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

fn packed(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in members {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn text(format: FileFormat, bytes: &[u8]) -> String {
    let sections = read(format, bytes).unwrap();
    assert_eq!(sections.len(), 1);
    sections[0].text.clone()
}

/// A PDF with a page for each content, in Helvetica.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 4 + at * 2)).collect();
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()),
        font.to_owned(),
    ];
    for (at, content) in pages.iter().enumerate() {
        let own = 5 + at * 2;
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {own} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let (mut bytes, mut places) = (b"%PDF-1.4\n".to_vec(), Vec::new());
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        writeln!(bytes, "{} 0 obj\n{object}\nendobj", at + 1).unwrap();
    }
    let start = bytes.len();
    writeln!(bytes, "xref\n0 {}\n0000000000 65535 f ", objects.len() + 1).unwrap();
    places.iter().for_each(|place| writeln!(bytes, "{place:010} 00000 n ").unwrap());
    write!(bytes, "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF", objects.len() + 1).unwrap();
    bytes
}

#[test]
fn files_are_told_by_their_names_and_first_bytes() {
    use FileClass::*;
    for (name, head, class) in [
        ("a/b.txt", &b"text"[..], Plain),
        ("a.pdf", b"%PDF-1.7", Format(FileFormat::Pdf)),
        ("a.pdf", b"\n\n%PDF-1.7", Format(FileFormat::Pdf)),
        ("scan", b"%PDF-1.7", Format(FileFormat::Pdf)),
        ("notes.pdf", b"only a text", Plain),
        ("A.DOCX", b"PK\x03\x04", Format(FileFormat::Docx)),
        ("a.xlsx", b"PK\x03\x04", Format(FileFormat::Sheet)),
        ("a.xls", b"\xd0\xcf\x11\xe0\0", Format(FileFormat::Sheet)),
        ("a.epub", b"PK\x03\x04", Format(FileFormat::Epub)),
        ("a.zip", b"PK\x03\x04\0", Binary),
        ("a.html", b"<p>", Format(FileFormat::Html)),
        ("a.htm", b"<?xml version='1.0'?><html>", Format(FileFormat::Xhtml)),
        ("a.csv", b"a;b", Format(FileFormat::Csv)),
        ("a.csv", b"\xff\xfea\0;\0", Format(FileFormat::Csv)),
        ("a.csv", b"a\0b", Binary),
        ("a.png", b"\x89PNG\0", Binary),
        ("a.svg", b"<svg>", NotProse("an SVG drawing")),
        ("Cargo.lock", b"version = 4", NotProse("a lock file")),
        ("web/package-lock.json", b"{}", NotProse("a lock file")),
        ("app.js.map", b"{\"version\":3}", NotProse("a source map")),
        ("site.map", b"Legend: north is up", Plain),
        ("jquery.min.js", b"!function(){}", NotProse("minified code")),
        ("app.js", "f();".repeat(400).as_bytes(), NotProse("minified code")),
        ("app.js", "function f() {\n  g();\n}\n".repeat(99).as_bytes(), Plain),
        ("data.json", "[1,2],".repeat(400).as_bytes(), Plain),
    ] {
        assert_eq!(classify(name, head), class, "{name}");
    }
    for (format, name) in FileFormat::ALL {
        assert_eq!(FileFormat::from_name(name), Some(format));
        assert_eq!(format.name(), name);
    }
}

#[test]
fn a_page_keeps_its_headings_lists_tables_and_link_texts() {
    let page = "<!doctype html><title>Tea</title><style>p{}</style><script>if (a<b) evil()</script>
        <h1>Opening  <em>hours</em></h1><p>Open from <a href='x'>nine</a> to five&nbsp;&mdash; daily.<p>Two
        <ul><li>green<li>black</ul><svg><text>drawn</text></svg>
        <table><tr><th>Day<th>Opens<tr><td>Monday<td>9<tr><td>Sunday<td></table>
        <table><tr><td>lay<td>out</table><pre>a\n  b</pre><img alt='A cup'>";
    assert_eq!(
        text(FileFormat::Html, page.as_bytes()),
        "# Tea\n\n# Opening hours\n\nOpen from nine to five — daily.\n\nTwo\n- green\n- black\n\n\
         Day | Opens\nDay: Monday | Opens: 9\nDay: Sunday\n\nlay | out\n\na\n  b\n\nA cup"
    );
    assert_eq!(text(FileFormat::Xhtml, b"<?xml version='1.0'?><html><script src='a'/><p>Seen</p></html>"), "Seen");
    assert_eq!(text(FileFormat::Html, b"<meta charset=koi8-r><p>\xf7\xcf\xc4\xc1"), "Вода");
    assert_eq!(text(FileFormat::Html, b"<p>caf\xe9"), "café");
    let spread = b"<table><tr><th colspan=2>Name<th>Age<tr><td>Ana<td>Lima<td>9</table>";
    assert_eq!(text(FileFormat::Html, spread), "Name | Age\nName: Ana | Lima | Age: 9");
}

#[test]
fn rows_carry_the_names_of_their_columns() {
    let expect = "Fund | Yield\nFund: HGLG11 | Yield: 9,5\nFund: KNRI11 | Yield: 8";
    for (separator, mark) in [(';', ""), ('\t', ""), (',', "\u{feff}"), ('|', "")] {
        let rows = ["Fund_Yield", "HGLG11_\"9,5\"", "KNRI11_8"].join("\n").replace('_', &separator.to_string());
        assert_eq!(text(FileFormat::Csv, format!("{mark}{rows}\n").as_bytes()), expect, "{separator}");
    }
    assert_eq!(text(FileFormat::Csv, b"1,2\n3,4\n"), "1 | 2\n3 | 4", "numbers are not names");
    assert_eq!(text(FileFormat::Csv, b"Pre\xe7o;Loja\n10;\"A\nB\"\n"), "Preço | Loja\nPreço: 10 | Loja: A B");
    let wide: Vec<u8> = "\u{feff}a;b\nç;1".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(text(FileFormat::Csv, &wide), "a | b\na: ç | b: 1");
}

#[test]
fn a_workbook_is_read_sheet_by_sheet() {
    let sheet = |rows: &str| {
        format!(
            r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
        )
    };
    let text_cell = |at: &str, value: &str| format!(r#"<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>"#);
    let row = |n: usize, cells: &[String]| format!(r#"<row r="{n}">{}</row>"#, cells.concat());
    let number = |at: &str, value: &str, style: u8| format!(r#"<c r="{at}" s="{style}"><v>{value}</v></c>"#);
    let first = sheet(
        &[
            row(1, &[text_cell("A1", "Sales of 2024")]),
            row(3, &[text_cell("A3", "Tea"), text_cell("B3", "Sold"), text_cell("C3", "On")]),
            row(
                4,
                &[text_cell("A4", "Oolong &amp; co"), number("B4", "0.30000000000000004", 0), number("C4", "45292", 1)],
            ),
            row(1_048_576, &[text_cell("A1048576", "the end")]),
        ]
        .concat(),
    );
    let types = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>"#;
    let package = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let workbook = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Teas" sheetId="1" r:id="rId1"/><sheet name="Cups" sheetId="2" r:id="rId2"/></sheets></workbook>"#;
    let rels = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet2.xml"/></Relationships>"#;
    let styles = r#"<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>"#;
    let bytes = packed(&[
        ("[Content_Types].xml", types),
        ("_rels/.rels", package),
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", rels),
        ("xl/styles.xml", styles),
        ("xl/worksheets/sheet1.xml", &first),
        ("xl/worksheets/sheet2.xml", &sheet(&row(1, &[text_cell("A1", "Alone"), text_cell("B1", "here")]))),
    ]);
    assert_eq!(
        text(FileFormat::Sheet, &bytes),
        "## Teas\n\nSales of 2024\nTea | Sold | On\nTea: Oolong & co | Sold: 0.3 | On: 2024-01-01\nTea: the end\n\n\
         ## Cups\n\nAlone | here"
    );
}

const WORD: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="m""#;

fn docx(body: &str) -> Vec<u8> {
    let styles = format!(
        r#"<w:styles {WORD}><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/><w:numPr/></w:style><w:style w:styleId="Punkt"><w:name w:val="List Bullet"/><w:numPr/></w:style></w:styles>"#
    );
    let body = format!("<?xml version=\"1.0\"?><w:document {WORD}><w:body>{body}</w:body></w:document>");
    packed(&[("word/document.xml", &body), ("word/styles.xml", &styles)])
}

#[test]
fn a_word_document_keeps_its_structure() {
    let p = |inner: &str| format!("<w:p>{inner}</w:p>");
    let t = |text: &str| format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>");
    let cell = |text: &str| format!("<w:tc>{}</w:tc>", p(&t(text)));
    let body = [
        p(&format!(r#"<w:pPr><w:pStyle w:val="berschrift2"/></w:pPr>{}"#, t("Hours"))),
        p(&format!("{}{}<w:r><w:delText>gone</w:delText></w:r>", t("We op"), t("en at 9 &amp; close &#233;arly"))),
        p(&format!("<w:pPr><w:numPr/></w:pPr>{}", t("one"))),
        p(&format!(r#"<w:pPr><w:pStyle w:val="Punkt"/></w:pPr>{}"#, t("two"))),
        format!(
            "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}</w:tr></w:tbl>",
            cell("Day"),
            cell("Opens"),
            cell("Monday"),
            cell("9")
        ),
        p(&format!(
            "<mc:AlternateContent><mc:Choice>{0}</mc:Choice><mc:Fallback>{0}</mc:Fallback></mc:AlternateContent>",
            t("Box")
        )),
    ];
    assert_eq!(
        text(FileFormat::Docx, &docx(&body.concat())),
        "## Hours\n\nWe open at 9 & close éarly\n- one\n- two\n\nDay | Opens\nDay: Monday | Opens: 9\n\nBox"
    );
}

#[test]
fn a_book_is_read_in_the_order_of_its_spine() {
    let container = r#"<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>"#;
    let book = r#"<package><metadata><dc:title>Tea &amp; Cups</dc:title></metadata><manifest>
        <item id="b" href="two.xhtml"/><item id="a" href="text/one%20a.xhtml#start"/><item id="c" href="unread.css"/>
        </manifest><spine><itemref idref="a"/><itemref idref="b"/><itemref idref="none"/></spine></package>"#;
    let bytes = packed(&[
        ("mimetype", "application/epub+zip"),
        ("META-INF/container.xml", container),
        ("OPS/book.opf", book),
        ("OPS/two.xhtml", "<html><h2>Two</h2><p>Cups.</p></html>"),
        ("OPS/text/one a.xhtml", "<html><script src='x'/><h2>One</h2><p>Tea.</p></html>"),
    ]);
    assert_eq!(text(FileFormat::Epub, &bytes), "# Tea & Cups\n\n## One\n\nTea.\n\n## Two\n\nCups.");
    assert!(read(FileFormat::Epub, &packed(&[("a", "b")])).unwrap_err().contains("META-INF/container.xml"));
}

#[test]
fn pages_of_a_pdf_are_sections_with_words_lines_and_headings() {
    let first = "BT /F1 24 Tf 72 770 Td (Tea House) Tj ET \
                 BT /F1 11 Tf 72 720 Td 14 TL (The house opens at nine in the morn-) Tj T* (ing, daily.) Tj ET \
                 BT /F1 11 Tf 72 660 Td [(A) -300 (new par) 20 (agraph) -250 (caf\\351)] TJ ET";
    let second = "q 1 0 0 1 10 10 cm BT /F1 11 Tf 1 0 0 1 72 700 Tm (Second page.) Tj ET Q";
    let sections = read(FileFormat::Pdf, &pdf(&[first, second, ""])).unwrap();
    let expect = "# Tea House\n\nThe house opens at nine in the morning, daily.\n\nA new paragraph café";
    let section = |page, text: &str| FileSection { page: Some(page), text: text.into() };
    assert_eq!(sections, [section(1, expect), section(2, "Second page.")]);
}

#[test]
fn running_heads_and_page_numbers_are_left_out() {
    let words = ["tea", "cups", "pots", "milk", "leaf"];
    let page = |(at, word): (usize, &&str)| {
        format!(
            "BT /F1 9 Tf 72 800 Td (Handbook of Tea) Tj ET BT /F1 9 Tf 72 700 Td (All about {word}.) Tj ET \
             BT /F1 9 Tf 300 20 Td (page {}) Tj ET",
            at * 7 + 1
        )
    };
    let pages: Vec<String> = words.iter().enumerate().map(page).collect();
    let sections = read(FileFormat::Pdf, &pdf(&pages.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
    assert_eq!(sections[2], FileSection { page: Some(3), text: "All about pots.".into() });
}

#[test]
fn a_pdf_without_text_says_so() {
    assert!(read(FileFormat::Pdf, &pdf(&["0 0 10 10 re f"])).unwrap_err().contains("pictures"));
    assert!(read(FileFormat::Pdf, b"%PDF-1.4 and no more").unwrap_err().contains("no PDF"));
}

#[test]
fn what_unpacks_to_too_much_is_refused() {
    let zeros = " ".repeat(65 * 1024 * 1024);
    let error = read(FileFormat::Docx, &packed(&[("word/document.xml", &zeros)])).unwrap_err();
    assert!(error.contains("unpacks to more than 64 MiB: word/document.xml"), "{error}");
    let long = format!("<w:p><w:r><w:t>{}</w:t></w:r></w:p>", "tea ".repeat(READ_TEXT_BYTES_MAX / 4 + 1));
    let error = read(FileFormat::Docx, &docx(&long)).unwrap_err();
    assert!(error.contains("READ_TEXT_BYTES_MAX"), "{error}");
}

#[test]
fn depth_costs_nothing() {
    let deep = "<table><tr><td>".repeat(50_000);
    assert_eq!(text(FileFormat::Html, format!("{deep}x").as_bytes()), "x");
    let deep = format!("{}<w:p><w:r><w:t>x</w:t></w:r></w:p>{}", "<w:x>".repeat(50_000), "</w:x>".repeat(50_000));
    assert_eq!(text(FileFormat::Docx, &docx(&deep)), "x");
    let billion = "<!DOCTYPE d [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]>";
    let bytes = packed(&[("word/document.xml", &format!("{billion}<d><w:t>x&b;</w:t></d>"))]);
    assert_eq!(text(FileFormat::Docx, &bytes), "x", "entities are not looked up");
}

proptest! {
    /// Errors, but no panic, whatever the bytes are.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0..7_usize) {
        let _read = read(FileFormat::ALL[at].0, &bytes);
    }

    #[test]
    fn any_page_is_read(page in "(<[a-z/!]{1,6}[ >]|[a-z &;]{1,5}){0,60}") {
        let _read = read(FileFormat::Html, page.as_bytes());
    }
}
