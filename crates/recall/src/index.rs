//! The index over one user's passages of one kind.

use novelo_engine::Role;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Something that can be found, as it is put into an index.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passage<'a> {
    pub text: &'a str,
    /// Who said it, where that has a name.
    pub speaker: Option<&'a str>,
    pub role: Option<Role>,
    /// Passages of one stretch of conversation, or of one document, share a group; in a group they are neighbours in the
    /// order of their keys. 0 has no neighbours.
    pub group: u64,
    /// When it was said, in seconds.
    pub time: Option<f64>,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Query<'a> {
    pub text: &'a str,
    /// The embedding of `Index::to_embed(text)`, of the same model as the vectors of the passages.
    pub vector: Option<&'a [f32]>,
}

/// A passage that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    pub key: u64,
    pub score: f32,
}

/// Why a passage stands where it stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Why {
    pub lexical: Option<Score>,
    pub dense: Option<Score>,
    /// Words of the query that it holds, as the query spells them.
    pub matched: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    pub score: f32,
    /// 1 is the best.
    pub rank: usize,
}

/// What nearly won.
pub type Near = Hit;

/// Passages by key.
#[derive(Debug, Default)]
pub struct Index {
    texts: FxHashMap<u64, String>,
    vectors: FxHashMap<u64, Box<[i8]>>,
}

/// All passages, scored for one query.
#[derive(Debug)]
pub struct Ranked<'i> {
    index: &'i Index,
    hits: Vec<Hit>,
}

impl Index {
    /// Puts a passage in, in place of the one with this key.
    pub fn add(&mut self, key: u64, passage: &Passage<'_>) {
        self.texts.insert(key, passage.text.to_lowercase());
        self.vectors.remove(&key);
    }

    /// Whether there was one.
    pub fn remove(&mut self, key: u64) -> bool {
        self.vectors.remove(&key);
        self.texts.remove(&key).is_some()
    }

    /// Gives a passage its quantised embedding. All vectors of an index have the same length.
    pub fn set_vector(&mut self, key: u64, vector: &[i8]) {
        self.vectors.insert(key, vector.into());
    }

    pub fn has_vector(&self, key: u64) -> bool {
        self.vectors.contains_key(&key)
    }

    /// Whether any passage has one.
    pub fn has_vectors(&self) -> bool {
        !self.vectors.is_empty()
    }

    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.texts.values().map(|text| text.len() + 64).sum()
    }

    /// The part of a query that should be embedded.
    pub fn to_embed(&self, query: &str) -> String {
        query.to_owned()
    }

    pub fn rank(&self, query: &Query<'_>) -> Ranked<'_> {
        let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
        let score = |text: &String| words.iter().filter(|word| text.contains(word.as_str())).count() as f32;
        let hits = self.texts.iter().map(|(key, text)| Hit { key: *key, score: score(text) });
        let mut hits: Vec<Hit> = hits.filter(|hit| hit.score > 0.0).collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.key.cmp(&a.key)));
        Ranked { index: self, hits }
    }
}

impl Ranked<'_> {
    /// The best of those that are `within`, best first; of equals the newer first. Those that match nothing are left out.
    pub fn top(&self, k: usize, within: impl Fn(u64) -> bool) -> Vec<Hit> {
        self.hits.iter().filter(|hit| within(hit.key)).take(k).copied().collect()
    }

    pub fn why(&self, key: u64) -> Why {
        let rank = self.hits.iter().position(|hit| hit.key == key);
        let lexical = rank.and_then(|at| Some(Score { score: self.hits.get(at)?.score, rank: at + 1 }));
        Why { lexical, dense: None, matched: self.index.texts.get(&key).cloned().into_iter().collect() }
    }
}
