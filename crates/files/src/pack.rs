//! Archives that documents come in, and the XML inside them.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::result::ZipError;

use super::encoding;

/// A member may unpack to so many bytes, whatever its header says.
const MEMBER_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) struct Pack<'b>(ZipArchive<Cursor<&'b [u8]>>);

impl<'b> Pack<'b> {
    pub(super) fn open(bytes: &'b [u8]) -> Result<Self, String> {
        let archive = ZipArchive::new(Cursor::new(bytes));
        archive.map(Self).map_err(|error| format!("is no archive that can be opened: {error}"))
    }

    /// The text of a member; `None` if there is no such member.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let member = match self.0.by_name(name) {
            Ok(member) => member,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(format!("cannot be unpacked: {name}: {error}")),
        };
        let mut bytes = Vec::new();
        let read = member.take(MEMBER_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("cannot be unpacked: {name}: {error}"))?;
        if bytes.len() as u64 > MEMBER_BYTES_MAX {
            return Err(format!("unpacks to more than {} MiB: {name}", MEMBER_BYTES_MAX / 1024 / 1024));
        }
        Ok(Some(encoding::decode(&bytes).into_owned()))
    }

    /// The text of a member that has to be there.
    pub(super) fn needed(&mut self, name: &str) -> Result<String, String> {
        self.text(name)?.ok_or_else(|| format!("is incomplete: it has no {name}"))
    }
}

/// What of XML matters here. Names come without their prefix.
pub(super) enum XmlEvent<'x> {
    Start(&'x BytesStart<'x>),
    End(&'x str),
    Text(Cow<'x, str>),
}

/// Walks through XML; an element without content starts and ends. What entities of a DTD stand for is not
/// looked up.
pub(super) fn walk_xml(text: &str, mut each: impl FnMut(XmlEvent<'_>)) -> Result<(), String> {
    let mut reader = Reader::from_str(text);
    loop {
        let event = reader.read_event();
        match event.map_err(|error| format!("has XML that cannot be read: {error}"))? {
            Event::Start(tag) => each(XmlEvent::Start(&tag)),
            Event::Empty(tag) => {
                each(XmlEvent::Start(&tag));
                each(XmlEvent::End(local_name(&tag)));
            }
            Event::End(tag) => each(XmlEvent::End(tag.local_name().into_inner())),
            Event::Text(text) => each(XmlEvent::Text(text.xml10_content())),
            Event::CData(text) => each(XmlEvent::Text(text.xml10_content())),
            Event::GeneralRef(entity) => {
                if let Some(known) = entity_text(&entity) {
                    each(XmlEvent::Text(known.into()));
                }
            }
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn entity_text(entity: &quick_xml::events::BytesRef<'_>) -> Option<String> {
    if let Ok(Some(c)) = entity.resolve_char_ref() {
        return Some(c.to_string());
    }
    let known = match &*entity.xml10_content() {
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "quot" => "\"",
        "apos" => "'",
        "nbsp" => " ",
        _ => return None,
    };
    Some(known.to_owned())
}

pub(super) fn local_name<'t>(tag: &'t BytesStart<'_>) -> &'t str {
    tag.local_name().into_inner()
}

/// An attribute by its name without a prefix.
pub(super) fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.attributes().filter_map(Result::ok).find(|it| it.key.local_name().into_inner() == name)?;
    Some(found.value.into_owned())
}
