//! Conditions as Portuguese states them: `acima de 10%`, `entre 8 e 10 reais`, `menos de 1 bilhão`.

use super::window::number;
use crate::stated::{Amount, AmountUnit, NumberBound, StatedCondition};
use crate::window::Tokens;

const BOUNDS: [(&str, NumberBound); 46] = [
    ("acima de", NumberBound::Above),
    ("acima do", NumberBound::Above),
    ("acima dos", NumberBound::Above),
    ("acima da", NumberBound::Above),
    ("maior que", NumberBound::Above),
    ("maiores que", NumberBound::Above),
    ("maior do que", NumberBound::Above),
    ("maiores do que", NumberBound::Above),
    ("superior a", NumberBound::Above),
    ("superiores a", NumberBound::Above),
    ("mais de", NumberBound::Above),
    ("mais que", NumberBound::Above),
    ("mais do que", NumberBound::Above),
    ("passa de", NumberBound::Above),
    ("passam de", NumberBound::Above),
    ("passe de", NumberBound::Above),
    ("above", NumberBound::Above),
    ("more than", NumberBound::Above),
    ("greater than", NumberBound::Above),
    ("abaixo de", NumberBound::Below),
    ("abaixo do", NumberBound::Below),
    ("abaixo dos", NumberBound::Below),
    ("abaixo da", NumberBound::Below),
    ("menor que", NumberBound::Below),
    ("menores que", NumberBound::Below),
    ("menor do que", NumberBound::Below),
    ("menores do que", NumberBound::Below),
    ("inferior a", NumberBound::Below),
    ("inferiores a", NumberBound::Below),
    ("menos de", NumberBound::Below),
    ("menos que", NumberBound::Below),
    ("menos do que", NumberBound::Below),
    ("below", NumberBound::Below),
    ("less than", NumberBound::Below),
    ("under", NumberBound::Below),
    ("pelo menos", NumberBound::AtLeast),
    ("ao menos", NumberBound::AtLeast),
    ("no minimo", NumberBound::AtLeast),
    ("minimo de", NumberBound::AtLeast),
    ("a partir de", NumberBound::AtLeast),
    ("at least", NumberBound::AtLeast),
    ("no maximo", NumberBound::AtMost),
    ("maximo de", NumberBound::AtMost),
    ("ate", NumberBound::AtMost),
    ("at most", NumberBound::AtMost),
    ("igual a", NumberBound::Equal),
];

/// How a sentence says that conditions were applied: each with what it is on and its value.
pub fn told(conditions: &[(&str, &str, String)]) -> String {
    let one = |(label, op, value): &(&str, &str, String)| {
        let bound = match *op {
            ">" => "acima de",
            ">=" => "a partir de",
            "<" => "abaixo de",
            "<=" => "até",
            _ => "igual a",
        };
        format!("{label} {bound} {value}")
    };
    format!("Filtro: {}.", conditions.iter().map(one).collect::<Vec<_>>().join("; "))
}

/// How a sentence says that a part of a question was not answered.
pub fn not_answered(words: &str) -> String {
    format!("Não respondi sobre \"{words}\".")
}

/// The condition that begins at a word.
pub(crate) fn stated(tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
    between(tokens, at).or_else(|| worded(tokens, at)).or_else(|| signed(tokens, at))
}

fn worded(tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
    let (bound, next) = BOUNDS.iter().find_map(|(phrase, bound)| Some((*bound, tokens.phrase(at, phrase)?)))?;
    let next = next + usize::from(tokens.is_one_of(next, &["de", "dos", "uns", "umas"]));
    let (amount, end) = amount(tokens, next)?;
    Some(StatedCondition { words: at..end, unit: amount.unit, tests: vec![(bound, amount.value)] })
}

fn between(tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
    let from = at + 1;
    let (first, next) = amount(tokens, from).filter(|_| tokens.is_one_of(at, &["entre", "between", "de"]))?;
    let is_linked = if tokens.word(at) == "de" { &["a", "ate"][..] } else { &["e", "a", "and"][..] };
    let (second, end) = amount(tokens, next + 1).filter(|_| tokens.is_one_of(next, is_linked))?;
    let unit = if second.unit == AmountUnit::Number { first.unit } else { second.unit };
    // Numbers alone may be anything: days, years, places.
    if tokens.word(at) == "de" && unit == AmountUnit::Number {
        return None;
    }
    // Of `entre 8 e 10 milhões`, both are millions.
    let scale = if first.scale == 1.0 { second.scale } else { 1.0 };
    let tests = vec![(NumberBound::AtLeast, first.value * scale), (NumberBound::AtMost, second.value)];
    Some(StatedCondition { words: at..end, unit, tests })
}

/// `dy > 10`.
fn signed(tokens: &Tokens<'_>, at: usize) -> Option<StatedCondition> {
    let sign = tokens.gap(at).trim().trim_end_matches("R$").trim();
    let bound = match sign {
        ">" => NumberBound::Above,
        ">=" | "≥" => NumberBound::AtLeast,
        "<" => NumberBound::Below,
        "<=" | "≤" => NumberBound::AtMost,
        _ => return None,
    };
    let (amount, end) = amount(tokens, at)?;
    Some(StatedCondition { words: at..end, unit: amount.unit, tests: vec![(bound, amount.value)] })
}

/// A number with its unit: `R$ 1,5 bi`, `10%`, `300 mil`, `dez reais`.
fn amount(tokens: &Tokens<'_>, at: usize) -> Option<(Amount, usize)> {
    let is_marked = tokens.word(at) == "r" && tokens.gap(at + 1).trim_start().starts_with('$');
    let (value, next) = decimal(tokens, at + usize::from(is_marked))?;
    let (joined, value) = value;
    let (scale, next) = match joined {
        Some(scale) => (scale, next),
        None => scale(tokens.word(next)).map_or((1.0, next), |scale| (scale, next + 1)),
    };
    let next = next + usize::from(scale > 1.0 && tokens.word(next) == "de");
    let (unit, end) = unit(tokens, next, is_marked);
    Some((Amount { value: value * scale, scale, unit }, end))
}

fn unit(tokens: &Tokens<'_>, next: usize, is_marked: bool) -> (AmountUnit, usize) {
    if tokens.gap(next).trim_start().starts_with('%') {
        return (AmountUnit::Percent, next);
    }
    if let Some(end) = tokens.phrase(next, "por cento") {
        return (AmountUnit::Percent, end);
    }
    match tokens.is_one_of(next, &["reais", "real", "conto", "contos", "pila", "pilas"]) {
        true => (AmountUnit::Money, next + 1),
        false if is_marked => (AmountUnit::Money, next),
        false => (AmountUnit::Number, next),
    }
}

/// A number in digits or words, with the scale that is written together with it: `10k`.
fn decimal(tokens: &Tokens<'_>, at: usize) -> Option<((Option<f64>, f64), usize)> {
    let word = tokens.word(at);
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        if word == "zero" {
            return Some(((None, 0.0), at + 1));
        }
        return number(tokens, at).map(|(number, next)| ((None, f64::from(number)), next));
    }
    let mut text = digits.to_owned();
    let mut next = at + 1;
    let is_number = |at: usize| tokens.word(at).bytes().all(|byte| byte.is_ascii_digit()) && at < tokens.len();
    if digits.len() == word.len() {
        while tokens.gap(next) == "." && is_number(next) && tokens.word(next).len() == 3 {
            text.push_str(tokens.word(next));
            next += 1;
        }
        if matches!(tokens.gap(next), "," | ".") && is_number(next) {
            text.push('.');
            text.push_str(tokens.word(next));
            next += 1;
        }
        return Some(((None, text.parse().ok()?), next));
    }
    let scale = scale(word.strip_prefix(digits)?)?;
    Some(((Some(scale), text.parse().ok()?), next))
}

fn scale(word: &str) -> Option<f64> {
    match word {
        "mil" | "k" => Some(1e3),
        "milhao" | "milhoes" | "mi" | "mm" | "milhoes de" => Some(1e6),
        "bilhao" | "bilhoes" | "bi" | "bilhao de" => Some(1e9),
        _ => None,
    }
}
