//! One passage as a point: its id, its vectors and its payload.

use novelo_engine::path::CollectionPath;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

/// What a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Turn,
    Memory,
    Passage,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Memory => "memory",
            Self::Passage => "passage",
        }
    }
}

/// A passage, as it is put into a collection.
#[derive(Debug, Clone)]
pub struct Point<'p> {
    pub user: &'p str,
    pub kind: Kind,
    /// The collection of its document, and its place there.
    pub of: &'p CollectionPath,
    pub seq: u64,
    /// The thread of a turn, the document of a passage.
    pub parent: &'p str,
    /// Of the document, so that a point of what it was before is known.
    pub digest: u64,
    pub create_time: f64,
    /// The quantised embedding with the print of its model. Its length does not matter to a cosine.
    pub dense: Option<(&'p str, &'p [i8])>,
    /// Terms and their weights, each term once.
    pub sparse: &'p [(u32, f32)],
}

/// The id of a point: the same passage has the same one for ever. Nobody can choose a path that has the id of
/// another.
pub fn id(of: &CollectionPath, seq: u64) -> String {
    let digest = Sha256::digest(format!("{of}#{seq}").as_bytes());
    let mut bits = digest.iter().take(16).fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
    // The marks of a UUID whose bits its maker chose (RFC 9562, version 8).
    bits = bits & !(0xf << 76) | 0x8 << 76;
    bits = bits & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

#[derive(Serialize)]
struct PointBody<'p> {
    id: String,
    vector: Vectors<'p>,
    payload: Payload<'p>,
}

#[derive(Serialize)]
struct Vectors<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    dense: Option<&'p [i8]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sparse: Option<Sparse>,
}

/// Terms and weights in the form of the API.
#[derive(Debug, Serialize)]
pub(super) struct Sparse {
    indices: Vec<u32>,
    values: Vec<f32>,
}

impl Sparse {
    /// `None` without terms.
    pub fn of(terms: &[(u32, f32)]) -> Option<Self> {
        let (indices, values) = terms.iter().copied().unzip();
        (!terms.is_empty()).then_some(Self { indices, values })
    }
}

#[derive(Serialize)]
struct Payload<'p> {
    user: &'p str,
    kind: Kind,
    of: String,
    seq: u64,
    parent: &'p str,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'p str>,
    create_time: f64,
}

impl Serialize for Point<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (model, dense) = self.dense.unzip();
        let wire = PointBody {
            id: id(self.of, self.seq),
            vector: Vectors { dense, sparse: Sparse::of(self.sparse) },
            payload: Payload {
                user: self.user,
                kind: self.kind,
                of: self.of.to_string(),
                seq: self.seq,
                parent: self.parent,
                digest: format!("{:016x}", self.digest),
                model,
                create_time: self.create_time,
            },
        };
        wire.serialize(serializer)
    }
}
