//! What comes back: answers that are read, or refused as nonsense.

use std::collections::BTreeMap;

use novelo_engine::path::{CollectionPath, decode};
use serde::Deserialize;

/// An answer that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Nonsense {
    #[error("an answer of another form: {0}")]
    Unreadable(String),
    /// The collection was made by another program.
    #[error("{0}: another program made it; set qdrant.prefix, or let `novelo index --rebuild` replace it")]
    Foreign(&'static str),
}

impl From<serde_json::Error> for Nonsense {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// What a collection can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// How long its embeddings are, where it takes any.
    pub dimensions: Option<usize>,
}

/// A point that a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub of: CollectionPath,
    pub seq: u64,
    pub digest: u64,
    pub score: f32,
}

/// A point that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub id: String,
    /// Where its document is and what that was; `None` for a point that is not one of ours.
    pub place: Option<(CollectionPath, u64, u64)>,
    pub model: Option<String>,
}

#[derive(Deserialize)]
struct Envelope<R> {
    result: R,
}

fn result<'b, R: Deserialize<'b>>(bytes: &'b [u8]) -> Result<R, Nonsense> {
    Ok(serde_json::from_slice::<Envelope<R>>(bytes)?.result)
}

/// Whether something was done: a write that was merely taken note of is not.
pub fn done(bytes: &[u8]) -> Result<(), Nonsense> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Done {
        Plain(bool),
        Update { status: String },
    }
    match result(bytes)? {
        Done::Plain(true) => Ok(()),
        Done::Plain(false) => Err(Nonsense::Unreadable("nothing was done".into())),
        Done::Update { status } if status == "completed" => Ok(()),
        Done::Update { status } => Err(Nonsense::Unreadable(format!("a write is {status}, not completed"))),
    }
}

/// Whether a collection was dropped; one that was not there was not.
pub fn dropped(bytes: &[u8]) -> Result<bool, Nonsense> {
    result(bytes)
}

/// What a collection is like. One without sparse vectors, or whose distance is not the cosine, is somebody
/// else's.
pub fn shape(bytes: &[u8]) -> Result<Shape, Nonsense> {
    #[derive(Deserialize)]
    struct Looked {
        config: Config,
    }
    #[derive(Deserialize)]
    struct Config {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        vectors: Option<serde_json::Value>,
        sparse_vectors: Option<BTreeMap<String, serde_json::Value>>,
    }
    let params = result::<Looked>(bytes)?.config.params;
    if !params.sparse_vectors.is_some_and(|sparse| sparse.contains_key("sparse")) {
        return Err(Nonsense::Foreign("the collection has no sparse vectors named sparse"));
    }
    let vectors = params.vectors.unwrap_or_default();
    let Some(dense) = vectors.get("dense") else { return Ok(Shape { dimensions: None }) };
    let size = dense.get("size").and_then(serde_json::Value::as_u64).and_then(|size| usize::try_from(size).ok());
    match (size, dense.get("distance").and_then(serde_json::Value::as_str)) {
        (Some(size), Some("Cosine")) => Ok(Shape { dimensions: Some(size) }),
        _ => Err(Nonsense::Foreign("the vectors named dense are not compared by cosine")),
    }
}

#[derive(Deserialize)]
struct Placed {
    of: String,
    seq: u64,
    digest: String,
    model: Option<String>,
}

impl Placed {
    fn place(&self) -> Option<(CollectionPath, u64, u64)> {
        let of = CollectionPath::new(&decode(&self.of).ok()?).ok()?;
        Some((of, self.seq, u64::from_str_radix(&self.digest, 16).ok()?))
    }
}

/// The hits of each search of a query, in its order.
pub fn found(bytes: &[u8]) -> Result<Vec<Vec<Hit>>, Nonsense> {
    #[derive(Deserialize)]
    struct List {
        points: Vec<Scored>,
    }
    #[derive(Deserialize)]
    struct Scored {
        score: f32,
        payload: Placed,
    }
    let hit = |scored: Scored| {
        let place = scored.payload.place().filter(|_| scored.score.is_finite());
        let (of, seq, digest) = place.ok_or_else(|| Nonsense::Unreadable("a hit does not say where it is".into()))?;
        Ok(Hit { of, seq, digest, score: scored.score })
    };
    let lists: Vec<List> = result(bytes)?;
    lists.into_iter().map(|list| list.points.into_iter().map(hit).collect()).collect()
}

/// A stretch of points, and the id that the next one begins with.
pub fn scrolled(bytes: &[u8]) -> Result<(Vec<Seen>, Option<String>), Nonsense> {
    #[derive(Deserialize)]
    struct Stretch {
        points: Vec<Row>,
        next_page_offset: Option<String>,
    }
    #[derive(Deserialize)]
    struct Row {
        id: String,
        payload: Option<serde_json::Value>,
    }
    let seen = |row: Row| {
        let placed = row.payload.and_then(|payload| serde_json::from_value::<Placed>(payload).ok());
        let place = placed.as_ref().and_then(Placed::place);
        Seen { id: row.id, place, model: placed.and_then(|placed| placed.model) }
    };
    let stretch: Stretch = result(bytes)?;
    Ok((stretch.points.into_iter().map(seen).collect(), stretch.next_page_offset))
}

pub fn counted(bytes: &[u8]) -> Result<u64, Nonsense> {
    #[derive(Deserialize)]
    struct Counted {
        count: u64,
    }
    Ok(result::<Counted>(bytes)?.count)
}
