//! How much speaks for each intent.
//!
//! Owns the sums and the verdict. Invariant: a score is the sum of its reasons, so that a reader can
//! follow it.

use rustc_hash::FxHashMap;

use super::pattern::{Fit, Pattern};
use super::vocabulary::{FILLER, FOLLOW_UP, Id, TIME, Unit, WINDOW};
use super::{Because, Earlier, HISTORY, Intent, Verdict};

/// What is left of the weight of a misspelt word.
const TYPO_SHARE: f64 = 0.9;

/// How a reason names words that nothing knows.
const UNKNOWN_WORDS: &str = "unknown";

/// So far an elliptical question lies above what it needs.
const HISTORY_MARGIN: f64 = 0.5;

#[derive(Debug, Clone, Copy)]
pub struct Threshold {
    pub min_score: f64,
    pub min_gap: f64,
}

impl Default for Threshold {
    fn default() -> Self {
        Self { min_score: 1.0, min_gap: 0.1 }
    }
}

/// What words that the ontology does not know take off a question that names no subject: each, and at most.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unknown {
    pub weight: f64,
    pub max: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Token,
    Phrase,
    Negative,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Intent(usize),
    Bucket(usize),
}

/// What a pattern says of an intent or a bucket.
#[derive(Debug, Clone, Copy)]
pub struct Signal {
    pub target: Target,
    pub kind: Kind,
    pub weight: f64,
}

#[derive(Debug, Clone, Default)]
pub struct Scorer {
    pub threshold: Threshold,
    unknown: Unknown,
    patterns: Vec<(Pattern, Vec<Signal>)>,
    /// Patterns by the key they were written as, so that a word of many intents is looked for once.
    written: FxHashMap<String, usize>,
    /// Patterns by a piece that they need.
    by_piece: FxHashMap<Id, Vec<usize>>,
    /// Of each intent: what it needs, and its bucket.
    intents: Vec<(Threshold, Option<usize>)>,
    /// Of each bucket: whether its intents are out where nothing speaks for it.
    buckets: Vec<bool>,
}

/// An intent with its reasons.
#[derive(Debug)]
pub struct Sum {
    pub intent: usize,
    pub score: f64,
    pub because: Vec<Because>,
    /// Whether something speaks for it that does not speak for its whole bucket.
    speaks: bool,
    /// How much that is.
    pub own: f64,
}

impl Scorer {
    pub fn new(threshold: Threshold, unknown: Unknown) -> Self {
        Self { threshold, unknown, ..Self::default() }
    }

    pub fn add(&mut self, threshold: Threshold, bucket: Option<usize>) {
        self.intents.push((threshold, bucket));
    }

    pub(crate) fn add_bucket(&mut self, is_required: bool) {
        self.buckets.push(is_required);
    }

    pub(crate) fn learn(&mut self, key: &str, pattern: Pattern, signal: Signal) {
        let at = *self.written.entry(key.to_owned()).or_insert(self.patterns.len());
        match self.patterns.get_mut(at) {
            Some((_, signals)) => signals.push(signal),
            None => self.patterns.push((pattern, vec![signal])),
        }
    }

    /// Once everything is learnt.
    pub fn index(&mut self) {
        for (at, (pattern, _)) in self.patterns.iter().enumerate() {
            for piece in pattern.keys() {
                self.by_piece.entry(piece).or_default().push(at);
            }
        }
    }

    /// The intents that something speaks for, the best first; equal ones as they were written.
    pub fn sums(&self, units: &[Unit], spelled: &dyn Fn(usize) -> String) -> Vec<Sum> {
        let mut intents: Vec<Vec<Because>> = Vec::new();
        intents.resize_with(self.intents.len(), Vec::new);
        let mut buckets: Vec<Vec<Because>> = Vec::new();
        buckets.resize_with(self.buckets.len(), Vec::new);
        for at in self.candidates(units) {
            let Some((pattern, signals)) = self.patterns.get(at) else { continue };
            let Some(fit) = pattern.fit(units) else { continue };
            for signal in signals {
                let (all, at) = match signal.target {
                    Target::Intent(at) => (&mut intents, at),
                    Target::Bucket(at) => (&mut buckets, at),
                };
                all.get_mut(at).into_iter().for_each(|it| it.push(because(&fit, signal, spelled)));
            }
        }
        let strange = self.strange(units);
        let sum = |(intent, own): (usize, Vec<Because>)| {
            let bucket = self.intents.get(intent).and_then(|(_, bucket)| *bucket);
            let shared = bucket.and_then(|at| buckets.get(at)).map(Vec::as_slice).unwrap_or_default();
            let is_required = bucket.and_then(|at| self.buckets.get(at)).is_some_and(|is_required| *is_required);
            let is_out = is_required && total(shared) <= 0.0;
            if is_out { None } else { Sum::of(intent, own, shared, strange.as_ref()) }
        };
        let mut sums: Vec<Sum> = intents.into_iter().enumerate().filter_map(sum).collect();
        sums.sort_by(|a, b| b.score.total_cmp(&a.score));
        sums
    }

    /// The patterns that may fit, in order.
    fn candidates(&self, units: &[Unit]) -> Vec<usize> {
        let window = units.iter().any(|unit| unit.is(TIME)).then_some(WINDOW);
        let pieces = units.iter().map(|unit| unit.id).chain(window);
        let mut found: Vec<usize> = pieces.filter_map(|piece| self.by_piece.get(&piece)).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn strange(&self, units: &[Unit]) -> Option<Because> {
        self.strange_but(units, &[])
    }

    /// The same without words that are read.
    fn strange_but(&self, units: &[Unit], read: &[usize]) -> Option<Because> {
        if units.iter().any(|unit| unit.is_subject()) {
            return None;
        }
        let count = units.iter().filter(|unit| unit.is_strange() && !read.contains(&unit.word)).count();
        let weight = (count as f64 * self.unknown.weight).min(self.unknown.max);
        (weight > 0.0).then(|| Because {
            kind: "negative",
            feature: format!("{count} {UNKNOWN_WORDS}"),
            weight: -weight,
        })
    }

    /// Takes back what unknown words took off an intent whose parameters read them.
    pub(crate) fn forgive(&self, sum: &mut Sum, units: &[Unit], read: &[usize]) {
        sum.because.retain(|because| !because.feature.ends_with(UNKNOWN_WORDS));
        sum.because.extend(self.strange_but(units, read));
        sum.score = total(&sum.because);
    }

    pub fn verdict(&self, sums: &[Sum]) -> Verdict {
        let Some(first) = sums.first() else { return Verdict::TooLow };
        let needed = self.needed(first.intent);
        if !first.speaks || first.score < needed.min_score {
            return Verdict::TooLow;
        }
        let is_near = |second: &Sum| first.score - second.score < needed.min_gap;
        if sums.get(1).is_some_and(is_near) { Verdict::TooClose } else { Verdict::Routed }
    }

    /// Puts the intent of an earlier turn first, far enough above what it needs and above all others.
    pub(crate) fn look_back(&self, sums: &mut Vec<Sum>, intent: usize, feature: &str) {
        let at = sums.iter().position(|sum| sum.intent == intent);
        let mut sum = at.map(|at| sums.remove(at)).unwrap_or(Sum {
            intent,
            score: 0.0,
            because: Vec::new(),
            speaks: true,
            own: 0.0,
        });
        let needed = self.needed(intent);
        let above = sums.first().map_or(needed.min_score, |best| needed.min_score.max(best.score + needed.min_gap));
        sum.because.push(Because {
            kind: HISTORY,
            feature: feature.to_owned(),
            weight: (above - sum.score).max(0.0) + HISTORY_MARGIN,
        });
        sum.score = total(&sum.because);
        sum.speaks = true;
        sums.insert(0, sum);
    }

    /// Whether as much speaks for an intent as for any other.
    pub(crate) fn speaks_for(&self, sums: &[Sum], intent: usize) -> bool {
        let gap = self.needed(intent).min_gap;
        let own = sums.iter().find(|sum| sum.intent == intent && sum.speaks && sum.own > 0.0);
        own.zip(sums.first()).is_some_and(|(own, best)| best.score - own.score < gap)
    }

    fn needed(&self, intent: usize) -> Threshold {
        self.intents.get(intent).map_or(self.threshold, |(threshold, _)| *threshold)
    }
}

/// Whether a question holds nothing but what leans on an earlier one, which reads some of its words.
pub(crate) fn is_elliptical(units: &[Unit], reads: &dyn Fn(usize) -> bool) -> bool {
    let leans = |unit: &Unit| unit.is_subject() || unit.is(TIME | FOLLOW_UP) || reads(unit.word);
    units.iter().any(leans) && units.iter().all(|unit| leans(unit) || unit.is(FILLER))
}

/// The newest of the earlier intents that there still is.
pub fn newest<'i, 'e, 'a>(
    intents: &'i [Intent],
    earlier: &'e [Earlier<'a>],
    names_subject: bool,
) -> Option<(usize, &'i Intent, &'e Earlier<'a>)> {
    earlier.iter().filter(|earlier| !(names_subject && earlier.is_without_subject)).find_map(|earlier| {
        let (at, intent) = intents.iter().enumerate().find(|(_, intent)| intent.name == earlier.intent)?;
        Some((at, intent, earlier))
    })
}

impl Sum {
    /// Nothing, where nothing speaks for the intent.
    fn of(intent: usize, own: Vec<Because>, bucket: &[Because], strange: Option<&Because>) -> Option<Self> {
        let speaks = own.iter().any(|it| it.weight > 0.0);
        let weight = total(&own);
        let mut because = own;
        because.extend_from_slice(bucket);
        if !because.iter().any(|it| it.weight > 0.0) {
            return None;
        }
        because.extend(strange.cloned());
        Some(Self { intent, score: total(&because), because, speaks, own: weight })
    }
}

fn total(because: &[Because]) -> f64 {
    because.iter().map(|it| it.weight).sum()
}

fn because(fit: &Fit<'_>, signal: &Signal, spelled: &dyn Fn(usize) -> String) -> Because {
    let kind = match (signal.target, signal.kind) {
        (Target::Bucket(_), _) => "bucket",
        (_, Kind::Token) => "token",
        (_, Kind::Phrase) => "phrase",
        (_, Kind::Negative) => "negative",
    };
    let sign = if signal.kind == Kind::Negative { -1.0 } else { 1.0 };
    let share = if fit.typo.is_some() { TYPO_SHARE } else { 1.0 };
    let feature = match fit.typo {
        Some(word) => format!("{} (typo: {})", fit.text, spelled(word)),
        None => fit.text.to_owned(),
    };
    Because { kind, feature, weight: sign * share * signal.weight }
}
