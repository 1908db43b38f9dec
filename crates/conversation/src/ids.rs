//! New ids.
//!
//! Owns the one generator: UUIDv7, sorted by time. Randomness is drawn once per process and then counted on,
//! so that an id costs no call to the operating system. Ids are unique, not secret; secrets come from `auth`.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

/// An id that nobody else has.
pub fn fresh() -> Uuid {
    let seed = SEED.get_or_init(|| Uuid::new_v4().as_u128());
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mixed = mix((*seed as u64).wrapping_add(count));
    let mut bytes = [0; 10];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&mixed.to_be_bytes());
    high.copy_from_slice(&((*seed >> 112) as u16).to_be_bytes());
    let now_ms = (crate::telemetry::now() * 1e3) as u64;
    uuid::Builder::from_unix_timestamp_millis(now_ms, &bytes).into_uuid()
}

/// The same as 32 hex digits.
pub fn fresh_text() -> String {
    fresh().simple().to_string()
}

/// A few hex digits that tell one node from another; how many there are of those is counted on fingers.
pub fn short() -> String {
    format!("{:08x}", Uuid::new_v4().as_fields().0)
}

/// A new name of a reply, which says which node makes it.
pub fn reply_name(node: &str) -> String {
    format!("{node}-{}", Uuid::new_v4().simple())
}

/// The node that makes the reply of this name.
pub fn node_of_reply(name: &str) -> Option<&str> {
    name.split_once('-').map(|(node, _)| node).filter(|node| is_short(node))
}

/// Whether a text has the form of `short`.
pub(crate) fn is_short(text: &str) -> bool {
    text.len() == SHORT_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

const SHORT_DIGITS: usize = 8;

static SEED: OnceLock<u128> = OnceLock::new();
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A permutation of all 64-bit numbers that leaves no trace of their order.
fn mix(mut n: u64) -> u64 {
    n = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_have_their_form() {
        let (one, other) = (short(), short());
        assert!(is_short(&one) && is_short(&other) && one != other);
        assert!(!is_short(&one[1..]) && !is_short("0123456-"));
    }

    #[test]
    fn ids_differ_and_sort_by_time() {
        let first = fresh();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let ids: std::collections::BTreeSet<Uuid> = (0..100_000).map(|_| fresh()).collect();
        assert_eq!(ids.len(), 100_000);
        assert!(ids.first() > Some(&first));
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }
}
