//! What a request may see.
//!
//! Owns the one question of tenancy: may this caller name this path? A user's scope covers `users/{user}` and
//! all below it, compared segment by segment, so that no id can reach across. Nothing else in the tree
//! decides this. Which calls a kind of key may make at all is the server's table of routes.

use crate::path::{CollectionPath, DocumentPath, PathError, check_id};

/// The documents a request may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// One user's documents.
    User(Box<str>),
    /// Those of any one user that the request names, and nothing that belongs to no user.
    AnyUser,
    /// None: a guest names its own id with each message, and reads nothing else.
    Guest,
    /// Every document.
    Admin,
}

impl Scope {
    /// The scope of one user.
    pub fn user(id: &str) -> Result<Self, PathError> {
        check_id(id).map(|()| Self::User(id.into()))
    }

    /// Whether a path, given as its segments, lies within this scope.
    pub fn covers(&self, segments: &[Box<str>]) -> bool {
        match (self, segments) {
            (Self::Admin, _) => true,
            (Self::User(id), [root, user, ..]) => &**root == USERS && user == id,
            (Self::AnyUser, [root, _, ..]) => &**root == USERS,
            (Self::User(_) | Self::AnyUser | Self::Guest, _) => false,
        }
    }

    /// Whether the documents of a user lie within this scope.
    pub fn covers_user(&self, user: &str) -> bool {
        match self {
            Self::Admin | Self::AnyUser => true,
            Self::User(id) => &**id == user,
            Self::Guest => false,
        }
    }
}

/// The collection of all users.
pub const USERS: &str = "users";
/// The collection of a user's threads.
pub const THREADS: &str = "convo.sessions";
/// The collection of a thread's turns.
pub const TURNS: &str = "messages";

/// Whose documents: a user's, or those that belong to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root<'a> {
    /// The documents of a user.
    User(&'a str),
    /// The documents that belong to no user.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_covers_what_is_its_own() {
        let check = |scope: &Scope, path: &[&str], covered: bool| {
            let segments: Vec<Box<str>> = path.iter().map(|segment| (*segment).into()).collect();
            assert_eq!(scope.covers(&segments), covered, "{scope:?} {path:?}");
        };
        let ana = Scope::user("ana").unwrap();
        for (path, [user, any, admin]) in [
            (&["users", "ana"][..], [true, true, true]),
            (&["users", "ana", "notes", "n"], [true, true, true]),
            (&["users", "anab"], [false, true, true]),
            (&["users"], [false, false, true]),
            (&["shared", "ana"], [false, false, true]),
            (&[], [false, false, true]),
        ] {
            check(&ana, path, user);
            check(&Scope::AnyUser, path, any);
            check(&Scope::Admin, path, admin);
            check(&Scope::Guest, path, false);
        }
        let covers = |scope: &Scope| ["ana", "bob"].map(|user| scope.covers_user(user));
        let scopes = [&ana, &Scope::AnyUser, &Scope::Guest, &Scope::Admin];
        assert_eq!(scopes.map(covers), [[true, false], [true, true], [false, false], [true, true]]);
    }
}
