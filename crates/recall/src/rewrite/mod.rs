//! A follow-up question made to stand alone, by rules.
//!
//! Owns what pronouns, pointers, left-out words and mentions such as "the previous one" stand for, in English,
//! Portuguese and Russian. Adds nothing that was not said, and asks no model. A question that stands alone already, or
//! whose gap the rules cannot fill with confidence, comes back byte for byte. The same input gives the same question.

mod choice;
mod ellipsis;
mod english;
mod entity;
mod implied;
mod lexicon;
mod names;
mod noun;
mod own;
mod phrase;
mod place;
mod pointer;
mod portuguese;
mod pronoun;
mod question;
mod russian;
mod token;
mod topic;

use self::lexicon::Lexicon;
use self::question::{Edit, Question};
use self::topic::{BRIEF_TOKENS, Topics};
use crate::analyse::{Language, Words};
pub use crate::extract::Said;

/// Of what was said before, only so much is looked at.
const MESSAGES_MAX: usize = 40;
const MESSAGE_CHARS_MAX: usize = 2_000;
const REPLY_CHARS_MAX: usize = 600;
/// A longer question says what it is about.
const QUESTION_BYTES_MAX: usize = 2_000;
const TOKENS_MAX: usize = 600;
/// Words by which a language is told.
const LANGUAGE_WORDS_MAX: usize = 60;

/// A question that can stand alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    pub question: String,
    /// None if, and only if, the question is as it was asked.
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub kind: ChangeKind,
    pub was: String,
    pub now: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Pronoun,
    Possessive,
    Demonstrative,
    Ellipsis,
    Previous,
    Choice,
    Implied,
}

impl ChangeKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Pronoun => "pronoun",
            Self::Possessive => "possessive",
            Self::Demonstrative => "demonstrative",
            Self::Ellipsis => "ellipsis",
            Self::Previous => "previous",
            Self::Choice => "choice",
            Self::Implied => "implied",
        }
    }
}

/// Makes a question stand alone after what was said, oldest first. The speaker is a role: everyone but the user replies.
pub fn rewrite(history: &[Said<'_>], question: &str) -> Rewrite {
    let recent = history.get(history.len().saturating_sub(MESSAGES_MAX)..).unwrap_or_default();
    if recent.is_empty() || question.len() > QUESTION_BYTES_MAX {
        return untouched(question);
    }
    let mut talk = Talk::new(Lexicon::of(language(recent, question)));
    recent.iter().for_each(|said| talk.hear(said));
    talk.rewrite(question)
}

fn untouched(question: &str) -> Rewrite {
    Rewrite { question: question.to_owned(), changes: Vec::new() }
}

/// The language of the question, or where its words do not tell, of what was said before.
fn language(recent: &[Said<'_>], question: &str) -> Language {
    if question.contains(|c| matches!(c, '\u{400}'..='\u{52f}')) {
        return Language::Russian;
    }
    let words = Words::of(question, LANGUAGE_WORDS_MAX);
    let told = Language::of(&words);
    let english =
        words.iter().any(|word| Language::English.is_stop(word.folded) && !Language::Portuguese.is_stop(word.folded));
    if told == Language::Portuguese || english {
        return told;
    }
    let before = recent.iter().rev().take(4).map(|said| Language::of(&Words::of(said.text, LANGUAGE_WORDS_MAX)));
    let portuguese = before.filter(|language| *language == Language::Portuguese).count();
    if portuguese > 0 { Language::Portuguese } else { told }
}

/// A conversation as far as it was heard.
struct Talk {
    lexicon: &'static Lexicon,
    topics: Topics,
    /// The user's last question, made to stand alone.
    asked: String,
    /// The last reply to it.
    replied: String,
}

impl Talk {
    fn new(lexicon: &'static Lexicon) -> Self {
        Self { lexicon, topics: Topics::default(), asked: String::new(), replied: String::new() }
    }

    fn hear(&mut self, said: &Said<'_>) {
        let by_user = said.speaker == "user";
        let text = beginning(said.text, if by_user { MESSAGE_CHARS_MAX } else { REPLY_CHARS_MAX });
        let Rewrite { question: text, changes } = if by_user { self.rewrite(text) } else { untouched(text) };
        let tokens = token::tokens(&text, TOKENS_MAX);
        let phrases = phrase::phrases(&tokens, self.lexicon);
        self.topics.next_message(by_user);
        self.topics.note(&text, &tokens, &phrases, by_user, self.lexicon);
        for change in changes.iter().filter(|it| matches!(it.kind, ChangeKind::Pronoun | ChangeKind::Possessive)) {
            self.topics.centre(english::owner(&change.now), self.lexicon.is_personal(&change.was));
        }
        if !by_user && tokens.len() <= BRIEF_TOKENS && self.lexicon.asks_who(&self.asked) {
            self.topics.answer_who(&text);
        }
        if by_user && changes.is_empty() {
            self.topics.shift();
        }
        if by_user {
            self.asked = text;
            self.replied = String::new();
        } else {
            self.replied = text;
        }
    }

    fn rewrite(&self, text: &str) -> Rewrite {
        let tokens = token::tokens(text, TOKENS_MAX);
        let phrases = phrase::phrases(&tokens, self.lexicon);
        let question = Question { text, tokens: &tokens, phrases: &phrases, lexicon: self.lexicon };
        let whole = choice::resolve(&question, &self.replied)
            .or_else(|| ellipsis::resolve(&question, &self.asked, &self.topics));
        if let Some(edit) = whole {
            return apply(text, vec![edit]);
        }
        let dictated = own::is_dictated(&question, &self.replied);
        let mut edits = if dictated { Vec::new() } else { pronoun::resolve(&question, &self.topics) };
        edits.extend(pointer::resolve(&question, &self.topics));
        edits.sort_by_key(|edit| edit.range.start);
        if edits.is_empty() {
            edits.extend(implied::resolve(&question, &self.topics));
        }
        apply(text, edits)
    }
}

fn beginning(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Makes the changes, which are in order and apart. What changes nothing is no change.
fn apply(text: &str, edits: Vec<Edit>) -> Rewrite {
    let mut question = String::with_capacity(text.len() * 2);
    let mut changes = Vec::new();
    let mut from = 0;
    for edit in edits {
        let Some(kept) = text.get(from..edit.range.start) else { continue };
        if edit.change.was == edit.change.now {
            continue;
        }
        question.push_str(kept);
        question.push_str(&edit.change.now);
        from = edit.range.end;
        changes.push(edit.change);
    }
    question.push_str(text.get(from..).unwrap_or_default());
    Rewrite { question, changes }
}
