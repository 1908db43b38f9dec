//! What the chat page calls: a question as a form, and a reply that can be resumed.

use std::time::{Duration, Instant};

use crate::support::models::{Act, Models, words};
use crate::support::stream::{Frame, Stream};
use crate::support::{Client, Home, Server, enc, eventually, thread};

fn serve(models: &Models) -> Server {
    Home::new().serve_with(&models.talking())
}

/// Sends the form; where the reply is read.
fn begin(client: &Client, of: &str, question: &str) -> String {
    let answer = client.post("/chat/ask", format!("thread_id={}&question={}", enc(of), enc(question)));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    text.split("data-reply=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

fn read(client: &Client, reply: &str, after: u64) -> Stream {
    Stream::open(&client.with("last-event-id", &after.to_string()), "GET", reply, "")
}

#[test]
fn a_reply_can_be_come_back_to() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Paced(words(&["a", "b", "c", "d"]), Duration::from_millis(60))]);
    let reply = begin(&server, "t", "Alphabet?");
    let mut stream = read(&server, &reply, 0);
    let seen: Vec<Frame> = (0..4).map(|_| stream.next().unwrap()).collect();
    drop(stream);
    let rest = read(&server, &reply, seen[3].id).rest();
    let ids: Vec<u64> = seen.iter().chain(&rest).map(|frame| frame.id).collect();
    assert_eq!(ids, [1, 2, 4, 5, 6, 7, 9], "each once");
    assert_eq!(rest.last().unwrap().data["answer"], "abcd");
    assert_eq!(rest.last().unwrap().data.get("partial"), None);
    assert_eq!(read(&server, &reply, 0).rest().len(), 7, "also after the end");
    let behind = |at: &str| Stream::open(&server.with("last-event-id", at), "GET", &reply, "");
    assert_eq!(behind(&seen[3].at).rest(), rest, "a number or an id, as it came");
    assert_eq!(behind("0123456789abcdef.4").status, 422, "of another reply");
    assert_eq!(server.said("anonymous", "t"), ["Alphabet?", "abcd"]);
}

#[test]
fn a_reply_that_nobody_reads_ends_after_a_while() {
    let models = Models::start();
    let server = serve(&models);
    models.play([Act::Paced(words(&["w"; 6_000]), Duration::from_millis(20))]);
    let began = Instant::now();
    begin(&server, "t", "Talk!");
    assert!(eventually(|| models.hangups().len() == 1));
    assert!(models.hangups()[0] - began >= Duration::from_millis(4_900), "five seconds, as nothing else is set");
    assert!(eventually(|| server.said("anonymous", "t").len() == 2));
    let turns = server.get(&thread("anonymous", "t", "/turns")).ok();
    assert_eq!(turns["turns"][1]["message"]["partial"], "client_left");
}

#[test]
fn a_reply_is_for_who_asked() {
    let server = Server::start();
    let admin = server.admin_key();
    let (ana, bia) = (server.user_key(&admin, "ana"), server.user_key(&admin, "bia"));
    let reply = begin(&ana, "t", "Mine?");
    assert_eq!(read(&bia, &reply, 0).status, 404);
    assert_eq!(read(&server, &reply, 0).status, 401);
    assert_eq!(read(&ana, "/chat/replies/none", 0).status, 404);
    assert_eq!(read(&ana, &reply, 0).rest().last().unwrap().event, "done");
    bia.with("last-event-id", "x").get(&reply).refused(422, "invalid_field");
}

#[test]
fn bad_forms_are_refused_and_what_is_typed_is_escaped() {
    let server = Server::start();
    for form in ["", "thread_id=t", "thread_id=t&question=", "thread_id=&question=a", "thread_id=t&question=a&x=1"] {
        server.post("/chat/ask", form).refused(422, "invalid_field");
    }
    let answer = server.post("/chat/ask", "thread_id=t&question=%3Cscript%3E%22%27%26");
    assert!(answer.text().contains("&lt;script&gt;&quot;&#39;&amp;"), "{}", answer.text());
    server.with("origin", "https://evil.example").post("/chat/ask", "thread_id=t&question=a").refused(403, "forbidden");
}

#[test]
fn forgetting_one_thread_leaves_the_replies_of_others() {
    let models = Models::start();
    let server = serve(&models);
    models.otherwise(Act::Paced(words(&["w"; 60]), Duration::from_millis(50)));
    let (one, other) = (begin(&server, "one", "Talk!"), begin(&server, "other", "Talk!"));
    let readers = [read(&server, &one, 0), read(&server, &other, 0)];
    server.delete(&thread("anonymous", "one", "")).ok();
    assert_eq!(server.delete(&one).status, 404);
    assert_eq!(server.delete(&other).ok()["partial"], "client_left");
    drop(readers);
}
