//! Explaining, listing, showing, forking and forgetting threads.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Home, Server, Value, json};
use crate::{fill, filled, stopped};

#[test]
fn explain_says_why_each_turn_is_in_or_out() {
    let server = Server::start();
    fill(&server);
    let run = |home: &Home| home.done(&["explain", "u", "t", "--question", "and now?", "--budget-tokens", "60"]);
    let with_server = run(&server.home);
    let lines: Vec<&str> = with_server.lines().collect();
    assert!(
        lines[0].contains(" messages from 5 pieces, ") && lines[0].ends_with(" tokens of 60 (approx)"),
        "{with_server}"
    );
    let signs: String = lines.iter().filter_map(|line| line.chars().next()).filter(|c| "+-".contains(*c)).collect();
    assert_eq!(signs.len(), 5, "{with_server}");
    assert!(signs.contains('-') && with_server.contains("Be brief.") && with_server.contains("question"));
    let home = stopped(server);
    assert_eq!(run(&home), with_server, "the same without a server");

    let ran = home.run(&["--json", "explain", "u", "t", "--preset", "stable", "--tokenizer", "cl100k_base"]);
    let answer = ran.json();
    assert_eq!((answer["messages"].as_array().unwrap().len(), ran.code), (3, Some(0)));
    assert_eq!(answer["explain"]["pieces"].as_array().unwrap().len(), 3);
    home.run(&["explain", "u", "t", "--preset", "chart"]).failed(&["preset must be one of chat, agent, stable"]);
    home.run(&["explain", "u", "t", "--budget-tokens", "9"]).failed(&["the budget is 9 tokens"]);
}

#[test]
fn a_thread_without_turns_is_said_to_have_none() {
    let home = filled();
    for command in [["explain", "u", "nope"].as_slice(), &["thread", "show", "u", "nope"]] {
        home.run(command).failed(&["u has no turns in a thread nope"]);
    }
}

#[test]
fn threads_are_listed_shown_and_forked() {
    let home = filled();
    assert_eq!(home.done(&["thread", "list", "u"]), "       1 turns  odd\n       3 turns  t\n");
    let rows: Vec<Value> =
        home.done(&["thread", "list", "u", "--json"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[1]["id"], &rows[1]["turns"], rows.len()), (&json!("t"), &json!(3), 2));
    let shown = "#1     system     Be brief.\n#2     user       hi\n#3     assistant  hello\n";
    assert_eq!(home.done(&["thread", "show", "u", "t"]), shown);
    assert_eq!(home.done(&["thread", "show", "u", "t", "--last", "1"]), "#3     assistant  hello\n");
    assert_eq!(home.run(&["--json", "thread", "show", "u", "t"]).json()["turns"][1]["message"]["content"], "hi");

    assert_eq!(home.done(&["thread", "fork", "u", "t", "2", "f"]), "f holds 2 turns\n");
    assert_eq!(home.done(&["thread", "show", "u", "f"]).lines().count(), 2);
    home.run(&["thread", "fork", "u", "t", "9", "g"]).failed(&["at_seq 9"]);
    home.run(&["thread", "fork", "u", "nobody", "1", "g"]).failed(&["does not exist"]);
}

#[test]
fn forgetting_asks_first() {
    let home = filled();
    let ran = home.run(&["forget", "u", "t"]);
    assert_eq!(ran.code, Some(1), "nobody is there to answer");
    assert!(ran.err.ends_with("error: nothing was forgotten\n"), "{ran:?}");
    let answered = |answer: &str| {
        let mut command = home.command(&["forget", "u", "odd"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .starts_with("forget thread odd of u? this cannot be undone [y/N] ")
        );
        output.status.code()
    };
    assert_eq!(answered("n\n"), Some(1));
    assert_eq!(home.done(&["thread", "list", "u"]).lines().count(), 2);
    assert_eq!(answered("y\n"), Some(0));
    assert_eq!(home.done(&["thread", "list", "u"]).lines().count(), 1);
    assert_eq!(home.done(&["forget", "u", "--yes"]), "forgot 4 documents, 0 passages and 0 traces\n");
    assert_eq!(home.done(&["thread", "list", "u"]), "");
    let again = home.run(&["forget", "u", "t", "--yes", "--json"]).json();
    assert_eq!(again["forgotten"], json!({"documents": 0, "passages": 0, "traces": 0}));
}
