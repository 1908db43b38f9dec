//! Each reader gets each event once and in order, also when readers leave and resume.

use std::sync::LazyLock;

use futures_util::FutureExt;
use proptest::prelude::*;

use super::*;
use crate::answer::options::ReplyOwner;
use crate::app::{self, App};
use crate::error::Code;
use crate::ids::reply_name;
use crate::settings::Settings;
use crate::trace::RequestTracer;

/// What request traces are recorded in. Its tasks end with their runtime, which is not one of a test: tests
/// pause the clock.
static APP: LazyLock<App> = LazyLock::new(|| {
    let open = || app::open(Settings::in_memory());
    let runtime = || tokio::runtime::Runtime::new().unwrap();
    std::thread::scope(|scope| scope.spawn(|| runtime().block_on(open()).unwrap().0).join().unwrap())
});

/// The options of a reply that can be resumed.
pub fn options() -> ReplyOptions {
    let (owner, tracer) = (ReplyOwner::default(), RequestTracer::begin(&APP.recorder, "test"));
    ReplyOptions {
        owner,
        format: ResponseFormat::Assist,
        patience: Patience::Page,
        tracer,
        repeat: None,
        response: None,
    }
}

pub fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

fn log() -> Arc<EventLog> {
    EventLog::new(reply_name("test"), options())
}

/// One that nobody comes back to.
fn fleeting() -> Arc<EventLog> {
    EventLog::new(reply_name("test"), ReplyOptions { patience: Patience::None, ..options() })
}

fn end() -> Event {
    Event::Failed(Error::new(Code::Internal, "over"))
}

async fn numbers(mut reader: EventReader) -> Vec<usize> {
    let mut numbers = Vec::new();
    while let Some(LoggedEvent { number, .. }) = reader.next().await {
        numbers.push(number);
    }
    numbers
}

#[tokio::test]
async fn a_reader_goes_on_where_it_left_off() {
    let log = log();
    let early = tokio::spawn(numbers(log.read(0)));
    ["a", "b", "c"].into_iter().for_each(|t| log.push(text(t)));
    log.push(end());
    assert_eq!(early.await.unwrap(), [1, 2, 3, 4]);
    assert_eq!(numbers(log.read(2)).await, [3, 4]);
    assert_eq!(numbers(log.read(4)).await, [] as [usize; 0]);
    assert_eq!(numbers(log.read(99)).await, [4], "the end, for who cannot know it");
}

#[tokio::test]
async fn who_claims_to_have_read_what_is_to_come_misses_nothing() {
    let log = log();
    log.push(text("a"));
    let ahead = tokio::spawn(numbers(log.read(7)));
    tokio::task::yield_now().await;
    log.push(text("b"));
    log.push(end());
    assert_eq!(ahead.await.unwrap(), [2, 3]);
}

#[tokio::test]
async fn what_was_read_is_let_go_of_where_nobody_comes_back() {
    let log = fleeting();
    let mut reader = log.read(0);
    for n in 1..=100 {
        log.push(text("a"));
        assert_eq!(reader.next().await.unwrap().number, n);
    }
    assert!(log.lock().held.len() <= 2);
    log.push(end());
    assert_eq!(numbers(reader).await, [101]);
}

#[tokio::test]
async fn text_that_nobody_reads_is_joined() {
    let log = log();
    (0..UNREAD_MAX * 3).for_each(|_| log.push(text("ab")));
    log.push(end());
    assert_eq!(log.lock().held.len(), UNREAD_MAX + 2);
    let (mut reader, mut all) = (log.read(0), String::new());
    while let Some(LoggedEvent { event, .. }) = reader.next().await {
        if let Event::Text(text) = &*event {
            all.push_str(text);
        }
    }
    assert_eq!(all, "ab".repeat(UNREAD_MAX * 3));
}

/// Events of a size each, all read.
async fn read_of(size: usize, count: usize) -> (Arc<EventLog>, EventReader) {
    let log = log();
    let mut reader = log.read(0);
    for _ in 0..count {
        log.push(text(&"x".repeat(size - EVENT_BYTES)));
        reader.next().await.unwrap();
    }
    (log, reader)
}

#[tokio::test]
async fn what_was_read_is_kept_up_to_the_cap_and_what_is_gone_is_told() {
    let size = RING_BYTES_MAX / 8;
    let (log, mut reader) = read_of(size, 8).await;
    log.push(text("more"));
    reader.next().await.unwrap();
    assert_eq!(log.read(0).next().await.unwrap().missed, 0, "at the cap, until one more was read and is past");
    log.push(end());
    assert_eq!(reader.next().await.unwrap().number, 10);
    let mut again = log.read(0);
    let first = again.next().await.unwrap();
    assert_eq!((first.number, first.missed), (2, 1));
    assert_eq!(numbers(again).await, (3..=10).collect::<Vec<_>>());
    let mut behind = log.read(1);
    assert_eq!(behind.next().await.unwrap().missed, 0, "what it has read it does not miss");
}

#[tokio::test]
async fn the_last_event_is_kept_whatever_it_takes() {
    let log = log();
    log.push(text("a"));
    log.push(Event::Failed(Error::new(Code::Internal, "x".repeat(RING_BYTES_MAX * 2))));
    for _ in 0..3 {
        assert_eq!(numbers(log.read(0)).await, [1, 2]);
    }
}

#[tokio::test]
async fn what_was_not_read_is_kept_beyond_the_cap() {
    let (log, _reader) = read_of(RING_BYTES_MAX, 3).await;
    (0..10).for_each(|_| log.push(text(&"x".repeat(RING_BYTES_MAX))));
    log.push(end());
    assert_eq!(numbers(log.read(3)).await, (4..=14).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_event_never_slips_past_a_reader() {
    for _ in 0..2_000 {
        let log = log();
        let reading = tokio::spawn(numbers(log.read(0)));
        log.push(text("a"));
        log.push(end());
        assert_eq!(reading.await.unwrap(), [1, 2]);
    }
}

const PATIENCE: Duration = Duration::from_secs(5);

/// Whether it is given up within a minute.
async fn is_left(log: &EventLog) -> bool {
    tokio::time::timeout(Duration::from_secs(60), log.abandoned(PATIENCE)).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn a_reader_who_comes_back_in_time_has_not_left() {
    let log = log();
    let reader = log.read(0);
    assert!(!is_left(&log).await);
    drop(reader);
    let again = tokio::spawn({
        let log = log.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            let reader = log.read(0);
            tokio::time::sleep(Duration::from_secs(1_000)).await;
            drop(reader);
        }
    });
    assert!(!is_left(&log).await);
    again.await.unwrap();
    assert!(is_left(&log).await);
}

#[tokio::test(start_paused = true)]
async fn who_leaves_again_is_waited_for_again() {
    let log = log();
    drop(log.read(0));
    let began = Instant::now();
    let visits = tokio::spawn({
        let log = log.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(4)).await;
            drop(log.read(0));
        }
    });
    log.abandoned(PATIENCE).await;
    assert_eq!(began.elapsed().as_secs(), 9);
    visits.await.unwrap();
}

#[derive(Debug, Clone)]
enum Op {
    /// So many pieces of text, each of so many bytes and its own number.
    Push { count: usize, size: usize },
    /// A reader takes so many events.
    Read { who: usize, count: usize },
    /// A reader loses its connection, and comes back with what it saw last.
    Resume { who: usize },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let small = prop_oneof![6 => 1..20_usize, 1 => Just(UNREAD_MAX + 200)];
    let op = prop_oneof![
        3 => small.prop_map(|count| Op::Push { count, size: 0 }),
        1 => (1..4_usize, 50_000..150_000_usize).prop_map(|(count, size)| Op::Push { count, size }),
        4 => (0..2_usize, prop_oneof![2 => 1..40_usize, 1 => Just(5_000_usize)])
            .prop_map(|(who, count)| Op::Read { who, count }),
        2 => (0..2_usize).prop_map(|who| Op::Resume { who }),
    ];
    proptest::collection::vec(op, 1..40)
}

/// One who reads, and what it was told.
struct Client {
    reader: EventReader,
    last: usize,
    /// The number of the piece that is due next.
    due: usize,
    has_missed: bool,
    has_ended: bool,
}

impl Client {
    fn new(log: &Arc<EventLog>) -> Self {
        Self { reader: log.read(0), last: 0, due: 0, has_missed: false, has_ended: false }
    }

    /// Takes what is there; whether there was anything.
    fn take(&mut self, meant: &mut std::collections::HashMap<usize, String>) -> bool {
        let Some(Some(told)) = self.reader.next().now_or_never() else { return false };
        assert!(!self.has_ended, "nothing follows the last event");
        assert_eq!(told.number, self.last + told.missed + 1);
        assert_eq!(told.id, format!("{}.{}", self.reader.name(), told.number));
        self.last = told.number;
        self.has_missed |= told.missed > 0;
        self.has_ended = told.event.is_last();
        if let Event::Text(text) = &*told.event {
            assert_eq!(meant.entry(told.number).or_insert_with(|| text.clone()), text, "an id stands for one thing");
            for (at, piece) in text.split_terminator(',').enumerate() {
                let piece: usize = piece.trim().parse().unwrap();
                let may_skip = at == 0 && told.missed > 0;
                assert!(piece == self.due || (may_skip && piece > self.due), "{piece}, not {}", self.due);
                self.due = piece + 1;
            }
        }
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn each_piece_is_told_once_and_in_order(ops in ops()) {
        let log = log();
        let mut clients = [Client::new(&log), Client::new(&log)];
        let (mut pushed, mut meant) = (0, std::collections::HashMap::new());
        for op in ops {
            match op {
                Op::Push { count, size } => (0..count).for_each(|_| {
                    log.push(text(&format!("{}{pushed},", " ".repeat(size))));
                    pushed += 1;
                }),
                Op::Read { who, count } => (0..count).for_each(|_| { clients[who].take(&mut meant); }),
                Op::Resume { who } => clients[who].reader = log.read(clients[who].last),
            }
        }
        log.push(end());
        for client in &mut clients {
            while client.take(&mut meant) {}
            prop_assert!(client.has_ended);
            prop_assert!(client.due == pushed || client.has_missed, "{} of {pushed}", client.due);
            client.reader = log.read(client.last);
            prop_assert!(!client.take(&mut meant));
        }
    }
}
