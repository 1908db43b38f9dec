//! Keys: how they are stored, and which are in force.
//!
//! Owns the keys. Only their digests are stored, under `keys/{id}`, which no document call can name.
//! Invariants: a key that any node creates or revokes counts for the next request on every node; if the store
//! does not answer or a key cannot be read, that is an error and never opens the server.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use base64::Engine;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::scope::Scope;
use novelo_store::{Error as StoreError, Op, PutTerms, Store, Version, Window};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::closing::{self, AccessState, ClosingNote, judge};
use novelo_conversation::caller::{Caller, Proof};
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::telemetry::now;

/// The root of the key documents.
pub(crate) const KEYS: &str = "keys";
/// How often a write is retried after another node closed or opened the store.
const TRIES_MAX: usize = 10;

/// Who may use a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyKind {
    /// One user, for their own data.
    User(String),
    /// Any visitor of a page: it may ask at `/ask-eco` and nothing else.
    Guest,
    /// A backend that acts for any user, and administers nothing.
    Service,
    Admin,
}

/// A key as it is listed. The secret is shown once and never stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredKey", into = "StoredKey")]
pub struct Key {
    pub id: String,
    pub kind: KeyKind,
    /// The operator's name for it.
    pub name: Option<String>,
    pub digest: String,
    /// How long the conversations are kept that it makes.
    pub ttl_seconds: Option<u64>,
}

/// A key as it is stored. The first release had no kinds: a key without a user was an admin key.
#[derive(Serialize, Deserialize)]
struct StoredKey {
    id: String,
    user: Option<String>,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    ttl_seconds: Option<u64>,
}

/// The keys as they were read last. Every request checks whether they changed on any node.
#[derive(Debug)]
pub struct Keys {
    in_force: RwLock<Arc<InForce>>,
    note: ClosingNote,
}

/// The keys that are in force.
#[derive(Debug, Clone)]
pub struct InForce {
    /// The counter of all that this process stored below the root of the keys, taken before the versions;
    /// `None` where other processes write too.
    counter: Option<u64>,
    /// The versions of the keys and of the closing state, taken before both were read.
    versions: Vec<Version>,
    by_digest: Arc<FxHashMap<String, Key>>,
    /// The digest of the secret that this process's own command line uses. It does not count as a key.
    own: String,
    /// Whether the server listens on loopback only.
    is_local: bool,
    /// The closing in force, if a key exists or existed.
    closed: Option<u64>,
}

impl KeyKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::User(_) => "user",
            Self::Guest => "guest",
            Self::Service => "service",
            Self::Admin => "admin",
        }
    }

    pub fn user(&self) -> Option<&str> {
        match self {
            Self::User(user) => Some(user),
            Self::Guest | Self::Service | Self::Admin => None,
        }
    }

    fn scope(&self) -> Result<Scope> {
        match self {
            Self::User(user) => Scope::user(user).map_err(|e| Error::bad_id("user", &e)),
            Self::Guest => Ok(Scope::Guest),
            Self::Service => Ok(Scope::AnyUser),
            Self::Admin => Ok(Scope::Admin),
        }
    }
}

impl TryFrom<StoredKey> for Key {
    type Error = String;

    fn try_from(stored: StoredKey) -> std::result::Result<Self, String> {
        let StoredKey { id, user, digest, kind, name, ttl_seconds } = stored;
        let kind = match (kind.as_deref(), user) {
            (None | Some("user"), Some(user)) => KeyKind::User(user),
            (None | Some("admin"), None) => KeyKind::Admin,
            (Some("guest"), _) => KeyKind::Guest,
            (Some("service"), _) => KeyKind::Service,
            (Some(kind), _) => return Err(format!("{kind} is no kind of key that this release knows")),
        };
        Ok(Self { id, kind, name, digest, ttl_seconds })
    }
}

impl From<Key> for StoredKey {
    fn from(key: Key) -> Self {
        let Key { id, kind, name, digest, ttl_seconds } = key;
        let user = match &kind {
            KeyKind::User(user) => Some(user.clone()),
            // The first release treats a key without a user as an admin key, and refuses one with an empty
            // id.
            KeyKind::Guest | KeyKind::Service => Some(String::new()),
            KeyKind::Admin => None,
        };
        Self { id, user, digest, kind: Some(kind.name().to_owned()), name, ttl_seconds }
    }
}

impl Keys {
    /// Reads the stored keys. `own_secret` is the secret that this process's own command line presents; in
    /// `data` this node notes that the store is closed.
    pub async fn load(
        store: &Store,
        own_secret: &str,
        is_local: bool,
        data: Option<&Path>,
    ) -> std::result::Result<Self, StoreError> {
        let note = ClosingNote::read(data);
        let empty = InForce {
            counter: None,
            versions: Vec::new(),
            by_digest: Arc::default(),
            own: digest(own_secret),
            is_local,
            closed: note.noted(),
        };
        let keys = Self { in_force: RwLock::new(Arc::new(empty)), note };
        keys.now(store).await?;
        Ok(keys)
    }

    /// The keys of now. If the store does not answer or a key cannot be read, returns an error, since it must
    /// not open the store.
    pub async fn now(&self, store: &Store) -> std::result::Result<Arc<InForce>, StoreError> {
        // A version of Redis also tells one run of its server from another, which a counter does not.
        let counter = match store {
            Store::Redis(_) => None,
            Store::Local(_) | Store::Memory(_) => Some(store.change_counter(&[KEYS]).await?),
        };
        let before = self.last();
        if counter.is_some() && before.counter == counter {
            return Ok(before);
        }
        // The counter changes with other writes too.
        let versions = store.versions(&[collection(), closing::state_collection()]).await?;
        if before.versions == versions {
            return Ok(self.replace(InForce { counter, ..(*before).clone() }));
        }
        let (by_digest, stored) = (read(store).await?, closing::read(store).await?);
        let verdict = judge(&stored, !by_digest.is_empty(), before.closed);
        if let Some(closings) = verdict.closed.filter(|_| verdict.is_unsaid) {
            let write = stored.replace_by(AccessState { closed: true, closings });
            if let Err(error) = store.write(vec![write]).await {
                tracing::warn!(%error, "the store was not marked as closed; this node stays closed by itself");
            }
        }
        self.note.set(verdict.closed);
        let (closed, by_digest) = (verdict.closed, Arc::new(by_digest));
        Ok(self.replace(InForce { counter, versions, by_digest, own: before.own.clone(), closed, ..*before }))
    }

    fn replace(&self, now: InForce) -> Arc<InForce> {
        let now = Arc::new(now);
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = now.clone();
        now
    }

    /// The keys that were read last, without asking the store.
    pub fn last(&self) -> Arc<InForce> {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Creates a key, stores its digest and returns the secret. The first key closes the store in the same
    /// write.
    pub async fn create(
        &self,
        store: &Store,
        kind: KeyKind,
        name: Option<String>,
        ttl_seconds: Option<u64>,
    ) -> Result<(Key, String)> {
        let secret = secret().map_err(|e| Error::new(Code::Internal, format!("no randomness: {e}")))?;
        let id = novelo_conversation::ids::fresh_text();
        let key = Key { id, kind, name, digest: digest(&secret), ttl_seconds };
        let value = serde_json::to_vec(&key).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        let terms = PutTerms { now: now(), ..PutTerms::default() };
        let put = Op::Put { at: document(&key.id)?, value: value.into(), terms };
        for _ in 0..TRIES_MAX {
            let stored = closing::read(store).await?;
            let closes = stored.closed_by_a_key().map(|state| stored.replace_by(state));
            match store.write([put.clone()].into_iter().chain(closes).collect()).await {
                Err(StoreError::Stale { .. }) => continue,
                written => drop(written?),
            }
            // This node must have noted that it is closed before the key is shown.
            self.now(store).await?;
            return Ok((key, secret));
        }
        Err(Error::new(Code::Busy, "the store is opened and closed by others at the same time"))
    }

    /// Returns whether there was such a key.
    pub async fn revoke(&self, store: &Store, id: &str) -> Result<bool> {
        Ok(store.delete(&document(id)?, None).await?)
    }

    /// Opens a closed store that has no keys. Returns whether it was closed.
    pub async fn open(&self, store: &Store) -> Result<bool> {
        let in_force = self.now(store).await?;
        if !in_force.is_local {
            let message = "this server listens beyond loopback, where a key is needed\nhint: novelo key create --admin";
            return Err(Error::new(Code::Conflict, message));
        }
        if !in_force.is_empty() {
            let count = in_force.by_digest.len();
            let message = format!("there are keys in force: {count}\nhint: novelo key list; novelo key revoke ID");
            return Err(Error::new(Code::Conflict, message));
        }
        let Some(closings) = in_force.closed else { return Ok(false) };
        let stored = closing::read(store).await?;
        store.write(vec![stored.replace_by(AccessState { closed: false, closings })]).await?;
        match self.now(store).await?.is_open() {
            true => Ok(true),
            false => Err(Error::new(Code::Conflict, "a key was made meanwhile, which closed the store again")),
        }
    }
}

impl InForce {
    /// Whether every caller is the admin.
    pub(crate) fn is_open(&self) -> bool {
        self.is_local && self.is_empty() && self.closed.is_none()
    }

    pub fn is_empty(&self) -> bool {
        self.by_digest.is_empty()
    }

    /// How a caller gets access: `open` without a key, `keys` with a key, `closed` not at all, since no key
    /// is left.
    pub(crate) fn access(&self) -> &'static str {
        match (self.is_open(), self.is_empty()) {
            (true, _) => "open",
            (false, false) => "keys",
            (false, true) => "closed",
        }
    }

    pub fn list(&self) -> Vec<&Key> {
        let mut keys: Vec<&Key> = self.by_digest.values().collect();
        keys.sort_by(|a, b| a.id.cmp(&b.id));
        keys
    }

    /// The caller that presents this `Authorization` header.
    pub fn caller(&self, authorization: Option<&str>) -> Result<Caller> {
        let open = self.is_open().then(|| Caller::new(Scope::Admin, Proof::Nothing));
        let Some(authorization) = authorization else {
            return open.ok_or_else(|| self.refusal("a key is needed: Authorization: Bearer KEY"));
        };
        let (scheme, rest) = authorization.split_once(' ').unwrap_or(("", authorization));
        let secret = if scheme.eq_ignore_ascii_case("bearer") { rest } else { authorization }.trim();
        let digest = digest(secret);
        if digest == self.own {
            return Ok(Caller::new(Scope::Admin, Proof::OwnSecret));
        }
        match self.by_digest.get(&digest) {
            Some(key) => {
                let ttl = key.ttl_seconds.map(Duration::from_secs);
                Ok(Caller::new(key.kind.scope()?, Proof::Key).keeping_for(ttl))
            }
            None => open.ok_or_else(|| self.refusal("this key is not known")),
        }
    }

    fn refusal(&self, why: &str) -> Error {
        let message = match self.is_empty() {
            false => why.to_owned(),
            true => format!("{CLOSED}\nhint: {CLOSED_HINT}"),
        };
        Error::new(Code::Unauthorized, message)
    }
}

/// The problem of a server without a usable key, and its remedy.
pub(crate) const CLOSED: &str = "this store has had keys and has none now, so it is closed";
pub(crate) const CLOSED_HINT: &str = "on the server's machine make one with `novelo key create --admin`, or open it to everyone \
     there with `novelo key open`";

/// The stored keys, by their digests.
async fn read(store: &Store) -> std::result::Result<FxHashMap<String, Key>, StoreError> {
    let page = store.scan(&collection(), Window { limit: usize::MAX, ..Window::default() }).await?;
    let read = |document: &novelo_store::Document| match serde_json::from_slice::<Key>(&document.value) {
        Ok(key) => Ok((key.digest.clone(), key)),
        Err(error) => Err(StoreError::Damaged {
            place: format!("{KEYS}/{}", document.id),
            what: format!("it is no key: {error}"),
        }),
    };
    page.items.iter().map(read).collect()
}

/// A new secret: 32 random bytes.
pub fn secret() -> std::result::Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(format!("nvl_{}", base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)))
}

fn digest(secret: &str) -> String {
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(Sha256::digest(secret.as_bytes()))
}

fn collection() -> CollectionPath {
    CollectionPath::new(&[KEYS]).expect("one short segment is a collection")
}

fn document(id: &str) -> Result<DocumentPath> {
    collection().document(id).map_err(|e| Error::bad_id("key", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_first_release_are_read() {
        let kind = |json: &str| serde_json::from_str::<Key>(json).map(|key| key.kind).map_err(|e| e.to_string());
        assert_eq!(kind(r#"{"id":"a","user":null,"digest":"d"}"#), Ok(KeyKind::Admin));
        assert_eq!(kind(r#"{"id":"a","user":"ana","digest":"d"}"#), Ok(KeyKind::User("ana".into())));
        assert!(kind(r#"{"id":"a","user":null,"digest":"d","kind":"root"}"#).unwrap_err().contains("root is no kind"));
        assert!(kind(r#"{"id":"a","user":null,"digest":"d","kind":"user"}"#).is_err());
    }

    /// A node of the first release that shares the store must not take them for an admin's.
    #[test]
    fn the_first_release_gives_new_kinds_no_rights() {
        for kind in [KeyKind::Guest, KeyKind::Service] {
            let key =
                Key { id: "a".into(), kind, name: Some("site".into()), digest: "d".into(), ttl_seconds: Some(60) };
            let stored = serde_json::to_value(&key).unwrap();
            assert_eq!(stored.get("user"), Some(&serde_json::json!("")));
            assert!(Scope::user("").is_err());
            assert_eq!(serde_json::from_value::<Key>(stored).unwrap(), key);
        }
    }
}
