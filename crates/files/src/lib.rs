//! Files into text.
//!
//! Owns what a file is (by its name and its first bytes) and what it says: headings, paragraphs, lists, rows
//! of tables with the names of their columns, pages. Pure: bytes in, text out. A hostile file can make any
//! parser slow or hungry, so callers run [`read`] in a process with limits. Invariant: text beyond
//! `READ_TEXT_BYTES_MAX` is refused while it is made, not afterwards.

mod docx;
mod encoding;
mod epub;
mod html;
mod pack;
mod pdf;
mod pdf_lines;
mod prose;
mod sheet;

use novelo_engine::limits::READ_TEXT_BYTES_MAX;
use serde::{Deserialize, Serialize};

use self::html::Markup;
use self::prose::Prose;

/// A format that is read by a parser. Plain text needs none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    Pdf,
    Docx,
    /// XLSX, XLSB, XLS or ODS.
    Sheet,
    Csv,
    Html,
    /// HTML that is written as XML.
    Xhtml,
    Epub,
}

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileClass {
    /// Text as it stands, if it is UTF-8.
    Plain,
    Format(FileFormat),
    /// Text that nobody wrote to be read, and why.
    NotProse(&'static str),
    Binary,
}

/// A part of a file, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSection {
    /// From 1, where the file has pages.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub page: Option<u32>,
    pub text: String,
}

/// Bytes at the start of a file that are enough to classify it.
pub const HEAD_BYTES: usize = 8 * 1024;

impl FileFormat {
    const ALL: [(Self, &'static str); 7] = [
        (Self::Pdf, "pdf"),
        (Self::Docx, "docx"),
        (Self::Sheet, "sheet"),
        (Self::Csv, "csv"),
        (Self::Html, "html"),
        (Self::Xhtml, "xhtml"),
        (Self::Epub, "epub"),
    ];

    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(format, _)| *format)
    }
}

/// What a file is, by its name and the first [`HEAD_BYTES`] of its bytes.
pub fn classify(name: &str, head: &[u8]) -> FileClass {
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if let Some(format) = packed_format(extension, head) {
        return FileClass::Format(format);
    }
    if let Some(why) = generated(&name, extension, head) {
        return FileClass::NotProse(why);
    }
    let is_utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    if head.contains(&0) && !(is_utf16 && matches!(extension, "csv" | "tsv" | "html" | "htm")) {
        return FileClass::Binary;
    }
    match extension {
        "html" | "htm" if is_xml(head) => FileClass::Format(FileFormat::Xhtml),
        "xhtml" => FileClass::Format(FileFormat::Xhtml),
        "html" | "htm" => FileClass::Format(FileFormat::Html),
        "csv" | "tsv" => FileClass::Format(FileFormat::Csv),
        _ => FileClass::Plain,
    }
}

/// Formats that show in the first bytes. An archive is known by its name.
fn packed_format(extension: &str, head: &[u8]) -> Option<FileFormat> {
    const ZIP: &[u8] = b"PK\x03\x04";
    const COMPOUND: &[u8] = b"\xd0\xcf\x11\xe0";
    let start = head.get(..head.len().min(1024)).unwrap_or_default();
    if head.starts_with(b"%PDF-") || (extension == "pdf" && start.windows(5).any(|it| it == b"%PDF-")) {
        return Some(FileFormat::Pdf);
    }
    if head.starts_with(ZIP) {
        return match extension {
            "docx" | "docm" | "dotx" => Some(FileFormat::Docx),
            "xlsx" | "xlsm" | "xlsb" | "ods" => Some(FileFormat::Sheet),
            "epub" => Some(FileFormat::Epub),
            _ => None,
        };
    }
    (extension == "xls" && head.starts_with(COMPOUND)).then_some(FileFormat::Sheet)
}

fn is_xml(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"<?xml")
}

/// Why a text is not prose: drawings, and what programs write for programs.
fn generated(name: &str, extension: &str, head: &[u8]) -> Option<&'static str> {
    const LOCKS: [&str; 7] = [
        "package-lock.json",
        "npm-shrinkwrap.json",
        "pnpm-lock.yaml",
        "go.sum",
        "packages.lock.json",
        "bun.lockb",
        "flake.lock",
    ];
    let has_svg = || head.windows(4).take(2_000).any(|it| it == b"<svg");
    match extension {
        "svg" => Some("an SVG drawing"),
        "xml" if is_xml(head) && has_svg() => Some("an SVG drawing"),
        "map" if head.trim_ascii_start().starts_with(b"{") => Some("a source map"),
        "lock" => Some("a lock file"),
        _ if LOCKS.contains(&name) => Some("a lock file"),
        "js" | "mjs" | "cjs" | "css" if name.contains(".min.") || is_minified(head) => Some("minified code"),
        _ => None,
    }
}

/// Code that people write has lines; a minifier leaves next to none.
fn is_minified(head: &[u8]) -> bool {
    const LINE_BYTES_MEAN_MAX: usize = 300;
    head.len() > 1_000 && head.len() / head.split(|byte| *byte == b'\n').count().max(1) > LINE_BYTES_MEAN_MAX
}

/// Reads a file. The error says what is wrong with it, as the end of a sentence that names the file.
pub fn read(format: FileFormat, bytes: &[u8]) -> Result<Vec<FileSection>, String> {
    if format == FileFormat::Pdf {
        return pdf::read(bytes);
    }
    let mut prose = Prose::new(READ_TEXT_BYTES_MAX);
    match format {
        FileFormat::Pdf => {}
        FileFormat::Docx => docx::read(bytes, &mut prose)?,
        FileFormat::Sheet => sheet::read_workbook(bytes, &mut prose)?,
        FileFormat::Csv => sheet::read_csv(bytes, &mut prose)?,
        FileFormat::Html => html::read(&encoding::decode(bytes), Markup::Html, &mut prose),
        FileFormat::Xhtml => html::read(&encoding::decode(bytes), Markup::Xml, &mut prose),
        FileFormat::Epub => epub::read(bytes, &mut prose)?,
    }
    let text = prose.finish()?;
    match text.trim().is_empty() {
        true => Err("has no text".into()),
        false => Ok(vec![FileSection { page: None, text }]),
    }
}

/// That a file has more text than is taken.
fn too_much_text() -> String {
    format!("has more text than the cap READ_TEXT_BYTES_MAX, {READ_TEXT_BYTES_MAX} bytes")
}

#[cfg(test)]
mod tests;
