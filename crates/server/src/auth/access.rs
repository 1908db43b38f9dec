//! Which kinds of caller may call a route.
//!
//! Each route states its `Access` where it is declared (`route`), and its guard checks it before a handler
//! runs, so that a handler cannot forget to. `Scope` decides whose data a call reaches: the guard checks the
//! user in the address, the handler a user in the body (`Caller::subject`). `docs/security.md` has the whole
//! table, and `tests/identity.rs` compares it with the running server.

use novelo_conversation::caller::Caller;
use novelo_conversation::error::{Code, Error, Result};
use novelo_engine::scope::Scope;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everyone, with a key or without: files that hold no data, and health checks.
    Public,
    /// Every key, including guest keys.
    AnyKey,
    /// Users for their own data, services for the user they name, and admins.
    Users,
    /// Users for their own data, and admins, but no services.
    UsersAndAdmins,
    Admins,
}

impl Access {
    /// Refuses a caller that may not call the route.
    pub(crate) fn require(self, caller: &Caller) -> Result<()> {
        if self.permits(&caller.scope) {
            return Ok(());
        }
        let message = match caller.scope {
            Scope::Guest => "a guest key may ask at /ask-eco and nothing else",
            Scope::AnyUser => "a service key acts for users and administers nothing; an admin key is needed",
            Scope::User(_) | Scope::Admin => "an admin key is needed",
        };
        Err(Error::new(Code::Forbidden, message))
    }

    fn permits(self, scope: &Scope) -> bool {
        match self {
            Self::Public | Self::AnyKey => true,
            Self::Users => !matches!(scope, Scope::Guest),
            Self::UsersAndAdmins => matches!(scope, Scope::User(_) | Scope::Admin),
            Self::Admins => matches!(scope, Scope::Admin),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use novelo_conversation::caller::Proof;

    #[test]
    fn each_access_lets_in_its_kinds_of_caller() {
        let check = |access: Access, expected: [bool; 4]| {
            let scopes = [Scope::Guest, Scope::user("a").unwrap(), Scope::AnyUser, Scope::Admin];
            let permitted = scopes.map(|scope| access.require(&Caller::new(scope, Proof::Key)).is_ok());
            assert_eq!(permitted, expected, "{access:?}: guest, user, service, admin");
        };
        check(Access::Public, [true; 4]);
        check(Access::AnyKey, [true; 4]);
        check(Access::Users, [false, true, true, true]);
        check(Access::UsersAndAdmins, [false, true, false, true]);
        check(Access::Admins, [false, false, false, true]);
    }
}
