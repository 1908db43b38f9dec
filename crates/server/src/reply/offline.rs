//! The answer where there is no model: what the passages say, word for word, and whose words they are.

use novelo_recall::quote::{self, Language, language};

use super::Source;

/// Sentences that are quoted.
const SENTENCES_MAX: usize = 3;

/// A line per quote, with the name of what it is from; or that nothing was found.
pub fn answer(question: &str, sources: &[Source]) -> String {
    let passages: Vec<quote::Source<'_>> =
        sources.iter().map(|Source { name, text, score, .. }| quote::Source { name, text, score: *score }).collect();
    let quotes = quote::quote(question, &passages, SENTENCES_MAX);
    let line = |(text, source): (String, &Source)| format!("“{text}” — {}", source.place());
    let lines = quotes.into_iter().filter_map(|quote| Some(line((quote.text, sources.get(quote.passage)?))));
    let lines: Vec<String> = lines.collect();
    match lines.is_empty() {
        true => nothing(language(question)).to_owned(),
        false => lines.join("\n\n"),
    }
}

/// Whether a text is what is answered where nothing was found, and so speaks of nothing.
pub fn is_nothing(text: &str) -> bool {
    [Language::English, Language::Portuguese, Language::Russian].into_iter().any(|language| nothing(language) == text)
}

impl Source {
    /// Where a reader finds it.
    fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{}, {file}:{line}", self.name),
            _ => self.name.clone(),
        }
    }
}

fn nothing(language: Language) -> &'static str {
    match language {
        Language::English => "I found nothing about this.",
        Language::Portuguese => "Não encontrei nada sobre isso.",
        Language::Russian => "Я ничего об этом не нашёл.",
    }
}

#[cfg(test)]
mod tests {
    use novelo_engine::recall;

    use super::*;

    #[test]
    fn what_is_quoted_says_whose_words_it_is() {
        let source = |name: &str, text: &str, file: Option<&str>| Source {
            from: recall::Source::Documents,
            id: "1".into(),
            name: name.into(),
            text: text.into(),
            file: file.map(str::to_owned),
            line: file.map(|_| 7),
            score: 1.0,
        };
        let sources = [
            source("Tea House", "It stands at the quay. The house opens at nine.", None),
            source("repo", "The keeper opens the house at noon.", Some("a/b.md")),
        ];
        let expected =
            "“The house opens at nine.” — Tea House\n\n“The keeper opens the house at noon.” — repo, a/b.md:7";
        assert_eq!(answer("When is the house opened?", &sources), expected);
        assert_eq!(answer("Где маяк?", &[]), "Я ничего об этом не нашёл.");
        assert_eq!(answer("Onde fica o farol?", &[]), "Não encontrei nada sobre isso.");
    }
}
