//! How well passages are found, measured on conversations whose questions name the turns that answer them.
//!
//! Owns the file format, the run and the counts. Does no I/O: the caller reads files, embeds and prints.

pub(crate) mod compact;
mod data;
pub mod rewrite;
pub mod routing;
pub(crate) mod truth;

use std::collections::BTreeMap;

use serde::Serialize;

pub use self::data::{FormatError, LabelledConversation, LabelledQuestion, LabelledTurn, parse};
use novelo_recall::{Index, Passage, Query, embed};

/// How many hits of a ranking are looked at.
const DEPTHS: [usize; 3] = [5, 10, 20];
const DEPTH_MAX: usize = 20;

/// Shares in percent, over all questions and over those of each category.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallReport {
    #[serde(flatten)]
    pub total: RecallShares,
    pub by_category: BTreeMap<String, RecallShares>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallShares {
    pub questions: usize,
    /// Of questions whose whole evidence was found.
    pub all: ByDepth,
    /// Of the evidence of a question that was found, on average.
    pub frac: ByDepth,
    /// Of questions of whose evidence something was found.
    pub any: ByDepth,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ByDepth {
    #[serde(rename = "5")]
    pub at_5: f64,
    #[serde(rename = "10")]
    pub at_10: f64,
    #[serde(rename = "20")]
    pub at_20: f64,
}

/// Embeds texts, each to the same number of dimensions.
pub type EmbedFn<'e> = dyn FnMut(&[&str]) -> Vec<Vec<f32>> + 'e;

/// Asks each question in its own conversation. `progress` gets the number of finished conversations and of
/// all.
pub fn run(
    conversations: &[LabelledConversation],
    mut embed: Option<&mut EmbedFn<'_>>,
    progress: &mut dyn FnMut(usize, usize),
) -> RecallReport {
    let mut total = RecallCounts::default();
    let mut by_category: BTreeMap<String, RecallCounts> = BTreeMap::new();
    for (done, conversation) in conversations.iter().enumerate() {
        progress(done, conversations.len());
        let mut index = index(conversation);
        let vectors = embed.as_mut().map(|embed| embed_all(conversation, &mut index, *embed)).unwrap_or_default();
        for (at, question) in conversation.questions.iter().enumerate() {
            if question.evidence.is_empty() {
                continue;
            }
            let query = Query { text: &question.question, vector: vectors.get(at).map(Vec::as_slice) };
            let places = places(conversation, question, &index.rank(&query).top(DEPTH_MAX, |_| true));
            total.note(&places);
            if let Some(category) = &question.category {
                by_category.entry(category.clone()).or_default().note(&places);
            }
        }
    }
    progress(conversations.len(), conversations.len());
    let by_category = by_category.into_iter().map(|(category, counts)| (category, counts.shares())).collect();
    RecallReport { total: total.shares(), by_category }
}

/// The index over a conversation, as the evaluation asks it: the key of a turn is its place.
pub(crate) fn index(conversation: &LabelledConversation) -> Index {
    let mut index = Index::default();
    for (key, turn) in (0..).zip(&conversation.turns) {
        let text = turn.passage();
        let passage = Passage {
            text: &text,
            speaker: turn.speaker.as_deref(),
            role: turn.role,
            group: conversation.group(turn),
            time: turn.date.as_deref().and_then(data::seconds),
        };
        index.add(key, &passage);
    }
    index
}

fn embed_all(conversation: &LabelledConversation, index: &mut Index, embed: &mut EmbedFn<'_>) -> Vec<Vec<f32>> {
    let texts: Vec<String> = conversation.turns.iter().map(LabelledTurn::passage).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (key, vector) in (0..).zip(embed(&texts)) {
        index.set_vector(key, &embed::quantise(&vector));
    }
    let questions: Vec<String> = conversation.questions.iter().map(|it| index.to_embed(&it.question)).collect();
    embed(&questions.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Where each piece of evidence stands, from 0; nothing for what was not found or does not exist.
fn places(
    conversation: &LabelledConversation,
    question: &LabelledQuestion,
    hits: &[novelo_recall::Hit],
) -> Vec<Option<usize>> {
    let id = |key: u64| conversation.turns.get(usize::try_from(key).ok()?).map(|turn| &turn.id);
    question.evidence.iter().map(|wanted| hits.iter().position(|hit| id(hit.key) == Some(wanted))).collect()
}

#[derive(Debug, Default)]
struct RecallCounts {
    questions: usize,
    all: [f64; DEPTHS.len()],
    frac: [f64; DEPTHS.len()],
    any: [f64; DEPTHS.len()],
}

impl RecallCounts {
    fn note(&mut self, places: &[Option<usize>]) {
        self.questions += 1;
        let sums = self.all.iter_mut().zip(&mut self.frac).zip(&mut self.any);
        for (depth, ((all, frac), any)) in DEPTHS.into_iter().zip(sums) {
            let found = places.iter().flatten().filter(|place| **place < depth).count();
            *all += f64::from(u8::from(found == places.len()));
            *frac += found as f64 / places.len() as f64;
            *any += f64::from(u8::from(found > 0));
        }
    }

    fn shares(&self) -> RecallShares {
        let percent = |sums: &[f64; DEPTHS.len()]| {
            let [at_5, at_10, at_20] = sums.map(|sum| sum * 100.0 / self.questions.max(1) as f64);
            ByDepth { at_5, at_10, at_20 }
        };
        let [all, frac, any] = [&self.all, &self.frac, &self.any].map(percent);
        RecallShares { questions: self.questions, all, frac, any }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"conversations": [{"id": 1, "turns": [
        {"id": "a", "text": "my cat is called Tom", "speaker": "Ann", "session": 1, "date": "1:56 pm on 8 May, 2023"},
        {"id": "b", "text": "I keep bees", "speaker": "Bob", "session": 1, "extra": {"more": 1}}],
        "questions": [
        {"question": "what is the name of the cat", "evidence": ["a"], "category": 4},
        {"question": "who keeps bees and cats", "evidence": ["a", "b"], "category": "both"},
        {"question": "who keeps bees", "evidence": ["b", "nowhere"]},
        {"question": "what did nobody ask", "evidence": []}]}]}"#;

    #[test]
    fn counts_all_frac_and_any() {
        let mut heard = Vec::new();
        let report = run(&parse(FILE).unwrap(), None, &mut |done, of| heard.push((done, of)));
        assert_eq!(heard, [(0, 1), (1, 1)]);
        assert_eq!(report.total.questions, 3);
        assert!((report.total.all.at_5 - 200.0 / 3.0).abs() < 1e-9);
        assert!((report.total.frac.at_5 - 250.0 / 3.0).abs() < 1e-9);
        assert!((report.total.any.at_5 - 100.0).abs() < 1e-9);
        assert_eq!(report.by_category.keys().collect::<Vec<_>>(), ["4", "both"]);
    }

    #[test]
    fn the_report_has_the_published_shape() {
        let report = run(&parse(FILE).unwrap(), None, &mut |_, _| {});
        let json = serde_json::to_value(report).unwrap();
        assert_eq!(json["questions"], 3);
        assert_eq!(json["any"]["20"], 100.0);
        assert_eq!(json["by_category"]["4"]["all"]["5"], 100.0);
    }

    #[test]
    fn embeds_turns_and_questions_once() {
        let mut texts = 0;
        let mut embed = |batch: &[&str]| {
            texts += batch.len();
            batch.iter().map(|text| vec![text.len() as f32, 1.0]).collect()
        };
        run(&parse(FILE).unwrap(), Some(&mut embed), &mut |_, _| {});
        assert_eq!(texts, 2 + 4);
    }
}
