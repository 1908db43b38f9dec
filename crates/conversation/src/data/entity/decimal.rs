//! Numbers in decimal digits, which are rounded as people round.
//!
//! Owns rounding: half goes away from zero, on the digits that the number is written with, so 2.675 is 2,68.
//! Refuses exponents and everything that is no plain number.

use serde_json::Value;

/// Digits that a number in text may have; the longest float has fewer.
const DIGITS_MAX: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// Each from 0 to 9, more of them than `scale`.
    digits: Vec<u8>,
    /// How many of them stand after the point.
    scale: usize,
}

impl Decimal {
    /// A number, or a text that is one.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Self::parse(text),
            Value::Number(number) if number.is_f64() => Self::parse(&number.as_f64()?.to_string()),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => None,
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, bare) = text.strip_prefix('-').map_or((false, text), |bare| (true, bare));
        let (whole, fraction) = bare.split_once('.').map_or((bare, None), |(whole, rest)| (whole, Some(rest)));
        let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if bare.len() > DIGITS_MAX || !are_digits(whole) || !fraction.is_none_or(are_digits) {
            return None;
        }
        let fraction = fraction.unwrap_or_default();
        let digits = whole.bytes().chain(fraction.bytes()).map(|b| b - b'0').collect();
        Some(Self { is_negative, digits, scale: fraction.len() })
    }

    /// With so many digits after the point.
    pub fn round(mut self, decimals: usize) -> Self {
        let kept = (self.digits.len() + decimals).saturating_sub(self.scale);
        let is_up = self.digits.get(kept).is_some_and(|digit| *digit >= 5);
        self.digits.resize(kept, 0);
        self.scale = decimals;
        if is_up {
            self.step_up();
        }
        self
    }

    fn step_up(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    /// A tenth of it, so many times.
    pub(crate) fn shift(mut self, places: usize) -> Self {
        self.scale += places;
        let missing = (self.scale + 1).saturating_sub(self.digits.len());
        self.digits.splice(0..0, std::iter::repeat_n(0, missing));
        self
    }

    /// How many digits it has before the point; none where that is zero.
    pub(crate) fn whole_digits(&self) -> usize {
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        (self.digits.len() - self.scale).saturating_sub(zeros)
    }

    /// Below zero, and not only by a sign.
    pub(crate) fn is_negative(&self) -> bool {
        self.is_negative && self.digits.iter().any(|digit| *digit != 0)
    }

    /// Its digits without the sign: `1.234,56`, or `1234,56` without a sign between groups.
    pub fn write(&self, group_sign: Option<char>, decimal_point: char, out: &mut String) {
        let whole = self.digits.len() - self.scale;
        let shown = self.whole_digits().max(1);
        let first = whole - shown;
        for (n, digit) in self.digits.iter().enumerate().skip(first) {
            if n == whole {
                out.push(decimal_point);
            } else if n > first && n < whole && (whole - n).is_multiple_of(3) {
                out.extend(group_sign);
            }
            out.push(char::from(b'0' + digit));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(decimal: &Decimal) -> String {
        let mut out = String::from(if decimal.is_negative() { "-" } else { "" });
        decimal.write(Some('.'), ',', &mut out);
        out
    }

    #[test]
    fn half_goes_away_from_zero_on_the_digits_that_are_written() {
        for (value, decimals, expected) in [
            (json!(1234567.891), 2, "1.234.567,89"),
            (json!(2.675), 2, "2,68"),
            (json!(1.005), 2, "1,01"),
            (json!(-2.5), 0, "-3"),
            (json!(0.5), 0, "1"),
            (json!(0.4999), 0, "0"),
            (json!(-0.004), 2, "0,00"),
            (json!(-0.0), 2, "0,00"),
            (json!(999.995), 2, "1.000,00"),
            (json!(0), 2, "0,00"),
            (json!(i64::MIN), 0, "-9.223.372.036.854.775.808"),
            (json!(u64::MAX), 1, "18.446.744.073.709.551.615,0"),
            (json!(1e21), 0, "1.000.000.000.000.000.000.000"),
            (json!(1e-7), 8, "0,00000010"),
            (json!("12.50"), 1, "12,5"),
            (json!("007"), 0, "7"),
        ] {
            assert_eq!(shown(&Decimal::of(&value).unwrap().round(decimals)), expected, "{value}");
        }
    }

    #[test]
    fn what_is_no_plain_number_is_none() {
        for value in
            [json!(""), json!("-"), json!("1."), json!(".5"), json!("1e3"), json!("1,5"), json!("--1"), json!(true)]
        {
            assert_eq!(Decimal::of(&value), None, "{value}");
        }
        assert!(Decimal::parse(&"1".repeat(DIGITS_MAX)).is_some());
        assert!(Decimal::parse(&"1".repeat(DIGITS_MAX + 1)).is_none());
    }

    proptest! {
        #[test]
        fn a_rounded_number_reads_back_as_the_same(mantissa in any::<i64>(), scale in 0_u32..9, decimals in 0_u32..9) {
            let unsigned = format!("{:0>1$}", i128::from(mantissa).abs(), scale as usize + 1);
            let (whole, fraction) = unsigned.split_at(unsigned.len() - scale as usize);
            let sign = if mantissa < 0 { "-" } else { "" };
            let text = if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") };

            let ten = |n: u32| 10_i128.pow(n);
            let expected = match decimals >= scale {
                true => i128::from(mantissa) * ten(decimals - scale),
                false => {
                    let unit = ten(scale - decimals);
                    (i128::from(mantissa) + i128::from(mantissa.signum()) * unit / 2) / unit
                }
            };
            let written = shown(&Decimal::parse(&text).unwrap().round(decimals as usize));
            let read: i128 = written.replace(['.', ','], "").parse().unwrap();
            prop_assert_eq!(read, expected, "{} as {}", text, written);
            let groups: Vec<&str> = written.trim_start_matches('-').split(',').next().unwrap().split('.').collect();
            prop_assert!(groups.iter().skip(1).all(|group| group.len() == 3) && groups[0].len() <= 3, "{}", written);
        }

        #[test]
        fn any_float_is_written(value in any::<f64>(), decimals in 0_usize..9, places in 0_usize..12) {
            if let Some(decimal) = Decimal::of(&Value::from(value)) {
                prop_assert!(!shown(&decimal.shift(places).round(decimals)).is_empty());
            }
        }
    }
}
