//! The memory of all request bodies together.
//!
//! Owns `http.bodies_bytes`. The bytes of a body count from the first one received until its request is
//! answered; a body that would pass the bound is refused with 503. The first 64 KiB of each body have a share
//! of their own, so that small requests get through while large ones are refused, and slow senders of large
//! bodies block nobody.

use std::sync::{Arc, Mutex, PoisonError};

use novelo_conversation::error::{Code, Error, Result};

/// The bytes of a body that count in the share for small bodies.
const SMALL_BYTES: usize = 64 * 1024;
/// The share for small bodies is one part in this many.
const SMALL_SHARE: usize = 4;
const RETRY_AFTER_S: u64 = 2;

/// The memory in use, and its bound.
#[derive(Debug)]
pub struct BodyBytes {
    max: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Taken {
    /// In the share for small bodies.
    small: usize,
    large: usize,
}

impl Taken {
    fn from_bytes(bytes: usize) -> Self {
        Self { small: bytes.min(SMALL_BYTES), large: bytes.saturating_sub(SMALL_BYTES) }
    }
}

impl BodyBytes {
    pub fn new(max: usize) -> Self {
        Self { max, taken: Mutex::default() }
    }

    pub fn taken(&self) -> usize {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.small + taken.large
    }

    /// The metrics for Prometheus.
    pub fn metrics(&self) -> String {
        let (taken, max) = (self.taken(), self.max);
        format!(
            "# TYPE novelo_bodies_bytes gauge\nnovelo_bodies_bytes {taken}\n\
            # TYPE novelo_bodies_bytes_max gauge\nnovelo_bodies_bytes_max {max}\n"
        )
    }

    /// Changes the memory of a body. Returns whether there was room.
    fn exchange(&self, had: Taken, needs: Taken) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let (small, large) = (taken.small - had.small + needs.small, taken.large - had.large + needs.large);
        let small_max = self.max / SMALL_SHARE;
        let grows = needs.small > had.small || needs.large > had.large;
        let fits = |now: usize, before: usize, max: usize| now <= max || now <= before;
        if grows && !(fits(small, taken.small, small_max) && fits(large, taken.large, self.max - small_max)) {
            return false;
        }
        *taken = Taken { small, large };
        true
    }
}

/// The memory of one request's body. Clones belong to the same request.
#[derive(Debug, Clone)]
pub struct HeldBytes(Arc<Held>);

#[derive(Debug)]
struct Held {
    all: Arc<BodyBytes>,
    bytes: Mutex<usize>,
}

impl HeldBytes {
    pub fn new(all: &Arc<BodyBytes>) -> Self {
        Self(Arc::new(Held { all: all.clone(), bytes: Mutex::new(0) }))
    }

    /// Sets the memory to exactly this many bytes.
    pub fn set(&self, bytes: usize) -> Result<()> {
        match self.0.set(bytes) {
            true => Ok(()),
            false => {
                let message = format!(
                    "the bodies of all requests together have reached http.bodies_bytes, {} bytes; try again shortly",
                    self.0.all.max
                );
                Err(Error { retry_after_s: RETRY_AFTER_S, ..Error::new(Code::Unavailable, message) })
            }
        }
    }

    /// Sets the memory to at least this many bytes: a body that is read twice counts once.
    pub(crate) fn grow(&self, bytes: usize) -> Result<()> {
        let has = *self.0.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > has { self.set(bytes) } else { Ok(()) }
    }

    pub(crate) fn release(&self) {
        self.0.set(0);
    }
}

impl Held {
    fn set(&self, needs: usize) -> bool {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_given = self.all.exchange(Taken::from_bytes(*bytes), Taken::from_bytes(needs));
        if is_given {
            *bytes = needs;
        }
        is_given
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 4 * 1024 * 1024;

    #[test]
    fn what_is_taken_comes_back() {
        let all = Arc::new(BodyBytes::new(MAX));
        let [one, other] = [HeldBytes::new(&all), HeldBytes::new(&all)];
        one.set(100).unwrap();
        one.clone().set(70_000).unwrap();
        other.grow(10).unwrap();
        other.grow(5).unwrap();
        assert_eq!(all.taken(), 70_010);
        one.set(7).unwrap();
        assert_eq!(all.taken(), 17);
        other.release();
        drop(one);
        assert_eq!(all.taken(), 0);
        drop(other);
        assert_eq!(all.taken(), 0);
    }

    #[test]
    fn large_bodies_leave_room_for_small_ones() {
        let all = Arc::new(BodyBytes::new(MAX));
        let large = MAX - MAX / SMALL_SHARE;
        let held = HeldBytes::new(&all);
        held.set(large + SMALL_BYTES).unwrap();
        let error = held.set(large + SMALL_BYTES + 1).unwrap_err();
        assert!(error.message.contains("http.bodies_bytes") && error.retry_after_s > 0, "{error}");
        let small = || {
            let other = HeldBytes::new(&all);
            other.set(SMALL_BYTES).is_ok().then_some(other)
        };
        let others: Vec<_> = std::iter::from_fn(small).collect();
        assert_eq!(others.len(), MAX / SMALL_SHARE / SMALL_BYTES - 1);
        assert_eq!(all.taken(), MAX);
        held.set(1).unwrap();
        assert!(HeldBytes::new(&all).set(SMALL_BYTES - 1).is_ok(), "what one gave back another has");
    }
}
