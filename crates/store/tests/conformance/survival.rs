//! L1 and L10: what was acknowledged stays, and moves.

use std::path::Path;

use novelo_engine::path::Prefix;
use novelo_store::{Error, LocalOptions, Store};

use crate::fresh::{Fresh, Kind, path};

/// What a killed process leaves behind is what its files hold at that instant.
pub async fn an_acknowledged_write_survives_a_kill(kind: Kind) {
    let fresh = kind.fresh().await;
    let Some(dir) = &fresh.dir else { return };
    for n in 0..8 {
        fresh.append("users/a/log", &[&n.to_string()]).await;
        let copy = tempfile::tempdir().unwrap();
        copy_dir(dir.path(), copy.path());
        let store = Store::open_local(copy.path(), LocalOptions::default()).await.unwrap();
        let survivor = Fresh { store, dir: Some(copy) };
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
    let of_user: Vec<_> = fresh.store.export(&path("users/a").prefix()).unwrap().map(Result::unwrap).collect();
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
    let mut export = fresh.store.export(&Prefix::all()).unwrap();
    assert_eq!(export.documents_hint(), 600);
    assert_eq!(export.next().unwrap().unwrap().path.id(), "0");
    fresh.append("users/a/log", &["later"]).await;
    fresh.store.delete(&path("users/a/log/599"), None).await.unwrap();
    let rest: Vec<_> = export.map(Result::unwrap).collect();
    assert_eq!(rest.len(), 599);
    assert_eq!(rest.last().unwrap().path.id(), "599");
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
