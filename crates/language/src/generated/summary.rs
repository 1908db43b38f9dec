//! Whether a model's summary says what was said.

use rustc_hash::FxHashSet;

use super::clean::{after_label, is_label, lines, without_wrapping};
use super::figure::numeral;
use super::rewrite::refuses;
use crate::Language;
use crate::analyse::{self, Words};
use crate::content::{content_stems, sentences};
use crate::dates::tells_time;

/// A text of so few words that begins as a refusal does is nothing: "(None)".
const NOTHING_WORDS_MAX: usize = 3;
/// The share of its words that must have occurred, and of the words of the extracted summary that must occur.
const KNOWN_MIN: f32 = 0.5;
const SHARED_MIN: f32 = 0.08;
/// Words of the source that are looked at.
const WORDS_MAX: usize = 100_000;
/// Letters of a name that tell it in whatever form.
const NAME_CHARS: usize = 4;

/// The summary in what a model said, or why it cannot be one. `sources` are the texts that it was made from,
/// `extracted` is a summary of the same that was made without a model.
pub fn accept_summary(said: &str, sources: &[&str], extracted: &str, chars_max: usize) -> Result<String, &'static str> {
    let text = summary_in(said);
    let words = Words::new(&text, WORDS_MAX).iter().count();
    if !text.chars().any(char::is_alphanumeric) || (words <= NOTHING_WORDS_MAX && refuses(&text)) {
        return Err("it said nothing");
    }
    let source = Source::read(sources);
    let (stems, wanted) = (content_stems(&text), content_stems(extracted));
    let share = |stems: &[u64], holds: &dyn Fn(&u64) -> bool| match stems.len() {
        0 => 1.0,
        all => stems.iter().filter(|stem| holds(stem)).count() as f32 / all as f32,
    };
    match () {
        () if text.chars().count() > chars_max => Err("it wrote more than it may"),
        () if refuses(&text) => Err("it refused or asked back"),
        () if share(&stems, &|stem| source.stems.contains(stem)) < KNOWN_MIN => {
            Err("most of its words were never said")
        }
        () if source.lacks_number(&text) => Err("it names a number that was never said"),
        () if source.lacks_name(&text) => Err("it names somebody or something that was never said"),
        () if share(&wanted, &|stem| stems.contains(stem)) < SHARED_MIN => Err("it leaves out what was said"),
        () => Ok(text),
    }
}

/// The short text of a span in what a model said, or why it cannot be one. It is a summary that neither
/// denies what was not denied nor affirms what was.
pub fn accept_compaction(
    said: &str,
    sources: &[&str],
    extracted: &str,
    chars_max: usize,
) -> Result<String, &'static str> {
    let text = accept_summary(said, sources, extracted, chars_max)?;
    let source: Vec<Assertion> = sources.iter().flat_map(|text| sentences(text)).map(Assertion::read).collect();
    let is_covered =
        |claim: &Assertion, is_denied: bool| source.iter().any(|it| it.is_denied == is_denied && it.covers(claim));
    let is_only_denied = |claim: &Assertion| is_covered(claim, true) && !is_covered(claim, false);
    for claim in sentences(&text).map(Assertion::read) {
        let close = |it: &&Assertion| it.shared(&claim) * 2 >= claim.stems.len();
        match claim.is_denied {
            true if !source.iter().filter(close).any(|it| it.is_denied) => return Err("it denies what was not denied"),
            false if is_only_denied(&claim) => return Err("it affirms what was denied"),
            _ => {}
        }
    }
    Ok(text)
}

/// What a sentence is about, and whether it denies it.
struct Assertion {
    stems: Vec<u64>,
    is_denied: bool,
}

impl Assertion {
    fn read(sentence: &str) -> Self {
        let words = Words::new(sentence, WORDS_MAX);
        let latin = Language::detect(&words);
        let denies = |language: Language, word: &str| {
            let mut denials = language.grammar().words.denials.split_whitespace();
            language.negates(word) || denials.any(|denial| denial == word)
        };
        let is_denied = words.iter().any(|word| denies(latin.for_word(word.folded), word.folded));
        Self { stems: content_stems(sentence), is_denied }
    }

    fn shared(&self, other: &Self) -> usize {
        other.stems.iter().filter(|stem| self.stems.binary_search(stem).is_ok()).count()
    }

    /// Whether it says nearly all that the other says.
    fn covers(&self, other: &Self) -> bool {
        other.stems.len() > 1 && self.shared(other) * 5 >= other.stems.len() * 4
    }
}

/// The text without what stands around it.
fn summary_in(said: &str) -> String {
    let text = without_wrapping(said);
    let lines: Vec<String> = lines(&text).filter(|line| !is_label(line)).collect();
    let lines = lines.iter().enumerate().map(|(n, line)| match n {
        0 => after_label(line).unwrap_or(line),
        _ => line.as_str(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What was said.
pub(super) struct Source {
    stems: FxHashSet<u64>,
    /// Numbers without leading zeros and separators.
    numbers: FxHashSet<String>,
    /// The first letters of words.
    fronts: FxHashSet<String>,
}

impl Source {
    pub(super) fn read(texts: &[&str]) -> Self {
        let mut source =
            Self { stems: FxHashSet::default(), numbers: FxHashSet::default(), fronts: FxHashSet::default() };
        for text in texts {
            let words = Words::new(text, WORDS_MAX);
            for word in words.iter() {
                for language in Language::ALL {
                    let language = language.for_word(word.folded);
                    source.stems.insert(analyse::fingerprint(&language.stem(word.folded)));
                }
                source.fronts.insert(front(word.folded));
                source.numbers.extend(spelled_number(word.folded));
            }
            source.numbers.extend(numbers(text).flat_map(Number::forms));
        }
        source
    }

    fn lacks_number(&self, text: &str) -> bool {
        let holds = |form: &String| form.is_empty() || self.numbers.contains(form);
        numbers(text).any(|number| !holds(&number.whole) && !number.parts.iter().all(holds))
    }

    /// Whether a word with a capital, which does not begin a sentence, was never said.
    pub(super) fn lacks_name(&self, text: &str) -> bool {
        sentences(text).any(|sentence| {
            let words = Words::new(sentence, WORDS_MAX);
            words.iter().skip(1).any(|word| {
                let spelled = sentence.get(word.range.clone()).unwrap_or("");
                // After a mark that is no end of a sentence, as in `Facts: He`, a capital is no name.
                let before = sentence.get(..word.range.start).unwrap_or("").trim_end();
                let is_inside = before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '«' | '“' | '„'));
                let is_name = is_inside && spelled.starts_with(char::is_uppercase) && spelled.chars().nth(1).is_some();
                is_name && !self.fronts.contains(&front(word.folded)) && !is_frequent(word.folded)
            })
        })
    }
}

/// Words that may have a capital without being a name: days, months, and who speaks.
fn is_frequent(folded: &str) -> bool {
    let roles = |language: Language| language.grammar().words.generated.roles.split_whitespace();
    tells_time(folded) || Language::ALL.into_iter().any(|it| it.is_stop(folded) || roles(it).any(|role| role == folded))
}

fn front(word: &str) -> String {
    word.chars().take(NAME_CHARS).collect()
}

/// A number: the parts that marks separate, and the whole without marks, all without leading zeros.
struct Number {
    parts: Vec<String>,
    whole: String,
}

impl Number {
    fn forms(self) -> impl Iterator<Item = String> {
        self.parts.into_iter().chain([self.whole])
    }
}

/// The numbers of a text.
fn numbers(text: &str) -> impl Iterator<Item = Number> {
    let tokens = text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | ':' | '-' | '/'));
    let tokens = tokens.filter(|token| token.contains(|c: char| c.is_ascii_digit()));
    tokens.map(|token| {
        let parts: Vec<&str> = token.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
        let plain = |digits: &str| digits.trim_start_matches('0').to_owned();
        Number { parts: parts.iter().map(|part| plain(part)).collect(), whole: plain(&parts.concat()) }
    })
}

/// A small number that is written as a word.
fn spelled_number(folded: &str) -> Option<String> {
    Language::ALL.into_iter().find_map(|it| numeral(it, folded)).map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: [&str; 3] = [
        "2024-03-01 user: My name is Marta Oliveira and I live in Porto with three cats.",
        "2024-03-02 user: The flight to Lisbon leaves on 12 May at 9:40 and costs 1,250 euros.",
        "2024-03-02 assistant: I booked the flight and noted that you are allergic to chicken.",
    ];
    const EXTRACTED: &str = "user: My name is Marta Oliveira and I live in Porto with three cats.\n\
                             user: The flight to Lisbon leaves on 12 May at 9:40 and costs 1,250 euros.";

    #[track_caller]
    fn check(said: &str, expected: Result<&str, &str>) {
        let found = accept_summary(said, &SAID, EXTRACTED, 300);
        assert_eq!(found.as_deref().map_err(|why| *why), expected, "{said}");
    }

    #[test]
    fn a_summary_of_what_was_said_is_accepted() {
        for text in [
            "Marta Oliveira lives in Porto with 3 cats. Her flight to Lisbon leaves on May 12 at 9:40; it costs 1250 euros.",
            "The user, Marta, lives in Porto. The Assistant booked a flight to Lisbon (12 May). She is allergic to chicken.",
        ] {
            check(text, Ok(text));
            check(&format!("Here is the updated summary:\n\n{text}"), Ok(text));
            check(&format!("<think>Let me see.</think>\n**Summary:** {text}"), Ok(text));
        }
    }

    #[test]
    fn a_short_text_denies_what_the_span_denies() {
        let said = ["user: Never deploy the shop on Fridays.", "user: Ana likes the blue door of the shop."];
        let check = |text: &str| accept_compaction(text, &said, &said.join("\n"), 300).map(drop);
        assert_eq!(check("Never deploy the shop on Fridays. Ana likes the blue door."), Ok(()));
        assert_eq!(check("Deploy the shop on Fridays. Ana likes the blue door."), Err("it affirms what was denied"));
        assert_eq!(check("Ana does not like the blue door of the shop."), Err("it denies what was not denied"));
    }

    #[test]
    fn what_is_no_summary_is_refused() {
        for text in ["", "(None)", "None.", "N/A", "\"\"", "Нет", "<think>Hm"] {
            check(text, Err("it said nothing"));
        }
        check("I'm sorry, but I cannot summarise this conversation.", Err("it refused or asked back"));
        check(&"Marta lives in Porto. ".repeat(20), Err("it wrote more than it may"));
        check(
            "Quantum entanglement correlates photon polarisation measurements.",
            Err("most of its words were never said"),
        );
        check("Marta Oliveira lives in Porto with 7 cats.", Err("it names a number that was never said"));
        check(
            "Marta Oliveira lives in Porto with Joaquim and cats.",
            Err("it names somebody or something that was never said"),
        );
        check("The assistant noted chicken.", Err("it leaves out what was said"));
    }
}
