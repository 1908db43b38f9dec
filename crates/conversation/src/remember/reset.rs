//! Resetting what is remembered of a user, by scope.
//!
//! Owns what each scope names. Tasks and documents are in none of them. Invariant: a summary that outlives
//! the turns it was made from covers no turn.

use novelo_engine::loaded::{summary_path, user_data_path};
use novelo_engine::path::{CollectionPath, PathError, Prefix};
use novelo_engine::scope;

use super::{place, summary};
use crate::error::{Error, Result};
use crate::remember::UserMemory;
use crate::remember::forget::{self, Forgotten, Traces};
use crate::search::vectors;

/// What a reset removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everything.
    All,
    /// The memories.
    Vector,
    /// The turns of a session.
    ShortTerm,
    /// The summary.
    Summary,
    /// What is known of the user.
    UserData,
}

impl Scope {
    /// The names on the wire.
    pub const NAMES: [(&str, Self); 5] = [
        ("all", Self::All),
        ("vector", Self::Vector),
        ("short_term", Self::ShortTerm),
        ("summary", Self::Summary),
        ("user_data", Self::UserData),
    ];

    /// The scope of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, scope)| scope)
    }
}

/// Forgets what a scope names. Without a session it is the one named `default`; with `all` it is every one.
pub async fn reset(app: &UserMemory, user: &str, session: Option<&str>, scope: Scope) -> Result<Forgotten> {
    let thread = session.unwrap_or(DEFAULT_SESSION);
    let bad_id = |e: PathError| Error::bad_id("session_id", &e);
    let (what, traces) = match scope {
        Scope::Vector => (searchable(&place::memories(user)?), Traces::Stay),
        Scope::ShortTerm => (searchable(&scope::turns(user, thread).map_err(bad_id)?), Traces::Stay),
        Scope::Summary => (vec![summary_path(user, thread).map_err(bad_id)?.prefix()], Traces::Stay),
        Scope::UserData => (vec![user_data_path(user).map_err(bad_id)?.prefix()], Traces::Stay),
        Scope::All => {
            let (sessions, traces) = match session {
                Some(thread) => (scope::thread(user, thread).map_err(bad_id)?.prefix(), Traces::OfThread(thread)),
                None => (scope::threads(user).map_err(bad_id)?.prefix(), Traces::OfUser),
            };
            ([vec![sessions], of_user(user)?].concat(), traces)
        }
    };
    let forgotten = forget::forget(app, user, &what, traces).await?;
    match scope {
        Scope::ShortTerm => summary::begin_anew(app, user, thread).await?,
        Scope::Summary => summary::begin_here(app, user, thread).await?,
        Scope::All | Scope::Vector | Scope::UserData => {}
    }
    Ok(forgotten)
}

/// The session that is meant where none is named.
pub const DEFAULT_SESSION: &str = "default";

/// What belongs to no session.
fn of_user(user: &str) -> Result<Vec<Prefix>> {
    let data = user_data_path(user).map_err(|e| Error::bad_id("user_id", &e))?;
    let mut what = searchable(&place::memories(user)?);
    what.extend([data.prefix(), place::task_memory(user)?.prefix()]);
    Ok(what)
}

/// A collection whose documents are passages, and their vectors.
fn searchable(of: &CollectionPath) -> Vec<Prefix> {
    vectors::with(of).iter().map(CollectionPath::prefix).collect()
}
