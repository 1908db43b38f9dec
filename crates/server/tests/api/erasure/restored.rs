//! A restore brings nothing back that was forgotten since its backup.

use std::sync::Arc;

use crate::support::redis::Redis;
use crate::support::{Home, Ran, Server, json, thread, user};

/// A server with a backup of two users, one of whom is forgotten since, and a memory of the other.
fn forgotten_since() -> Arc<Home> {
    let server = Home::new().serve();
    fill(&server);
    server.home.done(&["backup", "before.jsonl"]);
    forget(&server);
    server.kill()
}

fn fill(server: &Server) {
    for of in ["ana", "bia"] {
        server.say(of, "t", &[&format!("{of} was here")]);
    }
    for id in ["goes", "stays"] {
        server.post(&user("bia", "/memories"), json!({"id": id, "text": format!("It {id}")})).ok();
    }
}

fn forget(server: &Server) {
    server.delete(&user("ana", "")).ok();
    server.delete(&user("bia", "/memories/goes")).ok();
    server.say("ana", "new", &["ana is back"]);
}

/// Restores the backup of a home into a new directory of it.
fn restore(home: &Home, data: &str, args: &[&str]) -> Ran {
    let mut command = home.command(&[&["restore", "before.jsonl"], args].concat());
    command.env("NOVELO_DATA", home.path(data));
    Ran::of(&mut command)
}

/// What a restored directory holds.
fn restored(home: &Arc<Home>, data: &str) -> (bool, bool, bool, bool) {
    let mut command = home.command(&["backup", &format!("{data}.jsonl")]);
    command.env("NOVELO_DATA", home.path(data));
    assert_eq!(Ran::of(&mut command).code, Some(0));
    let all = std::fs::read_to_string(home.path(&format!("{data}.jsonl"))).unwrap();
    let has = |text: &str| all.contains(text);
    (has("ana was here"), has("It goes"), has("bia was here"), has("It stays"))
}

const FILTERED: (bool, bool, bool, bool) = (false, false, true, true);
const WHOLE: (bool, bool, bool, bool) = (true, true, true, true);

#[test]
fn the_file_beside_a_lost_directory_is_enough() {
    let home = forgotten_since();
    std::fs::remove_dir_all(home.data()).unwrap();
    let ran = restore(&home, "data", &[]);
    assert_eq!((ran.code, ran.err.contains("warning")), (Some(0), false), "{ran:?}");
    assert!(ran.out.contains("2 documents were forgotten since the backup and are not restored"), "{ran:?}");
    assert_eq!(restored(&home, "data"), FILTERED);
    // The restored store knows of them too: a backup of it is a record for the next restore.
    std::fs::remove_file(home.path("data.forgets")).unwrap();
    let ran = restore(&home, "again", &["--forgets", home.path("data.jsonl").to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(restored(&home, "again"), FILTERED);
}

#[test]
fn without_a_record_all_is_restored_with_a_warning() {
    let home = forgotten_since();
    let ran = restore(&home, "elsewhere", &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("no record of what was forgotten") && ran.err.contains("--forgets"), "{ran:?}");
    assert_eq!(restored(&home, "elsewhere"), WHOLE);
    let ran = restore(&home, "named", &["--forgets", home.path("data.forgets").to_str().unwrap()]);
    assert!(ran.code == Some(0) && !ran.err.contains("warning"), "{ran:?}");
    assert_eq!(restored(&home, "named"), FILTERED);
    restore(&home, "none", &["--forgets", "no-such-file"]).failed(&["no-such-file"]);
    home.write("nonsense", "hello\n");
    restore(&home, "none", &["--forgets", "nonsense"]).failed(&["nonsense", "line 1"]);
}

#[test]
fn what_was_forgotten_before_the_backup_is_no_reason() {
    let server = Home::new().serve();
    server.delete(&user("ana", "")).ok();
    server.delete(&thread("bia", "t", "")).ok();
    fill(&server);
    server.home.done(&["backup", "before.jsonl"]);
    let home = server.kill();
    std::fs::remove_dir_all(home.data()).unwrap();
    let ran = restore(&home, "data", &[]);
    assert!(ran.code == Some(0) && !ran.out.contains("forgotten"), "{ran:?}");
    assert_eq!(restored(&home, "data"), WHOLE);
}

#[test]
fn an_old_backup_is_as_old_as_its_file_or_as_it_is_said_to_be() {
    let home = forgotten_since();
    let backup = std::fs::read_to_string(home.path("before.jsonl")).unwrap();
    let (_, rest) = backup.split_once('\n').unwrap();
    home.write("before.jsonl", &format!("{{\"novelo_export\":1,\"prefix\":\"\"}}\n{rest}"));
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(home.path("before.jsonl")).unwrap().set_modified(later).unwrap();
    std::fs::remove_dir_all(home.data()).unwrap();
    let ran = restore(&home, "data", &[]);
    assert!(ran.code == Some(0) && ran.err.contains("does not say when it was taken"), "{ran:?}");
    assert_eq!(restored(&home, "data"), WHOLE, "its file was written after the forgets");
    let record = home.path("data.forgets").to_str().unwrap().to_owned();
    let ran = restore(&home, "told", &["--taken-at", "1000", "--forgets", &record]);
    assert!(ran.code == Some(0) && !ran.err.contains("warning"), "{ran:?}");
    assert_eq!(restored(&home, "told"), FILTERED);
}

#[test]
fn an_import_by_a_user_is_not_filtered() {
    let server = Home::new().serve();
    fill(&server);
    server.home.done(&["thread", "export", "ana", "--output", "ana.jsonl"]);
    server.delete(&user("ana", "")).ok();
    server.home.done(&["thread", "import", "ana.jsonl"]);
    assert_eq!(server.said("ana", "t"), ["ana was here"]);
    server.post("/v1/import?taken_at=1", "").refused(422, "invalid_field");
    server.post("/v1/import?restore=true", "{\"novelo_export\":1,\"prefix\":\"\"}\n").refused(422, "invalid_field");
}

#[test]
fn in_redis_the_store_itself_is_the_record() {
    let redis = Redis::start();
    let url = redis.url();
    let settings = [("NOVELO_STORE", "redis"), ("NOVELO_REDIS_URL", &*url)];
    let server = Home::new().serve_with(&settings);
    fill(&server);
    server.home.done(&["backup", "before.jsonl"]);
    forget(&server);
    let mut command = server.home.command(&["restore", "before.jsonl"]);
    let ran = Ran::of(command.envs(settings));
    assert!(ran.code == Some(0) && !ran.err.contains("warning"), "{ran:?}");
    assert!(ran.out.contains("2 documents were forgotten since"), "{ran:?}");
    let there = server.get("/v1/export").text();
    assert!(!there.contains("ana was here") && !there.contains("It goes") && there.contains("ana is back"), "{there}");
}
