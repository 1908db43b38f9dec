//! Keys, and who a caller is.
//!
//! Owns the keys: only their digests are stored, under `keys/{id}`, which no document call can name. Invariants: on
//! loopback without a key the caller is the admin; from the first key on, every call needs one. A key that was made or
//! revoked by any node counts for the next request on each.

use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine;
use novelo_engine::path::{CollectionPath, DocumentPath};
use novelo_engine::scope::Scope;
use novelo_store::{Error, PutTerms, Store, Version, Window};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::http::error::{ApiError, Code, Result};
use crate::peers::NODES;
use crate::telemetry::now;

/// The root of the key documents.
pub const KEYS: &str = "keys";

/// Whose threads and documents those are of whoever speaks for no user.
pub const ANONYMOUS: &str = "anonymous";

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub scope: Scope,
}

/// A key as it is listed; the secret itself is shown once and never kept.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Key {
    pub id: String,
    /// The user it belongs to; an admin key has none.
    pub user: Option<String>,
    pub digest: String,
}

/// The keys as they were read last. Every request looks whether they changed, on whichever node that was.
#[derive(Debug)]
pub struct Keys(RwLock<Arc<InForce>>);

/// The keys that are in force.
#[derive(Debug, Clone)]
pub struct InForce {
    /// Of their collection, taken before they were read.
    version: Version,
    by_digest: FxHashMap<String, Key>,
    /// The digest of the secret that this process's own command line uses; it is no key and counts as none.
    own: String,
    /// Whether the caller is the admin while there is no key: on loopback only.
    open: bool,
}

impl Caller {
    pub fn admin() -> Self {
        Self { scope: Scope::Admin }
    }

    pub fn is_admin(&self) -> bool {
        self.scope == Scope::Admin
    }

    /// The user that it speaks for; an admin speaks for none.
    pub fn user(&self) -> Option<String> {
        match &self.scope {
            Scope::User(user) => Some(user.to_string()),
            Scope::Admin => None,
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
            false => Err(ApiError::new(Code::Forbidden, "the key belongs to another user")),
        }
    }

    /// Allows what concerns one path.
    pub fn require_path(&self, segments: &[Box<str>]) -> Result<()> {
        let reserved = segments.first().is_some_and(|root| [KEYS, NODES].contains(&&**root));
        match self.scope.covers(segments) && !reserved {
            true => Ok(()),
            false => Err(ApiError::new(Code::Forbidden, "the path lies outside what this caller may see")),
        }
    }
}

impl Keys {
    /// Reads the stored keys. `own_secret` is what this process's own command line will present.
    pub async fn load(store: &Store, own_secret: &str, open: bool) -> std::result::Result<Self, Error> {
        let version = store.version(&collection()).await?;
        let (by_digest, own) = (read(store).await?, digest(own_secret));
        Ok(Self(RwLock::new(Arc::new(InForce { version, by_digest, own, open }))))
    }

    /// Those of now. A store that does not answer, or a key that cannot be read, is an error: it must not open the store.
    pub async fn now(&self, store: &Store) -> std::result::Result<Arc<InForce>, Error> {
        let version = store.version(&collection()).await?;
        let before = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if before.version == version {
            return Ok(before);
        }
        let now = Arc::new(InForce { version, by_digest: read(store).await?, own: before.own.clone(), ..*before });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = now.clone();
        Ok(now)
    }
}

impl InForce {
    /// Whether whoever reaches the server is its admin.
    pub fn is_open(&self) -> bool {
        self.open && self.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.by_digest.is_empty()
    }

    pub fn list(&self) -> Vec<&Key> {
        let mut keys: Vec<&Key> = self.by_digest.values().collect();
        keys.sort_by(|a, b| a.id.cmp(&b.id));
        keys
    }

    /// Who presents this `Authorization` header.
    pub fn caller(&self, authorization: Option<&str>) -> Result<Caller> {
        let Some(authorization) = authorization else {
            return match self.is_open() {
                true => Ok(Caller::admin()),
                false => Err(ApiError::new(Code::Unauthorized, "a key is needed: Authorization: Bearer KEY")),
            };
        };
        let (scheme, rest) = authorization.split_once(' ').unwrap_or(("", authorization));
        let secret = if scheme.eq_ignore_ascii_case("bearer") { rest } else { authorization }.trim();
        let digest = digest(secret);
        if digest == self.own {
            return Ok(Caller::admin());
        }
        match self.by_digest.get(&digest) {
            Some(Key { user: Some(user), .. }) => {
                let scope = Scope::user(user).map_err(|e| ApiError::bad_id("user", &e))?;
                Ok(Caller { scope })
            }
            Some(_) => Ok(Caller::admin()),
            None if self.is_open() => Ok(Caller::admin()),
            None => Err(ApiError::new(Code::Unauthorized, "this key is not known")),
        }
    }
}

/// Makes a key, stores its digest, and gives the secret.
pub async fn create(store: &Store, user: Option<&str>) -> Result<(Key, String)> {
    let secret = secret().map_err(|e| ApiError::new(Code::Internal, format!("no randomness: {e}")))?;
    let id = crate::ids::fresh_text();
    let key = Key { id, user: user.map(str::to_owned), digest: digest(&secret) };
    let value = serde_json::to_vec(&key).map_err(|e| ApiError::new(Code::Internal, e.to_string()))?;
    store.put(&document(&key.id)?, value.into(), PutTerms { now: now(), ..PutTerms::default() }).await?;
    Ok((key, secret))
}

/// Whether there was such a key.
pub async fn revoke(store: &Store, id: &str) -> Result<bool> {
    Ok(store.delete(&document(id)?, None).await?)
}

/// The stored keys, by their digests.
async fn read(store: &Store) -> std::result::Result<FxHashMap<String, Key>, Error> {
    let page = store.scan(&collection(), Window { limit: usize::MAX, ..Window::default() }).await?;
    let read = |document: &novelo_store::Document| match serde_json::from_slice::<Key>(&document.value) {
        Ok(key) => Ok((key.digest.clone(), key)),
        Err(error) => {
            Err(Error::Damaged { place: format!("{KEYS}/{}", document.id), what: format!("it is no key: {error}") })
        }
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
    collection().document(id).map_err(|e| ApiError::bad_id("key", &e))
}
