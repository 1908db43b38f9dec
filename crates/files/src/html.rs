//! HTML into text, tag by tag: no tree, so that depth costs nothing.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::prose::Prose;

/// Elements whose content is not for readers.
const HIDDEN: [&[u8]; 10] =
    [b"script", b"style", b"template", b"svg", b"iframe", b"object", b"canvas", b"noscript", b"select", b"nav"];

/// Elements that no menu has: one that is still open ends here.
const ENDS_NAV: [&[u8]; 4] = [b"main", b"article", b"h1", b"footer"];

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Markup {
    Html,
    /// In XML `<script/>` ends where it begins; in HTML it does not.
    Xml,
    /// A part of a book, whose title only repeats its heading.
    Chapter,
}

/// Elements that stand apart from what is around them.
const BLOCKS: [&[u8]; 22] = [
    b"p",
    b"div",
    b"section",
    b"article",
    b"aside",
    b"header",
    b"footer",
    b"main",
    b"ul",
    b"ol",
    b"dl",
    b"blockquote",
    b"figure",
    b"figcaption",
    b"form",
    b"fieldset",
    b"details",
    b"summary",
    b"address",
    b"hr",
    b"body",
    b"caption",
];

/// Adds the text of a page.
pub(super) fn read(text: &str, markup: Markup, prose: &mut Prose) {
    let is_xml = markup != Markup::Html;
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(!is_xml);
    let mut page = Page::default();
    for Ok(token) in Tokenizer::new_with_emitter(text, emitter) {
        match token {
            Token::StartTag(tag) => {
                let attribute = |name: &str| {
                    let value = tag.attributes.get(name.as_bytes())?;
                    Some(String::from_utf8_lossy(value).into_owned())
                };
                let is_empty = tag.self_closing && is_xml;
                match markup == Markup::Chapter && *tag.name == b"title"[..] {
                    true => page.hide(&tag.name, is_empty),
                    false => page.start(&tag.name, is_empty, attribute, prose),
                }
            }
            Token::EndTag(tag) => page.end(&tag.name, prose),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text), prose),
            _ => {}
        }
        if prose.is_full() {
            return;
        }
    }
    prose.paragraph();
}

#[derive(Default)]
struct Page {
    /// The element whose content is left out, and how many of it are open.
    hidden: Option<(Vec<u8>, usize)>,
    verbatim: usize,
}

impl Page {
    fn hide(&mut self, name: &[u8], is_empty: bool) {
        self.hidden = (!is_empty).then(|| (name.to_vec(), 1));
    }

    fn start(&mut self, name: &[u8], is_empty: bool, attribute: impl Fn(&str) -> Option<String>, prose: &mut Prose) {
        if let Some((hidden, depth)) = &mut self.hidden {
            if hidden != b"nav" || !ENDS_NAV.contains(&name) {
                *depth += usize::from(hidden == name && !is_empty);
                return;
            }
            self.hidden = None;
        }
        match name {
            _ if HIDDEN.contains(&name) => self.hide(name, is_empty),
            b"title" => prose.heading(1),
            [b'h', level @ b'1'..=b'6'] => prose.heading(level - b'0'),
            b"br" => prose.line(),
            b"dt" | b"dd" | b"option" | b"label" => prose.line(),
            b"li" => prose.item(),
            b"pre" => {
                prose.paragraph();
                self.verbatim += usize::from(!is_empty);
            }
            b"img" => prose.text(&attribute("alt").map(|alt| format!(" {alt} ")).unwrap_or_default()),
            b"table" => prose.begin_table(),
            b"tr" => prose.begin_row(),
            b"td" | b"th" => {
                let span = attribute("colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1);
                prose.begin_cell(name == b"th", span);
            }
            _ if BLOCKS.contains(&name) => prose.paragraph(),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8], prose: &mut Prose) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= usize::from(hidden == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        match name {
            b"title" | [b'h', b'1'..=b'6'] => prose.paragraph(),
            b"li" => prose.line(),
            b"pre" => {
                self.verbatim = self.verbatim.saturating_sub(1);
                prose.paragraph();
            }
            b"table" => prose.end_table(false),
            b"tr" => prose.end_row(),
            b"td" | b"th" => prose.end_cell(),
            _ if BLOCKS.contains(&name) => prose.paragraph(),
            _ => {}
        }
    }

    fn text(&self, text: &str, prose: &mut Prose) {
        match (&self.hidden, self.verbatim) {
            (Some(_), _) => {}
            (None, 0) => prose.text(text),
            (None, _) => prose.verbatim(text),
        }
    }
}
