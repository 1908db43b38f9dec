//! The file that the evaluation reads: one JSON object per line.

use serde::Deserialize;

use super::super::FormatError;
use novelo_language::rewrite::Utterance;

#[derive(Debug, Clone, Deserialize)]
pub struct RewriteCase {
    pub set: Option<String>,
    pub history: Vec<HistoryMessage>,
    pub question: String,
    /// What a human made of the question.
    pub human: String,
    /// What answers it.
    pub passage: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct HistoryMessage {
    pub role: String,
    pub content: String,
}

impl RewriteCase {
    pub fn said(&self) -> Vec<Utterance<'_>> {
        self.history.iter().map(|it| Utterance { speaker: &it.role, text: &it.content }).collect()
    }
}

/// Unknown fields and empty lines are ignored.
pub fn parse(lines: &str) -> Result<Vec<RewriteCase>, FormatError> {
    let mut cases = Vec::new();
    for (number, line) in (1..).zip(lines.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut reader = serde_json::Deserializer::from_str(line);
        let mut case: RewriteCase = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            FormatError::Shape { place: format!("line {number}, {}", error.path()), cause: error.into_inner() }
        })?;
        case.human.truncate(case.human.trim_end().len());
        cases.push(case);
    }
    match cases.is_empty() {
        true => Err(FormatError::Empty),
        false => Ok(cases),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_is_named() {
        let good = r#"{"history": [], "question": "a", "human": "b\r"}"#;
        assert_eq!(parse(good).unwrap()[0].human, "b");
        let error = parse(&format!("{good}\n\n{{\"history\": [{{\"role\": \"user\"}}]}}")).unwrap_err();
        assert!(error.to_string().starts_with("line 3, history[0]: missing field `content`"), "{error}");
        assert!(matches!(parse("\n \n"), Err(FormatError::Empty)));
    }
}
