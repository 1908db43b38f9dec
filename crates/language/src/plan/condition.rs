//! Conditions on columns: what an entity declares, and what a question states.
//!
//! Owns the declared conditions and how a stated one finds its column. Refuses to guess: what fits no
//! declared condition is not applied but told. Words of a language are in the folder of that language.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::infer::{QuestionWords, Spelling};
use crate::Language;
pub use crate::stated::AmountUnit;
use crate::stated::{NumberBound, StatedCondition};
use crate::window::is_unit;

/// What an entity can be asked to select by.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionRule {
    /// The column of the entity.
    pub column: String,
    unit: AmountUnit,
    words: Vec<Spelling>,
    /// Values of the column, each with the words that say it. Without them it is a number.
    values: Vec<(Spelling, String)>,
    /// Choices that must be made for the column to mean this.
    only: BTreeMap<String, String>,
}

/// A condition that a query applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    pub column: String,
    /// `>`, `>=`, `<`, `<=`, `=` or `in`.
    pub op: String,
    /// A number, or a list of texts.
    pub value: Value,
}

/// What became of the conditions of a question.
#[derive(Debug, Default)]
pub(crate) struct FoundConditions {
    pub conditions: Vec<Condition>,
    /// The words that state them.
    pub read: Vec<Range<usize>>,
    pub unread: Vec<Range<usize>>,
}

/// Words between what is limited and its limit.
const BEFORE_WORDS_MAX: usize = 6;
const BEHIND_WORDS_MAX: usize = 4;

impl ConditionRule {
    /// A condition on a number, or on one of the values.
    pub fn new(
        column: &str,
        unit: AmountUnit,
        words: &[String],
        values: &BTreeMap<String, Vec<String>>,
        only: BTreeMap<String, String>,
        language: Language,
    ) -> Result<Self, String> {
        let spelling =
            |text: &String| Spelling::new(text, language).ok_or_else(|| format!("has {text:?}, which is no word"));
        let words = words.iter().map(spelling).collect::<Result<Vec<_>, _>>()?;
        let mut all = Vec::new();
        for (value, said) in values {
            for text in said {
                all.push((spelling(text)?, value.clone()));
            }
        }
        all.sort_by_key(|(spelling, _)| Reverse(spelling.words()));
        if words.is_empty() && all.is_empty() {
            return Err("must have words or values".to_owned());
        }
        Ok(Self { column: column.to_owned(), unit, words, values: all, only })
    }

    fn fits(&self, choices: &BTreeMap<String, Vec<String>>) -> bool {
        self.only.iter().all(|(name, value)| {
            choices.get(name).is_some_and(|chosen| chosen.as_slice() == std::slice::from_ref(value))
        })
    }
}

/// The conditions that a question states, by these rules and beside these choices.
pub(crate) fn find(
    said: &QuestionWords<'_>,
    rules: &[ConditionRule],
    choices: &BTreeMap<String, Vec<String>>,
) -> FoundConditions {
    let mut found = FoundConditions::default();
    let mut at = 0;
    while at < said.tokens.len() {
        let is_free = |words: &Range<usize>| words.clone().all(|at| said.is_free(at));
        let stated = said.grammar().conditions.read(&said.tokens, at);
        let Some(stated) = stated.filter(|stated| is_free(&stated.words)) else {
            at += 1;
            continue;
        };
        at = stated.words.end;
        // `acima de 36 meses` is a time, `mais de um fundo` counts funds.
        if !is_unit(&said.tokens, at) && !said.is_kind(at) {
            number(said, rules, choices, stated, &mut found);
        }
    }
    values(said, rules, choices, &mut found);
    found
}

fn number(
    said: &QuestionWords<'_>,
    rules: &[ConditionRule],
    choices: &BTreeMap<String, Vec<String>>,
    stated: StatedCondition,
    found: &mut FoundConditions,
) {
    let StatedCondition { words, unit, tests } = stated;
    match rule_of(said, rules, &words, unit).filter(|(rule, _)| rule.fits(choices)) {
        Some((rule, named)) => {
            let test = |(bound, value): &(NumberBound, f64)| {
                let op = match bound {
                    NumberBound::Above => ">",
                    NumberBound::AtLeast => ">=",
                    NumberBound::Below => "<",
                    NumberBound::AtMost => "<=",
                    NumberBound::Equal => "=",
                };
                Condition { column: rule.column.clone(), op: op.to_owned(), value: json!(value) }
            };
            found.conditions.extend(tests.iter().map(test));
            found.read.push(words);
            found.read.extend(named);
        }
        None => found.unread.push(words),
    }
}

/// The rule whose words stand nearest before a stated condition, else behind it, else the one with its unit.
fn rule_of<'r>(
    said: &QuestionWords<'_>,
    rules: &'r [ConditionRule],
    stated: &Range<usize>,
    unit: AmountUnit,
) -> Option<(&'r ConditionRule, Option<Range<usize>>)> {
    let fits = |rule: &&ConditionRule| unit == AmountUnit::Number || rule.unit == unit;
    let places = |rule: &'r ConditionRule| {
        let all = rule.words.iter().flat_map(|words| said.places(words));
        all.map(move |place| (rule, place))
    };
    let numbers = || rules.iter().filter(|rule| rule.values.is_empty()).flat_map(places);
    let before = |(_, place): &(&ConditionRule, Range<usize>)| {
        place.end <= stated.start && stated.start - place.end <= BEFORE_WORDS_MAX
    };
    let behind = |(_, place): &(&ConditionRule, Range<usize>)| {
        place.start >= stated.end && place.start - stated.end <= BEHIND_WORDS_MAX
    };
    let nearest = numbers().filter(before).max_by_key(|(_, place)| (place.end, place.len()));
    let nearest = nearest.or_else(|| numbers().filter(behind).min_by_key(|(_, place)| place.start));
    if let Some((rule, place)) = nearest {
        return Some((rule, Some(place))).filter(|(rule, _)| fits(rule));
    }
    let mut same = rules.iter().filter(|rule| rule.values.is_empty() && rule.unit == unit);
    let only = same.next().filter(|_| unit != AmountUnit::Number)?;
    if same.next().is_some() { None } else { Some((only, None)) }
}

/// Where values are named that the rules know.
pub(crate) fn values_named(said: &QuestionWords<'_>, rules: &[ConditionRule]) -> Vec<Range<usize>> {
    said.places_of(rules.iter().flat_map(|rule| rule.values.iter().map(|(spelling, _)| spelling)))
}

/// `em SP`, `de shopping`: values that are named. A word names one value.
fn values(
    said: &QuestionWords<'_>,
    rules: &[ConditionRule],
    choices: &BTreeMap<String, Vec<String>>,
    found: &mut FoundConditions,
) {
    let mut all: Vec<_> = rules.iter().flat_map(|rule| rule.values.iter().map(move |value| (rule, value))).collect();
    all.sort_by_key(|(_, (spelling, _))| Reverse(spelling.words()));
    let mut taken: Vec<Range<usize>> = Vec::new();
    let mut named: Vec<(&ConditionRule, Vec<String>)> = Vec::new();
    for (rule, (spelling, value)) in all.into_iter().filter(|(rule, _)| rule.fits(choices)) {
        for place in said.places(spelling) {
            if taken.iter().any(|other| other.start < place.end && place.start < other.end) {
                continue;
            }
            taken.push(place);
            match named.iter_mut().find(|(other, _)| other.column == rule.column) {
                Some((_, values)) if values.contains(value) => {}
                Some((_, values)) => values.push(value.clone()),
                None => named.push((rule, vec![value.clone()])),
            }
        }
    }
    let condition = |(rule, values): (&ConditionRule, Vec<String>)| Condition {
        column: rule.column.clone(),
        op: "in".to_owned(),
        value: json!(values),
    };
    found.conditions.extend(named.into_iter().map(condition));
    found.read.extend(taken);
}
