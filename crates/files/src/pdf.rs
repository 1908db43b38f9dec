//! PDF: the text that a page draws, glyph by glyph.
//!
//! Owns the small machine that follows where text is drawn; `hayro-syntax` reads the file, `hayro-font` says
//! which letters a code stands for. Pictures are not looked at.

use std::sync::Arc;

use hayro_cmap::BfString;
use hayro_font::{Font, FontCache, FontGlyph, FontQuery, FontResolverFn};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction as Op;
use hayro_syntax::object::dict::keys::{FORM, MATRIX, RESOURCES, SUBTYPE};
use hayro_syntax::object::{Array, Dict, Name, Number, Object, Stream};
use hayro_syntax::page::Resources;
use hayro_syntax::{LoadPdfError, Pdf};
use novelo_engine::limits::READ_TEXT_BYTES_MAX;

use super::pdf_lines::{Lines, Placed, into_sections};
use super::{FileSection, too_much_text};

/// Saved states, and drawings inside of drawings; deeper ones are left out.
const STATES_MAX: usize = 512;
const FORMS_DEEP_MAX: usize = 12;

pub(super) fn read(bytes: &[u8]) -> Result<Vec<FileSection>, String> {
    let pdf = Pdf::new(bytes.to_vec()).map_err(|error| match error {
        LoadPdfError::Decryption(_) => "is encrypted and needs a password".to_owned(),
        LoadPdfError::Invalid => "is no PDF that can be read".to_owned(),
    })?;
    let fonts = Fonts::new();
    let (mut pages, mut text_bytes, mut unread) = (Vec::new(), 0, 0);
    for page in pdf.pages().iter() {
        let mut machine = Machine::new(&fonts);
        machine.run(page.typed_operations(), page.resources(), 0);
        unread += machine.unread;
        let lines = machine.lines.finish();
        text_bytes += lines.iter().map(|line| line.text.len()).sum::<usize>();
        if text_bytes > READ_TEXT_BYTES_MAX {
            return Err(too_much_text());
        }
        pages.push(lines);
    }
    if text_bytes > 0 && unread * 2 > text_bytes {
        return Err("has fonts that do not say which letters they show".into());
    }
    let sections = into_sections(pages);
    match sections.is_empty() {
        true if unread > 0 => Err("has fonts that do not say which letters they show".into()),
        true => Err("has no text: its pages may be pictures, as of a scan".into()),
        false => Ok(sections),
    }
}

/// The fonts of a file, each read once.
struct Fonts<'a> {
    cache: FontCache<'a>,
    standard: FontResolverFn,
    cmaps: hayro_font::CMapResolverFn,
}

impl<'a> Fonts<'a> {
    fn new() -> Self {
        let standard: FontResolverFn = Arc::new(|query| {
            let font = match query {
                FontQuery::Standard(font) => *font,
                FontQuery::Fallback(query) => query.pick_standard_font(),
            };
            Some(font.get_font_data())
        });
        Self { cache: FontCache::new(), standard, cmaps: Arc::new(hayro_cmap::load_embedded) }
    }

    fn get(&self, dict: &Dict<'a>) -> Option<Font<'a>> {
        self.cache.font(dict, &self.standard, &self.cmaps)
    }
}

/// `[a b c d e f]` of a transformation.
#[derive(Debug, Clone, Copy)]
struct Matrix([f64; 6]);

impl Matrix {
    const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    fn moved(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// This one first, the other one after it.
    fn then(self, other: Self) -> Self {
        let ([a, b, c, d, e, f], [oa, ob, oc, od, oe, of]) = (self.0, other.0);
        Self([
            a * oa + b * oc,
            a * ob + b * od,
            c * oa + d * oc,
            c * ob + d * od,
            e * oa + f * oc + oe,
            e * ob + f * od + of,
        ])
    }
}

#[derive(Clone)]
struct State<'a> {
    ctm: Matrix,
    font: Option<Font<'a>>,
    size: f64,
    letter_gap: f64,
    word_gap: f64,
    stretch: f64,
    leading: f64,
    rise: f64,
}

struct Machine<'f, 'a> {
    fonts: &'f Fonts<'a>,
    state: State<'a>,
    saved: Vec<State<'a>>,
    /// Where the next glyph goes, and where the line began.
    glyph_at: Matrix,
    line_at: Matrix,
    lines: Lines,
    /// Glyphs whose letters are not known.
    unread: usize,
}

impl<'f, 'a> Machine<'f, 'a> {
    fn new(fonts: &'f Fonts<'a>) -> Self {
        let state = State {
            ctm: Matrix::IDENTITY,
            font: None,
            size: 0.0,
            letter_gap: 0.0,
            word_gap: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
        };
        let (glyph_at, line_at) = (Matrix::IDENTITY, Matrix::IDENTITY);
        Self { fonts, state, saved: Vec::new(), glyph_at, line_at, lines: Lines::default(), unread: 0 }
    }

    fn run(&mut self, mut operations: TypedIter<'_>, resources: &Resources<'a>, depth: usize) {
        while let Some(operation) = operations.next() {
            if self.lines.bytes() > READ_TEXT_BYTES_MAX {
                return;
            }
            match operation {
                Op::SaveState(_) if self.saved.len() < STATES_MAX => self.saved.push(self.state.clone()),
                Op::RestoreState(_) => self.state = self.saved.pop().unwrap_or_else(|| self.state.clone()),
                Op::Transform(m) => {
                    self.state.ctm = matrix([m.0, m.1, m.2, m.3, m.4, m.5]).then(self.state.ctm);
                }
                Op::XObject(name) if depth < FORMS_DEEP_MAX => self.draw_form(name.0, resources, depth),
                other => self.run_text(other, resources),
            }
        }
    }

    fn run_text(&mut self, operation: Op<'_, '_>, resources: &Resources<'a>) {
        let state = &mut self.state;
        match operation {
            Op::CharacterSpacing(it) => state.letter_gap = it.0.as_f64(),
            Op::WordSpacing(it) => state.word_gap = it.0.as_f64(),
            Op::HorizontalScaling(it) => state.stretch = it.0.as_f64() / 100.0,
            Op::TextLeading(it) => state.leading = it.0.as_f64(),
            Op::TextRise(it) => state.rise = it.0.as_f64(),
            Op::TextFont(it) => {
                state.font = resources.get_font(it.0).and_then(|dict| self.fonts.get(&dict));
                state.size = it.1.as_f64();
            }
            Op::BeginText(_) => (self.glyph_at, self.line_at) = (Matrix::IDENTITY, Matrix::IDENTITY),
            Op::SetTextMatrix(m) => {
                self.line_at = matrix([m.0, m.1, m.2, m.3, m.4, m.5]);
                self.glyph_at = self.line_at;
            }
            Op::NextLine(it) => self.next_line(it.0.as_f64(), it.1.as_f64()),
            Op::NextLineAndSetLeading(it) => {
                state.leading = -it.1.as_f64();
                self.next_line(it.0.as_f64(), it.1.as_f64());
            }
            Op::NextLineUsingLeading(_) => self.next_line(0.0, -self.state.leading),
            Op::ShowText(it) => self.show(it.0.as_bytes()),
            Op::NextLineAndShowText(it) => {
                self.next_line(0.0, -self.state.leading);
                self.show(it.0.as_bytes());
            }
            Op::ShowTextWithParameters(it) => {
                (self.state.word_gap, self.state.letter_gap) = (it.0.as_f64(), it.1.as_f64());
                self.next_line(0.0, -self.state.leading);
                self.show(it.2.as_bytes());
            }
            Op::ShowTexts(it) => self.show_parts(it.0),
            _ => {}
        }
    }

    fn next_line(&mut self, x: f64, y: f64) {
        self.line_at = Matrix::moved(x, y).then(self.line_at);
        self.glyph_at = self.line_at;
    }

    fn show_parts(&mut self, parts: &Array<'_>) {
        for part in parts.iter::<Object<'_>>() {
            match part {
                Object::String(text) => self.show(text.as_bytes()),
                Object::Number(back) => {
                    let back = -back.as_f64() / 1000.0 * self.state.size;
                    self.advance(back * self.state.stretch, back);
                }
                _ => {}
            }
        }
    }

    /// Moves on along the line, which runs down in vertical writing.
    fn advance(&mut self, across: f64, down: f64) {
        let is_horizontal = self.state.font.as_ref().is_none_or(Font::is_horizontal);
        let moved = if is_horizontal { Matrix::moved(across, 0.0) } else { Matrix::moved(0.0, down) };
        self.glyph_at = moved.then(self.glyph_at);
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else { return };
        let mut at = 0;
        while at < bytes.len() {
            let (code, length) = font.read_code(bytes, at);
            at += length.max(1);
            let State { size, stretch, letter_gap, word_gap, rise, ctm, .. } = self.state;
            let (across, down) = (font.code_advance(code).x, font.code_advance(code).y);
            let gap = letter_gap + if length == 1 && code == 32 { word_gap } else { 0.0 };
            let place = Matrix([size * stretch, 0.0, 0.0, size, 0.0, rise]).then(self.glyph_at).then(ctm);
            match letters(&font, code) {
                Some(letters) => self.lines.add(&Placed { letters, matrix: place.0, width: across / 1000.0 }),
                None => self.unread += 1,
            }
            self.advance((across / 1000.0 * size + gap) * stretch, down / 1000.0 * size + gap);
        }
    }

    fn draw_form(&mut self, name: &Name<'_>, resources: &Resources<'a>, depth: usize) {
        let Some(form) = resources.get_x_object(name) else { return };
        let dict = form.dict();
        if dict.get::<Name<'_>>(SUBTYPE).is_none_or(|kind| &*kind != FORM) {
            return;
        }
        let Ok(content) = Stream::decoded_data(&form) else { return };
        let own = dict.get::<Dict<'a>>(RESOURCES).map(Resources::new);
        let placed = dict.get::<Array<'_>>(MATRIX).map_or(Matrix::IDENTITY, |it| {
            let numbers: Vec<f64> = it.iter::<f64>().collect();
            <[f64; 6]>::try_from(numbers).map_or(Matrix::IDENTITY, Matrix)
        });
        let (state, saved) = (self.state.clone(), std::mem::take(&mut self.saved));
        self.state.ctm = placed.then(self.state.ctm);
        self.run(TypedIter::new(&content), own.as_ref().unwrap_or(resources), depth + 1);
        (self.state, self.saved) = (state, saved);
    }
}

fn matrix(numbers: [Number; 6]) -> Matrix {
    Matrix(numbers.map(|number| number.as_f64()))
}

/// The letters that a code stands for.
fn letters(font: &Font<'_>, code: u32) -> Option<String> {
    let letters = match font.glyph(font.map_code(code), code) {
        FontGlyph::Outline(glyph) => glyph.as_unicode(),
        FontGlyph::Type3(glyph) => glyph.as_unicode(),
    };
    match letters? {
        BfString::Char(c) => Some(c.to_string()),
        BfString::String(text) => Some(text),
    }
}
