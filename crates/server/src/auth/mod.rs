//! Keys, and who may call what.
//!
//! `keys` owns the keys, `closing` the fact that a store which ever had a key stays closed, `access` which
//! kinds of key may call a route. Invariants: on loopback, in a store that never had a key, the caller is the
//! admin; from the first key on every call needs one, also when all keys are gone.

mod access;
mod closing;
mod keys;

pub(crate) use access::Access;
pub(crate) use closing::{AccessState, is_state_path};
pub(crate) use keys::{CLOSED, CLOSED_HINT, Key, KeyKind, Keys, secret};
