//! Makes a follow-up question self-contained, by rules.
//!
//! Owns what pronouns, pointers, left-out words and mentions such as "the previous one" stand for, in
//! English, Portuguese and Russian. `topic` remembers what was said and what was answered, `phrase` finds it,
//! and each other module resolves one way of saying less: `lone_question` a question word alone, `ellipsis` a
//! fragment, `pair` two things, `choice` one of a list, `omitted` and `omitted_owner` what is left out
//! altogether. Adds nothing that was not said, and asks no model. A question that stands alone already, or
//! whose gap the rules cannot fill with confidence, comes back byte for byte. The same input gives the same
//! question.

mod choice;
mod edit;
mod ellipsis;
mod expected_answer;
mod lone_question;
mod noun;
mod omitted;
mod omitted_owner;
mod pair;
mod pointer;
mod pronoun;
mod self_contained;
mod there;
mod topic;
mod year;

use self::edit::Edit;
use self::expected_answer::ExpectedAnswer;
use self::topic::{BRIEF_TOKENS, Topics};
use crate::Language;
use crate::analyse::Words;
use crate::syntax::{FollowUp, Lexicon, NounPhrase, Token, phrase, token};

/// Only the last messages are read.
const MESSAGES_MAX: usize = 40;
/// What was said this many questions ago has faded: `topic` leaves less of it than counts.
const TURNS_MAX: usize = 10;
const USER: &str = "user";
const MESSAGE_CHARS_MAX: usize = 2_000;
const REPLY_CHARS_MAX: usize = 600;
/// A longer question says what it is about.
const QUESTION_BYTES_MAX: usize = 2_000;
const TOKENS_MAX: usize = 600;
/// Words that language detection reads.
const LANGUAGE_WORDS_MAX: usize = 60;

/// One message of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Utterance<'a> {
    pub speaker: &'a str,
    pub text: &'a str,
}

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

/// Makes a question stand alone after what was said, oldest first. The speaker is a role: everyone but the
/// user replies.
pub fn rewrite(history: &[Utterance<'_>], question: &str) -> Rewrite {
    let recent = history.get(history.len().saturating_sub(MESSAGES_MAX)..).unwrap_or_default();
    if recent.is_empty() || question.len() > QUESTION_BYTES_MAX {
        return untouched(question);
    }
    let mut talk = Talk::new(language(recent, question).lexicon());
    remembered(recent).iter().for_each(|said| talk.hear(said));
    let tokens = token::tokens(question, talk.lexicon, TOKENS_MAX);
    talk.rewrite(question, &tokens, &phrase::phrases(&tokens, talk.lexicon))
}

/// The messages that are recent enough to matter.
fn remembered<'s, 't>(recent: &'s [Utterance<'t>]) -> &'s [Utterance<'t>] {
    let asked = recent.iter().enumerate().rev().filter(|(_, said)| said.speaker == USER);
    let from = asked.map(|(at, _)| at).nth(TURNS_MAX - 1).unwrap_or(0);
    recent.get(from..).unwrap_or_default()
}

fn untouched(question: &str) -> Rewrite {
    Rewrite { question: question.to_owned(), changes: Vec::new() }
}

/// The language of the question, or where its words do not tell, of what was said before.
fn language(recent: &[Utterance<'_>], question: &str) -> Language {
    if let Some(language) = Language::by_script(question) {
        return language;
    }
    let words = Words::new(question, LANGUAGE_WORDS_MAX);
    let told = Language::detect(&words);
    if told != Language::DEFAULT || words.iter().any(|word| told.is_only_stop(word.folded)) {
        return told;
    }
    let before = recent.iter().rev().take(4).map(|said| Language::detect(&Words::new(said.text, LANGUAGE_WORDS_MAX)));
    before.into_iter().find(|language| *language != Language::DEFAULT).unwrap_or(told)
}

/// The state of a conversation after the messages that were read.
struct Talk {
    lexicon: &'static Lexicon,
    topics: Topics,
    /// The user's last question, made to stand alone.
    asked: String,
    sought: ExpectedAnswer,
    /// The last reply to it.
    replied: String,
}

impl Talk {
    fn new(lexicon: &'static Lexicon) -> Self {
        Self {
            lexicon,
            topics: Topics::default(),
            asked: String::new(),
            sought: ExpectedAnswer::Nothing,
            replied: String::new(),
        }
    }

    fn hear(&mut self, said: &Utterance<'_>) {
        if said.speaker == USER {
            self.hear_question(beginning(said.text, MESSAGE_CHARS_MAX));
        } else {
            self.hear_reply(beginning(said.text, REPLY_CHARS_MAX));
        }
    }

    fn hear_question(&mut self, text: &str) {
        let tokens = token::tokens(text, self.lexicon, TOKENS_MAX);
        let phrases = phrase::phrases(&tokens, self.lexicon);
        let Rewrite { question, changes } = self.rewrite(text, &tokens, &phrases);
        if changes.is_empty() {
            self.note_question(question, &tokens, &phrases);
            self.topics.shift(self.lexicon);
            return;
        }
        let text = question.clone();
        let tokens = token::tokens(&text, self.lexicon, TOKENS_MAX);
        self.note_question(question, &tokens, &phrase::phrases(&tokens, self.lexicon));
        for change in changes.iter().filter(|it| matches!(it.kind, ChangeKind::Pronoun | ChangeKind::Possessive)) {
            self.topics
                .centre((self.lexicon.grammar.writing.owner)(&change.now), self.lexicon.is_personal(&change.was));
        }
    }

    fn note_question(&mut self, text: String, tokens: &[Token<'_>], phrases: &[NounPhrase]) {
        self.topics.next_message(true);
        self.topics.note(&text, tokens, phrases, true, self.lexicon);
        self.sought = ExpectedAnswer::by(tokens, phrases, self.lexicon);
        self.asked = text;
        self.replied.clear();
    }

    fn hear_reply(&mut self, text: &str) {
        let tokens = token::tokens(text, self.lexicon, TOKENS_MAX);
        let phrases = phrase::phrases(&tokens, self.lexicon);
        self.topics.next_message(false);
        self.topics.note(text, &tokens, &phrases, false, self.lexicon);
        if tokens.len() <= BRIEF_TOKENS {
            self.topics.answer(&self.sought, text);
        }
        text.clone_into(&mut self.replied);
    }

    fn rewrite(&self, text: &str, tokens: &[Token<'_>], phrases: &[NounPhrase]) -> Rewrite {
        let question = FollowUp { text, tokens, phrases, lexicon: self.lexicon };
        let whole = choice::resolve(&question, &self.replied)
            .or_else(|| ellipsis::resolve(&question, &self.asked, &self.replied, &self.topics))
            .or_else(|| pair::resolve(&question, &self.topics));
        if let Some(edit) = whole {
            return apply(text, vec![edit]);
        }
        let dictated = self_contained::is_dictated(&question, &self.replied);
        let mut edits = if dictated { Vec::new() } else { pronoun::resolve(&question, &self.topics) };
        edits.extend(pointer::resolve(&question, &self.topics));
        edits.sort_by_key(|edit| edit.range.start);
        if edits.is_empty() {
            let left_out = omitted_owner::resolve(&question, &self.topics);
            edits.extend(left_out.or_else(|| omitted::resolve(&question, &self.topics)));
        }
        apply(text, edits)
    }
}

fn beginning(text: &str, chars_max: usize) -> &str {
    text.char_indices().nth(chars_max).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Applies the edits, which are in order and do not overlap. An edit that changes nothing is left out.
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
