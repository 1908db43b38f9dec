//! Replies that have ended and can still be resumed: for a while, and as many as fit.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::log::EventLog;
use super::options::ReplyOwner;
use crate::cache::Cache;

/// How long a reply can be resumed after its end.
const KEPT: Duration = Duration::from_secs(60);
/// The size of all of them together.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Tasks insert replies that have ended, requests read them.
#[derive(Debug)]
pub struct Ended(Cache<Key, (Instant, Arc<EventLog>)>);

/// A name; its owner and end decide when it is dropped.
#[derive(Debug, Clone)]
struct Key {
    name: String,
    owner: ReplyOwner,
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
    pub fn insert(&self, log: Arc<EventLog>) {
        let (ended, bytes) = (Instant::now(), log.bytes());
        self.0.insert(Key { name: log.name.clone(), owner: log.options.owner.clone(), ended }, (ended, log), bytes);
    }

    pub fn get(&self, name: &str) -> Option<Arc<EventLog>> {
        let key = Key { name: name.to_owned(), owner: ReplyOwner::default(), ended: Instant::now() };
        self.0.get(&key).filter(|(ended, _)| ended.elapsed() < KEPT).map(|(_, log)| log)
    }

    /// Drops replies that ended a while ago.
    pub(crate) fn sweep(&self) {
        self.0.retain(|key| key.ended.elapsed() < KEPT);
    }

    /// Drops the replies of a user, in one thread or in all.
    pub fn forget(&self, user: &str, thread: Option<&str>) {
        self.0.retain(|key| !key.owner.is(user, thread));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::log::tests::{options, text};
    use crate::ids::reply_name;

    fn log(user: &str, thread: &str) -> Arc<EventLog> {
        let mut options = options();
        options.owner = ReplyOwner { user: Some(user.to_owned()), thread: Some(thread.to_owned()) };
        EventLog::new(reply_name("test"), options)
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
        let logs: Vec<Arc<EventLog>> = (0..20)
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
