//! L3 over several nodes: what one wrote, the next request on another reads, however warm that one is.

use bytes::Bytes;
use novelo_engine::path::Prefix;
use novelo_store::{AppendTerms, Error, NewDocument, NewId, Op, PutTerms, Range, Store};

use crate::fresh::{Home, Kind, Servers, collection, document, path};

const LOG: &str = "users/a/log";

async fn newest(store: &Store, count: usize) -> Vec<String> {
    let turns = store.turns(&collection(LOG), Range::Last(count)).await.unwrap();
    turns.iter().map(|turn| turn.message.as_str().to_owned()).collect()
}

/// Both nodes have cached the thread, so a node that trusted its cache would return old turns.
pub async fn a_write_through_one_node_is_read_by_the_next_request_on_another(kind: Kind) {
    let fresh = kind.fresh().await;
    let nodes = [fresh.store.clone(), fresh.another().await];
    fresh.append(LOG, &["0"]).await;
    for round in 1..=60 {
        let (writer, reader) = (&nodes[round % 2], &nodes[(round + 1) % 2]);
        assert_eq!(newest(writer, 3).await, newest(reader, 3).await);
        let before =
            (reader.version(&collection(LOG)).await.unwrap(), reader.change_counter(&["users", "a"]).await.unwrap());
        let text = format!("{{\"round\":{round}}}");
        match round % 5 {
            0 => {
                let newest = reader.turns(&collection(LOG), Range::Last(1)).await.unwrap();
                let id = newest.iter().next().unwrap().id.clone();
                let at = collection(LOG).document(&id).unwrap();
                writer.put(&at, Bytes::from(text.clone()), PutTerms::default()).await.unwrap();
            }
            3 => {
                let trim = AppendTerms { keep_last: Some(5), ..AppendTerms::default() };
                writer.append(&collection(LOG), vec![document(&text, &text)], trim).await.unwrap();
            }
            4 => {
                writer.forget(&collection(LOG).prefix()).await.unwrap();
                assert!(newest(reader, 3).await.is_empty(), "{round}");
                writer.append(&collection(LOG), vec![document(&text, &text)], AppendTerms::default()).await.unwrap();
            }
            _ => drop(
                writer.append(&collection(LOG), vec![document(&text, &text)], AppendTerms::default()).await.unwrap(),
            ),
        }
        assert_eq!(newest(reader, 3).await.last(), Some(&text), "{round}");
        assert_eq!(newest(reader, 9).await, newest(writer, 9).await, "{round}");
        let after =
            (reader.version(&collection(LOG)).await.unwrap(), reader.change_counter(&["users", "a"]).await.unwrap());
        assert!(before.0 != after.0 && before.1 != after.1, "{round}");
    }
}

/// Appends, counters by `if_version`, and merges from two nodes at once.
pub async fn nodes_that_write_at_once_lose_nothing(kind: Kind) {
    let fresh = kind.fresh().await;
    let nodes = [fresh.store.clone(), fresh.another().await];
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let node = nodes[writer % 2].clone();
            tokio::spawn(async move {
                for n in 0..15 {
                    write_with_counter(&node, &format!("{writer}-{n}")).await;
                    let member = Bytes::from(format!("{{\"{writer}-{n}\":1}}"));
                    let terms = PutTerms { merge: true, ..PutTerms::default() };
                    node.put(&path("users/a/data/merged"), member, terms).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    for node in &nodes {
        let turns = node.turns(&collection(LOG), Range::Last(1_000)).await.unwrap();
        assert_eq!(turns.iter().map(|turn| turn.seq).collect::<Vec<_>>(), (1..=120).collect::<Vec<_>>());
        let counter = node.get(&path("users/a/data/counter")).await.unwrap().unwrap();
        assert_eq!(counter.value, "120");
        let merged = node.get(&path("users/a/data/merged")).await.unwrap().unwrap();
        let merged: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&merged.value).unwrap();
        assert_eq!(merged.len(), 120);
        assert_eq!(node.export(&Prefix::all()).await.unwrap().all().await.unwrap().len(), 122);
    }
    assert!(fresh.store.check().await.unwrap().is_empty());
}

/// A turn and a counter of turns, in one write.
async fn write_with_counter(node: &Store, id: &str) {
    loop {
        let known = node.get(&path("users/a/data/counter")).await.unwrap();
        let count: u64 = known.as_ref().map_or(0, |known| std::str::from_utf8(&known.value).unwrap().parse().unwrap());
        let terms = PutTerms { if_version: Some(known.map_or(0, |known| known.version)), ..PutTerms::default() };
        let append =
            Op::Append { to: collection(LOG), documents: vec![document(id, "{}")], terms: AppendTerms::default() };
        let counter = Op::Put { at: path("users/a/data/counter"), value: Bytes::from((count + 1).to_string()), terms };
        match node.write(vec![append, counter]).await {
            Ok(_) => return,
            Err(Error::Stale { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// A node that ends between the two leaves a root that is written and not listed. The next writer that is
/// answered can rely on it.
pub async fn a_root_that_nobody_listed_is_listed_by_the_next_write(kind: Kind) {
    let fresh = kind.fresh().await;
    let Home::Servers(Servers::One(redis)) = &fresh.home else { return };
    let unlist = || {
        redis.cli(&["DEL", "novelo:roots"]);
        redis.cli(&["HDEL", "novelo:{a}:pulse", "listed"]);
    };
    fresh.append("users/a/log", &["1"]).await;
    let exported = fresh.exported().await;
    unlist();
    assert!(fresh.append("users/a/log", &["1"]).await[0].existed);
    assert_eq!(fresh.exported().await.len(), 1, "the same again");
    unlist();
    assert_eq!(fresh.store.import(exported).await.unwrap(), 0);
    assert_eq!(fresh.exported().await.len(), 1, "an import of nothing new");
    unlist();
    let new = NewDocument { id: NewId::Fresh("2".into()), ..document("2", "{}") };
    fresh.store.append(&collection("users/a/log"), vec![new], AppendTerms::default()).await.unwrap();
    assert_eq!(fresh.exported().await.len(), 2, "a new turn");
    fresh.store.delete(&path("users/b/log/1"), None).await.unwrap();
    assert_eq!(redis.cli(&["ZCARD", "novelo:roots"]), "1", "what holds nothing is not listed");
}
