//! What a request may see.
//!
//! Owns the one question of tenancy: may this caller name this path? A user's scope covers `users/{user}` and all
//! below it, compared segment by segment, so that no id can reach across. Nothing else in the tree decides this.

use crate::path::{CollectionPath, DocumentPath, PathError, check_id};

/// The documents a request may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// One user's documents.
    User(Box<str>),
    /// Every user's.
    Admin,
}

impl Scope {
    pub fn user(id: &str) -> Result<Self, PathError> {
        check_id(id).map(|()| Self::User(id.into()))
    }

    /// Whether a path, given as its segments, lies within this scope.
    pub fn covers(&self, segments: &[Box<str>]) -> bool {
        match (self, segments) {
            (Self::Admin, _) => true,
            (Self::User(id), [root, user, ..]) => &**root == USERS && user == id,
            (Self::User(_), _) => false,
        }
    }

    pub fn covers_user(&self, user: &str) -> bool {
        match self {
            Self::Admin => true,
            Self::User(id) => &**id == user,
        }
    }
}

pub const USERS: &str = "users";
pub const THREADS: &str = "convo.sessions";
pub const TURNS: &str = "messages";

/// Whose documents: a user's, or those that belong to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root<'a> {
    User(&'a str),
    Legacy,
}

impl Root<'_> {
    /// The collection at these segments below the root.
    pub fn collection(self, below: &[&str]) -> Result<CollectionPath, PathError> {
        match self {
            Self::User(user) => CollectionPath::new(&[&[USERS, user], below].concat()),
            Self::Legacy => CollectionPath::new(below),
        }
    }

    /// `convo.sessions/{thread}` below the root.
    pub fn thread(self, id: &str) -> Result<DocumentPath, PathError> {
        self.collection(&[THREADS])?.document(id)
    }
}

/// `users/{user}`
pub fn user(user: &str) -> Result<DocumentPath, PathError> {
    DocumentPath::new(&[USERS, user])
}

/// `users/{user}/convo.sessions`
pub fn threads(of: &str) -> Result<CollectionPath, PathError> {
    CollectionPath::new(&[USERS, of, THREADS])
}

/// `users/{user}/convo.sessions/{thread}`
pub fn thread(user: &str, thread: &str) -> Result<DocumentPath, PathError> {
    DocumentPath::new(&[USERS, user, THREADS, thread])
}

/// `users/{user}/convo.sessions/{thread}/messages`
pub fn turns(user: &str, of: &str) -> Result<CollectionPath, PathError> {
    CollectionPath::new(&[USERS, user, THREADS, of, TURNS])
}

/// `users/{user}/convo.sessions/{thread}/references/last`
pub fn references(user: &str, of: &str) -> Result<DocumentPath, PathError> {
    DocumentPath::new(&[USERS, user, THREADS, of, "references", "last"])
}
