//! One text that is searched for subjects.

use super::names::{Likeness, WordPlace};
use super::{FoundSubject, Named, Subject, SubjectKind, Subjects};
use crate::Language;
use crate::analyse::Spelled;
use crate::plan::text::stem;
use crate::window::{holds, is_time_unit};

/// A name of one word that is shorter is an abbreviation of too many things.
const NAME_CHARS_MIN: usize = 4;
/// A word of several, with a slip, stands for the whole name if it is as long.
const SLIPPED_CHARS_MIN: usize = 6;
const TWICE_SLIPPED_CHARS_MIN: usize = 10;
/// A code is written in at most so many pieces.
const CODE_PIECES_MAX: usize = 6;
/// A shorter code of digits alone is read only behind `#` or a word for its kind.
const DIGITS_MIN: usize = 5;
/// Forms of one word differ by fewer characters.
const ENDING_CHARS_MAX: usize = 3;
/// Words of a question that may stand between two words of a name.
const BETWEEN_MAX: usize = 2;

pub(crate) struct Search<'s> {
    pub text: &'s str,
    pub words: &'s [Spelled<'s>],
    pub language: Language,
    pub kinds: &'s [SubjectKind],
    pub known: &'s Subjects,
    /// Words that mean something else.
    pub is_ordinary: &'s dyn Fn(&str) -> bool,
}

/// Words that go along with a name.
#[derive(Debug)]
struct Run {
    name: usize,
    of: usize,
    /// How many words of the question it spans.
    words: usize,
    /// How many of them tell something.
    content: usize,
    is_whole: bool,
    /// Words of the name that were left out between others.
    skipped: usize,
    likeness: Likeness,
    /// Whether a word of it is no ordinary one.
    tells: bool,
}

impl Search<'_> {
    /// Every subject that the text names, and every code that it may mean one by, in order.
    pub(crate) fn run(&self) -> Vec<Named> {
        let mut found: Vec<Named> = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let named = self.code(at).or_else(|| self.name(at)).or_else(|| self.stranger(at)).or_else(|| self.bare(at));
            at = named.as_ref().map_or(at + 1, |it| it.words.end.max(at + 1));
            found.extend(named);
        }
        // A word that several names have is clear beside a subject that is one of them.
        let known: Vec<Subject> = found.iter().filter_map(|named| named.known().cloned()).collect();
        found.retain(|named| match &named.found {
            FoundSubject::OneOf(subjects) => !subjects.iter().any(|one| known.contains(one)),
            _ => true,
        });
        found
    }

    fn subject(&self, at: usize) -> Option<Subject> {
        self.known.known.get(at).cloned()
    }

    /// The subjects at these places: one, or one of several.
    fn found(&self, places: &[usize]) -> Option<FoundSubject> {
        let mut subjects: Vec<Subject> = Vec::with_capacity(places.len());
        for subject in places.iter().filter_map(|at| self.subject(*at)) {
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        match subjects.as_slice() {
            [] => None,
            [one] => Some(FoundSubject::Known(one.clone())),
            _ => Some(FoundSubject::OneOf(subjects)),
        }
    }

    /// `HGLG11`, `HGLG-11`, `HGLG 11`: a code that is known, in one piece or in several.
    fn code(&self, at: usize) -> Option<Named> {
        self.words.get(at).filter(|word| !self.is_part(word))?;
        (1..=CODE_PIECES_MAX).rev().find_map(|count| {
            let joined = self.joined(at, count, true).filter(|joined| self.is_code(at, joined))?;
            let found = self.found(self.known.codes.get(&joined)?)?;
            Some(Named { found, words: at..at + count })
        })
    }

    /// Whether words stand for a code and not for a number or an ordinary word.
    fn is_code(&self, at: usize, joined: &str) -> bool {
        let digits = joined.bytes().filter(u8::is_ascii_digit).count();
        match digits {
            // A name without digits is read as a name.
            0 => self.kinds.iter().any(|kind| kind.fits(joined)) && !(self.is_ordinary)(joined),
            _ if digits < joined.len() => true,
            _ => digits >= DIGITS_MIN || self.is_led_by_kind(at).is_some(),
        }
    }

    /// The kind whose word, or a `#`, stands before a word; the first, where it is not sure.
    fn is_led_by_kind(&self, at: usize) -> Option<usize> {
        let word = self.words.get(at)?;
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        let gap = self.text.get(before.map_or(0, |before| before.range.end)..word.range.start).unwrap_or_default();
        if gap.trim_end().ends_with(['#', '№']) {
            return Some(0);
        }
        let before = before.map(|before| before.folded)?;
        let kind = self.kinds.iter().position(|kind| kind.called.iter().any(|called| called == before));
        kind.or_else(|| holds(self.language.questions().talk.kinds, before).then_some(0))
    }

    /// So many words as one, where nothing but a sign or, if that is allowed, a blank is between them.
    fn joined(&self, at: usize, count: usize, by_blank: bool) -> Option<String> {
        let words = self.words.get(at..at + count)?;
        let first = words.first()?;
        let is_led = by_blank && first.folded.len() > 1 && !self.language.is_stop(first.folded);
        let is_close = |pair: &[Spelled<'_>]| match pair {
            [a, b] => match self.text.get(a.range.end..b.range.start) {
                Some("-" | "‑" | "–" | "/" | "." | ":") => true,
                Some(" ") => is_led,
                _ => false,
            },
            _ => false,
        };
        let is_one = words.windows(2).all(is_close);
        is_one.then(|| words.iter().map(|word| word.folded).collect())
    }

    /// A code that is not known: letters and digits behind them, or what fits a shape. It names something,
    /// and nothing that there is.
    fn stranger(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at).filter(|word| !self.is_part(word))?;
        if let Some(named) = self.cut_code(at, word).or_else(|| self.number_code(at, word)) {
            return Some(named);
        }
        let letters = word.folded.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = word.folded.len() - letters.len();
        let is_code = digits > 0 && letters.chars().count() > 1 && letters.chars().all(char::is_alphabetic);
        let is_word = (self.is_ordinary)(letters) || (self.is_ordinary)(word.folded);
        let kind = self.kinds.iter().position(|kind| kind.fits(word.folded));
        let has_digit = word.folded.bytes().any(|byte| byte.is_ascii_digit());
        if is_word || !(is_code || (kind.is_some() && has_digit)) {
            return None;
        }
        let listed = kind.filter(|kind| self.known.is_without(*kind) && has_digit);
        let found = match listed {
            Some(kind) => FoundSubject::Known(Subject { kind, code: word.folded.to_uppercase() }),
            None => FoundSubject::Stranger(kind.unwrap_or(0)),
        };
        Some(Named { found, words: at..at + 1 })
    }

    /// `HGLG-12`, of which there is only another; `HGLG 12 meses` names the fund and a stretch of time.
    fn cut_code(&self, at: usize, word: &Spelled<'_>) -> Option<Named> {
        let kind_of = |joined: &String| self.kinds.iter().position(|kind| kind.fits(joined));
        let has_digit = |joined: &String| joined.bytes().any(|byte| byte.is_ascii_digit());
        // Letters that codes begin with, and digits, are a code, however many they are.
        let begins = |joined: &String| {
            let letters = joined.trim_end_matches(|c: char| c.is_ascii_digit());
            self.known.letters.get(letters)?.first().and_then(|at| self.subject(*at)).map(|subject| subject.kind)
        };
        let by_signs = (2..=CODE_PIECES_MAX).rev().find_map(|count| {
            let joined = self.joined(at, count, false).filter(has_digit)?;
            Some((kind_of(&joined).or_else(|| begins(&joined))?, count))
        });
        let then = self.words.get(at + 2).map_or("", |then| then.folded);
        let by_blank = || {
            let joined = self.joined(at, 2, true).filter(has_digit)?;
            let is_number = self.words.get(at + 1)?.folded.bytes().all(|byte| byte.is_ascii_digit());
            let is_begun = self.known.letters.contains_key(word.folded);
            let is_time = is_time_unit(then, &self.language.questions().window);
            (is_number && is_begun && !is_time).then_some(())?;
            Some((kind_of(&joined)?, 2))
        };
        let (kind, count) = by_signs.or_else(by_blank).filter(|_| !(self.is_ordinary)(word.folded))?;
        Some(Named { found: FoundSubject::Stranger(kind), words: at..at + count })
    }

    /// `order 999`, where orders have numbers and none has this one.
    fn number_code(&self, at: usize, word: &Spelled<'_>) -> Option<Named> {
        let kind = self.is_led_by_kind(at).filter(|_| word.folded.bytes().all(|byte| byte.is_ascii_digit()))?;
        let is_numbered = |code: &str| code.bytes().all(|byte| byte.is_ascii_digit());
        let fits = self.kinds.get(kind).is_some_and(|kind| kind.shapes.iter().any(|shape| shape.fits(word.folded)));
        let has_numbers = || self.known.known.iter().any(|one| one.kind == kind && is_numbered(&one.code));
        (fits || has_numbers()).then_some(Named { found: FoundSubject::Stranger(kind), words: at..at + 1 })
    }

    /// Another name, whole or some of its words, not where they are ordinary. Where several have them, it is
    /// one of those.
    fn name(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at)?;
        let places = self.known.names.places(word.folded, self.language, self.may_slip(word.folded));
        let runs: Vec<Run> = places.into_iter().filter_map(|place| self.run_of(at, place)).collect();
        let rank =
            |run: &Run| (run.content, run.is_whole, std::cmp::Reverse(run.likeness), std::cmp::Reverse(run.skipped));
        let best = runs.iter().map(rank).max()?;
        let best: Vec<&Run> = runs.iter().filter(|run| rank(run) == best).collect();
        let words = best.iter().map(|run| run.words).max()?;
        let places: Vec<usize> = best.iter().map(|run| run.of).collect();
        Some(Named { found: self.found(&places)?, words: at..at + words })
    }

    /// Whether a word may be a name that is misspelt.
    fn may_slip(&self, folded: &str) -> bool {
        !(self.is_ordinary)(folded) && !self.language.questions().talk.is_chat(folded)
    }

    /// The words from here on that go along with a name from one of its words on.
    fn run_of(&self, at: usize, (name, nth): WordPlace) -> Option<Run> {
        let (numbers, of) = self.known.names.all.get(name)?;
        let names = &self.known.names;
        let is_stop = |number: &u32| names.word(*number).is_none_or(|word| word.is_stop);
        let mut run = Run {
            name,
            of: *of,
            words: 0,
            content: 0,
            is_whole: false,
            skipped: 0,
            likeness: Likeness::Same,
            tells: false,
        };
        let (mut in_name, mut here) = (nth, at);
        let mut longest = 0;
        while let (Some(number), Some(word)) = (numbers.get(in_name), self.words.get(here)) {
            let stem = stem(word.folded, self.language);
            let like = |number: u32| {
                let said = names.word(number).map_or("", |said| &said.folded);
                match (self.language.questions().name_form)(said, word.folded) {
                    Some(true) => Some(Likeness::Same),
                    Some(false) => None,
                    None => names.likeness(number, word.folded, &stem, self.may_slip(word.folded)),
                }
            };
            if let Some(likeness) = like(*number) {
                let said = names.word(*number)?;
                in_name += 1;
                here += 1;
                if said.is_stop && run.content == 0 {
                    continue;
                }
                run.likeness = run.likeness.max(likeness);
                longest = longest.max(said.folded.chars().count());
                if !said.is_stop {
                    run.content += 1;
                    run.words = here - at;
                    let chars_min = if run.content > 1 { NAME_CHARS_MIN - 1 } else { NAME_CHARS_MIN };
                    let is_own = !(self.is_ordinary)(&said.folded) && !(self.is_ordinary)(word.folded);
                    run.tells |= said.folded.chars().count() >= chars_min && is_own;
                }
            } else if run.content > 0 && self.language.is_stop(word.folded) && here < at + run.words + BETWEEN_MAX {
                here += 1;
            } else if let Some(later) = (in_name + 1..numbers.len())
                .find(|later| numbers.get(*later).is_some_and(|it| !is_stop(it) && like(*it).is_some()))
                .filter(|_| run.content > 0)
            {
                run.skipped += numbers.get(in_name..later)?.iter().filter(|number| !is_stop(number)).count();
                in_name = later;
            } else if is_stop(number) && in_name > nth {
                in_name += 1;
            } else {
                break;
            }
        }
        let total = numbers.iter().filter(|number| !is_stop(number)).count();
        run.is_whole = run.content == total && total > 0;
        self.is_said(at, &run, longest).then_some(run)
    }

    /// Whether words are enough to stand for a name.
    fn is_said(&self, at: usize, run: &Run, longest: usize) -> bool {
        let is_written = self.is_written_as_name(at, run.words);
        let is_titled = run.is_whole && run.content > 1 && self.is_written_as_name(at, 1);
        let is_plain = run.is_whole && run.likeness <= Likeness::Stem && (is_written || is_titled);
        if run.content == 0 || !(run.tells || is_plain) {
            return false;
        }
        let is_long = match run.likeness {
            Likeness::Same | Likeness::Stem => true,
            Likeness::OneSlip => longest >= SLIPPED_CHARS_MIN || (run.is_whole && longest > NAME_CHARS_MIN),
            Likeness::TwoSlips => longest >= TWICE_SLIPPED_CHARS_MIN || (run.is_whole && run.content > 1),
        };
        match run.content {
            1 if run.is_whole => is_long,
            // One word of several must be that word, and belong to no longer name.
            1 => {
                let last = at + run.words - 1;
                is_long && self.is_form(last, run) && !self.has_more(last) && self.is_meant_as_name(last)
            }
            _ => true,
        }
    }

    /// Whether a word is one of a name in another form, and no other word of the same stem: `gardening`.
    fn is_form(&self, at: usize, run: &Run) -> bool {
        let (Some(word), Some((numbers, _))) = (self.words.get(at), self.known.names.all.get(run.name)) else {
            return false;
        };
        let stem = stem(word.folded, self.language);
        let lengths = numbers.iter().filter_map(|number| self.known.names.word(*number)).filter(|it| it.stem == stem);
        let is_near = |length: usize| length.abs_diff(word.folded.chars().count()) < ENDING_CHARS_MAX;
        run.likeness != Likeness::Stem || lengths.map(|it| it.folded.chars().count()).any(is_near)
    }

    /// Whether a word is no everyday one, or is written as a name, or stands where a name does: `reviews of
    /// salt`, and not `what is salt`.
    fn is_meant_as_name(&self, at: usize) -> bool {
        let talk = &self.language.questions().talk;
        let folded = |at: usize| self.words.get(at).map_or("", |word| word.folded);
        let grammar = self.language.questions();
        // `Without` is a word of a title, and never that title.
        if grammar.uses(folded(at)) || holds(talk.prepositions, folded(at)) {
            return self.is_written_as_name(at, 1) && self.is_led_by_kind(at).is_some();
        }
        let is_everyday = holds(talk.everyday, folded(at));
        if !is_everyday || self.is_written_as_name(at, 1) || self.is_led_by_kind(at).is_some() {
            return true;
        }
        let lead = (0..at).rev().find(|at| !holds(talk.articles, folded(*at)));
        lead.is_none_or(|lead| holds(talk.name_leads, folded(lead)))
    }

    /// Whether words are in quotes, or begin with capitals where a sentence would not.
    fn is_written_as_name(&self, at: usize, words: usize) -> bool {
        let Some(words) = self.words.get(at..at + words) else { return false };
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return false };
        let before = self.text.get(..first.range.start).unwrap_or_default();
        let after = self.text.get(last.range.end..).unwrap_or_default();
        let is_quoted =
            before.ends_with(['"', '“', '«', '„', '\'', '‘']) && after.starts_with(['"', '”', '»', '“', '\'', '’']);
        let is_capital = |word: &Spelled<'_>| {
            let text = self.text.get(word.range.clone()).unwrap_or_default();
            text.starts_with(char::is_uppercase) || self.language.is_stop(word.folded)
        };
        let begins = before.trim_end().is_empty() || before.trim_end().ends_with(['.', '!', '?']);
        let tells = self.text.contains(char::is_lowercase);
        is_quoted || (!begins && tells && words.iter().all(is_capital)) || words.len() > 2
    }

    /// Whether a word is followed by one that nothing knows, as in the name of something else: `Torre
    /// Eiffel`.
    fn has_more(&self, at: usize) -> bool {
        let (Some(word), Some(next)) = (self.words.get(at), self.words.get(at + 1)) else { return false };
        let is_close = self.text.get(word.range.end..next.range.start) == Some(" ");
        let is_number = next.folded.bytes().all(|byte| byte.is_ascii_digit());
        let is_known = self.language.is_stop(next.folded)
            || (self.is_ordinary)(next.folded)
            || self.language.questions().talk.is_chat(next.folded)
            || self.language.questions().is_time(next.folded);
        is_close && !is_known && !is_number
    }

    /// `HGLG`; an ordinary word only where it is shouted in a text that is not.
    fn bare(&self, at: usize) -> Option<Named> {
        let word = self.words.get(at).filter(|word| !self.is_part(word))?;
        let places = self.known.letters.get(word.folded)?;
        let is_shouted = |text: &str| !text.contains(char::is_lowercase);
        let stands_out = self.text.get(word.range.clone()).is_some_and(is_shouted) && !is_shouted(self.text);
        let is_stop = self.language.is_stop(word.folded);
        let is_meant = if stands_out { !is_stop } else { !(self.is_ordinary)(word.folded) };
        let found = self.found(places).filter(|_| is_meant)?;
        Some(Named { found, words: at..at + 1 })
    }

    /// Whether a word is a piece of a longer one, such as `x_hglg11`.
    fn is_part(&self, word: &Spelled<'_>) -> bool {
        let before = self.text.get(..word.range.start).unwrap_or_default();
        let after = self.text.get(word.range.end..).unwrap_or_default();
        before.ends_with('_') || after.starts_with('_')
    }
}

impl Named {
    pub(crate) fn known(&self) -> Option<&Subject> {
        match &self.found {
            FoundSubject::Known(subject) => Some(subject),
            _ => None,
        }
    }
}
