use super::*;

fn segments(path: &[&str]) -> Vec<Box<str>> {
    path.iter().map(|segment| (*segment).into()).collect()
}

fn entry(at: f64, path: &[&str]) -> ForgetEntry {
    ForgetEntry::of("s", &segments(path), at)
}

#[test]
fn a_digest_is_of_the_salt_and_of_each_segment() {
    let of = |salt, path: &[&str]| digest(salt, &segments(path));
    assert_eq!(of("s", &["users", "ana"]), of("s", &["users", "ana"]));
    assert!(is_digest(&of("s", &["users", "ana"])));
    for (salt, path) in [("t", &["users", "ana"][..]), ("s", &["users", "an", "a"]), ("s", &["user", "sana"])] {
        assert_ne!(of(salt, path), of("s", &["users", "ana"]), "{salt} {path:?}");
    }
}

#[test]
fn the_file_is_private_appended_to_and_survives_a_line_that_broke_off() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.forgets");
    assert_eq!(read_file(&path).unwrap(), None);
    let all = [entry(1.0, &["users", "ana"]), entry(2.0, &["users", "bia"]), entry(3.0, &["users", "eva"])];
    append_to(&path, &all[..1]).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    append_to(&path, &all[1..2]).unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], br#"{"at":2.5,"sal"#].concat()).unwrap();
    assert_eq!(read_file(&path).unwrap().unwrap(), all[..2]);
    append_to(&path, &all[2..]).unwrap();
    assert_eq!(read_file(&path).unwrap().unwrap(), all);
    assert!(!String::from_utf8(std::fs::read(&path).unwrap()).unwrap().contains("ana"));
}

#[test]
fn a_file_that_is_something_else_is_refused_with_its_line() {
    let text = format!("{}\nhello\n", serde_json::to_string(&entry(1.0, &["users", "ana"])).unwrap());
    assert!(read_lines(&text).unwrap_err().to_string().contains("line 2"));
    assert!(read_lines("{\"at\":1,\"salt\":\"s\",\"digest\":\"short\"}\n").is_err());
}

#[tokio::test]
async fn the_newest_entry_of_a_place_counts_and_others_are_adopted() {
    let store = Store::memory();
    let log = ForgetLog { file: None };
    let what = DocumentPath::new(&["users", "ana"]).unwrap().prefix();
    log.record(&store, std::slice::from_ref(&what)).await.unwrap();
    let first = entries(&store).await.unwrap().into_values().next().unwrap();
    assert_eq!(first.digest, digest(&first.salt, what.segments()));
    log.adopt(&store, [ForgetEntry { at: 1.0, ..first.clone() }, entry(5.0, &["users", "bia"])]).await.unwrap();
    let now = entries(&store).await.unwrap();
    assert_eq!((now.len(), &now[&first.digest]), (2, &first), "an older one changes nothing");
    log.adopt(&store, [ForgetEntry { at: first.at + 9.0, ..first.clone() }]).await.unwrap();
    assert_eq!(entries(&store).await.unwrap()[&first.digest].at, first.at + 9.0);
    assert!(store.get(&unerased_mark().unwrap()).await.unwrap().is_none());
}
