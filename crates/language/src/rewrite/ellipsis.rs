//! Questions that leave out what the last one said: "And in Brazil?", "e o preço?", "А в Москве?".
//!
//! What is said takes the place of its like in the last question: a time of a time, a name of a name, and
//! what follows a preposition of what followed the same one. Without a like the question is left as it is.

use super::edit::Edit;
use super::topic::Topics;
use super::{Change, ChangeKind, TOKENS_MAX, lone_question, omitted_owner};
use crate::Language;
use crate::syntax::{Class, FollowUp, Lexicon, NounPhrase, Role, Token, phrase, token};

/// More words are a question of their own.
const WORDS_MAX: usize = 7;

pub fn resolve(question: &FollowUp<'_>, asked: &str, replied: &str, topics: &Topics) -> Option<Edit> {
    let now = lone_question::resolve(question, asked, replied).or_else(|| with_fragment(question, asked, topics))?;
    let asks = question.text.trim_end().ends_with('?') && !now.ends_with(['?', '.', '!']);
    let mark = match (asks, question.is_spaced()) {
        (false, _) => "",
        (true, true) => " ?",
        (true, false) => "?",
    };
    let now = format!("{now}{mark}");
    let change = Change { kind: ChangeKind::Ellipsis, was: question.text.to_owned(), now };
    Some(Edit { range: 0..question.text.len(), change })
}

/// What a follow-up says besides its opening, such as "what about".
struct Fragment<'f> {
    tokens: &'f [Token<'f>],
    phrases: Vec<NounPhrase>,
    from: usize,
}

impl<'f> Fragment<'f> {
    fn parse(question: &'f FollowUp<'f>) -> Option<Self> {
        let opening = opening(question)?;
        let words = question.tokens.get(opening..)?;
        let words = words.iter().rposition(|it| it.is_word() || it.is_quote()).and_then(|last| words.get(..=last))?;
        let verb = |at: usize| {
            let class = question.class(at);
            let phrase = question.phrases.iter().any(|it| it.words.contains(&at));
            !phrase
                && (class.has(Class::BE.or(Class::AUXILIARY).or(Class::ASKING).or(Class::SPEAKER).or(Class::THIRD))
                    || question.lexicon.is_verb(question.lower(at)))
        };
        if words.len() > WORDS_MAX
            || (opening..opening + words.len()).any(verb)
            || words.iter().any(|it| it.sentence != words.first().map_or(0, |it| it.sentence))
        {
            return None;
        }
        let phrases = question.phrases.iter().filter(|it| it.words.start >= opening).cloned().collect();
        Some(Self { tokens: words, phrases, from: opening })
    }

    fn spelled<'q>(&self, question: &FollowUp<'q>) -> Option<&'q str> {
        question.text.get(self.tokens.first()?.range.start..self.tokens.last()?.range.end)
    }
}

/// Where the fragment begins after "what about", "and", "e", "а".
fn opening(question: &FollowUp<'_>) -> Option<usize> {
    let first = (0..question.tokens.len())
        .find(|at| question.tokens.get(*at).is_some_and(Token::is_word) && !question.class(*at).has(Class::FILLER))?;
    let lower = |at: usize| question.lower(at);
    let and = question.lexicon.is_and(lower(first));
    let at = if and { first + 1 } else { first };
    let one_of = |words: &str, at: usize| words.split(' ').any(|word| word == lower(at));
    // The last question may be in another language than this one.
    let mut openings = Language::ALL.into_iter().flat_map(|language| language.grammar().words.fragment_openings);
    let long = match openings.any(|(first, second)| one_of(first, at) && one_of(second, at + 1)) {
        true => Some(at + 2),
        false if question.word_has(at, Class::NOW) && !and && question.phrases.len() == 1 => Some(at + 1),
        false => None,
    };
    let article = |at: usize| {
        question.class(at).has(Class::DEFINITE)
            && question.word_has(at + 1, Class::OF)
            && !question.word_has(at, Class::OF)
    };
    let open = long.or(and.then_some(at)).map(|at| if article(at) { at + 1 } else { at });
    open.filter(|at| question.tokens.get(*at).is_some_and(Token::is_word))
}

fn with_fragment(question: &FollowUp<'_>, asked: &str, topics: &Topics) -> Option<String> {
    let fragment = Fragment::parse(question)?;
    let spelled = fragment.spelled(question)?;
    let lexicon = question.lexicon;
    if fragment.tokens.iter().any(|it| it.has(Class::ONE)) {
        return None;
    }
    let tokens = token::tokens(asked, lexicon, TOKENS_MAX);
    let phrases = phrase::phrases(&tokens, lexicon);
    let last = LastQuestion { text: asked.trim_end(), tokens: &tokens, phrases: &phrases, lexicon };
    if !last.asks() {
        return None;
    }
    let first = fragment.phrases.iter().find(|it| !it.features.group)?;
    let whole = |it: &&NounPhrase| !it.features.group && it.words.start == first.words.start;
    let said = fragment.phrases.iter().filter(whole).max_by_key(|it| it.words.len())?;
    let said_at = said.preposition.filter(|at| *at >= fragment.from);
    let preposition = said_at.map(|at| question.lower(at));
    if said.features.time {
        return last.with_time(preposition.is_some(), spelled);
    }
    if let Some(preposition) = preposition {
        return last.with_preposition(said, preposition, spelled);
    }
    last.with_like(question, said, spelled).or_else(|| omitted_owner::appended(question, said, topics))
}

/// The last question, into which something else is put.
struct LastQuestion<'a> {
    text: &'a str,
    tokens: &'a [Token<'a>],
    phrases: &'a [NounPhrase],
    lexicon: &'a Lexicon,
}

impl LastQuestion<'_> {
    fn asks(&self) -> bool {
        let question = FollowUp { text: self.text, tokens: self.tokens, phrases: self.phrases, lexicon: self.lexicon };
        let opens = Class::ASKING.or(Class::VERB).or(Class::BE).or(Class::AUXILIARY);
        let first = self.tokens.first().is_some_and(|it| it.has(opens) || self.lexicon.is_verb(&it.lower));
        opening(&question).is_none() && (self.text.ends_with('?') || (first && !self.text.ends_with('.')))
    }

    /// The text with some of its tokens replaced.
    fn with(&self, from: usize, to: usize, now: &str) -> Option<String> {
        let of = self.tokens.get(from..to)?;
        let (start, end) = (of.first()?.range.start, of.last()?.range.end);
        Some(format!("{}{now}{}", self.text.get(..start)?, self.text.get(end..)?))
    }

    fn appended(&self, more: &str) -> String {
        let body = self.text.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '?' | '.' | '!'));
        let marks = self.text.get(body.len()..).unwrap_or_default();
        format!("{body} {more}{marks}")
    }

    /// Where a phrase begins, with its preposition and article.
    fn start(&self, phrase: &NounPhrase) -> usize {
        let start = phrase.determiner.unwrap_or(phrase.words.start);
        phrase.preposition.filter(|at| *at <= start).unwrap_or(start)
    }

    /// A lone time may take over the preposition of the one whose place it takes.
    fn with_time(&self, has_preposition: bool, spelled: &str) -> Option<String> {
        let Some(old) = self.phrases.iter().rfind(|it| it.features.time) else { return Some(self.appended(spelled)) };
        let lone = self.lexicon.grammar.traits.lone_times && !has_preposition && !spelled.contains(' ');
        let from = if lone && old.determiner.is_none() { old.words.start } else { self.start(old) };
        self.with(from, old.words.end, spelled)
    }

    fn with_preposition(&self, said: &NounPhrase, preposition: &str, spelled: &str) -> Option<String> {
        let of = |it: &&NounPhrase| {
            it.preposition
                .and_then(|at| self.tokens.get(at))
                .is_some_and(|token| self.is_related(&token.lower, preposition))
        };
        let plain = || self.phrases.iter().rev().filter(|it| !it.features.time && !it.features.group);
        let like = plain().filter(of).find(|it| it.features.named == said.features.named).or_else(|| plain().find(of));
        if let Some(old) = like {
            return self.with(self.start(old), old.words.end, spelled);
        }
        let named = plain().find(|it| {
            it.features.named
                && said.features.named
                && it.preposition.is_some()
                && it.features.person == said.features.person
        });
        match named {
            Some(old) => self.with(self.start(old), old.words.end, spelled),
            None if (self.lexicon.grammar.reading.is_appended)(preposition) => Some(self.appended(spelled)),
            None => None,
        }
    }

    /// A name for a name, a property for a property.
    fn with_like(&self, question: &FollowUp<'_>, said: &NounPhrase, spelled: &str) -> Option<String> {
        let plain = || self.phrases.iter().filter(|it| !it.features.time && !it.features.group);
        if said.features.named {
            let old = plain()
                .filter(|it| it.features.named)
                .max_by_key(|it| (it.features.person == said.features.person, it.role != Role::Oblique))?;
            // An article that is contracted with a preposition stays.
            let article = old.determiner.filter(|at| old.preposition != Some(*at) && said.determiner.is_some());
            let name = question.spelled(said)?;
            return match article {
                Some(at) => self.with(at, old.words.end, spelled),
                None => self.with(old.words.start, old.words.end, name),
            };
        }
        // A property of what was asked about is no second thing to ask about.
        let property = question.class(said.head).has(Class::RELATIONAL) || said.determiner.is_some();
        let defines = property && plain().any(|it| it.role == Role::Topic && it.features.named);
        match self.lexicon.grammar.reading.replaced_property {
            None => self.with_subject(question, said, spelled),
            Some(_) if defines => None,
            Some(replaced) => {
                let (from, to) = replaced(said, &plain().collect::<Vec<_>>())?;
                self.with(from, to, spelled)
            }
        }
    }

    /// `How about goulash?` after `Is chilli a stew?`
    fn with_subject(&self, question: &FollowUp<'_>, said: &NounPhrase, spelled: &str) -> Option<String> {
        let relational = question.class(said.head).has(Class::RELATIONAL.or(Class::ADJECTIVE));
        let yes_or_no = self.tokens.first().is_some_and(|it| it.has(Class::BE.or(Class::AUXILIARY)));
        let old = self
            .phrases
            .iter()
            .find(|it| it.role <= Role::Subject && it.features.person == Some(false) && !it.features.named)?;
        if relational
            || !yes_or_no
            || said.determiner.is_some()
            || (self.lexicon.grammar.reading.is_plural)(question.lower(said.head))
                != (old.features.plural == Some(true))
        {
            return None;
        }
        self.with(old.determiner.unwrap_or(old.words.start), old.words.end, spelled)
    }

    /// Whether two prepositions say the same.
    fn is_related(&self, a: &str, b: &str) -> bool {
        let holds = |group: &str, word: &str| group.split(' ').any(|it| it == word);
        let groups = self.lexicon.grammar.words.related_prepositions;
        a == b || groups.iter().any(|group| holds(group, a) && holds(group, b))
    }
}
