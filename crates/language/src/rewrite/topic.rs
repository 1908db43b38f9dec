//! What a conversation is about: the things that were said, how well each is remembered, and which one a
//! pronoun means.
//!
//! What the user says weighs more than what is replied, a subject more than what stands after a preposition,
//! and everything fades with every question that does not take it up again.

use super::expected_answer::ExpectedAnswer;
use super::year;
use crate::syntax::{Class, Entity, Lexicon, NounPhrase, Pronoun, Token, token};

/// Things that are remembered; the faintest is forgotten first.
const ENTITIES_MAX: usize = 48;
/// What is left of a weight after one more question.
const FADE: f32 = 0.72;
/// What is left of it after one more sentence of a long reply.
const FARTHER: f32 = 0.8;
/// What was said more faintly than this is not meant.
const FAINTEST: f32 = 0.1;
/// What a reply says weighs so much, by whether it has more words than this.
pub(crate) const BRIEF_TOKENS: usize = 30;
const BRIEF_REPLY: f32 = 1.0;
/// What a pronoun was used for is what the talk is about.
const CENTRE: f32 = 1.1;
/// So is what was asked for and named.
const ANSWER: f32 = 1.15;
/// What a question that stands alone brings up.
const NEW_TOPIC: f32 = 1.0;
/// Something of a kind, of which a reply may name one.
const NEW_KIND: f32 = 0.8;
const LONG_REPLY: f32 = 0.6;
/// Two people who are remembered this equally well are not told apart.
const ALIKE: f32 = 0.75;
const ALIKE_GROUPS: f32 = 0.5;
/// What is remembered more faintly is no second of a pair.
const PAIRED: f32 = 0.25;
/// Two nouns that share this many first letters are forms of one noun.
const STEM_CHARS: usize = 5;
/// What is left of the weight of what only a reply spoke of, where two are chosen between.
const REPLIED: f32 = 0.6;

#[derive(Debug, Default)]
pub struct Topics {
    entities: Vec<Entity>,
    /// The last year that was said.
    pub year: Option<String>,
    turn: usize,
    message: usize,
}

impl Topics {
    /// A user's message begins a turn; replies belong to the turn they answer.
    pub(crate) fn next_message(&mut self, by_user: bool) {
        self.turn += usize::from(by_user);
        self.message += 1;
    }

    /// What was asked for is the first name in the reply that the question did not have. Asked what, it
    /// begins the reply; asked who, it is not where something is.
    pub fn answer(&mut self, sought: &ExpectedAnswer, reply: &str) {
        let (turn, message) = (self.turn, self.message);
        let asked = self.entities.iter().filter(|it| it.by_user && it.turn == turn);
        let asked: Vec<String> = asked.map(|it| it.key.clone()).collect();
        let new = |it: &&mut Entity| {
            it.message == message && it.features.named && !it.by_user && !it.features.time && !it.is_measure()
        };
        let mut new = self.entities.iter_mut().filter(new);
        let found = match sought {
            ExpectedAnswer::Nothing => None,
            ExpectedAnswer::Somebody => new.find(|it| !it.is_placed && it.features.person != Some(false)),
            ExpectedAnswer::Thing(kind) => new.find(|it| {
                let begins = begins_with(reply, it) && !asked.iter().any(|of| within(&it.key, of));
                it.kind == *kind || begins
            }),
        };
        let Some(found) = found else { return };
        found.weight = found.weight.max(ANSWER);
        match sought {
            ExpectedAnswer::Somebody => found.features.person = Some(true),
            ExpectedAnswer::Thing(kind) if found.kind.is_empty() => found.kind.clone_from(kind),
            _ => {}
        }
    }

    pub fn note(&mut self, text: &str, tokens: &[Token<'_>], phrases: &[NounPhrase], by_user: bool, lexicon: &Lexicon) {
        let sentences = tokens.last().map_or(0, |token| token.sentence);
        for phrase in phrases {
            let Some(mut entity) = Entity::from_phrase(text, tokens, phrase, by_user, lexicon) else { continue };
            let sentence = tokens.get(phrase.words.start).map_or(0, |token| token.sentence);
            // The end of a long reply is further from the question than its beginning is from the topic.
            let far = if by_user || sentences < 3 { 1.0 } else { FARTHER.powi(sentence.min(8) as i32) };
            let reply = if tokens.len() > BRIEF_TOKENS { LONG_REPLY } else { BRIEF_REPLY };
            entity.weight *= if by_user { 1.0 } else { reply * far };
            entity.turn = self.turn;
            entity.message = self.message;
            self.remember(entity, lexicon);
        }
        let year = tokens.iter().rev().find(|token| year::is_year(token));
        self.year = year.map(|token| token.text.to_owned()).or(self.year.take());
        if self.entities.len() > ENTITIES_MAX {
            let excess = self.entities.len() - ENTITIES_MAX;
            self.entities.drain(..excess);
        }
    }

    /// What was just meant by a pronoun is likely to be meant again.
    pub(crate) fn centre(&mut self, meant: &str, person: Option<bool>) {
        let meant = token::lower(meant);
        for entity in self.entities.iter_mut().filter(|entity| entity.turn == self.turn) {
            if meant == entity.key || within(&entity.key, &meant) && meant.len() < entity.key.len() + 6 {
                entity.weight = entity.weight.max(CENTRE);
                entity.features.person = person.or(entity.features.person);
            }
        }
    }

    /// A question that stands alone may change the topic: to the best of what it names, or describes in
    /// several words.
    pub fn shift(&mut self, lexicon: &Lexicon) {
        let message = self.message;
        let new = self.entities.iter_mut().filter(|it| it.message == message && it.features.person != Some(true));
        let new = new.filter(|it| {
            it.matters() && (it.features.named || !lexicon.has(&it.article, Class::THE) || it.name.contains(' '))
        });
        if let Some(best) = new.reduce(|a, b| if b.weight >= a.weight { b } else { a }) {
            best.weight = best.weight.max(if best.indefinite { NEW_KIND } else { NEW_TOPIC });
        }
    }

    /// What is said again moves to the end; a name said in full takes the place of its part.
    fn remember(&mut self, mut entity: Entity, lexicon: &Lexicon) {
        let part = |old: &Entity| {
            let named = old.features.named && entity.features.named && old.features.group == entity.features.group;
            named && (is_part(&old.key, &entity.key) || is_part(&entity.key, &old.key))
        };
        let again = |old: &Entity| {
            let rest = old.key.strip_suffix(&entity.key).filter(|_| lexicon.has(&entity.article, Class::THE));
            rest.is_some_and(|rest| rest.ends_with(' '))
        };
        let same = |old: &Entity| old.key == entity.key || again(old) || part(old);
        let Some(at) = self.entities.iter().rposition(same) else {
            self.entities.push(entity);
            return;
        };
        let old = self.entities.remove(at);
        entity.weight = entity.weight.max(self.salience(&old));
        entity.features.gender = entity.features.gender.or(old.features.gender);
        entity.features.person = entity.features.person.or(old.features.person);
        entity.by_user |= old.by_user;
        if entity.kind.is_empty() {
            entity.kind = old.kind;
        }
        if old.key.len() > entity.key.len() || (old.key.len() == entity.key.len() && entity.article.is_empty()) {
            (entity.name, entity.key, entity.article) = (old.name, old.key, old.article);
        }
        self.entities.push(entity);
    }

    fn salience(&self, entity: &Entity) -> f32 {
        entity.weight * FADE.powi(self.turn.saturating_sub(entity.turn).min(30) as i32)
    }

    /// The things that a test lets through, with the share of their weight that it leaves, best first.
    pub fn ranked(&self, test: impl Fn(&Entity) -> Option<f32>) -> Vec<(&Entity, f32)> {
        let mut found: Vec<(&Entity, f32)> = self
            .entities
            .iter()
            .rev()
            .filter_map(|entity| Some((entity, test(entity)? * self.salience(entity))))
            .filter(|(_, salience)| *salience >= FAINTEST)
            .collect();
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        found
    }

    /// What a pronoun means, unless two are as likely.
    pub(crate) fn antecedent(&self, pronoun: &Pronoun, skip: impl Fn(&Entity) -> bool) -> Option<&Entity> {
        let found = self.ranked(|entity| if skip(entity) { None } else { entity.fit(pronoun) });
        let (best, salience) = *found.first()?;
        let called = found.iter().find(|(it, _)| it.message == best.message && it.kind == best.head);
        let best = called.map_or(best, |(it, _)| *it);
        let rival = found.iter().skip(1).find(|(other, _)| {
            let nested = within(&other.key, &best.key) || within(&best.key, &other.key);
            !nested
                && other.head != best.kind
                && other.features.person == best.features.person
                && other.features.group == best.features.group
                && (other.features.named || !best.features.named)
        });
        let people = pronoun.person == Some(true) || best.features.group;
        let doubtful = people
            && rival.is_some_and(|(other, of)| match best.features.group {
                true => *of > salience * ALIKE_GROUPS,
                false => *of > salience * ALIKE && other.message == best.message,
            });
        (!doubtful).then_some(best)
    }

    /// What the conversation is about at this point.
    pub fn topic(&self, fits: impl Fn(&Entity) -> bool) -> Option<&Entity> {
        let found = self.ranked(|it| (it.matters() && fits(it)).then_some(1.0));
        found.first().map(|(entity, _)| *entity)
    }

    /// The last two things of one sort that were talked about, in the order in which they came up: both,
    /// which of them.
    pub fn pair(&self, fits: impl Fn(&Entity) -> bool) -> Option<[&Entity; 2]> {
        let share = |it: &Entity| if it.by_user { 1.0 } else { REPLIED };
        let found = self.ranked(|it| (it.matters() && fits(it)).then(|| share(it)));
        let (first, _) = *found.first()?;
        let alike = |it: &Entity| {
            let nested = within(&it.key, &first.key) || within(&first.key, &it.key);
            let akin = it.key.chars().zip(first.key.chars()).take_while(|(a, b)| a == b).count() >= STEM_CHARS;
            !nested
                && (it.features.named || !akin)
                && it.features.named == first.features.named
                && (it.features.person == Some(true)) == (first.features.person == Some(true))
        };
        let (second, _) = *found.iter().skip(1).find(|(it, salience)| alike(it) && *salience >= PAIRED)?;
        let at = |of: &Entity| self.entities.iter().position(|it| it.is(of));
        Some(if at(first) > at(second) { [second, first] } else { [first, second] })
    }

    /// What the conversation is about, and what it was about before that.
    pub(crate) fn now_and_before(&self) -> Option<(&Entity, &Entity)> {
        let found = self.ranked(|it| (it.matters() && it.by_user).then_some(1.0));
        let (now, _) = *found.first()?;
        let (before, _) = found.iter().find(|(it, _)| it.turn < now.turn && it.features.named == now.features.named)?;
        Some((now, before))
    }
}

/// Whether a reply begins with something, or its article.
fn begins_with(reply: &str, entity: &Entity) -> bool {
    let reply = token::lower(reply);
    let rest = reply.trim_start();
    rest.strip_prefix(&entity.article).unwrap_or(rest).trim_start().starts_with(&entity.key)
}

/// Whether one name is a part of another, and not the owner of something.
fn is_part(part: &str, whole: &str) -> bool {
    within(part, whole) && !whole.contains(['\'', '’'])
}

/// Whether all words of one key stand in another as a run.
fn within(part: &str, whole: &str) -> bool {
    part.len() < whole.len()
        && whole.match_indices(part).any(|(at, _)| {
            let before = whole.get(..at).is_some_and(|before| before.is_empty() || before.ends_with(' '));
            let after = whole.get(at + part.len()..).is_some_and(|after| after.is_empty() || after.starts_with(' '));
            before && after
        })
}
