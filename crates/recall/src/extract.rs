//! A summary without a model: the sentences that say most.
//!
//! Owns the choice: rare words, names and numbers speak for a sentence, what was chosen already speaks
//! against it, and what people say comes before what assistants answer. Writes nothing of its own; the same
//! input gives the same summary.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use novelo_language::Language;
use novelo_language::analyse::{self, Words};
pub use novelo_language::rewrite::Utterance;

/// A longer sentence is cut.
const SENTENCE_CHARS_MAX: usize = 240;
/// How many words of a sentence are weighed, and how many sentences are compared with each other.
const SENTENCE_WORDS_MAX: usize = 80;
const CANDIDATES_MAX: usize = 400;
/// A sentence of fewer words that matter says little by itself, and so much against others.
const CONTENT_WORDS_MIN: usize = 2;
const BARE: f32 = 0.2;
/// How much likeness to what is chosen counts against a sentence.
const REDUNDANCY: f32 = 0.8;
/// What stood in the summary before was chosen from more than can be seen now.
const BEFORE: f32 = 1.3;
const ASSISTANT: f32 = 0.4;
const QUESTION: f32 = 0.5;
/// What a name or a number adds, in words of common rarity.
const NAMED: f32 = 1.5;

/// A summary of what a summary says already and of what was said since, of at most so many characters: one
/// line per turn, `speaker: sentences`, in the order they were said.
pub fn summarise(before: Option<&str>, said: &[Utterance<'_>], chars_max: usize) -> String {
    let mut sentences = Vec::new();
    let lines = before.unwrap_or_default().lines().filter(|line| !line.trim().is_empty());
    for (turn, line) in lines.enumerate() {
        let (speaker, text) = split_line(line);
        collect(&mut sentences, turn, Utterance { speaker, text }, true);
    }
    let turns = sentences.last().map_or(0, |last| last.turn + 1);
    for (turn, said) in said.iter().enumerate() {
        collect(&mut sentences, turns + turn, *said, false);
    }
    weigh(&mut sentences);
    write(&sentences, choose(&sentences, chars_max), chars_max)
}

#[derive(Debug)]
struct Sentence<'a> {
    turn: usize,
    speaker: &'a str,
    text: String,
    /// Sorted prints of its words that matter.
    terms: Vec<u64>,
    named: usize,
    /// By who said it and how.
    share: f32,
    weight: f32,
}

impl Sentence<'_> {
    /// The characters of a line of its own.
    fn cost(&self) -> usize {
        prefix(self.speaker).chars().count() + self.text.chars().count() + 1
    }
}

fn prefix(speaker: &str) -> String {
    if speaker.is_empty() { String::new() } else { format!("{speaker}: ") }
}

/// A line of a summary into who and what. A long or many-worded beginning is no name.
fn split_line(line: &str) -> (&str, &str) {
    let parts =
        line.split_once(": ").filter(|(speaker, _)| speaker.len() <= 40 && !speaker.contains(['.', '?', '!', ',']));
    parts.map_or(("", line.trim()), |(speaker, text)| (speaker.trim(), text.trim()))
}

fn collect<'a>(sentences: &mut Vec<Sentence<'a>>, turn: usize, said: Utterance<'a>, before: bool) {
    let who = match said.speaker {
        "assistant" | "system" | "developer" | "tool" => ASSISTANT,
        _ => 1.0,
    };
    for text in split(said.text) {
        let words = Words::new(text, SENTENCE_WORDS_MAX);
        let language = Language::detect(&words);
        let content = words.iter().map(|word| (language.for_word(word.folded), word));
        let content: Vec<_> = content.filter(|(language, word)| !language.is_stop(word.folded)).collect();
        let mut terms: Vec<u64> =
            content.iter().map(|(it, word)| analyse::fingerprint(&it.stem(word.folded))).collect();
        terms.sort_unstable();
        terms.dedup();
        let is_named = |start: usize| {
            let first = text.get(start..).and_then(|rest| rest.chars().next());
            first.is_some_and(|c| c.is_numeric() || (start > 0 && c.is_uppercase()))
        };
        let named = content.iter().filter(|(_, word)| is_named(word.range.start)).count();
        let how = if text.ends_with(['?', '？']) { QUESTION } else { 1.0 } * if before { BEFORE } else { 1.0 };
        let how = how * if terms.len() < CONTENT_WORDS_MIN { BARE } else { 1.0 };
        let text = cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), SENTENCE_CHARS_MAX);
        sentences.push(Sentence { turn, speaker: said.speaker, text, terms, named, share: who * how, weight: 0.0 });
    }
}

/// Sentences end at a line's end, or after a mark that is followed by a blank.
pub(crate) fn split(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| {
        let mut from = 0;
        let mut ends: Vec<&str> = Vec::new();
        let mut marked = false;
        for (at, c) in line.char_indices() {
            if marked && c.is_whitespace() {
                ends.extend(line.get(from..at));
                from = at;
            }
            marked = matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
                || (marked && matches!(c, '"' | ')' | '”' | '»'));
        }
        ends.extend(line.get(from..));
        ends.into_iter().map(str::trim).filter(|sentence| !sentence.is_empty())
    })
}

/// The mean rarity of its words, more for more of them, and what it names.
fn weigh(sentences: &mut [Sentence<'_>]) {
    let mut holders: FxHashMap<u64, u32> = FxHashMap::default();
    for term in sentences.iter().flat_map(|sentence| &sentence.terms) {
        *holders.entry(*term).or_default() += 1;
    }
    let all = sentences.len() as f32;
    for sentence in sentences {
        let rarity = |term: &u64| (1.0 + all / holders.get(term).copied().unwrap_or(1) as f32).ln();
        let sum: f32 = sentence.terms.iter().map(rarity).sum();
        let named = NAMED * sentence.named.min(4) as f32;
        sentence.weight = sentence.share * (sum + named) / (sentence.terms.len() as f32 + 4.0).sqrt();
    }
}

/// The places of the chosen: always the best of what still fits, less what it repeats.
fn choose(sentences: &[Sentence<'_>], chars_max: usize) -> Vec<usize> {
    let mut open: Vec<(usize, f32)> = sentences.iter().enumerate().map(|(at, it)| (at, it.weight)).collect();
    open.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    open.truncate(CANDIDATES_MAX);
    if open.first().is_some_and(|(_, best)| *best > 0.0) {
        open.retain(|(_, weight)| *weight > 0.0);
    }
    let mut chosen = Vec::new();
    let mut room = chars_max.saturating_add(1);
    loop {
        open.retain(|(at, _)| sentences.get(*at).is_some_and(|sentence| sentence.cost() <= room));
        let best = open.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
        let Some((at, _)) = best else { break };
        let Some(taken) = sentences.get(at) else { break };
        room -= taken.cost();
        chosen.push(at);
        open.retain(|(other, _)| *other != at);
        for (other, worth) in &mut open {
            let Some(sentence) = sentences.get(*other) else { continue };
            *worth = worth.min(sentence.weight * (1.0 - REDUNDANCY * likeness(&sentence.terms, &taken.terms)));
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The share of the shorter one's terms that both have.
fn likeness(a: &[u64], b: &[u64]) -> f32 {
    let shared = a.iter().filter(|term| b.binary_search(term).is_ok()).count();
    shared as f32 / a.len().min(b.len()).max(1) as f32
}

fn write(sentences: &[Sentence<'_>], chosen: Vec<usize>, chars_max: usize) -> String {
    let mut lines: BTreeMap<usize, String> = BTreeMap::new();
    for sentence in chosen.iter().filter_map(|at| sentences.get(*at)) {
        let line = lines.entry(sentence.turn).or_insert_with(|| prefix(sentence.speaker));
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(&sentence.text);
    }
    if lines.is_empty() {
        // Not one sentence fits: the best one, cut.
        let best = sentences.iter().reduce(|a, b| if b.weight > a.weight { b } else { a });
        return best.map_or(String::new(), |best| cut(&format!("{}{}", prefix(best.speaker), best.text), chars_max));
    }
    lines.into_values().collect::<Vec<_>>().join("\n")
}

/// The first characters of a text, at most `chars_max`, cut after a word and marked as cut.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    let Some((limit, _)) = text.char_indices().nth(chars_max) else { return text.to_owned() };
    let Some((room, _)) = chars_max.checked_sub(1).and_then(|last| text.char_indices().nth(last)) else {
        return String::new();
    };
    let kept = text.get(..room.min(limit)).unwrap_or_default();
    let word = kept.rfind(char::is_whitespace).filter(|at| *at * 2 > kept.len()).unwrap_or(kept.len());
    format!("{}…", kept.get(..word).unwrap_or_default().trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bare_words_are_better_than_nothing() {
        let bare: Vec<String> = (1..5).map(|n| format!("m{n}")).collect();
        let said: Vec<Utterance<'_>> = bare.iter().map(|text| Utterance { speaker: "user", text }).collect();
        assert_eq!(summarise(None, &said, 100), "user: m1\nuser: m2\nuser: m3\nuser: m4");
        let only = [Utterance { speaker: "user", text: "and so it is" }];
        assert_eq!(summarise(None, &only, 100), "user: and so it is");
    }

    fn said<'a>(speaker: &'a str, text: &'a str) -> Utterance<'a> {
        Utterance { speaker, text }
    }

    const TALK: [(&str, &str); 5] = [
        ("user", "Hi! My name is Marta Oliveira and I live in Porto. How are you?"),
        ("assistant", "I am well, thank you. There are many lovely things to see and do in the old town, of course."),
        ("user", "Ok. My dog Bolt is allergic to chicken. Nice."),
        ("assistant", "I will remember that your dog is allergic to chicken."),
        ("user", "The flight to Lisbon leaves on 12 May at 9:40."),
    ];

    fn talk() -> Vec<Utterance<'static>> {
        TALK.map(|(speaker, text)| said(speaker, text)).to_vec()
    }

    #[test]
    fn facts_of_people_come_before_talk() {
        let expect = "user: My name is Marta Oliveira and I live in Porto.\nuser: My dog Bolt is allergic to chicken.\n\
                      user: The flight to Lisbon leaves on 12 May at 9:40.";
        assert_eq!(summarise(None, &talk(), 150), expect);
    }

    #[test]
    fn a_summary_carries_its_best_over() {
        let first = summarise(None, &talk(), 150);
        let more =
            [said("user", "It is raining a bit here."), said("user", "My sister Ana moves to Braga in June 2024.")];
        let next = summarise(Some(&first), &more, 200);
        let expect = format!("{first}\nuser: My sister Ana moves to Braga in June 2024.");
        assert_eq!(next, expect);
        assert_eq!(summarise(Some(&next), &[], 200), next);
    }

    #[test]
    fn what_was_said_twice_is_kept_once() {
        let twice = [said("user", "My dog Bolt eats salmon."), said("user", "Bolt my dog eats salmon!")];
        assert_eq!(
            summarise(None, &[twice[0], twice[1], said("user", "I work at a bakery.")], 60).matches("Bolt").count(),
            1
        );
    }

    #[test]
    fn a_sentence_that_is_too_long_is_cut_at_a_word() {
        let long = "слово и дело ".repeat(100);
        let summary = summarise(None, &[said("user", &long)], 60);
        assert!(summary.ends_with("…") && summary.chars().count() <= 60, "{summary}");
        assert!(["слово…", "и…", "дело…"].iter().any(|end| summary.ends_with(end)), "{summary}");
        assert_eq!(summarise(None, &[said("user", "two words")], 0), "");
        assert_eq!(summarise(None, &[], 100), "");
    }

    proptest! {
        #[test]
        fn never_longer_than_asked(texts in prop::collection::vec(".{0,80}", 0..12), before in ".{0,200}", max in 0..300_usize) {
            let turns: Vec<Utterance<'_>> = texts.iter().map(|text| said("user", text)).collect();
            let summary = summarise(Some(&before), &turns, max);
            prop_assert!(summary.chars().count() <= max);
            prop_assert_eq!(&summary, &summarise(Some(&before), &turns, max));
        }
    }
}
