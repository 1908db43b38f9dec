//! The guide: what decides how someone is answered who is being guided, and with which texts.
//!
//! Owns the files of `eco/` and the texts of `eco/modules/` as one thing, that is checked as a whole: each
//! file, or what is shipped in its place. Refuses files that nobody knows. Invariant: what is in force fits
//! together; a guide with a fault never replaces one without.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

use novelo_engine::decode::{DecodeError, nearest};
use novelo_engine::module::Manifest;
use novelo_language::decide::{Files, Rules};
use rustc_hash::FxHasher;
use serde_json::Value;

use super::answers::Answers;
use crate::data::catalogue::Text;
use crate::files::WatchedFile;

const DIR: &str = "eco";
const MODULES: &str = "eco/modules";
/// Where its files stand.
pub(crate) const DIRS: [&str; 2] = [DIR, MODULES];

const TEXT_BYTES_MAX: usize = 64 * 1024;

macro_rules! shipped {
    (files: $($key:literal)* ; modules: $($name:literal)*) => {
        /// The root key of each file, which is its name too.
        const FILES: [(&str, &str); 6] =
            [$(($key, include_str!(concat!("../../policies/eco/", $key, ".yaml")))),*];
        pub(super) const SHIPPED_MODULES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../policies/eco/modules/", $name, ".txt")))),*];
    };
}

shipped! {
    files: "signals" "heuristics" "greetings" "safety" "answers" "modules";
    modules:
    "abertura_1" "abertura_2" "abertura_3" "autocobranca" "bloco_tecnico" "crise" "estilo" "identidade" "intensidade_alta"
    "limites_e_cuidado" "luto" "medo_de_rejeicao" "memoria_relevante" "nome" "procrastinacao" "resposta_curta" "ruminacao"
    "sem_memorias" "sequencia_viva" "tom_nivel_1" "tom_nivel_2" "tom_nivel_3" "viva_forcado"
}

/// The policy files of guided conversations.
#[derive(Debug)]
pub struct Guide {
    /// What a message weighs and which way it goes.
    pub rules: Rules,
    /// The texts that a prompt may contain.
    pub modules: Manifest,
    /// The fixed texts.
    pub answers: Answers,
    /// Changes when any of it does.
    pub print: u64,
}

/// That inside the binary.
pub fn shipped() -> anyhow::Result<Arc<Guide>> {
    static SHIPPED: LazyLock<Result<Arc<Guide>, Vec<String>>> = LazyLock::new(|| make(&[]).map(Arc::new));
    SHIPPED.clone().map_err(|problems| anyhow::anyhow!("{}", problems.join("; ")))
}

/// That of the files; where one is broken, the one from before stays.
pub fn take(files: &[WatchedFile], before: &Arc<Guide>, broken: &mut Vec<String>) -> Arc<Guide> {
    let made = match (files, shipped()) {
        ([], Ok(shipped)) => Ok(shipped),
        _ => make(files).map(Arc::new),
    };
    made.unwrap_or_else(|problems| {
        broken.extend(problems);
        before.clone()
    })
}

fn make(files: &[WatchedFile]) -> Result<Guide, Vec<String>> {
    let sources = FILES.map(|(key, shipped)| Source::read(files, key, shipped));
    let mut problems = strangers(files);
    problems.extend(sources.iter().filter_map(|source| source.as_ref().err().cloned()));
    let own = own_texts(files, &mut problems);
    let [Ok(signals), Ok(heuristics), Ok(greetings), Ok(safety), Ok(answers), Ok(modules)] = sources else {
        return Err(problems);
    };
    let rules = rules([&signals, &heuristics, &greetings, &safety]).map_err(|problem| problems.push(problem));
    let said = Answers::decode(&answers.value).map_err(|error| problems.push(answers.text.fault(error)));
    let manifest = manifest(files, &modules, &own).map_err(|problem| problems.push(problem));
    let (Ok(rules), Ok(said), Ok(manifest)) = (rules, said, manifest) else { return Err(problems) };
    problems.extend(unknown_heuristic(&rules, &manifest).map(|error| modules.text.fault(error)));
    problems.extend(orphans(files, &modules));
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut hasher = FxHasher::default();
    for source in [&signals, &heuristics, &greetings, &safety, &answers] {
        source.value.to_string().hash(&mut hasher);
    }
    manifest.fingerprint().hash(&mut hasher);
    Ok(Guide { rules, modules: manifest, answers: said, print: hasher.finish() })
}

/// One of the files, or what is shipped in its place, with what stands under its key.
struct Source<'f> {
    key: &'static str,
    text: Text<'f>,
    is_own: bool,
    value: Value,
}

impl<'f> Source<'f> {
    fn read(files: &'f [WatchedFile], key: &'static str, shipped: &'static str) -> Result<Self, String> {
        let name = format!("{key}.yaml");
        let own = files.iter().find(|file| file.is_below(DIR) && file.full_name() == name);
        let text = own.map_or_else(|| Ok(Text::shipped(&format!("{DIR}/{name}"), shipped)), Text::of)?;
        let value = text.read(|yaml| yaml.under(key).cloned())?;
        Ok(Self { key, text, is_own: own.is_some(), value })
    }
}

/// Files that nobody reads, which someone wrote for a purpose.
fn strangers(files: &[WatchedFile]) -> Vec<String> {
    let names = FILES.map(|(key, _)| format!("{key}.yaml"));
    let known = names.each_ref().map(String::as_str);
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_below(DIR)) {
        let name = file.full_name();
        if known.contains(&name.as_str()) {
            continue;
        }
        problems.push(file.tell(match nearest(&name, &known) {
            Some(near) => format!("there is no such file; did you mean {near}?"),
            None => format!("there is no such file; there are {}", known.join(", ")),
        }));
    }
    problems
}

/// The texts of files, by the names of their modules.
fn own_texts(files: &[WatchedFile], problems: &mut Vec<String>) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_below(MODULES)) {
        match file.load() {
            Ok(text) if text.len() <= TEXT_BYTES_MAX => drop(texts.insert(file.name().to_owned(), text)),
            Ok(_) => problems.push(file.tell(format!("has more than {TEXT_BYTES_MAX} bytes"))),
            Err(problem) => problems.push(file.tell(problem)),
        }
    }
    texts
}

fn rules(sources: [&Source<'_>; 4]) -> Result<Rules, String> {
    let [signals, heuristics, greetings, safety] = sources.map(|source| &source.value);
    Rules::decode(&Files { signals, heuristics, greetings, safety }).map_err(|error| {
        let is_of = |source: &&Source<'_>| {
            let rest = error.path.strip_prefix(source.key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        let source = sources.into_iter().find(is_of).unwrap_or(sources[0]);
        source.text.fault(error)
    })
}

fn manifest(files: &[WatchedFile], modules: &Source<'_>, own: &BTreeMap<String, String>) -> Result<Manifest, String> {
    let shipped = |name: &str| SHIPPED_MODULES.iter().find(|(of, _)| *of == name).map(|(_, text)| (*text).to_owned());
    let text = |name: &str| own.get(name).cloned().or_else(|| shipped(name));
    Manifest::decode(&modules.value, text).map_err(|error| {
        // The manifest that is shipped has no fault: an own text beside it has.
        let blamed = entry_of(&error.path).and_then(|n| names(&modules.value).nth(n));
        let file = files.iter().find(|file| file.is_below(MODULES) && Some(file.name()) == blamed);
        match file.filter(|_| !modules.is_own) {
            Some(file) => file.tell(error),
            None => modules.text.fault(error),
        }
    })
}

/// The number of the entry that a path is of.
fn entry_of(path: &str) -> Option<usize> {
    let (n, _) = path.strip_prefix("modules.list[")?.split_once(']')?;
    n.parse().ok()
}

fn names(modules: &Value) -> impl Iterator<Item = &str> {
    let list = modules.get("list").and_then(Value::as_array).into_iter().flatten();
    list.map(|entry| entry.get("name").and_then(Value::as_str).unwrap_or_default())
}

fn unknown_heuristic(rules: &Rules, manifest: &Manifest) -> Option<DecodeError> {
    let known: Vec<&str> = rules.heuristic_names().collect();
    let (path, name) = manifest.heuristics().find(|(_, name)| !known.contains(name))?;
    let near = nearest(name, &known).map_or_else(String::new, |near| format!("; did you mean {near}?"));
    Some(DecodeError::new(path, format!("is {name}, which is none of the heuristics{near}")))
}

/// Texts of files that no module has.
fn orphans(files: &[WatchedFile], modules: &Source<'_>) -> Vec<String> {
    let names: Vec<String> = names(&modules.value).map(|name| format!("{name}.txt")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut problems = Vec::new();
    for file in files.iter().filter(|file| file.is_below(MODULES)) {
        let name = file.full_name();
        if !names.contains(&name.as_str()) {
            let near = nearest(&name, &names).map_or_else(String::new, |near| format!("; did you mean {near}?"));
            problems.push(file.tell(format!("no module of modules.yaml has this text{near}")));
        }
    }
    problems
}
