//! Replies that have ended, and can still be come back to: for a while, and as many as there is room for.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Owner;
use super::log::Log;
use crate::cache::Cache;

/// How long the end of a reply can be read again.
const KEPT: Duration = Duration::from_secs(60);
/// What all of them may take together.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Tasks put in what has ended, requests take it out.
#[derive(Debug)]
pub struct Ended(Cache<Key, (Instant, Arc<Log>)>);

/// A name, and beside it what tells whether it is kept.
#[derive(Debug, Clone)]
struct Key {
    name: String,
    owner: Owner,
    ended: Instant,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Default for Ended {
    fn default() -> Self {
        Self(Cache::new(BYTES_MAX))
    }
}

impl Ended {
    pub fn insert(&self, log: Arc<Log>) {
        let (ended, bytes) = (Instant::now(), log.bytes());
        self.0.insert(Key { name: log.name.clone(), owner: log.terms.owner.clone(), ended }, (ended, log), bytes);
    }

    pub fn get(&self, name: &str) -> Option<Arc<Log>> {
        let key = Key { name: name.to_owned(), owner: Owner::default(), ended: Instant::now() };
        self.0.get(&key).filter(|(ended, _)| ended.elapsed() < KEPT).map(|(_, log)| log)
    }

    /// Lets go of those that ended a while ago.
    pub fn sweep(&self) {
        self.0.retain(|key| key.ended.elapsed() < KEPT);
    }

    /// Lets go of what a user was answered, in one thread or in all.
    pub fn forget(&self, user: &str, thread: Option<&str>) {
        self.0.retain(|key| !key.owner.is(user, thread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::reply::log::tests::{terms, text};
    use crate::ids::reply_name;

    fn log(user: &str, thread: &str) -> Arc<Log> {
        let mut terms = terms();
        terms.owner = Owner { user: Some(user.to_owned()), thread: Some(thread.to_owned()) };
        Log::new(reply_name("test"), terms)
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_ended_is_kept_for_a_while() {
        let (ended, log) = (Ended::default(), log("ana", "t"));
        ended.insert(log.clone());
        tokio::time::advance(KEPT - Duration::from_millis(1)).await;
        ended.sweep();
        assert!(ended.get(&log.name).is_some());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(ended.get(&log.name).is_none(), "also before it is swept");
        ended.sweep();
        drop(ended);
        assert_eq!(Arc::strong_count(&log), 1);
    }

    #[tokio::test]
    async fn all_of_it_has_a_bound() {
        let ended = Ended::default();
        let size = BYTES_MAX / 8;
        let logs: Vec<Arc<Log>> = (0..20)
            .map(|_| {
                let log = log("ana", "t");
                log.push(text(&"x".repeat(size)));
                ended.insert(log.clone());
                log
            })
            .collect();
        let kept = logs.iter().filter(|log| Arc::strong_count(log) > 1).count();
        assert!((1..=8).contains(&kept), "{kept}");
        assert!(ended.get(&logs[19].name).is_some() && ended.get(&logs[0].name).is_none());
    }

    #[tokio::test]
    async fn what_is_forgotten_is_gone() {
        let ended = Ended::default();
        let logs = [log("ana", "a"), log("ana", "b"), log("bia", "a")];
        logs.iter().for_each(|log| ended.insert(log.clone()));
        let there = || logs.each_ref().map(|log| ended.get(&log.name).is_some());
        ended.forget("ana", Some("a"));
        assert_eq!(there(), [false, true, true]);
        ended.forget("ana", None);
        assert_eq!(there(), [false, false, true]);
    }
}
