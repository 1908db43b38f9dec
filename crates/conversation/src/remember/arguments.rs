//! Arguments of a skill: what it takes, as a schema for models and as a check of what they send.
//!
//! Owns the one description that both are made from. Refuses what is not described, naming `arguments.x`.
//! Invariant: what was accepted has every required argument, and each is of its kind.

use novelo_engine::decode::nearest;
use serde_json::{Map, Value, json};

use crate::error::{Error, Result};

/// One argument.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    pub name: &'static str,
    pub kind: ArgumentKind,
    pub required: bool,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentKind {
    Text,
    /// A whole number from 0 on.
    Number,
    Object,
    OneOf(&'static [&'static str]),
}

/// Arguments that were accepted.
#[derive(Debug)]
pub struct Arguments(Map<String, Value>);

impl ArgumentKind {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::Number => json!({"type": "integer"}),
            Self::Object => json!({"type": "object"}),
            Self::OneOf(names) => json!({"type": "string", "enum": names}),
        }
    }

    fn problem(self, value: &Value) -> Option<String> {
        let (fits, must) = match self {
            Self::Text => (value.is_string(), "must be a string".to_owned()),
            Self::Number => (value.is_u64(), "must be a whole number".to_owned()),
            Self::Object => (value.is_object(), "must be an object".to_owned()),
            Self::OneOf(names) => {
                let known = value.as_str().is_some_and(|name| names.contains(&name));
                (known, format!("must be {}", names.join(" or ")))
            }
        };
        (!fits).then_some(must)
    }
}

/// The arguments as JSON Schema, for a model.
pub fn schema(arguments: &[Argument]) -> Value {
    let property = |argument: &Argument| {
        let mut schema = argument.kind.schema();
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("description".to_owned(), argument.about.into());
        }
        (argument.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = arguments.iter().map(property).collect();
    let required: Vec<&str> = arguments.iter().filter(|argument| argument.required).map(|a| a.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

impl Arguments {
    /// Takes what was sent. Null is as good as nothing.
    pub fn accept(described: &[Argument], sent: Option<Value>) -> Result<Self> {
        let refuse = |name: &str, problem: String| Error::invalid(format!("arguments.{name}"), problem);
        let given = match sent {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(given)) => given.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            Some(_) => return Err(Error::invalid("arguments", "must be an object")),
        };
        let names: Vec<&str> = described.iter().map(|argument| argument.name).collect();
        if let Some(stranger) = given.keys().find(|name| !names.contains(&name.as_str())) {
            let near = nearest(stranger, &names).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(refuse(stranger, format!("is not known{near}")));
        }
        for argument in described {
            match given.get(argument.name) {
                None if argument.required => return Err(refuse(argument.name, "is missing".to_owned())),
                None => {}
                Some(value) => argument.kind.problem(value).map_or(Ok(()), |must| Err(refuse(argument.name, must)))?,
            }
        }
        Ok(Self(given))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// A text that is required, and so is there.
    pub fn required(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    pub fn object(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESCRIBED: &[Argument] = &[
        Argument { name: "title", kind: ArgumentKind::Text, required: true, about: "what" },
        Argument { name: "k", kind: ArgumentKind::Number, required: false, about: "how many" },
        Argument { name: "meta", kind: ArgumentKind::Object, required: false, about: "more" },
        Argument { name: "status", kind: ArgumentKind::OneOf(&["open", "done"]), required: false, about: "which" },
    ];

    fn check(sent: Value, expected: std::result::Result<(), &str>) {
        let accepted = Arguments::accept(DESCRIBED, Some(sent.clone())).map(|_| ()).map_err(|e| e.message);
        assert_eq!(accepted, expected.map_err(str::to_owned), "{sent}");
    }

    #[test]
    fn what_is_not_described_is_refused_by_name() {
        check(json!({"title": "t"}), Ok(()));
        check(json!({"title": "t", "k": 0, "meta": {}, "status": "done"}), Ok(()));
        check(json!({"title": "t", "k": null}), Ok(()));
        check(json!({}), Err("arguments.title is missing"));
        check(json!({"title": null}), Err("arguments.title is missing"));
        check(json!({"title": 1}), Err("arguments.title must be a string"));
        check(json!({"title": "t", "k": -1}), Err("arguments.k must be a whole number"));
        check(json!({"title": "t", "k": 1.5}), Err("arguments.k must be a whole number"));
        check(json!({"title": "t", "meta": []}), Err("arguments.meta must be an object"));
        check(json!({"title": "t", "status": "late"}), Err("arguments.status must be open or done"));
        check(json!({"titel": "t"}), Err("arguments.titel is not known; did you mean title?"));
        check(json!([]), Err("arguments must be an object"));
        assert!(Arguments::accept(DESCRIBED, None).is_err());
        assert!(Arguments::accept(&[], None).is_ok());
    }

    #[test]
    fn the_schema_says_what_is_accepted() {
        let schema = schema(DESCRIBED);
        assert_eq!(schema["required"], json!(["title"]));
        assert_eq!(schema["properties"]["status"]["enum"], json!(["open", "done"]));
        assert_eq!(schema["additionalProperties"], json!(false));
    }
}
