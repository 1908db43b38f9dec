//! The main operations, each carried out in the same way every time, so that its instructions can be counted.
//!
//! Owns what `make instructions` counts: everything inside `counted`, and for an append what the store's
//! committer does with it. No clock, no randomness and no other thread decides what is executed there.
//! `cargo run -p xtask -- instructions` starts each operation under Valgrind and compares it with its budget.

use std::path::Path;
use std::pin::pin;
use std::task::Poll;

use novelo_conversation::app::{self, App};
use novelo_conversation::context::{self, request::Request};
use novelo_conversation::policy::Policies;
use novelo_conversation::settings::{AskDatabase, Settings};
use novelo_engine::path::CollectionPath;
use novelo_engine::time_scope::TimeScope;
use novelo_engine::{Loaded, Message, Recipe, Turn, assemble, scope};
use novelo_language::rewrite::{Utterance, rewrite};
use novelo_recall::embed::quantise;
use novelo_recall::{Index, Passage, Query};
use novelo_store::{AppendTerms, LocalOptions, NewDocument, NewId, Range, Store};

use crate::speed::context::agent_recipe;
use crate::speed::http::fill_session;
use crate::speed::raw::{agent_thread, message};
use crate::speed::recall::PseudoRandom;

/// The operations, in the order in which they are reported.
pub const NAMES: [&str; 9] =
    ["append", "tail", "context-warm", "context-anew", "context-agent", "context-topic", "search", "rewrite", "decide"];

/// How often each is repeated inside the count, so that what happens once weighs little.
const REPEATS: usize = 20;
const MESSAGES: usize = 100;
const AGENT_MESSAGES: usize = 1_000;
const MEMORIES: usize = 400;
const HITS: usize = 10;
/// Nothing is there, so the shipped policies are in force.
const NO_POLICIES: &str = "/nonexistent";

/// What a follow-up is rewritten after: a pronoun, a fragment, and a question that stands alone.
const TALK: [Utterance<'static>; 6] = [
    Utterance { speaker: "user", text: "What is throat cancer?" },
    Utterance { speaker: "assistant", text: "Throat cancer is a tumour of the pharynx or the larynx." },
    Utterance { speaker: "user", text: "Is it treatable?" },
    Utterance { speaker: "assistant", text: "Yes, with surgery, radiation or chemotherapy if it is found early." },
    Utterance { speaker: "user", text: "Tell me about lung cancer." },
    Utterance { speaker: "assistant", text: "Lung cancer begins in the lungs. Smoking is its main cause." },
];
const FOLLOW_UPS: [&str; 3] = ["What are its symptoms?", "And the treatment?", "How far is the Moon from the Earth?"];
const FEELINGS: [&str; 3] = [
    "Oi, tudo bem?",
    "Não aguento mais, sinto uma tristeza enorme desde que ele morreu e não consigo dormir!!",
    "Estou adiando tudo no trabalho e me cobro o tempo todo por isso.",
];

/// Carries out one operation.
pub fn run(name: &str) -> anyhow::Result<()> {
    match name {
        "append" => block_on(append()),
        "tail" => block_on(tail()),
        "context-warm" => block_on(context_of_thread(|_| {})),
        "context-anew" => block_on(context_of_thread(forget_prompts)),
        "context-agent" => context_of_agent(),
        "context-topic" => block_on(context_of_topic()),
        "search" => search(),
        "rewrite" => follow_ups(),
        "decide" => decide(),
        _ => anyhow::bail!("there is no operation {name}\nhint: {}", NAMES.join(" ")),
    }
}

/// What is called here is counted, on this thread. It must not call itself.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
    std::hint::black_box(());
}

/// Counts what a future itself does, and not what other tasks do while it waits.
async fn counted_future<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    std::future::poll_fn(|task| {
        let mut polled = Poll::Pending;
        counted(&mut || polled = work.as_mut().poll(task));
        polled
    })
    .await
}

/// One thread, so that a task runs only while the counted future waits.
fn block_on(work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// A message of a thread, with an id and a time that are the same in every run.
fn document(n: usize) -> NewDocument {
    let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
    let id = NewId::Fresh(format!("m{n:06}").into());
    NewDocument { id, create_time: 1.7e9 + n as f64, value: message(role, n), expires_at: None }
}

/// The very first append is counted too: nothing else may pass through the committer.
async fn append() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (store, thread) = (Store::open_local(dir.path(), LocalOptions::default()).await?, scope::turns("bench", "t")?);
    for n in 0..MESSAGES {
        let documents = vec![document(n)];
        counted_future(store.append(&thread, documents, AppendTerms::default())).await?;
    }
    Ok(store.close().await?)
}

async fn tail() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let store = Store::open_local(dir.path(), LocalOptions::default()).await?;
    let thread = fill(&store).await?;
    for _ in 0..REPEATS {
        counted_future(store.turns(&thread, Range::Last(20))).await?;
    }
    Ok(store.close().await?)
}

/// A warm thread.
async fn fill(store: &Store) -> anyhow::Result<CollectionPath> {
    let thread = scope::turns("bench", "t")?;
    store.append(&thread, (0..MESSAGES).map(document).collect(), AppendTerms::default()).await?;
    store.turns(&thread, Range::Last(MESSAGES)).await?;
    Ok(thread)
}

/// The application without a database to ask, which no context needs.
async fn open(dir: &Path) -> anyhow::Result<(App, app::Tasks)> {
    let mut settings = Settings { data: dir.join("data"), policies: NO_POLICIES.into(), ..Settings::default() };
    settings.ask.database = AskDatabase::None;
    app::open(settings).await
}

fn forget_prompts(app: &App) {
    app.made.retain(|_| false);
}

/// A context of a whole thread; `before` runs before each one.
async fn context_of_thread(before: fn(&App)) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (app, tasks) = open(dir.path()).await?;
    fill(&app.store).await?;
    let request = || {
        let (user, reach) = (Some("bench".to_owned()), TimeScope::thread("t", 0.0));
        Request { user, reach, budget_tokens: Some(1_000_000), ..Request::default() }
    };
    contexts(&app, request, before).await?;
    app::close(app, tasks).await
}

async fn context_of_topic() -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let (app, tasks) = open(dir.path()).await?;
    fill_session(&app).await?;
    let request = || {
        let (user, reach) = (Some("bench".to_owned()), TimeScope::thread("s", 0.0));
        let recipe = context::request::RecipeChoice::Preset("TopicContext".into());
        Request { user, reach, recipe, ..Request::default() }
    };
    contexts(&app, request, forget_prompts).await?;
    app::close(app, tasks).await
}

/// The same context again and again. The first three make it warm: read, traced, cached.
async fn contexts(app: &App, request: impl Fn() -> Request, before: fn(&App)) -> anyhow::Result<()> {
    for _ in 0..3 {
        context::context(app, request()).await?;
    }
    for _ in 0..REPEATS {
        before(app);
        let request = request();
        counted_future(context::context(app, request)).await?;
    }
    Ok(())
}

/// A long thread of an agent to 20,000 tokens, from the headers of its messages to bytes.
fn context_of_agent() -> anyhow::Result<()> {
    let turns: Vec<Turn> = agent_thread(AGENT_MESSAGES)
        .into_iter()
        .zip(1..)
        .map(|(raw, seq)| Turn { seq, id: "x".into(), create_time: 0.0, message: Message::from_stored(raw) })
        .collect();
    let recipe: Recipe = agent_recipe()?;
    let mut made = Ok(());
    for _ in 0..REPEATS {
        counted(&mut || {
            let loaded = Loaded { turns: turns.iter().collect(), ..Loaded::default() };
            made = assemble(&recipe, &loaded, Some(24_000)).map(|assembly| {
                let mut out = Vec::with_capacity(80 * 1024);
                assembly.write(&mut out);
                std::hint::black_box(out);
            });
        });
    }
    Ok(made?)
}

/// The best memories by words and by vectors.
fn search() -> anyhow::Result<()> {
    let mut numbers = PseudoRandom::new();
    let mut index = Index::default();
    for key in 1..=MEMORIES as u64 {
        index.add(key, &Passage { text: &numbers.text(), ..Passage::default() });
        index.set_vector(key, &quantise(&numbers.vector()));
    }
    for _ in 0..REPEATS {
        let (text, vector) = ([numbers.word(), numbers.word(), numbers.word()].join(" "), numbers.vector());
        let query = Query { text: &text, vector: Some(&vector) };
        counted(&mut || drop(std::hint::black_box(index.rank(&query).top(HITS, |_| true))));
    }
    Ok(())
}

fn follow_ups() -> anyhow::Result<()> {
    rewrite(&TALK, FOLLOW_UPS.concat().as_str());
    for _ in 0..REPEATS {
        for question in FOLLOW_UPS {
            counted(&mut || drop(std::hint::black_box(rewrite(&TALK, question))));
        }
    }
    Ok(())
}

/// How a message is read, and how much it weighs.
fn decide() -> anyhow::Result<()> {
    let guide = Policies::open(NO_POLICIES.into(), None)?.guide();
    for _ in 0..REPEATS {
        for text in FEELINGS {
            counted(&mut || drop(std::hint::black_box(guide.rules.decide(&guide.rules.read(text)))));
        }
    }
    Ok(())
}
