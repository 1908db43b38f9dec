//! A conversation in a terminal, and one through a pipe.

use std::io::Write;
use std::process::Stdio;

use crate::ask::{messages, or_none, slowly, tea};
use crate::support::models::{Act, Models};
use crate::support::{Home, Ran, Server};
use crate::terminal::{CTRL_C, CTRL_D, ENTER, Terminal};

const DIM: &str = "\x1b[2m";

/// What is dim on the screen, a line.
fn dim(line: &str) -> String {
    format!("{DIM}{line}\x1b[0m\n")
}

/// Questions, one in a line, through a pipe.
fn piped(home: &Home, args: &[&str], questions: &str) -> Ran {
    let mut command = home.command(&[&["chat"], args].concat());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(questions.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

#[test]
fn a_conversation_with_follow_ups_sources_and_commands() {
    let models = Models::start();
    let home = Home::new();
    let server = home.serve_with(&models.settings());
    tea(&server, "anonymous");
    let mut terminal = Terminal::start(&home, &["chat", "--thread", "t"], &[]);
    terminal.sees("> ");
    models.play([Act::says(&["At ", "nine."])]);
    terminal.enters("When does the Tea House open?");
    terminal.sees(&format!("At nine.\n{}\n> ", dim("[1] Tea House")));

    models.play([Act::says(&["When does the Tea House close?"]), Act::says(&["Às seis, não é? Да."])]);
    terminal.enters("E quando fecha, então?");
    terminal.sees(&format!("Às seis, não é? Да.\n{}", dim("understood as: When does the Tea House close?")));
    terminal.sees("\n> ");
    let said = messages(&server, "anonymous", "t", 4);
    assert_eq!(said[2]["content"], "E quando fecha, então?");

    terminal.enters("/sources");
    terminal.sees(&format!("{}The Tea House opens at nine. It closes at six.\n> ", dim("[1] Tea House")));
    terminal.enters("/help");
    terminal.sees("/new      begins a new thread");
    terminal.sees("> ");
    terminal.enters("/qiut");
    terminal.sees(&format!("{}> ", dim("there is no /qiut; /help says what there is")));
    terminal.enters("  ");
    assert_eq!(terminal.sees("> "), "", "nothing was asked");
    terminal.enters("/new");
    terminal.sees(&format!("{}> ", dim("a new thread")));
    terminal.enters("/sources");
    terminal.sees(&format!("{}> ", dim("there are no sources")));
    terminal.types(CTRL_D);
    let (code, rest) = terminal.ended();
    assert_eq!(code, Some(0));
    assert!(!rest.contains("thread t\n") && rest.contains("\nthread "), "{rest:?}");
    messages(&server, "anonymous", "t", 4);
}

#[test]
fn ctrl_c_stops_an_answer_and_twice_the_conversation() {
    for with_server in [true, false] {
        let models = Models::start();
        let home = Home::new();
        let server = home.serve_with(&models.settings());
        let server = or_none(server, with_server);
        models.play([slowly(60)]);
        let mut terminal = Terminal::start(&home, &["chat", "--thread", "t"], &models.settings());
        terminal.sees("> ");
        terminal.enters("When?");
        terminal.sees("At ");
        terminal.types(CTRL_C);
        terminal.sees(&format!("\n{}\n> ", dim("stopped; what there is of the answer is kept")));
        models.play([Act::says(&["no question"]), Act::says(&["At ten."])]);
        terminal.enters("When then?");
        terminal.sees("At ten.\n");
        terminal.sees("> ");
        terminal.types("half a line");
        terminal.types(CTRL_C);
        terminal.sees(&format!("{}> ", dim("Ctrl-C again, Ctrl-D or /quit ends")));
        terminal.types(CTRL_C);
        let (code, rest) = terminal.ended();
        assert_eq!((code, rest.ends_with("\nthread t\n")), (Some(130), true), "{rest:?}");
        let server = server.unwrap_or_else(|| home.serve());
        let said = messages(&server, "anonymous", "t", 4);
        let partial: Vec<_> = said.iter().filter(|message| message["partial"] == "client_left").collect();
        assert!(partial.len() == 1 && partial[0]["role"] == "assistant", "server: {with_server}: {said:?}");
        assert_eq!(said[3]["content"], "At ten.");
    }
}

#[test]
fn quit_ends_and_no_color_is_heeded() {
    let server = Server::start();
    tea(&server, "anonymous");
    let mut terminal = Terminal::start(&server.home, &["chat"], &[("NO_COLOR", "1")]);
    assert!(!terminal.sees("> ").contains('\x1b'));
    terminal.enters("When does the Tea House open?");
    assert!(!terminal.sees("\n\n> ").contains('\x1b'));
    terminal.types(&format!("/quit{ENTER}"));
    let (code, rest) = terminal.ended();
    assert_eq!((code, rest.contains('\x1b')), (Some(0), false), "{rest:?}");
}

#[test]
fn what_a_model_says_steers_no_terminal() {
    let models = Models::start();
    models.play([Act::says(&["a\x1b]0;title\x07", "b\x1b[2Jc\r\nd"])]);
    let home = Home::new();
    let _server = home.serve_with(&models.settings());
    let mut terminal = Terminal::start(&home, &["chat"], &[]);
    terminal.sees("> ");
    terminal.enters("Hi");
    terminal.sees("a\u{fffd}]0;title\u{fffd}b\u{fffd}[2Jc\nd\n");
}

#[test]
fn a_refusal_ends_nothing() {
    let models = Models::start();
    let home = Home::new();
    let server = home.serve_with(&models.settings());
    let mut terminal = Terminal::start(&home, &["chat", "--thread", "t"], &[]);
    terminal.sees("> ");
    server.signal("TERM");
    assert_eq!(server.ended().0.code(), Some(0));
    terminal.enters("Anyone there?");
    terminal.sees("error: the server did not answer");
    terminal.sees("> ");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ended().0, Some(0));
}

#[test]
fn a_pipe_is_answered_line_by_line() {
    let home = Home::new();
    home.write("docs/tea.md", "The Tea House opens at nine.");
    home.done(&["index", "docs", "--user", "ana"]);
    let long = format!("When does the Tea House open, {}?", "oh ".repeat(20_000));
    let ran = piped(&home, &["--user", "ana", "--thread", "t"], &format!("When does the Tea House open?\n\n{long}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "thread t\n"), "{ran:?}");
    let answer = "“The Tea House opens at nine.” — docs, tea.md:1 [1]\n";
    assert!(ran.out.starts_with(answer) && ran.out.matches(answer).count() == 2, "{ran:?}");
    assert!(!ran.out.contains("> ") && !ran.out.contains('\x1b'), "{ran:?}");
    messages(&home.serve(), "ana", "t", 4);
}

#[test]
fn a_line_of_a_pipe_that_is_refused_is_told_at_the_end() {
    let server = Server::start();
    tea(&server, "anonymous");
    let ran = piped(&server.home, &[], &format!("{}\nWhen does the Tea House open?\n", "x".repeat(65_537)));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.starts_with("error: question ") && ran.out.contains("opens at nine"), "{ran:?}");
    piped(&server.home, &["--json"], "").failed(&["--json goes with novelo ask"]);
}
