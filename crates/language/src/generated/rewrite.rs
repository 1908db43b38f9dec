//! Whether a model rewrote a question, or did something else.

use super::clean::{after_label, bare, is_label, lines, without_wrapping};
use crate::Language;
use crate::analyse::{Words, asks};
use crate::content::{content_stems, sentences};
use crate::rewrite::Utterance;
use crate::syntax::Class;

/// A rewrite has at most so many characters for each of the question, and some more.
const CHARS_FACTOR: usize = 4;
const CHARS_MORE: usize = 400;
/// Words that may stand before the one that asks: "and in which".
const WORDS_BEFORE: usize = 3;
/// Words of a text that tell its language, and signs of another language that are enough.
const LANGUAGE_WORDS_MAX: usize = 200;
const SIGNS_MIN: usize = 2;
/// User turns that tell the language of a question which has no sign of its own.
const USER_TURNS: usize = 3;

/// Why a text is not the question made self-contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unfit {
    /// Nothing is left of it.
    Empty,
    /// More than one line, and none of them is marked as the question.
    SeveralLines,
    TooLong,
    /// The model will not, cannot, or asks back.
    Refusal,
    /// It answers, or repeats an answer.
    Answer,
    /// It has no word in common with the conversation.
    OffTopic,
    OtherLanguage,
}

impl Unfit {
    fn in_words(self) -> &'static str {
        match self {
            Self::Empty => "it said nothing",
            Self::SeveralLines => "it wrote several lines",
            Self::TooLong => "it wrote too much",
            Self::Refusal => "it refused or asked back",
            Self::Answer => "it answered and did not ask",
            Self::OffTopic => "it asked about something else",
            Self::OtherLanguage => "it wrote in another language",
        }
    }
}

/// The question in what a model said, ready to be used; or why there is none.
pub fn accept_rewrite(history: &[Utterance<'_>], question: &str, said: &str) -> Result<String, &'static str> {
    accept(history, question, said).map_err(Unfit::in_words)
}

fn accept(history: &[Utterance<'_>], question: &str, said: &str) -> Result<String, Unfit> {
    let text = question_in(said, question)?;
    if same_words(&text, question) {
        return Ok(question.trim().to_owned());
    }
    let chars_max = question.chars().count() * CHARS_FACTOR + CHARS_MORE;
    let repeats = |said: &Utterance<'_>| said.speaker == "assistant" && same_words(said.text, &text);
    match () {
        () if text.chars().count() > chars_max => Err(Unfit::TooLong),
        () if refuses(&text) && !refuses(question) => Err(Unfit::Refusal),
        () if is_other_language(history, question, &text) => Err(Unfit::OtherLanguage),
        () if history.iter().any(repeats) || !is_request(question, &text) => Err(Unfit::Answer),
        () if !is_about(history, question, &text) => Err(Unfit::OffTopic),
        () => Ok(text),
    }
}

/// The one line that is the question, without what stands around it.
fn question_in(said: &str, question: &str) -> Result<String, Unfit> {
    let text = without_wrapping(said);
    let lines: Vec<String> = lines(&text).filter(|line| !is_label(line)).collect();
    let labelled =
        || lines.iter().rev().filter_map(|line| after_label(line)).find(|rest| bare(rest) != question.trim());
    // A question first, and then remarks on it.
    let is_question = |line: &str| line.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?').ends_with('?');
    let line = match lines.as_slice() {
        [] => return Err(Unfit::Empty),
        [line] => line,
        [first, rest @ ..] => match labelled() {
            Some(line) => line,
            None if is_question(first) && !rest.iter().any(|line| line.contains('?')) => first,
            None => return Err(Unfit::SeveralLines),
        },
    };
    let line = bare(line);
    let says_something = line.chars().any(char::is_alphanumeric);
    says_something.then_some(line).ok_or(Unfit::Empty)
}

fn same_words(a: &str, b: &str) -> bool {
    let (a, b) = (Words::new(a, LANGUAGE_WORDS_MAX), Words::new(b, LANGUAGE_WORDS_MAX));
    a.iter().map(|word| word.folded).eq(b.iter().map(|word| word.folded))
}

/// Whether a text begins as a refusal does.
pub(super) fn refuses(text: &str) -> bool {
    let words = Words::new(text, 12);
    let said: String = words.iter().flat_map(|word| [" ", word.folded]).chain([" "]).collect();
    let begins = |phrase: &&str| said.get(1..).unwrap_or("").starts_with(&format!("{phrase} "));
    Language::ALL.into_iter().any(|it| it.grammar().words.generated.refusals.iter().any(&begins))
}

/// Whether a rewrite asks where the question asks. Another message keeps most of its words.
fn is_request(question: &str, rewrite: &str) -> bool {
    let parts: Vec<&str> = sentences(rewrite).collect();
    let last = parts.last().copied().unwrap_or(rewrite);
    let (asked, kept) = (content_stems(question), content_stems(rewrite));
    let shared = |of: &[u64]| asked.iter().filter(|stem| of.contains(stem)).count();
    if parts.len() > sentences(question).count().max(1) && !demands(parts.first().copied().unwrap_or("")) {
        // An answer that asks something at its end.
        return demands(last) && shared(&content_stems(last)) > 0;
    }
    if demands(question) { demands(last) } else { demands(last) || shared(&kept) * 2 >= asked.len() }
}

/// Whether a sentence asks or requests something, by its mark or by its first words.
fn demands(sentence: &str) -> bool {
    if asks(sentence) {
        return true;
    }
    // `When it rains, it stops.` tells.
    let tells = sentence.trim_end().ends_with(['.', '!']) && sentence.contains(',');
    let words: Vec<String> = sentence
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('ё', "е"))
        .filter(|word| !word.is_empty())
        .take(WORDS_BEFORE + 1)
        .collect();
    !tells && Language::ALL.into_iter().any(|language| demands_in(language, &words))
}

fn demands_in(language: Language, words: &[String]) -> bool {
    let (lexicon, grammar) = (language.lexicon(), language.grammar());
    let before = Class::AND.or(Class::CONTINUES).or(Class::FILLER).or(Class::PREPOSITION).or(Class::BEFORE_ASKING);
    let is_before = |word: &&String| lexicon.has(word, before) && !lexicon.has(word, Class::ASKING);
    let Some(word) = words.iter().find(|word| !is_before(word)) else { return false };
    let inverts = grammar.traits.inverts_questions && lexicon.has(word, Class::BE.or(Class::AUXILIARY));
    let requests = grammar.words.generated.requests.split_whitespace().any(|request| request == word);
    lexicon.has(word, Class::ASKING) || inverts || requests
}

/// Whether a rewrite speaks of what was asked, or, where that says nothing by itself, of what was said
/// before.
fn is_about(history: &[Utterance<'_>], question: &str, rewrite: &str) -> bool {
    let kept = content_stems(rewrite);
    let shares = |text: &str| content_stems(text).iter().any(|stem| kept.contains(stem));
    shares(question) || history.iter().any(|said| shares(said.text))
}

/// Whether a rewrite is in a language that the user has not used: neither in the question nor in the turns
/// before it.
fn is_other_language(history: &[Utterance<'_>], question: &str, rewrite: &str) -> bool {
    let users = history.iter().rev().filter(|said| said.speaker != "assistant").take(USER_TURNS).map(|said| said.text);
    let most = |signs: [usize; Language::ALL.len()]| {
        let pairs = Language::ALL.into_iter().zip(signs).filter(|(_, count)| *count > 0);
        pairs.reduce(|best, next| if next.1 > best.1 { next } else { best })
    };
    let used: Vec<Language> =
        std::iter::once(question).chain(users).filter_map(|text| most(signs(text))).map(|it| it.0).collect();
    let found = signs(rewrite);
    let has_used = used.iter().any(|language| found.get(*language as usize).is_some_and(|count| *count > 0));
    !used.is_empty() && !has_used && most(found).is_some_and(|(_, count)| count >= SIGNS_MIN)
}

/// By language, how many words of a text are of that language and of no other.
fn signs(text: &str) -> [usize; Language::ALL.len()] {
    let words = Words::new(text, LANGUAGE_WORDS_MAX);
    let mut counts = [0; Language::ALL.len()];
    for (language, count) in Language::ALL.into_iter().zip(&mut counts) {
        let is_own = |word: &str| match Language::by_script(word) {
            Some(by_script) => by_script == language,
            None => language.is_only_stop(word),
        };
        *count = words.iter().filter(|word| is_own(word.folded)).count();
    }
    counts
}
