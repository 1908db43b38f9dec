//! Whether the numbers of a narration stay with their rows and columns.
//!
//! A clause that names one row speaks of that row. Where it names several, each number belongs to the one
//! named before it, or, if the clause begins with a number, to the one named after it. A number that
//! follows the name of a column directly is of that column. What is said in other ways is not judged.

use std::ops::Range;

use super::figure::{FigureKind, Figures};
use super::narration::NarrationFacts;
use crate::Language;
use crate::analyse::Words;
use crate::syntax::Class;

/// Longer texts of rows name nothing.
const NAME_WORDS_MAX: usize = 6;
/// Letters of the first word of a name that stands for all of it.
const FIRST_WORD_CHARS_MIN: usize = 4;
/// Words between the name of a column and its value.
const LABEL_WORDS_MAX: usize = 5;

/// A number, and the rows and columns that have it.
#[derive(Debug)]
pub(super) struct Claim {
    pub range: Range<usize>,
    pub places: Vec<(usize, usize)>,
}

/// What a narration names, and where.
pub(super) struct Belonging<'a> {
    facts: &'a NarrationFacts<'a>,
    narrated: &'a Figures<'a>,
    /// By their texts, and by their dates.
    named: [Vec<Mention>; 2],
}

/// Rows that are named at one place.
#[derive(Debug, Clone)]
struct Mention {
    range: Range<usize>,
    rows: Vec<usize>,
}

impl<'a> Belonging<'a> {
    pub fn read(
        facts: &'a NarrationFacts<'a>,
        days: &[([Option<i32>; 3], Option<usize>)],
        narrated: &'a Figures<'a>,
    ) -> Self {
        let named = [names(facts, narrated), dates_named(facts, days, narrated)];
        Self { facts, narrated, named }
    }

    pub fn check(&self, claims: &[Claim]) -> bool {
        let clauses = clauses(self.narrated);
        let of_clause = |clause: &Range<usize>| {
            let claims: Vec<&Claim> = claims.iter().filter(|claim| clause.contains(&claim.range.start)).collect();
            self.named.iter().all(|named| {
                let named = named.iter().filter(|mention| clause.contains(&mention.range.start));
                self.check_rows(&named.cloned().collect::<Vec<_>>(), &claims)
            })
        };
        clauses.iter().all(of_clause) && claims.iter().all(|claim| self.check_column(claim))
    }

    fn check_rows(&self, mentions: &[Mention], claims: &[&Claim]) -> bool {
        if mentions.is_empty() {
            return true;
        }
        let groups = self.groups(mentions, claims);
        let starts_with_value = claims.first().is_some_and(|first| {
            groups.first().is_some_and(|group| group.first().is_some_and(|it| first.range.start < it.range.start))
        });
        let mut of_group: Vec<Vec<&Claim>> = vec![Vec::new(); groups.len()];
        for claim in claims {
            let is_before = |group: &&Vec<Mention>| group.first().is_some_and(|it| it.range.start < claim.range.start);
            let before = groups.iter().filter(is_before).count();
            let owner = match starts_with_value && groups.len() > 1 {
                true => before.min(groups.len() - 1),
                false => before.saturating_sub(1),
            };
            let fits = |group: usize| groups.get(group).is_some_and(|group| group.iter().any(|it| it.has(claim)));
            if fits(owner) {
                of_group.get_mut(owner).into_iter().for_each(|claims| claims.push(claim));
            } else if !(fits(before) && self.is_of_next(claim, groups.get(before))) {
                return false;
            }
        }
        // `A e B têm 1 e 2`: the first has the first.
        groups.iter().zip(&of_group).all(|(group, claims)| {
            group.len() < 2 || group.len() != claims.len() || group.iter().zip(claims).all(|(it, claim)| it.has(claim))
        })
    }

    /// Mentions that no number stands between. A code and a name of the same row are one.
    fn groups(&self, mentions: &[Mention], claims: &[&Claim]) -> Vec<Vec<Mention>> {
        let mut groups: Vec<Vec<Mention>> = Vec::new();
        let mut last_end = 0;
        for mention in mentions {
            let is_parted = claims.iter().any(|it| it.range.start >= last_end && it.range.end <= mention.range.start);
            last_end = mention.range.end;
            match groups.last_mut().filter(|_| !is_parted) {
                None => groups.push(vec![mention.clone()]),
                Some(group) => {
                    let last = group.last_mut().filter(|last| last.rows.iter().any(|row| mention.rows.contains(row)));
                    match last {
                        Some(last) => last.rows.retain(|row| mention.rows.contains(row)),
                        None => group.push(mention.clone()),
                    }
                }
            }
        }
        groups
    }

    /// Whether a preposition joins a number to what is named next: `104 do XPML11`, `980 kg (Blue Wave)`.
    fn is_of_next(&self, claim: &Claim, group: Option<&Vec<Mention>>) -> bool {
        let Some(next) = group.and_then(|group| group.first()) else { return false };
        let between = self.narrated.text.get(claim.range.end..next.range.start).unwrap_or(",");
        let words = self.words(claim.range.end..next.range.start);
        let joins = |word: &str| Language::ALL.into_iter().any(|it| it.lexicon().has(word, Class::AND.or(Class::OR)));
        !between.contains([',', '.', ':', '\n']) && words.iter().all(|word| is_small(word) && !joins(word))
    }

    /// The value after the name of a column is one of that column.
    fn check_column(&self, claim: &Claim) -> bool {
        let words: Vec<usize> = (0..self.narrated.words.len())
            .filter(|at| self.narrated.words.get(*at).is_some_and(|word| word.range.end <= claim.range.start))
            .collect();
        let skipped = |at: usize| {
            let Some(word) = self.narrated.words.get(at) else { return false };
            let is_named = self.named.iter().flatten().any(|mention| mention.range.contains(&word.range.start));
            let is_date = self.narrated.figures.iter().any(|figure| {
                matches!(figure.kind, FigureKind::Day(_) | FigureKind::Code(_))
                    && figure.range.contains(&word.range.start)
            });
            is_named || is_date || is_small(&word.folded)
        };
        for (steps, at) in words.iter().rev().enumerate() {
            let end = self.narrated.words.get(*at).map_or(0, |word| word.range.end);
            let between = self.narrated.text.get(end..claim.range.start).unwrap_or("\n");
            if steps > LABEL_WORDS_MAX || between.contains([',', ';', '\n']) || between.contains(". ") {
                return true;
            }
            let columns = self.columns_ending_at(*at);
            if !columns.is_empty() {
                return claim.places.iter().any(|(_, column)| columns.contains(column));
            }
            if !skipped(*at) {
                return true;
            }
        }
        true
    }

    /// The columns with numbers whose name ends with a word.
    fn columns_ending_at(&self, at: usize) -> Vec<usize> {
        let has_numbers = |column: usize| {
            self.facts.rows.iter().any(|row| row.get(column).is_some_and(|cell| cell.value.is_number()))
        };
        let ends = |text: &&str| {
            let name = text.split('(').next().unwrap_or("");
            let name = Words::new(name, NAME_WORDS_MAX);
            let name: Vec<&str> = name.iter().map(|word| word.folded).collect();
            let from = (at + 1).checked_sub(name.len());
            let said = from.and_then(|from| self.narrated.words.get(from..=at)).unwrap_or(&[]);
            !name.is_empty()
                && said.len() == name.len()
                && said.iter().zip(&name).all(|(word, name)| word.folded == **name)
        };
        let columns = self.facts.columns.iter().enumerate();
        let named = columns.filter(|(_, column)| column.words.iter().any(&ends));
        named.map(|(column, _)| column).filter(|column| has_numbers(*column)).collect()
    }

    fn words(&self, range: Range<usize>) -> Vec<&str> {
        let words = self.narrated.words.iter().filter(|word| range.contains(&word.range.start));
        words.map(|word| word.folded.as_str()).collect()
    }
}

impl Mention {
    fn has(&self, claim: &Claim) -> bool {
        claim.places.iter().any(|(row, _)| self.rows.contains(row))
    }
}

fn is_small(folded: &str) -> bool {
    Language::ALL.into_iter().any(|it| it.is_stop(folded))
}

/// Parts of a text that speak of one thing: sentences, lines, and what `;` separates.
fn clauses(narrated: &Figures<'_>) -> Vec<Range<usize>> {
    let (text, mut from, mut clauses) = (narrated.text, 0, Vec::new());
    let is_inside = |at: usize| narrated.figures.iter().any(|figure| figure.range.contains(&at));
    for (at, c) in text.char_indices() {
        let ends = match c {
            '\n' | ';' => true,
            '.' | '!' | '?' => {
                !is_inside(at)
                    && text.get(at + 1..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
            }
            _ => false,
        };
        if ends {
            clauses.push(from..at + 1);
            from = at + 1;
        }
    }
    clauses.push(from..text.len());
    clauses
}

/// Where texts of the rows stand, if they tell rows apart, and codes of the question that no row has.
fn names(facts: &NarrationFacts<'_>, narrated: &Figures<'_>) -> Vec<Mention> {
    let mut known: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    let fold = |text: &str| Words::new(text, NAME_WORDS_MAX + 1).iter().map(|word| word.folded.to_owned()).collect();
    for (row, cells) in facts.rows.iter().enumerate() {
        for text in cells.iter().filter_map(|cell| cell.value.as_str()) {
            let words: Vec<String> = fold(text);
            let is_date = text.starts_with(|c: char| c.is_ascii_digit());
            if words.is_empty() || words.len() > NAME_WORDS_MAX || is_date || !is_name(text) {
                continue;
            }
            match known.iter_mut().find(|(known, _)| *known == words) {
                Some((_, rows)) => rows.push(row),
                None => known.push((words, vec![row])),
            }
        }
    }
    let has_codes = known.iter().any(|(words, _)| words.iter().any(|word| is_code(word)));
    let first_words: Vec<(Vec<String>, Vec<usize>)> = known
        .iter()
        .filter_map(|(words, rows)| {
            let first = words.first().filter(|word| words.len() > 1 && word.chars().count() >= FIRST_WORD_CHARS_MIN)?;
            let is_only = known.iter().filter(|(other, _)| other.contains(first)).count() == 1;
            is_only.then(|| (vec![first.clone()], rows.clone()))
        })
        .collect();
    known.extend(first_words);
    let question: Vec<String> =
        Words::new(facts.question, usize::MAX).iter().map(|word| word.folded.to_owned()).collect();
    let labels: Vec<String> =
        facts.columns.iter().flat_map(|column| column.words.iter()).flat_map(|text| fold(text)).collect();
    for code in question.into_iter().filter(|word| has_codes && is_code(word) && !labels.contains(word)) {
        if !known.iter().any(|(words, _)| words.contains(&code)) {
            known.push((vec![code], Vec::new()));
        }
    }
    known.retain(|(_, rows)| rows.len() < facts.rows.len() || rows.is_empty());
    let mut found = Vec::new();
    let mut at = 0;
    while at < narrated.words.len() {
        let said = |words: &[String]| {
            narrated
                .words
                .get(at..at + words.len())
                .is_some_and(|said| said.iter().zip(words).all(|(a, b)| a.folded == *b))
        };
        let longest = known.iter().filter(|(words, _)| said(words)).max_by_key(|(words, _)| words.len());
        let start = narrated.words.get(at).map_or(0, |word| word.range.start);
        match longest.filter(|_| is_name(narrated.text.get(start..).unwrap_or(""))) {
            Some((words, rows)) => {
                let end = narrated.words.get(at + words.len() - 1).map_or(start, |word| word.range.end);
                found.push(Mention { range: start..end, rows: rows.clone() });
                at += words.len();
            }
            None => at += 1,
        }
    }
    found
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
}

fn is_code(folded: &str) -> bool {
    folded.contains(|c: char| c.is_ascii_digit()) && folded.starts_with(char::is_alphabetic)
}

/// Where dates of some rows stand.
fn dates_named(
    facts: &NarrationFacts<'_>,
    days: &[([Option<i32>; 3], Option<usize>)],
    narrated: &Figures<'_>,
) -> Vec<Mention> {
    let mention = |range: &Range<usize>, said: &[[Option<i32>; 3]]| {
        let is = |known: &[Option<i32>; 3]| {
            said.iter().any(|said| said.iter().zip(known).all(|(said, known)| said.is_none() || said == known))
        };
        let mut rows: Vec<usize> = days.iter().filter(|(known, _)| is(known)).filter_map(|(_, row)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        (!rows.is_empty() && rows.len() < facts.rows.len()).then(|| Mention { range: range.clone(), rows })
    };
    let dated = narrated.figures.iter().filter_map(|figure| match &figure.kind {
        FigureKind::Day(said) => mention(&figure.range, said),
        _ => None,
    });
    dated.collect()
}
