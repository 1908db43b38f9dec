//! L1 and L10: what was acknowledged stays, and moves.

use std::path::Path;

use novelo_engine::path::{CollectionPath, Prefix};
use novelo_store::{AppendTerms, Error, Exported, LocalOptions, Op, PutTerms, Range, Reserved, SEQ_MAX, Store};

use crate::fresh::{Fresh, Home, Kind, collection, document, path, redis_options};
use crate::redis::Redis;

/// What a killed process leaves behind is what its files hold at that instant.
pub async fn an_acknowledged_write_survives_a_kill(kind: Kind) {
    let mut fresh = kind.fresh().await;
    // A cluster takes two seconds to serve again.
    for n in 0..if kind == Kind::Cluster { 2 } else { 8 } {
        if matches!(fresh.home, Home::Nowhere) {
            return;
        }
        fresh.append("users/a/log", &[&n.to_string()]).await;
        if let Home::Servers(servers) = &mut fresh.home {
            servers.crash();
            assert_eq!(fresh.ids("users/a/log").await.len(), n + 1, "the same handle finds the server again");
            continue;
        }
        let copy = tempfile::tempdir().unwrap();
        fresh.home.dirs().into_iter().for_each(|dir| copy_dir(dir, copy.path()));
        let store = Store::open_local(copy.path(), LocalOptions::default()).await.unwrap();
        let survivor = Fresh { store, home: Home::Directory(copy) };
        assert_eq!(survivor.ids("users/a/log").await.len(), n + 1);
    }
}

pub async fn what_was_stored_is_there_after_a_close(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2"]).await;
    fresh.put("users/a", "{\"x\":1}").await;
    let before = fresh.exported().await;
    let fresh = fresh.reopened().await;
    assert_eq!(fresh.exported().await, before);
    assert_eq!(fresh.ids("users/a/log").await, ["1", "2"]);
    assert!(fresh.store.check().await.unwrap().is_empty());
}

pub async fn an_export_imports_into_an_empty_store(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2", "3"]).await;
    fresh.put("users/a/log/2", "{\"changed\":true}").await;
    fresh.store.delete(&path("users/a/log/1"), None).await.unwrap();
    fresh.put("users/a", "{}").await;
    let exported = fresh.exported().await;
    assert_eq!(exported.len(), 3);
    let of_user = fresh.below(&path("users/a").prefix()).await;
    assert_eq!(of_user.len(), 3);

    let other = kind.fresh().await;
    assert_eq!(other.store.import(exported.clone()).await.unwrap(), 3);
    assert_eq!(other.store.import(exported.clone()).await.unwrap(), 0, "again is nothing new");
    let other = other.reopened().await;
    assert_eq!(other.exported().await, exported);
    assert_eq!(other.store.get(&path("users/a/log/2")).await.unwrap().unwrap().version, 2);
    assert_eq!(other.append("users/a/log", &["4"]).await[0].seq, 4);
    assert_eq!(other.ids("users/a/log").await, ["2", "3", "4"]);
    other.put("users/a", "{\"other\":1}").await;
    assert!(matches!(other.store.import(exported).await, Err(Error::Conflict { .. })));
    assert!(other.store.check().await.unwrap().is_empty());
}

pub async fn an_export_is_one_moment(kind: Kind) {
    let fresh = kind.fresh().await;
    let ids: Vec<String> = (0..600).map(|n| n.to_string()).collect();
    fresh.append("users/a/log", &ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut export = fresh.store.export(&Prefix::all()).await.unwrap();
    assert_eq!(export.documents_hint(), 600);
    assert_eq!(export.next().await.unwrap().unwrap().path.id(), "0");
    fresh.append("users/a/log", &["later"]).await;
    fresh.store.delete(&path("users/a/log/599"), None).await.unwrap();
    let rest = export.all().await.unwrap();
    assert_eq!(rest.len(), 599);
    assert_eq!(rest.last().unwrap().path.id(), "599");
}

/// Every back-end exports in the same order, so that two exports can be compared in step.
pub async fn exports_come_in_the_order_of_paths_whatever_the_ids(kind: Kind) {
    let (fresh, long) = (kind.fresh().await, "l".repeat(256));
    let ids =
        ["a", "a b", "a!", "a/b", "ab", "a\u{a1}", "%", "..", "{a}", "a:seqs", "users", "é", "😀", "\u{ffff}", &long];
    for id in ids {
        for of in [
            vec!["users", id, "log"],
            vec!["users", id, "log", id, "log"],
            vec!["users", "a", id],
            vec!["users"],
            vec![id],
        ] {
            let at = CollectionPath::new(&of).unwrap().document(id).unwrap();
            fresh.store.put(&at, "{}".into(), PutTerms::default()).await.unwrap();
        }
    }
    let exported = fresh.exported().await;
    let places: Vec<_> = exported.iter().map(|d| (d.path.collection().segments().to_vec(), d.seq)).collect();
    assert!(places.len() > 4 * ids.len());
    assert!(places.is_sorted(), "{places:?}");
}

pub async fn an_export_tells_what_was_given_and_is_gone(kind: Kind) {
    let fresh = kind.fresh().await;
    for (of, gone) in [("users/a/log", &["3"][..]), ("users/a/log/1/notes", &["1", "2", "3"]), ("users/b/log", &["1"])]
    {
        fresh.append(of, &["1", "2", "3"]).await;
        for id in gone {
            fresh.store.delete(&path(&format!("{of}/{id}")), None).await.unwrap();
        }
    }
    let mut export = fresh.store.export(&Prefix::all()).await.unwrap();
    while export.next().await.transpose().unwrap().is_some() {}
    let reserved = |of: &str| Reserved { of: collection(of), last_seq: 3 };
    assert_eq!(export.take_reserved(), [reserved("users/a/log"), reserved("users/a/log/1/notes")]);
    assert!(export.take_reserved().is_empty(), "it is returned once");
}

/// A shared server must not search for what lies between.
pub async fn seqs_far_apart_are_imported(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2", "3"]).await;
    let mut exported = fresh.exported().await;
    for (document, seq) in exported.iter_mut().zip([7, 1 << 40, SEQ_MAX - 1]) {
        document.seq = seq;
    }
    let other = kind.fresh().await;
    assert_eq!(other.store.import(exported.clone()).await.unwrap(), 3);
    assert_eq!(other.exported().await, exported);
    other.store.write(vec![Op::Reserve(Reserved { of: collection("users/b/log"), last_seq: 1 << 50 })]).await.unwrap();
    assert_eq!(other.append("users/b/log", &["1"]).await[0].seq, (1 << 50) + 1);
    assert!(other.store.check().await.unwrap().is_empty());
}

fn copy_dir(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy_dir(&entry.path(), &target),
            false => copy_file(&entry.path(), &target),
        }
    }
}

/// Leaves the zeros at the end of a journal as a hole.
fn copy_file(from: &Path, to: &Path) {
    let bytes = std::fs::read(from).unwrap();
    let hole = vec![0; 64 * 1024];
    let mut used = bytes.as_slice();
    while let Some(shorter) = used.strip_suffix(hole.as_slice()) {
        used = shorter;
    }
    std::fs::write(to, used).unwrap();
    std::fs::File::options().write(true).open(to).unwrap().set_len(bytes.len() as u64).unwrap();
}

/// A server that lost acknowledged turns gives their seqs to other turns; then no node may return the lost
/// ones.
pub async fn what_a_server_lost_is_told_by_nobody(kind: Kind) {
    if kind != Kind::Redis {
        return;
    }
    // It keeps what it is asked to save, and nothing else.
    let mut redis = Redis::start();
    let open = async || Store::open_redis(redis_options(redis.url())).await.unwrap();
    let (node, other) = (open().await, open().await);
    let (of, all, terms) = (collection("users/a/log"), Range::Last(9), AppendTerms::default());
    node.append(&of, vec![document("1", "{}"), document("2", "{}")], terms).await.unwrap();
    redis.cli(&["SAVE"]);
    node.append(&of, vec![document("lost", "{}")], terms).await.unwrap();
    let before = (node.version(&of).await.unwrap(), node.turns(&of, all).await.unwrap());
    assert_eq!(before.1.len(), 3);
    redis.kill();
    redis.start_again();
    // Its first words after the crash may be that the old connection is gone.
    while other.append(&of, vec![document("new", "{}")], terms).await.is_err() {}
    let turns = node.turns(&of, all).await.unwrap();
    assert_eq!(turns.iter().map(|turn| &*turn.id).collect::<Vec<_>>(), ["1", "2", "new"]);
    let after = node.version(&of).await.unwrap();
    assert_eq!(after.last_seq, before.0.last_seq);
    assert_ne!(after.epoch, before.0.epoch, "a reader that cached something under the version reads again");
}

pub async fn what_no_back_end_could_count_is_not_imported(kind: Kind) {
    let fresh = kind.fresh().await;
    let exported = |seq, version| Exported {
        path: path("users/a/log/1"),
        seq,
        create_time: 1.0,
        version,
        expires_at: None,
        value: "{}".into(),
    };
    for (seq, version) in [(1, u64::MAX), (1, 0), (0, 1), (u64::MAX, 1), (SEQ_MAX + 1, 1)] {
        let refused = fresh.store.import(vec![exported(seq, version)]).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{seq} {version}");
    }
    assert_eq!(fresh.store.import(vec![exported(SEQ_MAX, SEQ_MAX)]).await.unwrap(), 1);
    assert_eq!(fresh.append("users/a/log", &["2"]).await[0].seq, SEQ_MAX + 1);
    assert_eq!(fresh.append("users/a/log", &["3"]).await[0].seq, SEQ_MAX + 2);
    assert_eq!(fresh.ids("users/a/log").await, ["1", "2", "3"]);
    assert!(fresh.store.check().await.unwrap().is_empty());
}

/// More than is read at once.
pub async fn a_large_user_is_exported_whole(kind: Kind) {
    let fresh = kind.fresh().await;
    let text = format!("\"{}\"", "x".repeat(40_000));
    for n in 0..6 {
        let log = collection(&format!("users/a/logs/{n}/log"));
        let documents = (0..100).map(|id| document(&id.to_string(), &text)).collect();
        fresh.store.append(&log, documents, AppendTerms::default()).await.unwrap();
    }
    fresh.store.delete(&path("users/a/logs/5/log/99"), None).await.unwrap();
    let mut export = fresh.store.export(&Prefix::all()).await.unwrap();
    let (mut seqs, mut reserved) = (Vec::new(), Vec::new());
    while let Some(document) = export.next().await {
        let document = document.unwrap();
        seqs.push((document.path.segments()[3].to_string(), document.seq));
        reserved.extend(export.take_reserved());
    }
    reserved.extend(export.take_reserved());
    let expected = (0..6).flat_map(|n| (1..=100).map(move |seq| (n.to_string(), seq)));
    assert_eq!(seqs, expected.take(599).collect::<Vec<_>>());
    assert_eq!(reserved.iter().map(|r| r.last_seq).collect::<Vec<_>>(), [100]);
}
