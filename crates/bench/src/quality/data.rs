//! The files that the evaluation reads.

use std::borrow::Cow;

use novelo_engine::Role;
use serde::{Deserialize, Deserializer};

use novelo_language::calendar;

/// What is wrong with a file, and where.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    #[error("{place}: {cause}")]
    Shape { place: String, cause: serde_json::Error },
    #[error("there are no questions")]
    Empty,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LabelledConversation {
    #[serde(default, deserialize_with = "name")]
    pub id: String,
    pub turns: Vec<LabelledTurn>,
    pub questions: Vec<LabelledQuestion>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LabelledTurn {
    #[serde(deserialize_with = "name")]
    pub id: String,
    pub text: String,
    pub speaker: Option<String>,
    #[serde(default, deserialize_with = "role")]
    pub role: Option<Role>,
    #[serde(default, deserialize_with = "names")]
    pub session: Option<String>,
    pub date: Option<String>,
    /// Of a picture that came with it.
    pub caption: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LabelledQuestion {
    pub question: String,
    #[serde(deserialize_with = "all_names")]
    pub evidence: Vec<String>,
    #[serde(default, deserialize_with = "names")]
    pub category: Option<String>,
}

/// Unknown fields are ignored.
pub fn parse(json: &str) -> Result<Vec<LabelledConversation>, FormatError> {
    #[derive(Deserialize)]
    struct File {
        conversations: Vec<LabelledConversation>,
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let file: File = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| FormatError::Shape { place: error.path().to_string(), cause: error.into_inner() })?;
    match file.conversations.iter().any(|conversation| !conversation.questions.is_empty()) {
        true => Ok(file.conversations),
        false => Err(FormatError::Empty),
    }
}

impl LabelledTurn {
    /// What is indexed of it.
    pub(crate) fn passage(&self) -> String {
        match &self.caption {
            Some(caption) => format!("{} {caption}", self.text),
            None => self.text.clone(),
        }
    }
}

impl LabelledConversation {
    /// Sessions are numbered by their first turn. Turns with a role but no session are one conversation;
    /// turns with neither are facts that have no neighbours.
    pub(crate) fn group(&self, turn: &LabelledTurn) -> u64 {
        match &turn.session {
            Some(session) => {
                let first = self.turns.iter().position(|turn| turn.session.as_ref() == Some(session));
                first.map_or(0, |at| at as u64 + 1)
            }
            None => u64::from(turn.role.is_some()),
        }
    }
}

/// The seconds since 1970 of a date such as `1:56 pm on 8 May, 2023`; the time of day may be missing.
pub(crate) fn seconds(date: &str) -> Option<f64> {
    let date = date.to_lowercase();
    let words: Vec<&str> =
        date.split(|c: char| !c.is_alphanumeric() && c != ':').filter(|word| !word.is_empty()).collect();
    let month = words.iter().find_map(|word| month(word))?;
    let number = |word: &&str| word.parse::<i64>().ok();
    let year = words.iter().filter_map(number).find(|number| *number > 31)?;
    let day = words.iter().filter_map(number).find(|number| (1..=31).contains(number))?;
    let clock = words.iter().find_map(|word| word.split_once(':'));
    let minutes =
        clock.and_then(|(hour, minute)| Some(hour.parse::<i64>().ok()? % 12 * 60 + minute.parse::<i64>().ok()?));
    let noon = if words.contains(&"pm") { 12 * 60 } else { 0 };
    let days = calendar::days(i32::try_from(year).ok()?, month, i32::try_from(day).ok()?);
    Some((i64::from(days) * 86_400 + (minutes.unwrap_or(0) + noon) * 60) as f64)
}

fn month(word: &str) -> Option<i32> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start = word.get(..3)?;
    MONTHS.iter().zip(1..).find(|(month, _)| **month == start).map(|(_, number)| number)
}

/// Ids come as text or as numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum TextOrNumber<'a> {
    Number(i64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
}

impl From<TextOrNumber<'_>> for String {
    fn from(name: TextOrNumber<'_>) -> Self {
        match name {
            TextOrNumber::Number(number) => number.to_string(),
            TextOrNumber::Text(text) => text.into_owned(),
        }
    }
}

fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    TextOrNumber::deserialize(from).map(String::from)
}

fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Option::<TextOrNumber<'de>>::deserialize(from).map(|name| name.map(String::from))
}

fn all_names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Vec::<TextOrNumber<'de>>::deserialize(from).map(|names| names.into_iter().map(String::from).collect())
}

/// An unknown role counts as none.
fn role<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Role>, D::Error> {
    Ok(match names(from)?.as_deref() {
        Some("user") => Some(Role::User),
        Some("assistant") => Some(Role::Assistant),
        Some("system") => Some(Role::System),
        Some("developer") => Some(Role::Developer),
        Some("tool") => Some(Role::Tool),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read() {
        assert_eq!(seconds("1:56 pm on 8 May, 2023"), Some(1_683_554_160.0));
        assert_eq!(seconds("12:05 am on 29 February, 2024"), Some(1_709_165_100.0));
        assert_eq!(seconds("1 January, 1970"), Some(0.0));
        assert_eq!(seconds("yesterday"), None);
    }

    #[test]
    fn a_wrong_file_is_told_where() {
        let error = parse(r#"{"conversations": [{"turns": [{"id": "1"}], "questions": []}]}"#).unwrap_err();
        assert!(error.to_string().starts_with("conversations[0].turns[0]: missing field `text`"), "{error}");
        assert!(matches!(parse(r#"{"conversations": []}"#), Err(FormatError::Empty)));
        assert!(parse("[").unwrap_err().to_string().contains("EOF"));
    }
}
