//! Who a caller is, and what it may do.
//!
//! Owns the caller of a request and the checks that handlers make of it. `keys` owns the keys, `closing` the fact that
//! a store which ever had a key stays closed, `routes` the table of which kind of key may call which route. Invariants:
//! on loopback, in a store that never had a key, the caller is the admin; from the first key on every call needs one,
//! also when all keys are gone.

mod closing;
mod keys;
pub mod routes;

use novelo_engine::path::check_id;
use novelo_engine::scope::Scope;

pub use closing::{AccessState, is_state_path};
pub use keys::{CLOSED, CLOSED_HINT, InForce, KEYS, Key, KeyKind, Keys, secret};

use crate::forget::FORGETS;
use crate::http::error::{ApiError, Code, Result};
use crate::peers::NODES;

/// The user of threads and documents of callers that name none.
pub const ANONYMOUS: &str = "anonymous";

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub scope: Scope,
    proof: Proof,
}

/// What a caller showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Nothing: the server is open.
    Nothing,
    Key,
    /// The secret that this process gives to this machine's own command line.
    OwnSecret,
}

impl Caller {
    pub fn new(scope: Scope, proof: Proof) -> Self {
        Self { scope, proof }
    }

    pub fn is_admin(&self) -> bool {
        self.scope == Scope::Admin
    }

    pub fn is_guest(&self) -> bool {
        self.scope == Scope::Guest
    }

    /// Whether this is the operator on the server's own machine.
    pub fn is_operator(&self) -> bool {
        self.proof == Proof::OwnSecret
    }

    /// Whether it is the admin only because the server is open.
    pub fn is_unproven(&self) -> bool {
        self.proof == Proof::Nothing
    }

    /// The user that its key belongs to; the keys of guests, services and admins belong to none.
    pub fn user(&self) -> Option<String> {
        match &self.scope {
            Scope::User(user) => Some(user.to_string()),
            Scope::AnyUser | Scope::Guest | Scope::Admin => None,
        }
    }

    /// The user that a request is about: the one that it names in `field`, which the caller must be allowed, else the
    /// key's own. A service key must name one, so that what is of several customers never gets the same owner.
    pub fn subject(&self, field: &str, named: Option<String>) -> Result<Option<String>> {
        if let Some(user) = &named {
            check_id(user).map_err(|e| ApiError::bad_id(field, &e))?;
            self.require_user(user)?;
        }
        match named.or_else(|| self.user()) {
            None if self.scope == Scope::AnyUser => {
                Err(ApiError::invalid(field, "is missing: a service key names the user that it acts for"))
            }
            user => Ok(user),
        }
    }

    /// Allows what only an admin may do.
    pub fn require_admin(&self) -> Result<()> {
        match self.is_admin() {
            true => Ok(()),
            false => Err(ApiError::new(Code::Forbidden, "an admin key is needed")),
        }
    }

    /// Allows what concerns one user.
    pub fn require_user(&self, user: &str) -> Result<()> {
        match self.scope.covers_user(user) {
            true => Ok(()),
            false if self.is_guest() => Err(ApiError::new(Code::Forbidden, "a guest key reaches no user's data")),
            false => Err(ApiError::new(Code::Forbidden, "the key belongs to another user")),
        }
    }

    /// Allows what concerns one path.
    pub fn require_path(&self, segments: &[Box<str>]) -> Result<()> {
        let reserved = segments.first().is_some_and(|root| [KEYS, NODES, FORGETS].contains(&&**root));
        match self.scope.covers(segments) && !reserved {
            true => Ok(()),
            false => Err(ApiError::new(Code::Forbidden, "the path lies outside what this caller may see")),
        }
    }
}
