//! Export and import, backup and restore.

use novelo_engine::limits::MESSAGE_BYTES_MAX;

use crate::support::{Client, Home, Server, eventually, json, says, thread};
use crate::{arg, documents_of, fill, filled, text};

#[test]
fn an_export_can_be_imported_elsewhere() {
    let (home, other) = (filled(), Home::new());
    let file = home.path("t.jsonl");
    home.done(&["thread", "export", "u", "odd", "-o", arg(&file)]);
    let exported = text(&file);
    assert_eq!(home.done(&["thread", "export", "u", "odd"]), exported, "a file or standard output");
    assert_eq!(exported.lines().count(), 3, "{exported}");
    assert_eq!(other.done(&["thread", "import", arg(&file)]), "read 1 documents, 1 of them new\n");
    assert_eq!(other.done(&["thread", "export", "u", "odd"]), exported);
    assert_eq!(other.run(&["thread", "import", arg(&file), "--json"]).json(), json!({"documents": 1, "new": 0}));

    let whole = home.done(&["thread", "export", "u"]);
    assert!(whole.lines().count() > 5 && !whole.contains("v%2Fw"), "{whole}");
    home.run(&["thread", "export", "u", "-o", arg(&file)]).failed(&["is there already"]);
    assert_eq!(text(&file), exported);
    home.run(&["thread", "import", "nowhere.jsonl"]).failed(&["cannot read nowhere.jsonl"]);
}

/// Appends to a thread of its own until the server is gone; how many appends were acknowledged.
fn write_on(client: &Client) -> usize {
    (0..)
        .take_while(|n| {
            let body = json!({"messages": [says("user", &n.to_string()), says("assistant", "ok")]}).to_string();
            client
                .try_call("POST", &thread("u", "busy", "/turns"), body.as_bytes())
                .is_ok_and(|answer| answer.status == 200)
        })
        .count()
}

#[test]
fn a_backup_is_taken_while_the_server_writes_and_restores_byte_for_byte() {
    let server = Server::start();
    fill(&server);
    server.admin_key();
    let admin = server.client_of_the_data_directory();
    let writer = std::thread::spawn({
        let admin = admin.clone();
        move || write_on(&admin)
    });
    assert!(eventually(|| admin.said("u", "busy").len() > 20));
    let backup = server.home.path("backup.jsonl");
    server.home.done(&["backup", arg(&backup)]);
    let at_backup = admin.said("u", "busy").len();
    assert!(eventually(|| admin.said("u", "busy").len() > at_backup), "writes went on");
    let home = server.kill();
    assert!(writer.join().unwrap() * 2 >= at_backup);
    home.run(&["backup", arg(&backup)]).failed(&["is there already"]);

    let restored = Home::new();
    let said = restored.done(&["restore", arg(&backup)]);
    let documents = text(&backup).lines().count() - 2;
    assert_eq!(said, format!("read {documents} documents, {documents} of them new\n"));
    let again = restored.path("again.jsonl");
    restored.done(&["backup", arg(&again)]);
    assert!(documents_of(&again) == documents_of(&backup), "the backup of the restored store holds the same");
    let odd = |home: &Home| home.done(&["thread", "export", "u", "odd"]);
    assert_eq!(odd(&restored), odd(&home));
    let turns = text(&backup).lines().filter(|line| line.contains("/busy/messages/")).count();
    assert!(turns > 20 && turns % 2 == 0, "no append is half in a backup: {turns}");
    assert_eq!(restored.done(&["key", "list"]).lines().count(), 1, "keys are in force again");
    restored.run(&["restore", arg(&backup)]).failed(&["is not empty", "hint: restore into a new directory"]);
}

#[test]
fn the_largest_document_survives_an_export_whatever_its_bytes() {
    let in_memory = || Home::new().serve_with(&[("NOVELO_STORE", "memory")]);
    let (from, to) = (in_memory(), in_memory());
    let (head, tail) = ("{\n\"role\":\"user\",\"content\":\"", "\"}");
    let quotes = "\\\"".repeat((MESSAGE_BYTES_MAX - head.len() - tail.len()) / 2);
    from.post(&thread("u", "t", "/turns"), format!("{{\"messages\":[{head}{quotes}{tail}]}}")).ok();
    let exported = from.get("/v1/export").text();
    assert!(exported.len() > 2 * MESSAGE_BYTES_MAX, "escaped for its line, it is twice as long");
    assert_eq!(to.post("/v1/import", exported).ok(), json!({"documents": 1, "new": 1}));
    let turns = |server: &Server| server.get(&thread("u", "t", "/turns")).body;
    assert!(turns(&from) == turns(&to));
}

#[test]
fn a_truncated_backup_is_refused() {
    let home = filled();
    let backup = home.path("backup.jsonl");
    home.done(&["backup", arg(&backup)]);
    let whole = text(&backup);
    let last_line = whole.trim_end().rfind('\n').unwrap() + 1;
    for (cut, words) in
        [(0, "broke off"), (last_line, "broke off after line"), (last_line - 20, "line "), (whole.len() / 2, "line ")]
    {
        let file = home.write("cut.jsonl", &whole[..cut]);
        Home::new().run(&["restore", arg(&file)]).failed(&["cut.jsonl: ", words]);
    }
    let missing_one: String =
        whole.lines().enumerate().filter(|(n, _)| *n != 2).map(|(_, line)| format!("{line}\n")).collect();
    let file = home.write("gap.jsonl", &missing_one);
    Home::new().run(&["restore", arg(&file)]).failed(&["counts", "which is not what was read"]);
    Home::new().run(&["restore", "nowhere"]).failed(&["cannot read nowhere"]);
}
