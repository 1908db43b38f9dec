use std::collections::{BTreeMap, BTreeSet};

use novelo_engine::group::{GroupDefinition, define};
use novelo_engine::limits::{BATCH_OPS_MAX, GROUPS_PER_MESSAGE_MAX};
use novelo_engine::path::{DocumentPath, Prefix};
use novelo_engine::scope::Root;
use novelo_store::{Error as StoreError, Exported, LocalOptions, Op, Outcome, PutTerms, Store};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::held::HeldGroups;
use super::index::{IndexerReport, load, response_of, run_given, set_state, withdraw};
use super::plan::{Wanted, removal, replacement};
use super::{Places, retract};
use crate::error::Code;

const INDEX: &str = "users/u/convo.sessions/s/indexes/collapsed";

/// A store and the places of one thread in it.
struct Thread {
    store: Store,
    places: Places,
    _dir: Option<TempDir>,
}

/// One thread in a store of each kind.
async fn threads() -> Vec<Thread> {
    let dir = tempfile::tempdir().unwrap();
    let local = Store::open_local(dir.path(), LocalOptions::default()).await.unwrap();
    let thread = |store, _dir| Thread { store, places: Places::of(Root::User("u"), "s").unwrap(), _dir };
    vec![thread(Store::memory(), None), thread(local, Some(dir))]
}

impl Thread {
    async fn run(&self, response: &str, groups: &[GroupDefinition], now: f64) -> IndexerReport {
        run_given(&self.store, &self.places, Some(response), groups, now).await.unwrap()
    }

    async fn put(&self, at: &str, value: &str) {
        self.store.put(&path(at), value.to_owned().into(), PutTerms::default()).await.unwrap();
    }

    async fn get(&self, at: &str) -> Option<Value> {
        let document = self.store.get(&path(at)).await.unwrap()?;
        Some(serde_json::from_slice(&document.value).unwrap())
    }

    async fn exported(&self) -> Vec<Exported> {
        self.store.export(&Prefix::all()).await.unwrap().all().await.unwrap()
    }

    /// All of the index, by path below it.
    async fn index(&self) -> BTreeMap<String, Value> {
        let all = self.exported().await;
        let below = all.into_iter().filter_map(|document| {
            let at = document.path.to_string().strip_prefix(INDEX)?.to_owned();
            Some((at, serde_json::from_slice(&document.value).unwrap()))
        });
        below.collect()
    }

    /// The paths of the index, with the groups of each message's document instead of the document.
    async fn outline(&self) -> BTreeSet<String> {
        let of_message = |at: String, value: Value| -> Vec<String> {
            match value["groups"].as_object().filter(|_| at.starts_with("/messageToGroups")) {
                Some(groups) => groups.keys().map(|name| format!("{at}:{name}")).collect(),
                None => vec![at],
            }
        };
        self.index().await.into_iter().flat_map(|(at, value)| of_message(at, value)).collect()
    }

    /// How many groups are in a message's document, and which stand beside it.
    async fn spread(&self, message: &str) -> (usize, Vec<String>) {
        let document = self.get(&format!("{INDEX}/messageToGroups/{message}")).await;
        let inside = document.map_or(0, |d| d["groups"].as_object().unwrap().len());
        let beside = format!("/byMessage/{message}/groups/");
        let names = self.index().await.into_keys().filter_map(|at| at.strip_prefix(&beside).map(str::to_owned));
        (inside, names.collect())
    }
}

fn path(at: &str) -> DocumentPath {
    DocumentPath::new(&at.split('/').collect::<Vec<_>>()).unwrap()
}

/// Groups of messages, as `NAME: m1 m2`.
fn groups(lines: &[&str]) -> Vec<GroupDefinition> {
    let group = |line: &&str| {
        let (name, messages) = line.split_once(':').unwrap();
        let items: Vec<_> = messages.split_whitespace().map(|id| json!({"type": "message", "id": id})).collect();
        json!({"name": name, "items": items})
    };
    define("groups", &lines.iter().map(group).collect::<Value>()).unwrap()
}

/// So many groups of the message `m`, numbered.
fn many(prefix: &str, count: usize) -> Vec<GroupDefinition> {
    let lines: Vec<_> = (0..count).map(|n| format!("{prefix}{n}: m")).collect();
    groups(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn outline(lines: &[&str]) -> BTreeSet<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

#[tokio::test]
async fn a_response_becomes_an_index() {
    for thread in threads().await {
        let groups = define(
            "groups",
            &json!([
                {"name": "past decisions", "items": [
                    {"type": "message", "id": "m1"}, {"type": "message", "id": "m1"}, {"type": "collapsed", "id": "X"}]},
                {"name": "B", "items": [{"type": "message", "id": "m2"}, {"type": "message", "id": "m1"}]},
                {"name": "EMPTY"},
            ]),
        );
        let indexed = thread.run("r", &groups.unwrap(), 12.5).await;
        assert_eq!(indexed, IndexerReport { groups: 3, messages: 2, batches: 1 });
        let entry = json!({"responseId": "r", "updated_at": 12.5});
        let pointer = |size: u64| json!({"responseId": "r", "updated_at": 12.5, "size": size});
        let expected = [
            ("/groupToResponse/B", pointer(2)),
            ("/groupToResponse/EMPTY", pointer(0)),
            ("/groupToResponse/PAST_DECISIONS", pointer(3)),
            ("/messageToGroups/m1", json!({"groups": {"PAST_DECISIONS": entry, "B": entry}})),
            ("/messageToGroups/m2", json!({"groups": {"B": entry}})),
            ("/responseToGroups/r", json!({"groups": ["PAST_DECISIONS", "B", "EMPTY"], "updated_at": 12.5})),
        ];
        assert_eq!(thread.index().await, expected.map(|(at, value)| (at.to_owned(), value)).into());
        let made = thread.store.get(&path(&format!("{INDEX}/messageToGroups/m1"))).await.unwrap().unwrap();
        assert_eq!((made.create_time, made.version), (12.5, 1));
    }
}

#[tokio::test]
async fn a_run_again_changes_times_only() {
    for thread in threads().await {
        let groups = [many("A", GROUPS_PER_MESSAGE_MAX + 3), groups(&["B: m n", "C: n"])].concat();
        let first = thread.run("r", &groups, 1.0).await;
        let (index, exported) = (thread.index().await, thread.exported().await.len());
        assert_eq!(thread.run("r", &groups, 1.0).await, first);
        assert_eq!(thread.index().await, index);
        assert_eq!(thread.run("r", &groups, 2.0).await, first);
        let later = |value: &Value| serde_json::from_str(&value.to_string().replace("_at\":1.0", "_at\":2.0")).unwrap();
        let expected: BTreeMap<String, Value> = index.iter().map(|(at, value)| (at.clone(), later(value))).collect();
        assert_eq!(thread.index().await, expected);
        assert_eq!(thread.exported().await.len(), exported);
    }
}

#[tokio::test]
async fn batches_hold_so_many_writes_and_no_more() {
    for thread in threads().await {
        // One write says which groups the response has, one points the group to it.
        for (messages, batches) in [(BATCH_OPS_MAX - 2, 1), (BATCH_OPS_MAX - 1, 2)] {
            let ids: Vec<_> = (0..messages).map(|n| format!("m{n}")).collect();
            let indexed = thread.run("r", &groups(&[&format!("A: {}", ids.join(" "))]), 1.0).await;
            assert_eq!(indexed, IndexerReport { groups: 1, messages, batches });
        }
        assert_eq!(thread.index().await.len(), BATCH_OPS_MAX + 1);
        // Every message goes, and the listing is written once.
        assert_eq!(thread.run("r", &groups(&["A:"]), 2.0).await.batches, 2);
        assert_eq!(thread.outline().await, outline(&["/groupToResponse/A", "/responseToGroups/r"]));
    }
}

#[tokio::test]
async fn what_a_document_has_no_room_for_stands_beside_it() {
    for thread in threads().await {
        thread.run("r", &many("A", GROUPS_PER_MESSAGE_MAX), 1.0).await;
        assert_eq!(thread.spread("m").await, (GROUPS_PER_MESSAGE_MAX, vec![]));
        thread.run("r", &many("A", GROUPS_PER_MESSAGE_MAX + 1), 2.0).await;
        let last = format!("A{GROUPS_PER_MESSAGE_MAX}");
        assert_eq!(thread.spread("m").await, (GROUPS_PER_MESSAGE_MAX, vec![last.clone()]));
        let beside = thread.get(&format!("{INDEX}/byMessage/m/groups/{last}")).await;
        assert_eq!(beside, Some(json!({"responseId": "r", "updated_at": 2.0})));
    }
}

#[tokio::test]
async fn names_in_a_document_stay_and_new_ones_fill_it_up_in_order() {
    for thread in threads().await {
        thread.run("other", &many("A", GROUPS_PER_MESSAGE_MAX - 1), 1.0).await;
        thread.run("r", &groups(&["Z: m", "B: m", "A0: m", "C: m"]), 2.0).await;
        assert_eq!(thread.spread("m").await, (GROUPS_PER_MESSAGE_MAX, vec!["B".into(), "C".into()]));
        let document = thread.get(&format!("{INDEX}/messageToGroups/m")).await.unwrap();
        assert_eq!(document["groups"]["Z"], json!({"responseId": "r", "updated_at": 2.0}));
        assert_eq!(document["groups"]["A0"]["responseId"], "r", "the latest wins");
        assert_eq!(document["groups"]["A1"]["responseId"], "other");

        // Room that this run makes is filled in this run, and what moves in is not left beside.
        thread.run("r", &groups(&["B: m", "A0: m", "C: m"]), 3.0).await;
        assert_eq!(thread.spread("m").await, (GROUPS_PER_MESSAGE_MAX, vec!["C".into()]));
        let before = thread.index().await;
        thread.run("r", &groups(&["B: m", "A0: m", "C: m"]), 3.0).await;
        assert_eq!(thread.index().await, before);
    }
}

#[tokio::test]
async fn a_run_removes_what_an_earlier_one_left() {
    for thread in threads().await {
        thread.run("other", &groups(&["O: m1", "SHARED: m2"]), 1.0).await;
        thread.run("r", &groups(&["A: m1 m2 m3", "B: m1", "SHARED: m1"]), 2.0).await;
        for group in ["A", "B"] {
            set_state(&thread.store, &thread.places, group, true, None, 2.0).await.unwrap();
        }
        let indexed = thread.run("r", &groups(&["A: m2", "C: m3"]), 3.0).await;
        assert_eq!(indexed, IndexerReport { groups: 2, messages: 2, batches: 1 });
        let expected = [
            "/groupState/A",
            "/groupToResponse/A",
            "/groupToResponse/C",
            "/groupToResponse/O",
            "/messageToGroups/m1:O",
            "/messageToGroups/m2:A",
            "/messageToGroups/m2:SHARED",
            "/messageToGroups/m3:C",
            "/responseToGroups/other",
            "/responseToGroups/r",
        ];
        assert_eq!(thread.outline().await, outline(&expected));
        let listed = thread.get(&format!("{INDEX}/responseToGroups/r")).await;
        assert_eq!(listed, Some(json!({"groups": ["A", "C"], "updated_at": 3.0})));
        let other = thread.store.get(&path(&format!("{INDEX}/messageToGroups/m3"))).await.unwrap().unwrap();
        assert_eq!(other.create_time, 2.0, "a document whose groups are all others now is the same document");
        thread.run("r", &[], 4.0).await;
        let listed = thread.get(&format!("{INDEX}/responseToGroups/r")).await;
        assert_eq!(listed, Some(json!({"groups": [], "updated_at": 4.0})));
        let rest = ["/groupToResponse/O", "/messageToGroups/m1:O", "/messageToGroups/m2:SHARED"];
        let listings = ["/responseToGroups/other", "/responseToGroups/r"];
        assert_eq!(thread.outline().await, outline(&[&rest[..], &listings].concat()));
    }
}

#[tokio::test]
async fn a_message_without_groups_has_no_document_unless_it_says_more() {
    for thread in threads().await {
        thread.run("r", &groups(&["A: m1 m2"]), 1.0).await;
        let kept = r#""B": {"responseId":"q","n":1e400}, "\ud83d": 0"#;
        let more = format!(r#"{{ "score": 1.50e+3, "groups": {{"A": {{"responseId": "r"}}, {kept}}}}}"#);
        let alone = r#"{"groups": {"A": {"responseId": "r"}}, "note": "x"}"#;
        thread.put(&format!("{INDEX}/messageToGroups/m1"), &more).await;
        thread.put(&format!("{INDEX}/messageToGroups/m3"), alone).await;
        assert!(withdraw(&thread.store, &thread.places, "r").await.unwrap().is_some());
        let text = async |id: &str| {
            let document = thread.store.get(&path(&format!("{INDEX}/messageToGroups/{id}"))).await.unwrap()?;
            Some(String::from_utf8(document.value.to_vec()).unwrap())
        };
        let spelled = r#"{"score":1.50e+3,"groups":{"B":{"responseId":"q","n":1e400},"\ud83d":0}}"#;
        assert_eq!(text("m1").await.as_deref(), Some(spelled), "what stays is spelled as it was");
        assert_eq!(text("m2").await, None);
        assert_eq!(text("m3").await.as_deref(), Some(r#"{"groups":{},"note":"x"}"#));
    }
}

#[tokio::test]
async fn which_groups_a_response_had_is_known_until_they_are_gone() {
    for thread in threads().await {
        thread.run("r", &groups(&["A: m1", "B: m2"]), 1.0).await;
        let now = groups(&["B: m2", "C: m3"]);
        let wanted = Wanted::new(Some("r"), &now, 2.0);
        let response = BTreeSet::from(["r"]);
        let held = HeldGroups::read(&thread.store, &thread.places, &response, &wanted.messages()).await.unwrap();
        let ops = replacement(&thread.places, &held, &wanted).unwrap();
        let listing = |op: &Op| match op {
            Op::Put { at, value, .. } if at.collection() == thread.places.response_to_groups => {
                serde_json::from_slice::<Value>(value).unwrap()["groups"].clone()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(listing(ops.first().unwrap()), json!(["B", "C", "A"]));
        assert_eq!(listing(ops.last().unwrap()), json!(["B", "C"]));
        // A run that ended after its first write is put right by the next.
        thread.store.write(ops.into_iter().take(1).collect()).await.unwrap();
        thread.run("r", &now, 3.0).await;
        let left = ["/groupToResponse/B", "/groupToResponse/C", "/messageToGroups/m2:B", "/messageToGroups/m3:C"];
        assert_eq!(thread.outline().await, outline(&[&left[..], &["/responseToGroups/r"]].concat()));
        let listed = thread.get(&format!("{INDEX}/responseToGroups/r")).await;
        assert_eq!(listed, Some(json!({"groups": ["B", "C"], "updated_at": 3.0})));
    }
}

#[tokio::test]
async fn nothing_of_a_withdrawn_response_is_left() {
    for thread in threads().await {
        assert_eq!(withdraw(&thread.store, &thread.places, "r").await.unwrap(), None);
        thread.run("other", &groups(&["TAKEN: m9"]), 1.0).await;
        let before = thread.outline().await;
        thread.run("r", &[many("A", GROUPS_PER_MESSAGE_MAX + 1), groups(&["B: x y"])].concat(), 2.0).await;
        thread.run("r2", &groups(&["B: z"]), 3.0).await;
        // The listing is for others; what is left is found without it.
        thread.store.delete(&path(&format!("{INDEX}/responseToGroups/r")), None).await.unwrap();
        // The groups, three messages and what stands beside; the group that is another's by now stays.
        let batches = (GROUPS_PER_MESSAGE_MAX + 1 + 3 + 1).div_ceil(BATCH_OPS_MAX);
        let withdrawn = withdraw(&thread.store, &thread.places, "r").await.unwrap();
        assert_eq!(withdrawn, Some(IndexerReport { groups: 0, messages: 0, batches }));
        assert_eq!(response_of(&thread.store, &thread.places, "B").await.unwrap().as_deref(), Some("r2"));
        withdraw(&thread.store, &thread.places, "r2").await.unwrap().unwrap();
        assert_eq!(thread.outline().await, before);
        assert_eq!(withdraw(&thread.store, &thread.places, "r2").await.unwrap(), None);
        assert_eq!(response_of(&thread.store, &thread.places, "B").await.unwrap(), None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_at_once_lose_nothing_and_keep_the_cap() {
    for thread in threads().await {
        let mut runs = Vec::new();
        for n in 0..8 {
            let (store, places) = (thread.store.clone(), thread.places.clone());
            runs.push(tokio::spawn(async move {
                let groups = [many(&format!("R{n}X"), 30), groups(&[&format!("OWN{n}: m own{n}")])].concat();
                run_given(&store, &places, Some(&format!("r{n}")), &groups, f64::from(n)).await.unwrap()
            }));
        }
        for run in runs {
            assert_eq!(run.await.unwrap(), IndexerReport { groups: 31, messages: 2, batches: 1 });
        }
        let (inside, beside) = thread.spread("m").await;
        assert_eq!((inside, beside.len()), (GROUPS_PER_MESSAGE_MAX, 8 * 31 - GROUPS_PER_MESSAGE_MAX));
        let document = thread.get(&format!("{INDEX}/messageToGroups/m")).await.unwrap();
        for n in 0..8 {
            for name in (0..30).map(|g| format!("R{n}X{g}")).chain([format!("OWN{n}")]) {
                assert!(document["groups"].get(&name).is_some() || beside.contains(&name), "{name}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_others_write_meanwhile_is_not_lost() {
    for thread in threads().await {
        let (store, at) = (thread.store.clone(), path(&format!("{INDEX}/messageToGroups/m")));
        let other = tokio::spawn(async move {
            for n in 0..100 {
                let value = json!({"groups": {format!("N{n}"): {"responseId": "other"}}}).to_string();
                let terms = PutTerms { merge: true, ..PutTerms::default() };
                store.put(&at, value.into(), terms).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let mut rounds = 0;
        while rounds < 20 || !other.is_finished() {
            let defined = if rounds % 2 == 0 { groups(&["A: m"]) } else { groups(&["B: m"]) };
            match run_given(&thread.store, &thread.places, Some("r"), &defined, f64::from(rounds)).await {
                Ok(_) => rounds += 1,
                Err(error) => assert_eq!(error.code, Code::Stale, "{error}"),
            }
        }
        other.await.unwrap();
        thread.run("r", &groups(&["A: m"]), 1e9).await;
        assert_eq!(thread.spread("m").await, (101, vec![]));
    }
}

#[tokio::test]
async fn a_response_is_deleted_with_its_index_or_not_at_all() {
    for thread in threads().await {
        let at = |response: &str| path(&format!("users/u/convo.sessions/s/collapsed/{response}"));
        let delete = |response: &str, if_version| Op::Delete { at: at(response), if_version };
        for response in ["r1", "r2", "r3"] {
            thread.store.put(&at(response), "{}".into(), PutTerms::default()).await.unwrap();
        }
        thread.run("r1", &groups(&["A: m n", "B: m"]), 1.0).await;
        thread.run("r2", &groups(&["C: m n"]), 1.0).await;
        thread.run("r3", &groups(&["D: m"]), 1.0).await;
        let before = thread.index().await;
        let stale = vec![delete("r1", Some(7)), delete("r2", None)];
        let stale = retract::write(&thread.store, stale).await.unwrap_err();
        assert_eq!((stale.code, stale.message.as_str()), (Code::Stale, "expected 7, but it is 1"));
        assert_eq!(thread.index().await, before);

        // A client that cleans up by itself does no harm.
        let own = Op::Delete { at: path(&format!("{INDEX}/responseToGroups/r1")), if_version: None };
        let note = Op::Put { at: path("users/u/notes/n"), value: "1".into(), terms: PutTerms::default() };
        let ops = vec![delete("r1", Some(1)), own, note, delete("r2", None), delete("none", None)];
        let outcomes = retract::write(&thread.store, ops).await.unwrap();
        let [Outcome::Deleted(true), Outcome::Deleted(false), Outcome::Put(_), rest @ ..] = &outcomes[..] else {
            panic!("{outcomes:?}")
        };
        assert_eq!(rest, [Outcome::Deleted(true), Outcome::Deleted(false)]);
        let rest = ["/groupToResponse/D", "/messageToGroups/m:D", "/responseToGroups/r3"];
        assert_eq!(thread.outline().await, outline(&rest));
        assert_eq!(thread.store.get(&at("r1")).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_refused_deletion_leaves_the_index_alone() {
    for thread in threads().await {
        let at = path("users/u/convo.sessions/s/collapsed/r");
        thread.run("r", &groups(&["A: m"]), 1.0).await;
        let before = thread.index().await;
        assert!(!retract::delete(&thread.store, at.clone(), None).await.unwrap());
        let stale = retract::delete(&thread.store, at.clone(), Some(1)).await.unwrap_err();
        assert_eq!(stale.message, "expected 1, but it is 0");
        thread.store.put(&at, "{}".into(), PutTerms::default()).await.unwrap();
        let stale = retract::delete(&thread.store, at.clone(), Some(2)).await.unwrap_err();
        assert_eq!((stale.code, stale.message.as_str()), (Code::Stale, "expected 2, but it is 1"));
        assert_eq!(thread.index().await, before);
        assert!(retract::delete(&thread.store, at, Some(1)).await.unwrap());
        assert_eq!(thread.outline().await, outline(&[]));
    }
}

/// Each of several responses is indexed and deleted over and over, while one stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_and_deletions_at_once_keep_what_is_others() {
    for thread in threads().await {
        thread.run("stays", &groups(&["S: m", "T: n"]), 1.0).await;
        let before = thread.index().await;
        let mut tasks = Vec::new();
        for n in 0..4 {
            let (store, places) = (thread.store.clone(), thread.places.clone());
            tasks.push(tokio::spawn(async move {
                let at = path(&format!("users/u/convo.sessions/s/collapsed/r{n}"));
                for round in 0..8 {
                    store.put(&at, "{}".into(), PutTerms::default()).await.unwrap();
                    let groups = groups(&[&format!("G{n}: m own{n}"), "SHARED: m n"]);
                    run_given(&store, &places, Some(&format!("r{n}")), &groups, f64::from(round)).await.unwrap();
                    assert!(retract::delete(&store, at.clone(), None).await.unwrap());
                }
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(thread.index().await, before);
    }
}

#[tokio::test]
async fn nothing_is_removed_that_changed_since_it_was_read() {
    for thread in threads().await {
        let responses = BTreeSet::from(["r"]);
        thread.run("other", &groups(&["O: shared"]), 1.0).await;
        thread.run("r", &[many("A", GROUPS_PER_MESSAGE_MAX + 1), groups(&["B: own shared"])].concat(), 1.0).await;
        let spilled = format!("byMessage/m/groups/A{GROUPS_PER_MESSAGE_MAX}");
        let changes =
            ["messageToGroups/own", "messageToGroups/shared", &spilled, "groupToResponse/B", "responseToGroups/r"];
        for (n, at) in changes.into_iter().enumerate() {
            let held = HeldGroups::read(&thread.store, &thread.places, &responses, &BTreeSet::new()).await.unwrap();
            let ops = removal(&thread.places, &held, &responses).unwrap();
            let terms = PutTerms { merge: true, ..PutTerms::default() };
            let value = json!({"changed": n}).to_string();
            thread.store.put(&path(&format!("{INDEX}/{at}")), value.into(), terms).await.unwrap();
            assert!(matches!(thread.store.write(ops).await, Err(StoreError::Stale { .. })), "{at}");
        }
    }
}

#[tokio::test]
async fn documents_of_another_shape_are_no_hindrance() {
    for thread in threads().await {
        let odd = [
            ("messageToGroups/m1", "5"),
            ("messageToGroups/m2", r#"{"groups":7,"x":1.50}"#),
            ("messageToGroups/m3", r#"{"groups":{"A":3,"B":{"responseId":9},"C":null},"y":[]}"#),
            ("messageToGroups/m4", r#"["groups"]"#),
            ("messageToGroups/alone", "null"),
            ("byMessage/m1/groups/Q", r#""text""#),
            ("groupToResponse/A", "[1]"),
            ("groupToResponse/OLD", "true"),
            ("responseToGroups/r", r#"{"groups":{"no":"list"}}"#),
            ("groupState/OLD", "1"),
        ];
        for (at, value) in odd {
            thread.put(&format!("{INDEX}/{at}"), value).await;
        }
        assert_eq!(thread.run("r", &groups(&["A: m1 m2 m3 m4"]), 1.0).await.messages, 4);
        let index = thread.index().await;
        let entry = json!({"responseId": "r", "updated_at": 1.0});
        assert_eq!(index["/messageToGroups/m1"], json!({"groups": {"A": entry}}));
        assert_eq!(index["/messageToGroups/m2"], json!({"groups": {"A": entry}, "x": 1.5}));
        let m3 = json!({"groups": {"A": entry, "B": {"responseId": 9}, "C": null}, "y": []});
        assert_eq!(index["/messageToGroups/m3"], m3);
        assert_eq!(index["/messageToGroups/m4"], json!({"groups": {"A": entry}}));
        assert_eq!(index["/groupToResponse/A"]["size"], 4);
        assert_eq!(index["/responseToGroups/r"]["groups"], json!(["A"]));
        withdraw(&thread.store, &thread.places, "r").await.unwrap().unwrap();
        let left = [
            "/byMessage/m1/groups/Q",
            "/groupState/OLD",
            "/groupToResponse/OLD",
            "/messageToGroups/alone",
            "/messageToGroups/m3:B",
            "/messageToGroups/m3:C",
        ];
        let emptied = thread.index().await["/messageToGroups/m2"].clone();
        assert_eq!(emptied, json!({"groups": {}, "x": 1.5}));
        assert_eq!(thread.outline().await, outline(&left));
    }
}

#[tokio::test]
async fn a_response_is_loaded_from_the_first_place_that_has_it() {
    for thread in threads().await {
        let legacy = Places::of(Root::Legacy, "s").unwrap();
        let places = [thread.places.clone(), legacy];
        let names = async |response: &str| {
            let groups = load(&thread.store, &places, response).await?;
            Ok::<_, crate::error::Error>(groups.map(|(g, _)| g.into_iter().map(|g| g.name).collect::<Vec<_>>()))
        };
        assert_eq!(names("r").await.unwrap(), None);
        thread.put("convo.sessions/s/collapsed/r", r#"{"groups":[{"name":"old"}]}"#).await;
        assert_eq!(names("r").await.unwrap(), Some(vec!["OLD".into()]));
        thread.put("users/u/convo.sessions/s/collapsed/r", r#"{"value":{"groups":[{"name":"new"}]}}"#).await;
        assert_eq!(names("r").await.unwrap(), Some(vec!["NEW".into()]));
        thread.put("users/u/convo.sessions/s/collapsed/part", r#"{"groups":[{"name":"a"},{"name":"!"}]}"#).await;
        assert_eq!(names("part").await.unwrap(), Some(vec!["A".into()]));
        for (value, param) in
            [(r#"{"groups":5}"#, "collapsed/bad groups"), ("{}", "collapsed/bad groups"), ("[1e400]", "collapsed/bad")]
        {
            thread.put("users/u/convo.sessions/s/collapsed/bad", value).await;
            assert_eq!(names("bad").await.unwrap_err().param.as_deref(), Some(param), "{value}");
        }
        assert_eq!(names("").await.unwrap_err().param.as_deref(), Some("responseId"));
    }
}

#[tokio::test]
async fn a_state_is_what_was_chosen_last() {
    for thread in threads().await {
        let set = async |expanded, response, now| {
            set_state(&thread.store, &thread.places, "A", expanded, response, now).await.unwrap();
            thread.get(&format!("{INDEX}/groupState/A")).await.unwrap()
        };
        let first = json!({"expanded": true, "updated_at": 1.5, "responseId": "r"});
        assert_eq!(set(true, Some("r"), 1.5).await, first);
        assert_eq!(set(false, None, 2.0).await, json!({"expanded": false, "updated_at": 2.0}));
    }
}

#[test]
fn responses_are_known_by_their_paths() {
    for (at, thread) in [
        ("users/u/convo.sessions/s/collapsed/r", Some("users/u/convo.sessions/s/collapsed")),
        ("convo.sessions/s/collapsed/r", Some("convo.sessions/s/collapsed")),
        ("users/convo.sessions/convo.sessions/s/collapsed/r", Some("users/convo.sessions/convo.sessions/s/collapsed")),
        ("users/u/convo.sessions/s/messages/r", None),
        ("users/u/sessions/s/collapsed/r", None),
        ("people/u/convo.sessions/s/collapsed/r", None),
        ("users/u/convo.sessions/s/collapsed/r/groups/g", None),
        ("users/u/collapsed/r", None),
        ("collapsed/r", None),
    ] {
        let at = path(at);
        let found = Places::response_at(&at).map(|(places, response)| (places.responses.to_string(), response));
        assert_eq!(found, thread.map(|thread| (thread.to_owned(), "r")), "{at}");
    }
}

#[tokio::test]
async fn groups_without_a_response_add_to_those_of_before() {
    for thread in threads().await {
        let add = async |groups: &[GroupDefinition], now| {
            run_given(&thread.store, &thread.places, None, groups, now).await.unwrap()
        };
        add(&groups(&["A: m1 m2", "B: m1"]), 1.0).await;
        add(&groups(&["B: m2", "C: m3"]), 2.0).await;
        let messages = thread.outline().await.into_iter().filter(|at| at.starts_with("/messageToGroups"));
        let expected = ["m1:A", "m2:A", "m2:B", "m3:C"].map(|entry| format!("/messageToGroups/{entry}"));
        assert_eq!(messages.collect::<Vec<_>>(), expected);
        let listed = thread.get(&format!("{INDEX}/responseToGroups/unknown")).await.unwrap();
        assert_eq!(listed["groups"], json!(["B", "C", "A"]));
    }
}
