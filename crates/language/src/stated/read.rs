//! Conditions in a text: `acima de 10%`, `between 8 and 10 pounds`, `меньше миллиарда`.
//!
//! Owns the rules, which are the same in every language; the words are in `ConditionWords`.

use super::{Amount, AmountUnit, ConditionWords, NumberBound, StatedCondition};
use crate::window::{Tokens, holds, number};

impl ConditionWords {
    /// The condition that begins at a word.
    pub(crate) fn read(&self, tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
        self.between(tokens, at).or_else(|| self.worded(tokens, at)).or_else(|| self.signed(tokens, at))
    }

    fn worded(&self, tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
        let (bound, next) =
            self.bounds.iter().find_map(|(phrase, bound)| Some((*bound, tokens.phrase(at, phrase)?)))?;
        let next = next + usize::from(tokens.is_in(next, self.fillers));
        let (amount, end) = self.amount(tokens, next)?;
        Some(StatedCondition { words: at..end, unit: amount.unit, tests: vec![(bound, amount.value)] })
    }

    fn between(&self, tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
        let is_from = tokens.is_in(at, self.from);
        let (first, next) = self.amount(tokens, at + 1).filter(|_| is_from || tokens.is_in(at, self.between))?;
        let links = if is_from { self.from_links } else { self.between_links };
        let (second, end) = self.amount(tokens, next + 1).filter(|_| tokens.is_in(next, links))?;
        let unit = if second.unit == AmountUnit::Number { first.unit } else { second.unit };
        // Numbers alone may be anything: days, years, places.
        if is_from && unit == AmountUnit::Number {
            return None;
        }
        // Of `entre 8 e 10 milhões`, both are millions.
        let scale = if first.scale == 1.0 { second.scale } else { 1.0 };
        let tests = vec![(NumberBound::AtLeast, first.value * scale), (NumberBound::AtMost, second.value)];
        Some(StatedCondition { words: at..end, unit, tests })
    }

    /// `dy > 10`.
    fn signed(&self, tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
        let sign = tokens.gap(at).trim();
        let sign = self.signs.iter().find_map(|money| sign.strip_suffix(money)).unwrap_or(sign).trim();
        let bound = match sign {
            ">" => NumberBound::Above,
            ">=" | "≥" => NumberBound::AtLeast,
            "<" => NumberBound::Below,
            "<=" | "≤" => NumberBound::AtMost,
            _ => return None,
        };
        let (amount, end) = self.amount(tokens, at)?;
        Some(StatedCondition { words: at..end, unit: amount.unit, tests: vec![(bound, amount.value)] })
    }

    /// A number with its unit: `R$ 1,5 bi`, `10%`, `300 mil`, `£5`, `dez reais`.
    fn amount(&self, tokens: &Tokens<'_>, at: usize) -> Option<(Amount, usize)> {
        // Of `R$`, the letter is a word.
        let has_letter = self
            .sign_letters
            .iter()
            .any(|letter| tokens.word(at) == *letter && tokens.gap(at + 1).trim_start().starts_with('$'));
        let at = at + usize::from(has_letter);
        let is_marked = has_letter || self.signs.iter().any(|sign| tokens.gap(at).trim_end().ends_with(sign));
        let ((joined, value), next) = self.decimal(tokens, at)?;
        let (scale, next) = match joined {
            Some(scale) => (scale, next),
            None => self.scale(tokens.word(next)).map_or((1.0, next), |scale| (scale, next + 1)),
        };
        let next = next + usize::from(scale > 1.0 && tokens.is_in(next, self.of));
        let (unit, end) = self.unit(tokens, next, is_marked);
        Some((Amount { value: value * scale, scale, unit }, end))
    }

    fn unit(&self, tokens: &Tokens<'_>, next: usize, is_marked: bool) -> (AmountUnit, usize) {
        let gap = tokens.gap(next).trim_start();
        if gap.starts_with('%') {
            return (AmountUnit::Percent, next);
        }
        if let Some(end) = self.percent.iter().find_map(|phrase| tokens.phrase(next, phrase)) {
            return (AmountUnit::Percent, end);
        }
        let has_sign = self.signs.iter().any(|sign| gap.starts_with(sign));
        match tokens.is_in(next, self.money) {
            true => (AmountUnit::Money, next + 1),
            false if is_marked || has_sign => (AmountUnit::Money, next),
            false => (AmountUnit::Number, next),
        }
    }

    /// A number in digits or words, with the scale that is written together with it: `10k`.
    fn decimal(&self, tokens: &Tokens<'_>, at: usize) -> Option<((Option<f64>, f64), usize)> {
        let word = tokens.word(at);
        let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            if tokens.is_in(at, self.zero) {
                return Some(((None, 0.0), at + 1));
            }
            return number(tokens, at).map(|(number, next)| ((None, f64::from(number)), next));
        }
        let mut text = digits.to_owned();
        let mut next = at + 1;
        let is_number = |at: usize| tokens.word(at).bytes().all(|byte| byte.is_ascii_digit()) && at < tokens.len();
        if digits.len() == word.len() {
            while self.groups.contains(&tokens.gap(next)) && is_number(next) && tokens.word(next).len() == 3 {
                text.push_str(tokens.word(next));
                next += 1;
            }
            if self.points.contains(&tokens.gap(next)) && is_number(next) {
                text.push('.');
                text.push_str(tokens.word(next));
                next += 1;
            }
            return Some(((None, text.parse().ok()?), next));
        }
        let scale = self.scale(word.strip_prefix(digits)?)?;
        Some(((Some(scale), text.parse().ok()?), next))
    }

    fn scale(&self, word: &str) -> Option<f64> {
        self.scales.iter().find(|(names, _)| holds(names, word)).map(|(_, scale)| *scale)
    }
}
