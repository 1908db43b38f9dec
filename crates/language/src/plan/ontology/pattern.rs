//! What speaks for an intent: words and phrases as an ontology writes them.
//!
//! `a | b` is either, `a + b` is both, anywhere; words that stand next to each other are said in this order,
//! with at most a few words between them that say nothing. `@ticker` stands for a subject, `@window` for a
//! stretch of time, and any other `@name` for one word of a group that the ontology names.

use novelo_engine::decode::nearest;
use rustc_hash::FxHashMap;

use super::super::subjects::SubjectKind;
use super::super::text;
use super::vocabulary::{FILLER, Id, TIME, Unit, Vocabulary, WINDOW, is_subject, subject_id};

/// Words that may stand between two words of a phrase.
const GAP_MAX: usize = 3;

/// The name of the placeholder for a stretch of time.
pub(crate) const WINDOW_NAME: &str = "window";

#[derive(Debug, Clone)]
pub struct Pattern {
    alternatives: Vec<Alternative>,
}

#[derive(Debug, Clone)]
struct Alternative {
    /// As it was written.
    text: String,
    parts: Vec<Vec<Element>>,
}

/// The words that may stand in one place.
type Element = Vec<Id>;

/// What is known when patterns are read.
pub struct Reading<'r> {
    /// The names of the placeholders for subjects, by the places of their kinds.
    pub kinds: &'r [SubjectKind],
    pub groups: &'r FxHashMap<String, Vec<Id>>,
    pub vocabulary: &'r mut Vocabulary,
}

/// How a question fits a pattern.
#[derive(Debug, Clone, Copy)]
pub struct Fit<'p> {
    pub text: &'p str,
    /// The word that was misspelt, if one was.
    pub typo: Option<usize>,
}

impl Pattern {
    pub fn parse(key: &str, reading: &mut Reading<'_>) -> Result<Self, String> {
        let mut alternative = |text: &str| {
            let parts = text.split('+').map(|part| reading.sequence(part)).collect::<Result<_, _>>()?;
            Ok(Alternative { text: text.trim().to_owned(), parts })
        };
        Ok(Self { alternatives: key.split('|').map(&mut alternative).collect::<Result<_, String>>()? })
    }

    /// Whether each alternative is one word.
    pub(crate) fn is_words(&self) -> bool {
        let is_word = |element: &Element| element.iter().all(|id| *id != WINDOW && !is_subject(*id));
        let mut parts = self.alternatives.iter().map(|it| it.parts.as_slice());
        parts.all(|parts| matches!(parts, [part] if matches!(part.as_slice(), [element] if is_word(element))))
    }

    /// The words that are enough by themselves, but for those of groups.
    pub(crate) fn lone_words(&self) -> impl Iterator<Item = Id> {
        let alone = |it: &Alternative| match it.parts.as_slice() {
            [part] if part.len() == 1 => part.first().filter(|element| element.len() == 1)?.first().copied(),
            _ => None,
        };
        self.alternatives.iter().filter_map(alone)
    }

    /// Pieces of which a question must have one to fit. Words were numbered when they were first met, so that
    /// the highest are likely the rarest.
    pub fn keys(&self) -> impl Iterator<Item = Id> {
        self.alternatives.iter().filter_map(|it| it.parts.iter().flatten().max()).flatten().copied()
    }

    /// How a question fits; the first alternative that is spelled right, or else the first.
    pub fn fit(&self, units: &[Unit]) -> Option<Fit<'_>> {
        let mut found: Option<Fit<'_>> = None;
        for alternative in &self.alternatives {
            match alternative.fit(units) {
                Some(fit) if fit.typo.is_none() => return Some(fit),
                fit => found = found.or(fit),
            }
        }
        found
    }
}

impl Alternative {
    fn fit(&self, units: &[Unit]) -> Option<Fit<'_>> {
        let mut typo = None;
        for part in &self.parts {
            let starts = 0..units.len();
            let place = starts.filter_map(|at| follow(units.get(at..)?, part)).min_by_key(Option::is_some)?;
            typo = typo.or(place);
        }
        Some(Fit { text: &self.text, typo })
    }
}

/// Whether the pieces begin with these words in this order, and which of them was misspelt.
fn follow(units: &[Unit], sequence: &[Element]) -> Option<Option<usize>> {
    let mut typo = None;
    let mut rest = units;
    for (n, element) in sequence.iter().enumerate() {
        let fits = |unit: &Unit| element.iter().any(|id| unit.fits(*id));
        let gap_max = if n == 0 { 0 } else { GAP_MAX };
        let gap = rest.iter().take(gap_max).take_while(|unit| !fits(unit) && unit.is(FILLER | TIME)).count();
        let (unit, after) = rest.get(gap..)?.split_first().filter(|(unit, _)| fits(unit))?;
        typo = typo.or(unit.is_typo.then_some(unit.word));
        rest = after;
    }
    Some(typo)
}

impl Reading<'_> {
    fn sequence(&mut self, text: &str) -> Result<Vec<Element>, String> {
        let mut elements = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('@') {
            let end = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
            let (name, after) = after.split_at(end);
            elements.extend(self.words(before));
            elements.push(self.placeholder(name)?);
            rest = after;
        }
        elements.extend(self.words(rest));
        if elements.is_empty() { Err("has no word where one is needed".to_owned()) } else { Ok(elements) }
    }

    fn words(&mut self, text: &str) -> impl Iterator<Item = Element> + use<> {
        let words = text::words(text, self.vocabulary.language());
        self.vocabulary.fold(&words).into_iter().map(|id| vec![id])
    }

    fn placeholder(&self, name: &str) -> Result<Element, String> {
        if let Some(kind) = self.kinds.iter().position(|kind| kind.name == name) {
            return Ok(vec![subject_id(kind)]);
        }
        if name == WINDOW_NAME {
            return Ok(vec![WINDOW]);
        }
        if let Some(group) = self.groups.get(name) {
            return Ok(group.clone());
        }
        let mut known: Vec<&str> = self.groups.keys().map(String::as_str).chain([WINDOW_NAME]).collect();
        known.extend(self.kinds.iter().map(|kind| kind.name.as_str()));
        known.sort_unstable();
        Err(match nearest(name, &known) {
            Some(near) => format!("has @{name}, which is not known; did you mean @{near}?"),
            None => format!("has @{name}, which is not known"),
        })
    }
}
