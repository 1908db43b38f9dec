//! Courses are bounded, are recorded once, and are never lost new_messages.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::*;
use crate::app::{self, App, Tasks};
use crate::settings::Settings;
use crate::trace::{TraceEntry, find, request_trace::TEXT_CHARS_MAX};

async fn open() -> (App, Tasks) {
    app::open(Settings::in_memory()).await.unwrap()
}

/// The trace under an id, wherever it is by now.
async fn read(app: &App, id: &TraceId) -> Option<Arc<RequestTrace>> {
    match find(&app.store, &app.recorder, id).await.unwrap() {
        Some(TraceEntry::Request(request_trace)) => Some(request_trace),
        Some(TraceEntry::Prompt(_)) => panic!("{id:?} is a prompt"),
        None => None,
    }
}

fn said(request_trace: &RequestTrace) -> Vec<(&str, &str)> {
    request_trace.errors.iter().map(|mark| (mark.stage.as_str(), mark.message.as_str())).collect()
}

#[tokio::test]
async fn every_list_holds_so_many_and_says_what_is_missing() {
    let (app, _tasks) = open().await;
    for (more, expected) in [(0, vec![]), (1, vec![("trace", "1 caches were left out; a trace holds 200")])] {
        let tracer = RequestTracer::begin(&app.recorder, "test");
        (0..MARKS_MAX + more).for_each(|_| tracer.cache("response", false, None));
        tracer.end();
        let request_trace = read(&app, &tracer.id()).await.unwrap();
        assert_eq!((request_trace.caches.len(), said(&request_trace)), (MARKS_MAX, expected));
    }
    let tracer = RequestTracer::begin(&app.recorder, "test");
    for _ in 0..MARKS_MAX + 7 {
        tracer.heuristic("h", 1, "");
        tracer.prompt("p");
        tracer.error("stage", "broke");
        tracer.module(ModuleMark {
            name: "m".into(),
            status: "kept".into(),
            why: "".into(),
            tokens: None,
            missing_tokens: None,
        });
        tracer.embedding(EmbeddingMark {
            kind: "warm".into(),
            against: "".into(),
            similarity: None,
            hits: 0,
            took_ms: 0.0,
        });
    }
    tracer.end();
    let request_trace = read(&app, &tracer.id()).await.unwrap();
    let lengths = [
        request_trace.heuristics.len(),
        request_trace.prompts.len(),
        request_trace.modules.len(),
        request_trace.embeddings.len(),
    ];
    assert_eq!(lengths, [MARKS_MAX; 4]);
    let kinds = ["embeddings", "errors", "heuristics", "modules", "prompts"];
    let notes = kinds.map(|kind| format!("7 {kind} were left out; a trace holds 200"));
    assert_eq!(said(&request_trace)[MARKS_MAX..], notes.each_ref().map(|note| ("trace", note.as_str())));
}

#[tokio::test]
async fn texts_are_cut_by_characters() {
    let (app, _tasks) = open().await;
    let (at, past) = ("é".repeat(TEXT_CHARS_MAX), "é".repeat(TEXT_CHARS_MAX + 1));
    let tracer = RequestTracer::begin(&app.recorder, &past);
    for text in [&at, &past] {
        tracer.cache(text, true, Some(text));
        tracer.heuristic(text, text.as_str(), text);
        tracer.error(text, text);
        tracer.prompt(text);
        tracer.model(text);
        tracer.memory(MemoryMark { saves: true, intensity: 1.0, why: text.clone(), id: Some(text.clone()) });
    }
    tracer.heuristic("list", json!(["x".repeat(TEXT_CHARS_MAX - 4)]), "");
    tracer.heuristic("long list", json!(["x".repeat(TEXT_CHARS_MAX)]), "");
    tracer.end();
    let request_trace = read(&app, &tracer.id()).await.unwrap();
    for mark in &request_trace.caches {
        assert_eq!((&mark.cache, mark.key.as_ref()), (&at, Some(&at)));
    }
    assert!(
        request_trace
            .heuristics
            .iter()
            .take(2)
            .all(|mark| mark.name == at && mark.value == json!(at) && mark.why == at)
    );
    assert!(request_trace.errors.iter().all(|mark| mark.stage == at && mark.message == at));
    assert_eq!(
        (&request_trace.surface, request_trace.model.as_ref(), request_trace.prompts.as_slice()),
        (&at, Some(&at), [at.clone(), at.clone()].as_slice())
    );
    assert_eq!(request_trace.memory.as_ref().map(|mark| (&mark.why, mark.id.as_ref())), Some((&at, Some(&at))));
    assert!(request_trace.heuristics[2].value.is_array());
    assert_eq!(request_trace.heuristics[3].value.as_str().map(|text| text.chars().count()), Some(TEXT_CHARS_MAX));
}

#[tokio::test]
async fn a_course_is_recorded_once_and_what_comes_later_is_no_part_of_it() {
    let (app, _tasks) = open().await;
    let tracer = RequestTracer::begin(&app.recorder, "test");
    let other = tracer.clone();
    tracer.error("stage", "before");
    tracer.end();
    let ended = read(&app, &tracer.id()).await.unwrap();
    other.error("stage", "after");
    other.about("u", "t");
    other.end();
    drop((tracer, other));
    let id = TraceId::decode(&ended.id).unwrap();
    let request_trace = read(&app, &id).await.unwrap();
    assert_eq!(
        (said(&request_trace), request_trace.finished_at, &request_trace.user),
        (vec![("stage", "before")], ended.finished_at, &None)
    );
    assert_eq!(request_trace.latency.total_ms, ended.latency.total_ms);
    assert_eq!(app.recorder.forget("u", None), 0);
}

#[tokio::test]
async fn a_course_that_nobody_ended_is_recorded_all_the_same() {
    let (app, _tasks) = open().await;
    let tracer = RequestTracer::begin(&app.recorder, "test");
    tracer.about("u", "t");
    let id = tracer.id();
    let clone = tracer.clone();
    drop(tracer);
    assert_eq!(read(&app, &id).await.unwrap().finished_at, None, "a clone is left");
    drop(clone);
    let request_trace = read(&app, &id).await.unwrap();
    assert_eq!(said(&request_trace), [("request", "ended early")]);
    assert!(request_trace.finished_at.is_some() && request_trace.latency.total_ms.is_some());

    let panics = {
        let app = app.clone();
        tokio::spawn(async move {
            let tracer = RequestTracer::begin(&app.recorder, "test");
            tracer.about("u", "panics");
            tracer.model("m");
            panic!("as a test wants it");
        })
    };
    assert!(panics.await.unwrap_err().is_panic());
    assert_eq!(app.recorder.forget("u", Some("panics")), 1);
}

#[tokio::test]
async fn a_running_course_is_read_by_its_own_id_alone() {
    let (app, _tasks) = open().await;
    let tracer = RequestTracer::begin(&app.recorder, "test");
    let before = tracer.id();
    assert!(read(&app, &before).await.is_some());
    tracer.about("u", "t");
    tracer.model("slow");
    let request_trace = read(&app, &tracer.id()).await.unwrap();
    assert_eq!((request_trace.model.as_deref(), request_trace.finished_at), (Some("slow"), None));
    assert_eq!(request_trace.id, tracer.id().encode());
    let of_another = TraceId { thread: Some(("v".into(), "t".into())), ..before.clone() };
    assert!(read(&app, &before).await.is_none() && read(&app, &of_another).await.is_none());
}

#[tokio::test]
async fn what_is_forgotten_while_it_runs_is_not_recorded() {
    let (app, _tasks) = open().await;
    let begin = |user: &str, thread: &str| {
        let tracer = RequestTracer::begin(&app.recorder, "test");
        tracer.about(user, thread);
        tracer
    };
    let (gone, other, stranger) = (begin("u", "t"), begin("u", "other"), begin("v", "t"));
    let unowned = RequestTracer::begin(&app.recorder, "test");
    assert_eq!(app.recorder.forget("u", Some("t")), 1);
    assert!(read(&app, &gone.id()).await.is_none(), "it is not read any more");
    for tracer in [&gone, &other, &stranger, &unowned] {
        tracer.end();
    }
    assert!(read(&app, &gone.id()).await.is_none());
    for kept in [&other, &stranger, &unowned] {
        assert!(read(&app, &kept.id()).await.is_some());
    }
    let memory = begin("u", "m");
    memory.in_memory();
    memory.end();
    assert_eq!((app.recorder.forget("u", None), read(&app, &memory.id()).await.is_none()), (2, true));
    assert_eq!(app.metrics.traces_lost.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn only_so_many_courses_of_nobody_stay() {
    let (app, _tasks) = open().await;
    let text = "x".repeat(TEXT_CHARS_MAX);
    let ids: Vec<TraceId> = (0..60)
        .map(|_| {
            let tracer = RequestTracer::begin(&app.recorder, "test");
            (0..MARKS_MAX).for_each(|_| tracer.error(&text, &text));
            tracer.end();
            tracer.id()
        })
        .collect();
    let kept = ids.iter().filter(|id| app.recorder.find(id).is_some()).count();
    assert!((15..25).contains(&kept), "{kept} of about 0.4 MB each in 8 MB");
    assert!(app.recorder.find(&ids[59]).is_some() && app.recorder.find(&ids[0]).is_none());
}
