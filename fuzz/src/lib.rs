//! What must hold for any bytes at all.
//!
//! One function per fuzz target, so that an input that broke one can be replayed from a test or a debugger. Each
//! panics when an invariant is broken, and returns otherwise.

/// Any bytes are either refused or decoded, and what was decoded survives the way out and back in.
pub fn assemble(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(segments) = novelo_engine::path::decode(text) else { return };
    let encoded: Vec<String> = segments.iter().map(|s| novelo_engine::path::encode_segment(s)).collect();
    let again = novelo_engine::path::decode(&encoded.join("/"));
    assert_eq!(again.as_ref(), Ok(&segments), "a path changed on its way out and back in");
}
