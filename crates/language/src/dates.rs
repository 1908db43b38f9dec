//! Dates that a question names, and how near a day lies to them.
//!
//! Reads `May 2023`, `8 May, 2023`, `October 13th`, `8 de maio de 2023`, `8 мая 2023 года`, `2023-05-08` and
//! bare years. Refuses what needs a clock: yesterday, last week.

use std::ops::Range;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Language;
use crate::analyse::{Spelled, Words};
use crate::calendar::{Day, civil, days};
use crate::syntax::Calendar;

/// A date as far as it was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Date {
    year: Option<i32>,
    month: Option<i32>,
    day: Option<i32>,
    /// Where the text spells it.
    pub range: Range<usize>,
}

/// What was said this many days after a day or a month may still tell of it.
const DAYS_AFTER: Day = 7;

/// The dates in a text, in order.
pub fn dates(text: &str, words: &Words) -> Vec<Date> {
    let words: Vec<Spelled<'_>> = words.iter().collect();
    let mut found: Vec<Date> = Vec::new();
    for at in 0..words.len() {
        let taken = found.last().map_or(0, |date| date.range.end);
        let date = iso(&words, at).or_else(|| named(text, &words, at)).or_else(|| bare_year(&words, at));
        found.extend(date.filter(|date| date.range.start >= taken));
    }
    found
}

impl Date {
    /// Year, month and day, as far as they were given.
    pub(crate) fn parts(&self) -> [Option<i32>; 3] {
        [self.year, self.month, self.day]
    }

    /// How near a day lies: 1 in the date, less shortly after it, 0 elsewhere. A bare year says little.
    pub fn nearness(&self, day: Day) -> f32 {
        let (year, month, _) = civil(day);
        match (self.month, self.day) {
            (None, _) => {
                if self.year == Some(year) {
                    0.3
                } else {
                    0.0
                }
            }
            (Some(wanted), None) => {
                let year = self.year.unwrap_or(if wanted > month { year - 1 } else { year });
                let (next_year, next) = if wanted == 12 { (year + 1, 1) } else { (year, wanted + 1) };
                within(day, days(year, wanted, 1)..days(next_year, next, 1))
            }
            (Some(wanted), Some(wanted_day)) => {
                let date = days(self.year.unwrap_or(year), wanted, wanted_day);
                within(day, date..date + 1)
            }
        }
    }
}

fn within(day: Day, span: Range<Day>) -> f32 {
    match day {
        _ if span.contains(&day) => 1.0,
        _ if (span.end - 1..span.end + DAYS_AFTER).contains(&day) => 0.5,
        _ => 0.0,
    }
}

fn iso(words: &[Spelled<'_>], at: usize) -> Option<Date> {
    let year = number(words, at).filter(is_year)?;
    let month = number(words, at + 1).filter(|month| (1..=12).contains(month))?;
    let day = number(words, at + 2).filter(|day| (1..=31).contains(day))?;
    let range = words.get(at)?.range.start..words.get(at + 2)?.range.end;
    let tight = range.len() == "2023-05-08".len();
    tight.then_some(Date { year: Some(year), month: Some(month), day: Some(day), range })
}

/// A date with the name of a month: the day before or after it, then the year.
fn named(text: &str, words: &[Spelled<'_>], at: usize) -> Option<Date> {
    let word = words.get(at)?;
    let month = month(word.folded).filter(|_| is_month(text, words, at))?;
    let small = |at: usize| number(words, at).filter(|day| (1..=31).contains(day));
    let before = [1, 2].into_iter().filter_map(|back| at.checked_sub(back));
    let before =
        before.take_while(|from| (*from + 1..at).all(|at| is_of(words, at))).find_map(|at| Some((at, small(at)?)));
    let mut last = at;
    let mut next = at + 1 + usize::from(is_of(words, at + 1));
    let mut day = before.map(|(_, day)| day);
    if let (None, Some(after)) = (day, small(next)) {
        (day, last) = (Some(after), next);
        next = last + 1 + usize::from(is_of(words, last + 1));
    }
    let year = number(words, next).filter(is_year);
    if year.is_some() {
        last = next;
    }
    let first = before.map_or(at, |(from, _)| from);
    Some(Date { year, month: Some(month), day, range: words.get(first)?.range.start..words.get(last)?.range.end })
}

fn bare_year(words: &[Spelled<'_>], at: usize) -> Option<Date> {
    let year = number(words, at).filter(is_year)?;
    Some(Date { year: Some(year), month: None, day: None, range: words.get(at)?.range.clone() })
}

fn number(words: &[Spelled<'_>], at: usize) -> Option<i32> {
    let word = words.get(at)?.folded;
    let endings = calendars().flat_map(|it| it.day_endings.iter());
    let digits = endings.into_iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    if digits.len() > 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) { None } else { digits.parse().ok() }
}

fn is_year(number: &i32) -> bool {
    (1900..2100).contains(number)
}

fn is_of(words: &[Spelled<'_>], at: usize) -> bool {
    words.get(at).is_some_and(|word| CALENDAR.joins.contains(word.folded))
}

/// Some names of months are also common words: they are months only with a capital, and not as the first
/// word.
fn is_month(text: &str, words: &[Spelled<'_>], at: usize) -> bool {
    let Some(word) = words.get(at) else { return false };
    let ambiguous = CALENDAR.ambiguous_months.contains(word.folded);
    let capital = text.get(word.range.clone()).and_then(|it| it.chars().next()).is_some_and(char::is_uppercase);
    !ambiguous || (capital && at > 0)
}

/// The words of all languages for days and months.
struct CalendarWords {
    months: FxHashMap<&'static str, i32>,
    ambiguous_months: FxHashSet<&'static str>,
    joins: FxHashSet<&'static str>,
    time_words: FxHashSet<&'static str>,
    asks_when: FxHashSet<&'static str>,
    asks_which: FxHashSet<&'static str>,
    asked_times: FxHashSet<&'static str>,
}

static CALENDAR: LazyLock<CalendarWords> = LazyLock::new(|| {
    let numbered = calendars().flat_map(|it| it.months.iter().zip(1..));
    let words = |list: fn(&Calendar) -> &'static str| calendars().flat_map(|it| list(it).split_whitespace()).collect();
    CalendarWords {
        months: numbered.flat_map(|(names, month)| names.split(' ').map(move |name| (name, month))).collect(),
        ambiguous_months: words(|it| it.ambiguous_months),
        joins: words(|it| it.joins),
        time_words: words(|it| it.time_words),
        asks_when: words(|it| it.asks_when),
        asks_which: words(|it| it.asks_which),
        asked_times: words(|it| it.asked_times),
    }
});

fn calendars() -> impl Iterator<Item = &'static Calendar> {
    Language::ALL.into_iter().map(|language| &language.grammar().analysis.calendar)
}

/// The number of a month by its folded name.
pub(crate) fn month(word: &str) -> Option<i32> {
    CALENDAR.months.get(word).copied()
}

/// Whether a word is a month or a weekday, or another word that places a story in time.
pub fn tells_time(word: &str) -> bool {
    CALENDAR.time_words.contains(word) || month(word).is_some() || word.parse().is_ok_and(|number| is_year(&number))
}

/// Whether a question asks for a time: by its first words.
pub fn asks_time(words: &Words) -> bool {
    let first: Vec<&str> = words.iter().take(3).map(|word| word.folded).collect();
    let what = first.first().is_some_and(|word| CALENDAR.asks_which.contains(word));
    first.iter().any(|word| CALENDAR.asks_when.contains(word))
        || (what && first.iter().skip(1).any(|word| CALENDAR.asked_times.contains(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<([Option<i32>; 3], &str)> {
        let found = dates(text, &Words::new(text, 100));
        found.into_iter().map(|it| ([it.year, it.month, it.day], &text[it.range])).collect()
    }

    #[track_caller]
    fn check(text: &str, year: i32, month: i32, day: i32, spelled: &str) {
        let given = |number: i32| (number > 0).then_some(number);
        assert_eq!(read(text), [([given(year), given(month), given(day)], spelled)]);
    }

    #[test]
    fn dates_are_read_in_three_languages() {
        check("what did she do on 8 May, 2023?", 2023, 5, 8, "8 May, 2023");
        check("as mentioned on October 13th, 2023", 2023, 10, 13, "October 13th, 2023");
        check("a deal in December?", 0, 12, 0, "December");
        check("the 3rd of June 2022", 2022, 6, 3, "3rd of June 2022");
        check("o que fez em 8 de março de 2023?", 2023, 3, 8, "8 de março de 2023");
        check("что было 8 мая 2023 года", 2023, 5, 8, "8 мая 2023");
        check("since 2023-05-08 or so", 2023, 5, 8, "2023-05-08");
        check("who won in 2021?", 2021, 0, 0, "2021");
    }

    #[test]
    fn words_that_only_look_like_dates_are_none() {
        for text in ["it may rain", "May I ask", "they march on", "room 2500", "99999999999 in 31", ""] {
            assert_eq!(read(text), [], "{text}");
        }
    }

    #[test]
    fn near_is_in_the_date_or_shortly_after() {
        let date = |text: &str| dates(text, &Words::new(text, 10)).remove(0);
        let near = |text: &str, year, month, day| date(text).nearness(days(year, month, day));
        assert_eq!(near("on 8 May 2023", 2023, 5, 8), 1.0);
        assert_eq!(near("on 8 May 2023", 2023, 5, 15), 0.5);
        assert_eq!([near("on 8 May 2023", 2023, 5, 16), near("on 8 May 2023", 2023, 5, 7)], [0.0, 0.0]);
        assert_eq!([near("in May 2023", 2023, 5, 31), near("in May 2023", 2023, 6, 7)], [1.0, 0.5]);
        assert_eq!([near("in December", 2023, 12, 31), near("in December", 2024, 1, 2)], [1.0, 0.5]);
        assert_eq!([near("in 2023", 2023, 1, 1), near("in 2023", 2024, 1, 1)], [0.3, 0.0]);
    }

    #[test]
    fn questions_for_a_time_are_known_by_their_beginning() {
        for text in ["When did she go?", "How long has it been", "Quando ela foi?", "В каком году это было"]
        {
            assert!(asks_time(&Words::new(text, 10)), "{text}");
        }
        for text in ["What did she do", "How does it feel to be there when it rains", "Кто мой друг", ""] {
            assert!(!asks_time(&Words::new(text, 10)), "{text}");
        }
    }
}
