//! Which kind of caller may call which route.
//!
//! Owns the one table. The extractor of a `Caller` checks against it, so that a handler cannot forget to, and a route
//! that has no row is for admins alone. Whose data a call reaches is decided by `Scope`, here for the user in the
//! address and in the handler for one in a body. `docs/security.md` has the same table, and `tests/identity.rs` compares.

use novelo_engine::scope::Scope;

use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};

/// The kinds of caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallerKind {
    Guest,
    User,
    Service,
    Admin,
}

use CallerKind::{Admin, Guest, Service, User};

/// Pages, scripts and styles that hold no data, and what a load balancer asks.
const PUBLIC: [&str; 6] = ["/", "/chat", "/assets/{name}", "/health/live", "/health/ready", "/openapi.json"];

/// The trace of a request is an admin's; the page that reads it is the same for everybody and holds nothing.
const TRACE_PAGE: &str = "/debug/trace/{id}";

const FOR_USERS: &[CallerKind] = &[User, Service, Admin];
const FOR_ADMINS: &[CallerKind] = &[Admin];

/// Everything below a user's own address is for those who may name the user.
const OF_A_USER: &str = "/v1/users/{user}";

const ROUTES: &[(&str, &[CallerKind])] = &[
    ("/ask-eco", &[Guest, User, Service, Admin]),
    ("/ask", FOR_USERS),
    ("/api/ask", FOR_USERS),
    ("/chat/ask", FOR_USERS),
    ("/chat/replies/{name}", FOR_USERS),
    ("/memory/chat", FOR_USERS),
    ("/memory/context", FOR_USERS),
    ("/memory/reset", FOR_USERS),
    ("/memory/skills", FOR_USERS),
    ("/memory/skills/{name}", FOR_USERS),
    ("/context/topicContextYoj/run", FOR_USERS),
    ("/jobs/context/topicContextYoj/run", FOR_USERS),
    ("/collapse/indexer/run", FOR_USERS),
    ("/collapse/state/set", FOR_USERS),
    ("/context/collapse/indexer/run", FOR_USERS),
    ("/context/collapse/state/set", FOR_USERS),
    ("/jobs/context/collapse/indexer/run", FOR_USERS),
    ("/jobs/context/collapse/state/set", FOR_USERS),
    ("/v1/chat/completions", FOR_USERS),
    ("/v1/context", FOR_USERS),
    ("/v1/docs:batch", FOR_USERS),
    ("/v1/docs/{*path}", FOR_USERS),
    ("/v1/import", &[User, Admin]),
    ("/v1/models", FOR_USERS),
    ("/v1/models/{*model}", FOR_USERS),
    ("/v1/traces/{id}", FOR_USERS),
    ("/v1/traces/{id}/replay", FOR_USERS),
    (TRACE_PAGE, FOR_ADMINS),
    ("/metrics", FOR_ADMINS),
    ("/v1/doctor", FOR_ADMINS),
    ("/v1/export", FOR_ADMINS),
    ("/v1/index/rebuild", FOR_ADMINS),
    ("/v1/keys", FOR_ADMINS),
    ("/v1/keys:open", FOR_ADMINS),
    ("/v1/keys/{id}", FOR_ADMINS),
];

/// Whether a route is anybody's, with a key or without.
pub fn is_public(route: &str) -> bool {
    PUBLIC.contains(&route)
}

/// Whether a route has something for callers without a key.
pub fn gives_pages(route: &str) -> bool {
    is_public(route) || route == TRACE_PAGE
}

/// Lets through who may call a route.
pub fn require(route: Option<&str>, caller: &Caller) -> Result<()> {
    let kind = kind(caller);
    let route = route.unwrap_or_default();
    if is_public(route) || allowed(route).contains(&kind) {
        return Ok(());
    }
    let message = match kind {
        Guest => "a guest key may ask at /ask-eco and nothing else",
        Service => "a service key acts for users and administers nothing; an admin key is needed",
        User | Admin => "an admin key is needed",
    };
    Err(Error::new(Code::Forbidden, message))
}

fn allowed(route: &str) -> &'static [CallerKind] {
    let is_of_a_user = route.strip_prefix(OF_A_USER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let row = ROUTES.iter().find(|(of, _)| *of == route).map(|(_, kinds)| *kinds);
    row.unwrap_or(if is_of_a_user { FOR_USERS } else { FOR_ADMINS })
}

fn kind(caller: &Caller) -> CallerKind {
    match &caller.scope {
        Scope::Guest => Guest,
        Scope::User(_) => User,
        Scope::AnyUser => Service,
        Scope::Admin => Admin,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use novelo_conversation::caller::Proof;

    #[test]
    fn a_route_without_a_row_is_for_admins() {
        let may = |scope: Scope, route: &str| require(Some(route), &Caller::new(scope, Proof::Key)).is_ok();
        for route in ["/v1/brand-new", "/v1/usersx", "/v1/users/{user}x", ""] {
            assert!(may(Scope::Admin, route) && !may(Scope::AnyUser, route) && !may(Scope::Guest, route), "{route}");
            assert!(!may(Scope::user("a").unwrap(), route), "{route}");
        }
        assert!(may(Scope::user("a").unwrap(), "/v1/users/{user}/threads"));
        assert!(!may(Scope::Guest, "/v1/users/{user}"));
    }

    #[test]
    fn each_route_has_one_row() {
        for (n, (route, _)) in ROUTES.iter().enumerate() {
            assert!(ROUTES.iter().skip(n + 1).all(|(other, _)| other != route) && !is_public(route), "{route}");
        }
    }
}
