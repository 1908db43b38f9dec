#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

use novelo_engine::path::CollectionPath;

use super::*;

fn requests() -> Requests {
    Requests::new("")
}

fn turns() -> CollectionPath {
    CollectionPath::new(&["users", "ana/é", "convo.sessions", "t 1", "messages"]).unwrap()
}

fn point<'p>(of: &'p CollectionPath, dense: Option<(&'p str, &'p [i8])>, sparse: &'p [(u32, f32)]) -> Point<'p> {
    Point {
        user: "ana/é",
        kind: Kind::Turn,
        of,
        seq: 7,
        parent: "t 1",
        digest: 0xbeef,
        create_time: 1_683_554_160.25,
        dense,
        sparse,
    }
}

/// A request as a reader would write it down.
fn text(request: &Request) -> String {
    let body = request.body.as_ref().map(|body| serde_json::from_str::<serde_json::Value>(body).unwrap());
    let body = body.map(|body| format!("\n{body:#}")).unwrap_or_default();
    format!("{} {}{body}", request.method, request.path)
}

#[test]
fn collections_are_looked_at_made_and_dropped() {
    let made = [requests().create(Collection::Conversation, Some(384)), requests().create(Collection::Documents, None)];
    insta::assert_snapshot!("create_with_embeddings", text(&made[0]));
    insta::assert_snapshot!("create_without_embeddings", text(&made[1]));
    let fields = requests().fields(Collection::Conversation);
    insta::assert_snapshot!("fields", fields.iter().map(text).collect::<Vec<_>>().join("\n"));
    assert_eq!(text(&requests().look(Collection::Repositories)), "GET /collections/repositories");
    assert_eq!(text(&requests().drop(Collection::Documents)), "DELETE /collections/documents");
    assert_eq!(text(&Requests::new("a b/").look(Collection::Documents)), "GET /collections/a%20b%2Fdocuments");
}

#[test]
fn points_are_put() {
    let of = turns();
    let points = [
        point(&of, Some(("m1", &[127, 0, -3])), &[(17, 1.0), (4_000_000_000, 1.375)]),
        Point { seq: 8, ..point(&of, None, &[]) },
    ];
    insta::assert_snapshot!("upsert", text(&requests().upsert(Collection::Conversation, &points)));
}

#[test]
fn points_are_looked_for() {
    let scope = Scope { user: "ana/é", kind: Some(Kind::Turn), parents: &["t 1", "t 2"] };
    let dense = Some(Dense { model: "m1", vector: &[0.5, -0.25, 0.1] });
    let sparse = [(17, 2.5)];
    insta::assert_snapshot!("query", text(&requests().query(Collection::Conversation, &scope, dense, &sparse, 200)));
    let scope = Scope { parents: &[], kind: Some(Kind::Passage), ..scope };
    insta::assert_snapshot!(
        "query_by_terms_alone",
        text(&requests().query(Collection::Documents, &scope, None, &sparse, 5))
    );
}

#[test]
fn points_are_gone_through_counted_and_removed() {
    let all = Scope::user("ana/é");
    let said = Scope { kind: Some(Kind::Turn), ..all };
    let one = Scope { parents: &["t 1"], ..said };
    let conversation = Collection::Conversation;
    let sent = [
        ("scroll", requests().scroll(conversation, &said, None, 1_000)),
        ("scroll_on", requests().scroll(conversation, &said, Some("38cc076a-0546-88dc-870d-382862570ab3"), 1_000)),
        ("count", requests().count(conversation, &said)),
        ("count_all", requests().count_all(conversation)),
        ("remove", requests().remove(conversation, "ana/é", &[id(&turns(), 7), id(&turns(), 8)])),
        ("remove_thread", requests().remove_all(conversation, &one)),
        ("remove_user", requests().remove_all(conversation, &all)),
    ];
    for (name, request) in sent {
        insta::assert_snapshot!(name, text(&request));
    }
}

#[test]
fn ids_are_of_the_path_and_the_place() {
    let other = CollectionPath::new(&["users", "ana", "é", "convo.sessions", "t 1"]).unwrap();
    assert_eq!(id(&turns(), 7), id(&turns(), 7));
    assert!(id(&turns(), 7) != id(&turns(), 8) && id(&turns(), 7) != id(&other, 7));
    assert_eq!(id(&turns(), 7).split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    assert_eq!(&id(&turns(), 7)[14..15], "8");
}

fn looked(params: &str) -> Result<Shape, Nonsense> {
    shape(
        format!(r#"{{"result":{{"status":"green","config":{{"params":{params}}}}},"status":"ok","time":0}}"#)
            .as_bytes(),
    )
}

#[test]
fn shapes_are_read_and_those_of_others_refused() {
    let ours =
        r#"{"vectors":{"dense":{"size":384,"distance":"Cosine"}},"sparse_vectors":{"sparse":{}},"shard_number":1}"#;
    assert_eq!(looked(ours), Ok(Shape { dimensions: Some(384) }));
    for none in [r#"{"sparse_vectors":{"sparse":{}}}"#, r#"{"vectors":{},"sparse_vectors":{"sparse":{}}}"#] {
        assert_eq!(looked(none), Ok(Shape { dimensions: None }));
    }
    for other in [
        r#"{"vectors":{"size":4,"distance":"Cosine"}}"#,
        r#"{"vectors":{"dense":{"size":4,"distance":"Dot"}},"sparse_vectors":{"sparse":{}}}"#,
        "{}",
    ] {
        assert!(looked(other).is_err(), "{other}");
    }
}

#[test]
fn answers_are_read() {
    assert_eq!(counted(br#"{"result":{"count":3},"status":"ok","time":0.1}"#), Ok(3));
    assert_eq!(done(br#"{"result":{"operation_id":1,"status":"completed"},"status":"ok"}"#), Ok(()));
    assert_eq!(done(br#"{"result":true,"status":"ok"}"#), Ok(()));
    assert!(done(br#"{"result":{"operation_id":1,"status":"acknowledged"},"status":"ok"}"#).is_err());
    assert!(done(br#"{"result":false}"#).is_err());
    assert_eq!([&b"{\"result\":true}"[..], b"{\"result\":false}"].map(dropped), [Ok(true), Ok(false)]);
    let of = turns();
    let payload = format!(r#"{{"of":"{of}","seq":7,"digest":"000000000000beef","model":"m1"}}"#);
    let hits = format!(
        r#"{{"result":[{{"points":[{{"id":"a","version":1,"score":0.75,"payload":{payload}}}]}},{{"points":[]}}]}}"#
    );
    let hit = Hit { of: of.clone(), seq: 7, digest: 0xbeef, score: 0.75 };
    assert_eq!(found(hits.as_bytes()), Ok(vec![vec![hit], vec![]]));
    let page = format!(
        r#"{{"result":{{"points":[{{"id":"a","payload":{payload}}},{{"id":"b","payload":{{"x":1}}}}],"next_page_offset":"c"}}}}"#
    );
    let ours = Seen { id: "a".into(), place: Some((of, 7, 0xbeef)), model: Some("m1".into()) };
    let theirs = Seen { id: "b".into(), place: None, model: None };
    assert_eq!(scrolled(page.as_bytes()), Ok((vec![ours, theirs], Some("c".into()))));
    let last = br#"{"result":{"points":[],"next_page_offset":null}}"#;
    assert_eq!(scrolled(last), Ok((vec![], None)));
}

#[test]
fn nonsense_is_refused() {
    let nowhere = br#"{"result":[{"points":[{"id":"a","score":1.0,"payload":{"of":"users","seq":1,"digest":"x"}}]}]}"#;
    assert!(found(nowhere).is_err());
    for bytes in [&b"certainly!"[..], b"", b"{}", b"[]", b"null", br#"{"result":null}"#, br#"{"result":{"points":7}}"#]
    {
        assert!(found(bytes).is_err() && scrolled(bytes).is_err() && counted(bytes).is_err(), "{bytes:?}");
        assert!(done(bytes).is_err() && shape(bytes).is_err(), "{bytes:?}");
    }
}
