//! Files that users write: any text is a policy or an error that names what is wrong.

use novelo_conversation::data::entity::{Entity, EntityLanguage};
use novelo_conversation::policy::{Answers, Preset};
use novelo_conversation::yaml::Yaml;
use novelo_engine::module::Manifest;
use novelo_engine::policy::Policy;
use novelo_language::Language;
use novelo_language::decide::{self, Files};
use novelo_language::plan::{Ontology, ParameterRules};
use serde_json::{Value, json};

/// Every reader gets the file, and what stands under each of its keys.
pub fn policies(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let yaml = match Yaml::read(text) {
        Ok(yaml) => yaml,
        Err(problem) => return assert!(!problem.problem.is_empty()),
    };
    if let Ok(context) = yaml.under("context") {
        drop(yaml.decode::<Policy>("context", context));
    }
    let below = yaml.value.as_object().into_iter().flat_map(|members| members.values());
    for value in below.chain([&yaml.value]) {
        read(value);
    }
}

fn read(value: &Value) {
    if let Ok(ontology) = Ontology::decode(value) {
        drop(ParameterRules::decode(value, &ontology));
        drop(ParameterRules::decode(&json!({}), &ontology));
    }
    for language in Language::ALL {
        let words = EntityLanguage::new(language, None, vec!["tickers".to_owned(), "managers".to_owned()]);
        drop(Entity::decode("entity", &words, value));
    }
    drop(Answers::decode(value));
    drop(Manifest::decode(value, |name| (name != "missing").then(|| "a text".to_owned())));
    drop(Preset::given("preset", value.clone()));
    let part = |name: &str| value.get(name).unwrap_or(value);
    let [signals, heuristics, greetings, safety] = ["signals", "heuristics", "greetings", "safety"].map(part);
    if let Ok(rules) = decide::Rules::decode(&Files { signals, heuristics, greetings, safety }) {
        drop(rules.read("Hello there, how are you?"));
    }
}
