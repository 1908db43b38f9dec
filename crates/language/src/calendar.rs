//! Days since 1970 and the dates of the Gregorian calendar.

/// A day, counted from 1970.
pub type Day = i32;

/// The day of a time in seconds.
pub fn day(seconds: f64) -> Option<Day> {
    let day = (seconds / 86_400.0).floor();
    (day.abs() < 1e7).then_some(day as Day)
}

/// The day of a date such as `2024-12-31`.
pub fn iso_day(text: &str) -> Option<Day> {
    let mut parts = text.get(..10)?.splitn(3, '-').map(|part| part.parse::<i32>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let at = days(year, month, day);
    (civil(at) == (year, month, day)).then_some(at)
}

/// The seconds since 1970 of a date or a time in UTC or with an offset: `2026-11-16`, `2026-11-16T09:05:00Z`,
/// `2026-11-16T09:05+01:00`.
pub fn iso_seconds(text: &str) -> Option<f64> {
    let midnight = f64::from(iso_day(text)?) * 86_400.0;
    let Some(time) = text.get(10..).filter(|time| !time.is_empty()) else { return Some(midnight) };
    let time = time.strip_prefix(['T', 't', ' '])?;
    let (clock, offset) = match time.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0.0),
        None => {
            let (clock, offset) = time.split_at_checked(time.rfind(['+', '-'])?)?;
            let sign = if offset.starts_with('-') { -1.0 } else { 1.0 };
            (clock, sign * clock_seconds(offset.get(1..)?)?)
        }
    };
    Some(midnight + clock_seconds(clock)? - offset)
}

/// The seconds of `09:05` or `09:05:07.5`.
fn clock_seconds(text: &str) -> Option<f64> {
    let mut parts = text.splitn(3, ':');
    let mut whole = |most: f64| {
        let part = parts.next()?;
        let is_digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<f64>().ok().filter(|number| is_digits && *number < most)
    };
    let (hours, minutes) = (whole(24.0)?, whole(60.0)?);
    let seconds = match parts.next() {
        Some(part) if part.starts_with(|c: char| c.is_ascii_digit()) => part.parse::<f64>().ok()?,
        Some(_) => return None,
        None => 0.0,
    };
    (0.0..61.0).contains(&seconds).then_some(hours * 3_600.0 + minutes * 60.0 + seconds)
}

/// The day of a time in UTC, as `2026-11-16`; empty for a time of no calendar.
pub fn iso_date(seconds: f64) -> String {
    let shown = |(year, month, day)| format!("{year:04}-{month:02}-{day:02}");
    day(seconds).map(civil).map(shown).unwrap_or_default()
}

/// A time in UTC to the minute, as `2026-11-16 09:05 UTC`; empty for a time of no calendar.
pub fn utc_minute(seconds: f64) -> String {
    let date = iso_date(seconds);
    let minutes = (seconds.rem_euclid(86_400.0) / 60.0) as u32;
    let time = || format!("{date} {:02}:{:02} UTC", minutes / 60, minutes % 60);
    if date.is_empty() { String::new() } else { time() }
}

/// Days since 1970 in the Gregorian calendar, whose years begin in March here, so that the leap day is the
/// last.
pub fn days(year: i32, month: i32, day: i32) -> Day {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

/// Year, month and day of a day since 1970: the other way round, by eras of 400 years.
pub(crate) fn civil(day: Day) -> (i32, i32, i32) {
    const ERA: i32 = 146_097;
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(ERA), day.rem_euclid(ERA));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + i32::from(month <= 2), month, of_year - (153 * from_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_offset() {
        for (text, expected) in [
            ("1970-01-02", Some(86_400.0)),
            ("1970-01-01T01:00:00Z", Some(3_600.0)),
            ("1970-01-01T01:00+01:00", Some(0.0)),
            ("1970-01-01 00:00:01.5Z", Some(1.5)),
            ("1970-01-01T01:00", None),
            ("1970-01-01T25:00Z", None),
            ("1970-13-01", None),
            ("1970-01-01T1:00Z", None),
            ("yesterday", None),
        ] {
            assert_eq!(iso_seconds(text), expected, "{text}");
        }
    }

    #[test]
    fn the_calendar_turns_both_ways() {
        for day in (-1_000_000..1_000_000).step_by(97) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
        }
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!([iso_date(951_782_400.0), iso_date(1_794_787_200.0)], ["2000-02-29", "2026-11-16"]);
        assert_eq!(iso_date(f64::NAN), "");
        assert_eq!([f64::NAN, 1e300].map(utc_minute), ["", ""]);
        assert_eq!(utc_minute(-1.0), "1969-12-31 23:59 UTC");
        assert_eq!(utc_minute(1_794_787_200.0 + 32_759.9), "2026-11-16 09:05 UTC");
        assert_eq!(days(2024, 2, 29), 19_782);
    }
}
