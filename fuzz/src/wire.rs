//! What comes over the wire from models and from Redis: the same however it is cut, and never a panic.

/// The first byte says where the rest is cut.
fn cut(data: &[u8]) -> Option<(&[u8], usize)> {
    let (first, rest) = data.split_first()?;
    Some((rest, usize::from(*first) % 61 + 1))
}

/// An answer of a model.
pub fn streams(data: &[u8]) {
    let Some((rest, size)) = cut(data) else { return };
    let whole = novelo_conversation::model::read_answer([rest].into_iter());
    assert_eq!(novelo_conversation::model::read_answer(rest.chunks(size)), whole, "cut into {size}");
}

/// What one announced length may reserve, and what a read does.
const RESERVED_BYTES_MAX: usize = 5 * 1024 * 1024;

/// A stream of replies of Redis.
pub fn replies(data: &[u8]) {
    let Some((rest, size)) = cut(data) else { return };
    let (whole, most) = novelo_store::read_redis_replies([rest].into_iter());
    let (pieces, most_of_pieces) = novelo_store::read_redis_replies(rest.chunks(size));
    assert_eq!(pieces, whole, "cut into {size}");
    assert!(most.max(most_of_pieces) <= RESERVED_BYTES_MAX + 2 * rest.len(), "{most} and {most_of_pieces} bytes");
}
