//! W4: searching one user's memories, and what being searchable costs.

use std::time::Instant;

use novelo_engine::path::CollectionPath;
use novelo_engine::scope::USERS;
use novelo_recall::embed::quantise;
use novelo_recall::{Index, Passage, Query};
use novelo_store::AppendTerms;

use super::http::open;
use super::thread::document;
use super::{BenchRow, RatioTarget, median, medians, time_us};
use novelo_conversation::app;
use novelo_conversation::search::{PassageQuery, RecallSource, search};

const MEMORIES: usize = 10_000;
const DIMENSIONS: usize = 384;
const ROUNDS: usize = 301;
const HITS: usize = 10;
const CAP_US: f64 = 1_000.0;

/// Words of which some are common and many are rare, as in speech.
const SYLLABLES: [&str; 24] = [
    "ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "su", "ta", "ve", "zi", "cho", "dra", "flo", "gri", "kla",
    "men", "por", "sta", "tri", "ul", "yen",
];

/// Numbers that look random and are the same in every run.
pub(crate) struct PseudoRandom(u64);

impl PseudoRandom {
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    pub(crate) fn word(&mut self) -> String {
        let rank = (self.unit().powi(3) * 8_000.0) as usize;
        let syllable = |n: usize| SYLLABLES.get(n % SYLLABLES.len()).copied().unwrap_or("");
        format!("{}{}{}", syllable(rank), syllable(rank / 24 + 7), syllable(rank / 576))
    }

    pub fn text(&mut self) -> String {
        (0..20).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn vector(&mut self) -> Vec<f32> {
        let raw: Vec<f32> = (0..DIMENSIONS).map(|_| self.unit() - 0.5).collect();
        let length = raw.iter().map(|x| x * x).sum::<f32>().sqrt();
        raw.iter().map(|x| x / length).collect()
    }
}

pub(crate) async fn search_and_index() -> anyhow::Result<Vec<BenchRow>> {
    let mut numbers = PseudoRandom::new();
    let texts: Vec<String> = (0..MEMORIES).map(|_| numbers.text()).collect();
    let vectors: Vec<Vec<f32>> = (0..MEMORIES).map(|_| numbers.vector()).collect();
    let mut index = Index::default();
    let mut adding_us = Vec::new();
    for (key, (text, vector)) in (1..).zip(texts.iter().zip(&vectors)) {
        adding_us.push(time_us(|| index.add(key, &Passage { text, ..Passage::default() })));
        index.set_vector(key, &quantise(vector));
    }
    let mut rows = hybrid(&mut numbers, &index, &texts, &vectors);
    rows.push(BenchRow {
        name: "W4",
        what: "memory of an indexed memory of 120 bytes with its vector / its text and vector as they came".into(),
        ours: index.bytes() as f64 / MEMORIES as f64,
        raw: texts.iter().map(String::len).sum::<usize>() as f64 / MEMORIES as f64 + DIMENSIONS as f64 * 4.0,
        unit: "B",
        ratio: index.bytes() as f64 / (texts.iter().map(String::len).sum::<usize>() + MEMORIES * DIMENSIONS * 4) as f64,
        target: None,
    });
    rows.extend(stored(&mut numbers, &texts, median(adding_us)).await?);
    Ok(rows)
}

/// The index against looking at everything.
fn hybrid(numbers: &mut PseudoRandom, index: &Index, texts: &[String], vectors: &[Vec<f32>]) -> Vec<BenchRow> {
    let mut pairs = Vec::new();
    for _ in 0..ROUNDS {
        let (words, vector) = ([numbers.word(), numbers.word(), numbers.word()], numbers.vector());
        let text = words.join(" ");
        let query = Query { text: &text, vector: Some(&vector) };
        let ours = time_us(|| index.rank(&query).top(HITS, |_| true));
        let raw = time_us(|| {
            let dot = |of: &Vec<f32>| of.iter().zip(&vector).map(|(a, b)| a * b).sum::<f32>();
            let count = |text: &String| words.iter().filter(|word| text.contains(word.as_str())).count();
            let scores = texts.iter().zip(vectors).map(|(text, of)| count(text) as f32 + dot(of));
            let mut scores: Vec<(usize, f32)> = scores.enumerate().collect();
            scores.sort_by(|a, b| b.1.total_cmp(&a.1));
            scores.truncate(HITS);
            scores
        });
        pairs.push((ours, raw));
    }
    let (ours, raw, ratio) = medians(&pairs);
    let row = |what: &str, raw, ratio, target| BenchRow {
        name: "W4",
        what: what.to_owned(),
        ours,
        raw,
        unit: "µs",
        ratio,
        target,
    };
    vec![
        row(
            "hybrid search over 10,000 memories of one user, top 10 / its cap",
            CAP_US,
            ours / CAP_US,
            Some(RatioTarget::AtMost(1.0)),
        ),
        row("the same / reading through all texts and vectors", raw, ratio, None),
    ]
}

/// Through the store: a search with its documents, a search after a write, and indexing beside storing.
async fn stored(numbers: &mut PseudoRandom, texts: &[String], adding_us: f64) -> anyhow::Result<Vec<BenchRow>> {
    let dir = tempfile::tempdir()?;
    let (app, tasks) = open(dir.path()).await?;
    let to = CollectionPath::new(&[USERS, "bench", "memories"])?;
    let memory = |text: &String| document(serde_json::json!({ "text": text }).to_string().into());
    for chunk in texts.chunks(500) {
        app.store.append(&to, chunk.iter().map(memory).collect(), AppendTerms::default()).await?;
    }
    let (mut storing, mut searching, mut after_write) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..ROUNDS {
        let started = Instant::now();
        app.store.append(&to, vec![memory(&numbers.text())], AppendTerms::default()).await?;
        storing.push(started.elapsed().as_secs_f64() * 1e6);
        for times in [&mut after_write, &mut searching] {
            let text = [numbers.word(), numbers.word(), numbers.word()].join(" ");
            let ask = PassageQuery {
                user: "bench",
                source: RecallSource::Memories,
                query: &text,
                parents: &[],
                explain: false,
                hits_max: 10,
                as_of: None,
                valid_at: None,
            };
            let started = Instant::now();
            std::hint::black_box(search(&app, ask, |ranking| ranking.pick(HITS, |_| true)).await?);
            if n > 0 {
                times.push(started.elapsed().as_secs_f64() * 1e6);
            }
        }
    }
    app::close(app, tasks).await?;
    let (storing, searching, after_write) = (median(storing), median(searching), median(after_write));
    let row = |what: &str, ours, raw, target| BenchRow {
        name: "W4",
        what: what.to_owned(),
        ours,
        raw,
        unit: "µs",
        ratio: ours / raw,
        target,
    };
    let most = Some(RatioTarget::AtMost(1.0));
    Ok(vec![
        row("lexical search with the documents of its hits, through the store / its cap", searching, CAP_US, most),
        row("the first search after a write / its cap", after_write, CAP_US, most),
        row("indexing a memory / storing it durably, alone", adding_us, storing, most),
    ])
}
