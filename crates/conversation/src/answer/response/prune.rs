//! Forgetting chains and conversations that were kept for as long as they should be.
//!
//! A thread is forgotten whole, and only while no response is made in it. So no chain loses its beginning:
//! threads that were forked from it have turns of their own from then on.

use novelo_engine::scope;

use super::bad_id;
use super::lock::ResponseLock;
use crate::answer::Shared;
use crate::error::Result;
use crate::remember::forget::{self, Traces};
use crate::telemetry::now;
use crate::thread::retention::{RetainedThread, due};

/// How soon a thread is looked at again in which a response is being made.
const AGAIN_AFTER_S: f64 = 10.0;

/// Forgets all threads that are due.
pub(crate) async fn prune(app: &Shared) -> Result<()> {
    loop {
        let threads = due(&app.store).await?;
        if threads.is_empty() {
            return Ok(());
        }
        for of in &threads {
            prune_thread(app, of).await?;
        }
    }
}

async fn prune_thread(app: &Shared, of: &RetainedThread) -> Result<()> {
    let Ok(lock) = ResponseLock::try_take(app, &of.user, &of.thread).await? else {
        return of.look_at(app, now() + AGAIN_AFTER_S).await;
    };
    let pruned = match of.expires_at(app).await? {
        Some(time) if time > now() => of.look_at(app, time).await,
        _ => {
            let what = scope::thread(&of.user, &of.thread).map_err(bad_id)?.prefix();
            forget::forget(app, &of.user, &[what], Traces::OfThread(&of.thread)).await.map(|_| ())
        }
    };
    lock.release().await;
    pruned
}
