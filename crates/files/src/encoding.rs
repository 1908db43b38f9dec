//! Bytes into text, by the mark at their start, by what they are, or by what they say of themselves.

use std::borrow::Cow;

use encoding_rs::{Encoding, WINDOWS_1252};

/// Text in UTF-8 or UTF-16 as it is; else in the encoding that the first bytes declare; else in Windows-1252,
/// which spreadsheets and old pages are written in.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark..).unwrap_or_default()).0;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => declared(bytes).unwrap_or(WINDOWS_1252).decode_without_bom_handling(bytes).0,
    }
}

/// `charset=…` of a page or `encoding="…"` of XML.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(2_048))?).to_lowercase();
    let label = ["charset=", "encoding="].iter().find_map(|mark| {
        let (_, rest) = head.split_once(mark)?;
        let rest = rest.trim_start_matches(['"', '\'', ' ']);
        rest.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:".contains(c))).next()
    })?;
    // A file that says UTF-8 and is not: its bytes decide.
    Encoding::for_label(label.as_bytes()).filter(|encoding| *encoding != encoding_rs::UTF_8)
}
