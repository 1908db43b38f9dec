//! A summary without a model: who said what, and when, from the whole of a conversation.
//!
//! Owns the choice: common topics, names, numbers, times, decisions and facts of the speakers speak for a
//! sentence. Fragments, thanks, code and what leans on another sentence speak against it, and what was chosen
//! already too. Every part of the conversation is heard. Writes nothing of its own but dates and names; the
//! same input gives the same summary.

use rustc_hash::FxHashMap;

use novelo_language::content::sentences as sentences_of;
use novelo_language::iso_day;
use novelo_language::remark::{Opening, Remark};

/// A longer sentence is cut.
const SENTENCE_CHARS_MAX: usize = 220;
/// The same for one that states a goal, a rule or a limit, where it is to stay word for word.
const RULE_CHARS_MAX: usize = 600;
/// Parts of the conversation, and the share of its worth that a sentence keeps for each that was chosen from
/// its part.
const PARTS: usize = 10;
const SAME_PART: f32 = 0.5;
/// Sentences of a part that are compared with each other.
const PART_SENTENCES_MAX: usize = 48;
/// How much likeness to what is chosen counts against a sentence, and from where on it repeats it.
const REDUNDANCY: f32 = 0.9;
const REPEATS: f32 = 0.8;
/// A word is worth at most this: what was said just once is not worth more than a topic.
const WORD_MAX: f32 = 4.0;
/// What counts for a sentence beside its words, each up to a number of times.
const NAME: (f32, usize) = (1.0, 3);
const NUMBER: (f32, usize) = (1.2, 3);
const TIME: (f32, usize) = (1.2, 2);
const FACT: (f32, usize) = (1.5, 2);
const OWN: f32 = 0.8;
/// How many times as much a sentence is worth that states a goal, a rule or a limit.
const RULE: f32 = 3.0;
/// The share of its worth that a sentence keeps.
const ASSISTANT: f32 = 0.35;
const PRONOUN: f32 = 0.45;
const CONTINUES: f32 = 0.7;
const FILLER: f32 = 0.4;
const EXCLAIMS: f32 = 0.8;
const QUESTION: f32 = 0.25;
const FRAGMENT: f32 = 0.15;
const LEANS: f32 = 0.55;
const YOURS: f32 = 0.5;
const LONG: f32 = 0.8;
/// A shorter line is weighed as if it had so many characters: talk is short, and tells little.
const COST_MIN: usize = 90;
/// A sentence that is worth less than this share of the best one does not fill room that is left.
const WORTH_MIN: f32 = 0.15;

/// One turn.
#[derive(Debug, Clone, Copy)]
pub struct DatedTurn<'a> {
    pub speaker: &'a str,
    pub text: &'a str,
    /// The day it was said on, as `2024-12-31`; empty if that is not known.
    pub date: &'a str,
}

/// A summary of turns that are not looked at again.
#[derive(Debug, Clone, Copy, Default)]
pub struct EarlierSummary<'a> {
    pub text: &'a str,
    pub turns: usize,
}

/// A summary of a conversation, of at most so many characters: one line per sentence, with its date and
/// speaker, in the order they were said.
pub fn summarise(earlier: EarlierSummary<'_>, said: &[DatedTurn<'_>], chars_max: usize) -> String {
    Extract::read(earlier, said, Emphasis::Story).text(chars_max)
}

/// What a text is extracted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emphasis {
    /// To tell a conversation in a few sentences.
    Story,
    /// To stand in for turns: goals, rules and facts, each word for word.
    Facts,
}

/// The sentences of turns, read and weighed once, for texts of any length.
#[derive(Debug)]
pub struct Extract<'a> {
    candidates: Vec<Candidate<'a>>,
    emphasis: Emphasis,
}

impl<'a> Extract<'a> {
    pub fn read(earlier: EarlierSummary<'a>, said: &[DatedTurn<'a>], emphasis: Emphasis) -> Self {
        let mut candidates = Vec::new();
        let lines: Vec<&str> = earlier.text.lines().filter(|line| !line.trim().is_empty()).collect();
        for (n, line) in lines.iter().enumerate() {
            collect(&mut candidates, n * earlier.turns / lines.len(), split_line(line), true, emphasis);
        }
        let last_speaker = said.last().map(|turn| turn.speaker);
        let last_others = said.iter().rposition(|turn| Some(turn.speaker) != last_speaker);
        for (n, turn) in said.iter().enumerate() {
            let is_answered = match Some(turn.speaker) == last_speaker {
                true => last_others.is_some_and(|at| at > n),
                false => true,
            };
            let from = candidates.len();
            collect(&mut candidates, earlier.turns + n, *turn, false, emphasis);
            if is_answered {
                candidates.iter_mut().skip(from).for_each(|it: &mut Candidate<'_>| it.is_answered = true);
            }
        }
        weigh(&mut candidates, earlier.turns + said.len(), emphasis);
        Self { candidates, emphasis }
    }

    /// The best of them, in at most so many characters.
    pub fn text(&self, chars_max: usize) -> String {
        write(&self.candidates, &choose(&self.candidates, chars_max, self.emphasis), chars_max)
    }
}

#[derive(Debug)]
struct Candidate<'a> {
    turn: usize,
    speaker: &'a str,
    date: &'a str,
    text: String,
    remark: Remark,
    is_cut: bool,
    /// A question that somebody spoke after.
    is_answered: bool,
    part: usize,
    /// By its length.
    worth: f32,
}

impl Candidate<'_> {
    fn line(&self) -> String {
        let front = [self.date, self.speaker].iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ");
        if self.speaker.is_empty() {
            format!("{front} {}", self.text).trim().to_owned()
        } else {
            format!("{front}: {}", self.text)
        }
    }

    /// The characters of its line.
    fn cost(&self) -> usize {
        let front = [self.date, self.speaker].iter().map(|it| it.chars().count() + 1).sum::<usize>();
        front + self.text.chars().count() + 2
    }
}

/// A line of a summary into when, who and what. A long or many-worded beginning is no name.
fn split_line(line: &str) -> DatedTurn<'_> {
    let line = line.trim();
    let is_dated = iso_day(line).is_some() && line.get(10..11).is_none_or(|next| next == " ");
    let (date, rest) = if is_dated { line.split_at(10) } else { ("", line) };
    let rest = rest.trim_start();
    let parts =
        rest.split_once(": ").filter(|(speaker, _)| speaker.len() <= 40 && !speaker.contains(['.', '?', '!', ',']));
    let (speaker, text) = parts.unwrap_or(("", rest));
    DatedTurn { speaker: speaker.trim(), text: text.trim(), date }
}

/// Adds the sentences of a turn. What stands in code, tables and headings is none.
fn collect<'a>(
    candidates: &mut Vec<Candidate<'a>>,
    turn: usize,
    said: DatedTurn<'a>,
    is_earlier: bool,
    emphasis: Emphasis,
) {
    let mut is_fenced = false;
    for line in said.text.lines().map(str::trim) {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if is_fenced || line.starts_with(['#', '|', '<']) {
            continue;
        }
        let line = line.trim_start_matches(['-', '*', '•', '+', '>', ' ']).replace("**", "");
        for text in sentences_of(&line) {
            let remark = Remark::read(text);
            if (remark.is_code && !is_earlier) || remark.stems.is_empty() && text.chars().count() < 3 {
                continue;
            }
            let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let chars_max =
                if emphasis == Emphasis::Facts && remark.binds { RULE_CHARS_MAX } else { SENTENCE_CHARS_MAX };
            let text = cut(&whole, chars_max);
            let is_cut = text != whole;
            let (speaker, date) = (said.speaker, said.date);
            let candidate =
                Candidate { turn, speaker, date, text, remark, is_cut, is_answered: false, part: 0, worth: 0.0 };
            candidates.push(candidate);
        }
    }
}

/// What its words and what it tells are worth, by its length.
fn weigh(candidates: &mut [Candidate<'_>], turns: usize, emphasis: Emphasis) {
    let mut holders: FxHashMap<u64, u32> = FxHashMap::default();
    for stem in candidates.iter().flat_map(|it| &it.remark.stems) {
        *holders.entry(*stem).or_default() += 1;
    }
    let all = candidates.len() as f32;
    for candidate in candidates {
        let remark = &candidate.remark;
        let rarity = |stem: &u64| (1.0 + all / holders.get(stem).copied().unwrap_or(1) as f32).ln().min(WORD_MAX);
        let told = [(NAME, remark.names), (NUMBER, remark.numbers), (TIME, remark.times), (FACT, remark.facts)];
        let told: f32 = told.iter().map(|((each, most), count)| each * (*count).min(*most) as f32).sum();
        let own = if remark.is_own { OWN } else { 0.0 };
        let sum = remark.stems.iter().map(rarity).sum::<f32>() + told + own;
        let rule = if emphasis == Emphasis::Facts && remark.binds && !remark.asks { RULE } else { 1.0 };
        candidate.worth = sum * rule * share(candidate) / candidate.cost().max(COST_MIN) as f32;
        candidate.part = candidate.turn * PARTS / turns.max(1);
    }
}

fn share(candidate: &Candidate<'_>) -> f32 {
    let remark = &candidate.remark;
    let opening = match remark.opening {
        Opening::Plain => 1.0,
        Opening::Pronoun => PRONOUN,
        Opening::Continues => CONTINUES,
        Opening::Filler => FILLER,
    };
    let is_assistant = matches!(candidate.speaker, "assistant" | "system" | "developer" | "tool");
    let shares = [
        (is_assistant, ASSISTANT),
        (remark.asks && candidate.is_answered, QUESTION),
        (remark.exclaims, EXCLAIMS),
        (remark.is_fragment, FRAGMENT),
        (remark.leans, LEANS),
        (remark.is_yours, YOURS),
        (candidate.is_cut, LONG),
    ];
    shares.iter().filter(|(holds, _)| *holds).map(|(_, share)| share).product::<f32>() * opening
}

/// The places of the chosen: always the best of what still fits, less what it repeats and what was chosen
/// from its part.
fn choose(candidates: &[Candidate<'_>], chars_max: usize, emphasis: Emphasis) -> Vec<usize> {
    let mut open: Vec<(usize, f32)> = candidates.iter().enumerate().map(|(at, it)| (at, it.worth)).collect();
    open.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let least = open.first().map_or(0.0, |(_, best)| best * WORTH_MIN);
    open.retain(|(_, worth)| *worth >= least);
    let mut counts = [0; PARTS];
    open.retain(|(at, _)| {
        let part = candidates.get(*at).and_then(|it| counts.get_mut(it.part));
        part.is_some_and(|count| {
            *count += 1;
            *count <= PART_SENTENCES_MAX
        })
    });
    // Facts are where they are; a story is heard in all its parts.
    let same_part = if emphasis == Emphasis::Facts { 1.0f32 } else { SAME_PART };
    let mut taken_of = [0_i32; PARTS];
    let mut chosen = Vec::new();
    let mut room = chars_max.saturating_add(1);
    loop {
        open.retain(|(at, _)| candidates.get(*at).is_some_and(|it| it.cost() <= room));
        let of_part = |at: usize| candidates.get(at).and_then(|it| taken_of.get(it.part)).copied().unwrap_or(0);
        let worth = |(at, worth): &(usize, f32)| worth * same_part.powi(of_part(*at));
        let best = open.iter().copied().reduce(|a, b| if worth(&b) > worth(&a) { b } else { a });
        let Some((at, taken)) = best.and_then(|(at, _)| Some((at, candidates.get(at)?))) else { break };
        room -= taken.cost();
        chosen.push(at);
        taken_of.get_mut(taken.part).into_iter().for_each(|count| *count += 1);
        open.retain_mut(|(other, worth)| {
            let Some(it) = candidates.get(*other).filter(|_| *other != at) else { return false };
            let likeness = likeness(&it.remark.stems, &taken.remark.stems);
            *worth = worth.min(it.worth * (1.0 - REDUNDANCY * likeness));
            likeness < REPEATS || it.remark.naming.iter().any(|stem| !taken.remark.stems.contains(stem))
        });
    }
    chosen.sort_unstable();
    chosen
}

/// The share of the shorter one's stems that both have.
fn likeness(a: &[u64], b: &[u64]) -> f32 {
    let shared = a.iter().filter(|stem| b.binary_search(stem).is_ok()).count();
    shared as f32 / a.len().min(b.len()).max(1) as f32
}

fn write(candidates: &[Candidate<'_>], chosen: &[usize], chars_max: usize) -> String {
    if chosen.is_empty() {
        // Not one sentence fits: the best one, cut.
        let best = candidates.iter().reduce(|a, b| if b.worth > a.worth { b } else { a });
        return best.map_or(String::new(), |best| cut(&best.line(), chars_max));
    }
    chosen.iter().filter_map(|at| candidates.get(*at)).map(Candidate::line).collect::<Vec<_>>().join("\n")
}

/// The first characters of a text, at most `chars_max`, cut after a word and marked as cut.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    let Some((limit, _)) = text.char_indices().nth(chars_max) else { return text.to_owned() };
    let Some((room, _)) = chars_max.checked_sub(1).and_then(|last| text.char_indices().nth(last)) else {
        return String::new();
    };
    let kept = text.get(..room.min(limit)).unwrap_or_default();
    let word = kept.rfind(char::is_whitespace).filter(|at| *at * 2 > kept.len()).unwrap_or(kept.len());
    format!("{}…", kept.get(..word).unwrap_or_default().trim_end())
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
