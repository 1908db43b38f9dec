//! The rules as users write them, checked field by field.
//!
//! Refuses unknown fields, what says nothing (a group without phrases, a heuristic that nothing can fire, an
//! answer without words), names that stand twice, numbers out of range, placeholders that are not filled, and
//! anything past the caps below. Every problem names the path of its field, which begins with the root key of
//! its file.

use novelo_engine::decode::{DecodeError, Fields};
use serde_json::Value;

use super::phrase::{List, PhraseLexicon};
use super::{Amplifiers, Emphasis, Example, Files, Group, INTENSITY_MAX, LANGUAGE, Rules};
use crate::plan::ontology::decode::{
    Decoded, ENTRIES_MAX, GROUPS_MAX, NAME_BYTES_MAX, check_count, check_name, entry_words, map,
};

/// Each is compared by meaning with every message.
pub(crate) const EXAMPLES_MAX: usize = 500;
pub const TEXT_CHARS_MAX: usize = 4000;
pub(crate) const ANSWERS_MAX: usize = 20;
pub(crate) const LOCALES_MAX: usize = 50;
pub(crate) const GREETING_WORDS_MAX: u32 = 20;
/// Turns after which danger that was voiced is over, and at most.
const CALM_TURNS: u32 = 5;
pub(crate) const CALM_TURNS_MAX: u32 = 50;
const EXAMPLE_CHARS_MAX: usize = 1000;
const GREETING_WORDS: u32 = 6;
const SIMILARITY: f32 = 0.6;
/// The one placeholder of an answer.
const NAME: &str = "{name}";

pub fn rules(files: &Files<'_>) -> Decoded<Rules> {
    let mut rules = Rules {
        lexicon: PhraseLexicon::default(),
        groups: Vec::new(),
        amplifiers: Amplifiers::default(),
        emphasis: Emphasis::default(),
        emotions: Vec::new(),
        categories: Vec::new(),
        heuristics: Vec::new(),
        examples: Vec::new(),
        greeting_words_max: 0,
        named: Vec::new(),
        unnamed: Vec::new(),
        locales: Vec::new(),
        calm_turns: 0,
    };
    // First of all, since they say which words deny what stands in any of them.
    signals(&mut rules, files.signals)?;
    heuristics(&mut rules, files.heuristics)?;
    greetings(&mut rules, files.greetings)?;
    safety(&mut rules, files.safety)?;
    Ok(rules)
}

fn signals(rules: &mut Rules, value: &Value) -> Decoded<()> {
    let mut fields = Fields::from_value("signals", value)?;
    let path = fields.path("negations");
    let negations = fields.list("negations")?;
    check_count(&path, negations.len(), ENTRIES_MAX)?;
    for (n, entry) in negations.iter().enumerate() {
        let path = format!("{path}[{n}]");
        match entry_words(&path, entry, LANGUAGE)?.as_slice() {
            [word] => rules.lexicon.deny(word),
            _ => return Err(DecodeError::new(path, "must be one word")),
        }
    }
    rules.groups = groups(&mut rules.lexicon, &mut fields, List::Intensity, "intensity")?;
    if rules.groups.is_empty() {
        return Err(DecodeError::new(fields.path("intensity"), "must have at least one group"));
    }
    let lexicon = &mut rules.lexicon;
    if let Some((at, value)) = within(&mut fields, "amplifiers") {
        rules.amplifiers = amplifiers(lexicon, Fields::from_value(at, value)?)?;
    }
    if let Some((at, value)) = within(&mut fields, "emphasis") {
        rules.emphasis = emphasis(Fields::from_value(at, value)?)?;
    }
    phrases(lexicon, &mut fields, "vulnerability", List::Vulnerability, 0)?;
    phrases(lexicon, &mut fields, "heavy", List::Heavy, 0)?;
    phrases(lexicon, &mut fields, "triggers", List::Trigger, 0)?;
    let names = |groups: Vec<Group>| groups.into_iter().map(|group| group.name).collect();
    rules.emotions = names(groups(lexicon, &mut fields, List::Emotion, "emotions")?);
    rules.categories = names(groups(lexicon, &mut fields, List::Category, "categories")?);
    fields.finish()
}

/// Groups of phrases, each with a name; those that add to the intensity with a weight.
fn groups(lexicon: &mut PhraseLexicon, fields: &mut Fields<'_>, list: List, name: &'static str) -> Decoded<Vec<Group>> {
    let path = fields.path(name);
    let entries = fields.list(name)?;
    check_count(&path, entries.len(), GROUPS_MAX)?;
    let mut groups: Vec<Group> = Vec::with_capacity(entries.len());
    for (n, value) in entries.iter().enumerate() {
        let mut fields = Fields::from_value(format!("{path}[{n}]"), value)?;
        let name = named(&mut fields, groups.iter().map(|group| group.name.as_str()))?.to_owned();
        let weight = match list {
            List::Intensity => weight(&mut fields, "weight")?,
            _ => 0.0,
        };
        if phrases(lexicon, &mut fields, "any", list, n)? == 0 {
            return Err(DecodeError::new(fields.path("any"), "must have at least one phrase"));
        }
        fields.finish()?;
        groups.push(Group { name, weight: weight as f32 });
    }
    Ok(groups)
}

/// A name that none of those before it has.
fn named<'v, 'n>(fields: &mut Fields<'v>, mut before: impl Iterator<Item = &'n str>) -> Decoded<&'v str> {
    let path = fields.path("name");
    let name = fields.string("name")?.ok_or_else(|| DecodeError::new(&path, "is missing"))?;
    if name.trim().is_empty() || name.len() > NAME_BYTES_MAX || name.contains(char::is_control) {
        return Err(DecodeError::new(path, format!("must be a name of 1 to {NAME_BYTES_MAX} bytes")));
    }
    match before.any(|other| other == name) {
        true => Err(DecodeError::new(path, format!("is {name}, which stands there before"))),
        false => Ok(name),
    }
}

/// What is added to the intensity: above 0, and at most all of it.
fn weight(fields: &mut Fields<'_>, name: &'static str) -> Decoded<f64> {
    let path = fields.path(name);
    let weight = fields.float(name)?.ok_or_else(|| DecodeError::new(&path, "is missing"))?;
    match weight > 0.0 && weight <= INTENSITY_MAX.into() {
        true => Ok(weight),
        false => Err(DecodeError::new(path, format!("must be a number above 0, up to {INTENSITY_MAX}"))),
    }
}

fn amplifiers(lexicon: &mut PhraseLexicon, mut fields: Fields<'_>) -> Decoded<Amplifiers> {
    let amplifiers = Amplifiers { weight: weight(&mut fields, "weight")?, at_most: weight(&mut fields, "at_most")? };
    phrases(lexicon, &mut fields, "any", List::Amplifier, 0)?;
    fields.finish()?;
    Ok(amplifiers)
}

fn emphasis(mut fields: Fields<'_>) -> Decoded<Emphasis> {
    let mut added = |name| {
        let path = fields.path(name);
        match fields.float(name)?.unwrap_or_default() {
            number if (0.0..=f64::from(INTENSITY_MAX)).contains(&number) => Ok(number),
            _ => Err(DecodeError::new(path, format!("must be a number from 0 to {INTENSITY_MAX}"))),
        }
    };
    let emphasis = Emphasis { exclamations: added("exclamations")?, capitals: added("capitals")? };
    fields.finish()?;
    Ok(emphasis)
}

fn heuristics(rules: &mut Rules, value: &Value) -> Decoded<()> {
    const ROOT: &str = "heuristics";
    let list = value.as_array().ok_or_else(|| DecodeError::new(ROOT, "must be an array"))?;
    check_count(ROOT, list.len(), GROUPS_MAX)?;
    for (n, value) in list.iter().enumerate() {
        let path = format!("{ROOT}[{n}]");
        let mut fields = Fields::from_value(&path, value)?;
        let name = named(&mut fields, rules.heuristics.iter().map(String::as_str))?;
        check_name(&fields.path("name"), name)?;
        fields.string("about")?;
        let phrases = phrases(&mut rules.lexicon, &mut fields, "any", List::Heuristic, n)?;
        let similarity = similarity(&mut fields)?;
        let examples_path = fields.path("examples");
        let examples = fields.list("examples")?;
        check_count(&examples_path, rules.examples.len() + examples.len(), EXAMPLES_MAX)?;
        for (n, example) in examples.iter().enumerate() {
            let text = text(&format!("{examples_path}[{n}]"), example, EXAMPLE_CHARS_MAX)?;
            rules.examples.push(Example { heuristic: name.to_owned(), text, similarity });
        }
        fields.finish()?;
        if phrases == 0 && examples.is_empty() {
            return Err(DecodeError::new(path, "needs any or examples"));
        }
        rules.heuristics.push(name.to_owned());
    }
    Ok(())
}

fn similarity(fields: &mut Fields<'_>) -> Decoded<f32> {
    let path = fields.path("similarity");
    match fields.float("similarity")? {
        None => Ok(SIMILARITY),
        Some(number) if number > 0.0 && number <= 1.0 => Ok(number as f32),
        Some(_) => Err(DecodeError::new(path, "must be a number above 0, up to 1")),
    }
}

fn greetings(rules: &mut Rules, value: &Value) -> Decoded<()> {
    let mut fields = Fields::from_value("greetings", value)?;
    let words_max = fields.number("words_max", 1, GREETING_WORDS_MAX)?.unwrap_or(GREETING_WORDS);
    rules.greeting_words_max = words_max as usize;
    some_phrases(&mut rules.lexicon, &mut fields, List::Greeting)?;
    phrases(&mut rules.lexicon, &mut fields, "fillers", List::Filler, 0)?;
    let (path, value) = within(&mut fields, "answers").ok_or_else(|| missing(&fields, "answers"))?;
    let mut answers = Fields::from_value(path, value)?;
    rules.named = answer_list(&mut answers, "named", true)?;
    rules.unnamed = answer_list(&mut answers, "unnamed", false)?;
    answers.finish()?;
    fields.finish()
}

fn answer_list(fields: &mut Fields<'_>, name: &'static str, has_name: bool) -> Decoded<Vec<String>> {
    let path = fields.path(name);
    let list = fields.list(name)?;
    if !(1..=ANSWERS_MAX).contains(&list.len()) {
        return Err(DecodeError::new(path, format!("must have 1 to {ANSWERS_MAX} entries")));
    }
    let answer = |(n, value): (usize, &Value)| {
        let path = format!("{path}[{n}]");
        let answer = text(&path, value, TEXT_CHARS_MAX)?;
        let rest = if has_name { answer.replace(NAME, "") } else { answer.clone() };
        match rest.contains(['{', '}']) {
            true if has_name => Err(DecodeError::new(path, format!("has a brace; only {NAME} is filled in"))),
            true => Err(DecodeError::new(path, "has a brace; nothing is filled in here")),
            false => Ok(answer),
        }
    };
    list.iter().enumerate().map(answer).collect()
}

fn safety(rules: &mut Rules, value: &Value) -> Decoded<()> {
    let mut fields = Fields::from_value("safety", value)?;
    some_phrases(&mut rules.lexicon, &mut fields, List::Crisis)?;
    phrases(&mut rules.lexicon, &mut fields, "except", List::Except, 0)?;
    let calm_turns = fields.number("calm_turns", 1, CALM_TURNS_MAX)?.unwrap_or(CALM_TURNS);
    rules.calm_turns = calm_turns as usize;
    let path = fields.path("locales");
    for (locale, value) in map(&mut fields, "locales", LOCALES_MAX)? {
        let path = format!("{path}.{locale}");
        check_name(&path, locale)?;
        rules.locales.push((locale.clone(), text(&path, value, TEXT_CHARS_MAX)?));
    }
    match rules.locales.is_empty() {
        true => Err(DecodeError::new(path, "must have at least one locale")),
        false => fields.finish(),
    }
}

/// The phrases that a file is about, of which there must be some.
fn some_phrases(lexicon: &mut PhraseLexicon, fields: &mut Fields<'_>, list: List) -> Decoded<()> {
    match phrases(lexicon, fields, "phrases", list, 0)? {
        0 => Err(DecodeError::new(fields.path("phrases"), "must have at least one phrase")),
        _ => Ok(()),
    }
}

/// Learns the phrases of a list, and says how many there are.
fn phrases(
    lexicon: &mut PhraseLexicon,
    fields: &mut Fields<'_>,
    name: &'static str,
    list: List,
    group: usize,
) -> Decoded<usize> {
    let path = fields.path(name);
    let entries = fields.list(name)?;
    check_count(&path, entries.len(), ENTRIES_MAX)?;
    for (n, entry) in entries.iter().enumerate() {
        let words = entry_words(&format!("{path}[{n}]"), entry, LANGUAGE)?;
        let spelled = entry.as_str().map_or_else(|| entry.to_string(), str::to_owned);
        lexicon.learn(list, group, &spelled, &words);
    }
    Ok(entries.len())
}

/// A text that is shown.
fn text(path: &str, value: &Value, chars_max: usize) -> Decoded<String> {
    let text = value.as_str().map(str::trim);
    let text = text.filter(|text| !text.is_empty() && text.chars().count() <= chars_max);
    let problem = || DecodeError::new(path, format!("must be a text of 1 to {chars_max} characters"));
    text.map(str::to_owned).ok_or_else(problem)
}

fn within<'v>(fields: &mut Fields<'v>, name: &'static str) -> Option<(String, &'v Value)> {
    let path = fields.path(name);
    fields.value(name).map(|value| (path, value))
}

fn missing(fields: &Fields<'_>, name: &str) -> DecodeError {
    DecodeError::new(fields.path(name), "is missing")
}
