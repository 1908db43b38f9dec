//! Cleaning the server's files of what was forgotten.
//!
//! Owns one round at a time: each server that keeps a log or a snapshot is asked to rewrite it from what it
//! holds now. Rounds that wait are merged, and the pause after a round is ten times its duration. A server
//! that refuses is left as it is; the log and `doctor` report it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::client::{Client, Command, Reply};
use crate::Error;
use crate::lock::lock;

/// How long a forget waits for the files to be clean before it answers and lets that go on.
const ERASE_WAIT: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A server that takes longer than this is given up on.
const ROUND_MAX: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub(super) struct Eraser {
    /// Rounds asked for, and rounds that had ended of those asked for before.
    asked: watch::Sender<u64>,
    done: watch::Sender<u64>,
    is_running: AtomicBool,
    /// When the next round may begin.
    not_before: Mutex<Option<Instant>>,
}

impl Default for Eraser {
    fn default() -> Self {
        let (asked, done) = (watch::Sender::new(0), watch::Sender::new(0));
        Self { asked, done, is_running: AtomicBool::new(false), not_before: Mutex::default() }
    }
}

/// An eraser that the store shares with its rounds.
pub(super) type SharedEraser = std::sync::Arc<Eraser>;

impl Eraser {
    pub(crate) fn is_erasing(&self) -> bool {
        *self.done.borrow() < *self.asked.borrow()
    }

    /// Asks for a round, and waits a while for its end.
    pub async fn erase(self: &SharedEraser, client: &Client, note: Bytes) {
        let mut mine = 0;
        self.asked.send_modify(|asked| {
            *asked += 1;
            mine = *asked;
        });
        if !self.is_running.swap(true, Ordering::AcqRel) {
            tokio::spawn(self.clone().run(client.clone(), note));
        }
        let mut done = self.done.subscribe();
        let clean = done.wait_for(|done| *done >= mine);
        drop(tokio::time::timeout(ERASE_WAIT, clean).await);
    }

    async fn run(self: SharedEraser, client: Client, note: Bytes) {
        loop {
            let not_before = *lock(&self.not_before);
            if let Some(at) = not_before {
                tokio::time::sleep_until(at).await;
            }
            let (round, began) = (*self.asked.borrow(), Instant::now());
            if let Err(error) = rewrite_noted(&client, &note).await {
                tracing::warn!(%error, "the files of Redis may still hold what was forgotten");
            }
            let next = Instant::now() + began.elapsed() * 10;
            *lock(&self.not_before) = Some(next);
            self.done.send_replace(round);
            if *self.asked.borrow() == round {
                self.is_running.store(false, Ordering::Release);
                // A caller that asked between the two lines above saw a running round.
                if *self.asked.borrow() == round || self.is_running.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        }
    }
}

/// The files that a server keeps.
#[derive(Debug, Default)]
pub(super) struct PersistenceFiles {
    pub has_log: bool,
    /// Also true if the server does not say.
    pub has_snapshots: bool,
    pub is_writing: bool,
}

impl PersistenceFiles {
    pub fn read(info: &str, save: Option<&str>) -> Self {
        let says = |line: &str| info.lines().any(|said| said.trim_end() == line);
        let busy = ["aof_rewrite_in_progress:1", "aof_rewrite_scheduled:1", "rdb_bgsave_in_progress:1"];
        Self {
            has_log: says("aof_enabled:1"),
            has_snapshots: save.is_none_or(|save| !save.is_empty()),
            is_writing: busy.into_iter().any(says),
        }
    }
}

/// One round. The note is removed if nothing was forgotten meanwhile.
async fn rewrite_noted(client: &Client, note: &Bytes) -> Result<(), Error> {
    let noted = client.call(note, Command::new("GET").arg(note)).await?;
    rewrite(client).await?;
    if client.call(note, Command::new("GET").arg(note)).await? == noted {
        client.call(note, Command::new("DEL").arg(note)).await?;
    }
    Ok(())
}

async fn rewrite(client: &Client) -> Result<(), Error> {
    let deadline = Instant::now() + ROUND_MAX;
    // What is being written now may have begun before the forget.
    idle(client, deadline).await?;
    let files = files(client).await?;
    if files.iter().any(|(_, files)| files.has_log) {
        each(client, Command::new("BGREWRITEAOF")).await?;
        idle(client, deadline).await?;
    }
    if files.iter().any(|(_, files)| files.has_snapshots) {
        each(client, Command::new("BGSAVE").arg("SCHEDULE")).await?;
        idle(client, deadline).await?;
    }
    Ok(())
}

async fn idle(client: &Client, deadline: Instant) -> Result<(), Error> {
    while files(client).await?.iter().any(|(_, files)| files.is_writing) {
        if Instant::now() > deadline {
            return Err(Error::Unavailable {
                why: "a server rewrites its files for too long".into(),
                retry_after_s: 1,
            });
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// The files of each server, by its address.
pub(super) async fn files(client: &Client) -> Result<Vec<(String, PersistenceFiles)>, Error> {
    let infos = client.each_master(&Command::new("INFO").arg("persistence")).await?;
    let saves = settings(client, "save").await?;
    let said = infos.into_iter().zip(saves).map(|((address, info), (_, save))| {
        let info = match info {
            Reply::Text(text) => String::from_utf8_lossy(&text).into_owned(),
            _ => String::new(),
        };
        (address, PersistenceFiles::read(&info, save.as_deref()))
    });
    Ok(said.collect())
}

/// A setting of each server, if it says.
pub(super) async fn settings(client: &Client, name: &str) -> Result<Vec<(String, Option<String>)>, Error> {
    let replies = client.each_master(&Command::new("CONFIG").arg("GET").arg(name)).await?;
    let value = |reply: Reply| match reply {
        Reply::List(pair) => match pair.into_iter().nth(1) {
            Some(Reply::Text(value)) => Some(String::from_utf8_lossy(&value).into_owned()),
            _ => None,
        },
        _ => None,
    };
    Ok(replies.into_iter().map(|(address, reply)| (address, value(reply))).collect())
}

async fn each(client: &Client, command: Command) -> Result<(), Error> {
    for (address, reply) in client.each_master(&command).await? {
        if let Reply::Refused(why) = reply
            && !why.contains("in progress")
        {
            return Err(Error::Unavailable { why: format!("{address} refuses: {why}"), retry_after_s: 1 });
        }
    }
    Ok(())
}
