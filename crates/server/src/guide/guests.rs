//! Guests: who is not known may ask so often.
//!
//! Owns how often each guest and each address asked in the window that runs (bounded: who was not seen for long is forgotten), and which ids are
//! guests'. Invariant: whoever calls itself a guest never gets what a user said.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use novelo_engine::scope;
use novelo_store::{PutTerms, Range};

use crate::app::Shared;
use crate::cache::Cache;
use crate::config::Config;
use crate::http::error::{ApiError, Code, Result};
use crate::memory::{place, user_data};
use crate::pens;
use crate::telemetry::now;

const SEEN_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Who is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Who {
    Guest(String),
    Address(String),
}

/// When a window began, and how often somebody asked in it.
#[derive(Debug, Clone, Copy)]
struct Window {
    began: Instant,
    count: u64,
}

/// Requests count in it, one at a time.
#[derive(Debug)]
pub struct Guests {
    seen: Cache<Who, Window>,
    pen: Mutex<()>,
}

impl Default for Guests {
    fn default() -> Self {
        Self { seen: Cache::new(SEEN_BYTES_MAX), pen: Mutex::new(()) }
    }
}

impl Guests {
    /// Counts one more message of a guest from an address, unless one of them has had all there are.
    pub fn admit(&self, config: &Config, guest: &str, address: &str) -> Result<()> {
        let lasts = Duration::from_secs(config.number("eco.guest_window_seconds"));
        let who =
            [(Who::Guest(guest.to_owned()), "eco.guest_max"), (Who::Address(address.to_owned()), "eco.address_max")];
        let _pen = self.pen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counted = Vec::new();
        for (who, setting) in who {
            let window = self.window(&who, lasts);
            let most = config.number(setting);
            if most > 0 && window.count >= most {
                let left_s = lasts.saturating_sub(window.began.elapsed()).as_secs() + 1;
                let message = format!("{} asked {most} times ({setting}); more in {left_s} s", who.in_words());
                return Err(ApiError { retry_after_s: left_s, ..ApiError::new(Code::RateLimited, message) });
            }
            counted.push((who, Window { count: window.count + 1, ..window }));
        }
        for (who, window) in counted {
            let bytes = 128 + who.bytes();
            self.seen.insert(who, window, bytes);
        }
        Ok(())
    }

    /// The window that runs, or one that begins.
    fn window(&self, who: &Who, lasts: Duration) -> Window {
        let running = self.seen.get(who).filter(|window| window.began.elapsed() < lasts);
        running.unwrap_or_else(|| Window { began: Instant::now(), count: 0 })
    }
}

/// Lets a guest have an id for good, unless it is somebody's who is no guest.
pub async fn claim(app: &Shared, guest: &str) -> Result<()> {
    let bad_id = |e| ApiError::bad_id("guestId", &e);
    let mark = scope::user(guest).and_then(|user| user.child("guest")?.document("mark")).map_err(bad_id)?;
    if app.store.get(&mark).await?.is_some() {
        return Ok(());
    }
    // Whoever comes first as a guest says something soon, which must not make a user of it.
    let _pen = pens::hold([guest].into_iter()).await;
    if app.store.get(&mark).await?.is_none() && is_taken(app, guest).await? {
        return Err(ApiError::new(Code::Forbidden, "guestId is that of a user"));
    }
    let terms = PutTerms { now: now(), ..PutTerms::default() };
    app.store.put(&mark, Bytes::from_static(b"{}"), terms).await?;
    Ok(())
}

/// Whether somebody has a key of this name, or something that was said or is known.
async fn is_taken(app: &Shared, user: &str) -> Result<bool> {
    let has_key = app.keys.list().iter().any(|key| key.user.as_deref() == Some(user));
    let memories = app.store.turns(&place::memories(user)?, Range::Last(1)).await?;
    let known = user_data::get(app, user).await?;
    let of = scope::threads(user).map_err(|e| ApiError::bad_id("guestId", &e))?;
    let threads = app.store.threads(&of, scope::TURNS, None, 1).await?;
    Ok(has_key || !memories.is_empty() || known.len() > b"{}".len() || !threads.items.is_empty())
}

impl Who {
    fn bytes(&self) -> usize {
        let (Self::Guest(name) | Self::Address(name)) = self;
        name.len()
    }

    fn in_words(&self) -> &'static str {
        match self {
            Self::Guest(_) => "this guest",
            Self::Address(_) => "guests from this address",
        }
    }
}
