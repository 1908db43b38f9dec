//! L3 and L5: what is written is seen, and reading costs what it returns.

use bytes::Bytes;
use novelo_store::{AppendTerms, Cursor, NewDocument, NewId, Newest, Page, Range, Store, ThreadRow, Turns, Window};

use crate::fresh::{Kind, collection, path};

pub async fn a_write_is_visible_to_the_next_read(kind: Kind) {
    let fresh = kind.fresh().await;
    for n in 1..=70u64 {
        fresh.append("users/a/log", &[&n.to_string()]).await;
        let turns = fresh.store.turns(&collection("users/a/log"), Range::Last(3)).await.unwrap();
        assert_eq!(turns.last_seq, n);
        assert_eq!(turns.iter().next_back().unwrap().seq, n);
        assert_eq!(turns.has_more, n > 3);
        assert!(fresh.value(&format!("users/a/log/{n}")).await.is_some());
    }
    fresh.put("users/a/log/70", "{\"content\":\"new\"}").await;
    let turns = fresh.store.turns(&collection("users/a/log"), Range::Last(1)).await.unwrap();
    assert_eq!(turns.iter().next().unwrap().message.raw().as_ref(), b"{\"content\":\"new\"}");
    fresh.store.delete(&path("users/a/log/70"), None).await.unwrap();
    assert_eq!(fresh.ids("users/a/log").await.last().unwrap(), "69");
    fresh.append("users/a/log", &["71"]).await;
    assert_eq!(fresh.ids("users/a/log").await.last().unwrap(), "71");
}

pub async fn a_snapshot_of_turns_does_not_change(kind: Kind) {
    let fresh = kind.fresh().await;
    fresh.append("users/a/log", &["1", "2"]).await;
    let before = fresh.store.turns(&collection("users/a/log"), Range::Last(9)).await.unwrap();
    fresh.append("users/a/log", &["3"]).await;
    fresh.store.delete(&path("users/a/log/1"), None).await.unwrap();
    assert_eq!(seqs(&before), [1, 2]);
    assert_eq!((before.len(), before.last_seq), (2, 2));
}

pub async fn the_epoch_tells_that_stored_turns_changed(kind: Kind) {
    let fresh = kind.fresh().await;
    let epoch = async || fresh.store.turns(&collection("users/a/log"), Range::Last(1)).await.unwrap().epoch;
    fresh.append("users/a/log", &["1"]).await;
    let first = epoch().await;
    fresh.append("users/a/log", &["2"]).await;
    assert_eq!(epoch().await, first, "an append replaces nothing");
    fresh.put("users/a/log/1", "{}").await;
    let second = epoch().await;
    assert_ne!(second, first);
    fresh.store.delete(&path("users/a/log/1"), None).await.unwrap();
    assert_ne!(epoch().await, second);
}

pub async fn ranges_of_turns(kind: Kind) {
    let fresh = kind.fresh().await;
    let ids: Vec<String> = (1..=200).map(|n| n.to_string()).collect();
    fresh.append("users/a/log", &ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    for gone in [7, 150] {
        fresh.store.delete(&path(&format!("users/a/log/{gone}")), None).await.unwrap();
    }
    let fresh = fresh.reopened().await;
    let check = async |range, expected: Vec<u64>, has_more| {
        let turns = fresh.store.turns(&collection("users/a/log"), range).await.unwrap();
        assert_eq!((seqs(&turns), turns.has_more), (expected, has_more), "{range:?}");
        assert_eq!(turns.last_seq, 200);
    };
    check(Range::After { seq: 5, limit: 3 }, vec![6, 8, 9], true).await;
    check(Range::Last(2), vec![199, 200], true).await;
    check(Range::Last(52), (148..=200).filter(|n| *n != 150).collect(), true).await;
    check(Range::Last(198), (1..=200).filter(|n| ![7, 150].contains(n)).collect(), false).await;
    check(Range::Last(0), vec![], true).await;
    check(Range::After { seq: 197, limit: 3 }, vec![198, 199, 200], false).await;
    check(Range::After { seq: 200, limit: 3 }, vec![], false).await;
    check(Range::After { seq: u64::MAX, limit: 3 }, vec![], false).await;
    check(Range::After { seq: 0, limit: 0 }, vec![], true).await;
    check(Range::Between { first: 6, last: 8 }, vec![6, 8], false).await;
    check(Range::Between { first: 199, last: 900 }, vec![199, 200], false).await;
    check(Range::Between { first: 9, last: 8 }, vec![], false).await;
    assert!(fresh.store.turns(&collection("users/a/none"), Range::Last(5)).await.unwrap().is_empty());
}

pub async fn windows_page_in_the_order_of_time(kind: Kind) {
    let fresh = kind.fresh().await;
    let times = [3.0, -1.5, 2.0, 2.0, 0.0, 1e9];
    let at = |(n, time): (usize, &f64)| NewDocument {
        id: NewId::Given(n.to_string().into()),
        create_time: *time,
        value: Bytes::from_static(b"{}"),
        expires_at: None,
    };
    let documents = times.iter().enumerate().map(at).collect();
    fresh.store.append(&collection("users/a/notes"), documents, AppendTerms::default()).await.unwrap();
    let check = async |window: Window, expected: &[&str], has_more| {
        let page = fresh.store.scan(&collection("users/a/notes"), window).await.unwrap();
        let ids: Vec<_> = page.items.iter().map(|document| &*document.id).collect();
        assert_eq!((ids.as_slice(), page.has_more), (expected, has_more), "{window:?}");
    };
    let all = Window { limit: 9, ..Window::default() };
    check(all, &["1", "4", "2", "3", "0", "5"], false).await;
    check(Window { begin: Some(0.0), end: Some(3.0), ..all }, &["2", "3", "0"], false).await;
    check(Window { begin: Some(3.0), ..all }, &["5"], false).await;
    check(Window { limit: 2, ..all }, &["1", "4"], true).await;
    check(Window { limit: 0, ..all }, &[], true).await;
    let after = Some(Cursor { create_time: 2.0, seq: 3 });
    check(Window { after, limit: 2, ..all }, &["3", "0"], true).await;
    check(Window { after, begin: Some(2.5), ..all }, &["0", "5"], false).await;
    check(Window { end: Some(-9.0), ..all }, &[], false).await;
}

pub async fn the_newest_turns_by_time_are_found_whatever_the_order_of_writing(kind: Kind) {
    let fresh = kind.fresh().await;
    let at = |(id, time): &(String, f64)| NewDocument {
        id: NewId::Given(id.as_str().into()),
        create_time: *time,
        value: Bytes::from_static(br#"{"role":"user","content":"x"}"#),
        expires_at: None,
    };
    let write = async |of: &str, times: &[f64]| {
        for some in times.chunks(500) {
            let documents: Vec<_> = some.iter().map(|time| (format!("{time}"), *time)).collect();
            let documents = documents.iter().map(at).collect();
            fresh.store.append(&collection(of), documents, AppendTerms::default()).await.unwrap();
        }
    };
    let forwards: Vec<f64> = (1..=3_000).map(f64::from).collect();
    let backwards: Vec<f64> = forwards.iter().rev().copied().collect();
    let mixed: Vec<f64> = (0..3_000).map(|n| f64::from(n * 7 % 3_000 + 1)).collect();
    for (of, times) in [("users/a/forwards", &forwards), ("users/a/backwards", &backwards), ("users/a/mixed", &mixed)] {
        write(of, times).await;
        fresh.store.fork(&collection(of), 2_000, &collection(&format!("{of}.fork"))).await.unwrap();
        fresh.store.delete(&path(&format!("{of}/1500")), None).await.unwrap();
        for (of, stored) in [(of.to_owned(), times.as_slice()), (format!("{of}.fork"), &times[..2_000])] {
            let check = async |begin: Option<f64>, end: Option<f64>, seqs: (u64, u64), limit: usize| {
                let choice = Newest { begin, end, first_seq: seqs.0, last_seq: seqs.1, limit };
                let turns = fresh.store.newest_turns(&collection(&of), choice).await.unwrap();
                let is_there = |(_, time): &(u64, f64)| of.ends_with(".fork") || *time != 1_500.0;
                let all: Vec<(u64, f64)> = (1..).zip(stored.iter().copied()).filter(is_there).collect();
                let mut inside = all.clone();
                inside.retain(|(seq, time)| {
                    begin.is_none_or(|b| *time > b) && end.is_none_or(|e| *time <= e) && (seqs.0..=seqs.1).contains(seq)
                });
                inside.sort_by(|a, b| b.1.total_cmp(&a.1));
                let has_more = inside.len() > limit;
                inside.truncate(limit);
                inside.sort_by_key(|(seq, _)| *seq);
                let found: Vec<_> = turns.iter().map(|turn| (turn.seq, turn.create_time)).collect();
                assert_eq!((found, turns.has_more), (inside, has_more), "{of} {choice:?}");
                assert_eq!((turns.count, turns.last_seq), (all.len() as u64, stored.len() as u64), "{of}");
                let within =
                    all.iter().filter(|(_, time)| begin.is_none_or(|b| *time > b) && end.is_none_or(|e| *time <= e));
                let count = fresh.store.count_within(&collection(&of), begin, end).await.unwrap();
                assert_eq!(count, within.count() as u64, "{of} {begin:?} {end:?}");
            };
            check(None, None, (0, u64::MAX), 1_200).await;
            check(None, None, (0, 1_000), 1).await;
            check(None, None, (0, u64::MAX), 0).await;
            check(None, None, (0, u64::MAX), 5_000).await;
            check(Some(1_400.0), None, (0, u64::MAX), 100).await;
            check(None, Some(1_600.0), (0, u64::MAX), 2_000).await;
            check(Some(1_490.0), Some(1_510.0), (0, u64::MAX), 15).await;
            check(Some(100.0), Some(2_900.0), (700, 1_800), 300).await;
            check(Some(9_000.0), None, (0, u64::MAX), 9).await;
        }
    }
    let none = Newest { begin: None, end: None, first_seq: 0, last_seq: u64::MAX, limit: 9 };
    assert!(fresh.store.newest_turns(&collection("users/a/none"), none).await.unwrap().is_empty());
    assert_eq!(fresh.store.count_within(&collection("users/a/none"), None, Some(1.0)).await.unwrap(), 0);
}

pub async fn threads_page_in_the_order_of_ids(kind: Kind) {
    let fresh = kind.fresh().await;
    for thread in ["b", "a", "ab", "c", "é"] {
        fresh.append(&format!("users/u/sessions/{thread}/messages"), &["1", "2"]).await;
    }
    fresh.append("users/u/sessions/zz/other", &["1"]).await;
    fresh.append("users/u/sessions/a/messages/1/parts", &["1"]).await;
    fresh.append("users/v/sessions/x/messages", &["1"]).await;
    fresh.append("users/u/sessions/empty/messages", &["1"]).await;
    fresh.store.delete(&path("users/u/sessions/empty/messages/1"), None).await.unwrap();
    let list = async |after, limit| {
        let under = collection("users/u/sessions");
        threads(&fresh.store.threads(&under, "messages", after, limit).await.unwrap())
    };
    assert_eq!(list(None, 9).await, (vec!["a".into(), "ab".into(), "b".into(), "c".into(), "é".into()], false));
    assert_eq!(list(None, 2).await, (vec!["a".into(), "ab".into()], true));
    assert_eq!(list(Some("ab"), 2).await, (vec!["b".into(), "c".into()], true));
    assert_eq!(list(Some("é"), 2).await, (vec![], false));
    let row = Store::threads(&fresh.store, &collection("users/v/sessions"), "messages", None, 1).await.unwrap();
    assert_eq!(row.items, [ThreadRow { id: "x".into(), turns: 1, updated_at: 1.0 }]);
}

fn threads(page: &Page<ThreadRow>) -> (Vec<String>, bool) {
    (page.items.iter().map(|row| row.id.to_string()).collect(), page.has_more)
}

fn seqs(turns: &Turns) -> Vec<u64> {
    turns.iter().map(|turn| turn.seq).collect()
}
