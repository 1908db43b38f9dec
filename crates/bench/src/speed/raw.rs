//! The raw equivalents: group-committed appends to one file, and made-up conversations.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

/// A file with many writers and one flusher: the least that a durable log must do.
#[derive(Clone)]
pub(crate) struct RawLog {
    jobs: mpsc::UnboundedSender<(Bytes, oneshot::Sender<()>)>,
    /// All that was appended, by thread, as a raw equivalent of reading it back.
    threads: Arc<Vec<Mutex<Vec<Bytes>>>>,
}

impl RawLog {
    /// Starts the one writer; it ends when the last handle is gone.
    pub(crate) fn create(path: &Path, threads: usize) -> anyhow::Result<Self> {
        let mut file = std::fs::File::create(path)?;
        let (jobs, mut waiting) = mpsc::unbounded_channel::<(Bytes, oneshot::Sender<()>)>();
        std::thread::spawn(move || -> std::io::Result<()> {
            let mut group = Vec::new();
            while let Some(first) = waiting.blocking_recv() {
                group.push(first);
                while let Ok(next) = waiting.try_recv() {
                    group.push(next);
                }
                let bytes: Vec<u8> = group.iter().flat_map(|(bytes, _)| bytes.iter().copied()).collect();
                file.write_all(&bytes)?;
                file.sync_data()?;
                group.drain(..).for_each(|(_, done)| done.send(()).unwrap_or_default());
            }
            Ok(())
        });
        Ok(Self { jobs, threads: Arc::new((0..threads).map(|_| Mutex::default()).collect()) })
    }

    pub(crate) async fn append(&self, thread: usize, bytes: Bytes) -> anyhow::Result<()> {
        let (done, wait) = oneshot::channel();
        self.jobs.send((bytes.clone(), done))?;
        wait.await?;
        if let Some(turns) = self.threads.get(thread) {
            turns.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(bytes);
        }
        Ok(())
    }

    pub(crate) fn last(&self, thread: usize, count: usize) -> Vec<Bytes> {
        let Some(turns) = self.threads.get(thread) else { return Vec::new() };
        let turns = turns.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        turns.iter().skip(turns.len().saturating_sub(count)).cloned().collect()
    }
}

const WORDS: &str = "the tide table says that high water comes a little later each day because the moon moves on \
    while the earth turns so the harbour master writes two times and a height for every day of the month ";

/// A message of about 500 bytes.
pub(crate) fn message(role: &str, n: usize) -> Bytes {
    let text: String = WORDS.chars().cycle().skip(n * 37 % WORDS.len()).take(440).collect();
    format!(r#"{{"role":"{role}","content":"{n}: {text}"}}"#).into()
}

/// A conversation of an agent: questions, tool calls that read and write files, answers.
pub(crate) fn agent_thread(messages: usize) -> Vec<Bytes> {
    let mut out = vec![Bytes::from_static(br#"{"role":"system","content":"You are a careful engineer."}"#)];
    let mut n = 0;
    while out.len() < messages {
        n += 1;
        out.push(message("user", n));
        let body = format!("fn tide_{n}() {{ /* {} */ }}", WORDS.repeat(2).replace(' ', "_"));
        let payload = format!(r#"{{\"filepath\":\"src/tide{}.rs\",\"content\":\"{body}\"}}"#, n % 12);
        out.push(format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_{n}","type":"function","function":{{"name":"write_file","arguments":"{payload}"}}}}]}}"#
        ).into());
        out.push(format!(r#"{{"role":"tool","tool_call_id":"call_{n}","content":"{payload}"}}"#).into());
        out.push(message("assistant", n));
    }
    out.truncate(messages);
    out
}
