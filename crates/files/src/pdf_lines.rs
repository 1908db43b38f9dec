//! Glyphs into lines, lines into paragraphs and headings.
//!
//! A PDF says where each glyph stands, and nothing of words or lines. Glyphs are taken in the order in which
//! they are drawn, which is the order of reading in nearly all files, columns included.

use rustc_hash::FxHashMap;

use super::FileSection;

/// Distances, in heights of the letters.
const WORD_GAP: f64 = 0.18;
const SAME_LINE: f64 = 0.45;
/// How much larger than the body letters of a heading are, and how long it is at most.
const HEADING: f64 = 1.14;
const TITLE: f64 = 1.6;
const HEADING_CHARS_MAX: usize = 120;
/// How much further than usual a line stands from the one before it where a paragraph begins.
const PARAGRAPH_GAP: f64 = 1.25;
/// Further below, a line belongs to something else; and lines seldom stand further apart than this.
const DOWN_MAX: f64 = 6.0;
const USUAL_DOWN_MAX: f64 = 2.2;
const HEADING_DOWN_MAX: f64 = 1.5;
/// Lines at the top or the bottom of so many pages are running heads.
const RUNNING_PAGES_MIN: usize = 4;

/// A glyph with its letters, and the width in its own units.
pub(super) struct Placed {
    pub(super) letters: String,
    pub(super) matrix: [f64; 6],
    pub(super) width: f64,
}

/// A line of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    height: f64,
    /// How far below the line before it stands, in heights; nothing if it stands elsewhere.
    down: Option<f64>,
}

/// The lines of a page as they grow.
#[derive(Default)]
pub(super) struct Lines {
    done: Vec<Line>,
    open: Option<OpenLine>,
    bytes: usize,
}

struct OpenLine {
    line: Line,
    /// Along the direction of writing, and across it.
    end: f64,
    base: f64,
    quarter_turns: i32,
}

impl Lines {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn add(&mut self, glyph: &Placed) {
        let [a, b, c, d, e, f] = glyph.matrix;
        let (height, length) = (c.hypot(d), a.hypot(b));
        if !(height.is_finite() && length.is_finite() && e.is_finite() && f.is_finite()) || height < 0.01 {
            return;
        }
        let quarter_turns = (b.atan2(a) / std::f64::consts::FRAC_PI_2).round() as i32;
        let (along, across) = match quarter_turns {
            1 => (f, -e),
            -1 => (-f, e),
            2 | -2 => (-e, -f),
            _ => (e, f),
        };
        self.bytes += glyph.letters.len();
        self.place(glyph, along, across, height, quarter_turns);
        if let Some(open) = &mut self.open {
            open.end = along + glyph.width * length;
        }
    }

    fn place(&mut self, glyph: &Placed, along: f64, across: f64, height: f64, quarter_turns: i32) {
        let is_blank = glyph.letters.trim().is_empty();
        if let Some(open) = &mut self.open {
            let largest = height.max(open.line.height);
            let is_same_line = open.quarter_turns == quarter_turns
                && (across - open.base).abs() < SAME_LINE * largest
                && along > open.end - largest * 2.0;
            if is_same_line {
                let is_apart = along - open.end > WORD_GAP * height;
                if (is_apart || is_blank) && !open.line.text.ends_with(' ') {
                    open.line.text.push(' ');
                }
                if !is_blank {
                    push_letters(&mut open.line.text, &glyph.letters);
                    open.line.height = largest;
                }
                return;
            }
        }
        if is_blank {
            return;
        }
        let before = self.open.take();
        let down = before
            .as_ref()
            .filter(|before| before.quarter_turns == quarter_turns)
            .map(|before| (before.base - across) / height.max(before.line.height));
        let down = down.filter(|down| (0.0..DOWN_MAX).contains(down));
        self.done.extend(before.map(|before| before.line));
        let mut line = Line { text: String::new(), height, down };
        push_letters(&mut line.text, &glyph.letters);
        self.open = Some(OpenLine { line, end: along, base: across, quarter_turns });
    }

    pub(super) fn finish(mut self) -> Vec<Line> {
        self.done.extend(self.open.take().map(|open| open.line));
        self.done.retain_mut(|line| {
            line.text.truncate(line.text.trim_end().len());
            !line.text.trim().is_empty()
        });
        self.done
    }
}

/// Adds letters; ligatures as the letters that they join, and nothing that is not shown.
fn push_letters(text: &mut String, letters: &str) {
    for c in letters.chars() {
        match c {
            '\u{fb00}' => text.push_str("ff"),
            '\u{fb01}' => text.push_str("fi"),
            '\u{fb02}' => text.push_str("fl"),
            '\u{fb03}' => text.push_str("ffi"),
            '\u{fb04}' => text.push_str("ffl"),
            '\u{a0}' => text.push(' '),
            '\u{ad}' => text.push('-'),
            '\u{e000}'..='\u{f8ff}' | '\u{fffd}' | '\u{feff}' | '\u{200b}' => {}
            c if c.is_control() => {}
            c => text.push(c),
        }
    }
}

/// A section per page that has text.
pub(super) fn into_sections(mut pages: Vec<Vec<Line>>) -> Vec<FileSection> {
    drop_running_heads(&mut pages);
    let body = body_height(&pages);
    let gap = PARAGRAPH_GAP * usual_down(&pages);
    let sections = pages.iter().enumerate().map(|(at, lines)| {
        let page = u32::try_from(at + 1).ok();
        FileSection { page, text: page_text(lines, body, gap) }
    });
    sections.filter(|section| !section.text.trim().is_empty()).collect()
}

/// The height of most letters.
fn body_height(pages: &[Vec<Line>]) -> f64 {
    let mut letters: FxHashMap<i64, usize> = FxHashMap::default();
    for line in pages.iter().flatten() {
        *letters.entry((line.height * 4.0).round() as i64).or_default() += line.text.len();
    }
    let most = letters.into_iter().max_by_key(|(height, count)| (*count, *height));
    most.map_or(0.0, |(height, _)| height as f64 / 4.0)
}

/// How far below each other most lines stand.
fn usual_down(pages: &[Vec<Line>]) -> f64 {
    let mut lines: FxHashMap<i64, usize> = FxHashMap::default();
    for down in pages.iter().flatten().filter_map(|line| line.down) {
        *lines.entry((down * 20.0).round() as i64).or_default() += 1;
    }
    let most = lines.into_iter().max_by_key(|(down, count)| (*count, -*down));
    most.map_or(DOWN_MAX, |(down, _)| down as f64 / 20.0).clamp(1.0, USUAL_DOWN_MAX)
}

/// Removes what stands at the top or the bottom of most pages: page numbers and running heads.
fn drop_running_heads(pages: &mut [Vec<Line>]) {
    let with_text = pages.iter().filter(|lines| !lines.is_empty()).count();
    if with_text < RUNNING_PAGES_MIN {
        return;
    }
    let mut seen: FxHashMap<String, usize> = FxHashMap::default();
    for lines in pages.iter() {
        let (first, last) = (lines.first(), lines.last().filter(|_| lines.len() > 1));
        for line in first.into_iter().chain(last) {
            *seen.entry(running_form(&line.text)).or_default() += 1;
        }
    }
    let is_running = |line: &Line| seen.get(&running_form(&line.text)).is_some_and(|count| count * 3 > with_text);
    for lines in pages {
        if lines.last().is_some_and(is_running) {
            lines.pop();
        }
        if lines.first().is_some_and(is_running) {
            lines.remove(0);
        }
    }
}

/// A line with all its numbers alike.
fn running_form(line: &str) -> String {
    let mut form: String = line.chars().map(|c| if c.is_numeric() { '0' } else { c }).collect();
    while form.contains("00") {
        form = form.replace("00", "0");
    }
    form
}

fn page_text(lines: &[Line], body: f64, gap: f64) -> String {
    let mut text = String::new();
    let mut heading_above = None;
    for line in lines {
        let mark = heading_mark(line, body);
        let is_after_gap = line.down.is_none_or(|down| down > gap);
        let is_going_on =
            mark.is_some() && heading_above == mark && line.down.is_some_and(|down| down < HEADING_DOWN_MAX);
        match mark {
            // A heading of two lines.
            Some(_) if is_going_on => text.push(' '),
            _ if text.is_empty() => {}
            None if !is_after_gap && heading_above.is_none() => {
                if !join_hyphenated(&mut text, &line.text) {
                    text.push('\n');
                }
            }
            _ => text.push_str("\n\n"),
        }
        text.push_str(mark.filter(|_| !is_going_on).unwrap_or(""));
        text.push_str(&line.text);
        heading_above = mark;
    }
    text
}

fn heading_mark(line: &Line, body: f64) -> Option<&'static str> {
    let has_letters = line.text.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let is_short = line.text.chars().nth(HEADING_CHARS_MAX).is_none();
    match line.height / body {
        larger if larger >= TITLE && has_letters && is_short => Some("# "),
        larger if larger >= HEADING && has_letters && is_short => Some("## "),
        _ => None,
    }
}

/// Puts a word together that was parted at the end of a line.
fn join_hyphenated(text: &mut String, next: &str) -> bool {
    let parted = text.ends_with('-')
        && text.chars().rev().nth(1).is_some_and(char::is_lowercase)
        && next.chars().next().is_some_and(char::is_lowercase);
    if parted {
        text.pop();
    }
    parted
}
