//! Fingerprints of JSON by its meaning.
//!
//! Pure. Blanks, the order of members and the spelling of strings and numbers do not count: `1`, `1.0` and
//! `1e0` are one number. Numbers are compared as decimals, so that long ones stay apart; as doubles only
//! where that is asked for. Refuses what is not JSON, and what nests deeper than `DEPTH_MAX`.

use std::borrow::Cow;

use novelo_engine::json::{depth, elements, members, unescape};
use serde::de::IgnoredAny;

use crate::trace::fingerprint;

/// Deeper than tools nest their arguments; each level is read once more.
const DEPTH_MAX: usize = 64;

/// Whether a member that is null is the same as a missing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    Count,
    AreMissing,
}

/// Which numbers are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Decimals,
    Doubles,
}

/// The fingerprint of a JSON text.
pub(crate) fn json_fingerprint(text: &str, nulls: Nulls) -> Option<u128> {
    Walk { nulls, numbers: Numbers::Decimals }.text(text)
}

/// The same with numbers as a reader sees them that has only doubles.
pub(crate) fn fingerprint_of_doubles(text: &str) -> Option<u128> {
    Walk { nulls: Nulls::Count, numbers: Numbers::Doubles }.text(text)
}

#[derive(Clone, Copy)]
struct Walk {
    nulls: Nulls,
    numbers: Numbers,
}

impl Walk {
    fn text(self, text: &str) -> Option<u128> {
        let text = text.trim();
        serde_json::from_str::<IgnoredAny>(text).ok()?;
        if depth(text) > DEPTH_MAX { None } else { self.value(text) }
    }

    /// Of JSON that is valid and not too deep; `None` where a string cannot be read, as with half of a
    /// surrogate pair.
    fn value(self, text: &str) -> Option<u128> {
        match text.as_bytes().first()? {
            b'{' => self.object(text),
            b'[' => {
                let items = elements(text).map(|item| self.value(item.slice(text))).collect::<Option<Vec<_>>>()?;
                Some(fingerprint(&("array", items)))
            }
            b'"' => Some(fingerprint(&("string", unescape(text)?))),
            b'-' | b'0'..=b'9' if self.numbers == Numbers::Doubles => {
                Some(fingerprint(&("double", (text.parse::<f64>().ok()? + 0.0).to_bits())))
            }
            b'-' | b'0'..=b'9' => Some(fingerprint(&("number", decimal(text)))),
            _ => Some(fingerprint(&("word", text))),
        }
    }

    fn object(self, text: &str) -> Option<u128> {
        let mut known: Vec<(Cow<'_, str>, Option<u128>)> = Vec::new();
        for (name, of) in members(text) {
            let of = of.slice(text);
            let is_missing = of == "null" && self.nulls == Nulls::AreMissing;
            known.push((unescape(name.slice(text))?, if is_missing { None } else { Some(self.value(of)?) }));
        }
        // Of a member that stands twice the last one counts, as most readers have it.
        known.reverse();
        known.sort_by(|a, b| a.0.cmp(&b.0));
        known.dedup_by(|earlier, last| earlier.0 == last.0);
        known.retain(|(_, of)| of.is_some());
        Some(fingerprint(&("object", known)))
    }
}

/// A number as its sign, its digits without zeros at the ends, and the power of ten of the last digit. An
/// exponent of more digits than any number has is left as it is spelt.
fn decimal(text: &str) -> (bool, String, Result<i64, String>) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (is_negative, unsigned) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = format!("{whole}{fraction}");
    let front = digits.trim_start_matches('0');
    let kept = front.trim_end_matches('0');
    if kept.is_empty() {
        return (false, String::new(), Ok(0));
    }
    let dropped = (front.len() - kept.len()) as i64;
    let power = exponent.parse::<i64>().ok().and_then(|power| power.checked_add(dropped - fraction.len() as i64));
    (is_negative, kept.to_owned(), power.ok_or_else(|| exponent.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: bool) {
        let (a_print, b_print) = (json_fingerprint(a, Nulls::Count), json_fingerprint(b, Nulls::Count));
        assert!(a_print.is_some() && b_print.is_some(), "{a} {b}");
        assert_eq!(a_print == b_print, expected, "{a} {b}");
    }

    #[test]
    fn spelling_does_not_count() {
        check(r#"{"a":1,"b":[true,null]}"#, " { \"b\" : [ true , null ],\n\"a\" : 1 } ", true);
        check(r#"{"city":"S\u00e3o Paulo"}"#, r#"{"city":"São Paulo"}"#, true);
        check(r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true);
        check(r#"["a","b"]"#, r#"["b","a"]"#, false);
        check(r#"{"a":null}"#, "{}", false);
        check(r#""1""#, "1", false);
        check(r#"{"a":{"b":1}}"#, r#"{"a":{"b":2}}"#, false);
        check("[[1],2]", "[[1,2]]", false);
        let (null, none) = (r#"{"a":null,"b":[{"c":null}]}"#, r#"{"b":[{}]}"#);
        assert_eq!(json_fingerprint(null, Nulls::AreMissing), json_fingerprint(none, Nulls::AreMissing));
    }

    #[test]
    fn numbers_are_compared_as_decimals() {
        for same in [["1", "1.0"], ["1", "1e0"], ["100", "1E+2"], ["0.10", "1e-1"], ["-0", "0"], ["0e5", "0.00"]] {
            check(same[0], same[1], true);
        }
        for other in [
            ["9007199254740993", "9007199254740992"],
            ["0.1", "0.1000000000000000055511151231257827"],
            ["123456789012345678901234567890", "123456789012345678901234567891"],
            ["1e400", "1e401"],
            ["1e99999999999999999999", "1e99999999999999999998"],
            ["1", "-1"],
            ["1", "10"],
            ["0.1", "0.01"],
        ] {
            check(other[0], other[1], false);
        }
    }

    #[test]
    fn doubles_are_coarser() {
        let same = |a: &str, b: &str| fingerprint_of_doubles(a) == fingerprint_of_doubles(b);
        assert!(same(r#"{"n":12345678901234567890}"#, r#"{ "n": 12345678901234567000 }"#));
        assert!(same("-0", "0.0") && !same("1", "1.5") && !same("[1]", "[1,1]"));
    }

    #[test]
    fn what_cannot_be_read_has_none() {
        let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        for text in ["", "{", "{'a': 1}", "NaN", "1 2", r#""\ud800""#, &deep(DEPTH_MAX + 1), &deep(200_000)] {
            assert_eq!(json_fingerprint(text, Nulls::Count), None, "{:.20}", text);
        }
        assert!(json_fingerprint(&deep(DEPTH_MAX), Nulls::Count).is_some());
    }
}
