//! Who a caller is, and what it may do.
//!
//! Owns the caller of a request and the checks made of it, and the roots of the store that no document call
//! can name.

use std::time::Duration;

use novelo_engine::path::check_id;
use novelo_engine::scope::Scope;

use crate::error::{Code, Error, Result};

/// The root of the keys.
pub const KEYS: &str = "keys";
/// The root of what nodes say of themselves.
pub const NODES: &str = "novelo.nodes";
/// The root of the record of what was forgotten.
pub const FORGETS: &str = "novelo.forgets";
/// The root of what is known of how long threads are kept.
pub(crate) const RETENTION: &str = "novelo.retention";

/// The user of threads and documents of callers that name none.
pub const ANONYMOUS: &str = "anonymous";

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What the caller may reach.
    pub scope: Scope,
    proof: Proof,
    /// How long the conversations are kept that its key makes.
    pub ttl: Option<Duration>,
}

/// What a caller showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Nothing: the server is open.
    Nothing,
    /// An API key.
    Key,
    /// The secret that this process gives to this machine's own command line.
    OwnSecret,
}

impl Caller {
    /// A caller.
    pub fn new(scope: Scope, proof: Proof) -> Self {
        Self { scope, proof, ttl: None }
    }

    /// The same with a key that says how long its conversations are kept.
    pub fn keeping_for(self, ttl: Option<Duration>) -> Self {
        Self { ttl, ..self }
    }

    /// Whether the caller may do everything.
    pub fn is_admin(&self) -> bool {
        self.scope == Scope::Admin
    }

    /// Whether the caller is a guest.
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

    /// The user that a request is about: the one that it names in `field`, which the caller must be allowed,
    /// else the key's own. A service key must name one, so that what is of several customers never gets the
    /// same owner.
    pub fn subject(&self, field: &str, named: Option<String>) -> Result<Option<String>> {
        if let Some(user) = &named {
            check_id(user).map_err(|e| Error::bad_id(field, &e))?;
            self.require_user(user)?;
        }
        match named.or_else(|| self.user()) {
            None if self.scope == Scope::AnyUser => {
                Err(Error::invalid(field, "is missing: a service key names the user that it acts for"))
            }
            user => Ok(user),
        }
    }

    /// Allows what only an admin may do.
    pub fn require_admin(&self) -> Result<()> {
        match self.is_admin() {
            true => Ok(()),
            false => Err(Error::new(Code::Forbidden, "an admin key is needed")),
        }
    }

    /// Allows what concerns one user.
    pub fn require_user(&self, user: &str) -> Result<()> {
        match self.scope.covers_user(user) {
            true => Ok(()),
            false if self.is_guest() => Err(Error::new(Code::Forbidden, "a guest key reaches no user's data")),
            false => Err(Error::new(Code::Forbidden, "the key belongs to another user")),
        }
    }

    /// Allows what concerns one path.
    pub fn require_path(&self, segments: &[Box<str>]) -> Result<()> {
        let reserved = segments.first().is_some_and(|root| [KEYS, NODES, FORGETS, RETENTION].contains(&&**root));
        match self.scope.covers(segments) && !reserved {
            true => Ok(()),
            false => Err(Error::new(Code::Forbidden, "the path lies outside what this caller may see")),
        }
    }
}
