//! Guests: rate limits, and the ids of guests.
//!
//! Owns how often each guest and each address asked in the current window, in documents that expire with it,
//! so that a limit holds across nodes and restarts; and which ids belong to guests. Invariant: a caller that
//! claims to be a guest never gets what a user said.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use novelo_engine::path::DocumentPath;
use novelo_engine::scope;
use novelo_store::{Error as StoreError, PutTerms, Range};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::server::Server;
use novelo_conversation::app::Shared;
use novelo_conversation::error::{Code, Error, Result};
use novelo_conversation::locks;
use novelo_conversation::remember::{place, user_data};
use novelo_conversation::settings::Sourced;
use novelo_conversation::telemetry::now;

/// The root of the counts of addresses, which belong to no user.
const ADDRESSES: &str = "addresses";
/// How often a count is retried after another node changed it.
const TRIES_MAX: usize = 100;

/// A limit on how often somebody may ask, and the document that counts.
struct RateLimit {
    at: DocumentPath,
    in_words: &'static str,
    setting: &'static str,
    most: u64,
}

/// When a window began, in seconds since 1970, and the requests counted in it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct AskWindow {
    began: f64,
    count: u64,
}

/// Counts one more message of a guest from an address, unless one of the two has reached its limit.
pub(crate) async fn admit(app: &Shared, guest: &str, address: &str) -> Result<()> {
    let bad_id = |e| Error::bad_id("guestId", &e);
    // A proxy may send any text as an address; only its digest is stored.
    let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(address));
    let limit = |at, in_words, most: &Sourced<u64>| RateLimit { at, in_words, setting: most.key, most: most.value };
    let guest = scope::user(guest).and_then(|user| user.child("guest")?.document("window")).map_err(bad_id)?;
    let address = DocumentPath::new(&[ADDRESSES, &digest]).map_err(bad_id)?;
    let guest = limit(guest, "this guest", &app.settings.eco.guest_max);
    let address = limit(address, "guests from this address", &app.settings.eco.address_max);
    let _locks = locks::hold([&guest.at, &address.at].into_iter()).await;
    guest.count(app).await?;
    let admitted = address.count(app).await;
    if admitted.is_err() {
        guest.take_back(app).await?;
    }
    admitted
}

impl RateLimit {
    /// Counts one more, unless the limit is reached.
    async fn count(&self, app: &Shared) -> Result<()> {
        let lasts_s = app.settings.eco.guest_window.as_secs_f64();
        self.change(app, |running| {
            let now = now();
            let window = running.filter(|window| now < window.began + lasts_s);
            let AskWindow { began, count } = window.unwrap_or(AskWindow { began: now, count: 0 });
            match count < self.most {
                true => Ok(AskWindow { began, count: count + 1 }),
                false => Err(self.refusal(began + lasts_s - now)),
            }
        })
        .await
    }

    /// Counts one less, since the message was refused after all.
    async fn take_back(&self, app: &Shared) -> Result<()> {
        let one_less = |running: Option<AskWindow>| {
            let AskWindow { began, count } = running.unwrap_or(AskWindow { began: now(), count: 0 });
            Ok(AskWindow { began, count: count.saturating_sub(1) })
        };
        self.change(app, one_less).await
    }

    /// Replaces the count by `next` of the stored one, and retries if another writer was faster.
    async fn change(&self, app: &Shared, next: impl Fn(Option<AskWindow>) -> Result<AskWindow>) -> Result<()> {
        if self.most == 0 {
            return Ok(());
        }
        let lasts_s = app.settings.eco.guest_window.as_secs_f64();
        for _ in 0..TRIES_MAX {
            let there = app.store.get(&self.at).await?;
            // A count that cannot be read was not written by us, and counts as none.
            let window = next(there.as_ref().and_then(|document| serde_json::from_slice(&document.value).ok()))?;
            let terms = PutTerms {
                if_version: Some(there.map_or(0, |document| document.version)),
                now: now(),
                expires_at: Some(window.began + lasts_s),
                ..PutTerms::default()
            };
            let value = serde_json::to_vec(&window).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
            match app.store.put(&self.at, value.into(), terms).await {
                Err(StoreError::Stale { .. }) => {}
                written => return Ok(written.map(drop)?),
            }
        }
        Err(Error::new(Code::Busy, "too many guests ask at once"))
    }

    fn refusal(&self, left_s: f64) -> Error {
        let Self { in_words, setting, most, .. } = self;
        let left_s = left_s as u64 + 1;
        let message = format!("{in_words} asked {most} times ({setting}); more in {left_s} s");
        Error { retry_after_s: left_s, ..Error::new(Code::RateLimited, message) }
    }
}

/// The prefix of guest ids that are created here.
const OWN_PREFIX: &str = "guest-";
const OWN_BYTES: usize = 16;

/// A new id for a guest without one: 128 random bits.
pub(crate) fn new_id() -> Result<String> {
    let mut bytes = [0; OWN_BYTES];
    getrandom::fill(&mut bytes).map_err(|e| Error::new(Code::Internal, format!("no randomness: {e}")))?;
    Ok(format!("{OWN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// The minimum length of a guest's id, and how many of its characters must differ. All guests of a page share
/// its key, so only the id tells them apart: 22 random characters of this alphabet hold 128 bits.
const ID_CHARS_MIN: usize = 22;
const ID_DISTINCT_MIN: usize = 8;

/// Refuses an id that another guest could guess.
pub(crate) fn require_unguessable(id: &str) -> Result<()> {
    let is_plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let distinct = id.bytes().collect::<std::collections::BTreeSet<_>>().len();
    match is_plain && id.len() >= ID_CHARS_MIN && distinct >= ID_DISTINCT_MIN {
        true => Ok(()),
        false => Err(Error::invalid(
            "guestId",
            format_args!(
                "could be guessed: it must have at least {ID_CHARS_MIN} letters, digits, - or _, {ID_DISTINCT_MIN} of them \
                 different\nhint: leave it out and use the guestId of the answer, or send a random UUID"
            ),
        )),
    }
}

/// Reserves an id for a guest, unless it belongs to a user.
pub(crate) async fn claim(server: &Server, guest: &str) -> Result<()> {
    let app = &server.app;
    let bad_id = |e| Error::bad_id("guestId", &e);
    let mark = scope::user(guest).and_then(|user| user.child("guest")?.document("mark")).map_err(bad_id)?;
    let is_of_a_user = || Error::new(Code::Forbidden, "guestId is that of a user");
    // An id that became a user's is not a guest's any more.
    if has_key(server, guest).await? {
        return Err(is_of_a_user());
    }
    if app.store.get(&mark).await?.is_some() {
        return Ok(());
    }
    // A first message of the same guest on another node must not make its id look like a user's.
    if is_taken(app, guest).await? && app.store.get(&mark).await?.is_none() {
        return Err(is_of_a_user());
    }
    let terms = PutTerms { now: now(), ..PutTerms::default() };
    app.store.put(&mark, Bytes::from_static(b"{}"), terms).await?;
    Ok(())
}

async fn has_key(server: &Server, user: &str) -> Result<bool> {
    Ok(server.keys.now(&server.app.store).await?.list().iter().any(|key| key.kind.user() == Some(user)))
}

/// Whether anything is stored under this id.
async fn is_taken(app: &Shared, user: &str) -> Result<bool> {
    let memories = app.store.turns(&place::memories(user)?, Range::Last(1)).await?;
    let known = user_data::get(app, user).await?;
    let of = scope::threads(user).map_err(|e| Error::bad_id("guestId", &e))?;
    let threads = app.store.threads(&of, scope::TURNS, None, 1).await?;
    Ok(!memories.is_empty() || known.len() > b"{}".len() || !threads.items.is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;

    use super::*;
    use novelo_conversation::app;
    use novelo_conversation::settings::Settings;

    #[test]
    fn an_id_that_is_long_and_varied_cannot_be_guessed() {
        let ids = ["g1", "", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abcdefghijklmnopqrstu", "a b c d e f g h i j k l m n"];
        for id in ids.into_iter().chain(["user@mail.example.com-12345", "0123456012345601234560"]) {
            assert_eq!(require_unguessable(id).unwrap_err().param.as_deref(), Some("guestId"), "{id}");
        }
        for id in ["abcdefghijklmnopqrstuv", "0123456701234567012345", &uuid::Uuid::new_v4().to_string()] {
            require_unguessable(id).unwrap();
        }
        let (one, other) = (new_id().unwrap(), new_id().unwrap());
        require_unguessable(&one).unwrap();
        assert!(one != other && one.len() == OWN_PREFIX.len() + ID_CHARS_MIN, "{one}");
    }

    /// Another node counts between reading and writing, twice: neither count is lost.
    #[tokio::test]
    async fn a_count_that_another_node_changed_meanwhile_is_read_again() {
        let (app, _tasks) = app::open(Settings::in_memory()).await.unwrap();
        let at = DocumentPath::new(&[ADDRESSES, "digest"]).unwrap();
        let limit = RateLimit { at: at.clone(), in_words: "", setting: "eco.guest_max", most: 9 };
        let tries = AtomicUsize::new(0);
        let next = |running: Option<AskWindow>| {
            let count = running.map_or(0, |window| window.count);
            if tries.fetch_add(1, Ordering::Relaxed) < 2 {
                let other = serde_json::to_vec(&AskWindow { began: now(), count: count + 1 }).unwrap();
                app.store.put(&at, other.into(), PutTerms::default()).now_or_never().unwrap().unwrap();
            }
            Ok(AskWindow { began: now(), count: count + 1 })
        };
        limit.change(&app, next).await.unwrap();
        let stored = app.store.get(&at).await.unwrap().unwrap();
        let AskWindow { count, .. } = serde_json::from_slice(&stored.value).unwrap();
        assert_eq!((count, tries.into_inner()), (3, 3));
    }
}
