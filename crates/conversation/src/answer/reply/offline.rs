//! The answer where there is no model: what the passages say, word for word, and whose words they are.

use std::borrow::Cow;

use novelo_language::Language;
use novelo_recall::quote;

use crate::search::{FoundPassage, PassagePlace};

/// Sentences that are quoted.
const SENTENCES_MAX: usize = 3;
const HEADING_CHARS_MAX: usize = 60;

/// Between what is quoted and whose words it is.
const BY: &str = "” — ";

/// A line per quote, with the name of what it is from and its number; `None` where no passage says anything
/// to the question.
pub fn quotes(question: &str, sources: &[FoundPassage]) -> Option<String> {
    let passages: Vec<quote::Source<'_>> = sources.iter().map(quotable).collect();
    let quotes = quote::quote(question, &passages, SENTENCES_MAX);
    let line = |quote: quote::Quote| {
        let source = sources.get(quote.passage)?;
        Some(format!("“{}{BY}{} [{}]", quote.text, place(source), quote.passage + 1))
    };
    let lines = quotes.into_iter().filter_map(line);
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n\n"))
}

fn quotable(passage: &FoundPassage) -> quote::Source<'_> {
    quote::Source { name: passage.name(), text: &passage.text, score: passage.score }
}

/// What an answer speaks of: of one that was made here, what is quoted, without the names of sources; that
/// nothing was found speaks of nothing.
pub fn words(answer: &str) -> Cow<'_, str> {
    if Language::ALL.into_iter().any(|it| nothing(it) == answer) {
        return "".into();
    }
    let quoted = |line: &str| Some(without_heading(line.strip_prefix('“')?.rsplit_once(BY)?.0).to_owned());
    let quotes: Option<Vec<String>> = answer.lines().filter(|line| !line.is_empty()).map(quoted).collect();
    quotes.map_or(answer.into(), |quotes| quotes.join("\n").into())
}

/// A quote may begin with the heading that it stands under, and a colon.
fn without_heading(quote: &str) -> &str {
    let under = quote
        .split_once(": ")
        .filter(|(heading, rest)| heading.chars().count() <= HEADING_CHARS_MAX && rest.starts_with(char::is_uppercase));
    under.map_or(quote, |(_, rest)| rest)
}

/// Where a reader finds a passage.
fn place(passage: &FoundPassage) -> String {
    let PassagePlace { file, line, page, .. } = &passage.place;
    match (file, line, page) {
        (Some(file), Some(line), _) => format!("{}, {file}:{line}", passage.name()),
        (Some(file), None, Some(page)) => format!("{}, {file}#page={page}", passage.name()),
        (Some(file), None, None) => format!("{}, {file}", passage.name()),
        _ => passage.name().to_owned(),
    }
}

/// What is answered where nothing was found.
pub fn nothing(language: Language) -> &'static str {
    language.nothing_found()
}

#[cfg(test)]
mod tests {
    use novelo_engine::path::CollectionPath;
    use novelo_engine::recall::RecallSource;
    use novelo_engine::{Message, Turn};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_quoted_says_whose_words_it_is() {
        let source = |name: &str, text: &str, file: Option<&str>| {
            let document = match file {
                Some(file) => json!({"text": text, "file": file, "line": 7}),
                None => json!({"text": text}),
            };
            let turn = Turn {
                seq: 1,
                id: "1".into(),
                create_time: 0.0,
                message: Message::from_stored(document.to_string().into()),
            };
            let collection = CollectionPath::new(&["users", "u", "documents", name, "passages"]).unwrap();
            FoundPassage::read(RecallSource::Documents, &collection, &turn, 1.0, None).unwrap()
        };
        let sources = [
            source("Tea House", "It stands at the quay. The house opens at nine.", None),
            source("repo", "The keeper opens the house at noon.", Some("a/b.md")),
        ];
        let expected =
            "“The house opens at nine.” — Tea House [1]\n\n“The keeper opens the house at noon.” — repo, a/b.md:7 [2]";
        assert_eq!(quotes("When is the house opened?", &sources).as_deref(), Some(expected));
        assert_eq!(words(expected), "The house opens at nine.\nThe keeper opens the house at noon.");
        assert_eq!(quotes("What is the capital of France?", &sources), None);
        assert_eq!(quotes("Где маяк?", &[]), None);
    }

    #[test]
    fn what_a_model_answered_is_all_its_own() {
        for answer in ["It opens at nine.", "“Nine”, it says — or so I think.", "“Nine.” — Tea House\nAnd so on."]
        {
            assert_eq!(words(answer), answer);
        }
        assert_eq!(words("“Hours: It opens at nine.” — Tea House"), "It opens at nine.");
        assert_eq!(words("Não encontrei nada sobre isso."), "");
    }
}
