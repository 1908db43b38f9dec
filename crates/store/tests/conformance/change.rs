//! L3: a reader that cached what it read can check whether it is still current.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use novelo_engine::path::CollectionPath;
use novelo_store::{AppendTerms, Error, Op, PutTerms, Range, Store, Version, Window};

use crate::fresh::{Fresh, Kind, collection, document, path};

const LOG: &str = "users/a/log";

/// A collection as it was last seen.
struct Watch<'f> {
    fresh: &'f Fresh,
    of: CollectionPath,
    seen: HashSet<Version>,
    last: (Version, u64, u64),
}

impl<'f> Watch<'f> {
    async fn new(fresh: &'f Fresh, of: &str) -> Self {
        let of = collection(of);
        let last = Self::now(fresh, &of).await;
        Self { fresh, of, seen: HashSet::from([last.0]), last }
    }

    async fn now(fresh: &Fresh, of: &CollectionPath) -> (Version, u64, u64) {
        let (root, kind) = (of.segments(), of.segments().last().unwrap());
        (
            fresh.store.version(of).await.unwrap(),
            fresh.store.change_counter(root).await.unwrap(),
            fresh.store.change_counter_of_kind(root, kind).await.unwrap(),
        )
    }

    /// A version that says something is stored was never there before; all that say nothing is may be one.
    async fn changed(&mut self, by: &str) {
        let now = Self::now(self.fresh, &self.of).await;
        assert_ne!(now.0, self.last.0, "{by}");
        assert_ne!(now.1, self.last.1, "{by}");
        assert_ne!(now.2, self.last.2, "{by}");
        assert!(self.seen.insert(now.0) || now.0.last_seq == 0, "{by} gave {:?} again", now.0);
        self.last = now;
    }

    async fn same(&self, after: &str) {
        assert_eq!(Self::now(self.fresh, &self.of).await, self.last, "{after}");
    }
}

fn merge(merge: bool) -> PutTerms {
    PutTerms { merge, ..PutTerms::default() }
}

pub async fn every_write_changes_version_and_change_counter(kind: Kind) {
    let fresh = kind.fresh().await;
    let store = &fresh.store;
    let mut log = Watch::new(&fresh, LOG).await;
    for round in ["first", "created anew"] {
        fresh.append(LOG, &["1"]).await;
        log.changed(&format!("append, {round}")).await;
        fresh.append(LOG, &["2"]).await;
        log.changed("another append").await;
        fresh.put("users/a/log/new", "{\"a\":1}").await;
        log.changed("put of a new document").await;
        fresh.put("users/a/log/new", "{\"a\":2}").await;
        log.changed("put of a known document").await;
        store.put(&path("users/a/log/new"), Bytes::from_static(b"{\"b\":1}"), merge(true)).await.unwrap();
        log.changed("merge").await;
        let ops = vec![Op::Delete { at: path("users/a/log/new"), if_version: None }];
        store.write([ops, vec![put("users/a/log/other")]].concat()).await.unwrap();
        log.changed("batch").await;
        store.delete(&path("users/a/log/other"), None).await.unwrap();
        log.changed("delete").await;
        let trim = AppendTerms { keep_last: Some(1), ..AppendTerms::default() };
        store.append(&log.of, vec![document("3", "{}")], trim).await.unwrap();
        log.changed("append that trims").await;
        let terms = PutTerms { expires_at: Some(5.0), ..PutTerms::default() };
        store.put(&path("users/a/log/brief"), Bytes::from_static(b"1"), terms).await.unwrap();
        log.changed("put of a document that expires").await;
        assert_eq!(store.sweep(5.0).await.unwrap(), 1);
        log.changed("sweep").await;
        let exported = fresh.exported().await;
        assert_eq!(store.forget(&path("users/a/log/3").prefix()).await.unwrap().documents(), 1);
        log.changed("forget of a document").await;
        assert_eq!(store.import(exported).await.unwrap(), 1);
        log.changed("import").await;
        assert_eq!(store.forget(&path("users/a").prefix()).await.unwrap().documents(), 1);
        log.changed("forget").await;
    }
    fresh.append("users/b/log", &["1", "2", "3"]).await;
    store.fork(&collection("users/b/log"), 2, &log.of).await.unwrap();
    log.changed("fork").await;
    let counter = store.change_counter(log.of.segments()).await.unwrap();
    fresh.put("users/a", "{}").await;
    assert_ne!(
        store.change_counter(log.of.segments()).await.unwrap(),
        counter,
        "the user's own document belongs to the user"
    );
    let mut legacy = Watch::new(&fresh, "sessions/s/messages").await;
    fresh.append("sessions/s/messages", &["1"]).await;
    legacy.changed("append where no user is").await;
    let counter = store.change_counter(&["sessions"]).await.unwrap();
    fresh.append("sessions/t/messages", &["1"]).await;
    assert_ne!(store.change_counter(&["sessions"]).await.unwrap(), counter, "the first segment is the root");
}

fn put(at: &str) -> Op {
    Op::Put { at: path(at), value: Bytes::from_static(b"{}"), terms: PutTerms::default() }
}

pub async fn without_a_write_version_and_change_counter_stay(kind: Kind) {
    let fresh = kind.fresh().await;
    let store = &fresh.store;
    let absent = Watch::new(&fresh, "users/c/log").await;
    fresh.append(LOG, &["1"]).await;
    fresh.put("users/a/log/x", "{\"a\":1}").await;
    let log = Watch::new(&fresh, LOG).await;
    store.turns(&log.of, Range::Last(9)).await.unwrap();
    store.scan(&log.of, Window { limit: 9, ..Window::default() }).await.unwrap();
    store.threads(&collection("users"), "log", None, 9).await.unwrap();
    fresh.value("users/a/log/x").await;
    fresh.value("users/a/log/none").await;
    fresh.exported().await;
    log.same("reads").await;
    assert!(fresh.append(LOG, &["1"]).await[0].existed);
    log.same("the same append again").await;
    fresh.put("users/a/log/x", "{\"a\":1}").await;
    store.put(&path("users/a/log/x"), Bytes::from_static(b"{}"), merge(true)).await.unwrap();
    log.same("puts that change nothing").await;
    assert!(!store.delete(&path("users/a/log/none"), None).await.unwrap());
    assert_eq!(store.sweep(1e12).await.unwrap(), 0);
    store.forget(&path("users/nobody").prefix()).await.unwrap();
    log.same("removing nothing").await;
    assert_eq!(store.import(fresh.exported().await).await.unwrap(), 0);
    log.same("an import of what is there").await;
    let stale = Op::Delete { at: path("users/a/log/x"), if_version: Some(7) };
    assert!(matches!(store.write(vec![put("users/a/log/y"), stale]).await, Err(Error::Stale { .. })));
    let other = store.append(&log.of, vec![document("1", "{}")], AppendTerms::default()).await;
    assert!(matches!(other, Err(Error::Conflict { .. })));
    log.same("refused writes").await;
    fresh.append("users/a/other", &["1"]).await;
    assert_eq!(store.version(&log.of).await.unwrap(), log.last.0, "another collection's write");
    assert_eq!(store.version(&absent.of).await.unwrap(), absent.last.0, "others' writes");
}

/// What a reader finds: a document's value, and how far the log goes.
type Found = (Option<Bytes>, u64);

/// What readers found, by version and by counter.
type Kept = Mutex<(HashMap<Version, Found>, HashMap<u64, Found>)>;

async fn look(store: &Store) -> (Version, u64, Found) {
    let of = collection(LOG);
    let (version, counter) = (store.version(&of).await.unwrap(), store.change_counter(of.segments()).await.unwrap());
    let value = store.get(&path("users/a/log/x")).await.unwrap().map(|document| document.value);
    let last_seq = store.turns(&of, Range::Last(1)).await.unwrap().last_seq;
    (version, counter, (value, last_seq))
}

async fn keep_looking(store: Store, kept: Arc<Kept>) {
    loop {
        let (version, counter, found) = look(&store).await;
        {
            let mut kept = kept.lock().unwrap();
            kept.0.insert(version, found.clone());
            kept.1.insert(counter, found);
        }
        tokio::task::yield_now().await;
    }
}

/// One writer checks after each answer what readers kept under the version and the counter of now.
pub async fn what_was_read_under_the_version_of_now_is_what_is_stored(kind: Kind) {
    let fresh = kind.fresh().await;
    let kept = Arc::new(Kept::default());
    let readers = [0; 2].map(|_| tokio::spawn(keep_looking(fresh.store.clone(), kept.clone())));
    for n in 0.. {
        match n % 2 {
            0 => drop(fresh.put("users/a/log/x", &n.to_string()).await),
            _ => drop(fresh.append(LOG, &[&n.to_string()]).await),
        }
        let (version, counter, now) = look(&fresh.store).await;
        let (found, versions) = {
            let kept = kept.lock().unwrap();
            ([kept.0.get(&version).cloned(), kept.1.get(&counter).cloned()], kept.0.len())
        };
        assert!(found.iter().flatten().all(|found| *found == now), "{n}: {found:?} is not {now:?}");
        if n >= 300 && versions >= 20 {
            break;
        }
        tokio::task::yield_now().await;
    }
    readers.iter().for_each(|reader| reader.abort());
}
