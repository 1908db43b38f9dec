//! A query, read for one index: which of its terms it looks up, whom and which dates it names, what it asks
//! for.

use std::ops::Range;

use super::speakers::name_print;
use super::{Index, Slot};
use novelo_language::Language;
use novelo_language::analyse::{self, Words, grams};
use novelo_language::dates::{self, Date};

/// How much of a query is read, and how many different words of it are searched for.
const QUERY_WORDS_MAX: usize = 4_096;
const QUERY_TERMS_MAX: usize = 256;
/// A query of no more words than these is also found by its stop words: "who am I" has no others.
const SHORT: usize = 4;
/// A stop word against another word.
const STOP: f32 = 0.1;
/// The name of a speaker, or a part of a date, against another word: who speaks of Bob says it seldom, and
/// who speaks to him often.
const ASIDE: f32 = 0.2;

#[derive(Debug, Default)]
pub struct Reading {
    pub words: Vec<Word>,
    /// Speakers that it names.
    pub speakers: Vec<u16>,
    pub dates: Vec<Date>,
    /// Whether it asks when.
    pub asks_time: bool,
}

/// A word of the query.
#[derive(Debug)]
pub struct Word {
    pub spelled: String,
    /// Terms that are this word, and those that are like it, with how much.
    pub exact: Vec<u32>,
    pub alike: Vec<(u32, f32)>,
    pub grams: Vec<u32>,
    pub is_stop: bool,
    /// Whether it names a speaker or a date: it is first of all matched against these.
    pub is_aside: bool,
}

impl Reading {
    pub fn of(query: &str, index: &Index) -> Self {
        let words = Words::new(query, QUERY_WORDS_MAX);
        let language = Language::detect(&words);
        let mut reading =
            Self { dates: index.dates(query, &words), asks_time: dates::asks_time(&words), ..Self::default() };
        let mut seen: Vec<u64> = Vec::new();
        let (mut stops, mut asides): (Vec<Word>, Vec<Word>) = (Vec::new(), Vec::new());
        let mut scratch = Vec::new();
        for word in words.iter() {
            let named: Vec<u16> = index.speakers.named(name_print(word.folded)).collect();
            let language = language.for_word(word.folded);
            let is_stop = language.is_stop(word.folded);
            let in_date = reading.dates.iter().any(|date| date.range.contains(&word.range.start));
            let is_name = !named.is_empty();
            reading.speakers.extend(named);
            let main = if is_stop { String::new() } else { language.stem(word.folded) };
            let print = if is_stop { analyse::stop_fingerprint(word.folded) } else { analyse::fingerprint(&main) };
            if seen.contains(&print) || seen.len() == QUERY_TERMS_MAX {
                continue;
            }
            seen.push(print);
            let spelled = query.get(word.range.clone()).unwrap_or_default();
            match is_stop {
                true => stops.push(Word::stop(spelled, print, index)),
                false if is_name || in_date => asides.extend(Word::aside(spelled, print, index)),
                false => reading.words.push(Word::new(spelled, word.folded, &main, language, index, &mut scratch)),
            }
        }
        if reading.words.len() <= SHORT {
            reading.words.append(&mut stops);
        }
        reading.words.append(&mut asides);
        reading.speakers.sort_unstable();
        reading.speakers.dedup();
        reading
    }
}

impl Reading {
    /// Whether it names someone or a date, or asks for one.
    pub fn names_any(&self) -> bool {
        !self.speakers.is_empty() || !self.dates.is_empty() || self.asks_time
    }

    /// Whether it names the one who said something.
    pub fn names(&self, slot: &Slot) -> bool {
        slot.speaker.is_some_and(|speaker| self.speakers.contains(&speaker))
    }

    /// How near the time of something lies to the dates it names.
    pub(crate) fn nearness(&self, slot: &Slot) -> f32 {
        slot.day.map_or(0.0, |day| self.dates.iter().map(|date| date.nearness(day)).fold(0.0, f32::max))
    }
}

impl Word {
    fn new(
        spelled: &str,
        folded: &str,
        main: &str,
        main_language: Language,
        index: &Index,
        scratch: &mut Vec<u8>,
    ) -> Self {
        let mut prints = vec![analyse::fingerprint(main)];
        if main_language.is_latin() {
            let others = Language::ALL.into_iter().filter(|other| other.is_latin());
            let others = others.filter(|other| *other != main_language && index.holds(*other));
            prints.extend(others.map(|other| analyse::fingerprint(&other.stem(folded))));
        }
        prints.dedup();
        let grams = grams::trigrams(main);
        let exact = prints.iter().filter_map(|print| index.dictionary.find(*print)).collect();
        let alike = index.dictionary.alike(&grams, &prints, scratch);
        Self { spelled: spelled.to_owned(), exact, alike, grams, is_stop: false, is_aside: false }
    }

    pub fn weight(&self) -> f32 {
        match (self.is_stop, self.is_aside) {
            (true, _) => STOP,
            (_, true) => ASIDE,
            _ => 1.0,
        }
    }

    /// A name or a part of a date, where a passage holds that very word.
    fn aside(spelled: &str, print: u64, index: &Index) -> Option<Self> {
        let exact = vec![index.dictionary.find(print)?];
        let spelled = spelled.to_owned();
        Some(Self { spelled, exact, alike: Vec::new(), grams: Vec::new(), is_stop: false, is_aside: true })
    }

    fn stop(spelled: &str, print: u64, index: &Index) -> Self {
        let exact = index.dictionary.find(print).into_iter().collect();
        Self {
            spelled: spelled.to_owned(),
            exact,
            alike: Vec::new(),
            grams: Vec::new(),
            is_stop: true,
            is_aside: false,
        }
    }
}

impl Index {
    fn holds(&self, language: Language) -> bool {
        self.languages.get(language as usize).is_some_and(|passages| *passages > 0)
    }

    /// Dates are words like others where no passage has a time.
    fn dates(&self, query: &str, words: &Words) -> Vec<Date> {
        if self.timed == 0 { Vec::new() } else { dates::dates(query, words) }
    }
}

/// The query without the names of speakers and without dates, and all of it when nothing else would be left.
pub fn to_embed(query: &str, index: &Index) -> String {
    let words = Words::new(query, QUERY_WORDS_MAX);
    let mut cuts: Vec<Range<usize>> = index.dates(query, &words).into_iter().map(|date| date.range).collect();
    for word in words.iter() {
        if index.speakers.named(name_print(word.folded)).next().is_some() {
            cuts.push(word.range.start..word.range.end + possessive(query.get(word.range.end..)));
        }
    }
    if cuts.is_empty() {
        return query.to_owned();
    }
    cuts.sort_unstable_by_key(|cut| cut.start);
    let mut kept = String::with_capacity(query.len());
    let mut from = 0;
    for cut in cuts {
        kept.push_str(query.get(from..cut.start).unwrap_or_default());
        from = cut.end.max(from);
    }
    kept.push_str(query.get(from..).unwrap_or_default());
    let kept = kept.split_whitespace().collect::<Vec<_>>().join(" ");
    if kept.chars().any(char::is_alphanumeric) { kept } else { query.to_owned() }
}

/// The length of `'s` at the beginning of what follows a name.
fn possessive(rest: Option<&str>) -> usize {
    let rest = rest.unwrap_or_default();
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '’')) else { return 0 };
    let mut after = rest.chars().skip(1);
    let ends = matches!(after.next(), Some('s' | 'S')) && after.next().is_none_or(|c| !c.is_alphanumeric());
    if ends { quote.len_utf8() + 1 } else { 0 }
}
