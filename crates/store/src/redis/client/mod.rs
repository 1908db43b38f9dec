//! The client of a Redis server or cluster.
//!
//! Owns connections, the map of the cluster, and the decision when a command may be sent again. Refuses to
//! know what a command means. Invariant: a command that may have been executed is never sent again. A caller
//! that gets `Unavailable` does not know whether it was executed, and has to read.

mod cluster;
mod conn;
mod node;
pub(crate) mod resp;
mod routes;
mod script;
mod tls;
mod url;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wire_tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use self::cluster::{RefusalKind, classify_refusal, slot};
use self::conn::{CallFailure, PendingReplies};
use self::node::{ConnectFailure, Node};
use self::routes::Routes;
use crate::Error;

pub(crate) use self::resp::{Command, Reply};
pub(crate) use self::script::Script;

/// Redirects that one command follows.
const REDIRECTS_MAX: u32 = 5;
const WAIT_MIN: Duration = Duration::from_millis(5);
const WAIT_MAX: Duration = Duration::from_millis(100);
const RETRY_AFTER_S: u64 = 1;

pub(crate) struct ClientOptions {
    /// `redis://user:password@host:port/db`, with `,host:port` for more servers of a cluster; `rediss://` for
    /// TLS.
    pub(crate) url: String,
    /// For connecting, for silence while an answer is due, and for waiting while a server refuses commands
    /// for now.
    pub(crate) timeout: Duration,
    /// For how long opening waits for servers that answer but do not serve yet: `CLUSTERDOWN`, `LOADING` and
    /// the like.
    pub(crate) recovery_wait_max: Duration,
}

/// A handle; clones share the connections, which end with the last one.
#[derive(Clone)]
pub(crate) struct Client(Arc<ClientInner>);

struct ClientInner {
    routes: Routes,
    timeout: Duration,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("is_cluster", &self.is_cluster()).finish_non_exhaustive()
    }
}

impl Client {
    /// Connects and finds out whether this is a cluster.
    pub(crate) async fn open(options: ClientOptions) -> Result<Self, Error> {
        let timeout = options.timeout;
        Ok(Self(Arc::new(ClientInner { routes: Routes::open(options).await?, timeout })))
    }

    /// Sends a command to the server that has the key.
    pub(crate) async fn call(&self, key: &[u8], command: Command) -> Result<Reply, Error> {
        self.0.call(slot(key), command.into_bytes()).await
    }

    /// Sends commands together and answers them in order. After an error any of them may have been executed.
    pub(crate) async fn all(&self, calls: Vec<(Bytes, Command)>) -> Result<Vec<Reply>, Error> {
        let mut places = Vec::with_capacity(calls.len());
        let mut groups: Vec<NodeCommands> = Vec::new();
        for (key, command) in calls {
            let slot = slot(&key);
            let node = self.0.routes.master_of(slot).await?;
            let command = command.into_bytes();
            let group = match groups.iter().position(|group| Arc::ptr_eq(&group.node, &node)) {
                Some(at) => at,
                None => {
                    groups.push(NodeCommands { node, commands: Vec::new() });
                    groups.len() - 1
                }
            };
            if let Some(to) = groups.get_mut(group) {
                to.commands.push(command.clone());
            }
            places.push((group, slot, command));
        }
        let mut answers = Vec::with_capacity(groups.len());
        for group in send_all(groups).await {
            answers.push(group.outcomes().await);
        }
        let mut replies = Vec::with_capacity(places.len());
        for (group, slot, command) in places {
            let Some((node, outcomes)) = answers.get_mut(group) else { continue };
            let outcome = outcomes.next().unwrap_or_else(|| Err(CallFailure::MaybeDone("an answer is missing".into())));
            replies.push(self.0.settle(slot, command, node.clone(), outcome).await?);
        }
        Ok(replies)
    }

    /// Runs a script at the server that has the first key.
    pub(crate) async fn run(&self, script: &'static Script, keys: &[Bytes], args: Vec<Bytes>) -> Result<Reply, Error> {
        let slot = slot(keys.first().map(Bytes::as_ref).unwrap_or_default());
        let digest = match script.digest() {
            Some(digest) => digest,
            None => match self.0.call(slot, script.load()).await? {
                Reply::Text(digest) => script.learn(digest),
                refused => return Ok(refused),
            },
        };
        match self.0.call(slot, script::eval("EVALSHA", digest, keys, &args)).await? {
            Reply::Refused(why) if why.starts_with("NOSCRIPT") => {
                self.0.call(slot, script::eval("EVAL", script.body().as_bytes(), keys, &args)).await
            }
            reply => Ok(reply),
        }
    }

    /// Sends a command to every server that has keys.
    pub(crate) async fn each_master(&self, command: &Command) -> Result<Vec<(String, Reply)>, Error> {
        let command = command.clone().into_bytes();
        let group = |node| NodeCommands { node, commands: vec![command.clone()] };
        let mut replies = Vec::new();
        for group in send_all(self.0.routes.masters().into_iter().map(group).collect()).await {
            let (node, mut outcomes) = group.outcomes().await;
            let mut outcome =
                outcomes.next().unwrap_or_else(|| Err(CallFailure::MaybeDone("an answer is missing".into())));
            let mut budget = RetryBudget::new(self.0.timeout);
            let reply = loop {
                match outcome {
                    Ok(reply) if classify_refusal(&reply, &node.address) == Some(RefusalKind::Wait) => {
                        budget.wait(refusal(&node, reply)).await?;
                        outcome = ask(&node, vec![command.clone()]).await;
                    }
                    Ok(reply) => break reply,
                    Err(lost) => {
                        self.0.routes.refresh().await;
                        return Err(unavailable(lost.why()));
                    }
                }
            };
            replies.push((node.address.to_string(), reply));
        }
        Ok(replies)
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.0.routes.is_cluster()
    }

    /// The run of the server that has the key's slot, as a number; 0 if no server is connected.
    pub(crate) fn server_run(&self, key: &[u8]) -> u64 {
        self.0.routes.server_run(slot(key))
    }

    /// The last failure of a server that has keys, unless it answered since.
    pub(crate) fn fault(&self) -> Option<String> {
        self.0.routes.masters().iter().find_map(|node| node.fault())
    }
}

impl ClientInner {
    async fn call(&self, slot: u16, command: Bytes) -> Result<Reply, Error> {
        let node = self.routes.master_of(slot).await?;
        let outcome = ask(&node, vec![command.clone()]).await;
        self.settle(slot, command, node, outcome).await
    }

    /// Follows redirects and waits until a command is answered. Sends it again only if it was not executed.
    async fn settle(
        &self,
        slot: u16,
        command: Bytes,
        mut node: Arc<Node>,
        mut outcome: Result<Reply, CallFailure>,
    ) -> Result<Reply, Error> {
        let mut budget = RetryBudget::new(self.timeout);
        loop {
            let reply = match outcome {
                Ok(reply) => reply,
                Err(CallFailure::MaybeDone(why)) => return Err(unavailable(why)),
                Err(CallFailure::NotSent(why)) => {
                    budget.redirect(why)?;
                    outcome = ask(&node, vec![command.clone()]).await;
                    continue;
                }
                Err(CallFailure::Unreachable(why)) => {
                    budget.redirect(why.clone())?;
                    node = self.routes.instead_of(&node, slot).await.ok_or_else(|| unavailable(why))?;
                    outcome = ask(&node, vec![command.clone()]).await;
                    continue;
                }
            };
            let mut commands = vec![command.clone()];
            match classify_refusal(&reply, &node.address) {
                None => return Ok(reply),
                Some(RefusalKind::Moved(address)) => {
                    budget.redirect(refusal(&node, reply))?;
                    node = self.routes.moved(slot, address).await;
                }
                Some(RefusalKind::Ask(address)) => {
                    budget.redirect(refusal(&node, reply))?;
                    node = self.routes.node(address);
                    commands.insert(0, Command::new("ASKING").into_bytes());
                }
                Some(RefusalKind::Wait) => {
                    let why = refusal(&node, reply);
                    node.note(Some(why.clone()));
                    budget.wait(why).await?;
                    self.routes.refresh().await;
                    node = self.routes.master_of(slot).await?;
                }
            }
            outcome = ask(&node, commands).await;
        }
    }
}

/// The commands for one node.
struct NodeCommands {
    node: Arc<Node>,
    commands: Vec<Bytes>,
}

/// Commands that were sent, or why they were not.
struct SentCommands {
    node: Arc<Node>,
    commands: usize,
    pending: Result<PendingReplies, ConnectFailure>,
}

/// Sends everything before it waits for the first answer.
async fn send_all(groups: Vec<NodeCommands>) -> Vec<SentCommands> {
    let mut sent = Vec::with_capacity(groups.len());
    for NodeCommands { node, commands } in groups {
        let count = commands.len();
        let pending = node.send(commands).await;
        sent.push(SentCommands { node, commands: count, pending });
    }
    sent
}

impl SentCommands {
    /// The outcome of each command.
    async fn outcomes(self) -> (Arc<Node>, std::vec::IntoIter<Result<Reply, CallFailure>>) {
        let Self { node, commands, pending } = self;
        let replies = match pending {
            Ok(pending) => node.wait(pending).await,
            Err(failure) => Err(CallFailure::Unreachable(failure.why())),
        };
        let outcomes: Vec<_> = match replies {
            Ok(replies) => replies.into_iter().map(Ok).collect(),
            Err(lost) => vec![Err(lost); commands],
        };
        (node, outcomes.into_iter())
    }
}

/// Returns the last answer; the commands before it only prepare it.
async fn ask(node: &Node, commands: Vec<Bytes>) -> Result<Reply, CallFailure> {
    let mut replies = node.ask(commands).await?;
    replies.pop().ok_or_else(|| CallFailure::MaybeDone("an answer is missing".into()))
}

fn refusal(node: &Node, reply: Reply) -> String {
    match reply {
        Reply::Refused(why) => format!("redis at {}: {why}", node.address),
        _ => format!("redis at {} refuses", node.address),
    }
}

fn unavailable(why: String) -> Error {
    Error::Unavailable { why, retry_after_s: RETRY_AFTER_S }
}

/// How often, and for how long, a command may still be sent again.
struct RetryBudget {
    redirects: u32,
    wait: Duration,
    until: Instant,
}

impl RetryBudget {
    fn new(timeout: Duration) -> Self {
        Self { redirects: 0, wait: WAIT_MIN, until: Instant::now() + timeout }
    }

    fn redirect(&mut self, why: String) -> Result<(), Error> {
        self.redirects += 1;
        if self.redirects > REDIRECTS_MAX { Err(unavailable(why)) } else { Ok(()) }
    }

    async fn wait(&mut self, why: String) -> Result<(), Error> {
        if Instant::now() + self.wait > self.until {
            return Err(unavailable(why));
        }
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(WAIT_MAX);
        Ok(())
    }
}
