//! The ontology and the parameters of a starting catalogue: which words ask for which table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::column::ColumnKind;
use super::schema::{Schema, SchemaTable};
use super::words::{asking, fold, plain};
use super::{StarterLocale, StarterTable, quoted, yaml};
use novelo_language::schema_words::singular;

/// Names that parameters have already.
const TAKEN: [&str; 12] = [
    "client_id",
    "client_ids",
    "from",
    "to",
    "limit",
    "limits",
    "today",
    "aggregation",
    "window",
    "windows",
    "count",
    "row_count",
];
const SHAPES_MAX: usize = 3;
const SHAPE_CHARS_MAX: usize = 16;
const LIMIT_MAX: u32 = 100;

/// How the parts of a schema are called in the catalogue.
#[derive(Debug)]
pub(super) struct CataloguePlan {
    entities: Vec<String>,
    pub subjects: Vec<StarterSubject>,
}

/// A kind of subject.
#[derive(Debug)]
pub(super) struct StarterSubject {
    pub name: String,
    pub table: usize,
}

impl StarterSubject {
    pub(super) fn plural(&self) -> String {
        format!("{}s", self.name)
    }
}

impl CataloguePlan {
    pub(super) fn entity(&self, table: usize) -> &str {
        self.entities.get(table).map_or("", String::as_str)
    }

    /// The subjects that the rows of a table are about.
    pub(super) fn subjects_of(&self, schema: &Schema, table: usize) -> Vec<&StarterSubject> {
        let Some(of) = schema.tables.get(table) else { return Vec::new() };
        let is_of = |subject: &&StarterSubject| {
            subject.table == table || of.references.iter().any(|reference| reference.table == subject.table)
        };
        self.subjects.iter().filter(is_of).collect()
    }

    pub(super) fn told(&self, schema: &Schema, at: usize, table: &SchemaTable) -> StarterTable {
        StarterTable {
            name: table.name.clone(),
            entity: self.entity(at).to_owned(),
            subjects: self.subjects_of(schema, at).iter().map(|subject| subject.name.clone()).collect(),
            measures: table.measures().map(|column| column.name.clone()).collect(),
            date: table.date().map(|column| column.name.clone()),
            words: asking(&table.name),
        }
    }
}

/// A name that is not taken yet.
pub(super) fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let name = if name.is_empty() { "column" } else { name };
    let numbered = (2..).map(|n| format!("{name}_{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or_default()
}

pub(super) fn plan(schema: &Schema) -> CataloguePlan {
    let mut taken = BTreeSet::new();
    let mut entities = Vec::new();
    for table in &schema.tables {
        let name = free(&plain(&table.name), &taken);
        taken.insert(name.clone());
        entities.push(name);
    }
    let mut taken: BTreeSet<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
    let mut subjects = Vec::new();
    for (table, of) in schema.tables.iter().enumerate() {
        let Some(identity) = of.identity else { continue };
        let column = of.columns.get(identity.column).map_or("", |column| column.name.as_str());
        let name = plain(if identity.is_category { column } else { &of.name });
        let name = match name.rsplit_once('_') {
            Some((front, last)) => format!("{front}_{}", singular(last)),
            None => singular(&name),
        };
        let name = free(&name, &taken);
        let subject = StarterSubject { name, table };
        taken.extend([subject.name.clone(), subject.plural()]);
        subjects.push(subject);
    }
    CataloguePlan { entities, subjects }
}

pub(super) fn write(plan: &CataloguePlan, schema: &Schema, locale: StarterLocale) -> String {
    let mut out = String::from(
        "# Which words ask for which table. Made from the names in the database: add the words that your people use.\n\
         # `novelo eval routing FILE` measures it on questions of your own.\nontology:\n",
    );
    _ = writeln!(out, "  locale: {}", locale.code());
    out.push_str("  threshold: {min_score: 1.0, min_gap: 0.1}\n  unknown_words: {weight: 0.2, max: 0.4}\n\n");
    out.push_str("  # What questions are about, and the query that lists the known ones.\n  subject:\n");
    for subject in &plan.subjects {
        write_subject(subject, schema, &mut out);
    }
    if plan.subjects.is_empty() {
        out.push_str("    - {name: row, index: \"SELECT NULL WHERE 0\"}\n");
    }
    out.push_str("\n  intents:\n");
    let used = words_used(schema);
    for (at, table) in schema.tables.iter().enumerate() {
        write_intent(plan, schema, at, table, &used, locale, &mut out);
    }
    out
}

fn write_subject(subject: &StarterSubject, schema: &Schema, out: &mut String) {
    let Some(table) = schema.tables.get(subject.table) else { return };
    let Some(identity) = table.identity else { return };
    let column = |at: usize| table.columns.get(at);
    let Some(own) = column(identity.column) else { return };
    let of = quoted(&own.name);
    let other =
        identity.other_name.and_then(column).map(|other| format!(", {}", quoted(&other.name))).unwrap_or_default();
    let index = format!("SELECT DISTINCT {of}{other} FROM {} WHERE {of} IS NOT NULL ORDER BY 1", quoted(&table.name));
    _ = writeln!(out, "    - name: {}", subject.name);
    let shapes = shapes(own.sample());
    if !shapes.is_empty() {
        _ = writeln!(out, "      shape: [{}]", shapes.join(", "));
    }
    _ = writeln!(out, "      index: {}", yaml(&index));
    let mut called: Vec<String> = asking(if identity.is_category { &own.name } else { &table.name });
    called.truncate(1);
    let one = called.iter().map(|word| singular(word)).collect::<Vec<_>>();
    called.extend(one);
    called.dedup();
    let called: Vec<String> = called.iter().map(|word| yaml(word)).collect();
    _ = writeln!(out, "      called: [{}]", called.join(", "));
}

/// How codes look: `A` a letter, `9` a digit. None if they have no digits, or too many forms.
fn shapes(codes: &[String]) -> Vec<String> {
    let shape = |code: &String| {
        let form = |c: char| match c {
            '0'..='9' => Some('9'),
            'A'..='Z' | 'a'..='z' => Some('A'),
            '-' => Some('-'),
            _ => None,
        };
        code.chars().map(form).collect::<Option<String>>()
    };
    let all: Option<BTreeSet<String>> = codes.iter().map(shape).collect();
    let all = all.unwrap_or_default();
    let is_code = |shape: &String| shape.contains('A') && shape.contains('9') && shape.len() <= SHAPE_CHARS_MAX;
    if all.len() > SHAPES_MAX || !all.iter().all(is_code) { Vec::new() } else { all.into_iter().collect() }
}

/// In how many tables each word occurs.
fn words_used(schema: &Schema) -> BTreeMap<String, usize> {
    let mut used = BTreeMap::new();
    for table in &schema.tables {
        let names = std::iter::once(&table.name).chain(table.columns.iter().map(|column| &column.name));
        let words: BTreeSet<String> = names.flat_map(|name| asking(name)).map(|word| fold(&word)).collect();
        for word in words {
            *used.entry(word).or_insert(0) += 1;
        }
    }
    used
}

fn write_intent(
    plan: &CataloguePlan,
    schema: &Schema,
    at: usize,
    table: &SchemaTable,
    used: &BTreeMap<String, usize>,
    locale: StarterLocale,
    out: &mut String,
) {
    // By stem, since the ontology takes words of one stem for one word.
    let mut tokens: BTreeMap<String, (String, f64)> = BTreeMap::new();
    let mut phrases: BTreeMap<String, f64> = BTreeMap::new();
    let is_own = table.identity.is_some_and(|identity| !identity.is_category);
    let mut add = |name: &str, alone: f64, shared: f64| {
        let words = asking(name);
        if words.len() > 1 {
            phrases.entry(words.join(" ")).or_insert(alone);
        }
        for word in &words {
            let is_only = used.get(&fold(word)).is_none_or(|tables| *tables == 1);
            let weight = if is_only { alone } else { shared };
            let weight = if words.len() > 1 { weight * 0.7 } else { weight };
            let weight = (weight * 100.0).round() / 100.0;
            let (_, known) = tokens.entry(locale.stem(&fold(word))).or_insert_with(|| (fold(word), weight));
            *known = known.max(weight);
            if table.date().is_some() && !is_own && !is_only {
                phrases.insert(format!("@window + {}", fold(word)), 1.2);
            }
        }
    };
    add(&table.name, 1.5, 1.3);
    for column in table.columns.iter().filter(|column| !matches!(column.kind, ColumnKind::Id | ColumnKind::Other)) {
        add(&column.name, 1.2, if is_own { 1.1 } else { 0.95 });
    }
    for subject in plan.subjects_of(schema, at) {
        phrases.insert(format!("@{}", subject.name), if subject.table == at { 1.0 } else { 0.3 });
    }
    let row = |word: &str, weight: f64| format!("{}: {weight}", yaml(word));
    let tokens: Vec<String> = tokens.values().map(|(word, weight)| row(word, *weight)).collect();
    let phrases: Vec<String> = phrases.iter().map(|(words, weight)| row(words, *weight)).collect();
    _ = writeln!(out, "    {}:", plan.entity(at));
    _ = writeln!(out, "      tokens: {{{}}}", tokens.join(", "));
    _ = writeln!(out, "      phrases: {{{}}}", phrases.join(", "));
}

pub(super) fn write_rules(plan: &CataloguePlan, schema: &Schema, locale: StarterLocale) -> String {
    let mut out = String::from(
        "# What each intent takes from a question: subjects, a stretch of time, what is computed, how many rows.\n\
         param_inference:\n",
    );
    out.push_str(locale.aggregations());
    out.push_str("\n  intents:\n");
    for (at, table) in schema.tables.iter().enumerate() {
        _ = writeln!(out, "    {}:", plan.entity(at));
        for subject in plan.subjects_of(schema, at) {
            // `the products` are all of them, whichever was spoken of.
            let many = asking(&table.name).into_iter().filter(|word| subject.table == at && singular(word) != *word);
            let all = locale.words().all.into_iter().map(str::to_owned).chain(many);
            let all: Vec<String> = all.map(|word| yaml(&word)).collect();
            _ = writeln!(out, "      {}: {{source: [text, context], unless: [{}]}}", subject.name, all.join(", "));
        }
        if table.date().is_some() {
            out.push_str("      window: {source: [text, context], default: all, rows: false}\n");
        }
        let allowed = super::entity::aggregations(table);
        _ = writeln!(out, "      aggregation: {{allow: [{}], default: list}}", allowed.join(", "));
        let words: Vec<String> = asking(&table.name).iter().map(|word| yaml(word)).collect();
        if !words.is_empty() {
            _ = writeln!(out, "      limit: {{max: {LIMIT_MAX}, of: [{}]}}", words.join(", "));
        }
    }
    out
}
