//! The rules as they stand in their file.
//!
//! Owns the errors of a file that is wrong: where, and what would fit. Refuses unknown fields, intents and
//! values, windows that are none, and names that a query could not bind.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use novelo_engine::decode::{DecodeError, nearest};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::rules::{AggregationRule, ChoiceRule, LimitRule, Rule, SubjectRule, WindowRule};
use super::said::{Spelling, Spoken};
use super::{LIST, ParameterRules, Remark};
use crate::Language;
use crate::plan::ontology::Ontology;
use crate::window::Window;

/// The most rows that any limit allows.
pub const LIMIT_MAX: u32 = 1_000;
/// The most phrases of one list.
pub(crate) const PHRASES_MAX: usize = 200;
/// The longest sentence that asks for what is missing.
pub(crate) const ASK_BYTES_MAX: usize = 500;

type Phrases = BTreeMap<String, Vec<String>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    #[serde(default)]
    aggregations: Phrases,
    #[serde(default)]
    compare: Vec<String>,
    #[serde(default)]
    unread: RemarkWire,
    #[serde(default)]
    conditions: RemarkWire,
    #[serde(default)]
    intents: BTreeMap<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RemarkWire {
    #[serde(default)]
    words: Vec<String>,
    say: Option<String>,
    name: Option<String>,
    pointer: Option<String>,
    unanswered: Option<String>,
    ambiguous: Option<String>,
    number: Option<String>,
}

impl RemarkWire {
    fn read(self, path: &str, language: Language) -> Result<Remark, DecodeError> {
        Ok(Remark {
            words: spellings(&format!("{path}.words"), &self.words, language)?,
            say: ask(path, self.say)?,
            name: ask(path, self.name)?,
            pointer: ask(path, self.pointer)?,
            unanswered: ask(path, self.unanswered)?,
            ambiguous: ask(path, self.ambiguous)?,
            number: ask(path, self.number)?,
        })
    }
}

/// An intent, without its subject, whose name is data.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentWire {
    window: Option<WindowWire>,
    aggregation: Option<AggregationWire>,
    limit: Option<LimitWire>,
    #[serde(default)]
    choices: BTreeMap<String, ChoiceWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SubjectWire {
    #[serde(default)]
    source: Option<Vec<Source>>,
    #[serde(default)]
    required: bool,
    ask: Option<String>,
    #[serde(default)]
    unless: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowWire {
    source: Option<Vec<Source>>,
    default: Option<Window>,
    rows: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AggregationWire {
    allow: Vec<String>,
    default: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitWire {
    source: Option<Vec<Source>>,
    default: Option<u32>,
    max: Option<u32>,
    #[serde(default)]
    of: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChoiceWire {
    source: Option<Vec<Source>>,
    values: Phrases,
    #[serde(default)]
    default: Vec<String>,
    #[serde(default)]
    required: bool,
    ask: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Source {
    Text,
    Context,
}

impl ParameterRules {
    /// From what stands under the key `param_inference` of its file.
    pub fn decode(value: &Value, ontology: &Ontology) -> Result<Self, DecodeError> {
        let intents: Vec<&str> = ontology.intents().iter().map(|intent| intent.name.as_str()).collect();
        let kinds: Vec<&str> = ontology.kinds().iter().map(|kind| kind.name.as_str()).collect();
        Self::of(value, &kinds, &intents, ontology.language())
    }

    /// The same by the names that matter here: those of the kinds of subject, and of the intents.
    pub(super) fn of(value: &Value, kinds: &[&str], intents: &[&str], language: Language) -> Result<Self, DecodeError> {
        let wire: Wire = read("", value)?;
        for name in wire.aggregations.keys() {
            check_name("aggregations", name)?;
        }
        let aggregations = &wire.aggregations;
        let compare = spellings("compare", &wire.compare, language)?;
        let (unread, conditions) =
            (wire.unread.read("unread", language)?, wire.conditions.read("conditions", language)?);
        let kind_names = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        let language_of = Some(language);
        let mut rules =
            Self { kinds: kind_names, language: language_of, compare, unread, conditions, intents: BTreeMap::new() };
        let draft = RuleDraft { kinds, aggregations, language };
        for (name, value) in &wire.intents {
            let path = format!("intents.{name}");
            if !intents.contains(&name.as_str()) {
                return Err(DecodeError::new(path, format!("is no intent of the ontology{}", hint(name, intents))));
            }
            rules.intents.insert(name.clone(), draft.rule(&path, value)?);
        }
        // Words of an aggregation that no intent allows are read, too.
        words("aggregations", aggregations, language, |_| true)?;
        Ok(rules)
    }
}

/// What is known when the rules of an intent are read.
struct RuleDraft<'r> {
    kinds: &'r [&'r str],
    aggregations: &'r Phrases,
    language: Language,
}

impl RuleDraft<'_> {
    fn rule(&self, path: &str, value: &Value) -> Result<Rule, DecodeError> {
        let mut known = self.kinds.to_vec();
        known.extend(["window", "aggregation", "limit", "choices"]);
        let mut members = value.as_object().into_iter().flat_map(|members| members.keys());
        if let Some(stranger) = members.find(|name| !known.contains(&name.as_str())) {
            let problem = format!("is not known{}", hint(stranger, &known));
            return Err(DecodeError::new(format!("{path}.{stranger}"), problem));
        }
        let mut value = value.clone();
        let at = |name: &str| format!("{path}.{name}");
        let mut subjects = Vec::new();
        for (kind, name) in self.kinds.iter().enumerate() {
            let own = value.as_object_mut().and_then(|members| members.shift_remove(*name));
            if let Some(own) = own {
                subjects.push((kind, self.subject(&at(name), &own)?));
            }
        }
        let wire: IntentWire = if value.is_null() { IntentWire::default() } else { read(path, &value)? };
        let aggregation = wire.aggregation.map(|it| it.rule(&at("aggregation"), self.aggregations, self.language));
        Ok(Rule {
            subjects,
            window: wire.window.map(|window| window.rule(&at("window"))).transpose()?,
            aggregation: aggregation.transpose()?,
            limit: wire.limit.map(|limit| limit.rule(&at("limit"), self.language)).transpose()?,
            choices: self.choices(&at("choices"), wire.choices)?,
        })
    }

    fn choices(
        &self,
        path: &str,
        wire: BTreeMap<String, ChoiceWire>,
    ) -> Result<BTreeMap<String, ChoiceRule>, DecodeError> {
        let taken = ["client_id", "from", "to", "limit", "today", "aggregation", "window"];
        let mut choices = BTreeMap::new();
        for (name, choice) in wire {
            check_name(path, &name)?;
            let path = format!("{path}.{name}");
            let is_subject = |kind: &&str| *kind == name || name.strip_suffix('s') == Some(kind);
            if taken.contains(&name.as_str()) || self.kinds.iter().any(is_subject) {
                return Err(DecodeError::new(path, "is a parameter that every query has; choose another name"));
            }
            choices.insert(name, choice.rule(&path, self.language)?);
        }
        Ok(choices)
    }

    fn subject(&self, path: &str, value: &Value) -> Result<SubjectRule, DecodeError> {
        let wire: SubjectWire = read(path, value)?;
        Ok(SubjectRule {
            inherits: inherits(path, wire.source.as_deref())?,
            is_required: wire.required,
            ask: ask(path, wire.ask)?,
            unless: spellings(&format!("{path}.unless"), &wire.unless, self.language)?,
        })
    }
}

impl WindowWire {
    fn rule(self, path: &str) -> Result<WindowRule, DecodeError> {
        let takes_rows = self.rows.unwrap_or(true);
        if let Some(default) = self.default.filter(|default| default.rows().is_some() && !takes_rows) {
            let problem = format!("is {default}, which picks rows, and rows is false");
            return Err(DecodeError::new(format!("{path}.default"), problem));
        }
        Ok(WindowRule { inherits: inherits(path, self.source.as_deref())?, takes_rows, default: self.default })
    }
}

impl AggregationWire {
    fn rule(self, path: &str, aggregations: &Phrases, language: Language) -> Result<AggregationRule, DecodeError> {
        let mut known: Vec<&str> = aggregations.keys().map(String::as_str).collect();
        known.push(LIST);
        for (n, name) in self.allow.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                let problem = format!("is no aggregation{}", hint(name, &known));
                return Err(DecodeError::new(format!("{path}.allow[{n}]"), problem));
            }
        }
        let default = self.default.unwrap_or_else(|| LIST.to_owned());
        if !self.allow.contains(&default) {
            return Err(DecodeError::new(
                format!("{path}.default"),
                format!("is {default}, which allow does not hold"),
            ));
        }
        let is_allowed = |name: &str| self.allow.iter().any(|allowed| allowed == name);
        let words = words("aggregations", aggregations, language, is_allowed)?;
        Ok(AggregationRule { allow: self.allow, default, words })
    }
}

impl LimitWire {
    fn rule(self, path: &str, language: Language) -> Result<LimitRule, DecodeError> {
        let max = self.max.unwrap_or(LIMIT_MAX);
        if !(1..=LIMIT_MAX).contains(&max) {
            return Err(DecodeError::new(
                format!("{path}.max"),
                format!("must be a whole number from 1 to {LIMIT_MAX}"),
            ));
        }
        if self.default.is_some_and(|default| !(1..=max).contains(&default)) {
            return Err(DecodeError::new(format!("{path}.default"), format!("must be a whole number from 1 to {max}")));
        }
        let of = spellings(&format!("{path}.of"), &self.of, language)?;
        Ok(LimitRule { inherits: inherits(path, self.source.as_deref())?, default: self.default, max, of })
    }
}

impl ChoiceWire {
    fn rule(self, path: &str, language: Language) -> Result<ChoiceRule, DecodeError> {
        if self.values.is_empty() {
            return Err(DecodeError::new(format!("{path}.values"), "must hold a value"));
        }
        let values: Vec<&str> = self.values.keys().map(String::as_str).collect();
        for (n, value) in self.default.iter().enumerate() {
            if !values.contains(&value.as_str()) {
                let problem = format!("is none of its values{}", hint(value, &values));
                return Err(DecodeError::new(format!("{path}.default[{n}]"), problem));
            }
        }
        Ok(ChoiceRule {
            inherits: inherits(path, self.source.as_deref())?,
            is_required: self.required,
            words: words(&format!("{path}.values"), &self.values, language, |_| true)?,
            values: self.values.into_keys().collect(),
            default: self.default,
            ask: ask(path, self.ask)?,
        })
    }
}

/// Whether the conversation may give the value; not by default.
fn inherits(path: &str, source: Option<&[Source]>) -> Result<bool, DecodeError> {
    match source {
        None | Some([Source::Text]) => Ok(false),
        Some([Source::Text, Source::Context]) => Ok(true),
        Some(_) => Err(DecodeError::new(format!("{path}.source"), "must be [text] or [text, context]")),
    }
}

fn ask(path: &str, ask: Option<String>) -> Result<Option<String>, DecodeError> {
    match ask {
        Some(ask) if ask.trim().is_empty() || ask.len() > ASK_BYTES_MAX => {
            let problem = format!("must be a sentence of at most {ASK_BYTES_MAX} bytes");
            Err(DecodeError::new(format!("{path}.ask"), problem))
        }
        ask => Ok(ask),
    }
}

/// Phrases and the names they speak for, the longest first.
fn words(
    path: &str,
    phrases: &Phrases,
    language: Language,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<Vec<Spoken>, DecodeError> {
    let mut words: Vec<Spoken> = Vec::new();
    for (name, list) in phrases.iter().filter(|(name, _)| is_wanted(name)) {
        let path = format!("{path}.{name}");
        if list.is_empty() {
            return Err(DecodeError::new(path, "must hold a word"));
        }
        words.extend(spellings(&path, list, language)?.into_iter().map(|spelling| (spelling, name.clone())));
    }
    words.sort_by_key(|(spelling, _)| Reverse(spelling.words()));
    Ok(words)
}

fn spellings(path: &str, list: &[String], language: Language) -> Result<Vec<Spelling>, DecodeError> {
    if list.len() > PHRASES_MAX {
        return Err(DecodeError::new(path, format!("must hold at most {PHRASES_MAX} phrases")));
    }
    let spelling = |(n, text): (usize, &String)| {
        Spelling::new(text, language).ok_or_else(|| DecodeError::new(format!("{path}[{n}]"), "holds no word"))
    };
    list.iter().enumerate().map(spelling).collect()
}

/// Names that a query can bind or a file can be found by.
fn check_name(path: &str, name: &str) -> Result<(), DecodeError> {
    let fits = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    match fits {
        true => Ok(()),
        false => Err(DecodeError::new(format!("{path}.{name}"), "must be a name of small letters, digits and _")),
    }
}

fn hint(name: &str, known: &[&str]) -> String {
    nearest(name, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

/// A part of the file as a type that says how it is read.
fn read<T: DeserializeOwned>(path: &str, value: &Value) -> Result<T, DecodeError> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let below = e.path().to_string();
        let parts = [path, &below].into_iter().filter(|part| !part.is_empty() && *part != ".").collect::<Vec<_>>();
        DecodeError::new(parts.join("."), e.into_inner().to_string())
    })
}
