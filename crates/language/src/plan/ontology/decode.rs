//! An ontology as users write it, checked field by field.
//!
//! Refuses unknown fields, empty intents, unknown buckets, weights that are not above zero, and anything past
//! the caps below. Every problem names the path of its field.

use novelo_engine::decode::{DecodeError, Fields, nearest};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::super::subjects::{Shape, SubjectKind};
use super::super::text::{self, Word};
use super::pattern::{Pattern, Reading, WINDOW_NAME};
use super::score::{Kind, Signal, Target, Threshold, Unknown};
use super::vocabulary::{FILLER, FOLLOW_UP, Id, KINDS_MAX, TIME, Vocabulary};
use super::{Intent, Ontology};
use crate::Language;

pub(crate) const INTENTS_MAX: usize = 200;
pub(crate) const BUCKETS_MAX: usize = 50;
pub(crate) const GROUPS_MAX: usize = 100;
/// Entries of one list or one map of words.
pub(crate) const ENTRIES_MAX: usize = 2000;
pub(crate) const ENTRY_BYTES_MAX: usize = 1000;
pub const NAME_BYTES_MAX: usize = 64;
pub(crate) const WEIGHT_MAX: f64 = 100.0;
pub(crate) const SHAPES_MAX: usize = 8;
pub(crate) const CURRENCY_BYTES_MAX: usize = 8;

/// Where the ontology stands in its file.
const ROOT: &str = "ontology";

pub(crate) type Decoded<T> = Result<T, DecodeError>;

pub fn ontology(value: &Value) -> Decoded<Ontology> {
    let mut fields = Fields::from_value(ROOT, value)?;
    let threshold = threshold(&mut fields, Threshold::default())?;
    let unknown = unknown(&mut fields)?;
    let language = language(&mut fields)?;
    let kinds = kinds(&mut fields, language)?;
    let mut ontology = Ontology::new(language, kinds, threshold, unknown);
    ontology.currency = currency(&mut fields)?;
    let mut openers = Vec::new();
    words(&mut fields, "openers", language, |word| openers.push(word.folded.clone()))?;
    ontology.openers = openers;
    words(&mut fields, "ordinary", language, |word| ontology.vocabulary.learn_ordinary(word))?;
    for (name, kind) in [("times", TIME), ("fillers", FILLER), ("follow_ups", FOLLOW_UP)] {
        words(&mut fields, name, language, |word| ontology.vocabulary.learn_kind(word, kind))?;
    }
    synonyms(&mut fields, &mut ontology.vocabulary)?;
    let groups = groups(&mut fields, &mut ontology)?;
    let mut draft = Draft { ontology, groups };
    let buckets = draft.buckets(&mut fields)?;
    draft.intents(&mut fields, &buckets)?;
    fields.finish()?;
    let mut ontology = draft.ontology;
    ontology.scorer.index();
    Ok(ontology)
}

/// An ontology whose words are known and whose intents are being read.
struct Draft {
    ontology: Ontology,
    groups: FxHashMap<String, Vec<Id>>,
}

fn threshold(fields: &mut Fields<'_>, default: Threshold) -> Decoded<Threshold> {
    let path = fields.path("threshold");
    let Some(value) = fields.value("threshold") else { return Ok(default) };
    let mut fields = Fields::from_value(path, value)?;
    let min_score = bounded(&mut fields, "min_score")?.unwrap_or(default.min_score);
    let min_gap = bounded(&mut fields, "min_gap")?.unwrap_or(default.min_gap);
    fields.finish()?;
    Ok(Threshold { min_score, min_gap })
}

fn unknown(fields: &mut Fields<'_>) -> Decoded<Unknown> {
    let path = fields.path("unknown_words");
    let Some(value) = fields.value("unknown_words") else { return Ok(Unknown::default()) };
    let mut fields = Fields::from_value(path, value)?;
    let weight = bounded(&mut fields, "weight")?.unwrap_or_default();
    let max = bounded(&mut fields, "max")?.unwrap_or(weight);
    fields.finish()?;
    Ok(Unknown { weight, max })
}

/// A number from 0 to the greatest weight.
fn bounded(fields: &mut Fields<'_>, name: &'static str) -> Decoded<Option<f64>> {
    let path = fields.path(name);
    match fields.float(name)? {
        Some(number) if !(0.0..=WEIGHT_MAX).contains(&number) => {
            Err(DecodeError::new(path, format!("must be a number from 0 to {WEIGHT_MAX}")))
        }
        number => Ok(number),
    }
}

fn language(fields: &mut Fields<'_>) -> Decoded<Language> {
    let path = fields.path("locale");
    let Some(code) = fields.string("locale")? else { return Ok(Language::Portuguese) };
    Language::from_code(code).ok_or_else(|| DecodeError::new(path, format!("is {code}; locales are pt, en and ru")))
}

fn currency(fields: &mut Fields<'_>) -> Decoded<Option<String>> {
    let path = fields.path("currency");
    match fields.string("currency")? {
        Some(sign) if sign.trim().is_empty() || sign.len() > CURRENCY_BYTES_MAX => {
            Err(DecodeError::new(path, format!("must be a sign of 1 to {CURRENCY_BYTES_MAX} bytes")))
        }
        sign => Ok(sign.map(str::to_owned)),
    }
}

/// What questions are about: one kind of subject, or a list of them.
fn kinds(fields: &mut Fields<'_>, language: Language) -> Decoded<Vec<SubjectKind>> {
    let path = fields.path("subject");
    let value = fields.value("subject").ok_or_else(|| DecodeError::new(&path, "is missing"))?;
    let Some(list) = value.as_array() else { return Ok(vec![kind(path, value, language)?]) };
    if !(1..=KINDS_MAX).contains(&list.len()) {
        return Err(DecodeError::new(path, format!("must be 1 to {KINDS_MAX} kinds")));
    }
    let mut kinds: Vec<SubjectKind> = Vec::with_capacity(list.len());
    for (n, value) in list.iter().enumerate() {
        let path = format!("{path}[{n}]");
        let one = kind(path.clone(), value, language)?;
        let is_taken = |other: &SubjectKind| {
            [&other.name, &other.plural].into_iter().any(|name| *name == one.name || *name == one.plural)
        };
        if kinds.iter().any(is_taken) {
            return Err(DecodeError::new(format!("{path}.name"), "is the name of another kind, or of several of it"));
        }
        kinds.push(one);
    }
    Ok(kinds)
}

fn kind(path: String, value: &Value, language: Language) -> Decoded<SubjectKind> {
    let mut fields = Fields::from_value(path, value)?;
    let name_path = fields.path("name");
    let name = fields.string("name")?.ok_or_else(|| DecodeError::new(&name_path, "is missing"))?;
    check_name(&name_path, name)?;
    if name == WINDOW_NAME {
        return Err(DecodeError::new(name_path, "must not be window, which is a stretch of time"));
    }
    let plural_path = fields.path("plural");
    let plural = fields.string("plural")?.map_or_else(|| format!("{name}s"), str::to_owned);
    check_name(&plural_path, &plural)?;
    if plural == name {
        return Err(DecodeError::new(plural_path, "must not be the name of one"));
    }
    let shape_path = fields.path("shape");
    let shapes = match fields.value("shape") {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(|shape| read_shape(&shape_path, shape)).collect::<Decoded<_>>()?,
        Some(shape) => vec![read_shape(&shape_path, shape)?],
    };
    check_count(&shape_path, shapes.len(), SHAPES_MAX)?;
    let index = fields.string("index")?.map(str::to_owned);
    let mut called = Vec::new();
    words(&mut fields, "called", language, |word| called.push(word.folded.clone()))?;
    fields.finish()?;
    Ok(SubjectKind { name: name.to_owned(), plural, shapes, index, called })
}

fn read_shape(path: &str, value: &Value) -> Decoded<Shape> {
    // YAML reads `9999` as a number.
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(DecodeError::new(path, "must be a shape such as AA99, or a list of them")),
    };
    Shape::parse(&text).map_err(|problem| DecodeError::new(path, problem))
}

fn words(fields: &mut Fields<'_>, name: &'static str, language: Language, mut each: impl FnMut(&Word)) -> Decoded<()> {
    let path = fields.path(name);
    let list = fields.list(name)?;
    check_count(&path, list.len(), ENTRIES_MAX)?;
    for (n, entry) in list.iter().enumerate() {
        let path = format!("{path}[{n}]");
        match entry_words(&path, entry, language)?.as_slice() {
            [word] => each(word),
            _ => return Err(DecodeError::new(path, "must be one word")),
        }
    }
    Ok(())
}

fn synonyms(fields: &mut Fields<'_>, vocabulary: &mut Vocabulary) -> Decoded<()> {
    let language = vocabulary.language();
    let path = fields.path("synonyms");
    for (key, list) in map(fields, "synonyms", ENTRIES_MAX)? {
        let path = format!("{path}.{key}");
        let key = text::words(key, language);
        let [key] = key.as_slice() else { return Err(DecodeError::new(path, "must be one word")) };
        let means = vocabulary.learn(key);
        if !vocabulary.is_itself(means) {
            return Err(DecodeError::new(path, "is itself a synonym of another word"));
        }
        let list = list.as_array().ok_or_else(|| DecodeError::new(&path, "must be a list of words"))?;
        check_count(&path, list.len(), ENTRIES_MAX)?;
        for (n, entry) in list.iter().enumerate() {
            let path = format!("{path}[{n}]");
            let words = entry_words(&path, entry, language)?;
            let learnt = vocabulary.learn_synonym(&words, means);
            learnt.map_err(|()| DecodeError::new(path, "is already a synonym of another word"))?;
        }
    }
    Ok(())
}

/// Words that may stand for each other in one place of a phrase, by the name of that place.
fn groups(fields: &mut Fields<'_>, ontology: &mut Ontology) -> Decoded<FxHashMap<String, Vec<Id>>> {
    let path = fields.path("groups");
    let language = ontology.language();
    let mut groups = FxHashMap::default();
    for (name, list) in map(fields, "groups", GROUPS_MAX)? {
        let path = format!("{path}.{name}");
        check_name(&path, name)?;
        if ontology.kinds.iter().any(|kind| kind.name == *name) || name == WINDOW_NAME {
            return Err(DecodeError::new(path, "has a name that stands for something else"));
        }
        let list = list.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| DecodeError::new(&path, "must be a list of words"))?;
        check_count(&path, list.len(), ENTRIES_MAX)?;
        let mut ids = Vec::with_capacity(list.len());
        for (n, entry) in list.iter().enumerate() {
            let path = format!("{path}[{n}]");
            match ontology.vocabulary.fold(&entry_words(&path, entry, language)?).as_slice() {
                [id] => ids.push(*id),
                _ => return Err(DecodeError::new(path, "must be one word")),
            }
        }
        groups.insert(name.clone(), ids);
    }
    Ok(groups)
}

impl Draft {
    fn buckets(&mut self, fields: &mut Fields<'_>) -> Decoded<Vec<String>> {
        let path = fields.path("buckets");
        let mut names = Vec::new();
        for (n, (name, value)) in map(fields, "buckets", BUCKETS_MAX)?.enumerate() {
            let path = format!("{path}.{name}");
            check_name(&path, name)?;
            let mut fields = match value.is_null() {
                true => Fields::none(path),
                false => Fields::from_value(path, value)?,
            };
            self.signals(&mut fields, Target::Bucket(n))?;
            let is_required = fields.flag("required")?.unwrap_or_default();
            self.ontology.scorer.add_bucket(is_required);
            fields.finish()?;
            names.push(name.clone());
        }
        Ok(names)
    }

    fn intents(&mut self, fields: &mut Fields<'_>, buckets: &[String]) -> Decoded<()> {
        let path = fields.path("intents");
        let members = map(fields, "intents", INTENTS_MAX)?;
        for (n, (name, value)) in members.enumerate() {
            let path = format!("{path}.{name}");
            check_name(&path, name)?;
            let mut fields = Fields::from_value(&path, value)?;
            let entity_path = fields.path("entity");
            let entity = fields.string("entity")?.unwrap_or(name);
            check_name(&entity_path, entity)?;
            let bucket = bucket(&mut fields, buckets)?;
            let threshold = threshold(&mut fields, self.ontology.scorer.threshold)?;
            let spoken_for = self.signals(&mut fields, Target::Intent(n))?;
            fields.finish()?;
            if !spoken_for {
                return Err(DecodeError::new(path, "needs tokens or phrases that speak for it"));
            }
            let name_of = |bucket: usize| buckets.get(bucket).cloned();
            let intent = Intent { name: name.clone(), entity: entity.to_owned(), bucket: bucket.and_then(name_of) };
            self.ontology.intents.push(intent);
            self.ontology.scorer.add(threshold, bucket);
        }
        match self.ontology.intents.is_empty() {
            true => Err(DecodeError::new(path, "must have at least one intent")),
            false => Ok(()),
        }
    }

    /// What speaks for an intent or a bucket, and against it. Says whether anything speaks for it.
    fn signals(&mut self, fields: &mut Fields<'_>, target: Target) -> Decoded<bool> {
        let mut spoken_for = false;
        for (name, kind) in [("tokens", Kind::Token), ("phrases", Kind::Phrase), ("negatives", Kind::Negative)] {
            let path = fields.path(name);
            let mut words: FxHashMap<Id, &str> = FxHashMap::default();
            for (key, weight) in map(fields, name, ENTRIES_MAX)? {
                let path = format!("{path}.{key}");
                let pattern = self.pattern(&path, key)?;
                if kind == Kind::Token && !pattern.is_words() {
                    return Err(DecodeError::new(path, "is no single word; phrases takes it"));
                }
                // Endings make no difference, so that a word given twice would count twice.
                let twin = pattern.lone_words().find_map(|id| words.insert(id, key).filter(|other| *other != key));
                if let Some(twin) = twin {
                    return Err(DecodeError::new(path, format!("has a word that is the same as one of {twin}")));
                }
                self.ontology.scorer.learn(key, pattern, Signal { target, kind, weight: read_weight(&path, weight)? });
                spoken_for |= kind != Kind::Negative;
            }
        }
        Ok(spoken_for)
    }

    fn pattern(&mut self, path: &str, key: &str) -> Decoded<Pattern> {
        check_length(path, key)?;
        let Ontology { kinds, vocabulary, .. } = &mut self.ontology;
        let pattern = Pattern::parse(key, &mut Reading { kinds, groups: &self.groups, vocabulary });
        pattern.map_err(|problem| DecodeError::new(path, problem))
    }
}

fn bucket(fields: &mut Fields<'_>, buckets: &[String]) -> Decoded<Option<usize>> {
    let path = fields.path("bucket");
    let Some(name) = fields.string("bucket")? else { return Ok(None) };
    if let Some(at) = buckets.iter().position(|bucket| bucket == name) {
        return Ok(Some(at));
    }
    let known: Vec<&str> = buckets.iter().map(String::as_str).collect();
    Err(DecodeError::new(
        path,
        match nearest(name, &known) {
            Some(near) => format!("names {name}, which is none of the buckets; did you mean {near}?"),
            None => format!("names {name}, which is none of the buckets"),
        },
    ))
}

fn read_weight(path: &str, weight: &Value) -> Decoded<f64> {
    let weight = weight.as_f64().filter(|weight| *weight > 0.0 && *weight <= WEIGHT_MAX);
    weight.ok_or_else(|| DecodeError::new(path, format!("must have a weight above 0, up to {WEIGHT_MAX}")))
}

pub(crate) fn map<'v>(
    fields: &mut Fields<'v>,
    name: &'static str,
    entries_max: usize,
) -> Decoded<impl Iterator<Item = (&'v String, &'v Value)> + use<'v>> {
    let path = fields.path(name);
    let members = match fields.value(name) {
        None => None,
        Some(Value::Object(members)) => Some(members),
        Some(_) => return Err(DecodeError::new(path, "must be an object")),
    };
    check_count(&path, members.map_or(0, Map::len), entries_max)?;
    Ok(members.into_iter().flatten())
}

pub(crate) fn entry_words(path: &str, entry: &Value, language: Language) -> Decoded<Vec<Word>> {
    // YAML reads `12` and `no` as what they are not meant to be here.
    let spelled = match entry {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return Err(DecodeError::new(path, "must be a word")),
    };
    check_length(path, &spelled)?;
    match text::words(&spelled, language) {
        words if words.is_empty() => Err(DecodeError::new(path, "has no word")),
        words => Ok(words),
    }
}

pub(crate) fn check_count(path: &str, count: usize, max: usize) -> Decoded<()> {
    if count > max { Err(DecodeError::new(path, format!("must have at most {max} entries"))) } else { Ok(()) }
}

fn check_length(path: &str, text: &str) -> Decoded<()> {
    let fits = text.len() <= ENTRY_BYTES_MAX;
    if fits { Ok(()) } else { Err(DecodeError::new(path, format!("must have at most {ENTRY_BYTES_MAX} bytes"))) }
}

/// Names appear on the wire and are the names of files.
pub(crate) fn check_name(path: &str, name: &str) -> Decoded<()> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    match !name.is_empty() && name.len() <= NAME_BYTES_MAX && name.bytes().all(fits) {
        true => Ok(()),
        false => {
            let problem = format!("must be a name of letters, digits, _ and -, at most {NAME_BYTES_MAX} bytes");
            Err(DecodeError::new(path, problem))
        }
    }
}
