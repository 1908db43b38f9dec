//! How much of what matters survives in a short prompt: facts, goals and rules, planted in long
//! conversations, by what makes the prompt short.
//!
//! Conversations of even and of odd number are planted with different sentences and counted apart, so that
//! one half can be developed on and the other not. Does no I/O, and plants the same sentences in every run.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use novelo_conversation::context::compact::extract_spans;
use novelo_engine::compact::{CompactedSpan, Compactions, SpanSource};
use novelo_engine::recipe::{CompactOptions, ComponentSpec, FilterSpec, RecipeBuilder, RecipeDocument};
use novelo_engine::{Loaded, Message, Role, Tokenizer, Turn, assemble};
use novelo_recall::extract::{DatedTurn, EarlierSummary, summarise};
use novelo_recall::{Index, Passage, Query};
use serde::Serialize;
use serde_json::json;

use super::LabelledConversation;

/// Shares of the whole conversation that a prompt may have.
pub(crate) const SHARES: [u32; 3] = [50, 25, 10];
/// Sentences that are planted in a conversation.
const PLANTED: usize = 32;
/// Spans that are restored for a question.
const RESTORED: usize = 3;
/// Of the turns, those at the end where nothing is planted: any prompt has them.
const END_PART: usize = 20;
/// The part of a budget that a rolling summary has.
const SUMMARY_PART: u32 = 4;
const KEEP: f64 = 0.95;

/// A sentence to plant: `{}` is a number or a name that no other has.
struct Template {
    says: &'static str,
    asks: &'static str,
    /// What must stand in one line of the prompt, beside what stands for `{}`.
    key: &'static str,
    is_numbered: bool,
}

const fn numbered(says: &'static str, asks: &'static str, key: &'static str) -> Template {
    Template { says, asks, key, is_numbered: true }
}

const fn named(says: &'static str, asks: &'static str, key: &'static str) -> Template {
    Template { says, asks, key, is_numbered: false }
}

/// For conversations of even number.
const DEVELOPED_ON: [Template; 10] = [
    numbered("My locker code at the station is {}.", "What is the locker code at the station?", "locker"),
    numbered("The invoice for the printer was {} euros.", "How much was the invoice for the printer?", "invoice"),
    named("My cousin {} moved to Antwerp last spring.", "Which cousin moved to Antwerp?", "Antwerp"),
    named("The plumber we trust is called {}.", "What is the plumber called?", "plumber"),
    named("My goal is to finish the translation for {} this year.", "For whom is the translation?", "translation"),
    numbered("We want to raise {} dollars for the school roof.", "How much do we raise for the roof?", "roof"),
    named("Never mention the surprise party to {}.", "Who must not know of the party?", "party"),
    numbered("Every answer must be shorter than {} words.", "How long may an answer be?", "words"),
    named("Always write the reports for {} in French.", "For whom are reports in French?", "French"),
    numbered("Don't spend more than {} on the fence.", "How much may the fence cost?", "fence"),
];

/// For conversations of odd number.
const HELD_OUT: [Template; 10] = [
    numbered("Our meter at the cabin showed {} on Sunday.", "What did the meter at the cabin show?", "meter"),
    numbered("Platform {} is where the night ferry bus leaves.", "From which platform does the bus leave?", "ferry"),
    named("Grandpa's old violin belongs to {} now.", "Who has the violin?", "violin"),
    named("The vet who treats the parrot is {}.", "Who treats the parrot?", "parrot"),
    named("What I am after is a scholarship from the {} foundation.", "Which foundation is it?", "scholarship"),
    numbered("By autumn I hope to have {} subscribers for the newsletter.", "How many subscribers?", "newsletter"),
    named("Under no circumstances share the draft with {}.", "With whom must the draft not be shared?", "draft"),
    numbered("The photos may have no more than {} megabytes.", "How large may the photos be?", "megabytes"),
    named("Please only order flour from {}.", "From whom is flour ordered?", "flour"),
    numbered("The heating has to stay below {} degrees.", "How warm may the heating be?", "heating"),
];

const SYLLABLES: [&str; 12] = ["Bra", "Cor", "Dun", "Fel", "Gri", "Hal", "Jor", "Kes", "Lom", "Nor", "Pel", "Tav"];
const ENDINGS: [&str; 8] = ["dek", "ina", "oth", "wyn", "sel", "mar", "vik", "lan"];

/// A sentence that was planted.
#[derive(Debug)]
struct Plant {
    seq: u64,
    asks: &'static str,
    keys: [String; 2],
}

/// The same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
}

/// Shares of planted sentences in percent, by how much of the conversation a prompt may have.
#[derive(Debug, Clone, Serialize)]
pub struct CompactReport {
    pub halves: Vec<CompactHalf>,
    /// The longest conversation that was compacted, and the time that it took.
    pub largest_tokens: u32,
    pub largest_ms: f64,
}

#[derive(Debug, Clone, Serialize)]
pub struct CompactHalf {
    pub name: &'static str,
    pub conversations: usize,
    pub planted: usize,
    pub rows: Vec<CompactRow>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CompactRow {
    pub method: &'static str,
    /// In the order of [`SHARES`].
    pub survive: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    DropFront,
    DropMiddle,
    RollingSummary,
    Compact,
    Restore,
}

impl Method {
    const ALL: [(Self, &'static str); 5] = [
        (Self::DropFront, "drop the front"),
        (Self::DropMiddle, "drop the middle"),
        (Self::RollingSummary, "rolling summary"),
        (Self::Compact, "compact"),
        (Self::Restore, "compact, with restore"),
    ];
}

/// Plants and counts. `progress` gets the number of finished conversations and of all.
pub fn run(conversations: &[LabelledConversation], progress: &mut dyn FnMut(usize, usize)) -> CompactReport {
    let mut counts = [[[0usize; SHARES.len()]; Method::ALL.len()]; 2];
    let (mut planted, mut of_half) = ([0usize; 2], [0usize; 2]);
    let mut largest = (0, Duration::ZERO);
    for (n, conversation) in conversations.iter().enumerate() {
        progress(n, conversations.len());
        let half = n % 2;
        let measured = Conversation::plant(conversation, n);
        let mut of = counts.get_mut(half);
        planted.get_mut(half).into_iter().for_each(|count| *count += measured.plants.len());
        of_half.get_mut(half).into_iter().for_each(|count| *count += 1);
        for (at, share) in SHARES.iter().enumerate() {
            let max_tokens = (u64::from(measured.tokens) * u64::from(*share) / 100) as u32;
            let (found, took) = measured.survivors(max_tokens);
            if measured.tokens >= largest.0 {
                largest = (measured.tokens, took.max(largest.1));
            }
            for (row, found) in of.iter_mut().flat_map(|of| of.iter_mut()).zip(found) {
                row.get_mut(at).into_iter().for_each(|count| *count += found);
            }
        }
    }
    progress(conversations.len(), conversations.len());
    let percent = |count: usize, of: usize| count as f64 * 100.0 / of.max(1) as f64;
    let names = ["even: developed on", "odd: held out"];
    let halves = names.into_iter().zip(counts).zip(planted.into_iter().zip(of_half));
    let halves = halves.map(|((name, counts), (planted, conversations))| CompactHalf {
        name,
        conversations,
        planted,
        rows: Method::ALL
            .iter()
            .zip(counts)
            .map(|((_, method), counts)| CompactRow {
                method,
                survive: counts.iter().map(|count| percent(*count, planted)).collect(),
            })
            .collect(),
    });
    let halves = halves.filter(|half| half.conversations > 0).collect();
    CompactReport { halves, largest_tokens: largest.0, largest_ms: largest.1.as_secs_f64() * 1_000.0 }
}

/// A conversation with its plants.
struct Conversation {
    turns: Vec<Turn>,
    texts: Vec<(String, String)>,
    plants: Vec<Plant>,
    tokens: u32,
    index: Index,
}

impl Conversation {
    fn plant(conversation: &LabelledConversation, number: usize) -> Self {
        let templates = if number.is_multiple_of(2) { &DEVELOPED_ON } else { &HELD_OUT };
        let first_speaker = conversation.turns.first().and_then(|turn| turn.speaker.clone());
        let mut texts: Vec<(String, Role, String)> = conversation
            .turns
            .iter()
            .map(|turn| {
                let is_other = turn.speaker != first_speaker;
                let role = turn.role.unwrap_or(if is_other { Role::Assistant } else { Role::User });
                (turn.speaker.clone().unwrap_or_else(|| role.name().to_owned()), role, turn.passage())
            })
            .collect();
        let mut numbers = Numbers(number as u64 + 7);
        let users: Vec<usize> =
            (0..texts.len()).filter(|at| texts.get(*at).is_some_and(|it| it.1 == Role::User)).collect();
        let users = users.get(1..users.len() - users.len() / END_PART).unwrap_or_default();
        let mut plants = Vec::new();
        for (n, template) in templates.iter().cycle().take(PLANTED.min(users.len())).enumerate() {
            let part = users.len() * n / PLANTED.min(users.len());
            let step = (users.len() / PLANTED).max(1) as u64;
            let at = users.get(part + numbers.next(step) as usize).or(users.get(part));
            let Some((at, (_, _, text))) = at.and_then(|at| Some((*at, texts.get_mut(*at)?))) else { continue };
            let value = match template.is_numbered {
                true => (1_100 + numbers.next(8_800)).to_string(),
                false => {
                    let part = |list: &[&str], n: u64| list.get(n as usize).copied().unwrap_or("").to_owned();
                    let front = part(&SYLLABLES, numbers.next(SYLLABLES.len() as u64));
                    front + &part(&ENDINGS, numbers.next(ENDINGS.len() as u64))
                }
            };
            let sentence = template.says.replace("{}", &value);
            *text = format!("{} {sentence}", text.trim_end());
            plants.push(Plant { seq: at as u64 + 1, asks: template.asks, keys: [template.key.to_owned(), value] });
        }
        Self::measured(&texts, plants)
    }

    fn measured(texts: &[(String, Role, String)], plants: Vec<Plant>) -> Self {
        let turn = |(n, (speaker, role, text)): (usize, &(String, Role, String))| {
            let message = match *speaker == role.name() {
                true => Message::text(*role, text),
                false => {
                    let raw = json!({"role": role.name(), "name": speaker, "content": text}).to_string();
                    Message::from_stored(raw.into())
                }
            };
            Turn { seq: n as u64 + 1, id: (n + 1).to_string().into(), create_time: 0.0, message }
        };
        let turns: Vec<Turn> = texts.iter().enumerate().map(turn).collect();
        let mut index = Index::default();
        for ((speaker, role, text), turn) in texts.iter().zip(&turns) {
            let speaker = Some(speaker.as_str());
            index.add(turn.seq, &Passage { text, speaker, role: Some(*role), group: 1, time: None });
        }
        let tokens = turns.iter().map(|turn| turn.message.tokens(Tokenizer::Approx)).sum();
        let texts = texts.iter().map(|(speaker, _, text)| (speaker.clone(), text.clone())).collect();
        Self { turns, texts, plants, tokens, index }
    }

    /// How many plants survive by each method, and the time that compacting takes.
    fn survivors(&self, max_tokens: u32) -> ([usize; Method::ALL.len()], Duration) {
        let started = Instant::now();
        let (compact, spans) = self.compacted(max_tokens);
        let took = started.elapsed();
        let mut found = [0; Method::ALL.len()];
        for ((method, _), found) in Method::ALL.iter().zip(&mut found) {
            *found = match method {
                Method::DropFront => self.count(&self.dropped_front(max_tokens)),
                Method::DropMiddle => self.count(&self.dropped_middle(max_tokens)),
                Method::RollingSummary => self.count(&self.rolling(max_tokens)),
                Method::Compact => self.count(&compact),
                Method::Restore => {
                    let is_found = |plant: &&Plant| holds(&compact, plant) || self.is_restored(plant, &spans);
                    self.plants.iter().filter(is_found).count()
                }
            };
        }
        (found, took)
    }

    fn count(&self, prompt: &[String]) -> usize {
        self.plants.iter().filter(|plant| holds(prompt, plant)).count()
    }

    fn loaded(&self) -> Loaded<'_> {
        Loaded { turns: self.turns.iter().collect(), ..Loaded::default() }
    }

    fn dropped_front(&self, max_tokens: u32) -> Vec<String> {
        let recipe = history(None);
        lines(&recipe, &self.loaded(), max_tokens)
    }

    /// Half of the budget from the beginning, half from the end.
    fn dropped_middle(&self, max_tokens: u32) -> Vec<String> {
        let cost = |turn: &&Turn| turn.message.tokens(Tokenizer::Approx);
        let mut room = max_tokens / 2;
        let mut fits = |turn: &&Turn| {
            let fits = cost(turn) <= room;
            room = if fits { room - cost(turn) } else { 0 };
            fits
        };
        let front: Vec<&Turn> = self.turns.iter().take_while(&mut fits).collect();
        let mut room = max_tokens - max_tokens / 2;
        let mut fits = |turn: &&Turn| {
            let fits = cost(turn) <= room;
            room = if fits { room - cost(turn) } else { 0 };
            fits
        };
        let end: Vec<&Turn> = self.turns.iter().rev().take_while(&mut fits).collect();
        front.into_iter().chain(end).flat_map(|turn| said(&turn.message)).collect()
    }

    /// A summary of what is left out, in a part of the budget, and the newest turns in the rest of it.
    fn rolling(&self, max_tokens: u32) -> Vec<String> {
        let summary_tokens = max_tokens / SUMMARY_PART;
        let mut prompt = self.dropped_front(max_tokens - summary_tokens);
        let turns: Vec<DatedTurn<'_>> =
            self.texts.iter().map(|(speaker, text)| DatedTurn { speaker, text, date: "" }).collect();
        let text = summarise(EarlierSummary::default(), &turns, summary_tokens as usize * 4);
        prompt.extend(text.lines().map(str::to_owned));
        prompt
    }

    fn compacted(&self, max_tokens: u32) -> (Vec<String>, Vec<CompactedSpan>) {
        let options = CompactOptions { max_tokens: Some(max_tokens), keep: Some(KEEP), ..CompactOptions::default() };
        let recipe = history(Some(options));
        let mut spans = Vec::new();
        let loaded = self.loaded();
        let plan = assemble(recipe.recipe(), &loaded, Some(max_tokens)).ok().and_then(|assembly| assembly.compaction);
        if let Some(plan) = plan {
            let holds = |first: u64, last: u64| {
                let turns = self.turns.iter().filter(move |turn| (first..=last).contains(&turn.seq));
                turns.map(|turn| (turn.message.clone(), 0.0)).collect::<Vec<_>>()
            };
            let messages: Vec<_> = plan.spans.iter().map(|span| holds(span.first_seq, span.last_seq)).collect();
            spans = extract_spans(&plan, 1, &messages, Tokenizer::Approx);
        }
        let compactions = Compactions::new(spans.clone(), []);
        let loaded = Loaded { compactions: Some(&compactions), ..loaded };
        (lines(&recipe, &loaded, max_tokens), spans)
    }

    /// Whether the turn of a plant lies in one of the spans that a search for its question leads to.
    fn is_restored(&self, plant: &Plant, spans: &[CompactedSpan]) -> bool {
        let query = Query { text: plant.asks, vector: None };
        let hits = self.index.rank(&query).top(50, |_| true);
        let mut restored: BTreeSet<&str> = BTreeSet::new();
        for hit in hits {
            let span = spans.iter().find(|span| span.holds(SpanSource::Thread, hit.key));
            restored.extend(span.map(|span| &*span.id));
            if restored.len() == RESTORED {
                break;
            }
        }
        spans.iter().any(|span| restored.contains(&*span.id) && span.holds(SpanSource::Thread, plant.seq))
    }
}

fn history(options: Option<CompactOptions>) -> RecipeDocument {
    let recipe = RecipeBuilder::new().component(ComponentSpec::history());
    let recipe = options.into_iter().fold(recipe, |recipe, options| recipe.filter(FilterSpec::Compact(options)));
    recipe.build().expect("the recipe of the measurement is right")
}

/// The lines of a prompt.
fn lines(recipe: &RecipeDocument, loaded: &Loaded<'_>, max_tokens: u32) -> Vec<String> {
    let Ok(assembly) = assemble(recipe.recipe(), loaded, Some(max_tokens)) else { return Vec::new() };
    assembly.messages().flat_map(|piece| said(piece.base())).collect()
}

fn said(message: &Message) -> Vec<String> {
    message.content_text().unwrap_or_default().lines().map(str::to_owned).collect()
}

/// Whether a line of the prompt says what was planted.
fn holds(prompt: &[String], plant: &Plant) -> bool {
    prompt.iter().any(|line| plant.keys.iter().all(|key| line.contains(key.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_keeps_more_than_dropping_and_restoring_finds_the_rest() {
        let turn = |n: usize| {
            let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
            let text = "We walked along the river and talked about the weather, and it was nice.";
            json!({"id": n, "role": role, "text": format!("{text} So it went, day after day, number {n}.")})
        };
        let conversation = |id: usize| {
            let turns: Vec<_> = (0..400).map(turn).collect();
            json!({"id": id, "turns": turns, "questions": [{"question": "q", "evidence": ["1"]}]})
        };
        let file = json!({"conversations": [conversation(0), conversation(1)]}).to_string();
        let report = run(&super::super::parse(&file).unwrap(), &mut |_, _| {});
        assert_eq!(report.halves.len(), 2);
        for half in &report.halves {
            assert_eq!((half.conversations, half.planted), (1, PLANTED));
            let of = |method: &str| {
                let row = half.rows.iter().find(|row| row.method == method).unwrap();
                *row.survive.last().unwrap()
            };
            let best = of("drop the front").max(of("drop the middle"));
            assert!(of("compact") >= 2.0 * best, "{half:?}");
            assert!(of("compact, with restore") >= of("compact"), "{half:?}");
        }
    }
}
