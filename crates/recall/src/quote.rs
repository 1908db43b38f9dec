//! An answer without a model: the sentences that speak to a question, word for word.
//!
//! Owns the choice, by the same ranking that found the passages. Writes nothing of its own.

use crate::extract::cut;
use crate::{Index, Passage, Query};
use novelo_language::Language;
use novelo_language::analyse::Words;
use novelo_language::content;

/// Sentences of one passage that stand together, as they are quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Which of the passages.
    pub passage: usize,
    pub text: String,
}

/// A longer sentence is cut.
const SENTENCE_CHARS_MAX: usize = 500;
/// How many sentences of all passages are read.
const SENTENCES_MAX: usize = 2_000;
/// A sentence that says less than this share of what the best one says is not worth its place.
const SHARE_MIN: f32 = 0.6;
/// How many words of a text are compared.
const WORDS_MAX: usize = 400;

/// The language that a question is asked in.
pub fn language(question: &str) -> Language {
    let words = Words::new(question, 200);
    let latin = Language::detect(&words);
    words.iter().find_map(|word| Language::by_script(word.folded)).unwrap_or(latin)
}

/// Something that may answer.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    pub name: &'a str,
    pub text: &'a str,
    /// How well it fits, beside the others.
    pub score: f32,
}

/// At most so many sentences for a question, the best first; neighbours stand together. One that has no word
/// in common with it is not quoted.
pub fn quote(question: &str, sources: &[Source<'_>], sentences_max: usize) -> Vec<Quote> {
    let sentences = sentences(sources);
    let mut index = Index::default();
    for (key, (_, text)) in sentences.iter().enumerate() {
        index.add(key as u64, &Passage { text, ..Passage::default() });
    }
    let mut scores: Vec<(usize, f32)> = (0..sentences.len()).map(|at| (at, 0.0)).collect();
    let first = sources.first().map_or(1.0, |source| source.score.max(f32::MIN_POSITIVE));
    let asked = beside(question, sources.first().map_or("", |source| source.name));
    for question in [Some(question.to_owned()), asked].into_iter().flatten() {
        let ranked = index.rank(&Query { text: &question, vector: None });
        let hits = ranked.top(sentences.len(), |key| ranked.is_relevant(key));
        let best = hits.first().map_or(1.0, |hit| hit.score.max(f32::MIN_POSITIVE));
        for hit in hits {
            let Some((passage, _)) = sentences.get(hit.key as usize) else { continue };
            let weight = sources.get(*passage).map_or(0.0, |of| (of.score / first).clamp(0.0, 1.0));
            scores.get_mut(hit.key as usize).into_iter().for_each(|(_, sum)| *sum += weight * hit.score / best);
        }
    }
    scores.retain(|(at, _)| sentences.get(*at).is_some_and(|(_, text)| shares_word(question, text)));
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let best = scores.first().map_or(0.0, |(_, score)| *score);
    let fits = |(_, score): &&(usize, f32)| *score > 0.0 && *score >= best * SHARE_MIN;
    let chosen: Vec<usize> = scores.iter().filter(fits).map(|(at, _)| *at).take(sentences_max).collect();
    join(&sentences, &chosen)
}

/// Whether two texts have a word in common that matters, in whatever form.
fn shares_word(a: &str, b: &str) -> bool {
    let (a, b) = (stems(a), stems(b));
    a.iter().any(|(_, stem)| stem.is_some() && b.iter().any(|(_, other)| other == stem))
}

/// The words of a text, each with its stem where it matters.
fn stems(text: &str) -> Vec<(&str, Option<String>)> {
    let words = Words::new(text, WORDS_MAX);
    let language = Language::detect(&words);
    let stem = |folded: &str| {
        let language = language.for_word(folded);
        (!language.is_stop(folded)).then(|| language.stem(folded))
    };
    words.iter().map(|word| (text.get(word.range.clone()).unwrap_or(""), stem(word.folded))).collect()
}

/// What is asked beside the name of a source: a sentence of it need not say the name again. `None` where that
/// is all, or none of it.
fn beside(question: &str, name: &str) -> Option<String> {
    let (asked, named) = (stems(question), stems(name));
    let is_named = |stem: &Option<String>| stem.is_some() && named.iter().any(|(_, other)| other == stem);
    let left: Vec<_> = asked.iter().filter(|(_, stem)| !is_named(stem)).collect();
    let says_more = left.len() < asked.len() && left.iter().any(|(_, stem)| stem.is_some());
    says_more.then(|| left.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" "))
}

/// All sentences, each with its passage. A heading goes with the sentence under it, and a line that was
/// broken for its length goes on.
fn sentences(sources: &[Source<'_>]) -> Vec<(usize, String)> {
    let mut sentences = Vec::new();
    for (passage, Source { text, .. }) in sources.iter().enumerate() {
        let mut heading: Option<String> = None;
        for paragraph in paragraphs(text) {
            if let Some(title) = paragraph.strip_prefix('#') {
                heading = Some(title.trim_start_matches(['#', ' ']).to_owned());
                continue;
            }
            for sentence in content::sentences(&paragraph).take(SENTENCES_MAX.saturating_sub(sentences.len())) {
                let whole = match heading.take() {
                    Some(heading) => format!("{heading}: {sentence}"),
                    None => sentence.to_owned(),
                };
                sentences.push((passage, cut(&whole, SENTENCE_CHARS_MAX)));
            }
        }
        sentences.extend(heading.map(|heading| (passage, cut(&heading, SENTENCE_CHARS_MAX))));
    }
    sentences
}

/// Lines that belong together, as one. A heading, an item of a list and a row of a table stand alone.
fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in text.lines().map(str::trim) {
        let stands_alone = line.starts_with(['#', '|']);
        let begins = stands_alone || line.starts_with(['-', '*', '+', '•']);
        match paragraphs.last_mut().filter(|_| is_open && !begins && !line.is_empty()) {
            Some(open) => {
                open.push(' ');
                open.push_str(line);
            }
            None if !line.is_empty() => paragraphs.push(line.trim_start_matches(['-', '*', '+', '•', ' ']).to_owned()),
            None => {}
        }
        is_open = !line.is_empty() && !stands_alone;
    }
    paragraphs
}

/// Quotes in the order of their best sentences.
fn join(sentences: &[(usize, String)], best_first: &[usize]) -> Vec<Quote> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for at in best_first {
        let passage = |at: usize| sentences.get(at).map(|(passage, _)| *passage);
        let touches =
            |run: &Vec<usize>| run.iter().any(|other| other.abs_diff(*at) == 1 && passage(*other) == passage(*at));
        match runs.iter().position(touches) {
            Some(run) => runs.get_mut(run).into_iter().for_each(|run| run.push(*at)),
            None => runs.push(vec![*at]),
        }
    }
    let quote = |mut run: Vec<usize>| {
        run.sort_unstable();
        let passage = sentences.get(*run.first()?)?.0;
        let texts: Vec<&str> = run.iter().filter_map(|at| sentences.get(*at)).map(|(_, text)| text.as_str()).collect();
        Some(Quote { passage, text: texts.join(" ") })
    };
    runs.into_iter().filter_map(quote).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEA: &str = "# Harbour Tea House\n\nThe house stands at the old quay. It opens at nine in the morning and closes \
                       at six.\n\n## Prices\n\nA pot of tea costs four crowns. Cake is baked on Fridays.";
    const CLUB: &str = "O Clube Capivara tem cinco níveis. Cada nível pede mil pontos.";

    fn name(text: &str) -> &str {
        if text.starts_with('#') { "Harbour Tea House" } else { "Clube Capivara" }
    }

    #[track_caller]
    fn check(question: &str, passages: &[&str], expected: &[(usize, &str)]) {
        let sources: Vec<Source<'_>> =
            passages.iter().zip([1.0, 0.9]).map(|(text, score)| Source { name: name(text), text, score }).collect();
        let quotes = quote(question, &sources, 3);
        let quotes: Vec<(usize, &str)> = quotes.iter().map(|quote| (quote.passage, quote.text.as_str())).collect();
        assert_eq!(quotes, expected);
    }

    #[test]
    fn the_sentence_that_answers_is_quoted() {
        check("When does the house open?", &[TEA], &[(0, "It opens at nine in the morning and closes at six.")]);
        check("Quantos níveis tem o Clube Capivara?", &[TEA, CLUB], &[(1, "O Clube Capivara tem cinco níveis.")]);
        let both =
            "Harbour Tea House: The house stands at the old quay. It opens at nine in the morning and closes at six.";
        check("When does the Harbour Tea House open?", &[TEA], &[(0, both)]);
        check("What are the prices?", &[TEA], &[(0, "Prices: A pot of tea costs four crowns.")]);
    }

    #[test]
    fn without_a_word_in_common_nothing_is_quoted() {
        check("???", &[CLUB], &[]);
        check("What is the capital of France?", &[TEA, CLUB], &[]);
        check("Qual o preço do dólar?", &[TEA, CLUB], &[]);
        check("anything", &[], &[]);
        check("anything", &["", " \n"], &[]);
    }

    #[test]
    fn languages_are_told_apart() {
        for (question, expected) in [
            ("Where is it?", Language::English),
            ("Onde fica o museu?", Language::Portuguese),
            ("Где находится маяк HGLG?", Language::Russian),
            ("", Language::English),
        ] {
            assert_eq!(language(question), expected, "{question}");
        }
    }
}
