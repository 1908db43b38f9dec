//! How values are written for people, in the way of a locale.

use novelo_engine::decode::nearest;
use novelo_language::{Language, Locale};
use serde_json::Value;

use super::decimal::Decimal;

/// What stands for nothing.
pub(crate) const NOTHING: &str = "—";

/// Digits after the point that a format may have.
const DECIMALS_MAX: u8 = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    Integer,
    Number(u8),
    Percent(u8),
    Money,
    MoneyShort,
    Date,
    Month,
    YesNo,
}

const NAMES: [&str; 9] = ["text", "integer", "number", "percent", "money", "money_short", "date", "month", "yes_no"];

impl Format {
    /// From its name: `number`, or `number:4`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, decimals) = text.split_once(':').map_or((text, None), |(name, decimals)| (name, Some(decimals)));
        let places = match decimals.map(str::parse) {
            None => 2,
            Some(Ok(places)) if places <= DECIMALS_MAX && matches!(name, "number" | "percent") => places,
            Some(_) => {
                return Err(format!("{text} is no format: only number and percent take 0 to {DECIMALS_MAX} digits"));
            }
        };
        match name {
            "text" => Ok(Self::Text),
            "integer" => Ok(Self::Integer),
            "number" => Ok(Self::Number(places)),
            "percent" => Ok(Self::Percent(places)),
            "money" => Ok(Self::Money),
            "money_short" => Ok(Self::MoneyShort),
            "date" => Ok(Self::Date),
            "month" => Ok(Self::Month),
            "yes_no" => Ok(Self::YesNo),
            _ => Err(unknown(name)),
        }
    }

    /// Whether values of it stand at the right of a table's column.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Number(_) | Self::Percent(_) | Self::Money | Self::MoneyShort)
    }

    /// The value as text. One that the format is not for is written as it is.
    pub fn write(self, value: &Value, manner: &Writing, out: &mut String) {
        if value.is_null() {
            return out.push_str(NOTHING);
        }
        let written = match self {
            Self::Text => None,
            Self::Date => value.as_str().and_then(|text| write_day(text, manner.locale, out)),
            Self::Month => value.as_str().and_then(|text| write_month(text, manner.locale, out)),
            Self::YesNo => {
                is_yes(value).map(|is_yes| out.push_str(if is_yes { manner.locale.yes } else { manner.locale.no }))
            }
            _ => Decimal::of(value).map(|number| self.write_number(number, manner, out)),
        };
        if written.is_none() {
            write_plain(value, manner.locale, out);
        }
    }

    /// The value as a text of its own.
    pub fn written(self, value: &Value, manner: &Writing) -> String {
        let mut written = String::new();
        self.write(value, manner, &mut written);
        written
    }

    fn write_number(self, number: Decimal, manner: &Writing, out: &mut String) {
        let locale = manner.locale;
        match self {
            Self::Number(decimals) => write_signed(&number.round(decimals.into()), locale, out),
            Self::Percent(decimals) => {
                write_signed(&number.round(decimals.into()), locale, out);
                out.push_str(locale.percent);
            }
            Self::Money => manner.write_amount(&number.round(2), "", out),
            Self::MoneyShort => write_short(number, manner, out),
            _ => write_signed(&number.round(0), locale, out),
        }
    }
}

/// The locale and the currency that values are written in.
#[derive(Debug, Clone)]
pub struct Writing {
    pub language: Language,
    locale: &'static Locale,
    currency: String,
}

impl Writing {
    /// The currency is that of the locale, where none is given.
    pub fn new(language: Language, currency: Option<&str>) -> Self {
        let locale = language.locale();
        Self { language, locale, currency: currency.unwrap_or(locale.currency).to_owned() }
    }

    fn write_amount(&self, amount: &Decimal, scale: &str, out: &mut String) {
        if amount.is_negative() {
            out.push('-');
        }
        if self.locale.is_currency_first {
            out.push_str(&self.currency);
        }
        amount.write(Some(self.locale.group_sign), self.locale.decimal_point, out);
        out.push_str(scale);
        if !self.locale.is_currency_first {
            out.push_str(&self.currency);
        }
    }
}

fn unknown(name: &str) -> String {
    match nearest(name, &NAMES) {
        Some(near) => format!("{name} is no format; did you mean {near}?"),
        None => format!("{name} is no format; there are {}", NAMES.join(", ")),
    }
}

fn write_signed(number: &Decimal, locale: &Locale, out: &mut String) {
    if number.is_negative() {
        out.push('-');
    }
    number.write(Some(locale.group_sign), locale.decimal_point, out);
}

/// In thousands, millions or milliards: the least of them in which it has at most three digits before the
/// point once it is rounded, so that 999 950 000 is 1,0 bi and not 1.000,0 mi.
fn write_short(amount: Decimal, manner: &Writing, out: &mut String) {
    let plain = amount.clone().round(2);
    if plain.whole_digits() <= 3 {
        return manner.write_amount(&plain, "", out);
    }
    let scales = manner.locale.scales;
    for (n, (places, name)) in scales.into_iter().enumerate() {
        let scaled = amount.clone().shift(places).round(1);
        if scaled.whole_digits() <= 3 || n + 1 == scales.len() {
            return manner.write_amount(&scaled, &format!(" {name}"), out);
        }
    }
}

fn write_day(text: &str, locale: &Locale, out: &mut String) -> Option<()> {
    let (year, month, day) = iso_day(text)?;
    out.push_str(&(locale.day)(year, month, day));
    Some(())
}

/// Of a day, or of a month such as `2025-01`.
fn write_month(text: &str, locale: &Locale, out: &mut String) -> Option<()> {
    let (year, month) = iso_day(text).map(|(year, month, _)| (year, month)).or_else(|| iso_month(text))?;
    let number: usize = month.parse().ok()?;
    out.extend([*locale.short_months.get(number.checked_sub(1)?)?, locale.month_joint, year]);
    Some(())
}

/// Year, month and day of a day that there is, as `2025-01-31`.
fn iso_day(text: &str) -> Option<(&str, &str, &str)> {
    let (rest, day) = text.rsplit_once('-')?;
    let (year, month) = iso_month(rest)?;
    let number = digits(day, 2)?;
    let is_leap = digits(year, 4).is_some_and(|y| y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));
    let days = match month {
        "02" => 28 + u32::from(is_leap),
        "04" | "06" | "09" | "11" => 30,
        _ => 31,
    };
    (1..=days).contains(&number).then_some((year, month, day))
}

fn iso_month(text: &str) -> Option<(&str, &str)> {
    let (year, month) = text.split_once('-')?;
    digits(year, 4)?;
    (1..=12).contains(&digits(month, 2)?).then_some((year, month))
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let are_digits = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    if are_digits { text.parse().ok() } else { None }
}

fn is_yes(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(is_so) => Some(*is_so),
        Value::Number(number) => Some(number.as_f64()? != 0.0),
        _ => None,
    }
}

/// A number without groups, since nothing says that it counts something; all else as it is.
fn write_plain(value: &Value, locale: &Locale, out: &mut String) {
    match (value, Decimal::of(value)) {
        (Value::String(text), _) => out.push_str(text),
        (_, Some(number)) => {
            out.push_str(if number.is_negative() { "-" } else { "" });
            number.write(None, locale.decimal_point, out);
        }
        (other, None) => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
