//! The contracts, run: every scenario of `contract/*/*.md` against a server of its own.
//!
//! A page states clauses, each a line that opens with `**TC-LIM-2**`, and proves them in fenced blocks:
//!
//! ````text
//! ```http TC-LIM-2 TC-ERR-4
//! SET memory.short_term_window = 2                   a setting, from the next start of the server on
//! WRITE repo/a.txt "two\nlines"                      a file below the server's directory, which is {home}
//! DATABASE own.db "CREATE TABLE …; INSERT …"         a SQLite file there, made or changed by a script
//!
//! POST /context/topicContextYoj/run?userId=ana       method and address authorization: {ana}
//! headers, if any; {ana} is a key of ana's, {admin} an admin's, {guest} and {service} keys of these kinds
//! {"kala": {"kind": "Topic", "topicId": "t"}}        the body, if any, sent byte for byte => 200 {"yoj": []}
//! the status, and the answer where it matters has "role":"system","content"                      the raw
//! answer holds this text; `lacks` is the opposite save trace = header x-novelo-trace                 or
//! `save id = body /yoj/0/docId`; used later as {trace}
//!
//! RESTART                                            the server ends as by `kill -9` and starts on the same
//! data
//!
//! GET /health/ready => until 200                                       the call is made again until this
//! comes, or 30 seconds passed ``` ````
//!
//! Answers compare by value: `"<any>"`, `"<number>"`, `"<string>"`, `"<now>"`, `"<uuid4>"`, `"<chars:9>"` (a
//! text of at most 9 characters), `"<below:9>"` (a number) and `"<text:a...b>"` stand for many values, an
//! element `"..."` for any number of elements, a member `"..."` for any other members. `{now}` and `{week}`
//! are times in seconds, with `+60` or `-60` where needed. `{{list 3 TEXT}}` writes a text three times with
//! commas, `{{repeat 3 TEXT}}` without; `{{list 2-4 TEXT}}` counts from 2 to 4, and `{n}` is the number. In a
//! text for a file, `\u007bname}` is a `{name}` that nothing is filled in for. `{embedder}` is the address of
//! a server of embeddings that knows a few words, refuses what is unspeakable, and takes its time over what
//! is ponderous. A stream of events compares as the array of its frames, `[{"id", "event", "data"}]`,
//! comments left out.
//!
//! `{model}` is the address of a scripted model server, with a line for each request to come:
//!
//! ````text
//! SET models.answer.url = {model}
//! MODEL {"says": ["At ", "nine."]}                   `manner.rs` has the other things it does
//! MODEL always {"status": 500}                       for every request that no other line is left for
//!
//! ASKED                                              what it was asked since the last such step
//! => 200 [{"...": "", "messages": ["...", {"role": "user", "content": "When?"}]}]
//! ````

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod events;
mod expect;
mod fill;
mod manner;
mod page;
mod run;
mod runner;
mod step;
mod surfaces;

use std::sync::Arc;

use support::{Home, Server as Serving};

/// What every scenario is run against; `contract_nodes` runs the same pages against several nodes.
fn serve(home: &Arc<Home>, settings: &[(&str, &str)], _: &page::Scenario) -> Serving {
    home.serve_with(settings)
}

/// How many nodes there are: each must have taken up what is waited for.
const ROUND: usize = 1;
