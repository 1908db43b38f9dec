//! The technical block: JSON at the end of an answer, in a fence or on lines of its own.

use serde_json::{Map, Value};

pub const TAGS_MAX: usize = 10;
const TAG_CHARS_MAX: usize = 40;
const SUMMARY_CHARS_MAX: usize = 400;
/// Nothing longer is held back, and nothing nested deeper.
const BYTES_MAX: usize = 8 * 1024;
const DEPTH_MAX: usize = 8;

/// The strongest feeling that a message can have.
pub(crate) const INTENSITY_MAX: f32 = 10.0;
const KEYS: [&str; 6] = ["intensidade", "resumo", "tags", "categoria", "emocao", "emocao_principal"];
pub(crate) const FENCE: &str = "```";
const LANGUAGE: &str = "json";

/// What an answer tells of the message, beside what it says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    /// From 0 to 10.
    pub intensity: Option<f32>,
    pub summary: Option<String>,
    pub tags: Vec<String>,
    pub category: Option<String>,
    pub emotion: Option<String>,
}

impl Block {
    /// Any of the keys makes it one. What has another type than it should is left out.
    fn read(text: &str) -> Option<Self> {
        let strict = serde_json::from_str(text);
        let fields: Map<String, Value> = strict.or_else(|_| serde_json::from_str(&without_last_commas(text))).ok()?;
        if !KEYS.iter().any(|key| fields.contains_key(*key)) {
            return None;
        }
        let text = |key: &str, chars_max| fields.get(key).and_then(|value| short(value, chars_max));
        let intensity = fields.get("intensidade").and_then(Value::as_f64);
        let tags = fields.get("tags").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Some(Self {
            intensity: intensity.map(|number| number.clamp(0.0, INTENSITY_MAX.into()) as f32),
            summary: text("resumo", SUMMARY_CHARS_MAX),
            tags: tags.iter().filter_map(|tag| short(tag, TAG_CHARS_MAX)).take(TAGS_MAX).collect(),
            category: text("categoria", TAG_CHARS_MAX),
            emotion: text("emocao", TAG_CHARS_MAX).or_else(|| text("emocao_principal", TAG_CHARS_MAX)),
        })
    }
}

/// Models put a comma behind the last member, too.
fn without_last_commas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '}' | ']') && out.trim_end().ends_with(',') {
            out.truncate(out.trim_end().len() - 1);
        }
        out.push(c);
    }
    out
}

fn short(value: &Value, chars_max: usize) -> Option<String> {
    let text: String = value.as_str()?.trim().chars().take(chars_max).collect();
    (!text.is_empty()).then_some(text)
}

/// What may turn out to be one. Invariant: taken character by character; what cannot be one is known at once.
#[derive(Debug)]
pub(crate) struct BlockCandidate {
    text: String,
    stage: Stage,
    /// Where the JSON stands in the text.
    start: usize,
    end: usize,
    is_fenced: bool,
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    /// The fence and its language, up to the end of the line.
    Opening,
    /// Blanks before the first brace.
    Before,
    /// After the first brace, before the first key.
    Braced,
    Object {
        depth: usize,
        string: bool,
        escaped: bool,
    },
    /// After the last brace, with the number of ticks of the fence.
    After {
        ticks: usize,
    },
}

impl BlockCandidate {
    /// Whether one may begin: at the beginning of a line, or with a fence anywhere. Within a fence, ticks end
    /// it.
    pub(crate) fn may_begin(c: char, is_fenced: bool) -> bool {
        c == '{' || (c == '`' && !is_fenced)
    }

    pub fn new(c: char) -> Self {
        let is_fenced = c == '`';
        let stage = if is_fenced { Stage::Opening } else { Stage::Braced };
        Self { text: c.into(), stage, start: 0, end: 0, is_fenced }
    }

    /// Whether it may still be one with this character.
    pub fn take(&mut self, c: char) -> bool {
        let at = self.text.len();
        self.text.push(c);
        let next = match self.stage {
            Stage::Opening => self.open(c),
            Stage::Before if c == '{' => {
                self.start = at;
                Some(Stage::Braced)
            }
            Stage::Before => c.is_whitespace().then_some(Stage::Before),
            Stage::Braced if c == '"' => Some(Stage::Object { depth: 1, string: true, escaped: false }),
            Stage::Braced => c.is_whitespace().then_some(Stage::Braced),
            Stage::Object { depth, string: true, escaped } => in_string(c, depth, escaped),
            Stage::Object { depth, .. } => self.in_object(c, depth),
            Stage::After { ticks } => self.after(c, ticks),
        };
        next.map(|next| self.stage = next).is_some() && self.text.len() <= BYTES_MAX
    }

    fn open(&self, c: char) -> Option<Stage> {
        let language = |of: &str| of.trim().to_ascii_lowercase();
        match self.text.strip_prefix(FENCE) {
            None => FENCE.starts_with(&self.text).then_some(Stage::Opening),
            Some(rest) if c == '\n' => ["", LANGUAGE].contains(&&*language(rest)).then_some(Stage::Before),
            Some(rest) => LANGUAGE.starts_with(&language(rest)).then_some(Stage::Opening),
        }
    }

    fn in_object(&mut self, c: char, depth: usize) -> Option<Stage> {
        let depth = match c {
            '{' | '[' => depth + 1,
            '}' | ']' => depth - 1,
            _ => depth,
        };
        if depth > DEPTH_MAX {
            return None;
        }
        if depth == 0 {
            self.end = self.text.len();
            return (self.read().is_some() || self.names_key()).then_some(Stage::After { ticks: 0 });
        }
        Some(Stage::Object { depth, string: c == '"', escaped: false })
    }

    /// Only the end of the fence, and blanks.
    fn after(&self, c: char, ticks: usize) -> Option<Stage> {
        let line = self.text.trim_end_matches('`').trim_end_matches([' ', '\t']);
        let may_close = self.is_fenced && ticks < FENCE.len() && line.ends_with('\n');
        match c {
            '`' if may_close => Some(Stage::After { ticks: ticks + 1 }),
            c if c.is_whitespace() && (ticks == 0 || ticks == FENCE.len()) => Some(Stage::After { ticks }),
            _ => None,
        }
    }

    fn read(&self) -> Option<Block> {
        self.text.get(self.start..self.end).and_then(Block::read)
    }

    /// The block that it is, now that nothing follows. A fence that was left open is closed by the end.
    pub fn block(&self) -> Option<Block> {
        match self.stage {
            Stage::After { .. } => self.read(),
            _ => None,
        }
    }

    /// Whether it begins with one of the keys, so that it was meant to be one.
    pub(crate) fn names_key(&self) -> bool {
        let first = self.text.get(self.start..).and_then(|json| json.split('"').nth(1));
        first.is_some_and(|first| KEYS.contains(&first))
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

fn in_string(c: char, depth: usize, escaped: bool) -> Option<Stage> {
    match c {
        // JSON has no line breaks in its texts.
        '\n' => None,
        '"' if !escaped => Some(Stage::Object { depth, string: false, escaped: false }),
        _ => Some(Stage::Object { depth, string: true, escaped: c == '\\' && !escaped }),
    }
}
