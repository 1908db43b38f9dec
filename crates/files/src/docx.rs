//! Word documents: headings by their styles, lists, tables, notes.

use rustc_hash::FxHashMap;

use super::pack::{Pack, XmlEvent, attribute, local_name, walk_xml};
use super::prose::Prose;

pub(super) fn read(bytes: &[u8], prose: &mut Prose) -> Result<(), String> {
    let mut pack = Pack::open(bytes)?;
    let body = pack.needed("word/document.xml")?;
    let styles = pack.text("word/styles.xml")?.map(|text| read_styles(&text)).transpose()?.unwrap_or_default();
    add_paragraphs(&body, &styles, prose)?;
    for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(notes) = pack.text(notes)? {
            prose.paragraph();
            add_paragraphs(&notes, &styles, prose)?;
        }
    }
    Ok(())
}

/// What a style makes of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Heading(u8),
    Item,
}

type Styles = FxHashMap<String, Style>;

/// Headings and items by the ids of their styles. Ids are in the language of the author, names are not.
fn read_styles(styles: &str) -> Result<Styles, String> {
    let mut known = Styles::default();
    let mut style = None;
    walk_xml(styles, |event| {
        let XmlEvent::Start(tag) = event else { return };
        let value = || attribute(tag, "val").unwrap_or_default().to_lowercase();
        let found = match local_name(tag) {
            "style" => {
                style = attribute(tag, "styleId");
                None
            }
            "name" if value() == "title" => Some(Style::Heading(1)),
            "name" => value().strip_prefix("heading ").and_then(|level| level.parse().ok()).map(Style::Heading),
            "outlineLvl" => outline_level(&value()).map(Style::Heading),
            "numPr" => Some(Style::Item),
            _ => None,
        };
        if let (Some(style), Some(found)) = (&style, found) {
            // A numbered heading is a heading.
            let slot = known.entry(style.clone()).or_insert(found);
            *slot = if found == Style::Item { *slot } else { found };
        }
    })?;
    Ok(known)
}

/// Levels count from 0; 9 is text.
fn outline_level(value: &str) -> Option<u8> {
    value.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}

fn add_paragraphs(xml: &str, styles: &Styles, prose: &mut Prose) -> Result<(), String> {
    let (mut is_text, mut is_heading, mut fallbacks) = (false, false, 0_usize);
    walk_xml(xml, |event| match event {
        // The same drawing again, for programs that do not know its newer form.
        XmlEvent::Start(tag) if fallbacks > 0 || local_name(tag) == "Fallback" => {
            fallbacks += usize::from(local_name(tag) == "Fallback");
        }
        XmlEvent::End("Fallback") => fallbacks = fallbacks.saturating_sub(1),
        _ if fallbacks > 0 => {}
        XmlEvent::Start(tag) => match local_name(tag) {
            "t" => is_text = true,
            "p" => {
                is_heading = false;
                prose.paragraph();
            }
            "pStyle" | "outlineLvl" => {
                let value = attribute(tag, "val").unwrap_or_default();
                let level = outline_level(&value).filter(|_| local_name(tag) == "outlineLvl").map(Style::Heading);
                match level.or_else(|| styles.get(&value).copied()) {
                    Some(Style::Heading(level)) => {
                        is_heading = true;
                        prose.heading(level);
                    }
                    Some(Style::Item) => prose.item(),
                    None => {}
                }
            }
            "numPr" if !is_heading => prose.item(),
            "tab" | "ptab" => prose.text(" "),
            "br" | "cr" => prose.line(),
            "noBreakHyphen" => prose.text("-"),
            "tbl" => prose.begin_table(),
            "tr" => prose.begin_row(),
            "tc" => prose.begin_cell(false, 1),
            "gridSpan" => {
                let span = attribute(tag, "val").and_then(|span| span.parse().ok()).unwrap_or(1);
                prose.widen_cell(span);
            }
            _ => {}
        },
        XmlEvent::Text(text) if is_text => prose.text(&text),
        XmlEvent::Text(_) => {}
        XmlEvent::End(name) => match name {
            "t" => is_text = false,
            "p" => prose.paragraph(),
            "tc" => prose.end_cell(),
            "tr" => prose.end_row(),
            "tbl" => prose.end_table(true),
            _ => {}
        },
    })
}
