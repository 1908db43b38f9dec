//! Books: the chapters in the order in which they are read.

use rustc_hash::FxHashMap;

use super::html::{self, Markup};
use super::pack::{Pack, XmlEvent, attribute, local_name, walk_xml};
use super::prose::Prose;

pub(super) fn read(bytes: &[u8], prose: &mut Prose) -> Result<(), String> {
    let mut pack = Pack::open(bytes)?;
    let book_at = first_attribute(&pack.needed("META-INF/container.xml")?, "rootfile", "full-path")?;
    let book_at = book_at.ok_or("is incomplete: its container names no book")?;
    let book = read_book(&pack.needed(&book_at)?)?;
    if !book.title.trim().is_empty() {
        prose.heading(1);
        prose.text(&book.title);
        prose.paragraph();
    }
    let folder = book_at.rsplit_once('/').map_or("", |(folder, _)| folder);
    for chapter in &book.chapters {
        let Some(text) = pack.text(&member_name(folder, chapter))? else { continue };
        html::read(&text, Markup::Chapter, prose);
        if prose.is_full() {
            break;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Book {
    title: String,
    /// The addresses of its chapters, relative to the file that lists them.
    chapters: Vec<String>,
}

fn first_attribute(xml: &str, element: &str, name: &str) -> Result<Option<String>, String> {
    let mut found = None;
    walk_xml(xml, |event| {
        if let XmlEvent::Start(tag) = event
            && local_name(tag) == element
            && found.is_none()
        {
            found = attribute(tag, name);
        }
    })?;
    Ok(found)
}

fn read_book(xml: &str) -> Result<Book, String> {
    let mut book = Book::default();
    let mut items: FxHashMap<String, String> = FxHashMap::default();
    let mut is_title = false;
    walk_xml(xml, |event| match event {
        XmlEvent::Start(tag) => match local_name(tag) {
            "title" => is_title = book.title.is_empty(),
            "item" => {
                let is_contents = attribute(tag, "properties").is_some_and(|it| it.split(' ').any(|it| it == "nav"));
                if let (Some(id), Some(at), false) = (attribute(tag, "id"), attribute(tag, "href"), is_contents) {
                    items.insert(id, at);
                }
            }
            "itemref" => {
                let chapter = attribute(tag, "idref").and_then(|id| items.get(&id));
                book.chapters.extend(chapter.cloned());
            }
            _ => {}
        },
        XmlEvent::End("title") => is_title = false,
        XmlEvent::Text(text) if is_title => book.title.push_str(&text),
        XmlEvent::Text(_) | XmlEvent::End(_) => {}
    })?;
    Ok(book)
}

/// The name of a member by its address, relative to a folder.
fn member_name(folder: &str, address: &str) -> String {
    let address = address.split(['#', '?']).next().unwrap_or(address);
    let mut parts: Vec<String> = folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    for part in address.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(unescape(part)),
        }
    }
    parts.join("/")
}

/// `%20` and its like as what they stand for.
fn unescape(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
