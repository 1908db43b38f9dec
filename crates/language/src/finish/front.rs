//! What stands before an answer and is none of it: thoughts, the speaker's name, a greeting that was said
//! before.

use crate::Language;
use crate::analyse::{Spelled, Words};

const OPENING: &str = "<think>";
const CLOSING: &str = "</think>";
/// The name of the assistant, before those that languages have for one.
const NAME: &str = "eco";
/// Longer than any greeting with a name.
const GREETING_CHARS_MAX: usize = 120;
const WORDS_MAX: usize = 16;
/// Words of a name, or others between a greeting and its end.
const NAME_WORDS_MAX: usize = 2;
/// One greeting after another goes too, but not without end.
const GREETINGS_MAX: usize = 3;

/// The front of an answer. Invariant: taken character by character.
#[derive(Debug)]
pub struct Front {
    /// The words of each phrase, folded.
    greetings: Vec<Vec<String>>,
    /// What is not known to go or stay yet.
    held: String,
    /// What went as a greeting; it shows where nothing else does.
    greeted: String,
    greeted_count: usize,
    thinks: bool,
    spoken: bool,
}

/// How the answer begins.
#[derive(Debug)]
pub struct Begun {
    pub text: String,
    /// Its first letter should be one.
    pub capital: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrontVerdict {
    Wait,
    Keep,
    /// So many bytes go.
    Cut(usize),
}

impl Front {
    pub fn new(greetings: &[String]) -> Self {
        let greetings = greetings.iter().map(|phrase| folded(phrase)).filter(|words| !words.is_empty()).collect();
        Self { greetings, held: String::new(), greeted: String::new(), greeted_count: 0, thinks: false, spoken: false }
    }

    /// The beginning of the answer, once it is known.
    pub fn take(&mut self, c: char) -> Option<Begun> {
        // The rest of a greeting's end: `Oi!!!`
        let is_left_over = self.greeted_count > 0 && is_end_of_greeting(c);
        if self.held.is_empty() && !self.thinks && (c.is_whitespace() || is_left_over) {
            self.greeted.extend((self.greeted_count > 0).then_some(c));
            return None;
        }
        self.held.push(c);
        if self.thinks {
            self.think();
            return None;
        }
        self.settle(c)
    }

    /// Nothing of a thought is kept but what may be the beginning of its end.
    fn think(&mut self) {
        if self.held.eq_ignore_ascii_case(CLOSING) {
            self.held.clear();
            self.thinks = false;
        } else if self.held.chars().nth(CLOSING.len() - 1).is_some() {
            self.held.remove(0);
        }
    }

    fn settle(&mut self, c: char) -> Option<Begun> {
        let is_first = !self.spoken && self.greeted_count == 0;
        let opening = if is_first { begins(OPENING, &self.held) } else { FrontVerdict::Keep };
        let speaker = if is_first { speaker(&self.held) } else { FrontVerdict::Keep };
        match (opening, speaker) {
            (FrontVerdict::Cut(_), _) => {
                self.held.clear();
                self.thinks = true;
            }
            (_, FrontVerdict::Cut(_)) => {
                self.held.clear();
                self.spoken = true;
            }
            (FrontVerdict::Keep, FrontVerdict::Keep) => return self.greet(c),
            _ => {}
        }
        None
    }

    fn greet(&mut self, c: char) -> Option<Begun> {
        let is_short = self.held.chars().count() <= GREETING_CHARS_MAX;
        // A word is judged when it has ended.
        let verdict = match self.greeted_count < GREETINGS_MAX && !self.greetings.is_empty() && is_short {
            true if c.is_alphanumeric() => FrontVerdict::Wait,
            true => greeting(&self.held, &self.greetings, false),
            false => FrontVerdict::Keep,
        };
        match verdict {
            FrontVerdict::Wait => None,
            FrontVerdict::Keep => Some(self.begin()),
            FrontVerdict::Cut(end) => self.cut(end),
        }
    }

    /// A greeting goes, and what follows it is the front.
    fn cut(&mut self, end: usize) -> Option<Begun> {
        let rest = self.held.split_off(end);
        self.greeted.push_str(&std::mem::take(&mut self.held));
        self.greeted_count += 1;
        let mut begun: Option<Begun> = None;
        for c in rest.chars() {
            match &mut begun {
                Some(begun) => begun.text.push(c),
                None => begun = self.take(c),
            }
        }
        begun
    }

    fn begin(&mut self) -> Begun {
        Begun { text: std::mem::take(&mut self.held), capital: self.greeted_count > 0 }
    }

    /// The beginning of an answer of which there is no more.
    pub fn finish(mut self) -> Begun {
        if self.thinks {
            self.held.clear();
        }
        while self.greeted_count < GREETINGS_MAX
            && let FrontVerdict::Cut(end) = greeting(&self.held, &self.greetings, true)
        {
            if let Some(begun) = self.cut(end) {
                return begun;
            }
        }
        // A greeting that is all of the answer is not redundant.
        match self.held.is_empty() {
            true => Begun { text: self.greeted, capital: false },
            false => self.begin(),
        }
    }
}

/// Whether a text is this beginning, or may become it.
fn begins(beginning: &str, text: &str) -> FrontVerdict {
    let text = text.to_lowercase();
    match beginning.strip_prefix(&*text) {
        Some("") => FrontVerdict::Cut(beginning.len()),
        Some(_) => FrontVerdict::Wait,
        None => FrontVerdict::Keep,
    }
}

/// A speaker's name with its colon, plain or bold.
fn speaker(text: &str) -> FrontVerdict {
    let mut verdict = FrontVerdict::Keep;
    let names = Language::ALL.into_iter().flat_map(|language| language.grammar().words.assistant);
    for name in [&NAME].into_iter().chain(names) {
        for form in [format!("{name}:"), format!("**{name}:**"), format!("**{name}**:")] {
            match begins(&form, text) {
                FrontVerdict::Keep => {}
                FrontVerdict::Wait => verdict = FrontVerdict::Wait,
                cut => return cut,
            }
        }
    }
    verdict
}

/// Whether a text begins with a greeting, up to its end; what it ends with goes too.
fn greeting(text: &str, greetings: &[Vec<String>], is_end: bool) -> FrontVerdict {
    let read = Words::new(text, WORDS_MAX);
    let words: Vec<Spelled<'_>> = read.iter().collect();
    // What stands before the first word, after the first, after the second and so on.
    let starts = words.iter().map(|word| word.range.start).chain([text.len()]);
    let ends = std::iter::once(0).chain(words.iter().map(|word| word.range.end));
    let gaps: Vec<(usize, &str)> =
        ends.zip(starts).map(|(from, to)| (from, text.get(from..to).unwrap_or_default())).collect();
    let blanks = gaps.iter().take_while(|(_, gap)| gap.trim().is_empty() && !gap.contains('\n')).count();
    let shares = |phrase: &&Vec<String>| phrase.iter().zip(&words).all(|(a, b)| a == b.folded);
    let may_grow = |phrase: &Vec<String>| phrase.len() > words.len() && blanks > words.len();
    if !is_end && !words.is_empty() && greetings.iter().filter(shares).any(may_grow) {
        return FrontVerdict::Wait;
    }
    let fits = |phrase: &&Vec<String>| phrase.len() <= words.len().min(blanks);
    match greetings.iter().filter(shares).filter(fits).map(Vec::len).max() {
        Some(count) => {
            address(text, words.get(count..).unwrap_or_default(), gaps.get(count..).unwrap_or_default(), is_end)
        }
        None => FrontVerdict::Keep,
    }
}

/// What follows the phrase of a greeting: nothing, or a name and the like, up to its end. `gaps` begins with
/// what stands between the phrase and the first of the words.
fn address(text: &str, words: &[Spelled<'_>], gaps: &[(usize, &str)], is_end: bool) -> FrontVerdict {
    let is_named = |count: usize| words.iter().take(count).all(|word| is_capital(text, word));
    let mut comma = None;
    let otherwise = |comma: Option<usize>| comma.map_or(FrontVerdict::Keep, FrontVerdict::Cut);
    for (count, (from, gap)) in gaps.iter().enumerate() {
        let is_last = count == words.len();
        let end = gap.char_indices().find(|(_, c)| is_end_of_greeting(*c)).map(|(at, c)| (from + at + c.len_utf8(), c));
        match end {
            _ if count > NAME_WORDS_MAX || (comma.is_some() && !is_named(count)) => return otherwise(comma),
            Some((at, ',')) if count == 0 => comma = Some(at),
            Some((at, c)) if is_named(count) || matches!(c, '!' | '?') => return FrontVerdict::Cut(at),
            Some(_) => return otherwise(comma),
            None if !gap.trim().is_empty() => return otherwise(comma),
            None if is_last && is_end => return FrontVerdict::Cut(text.len()),
            None => {}
        }
    }
    if is_end { otherwise(comma) } else { FrontVerdict::Wait }
}

fn is_capital(text: &str, word: &Spelled<'_>) -> bool {
    text.get(word.range.clone()).is_some_and(|spelled| spelled.starts_with(char::is_uppercase))
}

fn is_end_of_greeting(c: char) -> bool {
    matches!(c, ',' | '!' | '.' | '?' | '…' | '\n')
}

fn folded(phrase: &str) -> Vec<String> {
    Words::new(phrase, WORDS_MAX).iter().map(|word| word.folded.to_owned()).collect()
}
