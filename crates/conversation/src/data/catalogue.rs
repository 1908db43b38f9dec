//! The catalogue: what can be asked, with which parameters, and by which queries it is looked up.
//!
//! Owns the files of an ontology, its parameters and its entities as one thing, that is checked as a whole
//! against the database. Invariant: what is in force fits together; a catalogue with a fault never replaces
//! one without.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use novelo_engine::decode::DecodeError;
use novelo_engine::limits::ENTITIES_MAX;
use novelo_language::plan::{ConditionRule, Ontology, ParameterRules, Subjects};
use serde_json::Value;

use super::database::{Bounds, Database};
use super::entity::{Entity, EntityLanguage};
use super::shipped::ShippedCatalogue;
use crate::files::WatchedFile;
use crate::yaml::{Problem, Yaml};

/// The file that says what a question may ask.
pub const ONTOLOGY: &str = "ontology.yaml";
/// The file that says how values are found in a question.
pub const RULES: &str = "param_inference.yaml";
/// The directory with a file for each.
pub(crate) const ENTITIES: &str = "entities";

/// What every query may bind, beside the subject and the choices.
const PARAMETERS: [&str; 6] = ["client_id", "from", "to", "limit", "today", "aggregation"];
const SUBJECTS_MAX: usize = 100_000;
const INDEX_WAIT: Duration = Duration::from_secs(2);

/// All policy files of `/ask`, checked against each other and the database.
#[derive(Debug)]
pub struct Catalogue {
    /// What a question may ask.
    pub ontology: Ontology,
    /// How values are found in a question.
    pub rules: ParameterRules,
    entities: BTreeMap<String, Entity>,
    /// The conditions of all entities.
    pub conditions: Vec<ConditionRule>,
    /// The known subjects, and the state of the database that they were read from. The first request after a
    /// change reads them again.
    subjects: Mutex<(u64, Arc<Subjects>)>,
    /// Tells it from every other of this process.
    pub edition: u64,
}

impl Catalogue {
    /// The entity of this name.
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.entities.get(name)
    }

    /// The subjects that are known now. Reads the database when it has changed, so it may wait for it.
    pub fn subjects(&self, database: &Database) -> Arc<Subjects> {
        let mut known = self.subjects.lock().unwrap_or_else(PoisonError::into_inner);
        let now = database.generation();
        if known.0 != now {
            match list(&self.ontology, database) {
                Ok(subjects) => *known = (now, subjects),
                Err((_, error)) => tracing::warn!(%error, "the known subjects could not be read again"),
            }
        }
        known.1.clone()
    }
}

/// One of the files, or what is shipped in its place.
pub(crate) struct Text<'f> {
    file: Option<&'f WatchedFile>,
    name: String,
    text: Cow<'static, str>,
}

impl<'f> Text<'f> {
    pub(crate) fn of(file: &'f WatchedFile) -> Result<Self, String> {
        let text = file.load().map_err(|problem| file.tell(problem))?;
        Ok(Self { file: Some(file), name: file.name().to_owned(), text: text.into() })
    }

    pub(crate) fn shipped(name: &str, text: &'static str) -> Self {
        Self { file: None, name: name.to_owned(), text: text.into() }
    }

    fn tell(&self, problem: &Problem) -> String {
        match self.file {
            Some(file) => file.tell(problem),
            None => format!("{}, as it is shipped: {problem}", self.name),
        }
    }

    /// Reads it as YAML, and what comes of that as a whole.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Yaml) -> Result<T, Problem>) -> Result<T, String> {
        Yaml::read(&self.text).and_then(|yaml| read(&yaml)).map_err(|problem| self.tell(&problem))
    }

    /// A fault that shows only beside other files.
    pub(crate) fn fault(&self, error: DecodeError) -> String {
        let problem = Yaml::read(&self.text).map(|yaml| yaml.problem(error));
        self.tell(&problem.unwrap_or_else(|problem| problem))
    }

    /// The same of what stands under its one key.
    fn read_under<T>(&self, key: &str, decode: impl FnOnce(&Value) -> Result<T, DecodeError>) -> Result<T, String> {
        let within = |error: DecodeError| match error.path.as_str() {
            "" => DecodeError::new(key, error.problem),
            path if path.starts_with(key) => error,
            path => DecodeError::new(format!("{key}.{path}"), error.problem),
        };
        self.read(|yaml| decode(yaml.under(key)?).map_err(|error| yaml.problem(within(error))))
    }
}

/// The catalogue of these files; where one is broken, the one from before stays.
pub fn take(
    files: &[WatchedFile],
    shipped: &'static ShippedCatalogue,
    database: &Database,
    before: &Option<Arc<Catalogue>>,
    broken: &mut Vec<String>,
) -> Option<Arc<Catalogue>> {
    match make(files, shipped, database) {
        Ok((catalogue, idle)) => {
            broken.extend(idle);
            Some(Arc::new(catalogue))
        }
        Err(problems) => {
            broken.extend(problems);
            before.clone()
        }
    }
}

/// The catalogue, and the files that it has no use for.
fn make(
    files: &[WatchedFile],
    shipped: &'static ShippedCatalogue,
    database: &Database,
) -> Result<(Catalogue, Vec<String>), Vec<String>> {
    let own = |name: &str| files.iter().find(|file| file.is(name));
    let one = |problem| vec![problem];
    let ontology_text = ontology_text(own(ONTOLOGY), shipped).map_err(one)?;
    let ontology = ontology_text.read_under("ontology", Ontology::decode).map_err(one)?;
    let (rules, rules_text) = rules(own(RULES), shipped, &ontology).map_err(one)?;
    let subjects = known(&ontology_text, &ontology, database).map_err(one)?;
    let entities = entities(files, shipped, &ontology_text, &ontology, &rules, database)?;
    check_aggregations(&ontology, &rules, &entities).map_err(|fault| one(rules_text.fault(fault)))?;
    let is_idle = |file: &&WatchedFile| file.is_below(ENTITIES) && !entities.contains_key(file.name());
    let idle = files.iter().filter(is_idle).map(|file| file.tell("no intent has this entity")).collect();
    static EDITIONS: AtomicU64 = AtomicU64::new(0);
    let edition = EDITIONS.fetch_add(1, Ordering::Relaxed);
    let subjects = Mutex::new((database.generation(), subjects));
    let conditions = entities.values().flat_map(|entity| entity.conditions.iter().cloned()).collect();
    Ok((Catalogue { ontology, rules, entities, conditions, subjects, edition }, idle))
}

/// The parameters of the file; or those that are shipped, for the intents that the ontology has of them.
fn rules<'f>(
    own: Option<&'f WatchedFile>,
    shipped: &ShippedCatalogue,
    ontology: &Ontology,
) -> Result<(ParameterRules, Text<'f>), String> {
    let text = match own {
        Some(file) => Text::of(file)?,
        None => Text::shipped(RULES, shipped.rules),
    };
    let rules = text.read_under("param_inference", |value| match own {
        Some(_) => ParameterRules::decode(value, ontology),
        None => ParameterRules::decode(&only_known(value.clone(), ontology), ontology),
    })?;
    Ok((rules, text))
}

/// Whatever may be asked for must have its query: another in its place would answer something else.
fn check_aggregations(
    ontology: &Ontology,
    rules: &ParameterRules,
    entities: &BTreeMap<String, Entity>,
) -> Result<(), DecodeError> {
    for intent in ontology.intents() {
        let Some(entity) = entities.get(&intent.entity) else { continue };
        if let Some(missing) = rules.aggregations(&intent.name).iter().find(|name| !entity.answers(name)) {
            let path = format!("param_inference.intents.{}.aggregation.allow", intent.name);
            let problem = format!("has {missing}, and {ENTITIES}/{}.yaml has no such query", entity.name);
            return Err(DecodeError::new(path, problem));
        }
    }
    Ok(())
}

fn only_known(mut rules: Value, ontology: &Ontology) -> Value {
    if let Some(intents) = rules.get_mut("intents").and_then(Value::as_object_mut) {
        intents.retain(|name, _| ontology.intents().iter().any(|intent| intent.name == *name));
    }
    rules
}

/// The ontology by itself, from its file or as it is shipped; without a database it knows no subjects.
pub fn ontology(
    own: Option<&WatchedFile>,
    shipped: &'static ShippedCatalogue,
    database: Option<&Database>,
) -> Result<(Ontology, Arc<Subjects>), String> {
    let text = ontology_text(own, shipped)?;
    let ontology = text.read_under("ontology", Ontology::decode)?;
    let subjects = database.map(|database| known(&text, &ontology, database)).transpose()?;
    Ok((ontology, subjects.unwrap_or_default()))
}

fn ontology_text<'f>(own: Option<&'f WatchedFile>, shipped: &ShippedCatalogue) -> Result<Text<'f>, String> {
    match own {
        Some(file) => Text::of(file),
        None => Ok(Text::shipped(ONTOLOGY, shipped.ontology)),
    }
}

fn known(text: &Text<'_>, ontology: &Ontology, database: &Database) -> Result<Arc<Subjects>, String> {
    list(ontology, database).map_err(|(kind, problem)| {
        let at = match ontology.kinds().len() {
            1 => "ontology.subject.index".to_owned(),
            _ => format!("ontology.subject[{kind}].index"),
        };
        text.fault(DecodeError::new(at, problem))
    })
}

/// The known subjects of each kind; or the place of the kind whose query is wrong, and how.
fn list(ontology: &Ontology, database: &Database) -> Result<Arc<Subjects>, (usize, String)> {
    let mut subjects = Subjects::default();
    for (at, kind) in ontology.kinds().iter().enumerate() {
        let Some(sql) = &kind.index else { continue };
        let known = list_kind(sql, database).map_err(|problem| (at, problem))?;
        subjects.add(at, kind, known, ontology.language());
    }
    Ok(Arc::new(subjects))
}

/// The code of each subject, and its other names.
fn list_kind(sql: &str, database: &Database) -> Result<Vec<(String, Vec<String>)>, String> {
    database.check(sql, &[])?;
    let bounds = Bounds { rows_max: SUBJECTS_MAX, wait: INDEX_WAIT };
    let rows = database.query(sql, &[], bounds).map_err(|e| e.to_string())?;
    let text = |cell: &Value| match cell {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let known = rows.rows.iter().filter_map(|row| {
        let (code, names) = row.split_first()?;
        Some((text(code)?, names.iter().filter_map(text).collect()))
    });
    Ok(known.collect())
}

/// Those that the intents name, each from its file or as it is shipped.
fn entities(
    files: &[WatchedFile],
    shipped: &ShippedCatalogue,
    ontology_text: &Text<'_>,
    ontology: &Ontology,
    rules: &ParameterRules,
    database: &Database,
) -> Result<BTreeMap<String, Entity>, Vec<String>> {
    let words = EntityLanguage::of(ontology);
    let mut parameters = PARAMETERS.to_vec();
    parameters.extend(ontology.kinds().iter().flat_map(|kind| [kind.name.as_str(), kind.plural.as_str()]));
    parameters.extend(rules.choices());
    let (mut entities, mut problems) = (BTreeMap::new(), Vec::new());
    if ontology.intents().len() > ENTITIES_MAX {
        let problem = DecodeError::new("ontology.intents", format!("are more than ENTITIES_MAX, {ENTITIES_MAX}"));
        problems.push(ontology_text.fault(problem));
    }
    for intent in ontology.intents() {
        if entities.contains_key(&intent.entity) {
            continue;
        }
        let read = find(files, shipped, &intent.entity).and_then(|text| match text {
            Some(text) => text.read(|yaml| {
                let mut entity = Entity::decode(&text.name, &words, &yaml.value).map_err(|e| yaml.problem(e))?;
                entity.check(database, &parameters).map_err(|e| yaml.problem(e))?;
                Ok(entity)
            }),
            None => {
                let problem = format!("is {}, and there is no {ENTITIES}/{}.yaml", intent.entity, intent.entity);
                let at = format!("ontology.intents.{}.entity", intent.name);
                Err(ontology_text.fault(DecodeError::new(at, problem)))
            }
        });
        match read {
            Ok(entity) => drop(entities.insert(intent.entity.clone(), entity)),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(entities) } else { Err(problems) }
}

fn find<'f>(files: &'f [WatchedFile], shipped: &ShippedCatalogue, entity: &str) -> Result<Option<Text<'f>>, String> {
    if let Some(file) = files.iter().find(|file| file.is_below(ENTITIES) && file.name() == entity) {
        return Text::of(file).map(Some);
    }
    let shipped = shipped.entities.iter().find(|(name, _)| *name == entity);
    Ok(shipped.map(|(name, text)| Text::shipped(name, text)))
}
