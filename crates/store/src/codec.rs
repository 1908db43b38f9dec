//! Keys and records of the local store, byte by byte. `docs/format.md` says the same in prose.
//!
//! Owns the translation and nothing else. Refuses what it cannot prove whole: a record and a collection's
//! entry end in a checksum over their own key and bytes, so a record that strayed to another key is damage
//! too. Invariant: keys sort as the things they name.

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::record::{ForkOrigin, Record};

/// The first byte of every record and collection entry.
const FORMAT: u8 = 1;
const HAS_EXPIRY: u8 = 1;
const CHECK_BYTES: usize = 8;

/// What the store knows of a collection besides its documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CollectionMeta {
    pub number: u64,
    /// No seq up to this one is given again, whether or not its document is still there.
    pub floor: u64,
    /// Seqs up to the last that have no document.
    pub removed: u64,
    pub origin: Option<ForkOrigin>,
    /// Where the turns are that this collection shares with those it was forked from, oldest first.
    pub sources: Vec<SeqRun>,
}

/// A run of seqs, both ends included, that is stored under another collection's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SeqRun {
    pub number: u64,
    pub first: u64,
    pub last: u64,
}

impl CollectionMeta {
    pub fn new(number: u64) -> Self {
        Self { number, floor: 0, removed: 0, origin: None, sources: Vec::new() }
    }

    /// The runs that make up the collection, oldest first; the last is its own.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = SeqRun> + '_ {
        let first = self.sources.last().map_or(0, |s| s.last) + 1;
        self.sources.iter().copied().chain([SeqRun { number: self.number, first, last: u64::MAX }])
    }

    pub fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut out = vec![FORMAT];
        for n in [self.number, self.floor, self.removed] {
            out.extend_from_slice(&n.to_be_bytes());
        }
        out.push(u8::from(self.origin.is_some()));
        for n in self.origin.iter().flat_map(|o| [o.from, o.at_seq, o.turns]) {
            out.extend_from_slice(&n.to_be_bytes());
        }
        out.push(self.sources.len() as u8);
        for n in self.sources.iter().flat_map(|s| [s.number, s.first, s.last]) {
            out.extend_from_slice(&n.to_be_bytes());
        }
        seal(key, out)
    }

    pub fn decode(key: &[u8], bytes: &[u8]) -> Result<Self, Error> {
        unseal(key, bytes).and_then(Self::read).map_err(|what| Error::damaged(collection_name(key), what))
    }

    fn read(mut bytes: &[u8]) -> Result<Self, &'static str> {
        let read = |bytes: &mut &[u8]| {
            let (number, floor, removed) = (take_u64(bytes)?, take_u64(bytes)?, take_u64(bytes)?);
            let origin = match take_u8(bytes)? {
                0 => None,
                _ => Some(ForkOrigin { from: take_u64(bytes)?, at_seq: take_u64(bytes)?, turns: take_u64(bytes)? }),
            };
            let sources = (0..take_u8(bytes)?)
                .map(|_| Some(SeqRun { number: take_u64(bytes)?, first: take_u64(bytes)?, last: take_u64(bytes)? }))
                .collect::<Option<_>>()?;
            Some(Self { number, floor, removed, origin, sources })
        };
        read(&mut bytes).ok_or("the entry is cut short")
    }
}

impl Record {
    pub fn encode(&self, key: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(28 + self.id.len() + self.value.len() + CHECK_BYTES);
        out.push(FORMAT);
        out.push(if self.expires_at.is_some() { HAS_EXPIRY } else { 0 });
        out.extend_from_slice(&self.version.to_be_bytes());
        out.extend_from_slice(&self.create_time.to_bits().to_be_bytes());
        if let Some(at) = self.expires_at {
            out.extend_from_slice(&at.to_bits().to_be_bytes());
        }
        out.extend_from_slice(&(self.id.len() as u16).to_be_bytes());
        out.extend_from_slice(self.id.as_bytes());
        out.extend_from_slice(&self.value);
        seal(key, out)
    }

    pub fn decode(key: &[u8], bytes: &[u8]) -> Result<Self, Error> {
        unseal(key, bytes).and_then(Self::read).map_err(|what| Error::damaged(document_name(key), what))
    }

    fn read(mut bytes: &[u8]) -> Result<Self, &'static str> {
        let read = |bytes: &mut &[u8]| {
            let flags = take_u8(bytes)?;
            let version = take_u64(bytes)?;
            let create_time = f64::from_bits(take_u64(bytes)?);
            let expires_at = match flags & HAS_EXPIRY {
                0 => None,
                _ => Some(f64::from_bits(take_u64(bytes)?)),
            };
            let id_len = u16::from_be_bytes(take(bytes)?);
            let (id, value) = bytes.split_at_checked(usize::from(id_len))?;
            let id = std::str::from_utf8(id).ok()?.into();
            Some(Self { id, version, create_time, expires_at, value: Bytes::copy_from_slice(value) })
        };
        read(&mut bytes).ok_or("the record is cut short")
    }
}

fn seal(key: &[u8], mut out: Vec<u8>) -> Vec<u8> {
    out.extend_from_slice(&checksum(key, &out).to_be_bytes());
    out
}

/// The bytes between the format byte and the checksum, if both are right.
fn unseal<'a>(key: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], &'static str> {
    let (body, check) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or("it is cut short")?;
    if checksum(key, body) != u64::from_be_bytes(*check) {
        return Err("its checksum does not hold");
    }
    match body.split_first() {
        Some((&FORMAT, rest)) => Ok(rest),
        _ => Err("it was written by a newer version"),
    }
}

fn checksum(key: &[u8], body: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(key);
    hasher.update(body);
    hasher.digest()
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (head, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*head)
}

fn take_u8(bytes: &mut &[u8]) -> Option<u8> {
    take::<1>(bytes).map(|[byte]| byte)
}

pub(crate) fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    take(bytes).map(u64::from_be_bytes)
}

/// `users`, 0, `ana`, 0, `notes`: no id holds a control character, so no id forges a separator.
pub(crate) fn collection_key(path: &CollectionPath) -> Box<[u8]> {
    segments_key(path.segments())
}

pub(crate) fn segments_key(segments: &[Box<str>]) -> Box<[u8]> {
    segments.join("\0").into_bytes().into()
}

/// The bounds of all collections at a path or below it; no path means all there are. Only a path with an odd
/// number of segments is that of a collection itself.
pub(crate) fn below(segments: &[Box<str>]) -> (Vec<u8>, Vec<u8>) {
    if segments.is_empty() {
        return (vec![1], vec![0xff]);
    }
    let key = segments_key(segments);
    let low = if segments.len() % 2 == 1 { key.to_vec() } else { [&*key, &[0]].concat() };
    (low, [&*key, &[1]].concat())
}

pub(crate) fn collection_path(key: &[u8]) -> Result<CollectionPath, Error> {
    let text = std::str::from_utf8(key).map_err(|_| Error::damaged(collection_name(key), "its path is not text"))?;
    let segments: Vec<&str> = text.split('\0').collect();
    CollectionPath::new(&segments).map_err(|e| Error::damaged(collection_name(key), e.to_string()))
}

pub(crate) fn pair_key(first: u64, second: u64) -> [u8; 16] {
    let mut key = [0; 16];
    let (head, tail) = key.split_at_mut(8);
    head.copy_from_slice(&first.to_be_bytes());
    tail.copy_from_slice(&second.to_be_bytes());
    key
}

/// Of a key that starts with two numbers: a document's collection and seq, a fork's source and child.
pub(crate) fn pair_of(mut key: &[u8]) -> Option<(u64, u64)> {
    Some((take_u64(&mut key)?, take_u64(&mut key)?))
}

pub(crate) fn id_key(number: u64, id: &str) -> Vec<u8> {
    [&number.to_be_bytes(), id.as_bytes()].concat()
}

pub(crate) fn time_key(number: u64, create_time: f64, seq: u64) -> [u8; 24] {
    triple(number, ordered(create_time), seq)
}

pub(crate) fn expiry_key(expires_at: f64, number: u64, seq: u64) -> [u8; 24] {
    triple(ordered(expires_at), number, seq)
}

pub(crate) fn triple_of(mut key: &[u8]) -> Option<(u64, u64, u64)> {
    Some((take_u64(&mut key)?, take_u64(&mut key)?, take_u64(&mut key)?))
}

fn triple(a: u64, b: u64, c: u64) -> [u8; 24] {
    let mut key = [0; 24];
    for (slot, n) in key.chunks_exact_mut(8).zip([a, b, c]) {
        slot.copy_from_slice(&n.to_be_bytes());
    }
    key
}

/// A finite number as an integer of the same order; both zeros are one.
pub(crate) fn ordered(time: f64) -> u64 {
    let bits = (time + 0.0).to_bits();
    match bits >> 63 {
        0 => bits | 1 << 63,
        _ => !bits,
    }
}

pub(crate) fn unordered(bits: u64) -> f64 {
    f64::from_bits(match bits >> 63 {
        1 => bits & !(1 << 63),
        _ => !bits,
    })
}

fn collection_name(key: &[u8]) -> String {
    format!("collection {}", String::from_utf8_lossy(key).replace('\0', "/"))
}

fn document_name(key: &[u8]) -> String {
    match pair_of(key) {
        Some((number, seq)) => format!("document {seq} of collection number {number}"),
        None => "a document with an unreadable key".into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record() -> Record {
        Record {
            id: "olá".into(),
            version: 3,
            create_time: 1.5,
            expires_at: Some(9.25),
            value: Bytes::from_static(b"{ }"),
        }
    }

    #[test]
    fn a_record_comes_back_whole() {
        for expires_at in [None, Some(9.25)] {
            let record = Record { expires_at, ..record() };
            assert_eq!(Record::decode(b"k", &record.encode(b"k")).unwrap(), record);
        }
    }

    #[test]
    fn any_flipped_bit_any_cut_and_any_other_key_is_damage() {
        let bytes = record().encode(b"k");
        assert!(Record::decode(b"l", &bytes).is_err());
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert!(Record::decode(b"k", &flipped).is_err(), "flip at {at}");
            assert!(Record::decode(b"k", &bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_collection_entry_comes_back_whole() {
        let source = SeqRun { number: 4, first: 1, last: 9 };
        let origin = Some(ForkOrigin { from: 4, at_seq: 9, turns: 8 });
        for meta in [
            CollectionMeta::new(7),
            CollectionMeta { floor: 9, removed: 1, origin, sources: vec![source], ..CollectionMeta::new(7) },
        ] {
            assert_eq!(CollectionMeta::decode(b"a", &meta.encode(b"a")).unwrap(), meta);
            assert!(CollectionMeta::decode(b"b", &meta.encode(b"a")).is_err());
        }
    }

    proptest! {
        #[test]
        fn times_sort_as_numbers(a in -1e18f64..1e18, b in -1e18f64..1e18) {
            prop_assert_eq!(ordered(a).cmp(&ordered(b)), a.partial_cmp(&b).unwrap());
            prop_assert_eq!(unordered(ordered(a)), a);
        }
    }
}
