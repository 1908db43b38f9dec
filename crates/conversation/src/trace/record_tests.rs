//! What is kept in memory is bounded, and what is forgotten is not stored.

use novelo_engine::recipe::Shape;
use novelo_engine::time_scope::Level;
use serde_json::value::RawValue;

use super::*;
use crate::trace::{CollectionInput, Inputs};

/// A trace that no thread keeps, of a user's document of so many bytes.
fn record(recorder: &Recorder, n: usize, bytes: usize) -> (TraceId, bool) {
    record_of(recorder, n, bytes, None, None)
}

/// One that its thread keeps for as long as there is a turn.
fn record_of(
    recorder: &Recorder,
    n: usize,
    bytes: usize,
    thread: Option<(&str, &str)>,
    of: Option<DocumentPath>,
) -> (TraceId, bool) {
    let raw = |text: String| RawValue::from_string(text).unwrap();
    let documents = vec![("d".to_owned(), raw(format!("\"{}\"", "x".repeat(bytes))))];
    let (shape, level) = (Shape::Data, Level::Week);
    let collections = vec![CollectionInput { name: "summaries".into(), shape, level, documents, before: 0 }];
    let thread = thread.map(|(user, thread)| (user.to_owned(), thread.to_owned()));
    let id = TraceId::of(thread.as_ref(), &n);
    let trace = PromptTrace {
        id: id.encode(),
        at: 0.0,
        user: None,
        subject: Some("u".into()),
        thread: None,
        preset: None,
        recipe: raw("{}".into()),
        question: None,
        query: None,
        budget_tokens: None,
        inputs: Inputs { collections, ..Inputs::default() },
        messages: 1,
        tokens: 1,
        unchanged_tokens: None,
        digest: String::new(),
        took_us: 0,
    };
    assert!(recorder.is_news(&id));
    let kept = recorder.record(&id, trace, of);
    (id, kept)
}

#[test]
fn traces_in_memory_are_bounded_by_all_that_they_hold() {
    let recorder = Recorder::default();
    let ids: Vec<TraceId> = (0..40).map(|n| record(&recorder, n, 1024 * 1024).0).collect();
    let held = ids.iter().filter(|id| recorder.find(id).is_some()).count();
    assert!((25..=32).contains(&held), "{held} of 1 MB each");
    assert!(recorder.find(&ids[39]).is_some() && recorder.find(&ids[0]).is_none());
    assert_eq!([0, 39].map(|n| recorder.is_recent(&ids[n])), [false, true]);
    let (large, kept) = record(&recorder, 40, STATELESS_BYTES_MAX);
    assert_eq!((kept, recorder.is_recent(&large)), (false, false));
    assert_eq!(recorder.forget("u", None), held as u64);
    assert_eq!(recorder.forget("u", None), 0);
}

/// Another node forgets a thread while traces of it wait here, and traces of others of the same user and of
/// others.
#[tokio::test]
async fn what_another_node_forgot_is_not_stored_and_costs_no_other() {
    let (store, metrics) = (Store::memory(), Arc::new(Metrics::default()));
    let recorder = Recorder::new(metrics.clone());
    let turn = |user: &str, thread: &str| novelo_engine::scope::turns(user, thread).unwrap().document("turn").unwrap();
    let threads = [("u", "gone"), ("u", "stays"), ("v", "stays")];
    for (user, thread) in threads {
        store.put(&turn(user, thread), "{}".into(), PutTerms::default()).await.unwrap();
    }
    let record = |n: usize, (user, thread): (&str, &str)| {
        record_of(&recorder, n, 1, Some((user, thread)), Some(turn(user, thread))).0
    };
    let ids: Vec<TraceId> = (0..300).map(|n| record(n, threads[n % 3])).collect();
    let unbound = record_of(&recorder, 300, 1, Some(threads[0]), None).0;
    recorder.made_from(&[unbound.encode()], &turn("u", "gone"));
    let free = record_of(&recorder, 301, 1, Some(("w", "new")), None).0;
    store.forget(&novelo_engine::scope::thread("u", "gone").unwrap().prefix()).await.unwrap();
    recorder.close();
    recorder.run(&store, None).await;
    let is_stored = async |id: &TraceId| store.get(&id.path().unwrap()).await.unwrap().is_some();
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(is_stored(id).await, n % 3 != 0, "{n}");
        assert_eq!(recorder.is_recent(id), n % 3 != 0, "{n}: one that is dropped is news again");
    }
    assert_eq!((is_stored(&unbound).await, is_stored(&free).await), (false, true));
    assert_eq!(metrics.traces_lost.load(std::sync::atomic::Ordering::Relaxed), 0, "what is forgotten is not lost");
}
